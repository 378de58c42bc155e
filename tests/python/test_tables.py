"""Tables, pictures and files of results."""

import numpy as np
import pytest

import perp


@pytest.fixture
def result():
    return perp.solve("stick_slip", t=(0, 5))


def test_pandas_and_xarray_have_columns_and_units(result):
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    np.testing.assert_array_equal(frame["x1"], result["x1"])
    assert list(frame["mode"]) == result.mode_text and frame.attrs["units"]["x1"] == "m" and frame.index.name == "t"
    pytest.importorskip("xarray")
    data = result.to_xarray()
    np.testing.assert_array_equal(data["alpha"], result.outputs["alpha"])
    assert data["x1"].attrs["units"] == "m" and data.attrs["status"] == "solved"


@pytest.mark.parametrize("ending", ["npz", "h5"])
def test_a_result_comes_back_from_its_file(result, ending, tmp_path):
    if ending == "h5":
        pytest.importorskip("h5py")
    result.save(tmp_path / f"r.{ending}")
    back = perp.read(tmp_path / f"r.{ending}")
    for name in result:
        np.testing.assert_array_equal(back[name], result[name])
    assert back.status == result.status and back.mode_text == result.mode_text and back.summary() == result.summary()
    assert [span.text for span in back.modes] == [span.text for span in result.modes]
    assert [(e.kind, e.t) for e in back.events] == [(e.kind, e.t) for e in result.events]
    np.testing.assert_array_equal(back.events[0].x_before, result.events[0].x_before)
    assert back.provenance == result.provenance and not back.y.flags.writeable


def test_csv_has_the_bytes_of_the_program(tmp_path, program):
    perp.solve("chatter").save(tmp_path / "a.csv")
    program("run", "chatter", "-o", tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "a.csv.json").read_text() == (tmp_path / "b.csv.json").read_text()


def test_wrong_files_are_named(result, tmp_path):
    with pytest.raises(perp.InvalidInput, match="unknown kind of file"):
        result.save(tmp_path / "r.txt")
    with pytest.raises(perp.FileError, match="no/r.npz"):
        result.save(tmp_path / "no" / "r.npz")
    with pytest.raises(perp.FileError, match="cannot be read"):
        perp.read(tmp_path / "none.npz")
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    with pytest.raises(perp.FileError, match="cannot be read"):
        perp.read(tmp_path / "bad.npz")


def test_a_variable_that_is_called_mode_keeps_its_column():
    pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    r = perp.solve(perp.Model({"mode": 1.0, "x": 1.0}, ["der(mode) = -mode", "der(x) = -sign(x)"], t=(0, 1), h=0.25))
    np.testing.assert_array_equal(r.to_pandas()["mode"], r["mode"])
    np.testing.assert_array_equal(r.to_xarray()["mode"], r["mode"])
    assert list(r.to_pandas()["mode_text"]) == r.mode_text == r.to_xarray()["mode_text"].values.tolist()
