// The sparsity pattern of a hybrid model before and after ordering: perp check --plot.
#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include <perp/core/base/index.hpp>
#include <perp/io/hybrid/incidence_plot.hpp>

namespace perp::io {
namespace {

constexpr int most_named = 40;  ///< rows and unknowns with their names

struct Order {
  std::vector<int> rows, unknowns;
};

std::string points(const HybridStructure& structure, const Order& order) {
  std::vector<int> place(structure.block_of_unknown.size(), -1);
  for (std::size_t k = 0; k < order.unknowns.size(); ++k)
    place[at(order.unknowns[k])] = static_cast<int>(k) + 1;
  std::string text;
  for (std::size_t k = 0; k < order.rows.size(); ++k)
    for (const int unknown : structure.unknowns_of_row[at(order.rows[k])])
      text += fmt::format("{} {}\n", place[at(unknown)], k + 1);
  return text;
}

std::string tics(const char* axis, const std::vector<std::string>& names) {
  if (names.size() > most_named) return fmt::format("set {}tics auto\n", axis);
  std::string list;
  for (std::size_t k = 0; k < names.size(); ++k)
    list += fmt::format("{}{} {}", k > 0 ? ", " : "", gnuplot_text(names[k]), k + 1);
  return fmt::format("set {}tics ({}) noenhanced{}\n", axis, list,
                     *axis == 'x' ? " rotate by 60 right" : "");
}

std::string panel(const HybridModel& model, const HybridStructure& structure, const Order& order,
                  const char* title, int index, double size) {
  std::vector<std::string> rows, unknowns;
  for (const int row : order.rows) rows.push_back(model.row_name(row));
  for (const int unknown : order.unknowns)
    unknowns.push_back(unknown_name(model, structure, unknown));
  return fmt::format(
      "set title '{}'\nset xrange [0.5:{}]\nset yrange [{}:0.5]\n{}{}"
      "plot data index {} using 1:2 with points pt 5 ps {} lc rgb '#0072B2' notitle\n",
      title, static_cast<double>(unknowns.size()) + 0.5, static_cast<double>(rows.size()) + 0.5,
      tics("x", unknowns), tics("y", rows), index, size);
}

std::string frames(const HybridStructure& structure) {
  std::string text;
  double row = 0.5, column = 0.5;
  int number = 0;
  for (const SubProblem& block : structure.blocks) {
    const double row_end = row + static_cast<double>(block.rows.size());
    const double column_end = column + static_cast<double>(block.unknowns.size());
    text += fmt::format(
        "set object {} rectangle from {},{} to {},{} fs empty border lc rgb '#D55E00' lw 1.5 "
        "front\n",
        ++number, column, row, column_end, row_end);
    row = row_end;
    column = column_end;
  }
  return text;
}

}  // namespace

void draw_incidence(const Picture& picture, const HybridModel& model,
                    const HybridStructure& structure) {
  Order before, after;
  before.rows.resize(structure.unknowns_of_row.size());
  before.unknowns.resize(structure.block_of_unknown.size());
  std::iota(before.rows.begin(), before.rows.end(), 0);
  std::iota(before.unknowns.begin(), before.unknowns.end(), 0);
  for (const SubProblem& block : structure.blocks) {
    after.rows.insert(after.rows.end(), block.rows.begin(), block.rows.end());
    after.unknowns.insert(after.unknowns.end(), block.unknowns.begin(), block.unknowns.end());
  }
  const double size = std::clamp(40.0 / static_cast<double>(before.rows.size() + 1), 0.1, 2.0);
  std::string script = picture.preamble(1000, 520);
  script += "set multiplot layout 1,2\nset size ratio -1\nset tics out nomirror scale 0.4\nset bmargin 6\n"
            "set grid lc rgb '#eeeeee'\n";
  script += panel(model, structure, before, "as the file has it", 0, size);
  script += frames(structure);
  script += panel(model, structure, after, "in the order of the sub-problems", 1, size);
  script += "unset multiplot\n";
  picture.draw(script, data_block("as the file has it: unknown row", points(structure, before)) +
                           data_block("in the order of the sub-problems: unknown row",
                                      points(structure, after)));
}

}  // namespace perp::io
