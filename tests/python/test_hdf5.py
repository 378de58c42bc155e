"""Results as HDF5: one layout for the program and the package, which xarray and pandas open too."""

import math

import numpy as np
import pytest

import perp

h5py = pytest.importorskip("h5py")

MODELS = ["stick_slip", "switching_dae_jump", "bouncing_ball", "thermostat", "three_tank", "switching_dae_no_solution", "overflow_tank",
          "two_heaters", "switching_dae_half_lcp"]


def objects(file):
    """Every dataset and attribute of a file, by its path."""
    found = {}

    def note(name, item):
        if isinstance(item, h5py.Dataset):
            found[name] = (item.shape, item.dtype.kind, [[scale.name for scale in dimension.values()] for dimension in item.dims],
                           item[()].tolist())
        for key, value in item.attrs.items():
            if key not in ("DIMENSION_LIST", "REFERENCE_LIST"):
                found[f"{name}@{key}"] = value.tolist() if hasattr(value, "tolist") else value

    with h5py.File(file) as source:
        source.visititems(note)
        note("", source)
    return found


def same(a, b):
    return a == b or repr(a) == repr(b)  # nan is nan


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_result_has_the_datasets_and_attributes_of_the_program(name, program, tmp_path):
    _, errors, status = program("run", name, "-o", tmp_path / "a.h5", "--quiet")
    assert status in (0, 3), errors
    perp.solve(name).save(tmp_path / "b.h5")
    a, b = objects(tmp_path / "a.h5"), objects(tmp_path / "b.h5")
    assert b.pop("@about") and set(a) == set(b)
    assert [key for key in a if not same(a[key], b[key])] == []


@pytest.mark.parametrize("name", MODELS)
def test_a_file_of_the_program_is_read_as_the_result_that_it_is_of(name, program, tmp_path):
    program("run", name, "-o", tmp_path / "r.h5", "--quiet")
    back, result = perp.read(tmp_path / "r.h5"), perp.solve(name)
    assert list(back) == list(result) and back.units == result.units
    for column in result:
        np.testing.assert_array_equal(back[column], result[column])
    for law in result.model.laws:
        if [other.name for other in result.model.laws].count(law.name) == 1:
            np.testing.assert_array_equal(back.lam[law.name], result.lam[law.name])
    np.testing.assert_array_equal(back.mode, result.mode)
    assert back.mode_text == result.mode_text
    assert (back.status, back.message, back.counts) == (result.status, result.message, result.counts)
    assert back.provenance == result.provenance
    for name in ("kind", "t", "law", "from_", "to", "size", "note", "t_before", "t_after"):
        assert [getattr(e, name) for e in back.events] == [getattr(e, name) for e in result.events]
    for a, b in zip(back.events, result.events):
        assert a.x_before.tolist() == b.x_before.tolist() and a.x_after.tolist() == b.x_after.tolist()
    assert [span[:4] for span in back.modes] == [span[:4] for span in result.modes]
    assert result.status in back.summary() and repr(back)


def test_modes_of_rows_far_apart_begin_with_the_last_event_between_them(program, tmp_path):
    whole = perp.solve("stick_slip", scheme="located")
    slips = [span for span in whole.modes if span.sliding]
    times = [0.0, *[span.start + 0.01 for span in slips], float(whole.t[-1])]
    assert len(slips) > 1 and whole.modes[1] is slips[0]
    program("run", "stick_slip", "--scheme", "located", "--times", ",".join(map(str, times)), "-o", tmp_path / "r.h5", "--quiet")
    back = perp.read(tmp_path / "r.h5")
    assert len(back.t) == len(times) and back.modes[1].text == slips[0].text
    assert {span.start for span in back.modes} <= {span.start for span in whole.modes}


def test_a_saved_file_comes_back_with_what_the_program_does_not_write(tmp_path):
    result = perp.sensitivities("stick_slip", ["Fs"], t=(0, 5))
    result.save(tmp_path / "r.h5")
    back = perp.read(tmp_path / "r.h5")
    assert back.summary() == result.summary() and back.modes == result.modes
    assert [e.dt.tolist() for e in back.events] == [e.dt.tolist() for e in result.events] and len(back.events[0].dt) == 1
    back.save(tmp_path / "again.h5")
    assert objects(tmp_path / "again.h5") == objects(tmp_path / "r.h5")


@pytest.mark.parametrize("ending", ["npz", "h5"])
def test_measures_come_back(ending, tmp_path):
    result = perp.solve("switching_dae_crossing", measure={"top": "max(x2)", "T": "period(jump)"})
    result.save(tmp_path / f"r.{ending}")
    back = perp.read(tmp_path / f"r.{ending}")
    assert back.measures["top"] == result.measures["top"] and math.isnan(back.measures["T"])
    assert back.measure_notes == result.measure_notes


def test_measures_of_the_program_come_back(program, tmp_path):
    measures = ["--measure", "top=max(x2)", "--measure", "T=period(jump)"]
    program("run", "switching_dae_crossing", *measures, "-o", tmp_path / "r.h5", "--quiet")
    back = perp.read(tmp_path / "r.h5")
    expected = perp.solve("switching_dae_crossing", measure={"top": "max(x2)", "T": "period(jump)"})
    assert back.measures["top"] == expected.measures["top"] and back.measure_notes == expected.measure_notes
    assert math.isnan(back.measures["T"])


@pytest.mark.parametrize("writer", ["program", "package"])
def test_xarray_opens_both_with_names_as_coordinates(writer, program, tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    result = perp.solve("stick_slip", t=(0, 5))
    if writer == "program":
        program("run", "stick_slip", "--t", "0,5", "-o", tmp_path / "r.h5", "--quiet")
    else:
        result.save(tmp_path / "r.h5")
    with xarray.open_dataset(tmp_path / "r.h5", engine="h5netcdf") as data:
        assert data["x"].dims == ("t", "variable") and data["lambda"].dims == ("t", "multiplier")
        np.testing.assert_array_equal(data["t"], result.t)
        np.testing.assert_array_equal(data["x"].sel(variable="x2"), result["x2"])
        np.testing.assert_array_equal(data["outputs"].sel(output="alpha"), result["alpha"])
    with xarray.open_dataset(tmp_path / "r.h5", engine="h5netcdf", group="events") as events:
        np.testing.assert_array_equal(events["t"], [event.t for event in result.events])


@pytest.mark.parametrize("writer", ["program", "package"])
def test_pandas_opens_both_as_a_frame_over_t(writer, program, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("tables")
    result = perp.solve("stick_slip", t=(0, 5))
    if writer == "program":
        program("run", "stick_slip", "--t", "0,5", "-o", tmp_path / "r.h5", "--quiet")
    else:
        result.save(tmp_path / "r.h5")
    frame = pandas.read_hdf(tmp_path / "r.h5", "frame")
    assert set(frame.columns) == set(result) - {"t"} and frame.index.name == "t"
    for name in frame.columns:
        np.testing.assert_array_equal(frame[name], result[name])


@pytest.mark.parametrize("name, words", [
    ("model", "perp.solve makes the run again"), ("sol", "no 'sol'"), ("rates", "no 'rates'"), ("branches", "no 'branches'"),
    ("dy", "perp.sensitivities"),
])
def test_what_a_file_cannot_have_is_an_attribute_error_that_says_what_to_do(name, words, tmp_path):
    perp.solve("chatter").save(tmp_path / "r.h5")
    back = perp.read(tmp_path / "r.h5")
    with pytest.raises(AttributeError, match=words):
        getattr(back, name)
    assert not hasattr(back, name) and hasattr(perp.Result, name) or name == "model"
    with pytest.raises(KeyError, match="the derivatives are those of the model"):
        back["der(x)"]


def test_other_files_are_refused_in_one_sentence(tmp_path):
    with h5py.File(tmp_path / "old.h5", "w") as file:
        file["t"], file["lam"] = [0.0], [[1.0]]
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["t"] = [0.0]
    with pytest.raises(perp.InvalidInput, match="of an earlier Result.save"):
        perp.read(tmp_path / "old.h5")
    with pytest.raises(perp.InvalidInput, match="'x' is missing; expected a file of perp run -o FILE.h5 or of Result.save"):
        perp.read(tmp_path / "other.h5")
    (tmp_path / "torn.h5").write_bytes((tmp_path / "other.h5").read_bytes()[:300])
    with pytest.raises(perp.FileError, match="cannot be read"):
        perp.read(tmp_path / "torn.h5")


def test_a_torn_archive_is_a_file_error(tmp_path):
    perp.solve("chatter").save(tmp_path / "r.npz")
    (tmp_path / "torn.npz").write_bytes((tmp_path / "r.npz").read_bytes()[:2000])
    with pytest.raises(perp.FileError, match="cannot be read"):
        perp.read(tmp_path / "torn.npz")


def test_a_map_opens_in_xarray_with_its_axes(program, tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    words = ("map", "switching_dae_jump", "--vary", "B1=-2:2:5", "--vary", "B2=-2:2:3", "--what", "ac", "--at", "x1=0,x2=-1")
    program(*words, "-o", tmp_path / "m.h5", cwd=tmp_path)
    found = perp.map("switching_dae_jump", {"B1": (-2.0, 2.0, 5), "B2": (-2.0, 2.0, 3)}, what="ac", at={"x1": 0, "x2": -1})
    with xarray.open_dataset(tmp_path / "m.h5", engine="h5netcdf") as data:
        assert data["region"].dims == ("B1", "B2")
        np.testing.assert_array_equal(data["B1"], found.axes["B1"])
        np.testing.assert_array_equal(data["region"], found.region)
        for name, values in found.columns.items():
            np.testing.assert_array_equal(data[name], values)
