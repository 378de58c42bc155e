"""Questions that take many runs, and proofs: maps, orders of convergence, enclosures."""

import html as markup
from collections import namedtuple

from . import _perp
from .analyses import _STUDY, _known, threads_of
from .calls import by_name, flag, question, text, texts, whole
from .errors import InvalidInput
from .model import model_of, setting_text
from .names import unknown
from .running import resolved, settings_of
from .values import number_of, numbers_of


class Map:
    """A quantity over a grid: `columns` arrays of the grid's shape, `region` (an index into `regions`), `axes`."""

    def __init__(self, model, axes, answer, what):
        self.model, self.axes = model, axes
        self.what, self.meaning = what, answer["meaning"]
        self.shape = tuple(len(values) for values in axes.values())
        table = answer["numbers"]
        self.columns = {name: table[:, k].reshape(self.shape) for k, name in enumerate(answer["columns"])}
        self.region = answer["region"].reshape(self.shape)
        self.regions = answer["regions"]
        self.not_proved = answer["not_proved"]

    def __getitem__(self, name):
        if name in self.columns:
            return self.columns[name]
        if name in self.axes:
            return self.axes[name]
        raise unknown("column", name, [*self.columns, *self.axes])

    @property
    def complete(self):
        """Is the answer proved at every point?"""
        return self.not_proved == 0

    def counts(self):
        """The number of points of each region."""
        import numpy as np

        return {name: int(np.count_nonzero(self.region == k)) for k, name in enumerate(self.regions)}

    def to_xarray(self):
        import xarray as xr

        columns = {name: (tuple(self.axes), values) for name, values in self.columns.items()}
        columns["region"] = (tuple(self.axes), self.region, {"regions": self.regions})
        return xr.Dataset(columns, coords=self.axes, attrs={"what": self.what, "meaning": self.meaning})

    def plot(self, ax=None):
        """The regions over two axes, or over one. Matplotlib axes."""
        from .plotting_studies import plot_map

        return plot_map(self, ax)

    def to_pandas(self):
        """A pandas.DataFrame with a row for each point, as the program's table."""
        import numpy as np
        import pandas as pd

        grid = np.meshgrid(*self.axes.values(), indexing="ij")
        columns = {name: values.ravel() for name, values in zip([*self.axes, *self.columns], [*grid, *self.columns.values()])}
        return pd.DataFrame({**columns, "region": [self.regions[k] for k in self.region.ravel()]})

    def text(self):
        """What `perp map` prints below its table."""
        lines = [f"model    {self.model.name} ({self.model.file})", f"map      {self.what}: {self.meaning}"]
        lines += [f"over     {name} from {_short(v[0])} to {_short(v[-1])}, {len(v)} values" for name, v in self.axes.items()]
        cells = [("points", "region"), *((str(count), name) for name, count in self.counts().items())]
        width = max(len(count) for count, _ in cells)
        return "\n".join(lines + [f"{count:<{width}}  {name}" for count, name in cells]) + "\n"

    def __repr__(self):
        return self.text().rstrip()

    def _repr_html_(self):
        return f"<pre>{markup.escape(self.text())}</pre>"


def _short(value):
    """A number with the fewest digits that tell it."""
    return repr(float(value)).removesuffix(".0")


def _axis(name, values):
    """(name, first, last, count) of evenly spaced values."""
    import numpy as np

    if isinstance(values, tuple) and len(values) == 3 and isinstance(values[2], int):
        values = np.linspace(*values)
    try:
        values = np.asarray(values, dtype=float).ravel()
    except (TypeError, ValueError):
        raise InvalidInput(f"over {name}: found {values!r}; expected two or more different finite values, as of numpy.linspace") from None
    if len(values) < 2 or not np.all(np.isfinite(values)) or values[0] == values[-1]:
        raise InvalidInput(f"over {name}: expected two or more different finite values, as of numpy.linspace")
    even = np.linspace(values[0], values[-1], len(values))
    if not np.allclose(values, even, rtol=1e-12, atol=1e-12 * np.max(np.abs(values))):
        raise InvalidInput(f"over {name}: the values are not evenly spaced; expected those of numpy.linspace")
    count = len(values)
    # As the program computes them: exactly antisymmetric over [-a, a].
    exact = [(values[0] * (count - 1 - k) + values[-1] * k) / (count - 1) + 0.0 for k in range(count)]
    return (name, float(values[0]), float(values[-1]), count), np.array(exact)


@question
def map(model, over, what="solutions", at=None, *, t=None, h=None, threads=None, **options):  # noqa: A001
    """Solutions, continuations, jumps or outcomes over parameters, starts of variables or "run.h", as `perp map`.

    over: {"B1": numpy.linspace(-2, 2, 41), ...}, the last varies fastest. what: see `perp.map_quantities()`. at: the
    state, or a list of states: a region is then the answers at all of them.
    """
    model = model_of(model)
    if not by_name(over, "over", "{'B1': numpy.linspace(-2, 2, 41)}"):
        raise InvalidInput("over is empty; expected {name: values}")
    text(what, "what", f"one of {', '.join(name for name, *_ in _perp.map_quantities())}")
    axes = {name: _axis(name, values) for name, values in over.items()}
    if at is not None and not hasattr(at, "__iter__"):
        raise InvalidInput(f"at: found {at!r}; expected values by name, or a list of them")
    states = [at] if at is None or hasattr(at, "items") else list(at)
    for state in states:
        _known(model, state)
        for name in state or {}:
            if name in axes:
                raise InvalidInput(f"at: {name} is varied; expected it in over or in at")
    run = {key: options.pop(key) for key in _STUDY if key in options}
    more = resolved(model, settings_of(t, {"h": h, **run}, options))
    overrides = model.overrides(None, more, _quantity_keys(what))
    texts = [[(name, setting_text(value, name)) for name, value in (state or {}).items()] for state in states]
    answer = _perp.map(model._source, overrides, what, [axis for axis, _ in axes.values()], texts, threads_of(threads))
    return Map(model, {name: values for name, (_, values) in axes.items()}, answer, what)


def _quantity_keys(what):
    """The keys of [run] on which a quantity depends; none: those of the scheme."""
    return next((keys for name, _, _, keys in _perp.map_quantities() if name == what), ())


Convergence = namedtuple("Convergence", "label reference rows fits")
Convergence.__doc__ = "The runs of one variant, a dict each, and the fitted line of each kind of error."


class Study:
    """Errors and orders: `variants`, each with rows (h, steps, error_end, order_end, ...) and fits."""

    def __init__(self, variants, text, solved):
        self.variants = [Convergence(**variant) for variant in variants]
        self.solved = solved
        self._text = text

    @property
    def order(self):
        """The fitted order of each kind of error, of the first variant; nan: none is claimed."""
        return {kind: fit["order"] for kind, fit in self.variants[0].fits.items()}

    def text(self):
        """What `perp converge` prints."""
        return self._text

    def to_pandas(self):
        import pandas as pd

        return pd.DataFrame([{"variant": v.label, **row} for v in self.variants for row in v.rows])

    def plot(self, ax=None):
        """Errors over h. Matplotlib axes."""
        from .plotting_studies import plot_study

        return plot_study(self, ax)

    def __repr__(self):
        return self._text.rstrip()

    def _repr_html_(self):
        return f"<pre>{markup.escape(self._text)}</pre>"


@question
def converge(models, h, *, reference=None, error="end", t=None, whole_steps=False, threads=None, schemes=None,
             selectors=None, **options):
    """Measures the order of convergence over step lengths, as `perp converge`.

    models: one, or forms of one system side by side. h: step lengths. error: end, trajectory, events, or a list of these.
    reference: exact, finest, located; None: exact if the model has it and no event times are measured, else finest.
    """
    models = list(models) if isinstance(models, (list, tuple)) else [models]
    if not models:
        raise InvalidInput("models is empty; expected a model, or several forms of one system")
    steps = numbers_of([h] if isinstance(h, (int, float)) else h, "h")
    if not steps or not all(value > 0 for value in steps) or len(set(steps)) < len(steps):
        raise InvalidInput("h: expected different positive step lengths")
    errors = texts(error, "error", "end, trajectory or events")
    schemes, selectors = (texts(value, word, "names of them") for value, word in ((schemes, "schemes"), (selectors, "selectors")))
    text(reference, "reference", "exact, finest or located")
    reading = _perp.ReadingOptions(list(_STUDY))
    run = {key: options.pop(key) for key in _STUDY if key in options}
    variants = []
    for item in models:
        model = model_of(item)
        for scheme in schemes or [None]:
            for selector in selectors or [None]:
                given = dict(run, **({"scheme": scheme} if scheme else {}), **({"selector": selector} if selector else {}))
                overrides = model.overrides(reading, resolved(model, settings_of(t, given, options)), (*_STUDY, "t"))
                words = [str(item) if isinstance(item, str) else model.name] if len(models) > 1 else []
                label = ", ".join([*words, *filter(None, (scheme, selector))]) or model.name
                variants.append((label, model._source, overrides))
    return Study(*_perp.converge(variants, reading, steps, errors, reference or "", flag(whole_steps, "whole_steps"), threads_of(threads)))


class _Rows:
    """Bounds at times: t (N), lo and hi (N, n) by `names`, flag, how, modes of each row."""

    def __init__(self, members, rows):
        t, branch, flag, how, modes, x, lam, outputs = rows
        import numpy as np

        self.names = members["variables"]
        self.t, self.branch, self.flag, self.how, self.modes = np.array(t), np.array(branch), flag, how, modes
        self.lo, self.hi = x
        self.lam, self.outputs = lam, dict(zip(members["outputs"], zip(outputs[0].T, outputs[1].T)))

    def __getitem__(self, name):
        """The bounds (lo, hi) of a variable or output."""
        if name in self.outputs:
            return self.outputs[name]
        if name not in self.names:
            raise unknown("variable", name, [*self.names, *self.outputs])
        j = self.names.index(name)
        return self.lo[:, j], self.hi[:, j]


class Piece(_Rows):
    """The rows of a part of the set of starts and parameters: `set`, its intervals (lo, hi) by name."""

    def __init__(self, members, sides, rows):
        super().__init__(members, rows)
        self.set = sides

    def __repr__(self):
        sides = ", ".join(f"{name} in [{lo:.8g}, {hi:.8g}]" for name, (lo, hi) in self.set.items())
        return f"Piece of {sides}: {len(self.t)} rows"


class Enclosure(_Rows):
    """Bounds that are a proof: t (N), lo and hi (N, n) by `names`, flag, how, modes of each row; events, tube, lost,
    and the rows of each piece in `paving`, where it was asked for."""

    def __init__(self, members):
        super().__init__(members, members["rows"])
        self.paving = [Piece(members, sides, rows) for sides, rows in members["paving"]]
        self.events, self.lost = members["events"], members["lost"]
        self.tube = dict(zip(("start", "end", "branch", "flag", "bounds"), members["tube"]))
        self.steps, self.pieces = members["steps"], members["pieces"]

    @property
    def success(self):
        """Is everything up to the end of the span proved?"""
        return self.lost is None

    def to_pandas(self):
        """A pandas.DataFrame of the bounds, x_lo and x_hi of each variable and output, with flag, how and modes of each row."""
        import pandas as pd

        columns = {"t": self.t, "branch": self.branch, "flag": self.flag, "how": self.how}
        for name in [*self.names, *self.outputs]:
            columns[f"{name}_lo"], columns[f"{name}_hi"] = self[name]
        return pd.DataFrame({**columns, "mode": [" or ".join(modes) for modes in self.modes]})

    def plot(self, names=None, ax=None):
        """Bands over time, on matplotlib axes as of `Rows.plot`."""
        from .plotting_studies import plot_bands

        return plot_bands(self, names, ax)

    def _repr_html_(self):
        """What `repr` says and, of several rows, where matplotlib is installed, bands of the first variables."""
        from .plotting_studies import html_of_bands

        return f"<pre>{markup.escape(repr(self))}</pre>" + html_of_bands(self)

    def __repr__(self):
        end = "proved to the end" if self.success else f"lost in {self.lost['t']}: {self.lost['reason']}"
        return f"Enclosure of ({', '.join(self.names)}): {len(self.t)} rows, {len(self.events)} events, {end}"


_OF_ENCLOSURES = ("h", "scheme", "t")


@question
def enclose(model, t=None, h=None, *, times=None, order=None, tol=None, pieces=None, paving=False, tube=False, threads=None,
            checkpoint=None, checkpoint_every=None, **parameters):
    """Encloses all solutions of all starts and parameters, which may be intervals, as `perp enclose`.

    checkpoint: a file in which what is proved of each piece is kept every 10 s, or every `checkpoint_every` seconds;
    `perp.resume(file)` goes on from there.

    >>> import perp
    >>> e = perp.enclose("chatter", times=[1.0])
    >>> bool(e.lo[0, 0] <= 31/34 <= e.hi[0, 0]), e.success
    (True, True)
    """
    model = model_of(model)
    more = resolved(model, settings_of(t, {"h": h}, parameters))
    orders, all_pieces = _perp.enclose_defaults
    pieces, order = (None if value is None else whole(value, name) for value, name in ((pieces, "pieces"), (order, "order")))
    if paving and pieces == 1:
        raise InvalidInput("paving=True asks for the rows of several pieces, pieces=1 for one; expected one of them")
    if tol is not None and not number_of(tol, "tol") > 0:
        raise InvalidInput(f"tol is {tol}; expected a number > 0")
    arguments = {"times": None if times is None else numbers_of(times, "times"), "order": orders if order is None else order, "tol": tol,
                 "pieces": all_pieces if pieces is None else pieces, "paving": flag(paving, "paving"), "tube": flag(tube, "tube"),
                 "threads": threads_of(threads)}
    keeper = None
    if checkpoint is not None or checkpoint_every is not None:
        from .checkpoints import keeper_in

        keeper = keeper_in(checkpoint, checkpoint_every, model, more, read_exactly(model, more).hash, {"enclosure": arguments})
    return enclose_kept(model, more, keeper, b"", arguments)


def read_exactly(model, more):
    """The model as enclosures read it."""
    return model._source.read(_perp.ReadingOptions(list(_OF_ENCLOSURES), False, True), model.overrides(None, more, _OF_ENCLOSURES))


def enclose_kept(model, more, keeper, state, arguments):
    """The enclosure, kept by a `Checkpoint` where there is one, from a state that one kept; b"": from the start."""
    overrides = model.overrides(None, more, _OF_ENCLOSURES)
    keep, pause = (None, 0.0) if keeper is None else (keeper.keep, keeper.pause)
    return Enclosure(_perp.enclose(model._source, overrides, **arguments, keep=keep, pause=pause, state=state))
