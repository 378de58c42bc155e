// Programs for Python beside pictures of one pair of axes: called where these are drawn.
#include <fmt/format.h>
#include <array>

#include <perp/io/json.hpp>
#include <perp/io/plot/matplotlib/block_script.hpp>

namespace perp::io {
namespace {

constexpr const char* block_program = R"python(
here = pathlib.Path(__file__).resolve().parent
texts = [text for text in (here / data).read_text(encoding="utf-8").split("\n\n\n") if text.strip()]
figure, ax = plt.subplots(figsize=(8, 6))


def pieces_of(text):
    for piece in text.split("\n\n"):
        if any(line and line[0] != "#" for line in piece.split("\n")):
            yield np.loadtxt(io.StringIO(piece), ndmin=2)


def arrows(rows, dotted, name, colour, size):
    for k, (x, y, dx, dy) in enumerate(rows):
        if dotted:
            ax.plot([x, x + dx], [y, y + dy], ":", color=colour, lw=size, label=name if k == 0 else None)
        elif name and k == 0:
            ax.plot([], [], color=colour, lw=size, label=name)
        share = 0.5 if dotted else 1
        ax.annotate("", (x + share * dx, y + share * dy), (x, y), annotation_clip=True,
                    arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 0 if dotted else size, "shrinkA": 0, "shrinkB": 0})


def points(rows, kind, name, colour, size):
    style = {"joined": "o-", "crosses": "x"}.get(kind, "o")
    place = {"transform": ax.get_xaxis_transform(), "clip_on": False} if kind == "crosses" else {"zorder": 3}
    ax.plot(rows[:, 0], 0 * rows[:, 0] if kind == "crosses" else rows[:, 1], style, ms=size, lw=1, color=colour,
            mfc="white" if kind == "hollow" else colour, label=name, **place)


def cells(rows, name):
    boxes = [Rectangle((x0, y0), x1 - x0, y1 - y0) for x0, x1, y0, y1 in rows[:, 3:7]]
    shown = PatchCollection(boxes, cmap="viridis")
    shown.set_array(rows[:, 2])
    ax.add_collection(shown)
    figure.colorbar(shown, ax=ax, label=name)
    ax.set(xlim=(rows[:, 3].min(), rows[:, 4].max()), ylim=(rows[:, 5].min(), rows[:, 6].max()))


for text, (kind, name, colour, size) in zip(texts, blocks):
    pieces = list(pieces_of(text))
    rows = np.concatenate(pieces)
    rows = rows[~np.isnan(rows).any(axis=1)]
    if kind in ("line", "dashed"):
        for k, piece in enumerate(pieces):
            ax.plot(piece[:, 0], piece[:, 1], "--" if kind == "dashed" else "-", color=colour, lw=size, label=name if k == 0 else None)
    elif len(rows) == 0:
        continue
    elif kind in ("arrows", "jumps"):
        arrows(rows, kind == "jumps", name, colour, size)
    elif kind == "bars":
        ax.bar(rows[:, 0], rows[:, 1], width=size, color=colour, alpha=0.6, label=name)
    elif kind == "cells":
        cells(rows, name)
    else:
        points(rows, kind, name, colour, size)
ax.set(title=title, xlabel=labels[0], ylabel=labels[1], xscale=scales[0], yscale=scales[1])
ax.grid(color="#D0D0D0", lw=0.5)
if ax.get_legend_handles_labels()[0]:
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=2, frameon=False)
figure.savefig(here / picture, dpi=150, bbox_inches="tight")
)python";

/// In the order of DrawnBlock::Kind.
constexpr std::array words{"line", "dashed", "arrows", "jumps", "hollow", "full", "joined", "crosses", "bars", "cells"};

}  // namespace

std::string block_script(const DrawnAxes& axes, const std::vector<DrawnBlock>& blocks, const Picture& picture) {
  const std::string name = picture.matplotlib_name();
  const auto literal = [](const std::string& text) { return Json(text).dump(); };
  const auto scale = [](bool is_logarithmic) { return is_logarithmic ? "log" : "linear"; };
  std::string text = fmt::format(
      "# Written by perp; change what you like and draw with: python3 {}\nimport io\nimport pathlib\n\n"
      "import matplotlib.pyplot as plt\nimport numpy as np\nfrom matplotlib.collections import PatchCollection\n"
      "from matplotlib.patches import Rectangle\n\ntitle = {}\ndata = {}\npicture = {}\nlabels = ({}, {})\n"
      "scales = (\"{}\", \"{}\")\nblocks = [  # of the data: how it is drawn, name, colour, size\n",
      name, literal(axes.title), literal(picture.data_name()), literal(name.substr(0, name.size() - 3) + ".png"),
      literal(axes.x_label), literal(axes.y_label), scale(axes.is_x_logarithmic), scale(axes.is_y_logarithmic));
  for (const DrawnBlock& block : blocks)
    text += fmt::format("    (\"{}\", {}, \"{}\", {}),\n", words.at(static_cast<std::size_t>(block.kind)),
                        block.name.empty() ? "None" : literal(block.name), block.colour, block.size);
  return text + "]\n" + block_program;
}

}  // namespace perp::io
