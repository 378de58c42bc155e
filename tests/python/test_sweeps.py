"""Sweeps: the table of the program, as arrays."""

import csv
import pathlib

import numpy as np
import pytest

import perp

MODEL = pathlib.Path(__file__).resolve().parents[2] / "models" / "stick_slip.toml"
FRICTION = {"Fs": [0.1, 0.3, 0.5]}
MEASURES = {"T": "period(sliding_entry)", "top": "max(x1)"}


def table(file):
    with open(file, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_files_have_the_bytes_of_the_program(program, tmp_path):
    s = perp.sweep(MODEL, FRICTION, MEASURES, scheme="located", after=10)
    s.save(tmp_path / "twin.csv")
    arguments = ["--vary", "Fs=0.1,0.3,0.5", "--measure", "T=period(sliding_entry)", "--measure", "top=max(x1)", "--after", "10"]
    text, errors, status = program("sweep", MODEL, "--scheme", "located", *arguments, "-o", tmp_path / "program.csv")
    assert status == 0, errors
    assert (tmp_path / "twin.csv").read_bytes() == (tmp_path / "program.csv").read_bytes()
    assert s.text() in text


def test_measures_have_the_shape_of_the_axes_and_those_of_single_runs():
    s = perp.sweep("stick_slip", {"Fs": np.array([0.3, 0.4]), "run.h": [0.01, 0.005, 0.0025]}, {"end": "end(x1)"})
    assert s.shape == (2, 3) == s["end"].shape and s.dimensions == ["Fs", "run.h"] and s.success
    for i, friction in enumerate(s.axes["Fs"]):
        for k, h in enumerate(s.axes["run.h"]):
            assert s["end"][i, k] == perp.solve("stick_slip", Fs=friction, h=h)["x1"][-1]
    assert s["Fs"].tolist() == [0.3] * 3 + [0.4] * 3


def test_a_measure_without_value_is_nan_with_its_reason():
    s = perp.sweep("stick_slip", FRICTION, MEASURES, scheme="located", after=10)
    assert np.isnan(s["T"]).tolist() == [True, False, False]
    assert list(s.notes["T"]) == [0] and "two are needed" in s.notes["T"][0] and s.notes["top"] == {}


def test_threads_change_no_bit_and_draws_depend_on_seed_name_and_number_alone():
    draws = {"random": {"Fs": "normal(0.35, 0.02)"}, "runs": 12, "measure": {"top": "max(x1)"}, "scheme": "located"}
    one, four = (perp.sweep("stick_slip", seed=5, threads=n, **draws) for n in (1, 4))
    assert (one["Fs"] == four["Fs"]).all() and (one["top"] == four["top"]).all() and one.shape == (12,)
    assert (perp.sweep("stick_slip", seed=6, **draws)["Fs"] != one["Fs"]).all()
    latin = perp.sweep("stick_slip", random={"Fs": "uniform(0, 1)"}, runs=12, sampling="lhs", measure="top=max(x1)", scheme="located")
    assert sorted((latin["Fs"] * 12).astype(int)) == list(range(12))


def test_values_side_by_side_and_both_directions():
    s = perp.sweep("stick_slip", {"Fs": [0.3, 0.4], "run.h": [0.01, 0.02]}, "top=max(x1)", zip=True)
    assert s.shape == (2,) and s.dimensions == ["point"]
    both = perp.sweep("gene_toggle", {"kappa1": "1:8:3"}, {"x1": "end(x1)"}, follow="both", scheme="located")
    assert both.shape == (3, 2) and both.dimensions == ["kappa1", "direction"] and both.is_down.tolist() == [False, True] * 3
    assert both["x1"][2, 0] < 1e-9 and both["x1"][2, 1] == pytest.approx(7.9974, abs=1e-4)


def test_sections_keep_states():
    s = perp.sweep("stick_slip", {"Fs": [0.3, 0.4]}, section="sliding_entry", scheme="located", after=5)
    assert len(s.section) == len(s.section["x1"]) > 1 and set(s.section.run) == {0, 1}
    events = [e for e in perp.solve("stick_slip", Fs=0.3, scheme="located").events if e.kind == "sliding_entry" and e.t >= 5]
    assert s.section.t[s.section.run == 0].tolist() == [e.t for e in events]
    with pytest.raises(KeyError, match="did you mean 'x1'"):
        s.section["x1x"]


def test_a_folder_keeps_what_was_made(tmp_path):
    first = perp.sweep("stick_slip", FRICTION, MEASURES, store=tmp_path / "runs", scheme="located")
    again = perp.sweep("stick_slip", FRICTION, MEASURES, store=tmp_path / "runs", scheme="located", threads=1)
    assert (first["top"] == again["top"]).all() and any((tmp_path / "runs").iterdir())
    with pytest.raises(perp.InvalidInput, match="another sweep"):
        perp.sweep("stick_slip", {"Fs": [0.2]}, MEASURES, store=tmp_path / "runs", scheme="located")


def test_tables_of_other_packages():
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    s = perp.sweep("stick_slip", {"Fs": [0.3, 0.4], "run.h": [0.01, 0.02]}, "top=max(x1)")
    frame = s.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == ["Fs", "run.h", "status", "t_end", "top"]
    data = s.to_xarray()
    assert isinstance(data, xarray.Dataset) and data["top"].dims == ("Fs", "run.h")
    assert float(data["top"].sel(Fs=0.4)[1]) == s["top"][1, 1]


@pytest.mark.parametrize("kind, question", [
    ("curve", {"over": {"Fs": [0.1, 0.3]}, "measure": {"T": "period(sliding_entry)"}, "after": 10}),
    ("heat", {"over": {"Fs": [0.3, 0.4], "vb": [0.1, 0.2]}, "measure": "top=max(x1)"}),
    ("histogram", {"random": {"Fs": "normal(0.35, 0.02)"}, "runs": 8, "measure": "top=max(x1)"}),
    ("bifurcation", {"over": {"Fs": [0.3, 0.4]}, "section": "sliding_entry"}),
])
def test_every_kind_of_picture_is_drawn_and_is_the_one_that_fits(kind, question):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    s = perp.sweep("stick_slip", scheme="located", **question)
    ax = s.plot()
    assert ax.get_xlabel() and ax.has_data()
    assert s.plot(kind).get_xlabel() == ax.get_xlabel()
    plt.close("all")


@pytest.mark.parametrize("change, words", [
    ({"over": None}, "nothing is varied"),
    ({"measure": None}, "nothing is measured"),
    ({"over": {"Fz": [1, 2]}}, "did you mean 'Fs'"),
    ({"over": {"Fs": []}}, "there are no values"),
    ({"over": {"Fs": "0.1:0.5"}}, "FIRST:LAST:COUNT"),
    ({"over": {"Fs": ["a"]}}, "expected a number"),
    ({"zip": True}, "two names in over"),
    ({"runs": 3}, "random, which is not given"),
    ({"random": {"Fs": "normal(1, 2)"}, "over": None, "runs": 0}, "whole number from 1"),
    ({"random": {"Fs": "gauss(1, 2)"}, "over": None, "runs": 3}, "distribution"),
    ({"random": {"Fs": "uniform(1, 2)"}, "over": None, "runs": 3, "sampling": "lhz"}, "did you mean 'lhs'"),
    ({"follow": "op"}, "did you mean 'up'"),
    ({"measure": {"T": "perod(jump)"}}, "did you mean 'period'"),
    ({"section": "evry:1"}, "section 'evry:1'"),
    ({"scheme": "locatd"}, "did you mean 'located'"),
    ({"mu": 2}, "mu"),
    ({"threads": 0}, "whole number from 1 to 1024"),
    ({"skip": 2}, "skip is the number of points"),
    ({"times": [1, 2]}, "times are those of keep=True"),
    ({"keep": True, "times": [2, 1]}, "times must increase"),
    ({"keep": True, "times": [1, 1e9]}, "outside of the span"),
    ({"fail": "stp"}, "did you mean 'stop'"),
])
def test_wrong_input_is_one_message_with_what_was_meant(change, words):
    question = {"over": FRICTION, "measure": {"top": "max(x1)"}, **change}
    with pytest.raises(perp.InvalidInput, match=words):
        perp.sweep("stick_slip", **question)


def test_a_section_is_in_the_dataset_of_xarray():
    xarray = pytest.importorskip("xarray")
    section = perp.sweep("stick_slip", {"Fs": [0.3, 0.4]}, section="every:2", after=2)
    data = section.to_xarray()
    np.testing.assert_array_equal(data["x1"], section.section["x1"])
    assert data["x1"].dims == ("state",) and set(data.data_vars) == {"x1", "x2"} and {"run", "k", "t"} <= set(data.coords)
    np.testing.assert_array_equal(data["Fs"][data["run"]], [0.3 if run == 0 else 0.4 for run in section.section.run])
    np.testing.assert_array_equal(data["t"], section.section.t)
    # Axes, and measures, may have the names of what a section has.
    both = perp.sweep("stick_slip", {"k": [1.0, 2.0]}, {"x1": "end(x1)"}, section="every:2")
    data = both.to_xarray()
    np.testing.assert_array_equal(data["x1"], both["x1"])
    np.testing.assert_array_equal(data["x1_section"], both.section["x1"])
    np.testing.assert_array_equal(data["k"], [1, 2])
    np.testing.assert_array_equal(data["k_section"], both.section.k)
    assert isinstance(data, xarray.Dataset) and "state" in data.sizes


def test_kept_states_are_those_of_the_runs_and_a_fan_is_their_quantiles():
    times = [0.0, 3.3, 20.0]
    s = perp.sweep("stick_slip", random={"Fs": "uniform(0.3, 0.5)"}, runs=16, sampling="sobol", keep=True, times=times, scheme="located")
    kept = s.trajectories
    assert kept.t.tolist() == times * 16
    r = perp.solve("stick_slip", Fs=s["Fs"][5], scheme="located")
    np.testing.assert_allclose(kept["x2"][kept.run == 5][2], r["x2"][-1], rtol=1e-13)
    np.testing.assert_allclose(kept["x1"][kept.run == 5][1], r.sol(3.3)[0], rtol=1e-9)
    fan = s.fan("x1")
    at = kept["x1"].reshape(16, 3)
    np.testing.assert_allclose(fan[:, 1:6].T, np.quantile(at, [0.05, 0.25, 0.5, 0.75, 0.95], axis=0), rtol=1e-12)
    assert fan[:, 6].tolist() == [16, 16, 16]
    with pytest.raises(perp.PerpError, match="did you mean|expected one of"):
        s.fan("x3")
    with pytest.raises(perp.InvalidInput, match="keep=True"):
        perp.sweep("stick_slip", FRICTION, {"top": "max(x1)"}).fan("x1")


def test_an_input_of_a_model_with_binaries_is_varied_as_it_is_set(program, tmp_path):
    found = perp.sweep("three_tank_binaries", {"u2": [70.0, 80.0]}, {"e": "end(x1)"}, t=(0, 50))
    assert found["e"].tolist() == [perp.solve("three_tank_binaries", u2=u2, t=(0, 50))["x1"][-1] for u2 in (70.0, 80.0)]
    program("sweep", "three_tank_binaries", "--vary", "u2=70,80", "--measure", "e=end(x1)", "--t", "0,50", "-o", tmp_path / "p.csv", cwd=tmp_path)
    found.save(tmp_path / "own.csv")
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "own.csv").read_bytes()


def test_points_of_a_section_have_the_modes_in_which_they_were_reached():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    s = perp.sweep("stick_slip", {"Fs": [0.3, 0.4]}, section="every:0.7", scheme="located")
    for k, run in enumerate([perp.solve("stick_slip", Fs=Fs, scheme="located") for Fs in (0.3, 0.4)]):
        for t, (text, slides) in zip(s.section.t[s.section.run == k], np.array(s.section.modes, dtype=object)[s.section.run == k]):
            span = next(span for span in run.modes if span.end >= t)
            assert (text, slides) == (span.text, bool(span.sliding))
    ax = s.plot(colour="mode")
    assert [words.get_text() for words in ax.get_legend().get_texts()] == list(dict.fromkeys(text for text, _ in s.section.modes))
    plt.close("all")
    with pytest.raises(perp.InvalidInput, match="colour is 'modes'; expected 'mode'"):
        s.plot(colour="modes")
    with pytest.raises(perp.InvalidInput, match="of the points of a section"):
        perp.sweep("stick_slip", {"Fs": [0.3, 0.4]}, "top=max(x1)").plot(colour="mode")


def test_inputs_that_are_data_are_varied_and_name_the_events_of_their_jumps(tmp_path):
    (tmp_path / "u.csv").write_text("t,u,v\n0,1,0\n1,2,0\n2,0.5,1\n3,1.5,1\n")
    (tmp_path / "m.toml").write_text('''
[variables]
x = 0
[inputs]
w = { file = "u.csv", column = "u", between = "linear" }
heat = { file = "u.csv", column = "v", between = "hold" }
[model]
equations = ["der(x) = -x + w + heat"]
[run]
t = [0, 3]
h = 0.01
''')
    model = perp.load(tmp_path / "m.toml")
    s = perp.sweep(model, {"w": [1.0, 2.0]}, {"m": "mean(x)", "n": "count(heat)"})
    assert s["n"].tolist() == [1, 1]
    for value, mean in zip((1.0, 2.0), s["m"]):
        assert perp.solve(model, w=value, measure={"m": "mean(x)"}).measures["m"] == mean
    r = perp.solve(model, until="heat")
    assert r.happened and r.t[-1] >= 2 and r.t_events["heat"].tolist() == [2.0]
    with pytest.raises(perp.InvalidInput, match="did you mean 'heat'"):
        perp.solve(model, until="haet")
