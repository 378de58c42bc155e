"""What rewritten functions call: both sides of a condition are run, and what they leave is merged."""

import builtins
import math
import operator
import re
import types

from . import numbers
from .errors import TraceError
from .numbers import Condition, Number, Recorded, and_, not_, or_  # noqa: F401

rewritten = set()  # the code of functions that are rewritten already
_PLACE = re.compile(r".*:\d+: ", re.DOTALL)
_OPERATORS = {"Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge, "Eq": operator.eq, "NotEq": operator.ne,
              "Is": operator.is_, "IsNot": operator.is_not, "In": lambda a, b: a in b, "NotIn": lambda a, b: a not in b}
_VALUE = "_perp_value"


def register(code):
    """The code of a function and of those within it."""
    rewritten.add(code)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            register(constant)


def with_place(error):
    """The error, with the line of the user's function in which it arose."""
    if _PLACE.match(str(error)):
        return error
    place, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in rewritten:
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    reason = str(error).replace(numbers.ADVICE, "")  # which is followed
    return TraceError(f"{place}: {reason}") if place else error


def refuse(line, reason):
    raise TraceError(f"{line}: {reason}")


class Undefined:
    """The value of a name that one side of a condition leaves without one."""

    def __init__(self, name, line):
        self.__dict__.update(name=name, line=line)

    def _used(self, *_, **__):
        refuse(self.__dict__["line"], f"'{self.__dict__['name']}' has a value only where the condition of this line holds, or only "
               "where it does not; expected one on both sides")

    __getattr__ = __call__ = __bool__ = __float__ = __getitem__ = __iter__ = __len__ = _used
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _used
    __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _used


def _is_array(value):
    return type(value).__name__ == "ndarray" and hasattr(value, "dtype")


def _containers(values, found):
    """The lists, dicts and arrays among values and within them, by identity."""
    for value in values:
        if id(value) in found:
            continue
        if isinstance(value, (list, dict)) or _is_array(value):
            found[id(value)] = value
        if isinstance(value, dict):
            _containers(value.values(), found)
        elif isinstance(value, (list, tuple)):
            _containers(value, found)
        elif _is_array(value) and value.dtype == object:
            _containers(value.ravel().tolist(), found)
    return found


def _content(container):
    return container.copy()


def _put(container, content):
    if isinstance(container, list):
        container[:] = content
    elif isinstance(container, dict):
        container.clear()
        container.update(content)
    else:
        container[...] = content


class Fork:
    """An `if`: where its condition is known one side is run, else both."""

    def __init__(self, test, names, bases, line):
        if isinstance(test, Number):
            refuse(line, f"'{test.text}' is a number that changes during a run; expected a comparison")
        self.test, self.names, self.bases, self.line = test, names, bases, line
        self.is_known = not isinstance(test, Condition)
        self.value = bool(test) if self.is_known else None
        self.ends = {}

    def skips(self, branch):
        return self.is_known and branch is not self.value

    def _values(self, names):
        return tuple(names.get(name, Undefined(name, self.line)) for name in self.names)

    def start(self, branch, names):
        """The values of the names as the branch finds them."""
        if self.is_known:
            return self._values(names)
        if branch:
            for base in self.bases:
                if base not in names:
                    refuse(self.line, f"an entry of '{base}', which is no name of this function, is set where a condition decides")
            self.before, self.found = self._values(names), dict(names)
            self.containers = _containers(names.values(), {})
            self.contents = {key: _content(value) for key, value in self.containers.items()}
        else:
            for key, container in self.containers.items():
                _put(container, self.contents[key])
        return self.before

    def end(self, branch, names):
        contents = {} if self.is_known else {key: _content(value) for key, value in self.containers.items()}
        self.ends[branch] = (self._values(names), contents)

    def merged(self):
        """The values of the names behind it."""
        if self.is_known:
            return self.ends[self.value][0]
        (values, contents), (other_values, other_contents) = self.ends[True], self.ends[False]
        for key, container in self.containers.items():
            _put(container, self._merged_content(container, contents[key], other_contents[key]))
        return tuple(self._merged(name, a, b) for name, a, b in zip(self.names, values, other_values))

    def _has_other_names(self, container, name):
        """Is it known by another name than this one, by which it may be changed later?"""
        others = [value for other, value in self.found.items() if other != name and not other.startswith("_perp_")]
        return id(container) in _containers(others, {})

    def _merged_content(self, container, a, b):
        if isinstance(container, dict):
            if a.keys() != b.keys():
                refuse(self.line, "a dict gets other keys where the condition holds than where it does not")
            return {key: value_of(self.test, a[key], b[key], self.line) for key in a}
        if len(a) != len(b):
            refuse(self.line, f"a list has {len(a)} entries where the condition holds, else {len(b)}")
        if _is_array(container):
            return _merged_arrays(self.test, a, b, self.line)
        return [value_of(self.test, x, y, self.line) for x, y in zip(a, b)]

    def _merged(self, name, a, b):
        if a is b:
            return a
        if name == _VALUE and (a is None or b is None):
            return b if a is None else a  # not looked at on the other side: the function has not returned there
        for value in (a, b):
            if isinstance(value, Undefined):
                return value
            if name != _VALUE and id(value) in self.containers and self._has_other_names(value, name):
                refuse(self.line, f"'{name}' is one of two lists, as the condition decides, and one of them has another name too; "
                       "expected their entries to be set")
        return value_of(self.test, a, b, self.line)


def _merged_arrays(test, a, b, line):
    import numpy as np

    if a.shape != b.shape:
        refuse(line, f"an array has the shape {a.shape} where the condition holds, else {b.shape}")
    result = np.empty(a.shape, dtype=object)
    for index in np.ndindex(a.shape):
        result[index] = value_of(test, a[index], b[index], line)
    return result if a.dtype == object or any(isinstance(v, Recorded) for v in result.ravel()) else result.astype(a.dtype)


def value_of(test, a, b, line):
    """a where the test holds, else b."""
    if a is b:
        return a
    logical = (bool, Condition)
    if isinstance(a, logical) and isinstance(b, logical):
        return numbers.case(test, a, b)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        merged = [value_of(test, x, y, line) for x, y in zip(a, b)]
        return tuple(merged) if isinstance(a, tuple) else merged
    if _is_array(a) or _is_array(b):
        import numpy as np

        return _merged_arrays(test, np.asarray(a, dtype=object), np.asarray(b, dtype=object), line)
    if all(isinstance(v, (int, float, Number)) or hasattr(v, "__float__") and not isinstance(v, Undefined) for v in (a, b)):
        return numbers.case(test, a, b)
    try:
        if type(a) is type(b) and bool(a == b):
            return a
    except Exception:  # noqa: BLE001
        pass
    return refuse(line, f"{type(a).__name__} or {type(b).__name__}, as the condition decides; expected numbers on both sides")


def known(test, line, reason):
    """A test that must not depend on the state."""
    if isinstance(test, Recorded):
        refuse(line, f"{reason}, but '{test.text}' changes during a run; expected what is known while the function is traced")
    return test


def counted(iterable, line):
    """What a loop goes over."""
    if isinstance(iterable, Recorded):
        refuse(line, f"the number of turns of a loop depends on it, but '{iterable.text}' changes during a run")
    return iterable


def returned(done, value, line):
    if isinstance(done, Condition):
        refuse(line, "the function does not return a value on every path")
    return value


def choose(test, a, b, line):
    if isinstance(test, Number):
        refuse(line, f"'{test.text}' is a number that changes during a run; expected a comparison")
    if not isinstance(test, Condition):
        return a() if test else b()
    return value_of(test, a(), b(), line)


def _joined(parts, line, stops, join):
    result = True
    conditions = []
    for part in parts:
        result = part()
        if isinstance(result, Number):
            refuse(line, f"'{result.text}' is a number that changes during a run; expected a comparison")
        if isinstance(result, Condition):
            conditions.append(result)
        elif bool(result) is stops:
            return result
    return join(*conditions) if conditions else result


def both(line, *parts):
    return _joined(parts, line, False, and_)


def either(line, *parts):
    return _joined(parts, line, True, or_)


def chain(line, words, *values):
    """a < b < c"""
    return both(line, *[lambda k=k, word=word: _OPERATORS[word](values[k], values[k + 1]) for k, word in enumerate(words)])


# Functions ---------------------------------------------------------------------------------------------------------


def _float(value=0.0):
    return value if isinstance(value, Recorded) else float(value)


def _plain(value):
    """Something of the type that a recorded value has where the function is not traced."""
    import numpy as np

    return np.bool_() if isinstance(value, Condition) else np.float64() if isinstance(value, Recorded) else value


def _type(value, *more):
    return type(value, *more) if more else type(_plain(value))


_BUILTIN = {builtins.isinstance: lambda value, classes: isinstance(_plain(value), classes), builtins.type: _type,
            builtins.min: numbers.min, builtins.max: numbers.max, builtins.abs: numbers.abs, builtins.float: _float, builtins.pow: pow,
            math.fabs: numbers.abs, math.pow: numbers.pow, math.atan2: numbers.atan2}
_BUILTIN.update({getattr(math, name): getattr(numbers, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
                                                                        "tanh", "exp", "log10", "sqrt")})
_BUILTIN[math.log] = lambda x, *base: numbers.log(x) / numbers.log(base[0]) if base else numbers.log(x)


def _numpy_functions():
    import numpy as np

    def clip(a, lower, upper):
        return numbers.min(numbers.max(a, lower), upper)

    def of_objects(function):
        return lambda *arguments, **keywords: function(*arguments, **{**keywords, "dtype": object})

    def extreme(function):
        return lambda values, *rest: function(np.ravel(np.asarray(values, dtype=object)).tolist()) if not rest else function(values, *rest)

    table = {id(getattr(np, name)): of_objects(getattr(np, name)) for name in ("zeros", "ones", "empty", "full", "zeros_like", "ones_like",
                                                                            "empty_like", "full_like", "array", "asarray")}
    for name, function in (("max", numbers.max), ("amax", numbers.max), ("min", numbers.min), ("amin", numbers.min)):
        table[id(getattr(np, name))] = extreme(function)
    table[id(np.clip)] = numbers.elementwise(clip)
    for name, function in (("sign", numbers.sign), ("maximum", numbers.max), ("minimum", numbers.min), ("fmax", numbers.max),
                           ("fmin", numbers.min)):
        table[id(getattr(np, name))] = numbers.elementwise(function)
    table[id(np.where)] = lambda test, *sides: numbers.if_(test, *sides) if isinstance(test, Condition) else np.where(test, *sides)
    return table


_tables = {}  # of numpy, with its first use


def callee(function, line):
    """What stands for a function that a rewritten one calls."""
    try:
        if function in _BUILTIN:
            return _BUILTIN[function]
    except TypeError:
        return function
    if type(function).__name__ == "ufunc" or (getattr(function, "__module__", None) or "").split(".")[0] == "numpy":
        if not _tables:
            _tables.update(_numpy_functions())
        return _tables.get(id(function), function)
    if isinstance(function, types.FunctionType) and function.__code__ not in rewritten and _is_of_user(function):
        from .rewriting import unmodified

        return unmodified(function)
    return function


def _is_of_user(function):
    return (function.__module__ or "").split(".")[0] not in ("perp", "numpy", "scipy", "math", "builtins")
