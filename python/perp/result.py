"""What a run leaves: rows, modes, events, status."""

import json
from collections import namedtuple
from collections.abc import KeysView, Mapping
from functools import cached_property

from . import _perp
from .curves import data_of, resets_of
from .errors import InvalidInput
from .names import unknown

Event = namedtuple("Event", "kind t law from_ to x_before x_after size note continuations is_weak t_before t_after "
                   "dt condition pieces")
Event.__doc__ = """Something that happened at time t; capturing schemes know it between t_before and t_after.

size: ||E (x_after - x_before)|| of a jump. continuations: how many continuous solutions start after it (0: not counted);
is_weak: is the one taken weak? dt: derivatives of t, where sensitivities were computed.
"""
ModeSpan = namedtuple("ModeSpan", "start end branches text sliding")
ModeSpan.__doc__ = "A stretch of a run in one mode; branches: of each law; sliding: None where a file does not tell."

_SUMMARY_LINES = 12
_SCIPY = ("t", "y", "t_events", "y_events", "sol", "status", "message", "success")


class _Keys(KeysView):
    def __repr__(self):
        return f"{KeysView.__name__}({list(self)})"


class _Table(Mapping):
    """A mapping of columns: it is equal to itself alone, since arrays are not compared."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def keys(self):
        return _Keys(self)


class Columns(_Table):
    """Read-only columns by name; `array` has them all, a row for each time."""

    def __init__(self, names, array, others=None):
        self.array = array
        self._index = {name: k for k, name in enumerate(names)}
        self._others = others or {}

    def __getitem__(self, name):
        k = self._index.get(name, self._others.get(name))
        if k is None:
            known = list(self._index) + list(self._others)
            raise unknown("column", name, known)
        return self.array[:, k]

    def __contains__(self, name):
        return name in self._index or name in self._others

    def __iter__(self):
        return iter(self._index)

    def __len__(self):
        return len(self._index)

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)

    def __repr__(self):
        return f"Columns({', '.join(self._index)}; {self.array.shape[0]} rows)"


def columns_by_law(names, array, laws):
    """Columns that also have the names of the laws, where these are no columns."""
    others = {law: k for k, law in enumerate(laws) if laws.count(law) == 1}
    return Columns(names, array, {law: k for law, k in others.items() if law not in names})


class Rows(_Table):
    """Rows of a run by name: a mapping of its columns, and SciPy's names as attributes. What `Result` and `SavedResult` have.

    t (N), y (n, N), lam, w, outputs (columns by name), mode (N, m branches), events, modes, status, message, counts,
    provenance, measures, measure_notes.
    """

    # Set by the classes below: t, x, names, units, lam, w, outputs, mode, mode_text, events, modes, status, message, ...

    @property
    def y(self):
        """The variables, as SciPy has them: one row for each variable."""
        return self.x.T

    @property
    def success(self):
        """Is the run solved, up to the event of `until` where there is one?"""
        return self.status == "solved" and self.happened is not False

    @cached_property
    def _columns(self):
        # A law's name means its multiplier.
        tables = (Columns(self.names, self.x), self.lam, self.outputs, Columns(list(self.w), self.w.array))
        return {name: table for table in reversed(tables) for name in list(table) + list(table._others)}

    def __getitem__(self, name):
        if name in self._columns:
            return self._columns[name][name]
        if name in _SCIPY or name == "mode":
            return getattr(self, name)
        return self._unknown(name)

    def column(self, name):
        """A column by its name, or t; nothing else."""
        return self.t if name == "t" else self[name] if name in self._columns else self._unknown(name)

    def _unknown(self, name):
        raise unknown("column", name, self._columns)

    def __iter__(self):
        yield "t"
        yield from dict.fromkeys([*self.names, *self.lam, *self.outputs, *self.w])

    def __len__(self):
        return len(list(iter(self)))

    def __bool__(self):
        return True

    @cached_property
    def _events_by_key(self):
        """The events of each law; of a reset its name, of data that jump that of the input, of what is none of these its kind."""
        events = {}
        for event in self.events:
            for key in [event.law] if event.law else resets_of(self, event) or data_of(event) or [event.kind]:
                events.setdefault(key, []).append(event)
        return events

    @cached_property
    def t_events(self):
        """The times of the events by laws, names of resets and of inputs whose data jump, and kinds ("inconsistent_start") where they are of none."""
        import numpy as np

        return {key: np.array([event.t for event in events]) for key, events in self._events_by_key.items()}

    @cached_property
    def y_events(self):
        """The states just before them."""
        import numpy as np

        def state(event):
            return event.x_before if len(event.x_before) else np.full(len(self.names), np.nan)

        return {key: np.array([state(event) for event in events]) for key, events in self._events_by_key.items()}

    # What others make of it ----------------------------------------------------------------------------------

    def to_pandas(self):
        """A pandas.DataFrame over t, with the mode as text; units in .attrs."""
        from .tables import to_pandas

        return to_pandas(self)

    def to_xarray(self):
        """An xarray.Dataset over t; units and provenance in .attrs."""
        from .tables import to_xarray

        return to_xarray(self)

    def save(self, file):
        """Writes FILE.npz, FILE.h5 (by h5py) or FILE.csv, both as `perp run -o`. `perp.read` reads the first two."""
        from .tables import save

        save(self, file)

    def plot(self, names=None, ax=None, *, modes=True, events=True):
        """Columns over time, in panels as the program's: those of different units, kinds or sizes below each other; modes
        shaded, events as lines, jumps dotted. None: the variables, and the multipliers of few laws.

        Returns matplotlib axes, of several panels an array of them; with `ax` all is drawn there.
        """
        from .plotting import plot

        return plot(self, names, ax, modes, events)

    def plot_phase(self, x, y, ax=None, *, events=True):
        """One column over another: modes in colours, arrowheads in the direction of time, jumps dotted. Matplotlib axes."""
        from .plotting import plot_phase

        return plot_phase(self, x, y, ax, events)

    def plot_modes(self, ax=None):
        """The branch of each law over time."""
        from .plotting import plot_modes

        return plot_modes(self, ax)

    def __reduce__(self):
        """A copy, here or in another process, is what `save` keeps of it: a `SavedResult`."""
        from .tables import packed, unpacked

        return unpacked, packed(self)

    def _repr_html_(self):
        from .plotting import html

        return html(self)

    def __repr__(self):
        lines = self.summary().splitlines()
        inner = [k for k, line in enumerate(lines) if line.startswith(" ")]
        room = max(0, _SUMMARY_LINES - (len(lines) - len(inner)) - 1)
        dropped = set(inner[room:]) if len(lines) > _SUMMARY_LINES else set()
        shown = [line for k, line in enumerate(lines) if k not in dropped]
        if dropped:
            shown.insert(len(shown), f"            {len(dropped)} more lines: print(result.summary())")
        return "\n".join(shown[:_SUMMARY_LINES])


class Result(Rows):
    """The result of `perp.solve`."""

    def __init__(self, run, model, settings=()):
        self._run = run
        self.model = model
        self._settings = list(settings)

    t = cached_property(lambda self: self._run.t)
    x = cached_property(lambda self: self._run.x)
    mode = cached_property(lambda self: self._wide(self._run.mode))
    status = cached_property(lambda self: self._run.status)
    message = cached_property(lambda self: self._run.message)
    counts = cached_property(lambda self: self._run.counts)
    happened = property(lambda self: self._run.happened, doc="Did the event of `until` come? None: the run was to go to its end.")
    _names = cached_property(lambda self: self._run.model.columns)

    @property
    def names(self):
        return self._names["x"]

    @property
    def units(self):
        return self._names["units"]

    def _wide(self, array):
        """An array with no columns has as many rows as the others."""
        return array if array.shape[1] else array.reshape(len(self.t), 0)

    def _by_law(self, array, names):
        return columns_by_law(names, self._wide(array), [law["name"] for law in self._run.model.laws])

    @cached_property
    def lam(self):
        """The multipliers, by their names and those of their laws."""
        return self._by_law(self._run.lam, self._names["lam"])

    @cached_property
    def w(self):
        """The arguments of the laws."""
        return self._by_law(self._run.w, self._names["w"])

    @cached_property
    def outputs(self):
        return Columns(self._names["outputs"], self._wide(self._run.outputs))

    @cached_property
    def rates(self):
        """The derivatives, by the names of their variables: what the equations have at each row; NaN where they have none."""
        array, names = self._run.rates(), self._names["x"]
        places = {name: k for k, name in enumerate(names) if k in self._names["differential"]}
        array = array[:, list(places.values())]
        array.flags.writeable = False
        return Columns(list(places), array)

    def _unknown(self, name):
        variable = name[4:-1] if isinstance(name, str) and name.startswith("der(") and name.endswith(")") else None
        return self.rates[variable] if variable in self.rates else super()._unknown(name)

    @cached_property
    def measures(self):
        """What was measured, by name; NaN where the run has no such number: `measure_notes` says why."""
        return {name: float("nan") if value is None else value for name, value, _ in self._run.measures}

    @property
    def measure_notes(self):
        """Why a measure has no value, by its name."""
        return {name: reason for name, value, reason in self._run.measures if value is None}

    @cached_property
    def events(self):
        return [Event(**event) for event in self._run.events]

    @cached_property
    def modes(self):
        laws = [law["name"] for law in self._run.model.laws]
        return [ModeSpan(start, end, dict(zip(laws, branches)), text, sliding)
                for start, end, branches, text, sliding in self._run.modes]

    @cached_property
    def mode_text(self):
        """The mode of each row in words, as in the files of the program."""
        return self._run.mode_texts

    @cached_property
    def provenance(self):
        """What made it: program, version, model with its hash, options, counts, events."""
        return json.loads(self._run.provenance([words for _, _, words in self._settings]))

    @cached_property
    def dy(self):
        """Derivatives (n, N, q) by `quantities`, where sensitivities were computed."""
        q = len(self._run.quantities)
        if not q:
            raise InvalidInput("there are no derivatives here; perp.sensitivities computes them")
        return self._run.dx.reshape(len(self.t), len(self.names), q).transpose(1, 0, 2)

    @property
    def quantities(self):
        """What `dy` has derivatives by."""
        return self._run.quantities

    @cached_property
    def _found_branches(self):
        if self._run.model.run.get("policy") != "all":
            raise InvalidInput("the solutions are followed with policy='all', of scheme located")
        return _perp.run_branches(self._run.model)

    @property
    def branches_complete(self):
        """Are these all solutions?"""
        return self._found_branches[1]

    @cached_property
    def branches(self):
        """Every solution of a run with policy="all", a `Result` each, the one of the policy first."""
        branches = []
        for run, choices in self._found_branches[0]:
            branch = Result(run, self.model, self._settings)
            branch.choices = [dict(zip(("t", "mode", "of", "taken"), choice)) for choice in choices]
            branches.append(branch)
        return branches

    @cached_property
    def sol(self):
        """The solution between the rows: sol(t), sol(t, side="+"), an array (n,) or (n, len(t))."""
        from .dense import Dense

        return Dense(self)

    def tree(self):
        """The tree of discrete solutions of the run, as text; empty where no step has several."""
        try:
            return _perp.run_tree(self._run.model)
        except InvalidInput as error:
            raise InvalidInput(f"{error}; of scheme located .branches has the solutions, with policy='all'") from None

    def summary(self):
        """What `perp run` prints."""
        return self._run.summary()
