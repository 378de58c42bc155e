#pragma once

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/perp.hpp>
#include <perp/schemes/jumps/consistent_jumps.hpp>
#include <perp/schemes/step/solvability/step_solvability.hpp>
#include <perp/schemes/step_mlcp.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

/// The switching DAE of [RAB] eq. (10) with A = 0 solved by hand, for comparison with the library:
///     ẋ1 = 1 + B1 z,  ẋ2 = B2 z,  x2 ∈ |x1| + sign(x1)
/// Data are whole multiples of 1/8 (see `Draw`), so that every comparison below is exact.
namespace claims {

using perp::Lcs;
using perp::Matrix;
using perp::Mode;
using perp::Vector;
using switching_dae::lcp_form;
using switching_dae::own_law;

/// The branches of the constraint as `abs_plus_sign` numbers them; [RAB] says mode 1, 3, 2.
enum Branch { left = 0, sliding = 1, right = 2 };
constexpr Branch branches[] = {left, sliding, right};

struct B {
  double B1, B2;
  [[nodiscard]] Lcs law() const { return own_law(B1, B2); }
  [[nodiscard]] Lcs lcp() const { return lcp_form(B1, B2); }
  /// C_i B of a branch, up to its sign: what z is divided by there. 0: not regular.
  [[nodiscard]] double product(Branch branch) const {
    return branch == left ? B1 + B2 : branch == sliding ? B1 : B1 - B2;
  }
  /// The sign of B2/B1 - p, B1 ≠ 0, without a division.
  [[nodiscard]] int ratio_minus(double p) const {
    const double difference = (B2 - p * B1) * B1;
    return (difference > 0) - (difference < 0);
  }
  /// Eq. (13), the condition of Proposition 2.
  [[nodiscard]] bool is_global() const { return B1 != 0 && B2 * B1 <= 0 && B1 + B2 != 0; }
  [[nodiscard]] bool is_crossing() const { return is_global() && B2 * (B1 + B2) > 0; }
  [[nodiscard]] bool is_repulsive() const { return is_global() && B2 * (B1 + B2) < 0; }
};

/// z, ẋ1 and ẋ2 in a mode that is regular.
struct Rates {
  double z;
  Vector x;
};

inline Rates rates(const B& b, Branch branch) {
  const double z = -1 / b.product(branch);
  if (branch == left) return {z, Vector{{b.B2 / (b.B1 + b.B2), -b.B2 / (b.B1 + b.B2)}}};
  if (branch == sliding) return {z, Vector{{0, -b.B2 / b.B1}}};
  return {z, Vector{{-b.B2 / (b.B1 - b.B2), -b.B2 / (b.B1 - b.B2)}}};
}

/// The branches on which a continuous solution starts at a point of the constraint, [RAB]
/// Definition 12 by the signs of the rates. Solutions that rest in a corner count as sliding.
inline std::vector<Branch> continuous_starts(const B& b, const Vector& x) {
  std::vector<Branch> list;
  const auto moves = [&](Branch branch, int component) {
    return b.product(branch) == 0 ? perp::nan : rates(b, branch).x[component];
  };
  const bool at_minus = x[0] == 0 && x[1] == -1, at_plus = x[0] == 0 && x[1] == 1;
  if (x[0] < 0 ? b.product(left) != 0 : at_minus && moves(left, 0) < 0) list.push_back(left);
  if (x[0] == 0 && b.B1 != 0 && !(at_minus && moves(sliding, 1) < 0) &&
      !(at_plus && moves(sliding, 1) > 0))
    list.push_back(sliding);
  if (x[0] > 0 ? b.product(right) != 0 : at_plus && moves(right, 0) > 0) list.push_back(right);
  return list;
}

/// The points of the constraint on the line P + B σ.
struct OnLine {
  std::vector<Vector> points;    ///< (x1, x2), by branch
  std::vector<Branch> branches;  ///< of each point; corners count as sliding
  bool is_continuum = false;     ///< a part of a branch lies on the line; `points` is empty then
};

inline OnLine on_line(const B& b, const Vector& P) {
  OnLine found;
  const auto add = [&](Branch branch, double x1, double x2) {
    found.branches.push_back(branch);
    found.points.push_back(Vector{{x1, x2}});
  };
  // B2 x1 - B1 x2 is the same on the whole line; the denominators are C_i B
  const double y = b.B2 * P[0] - b.B1 * P[1];
  const double at_left = y - b.B1, sum = b.B1 + b.B2;  // x2 = -x1 - 1:  x1 = (y - B1) / (B1 + B2)
  const double at_right = y + b.B1, difference = b.B2 - b.B1;  // x2 = x1 + 1
  const bool is_a_point = b.B1 != 0 || b.B2 != 0;
  found.is_continuum = is_a_point && ((sum == 0 && at_left == 0) || (b.B1 == 0 && y == 0) ||
                                      (difference == 0 && at_right == 0));
  if (found.is_continuum) return found;
  if (sum != 0 && at_left / sum < 0) add(left, at_left / sum, -at_left / sum - 1);
  if (b.B1 != 0 && std::abs(y) <= std::abs(b.B1)) add(sliding, 0, -y / b.B1);
  if (difference != 0 && at_right / difference > 0)
    add(right, at_right / difference, at_right / difference + 1);
  return found;
}

/// [RAB] eq. (26): the states after a step of length h from x.
inline OnLine after_step(const B& b, const Vector& x, double h) {
  return on_line(b, Vector{{x[0] + h, x[1]}});
}

/// c of eq. (21) for a step: c = -x2 + B2/B1 (x1 + h), times B1; h = 0 for a jump.
inline double c_times_B1(const B& b, const Vector& x, double h) {
  return -x[1] * b.B1 + b.B2 * (x[0] + h);
}

/// A piece of a continuous solution: x(t) = x + (t - t0) rates.x on a branch.
struct Motion {
  double t0;
  Vector x;
  Branch branch;
  Rates rates;
  [[nodiscard]] Vector at(double t) const { return x + (t - t0) * rates.x; }
  /// When the branch ends; inf: never.
  [[nodiscard]] double end() const {
    const double along = branch == sliding ? rates.x[1] : rates.x[0];
    if (branch == sliding)
      return along == 0 ? perp::inf : t0 + (std::copysign(1, along) - x[1]) / along;
    return along * x[0] < 0 ? t0 - x[0] / along : perp::inf;
  }
};

/// The continuous solution from a point of the constraint, and the time at which it ends (inf:
/// never). Where several start (A- of the repulsive cones) the last of `continuous_starts`.
struct Solution {
  std::vector<Motion> pieces;
  double end = perp::inf;
  [[nodiscard]] const Motion& at(double t) const {
    return *std::find_if(pieces.rbegin(), pieces.rend() - 1,
                         [t](const Motion& piece) { return piece.t0 <= t; });
  }
};

inline Solution continuous_solution(const B& b, Vector x) {
  Solution solution;
  for (double t = 0; t < perp::inf;) {
    const std::vector<Branch> starts = continuous_starts(b, x);
    if (starts.empty()) {
      solution.end = t;
      break;
    }
    solution.pieces.push_back({t, x, starts.back(), rates(b, starts.back())});
    const Motion& piece = solution.pieces.back();
    // every end of a branch is a corner, known exactly
    const bool upwards = piece.branch == sliding ? piece.rates.x[1] > 0 : piece.branch == right;
    t = piece.end();
    x = Vector{{0, upwards ? 1.0 : -1.0}};
  }
  return solution;
}

inline Vector with_z(const Vector& x, double z = 0) { return Vector{{x[0], x[1], z}}; }

/// The different (x1, x2) among all solutions that the library finds; `continuum` if not isolated.
struct Found {
  std::vector<Vector> points;
  std::vector<double> z;
  bool is_continuum = false;
};

inline Found points_of(const perp::SolutionSet& set) {
  REQUIRE(set.complete);
  Found found;
  for (const perp::Piece& piece : perp::pieces(set, 1000)) {
    const Matrix x = piece.vertices.topRows(2);
    const bool moves = (x.colwise() - x.col(0)).norm() > 1e-9 ||
                       (piece.rays.size() && piece.rays.topRows(2).norm() > 1e-9) ||
                       (piece.lines.size() && piece.lines.topRows(2).norm() > 1e-9);
    found.is_continuum = found.is_continuum || moves;
    const bool is_known =
        std::any_of(found.points.begin(), found.points.end(),
                    [&](const Vector& y) { return (y - x.col(0)).norm() < 1e-9; });
    if (is_known) continue;
    found.points.push_back(x.col(0));
    found.z.push_back(piece.vertices(2, 0));
  }
  return found;
}

inline Found found_after_step(const Lcs& lcs, const Vector& x, double h) {
  return points_of(perp::enumerate(perp::step_problem(lcs, with_z(x), 0, h)));
}

/// Are these the same points, each found once?
inline bool same_points(const std::vector<Vector>& found, const std::vector<Vector>& wanted) {
  if (found.size() != wanted.size()) return false;
  return std::all_of(wanted.begin(), wanted.end(), [&](const Vector& x) {
    return std::count_if(found.begin(), found.end(), [&](const Vector& y) {
             return (y - x).norm() < 1e-12 * (1 + x.norm());
           }) == 1;
  });
}

/// Random data on a grid: multiples of 1/8, on which sums and products of a few are exact.
class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  double number(int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(engine_) / 8.0;
  }
  /// B in [-3, 3]², not (0, 0).
  B any_B() {
    const B b{number(-24, 24), number(-24, 24)};
    return b.B1 == 0 && b.B2 == 0 ? any_B() : b;
  }
  template <class Condition>
  B B_with(const Condition& holds) {
    for (;;) {
      const B b = any_B();
      if (holds(b)) return b;
    }
  }
  /// A point of the constraint on this branch, its ends included for sliding only.
  Vector point(Branch branch) {
    if (branch == sliding) return Vector{{0, number(-8, 8)}};
    const double x1 = branch == left ? number(-40, -1) : number(1, 40);
    return Vector{{x1, branch == left ? -x1 - 1 : x1 + 1}};
  }
  double step() { return number(1, 40); }
  double normal() { return std::normal_distribution<double>()(engine_); }

 private:
  std::mt19937 engine_;
};

inline const Vector& A_minus() {
  static const Vector corner{{0, -1}};
  return corner;
}
inline const Vector& A_plus() {
  static const Vector corner{{0, 1}};
  return corner;
}

}  // namespace claims
