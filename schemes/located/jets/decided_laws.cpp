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

/// The point of a branch, (a d + b) λ = c - a w0, and on which side of its ends it is.
struct BranchPoint {
  Known lambda;
  bool is_in = false, is_out = false;  ///< by more than the errors
};

/// With w = w0 + d λ. Nothing where a d + b = 0.
std::optional<BranchPoint> point_on(const Branch& branch, const Known& w0, double d) {
  const double slope = branch.a * d + branch.b;
  if (slope == 0) return std::nullopt;
  const double terms = (std::abs(branch.c) + std::abs(branch.a * w0.value)) / std::abs(slope);
  BranchPoint point;
  point.lambda = {(branch.c - branch.a * w0.value) / slope, std::abs(branch.a / slope) * w0.error + 4 * unit_roundoff * terms};
  const Known w{w0.value + d * point.lambda.value, w0.error + std::abs(d) * point.lambda.error};
  // A branch that fixes w, or λ, has no range of it.
  const int in_w = branch.b == 0 ? 1 : side_of(branch.w, w), in_lambda = branch.a == 0 ? 1 : side_of(branch.lambda, point.lambda);
  point.is_in = in_w > 0 && in_lambda > 0;
  point.is_out = in_w < 0 || in_lambda < 0;
  return point;
}

/// By an argument w0 + d λ, d ≠ 0: the branch that holds it where all others do not.
Decision decide(const Law& law, const Known& w0, double d) {
  Decision decision;
  for (std::size_t k = 0; k < law.branches.size(); ++k) {
    const std::optional<BranchPoint> point = point_on(law.branches[k], w0, d);
    if (!point || point->is_in == point->is_out || (point->is_in && decision.branch >= 0)) return {};
    if (point->is_in) decision = {static_cast<int>(k), point->lambda};
  }
  return decision;
}

/// Asks one law after the other.
class Decisions {
 public:
  Decisions(const std::vector<Law>& laws, const ArrayStructure& structure, const std::vector<int>& fixed, const std::vector<int>& ended)
      : laws_(laws), structure_(structure), fixed_(fixed), decided_(laws.size(), -1), is_asked_(laws.size(), 0), is_told_(laws.size(), 0),
        lambda_(Vector::Zero(static_cast<Eigen::Index>(laws.size()))), error_(lambda_) {
    for (const int i : ended) is_asked_[at(i)] = 1;
  }

  [[nodiscard]] const std::vector<int>& decided() const { return decided_; }

  /// Asks the laws whose arguments those before have told. False: there are none.
  bool ask(const ArgumentsAt& arguments) {
    std::vector<std::size_t> round;
    for (std::size_t i = 0; i < laws_.size(); ++i)
      if (may_ask(i)) round.push_back(i);
    if (round.empty()) return false;
    Mode mode = decided_;
    for (int& branch : mode) branch = std::max(branch, 0);
    const std::vector<Known> w = arguments(mode, lambda_, error_);
    for (const std::size_t i : round) ask(i, w[i]);
    return true;
  }

 private:
  [[nodiscard]] bool may_ask(std::size_t i) const {
    const ArgumentForm& form = structure_.arguments[i];
    return is_asked_[i] == 0 && form.is_of_given && std::ranges::all_of(form.others, [&](int j) { return is_told_[at(j)] != 0; });
  }

  void ask(std::size_t i, const Known& w) {
    const double own = structure_.arguments[i].own;
    const Decision decision = own == 0 ? decide(laws_[i], w) : decide(laws_[i], w, own);
    is_asked_[i] = 1;
    decided_[i] = decision.branch;
    if (!decision.lambda || (fixed_[i] >= 0 && fixed_[i] != decision.branch)) return;
    is_told_[i] = 1;
    lambda_[static_cast<Eigen::Index>(i)] = decision.lambda->value;
    error_[static_cast<Eigen::Index>(i)] = decision.lambda->error;
  }

  const std::vector<Law>& laws_;
  const ArrayStructure& structure_;
  const std::vector<int>& fixed_;
  std::vector<int> decided_;
  std::vector<char> is_asked_, is_told_;
  Vector lambda_, error_;  // of those that are told, else 0
};

}  // namespace

std::vector<int> decided_laws(const std::vector<Law>& laws, const ArrayStructure& structure, const ArgumentsAt& arguments,
                              const std::vector<int>& fixed, const std::vector<int>& ended) {
  Decisions decisions(laws, structure, fixed, ended);
  while (decisions.ask(arguments)) {
  }
  return decisions.decided();
}

}  // namespace perp
