#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/exact/determinant.hpp>
#include <perp/lcp/exact/exact_scaling.hpp>
#include <perp/lcp/parametric/certificate.hpp>
#include <perp/lcp/parametric/curve.hpp>
#include <perp/lcp/parametric/orientation.hpp>

namespace perp {
namespace {

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

  /// Sign of the derivative of F in a cell: by bounds, where these leave it open exactly.
  [[nodiscard]] int sign(long cell) const {
    if (const auto known = determinant_sign(derivative<Bounded<double>>(cell))) return *known;
    return determinant(derivative<Rational>(cell)).sign();
  }

  /// A singular cell, or two neighbours of opposite signs; laws are those of the block.
  [[nodiscard]] UniqueSolvability judge() const {
    std::vector<int> signs(at(count_));
    UniqueSolvability result;
    for (long cell = 0; cell < count_; ++cell) {
      signs[at(cell)] = sign(cell);
      if (signs[at(cell)] == 0 && result.mode.empty()) {
        result.verdict = UniqueSolvability::Verdict::singular;
        result.mode = mode(cell);
      }
    }
    // A fold says more than a singular matrix, which may be one of redundant multipliers.
    if (std::optional<UniqueSolvability> found = fold(signs)) return *found;
    if (result.verdict != UniqueSolvability::Verdict::singular)
      result.verdict = UniqueSolvability::Verdict::unique;
    return result;
  }

 private:
  /// The first two neighbours with opposite signs.
  [[nodiscard]] std::optional<UniqueSolvability> fold(const std::vector<int>& signs) const {
    for (long cell = 0; cell < count_; ++cell)
      for (int i = 0; i < problem_.m(); ++i) {
        if (place(cell, i) + 1 == curves_[at(i)].order.size()) continue;
        const long next = cell + stride_[at(i)];
        if (signs[at(cell)] * signs[at(next)] >= 0) continue;
        return UniqueSolvability{UniqueSolvability::Verdict::fold, mode(cell), mode(next), i, {}};
      }
    return std::nullopt;
  }

  /// The derivative; its columns are scaled by positive numbers: along a branch (w, λ) ~ ±(b, -a).
  template <class Scalar>
  [[nodiscard]] std::vector<std::vector<Scalar>> derivative(long cell) const {
    const int p = problem_.p(), m = problem_.m();
    std::vector<std::vector<Scalar>> K(at(p + m), std::vector<Scalar>(at(p + m), Scalar(0)));
    for (int i = 0; i < p + m; ++i) {
      for (int j = 0; j < p; ++j)
        K[at(i)][at(j)] = Scalar(i < p ? problem_.M11(i, j) : -problem_.M21(i - p, j));
      for (int j = 0; j < m; ++j) {
        const CurvePoint d = direction(cell, j);
        Scalar& entry = K[at(i)][at(p + j)];
        entry = Scalar(i < p ? problem_.M12(i, j) : -problem_.M22(i - p, j)) * Scalar(d.lambda);
        if (i == p + j) entry = entry + Scalar(d.w);
      }
    }
    return K;
  }

  /// The branch's own numbers in the direction of its curve.
  [[nodiscard]] CurvePoint direction(long cell, int law) const {
    const std::size_t k = place(cell, law);
    const Curve& curve = curves_[at(law)];
    const Branch& branch = problem_.laws[at(law)].branches[at(curve.order[k])];
    const CurvePoint& along = curve.directions[k];
    const double turn = along.w * branch.b - along.lambda * branch.a < 0 ? -1 : 1;
    return {turn * branch.b, -turn * branch.a};
  }

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

/// The first branches of the curves of all laws.
Mode first_mode(const std::vector<Law>& laws) {
  Mode first;
  for (const Law& law : laws) {
    const Curve curve = curve_of(law);
    first.push_back(curve.order.empty() ? 0 : curve.order.front());
  }
  return first;
}

/// Puts the branches of a block's mode into a mode of all laws.
void put_into(Mode whole, const Block& block, Mode& mode) {
  for (std::size_t k = 0; k < block.lambda.size(); ++k) whole[at(block.lambda[k])] = mode[k];
  mode = std::move(whole);
}

/// Why a law of the block, in the units in which it is given, is no curve: the first one of these.
void find_reason(const Mlcp& problem, const Block& block, std::string& reason) {
  for (const int i : block.lambda) {
    const Law& law = problem.laws[at(i)];
    const std::string of_law = curve_of(law).reason;
    if (of_law.empty()) continue;
    reason = fmt::format("law '{}': {}", law.name, of_law);
    return;
  }
}

/// Does the verdict on a block count more than those on the blocks before?
bool is_worse(const UniqueSolvability& part, const UniqueSolvability& before) {
  return before.is_unique() ||
         (before.verdict == UniqueSolvability::Verdict::unknown && !part.is_unique());
}

}  // namespace

UniqueSolvability unique_solvability(const Mlcp& problem, long max_modes) {
  validate(problem);
  Mlcp unit = scaled(problem, equilibrate(problem));
  if (!is_exactly_scaled(problem, unit)) unit = problem;
  const Mode first = first_mode(unit.laws);
  UniqueSolvability result;
  result.verdict = UniqueSolvability::Verdict::unique;
  for (const Block& block : independent_blocks(unit)) {
    UniqueSolvability part = judge(subproblem(unit, block), max_modes);
    if (part.verdict == UniqueSolvability::Verdict::unique) continue;
    find_reason(problem, block, part.reason);
    for (Mode* mode : {&part.mode, &part.neighbour})
      if (!mode->empty()) put_into(first, block, *mode);
    if (part.law >= 0) part.law = block.lambda[at(part.law)];
    if (is_worse(part, result)) result = std::move(part);
  }
  return result;
}

}  // namespace perp
