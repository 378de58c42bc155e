"""Many runs over values of parameters and starts, or random ones: what `perp sweep` does, as arrays."""

import json
import math
from functools import cached_property

from . import _perp
from .analyses import threads_of
from .calls import by_name, question, text, whole
from .errors import InvalidInput, path_of
from .model import RUN, model_of
from .names import unknown
from .running import _shows_progress, after_text, measures_of, resolved, say_midpoints, settings_of
from .values import numbers_of


class Section:
    """States that a section kept, or that are kept of whole runs, a row for each: `run` (an index), `k` (from 1 within its run), `t`, variables by name."""

    def __init__(self, names, arrays, modes=None):
        self.names = names
        self.run, self.k, self.t, self.x = arrays
        self._modes = modes

    @cached_property
    def modes(self):
        """Of a section: (text, does it slide) of the mode in which each of its states was reached."""
        return None if self._modes is None else self._modes()

    def __getitem__(self, name):
        if name not in self.names:
            raise unknown("variable", name, self.names)
        return self.x[:, self.names.index(name)]

    def __len__(self):
        return len(self.t)

    def __repr__(self):
        return f"Section of ({', '.join(self.names)}): {len(self)} states"


class Sweep:
    """The runs of a sweep, one after the other as in the program's table.

    names: of what is varied; axes: values of each name of `over`; s["eta"]: a measure in the `shape` of the sweep (axes, then
    draws, then directions), NaN where a run was not made or has no value, `notes` says why; s["D"]: of each run what is varied.
    status, message, t_end: of each run; section, trajectories: states that were kept; complete: were all runs made?
    """

    def __init__(self, model, answer, axes, side_by_side):
        self.model, self._answer = model, answer
        self.names, self.measures, self.variables = answer.names, answer.measures, answer.variables
        self.axes, self.side_by_side = axes, side_by_side
        self.shape = tuple(answer.shape)
        self.complete = answer.is_complete
        self.status, self.message, self.t_end = answer.status, answer.message, answer.t_end

    @property
    def success(self):
        """Was every run made, and solved?"""
        return self.complete and all(word == "solved" for word in self.status)

    @cached_property
    def is_down(self):
        """Of each run: does it follow the axis downwards?"""
        import numpy as np

        return np.array(self._answer.is_down, dtype=bool)

    @cached_property
    def notes(self):
        """Of each measure: {index of a run: why it has no value}."""
        return {name: dict(self._answer.notes(k)) for k, name in enumerate(self.measures)}

    @cached_property
    def section(self):
        """The states that the section kept; None where there was none."""
        return Section(self.variables, self._answer.section(), self._answer.section_modes) if self._answer.has_section else None

    @cached_property
    def trajectories(self):
        """The states of each run; None without keep=True."""
        return Section(self.variables, self._answer.kept()) if self._answer.has_kept else None

    def fan(self, name):
        """Quantiles of a variable over the runs at the times of `trajectories`: columns t, 5 %, 25 %, 50 %, 75 %, 95 %, number of runs."""
        if not self._answer.has_kept:
            raise InvalidInput("no states were kept; expected a sweep with keep=True and times=[...]")
        if name not in self.variables:
            raise unknown("variable", name, self.variables)
        return self._answer.fan(self.variables.index(name))

    @cached_property
    def _places(self):
        """Where each run stands in arrays of the shape."""
        import numpy as np

        places = np.array(self._answer.point, dtype=int)
        return 2 * places + self.is_down if self._answer.has_directions else places

    def rows(self, name):
        """A column of the table: of each run what is varied, or a measure."""
        if name in self.measures:
            return self._answer.measure(self.measures.index(name))
        if name in self.names:
            return self._answer.value(self.names.index(name))
        raise unknown("column", name, [*self.measures, *self.names])

    def __getitem__(self, name):
        import numpy as np

        values = self.rows(name)
        if name in self.names:
            return values
        whole = np.full(self.shape, np.nan)
        whole.ravel()[self._places] = values
        return whole

    def __contains__(self, name):
        return name in self.measures or name in self.names

    def __len__(self):
        return len(self.status)

    @property
    def dimensions(self):
        """Names of the axes of arrays in the shape of the sweep."""
        names = ["point"] if self.side_by_side else list(self.axes)
        drawn = ["draw"] if len(self.names) > len(self.axes) else []
        return [*names, *drawn, *(["direction"] if self._answer.has_directions else [])]

    @property
    def provenance(self):
        return json.loads(self._answer.provenance())

    def to_pandas(self):
        """A pandas.DataFrame with a row for each run, as the program's table."""
        import pandas as pd

        columns = {name: self.rows(name) for name in self.names}
        if self._answer.has_directions:
            columns["direction"] = ["down" if down else "up" for down in self.is_down]
        columns.update(status=self.status, t_end=self.t_end, **{name: self.rows(name) for name in self.measures})
        return pd.DataFrame(columns, index=pd.RangeIndex(1, len(self) + 1, name="run"))

    def to_xarray(self):
        """An xarray.Dataset: the measures over the axes; the section over `state`, with the run, k and t of each."""
        import xarray as xr

        coordinates = {name: values for name, values in self.axes.items() if name in self.dimensions}
        if self.side_by_side:
            coordinates.update({name: ("point", values) for name, values in self.axes.items()})
        columns = {name: (self.dimensions, self[name]) for name in self.measures}
        if self.section is not None:
            self._add_section(columns, coordinates)
        return xr.Dataset(columns, coords=coordinates, attrs={"provenance": json.dumps(self.provenance)})

    def _add_section(self, columns, coordinates):
        """States by the names of their variables; a name that the sweep has taken ends in _section here."""
        kept = self.section
        taken = {*columns, *coordinates, *self.dimensions, "state"}
        for names, values, target in ((("run", "k", "t"), (kept.run, kept.k, kept.t), coordinates),
                                      (kept.names, kept.x.T, columns)):
            for name, row in zip(names, values):
                while name in taken:
                    name += "_section"
                taken.add(name)
                target[name] = ("state", row)

    def save(self, file):
        """Writes FILE.csv, FILE.csv.json, FILE.section.csv and FILE.trajectories.csv, as `perp sweep -o`."""
        file = path_of(file)
        if not file.endswith(".csv"):
            raise InvalidInput(f"{file}: unknown kind of file; expected a name that ends in .csv; to_xarray() writes others")
        self._answer.write(file)

    def plot(self, kind=None, variable=None, ax=None, *, colour=None):
        """curve, heat, histogram, fan or bifurcation; None: what fits. variable: of a fan or a bifurcation diagram. colour="mode":
        the points of a bifurcation diagram by their modes. Matplotlib axes."""
        from .plotting_studies import plot_sweep

        return plot_sweep(self, kind, variable, ax, colour)

    def text(self):
        """What `perp sweep` prints."""
        return self._answer.text()

    def __repr__(self):
        return self.text().rstrip()


def _bar(question, axes, progress):
    """How many runs are made, on standard error."""
    if progress is False or (progress is None and not _shows_progress()):
        return None
    from .progress import Bar

    lengths = [len(values) for values in axes.values()]
    points = lengths[0] if question.side_by_side else math.prod(lengths)
    bar = Bar(0, points * question.runs * (2 if question.follow == "both" else 1), "run")
    question.progress = lambda done, failed: bar(done, f", {failed} ended early" if failed else "")
    return bar


def _values(name, values):
    if isinstance(values, str):
        return _perp.spaced_values(values, f"over {name}")
    if len(getattr(values, "shape", (0,))) != 1:
        raise InvalidInput(f"over {name}: found an array of shape {values.shape}; expected one axis of values")
    numbers = numbers_of(values, f"over {name}")
    if not numbers:
        raise InvalidInput(f"over {name}: there are no values; expected some, as of numpy.linspace")
    return numbers


def _set_kept(question, keep, times, skip, fail):
    """States of the runs, and how runs that end early count."""
    if times is not None and not keep:
        raise InvalidInput("times are those of keep=True, which is not given")
    if skip is not None and not question.section:
        raise InvalidInput("skip is the number of points that the section of each run leaves out; expected section='every:T'")
    question.keeps = bool(keep)
    question.times = [] if times is None else numbers_of(times, "times")
    if any(not question.times[k] < question.times[k + 1] for k in range(len(question.times) - 1)):
        raise InvalidInput("times must increase")
    question.skip = whole(0 if skip is None else skip, "skip", 0)
    question.fail = fail or ""


def _check(over, random, measure, section, zip, draws, keep):
    if not over and not random:
        raise InvalidInput("nothing is varied; expected over={name: values} or random={name: 'normal(m, s)'}")
    if not measure and not section and not keep:
        raise InvalidInput("nothing is measured; expected measure={name: formula}, section='every:T' or keep=True")
    if random and not over and draws[0] is None:
        raise InvalidInput("random draws a value for each run, and runs is missing; expected runs=N")
    if zip and len(over) < 2:
        raise InvalidInput("zip puts values of several names side by side; expected two names in over")
    if not random and any(value is not None for value in draws):
        raise InvalidInput("runs, seed and sampling are of random, which is not given")


@question
def sweep(model, over=None, measure=None, *, random=None, runs=None, seed=None, sampling=None, zip=False, section=None,  # noqa: A002
          after=None, skip=None, keep=False, times=None, follow=None, fail=None, t=None, h=None, threads=None, store=None, progress=None,
          **options):
    """Runs a model over values of parameters, of starts or of "run.h", or random ones, and measures each run, as `perp sweep`.

    over: {"D": numpy.linspace(0.1, 0.9, 33), ...}, or "0.1:0.9:33" and "1:100:9:log" as on the command line: all combinations,
    the last varies fastest; zip=True: side by side. random: {"Fs": "normal(0.35, 0.02)"}, drawn `runs` times with `seed`;
    sampling: random, lhs or sobol. measure: {"eta": "mean(pout)/mean(pin)"}, as in `solve`; section: "every:T", an event, or
    "x=0:up"; both from the time `after` on, the section without its first `skip` points. keep: the states of each run too, at `times` or of every
    step (`trajectories`). fail: keep, or stop at the first run that ends early. follow: up, down, both: each run starts at the end of the one before. store: a folder
    that keeps what is made, so that the same call goes on after an interruption. Other keywords: as in `solve`.

    >>> import perp
    >>> s = perp.sweep("chatter", {"run.h": [0.1, 0.01]}, {"x1": "end(x)"})
    >>> s.shape, s.success, [round(value, 6) for value in s["x1"].tolist()]
    ((2,), True, [0.911765, 0.911765])
    """
    over, random = by_name(over, "over", "{'D': [0.1, 0.2]}"), by_name(random, "random", "{'Fs': 'normal(0.35, 0.02)'}")
    for name, words in random.items():
        text(words, f"random {name}", "a distribution, as in 'normal(0.35, 0.02)'")
    for value, name, words in ((sampling, "sampling", "random, lhs or sobol"), (section, "section", "'every:T', an event or 'x=0:up'"),
                               (follow, "follow", "up, down or both"), (fail, "fail", "keep or stop")):
        text(value, name, words)
    _check(over, random, measure, section, zip, (runs, seed, sampling), keep)
    model = model_of(model)
    question = _perp.SweepQuestion()
    axes = {name: _values(name, values) for name, values in over.items()}
    question.over = list(axes.items())
    question.random = list(random.items())
    question.runs = whole(1 if runs is None else runs, "runs", 1)
    question.seed = whole(1 if seed is None else seed, "seed", 0)
    question.sampling, question.side_by_side, question.follow = sampling or "", bool(zip), follow or ""
    question.measures, question.section = measures_of(measure), section or ""
    question.after = after_text(after, measure or section)
    question.extends_span = t is None
    _set_kept(question, keep, times, skip, fail)
    question.threads = threads_of(threads)
    question.store = "" if store is None else path_of(store, "store")
    run = {key: options.pop(key) for key in ("scheme", "tol", "selector", "policy", "theta", "solver", "cross_check",
                                             "split_at_events") if key in options}
    more = resolved(model, settings_of(t, {"h": h, **run}, options))
    say_midpoints(model._read)
    bar = _bar(question, axes, progress)
    try:
        overrides = model.overrides(RUN, more)
        answer = _perp.sweep(model._source, overrides, question, [words for _, _, words in overrides])
    finally:
        if bar is not None:
            bar.clear()
    import numpy as np

    return Sweep(model, answer, {name: np.array(values) for name, values in axes.items()}, bool(zip))


__all__ = ["Section", "Sweep", "sweep"]
