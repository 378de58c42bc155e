"""Pictures of results on matplotlib axes."""

import base64
import html as markup
import io

from . import _perp
from .errors import InvalidInput

_SHADES = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#332288", "#ddcc77", "#117733")
_MOST_DRAWN = 40
_MOST_EVENTS = 200


def _axes(ax):
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]  # nothing is cut, legends beside the axes neither


def _label(rows, name):
    return f"{name} [{rows.units[name]}]" if rows.units.get(name) else name


def _mode_colours(rows):
    """A colour for each mode, in the order in which they are met."""
    texts = list(dict.fromkeys(span.text for span in rows.modes))
    return {text: _SHADES[k % len(_SHADES)] for k, text in enumerate(texts)}


def _shade(rows, ax):
    colours = _mode_colours(rows)
    seen = set()
    for span in rows.modes:
        label = None if span.text in seen or len(colours) < 2 else span.text
        seen.add(span.text)
        if len(colours) > 1:
            ax.axvspan(span.start, span.end, color=colours[span.text], alpha=0.12, lw=0, label=label)


def _curve(rows, name):
    """Times and values of a column; of a variable that jumps within a step with both sides of the jump."""
    import numpy as np

    times, values = rows.t, rows.column(name)
    if name not in rows.names:
        return times, values
    j = list(rows.names).index(name)
    known = set(times.tolist())
    jumps = [(e.t, e.x_before[j], e.x_after[j]) for e in rows.events
             if len(e.x_before) and len(e.x_after) and e.x_before[j] != e.x_after[j] and e.t not in known]
    if not jumps:
        return times, values
    at, before, after = (np.array(part) for part in zip(*jumps))
    places = np.repeat(times.searchsorted(at), 2)
    return np.insert(times, places, np.repeat(at, 2)), np.insert(values, places, np.stack([before, after], axis=1).ravel())


def _names_drawn(rows, names):
    if names is None:
        return list(rows.names[:_MOST_DRAWN])
    if isinstance(names, str):
        return [names]
    if not hasattr(names, "__iter__"):
        raise InvalidInput(f"names: found {names!r}; expected names of columns, as in ['{rows.names[0]}']")
    names = list(names)
    if not names:
        raise InvalidInput("names is empty; expected names of columns, or None for the variables")
    return names


def plot(rows, names=None, ax=None, modes=True, events=True):
    names = _names_drawn(rows, names)
    curves = [_curve(rows, name) for name in names]  # unknown names before a figure is opened
    ax = _axes(ax)
    if modes:
        _shade(rows, ax)
    for name, (times, values) in zip(names, curves):
        ax.plot(times, values, label=_label(rows, name), lw=1.2)
    if events:
        for event in rows.events[:_MOST_EVENTS]:
            ax.axvline(event.t, color="0.5", lw=0.6, ls=":" if event.kind != "jump" else "--")
    ax.set_xlabel("t")
    ax.set_xlim(rows.t[0], rows.t[-1] if rows.t[-1] > rows.t[0] else None)
    if len(names) == 1:
        ax.set_ylabel(_label(rows, names[0]))
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize="small")
    return ax


def plot_phase(rows, x, y, ax=None, events=True):
    horizontal, vertical = rows.column(x), rows.column(y)
    ax = _axes(ax)
    ax.plot(horizontal, vertical, lw=1.2)
    ax.plot(horizontal[:1], vertical[:1], "o", ms=4, color="0.3")
    if events and x in rows.names and y in rows.names:
        j, k = rows.names.index(x), rows.names.index(y)
        points = [(e.x_after[j], e.x_after[k]) for e in rows.events[:_MOST_EVENTS] if len(e.x_after)]
        if points:
            ax.plot(*zip(*points), ".", ms=5, color="#ee6677")
    ax.set_xlabel(_label(rows, x))
    ax.set_ylabel(_label(rows, y))
    return ax


def plot_modes(rows, ax=None):
    laws = list(rows.modes[0].branches) if rows.modes else []
    if not laws:
        raise InvalidInput("the model has no laws; there are no modes to draw")
    ax = _axes(ax)
    for row, law in enumerate(laws):
        branches = list(dict.fromkeys(span.branches[law] for span in rows.modes if law in span.branches))
        for span in rows.modes:
            if law not in span.branches:
                continue
            k = branches.index(span.branches[law])
            ax.broken_barh([(span.start, span.end - span.start)], (row - 0.35, 0.7), color=_SHADES[k % len(_SHADES)])
        for k, branch in enumerate(branches):
            ax.plot([], [], "s", color=_SHADES[k % len(_SHADES)], label=f"{law}: {branch}")
    ax.set_yticks(range(len(laws)), laws)
    ax.set_xlabel("t")
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def plot_map(found, ax=None):
    if len(found.axes) > 2:
        raise InvalidInput(f"the map has {len(found.axes)} axes; pictures have one or two")
    ax = _axes(ax)
    (x, horizontal), *others = list(found.axes.items())[::-1]
    if not others:
        ax.step(horizontal, found.region, where="mid")
        ax.set_yticks(range(len(found.regions)), found.regions)
        ax.set_xlabel(x)
        return ax
    from matplotlib.colors import ListedColormap

    colours = [_SHADES[k % len(_SHADES)] for k in range(len(found.regions))]
    y, vertical = others[0]
    ax.pcolormesh(horizontal, vertical, found.region, cmap=ListedColormap(colours), vmin=-0.5, vmax=len(colours) - 0.5)
    for colour, name in zip(colours, found.regions):
        ax.plot([], [], "s", color=colour, label=name)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.legend(fontsize="small")
    return ax


def plot_sweep(found, kind=None, variable=None, ax=None):
    names = list(found.axes)
    fitting = ("bifurcation" if found.section is not None else "histogram" if not names
               else "heat" if len(found.shape) == 2 and found.dimensions == names else "curve")
    kinds = {"curve": _sweep_curve, "heat": _sweep_heat, "histogram": _sweep_histogram, "bifurcation": _sweep_bifurcation}
    kind = fitting if kind is None else kind
    if kind not in kinds:
        raise InvalidInput(f"there is no kind '{kind}' of picture{_perp.suggestion(str(kind), list(kinds))}")
    if kind == "bifurcation" and found.section is None:
        raise InvalidInput("kind='bifurcation' draws the states of a section; expected a sweep with section='every:T'")
    if kind == "heat" and found.dimensions != names or kind == "heat" and len(names) != 2:
        raise InvalidInput("kind='heat' draws a measure over two axes, one run at each point")
    if kind in ("curve", "bifurcation") and not names:
        raise InvalidInput(f"kind='{kind}' draws over an axis; expected one in over")
    if kind != "bifurcation" and not found.measures:
        raise InvalidInput(f"kind='{kind}' draws measures; expected a sweep with measure={{name: formula}}")
    if variable is not None and kind != "bifurcation":
        raise InvalidInput("variable is that of a bifurcation diagram")
    column = None if found.section is None else found.section[variable or found.variables[0]]
    ax = _axes(ax)
    if kind == "bifurcation":
        return _sweep_bifurcation(found, column, variable or found.variables[0], ax)
    return kinds[kind](found, ax)


def _directions(found):
    """Label and runs of each direction."""
    return [(", up", ~found.is_down), (", down", found.is_down)] if found.is_down.any() and not found.is_down.all() else [("", slice(None))]


def _sweep_curve(found, ax):
    name = next(iter(found.axes))
    for measure in found.measures:
        for words, runs in _directions(found):
            ax.plot(found.rows(name)[runs], found.rows(measure)[runs], "o-", ms=3, lw=1.2, label=measure + words)
    missing = sorted({k for notes in found.notes.values() for k in notes})
    if missing:
        ax.plot(found.rows(name)[missing], [0] * len(missing), "x", color="0.5", clip_on=False,
                transform=ax.get_xaxis_transform(), label="no value")
    ax.set_xlabel(name)
    ax.legend(fontsize="small")
    return ax


def _sweep_heat(found, ax):
    (x, horizontal), (y, vertical) = found.axes.items()
    measure = found.measures[0]
    image = ax.pcolormesh(horizontal, vertical, found[measure].T, shading="nearest", cmap="viridis")
    ax.figure.colorbar(image, ax=ax, label=measure)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    return ax


def _sweep_histogram(found, ax):
    values = found.rows(found.measures[0])
    ax.hist(values[values == values], bins="auto", color=_SHADES[0])
    ax.set_xlabel(found.measures[0])
    ax.set_ylabel("runs")
    return ax


def _sweep_bifurcation(found, column, name, ax):
    axis = next(iter(found.axes))
    for k, (words, runs) in enumerate(_directions(found)):
        of_runs = found.is_down[found.section.run] == (k == 1) if words else slice(None)
        ax.plot(found.rows(axis)[found.section.run][of_runs], column[of_runs], ",", color=_SHADES[k], label=words.strip(", ") or None)
    ax.set_xlabel(axis)
    ax.set_ylabel(name)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize="small")
    return ax


def plot_study(study, ax=None):
    ax = _axes(ax)
    for variant in study.variants:
        for kind, fit in variant.fits.items():
            points = [(row["h"], row["error_" + kind]) for row in variant.rows if row["error_" + kind] > 0]
            words = "" if fit["order"] != fit["order"] else f", order {fit['order']:.3f}"
            if points:
                ax.loglog(*zip(*points), "o-", label=f"{variant.label}, {kind}{words}")
    ax.set_xlabel("h")
    ax.set_ylabel("error")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize="small")
    return ax


def plot_bands(found, names=None, ax=None):
    names = [names] if isinstance(names, str) else list(names or found.names[:8])
    bounds = [found[name] for name in names]
    ax = _axes(ax)
    for name, (lo, hi) in zip(names, bounds):
        ax.fill_between(found.t, lo, hi, alpha=0.5, label=name)
    ax.set_xlabel("t")
    ax.legend(fontsize="small")
    return ax


def html(rows):
    """The summary, and where matplotlib is installed a picture of the first variables."""
    text = f"<pre>{markup.escape(repr(rows))}</pre>"
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return text
    figure = Figure(figsize=(6, 3), layout="constrained")
    plot(rows, list(rows.names[:4]), figure.add_subplot())
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=90)
    return text + f'<img src="data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"/>'
