"""What stands for the functions that a rewritten one calls, and which of them are known to change nothing."""

import builtins
import collections
import copy
import functools
import itertools
import math
import operator
import types

from . import numbers
from .effects import any_frozen, changing, check_frozen, consumed, is_array, is_of_user, made, open_branches, refuse, rewritten, unchanged
from .numbers import Recorded, and_, or_


def _float(value=0.0):
    return value if isinstance(value, Recorded) else float(value)


def _type(value, *more):
    if more:
        return type(value, *more)
    import numpy as np

    from .arrays import RecordedArray

    return np.ndarray if isinstance(value, RecordedArray) else value.__class__ if isinstance(value, Recorded) else type(value)


def _text(function):
    """str, repr, id: of what changes during a run there is none."""

    def of(*values, **keywords):
        for value in values:
            if isinstance(value, Recorded):
                format(value)
        return function(*values, **keywords)

    return of


def _all(values):
    return and_(*values)


def _any(values):
    return or_(*values)


_BUILTIN = {builtins.type: _type, builtins.min: numbers.min, builtins.max: numbers.max, builtins.abs: numbers.abs, builtins.float: _float,
            builtins.str: _text(str), builtins.repr: _text(repr), builtins.id: _text(id), builtins.all: _all, builtins.any: _any,
            math.fabs: numbers.abs, math.pow: numbers.pow, math.atan2: numbers.atan2,
            math.hypot: lambda *values: numbers.sqrt(sum(value * value for value in values))}
_BUILTIN.update({getattr(math, name): getattr(numbers, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
                                                                        "tanh", "exp", "log10", "sqrt")})
_BUILTIN[math.log] = lambda x, *base: numbers.log(x) / numbers.log(base[0]) if base else numbers.log(x)


# numpy: arrays that shall hold recorded numbers are arrays of objects ----------------------------------------------------


def _holding(function):
    """zeros, array, ...: of floats they become arrays that can hold recorded numbers; other types stay as they are."""
    import numpy as np

    from .arrays import RecordedArray

    def of(*arguments, dtype=None, **keywords):
        if function is np.empty and dtype is None and len(arguments) == 1:  # what is not set has no value
            return np.empty(*arguments, dtype=object, **keywords).view(RecordedArray)
        if dtype is not None and np.dtype(dtype) not in (np.dtype(float), np.dtype(object)):
            return function(*arguments, dtype=dtype, **keywords)
        found = function(*arguments, **keywords, **({} if function in (np.array, np.asarray) else {"dtype": dtype}))
        if found.dtype == object or found.dtype == float or dtype is not None:
            if function is np.asarray and found.dtype == object:
                return found.view(RecordedArray)
            return found.astype(float).astype(object).view(RecordedArray) if found.dtype != object else found.view(RecordedArray)
        return found

    return of


def _full(shape, value, dtype=None, **keywords):
    import numpy as np

    from .arrays import RecordedArray

    if dtype is None and not isinstance(np.asarray(value).item() if np.ndim(value) == 0 else 0.0, (float, Recorded)):
        return np.full(shape, value, **keywords)
    if dtype is not None and np.dtype(dtype) not in (np.dtype(float), np.dtype(object)):
        return np.full(shape, value, dtype=dtype, **keywords)
    result = np.empty(shape, dtype=object).view(RecordedArray)
    result[...] = value
    return result


def _numpy_functions():
    import numpy as np

    from . import arrays

    table = {name: _holding(getattr(np, name)) for name in ("zeros", "ones", "empty", "array", "asarray", "linspace", "arange", "eye")}
    table.update({name: arrays._like(getattr(np, name)) for name in ("zeros_like", "ones_like", "empty_like", "full_like")})
    table.update({name: _of_lists(getattr(np, name)) for name in ("max", "min", "amax", "amin", "any", "all", "mean", "clip", "ptp", "dot", "inner")})
    table.update(full=_full, where=lambda *sides: arrays._where(*sides) if len(sides) == 3 and arrays.has_recorded(sides) else np.where(*sides))
    for name in arrays._ENTRIES:
        if isinstance(getattr(np, name, None), np.ufunc):
            table[name] = _entries(getattr(np, name))
    return {id(getattr(np, name)): function for name, function in table.items()}


def _of_lists(function):
    """A function of numpy, also of lists in which recorded numbers are."""
    from .arrays import has_recorded, recorded_array

    def of(*arguments, **keywords):
        return function(*[recorded_array(a) if isinstance(a, (list, tuple)) and has_recorded(a) else a for a in arguments], **keywords)

    return of


def _entries(ufunc):
    """A ufunc, also of lists in which recorded numbers are."""
    from . import arrays

    def of(*arguments, **keywords):
        return arrays.apply(ufunc, "__call__", arguments, keywords) if arrays.has_recorded(arguments) else ufunc(*arguments, **keywords)

    return of


_tables = {}  # of numpy, with its first use


# Which functions change nothing ------------------------------------------------------------------------------------

_PURE = frozenset([
    *(getattr(builtins, name) for name in (
        "abs all any bool bytes chr complex dict divmod enumerate float format frozenset getattr hasattr int isinstance issubclass iter "
        "len list max min ord pow print range repr reversed round set slice sorted str sum tuple type zip map filter callable").split()),
    *(value for module in (math, itertools) for value in vars(module).values() if callable(value)),
    *(getattr(operator, name) for name in "add sub mul truediv floordiv mod pow neg pos abs lt le gt ge eq ne not_ and_ or_ xor matmul "
      "getitem itemgetter attrgetter contains is_ is_not truth".split()),
    functools.reduce, functools.partial, copy.copy, copy.deepcopy, collections.OrderedDict, types.SimpleNamespace])
_CHANGE = {list: "append extend insert remove pop clear sort reverse", dict: "pop popitem clear update setdefault",
           set: "add discard remove pop clear update intersection_update difference_update symmetric_difference_update",
           "array": "sort fill put itemset resize partition byteswap setfield setflags"}
_UNSEEN_OF_NUMPY = frozenset("copyto put place putmask put_along_axis fill_diagonal save savez savez_compressed savetxt load loadtxt fromfile "
                             "genfromtxt seterr seterrcall setbufsize set_printoptions set_string_function nditer at".split())
_VALUES = (tuple, frozenset, str, bytes, int, float, complex, range, slice)


def _method(function, line, name):
    """A method of a built-in type."""
    self = function.__self__
    kind = "array" if is_array(self) else type(self)
    if name.startswith("__") and kind in _CHANGE and name not in ("__len__", "__getitem__", "__contains__", "__iter__"):
        return _unknown(function, line, name) if open_branches() else function
    if kind in _CHANGE and name in _CHANGE[kind].split():
        changing(self, line)
        return _reading(function, line)
    if kind in _CHANGE or isinstance(self, _VALUES) or isinstance(self, Recorded) or _is_numpy(type(self)) and "random" not in type(self).__module__:
        return _reading(function, line, (self,), name in ("get", "pop"))
    return _unknown(function, line, name) if open_branches() else function


def _is_numpy(function):
    return type(function).__name__ == "ufunc" or (getattr(function, "__module__", None) or "").split(".")[0] == "numpy"


def _reading(function, line, sources=(), takes_out=True, name=""):
    """A function that changes nothing, besides reading iterators on; its result is new unless it is taken out of something."""
    name = name or getattr(function, "__name__", "a function")
    takes = any(function is taker for taker in _TAKERS)
    if not open_branches() and not takes:
        return function

    def of(*arguments, **keywords):
        arguments = [_handed_on(consumed(argument, line), line, takes) for argument in arguments]
        keywords = {key: _handed_on(value, line, takes) for key, value in keywords.items()}
        value = unchanged(function, arguments, keywords, line, name)
        return value if takes_out else made(value, *sources, *arguments)

    return of


_TAKERS = (builtins.map, builtins.filter, builtins.sorted, numbers.max, numbers.min, functools.reduce)  # call what they are given


def _handed_on(value, line, is_called=False):
    """An argument: a function may be called there."""
    is_plain = isinstance(value, (types.FunctionType, types.MethodType, functools.partial))
    if is_plain or is_called and isinstance(value, (type, types.BuiltinFunctionType)):
        return callee(value, line)
    if isinstance(value, (types.BuiltinMethodType, types.MethodDescriptorType)):
        callee(value, line)  # may it be called there?
    return value


def _unknown(function, line, name):
    refuse(line, f"'{name}' is called where a condition decides that changes during a run, and what it changes cannot be seen; expected "
           "it before the condition")


def _of_numpy(function, line):
    if not _tables:
        _tables.update(_numpy_functions())
    name, found = getattr(function, "__name__", ""), _tables.get(id(function), function)
    if open_branches():
        is_seen = name not in _UNSEEN_OF_NUMPY and "random" not in (getattr(function, "__module__", None) or "")
        return _reading(found, line, (), False, name) if is_seen else _unknown(function, line, f"numpy.{name}")
    return (lambda *arguments, **keywords: unchanged(found, arguments, keywords, line, name)) if any_frozen() else found


def _is_pure(function):
    return function in _PURE or isinstance(function, type) and issubclass(function, tuple) and hasattr(function, "_fields")


def callee(function, line):
    """What stands for a function that a rewritten one calls."""
    if isinstance(function, types.MethodType):
        own = callee(function.__func__, line)
        return function if own is function.__func__ else types.MethodType(own, function.__self__)
    if isinstance(function, functools.partial):
        return functools.partial(callee(function.func, line), *function.args, **function.keywords)
    if isinstance(function, types.FunctionType):
        return _of_python(function, line)
    if isinstance(function, types.BuiltinMethodType) and not isinstance(function.__self__, (types.ModuleType, type(None))):
        return _method(function, line, function.__name__)
    try:
        known = _BUILTIN.get(function)
        is_pure = known is not None or _is_pure(function)
    except TypeError:  # it cannot be looked up
        known, is_pure = None, False
    if is_pure:
        return _reading(known or function, line, (), function in (builtins.getattr, builtins.max, builtins.min, functools.reduce, operator.getitem))
    if _is_numpy(function):
        return _of_numpy(function, line)
    own = getattr(type(function), "__call__", None)
    if isinstance(own, types.FunctionType):
        return types.MethodType(callee(own, line), function)
    return _unknown(function, line, getattr(function, "__qualname__", repr(function))) if open_branches() else _careful(function)


def _careful(function):
    """A function of which nothing is known."""
    if isinstance(function, type):
        return function

    def of(*arguments, **keywords):
        for argument in [*arguments, *keywords.values()]:
            check_frozen(argument)
        return function(*arguments, **keywords)

    return of


def _of_python(function, line):
    if _is_numpy(function):
        return _of_numpy(function, line)
    if function.__code__ in rewritten:
        return function
    if not is_of_user(function.__module__):
        is_ours = (function.__module__ or "").split(".")[0] == "perp"
        known = is_ours or not open_branches() or _is_pure(function)
        return function if known else _unknown(function, line, function.__qualname__)
    from .rewriting import unmodified

    return unmodified(function)


__all__ = ["callee"]
