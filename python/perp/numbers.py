"""Numbers that are recorded: what a traced function computes with, and the words for what may switch.

A recorded number is a formula of the model language. It cannot be compared: whether x > 0 is decided at every moment of a
run, not while the function is read, so that `if_(x > 0, a, b)`, `sign`, `max`, ... stand for it.
"""

import math
import operator

from .errors import TraceError
from .formulas import ADVICE, Condition, Number, _cases_of, _lifted, and_, case, count_cases, formula, if_, not_, operand, or_
from .recorded import _ATOM, Recorded


def _application(name, values):
    """A function of the language of recorded numbers."""
    values = [formula(value, "perp." + name) for value in values]

    def make(*parts):
        return _application(name, parts)

    cases = _cases_of(values)
    if cases:
        return _lifted(make, values, cases)
    return Number(f"{name}({', '.join(v.text for v in values)})", _ATOM, cases, make, tuple(values))


def _function(name, known=None, arguments=1):
    known = known or getattr(math, name, None)

    def function(*values):
        if len(values) != arguments:
            raise TraceError(f"perp.{name} has {len(values)} arguments; expected {arguments}")
        if any(getattr(value, "ndim", 0) > 0 for value in values):
            from .arrays import elementwise

            return elementwise(function)(*values)
        if any(isinstance(value, Recorded) for value in values):
            return _application(name, values)
        for value in values:
            formula(value, f"perp.{name}") if isinstance(value, str) or not hasattr(value, "__float__") else None
        return known(*values)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}, of recorded numbers too."
    return function


def _sat(w, lower, upper):
    return lower if w < lower else upper if w > upper else w


def _deadzone(w, lower, upper):
    return w - lower if w < lower else w - upper if w > upper else 0.0


sin, cos, tan, asin, acos, atan = map(_function, ("sin", "cos", "tan", "asin", "acos", "atan"))
sinh, cosh, tanh, exp, log, log10, sqrt = map(_function, ("sinh", "cosh", "tanh", "exp", "log", "log10", "sqrt"))
atan2 = _function("atan2", arguments=2)
pow = _function("pow", math.pow, 2)  # noqa: A001
sign = _function("sign", lambda w: float((w > 0) - (w < 0)))
step = _function("step", lambda w: float(w > 0))
abs = _function("abs", operator.abs)  # noqa: A001
sat = _function("sat", _sat, 3)
deadzone = _function("deadzone", _deadzone, 3)


def _extreme(name, known):
    def function(*values, **keywords):
        if keywords:
            raise TraceError(f"perp.{name} has no {', '.join(keywords)}; expected numbers alone")
        values = list(values[0]) if len(values) == 1 and hasattr(values[0], "__iter__") else list(values)
        if not values:
            raise TraceError(f"perp.{name} of nothing; expected numbers")
        if not any(isinstance(value, Recorded) for value in values):
            return known(values)
        if len(values) == 1:
            return values[0]
        return _application(name, values)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The {'largest' if name == 'max' else 'least'} of some numbers, recorded ones too."
    return function


max = _extreme("max", max)  # noqa: A001
min = _extreme("min", min)  # noqa: A001


def piecewise(w, *points):
    """Linear between points x1, y1, x2, y2, ..., the first and last piece continued."""
    if len(points) < 4 or len(points) % 2:
        raise TraceError(f"perp.piecewise has {len(points)} numbers behind w; expected x and y of two points or more")
    return _application("piecewise", (w, *points))


def zeros(n):
    """A list of n zeros, in which recorded numbers may stand too."""
    if not isinstance(n, int) and not hasattr(n, "__index__") or n < 0:
        raise TraceError(f"perp.zeros: found {n!r}; expected a whole number from 0 on")
    return [0.0] * n


# numpy calls these methods of the entries of arrays of objects.
for _name, _method in (("sin", sin), ("cos", cos), ("tan", tan), ("arcsin", asin), ("arccos", acos), ("arctan", atan), ("sinh", sinh),
                       ("cosh", cosh), ("tanh", tanh), ("exp", exp), ("log", log), ("log10", log10), ("sqrt", sqrt), ("sign", sign),
                       ("square", lambda value: value * value)):
    setattr(Number, _name, (lambda method: lambda self: method(self))(_method))

__all__ = ["ADVICE", "Condition", "abs", "acos", "and_", "asin", "atan", "atan2", "case", "cos", "cosh", "count_cases", "deadzone", "exp", "if_", "log",
           "log10", "max", "min", "not_", "operand", "or_", "piecewise", "pow", "sat", "sign", "sin", "sinh", "sqrt", "step", "tan", "tanh", "zeros"]
