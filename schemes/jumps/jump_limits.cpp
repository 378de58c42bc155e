#include <algorithm>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/exact_norm.hpp>
#include <perp/schemes/jumps/jump_limits.hpp>

namespace perp {
namespace {

constexpr double same_point = 1e-12;  // share of the terms of a row of E x
constexpr double no_change = 1e-12;   // likewise
constexpr int of_impulses = -2;       // 1/h = √h^-2

using Number = JumpLimits::Number;
using Point = JumpLimits::Point;

bool is_finite(const Number& value) { return value.is_zero() || value.order() >= 0; }

bool is_finite(const Point& values) {
  return std::all_of(values.begin(), values.end(),
                     [](const Number& value) { return is_finite(value); });
}

bool moves(const Point& change) {
  return std::any_of(change.begin(), change.end(),
                     [](const Number& value) { return !value.is_zero(); });
}

/// The share of the line from one change of state to another at which it is nearest to 0; nothing where that is none of
/// it.
std::optional<Number> nearest_share(const Point& from, const Point& to) {
  Number along = 0, length = 0;
  for (std::size_t k = 0; k < from.size(); ++k) {
    const Number part = to[k] - from[k];
    along -= from[k] * part;
    length += part * part;
  }
  if (length.is_zero()) return std::nullopt;
  const Number share = along / length;
  if (share < 0 || share > 1) return std::nullopt;
  return share;
}

bool holds(const Interval<Number>& range, const Number& value) {
  return !(range.lower && value < *range.lower) && !(range.upper && value > *range.upper);
}

/// Of the largest order in h that an entry has.
Number leading_of(const Point& values) {
  Number largest;
  for (const Number& value : values) largest = std::max(largest, Arithmetic<Number>::size(value));
  return {largest.order(), largest.leading()};
}

}  // namespace

JumpLimits::Limit JumpLimits::limit_of(const Point& y, bool is_direction) const {
  Limit limit;
  for (Eigen::Index i = 0; i < step_.E.rows(); ++i) {
    Number sum = 0;
    for (Eigen::Index j = 0; j < step_.E.cols(); ++j)
      if (const double entry = step_.E(i, j); entry != 0)
        sum += Number(entry) * (is_direction ? y[at(j)] : y[at(j)] - Number(step_.x[j]));
    limit.push_back(sum.coefficient(0));
  }
  for (const int power : {0, of_impulses})
    for (const Number& value : y) limit.push_back(value.coefficient(power));
  return limit;
}

/// Of largest entry 1 in what E sees of it.
JumpLimits::Limit JumpLimits::limit_of_direction(Point y) const {
  const Number unit = leading_of(step_.change(y, true));
  for (Number& value : y) value /= unit;
  return limit_of(y, true);
}

/// The vertices at a finite distance.
std::vector<Point> JumpLimits::finite_points(const Generators<Number>& generators) const {
  std::vector<Point> points;
  for (const Point& vertex : generators.vertices)
    if (is_finite(step_.change(vertex, false))) points.push_back(vertex);
  return points;
}

/// The directions in which there are solutions at every distance; ends of `bounded` are among them.
std::vector<JumpLimits::Limit> JumpLimits::directions_of(const Generators<Number>& generators) const {
  std::vector<Limit> directions;
  for (const Point& vertex : generators.vertices)
    if (!is_finite(step_.change(vertex, false))) directions.push_back(limit_of_direction(vertex));
  for (const auto* list : {&generators.rays, &generators.lines})
    for (const Point& ray : *list)
      if (moves(step_.change(ray, true))) directions.push_back(limit_of_direction(ray));
  return directions;
}

ConsistentJump JumpLimits::operator()(const Mode& mode, const Generators<Number>& generators) const {
  std::vector<Point> points = finite_points(generators);
  Generators<Rational> limits{{}, directions_of(generators), {}};
  for (const Point& point : points) limits.vertices.push_back(limit_of(point, false));
  ConsistentJump jump;
  jump.is_continuum = !change(generators);
  if (jump.is_continuum) {
    jump.vertices = states_of(limits.vertices);
    jump.directions = states_of(limits.rays);
  }
  if (points.empty()) {
    points.push_back(between(generators.vertices));
    limits.vertices.push_back(limit_of(points.front(), false));
  }
  const auto rows = static_cast<std::size_t>(step_.E.rows());
  const ExactNearest nearest = exact_nearest(limits, ExactNorm::of_coordinates(0, rows, std::vector<Rational>(limits.vertices[0].size())));
  write(Mode(mode.begin(), mode.begin() + step_.m()), points, nearest.y, jump);
  jump.amplitude = is_at_rest(jump.x()) ? 0 : root(nearest.square);
  return jump;
}

bool JumpLimits::same(const Vector& a, const Vector& b) const {
  const Vector terms = step_.E.cwiseAbs() * step_.x.cwiseAbs() + a.cwiseAbs() + b.cwiseAbs();
  return ((a - b).cwiseAbs().array() <= same_point * terms.array()).all();
}

/// The columns x of these.
Matrix JumpLimits::states_of(const std::vector<Limit>& limits) const {
  const auto first = static_cast<std::size_t>(step_.E.rows());
  Matrix states(limits.empty() ? 0 : step_.n(), static_cast<Eigen::Index>(limits.size()));
  for (Eigen::Index k = 0; k < states.cols(); ++k)
    for (Eigen::Index j = 0; j < states.rows(); ++j)
      states(j, k) = to_double(limits[at(k)][first + at(j)]) + 0.0;
  return states;
}

/// Does no row of E x change by more than its rounding, each in its own unit?
bool JumpLimits::is_at_rest(const Vector& x) const {
  const Vector terms = step_.E.cwiseAbs() * (x.cwiseAbs() + step_.x.cwiseAbs());
  const Vector change = (step_.E * (x - step_.x)).cwiseAbs();
  return (change.array() <= no_change * terms.array()).all();
}

void JumpLimits::write(Mode mode, const std::vector<Point>& points, const Limit& nearest, ConsistentJump& jump) const {
  const int n = step_.n(), m = step_.m();
  const auto rows = static_cast<std::size_t>(step_.E.rows()), size = (nearest.size() - rows) / 2;
  Vector first(n + m), impulse(n + m);
  for (int j = 0; j < n + m; ++j) {
    first[j] = to_double(nearest[rows + at(j)]) + 0.0;
    impulse[j] = to_double(nearest[rows + size + at(j)]) + 0.0;
    const auto grows_faster = [&](const Point& point) { return !point[at(j)].is_zero() && point[at(j)].order() < of_impulses; };
    if (std::ranges::any_of(points, grows_faster)) impulse[j] = nan;
  }
  jump.continuations = {{std::move(mode), first.head(n), first.tail(m)}};
  jump.impulse_x = impulse.head(n);
  jump.impulse_lambda = impulse.tail(m);
}

/// E x⁺ is finite: what of x has an impulse is nothing to E.
Point JumpLimits::without_impulses(Point y) const {
  for (Number& value : y) value -= Number(of_impulses, value.coefficient(of_impulses));
  return y;
}

bool JumpLimits::is_in_branches(const Mode& mode, const Point& y) const {
  for (int i = 0; i < step_.m(); ++i) {
    const LawBranch<Number>& branch = step_.problem.branch(mode, i);
    const Number w = output(step_.problem, i, y, false).value, &lambda = y[at(step_.problem.p + i)];
    const bool is_on_line = branch.a * w + branch.b * lambda == branch.c;
    if (!is_on_line || (branch.b != 0 && !holds(branch.w, w)) || (branch.a != 0 && !holds(branch.lambda, lambda))) return false;
  }
  return true;
}

bool JumpLimits::go_on(const Mode& mode, const Generators<Number>& generators) const {
  return std::ranges::all_of(generators.vertices,
                             [&](const Point& vertex) { return is_in_branches(mode, without_impulses(vertex)); });
}

std::optional<std::vector<Rational>> JumpLimits::change(const Generators<Number>& generators) const {
  std::optional<std::vector<Rational>> only;
  for (const Point& vertex : generators.vertices) {
    const Point moved = step_.change(vertex, false);
    if (!is_finite(moved)) return std::nullopt;
    std::vector<Rational> here;
    for (const Number& value : moved) here.push_back(value.coefficient(0));
    if (only && *only != here) return std::nullopt;
    only = std::move(here);
  }
  for (const auto* list : {&generators.rays, &generators.lines})
    for (const Point& ray : *list)
      if (moves(step_.change(ray, true))) return std::nullopt;
  return only;
}

/// A point of a set without an end of its own: of the lines between two ends of `bounded` that
/// opposite ones are on pass at a finite distance; where they do, the point nearest to the state
/// before.
Point JumpLimits::between(const std::vector<Point>& ends) const {
  for (std::size_t i = 0; i < ends.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const std::optional<Number> share = nearest_share(step_.change(ends[j], false), step_.change(ends[i], false));
      if (!share) continue;
      Point point = ends[j];
      for (std::size_t k = 0; k < point.size(); ++k)
        point[k] += *share * (ends[i][k] - ends[j][k]);
      if (is_finite(step_.change(point, false))) return point;
    }
  return ends.front();
}

}  // namespace perp
