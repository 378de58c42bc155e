"""Results as tables of other packages, and as files."""

import json
import os


from .errors import FileError, InvalidInput
from .result import Columns, Event, ModeSpan, Rows


def _lists(rows):
    """Name, kind and values of every column, in the order of the program's files."""
    yield from (("x", name, rows.x[:, j]) for j, name in enumerate(rows.names))
    yield from (("lam", name, rows.lam[name]) for name in rows.lam)
    yield from (("outputs", name, rows.outputs[name]) for name in rows.outputs)
    yield from (("w", name, rows.w[name]) for name in rows.w)


def to_pandas(rows):
    import pandas as pd

    frame = pd.DataFrame({name: values for _, name, values in _lists(rows)}, index=pd.Index(rows.t, name="t"))
    frame["mode"] = rows.mode_text
    frame.attrs = {"units": dict(rows.units), "status": rows.status, "provenance": rows.provenance}
    return frame


def to_xarray(rows):
    import xarray as xr

    columns = {name: ("t", values, {"units": rows.units.get(name, ""), "kind": kind}) for kind, name, values in _lists(rows)}
    columns["mode"] = ("t", rows.mode_text)
    attributes = {"status": rows.status, "message": rows.message, "provenance": json.dumps(rows.provenance)}
    return xr.Dataset(columns, coords={"t": rows.t}, attrs=attributes)


# Files -------------------------------------------------------------------------------------------------------------


def _described(rows):
    """All but the arrays, as JSON."""
    events = [{key: value.tolist() if hasattr(value, "tolist") else value for key, value in event._asdict().items() if key != "pieces"}
              for event in rows.events]
    return json.dumps({"names": list(rows.names), "units": rows.units, "lam": list(rows.lam), "w": list(rows.w),
                       "outputs": list(rows.outputs), "status": rows.status, "message": rows.message, "counts": rows.counts,
                       "events": events, "modes": [span._asdict() for span in rows.modes],
                       "provenance": rows.provenance, "summary": rows.summary()})


def _arrays(rows):
    return {"t": rows.t, "x": rows.x, "lam": rows.lam.array, "w": rows.w.array, "outputs": rows.outputs.array,
            "mode": rows.mode}


def packed(rows):
    """What `unpacked` makes a `SavedResult` of."""
    return _arrays(rows), _described(rows), list(rows.mode_text)


def unpacked(arrays, about, mode_text):
    import numpy as np

    return SavedResult({name: np.array(array) for name, array in arrays.items()}, json.loads(about), mode_text)


def _h5py(file):
    try:
        import h5py
    except ImportError:
        raise InvalidInput(f"{file}: HDF5 needs the package h5py (python3-h5py); .npz needs none") from None
    return h5py


def save(rows, file):
    file = os.fspath(file)
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
            _save_hdf5(rows, file, _h5py(file))
        else:
            raise InvalidInput(f"{file}: unknown kind of file; expected a name that ends in .npz, .h5 or .csv")
    except OSError as error:
        raise error if isinstance(error, FileError) else FileError(f"{file}: cannot be written: {error}") from None


def _save_hdf5(rows, file, h5py):
    with h5py.File(file, "w") as target:
        for name, array in _arrays(rows).items():
            target.create_dataset(name, data=array)
        target["mode_text"] = [text.encode() for text in rows.mode_text]
        for key, columns in (("x", rows.names), ("lam", rows.lam), ("w", rows.w), ("outputs", rows.outputs)):
            target[key].attrs["columns"] = list(columns)
            target[key].attrs["units"] = [rows.units.get(name, "") for name in columns]
        target.attrs["about"] = _described(rows)
        target.attrs["provenance"] = json.dumps(rows.provenance)


class SavedResult(Rows):
    """A result that was read from a file. It has no `sol`: nothing is computed with it."""

    def __init__(self, arrays, about, mode_text):
        import numpy as np

        for name in ("t", "x", "mode"):
            setattr(self, name, _frozen(arrays[name]))
        self.names, self.units = about["names"], about["units"]
        self.lam, self.w, self.outputs = (Columns(about[key], _frozen(arrays[key])) for key in ("lam", "w", "outputs"))
        self.status, self.message, self.counts = about["status"], about["message"], about["counts"]
        self.provenance, self._summary = about["provenance"], about["summary"]
        vectors = ("x_before", "x_after", "dt")
        self.events = [Event(**{k: np.array(v) if k in vectors else v for k, v in event.items()}, pieces=[])
                       for event in about["events"]]
        self.modes = [ModeSpan(**span) for span in about["modes"]]
        self.mode_text = [str(text) for text in mode_text]

    def summary(self):
        return self._summary


def _frozen(array):
    array.flags.writeable = False
    return array


def read(file):
    """A result that `Result.save` wrote as .npz or .h5."""
    file = os.fspath(file)
    ending = os.path.splitext(file)[1]
    names = ("t", "x", "lam", "w", "outputs", "mode")
    try:
        if ending == ".npz":
            import numpy as np

            with np.load(file, allow_pickle=False) as source:
                return SavedResult({name: source[name] for name in names}, json.loads(str(source["about"])), source["mode_text"])
        if ending in (".h5", ".hdf5"):
            with _h5py(file).File(file, "r") as source:
                texts = [text.decode() for text in source["mode_text"][()]]
                return SavedResult({name: source[name][()] for name in names}, json.loads(source.attrs["about"]), texts)
    except KeyError as error:
        raise InvalidInput(f"{file}: {error.args[0]}; expected a file of Result.save") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{file}: cannot be read: {error}") from None
    raise InvalidInput(f"{file}: unknown kind of file; expected a name that ends in .npz or .h5")


__all__ = ["SavedResult", "read", "save", "to_pandas", "to_xarray"]
