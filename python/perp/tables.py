"""Results as tables of other packages, and as files."""

import json
import os

from .errors import FileError, InvalidInput, path_of
from .names import UnknownName
from .result import Columns, Event, ModeSpan, Rows, columns_by_law


def _lists(rows):
    """Name, kind and values of every column, in the order of the program's files."""
    yield from (("x", name, rows.x[:, j]) for j, name in enumerate(rows.names))
    yield from (("lam", name, rows.lam[name]) for name in rows.lam)
    yield from (("outputs", name, rows.outputs[name]) for name in rows.outputs)
    yield from (("w", name, rows.w[name]) for name in rows.w)


def to_pandas(rows):
    import pandas as pd

    frame = pd.DataFrame({name: values for _, name, values in _lists(rows)}, index=pd.Index(rows.t, name="t"))
    frame["mode_text" if "mode" in frame else "mode"] = rows.mode_text  # a column of this name is the user's
    frame.attrs = {"units": dict(rows.units), "status": rows.status, "provenance": rows.provenance}
    return frame


def to_xarray(rows):
    import xarray as xr

    columns = {name: ("t", values, {"units": rows.units.get(name, ""), "kind": kind}) for kind, name, values in _lists(rows)}
    columns["mode_text" if "mode" in columns else "mode"] = ("t", rows.mode_text)
    attributes = {"status": rows.status, "message": rows.message, "provenance": json.dumps(rows.provenance)}
    return xr.Dataset(columns, coords={"t": rows.t}, attrs=attributes)


# Files -------------------------------------------------------------------------------------------------------------


def _described(rows):
    """All but the arrays, as JSON."""
    about = {"names": list(rows.names), "units": rows.units, "lam": list(rows.lam), "w": list(rows.w), "outputs": list(rows.outputs),
             "status": rows.status, "message": rows.message, "counts": rows.counts, "provenance": rows.provenance,
             "events": [event_table(event, Event._fields[:-1]) for event in rows.events], **beside_rows(rows)}
    return json.dumps(about)


def event_table(event, fields):
    """Fields of an event as JSON has them."""
    values = ((field, getattr(event, field)) for field in fields)
    return {field: value.tolist() if hasattr(value, "tolist") else value for field, value in values}


def beside_rows(rows):
    """What stands in no column and no event."""
    return {"modes": [span._asdict() for span in rows.modes], "summary": rows.summary(), "measures": rows.measures,
            "measure_notes": rows.measure_notes}


def _arrays(rows):
    return {"t": rows.t, "x": rows.x, "lam": rows.lam.array, "w": rows.w.array, "outputs": rows.outputs.array,
            "mode": rows.mode}


def packed(rows):
    """What `unpacked` makes a `SavedResult` of."""
    return _arrays(rows), _described(rows), list(rows.mode_text)


def unpacked(arrays, about, mode_text):
    import numpy as np

    return SavedResult({name: np.array(array) for name, array in arrays.items()}, json.loads(about), mode_text)


def save(rows, file):
    file = path_of(file)
    ending = os.path.splitext(file)[1]
    try:
        if ending == ".csv":
            if not hasattr(rows, "_run"):
                raise InvalidInput(f"{file}: a result that was read is saved as .npz or .h5")
            rows._run.write_csv(file, [words for _, _, words in rows._settings])
        elif ending == ".npz":
            import numpy as np

            with open(file, "wb") as stream:
                np.savez_compressed(stream, **_arrays(rows), about=np.array(_described(rows)), mode_text=np.array(rows.mode_text))
        elif ending in (".h5", ".hdf5"):
            from . import hdf5

            hdf5.write(rows, file)
        else:
            raise InvalidInput(f"{file}: unknown kind of file; expected a name that ends in .npz, .h5 or .csv")
    except OSError as error:
        raise error if isinstance(error, FileError) else FileError(f"{file}: cannot be written: {error}") from None


# What a file has not, and what there is instead.
_GONE = {"model": "", "sol": "", "rates": "", "branches": "", "branches_complete": "", "tree": "",
         "dy": "; derivatives by parameters are those of perp.sensitivities", "quantities": "; they are of perp.sensitivities"}


class SavedResult(Rows):
    """A result that was read from a file: rows, modes, events, measures. Nothing is computed with it."""

    def __init__(self, arrays, about, mode_text):
        import numpy as np

        for name in ("t", "x", "mode"):
            setattr(self, name, _frozen(arrays[name]))
        self.names, self.units = about["names"], about["units"]
        laws = [law["name"] for law in about["provenance"]["laws"]]
        self.lam, self.w = (columns_by_law(about[key], _frozen(arrays[key]), laws) for key in ("lam", "w"))
        self.outputs = Columns(about["outputs"], _frozen(arrays["outputs"]))
        self.status, self.message, self.counts = about["status"], about["message"], about["counts"]
        self.happened = False if self.message.endswith(" did not happen") else None
        self.provenance, self._summary = about["provenance"], about["summary"]
        vectors = ("x_before", "x_after", "dt")
        self.events = [Event(**{k: np.array(v, dtype=float) if k in vectors else v for k, v in event.items()}, pieces=[])
                       for event in about["events"]]
        self.modes = [ModeSpan(**span) for span in about["modes"]]
        self.mode_text = [str(text) for text in mode_text]
        self.measures, self.measure_notes = about["measures"], about["measure_notes"]

    def __getattr__(self, name):
        if name in _GONE:
            raise AttributeError(f"a result of a file has no '{name}': rows, events and modes were saved, not the model; perp.solve makes "
                                 f"the run again{_GONE[name]}")
        raise AttributeError(f"'SavedResult' object has no attribute '{name}'")

    def _unknown(self, name):
        if isinstance(name, str) and name.startswith("der("):
            raise UnknownName(f"a result of a file has no '{name}': the derivatives are those of the model; perp.solve makes the run again")
        super()._unknown(name)

    def summary(self):
        return self._summary


def _frozen(array):
    array.flags.writeable = False
    return array


def _read_npz(file):
    import numpy as np

    with np.load(file, allow_pickle=False) as source:
        arrays = {name: source[name] for name in ("t", "x", "lam", "w", "outputs", "mode")}
        about, mode_text = json.loads(str(source["about"])), source["mode_text"]
    if "measures" not in about:  # an older file
        about["measures"], about["measure_notes"] = measures_of(about["provenance"])
    return SavedResult(arrays, about, mode_text)


def measures_of(provenance):
    """Values, and why there is none, by name."""
    measured = provenance.get("measures", [])
    values = {entry["name"]: float("nan") if entry["value"] is None else float(entry["value"]) for entry in measured}
    return values, {entry["name"]: entry["reason"] for entry in measured if "reason" in entry}


def read(file):
    """A result that `Result.save` wrote as .npz or .h5, or `perp run -o FILE.h5`."""
    from zipfile import BadZipFile

    file = path_of(file)
    ending = os.path.splitext(file)[1]
    try:
        if ending == ".npz":
            return _read_npz(file)
        if ending in (".h5", ".hdf5"):
            from . import hdf5

            return hdf5.read(file)
    except KeyError as error:
        raise InvalidInput(f"{file}: {error.args[0]}; expected a file of Result.save") from None
    except InvalidInput:
        raise
    except (OSError, ValueError, BadZipFile) as error:
        raise FileError(f"{file}: cannot be read: {error}") from None
    raise InvalidInput(f"{file}: unknown kind of file; expected a name that ends in .npz or .h5")


__all__ = ["SavedResult", "read", "save", "to_pandas", "to_xarray"]
