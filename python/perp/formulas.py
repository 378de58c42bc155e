"""Formulas that are recorded: arithmetic of numbers, their comparisons, and the cases that these make."""

import math
import operator
import threading

from .errors import TraceError
from .recorded import _ATOM, _LOOSE, _POWER, _PRODUCT, _SUM, NO_CASES, Recorded, _numpy, is_bool
from .toml_text import number_text


ADVICE = ", or let perp.unmodified(f) rewrite if, min, max and abs"


class Condition(Recorded):
    """A comparison of recorded numbers, or several joined. Of one alone `key` is the text that it shares with its opposite."""

    __slots__ = ("negated", "is_derived", "key")

    def __init__(self, text, cases=NO_CASES, make=None, parts=(), key=None, negated=None):
        super().__init__(text, _LOOSE, cases, make, parts)
        self.key = key
        self.negated = negated
        self.is_derived = negated is not None  # as the opposite of another one

    def __bool__(self):
        raise TraceError(f"'{self.text}' is true or false at each moment of a run, not while the function is traced: write "
                         f"perp.if_(condition, a, b), perp.sign, perp.max, perp.min, perp.abs{ADVICE}")

    __float__ = __int__ = __index__ = __bool__

    def _number(self):
        """1 where it holds, else 0, as arithmetic takes it."""
        return if_(self, 1.0, 0.0)

    def _logical(self, other):
        """The other side of &, |, ^, ==, which is true or false as well."""
        if type(other) is not Condition and not is_bool(other):
            raise TraceError(f"'{self.text}' is combined with {type(other).__name__}; expected another comparison")
        return other if type(other) is Condition else bool(other)

    def __and__(self, other):
        return and_(self, self._logical(other))

    __rand__ = __and__

    def __or__(self, other):
        return or_(self, self._logical(other))

    __ror__ = __or__

    def __invert__(self):
        return not_(self)

    def __eq__(self, other):
        other = self._logical(other)
        return or_(and_(self, other), and_(not_(self), not_(other)))

    def __ne__(self, other):
        return not_(self == other)

    def __xor__(self, other):
        return self != other

    __rxor__ = __xor__

    def __hash__(self):
        raise TraceError(f"'{self.text}' is a key or a member of a set, but it changes during a run; expected what is known")

    __class__ = property(lambda self: _numpy().bool_)  # what stands there where the function is not traced


def not_(condition):
    """The opposite of a condition."""
    if not isinstance(condition, Condition):
        return not condition
    if condition.negated is None:
        condition.negated = Condition(f"not ({condition.text})", condition.cases, not_, (condition,), None, condition)
    return condition.negated


def and_(*conditions):
    """Do all of them hold?"""
    return _joined(and_, "and", conditions, True)


def or_(*conditions):
    """Does one of them hold?"""
    return _joined(or_, "or", conditions, False)


def _joined(make, word, conditions, neutral):
    open_ones = {}
    for condition in conditions:
        if isinstance(condition, Condition):
            open_ones[condition.text] = condition
        elif bool(condition) != neutral:
            return not neutral
    if any(not_(condition).text in open_ones for condition in open_ones.values()):
        return not neutral
    if len(open_ones) < 2:
        return next(iter(open_ones.values()), neutral)
    return Condition(f" {word} ".join(f"({text})" for text in open_ones), _cases_of(open_ones.values()), make, tuple(open_ones.values()))


# Cases: branches of a function that was rewritten ------------------------------------------------------------------
#
# What such branches make is kept linear in the weight of each comparison, as Filippov's convex combination of the whole
# right-hand side is: f(if(c, a, b)) becomes if(c, f(a), f(b)) wherever f is not linear.


def _cases_of(values):
    return {key: comparison for value in values if isinstance(value, Recorded) for key, comparison in value.cases.items()}


def _first(cases):
    return cases[min(cases)]


def assume(value, comparison, holds, known=None):
    """The value where a comparison is known to hold, or not to. known: what was found of parts that occur again."""
    if not isinstance(value, Recorded) or comparison.key not in value.cases:
        return value
    if type(value) is Condition and value.key == comparison.key:
        return holds is (value.text == comparison.text)  # else it is the opposite, written either way
    known = {} if known is None else known
    if id(value) not in known:
        _count_case()
        known[id(value)] = value.make(*[assume(part, comparison, holds, known) for part in value.parts])
    return known[id(value)]


_MOST_CASES = 20_000  # parts of formulas that are made again, of one function
_local = threading.local()


def count_cases():
    """A function begins."""
    _local.cases = 0


def _count_case():
    _local.cases = getattr(_local, "cases", 0) + 1
    if _local.cases > _MOST_CASES:
        raise TraceError(f"the branches of the function multiply to more than {_MOST_CASES} cases of parts of its formulas; expected fewer "
                         "conditions on what other conditions decide, or perp.if_, whose conditions stay as they are")


def _lifted(make, parts, shared):
    """`make(*parts)`, in each case of the first of the comparisons `shared`."""
    first = _first(shared)
    return case(first, make(*[assume(part, first, True) for part in parts]), make(*[assume(part, first, False) for part in parts]))


def case(condition, a, b):
    """a where the condition holds, else b, of two branches of a rewritten function."""
    if not isinstance(condition, Condition):
        return a if condition else b
    first = condition if condition.key is not None else _first(condition.cases)
    if condition.key is None:
        parts = [(assume(condition, first, holds), assume(a, first, holds), assume(b, first, holds)) for holds in (True, False)]
        return case(first, *[case(*part) for part in parts])
    a, b = assume(a, first, True), assume(b, first, False)
    if isinstance(a, (bool, Condition)) and isinstance(b, (bool, Condition)):
        return or_(and_(first, a), and_(not_(first), b))
    a, b = formula(a, "an if"), formula(b, "an if")
    if a.text == b.text:
        return a
    if first.is_derived:
        first, a, b = first.negated, b, a
    return Number(f"if({first.text}, {a.text}, {b.text})", _ATOM, first.cases | a.cases | b.cases, case, (first, a, b))


def formula(value, what="a traced function"):
    """The recorded number of a value."""
    if isinstance(value, Number):
        return value
    if isinstance(value, Condition):
        raise TraceError(f"{what}: '{value.text}' is a condition; expected a number: perp.if_(condition, 1, 0)")
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return formula(value.item(), what)
    if isinstance(value, bool) or not isinstance(value, (int, float)) and not hasattr(value, "__float__"):
        raise TraceError(f"{what}: found {type(value).__name__}; expected a number")
    number = float(value)
    if number != number:
        raise TraceError(f"{what}: found nan; expected a number")
    if number in (math.inf, -math.inf):
        return Number("inf" if number > 0 else "-inf", _ATOM if number > 0 else _LOOSE, is_constant=True)
    return Number(number_text(number), _ATOM if math.copysign(1, number) > 0 else _LOOSE, is_constant=True)


def operand(value):
    """The recorded number of a value in arithmetic, where true counts as 1."""
    return formula(int(value) if is_bool(value) else value)


def _binary(symbol, rank, *, right=0, left=0, shared=None):
    """A binary operator; shared(a, b): the comparisons in whose weights it is not linear."""

    def make(a, b):
        a, b = formula(a), formula(b)
        if a.is_constant and b.is_constant and (symbol != "/" or float(b.text) != 0):
            return formula(_FOLDED[symbol](float(a.text), float(b.text)))
        common = shared(a, b) if shared else NO_CASES
        if common:
            return _lifted(make, (a, b), common)
        return Number(f"{a.inside(rank + left)} {symbol} {b.inside(rank + right)}", rank, a.cases | b.cases, make, (a, b))

    def method(self, other, swap=False):
        if getattr(other, "ndim", 0) > 0 or isinstance(other, str) or type(other) is Condition or not hasattr(other, "__float__"):
            return NotImplemented
        other = operand(other)
        return make(other, self) if swap else make(self, other)

    return method, lambda self, other: method(self, other, True)


def _comparison(symbol, opposite):
    def make(a, b):
        a, b = formula(a), formula(b)
        if not a.cases and not b.cases and not _is_recorded(a) and not _is_recorded(b):
            return _COMPARE[symbol](float(a.text), float(b.text))
        if a.text == b.text:
            return symbol in ("<=", ">=")
        shared = a.cases | b.cases
        if shared:
            return _lifted(make, (a, b), shared)
        texts = [f"{a.inside(_SUM)} {word} {b.inside(_SUM)}" for word in (symbol, opposite)]
        key = min(texts)
        positive = Condition(texts[0], make=make, parts=(a, b), key=key)
        positive.negated = Condition(texts[1], make=make, parts=(a, b), key=key, negated=positive)
        positive.cases = positive.negated.cases = {key: positive}
        return positive

    def method(self, other):
        return NotImplemented if getattr(other, "ndim", 0) > 0 else make(self, formula(other))

    return method


def _is_recorded(number):
    """Does the number change during a run, or is it more than a constant?"""
    return not number.is_constant


def _refused(what, instead):
    def method(self, *arguments):
        raise TraceError(f"{what} of '{self.text}', which changes during a run; {instead}")

    return method


class Number(Recorded):
    """A recorded number, or one that is known, as part of a formula."""

    __slots__ = ("is_constant",)

    def __init__(self, text, rank=_ATOM, cases=NO_CASES, make=None, parts=(), is_constant=False):
        super().__init__(text, rank, cases, make, parts)
        self.is_constant = is_constant

    __add__, __radd__ = _binary("+", _SUM, right=1)
    __sub__, __rsub__ = _binary("-", _SUM, right=1)
    __mul__, __rmul__ = _binary("*", _PRODUCT, right=1, shared=lambda a, b: {key: a.cases[key] for key in a.cases.keys() & b.cases.keys()})
    __truediv__, __rtruediv__ = _binary("/", _PRODUCT, right=1, shared=lambda a, b: b.cases)
    __pow__, __rpow__ = _binary("^", _POWER, left=1, right=1, shared=lambda a, b: a.cases | b.cases)
    __lt__ = _comparison("<", ">=")
    __le__ = _comparison("<=", ">")
    __gt__ = _comparison(">", "<=")
    __ge__ = _comparison(">=", "<")
    def __neg__(self):
        if self.is_constant:
            return formula(-float(self.text))
        return Number(f"-{self.inside(_POWER)}", _LOOSE, self.cases, operator.neg, (self,))

    def __pos__(self):
        return self

    def __abs__(self):
        from .numbers import abs  # noqa: A004

        return abs(self)

    def __eq__(self, other):
        if self.is_constant and getattr(other, "is_constant", isinstance(other, (int, float))):
            return float(self.text) == float(formula(other).text)
        raise TraceError(f"'{self.text} ==' of a recorded number holds at single moments at most; write perp.if_ with < or >")

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        raise TraceError(f"'{self.text}' is a key or a member of a set, but it changes during a run; expected what is known")

    __bool__ = _refused("the truth", "write perp.if_(condition, a, b)")
    __float__ = _refused("the value", "use the functions of perp or numpy, perp.sin for math.sin, and lists, perp.zeros(n) or "
                         "numpy arrays with dtype=object to keep it in")
    __int__ = __index__ = __round__ = __floor__ = __ceil__ = __trunc__ = _refused(
        "a whole number", "perp.if_ and perp.step tell regions apart")
    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __divmod__ = _refused(
        "a remainder", "perp.if_ tells periods apart, or perp.sin a phase")
    __iter__ = None

    __class__ = property(lambda self: _numpy().float64)  # what stands there where the function is not traced


def if_(condition, a, b):
    """a where the condition holds, else b; on the boundary everything between (Filippov). Of arrays entry by entry."""
    if any(hasattr(value, "__len__") for value in (condition, a, b)):
        from .arrays import elementwise

        return elementwise(if_)(condition, a, b)
    if not isinstance(condition, Condition):
        return a if condition else b
    a, b = formula(a, "perp.if_"), formula(b, "perp.if_")
    if condition.is_derived:
        condition, a, b = condition.negated, b, a
    if a.text == b.text:
        return a
    return Number(f"if({condition.text}, {a.text}, {b.text})", _ATOM, a.cases | b.cases, if_, (condition, a, b))


_FOLDED = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow}
_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}



def _counted(word):
    """Arithmetic of a condition and a number, where the condition counts as 1 or 0."""

    def method(self, other):
        if type(other) is Condition or is_bool(other):
            raise TraceError(f"arithmetic of two comparisons, '{self.text}' and another one, which has another meaning for bool than for "
                             "numpy.bool_; expected and, or, not, or perp.if_(condition, 1, 0)")
        return getattr(self._number(), word)(other)

    return method


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Condition, f"__{_name}__", _counted(f"__{_name}__"))
    setattr(Condition, f"__r{_name}__", _counted(f"__r{_name}__"))
