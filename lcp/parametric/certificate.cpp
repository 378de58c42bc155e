#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <perp/core/linear/spectra.hpp>
#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/parametric/certificate.hpp>
#include <perp/lcp/parametric/refined_solution.hpp>

namespace perp {
namespace {

/// A rational number or an infinity.
struct End {
  int infinite = 0;  ///< its sign
  Rational value{};

  friend bool operator<=(const End& a, const End& b) {
    return a.infinite != b.infinite ? a.infinite < b.infinite
                                    : a.infinite != 0 || a.value <= b.value;
  }
};

struct Ends {
  End lower, upper;

  void cut(const Ends& other) {
    if (lower <= other.lower) lower = other.lower;
    if (other.upper <= upper) upper = other.upper;
  }
};

End end_of(double value) {
  return std::isfinite(value) ? End{0, Rational(value)} : End{value > 0 ? 1 : -1};
}

/// Image of a range under v -> (c - f v) / d.
Ends image(const Ends& range, const Rational& c, const Rational& f, const Rational& d) {
  const int direction = f.sign() * d.sign();
  const auto of = [&](const End& end) {
    return end.infinite != 0 ? End{-direction * end.infinite} : End{0, (c - f * end.value) / d};
  };
  return direction > 0 ? Ends{of(range.upper), of(range.lower)}
                       : Ends{of(range.lower), of(range.upper)};
}

/// The smallest box around a branch.
struct Hull {
  Rational a, b, c;
  Ends w, lambda;

  explicit Hull(const Branch& branch)
      : a(branch.a),
        b(branch.b),
        c(branch.c),
        w{end_of(branch.w.lower), end_of(branch.w.upper)},
        lambda{end_of(branch.lambda.lower), end_of(branch.lambda.upper)} {
    const auto fixed = [](const Rational& value) { return Ends{{0, value}, {0, value}}; };
    if (a == 0) {
      lambda = fixed(c / b);
    } else if (b == 0) {
      w = fixed(c / a);
    } else {
      lambda.cut(image(w, c, a, b));
      w.cut(image(lambda, c, b, a));
    }
  }

  [[nodiscard]] bool is_on_line_of(const Hull& other) const {
    return a * other.b == b * other.a && a * other.c == c * other.a && b * other.c == c * other.b;
  }
};

/// Does λ never rise (`sign` = 1) or never fall (-1) from one branch to the other, either way?
bool in_order(const Hull& p, const Hull& q, int sign) {
  const auto before = [sign](const Hull& left, const Hull& right) {
    return left.w.upper <= right.w.lower &&
           (sign > 0 ? right.lambda.upper <= left.lambda.lower
                     : left.lambda.upper <= right.lambda.lower);
  };
  return before(p, q) || before(q, p) || p.is_on_line_of(q);
}

/// Does λ never rise (`sign` = 1) or never fall (-1) with w, on the branches and between them?
bool runs(const std::vector<Hull>& hulls, int sign) {
  for (std::size_t i = 0; i < hulls.size(); ++i) {
    const int slope = hulls[i].a.sign() * hulls[i].b.sign();  // λ falls with w where a b > 0
    if (sign * slope < 0) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (!in_order(hulls[i], hulls[j], sign)) return false;
  }
  return true;
}

BoundedMatrix exactly(const Matrix& entries) {
  BoundedMatrix result(entries.rows(), entries.cols());
  result.high = entries;
  return result;
}

/// In rational numbers.
Monotonicity monotonicity_of(const SharedList<Branch>& branches) {
  const std::vector<Hull> hulls(branches.begin(), branches.end());
  if (runs(hulls, 1)) return Monotonicity::falling;
  return runs(hulls, -1) ? Monotonicity::rising : Monotonicity::neither;
}

/// M = M22 - M21 M11⁻¹ M12 with bounds of its errors; false where M11 may be singular.
bool eliminate_u(const Mlcp& problem, const BoundedMatrix& M11, const BoundedMatrix& M12,
                 BoundedMatrix& M) {
  const int p = problem.p(), m = problem.m();
  M = BoundedMatrix(m, m);
  M.high = problem.M22;
  if (p == 0) return true;
  BoundedMatrix Y;
  // Without laws u alone is looked at: it may be undetermined.
  if (!solve_bounded(M11, m == 0 ? exactly(Matrix::Identity(p, 1)) : M12, Y)) return false;
  if (m == 0) return true;
  const Matrix left = problem.M21.cwiseAbs();
  M.high -= problem.M21 * Y.high;
  M.error = left * (Y.error + Y.low.cwiseAbs()) +
            (p + 2) * unit_roundoff * (problem.M22.cwiseAbs() + left * Y.high.cwiseAbs());
  M.error *= 1 + (p + 4) * 4 * unit_roundoff;
  return M.high.allFinite() && M.error.allFinite();
}

/// Is the symmetric part of diag(signs) M positive definite? Where Cholesky's method ends in doubles for
/// S - σ I, in whatever order it sums, S - σ I + Δ is definite with |Δ| <= γ/(1 - γ) tr S, γ = (m + 1) u /
/// (1 - (m + 1) u) (Demmel; Rump, BIT 46, 2006): σ is above that and above what stands in S by rounding, the
/// errors of M and at most four roundings of an entry.
bool is_definite(const BoundedMatrix& M, const Vector& signs) {
  const Eigen::Index m = signs.size();
  if (m == 0) return true;
  Matrix S = signs.asDiagonal() * M.high;
  S = (S + S.transpose()).eval() / 2;
  if (!(S.diagonal().minCoeff() > 0)) return false;
  const Vector d = S.diagonal().cwiseSqrt().cwiseInverse();  // any d > 0 will do
  S = d.asDiagonal() * S * d.asDiagonal();
  const Matrix error = d.asDiagonal() * ((M.error + M.error.transpose()) / 2).eval() * d.asDiagonal();
  const double of_entries = (error + 4 * unit_roundoff * S.cwiseAbs()).rowwise().sum().maxCoeff();
  const double of_factors = static_cast<double>(m + 2) * unit_roundoff * S.trace();
  const double shift = 2 * (of_entries + of_factors);  // twice: rounding of these sums themselves
  if (!(shift < 1)) return false;
  return linear::has_cholesky_factor(S - shift * Matrix::Identity(m, m));
}

bool is_certified(const Mlcp& problem, const BoundedMatrix& M11, const BoundedMatrix& M12) {
  Vector signs(problem.m());
  Monotonicity runs = Monotonicity::neither;
  for (int i = 0; i < problem.m(); ++i) {
    const auto law = static_cast<std::size_t>(i);
    if (i == 0 || problem.laws[law].branches != problem.laws[law - 1].branches)
      runs = monotonicity(problem.laws[law]);
    if (runs == Monotonicity::neither) return false;
    signs[i] = runs == Monotonicity::falling ? 1 : -1;
  }
  BoundedMatrix M;
  return eliminate_u(problem, M11, M12, M) && is_definite(M, signs);
}

}  // namespace

// Many laws have the branches of the one before, in runs of one model with other numbers all of them.
Monotonicity monotonicity(const Law& law) {
  thread_local SharedList<Branch> last;
  thread_local Monotonicity of_last = Monotonicity::falling;
  if (law.branches == last && !last.empty()) return of_last;
  of_last = monotonicity_of(law.branches);
  last = law.branches;
  return of_last;
}

bool has_at_most_one_solution(const Mlcp& problem) {
  return is_certified(problem, exactly(problem.M11), exactly(problem.M12));
}

bool has_at_most_one_solution(const ParametricMlcp& family) {
  const int p = family.base.p(), m = family.base.m();
  BoundedMatrix M11(p, p), M12(p, m);
  for (int i = 0; i < p; ++i)
    for (int j = 0; j < p + m; ++j) {
      const DoubleDouble value = family.bounded_entry(i, j);
      BoundedMatrix& part = j < p ? M11 : M12;
      const int column = j < p ? j : j - p;
      part.set(i, column, value);
      part.error(i, column) = 2 * unit_roundoff * std::abs(value.low);
    }
  return is_certified(family.base, M11, M12);
}

std::string laws_in_blocks(int laws, std::size_t blocks) {
  return fmt::format("{} law{} in {} block{}", laws, laws == 1 ? "" : "s", blocks,
                     blocks == 1 ? "" : "s");
}

}  // namespace perp
