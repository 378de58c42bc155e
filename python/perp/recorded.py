"""What is part of a model's text."""

import sys

from .errors import TraceError

_LOOSE, _SUM, _PRODUCT, _POWER, _ATOM = range(5)  # how strongly a formula holds together
_MOST_TEXT = 1_000_000  # characters of one formula
NO_CASES = {}


def _numpy():
    """numpy, with its first use: `import perp` is quick."""
    import numpy

    return numpy


def is_bool(value):
    """Is it True or False, of Python or of numpy?"""
    kind = type(value)
    return kind is bool or kind.__module__ == "numpy" and kind.__name__ in ("bool_", "bool")


def asked_by_user():
    """Is it the user's code that asks, two calls above, and not numpy's or ours?"""
    from .effects import is_of_user

    return is_of_user(sys._getframe(2).f_globals.get("__name__"))


class Recorded:
    """What is part of the model's text. `text`: the formula; `cases`: the comparisons by which rewritten branches of a
    function make it differ, by their keys; `make(*parts)` makes it again of other parts."""

    __slots__ = ("text", "rank", "cases", "make", "parts")

    def __init__(self, text, rank=_ATOM, cases=NO_CASES, make=None, parts=()):
        if len(text) > _MOST_TEXT:
            raise TraceError(f"a formula has more than {_MOST_TEXT} characters; expected a shorter one: name what is used "
                             "often as a variable with an algebraic equation")
        self.text, self.rank, self.cases, self.make, self.parts = text, rank, cases, make, parts

    def inside(self, rank):
        """The text as an operand of something that holds so strongly."""
        return self.text if self.rank >= rank else f"({self.text})"

    def __repr__(self):
        return self.text

    def __format__(self, spec):
        raise TraceError(f"'{self.text}' changes during a run and is no text while the function is traced")

    # It cannot be changed: copies are itself.

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    # It stands for a scalar of numpy, with the members that need no more than itself.

    ndim, shape, size, imag = 0, (), 1, 0.0
    real = property(__copy__)
    item = copy = conjugate = conj = __copy__

    def __getattr__(self, name):
        if name == "dtype" and asked_by_user():  # numpy asks for that of objects
            return _numpy().dtype(float)
        if name.startswith("__") or name == "dtype" or not hasattr(self.__class__, name):
            raise AttributeError(f"'{self.text}', a number that is recorded, has no attribute '{name}'")
        raise TraceError(f"'{self.text}', a number that is recorded, has no '{name}'; expected arithmetic and functions of numpy or perp")

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        from .arrays import apply

        return apply(ufunc, method, inputs, keywords)

    def __array_function__(self, function, types, arguments, keywords):
        from .arrays import call

        return call(function, types, arguments, keywords)
