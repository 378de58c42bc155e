"""Values that calls are given: what is wrong with them is told with their name."""

from collections.abc import Mapping

from .errors import InvalidInput


def check_lists(**values):
    for key, value in values.items():
        if isinstance(value, (str, Mapping)) or not hasattr(value, "__iter__"):
            raise InvalidInput(f"{key}: found {type(value).__name__}; expected a list")


def check_texts(**values):
    for key, value in values.items():
        if value is not None and not isinstance(value, str):
            raise InvalidInput(f"{key}: found {value!r}; expected text")


def check_names(**tables):
    for key, table in tables.items():
        for name in table if isinstance(table, Mapping) else ():
            if not isinstance(name, str):
                raise InvalidInput(f"{key}: found the name {name!r}; expected text")


def span_of(t):
    """(start, end) as a list, or None."""
    if t is not None and (isinstance(t, str) or not hasattr(t, "__len__")):
        raise InvalidInput(f"t: found {t!r}; expected (start, end)")
    if t is not None and len(t) != 2:
        raise InvalidInput(f"t has {len(t)} entries; expected (start, end)")
    return None if t is None else list(t)


def number_of(value, what):
    """One finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what}: found {value!r}; expected a number") from None
    if not abs(number) < float("inf"):
        raise InvalidInput(f"{what} is {number}; expected a finite number")
    return number


def numbers_of(values, what):
    """Finite numbers."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise InvalidInput(f"{what}: found {values!r}; expected numbers")
    return [number_of(value, what) for value in values]
