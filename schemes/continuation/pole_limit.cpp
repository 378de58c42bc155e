#include <algorithm>
#include <cmath>

#include <perp/schemes/continuation/pole_limit.hpp>

namespace perp {
namespace {

constexpr double real_to = 1e-6;    ///< share of an imaginary part that is rounding
constexpr double near_pole = 0.02;  ///< share of a pole's length from which on it is looked at
constexpr double infinitely_fast =
    1e-9;                          ///< share of the step: an algebraic equation, but for rounding
constexpr double beside = 1e-6;    ///< and where: points beside it as a share of its length
constexpr double diverging = 1.4;  ///< ratio of successive changes towards a pole
constexpr double alike = 1e-3;     ///< share of a solution by which these may differ

/// The longest segment from 0 on whose distance from `pole` is at least half of its own length.
double longest(std::complex<double> pole) {
  const double x = pole.real(), y = std::abs(pole.imag());
  if (x <= 0) return 2 * std::abs(pole);
  if (2 * y >= x) return 2 * y;
  return (2 * x - std::sqrt(x * x - 3 * y * y)) / 1.5;
}

bool contains(const std::vector<double>& poles, double pole) {
  return std::any_of(poles.begin(), poles.end(), [&](double known) {
    return std::abs(known - pole) <= 2 * beside * std::abs(pole);
  });
}

/// Is the pole on the way, up to the rounding of its imaginary part?
bool is_real(std::complex<double> pole) {
  return std::abs(pole.imag()) <= real_to * std::abs(pole) && pole.real() > 0;
}

}  // namespace

/// Is the pole so near that it is looked at, and one that the solution does not have?
bool PoleLimit::is_none(double pole, const StepPoint& near, double low, double high) {
  const bool close = std::abs(pole - low) <= near_pole * pole || pole < near_pole * high;
  return close && passes(pole, near);
}

/// Is the solution on both sides of the pole the same?
bool PoleLimit::passes(double pole, const StepPoint& near) {
  if (contains(passed_, pole)) return true;
  if (contains(met_, pole)) return false;
  StepPoint before = near;
  Vector noise;
  bool same = family_.solve((1 - 2 * beside) * pole, before, noise);
  for (const double at : {1 - beside, 1 + beside, 1 + 2 * beside}) {
    StepPoint point = before;
    same =
        same && family_.solve(at * pole, point, noise) &&
        (point.x - before.x).norm() <= alike * (point.x.norm() + near.x.norm()) &&
        (point.lambda - before.lambda).norm() <= alike * (point.lambda.norm() + near.lambda.norm());
  }
  (same ? passed_ : met_).push_back(pole);
  return same;
}

/// Where the distance from a pole is halved, its solution changes twice as much as the time before;
/// one that is continuous there changes less.
bool PoleLimit::diverges(const StepPoint& near) {
  StepPoint points[] = {near, near, near};
  Vector noise;
  for (int k = 0; k < 3; ++k)
    if (!(pole_ > 0) ||
        !family_.solve((1 - beside * static_cast<double>(4 >> k)) * pole_, points[k], noise))
      return false;
  const auto change = [&](int from, int to) {
    return (points[to].x - points[from].x).norm() +
           (points[to].lambda - points[from].lambda).norm();
  };
  return change(1, 2) > diverging * change(0, 1);
}

double PoleLimit::end_of_segment(const StepPoint& near, double low, double high) {
  if (near.mode != mode_) {
    mode_ = near.mode;
    passed_.clear();
    met_.clear();
  }
  double end = high;
  pole_ = nan;
  for (const std::complex<double>& pole : family_.poles(near)) {
    if (std::abs(pole) <= infinitely_fast * h_) continue;
    double limit = low + longest(pole - low);
    if (limit >= end) continue;
    if (is_real(pole)) {
      if (is_none(pole.real(), near, low, high)) continue;
      limit = std::min(limit, low + longest(pole.real() - low));
    }
    end = limit;
    pole_ = pole.real() > low ? pole.real() : nan;
  }
  return end;
}

}  // namespace perp
