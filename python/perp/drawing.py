"""What pictures on matplotlib axes share with those of the program: colours, panels, legends beside or below the curves."""

from collections import namedtuple

from .errors import InvalidInput

# Told apart by lightness as well as by hue.
CURVES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
REGIONS = ("#56B4E9", "#009E73", "#E69F00", "#CC79A7", "#0072B2", "#F0E442", "#D55E00", "#B5CF9B", "#7A5BA6", "#F7C8B0", "#4D4D4D", "#A0522D")
FURTHER_REGIONS = "#DDDDDD"
# Light and strong: of bands and of paths; ten of each kind before the first comes again.
_SMOOTH = (("#DCEAF6", "#0072B2"), ("#F4F4F4", "#555555"), ("#D3EBDD", "#009E73"), ("#E5DBEF", "#7A5BA6"), ("#C9DDEA", "#56B4E9"),
           ("#E3E8C8", "#6B7F1A"), ("#CFE9EC", "#007C85"), ("#F6DDEA", "#CC79A7"), ("#D4D8F0", "#2B3A9E"), ("#E2DED6", "#6F5F4A"))
_SLIDING = (("#FFE0A6", "#D55E00"), ("#F4B8A0", "#A63C00"), ("#FFF7B0", "#B38600"), ("#F5BFD0", "#B3202A"), ("#FFD9C9", "#E8743B"),
            ("#F3DFA2", "#7F6000"), ("#F2C9DC", "#A8005C"), ("#FFCF9E", "#8A4B08"), ("#EFD2BE", "#5E2A12"), ("#FFE9D6", "#FF8C1A"))
_MOST_PER_PANEL = 4
_LARGEST_RATIO = 100  # of the sizes of curves that share a panel
_LETTER, _LINE = 0.07, 0.19  # width and height in a legend, in inches
_LONGEST_NAME = 60
_BESIDE = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0, "frameon": False, "fontsize": "small"}

ModeColour = namedtuple("ModeColour", "light strong sliding")
Column = namedtuple("Column", "name unit group low high")
Column.__doc__ = "What a panel is chosen by: columns of different units or groups share none."


def curve_colour(k):
    return CURVES[k % len(CURVES)]


def colours_of(kinds):
    """A `ModeColour` for each name of (name, is it sliding?), in the order in which they come."""
    colours, counts = {}, {True: 0, False: 0}
    for name, sliding in kinds:
        if name not in colours:
            table = _SLIDING if sliding else _SMOOTH
            colours[name] = ModeColour(*table[counts[bool(sliding)] % len(table)], bool(sliding))
            counts[bool(sliding)] += 1
    return colours


def words(text):
    """A text as it is: matplotlib takes what stands between two $ for a formula, and leaves out of legends what begins with _."""
    text = str(text).replace("$", r"\$")
    return " " + text if text.startswith("_") else text


def fitting(text, letters):
    """A text of at most so many letters; where it is longer its middle is left out, of a list whole names if that will do."""
    if len(text) <= letters:
        return text
    *names, last = text.split(", ")
    for count in range(len(names) - 1, 0, -1):
        if len(shorter := ", ".join([*names[:count], "…", last])) <= letters:
            return shorter
    before = letters // 2
    return text[:before] + "…" + text[before + len(text) - letters + 1:]


def with_unit(name, unit):
    return words(f"{name} [{unit}]" if unit else name)


# Axes --------------------------------------------------------------------------------------------------------------


def styled(ax):
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#D0D0D0", lw=0.5)
    ax.set_axisbelow(True)
    return ax


def axes_of(ax, size=(7.5, 4.2)):
    """These, with room for a legend beside or below them, or new ones."""
    if ax is not None:
        if not hasattr(ax, "figure"):
            raise InvalidInput(f"ax: found {type(ax).__name__}; expected matplotlib axes, or None for new ones")
        if ax.figure.get_layout_engine() is None and hasattr(ax.figure, "set_layout_engine"):
            ax.figure.set_layout_engine("constrained")
        return ax
    import matplotlib.pyplot as plt

    return styled(plt.subplots(figsize=size, layout="constrained")[1])  # nothing is cut, legends beside the axes neither


def panel_axes(count):
    """One above the other, over the same times."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(7.5, 4.2 if count == 1 else 1.2 + 2.1 * count), layout="constrained")
    return [styled(ax) for ax in figure.subplots(count, sharex=True, squeeze=False)[:, 0]]


def returned(axes):
    """One pair of axes, or an array of several, as of matplotlib's subplots."""
    import numpy as np

    return axes[0] if len(axes) == 1 else np.array(axes, dtype=object)


# Panels ------------------------------------------------------------------------------------------------------------


def _half_height(column):
    """0 where it is rounding errors only, or nothing."""
    height, size = column.high - column.low, max(abs(column.low), abs(column.high))
    return height / 2 if height > 1e-9 * size else 0.0


def _fits(panel, column):
    first = panel[0]
    if (first.unit, first.group) != (column.unit, column.group) or len(panel) >= _MOST_PER_PANEL:
        return False
    sizes = [size for size in map(_half_height, [*panel, column]) if size > 0]
    return not sizes or _half_height(column) == 0 or max(sizes) <= _LARGEST_RATIO * min(sizes)


def panels_of(columns):
    """Lists of columns of one unit, one group and about one size, four at most."""
    panels = []
    for column in columns:
        panel = next((panel for panel in panels if _fits(panel, column)), None)
        if panel is None:
            panels.append([column])
        else:
            panel.append(column)
    return panels


def label_panel(ax, panel, count):
    """Names and unit at the vertical axis, as many letters as there is room for."""
    room = 40 if count == 1 else 22
    unit = f" [{panel[0].unit}]" if panel[0].unit else ""
    ax.set_ylabel(words(fitting(", ".join(column.name for column in panel), max(room - len(unit), 8)) + unit))


# Legends -----------------------------------------------------------------------------------------------------------


def legend_beside(ax, handles=None):
    if handles is None:
        handles = ax.get_legend_handles_labels()[0]
    if handles:
        ax.legend(handles=handles, **_BESIDE)


def legend_below(ax, handles, grows=False):
    """Below the axes and what is written there. grows: the figure is made so much higher."""
    from matplotlib.transforms import ScaledTranslation

    if not handles:
        return
    longest = max(len(handle.get_label()) for handle in handles)
    room = ax.figure.get_size_inches()[0] - 1
    columns = min(max(int(room / (0.6 + _LETTER * longest)), 1), 4, len(handles))
    if grows:
        width, height = ax.figure.get_size_inches()
        ax.figure.set_size_inches(width, height + _LINE * -(-len(handles) // columns))
    below = ax.transAxes + ScaledTranslation(0, -0.5, ax.figure.dpi_scale_trans)
    beside = ax.get_legend()
    legend = ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, ncol=columns, frameon=False,
                       fontsize="small", borderaxespad=0)
    if beside is not None:  # axes have one legend; the other is drawn like any other thing
        ax.legend_ = beside
        ax.add_artist(legend).set_clip_on(False)  # it counts for the layout, which what is cut off at the axes does not


def patch(colour, text):
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, edgecolor="#909090", lw=0.5, label=words(fitting(text, _LONGEST_NAME)))
