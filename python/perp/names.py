"""Names that are looked up, and what is said of one that is not there."""

import functools

from . import _perp
from .errors import InvalidInput

_MOST_NAMED = 8


class UnknownName(InvalidInput, KeyError):
    """There is no such name: the nearest one, or those that there are."""

    def __str__(self):  # KeyError would quote it
        return InvalidInput.__str__(self)


def unknown(kind, name, known):
    """The exception for a name of this kind that is none of those known."""
    known = list(known)
    hint = _perp.suggestion(str(name), known)
    if not hint:
        shown = ", ".join(known[:_MOST_NAMED]) + (", ..." if len(known) > _MOST_NAMED else "")
        hint = f"; expected {'one of ' if len(known) > 1 else ''}{shown}" if known else "; there is none"
    return UnknownName(f"there is no {kind} '{name}'{hint}")


def arguments_of(call):
    """The names of the arguments of a function."""
    code = call.__code__
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def keywords_of(call):
    """A call that tells the nearest of its keywords for one that it has not."""
    names = arguments_of(call)

    @functools.wraps(call)
    def with_known(*arguments, **keywords):
        for key in keywords:
            if key not in names:
                hint = _perp.suggestion(key, names) or f"; expected one of {', '.join(names)}"
                raise InvalidInput(f"perp.{call.__name__} has no keyword '{key}'{hint}")
        return call(*arguments, **keywords)

    return with_known


class Named(dict):
    """Values by name; a name that is not there is told with the nearest one."""

    def __init__(self, kind, values):
        super().__init__(values)
        self._kind = kind

    def __missing__(self, name):
        raise unknown(self._kind, name, self)
