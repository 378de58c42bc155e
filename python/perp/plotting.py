"""Pictures of runs on matplotlib axes, in the style of the program's."""

import base64
import html as markup
import io
import itertools

from . import drawing
from .calls import flag
from .curves import curves, differential_names
from .errors import InvalidInput

_MOST_DRAWN = 40
_MOST_MULTIPLIERS = 4  # drawn unasked
_MOST_BANDS = 300
_MOST_EDGES = 60  # beyond, the colours alone show where modes change
_MOST_NAMED = 12
_MOST_PATHS = 10  # in colours of their own
_ARROWS = 5  # on a path
_ARROW = 0.02  # its length, as a share of the picture


def _names_drawn(rows, names):
    if isinstance(names, str):
        return [names]
    if not hasattr(names, "__iter__"):
        raise InvalidInput(f"names: found {names!r}; expected names of columns, as in ['{rows.names[0]}']")
    names = list(names)
    if not names:
        raise InvalidInput("names is empty; expected names of columns, or None for the variables")
    return names


def _usual_names(rows):
    """The variables, and the multipliers of few laws."""
    names, model = list(rows.names[:_MOST_DRAWN]), getattr(rows, "model", None)
    constraints = [law.constraint for law in model.laws] if model is not None else [False] * len(rows.lam)
    multipliers = [name for name, is_constraint in zip(rows.lam, constraints) if not is_constraint and name not in names]
    return names + multipliers if len(multipliers) <= _MOST_MULTIPLIERS else names


def _title(rows):
    return drawing.words(drawing.fitting(rows.provenance["model"]["name"], 90))


# Over time ---------------------------------------------------------------------------------------------------------


def plot(rows, names=None, ax=None, modes=True, events=True):
    flag(modes, "modes"), flag(events, "events")
    if ax is not None:
        drawing.axes_of(ax)
        names = list(rows.names[:_MOST_DRAWN]) if names is None else _names_drawn(rows, names)
        shown = curves(rows, names)
        bands = _shade(rows, drawing.axes_of(ax), modes)
        handles = [_draw(rows, ax, shown, j, name, k, rows.units.get(name)) for k, (j, name) in enumerate(enumerate(names))]
        _finish(rows, [ax], events)
        if len(names) == 1:
            ax.set_ylabel(drawing.with_unit(names[0], rows.units.get(names[0])))
        drawing.legend_beside(ax, handles + bands)
        return ax
    return _plot_panels(rows, names, drawing.panel_axes, modes, events)


def _plot_panels(rows, names, axes_for, modes, events):
    names = _usual_names(rows) if names is None else _names_drawn(rows, names)
    shown = curves(rows, names)  # unknown names before a figure is opened
    panels = drawing.panels_of([_column(rows, name, shown.values[:, j]) for j, name in enumerate(names)])
    axes = axes_for(len(panels))
    places = {name: j for j, name in enumerate(names)}
    for ax, panel in zip(axes, panels):
        bands = _shade(rows, ax, modes)
        handles = [_draw(rows, ax, shown, places[column.name], column.name, k) for k, column in enumerate(panel)]
        drawing.label_panel(ax, panel, len(panels))
        drawing.legend_beside(ax, handles)
    _finish(rows, axes, events)
    axes[0].set_title(_title(rows), fontsize="medium")
    drawing.legend_below(axes[-1], bands, grows=True)
    return drawing.returned(axes)


def _column(rows, name, values):
    import numpy as np

    group = ("states" if name in rows.names or name in rows.outputs or name == "t" else
             "laws" if name in rows.lam or name in rows.w else "derivatives")
    known = values[np.isfinite(values)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    return drawing.Column(name, rows.units.get(name, ""), group, low, high)


def _draw(rows, ax, shown, j, name, k, unit=None):
    """A curve and, dotted, its jumps. What stands for it in a legend."""
    is_algebraic = name in rows.names and name not in differential_names(rows)
    label = drawing.with_unit(name + (" (algebraic)" if is_algebraic else ""), unit)
    line, = ax.plot(shown.t, shown.values[:, j], ls=(0, (9, 5)) if is_algebraic else "-", color=drawing.curve_colour(k), lw=1.3, label=label)
    jumps = [jump for jump in shown.jumps if jump.column == j]
    if jumps:
        ax.vlines([jump.t for jump in jumps], [jump.before for jump in jumps], [jump.after for jump in jumps],
                  color=drawing.curve_colour(k), lw=1.2, ls=":")
    return line


def _mode_colours(rows):
    """Of the whole run, in the order in which its modes are met."""
    return drawing.colours_of((span.text, span.sliding) for span in rows.modes if span.end > span.start)


def _shade(rows, ax, modes):
    """A light band for each stretch in one mode. Their colours and names for a legend."""
    colours = _mode_colours(rows)
    if not modes or len(colours) < 2:
        return []
    if len(rows.modes) > _MOST_BANDS:
        ax.set_title(f"{len(rows.modes)} changes of mode: too many for bands", loc="right", fontsize="x-small", color="#555555")
        return []
    for span in rows.modes:
        if span.end > span.start:
            ax.axvspan(span.start, span.end, color=colours[span.text].light, lw=0, zorder=0)
    return _mode_handles(colours, "light")


def _mode_handles(colours, tone):
    named = [drawing.patch(getattr(colour, tone), text) for text, colour in itertools.islice(colours.items(), _MOST_NAMED)]
    if len(colours) > _MOST_NAMED:
        named[-1].set_label(f"... {len(colours)} modes in all")
    return named


def _finish(rows, axes, events):
    """Times, and lines where something happens: those of jumps dotted, one in red where no solution goes on."""
    shown = rows.events if events and len(rows.events) <= _MOST_EDGES else []
    for ax in axes:
        for event in shown:
            ax.axvline(event.t, color="#A8A8A8", lw=0.6, ls=":" if event.kind == "jump" else "-", zorder=0.5)
        if rows.status == "no_solution":
            ax.axvline(rows.t[-1], color="#A00000", lw=2.5)
            ax.annotate("no solution", (rows.t[-1], 0.96), (-6, 0), xycoords=ax.get_xaxis_transform(), textcoords="offset points",
                        ha="right", va="top", color="#A00000", fontsize="small")
    axes[-1].set_xlabel("t")
    if len(rows.t) and rows.t[-1] > rows.t[0]:
        axes[-1].set_xlim(rows.t[0], rows.t[-1])


# One column over another -------------------------------------------------------------------------------------------


def plot_phase(rows, x, y, ax=None, events=True):
    flag(events, "events")
    shown = curves(rows, [x, y])
    colours = _mode_colours(rows)
    pieces, jumps = _paths(shown, len(colours) > _MOST_PATHS or not rows.mode.shape[1])
    is_new, ax = ax is None, drawing.axes_of(ax, (7, 5.6))
    handles = _draw_paths(ax, pieces, colours)
    if jumps:
        handles.append(_draw_jumps(ax, jumps))
    if pieces:
        _draw_directions(ax, pieces)
        (_, first), (_, last) = pieces[0], pieces[-1]
        handles += ax.plot(*first[:1].T, "o", ms=7, mfc="white", mec="black", mew=1.4, label="start", zorder=4, ls="")
        handles += ax.plot(*last[-1:].T, "s", ms=6, color="black", label="end", zorder=4, ls="")
    if events and x in rows.names and y in rows.names:
        handles += _draw_events(rows, ax, x, y)
    ax.set_xlabel(drawing.with_unit(x, rows.units.get(x)))
    ax.set_ylabel(drawing.with_unit(y, rows.units.get(y)))
    if is_new:
        ax.set_title(_title(rows), fontsize="medium")
    drawing.legend_below(ax, handles, is_new)
    return ax


def _paths(shown, is_single):
    """Pieces (mode, points) in the order of time, each from the last point of the one before; jumps (from, to)."""
    import numpy as np

    is_drawn = np.isfinite(shown.values).all(axis=1)
    places = np.flatnonzero(is_drawn)
    points = shown.values[places]
    modes = np.full(len(places), "", dtype=object) if is_single else shown.mode[places]
    joined = np.diff(places) == 1
    cuts = [0, *(np.flatnonzero(~joined | (modes[1:] != modes[:-1])) + 1).tolist(), len(places)]
    pieces, jumps = [], []
    for start, end in zip(cuts, cuts[1:]):
        goes_on = start > 0 and joined[start - 1]
        if start > 0 and not goes_on and (points[start] != points[start - 1]).any():
            jumps.append((points[start - 1], points[start]))
        pieces += [(modes[start], points[start - 1 if goes_on else start:end])] if end > start else []
    return pieces, jumps


def _joined(pieces):
    """Pieces of points one behind the other, NaN between them."""
    import numpy as np

    return np.concatenate([part for piece in pieces for part in (piece, np.full((1, 2), np.nan))][:-1])


def _draw_paths(ax, pieces, colours):
    by_mode = {}
    for mode, points in pieces:
        by_mode.setdefault(mode, []).append(points)
    handles = []
    for mode, parts in by_mode.items():
        colour = colours.get(mode) or drawing.ModeColour("", drawing.curve_colour(0), False)
        label = drawing.words(drawing.fitting(mode, 60)) or ("path, all modes" if len(colours) > 1 else "path")
        handles += ax.plot(*_joined(parts).T, color=colour.strong, lw=2.6 if colour.sliding else 1.3, label=label)
    return handles


def _arrow(ax, start, end, colour):
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 0.8, "shrinkA": 0, "shrinkB": 0}, zorder=3)


def _draw_jumps(ax, jumps):
    """Dotted, with an arrowhead in the middle of each where they are few."""
    import numpy as np

    line, = ax.plot(*_joined([np.array(jump) for jump in jumps]).T, ":", color="#555555", lw=1.3, label="jump")
    for start, end in jumps if len(jumps) <= _MOST_EDGES else []:
        _arrow(ax, start + 0.47 * (end - start), start + 0.53 * (end - start), "#555555")
    return line


def _draw_directions(ax, pieces):
    """Arrowheads in the direction of time, at equal distances along the path."""
    import numpy as np

    every = np.concatenate([points for _, points in pieces])
    size = np.ptp(every, axis=0)
    size[~(size > 0)] = 1
    starts = np.concatenate([points[:-1] for _, points in pieces])
    ends = np.concatenate([points[1:] for _, points in pieces])
    steps = np.hypot(*((ends - starts) / size).T)
    walked = np.cumsum(steps)
    if not len(walked) or not walked[-1] > 0:
        return
    for distance in walked[-1] * (np.arange(_ARROWS) + 0.5) / _ARROWS:
        k = int(walked.searchsorted(distance))
        share = min(1.0, _ARROW / steps[k])
        _arrow(ax, ends[k] - share * (ends[k] - starts[k]), ends[k], "black")


def _draw_events(rows, ax, x, y):
    j, k = rows.names.index(x), rows.names.index(y)
    points = [(e.x_after[j], e.x_after[k]) for e in rows.events if len(e.x_after)]
    return ax.plot(*zip(*points), "o", ms=2.5, color="#333333", label="event", zorder=3.5, ls="") if 0 < len(points) <= _MOST_EDGES else []


# Modes -------------------------------------------------------------------------------------------------------------


def _sliding_branches(rows):
    """(law, branch) of those that slide; of a file none is known."""
    model = getattr(rows, "model", None)
    return {(law.name, branch.name) for law in (model.laws if model is not None else []) for branch in law.branches if branch.sliding}


def plot_modes(rows, ax=None):
    laws = list(rows.modes[0].branches) if rows.modes else []
    if not laws:
        raise InvalidInput("the model has no laws; there are no modes to draw")
    sliding = _sliding_branches(rows)
    ax = drawing.axes_of(ax, (7.5, 1.4 + 0.5 * len(laws)))
    handles = []
    for row, law in enumerate(laws):
        spans = [span for span in rows.modes if law in span.branches]
        colours = drawing.colours_of((span.branches[law], (law, span.branches[law]) in sliding) for span in spans)
        for branch, colour in colours.items():
            bars = [(span.start, span.end - span.start) for span in spans if span.branches[law] == branch]
            ax.broken_barh(bars, (row - 0.35, 0.7), color=colour.strong)
            handles.append(drawing.patch(colour.strong, f"{law}: {branch}"))
    ax.set_yticks(range(len(laws)), [drawing.words(law) for law in laws])
    ax.set_xlabel("t")
    drawing.legend_beside(ax, handles)
    return ax


# In notebooks ------------------------------------------------------------------------------------------------------


def image(figure):
    """A figure as a notebook shows it."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=90)
    return f'<img src="data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"/>'


def html(rows):
    """The summary, and where matplotlib is installed a picture of the first variables."""
    text = f"<pre>{markup.escape(repr(rows))}</pre>"
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return text

    def axes_for(count):
        figure = Figure(figsize=(7, 3 if count == 1 else 1.2 + 1.7 * count), layout="constrained")
        return [drawing.styled(ax) for ax in figure.subplots(count, sharex=True, squeeze=False)[:, 0]]

    axes = _plot_panels(rows, list(rows.names[:4]), axes_for, True, True)
    return text + image((axes if hasattr(axes, "figure") else axes[0]).figure)

