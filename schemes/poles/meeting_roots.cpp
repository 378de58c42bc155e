// Where unknowns that no formula gives meet another root of their equations: asked by FollowedUnknowns where they
// are no simple root.
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/schemes/poles/followed_unknowns.hpp>

namespace perp {
namespace {

using enclosure::Interval;

/// Powers of two of an unknown, or of 1 where it is 0: distances beside it at which the determinant is looked at, as
/// long as rounding does not tell the equations from 0 there.
constexpr int nearest_side = -56, nearest_to_zero = -1000, farthest_side = 1000;
constexpr double rounding = 0x1p-49;  ///< of t and of what is given: that of a step
constexpr double at_once = 0x1p-20;  ///< of a path and of a state, within which two of them are one
constexpr double near_root = 0x1p-4;  ///< of an unknown, by which Newton's method may correct that of a path

std::size_t place(int i, int j, int n) { return static_cast<std::size_t>(i * n + j); }

/// The row from k on with the entry of column k that is farthest from 0.
int pivot_of(const std::vector<Interval>& J, int k, int n) {
  int pivot = k;
  for (int i = k + 1; i < n; ++i)
    if (mignitude(J[place(i, k, n)]) > mignitude(J[place(pivot, k, n)])) pivot = i;
  return pivot;
}

/// The rows below k without their entries of column k.
void eliminate_below(std::vector<Interval>& J, int k, int n) {
  for (int i = k + 1; i < n; ++i) {
    const Interval factor = J[place(i, k, n)] / J[place(k, k, n)];
    if (factor.is_zero()) continue;
    for (int j = k + 1; j < n; ++j) J[place(i, j, n)] = J[place(i, j, n)] - factor * J[place(k, j, n)];
  }
}

/// The sign of the determinant of every matrix in J (n×n); 0: not told.
int sign_of_determinant(std::vector<Interval> J, int n) {
  int sign = 1;
  for (int k = 0; k < n; ++k) {
    const int pivot = pivot_of(J, k, n);
    const Interval head = J[place(pivot, k, n)];
    if (!(head.has_value() && mignitude(head) > 0)) return 0;
    if ((pivot != k) != (head.hi < 0)) sign = -sign;
    for (int j = k; j < n; ++j) std::swap(J[place(k, j, n)], J[place(pivot, j, n)]);
    eliminate_below(J, k, n);
  }
  return sign;
}

std::vector<double> points(const std::vector<Interval>& z) {
  std::vector<double> m;
  for (const Interval& value : z) m.push_back(middle(value));
  return m;
}

/// The last power of two from `first` on, which holds, for which a statement holds; by halving.
template <class Holds>
int last_power(int first, const Holds& holds) {
  int last = first;
  for (int beyond = farthest_side + 1; beyond - last > 1;) {
    const int half = last + (beyond - last) / 2;
    (holds(half) ? last : beyond) = half;
  }
  return last;
}

}  // namespace

int FollowedUnknowns::orientation(const Point& at, const std::vector<double>& z) const {
  const std::vector<Interval> point(z.begin(), z.end());
  return sign_of_determinant(function_.jacobian(at.t, at.x, point), static_cast<int>(z.size()));
}

/// Do the equations vanish here, as far as rounding lets see?
bool FollowedUnknowns::vanishes(const Point& at, const std::vector<double>& z) const {
  const auto widened = [](const Interval& value) { return value + enclosure::symmetric(rounding * magnitude(value)); };
  std::vector<Interval> given;
  for (const Interval& value : at.x) given.push_back(widened(value));
  const std::vector<Interval> point(z.begin(), z.end());
  const std::vector<Interval> rows = function_.rows(widened(at.t), given, point);
  return std::ranges::all_of(rows, [](const Interval& row) { return row.has_value() && row.contains(0.0); });
}

/// Has the determinant one sign between two points? It has no other at any of them.
bool FollowedUnknowns::keeps_orientation(const Point& at, const std::vector<double>& a, const std::vector<double>& b) const {
  std::vector<Interval> box;
  for (std::size_t k = 0; k < a.size(); ++k) box.push_back(hull(Interval(a[k]), Interval(b[k])));
  return sign_of_determinant(function_.jacobian(at.t, at.x, box), static_cast<int>(box.size())) != 0;
}

/// Has the determinant both signs next to z, along unknown k, where the equations have no other values than 0? Of the
/// powers of two at which they vanish only the last ones are looked at; these are found by halving.
bool FollowedUnknowns::turns_along(std::size_t k, const Point& at, const std::vector<double>& z) const {
  const double size = z[k] != 0 ? std::abs(z[k]) : 1;
  std::vector<double> below = z, above = z;
  const auto vanishes_beside = [&](int e) {
    below[k] = z[k] - std::ldexp(size, e);
    above[k] = z[k] + std::ldexp(size, e);
    return vanishes(at, below) && vanishes(at, above);
  };
  const int first = z[k] != 0 ? nearest_side : nearest_to_zero;
  if (!vanishes_beside(first)) return false;
  const int last = last_power(first, vanishes_beside);
  below[k] = z[k] - std::ldexp(size, last);
  above[k] = z[k] + std::ldexp(size, last);
  if (keeps_orientation(at, below, above)) return false;
  for (int e = std::max(first, last + nearest_side); e <= farthest_side && vanishes_beside(e); ++e)
    if (orientation(at, below) * orientation(at, above) < 0) return true;
  return false;
}

/// Is it a double root? By the theorem on the degree another root begins there, while z^3 = x has one for each x.
bool FollowedUnknowns::is_fold(const Point& at, const std::vector<double>& z) const {
  for (std::size_t k = 0; k < z.size(); ++k)
    if (turns_along(k, at, z)) return true;
  return false;
}

/// The orientation of the root at an end of a path that its states tell; 0: there is none near them.
int FollowedUnknowns::orientation_at(const SolutionPath& path, bool at_end) {
  const Point here = point(path, at_end ? 1 : 0);
  const std::vector<double> z = guess(path, at_end), root = points(function_.approach(here.t, here.x, z));
  for (std::size_t k = 0; k < z.size(); ++k)
    if (!(std::abs(root[k] - z[k]) <= near_root * std::max(std::abs(z[k]), std::abs(root[k])))) return 0;
  return orientation(here, root);
}

/// A root with this orientation is not simple before the end: has the one at the end another, or is it a fold?
bool FollowedUnknowns::meets(const SolutionPath& path, bool backward, int before) {
  const int behind = orientation_at(path, !backward);
  if (behind * before < 0) return true;
  const Point end = point(path, backward ? 0 : 1);
  const std::vector<double> z = guess(path, !backward);
  return is_fold(end, z) || (behind == 0 && is_fold(end, points(function_.approach(end.t, end.x, z))));
}

/// Is the root z at the share s a fold, to rounding?
bool FollowedUnknowns::meets_at_once(const SolutionPath& path, double s, const std::vector<double>& z) {
  if (is_fold(point(path, s), z)) meeting_ = s;
  return meeting_.has_value();
}

/// Where the root is lost behind these places, at the share s, without a pole: does it meet another one?
std::optional<double> FollowedUnknowns::no_pole(const SolutionPath& path, bool backward,
                                               const std::vector<Place>& places, double s) {
  const int before = orientation(point(path, s), places.back().z);
  if (meets(path, backward, before) || is_joined(path, backward, places)) meeting_ = s;
  return std::nullopt;
}

/// The path ends on a root with this orientation; 0: not known.
void FollowedUnknowns::leave(const SolutionPath& path, int orientation) {
  last_ = {orientation, path.b.t, point(path, 1)};
}

/// Does the path begin where the last one has ended?
bool FollowedUnknowns::is_left_at(const SolutionPath& path) const {
  const Point here = point(path, 0);
  const auto is_near = [](const Interval& a, const Interval& b) {
    return std::abs(middle(a) - middle(b)) <= at_once * std::max(magnitude(a), magnitude(b));
  };
  return std::abs(path.a.t - last_.until) <= at_once * (path.b.t - path.a.t) &&
         std::ranges::equal(here.x, last_.end.x, is_near);
}

}  // namespace perp
