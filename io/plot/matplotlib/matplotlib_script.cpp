#include <fmt/format.h>

#include <perp/io/json.hpp>
#include <perp/io/plot/matplotlib/matplotlib_script.hpp>
#include <perp/io/plot/mode_colours.hpp>

namespace perp::io {
namespace {

constexpr const char* drawing = R"python(
here = pathlib.Path(__file__).resolve().parent
blocks = (here / data).read_text(encoding="utf-8").split("\n\n\n")
rows, jumps, *runs = (np.loadtxt(io.StringIO(block), ndmin=2) for block in blocks if block.strip())
figure, axes = plt.subplots(len(panels), sharex=True, squeeze=False, figsize=(9, 1.5 + 2.5 * len(panels)))
for ax, (label, curves, scale) in zip(axes[:, 0], panels):
    for start, end, _, colour in modes:
        ax.axvspan(start, end, color=colour, lw=0)
    for column, name, colour, style in curves:
        ax.plot(rows[:, 0], rows[:, column], style, color=colour, label=name)
        for t, low, high in jumps[jumps[:, 3] == column + 1, :3]:
            ax.plot([t, t], [low, high], ":", color=colour)
    for run, name in zip(runs, others):
        known = [column for column, _, _, _ in curves if not np.isnan(run[:, column]).all()]
        for k, column in enumerate(known):
            ax.plot(run[:, 0], run[:, column], ":", color="#222222", lw=1, label=name if k == 0 else None)
    ax.set_ylabel(label)
    ax.set_yscale(scale)
    ax.set_xscale(time_scale)
    ax.grid(color="#D0D0D0", lw=0.5)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
axes[0, 0].set_title(title)
axes[-1, 0].set_xlabel("t")
axes[-1, 0].set_xlim(rows[rows[:, 0] > 0, 0][0] if time_scale == "log" else rows[0, 0], rows[-1, 0])
colours = {text: colour for _, _, text, colour in modes}
figure.legend(handles=[Patch(color=colour, label=text) for text, colour in colours.items()], loc="upper center",
              bbox_to_anchor=(0.5, 0.02), ncol=3, frameon=False)
figure.savefig(here / picture, dpi=150, bbox_inches="tight")
)python";

/// A text as Python writes it, which is as JSON does.
std::string literal(const std::string& text) { return Json(text).dump(); }

std::string panel_text(const RunPlot& plot, const CurvePanel& panel) {
  std::string text = fmt::format("    ({}, [", literal(panel.label));
  for (std::size_t k = 0; k < panel.curves.size(); ++k) {
    const DrawnColumn& column = plot.drawn[static_cast<std::size_t>(panel.curves[k])];
    const bool is_dashed = column.kind == DrawnColumn::Kind::variable && column.is_algebraic;
    text += fmt::format("{}({}, {}, \"{}\", \"{}\")", k > 0 ? ", " : "", panel.curves[k] + 1, literal(column.name),
                        curve_colour(k), is_dashed ? "--" : "-");
  }
  return text + fmt::format("], \"{}\"),\n", panel.is_logarithmic ? "log" : "linear");
}

/// A list of texts.
std::string names_of(const std::vector<OtherRun>& runs) {
  Json names = Json::array();
  for (const OtherRun& run : runs) names.push_back(run.name);
  return names.dump();
}

}  // namespace

std::string matplotlib_script(const RunPlot& plot, const std::vector<CurvePanel>& panels, const Picture& picture) {
  std::string text = fmt::format("# Written by perp; change what you like and draw with: python3 {0}\nimport io\nimport pathlib\n\n"
                                 "import matplotlib.pyplot as plt\nimport numpy as np\nfrom matplotlib.patches import Patch\n\n"
                                 "title = {1}\ndata = {2}\npicture = {3}\ntime_scale = \"{4}\"\n"
                                 "others = {5}\npanels = [  # label, (column of the data, name, colour, line), scale\n",
                                 picture.matplotlib_name(), literal(plot.model.name), literal(picture.data_name()),
                                 literal(picture.matplotlib_name().substr(0, picture.matplotlib_name().size() - 3) + ".png"),
                                 plot.is_time_logarithmic ? "log" : "linear", names_of(plot.others));
  for (const CurvePanel& panel : panels) text += panel_text(plot, panel);
  text += "]\nmodes = [  # start, end, name, colour\n";
  const ModeColours colours(plot.model.laws(), plot.modes, plot.whole);
  if (!plot.model.laws().empty())
    for (const ModeSpan& span : plot.modes) {
      const ModeColours::Entry& entry = colours.entries()[colours.index(span.mode)];
      if (span.end > span.start)
        text += fmt::format("    ({}, {}, {}, \"{}\"),\n", span.start, span.end, literal(entry.text), entry.light);
    }
  return text + "]\n" + drawing;
}

}  // namespace perp::io
