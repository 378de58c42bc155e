"""What branches of rewritten functions change: it is merged, or refused."""

import numpy as np
import pytest
from evaluation import evaluated

import perp


def looked_up(t, x):
    for v in (1.0, 2.0, 3.0):
        if x[0] <= v:
            break
    return [v]


def nested_loops(t, x):
    s = 0.0
    for k in range(3):
        for j in range(2):
            if x[0] > j:
                break
            s += 1
        if x[0] > k:
            continue
        s += 10 * j
    return [s]


def opposite(t, x):
    b = 0.0
    if x[0] <= 3:
        if not (3 < x[0] and t > 1.0):
            b = 9.0
    return [b]


def twice(g):
    import functools

    @functools.wraps(g)
    def call(*arguments):
        return [2 * v for v in g(*arguments)]

    return call


@twice
def decorated(t, x):
    return [-x[0] if x[0] > 0.3 else -1.0]


def grown(t, x):
    values, lists = [1.0], [[0.0]]
    if x[0] > 0.5:
        values.append(x[0])
        values.insert(0, 4.0)
    else:
        values += [2.0, lists[0].pop()]
        lists[0].append(3.0)
    return [values[0] + 2 * values[-1] + lists[0][0]]


def masked(t, x):
    a = np.zeros(3)
    a[np.array([x[0], 1.0, -x[0]]) > 0.5] = 2.0
    a += np.array([1, 2, 3])
    return [a @ np.arange(3.0)]


def whole_numbers(t, x):
    a = np.zeros(2, dtype=int)
    a[0] = 1.7
    b = np.array([0, 1])
    return [a[0] + np.array([2.0, x[0]])[b][1]]


def known_arrays(t, x):
    m = np.array([[2.0, 1.0], [1.0, 3.0]])
    b = np.zeros((2, 2))
    np.fill_diagonal(b, 2.0)
    a = np.zeros(2)
    np.copyto(a, [3.0, 4.0])
    np.add(a, np.linalg.solve(m, [1.0, 2.0]), out=a)
    view = np.reshape(b, 4)
    view[1] = x[0] if x[0] > 0.5 else np.argmax(m[1])
    a[0] = 1
    return [(b @ a)[0] + (1.0 if isinstance(a[0], float) and x.dtype == float and type(x) is np.ndarray else 2.0)]


def handed_on(t, x):
    import functools

    values = list(map(lambda v: v if v > 0.5 else -v, [x[0], 1.0]))
    if x[0] > 1:
        values += sorted([2.0, 1.0]) + list(map(float, x))
    else:
        values += [0.0, *x, 1.0]
    return [functools.reduce(lambda a, b: a + b if b > 0.3 else a, values)]


@pytest.mark.parametrize("f", [looked_up, nested_loops, known_arrays, handed_on, opposite, decorated, grown, masked, whole_numbers])
def test_what_a_branch_changes_is_merged(f):
    model = perp.trace(f, [0.3], unmodified=True, t=(0, 1))
    for x in (-3.3, -0.4, 0.3, 0.9, 1.4, 2.6, 3.7):
        for t in (0.0, 2.0):
            assert evaluated(model, [x], t) == pytest.approx([float(v) for v in f(t, np.array([x]))]), (x, t)


class Holder:
    def __init__(self):
        self.k = 1.0

    def put(self, k):
        self.k = k

    @property
    def taken(self):
        self.k += 1
        return self.k


KEPT = [0.0]


def keep(v):
    KEPT[0] = v
    return v


def table(t, x):
    ys = [1.0, 2.0, 4.0]
    for k in range(2):
        if x[0] <= k:
            break
    return [ys[k]]


def method(t, x):
    p = Holder()
    if x[0] > 0.5:
        p.put(2.0)
    return [p.k]


def attribute(t, x):
    p = Holder()
    return [p.taken if x[0] > 0.5 else p.k]


def by_setattr(t, x):
    p = Holder()
    if x[0] > 0.5:
        setattr(p, "k", 2.0)
    return [p.k]


def elsewhere(t, x):
    if x[0] > 0.5:
        keep(1.0)
    return [KEPT[0]]


def expression(t, x):
    return [KEPT[0] + (keep(2.0) if x[0] > 0.5 else 1.0)]


def members(t, x):
    s = set()
    if x[0] > 0.5:
        s.add(1)
    return [float(len(s))]


def read_on(t, x):
    it = iter([1.0, 2.0])
    if x[0] > 0.5:
        next(it)
    return [next(it)]


def drawn(t, x):
    import random

    if x[0] > 0.5:
        return [random.random()]
    return [0.0]


def two_names(t, x):
    a = [1.0]
    b = a
    if x[0] > 0.5:
        a = [2.0]
    a[0] = 3.0
    return [b[0]]


def two_arrays(t, x):
    a = np.zeros(1)
    b = a
    if x[0] > 0.5:
        a = a + 1.0
    np.add(a, 1.0, out=a)
    return np.sin(a) + b


def by_position(t, x):
    a, b = np.zeros(1), np.ones(1)
    if x[0] > 0.5:
        np.clip(b, 0.0, 0.5, a)
    return a + b


def not_set(t, x):
    a = np.empty(2)
    a[0] = x[0]
    return [a[1]]


def idiom(t, x):
    return [x[0] > 0.5 and 5.0]


def nothing(t, x):
    def g(v):
        if v > 0:
            return None
        return 1.0

    return [2.0 if g(x[0]) is None else 1.0]


def missing(t, x):
    values = {"a": 1.0}
    if x[0] > 0.5 and values:
        return [values["b"]]
    return [x[0] + (1.0 if x[0] <= x[0] else 2.0)]


def either(t, x):
    def g(v):
        if v > 0:
            return np.array([1.0])
        return [1.0]

    return g(x[0]) * 2


@pytest.mark.parametrize("f, offset, words", [
    (table, 5, "a whole number"), (method, None, "an attribute is set"), (attribute, 2, "'taken' is run"), (by_setattr, 3, "'setattr' is called"),
    (elsewhere, None, "what is in a list is changed"), (expression, None, "what is in a list is changed"), (members, 2, "other members"),
    (read_on, 2, "list_iterator is read"), (drawn, 4, "'random' is called"), (two_names, 3, "one of two"), (two_arrays, None, "'add' changes an array"), (by_position, 3, "numpy.clip changes an array"), (idiom, 1, "a if condition else b"),
    (nothing, 4, "NoneType"), (missing, 3, "KeyError: 'b', where a condition"), (either, 6, "a list or an array")])
def test_what_cannot_be_merged_is_refused(f, offset, words):
    with pytest.raises(perp.TraceError, match=words) as caught:
        perp.trace(f, [0.3], unmodified=True, t=(0, 1))
    line = f.__code__.co_firstlineno + (offset or 0)
    assert f"test_rewriting.py:{line}: " in str(caught.value) or offset is None and "test_rewriting.py:" in str(caught.value), caught.value


def test_a_message_is_short_where_its_formula_is_not():
    def f(t, x):
        y = x[0]
        for _ in range(12):
            y = y + y
        return [1.0 if y else 2.0]

    with pytest.raises(perp.TraceError) as caught:
        perp.trace(f, [0.3], unmodified=True, t=(0, 1))
    assert len(str(caught.value)) < 1000 and "test_rewriting.py:" in str(caught.value) and "expected a comparison" in str(caught.value)


def test_what_was_not_set_is_no_number():
    with pytest.raises(perp.TraceError, match="NoneType"):
        perp.trace(not_set, [0.3], unmodified=True, t=(0, 1))


def test_the_profiler_is_the_users_again():
    import sys

    for f in (grown, attribute):
        try:
            perp.trace(f, [0.3], unmodified=True, t=(0, 1))
        except perp.TraceError:
            pass
        assert sys.getprofile() is None
