#include <fmt/format.h>
#include <Eigen/LU>
#include <utility>
#include <vector>

#include <perp/core/pencil.hpp>
#include <perp/lcp/certificate.hpp>
#include <perp/lcp/curve.hpp>
#include <perp/lcp/enumerate.hpp>
#include <perp/lcp/orientation.hpp>

namespace perp {
namespace {

constexpr double singular_below = 1e-13;  ///< reciprocal condition

/// 1, -1, or 0 for a matrix that is singular to rounding.
int determinant_sign(const Matrix& matrix) {
  if (matrix.rows() == 0) return 1;
  if (scaled_reciprocal_condition(matrix) < singular_below) return 0;
  const Eigen::FullPivLU<Matrix> lu(matrix);
  int sign = static_cast<int>(lu.permutationP().determinant() * lu.permutationQ().determinant());
  for (const double pivot : lu.matrixLU().diagonal()) sign *= pivot < 0 ? -1 : 1;
  return sign;
}

/// The modes of one block as the cells of a grid, laws in the order of their curves.
class Cells {
 public:
  Cells(const Mlcp& problem, const std::vector<Curve>& curves)
      : problem_(problem), curves_(curves) {
    for (const Curve& curve : curves) {
      stride_.push_back(count_);
      count_ *= static_cast<long>(curve.order.size());
    }
  }

  /// The derivative of F in a cell; its rows and columns are scaled by positive numbers only.
  [[nodiscard]] Matrix derivative(long cell) const {
    const int p = problem_.p(), m = problem_.m();
    Matrix K(p + m, p + m);
    K.topLeftCorner(p, p) = problem_.M11;
    K.bottomLeftCorner(m, p) = -problem_.M21;
    for (int i = 0; i < m; ++i) {
      const CurvePoint& d = curves_[at(i)].directions[place(cell, i)];
      K.col(p + i).head(p) = d.lambda * problem_.M12.col(i);
      K.col(p + i).tail(m) = -d.lambda * problem_.M22.col(i);
      K(p + i, p + i) += d.w;
    }
    return K;
  }

  /// A singular cell, or two neighbours of opposite signs; laws are those of the block.
  [[nodiscard]] UniqueSolvability judge() const {
    std::vector<int> sign(static_cast<std::size_t>(count_));
    UniqueSolvability result;
    for (long cell = 0; cell < count_; ++cell) {
      sign[static_cast<std::size_t>(cell)] = determinant_sign(derivative(cell));
      if (sign[static_cast<std::size_t>(cell)] == 0 && result.mode.empty()) {
        result.verdict = UniqueSolvability::Verdict::singular;
        result.mode = mode(cell);
      }
    }
    // A fold says more than a singular matrix, which may be one of redundant multipliers.
    for (long cell = 0; cell < count_; ++cell)
      for (int i = 0; i < problem_.m(); ++i) {
        if (place(cell, i) + 1 == curves_[at(i)].order.size()) continue;
        const long next = cell + stride_[at(i)];
        if (sign[static_cast<std::size_t>(cell)] * sign[static_cast<std::size_t>(next)] >= 0)
          continue;
        return {UniqueSolvability::Verdict::fold, mode(cell), mode(next), i, {}};
      }
    if (result.verdict != UniqueSolvability::Verdict::singular)
      result.verdict = UniqueSolvability::Verdict::unique;
    return result;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] std::size_t place(long cell, int law) const {
    return static_cast<std::size_t>(cell / stride_[at(law)]) % curves_[at(law)].order.size();
  }
  [[nodiscard]] Mode mode(long cell) const {
    Mode result;
    for (int i = 0; i < problem_.m(); ++i) result.push_back(curves_[at(i)].order[place(cell, i)]);
    return result;
  }

  const Mlcp& problem_;
  const std::vector<Curve>& curves_;
  std::vector<long> stride_;
  long count_ = 1;
};

UniqueSolvability unknown(std::string reason) {
  UniqueSolvability result;
  result.reason = std::move(reason);
  return result;
}

UniqueSolvability judge(const Mlcp& block, long max_modes) {
  std::vector<Curve> curves;
  double modes = 1;
  for (const Law& law : block.laws) {
    curves.push_back(curve_of(law));
    if (!curves.back().reason.empty())
      return unknown(fmt::format("law '{}': {}", law.name, curves.back().reason));
    modes *= static_cast<double>(curves.back().order.size());
  }
  if (modes <= static_cast<double>(max_modes)) return Cells(block, curves).judge();
  if (!has_at_most_one_solution(block))
    return unknown(fmt::format("{:.6g} modes, more than {} are not looked at", modes, max_modes));
  UniqueSolvability result;
  result.verdict = UniqueSolvability::Verdict::monotone;
  return result;
}

}  // namespace

UniqueSolvability unique_solvability(const Mlcp& problem, long max_modes) {
  validate(problem);
  const Mlcp unit = scaled(problem, equilibrate(problem));
  Mode first;
  for (const Law& law : unit.laws) {
    const Curve curve = curve_of(law);
    first.push_back(curve.order.empty() ? 0 : curve.order.front());
  }
  UniqueSolvability result;
  result.verdict = UniqueSolvability::Verdict::unique;
  for (const Block& block : independent_blocks(unit)) {
    UniqueSolvability part = judge(subproblem(unit, block), max_modes);
    if (part.verdict == UniqueSolvability::Verdict::unique) continue;
    for (Mode* mode : {&part.mode, &part.neighbour}) {
      if (mode->empty()) continue;
      Mode whole = first;
      for (std::size_t k = 0; k < block.lambda.size(); ++k)
        whole[static_cast<std::size_t>(block.lambda[k])] = (*mode)[k];
      *mode = std::move(whole);
    }
    if (part.law >= 0) part.law = block.lambda[static_cast<std::size_t>(part.law)];
    const bool worse = result.is_unique() ||
                       (result.verdict == UniqueSolvability::Verdict::unknown && !part.is_unique());
    if (worse) result = std::move(part);
  }
  return result;
}

}  // namespace perp
