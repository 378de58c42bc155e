"""What the keywords of a call mean, and values of the wrong kind."""

import functools
import operator

from . import _perp
from .errors import InvalidInput
from .model import RUN_KEYS, ambiguity, model_of
from .recorded import is_bool


def whole(value, name, least=1, most=None):
    """A whole number from the least to the most."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least or most is not None and number > most:
        raise InvalidInput(f"{name} is {value!r}; expected a whole number from {least} {'on' if most is None else f'to {most}'}")
    return number


def text(value, name, expected):
    """A text, or None."""
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{name}: found {type(value).__name__}; expected {expected}")
    return value


def texts(value, name, expected):
    """One text, or several of them, as a list."""
    if value is None or isinstance(value, str):
        return [value] if value else []
    if not hasattr(value, "__iter__"):
        raise InvalidInput(f"{name}: found {type(value).__name__}; expected {expected}")
    return [text(word, name, expected) for word in value]


def by_name(value, name, example):
    """Values by name, or None."""
    if value is not None and not hasattr(value, "items"):
        raise InvalidInput(f"{name}: found {type(value).__name__}; expected values by name, as in {example}")
    return dict(value or {})


def flag(value, name):
    """True or False."""
    if not is_bool(value):
        raise InvalidInput(f"{name}: found {value!r}; expected True or False")
    return bool(value)


def _of_model(call, names, required, model, keywords):
    """The keywords of a call, where each has one meaning."""
    short, found = call.__name__, {}
    for key, value in keywords.items():
        own = key.removeprefix(f"{short}.")
        if own != key and own in names:  # which meaning of an ambiguous name is meant
            found[own] = value
            continue
        if key in names or key in RUN_KEYS:
            table = "" if key in required else model._table(key)
            if table:
                other = f"run.{key}" if key in RUN_KEYS else f"{short}.{key}"
                raise ambiguity(key, value, f"{table}.{key}", other)
        elif key.isidentifier() and not model._table(key) and key not in model.inputs:
            _check_known(key, value, short, names, model)
        found[key] = value
    return found


def _check_known(key, value, short, names, model):
    """A name that is no keyword and that the model does not have."""
    hint = _perp.suggestion(key, list(names))
    is_number = isinstance(value, (str, list, tuple)) or hasattr(value, "__float__") and not isinstance(value, bool)
    if hint or not is_number:
        hint = hint or _perp.suggestion(key, [*model.parameters, *model.variables])
        raise InvalidInput(f"{key}={value!r}: perp.{short} has no keyword '{key}', nor has the model a parameter or variable of this name{hint}")


def question(call):
    """A call whose further keywords are parameters, starts of variables and options of the run of its model."""
    code = call.__code__
    names = frozenset(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])
    required = code.co_varnames[1 : code.co_argcount - len(call.__defaults__ or ())]  # of which there is no doubt

    @functools.wraps(call)
    def of_model(model, *arguments, **keywords):
        if len(arguments) > code.co_argcount - 1:
            raise InvalidInput(f"perp.{call.__name__} has {len(arguments) + 1} arguments without a name; expected at most {code.co_argcount}: "
                               f"{', '.join(code.co_varnames[: code.co_argcount])}, and others by name")
        for name in code.co_varnames[1 : len(arguments) + 1]:
            if name in keywords:
                raise InvalidInput(f"perp.{call.__name__}: {name} is given twice; expected it once")
        several = isinstance(model, (list, tuple)) and code.co_varnames[0] == "models"
        models = [model_of(one) for one in model] if several else [model_of(model)]
        found = keywords
        for one in models:
            found = _of_model(call, names, required, one, keywords) if keywords else keywords
        given = model if several or isinstance(model, str) and code.co_varnames[0] == "models" else models[0]
        return call(given, *arguments, **found)

    return of_model


__all__ = ["by_name", "flag", "question", "text", "texts", "whole"]
