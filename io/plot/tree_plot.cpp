#include <fmt/format.h>
#include <algorithm>

#include <perp/analysis/run/columns.hpp>
#include <perp/core/base/types.hpp>
#include <perp/io/plot/blocks/block_drawing.hpp>
#include <perp/io/plot/tree_plot.hpp>

namespace perp::io {
namespace {

constexpr int width = 900, top = 46, gap = 16, axis = 56, legend = 34, left = 92;

using Kind = DrawnBlock::Kind;

/// The blocks of the data file; each is drawn in its own way.
struct Block {
  const char* comment;
  const char* style;
  const char* title;
  DrawnBlock look;  ///< without its name
  std::string rows{};
};

std::string values(const Vector& x, const std::vector<int>& variables) {
  std::string text;
  for (const int j : variables) text += fmt::format(" {}", x[j]);
  return text;
}

std::vector<Block> blocks(const MergedTree& tree, const std::vector<int>& variables) {
  std::vector<Block> list{
      {"steps on ways to the end", "with lines lw 1.5 lc rgb '#0072B2'", "solution of a step", {.kind = Kind::line, .colour = "#0072B2"}},
      {"steps on ways that end before",
       "with lines lw 1.5 dt (6,4) lc rgb '#909090'",
       "leads to no end",
       {.kind = Kind::dashed, .colour = "#909090"}},
      {"states", "with points pt 7 ps 0.5 lc rgb '#0072B2'", "state",
       {.kind = Kind::full, .colour = "#0072B2", .size = 3}},
      {"states without a next one",
       "with points pt 2 ps 1.1 lw 2 lc rgb '#A00000'",
       "dies: no solution",
       {.kind = Kind::marks, .colour = "#A00000", .size = 7}},
      {"states that were not followed",
       "with points pt 6 ps 0.9 lw 1.5 lc rgb '#D55E00'",
       "not followed",
       {.kind = Kind::hollow, .colour = "#D55E00", .size = 6}}};
  for (const MergedEdge& edge : tree.edges) {
    const MergedNode& from = tree.nodes[static_cast<std::size_t>(edge.from)];
    const MergedNode& to = tree.nodes[static_cast<std::size_t>(edge.to)];
    list[to.survives ? 0 : 1].rows +=
        fmt::format("{}{}\n{}{}\n\n", from.t, values(from.x, variables), to.t,
                    values(edge.choice.state.x, variables));
  }
  for (const MergedNode& node : tree.nodes) {
    const std::size_t kind = node.status == Status::no_solution ? 3
                             : node.status == Status::solved    ? 2
                                                                : 4;
    list[kind].rows += fmt::format("{}{}\n", node.t, values(node.x, variables));
  }
  return list;
}

/// Smallest and largest value of a variable.
std::pair<double, double> extent(const MergedTree& tree, int variable) {
  double low = tree.nodes[0].x[variable], high = low;
  for (const MergedEdge& edge : tree.edges) {
    low = std::min(low, edge.choice.state.x[variable]);
    high = std::max(high, edge.choice.state.x[variable]);
  }
  return {low, high};
}

/// What programs beside the picture, and pages, draw.
BlockDrawing drawing_of(const Model& model, const std::vector<Block>& blocks, const std::vector<int>& variables) {
  BlockDrawing drawing{.title = model.name};
  for (const int variable : variables) {
    const Variable& shown = model.variables[static_cast<std::size_t>(variable)];
    drawing.panels.push_back({.x_label = "t", .y_label = with_unit(shown.name, shown.unit)});
  }
  for (const Block& block : blocks) {
    drawing.blocks.push_back(block.look);
    if (!block.rows.empty()) drawing.blocks.back().name = block.title;
  }
  return drawing;
}

/// The end of the time axis; a tree may die at its start.
double last_time(const MergedTree& tree) {
  const double start = tree.nodes.front().t, end = tree.nodes.back().t;
  return end > start ? end : start + 1;
}

std::string label(const Variable& variable) {
  return gnuplot_text(with_unit(variable.name, variable.unit));
}

/// Panels of variables, one below the other.
class Panels {
 public:
  explicit Panels(std::size_t count) : count_(static_cast<int>(count)) {}

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int height() const { return top + count_ * (panel() + gap) - gap + axis + legend; }
  [[nodiscard]] double top_of(int k) const { return screen(top + k * (panel() + gap)); }
  [[nodiscard]] double bottom_of(int k) const { return screen(top + k * (panel() + gap) + panel()); }

 private:
  [[nodiscard]] int panel() const { return count_ == 1 ? 400 : count_ == 2 ? 260 : 180; }
  [[nodiscard]] double screen(int from_top) const { return 1 - static_cast<double>(from_top) / height(); }

  int count_;
};

/// "plot data index 0 ...": the blocks that have rows, of variable k.
std::string plot_commands(const std::vector<Block>& blocks, int k) {
  std::string text = "plot ";
  bool first = true;
  for (std::size_t j = 0; j < blocks.size(); ++j) {
    if (blocks[j].rows.empty()) continue;
    text += fmt::format("{}data index {} using 1:{} {} title {}", first ? "" : ", \\\n     ", j,
                        k + 2, blocks[j].style, gnuplot_text(blocks[j].title));
    first = false;
  }
  return text;
}

/// Panel k; the time stands below the last one, and the key.
std::string panel_commands(const Panels& panels, int k, const Variable& variable, const std::string& range) {
  const bool is_last = k + 1 == panels.count();
  return fmt::format(
      "\nset tmargin at screen {:.4f}\nset bmargin at screen {:.4f}\nset format x '{}'\n"
      "set xlabel {}\nset ylabel {} noenhanced\nset yrange {}\n{}",
      panels.top_of(k), panels.bottom_of(k), is_last ? "%g" : "", is_last ? "'t'" : "''", label(variable), range,
      is_last ? "" : "unset key\n");
}

}  // namespace

void draw_tree(const Picture& picture, const Model& model, const MergedTree& tree,
               const std::vector<int>& variables) {
  const std::vector<Block> list = blocks(tree, variables);
  const Panels panels(variables.size());
  std::string data, script = picture.preamble(width, panels.height());
  for (std::size_t k = 0; k < list.size(); ++k)
    data +=
        data_block(fmt::format("index {}, {}: t and variables", k, list[k].comment), list[k].rows);
  script += fmt::format(
      "set title {} noenhanced font ',14'\nset border 3 lw 0.8 lc rgb '#333333'\n"
      "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
      "set grid back lt 1 lw 0.5 lc rgb '#D0D0D0'\n"
      "set offsets 0, 0, graph 0.05, graph 0.05\nset xrange [{}:{}]\n"
      "set lmargin at screen {:.4f}\nset rmargin at screen 0.97\n"
      "set key noenhanced at screen {:.4f},{:.4f} left bottom horizontal reverse Left samplen 2.5\n"
      "set multiplot\n",
      gnuplot_text(model.name), tree.nodes.front().t, last_time(tree),
      static_cast<double>(left) / width, static_cast<double>(left) / width, 8.0 / panels.height());
  for (int k = 0; k < panels.count(); ++k) {
    const int variable = variables[static_cast<std::size_t>(k)];
    const auto [low, high] = extent(tree, variable);
    script += panel_commands(panels, k, model.variables[static_cast<std::size_t>(variable)], axis_range(low, high)) +
              plot_commands(list, k) + "\nunset title\n";
    if (k + 2 == panels.count()) script += "set key\n";
  }
  draw_blocks(picture, drawing_of(model, list, variables), script + "unset multiplot\n", data);
}

}  // namespace perp::io
