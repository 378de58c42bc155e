"""Pictures of maps, sweeps, orders and enclosures on matplotlib axes, in the style of the program's."""

from . import _perp, drawing
from .errors import InvalidInput

_FEW_STATES = 3000  # of a bifurcation diagram: larger dots
_ROUNDING = 1e-9


def _cells(values):
    """The order of values, and the ends of a cell around each: half-way to its neighbours."""
    import numpy as np

    order = np.argsort(values)
    ordered = np.asarray(values, dtype=float)[order]
    middles = (ordered[1:] + ordered[:-1]) / 2
    if not len(middles):
        return order, np.array([ordered[0] - 0.5, ordered[0] + 0.5])
    return order, np.array([2 * ordered[0] - middles[0], *middles, 2 * ordered[-1] - middles[-1]])


def _draw_cells(ax, horizontal, vertical, values, **look):
    """A coloured cell for each pair of values of the axes, the first to the right."""
    (across, x), (up, y) = _cells(horizontal), _cells(vertical)
    ax.grid(False)
    return ax.pcolormesh(x, y, values[across][:, up].T, **look)


# Maps --------------------------------------------------------------------------------------------------------------


def _regions_drawn(found):
    """For each region the number of its colour, largest first; and what the legend says of each colour."""
    counts = list(found.counts().values())
    order = sorted(range(len(counts)), key=lambda k: -counts[k])
    own = order[:len(drawing.REGIONS)]
    colours = [own.index(k) if k in own else len(own) for k in range(len(counts))]
    entries = [(drawing.REGIONS[place], f"{found.regions[k]} ({counts[k]})") for place, k in enumerate(own)]
    if len(own) < len(order):
        rest = order[len(own):]
        entries.append((drawing.FURTHER_REGIONS, f"{len(rest)} further regions ({sum(counts[k] for k in rest)})"))
    return colours, entries


def plot_map(found, ax=None):
    import numpy as np
    from matplotlib.colors import ListedColormap

    if len(found.axes) > 2:
        raise InvalidInput(f"the map has {len(found.axes)} axes; pictures have one or two")
    colours, entries = _regions_drawn(found)
    is_new, ax = ax is None, drawing.axes_of(ax, (6, 2.2) if len(found.axes) == 1 else (6, 5.6))
    (x, horizontal), *others = found.axes.items()
    y, vertical = others[0] if others else ("", np.array([0.0]))
    shown = np.array(colours)[found.region].reshape(len(horizontal), len(vertical))
    _draw_cells(ax, horizontal, vertical, shown, vmin=-0.5, vmax=len(entries) - 0.5, cmap=ListedColormap([colour for colour, _ in entries]))
    ax.set_xlabel(drawing.words(x))
    if others:
        ax.set_ylabel(drawing.words(y))
    else:
        ax.set_yticks([])
    if is_new:
        ax.set_title(drawing.words(f"{found.what}: {found.meaning}"), fontsize="medium", wrap=True)
    drawing.legend_below(ax, [drawing.patch(colour, text) for colour, text in entries], is_new)
    return ax


# Sweeps ------------------------------------------------------------------------------------------------------------


def _fitting_kind(found):
    names = list(found.axes)
    if found.section is not None:
        return "bifurcation"
    if not names:
        return "histogram"
    return "heat" if len(found.shape) == 2 and found.dimensions == names else "curve"


def _check_sweep(found, kind, variable):
    names = list(found.axes)
    if kind not in _KINDS:
        raise InvalidInput(f"there is no kind '{kind}' of picture{_perp.suggestion(str(kind), list(_KINDS))}")
    if kind == "bifurcation" and found.section is None:
        raise InvalidInput("kind='bifurcation' draws the states of a section; expected a sweep with section='every:T'")
    if kind == "heat" and (found.dimensions != names or len(names) != 2):
        raise InvalidInput("kind='heat' draws a measure over two axes, one run at each point")
    if kind in ("curve", "bifurcation") and not names:
        raise InvalidInput(f"kind='{kind}' draws over an axis; expected one in over")
    if kind == "fan" and found.trajectories is None:
        raise InvalidInput("kind='fan' draws the states of the runs; expected a sweep with keep=True and times=[...]")
    if kind in ("bifurcation", "fan"):
        return
    if not found.measures:
        raise InvalidInput(f"kind='{kind}' draws measures; expected a sweep with measure={{name: formula}}")
    if variable is not None:
        raise InvalidInput("variable is that of a fan or a bifurcation diagram")


def plot_sweep(found, kind=None, variable=None, ax=None, colour=None):
    kind = _fitting_kind(found) if kind is None else kind
    _check_sweep(found, kind, variable)
    if colour is None:
        return _KINDS[kind](found, variable, ax)
    if colour != "mode":
        raise InvalidInput(f"colour is {colour!r}; expected 'mode', or None for up and down")
    if kind != "bifurcation":
        raise InvalidInput("colour='mode' is of the points of a section: a picture of kind 'bifurcation' has them")
    return _sweep_bifurcation(found, variable, ax, by_mode=True)


def _named(found, name):
    """With the unit of a variable."""
    known = found.model.variables.get(name)
    return drawing.with_unit(name, known.unit if known is not None else "")


def _directions(found):
    """Label and runs of each direction."""
    return [(", up", ~found.is_down), (", down", found.is_down)] if found.is_down.any() and not found.is_down.all() else [("", slice(None))]


def _sweep_curve(found, _, ax):
    ax = drawing.axes_of(ax)
    name = next(iter(found.axes))
    curves = [(measure, direction) for measure in found.measures for direction in _directions(found)]
    for k, (measure, (words, runs)) in enumerate(curves):
        ax.plot(found.rows(name)[runs], found.rows(measure)[runs], "o-", ms=3, lw=1.2, color=drawing.curve_colour(k),
                label=drawing.words(measure + words))
    missing = sorted({k for notes in found.notes.values() for k in notes})
    if missing:
        ax.plot(found.rows(name)[missing], [0] * len(missing), "x", color="#777777", clip_on=False,
                transform=ax.get_xaxis_transform(), label="no value")
    ax.set_xlabel(_named(found, name))
    if len(found.measures) == 1:
        ax.set_ylabel(drawing.words(found.measures[0]))
    drawing.legend_beside(ax)
    return ax


def _draw_contours(ax, horizontal, vertical, values):
    """Lines of equal values between the points of the grid."""
    from matplotlib.collections import LineCollection

    x, y = sorted(set(horizontal.tolist())), sorted(set(vertical.tolist()))
    rows, columns = [horizontal.tolist().index(value) for value in x], [vertical.tolist().index(value) for value in y]
    _, pieces = _perp.contours(x, y, values[rows][:, columns].ravel().tolist())
    ax.add_collection(LineCollection([((x0, y0), (x1, y1)) for x0, y0, x1, y1 in pieces], colors="#222222", linewidths=0.7), autolim=False)


def _sweep_fan(found, variable, ax):
    name = variable or found.variables[0]
    t, lowest, lower, median, upper, highest, _ = found.fan(name).T
    ax, colour = drawing.axes_of(ax), drawing.curve_colour(0)
    ax.fill_between(t, lowest, highest, color=colour, alpha=0.2, lw=0, label="90 % of the runs")
    ax.fill_between(t, lower, upper, color=colour, alpha=0.35, lw=0, label="50 %")
    ax.plot(t, median, color=colour, lw=1.6, label="median")
    ax.set_xlabel("t")
    ax.set_ylabel(_named(found, name))
    drawing.legend_beside(ax)
    return ax


def _sweep_heat(found, _, ax):
    (x, horizontal), (y, vertical) = found.axes.items()
    measure = found.measures[0]
    if not (found[measure] == found[measure]).any():
        raise InvalidInput("there is no picture: no run has a value")
    ax = drawing.axes_of(ax)
    image = _draw_cells(ax, horizontal, vertical, found[measure], cmap="viridis")
    ax.figure.colorbar(image, ax=ax, label=drawing.words(measure))
    _draw_contours(ax, horizontal, vertical, found[measure])
    ax.set_xlabel(_named(found, x))
    ax.set_ylabel(_named(found, y))
    return ax


def _sweep_histogram(found, _, ax):
    values = found.rows(found.measures[0])
    values = values[values == values]
    if not len(values):
        raise InvalidInput("there is no picture: no run has a value")
    low, high = values.min(), values.max()
    size = max(abs(low), abs(high))
    bins, ends = min(max(int(len(values) ** 0.5), 5), 60), None
    if not high - low > _ROUNDING * size:  # one value but for rounding
        bins, ends = 1, ((low + high - size / 5) / 2, (low + high + size / 5) / 2) if size > 0 else (-0.5, 0.5)
    ax = drawing.axes_of(ax)
    ax.hist(values, bins=bins, range=ends, color=drawing.curve_colour(0), alpha=0.6)
    ax.set_xlabel(drawing.words(found.measures[0]))
    ax.set_ylabel("runs")
    return ax


def _dots_of_modes(section):
    """Label, places and colour of each mode in which a state was reached, in the order in which they appear."""
    import numpy as np

    number = {}
    modes = np.array([number.setdefault(mode, len(number)) for mode in section.modes], dtype=int)
    colours = drawing.colours_of(number)
    return [(text, modes == k, colours[text].strong) for (text, _), k in number.items()]


def _dots_of_directions(found):
    run = found.section.run
    return [(words.removeprefix(", ") or "_", found.is_down[run] == (k == 1) if words else slice(None), drawing.curve_colour(k))
            for k, (words, _) in enumerate(_directions(found))]


def _sweep_bifurcation(found, variable, ax, by_mode=False):
    name = variable or found.variables[0]
    column = found.section[name]  # a wrong name before a figure is opened
    axis = next(iter(found.axes))
    ax = drawing.axes_of(ax)
    run, size = found.section.run, 3 if len(column) <= _FEW_STATES else 1.5
    for words, places, colour in _dots_of_modes(found.section) if by_mode else _dots_of_directions(found):
        ax.plot(found.rows(axis)[run][places], column[places], "o", ms=size, mew=0, ls="", color=colour, label=words)
    ax.set_xlabel(_named(found, axis))
    ax.set_ylabel(_named(found, name))
    drawing.legend_beside(ax)
    return ax


_KINDS = {"curve": _sweep_curve, "heat": _sweep_heat, "histogram": _sweep_histogram, "bifurcation": _sweep_bifurcation,
          "fan": _sweep_fan}

# Orders and bounds -------------------------------------------------------------------------------------------------


def plot_study(study, ax=None):
    is_new, ax = ax is None, drawing.axes_of(ax, (6.5, 4.6))
    kinds = [(variant, kind, fit) for variant in study.variants for kind, fit in variant.fits.items()]
    for k, (variant, kind, fit) in enumerate(kinds):
        points = [(row["h"], row["error_" + kind]) for row in variant.rows if row["error_" + kind] > 0]
        words = "" if fit["order"] != fit["order"] else f", order {fit['order']:.3f}"
        if points:
            ax.loglog(*zip(*points), "o-", ms=5, lw=1.2, color=drawing.curve_colour(k), label=drawing.words(f"{variant.label}, {kind}{words}"))
    ax.set_xlabel("step length h")
    ax.set_ylabel("error")
    drawing.legend_below(ax, ax.get_legend_handles_labels()[0], is_new)
    return ax


def plot_bands(found, names=None, ax=None):
    names = [names] if isinstance(names, str) else list(names or found.names[:8])
    bounds = {name: found[name] for name in names}
    if ax is not None:
        return _bands(drawing.axes_of(ax), found.t, bounds)
    groups = drawing.panels_of([drawing.Column(name, "", "states", lo.min(), hi.max()) for name, (lo, hi) in bounds.items()])
    axes = drawing.panel_axes(len(groups))
    for panel_axes, group in zip(axes, groups):
        panel_axes.set_ylabel(drawing.words(", ".join(column.name for column in group)))
        _bands(panel_axes, found.t, {column.name: bounds[column.name] for column in group})
        panel_axes.set_xlabel("t" if panel_axes is axes[-1] else "")
    return drawing.returned(axes)


def _bands(ax, t, bounds):
    for k, (name, (lo, hi)) in enumerate(bounds.items()):
        ax.fill_between(t, lo, hi, alpha=0.5, color=drawing.curve_colour(k), label=drawing.words(name))
    ax.set_xlabel("t")
    drawing.legend_beside(ax)
    return ax
