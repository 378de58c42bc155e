"""Arrays of recorded numbers: what numpy does with numbers of a run, done with formulas."""

import operator

import numpy as np

from . import numbers
from .errors import TraceError
from .numbers import Condition, and_, not_, operand, or_
from .recorded import Recorded, asked_by_user, is_bool


class RecordedArray(np.ndarray):
    """An array of objects, numbers of a run among them: it takes the place of the array of floats that the function is made for."""

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return apply(ufunc, method, inputs, keywords)

    def __array_function__(self, function, types, arguments, keywords):
        return call(function, types, arguments, keywords)

    # Comparisons of numpy hide the error of an entry.

    def __eq__(self, other):
        return apply(np.equal, "__call__", (self, other), {})

    def __ne__(self, other):
        return apply(np.not_equal, "__call__", (self, other), {})

    __hash__ = None

    @property
    def dtype(self):
        """That of the array in whose place it stands, for the user's code; for numpy's that of objects."""
        return np.dtype(float) if asked_by_user() else super().dtype

    def __getitem__(self, key):
        return super().__getitem__(_index(key))

    def __setitem__(self, key, value):
        mask = key if isinstance(key, np.ndarray) and key.dtype == object and key.size else None
        if mask is not None and mask.shape == self.shape and np.ndim(value) == 0:  # every entry is the new one or stays
            for index in np.ndindex(self.shape):
                super().__setitem__(index, case(mask[index], value, super().__getitem__(index)))
            return
        super().__setitem__(_index(key), float(value) if isinstance(value, (int, np.integer, np.bool_)) and not isinstance(value, Recorded) else value)

    def astype(self, dtype, *arguments, **keywords):
        """A copy: its numbers are floats already, and nothing else can hold them."""
        if np.dtype(dtype) not in (np.dtype(float), np.dtype(object)) and any(isinstance(v, Recorded) for v in self.ravel().tolist()):
            raise TraceError(f"an array of recorded numbers is made one of {np.dtype(dtype)}; expected float")
        return self.copy() if np.dtype(dtype) in (np.dtype(float), np.dtype(object)) else super().astype(dtype, *arguments, **keywords)


def _index(key):
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, np.ndarray) and part.dtype == object and any(isinstance(v, Recorded) for v in part.ravel().tolist()):
            raise TraceError("the entries that are taken depend on numbers that change during a run; expected numpy.where or perp.if_, "
                             "whose result has all of them")
    return key


def recorded_array(values):
    """The array of the values, whose shape must be that of an array of floats."""
    return np.array(values, dtype=object).view(RecordedArray)


def _plain(value):
    return value.view(np.ndarray) if isinstance(value, RecordedArray) else value


def _result(array):
    """What numpy gives back: a scalar, an array of bool, or one of objects that hold numbers of a run."""
    if not isinstance(array, np.ndarray) or array.dtype != object:
        return array
    if array.shape == ():
        return array.item()
    if array.size and all(map(is_bool, array.ravel().tolist())):
        return array.astype(bool)
    return array.view(RecordedArray)


def _objects(value):
    """The value as an array of objects; lists of numbers are arrays."""
    if isinstance(value, Recorded):
        array = np.empty((), dtype=object)
        array[()] = value
        return array
    return np.asarray(_plain(value), dtype=object)


def elementwise(function):
    """The function of numbers for arrays, which are made of one shape."""

    def of_arrays(*values):
        arrays = np.broadcast_arrays(*[_objects(value) for value in values])
        result = np.empty(arrays[0].shape, dtype=object)
        for index in np.ndindex(result.shape):
            result[index] = function(*[array[index] for array in arrays])
        return _result(result)

    return of_arrays


def case(condition, a, b):
    """a where the condition holds, else b."""
    return numbers.if_(condition, a, b)


# Functions of numpy ------------------------------------------------------------------------------------------------


def _recorded(value):
    return value if isinstance(value, Condition) else operand(value)


def _ordered(a, b):
    """A comparison first: scalars of numpy would ask for the function of numpy again."""
    return (a, b) if isinstance(a, Recorded) else (b, a)


def _number(value):
    """A term of a sum: what is true counts as 1."""
    if type(value) is Condition:
        return value._number()
    return int(value) if is_bool(value) else value


_ENTRIES = {
    "sin": numbers.sin, "cos": numbers.cos, "tan": numbers.tan, "arcsin": numbers.asin, "arccos": numbers.acos, "arctan": numbers.atan,
    "arctan2": numbers.atan2, "sinh": numbers.sinh, "cosh": numbers.cosh, "tanh": numbers.tanh, "exp": numbers.exp, "log": numbers.log,
    "log10": numbers.log10, "sqrt": numbers.sqrt, "sign": numbers.sign, "absolute": numbers.abs, "fabs": numbers.abs,
    "maximum": numbers.max, "minimum": numbers.min, "fmax": numbers.max, "fmin": numbers.min,
    "clip": lambda a, lower, upper: numbers.min(numbers.max(a, lower), upper),
    "power": lambda a, b: _recorded(a) ** b, "float_power": lambda a, b: _recorded(a) ** b, "add": lambda a, b: _recorded(a) + b,
    "subtract": lambda a, b: _recorded(a) - b, "multiply": lambda a, b: _recorded(a) * b, "divide": lambda a, b: _recorded(a) / b,
    "true_divide": lambda a, b: _recorded(a) / b, "negative": operator.neg, "positive": operator.pos, "square": lambda a: a * a,
    "reciprocal": lambda a: 1.0 / a, "conjugate": lambda a: a, "hypot": lambda a, b: numbers.sqrt(_recorded(a) * a + _recorded(b) * b),
    "deg2rad": lambda a: a * (np.pi / 180), "radians": lambda a: a * (np.pi / 180), "rad2deg": lambda a: a * (180 / np.pi),
    "degrees": lambda a: a * (180 / np.pi), "less": lambda a, b: _recorded(a) < b, "less_equal": lambda a, b: _recorded(a) <= b,
    "greater": lambda a, b: _recorded(a) > b, "greater_equal": lambda a, b: _recorded(a) >= b, "equal": lambda a, b: _recorded(a) == b,
    "not_equal": lambda a, b: _recorded(a) != b, "logical_and": and_, "logical_or": or_, "logical_not": not_,
    "bitwise_and": lambda a, b: operator.and_(*_ordered(a, b)), "bitwise_or": lambda a, b: operator.or_(*_ordered(a, b)),
    "bitwise_xor": lambda a, b: operator.xor(*_ordered(a, b)), "invert": operator.invert,
}
_CLIP = (np._core if hasattr(np, "_core") else np.core).umath.clip
_SUMS = ("add", "multiply", "subtract")  # which numpy makes of the entries themselves
_EXTREMES = {"maximum": numbers.max, "minimum": numbers.min, "logical_or": or_, "logical_and": and_}


def _entry(ufunc):
    """A ufunc of entries, which are recorded or not."""
    function = _ENTRIES[ufunc.__name__]

    def of_entries(*values):
        return function(*values) if any(isinstance(value, Recorded) for value in values) else ufunc(*values)

    return of_entries


def _along(function, array, axis=0, keepdims=False, **others):
    """max, min, any, all along an axis, or of all entries."""
    if any(value not in (None, np._NoValue) and value is not True for key, value in others.items() if key not in ("dtype", "out")):
        raise TraceError(f"{', '.join(others)} of an array of recorded numbers; expected axis alone")
    array = _objects(array)
    if axis is None:
        array, axis = array.ravel(), 0
    moved = np.moveaxis(array, axis, -1)
    result = np.empty(moved.shape[:-1], dtype=object)
    for index in np.ndindex(result.shape):
        result[index] = function(*moved[index])
    return _result(np.expand_dims(result, axis) if keepdims else result)


def _into(out, result, name):
    """Puts a result into an array of the user's."""
    if out is None:
        return result
    target = out[0] if isinstance(out, tuple) else out
    if target.dtype != object:
        raise TraceError(f"numpy.{name} puts recorded numbers into an array of {target.dtype}; expected an array with dtype=object, "
                         "as numpy.zeros_like(x) of the state")
    _plain(target)[...] = result
    return target


def has_recorded(value):
    """Is something in it, or in its parts, that changes during a run?"""
    if isinstance(value, Recorded):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(map(has_recorded, value.ravel().tolist()))
    return isinstance(value, (list, tuple)) and any(map(has_recorded, value))


def _floats(value):
    """The value with arrays of floats, where those of objects hold no more than these."""
    if isinstance(value, RecordedArray):
        return _plain(value).astype(float)
    return type(value)(map(_floats, value)) if type(value) in (list, tuple) else value


def _holding(value):
    """A result with arrays that can hold recorded numbers, where they are of floats."""
    if isinstance(value, np.ndarray) and value.dtype == float:
        return value.astype(object).view(RecordedArray)
    return type(value)(map(_holding, value)) if type(value) in (list, tuple) else value


def apply(ufunc, method, inputs, keywords):
    """A ufunc of numpy, of arguments some of which are recorded."""
    if keywords.get("out") is None and method != "at" and not any(map(has_recorded, [*inputs, *keywords.values()])):
        return _holding(getattr(ufunc, method)(*map(_floats, inputs), **keywords))
    name, keywords = ufunc.__name__, dict(keywords)
    is_of_numpy = ufunc in (getattr(np, name, None), _CLIP)
    out = keywords.pop("out", None)
    if out is not None and all(target is None for target in (out if isinstance(out, tuple) else (out,))):
        out = None
    if method == "__call__" and name == "matmul":
        return _into(out, _result(np.matmul(*[_objects(value) for value in inputs])), name)
    if method == "__call__" and is_of_numpy and name in _ENTRIES and keywords.get("where", True) is True:
        return _into(out, elementwise(_entry(ufunc))(*inputs), name)
    if method == "reduce" and name in _EXTREMES:
        return _into(out, _along(_EXTREMES[name], *inputs, **keywords), name)
    if method in ("reduce", "accumulate", "outer") and name in _SUMS:
        keywords.pop("dtype", None)
        arrays = [elementwise(_number)(_objects(value)) for value in inputs[:1]] + list(inputs[1:] if method != "outer" else map(_objects, inputs[1:]))
        return _into(out, _result(getattr(ufunc, method)(*[_objects(arrays[0]), *arrays[1:]], **keywords)), name)
    raise TraceError(f"numpy.{name}{'' if method == '__call__' else '.' + method} of a recorded number; expected arithmetic, or one of "
                     f"{', '.join(sorted(_ENTRIES))}")


def _where(condition, *sides):
    if len(sides) != 2:
        raise TraceError("numpy.where of recorded numbers with one argument counts entries that hold; expected three: condition, a, b")
    return elementwise(case)(condition, *sides)


def _clip(a, lower, upper, out=None):
    lower, upper = (-np.inf if lower is None else lower), (np.inf if upper is None else upper)
    return _into(out, apply(_CLIP, "__call__", (a, lower, upper), {}), "clip")


def _interp(x, xp, fp, **others):
    """Linear between the points, constant beyond them."""
    xp, fp = np.asarray(xp), np.asarray(fp)
    if others or xp.dtype == object or len(xp) < 2 or xp.shape != fp.shape or not (np.diff(xp) > 0).all():
        raise TraceError("numpy.interp of recorded numbers; expected two or more points (x, y), whose x are known and increase, alone")
    points = [value for pair in zip(xp.tolist(), fp.tolist()) for value in pair]
    first, last = float(xp[0]), float(xp[-1])
    return elementwise(lambda v: numbers.piecewise(numbers.min(numbers.max(v, first), last), *points))(x)


def _like(function):
    """zeros_like(x), ...: of floats, which become an array that holds recorded numbers."""

    def of(a, *value, dtype=None, shape=None, **others):
        made = function(np.empty(np.shape(a) if shape is None else shape), *[0.0 for _ in value], dtype=dtype, **others)
        if made.dtype != float and made.dtype != object:
            return function(made, *value)
        result = made.astype(object).view(RecordedArray)
        if function is np.empty_like:
            result[...] = None  # what is not set has no value
        if value:
            result[...] = value[0]
        return result

    return of


_LIKE = ("zeros_like", "ones_like", "empty_like", "full_like")
_CHANGING = ("copyto", "fill_diagonal", "put", "put_along_axis", "place", "putmask")  # change what they are given
_VIEWS = frozenset("""
array_split atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to diagonal dsplit expand_dims flip fliplr flipud hsplit imag moveaxis ravel real
reshape rollaxis rot90 split squeeze swapaxes transpose vsplit may_share_memory shares_memory
""".split())  # show the numbers of what they are given
_FUNCTIONS = {"where": _where, "clip": _clip, "interp": _interp,
              **{name: _like(getattr(np, name)) for name in _LIKE}}
# Functions of numpy that are made of others which take arrays of objects entry by entry, or that move entries only.
_TAKEN = frozenset("""
array_equal append around atleast_1d atleast_2d atleast_3d block broadcast_arrays broadcast_to column_stack concatenate convolve copy copyto
correlate cross cumprod cumsum delete diag diagflat diagonal diff dot dsplit dstack ediff1d empty_like expand_dims fill_diagonal flip fliplr
flipud full_like gradient hsplit hstack inner insert kron linalg.norm mean moveaxis ndim norm ones_like outer polyval prod ptp put
put_along_axis ravel repeat reshape resize roll rollaxis rot90 shape size split squeeze stack std sum swapaxes take take_along_axis tensordot
tile trace transpose trapz tril triu vander var vdot vsplit vstack zeros_like array_split amax amin max min any all real imag iscomplexobj isrealobj
array_repr array_str array2string may_share_memory shares_memory matrix_power multi_dot result_type can_cast
""".split())


def _of_floats(function, arguments, keywords):
    """A function of numpy of known numbers, by numpy itself."""
    floats = [_floats(value) for value in [*arguments, *keywords.values()]]
    value = function(*floats[:len(arguments)], **dict(zip(keywords, floats[len(arguments):])))
    for old, new in zip([*arguments, *keywords.values()], floats):
        if isinstance(old, RecordedArray) and _floats(old).tobytes() != new.tobytes():
            raise TraceError(f"numpy.{function.__name__} changes an array of those that it is given; expected its result")
    return _holding(value)


def call(function, types, arguments, keywords):
    """A function of numpy, of arguments some of which are recorded."""
    name = function.__name__
    if name not in _CHANGING and name not in _VIEWS and "out" not in keywords and not any(map(has_recorded, [*arguments, *keywords.values()])):
        if name in _LIKE and keywords.get("dtype") is None:
            return _FUNCTIONS[name](*arguments, **keywords)
        return _of_floats(function, arguments, keywords)
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](*arguments, **keywords)
    if name not in _TAKEN:
        raise TraceError(f"numpy.{name} of recorded numbers; expected arithmetic, functions of its entries, or perp.if_")
    try:
        return _wrapped(function._implementation(*arguments, **keywords))
    except (TypeError, AttributeError) as error:
        if isinstance(error, TraceError):
            raise
        raise TraceError(f"numpy.{name} of recorded numbers: {error}") from error


def _wrapped(value):
    if isinstance(value, (list, tuple)):
        return type(value)(map(_wrapped, value))
    return _result(value) if isinstance(value, np.ndarray) and value.dtype == object else value


__all__ = ["RecordedArray", "apply", "call", "elementwise", "has_recorded", "recorded_array"]
