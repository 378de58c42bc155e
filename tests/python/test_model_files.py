"""Models that name files of data: where they are looked for when the text of the model goes elsewhere."""

import os
import pickle

import numpy as np
import pytest

import perp

HEAT = """# Comments stay where nothing is replaced.
name = "a room in the weather"
[parameters]
N = 2
[variables]
T = { size = "N", start = "19 + i", unit = "K" }
[inputs]
Tout = { file = "%s", column = "T_out", between = "linear" }
sun = "10*sin(t)"
[binaries]
on = { size = "N", start = "mod(i, 2)" }
spare = 0
[model]
equations = ["for i in 1:N: der(T[i]) = -0.1*(T[i] - Tout) + 4*on[i] + sun/100"]
constraints = ["for i in 1:N: (19 - T[i])*(1 - on[i]) + (T[i] - 21)*on[i] <= 0", "spare <= 0"]
[run]
t = [0, 1]
h = 0.05
scheme = "located"
"""

MATRICES = """
[variables]
x = 1
[inputs]
u = 0
[multilinear]
S = "S.mtx"
Phi_f = "data/phi.mtx"
Phi_g = { rows = 0, columns = 2, entries = [] }
signals = { states = ["x"], inputs = ["u"] }
[run]
t = [0, 1]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a" / "data").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "data" / "weather.csv").write_text("t,T_out\n0,5\n1,7\n")
    (tmp_path / "a" / "heat.toml").write_text(HEAT % "data/weather.csv")
    return tmp_path


def test_a_model_is_its_text_in_any_folder(folder, monkeypatch):
    monkeypatch.chdir(folder / "a")
    model = perp.load("heat.toml")  # by a path from a working folder that is left
    monkeypatch.chdir(folder / "b")
    again = perp.loads(model.to_toml())
    assert again == model and str(folder / "a" / "data" / "weather.csv") in model.to_toml()
    np.testing.assert_array_equal(perp.solve(again).x, perp.solve(model).x)
    other = model.replace(N=3)
    assert perp.loads(other.to_toml()) == other != model
    for moved in (pickle.loads(pickle.dumps(model)), perp.load("../a/heat.toml")):
        assert moved == model
        np.testing.assert_array_equal(perp.solve(moved, h=0.1).x, perp.solve(model, h=0.1).x)


def test_a_checkpoint_goes_on_from_any_folder(folder, monkeypatch):
    from perp import checkpoints

    monkeypatch.setattr(checkpoints, "_PAUSE", 0.0)
    plain = '[variables]\nx = 1\n[inputs]\nu = { file = "data/weather.csv", column = "T_out" }\n[model]\nequations = ["der(x) = u - x"]\n' \
            "[run]\nt = [0, 1]\nh = 0.01\n"
    (folder / "a" / "plain.toml").write_text(plain)
    monkeypatch.chdir(folder / "a")
    whole = perp.solve("plain.toml")
    perp.solve("plain.toml", checkpoint=folder / "kept", callback=lambda t, x, lam, mode: t < 0.5)
    monkeypatch.chdir(folder / "b")
    np.testing.assert_array_equal(perp.resume(folder / "kept").x, whole.x)


@pytest.mark.parametrize("to", ["b", "a/data", "b/new", "a"])
def test_a_saved_model_finds_its_files_from_its_new_folder(to, folder):
    model = perp.load(folder / "a" / "heat.toml")
    (folder / to).mkdir(exist_ok=True)
    model.save(folder / to / "copy.toml")
    copy = perp.load(folder / to / "copy.toml")
    assert copy == model
    np.testing.assert_array_equal(perp.solve(copy).x, perp.solve(model).x)
    name = copy._tables()["inputs"]["Tout"]["file"]
    assert not os.path.isabs(name)  # the folders may be moved together


def test_a_saved_model_keeps_its_bytes_where_no_name_changes(folder):
    perp.load(folder / "a" / "heat.toml").save(folder / "a" / "copy.toml")
    assert (folder / "a" / "copy.toml").read_bytes() == (folder / "a" / "heat.toml").read_bytes()


def test_an_absolute_name_stays_and_a_file_that_is_not_there_is_named_from_the_root(folder):
    (folder / "a" / "heat.toml").write_text(HEAT % (folder / "a" / "data" / "weather.csv"))
    model = perp.load(folder / "a" / "heat.toml")
    model.save(folder / "b" / "copy.toml")
    assert (folder / "b" / "copy.toml").read_text() == (folder / "a" / "heat.toml").read_text()
    (folder / "a" / "heat.toml").write_text(HEAT % "data/weather.csv")
    model = perp.load(folder / "a" / "heat.toml")
    (folder / "a" / "data" / "weather.csv").rename(folder / "weather.csv")
    model.save(folder / "b" / "copy.toml")
    assert f'"{folder / "a" / "data" / "weather.csv"}"' in (folder / "b" / "copy.toml").read_text()


def test_matrices_in_files_are_found_too(folder, monkeypatch):
    text = "%%MatrixMarket matrix coordinate real general\n"
    (folder / "a" / "S.mtx").write_text(text + "3 2 2\n1 1 1\n2 2 1\n")
    (folder / "a" / "data" / "phi.mtx").write_text(text + "1 2 2\n1 1 1\n1 2 1\n")
    (folder / "a" / "m.toml").write_text(MATRICES)
    model = perp.load(folder / "a" / "m.toml")
    model.save(folder / "b" / "m.toml")
    monkeypatch.chdir(folder / "b")
    for other in (perp.load("m.toml"), perp.loads(model.to_toml()), pickle.loads(pickle.dumps(model))):
        assert other == model
        np.testing.assert_array_equal(perp.solve(other).x, perp.solve(model).x)


def test_inputs_and_binaries_are_what_the_text_has_and_are_replaced_by_name(folder):
    model = perp.load(folder / "a" / "heat.toml")
    assert list(model.inputs) == ["Tout", "sun"] and model.inputs["sun"] == "10*sin(t)"
    assert model.inputs["Tout"] == {"file": "data/weather.csv", "column": "T_out", "between": "linear"}
    assert dict(model.binaries) == {"on": {"size": "N", "start": "mod(i, 2)"}, "spare": 0}
    with pytest.raises(KeyError, match="there is no input 'Tuot'; did you mean 'Tout'"):
        model.inputs["Tuot"]
    cold = model.replace({"Tout": 3, "sun": "0*t", "on[2]": 1})
    assert cold.inputs["Tout"] == 3 and cold.inputs["sun"] == "0*t" and "data/weather.csv" not in cold.to_toml()
    assert perp.loads(cold.to_toml()) == cold
    np.testing.assert_array_equal(perp.solve(perp.loads(cold.to_toml())).x, perp.solve(cold).x)


def test_a_key_of_an_input_is_replaced_within_its_table(folder):
    (folder / "a" / "warm.csv").write_text("t,T_out\n0,15\n1,17\n")
    model = perp.load(folder / "a" / "heat.toml").replace({"Tout.file": "warm.csv"})
    assert model.inputs["Tout"]["file"] == "warm.csv" and model.inputs["Tout"]["column"] == "T_out"
    again = perp.loads(model.to_toml())
    assert again == model
    np.testing.assert_array_equal(perp.solve(again).x, perp.solve(model).x)


def test_a_model_that_cannot_be_written_is_a_file_error(folder):
    with pytest.raises(perp.FileError, match="none/x.toml: cannot be written"):
        perp.load("chatter").save(folder / "none" / "x.toml")
    with pytest.raises(perp.FileError, match="cannot be written"):
        perp.load("chatter").save(folder)
