#include <algorithm>
#include <cmath>
#include <optional>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/located/jets/decided_laws.hpp>

namespace perp {
namespace {

/// A branch, and λ where it is told.
struct Decision {
  int branch = -1;
  std::optional<Known> lambda{};
};

/// Inside of a range by more than an error: 1, outside: -1, neither: 0.
int side_of(const Range& range, const Known& at) {
  if (at.value < range.lower - at.error || at.value > range.upper + at.error) return -1;
  return at.value > range.lower + at.error && at.value < range.upper - at.error ? 1 : 0;
}

/// λ on a branch that holds w. Nothing where w alone does not tell it.
std::optional<Known> multiplier_of(const Branch& branch, const Known& w) {
  if (branch.b == 0) return std::nullopt;
  const double slope = branch.a / branch.b, constant = branch.c / branch.b, value = constant - slope * w.value;
  const double rounding = 4 * unit_roundoff * (std::abs(constant) + std::abs(slope * w.value));
  return Known{value, std::abs(slope) * w.error + rounding};
}

/// By an argument that holds no multiplier of its own.
Decision decide(const Law& law, const Known& w) {
  Decision decision{decided_branch(law, w.value, w.error)};
  if (decision.branch >= 0) decision.lambda = multiplier_of(law.branches[at(decision.branch)], w);
  return decision;
}

/// With w = w0 + d λ, d ≠ 0: (a d + b) λ = c - a w0.
Decision decide(const Law& law, const Known& w0, double d) {
  Decision decision;
  for (std::size_t k = 0; k < law.branches.size(); ++k) {
    const Branch& branch = law.branches[k];
    const double slope = branch.a * d + branch.b;
    if (slope == 0) return {};
    const double lambda = (branch.c - branch.a * w0.value) / slope;
    const double terms = (std::abs(branch.c) + std::abs(branch.a * w0.value)) / std::abs(slope);
    const Known multiplier{lambda, std::abs(branch.a / slope) * w0.error + 4 * unit_roundoff * terms};
    const Known w{w0.value + d * lambda, w0.error + std::abs(d) * multiplier.error};
    const int in_w = side_of(branch.w, w), in_lambda = side_of(branch.lambda, multiplier);
    // A branch that fixes w, or λ, is no range of it.
    const bool is_in = (branch.b == 0 || in_w > 0) && (branch.a == 0 || in_lambda > 0);
    const bool is_out = (branch.b != 0 && in_w < 0) || (branch.a != 0 && in_lambda < 0);
    if (!is_in && !is_out) return {};
    if (is_in && decision.branch >= 0) return {};
    if (is_in) decision = {static_cast<int>(k), multiplier};
  }
  return decision;
}

}  // namespace

std::vector<int> decided_laws(const std::vector<Law>& laws, const ArrayStructure& structure, const ArgumentsAt& arguments,
                              const std::vector<int>& fixed, const std::vector<int>& ended) {
  const auto m = static_cast<Eigen::Index>(laws.size());
  std::vector<int> decided(laws.size(), -1);
  std::vector<char> is_asked(laws.size(), 0), is_told(laws.size(), 0);
  for (const int i : ended) is_asked[at(i)] = 1;
  Vector lambda = Vector::Zero(m), error = Vector::Zero(m);
  const auto may_ask = [&](std::size_t i) {
    const ArgumentForm& form = structure.arguments[i];
    return is_asked[i] == 0 && form.is_of_given &&
           std::ranges::all_of(form.others, [&](int j) { return is_told[at(j)] != 0; });
  };
  // Each round asks the laws whose arguments the ones before have told.
  for (;;) {
    std::vector<std::size_t> round;
    for (std::size_t i = 0; i < laws.size(); ++i)
      if (may_ask(i)) round.push_back(i);
    if (round.empty()) return decided;
    const std::vector<Known> w = arguments(lambda, error);
    for (const std::size_t i : round) {
      is_asked[i] = 1;
      const double own = structure.arguments[i].own;
      const Decision decision = own == 0 ? decide(laws[i], w[i]) : decide(laws[i], w[i], own);
      decided[i] = decision.branch;
      if (!decision.lambda || (fixed[i] >= 0 && fixed[i] != decision.branch)) continue;
      is_told[i] = 1;
      lambda[static_cast<Eigen::Index>(i)] = decision.lambda->value;
      error[static_cast<Eigen::Index>(i)] = decision.lambda->error;
    }
  }
}

}  // namespace perp
