"""Traced functions: the model that they are, what is refused with its line."""

import math

import numpy as np
import pytest
from evaluation import evaluated

import perp


def canonical(t, x, p1):
    """As seed of many a paper writes it."""
    dx = np.zeros(2)
    dx[0] = 0.01 * t**2 + x[1] ** 3
    if x[0] < p1:
        dx[1] = 0
    else:
        if x[0] < p1 + 0.5:
            dx[1] = 5
        else:
            dx[1] = 0
    return dx


def test_an_unmodified_function_has_the_solution_of_the_model_file():
    r = perp.solve_ivp(canonical, (0, 20), [1.0, 0.0], parameters={"p1": 5.437}, unmodified=True, tol=1e-12)
    expected = perp.solve("ifdiff_canonical", scheme="located", tol=1e-12)
    np.testing.assert_allclose(r.y[:, -1], expected.y[:, -1], rtol=1e-10)
    np.testing.assert_allclose([e.t for e in r.events], [e.t for e in expected.events], rtol=1e-12)
    changed = perp.solve(r.model, p1=4.0, scheme="located")  # parameters stay parameters
    assert changed.events[0].t < r.events[0].t


def test_a_traced_function_with_laws_is_the_model_with_laws():
    def f(t, x, lam, mu):
        return [x[1], -x[0] - mu * lam[0]], [x[1]]

    model = perp.trace(f, [0.0, 1.0], laws=["sign"], parameters={"mu": 0.3}, names=["x", "v"], t=(0, 20), h=1e-2)
    same = perp.Model(variables={"x": 0.0, "v": 1.0}, parameters={"mu": 0.3}, equations=["der(x) = v", "der(v) = -x - mu*sign(v)"],
                      t=(0, 20), h=1e-2)
    np.testing.assert_allclose(perp.solve(model).x, perp.solve(same).x, atol=1e-13)
    assert "lambda1" in perp.solve(model).lam


def test_numpy_works_on_recorded_numbers():
    K = np.array([[2.0, -1.0], [-1.0, 2.0]])

    def f(t, x):
        q, v = np.array(x[:2]), np.array(x[2:])
        return np.concatenate([v, -K @ q - 0.1 * perp.sign(v) + np.sin(t) * np.array([1.0, 0.0])])

    r = perp.solve_ivp(f, (0, 3), [1.0, 0, 0, 0])
    text = perp.Model(variables={"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0}, t=(0, 3), scheme="located", equations=[
        "der(a) = c", "der(b) = d", "der(c) = -2*a + b - 0.1*sign(c) + sin(t)", "der(d) = a - 2*b - 0.1*sign(d)"])
    np.testing.assert_allclose(r.y[:, -1], perp.solve(text).y[:, -1], rtol=1e-7)


@pytest.mark.parametrize("f, words", [
    (lambda t, x: [-1.0 if x[0] > 0 else 1.0], ["perp.if_", "perp.sign", "perp.unmodified"]),
    (lambda t, x: [max(x[0], 0)], ["perp.max"]),
    (lambda t, x: [math.sin(x[0])], ["perp.sin"]),
    (lambda t, x: [x[0] == 1], ["=="]),
    (lambda t, x: [x[0] % 2], ["remainder"]),
    (lambda t, x: [int(x[0])], ["whole number"]),
    (lambda t, x: [float("nan") + 0 * x[0]], ["nan"]),
    (lambda t, x: [x[0], x[0]], ["2 numbers", "expected 1"]),
    (lambda t, x: None, ["None"]),
    (lambda t, x: ["x"], ["expected a number"]),
])
def test_what_cannot_be_recorded_names_the_word_to_use(f, words):
    with pytest.raises(perp.TraceError) as caught:
        perp.trace(f, [1.0])
    assert all(word in str(caught.value) for word in words), str(caught.value)


def early(t, x):
    if x[0] > 0:
        return [-1.0]
    elif x[0] > -2 and t > 1:
        return [7.0]
    return [1.0]


def loops(t, x):
    s = 0.0
    for k in range(3):
        if x[0] > k:
            s += x[0] - k
        else:
            continue
        s = s + 1
    return [s]


def breaks(t, x):
    count = 0
    for k in range(4):
        if x[0] < k:
            break
        count += 1
    return [count]


def helper(v):
    return max(0, v) if v < 3 else 3


def helpers(t, x):
    values = [helper(x[0] + k) for k in range(2)]
    return [sum(values) + abs(x[0]) + min(x[0], 1, 2)]


def whiles(t, x):
    k, y = 0, 0.0
    while k < 3:
        y += (k if 0 < x[0] < 2 else -k) * x[0]
        k += 1
        if k == 2:
            break
    return [y]


def arrays(t, x):
    a = np.zeros(3)
    b = a
    if x[0] > 1 or not x[0] > -1:
        a[1] = x[0]
        a[2] += 2
    else:
        a[:] = 5
    return [b[0] + 2 * b[1] + 3 * b[2]]


def numpy_words(t, x):
    y = np.where(x[0] > 0, x[0], 2.0)
    return [np.maximum(y, 1.0) + np.clip(x[0], -1, 1) + np.abs(x[0]) + np.max([x[0], 0.5])]


def nested(t, x):
    def inner(v):
        if v > 0:
            return v
        return -2 * v

    k = 1 if x[0] > 1 else -1
    return [inner(x[0]) * k * k + (3 if k > 0 else 4)]


@pytest.mark.parametrize("f", [early, loops, breaks, helpers, whiles, arrays, numpy_words, nested])
def test_rewritten_functions_have_the_values_of_the_functions(f):
    model = perp.trace(f, [0.3], unmodified=True, t=(0, 1))
    for x in (-3.3, -1.7, -0.4, 0.3, 0.9, 1.4, 2.6, 3.7):
        for t in (0.0, 2.0):
            assert evaluated(model, [x], t) == pytest.approx([float(v) for v in f(t, [x])]), (x, t)


def test_what_slides_is_the_convex_combination_of_the_whole_right_hand_side():
    # k k = 1 on both sides, and while x slides: not (2 theta - 1)^2
    def f(t, x):
        k = -1 if x[0] > 0 else 1
        return [k, k * k]

    r = perp.solve_ivp(f, (0, 2), [0.5, 0.0], unmodified=True)
    assert r.events[0].kind == "sliding_entry" and r.y[1, -1] == pytest.approx(2, abs=1e-9)


def loop_over_state(t, x):
    n = 0
    while x[0] > n:
        n += 1
    return [n]


def one_side_only(t, x):
    if x[0] > 0:
        y = 1.0
    return [y]


def counts_by_state(t, x):
    return [sum(1 for k in range(x[0]))]


def equal(t, x):
    if x[0] == 0:
        return [1.0]
    return [2.0]


def tries(t, x):
    try:
        return [x[0]]
    except ValueError:
        return [0]


def raises(t, x):
    if x[0] > 0:
        raise ValueError
    return [x[0]]


def half(t, x):
    if x[0] > 0:
        return [1.0]


def words(t, x):
    name = "a" if x[0] > 0 else "b"
    return [len(name)]


def lengths(t, x):
    values = [1.0]
    if x[0] > 0:
        values.append(2.0)
    return [sum(values)]


def listed(t, x):
    return [sum([v for v in (1.0, 2.0) if x[0] > v])]


@pytest.mark.parametrize("f, offset, words", [
    (loop_over_state, 2, "the number of turns"), (one_side_only, 1, "'y' has a value only where"), (counts_by_state, 1, "whole number"),
    (equal, 1, "=="), (tries, 1, "'try'"), (raises, 2, "'raise'"), (half, 0, "every path"), (words, 1, "expected numbers on both sides"),
    (lengths, 2, "2 entries"), (listed, 1, "the length of a list")])
def test_what_cannot_be_rewritten_is_refused_with_line_and_reason(f, offset, words):
    line = f.__code__.co_firstlineno + offset
    with pytest.raises(perp.TraceError) as caught:
        perp.trace(f, [1.0], unmodified=True)
    assert words in str(caught.value) and f"test_tracing.py:{line}: " in str(caught.value), str(caught.value)


def test_globals_and_closures_are_those_of_the_call():
    factor = 2.0
    f = perp.unmodified(lambda t, x: [factor if x[0] > 0 else -factor])
    assert "2" in perp.trace(f, [1.0]).to_toml()
    factor = 3.0
    assert "3" in perp.trace(f, [1.0]).to_toml()


def test_a_rewritten_function_computes_with_plain_numbers_too():
    f = perp.unmodified(canonical)
    assert list(f(0.0, [1.0, 2.0], 5.0)) == [8.0, 0] and list(f(0.0, [5.2, 0.0], 5.0)) == [0.0, 5]


def test_a_rewritten_function_sees_the_types_that_it_would_have_and_counts_conditions_as_numbers():
    def f(t, x):
        rate = 2.0 if isinstance(x[0], float) and type(x[0]) is np.float64 else 5.0
        return [x[1] * (1 + (x[0] > 0) * rate), np.maximum(np.array(x), 0).sum()]

    m = perp.trace(f, [1.0, 0.0], unmodified=True, t=(0, 1))
    text = m.to_toml()
    assert "if(x1 > 0, 1, 0) * 2" in text and "max(x1, 0)" in text

    def g(t, x):
        return [float(f"{x[0]}"), max(x, key=abs)]

    for function in (g, lambda t, x: [max(x, key=abs), 0.0]):
        with pytest.raises(perp.TraceError):
            perp.trace(function, [1.0, 0.0], unmodified=True, t=(0, 1))


# Arrays: what the function is given is an ndarray, as of SciPy --------------------------------------------------------


def state_in_place(t, x):
    v = x[:1]
    v += x[1:2]
    y = x.copy() * 2 + x.copy()
    return [-v[0], y[1] - y[0]]


@pytest.mark.parametrize("f", [
    state_in_place, lambda t, x: x + x, lambda t, x: x[:1] + np.array([x[1], 2.0]), lambda t, x: [x @ x, x.sum()],
    lambda t, x: np.hstack([x[1], x.reshape(2, 1)[0]]), lambda t, x: x[[1, 0]].dot(np.array([[1.0, 2.0], [0.0, 1.0]])),
    lambda t, x: np.concatenate([x[1:], x[:1]]) / (2 + x.T ** 2), lambda t, x: [x.mean(), np.linalg.norm(x)],
    lambda t, x: [x.max(), np.min(x)], lambda t, x: np.where(x > 0, x, 2 * x), lambda t, x: np.clip(x, -1, 0.5),
    lambda t, x: [np.interp(x[0], [0, 1, 2], [1, 2, 4]), len(x) * x.size * 1.0], lambda t, x: np.sin(x) + np.exp(-x) * np.abs(x),
    lambda t, x: np.outer(x, x).ravel()[:2] + np.cumsum(x) + np.kron(x, [1.0]), lambda t, x: x.astype(float) * 2,
    lambda t, x: [1.0 if isinstance(x, np.ndarray) else 2.0, 1.0 if isinstance(x[0], float) else 2.0],
    lambda t, x: [((x > 0) & (np.array([1.0, 2.0]) > 1.0)).sum() * 1.0, (np.bool_(True) & (x[0] > 0)) * x[1]],
    lambda t, x: [np.var(x), np.std(x)], lambda t, x: np.stack([x, 2 * x]).T[:, 1],
])
def test_the_state_is_an_array_of_numpy(f):
    model = perp.trace(f, [0.3, 0.2], t=(0, 1))
    for x in ([0.3, 0.2], [-1.5, 0.7], [2.5, -0.4]):
        assert evaluated(model, x) == pytest.approx([float(v) for v in f(0.0, np.array(x))]), x


@pytest.mark.parametrize("f, words", [
    (lambda t, x: [1.0 if np.array([x[0], 1.0])[0] == x[1] else 2.0, 1.0], "=="),
    (lambda t, x: [float((np.array([x[0]]) == np.array([x[1]])).any()), 1.0], "=="),
    (lambda t, x: x[x > 0], "depend on numbers that change"), (lambda t, x: x.astype(int), "expected float"),
    (lambda t, x: np.sort(x), "numpy.sort"), (lambda t, x: np.linalg.solve(np.eye(2), x), "numpy.solve"),
    (lambda t, x: [2 * ((x[0] > 0) + (x[1] > 0)), 0.0], "another meaning"), (lambda t, x: np.add(np.zeros(2), x, out=np.zeros(2)), "dtype=object"),
    (lambda t, x: [{x[0]: 1.0}[x[0]], 0.0], "key"),
])
def test_what_an_array_of_recorded_numbers_cannot_do_is_refused(f, words):
    with pytest.raises(perp.TraceError, match=words):
        perp.trace(f, [0.3, 0.2], t=(0, 1))


def hidden(t, x):
    try:
        return [float(x[0])]
    except TypeError:
        return [3.0]


def held(t, x):
    a = np.zeros(1, dtype=bool)
    a[0] = x[0]
    return [1.0 * a[0]]


@pytest.mark.parametrize("f, words", [(hidden, "the value of 'x1'"), (held, "the truth of 'x1'")])
def test_a_refusal_cannot_be_caught(f, words):
    with pytest.raises(perp.TraceError, match=words):
        perp.trace(f, [0.3], t=(0, 1))
