// The flow in the plane of two variables: phase pictures ask it.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include <perp/analysis/phase/phase_plane.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/state_derivative.hpp>

namespace perp {
namespace {

constexpr int most_halvings = 40;       ///< of an edge of a cell
constexpr double on_surface = 1e-9;     ///< share of the change of w along an edge

/// Starts of backward Euler at points of the plane.
class Starts {
 public:
  Starts(const Model& model, const PhasePlaneGrid& grid)
      : grid_(grid), t_(model.run.span.start), h_(model.run.h), x_(model.x0()), derivative_(equations_of(model)) {
    Model stepped = model;
    stepped.run.scheme = "backward_euler";
    stepped.run.theta = 1;
    scheme_ = capturing_scheme(stepped);
  }

  /// Makes the start at the point the present one. False: none is consistent there.
  bool at(const PlanePoint& point) {
    check_interruption();
    Vector x = x_;
    x[grid_.horizontal] = point.x;
    x[grid_.vertical] = point.y;
    std::vector<Event> events;
    return scheme_->start(t_, x, h_, events).status == Status::solved && events.empty();
  }
  /// ẋ of the present start in the plane.
  [[nodiscard]] PlanePoint rate() {
    const Vector rate = derivative_(t_, scheme_->x(), scheme_->lambda());
    return {rate[grid_.horizontal], rate[grid_.vertical]};
  }
  [[nodiscard]] Vector w() { return scheme_->w(); }
  [[nodiscard]] double t() const { return t_; }

 private:
  const PhasePlaneGrid& grid_;
  double t_, h_;
  Vector x_;
  StateDerivative derivative_;
  std::unique_ptr<Scheme> scheme_;
};

/// Share s of a range, on its axis.
double share_of(const Range& range, bool logarithmic, double s) {
  return logarithmic ? range.lower * std::pow(range.upper / range.lower, s) : range.lower + s * (range.upper - range.lower);
}

PlanePoint point_at(const PhasePlaneGrid& grid, double u, double v) {
  return {share_of(grid.x, grid.is_x_logarithmic, u), share_of(grid.y, grid.is_y_logarithmic, v)};
}

/// The values of w at which branches of a law end.
std::vector<double> ends_of(const Law& law) {
  std::vector<double> ends;
  if (is_constraint(law)) return ends;
  for (const Branch& branch : law.branches)
    for (const double end : {w_range(branch).lower, w_range(branch).upper})
      if (std::isfinite(end) && std::ranges::find(ends, end) == ends.end()) ends.push_back(end);
  return ends;
}

/// The curves of one law and one end: marching through the cells.
class SurfaceSearch {
 public:
  SurfaceSearch(Starts& starts, const PhasePlaneGrid& grid) : starts_(starts), grid_(grid), stride_(grid.cells + 1) {
    for (int j = 0; j < stride_; ++j)
      for (int i = 0; i < stride_; ++i) w_.push_back(starts_.at(node(i, j)) ? starts_.w() : Vector());
  }

  void search(int law, double end, std::vector<std::array<PlanePoint, 2>>& segments) {
    crossings_.clear();
    for (int j = 0; j < grid_.cells; ++j)
      for (int i = 0; i < grid_.cells; ++i) {
        std::vector<PlanePoint> points;
        for (const auto& [a, b] : {std::pair{std::pair{i, j}, std::pair{i + 1, j}}, {{i, j}, {i, j + 1}},
                                   {{i + 1, j}, {i + 1, j + 1}}, {{i, j + 1}, {i + 1, j + 1}}})
          if (const auto point = crossing(law, end, a, b)) points.push_back(*point);
        for (std::size_t k = 1; k < points.size(); k += 2) segments.push_back({points[k - 1], points[k]});
      }
  }

 private:
  using Node = std::pair<int, int>;
  [[nodiscard]] PlanePoint node(double i, double j) const { return point_at(grid_, i / grid_.cells, j / grid_.cells); }
  [[nodiscard]] const Vector& w(const Node& at) const { return w_[static_cast<std::size_t>(at.second * stride_ + at.first)]; }

  /// The point between two nodes at which w of the law is `end`. None: w has one side, or jumps over it.
  std::optional<PlanePoint> crossing(int law, double end, const Node& a, const Node& b) {
    if (w(a).size() == 0 || w(b).size() == 0) return std::nullopt;
    const double at_a = w(a)[law] - end, at_b = w(b)[law] - end;
    if ((at_a < 0) == (at_b < 0)) return std::nullopt;
    const auto [known, is_new] = crossings_.try_emplace({a, b});
    if (is_new) known->second = halve(law, end, a, b, at_a, at_b);
    return known->second;
  }

  std::optional<PlanePoint> halve(int law, double end, const Node& a, const Node& b, double at_a, double at_b) {
    double low = 0, high = 1;
    const double enough = on_surface * std::abs(at_b - at_a);
    double s = at_a / (at_a - at_b);  // of a w that is affine along the edge
    for (int k = 0; k < most_halvings; ++k, s = (low + high) / 2) {
      const PlanePoint point = node(a.first + s * (b.first - a.first), a.second + s * (b.second - a.second));
      if (!starts_.at(point)) return std::nullopt;
      const double value = starts_.w()[law] - end;
      if (std::abs(value) <= enough) return point;
      ((value < 0) == (at_a < 0) ? low : high) = s;
    }
    return std::nullopt;
  }

  Starts& starts_;
  const PhasePlaneGrid& grid_;
  int stride_;
  std::vector<Vector> w_;  // of the nodes, row after row; empty: no consistent start
  std::map<std::pair<Node, Node>, std::optional<PlanePoint>> crossings_;
};

void find_arrows(Starts& starts, const PhasePlaneGrid& grid, PhasePlane& plane) {
  for (int j = 0; j < grid.arrows; ++j)
    for (int i = 0; i < grid.arrows; ++i) {
      const PlanePoint at = point_at(grid, (i + 0.5) / grid.arrows, (j + 0.5) / grid.arrows);
      const PlanePoint rate = starts.at(at) ? starts.rate() : PlanePoint{nan, nan};
      if (std::isfinite(rate.x) && std::isfinite(rate.y))
        plane.arrows.push_back({at, rate});
      else
        ++plane.inconsistent;
    }
}

}  // namespace

void check_phase_plane(const Model& model, int horizontal, int vertical) {
  require_laws(model, "the flow in a plane");
  const std::vector<int> state = model.differential_variables();
  const auto name = [&](int j) { return model.variables[static_cast<std::size_t>(j)].name; };
  for (const int j : {horizontal, vertical})
    if (std::ranges::find(state, j) == state.end())
      throw InvalidInput(fmt::format("surfaces and arrows are drawn in the plane of two differential variables: {} is algebraic", name(j)));
  for (const int j : state)
    if (j != horizontal && j != vertical)
      throw InvalidInput(fmt::format("surfaces and arrows are drawn where two differential variables are the whole state: {} is a third one", name(j)));
}

PhasePlane phase_plane(const Model& model, const PhasePlaneGrid& grid) {
  check_phase_plane(model, grid.horizontal, grid.vertical);
  Starts starts(model, grid);
  PhasePlane plane{.t = starts.t()};
  if (grid.arrows > 0) find_arrows(starts, grid, plane);
  if (grid.cells <= 0) return plane;
  SurfaceSearch search(starts, grid);
  for (int i = 0; i < model.m(); ++i) {
    PhasePlane::Surface surface{.law = i};
    for (const double end : ends_of(model.laws()[static_cast<std::size_t>(i)])) search.search(i, end, surface.segments);
    if (!surface.segments.empty()) plane.surfaces.push_back(std::move(surface));
  }
  return plane;
}

}  // namespace perp
