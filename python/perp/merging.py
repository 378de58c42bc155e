"""What rewritten functions call: both sides of a condition are run, and what they leave is merged."""

import operator
import re
from builtins import locals, slice  # noqa: A004, F401
from types import MappingProxyType

from . import numbers
from .callees import callee  # noqa: F401
from .effects import (Branch, augmented, changing, changing_entries, consumed, effect, freeze, is_array, is_container,  # noqa: F401
                      made, open_branches, refuse, rewritten, root, storing)
from .errors import TraceError
from .numbers import Condition, Number, Recorded, and_, not_, or_  # noqa: F401
from .recorded import is_bool

_PLACE = re.compile(r".*:\d+: ", re.DOTALL)
_OPERATORS = {"Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge, "Eq": operator.eq, "NotEq": operator.ne,
              "Is": operator.is_, "IsNot": operator.is_not, "In": lambda a, b: a in b, "NotIn": lambda a, b: a not in b}
_ARITHMETIC = {"Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv, "FloorDiv": operator.floordiv,
               "Mod": operator.mod, "Pow": operator.pow, "MatMult": operator.matmul, "BitAnd": operator.and_, "BitOr": operator.or_,
               "BitXor": operator.xor, "LShift": operator.lshift, "RShift": operator.rshift}
_VALUE = "_perp_value"
UNSET = type("UNSET", (), {})()  # what a function returns that has not returned yet


def with_place(error):
    """The error, with the line of the user's function in which it arose."""
    if isinstance(error, TraceError) and _PLACE.match(str(error)):
        return error
    place, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in rewritten:
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    reason = str(error).replace(numbers.ADVICE, "")  # which is followed
    if not isinstance(error, TraceError) and hasattr(error, "is_decided"):
        reason = f"{type(error).__name__}: {reason}, where a condition decides that changes during a run"
    return TraceError(f"{place}: {reason}") if place else error


class Undefined:
    """The value of a name that one side of a condition leaves without one."""

    def __init__(self, name, line):
        self.name, self.line = name, line


def defined(value):
    """The value of a name that may have none."""
    if type(value) is Undefined:
        refuse(value.line, f"'{value.name}' has a value only where the condition of this line holds, or only where it does not; expected "
               "one on both sides")
    return value


def _containers(values, found):
    """The lists, dicts, sets and arrays among values and within them, by identity."""
    for value in values:
        if id(value) in found:
            continue
        if is_container(value):
            found[id(value)] = value
        if type(value) is dict:
            _containers(value.values(), found)
        elif isinstance(value, (list, tuple)):
            _containers(value, found)
        elif is_array(value) and value.dtype == object:
            _containers(value.ravel().tolist(), found)
    return found


def _put(container, content):
    if isinstance(container, list):
        container[:] = content
    elif isinstance(container, (dict, set)):
        container.clear()
        container.update(content)
    else:
        container[...] = content


class Fork:
    """An `if`: where its condition is known one side is run, else both."""

    def __init__(self, test, names, loads, line):
        self.test, self.names, self.loads, self.line = test, names, loads, line
        self.is_known = not isinstance(test, Condition)
        self.value = bool(test) if self.is_known else None
        self.ends, self.made = {}, {}

    def skips(self, branch):
        return self.is_known and branch is not self.value

    def _values(self, names):
        return tuple(names.get(name, Undefined(name, self.line)) for name in self.names)

    def start(self, branch, names):
        """The values of the names as the branch finds them."""
        if self.is_known:
            return self._values(names)
        if branch:
            self.before = self._values(names)
            self.containers = _containers(names.values(), {})
            self.contents = {key: value.copy() for key, value in self.containers.items()}
        self.branch = Branch(self.line, self.containers.values()).__enter__()
        for name in self.loads:
            if name in names:
                consumed(names[name], self.line)
        return self.before

    def end(self, branch, names):
        contents = {}
        if not self.is_known:
            contents = {key: value.copy() for key, value in self.containers.items()}
            self.branch.__exit__()
            self.made.update(self.branch.made)
            for key, container in self.containers.items():
                _put(container, self.contents[key])
        self.ends[branch] = (self._values(names), contents)

    def merged(self):
        """The values of the names behind it."""
        if self.is_known:
            return self.ends[self.value][0]
        (values, contents), (other_values, other_contents) = self.ends[True], self.ends[False]
        merge = Merge(self.test, self.line, self.made, contents, other_contents)
        ready = {key: merge.content(container, contents[key], other_contents[key]) for key, container in self.containers.items()}
        for key, container in self.containers.items():
            _put(container, ready[key])
        return tuple(merge.name(name, a, b) for name, a, b in zip(self.names, values, other_values))


class Either(tuple):
    """Several values that are a list on one side of a condition and an array or a tuple on the other: they can be read."""

    def _refused(self, *_):
        raise TraceError("this is a list or an array or a tuple, as a condition decides that changes during a run, and arithmetic of them "
                         "differs; expected the same on both sides")

    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __neg__ = __pow__ = __rpow__ = _refused
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __matmul__ = __rmatmul__ = count = index = _refused
    __hash__ = None
    __array_ufunc__ = None


class Merge:
    """One value out of those that the two sides of a condition leave."""

    def __init__(self, test, line, made_inside, contents=MappingProxyType({}), other_contents=MappingProxyType({})):
        self.test, self.line, self.made = test, line, made_inside
        self.contents, self.other_contents = contents, other_contents  # of the containers from before, by identity
        self.pairs, self.partners, self.roots = {}, {}, {}

    def name(self, name, a, b):
        """The value of a name; what a side returns is not looked at where it has not returned."""
        if name == _VALUE and (a is UNSET or b is UNSET):
            return b if a is UNSET else a
        for value in (a, b):
            if type(value) is Undefined:
                return value
        return self.value(a, b, name == _VALUE)

    def value(self, a, b, is_returned=False):
        """a where the test holds, else b."""
        if a is b:
            return a
        if all(type(value) is Condition or is_bool(value) for value in (a, b)):
            return numbers.case(self.test, *[value if type(value) is Condition else bool(value) for value in (a, b)])
        if is_container(a) and is_container(b) and _kind(a) is _kind(b):
            return self._container(a, b)
        if type(a) is type(b) and isinstance(a, tuple) and len(a) == len(b):
            parts = [self.value(x, y) for x, y in zip(a, b)]
            return type(a)._make(parts) if hasattr(a, "_make") else type(a)(parts)
        if is_returned and _is_sequence(a) and _is_sequence(b) and len(a) == len(b):
            return Either(self.value(x, y) for x, y in zip(a, b))
        return self._scalar(a, b)

    def _scalar(self, a, b):
        if type(a) is type(b) and isinstance(a, (int, float, str, bytes, complex, range)) and repr(a) == repr(b):
            return a
        if all(_is_number(value) for value in (a, b)):
            return numbers.case(self.test, a, b)
        return refuse(self.line, f"{type(a).__name__} or {type(b).__name__}, as the condition decides; expected numbers on both sides")

    def _container(self, a, b):
        """One container in the place of two; names of the same two have the same one."""
        key = (id(a), id(b))
        if key in self.pairs:
            return self.pairs[key][0]
        for value in (a, b):
            if id(value) in self.partners:
                refuse(self.line, f"a {type(value).__name__} has two names where the condition holds, or where it does not, and is merged "
                       "with different ones of the other side; expected the same names of it on both sides")
            self.partners[id(value)] = value
        contents = self.contents.get(id(a), a), self.other_contents.get(id(b), b)
        if is_array(a):
            result = self._array(*contents)
        else:
            result = type(a)()
            self.pairs[key] = (result, a, b)  # also where it is within itself
            _put(result, self.content(a, *contents))
        self.pairs[key] = (made(result), a, b)
        self._freeze(result, a, b)
        return result

    def _freeze(self, result, a, b):
        """What shares its numbers with others may be read only: it is not known whose they are."""
        old = [value for value in (a, b) if id(root(value)) not in self.made]
        shared = [other for value in (a, b) if is_array(value) for other in self.roots.setdefault(id(root(value)), [])]
        for value in (a, b):
            if is_array(value):
                self.roots[id(root(value))].append(result)
        for value in [*old, *shared, *([result] if old or shared else [])]:
            freeze(value, self.line)

    def content(self, container, a, b):
        """What a container holds behind the two sides, that hold a and b."""
        if isinstance(container, set):
            if a != b:
                refuse(self.line, "a set gets other members where the condition holds than where it does not")
            return a
        if isinstance(container, dict):
            if list(a) != list(b):
                refuse(self.line, "a dict gets other keys where the condition holds than where it does not, or in another order")
            return {key: self.value(a[key], b[key]) for key in a}
        if len(a) != len(b):
            refuse(self.line, f"a list has {len(a)} entries where the condition holds, else {len(b)}")
        return self._array(a, b) if is_array(container) else [self.value(x, y) for x, y in zip(a, b)]

    def _array(self, a, b):
        import numpy as np

        if a.shape != b.shape:
            refuse(self.line, f"an array has the shape {a.shape} where the condition holds, else {b.shape}")
        result = np.empty(a.shape, dtype=object)
        for index in np.ndindex(a.shape):
            result[index] = self.value(a[index], b[index])
        if a.dtype == b.dtype and a.dtype != object and not any(isinstance(v, Recorded) for v in result.ravel().tolist()):
            return result.astype(a.dtype)
        from .arrays import RecordedArray

        return result.view(RecordedArray)


def _kind(value):
    return "array" if is_array(value) else type(value)


def _is_sequence(value):
    return isinstance(value, (list, tuple)) or is_array(value) and value.ndim > 0


def _is_number(value):
    return isinstance(value, (int, float, Number)) or not is_array(value) and hasattr(value, "__float__")


def truth(value, line):
    """A condition of which only the truth counts."""
    if isinstance(value, Number):
        refuse(line, f"'{value.text}' is a number that changes during a run; expected a comparison")
    return value if isinstance(value, Condition) else bool(value)


def known(test, line, reason):
    """A test that must not depend on the state."""
    if isinstance(test, Recorded):
        refuse(line, f"{reason}, but '{test.text}' changes during a run; expected what is known while the function is traced")
    return test


def counted(iterable, line):
    """What a loop goes over."""
    if isinstance(iterable, Recorded):
        refuse(line, f"the number of turns of a loop depends on it, but '{iterable.text}' changes during a run")
    return consumed(iterable, line)


def unpacked(value, line):
    """What several names are taken from."""
    return consumed(value, line)


def returned(done, value, line):
    if isinstance(done, Condition):
        refuse(line, "the function does not return a value on every path")
    return None if value is UNSET else value


def choose(test, a, b, line):
    """a if test else b"""
    if not isinstance(test, Condition):
        return a() if test else b()
    sides, inside = [], {}
    for side in (a, b):
        with Branch(line) as branch:
            sides.append(side())
        inside.update(branch.made)
    return Merge(test, line, inside).value(*sides)


def _joined(parts, line, stops, join):
    """and, or: what follows a condition is looked at on one side of it only."""
    result, conditions, depth = not stops, [], len(open_branches())
    try:
        for part in parts:
            result = part()
            if isinstance(result, Number):
                refuse(line, f"'{result.text}' is a number that changes during a run; expected a comparison")
            if isinstance(result, Condition):
                conditions.append(result)
                Branch(line).__enter__()
            elif conditions and not is_bool(result):
                refuse(line, f"{type(result).__name__} or the value of '{conditions[0].text}', as it decides; expected comparisons alone, or "
                       "a if condition else b")
            elif bool(result) is stops:
                return result
    except Exception as error:
        if len(open_branches()) > depth:
            error.is_decided = True
        raise
    finally:
        while len(open_branches()) > depth:
            open_branches()[-1].__exit__()
    return join(*conditions) if conditions else result


def both(line, *parts):
    return _joined(parts, line, False, and_)


def either(line, *parts):
    return _joined(parts, line, True, or_)


def chain(line, words, first, *others):
    """a < b < c, where c is looked at if a < b alone"""
    values = [first]

    def compared(k, word):
        values.append(others[k]())
        if word in ("In", "NotIn"):
            consumed(values[-1], line)
        return _OPERATORS[word](values[k], values[k + 1])

    if len(words) == 1:
        return compared(0, words[0])
    return both(line, *[lambda k=k, word=word: compared(k, word) for k, word in enumerate(words)])


def binary(word, a, b):
    return made(_ARITHMETIC[word](a, b), a, b)


def item(value, key, line):
    """An entry, or several of them, which are new unless they show those of an array."""
    found = value[key]
    return made(found, value) if is_array(found) or isinstance(key, slice) else found
