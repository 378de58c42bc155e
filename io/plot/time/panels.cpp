// Which columns share a panel of a picture over time, for all kinds of files.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/io/plot/time/panels.hpp>

namespace perp::io {
namespace {

constexpr std::size_t most_curves_per_panel = 4;
constexpr double largest_ratio = 100;  // of the sizes of curves that share a panel

/// What does not share a panel.
enum class Group { states, laws, derivatives };

struct Panel {
  CurvePanel shown{};
  double smallest = inf, largest = 0;  // half heights
  std::string unit{};
  Group group = Group::states;
};

Group group_of(const DrawnColumn& column) {
  switch (column.kind) {
    case DrawnColumn::Kind::multiplier:
    case DrawnColumn::Kind::argument: return Group::laws;
    case DrawnColumn::Kind::derivative: return Group::derivatives;
    case DrawnColumn::Kind::variable:
    case DrawnColumn::Kind::output: break;
  }
  return Group::states;
}

/// Smallest and largest value of each curve; (0, 0) for one that is nowhere drawn.
std::vector<Range> ranges(const RunPlot& plot) {
  std::vector<Range> list(plot.drawn.size(), Range{inf, -inf});
  const auto include = [&](const Vector& x) {
    for (std::size_t j = 0; j < list.size(); ++j) {
      const double value = x[static_cast<Eigen::Index>(j)];
      if (std::isnan(value)) continue;
      list[j] = {std::min(list[j].lower, value), std::max(list[j].upper, value)};
    }
  };
  for (const Curves::Row& row : plot.curves.rows) include(row.x);
  for (const OtherRun& other : plot.others)
    for (const Vector& x : other.x) include(x);
  for (Range& range : list)
    if (!(range.lower <= range.upper)) range = {0, 0};
  return list;
}

/// Half the height of a curve; 0 where it is rounding errors only.
double half_height(const Range& range) {
  const double height = range.upper - range.lower;
  const double size = std::max(std::abs(range.lower), std::abs(range.upper));
  return height > 1e-9 * size ? height / 2 : 0;
}

void add(const RunPlot& plot, const Range& range, int curve, Panel& panel) {
  const DrawnColumn& column = plot.drawn[static_cast<std::size_t>(curve)];
  if (panel.shown.curves.empty()) {
    panel.unit = column.unit;
    panel.group = group_of(column);
  } else if (column.unit != panel.unit) {
    panel.unit.clear();
  }
  panel.shown.curves.push_back(curve);
  panel.shown.is_logarithmic = panel.shown.is_logarithmic || column.is_logarithmic;
  panel.shown.low = std::min(panel.shown.low, range.lower);
  panel.shown.high = std::max(panel.shown.high, range.upper);
}

/// May this column of that half height stand in the panel too?
bool fits(const Panel& panel, const DrawnColumn& column, double size) {
  if (panel.group != group_of(column) || panel.shown.is_logarithmic != column.is_logarithmic) return false;
  if (panel.unit != column.unit || panel.shown.curves.size() >= most_curves_per_panel) return false;
  if (size == 0 || panel.largest == 0 || column.is_logarithmic) return true;
  return std::max(panel.largest, size) <= largest_ratio * std::min(panel.smallest, size);
}

/// Columns of one unit and about one size share a panel.
std::vector<Panel> panels_by_size(const RunPlot& plot, const std::vector<Range>& range) {
  std::vector<Panel> list;
  for (std::size_t j = 0; j < plot.drawn.size(); ++j) {
    const double size = half_height(range[j]);
    auto panel = std::ranges::find_if(list, [&](const Panel& other) { return fits(other, plot.drawn[j], size); });
    if (panel == list.end()) panel = list.emplace(list.end());
    add(plot, range[j], static_cast<int>(j), *panel);
    if (size > 0) panel->smallest = std::min(panel->smallest, size);
    panel->largest = std::max(panel->largest, size);
  }
  return list;
}

std::vector<Panel> given_panels(const RunPlot& plot, const std::vector<Range>& range) {
  std::vector<Panel> list;
  for (const std::vector<int>& curves : plot.panels) {
    list.emplace_back();
    for (const int curve : curves) add(plot, range[static_cast<std::size_t>(curve)], curve, list.back());
  }
  return list;
}

/// "x1, x2 [m]"; a unit that all curves have.
std::string label_of(const RunPlot& plot, const Panel& panel) {
  std::string names;
  for (const int curve : panel.shown.curves)
    names += (names.empty() ? "" : ", ") + plot.drawn[static_cast<std::size_t>(curve)].name;
  return with_unit(names, panel.unit);
}

/// What is not positive has no place on a logarithmic axis.
void check_logarithmic(const RunPlot& plot, const std::vector<Range>& range, const CurvePanel& panel) {
  if (!panel.is_logarithmic) return;
  for (const int curve : panel.curves)
    if (const auto j = static_cast<std::size_t>(curve); !(range[j].lower > 0))
      throw InvalidInput(fmt::format("--plot-log: {} goes down to {:.6g}; a logarithmic axis has positive values only",
                                     plot.drawn[j].name, range[j].lower));
}

}  // namespace

std::vector<CurvePanel> panels_of(const RunPlot& plot) {
  const std::vector<Range> range = ranges(plot);
  std::vector<CurvePanel> list;
  for (Panel& panel : plot.panels.empty() ? panels_by_size(plot, range) : given_panels(plot, range)) {
    panel.shown.label = label_of(plot, panel);
    check_logarithmic(plot, range, panel.shown);
    list.push_back(std::move(panel.shown));
  }
  return list;
}

Range shown_times(const RunPlot& plot) {
  const std::vector<Curves::Row>& rows = plot.curves.rows;
  const auto first = std::ranges::find_if(rows, [&](const Curves::Row& row) { return !plot.is_time_logarithmic || row.t > 0; });
  if (first == rows.end())
    throw InvalidInput("--plot-log: no time of the run is positive; a logarithmic axis has positive values only");
  const double start = first->t, end = rows.back().t;
  return {start, end > start ? end : plot.is_time_logarithmic ? 2 * start : start + 1};
}

bool is_algebraic_variable(const DrawnColumn& column) {
  return column.kind == DrawnColumn::Kind::variable && column.is_algebraic;
}

std::string legend_name(const DrawnColumn& column) {
  return column.name + (is_algebraic_variable(column) ? " (algebraic)" : "");
}

}  // namespace perp::io
