// Whether unknowns that no formula gives come to another root of their equations whose determinant
// has the other sign, while their own keeps its sign: asked by FollowedUnknowns where they are
// lost.
#include <algorithm>
#include <cmath>

#include <perp/core/linear/binary_scaling.hpp>
#include <perp/core/linear/spectra.hpp>
#include <perp/schemes/poles/followed_unknowns.hpp>

namespace perp {
namespace {

using enclosure::Interval;

constexpr double first_length = 0x1p-26;  ///< of the unknowns, a length of the secants
constexpr int most_secants = 12;
constexpr double settled = 0x1p-10;  ///< change of a length by the last secant, of itself
constexpr double joined =
    0x1p-10;  ///< of a distance between two roots, what is left of it where they meet
constexpr int most_places = 40;  ///< at which the other root is looked for, from each end

Matrix middles(const std::vector<Interval>& J, Eigen::Index n) {
  Matrix M(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j) M(i, j) = middle(J[static_cast<std::size_t>(i * n + j)]);
  return M;
}

std::vector<double> moved(const std::vector<double>& z, double length, const Vector& direction) {
  std::vector<double> result = z;
  for (std::size_t k = 0; k < z.size(); ++k)
    result[k] += length * direction[static_cast<Eigen::Index>(k)];
  return result;
}

/// The zero of a function next to 0, by secants from 0 and `first` on; not finite: none is found.
template <class Function>
double zero_of(const Function& f, double first) {
  double before = 0, at_before = f(0.0), place = first;
  for (int k = 0; k < most_secants; ++k) {
    const double here = f(place), next = place - here * (place - before) / (here - at_before);
    if (std::abs(next - place) <= settled * std::abs(next) || !std::isfinite(next)) return next;
    before = place;
    at_before = here;
    place = next;
  }
  return place;
}

/// The largest unknown in units of the columns of a matrix.
double size_in(const std::vector<int>& exponents, const std::vector<double>& z) {
  double size = 0;
  for (std::size_t k = 0; k < z.size(); ++k) size = std::max(size, std::abs(std::ldexp(z[k], -exponents[k])));
  return size;
}

}  // namespace

/// The root beyond the nearest zero of the determinant. Along the null vector v of ∂h/∂z next to
/// that zero u' ∂h/∂z(z + b v) v is a line in b, and the equations are a parabola with its other
/// root at twice the zero of that line. Empty: no root is proved there, or it has not the other
/// orientation.
std::optional<std::vector<double>> FollowedUnknowns::partner(const Point& at,
                                                             const std::vector<double>& z) {
  const auto n = static_cast<Eigen::Index>(z.size());
  const Matrix J =
      middles(function_.jacobian(at.t, at.x, std::vector<Interval>(z.begin(), z.end())), n);
  if (!J.allFinite()) return std::nullopt;
  const BinaryScaling scaling(J);
  const linear::Svd svd = linear::svd(scaling.apply(J));
  if (!svd.values.allFinite()) return std::nullopt;
  const Vector u = svd.U.col(n - 1), v = scaling.unscale(svd.V.col(n - 1)).col(0);
  const auto slope = [&](double length) {
    const std::vector<double> there = moved(z, length, v);
    const std::vector<Interval> point(there.begin(), there.end());
    const Matrix moving = scaling.apply_rows(middles(function_.jacobian(at.t, at.x, point), n) * v);
    return u.dot(moving.col(0));
  };
  const double length = zero_of(slope, first_length * size_in(scaling.column, z));
  if (!(std::isfinite(length) && length != 0)) return std::nullopt;
  const auto root =
      function_.around(at.t, at.x, function_.approach(at.t, at.x, moved(z, 2 * length, v)));
  if (!root) return std::nullopt;
  std::vector<double> other;
  for (const Interval& value : *root) other.push_back(middle(value));
  if (!(orientation(at, other) * orientation(at, z) < 0)) return std::nullopt;
  return other;
}

/// The distances |z' - z| of the other root at the first of these places at which there is one;
/// empty: at none.
std::vector<double> FollowedUnknowns::distances(const SolutionPath& path, bool backward,
                                                std::span<const Place> places, bool from_end) {
  const std::size_t count = std::min<std::size_t>(places.size(), most_places);
  for (std::size_t k = 0; k < count; ++k) {
    const Place& place = from_end ? places[places.size() - 1 - k] : places[k];
    const auto other = partner(point(path, backward ? 1 - place.s : place.s), place.z);
    if (!other) continue;
    std::vector<double> apart;
    for (std::size_t j = 0; j < place.z.size(); ++j)
      apart.push_back(std::abs((*other)[j] - place.z[j]));
    return apart;
  }
  return {};
}

/// Does a root of the other orientation come so near on the way to where z is lost that they are
/// one there? Then the degree of the equations around both is 0, and it is an accident of the steps
/// on which of the roots behind they land.
bool FollowedUnknowns::is_joined(const SolutionPath& path, bool backward,
                                 const std::vector<Place>& places) {
  const std::vector<double> last = distances(path, backward, places, true);
  if (last.empty()) return false;
  const std::vector<double> first = distances(path, backward, places, false);
  for (std::size_t k = 0; k < last.size(); ++k)
    if (!(last[k] <= joined * first[k])) return false;
  return true;
}

}  // namespace perp
