// Programs for Python beside phase pictures: called where these are drawn.
#include <fmt/format.h>

#include <perp/io/json.hpp>
#include <perp/io/plot/matplotlib/phase_script.hpp>

namespace perp::io {
namespace {

constexpr const char* drawing_program = R"python(
here = pathlib.Path(__file__).resolve().parent
texts = [text for text in (here / data).read_text(encoding="utf-8").split("\n\n\n") if text.strip()]
figure, ax = plt.subplots(figsize=(8, 6.5))
for text, (kind, name, colour, size) in zip(texts, blocks):
    pieces = [np.loadtxt(io.StringIO(piece), ndmin=2) for piece in text.split("\n\n") if any(line and line[0] != "#" for line in piece.split("\n"))]
    if kind in ("line", "dashed"):
        for k, piece in enumerate(pieces):
            ax.plot(piece[:, 0], piece[:, 1], "--" if kind == "dashed" else "-", color=colour, lw=size, label=name if k == 0 else None)
        continue
    rows = np.concatenate(pieces)
    rows = rows[~np.isnan(rows).any(axis=1)]
    if kind in ("hollow", "full"):
        ax.plot(rows[:, 0], rows[:, 1], "o", ms=size, mec=colour, mfc="white" if kind == "hollow" else colour, label=name, zorder=3)
        continue
    for k, (x, y, dx, dy) in enumerate(rows):
        share = 0.5 if kind == "jumps" else 1
        if kind == "jumps":
            ax.plot([x, x + dx], [y, y + dy], ":", color=colour, lw=size, label=name if k == 0 else None)
        ax.annotate("", (x + share * dx, y + share * dy), (x, y), annotation_clip=True,
                    arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 0 if kind == "jumps" else size, "shrinkA": 0, "shrinkB": 0})
    if kind == "arrows" and name:
        ax.plot([], [], color=colour, lw=size, label=name)
ax.set(title=title, xlabel=labels[0], ylabel=labels[1], xscale=scales[0], yscale=scales[1])
ax.grid(color="#D0D0D0", lw=0.5)
ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncol=3, frameon=False)
figure.savefig(here / picture, dpi=150, bbox_inches="tight")
)python";

const char* word(PhaseBlock::Kind kind) {
  switch (kind) {
    case PhaseBlock::Kind::line: return "line";
    case PhaseBlock::Kind::dashed: return "dashed";
    case PhaseBlock::Kind::arrows: return "arrows";
    case PhaseBlock::Kind::jumps: return "jumps";
    case PhaseBlock::Kind::hollow: return "hollow";
    case PhaseBlock::Kind::full: break;
  }
  return "full";
}

}  // namespace

std::string phase_script(const std::string& title, const PhaseDrawing& drawing, const std::vector<PhaseBlock>& blocks,
                         const Picture& picture) {
  const std::string name = picture.matplotlib_name();
  const auto literal = [](const std::string& text) { return Json(text).dump(); };
  std::string text = fmt::format(
      "# Written by perp; change what you like and draw with: python3 {}\nimport io\nimport pathlib\n\n"
      "import matplotlib.pyplot as plt\nimport numpy as np\n\ntitle = {}\ndata = {}\npicture = {}\nlabels = ({}, {})\n"
      "scales = (\"{}\", \"{}\")\nblocks = [  # of the data: how it is drawn, name, colour, size\n",
      name, literal(title), literal(picture.data_name()), literal(name.substr(0, name.size() - 3) + ".png"),
      literal(drawing.x_label), literal(drawing.y_label), drawing.is_x_logarithmic ? "log" : "linear",
      drawing.is_y_logarithmic ? "log" : "linear");
  for (const PhaseBlock& block : blocks)
    text += fmt::format("    (\"{}\", {}, \"{}\", {}),\n", word(block.kind), block.name.empty() ? "None" : literal(block.name),
                        block.colour, block.size);
  return text + "]\n" + drawing_program;
}

}  // namespace perp::io
