"""What calls take, and what is said of what they do not take."""

import warnings

import numpy as np
import pytest

import perp


@pytest.fixture(scope="module")
def model():
    return perp.load("stick_slip")


@pytest.fixture(scope="module")
def result(model):
    return perp.solve(model, t=(0, 5))


@pytest.mark.parametrize("call, words", [
    (lambda m: m.parameters["Fz"], "there is no parameter 'Fz'; did you mean 'Fs'?"),
    (lambda m: m.parameters["friction"], "there is no parameter 'friction'; expected one of k, m, Fs, vb, delta"),
    (lambda m: m.variables["x9"], "there is no variable 'x9'; did you mean 'x1'?"),
    (lambda m: m.inputs["u"], "there is no input 'u'; there is none"),
    (lambda m: perp.solve(m, t=(0, 1))["vv"], "there is no column 'vv'"),
    (lambda m: perp.solve(m, t=(0, 1)).lam["frict"], "there is no column 'frict'; expected one of lambda1, x2 - vb > 0"),
])
def test_a_name_that_is_not_there_is_told_with_the_nearest_or_those_there_are(call, words, model):
    with pytest.raises(KeyError) as caught:
        call(model)
    assert str(caught.value).startswith(words) and isinstance(caught.value, perp.InvalidInput)
    assert model.parameters.get("Fz") is None and dict(model.parameters)["k"] == 1.0


@pytest.mark.parametrize("call, words", [
    (lambda m, r: r.sol("a"), "t: found 'a'; expected a time, or an array of times"),
    (lambda m, r: m.exact("a"), "t: found 'a'; expected a number"),
    (lambda m, r: perp.solve(m, callback=lambda t: True), "expected a function of t, x, lam, mode"),
    (lambda m, r: perp.solve(m, callback=lambda t, x, lam, mode, more: True), "missing a required argument: 'more'"),
    (lambda m, r: perp.solve_ivp(lambda t, x: [-x[0]], (0, 2), 1.5), "x0: found 1.5; expected a list of starts"),
    (lambda m, r: perp.solve_ivp(lambda t, x: [-x[0]], (0, 2), np.array(1.5)), "expected a list of starts"),
    (lambda m, r: perp.solve_ivp(lambda t, x, lam, mu: ([-mu*lam[0]], [x[0]]), (0, 2), [1.0], laws=["sign"]),
     "missing a required argument: 'mu'; expected a function of t, x, lam, args and parameters"),
    (lambda m, r: r.plot(3), "names: found 3; expected names of columns, as in ['x1']"),
    (lambda m, r: r.plot([]), "names is empty"),
    (lambda m, r: perp.solve(m, t=(0, 1), scheme="located").tree(), "of scheme located .branches has the solutions"),
    (lambda m, r: perp.solve(m, h=float("nan")), "h: found nan; expected a number"),
    (lambda m, r: perp.solve(m, Fs=np.float64("nan")), "Fs: found nan; expected a number"),
    (lambda m, r: perp.solve(m, Fs=[0.1, float("nan")]), "Fs: found nan; expected a number"),
])
def test_a_wrong_value_is_refused_at_the_call(call, words, model, result):
    with pytest.raises(perp.InvalidInput) as caught:
        call(model, result)
    assert words in str(caught.value)


def test_callbacks_of_any_kind_are_taken(model):
    class Counter:
        count = 0

        def __call__(self, t, x, *others):
            self.count += 1

    counter = Counter()
    r = perp.solve(model, t=(0, 1), callback=counter)
    assert counter.count == len(r.t)


def test_an_array_of_one_number_is_a_number(model):
    expected = perp.solve(model, t=(0, 1), Fs=0.5).x
    np.testing.assert_array_equal(perp.solve(model, t=(0, 1), Fs=np.array(0.5)).x, expected)
    np.testing.assert_array_equal(perp.solve(model.replace(Fs=np.array([0.25, 0.75]).mean(keepdims=False)), t=(0, 1)).x, expected)
    assert perp.Model({"x": np.array(2.0)}, ["der(x) = -x"], t=(0, 1)).variables["x"].start == 2.0


def test_a_result_is_equal_to_itself_alone_and_its_keys_are_short(result, model):
    assert result == result and result != perp.solve(model, t=(0, 5)) and len({result, result}) == 1
    assert result.lam == result.lam and result.lam != result.w
    assert repr(result.keys()) == "KeysView(['t', 'x1', 'x2', 'lambda1', 'alpha', 'w1'])"
    assert list(result.keys()) == list(result) and "x1" in result.keys()


def test_columns_that_a_model_has_none_of_are_rows_of_nothing():
    r = perp.solve(perp.Model({"x": 1.0}, ["der(x) = -x"], t=(0, 1), h=0.25))
    assert r.mode.shape == r.lam.array.shape == r.w.array.shape == r.outputs.array.shape == (5, 0)


@pytest.mark.parametrize("call", [lambda m: perp.solve(m), lambda m: m.solve(), lambda m: perp.equilibria(m),
                                  lambda m: perp.sweep(m, {"k": [1, 2]}, {"e": "end(x)"}, threads=1)])
def test_a_warning_has_the_place_of_the_call(call):
    model = perp.Model({"x": 1.0}, ["der(x) = -a*x/k"], {"a": "[1, 2]", "k": 1}, t=(0, 1), h=0.25)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(model)
    assert [warning.filename for warning in caught] == [__file__] and "intervals count with their middle" in str(caught[0].message)


def test_a_policy_that_has_no_effect_is_refused_with_what_there_is_in_python():
    for call in (lambda: perp.solve("chatter", policy="all"), lambda: perp.load("chatter").replace(policy="all")):
        with pytest.raises(perp.InvalidInput) as caught:
            call()
        words = "Result.tree() and perp.solutions(model, tree=N) list, and scheme='located' follows, their solutions"
        assert words in str(caught.value) and "perp run" not in str(caught.value)


def test_the_tree_of_a_capturing_scheme_is_what_the_program_lists(program):
    _, text, status = program("run", "switching_dae_repulsive", "--all")
    tree = perp.solve("switching_dae_repulsive").tree()
    assert status == 0 and "has 2 solutions" in tree and tree in text


def test_the_number_of_a_condition_is_refused_while_a_function_is_traced():
    with pytest.raises(perp.TraceError, match="perp.if_"):
        perp.solve_ivp(lambda t, x: [float(x[0] > 0)], (0, 2), [1.0])


def test_an_answer_without_a_text_of_its_own_prints_its_numbers():
    answer = perp.mlcp([[-1.0]], [1.0])
    assert '"vertices"' in repr(answer) and answer.text().strip() == repr(answer)
    assert answer.class_["u_lambda"] == "finite" and len(answer) == 2


@pytest.mark.parametrize("call, words", [
    (lambda: perp.solve("chatter", t_evl=[1]), "t_evl=.* no keyword 't_evl'.*did you mean 't_eval'"),
    (lambda: perp.enclose("chatter", pieces_max=3), "did you mean 'pieces'"),
    (lambda: perp.sweep("chatter", {"x": [1.0]}, "e=end(x)", thread=2), "did you mean 'threads'"),
    (lambda: perp.solve("stick_slip", Fz=3), "unknown key 'Fz'.*did you mean 'Fs'"),
])
def test_a_mistyped_keyword_is_told_with_the_nearest(call, words):
    with pytest.raises(perp.InvalidInput, match=words):
        call()
