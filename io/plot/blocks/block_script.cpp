// Programs for Python beside pictures of blocks of data: called where these are drawn.
#include <fmt/format.h>
#include <array>

#include <perp/io/json.hpp>
#include <perp/io/plot/blocks/block_script.hpp>

namespace perp::io {
namespace {

constexpr const char* block_program = R"python(
here = pathlib.Path(__file__).resolve().parent
texts = [text for text in (here / data).read_text(encoding="utf-8").split("\n\n\n") if text.strip()]
figure, all_axes = plt.subplots(len(panels), 1, figsize=(8, 6 if len(panels) == 1 else 2 + 2.2 * len(panels)), sharex=True, squeeze=False)


def pieces_of(text):
    for piece in text.split("\n\n"):
        if any(line and line[0] != "#" for line in piece.split("\n")):
            yield np.loadtxt(io.StringIO(piece), ndmin=2)


def arrows(ax, rows, dotted, name, colour, size):
    for k, (x, y, dx, dy) in enumerate(rows):
        if dotted:
            ax.plot([x, x + dx], [y, y + dy], ":", color=colour, lw=size, label=name if k == 0 else None)
        elif name and k == 0:
            ax.plot([], [], color=colour, lw=size, label=name)
        share = 0.5 if dotted else 1
        ax.annotate("", (x + share * dx, y + share * dy), (x, y), annotation_clip=True,
                    arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 0 if dotted else size, "shrinkA": 0, "shrinkB": 0})


def points(ax, x, y, kind, name, colour, size):
    style = {"joined": "o-", "crosses": "x", "marks": "x"}.get(kind, "o")
    place = {"transform": ax.get_xaxis_transform(), "clip_on": False} if kind == "crosses" else {"zorder": 3}
    ax.plot(x, 0 * x if kind == "crosses" else y, style, ms=size, lw=1, color=colour, mfc="white" if kind == "hollow" else colour,
            label=name, **place)


def boxes(rows):
    return [Rectangle((x0, y0), x1 - x0, y1 - y0) for x0, x1, y0, y1 in rows]


def cells(ax, rows, name, values):
    shown = PatchCollection(boxes(rows[:, 3:7]), cmap="viridis")
    shown.set_array(rows[:, 2])
    if values:
        shown.set_clim(*values)
    ax.add_collection(shown)
    figure.colorbar(shown, ax=ax, label=name)
    ax.set(xlim=(rows[:, 3].min(), rows[:, 4].max()), ylim=(rows[:, 5].min(), rows[:, 6].max()))


def areas(ax, rows, name, colour):
    ax.add_collection(PatchCollection(boxes(rows[:, :4]), color=colour, lw=0.3))
    ax.fill([], [], color=colour, label=name)
    ax.autoscale_view()


def bands(ax, pieces, panel, hatched, name, colour, size):
    for k, piece in enumerate(pieces):
        x, low, high = piece[:, 0], piece[:, 1 + 2 * panel], piece[:, 2 + 2 * panel]
        look = {"facecolor": "none", "edgecolor": colour, "hatch": "////", "lw": 0} if hatched else {"color": colour, "alpha": 0.35, "lw": 0}
        ax.fill_between(x, low, high, label=name if k == 0 else None, **look)
        ax.plot(x, low, x, high, color=colour, lw=0.9 * size)


def block(ax, panel, pieces, kind, name, colour, size, values):
    rows = np.concatenate(pieces)
    rows = rows[~np.isnan(rows).any(axis=1)]
    if kind in ("line", "dashed"):
        for k, piece in enumerate(pieces):
            ax.plot(piece[:, 0], piece[:, 1 + panel], "--" if kind == "dashed" else "-", color=colour, lw=size, label=name if k == 0 else None)
    elif len(rows) == 0:
        return
    elif kind in ("band", "hatched"):
        bands(ax, pieces, panel, kind == "hatched", name, colour, size)
    elif kind in ("arrows", "jumps"):
        arrows(ax, rows, kind == "jumps", name, colour, size)
    elif kind == "bars":
        ax.bar(rows[:, 0], rows[:, 1], width=size, color=colour, alpha=0.6, label=name)
    elif kind == "cells":
        cells(ax, rows, name, values)
    elif kind == "areas":
        areas(ax, rows, name, colour)
    elif kind == "stripes":
        for k, (x0, x1) in enumerate(rows[:, :2]):
            ax.axvspan(x0, x1, color=colour, alpha=0.6, zorder=0, label=name if k == 0 else None)
    else:
        points(ax, rows[:, 0], rows[:, 1 + panel], kind, name, colour, size)


for panel, (ax, (x_label, y_label, x_scale, y_scale)) in enumerate(zip(all_axes[:, 0], panels)):
    for text, (kind, name, colour, size, only, values) in zip(texts, blocks):
        if only in (None, panel):
            block(ax, panel, list(pieces_of(text)), kind, name, colour, size, values)
    ax.set(xlabel=x_label if panel == len(panels) - 1 else "", ylabel=y_label, xscale=x_scale, yscale=y_scale)
    ax.grid(color="#D0D0D0", lw=0.5)
all_axes[0, 0].set_title(title)
names = {}
for ax in all_axes[:, 0]:
    for handle, name in zip(*ax.get_legend_handles_labels()):
        names.setdefault(name, handle)
if names:
    all_axes[-1, 0].legend(names.values(), names, loc="upper center", bbox_to_anchor=(0.5, -0.12 * max(1, len(panels))), ncol=2, frameon=False)
figure.savefig(here / picture, dpi=150, bbox_inches="tight")
)python";

/// In the order of DrawnBlock::Kind.
constexpr std::array words{"line", "dashed", "arrows", "jumps", "hollow", "full", "joined", "marks", "crosses", "bars", "cells",
                           "areas", "band", "hatched", "stripes"};

}  // namespace

std::string block_script(const BlockDrawing& drawing, const Picture& picture) {
  const std::string name = picture.matplotlib_name();
  const auto literal = [](const std::string& text) { return Json(text).dump(); };
  const auto scale = [](bool is_logarithmic) { return is_logarithmic ? "log" : "linear"; };
  std::string text = fmt::format(
      "# Written by perp; change what you like and draw with: python3 {}\nimport io\nimport pathlib\n\n"
      "import matplotlib.pyplot as plt\nimport numpy as np\nfrom matplotlib.collections import PatchCollection\n"
      "from matplotlib.patches import Rectangle\n\ntitle = {}\ndata = {}\npicture = {}\npanels = [  # names and scales of both axes\n",
      name, literal(drawing.title), literal(picture.data_name()), literal(name.substr(0, name.size() - 3) + ".png"));
  for (const DrawnAxes& axes : drawing.panels)
    text += fmt::format("    ({}, {}, \"{}\", \"{}\"),\n", literal(axes.x_label), literal(axes.y_label), scale(axes.is_x_logarithmic),
                        scale(axes.is_y_logarithmic));
  text += "]\nblocks = [  # of the data: how it is drawn, name, colour, size, the only panel it is in, range of its colours\n";
  for (const DrawnBlock& block : drawing.blocks)
    text += fmt::format("    (\"{}\", {}, \"{}\", {}, {}, {}),\n", words.at(static_cast<std::size_t>(block.kind)),
                        block.name.empty() ? "None" : literal(block.name), block.colour, block.size,
                        block.panel < 0 ? "None" : std::to_string(block.panel),
                        block.values.lower <= block.values.upper ? fmt::format("({}, {})", block.values.lower, block.values.upper) : "None");
  return text + "]\n" + block_program;
}

}  // namespace perp::io
