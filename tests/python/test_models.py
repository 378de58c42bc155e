"""Models from Python values, matrices, text; what is wrong is said with its place and the nearest word."""

import pickle

import numpy as np
import pytest

import perp


def friction(**run):
    return perp.Model(variables={"x": 0.0, "v": perp.var(1.0, unit="m/s", nominal=1)}, parameters={"mu": 0.3},
                      equations=["der(x) = v", "der(v) = -x - mu*sign(v)"], outputs={"E": "v^2/2"}, t=(0, 20), h=1e-2, **run)


def test_a_model_of_values_is_that_of_a_file():
    text = """
[parameters]
mu = 0.3
[variables]
x = 0.0
v = { start = 1.0, unit = "m/s", nominal = 1 }
[model]
equations = ["der(x) = v", "der(v) = -x - mu*sign(v)"]
outputs = { E = "v^2/2" }
[run]
t = [0, 20]
h = 1e-2
"""
    np.testing.assert_array_equal(perp.solve(friction()).x, perp.solve(perp.loads(text)).x)
    model = friction()
    assert dict(model.parameters) == {"mu": 0.3} and model.variables["v"].unit == "m/s" and model.outputs == ["E"]
    assert model.modes == {"sign(v)": ["v < 0", "sliding", "v > 0"]} and model.differential == ["x", "v"]
    assert model.run["h"] == 1e-2 and model.run["t"] == (0, 20)


def test_a_model_survives_its_text_a_file_and_pickle(tmp_path):
    model = friction().replace(mu=0.25, v=0.5, h=2e-2)
    assert perp.loads(model.to_toml()) == model != friction()
    model.save(tmp_path / "m.toml")
    for other in (perp.load(tmp_path / "m.toml"), pickle.loads(pickle.dumps(model)), perp.Model.from_toml(model.to_toml())):
        np.testing.assert_array_equal(perp.solve(other).x, perp.solve(model).x)
    assert perp.load(tmp_path / "m.toml").parameters["mu"] == 0.25


def test_an_exact_solution_leaves_with_the_values_that_it_holds_for():
    model = perp.load("switching_dae_crossing")
    assert model.exact(1.0) is not None and "[exact]" in model.replace(h=0.05).to_toml()
    assert model.replace(B1=-0.4).exact(1.0) is None and "[exact]" not in model.replace(B1=-0.4).to_toml()


def test_elements_of_families_are_replaced_one_by_one():
    text = """
[parameters]
N = 3
[variables]
T = { size = "N", start = "19 + i" }
[model]
equations = ["for i in 1:N: der(T[i]) = -T[i]"]
[run]
t = [0, 1]
"""
    model = perp.loads(text).replace({"T[2]": 5.0})
    assert [v.start for v in model.variables.values()] == [20, 5, 22]
    assert [v.start for v in perp.loads(model.to_toml()).variables.values()] == [20, 5, 22]


def test_matrices_are_arrays_lists_or_sparse():
    # [RAB] eq. (36) with the three complementarities of |x1| + sign(x1)
    E = np.diag([1.0, 1, 0])
    A = np.array([[0, 0, -0.5], [0, 0, 1.0], [1, -1, 0]])
    B = np.array([[0.0, 0, 0], [0, 0, 0], [1, -1, 0]])
    C = np.array([[2.0, 0, 0], [1, 0, 0], [0, 0, 0]])
    D = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    options = dict(D=D, E=E, b=[1, 0, 1], q=[0, 0, 2], laws=["complementarity"] * 3, x0=[-5, 4, 0], t=(0, 10), h=0.01,
                   selector="minimal_norm")
    r = perp.solve(perp.lcs(A, B, C, **options))
    np.testing.assert_allclose(r.y[:2, -1], [13 / 3, 16 / 3], rtol=1e-12)
    sparse = pytest.importorskip("scipy.sparse")
    other = perp.lcs(sparse.csr_matrix(A), sparse.csc_matrix(B), sparse.coo_matrix(C), **{**options, "D": sparse.csr_array(D)})
    np.testing.assert_array_equal(perp.solve(other).x, r.x)
    np.testing.assert_array_equal(perp.solve(perp.lcs(A.tolist(), B.tolist(), C.tolist(), **options)).x, r.x)


def test_matrices_may_hold_expressions_and_laws_of_ones_own():
    law = perp.law("friction", [(0, 1, "-F", (-np.inf, 0), None, "left"), (1, 0, 0, None, ("-F", "F"), "stick"),
                                (0, 1, "F", (0, np.inf), None, "right")])
    model = perp.lcs([[0, 1], [-1, 0]], [[0], [-1]], [[0, 1]], b=[0, "sin(3*t)/2"], q=["-0.1*t"], E=[[1, 0], [0, 2]], laws=[law],
                     x0=[2, 0], names=["x", "v"], parameters={"F": 1.0}, t=(0, 12), h=0.01)
    r = perp.solve(model)
    assert [span.text for span in r.modes] == ["left", "stick", "left"]
    assert r.events[0].t == pytest.approx(6.692032, abs=1e-6)  # docs/language.md
    assert model.laws[0].branches[1].sliding


def test_a_matrix_without_laws_is_a_linear_system():
    r = perp.solve(perp.lcs([[-1.0]], x0=[1.0], t=(0, 1), scheme="located"))
    assert r["x1"][-1] == pytest.approx(np.exp(-1), rel=1e-7)


@pytest.mark.parametrize("call, words", [
    (lambda: perp.lcs([[0, 1]], [[0]], [[1]]), "A must be 1x1 but is 1x2"),
    (lambda: perp.lcs([[0.0]], [[0], [1]], [[1]], laws=["sign"]), "B must be 1x1 but is 2x1"),
    (lambda: perp.lcs([[0.0]], laws=["sign"]), "B and C are missing"),
    (lambda: perp.lcs([[0.0]], [[1]], [[1]], laws=["sgin"]), "sign"),
    (lambda: perp.lcs([[0.0]], x0=[1, 2]), "x0 must have 1 entries but has 2"),
    (lambda: perp.lcs([[0.0]], t=(0, 1), shceme="located"), "did you mean 'scheme'"),
    (lambda: perp.lcs([[0.0]], lwas=["sign"]), "lwas is no keyword of perp.lcs and no option of a run; did you mean 'laws'"),
    (lambda: perp.Model({"x": 0}, ["der(x) = 1"], parametrs={}), "parametrs is no part of a model and no option of a run; did you mean 'parameters'"),
    (lambda: perp.var(1.0, unti="m"), "perp.var has no keyword 'unti'; did you mean 'unit'"),
    (lambda: perp.mlcp([[1.0]], [1.0], lowr=0), "perp.mlcp has no keyword 'lowr'; did you mean 'lower'"),
    (lambda: perp.law("mine", [], memry=True), "perp.law has no keyword 'memry'; did you mean 'memory'"),
    (lambda: perp.listing(5), "kind: found int; expected a list by its name"),
    (lambda: perp.solve("chatter", method="RK45"), "method=RK45: unknown scheme 'RK45'"),
    (lambda: perp.sweep("chatter", {"x": [1, 2], "y": [1, 2]}, {"m": "max(x)"}, zip=1), "zip: found 1; expected True or False"),
    (lambda: perp.load("chater"), "did you mean 'chatter'"),
    (lambda: perp.solve("chatter", selctor="first"), "did you mean 'selector'"),
    (lambda: perp.solve("stick_slip", FS=0.3), "did you mean 'Fs'"),
    (lambda: perp.solve("chatter", scheme="locatd"), "did you mean 'located'"),
    (lambda: perp.solve("chatter", h=-1), "h=-1"),
    (lambda: perp.solve("chatter", h="fast"), "h=fast"),
    (lambda: perp.solve("chatter", h=[1, 2]), "h="),
    (lambda: perp.solve("chatter", t=(1,)), "t has 1 entries"),
    (lambda: perp.solve("chatter", t=(1, 0)), "t="),
    (lambda: perp.solve("chatter", t_eval=[0, 2]), "times must increase within [0, 1] but 2 is outside of it"),
    (lambda: perp.solve("chatter", t_eval=[1, 0.5]), "times must increase"),
    (lambda: perp.solve("chatter", t_eval=[]), "t_eval is empty"),
    (lambda: perp.solve("chatter", t=5), "t: found 5; expected (start, end)"),
    (lambda: perp.solve("chatter", t_eval=0.5), "t_eval: found 0.5"),
    (lambda: perp.solve("chatter", t_eval=["a"]), "t_eval: found 'a'"),
    (lambda: perp.load(None), "the model is NoneType"),
    (lambda: perp.jumps("switching_dae_jump", t="a"), "t: found 'a'"),
    (lambda: perp.jumps("switching_dae_jump", at={"x9": 0}), "did you mean 'x1'"),
    (lambda: perp.map("chatter", {"x": [0, 1]}, what="outcom"), "did you mean 'outcome'"),
    (lambda: perp.converge("stick_slip", h=[0.1, 0.05], reference="exact"), "reference exact: the model has no exact solution"),
    (lambda: perp.mlcp([[float("nan")]], [1]), "M or q holds nan"),
    (lambda: perp.mlcp([[1.0]], [1], lower=2, upper=1), "expected lower <= upper"),
    (lambda: perp.lcs(np.zeros((0, 0))), "A is empty"),
    (lambda: perp.solve("chatter", scheme="enclosure"), "gives no trajectory"),
    (lambda: perp.solve("chatter", max_steps=0), "max_steps is 0"),
    (lambda: perp.solve("chatter", callback=3), "callback is int"),
    (lambda: perp.solve("chatter", scheme="located", method="theta"), "method and scheme"),
    (lambda: perp.solve("chatter", theta=0.7), "theta"),
    (lambda: perp.solve(3), "the model is int"),
    (lambda: perp.solve("chatter")["z"], "there is no column 'z'"),
    (lambda: perp.solve("chatter").lam["z"], "there is no column 'z'"),
    (lambda: perp.Model(variables={"x": object()}, equations=["der(x) = 1"]), "expected a number, text, list or dict"),
    (lambda: perp.load("chatter").replace(x=None), "x: found NoneType"),
])
def test_wrong_input_is_one_message_with_the_nearest_word(call, words):
    with pytest.raises((perp.InvalidInput, KeyError)) as caught:
        call()
    assert words in str(caught.value), str(caught.value)
    assert "--set" not in str(caught.value)


def test_a_wrong_model_tells_its_place():
    with pytest.raises(perp.ModelError) as caught:
        perp.loads('[variables]\nx = 0\n[model]\nequations = ["der(x) = sgn(x)"]\n', "mine.toml")
    error = caught.value
    assert (error.file, error.line) == ("mine.toml", 4) and error.column > 14 and "^" in error.excerpt
    assert "did you mean 'sign'" in str(error) and isinstance(error, ValueError) and isinstance(error, perp.PerpError)


def test_a_missing_file_is_named():
    with pytest.raises(perp.PerpError, match="no_such.toml"):
        perp.load("no_such.toml")


def test_a_mistyped_parameter_has_the_sentence_of_the_program(program):
    _, errors, status = program("run", "stick_slip", "--set", "FS=0.3")
    with pytest.raises(perp.InvalidInput) as caught:
        perp.solve("stick_slip", FS=0.3)
    sentence = errors.splitlines()[0].split(": ", 2)[-1]
    assert status == 2 and sentence in str(caught.value), (sentence, str(caught.value))


def test_import_needs_no_numpy_and_little_time():
    import subprocess
    import sys

    code = "import sys, perp; assert 'numpy' not in sys.modules and 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_lists_name_what_there_is():
    assert "chatter" in perp.models() and "relay" in [law[0] for law in perp.laws()]
    assert "located" in [scheme[0] for scheme in perp.schemes()] and "lemke" in [solver[0] for solver in perp.solvers()]
    with pytest.raises(AttributeError, match="did you mean 'solutions'"):
        perp.solution
