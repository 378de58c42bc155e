#include <algorithm>
#include <utility>

#include <perp/core/base/index.hpp>
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

double limit(const Number& value) {
  return is_finite(value) ? to_double(value.coefficient(0)) + 0.0 : nan;
}

Vector limits(const Point& values) {
  Vector result(static_cast<Eigen::Index>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    result[static_cast<Eigen::Index>(i)] = limit(values[i]);
  return result;
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

Matrix beside(const std::vector<Vector>& columns) {
  Matrix result(columns.empty() ? 0 : columns.front().size(),
                static_cast<Eigen::Index>(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k)
    result.col(static_cast<Eigen::Index>(k)) = columns[k];
  return result;
}

bool holds(const Interval<Number>& range, const Number& value) {
  return !(range.lower && value < *range.lower) && !(range.upper && value > *range.upper);
}

}  // namespace

ConsistentJump JumpLimits::operator()(const Mode& mode, const Generators<Number>& generators) const {
  const Ends ends = ends_of(generators);
  ConsistentJump jump;
  jump.is_continuum = !ends.directions.empty() || ends.nearest == nullptr ||
                      std::any_of(ends.points.begin(), ends.points.end(), [&](const Vector& point) {
                        return !same(point, ends.points.front());
                      });
  write(Mode(mode.begin(), mode.begin() + step_.m()),
        ends.nearest != nullptr ? *ends.nearest : between(generators.vertices), ends.least, jump);
  if (jump.is_continuum) {
    jump.vertices = beside(ends.points);
    jump.directions = beside(ends.directions);
  }
  return jump;
}

bool JumpLimits::same(const Vector& a, const Vector& b) const {
  const Matrix& E = step_.E;
  const auto known = [](const Vector& x) {
    return Vector(x.unaryExpr([](double v) { return std::isnan(v) ? 0 : v; }));
  };
  const Vector terms =
      E.cwiseAbs() * (known(a).cwiseAbs() + known(b).cwiseAbs() + step_.x.cwiseAbs());
  const Vector change = (E * (known(a) - known(b))).cwiseAbs();
  return (change.array() <= same_point * terms.array()).all();
}

/// Of the unknowns that no row of E holds.
Point JumpLimits::without_impulses(Point y) const {
  for (std::size_t j = 0; j < y.size(); ++j)
    if (static_cast<int>(j) >= step_.n() || step_.E.col(static_cast<Eigen::Index>(j)).isZero(0))
      y[j] -= Number(of_impulses, y[j].coefficient(of_impulses));
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

JumpLimits::Ends JumpLimits::ends_of(const Generators<Number>& generators) const {
  Ends ends;
  for (const Point& vertex : generators.vertices) {
    const Point moved = step_.change(vertex, false);
    if (!is_finite(moved)) {  // an end of `bounded`: a direction
      ends.directions.push_back(state(vertex, true));
      continue;
    }
    ends.points.push_back(state(vertex, false));
    if (const double length = limits(moved).stableNorm(); length < ends.least) {
      ends.least = length;
      ends.nearest = &vertex;
    }
  }
  for (const auto* list : {&generators.rays, &generators.lines})
    for (const Point& ray : *list)
      if (moves(step_.change(ray, true))) ends.directions.push_back(state(ray, true));
  return ends;
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

/// Limit of x⁺; of a direction that of largest entry 1 in E x.
Vector JumpLimits::state(const Point& y, bool direction) const {
  Point x(y.begin(), y.begin() + step_.n());
  if (direction) {
    Number largest;
    for (const Number& value : step_.change(y, true))
      largest = std::max(largest, Arithmetic<Number>::size(value));
    const Number unit(largest.order(), largest.leading());
    for (Number& value : x) value /= unit;
  }
  return limits(x);
}

void JumpLimits::write(Mode mode, const Point& y, double amplitude, ConsistentJump& jump) const {
  const int n = step_.n(), m = step_.m();
  const Matrix& E = step_.E;
  Vector first = Vector::Zero(n + m), impulse = Vector::Zero(n + m);
  for (int j = 0; j < n + m; ++j) {
    const Number& value = y[static_cast<std::size_t>(j)];
    const bool is_differential = j < n && !E.col(j).isZero(0);
    first[j] = is_differential ? limit(value) : to_double(value.coefficient(0)) + 0.0;
    if (!is_differential) impulse[j] = limit(value * Number(2, 1));  // times h
  }
  jump.continuations = {{std::move(mode), first.head(n), first.tail(m)}};
  jump.impulse_x = impulse.head(n);
  jump.impulse_lambda = impulse.tail(m);
  // each row of E x in its own unit
  const Vector after = first.head(n).unaryExpr([](double v) { return std::isnan(v) ? 0 : v; });
  const Vector terms = E.cwiseAbs() * (after.cwiseAbs() + step_.x.cwiseAbs());
  const Vector change = (E * (after - step_.x)).cwiseAbs();
  const bool moves = (change.array() > no_change * terms.array()).any();
  jump.amplitude = moves || std::isinf(amplitude) ? amplitude : 0;
}

}  // namespace perp
