"""Results as HDF5, by h5py, in the layout of `perp run -o FILE.h5`.

t (N); x (N, n), lambda, w (N, m), outputs (N, k), mode (N, m), over t and the names of their columns as scales of dimensions; the
group `events`; `frame`, which pandas reads. What `Result` has beyond these is the attribute `about` of the root, in JSON.
"""

import json
from bisect import bisect_left, bisect_right

from .errors import InvalidInput
from .tables import SavedResult, beside_rows, event_table, measures_of

_BESIDE = ("continuations", "is_weak", "dt", "condition")  # of events, what the program does not write
_NUMBERS = ("t", "t_before", "t_after", "size")
_NO_MODE_OF_ITS_OWN = ("satisfied", "lambda=0, w<=0", "lambda=-0, w<=0")  # the one branch of a constraint
_AT_NO_STEP = ("inconsistent_start", "no_solution", "bound", "stopped")


def _h5py(file):
    try:
        import h5py
    except ImportError:
        raise InvalidInput(f"{file}: HDF5 needs the package h5py (python3-h5py); .npz needs none") from None
    return h5py


def _law_names(laws):
    """Names of laws as events have them: with a number where several have one name."""
    names = [law["name"] for law in laws]
    return [name if names.count(name) == 1 else f"{name} (law {k + 1})" for k, name in enumerate(names)]


# Writing -----------------------------------------------------------------------------------------------------------


def write(rows, file):
    h5py = _h5py(file)
    provenance = {key: value for key, value in rows.provenance.items() if key != "events"}  # these have datasets
    with h5py.File(file, "w") as target:
        target.create_dataset("t", data=rows.t).make_scale("t")
        _write_tables(target, rows, h5py)
        _write_events(target, rows, h5py)
        run = {key: str(value) for key, value in provenance.get("run", {}).items() if key != "version"}
        about = {"events": [event_table(event, _BESIDE) for event in rows.events], **beside_rows(rows)}
        target.attrs.update({"version": f"perp {provenance['version']}", "model": provenance["model"]["name"],
                             "model hash": provenance["model"]["hash"], "status": rows.status, "message": rows.message, **run,
                             "provenance": json.dumps(provenance, indent=1), "about": json.dumps(about)})


def _write_tables(target, rows, h5py):
    laws = rows.provenance["laws"]
    law_names = [law["name"] for law in laws]
    parts = (("x", rows.x, "variable", rows.names), ("outputs", rows.outputs.array, "output", list(rows.outputs)),
             ("lambda", rows.lam.array, "multiplier", list(rows.lam)), ("w", rows.w.array, "argument", list(rows.w)),
             ("mode", rows.mode, "law", law_names))
    blocks = []
    for name, array, scale, columns in parts:
        if not columns:
            continue
        table = target.create_dataset(name, data=array)
        _scale(target, scale, columns, h5py)
        table.dims[0].attach_scale(target["t"])
        table.dims[1].attach_scale(target[scale])
        if name != "mode":
            table.attrs["columns"] = list(columns)
            blocks.append((name, list(columns)))
    for name, _, _, columns in parts:
        if name != "mode" and any(rows.units.get(column) for column in columns):
            target[name].attrs["units"] = [rows.units.get(column, "") for column in columns]
    if laws:
        target["mode"].attrs.update({f"branches {k + 1}": law["branches"] for k, law in enumerate(laws)})
        target["mode"].attrs["laws"] = law_names
    _write_frame(target, len(rows.t), blocks, h5py)


def _scale(target, name, texts, h5py):
    target.create_dataset(name, data=list(texts), dtype=h5py.string_dtype()).make_scale(name)


def _write_frame(target, count, blocks, h5py):
    """A table of pandas, in its format "fixed", whose numbers are those of the datasets."""
    import numpy as np

    def labels(name, texts):
        frame.create_dataset(name, data=np.array([text.encode() for text in texts])).attrs["kind"] = "string"

    def numbers(name, source, shape):
        layout = h5py.VirtualLayout(shape=shape, dtype="f8")
        layout[...] = h5py.VirtualSource(".", source, shape=shape, dtype="f8")
        return frame.create_virtual_dataset(name, layout)

    frame = target.create_group("frame")
    frame.attrs.update({"pandas_type": "frame", "pandas_version": "0.15.2", "encoding": "UTF-8", "errors": "strict",
                        "axis0_variety": "regular", "axis1_variety": "regular", "ndim": 2, "nblocks": len(blocks)})
    for k, (name, columns) in enumerate(blocks):
        frame.attrs[f"block{k}_items_variety"] = "regular"
        labels(f"block{k}_items", columns)
        numbers(f"block{k}_values", f"/{name}", (count, len(columns))).attrs["transposed"] = 1
    labels("axis0", [name for _, columns in blocks for name in columns])
    numbers("axis1", "/t", (count,)).attrs.update({"kind": "float", "name": "t"})


def _write_events(target, rows, h5py):
    import numpy as np

    events, group = rows.events, target.create_group("events")
    for name in _NUMBERS:
        group[name] = np.array([getattr(event, name) for event in events], dtype=float)
    places = np.array(_places(events, rows.provenance["laws"]), dtype="i4").reshape(len(events), 3)
    for k, name in enumerate(("law", "from", "to")):
        group[name] = places[:, k]
    for name, field in (("type", "kind"), ("note", "note")):
        group.create_dataset(name, data=[getattr(event, field) for event in events], shape=(len(events),), dtype=h5py.string_dtype())
    for name in ("x_before", "x_after"):
        group[name] = _states([getattr(event, name) for event in events], len(rows.names))
        if group[name].shape[1] and "units" in target["x"].attrs:
            group[name].attrs["units"] = target["x"].attrs["units"]
    _scale_events(group, target)


def _places(events, laws):
    """(law, from, to) of each event as indices; -1 where it is of none."""
    numbers = {name: k for k, name in enumerate(_law_names(laws))}

    def branch(event, text):
        return laws[numbers[event.law]]["branches"].index(text) if event.law and text else -1

    return [(numbers.get(event.law, -1), branch(event, event.from_), branch(event, event.to)) for event in events]


def _states(states, n):
    """An array of n columns; NaN where a state was not kept. Of large models none is kept."""
    import numpy as np

    width = n if any(map(len, states)) or not states else 0
    return np.array([state if len(state) else [np.nan] * width for state in states], dtype=float).reshape(len(states), width)


def _scale_events(group, target):
    group["t"].make_scale("t")
    for name, dataset in group.items():
        if name != "t":
            dataset.dims[0].attach_scale(group["t"])
        if dataset.ndim == 2 and dataset.shape[1]:
            dataset.dims[1].attach_scale(target["variable"])


# Reading -----------------------------------------------------------------------------------------------------------


def read(file):
    with _h5py(file).File(file, "r") as source:
        return _Reader(source, file).result()


class _Reader:
    """One file; what is missing is named with it."""

    def __init__(self, source, file):
        self.source, self.file = source, file
        if "lam" in source:
            raise InvalidInput(f"{file}: the file is of an earlier Result.save, whose layout is no longer read; expected one saved anew")
        for name in ("t", "x", "events"):
            self.part(name)
        for name in ("provenance", "status"):
            if name not in source.attrs:
                self.fail(f"the attribute {name}")
        self.provenance = json.loads(source.attrs["provenance"])
        self.laws = self.provenance["laws"]

    def fail(self, what):
        raise InvalidInput(f"{self.file}: {what} is missing; expected a file of perp run -o FILE.h5 or of Result.save")

    def part(self, name):
        if name not in self.source:
            self.fail(f"'{name}'")
        return self.source[name]

    def columns(self, name):
        return [str(text) for text in self.source[name].attrs["columns"]] if name in self.source else []

    def table(self, name, dtype=float):
        import numpy as np

        return self.source[name][()] if name in self.source else np.zeros((len(self.source["t"]), 0), dtype=dtype)

    def result(self):
        arrays = {"t": self.source["t"][()], "mode": self.table("mode", "i4"),
                  **{key: self.table(name) for key, name in (("x", "x"), ("lam", "lambda"), ("w", "w"), ("outputs", "outputs"))}}
        beside = json.loads(self.source.attrs["about"]) if "about" in self.source.attrs else None
        events = self.events(beside)
        texts = self.mode_texts(arrays["mode"])
        if beside is None:
            measures, notes = measures_of(self.provenance)
            beside = {"measures": measures, "measure_notes": notes, "modes": self.modes(arrays["t"], arrays["mode"], texts, events)}
            beside["summary"] = self.summary(arrays, beside["modes"], events)
        about = {"names": self.columns("x"), "lam": self.columns("lambda"), "w": self.columns("w"), "outputs": self.columns("outputs"),
                 "units": self.provenance.get("units", {}), "status": self.source.attrs["status"],
                 "message": self.source.attrs["message"], "counts": self.provenance["counts"], **beside, "events": events,
                 "provenance": {**self.provenance, "events": [_event_of_program(event) for event in events]}}
        return SavedResult(arrays, about, texts)

    def events(self, beside):
        """Their fields, as `Event` has them."""
        group = self.source["events"]
        names = _law_names(self.laws)
        data = {name: group[name].asstr()[()] if group[name].dtype == object else group[name][()] for name in group}

        def branch(k, name):
            place = data[name][k]
            return self.laws[data["law"][k]]["branches"][place] if data["law"][k] >= 0 and place >= 0 else ""

        def state(k, name):  # NaN stands for one that was not kept
            return [] if (data[name][k] != data[name][k]).all() else data[name][k].tolist()

        return [{"kind": str(data["type"][k]), "law": names[data["law"][k]] if data["law"][k] >= 0 else "",
                 "from_": branch(k, "from"), "to": branch(k, "to"), "note": str(data["note"][k]),
                 "x_before": state(k, "x_before"), "x_after": state(k, "x_after"),
                 **{name: float(data[name][k]) for name in _NUMBERS},
                 **(beside["events"][k] if beside else {"continuations": 0, "is_weak": False, "dt": [], "condition": 0.0})}
                for k in range(len(data["t"]))]

    def _words(self, mode):
        """The names of the branches of a mode, by the names of the laws."""
        return {law["name"]: law["branches"][branch] for law, branch in zip(self.laws, mode)}

    def _mode_text(self, mode):
        if any(branch < 0 for branch in mode):
            return "unknown"
        words = [law["branches"][branch] for law, branch in zip(self.laws, mode)
                 if len(law["branches"]) > 1 or law["branches"][0] not in _NO_MODE_OF_ITS_OWN]
        return " | ".join(words) or "smooth"

    def mode_texts(self, modes):
        known = {}
        rows = list(map(tuple, modes.tolist()))
        for mode in rows:
            if mode not in known:
                known[mode] = self._mode_text(mode)
        return [known[mode] for mode in rows]

    def modes(self, t, modes, texts, events):
        """The stretches between rows of different modes; what happened at the change says when."""
        if not len(t):
            return []
        import numpy as np

        counts, times = self.provenance["counts"], [event["t"] for event in events]
        is_every_step = len(t) + counts.get("resets", 0) >= counts.get("steps", 0)
        changes = [0, *(np.flatnonzero((modes[1:] != modes[:-1]).any(axis=1)) + 1).tolist()]
        starts = [float(t[0]), *[_moment(float(t[k - 1]), float(t[k]), events, times, is_every_step) for k in changes[1:]]]
        return [{"start": start, "end": end, "branches": self._words(modes[k]) if (modes[k] >= 0).all() else {}, "text": texts[k],
                 "sliding": None} for k, start, end in zip(changes, starts, [*starts[1:], *t[-1:].tolist()])]

    def summary(self, arrays, modes, events):
        """What the file tells of the run, in the manner of `perp run`."""
        model, run = self.provenance["model"], self.provenance.get("run", {})
        end = ", ".join(f"{name} = {value:.7g}" for name, value in zip(self.columns("x"), arrays["x"][-1])) if len(arrays["t"]) else ""
        lines = [f"model       {model['name']} ({model['file']})",
                 "scheme      " + ", ".join([run.get("scheme", ""), *[f"{key} = {run[key]}" for key in ("h", "tol") if key in run]]),
                 f"modes       {len(modes)}",
                 *[f"            t = {span['start']:<12.8g} to {span['end']:<12.8g} {span['text']}" for span in modes],
                 f"events      {len(events)}",
                 *[f"            t = {event['t']:<12.8g} {event['kind']}  {event['law'] or event['note']}" for event in events],
                 f"end state   t = {arrays['t'][-1]:.8g}, {end}" if end else "end state   none",
                 f"status      {self.source.attrs['status']}: {self.source.attrs['message']}",
                 "counts      " + ", ".join(f"{name} {count}" for name, count in self.provenance["counts"].items())]
        return "\n".join(lines) + "\n"


def _moment(before, after, events, times, is_every_step):
    """When a mode that holds at the row `after`, and not at the one before, began."""
    between = [event for event in events[bisect_left(times, before):bisect_right(times, after)] if event["kind"] not in _AT_NO_STEP]
    if not between:
        return after
    if not is_every_step:
        return between[-1]["t"]
    jumps = [event for event in between if event["kind"] == "jump"]
    return (jumps or between)[0]["t"]


def _event_of_program(event):
    """An event as the JSON of the program has it."""
    table = {"t": event["t"], "type": event["kind"], "t_before": event["t_before"], "t_after": event["t_after"]}
    if event["law"]:
        table.update(law=event["law"], **{"from": event["from_"]}, to=event["to"])
    table.update({name: event[name] for name in ("x_before", "x_after") if event[name]})
    table.update({name: event[name] for name in ("size", "note") if event[name]})
    return table
