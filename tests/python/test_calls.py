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


TWICE = """
[parameters]
theta = 0.5
seed = 1.0
[variables]
h = 1.0
[model]
equations = ["der(h) = -theta*seed*h"]
[run]
t = [0.0, 1.0]
"""


@pytest.mark.parametrize("call, words", [
    (lambda m: perp.solve(m, h=0.25), "'h' is ambiguous; expected variables.h or run.h"), (lambda m: m.replace(h=0.25), "expected variables.h or run.h"),
    (lambda m: perp.solve(m, theta=0.9, scheme="theta"), "expected parameters.theta or run.theta"), (lambda m: m.replace(theta=0.9), "parameters.theta or run.theta"),
    (lambda m: perp.equilibria(m, seed=3), "expected parameters.seed or equilibria.seed"), (lambda m: perp.check(m, h=0.1), "run.h"),
    (lambda m: perp.map(m, {"seed": (0, 1, 3)}, h=0.1), "run.h"), (lambda m: perp.sweep(m, {"h": [1.0]}, "e=end(h)", h=0.1), "run.h"),
    (lambda m: perp.enclose(m, h=0.1), "run.h"), (lambda m: perp.solutions(m, h=0.1), "run.h"), (lambda m: perp.sensitivities(m, h=0.1), "run.h"),
    (lambda m: m.solve(h=0.1), "run.h"), (lambda m: perp.converge(m, h=[0.1], theta=0.5), "run.theta"),
    (lambda m: perp.solve_ivp(lambda t, h: [-h[0]], (0, 1), [1.0], names=["h"], h=0.1), "run.h"),
])
def test_a_name_with_two_meanings_is_refused_as_the_program_does(call, words, program, tmp_path):
    with pytest.raises(perp.InvalidInput, match=words):
        call(perp.loads(TWICE))
    (tmp_path / "twice.toml").write_text(TWICE)
    assert "'h' is ambiguous; expected variables.h or run.h" in program("run", tmp_path / "twice.toml", "--set", "h=0.25")[1]


def test_a_name_with_two_meanings_is_given_with_its_table():
    m = perp.loads(TWICE)
    assert perp.solve(m, **{"run.h": 0.25}).t[1] == perp.solve(m, None, 0.25).t[1] == perp.solve(m, **{"solve.h": 0.25}).t[1] == 0.25
    assert perp.solve(m, **{"variables.h": 0.25})["h"][0] == perp.solve(m, **{"h(0)": 0.25})["h"][0] == 0.25
    assert m.replace({"parameters.theta": 0.9}).parameters["theta"] == 0.9
    assert perp.equilibria(m, **{"equilibria.seed": 3}) is not None


def test_an_event_that_does_not_happen_is_no_success():
    r = perp.solve("stick_slip", until="crossing:9")
    assert not r.success and "crossing, number 9 did not happen" in r.message
    assert perp.solve("stick_slip", until="sliding_entry", check=True).success
    with pytest.raises(perp.NotSolved, match="did not happen"):
        perp.solve("stick_slip", until="crossing:9", check=True)


def test_sparse_columns_are_taken():
    sparse = pytest.importorskip("scipy.sparse")
    arguments = {"B": [[-1.0]], "C": [[1.0]], "laws": ["sign"], "x0": [0.5], "t": (0, 1)}
    model = perp.lcs(sparse.csr_matrix([[0.5]]), b=sparse.csc_matrix([[1.0]]), q=sparse.csr_matrix([[0.25]]), **arguments)
    assert model == perp.lcs([[0.5]], b=[1.0], q=[0.25], **arguments)


def test_whole_numbers_and_flags_of_numpy_are_taken(model):
    assert len(perp.solve(model, max_steps=np.int64(3)).t) == 4 and perp.solve(model, t=(0, 1), check=np.bool_(True)).success
    assert len(perp.solve(model, t=(0, 1), callback=lambda t, *_: np.bool_(t < 0.5)).t) < len(perp.solve(model, t=(0, 1)).t)


@pytest.mark.parametrize("call, words", [
    (lambda r: perp.converge([], h=[0.1, 0.2]), "models is empty"), (lambda r: perp.solve("chatter", measure=3), "measure: found int"),
    (lambda r: perp.lcs(5), "A: found int; expected a list"), (lambda r: perp.lcs([[0.0]], x0=1), "x0: found int"), (lambda r: perp.lcs([[0.0]], t=3), "t: found 3"),
    (lambda r: perp.law("a", 3), "branches: found int"), (lambda r: perp.solutions("chatter", mode=0), "mode: found 0"),
    (lambda r: perp.sensitivities("chatter", wrt=3), "wrt: found int"), (lambda r: perp.mlcp("a", "b"), "M: found 'a'"),
    (lambda r: perp.mlcp([[1.0]], [1.0], lower=float("nan")), "lower holds nan"), (lambda r: perp.mlcp([[1.0]], [1.0], solver=3), "solver"),
    (lambda r: perp.solve("chatter", callback=lambda *_: "no"), "callback returned: found 'no'"), (lambda r: perp.solve("chatter", max_steps=True), "max_steps is True"),
    (lambda r: perp.sweep("chatter", random={"v": 3}, runs=2, measure="e=end(x)"), "random v: found int"), (lambda r: perp.sweep("chatter", 3, "e=end(x)"), "over: found int"),
    (lambda r: perp.sweep("chatter", {"x": [1.0]}, "e=end(x)", store=3), "store is 3"), (lambda r: r.plot(ax=3), "ax: found int"), (lambda r: perp.read(3), "file is 3"),
    (lambda r: r.save(3), "file is 3"), (lambda r: perp.resume(3), "file is 3"), (lambda r: perp.loads(3), "text: found 3"), (lambda r: r.model.save(3), "file is 3"),
    (lambda r: perp.solve("chatter", callbak=print), "no keyword 'callbak'.*did you mean 'callback'"), (lambda r: perp.solve("chatter", check="a"), "check: found 'a'"),
    (lambda r: perp.solve_ivp(lambda t, x: x, (0, 1), [1.0], events=print), "no keyword 'events'"), (lambda r: perp.solve("chatter", (0, 1), t=(0, 1)), "given twice"),
    (lambda r: perp.solve_ivp(lambda t, x: x, (0, 1), [1.0], dense_output=True), "no keyword 'dense_output'"), (lambda r: perp.solve("chatter", 1, 2, 3, 4, 5, 6, 7), "at most 7"),
    (lambda r: perp.trace(lambda t, x: x, [1.0], args=3), "args: found int"), (lambda r: perp.trace(lambda t, x: x, [1.0], names="x"), "names: found str"),
    (lambda r: perp.trace(lambda t, x: x, [1.0], outputs={"a": 3}), "output a is int"), (lambda r: perp.trace(lambda t, x: x, [None]), "found None"),
    (lambda r: perp.Model({1: 1.0}, ["der(x) = -x"], t=(0, 1)), "variables: found the name 1"), (lambda r: r.model.replace(3), "values: found int"),
    (lambda r: perp.enclose("chatter", order=1.5), "order is 1.5"), (lambda r: perp.map("chatter", 3), "over: found int"), (lambda r: perp.converge("chatter", h=[0.1], error=3), "error: found int"),
    (lambda r: perp.equilibria("chatter", reach="a"), "reach: found 'a'"), (lambda r: perp.modes("chatter", previous=3), "previous: found int"),
])
def test_a_value_of_the_wrong_kind_is_one_message(call, words, result):
    with pytest.raises(perp.InvalidInput, match=words):
        call(result)


def test_versions_are_those_of_the_packages(capsys):
    h5py = pytest.importorskip("h5py")
    perp.show_versions()
    assert f"h5py {h5py.__version__}" in capsys.readouterr().out
