// What a phase picture shows, from the states of its runs: for scripts of gnuplot and for pages.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/plot/mode_colours.hpp>
#include <perp/io/plot/phase/phase_drawing.hpp>

namespace perp::io {
namespace {

constexpr int arrows = 5;               // on a path
constexpr double arrow_length = 0.02;   // share of the picture
constexpr double flow_length = 0.035;   // the same
constexpr double no_rate = 1e-12;       // of the fastest in the picture: rounding of a place of the grid
constexpr double frame = 0.05;          // around the paths, for layers
constexpr std::size_t most_modes = 10;  // drawn in colours of their own

/// The paths in the plane: pieces in one mode, and jumps.
class Paths {
 public:
  /// `whole`: the modes of the whole run, which give the colours.
  Paths(PhaseDrawing& drawing, const std::vector<Law>& laws, const std::vector<PhasePath>& paths, const std::vector<ModeSpan>& whole,
        int horizontal, int vertical)
      : drawing_(drawing), horizontal_(horizontal), vertical_(vertical), colours_(laws, modes_of(paths), whole) {
    single_ = laws.empty() || colours_.entries().size() > most_modes;
    if (single_)
      drawing_.modes.push_back({.name = laws.empty() ? "path" : "path, all modes", .colour = curve_colour(0)});
    else
      for (const ModeColours::Entry& entry : colours_.entries())
        drawing_.modes.push_back({.name = entry.text, .colour = entry.strong, .is_wide = entry.sliding});
    for (const PhasePath& path : paths) add(path.curves);
    std::erase_if(drawing_.modes, [](const PhaseDrawing::Lines& lines) { return lines.pieces.empty(); });
  }

 private:
  static std::vector<ModeSpan> modes_of(const std::vector<PhasePath>& paths) {
    std::vector<ModeSpan> modes;
    for (const PhasePath& path : paths) modes.insert(modes.end(), path.modes.begin(), path.modes.end());
    return modes;
  }

  void add(const Curves& curves) {
    is_empty_ = true, is_joined_ = false;
    for (const Curves::Row& row : curves.rows) {
      const PlanePoint point{row.x[horizontal_], row.x[vertical_]};
      if (std::isnan(point.x) || std::isnan(point.y))
        is_joined_ = false;
      else
        add(point, single_ ? 0 : colours_.index(row.mode));
    }
    if (!is_empty_) drawing_.ends.push_back(last_);
  }

  /// The next point of the path, in this mode.
  void add(const PlanePoint& point, std::size_t mode) {
    include(point);
    if (is_empty_)
      drawing_.starts.push_back(point);
    else if (!is_joined_ && (last_.x != point.x || last_.y != point.y))
      drawing_.jumps.emplace_back(last_, point);
    std::vector<std::vector<PlanePoint>>& pieces = drawing_.modes[mode].pieces;
    if (!is_joined_)
      pieces.push_back({point});
    else if (mode != mode_)
      pieces.push_back({last_, point});
    else
      pieces.back().push_back(point);
    mode_ = mode, is_joined_ = true, is_empty_ = false, last_ = point;
  }

  void include(const PlanePoint& point) {
    drawing_.x = {std::min(drawing_.x.lower, point.x), std::max(drawing_.x.upper, point.x)};
    drawing_.y = {std::min(drawing_.y.lower, point.y), std::max(drawing_.y.upper, point.y)};
  }

  PhaseDrawing& drawing_;
  int horizontal_, vertical_;
  ModeColours colours_;
  bool single_ = false;
  // Of the path being added: its last point with its mode, and whether the curve goes on from it.
  bool is_empty_ = true, is_joined_ = false;
  std::size_t mode_ = 0;
  PlanePoint last_;
};

double distance(const PlanePoint& a, const PlanePoint& b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// Short stretches of the paths at equal distances along them. Pieces are walked mode by mode: for the arrows only the
/// way along each of them counts.
PhaseDrawing::Vectors directions_of(const PhaseDrawing& drawing) {
  double length = 0;
  const auto for_each_stretch = [&](const auto& look) {
    for (const PhaseDrawing::Lines& lines : drawing.modes)
      for (const auto& piece : lines.pieces)
        for (std::size_t k = 1; k < piece.size(); ++k)
          look(piece[k - 1], piece[k], distance(drawing.shares(piece[k - 1]), drawing.shares(piece[k])));
  };
  for_each_stretch([&](const PlanePoint&, const PlanePoint&, double step) { length += step; });
  PhaseDrawing::Vectors list;
  if (length == 0) return list;
  const double spacing = length / (arrows * static_cast<double>(drawing.starts.size()));
  double walked = spacing / 2;
  for_each_stretch([&](const PlanePoint& from, const PlanePoint& to, double step) {
    walked += step;
    if (walked < spacing || step == 0) return;
    walked = std::fmod(walked, spacing);
    const double share = std::min(1.0, arrow_length / step);
    list.emplace_back(PlanePoint{to.x - share * (to.x - from.x), to.y - share * (to.y - from.y)}, to);
  });
  return list;
}

/// What is not positive has no place on a logarithmic axis.
void check_logarithmic(const Range& range, const DrawnColumn& column) {
  if (column.is_logarithmic && !(range.lower > 0))
    throw InvalidInput(fmt::format("--plot-log: {} goes down to {:.6g}; a logarithmic axis has positive values only",
                                   column.name, range.lower));
}

Range framed(const Range& range, bool logarithmic) {
  if (logarithmic) {
    const double factor = std::pow(range.upper / range.lower, frame);
    return {range.lower / factor, range.upper * factor};
  }
  const double height = range.upper - range.lower, size = std::max(std::abs(range.lower), std::abs(range.upper));
  const double more = height > 1e-9 * size ? frame * height : size > 0 ? 0.1 * size : 1;
  return {range.lower - more, range.upper + more};
}

/// The place of a drawn column among the variables, one of which it is: see check_layers.
int variable_of(const RunPlot& plot, int column) {
  return static_cast<int>(find_name(plot.drawn[static_cast<std::size_t>(column)].name, variable_names(plot.model), "variable"));
}

/// An arrow of one length in the direction of the rate, as the picture shows it.
void add_flow(const PhasePlane::Arrow& arrow, double rounding, PhaseDrawing& drawing) {
  if (!(std::hypot(arrow.rate.x, arrow.rate.y) > rounding)) return;  // at rest
  const auto mapped = [](double value, double rate, const Range& range, bool logarithmic) {
    return logarithmic ? rate / value / std::log(range.upper / range.lower) : rate / (range.upper - range.lower);
  };
  const double u = mapped(arrow.at.x, arrow.rate.x, drawing.x, drawing.is_x_logarithmic);
  const double v = mapped(arrow.at.y, arrow.rate.y, drawing.y, drawing.is_y_logarithmic);
  const double size = std::hypot(u, v);
  if (!(size > 0)) return;
  const auto moved = [](double value, double share, const Range& range, bool logarithmic) {
    return logarithmic ? value * std::pow(range.upper / range.lower, share) : value + share * (range.upper - range.lower);
  };
  const auto end = [&](double share) {
    return PlanePoint{moved(arrow.at.x, share * u / size, drawing.x, drawing.is_x_logarithmic),
                      moved(arrow.at.y, share * v / size, drawing.y, drawing.is_y_logarithmic)};
  };
  drawing.flow.emplace_back(end(-flow_length / 2), end(flow_length / 2));
}

/// Where laws switch.
void add_surfaces(const PhasePlane& plane, const std::vector<Law>& laws, PhaseDrawing& drawing) {
  for (const PhasePlane::Surface& surface : plane.surfaces) {
    const Law& law = laws[static_cast<std::size_t>(surface.law)];
    drawing.surfaces.push_back({.name = "surface of " + law.name, .colour = curve_colour(3 + drawing.surfaces.size())});
    for (const auto& [from, to] : surface.segments) drawing.surfaces.back().pieces.push_back({from, to});
  }
}

void add_plane(const RunPlot& plot, const PhaseLayers& layers, int horizontal, int vertical, PhaseDrawing& drawing) {
  PhasePlaneGrid grid{.horizontal = variable_of(plot, horizontal),
                      .vertical = variable_of(plot, vertical),
                      .x = drawing.x,
                      .y = drawing.y,
                      .is_x_logarithmic = drawing.is_x_logarithmic,
                      .is_y_logarithmic = drawing.is_y_logarithmic};
  if (!layers.arrows) grid.arrows = 0;
  if (!layers.surfaces) grid.cells = 0;
  const PhasePlane plane = phase_plane(plot.model, grid);
  if (layers.arrows && plane.arrows.empty())
    throw InvalidInput("there are no arrows of the flow: no solution starts at any of their places");
  drawing.flow_name = fmt::format("flow at t = {:g}", plane.t);
  double fastest = 0;
  for (const PhasePlane::Arrow& arrow : plane.arrows) fastest = std::max(fastest, std::hypot(arrow.rate.x, arrow.rate.y));
  for (const PhasePlane::Arrow& arrow : plane.arrows) add_flow(arrow, no_rate * fastest, drawing);
  add_surfaces(plane, plot.model.laws(), drawing);
}

bool has_plane(const PhaseLayers& layers) { return layers.arrows || layers.surfaces; }

bool has_equilibria(const PhaseLayers& layers) { return layers.equilibria || layers.virtual_equilibria; }

/// Is a point with these shares of the axes within the frame?
bool is_in_frame(const PlanePoint& share) { return share.x >= 0 && share.x <= 1 && share.y >= 0 && share.y <= 1; }

/// How a point at rest is called and drawn.
PhaseDrawing::Marks marks_of(const Equilibrium& point) {
  if (point.kind == EquilibriumKind::outside) return {"virtual equilibrium", "#999999", 6, {}};
  switch (point.overall) {
    case Stability::attracting: return {"stable equilibrium", "#006D2C", 7, {}};
    case Stability::saddle: return {"saddle", "#A00000", 2, {}};
    case Stability::repelling:
    case Stability::unstable: return {"unstable equilibrium", "#A00000", 6, {}};
    default: return {"equilibrium", "#333333", 13, {}};
  }
}

/// The points in the picture, by what solutions next to them do; virtual ones below the others.
void add_equilibria(const RunPlot& plot, const PhaseLayers& layers, int horizontal, int vertical, PhaseDrawing& drawing) {
  const int x = variable_of(plot, horizontal), y = variable_of(plot, vertical);
  require_laws(plot.model, "equilibria");
  for (const Equilibrium& point : equilibria_of(plot.model, plot.model.run.span.start, {}, false).points.found) {
    const PlanePoint at{point.x[x], point.x[y]}, share = drawing.shares(at);
    if (!is_in_frame(share)) continue;
    const bool is_virtual = point.kind == EquilibriumKind::outside;
    if (is_virtual ? !layers.virtual_equilibria : !layers.equilibria) continue;
    PhaseDrawing::Marks marks = marks_of(point);
    auto known = std::ranges::find(drawing.equilibria, marks.name, &PhaseDrawing::Marks::name);
    if (known == drawing.equilibria.end())
      known = drawing.equilibria.insert(is_virtual ? drawing.equilibria.begin() : known, std::move(marks));
    known->points.push_back(at);
  }
}

}  // namespace

PlanePoint PhaseDrawing::shares(const PlanePoint& point) const {
  const auto share = [](double value, const Range& range, bool logarithmic) {
    if (logarithmic) return std::log(value / range.lower) / std::log(range.upper / range.lower);
    const double size = std::max(std::abs(range.lower), std::abs(range.upper));
    return (value - range.lower) / std::max(range.upper - range.lower, size > 0 ? 1e-9 * size : 1);
  };
  return {share(point.x, x, is_x_logarithmic), share(point.y, y, is_y_logarithmic)};
}

void check_layers(const Model& model, const PhaseLayers& layers, int horizontal, int vertical) {
  if (!has_plane(layers) && !has_equilibria(layers)) return;
  const std::vector<DrawnColumn> columns = drawn_columns(model);
  for (const int column : {horizontal, vertical})
    if (const DrawnColumn& drawn = columns.at(static_cast<std::size_t>(column)); drawn.kind != DrawnColumn::Kind::variable)
      throw InvalidInput(fmt::format("surfaces, arrows and equilibria are drawn in the plane of two variables: {} is none", drawn.name));
  if (has_plane(layers)) check_phase_plane(model, horizontal, vertical);
  if (has_equilibria(layers)) require_laws(model, "equilibria");
}

PhaseDrawing phase_drawing(const RunPlot& plot, const std::vector<PhasePath>& paths, const PhaseLayers& layers,
                           int horizontal, int vertical) {
  const DrawnColumn& x = plot.drawn[static_cast<std::size_t>(horizontal)];
  const DrawnColumn& y = plot.drawn[static_cast<std::size_t>(vertical)];
  PhaseDrawing drawing{.x_label = with_unit(x.name, x.unit),
                       .y_label = with_unit(y.name, y.unit),
                       .is_x_logarithmic = x.is_logarithmic,
                       .is_y_logarithmic = y.is_logarithmic};
  Paths(drawing, plot.model.laws(), paths, plot.whole, horizontal, vertical);
  if (drawing.starts.empty()) throw InvalidInput("there is no phase picture: the run has no state for it");
  check_logarithmic(drawing.x, x);
  check_logarithmic(drawing.y, y);
  if (has_plane(layers) || has_equilibria(layers)) {
    drawing.x = framed(drawing.x, x.is_logarithmic);
    drawing.y = framed(drawing.y, y.is_logarithmic);
  }
  drawing.directions = directions_of(drawing);
  if (has_plane(layers)) add_plane(plot, layers, horizontal, vertical, drawing);
  if (has_equilibria(layers)) add_equilibria(plot, layers, horizontal, vertical, drawing);
  return drawing;
}

PhasePath phase_path(const Model& model, const std::vector<int>& columns, const Span& window) {
  Samples samples(model, columns, window, (model.run.span.end - model.run.span.start) / model.run.h);
  ModeHistory history;
  IntegrateOptions options;
  options.keep = false;
  options.bounds = model.bounds();
  options.observer = [&](const Step& step) {
    samples.add(step);
    history.add(step);
    return true;
  };
  const Trajectory run = scheme(model.run.scheme).run(model, options);
  check_interruption();
  const std::vector<DrawnColumn> all = drawn_columns(model);
  std::vector<DrawnColumn> drawn;
  for (const int column : columns) drawn.push_back(all[static_cast<std::size_t>(column)]);
  PhasePath path{.modes = history.resolved(run.events)};
  path.curves = curves(samples.finish(), drawn, ColumnValues(model, columns), path.modes, run.events);
  return path;
}

}  // namespace perp::io
