#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/exact/sparse_elimination.hpp>

namespace perp {

/// The values that a law leaves to its w and its λ.
template <class Scalar>
struct LawRanges {
  Interval<Scalar> w;
  Interval<Scalar> lambda;
};

/// What two ranges share.
template <class Scalar>
Interval<Scalar> intersection(Interval<Scalar> a, const Interval<Scalar>& b) {
  if (b.lower && (!a.lower || decided_sign(*b.lower - *a.lower) > 0)) a.lower = b.lower;
  if (b.upper && (!a.upper || decided_sign(*a.upper - *b.upper) > 0)) a.upper = b.upper;
  return a;
}

/// The λ that a sloped branch has over its range of w: λ = (c - a w)/b, in the order of w where a/b < 0.
template <class Scalar>
Interval<Scalar> lambda_over_w(const LawBranch<Scalar>& branch) {
  const auto image = [&](const std::optional<Scalar>& w) {
    return w ? std::optional<Scalar>((branch.c - branch.a * *w) / branch.b) : std::nullopt;
  };
  const bool rises = decided_sign(branch.a) != decided_sign(branch.b);
  return {image(rises ? branch.w.lower : branch.w.upper),
          image(rises ? branch.w.upper : branch.w.lower)};
}

/// On one branch: what its line makes of one range belongs to the other.
template <class Scalar>
LawRanges<Scalar> ranges_of(const LawBranch<Scalar>& branch) {
  LawRanges<Scalar> result{branch.w, branch.lambda};
  const auto fixed = [](const Scalar& value) { return Interval<Scalar>{value, value}; };
  if (is_zero(branch.a))
    result.lambda = fixed(branch.c / branch.b);
  else if (is_zero(branch.b))
    result.w = fixed(branch.c / branch.a);
  else
    result.lambda = intersection(branch.lambda, lambda_over_w(branch));
  return result;
}

template <class Scalar>
Interval<Scalar> hull(const Interval<Scalar>& a, const Interval<Scalar>& b) {
  Interval<Scalar> both;
  if (a.lower && b.lower) both.lower = -larger(-*a.lower, -*b.lower);
  if (a.upper && b.upper) both.upper = larger(*a.upper, *b.upper);
  return both;
}

/// The largest value of factor·x over the range; nothing where it has none.
template <class Scalar>
std::optional<Scalar> supremum(const Scalar& factor, const Interval<Scalar>& range) {
  if (is_zero(factor)) return Scalar(0);
  const int sign = decided_sign(factor);
  if (sign != 0) {
    const std::optional<Scalar>& end = sign > 0 ? range.upper : range.lower;
    if (!end) return std::nullopt;
    return factor * *end;
  }
  if (!range.lower || !range.upper) return std::nullopt;
  return larger(factor * *range.upper, factor * *range.lower);
}

/// A branch that was decided on the way to a node of the tree of modes, and the unknown that its
/// equation eliminates (-1: none is taken, the equation is left out).
struct Decision {
  int law = -1;
  int branch = -1;
  int unknown = -1;

  friend bool operator==(const Decision&, const Decision&) = default;
};

/// Why a node should be empty: a quantity (i for w_i, m + i for λ_i) cannot come into its range, or
/// the equation of a decision (quantity = -1) cannot hold, seen as a function of what the
/// elimination left of the unknowns; `active` quantities first take the place of the unknowns
/// `replaced`.
struct EmptinessClaim {
  int quantity = -1;
  Decision equation{};
  std::vector<int> active{};
  std::vector<int> replaced{};
};

/// Proofs that nodes of the tree of modes are empty, from the data themselves: the equations of the
/// problem and of the decisions on the way to the node eliminate unknowns from the quantity that is
/// claimed to miss its range, and the ranges of what is left bound it. Which unknowns are eliminated
/// is told and needs no proof: with other ones the bound is weaker. Bounded: what is proved holds
/// for the exact data; Rational: every claim is decided.
template <class Scalar>
class NodeProof {
 public:
  using Form = std::vector<Scalar>;  ///< coefficients of (u, λ), the constant, then of the active

  /// In which order equations eliminate: those of the problem, then of the path, which nodes share; or
  /// all of them sparsely, which keeps more zeros but is made anew at every node.
  enum class Order { path, sparse };

  /// `free`: unknowns that the equations of the problem need not eliminate.
  NodeProof(const Mlcp& problem, const std::vector<bool>& free, Order order = Order::path)
      : problem_(problem), order_(order), free_(free) {
    for (const auto& law : problem_.laws) {
      branches_.emplace_back();
      for (const LawBranch<Scalar>& branch : law) branches_.back().push_back(ranges_of(branch));
      LawRanges<Scalar> both = branches_.back().front();
      for (const LawRanges<Scalar>& other : branches_.back())
        both = {hull(both.w, other.w), hull(both.lambda, other.lambda)};
      hulls_.push_back(std::move(both));
    }
    mode_.assign(hulls_.size(), -1);
    forms_.resize(2 * hulls_.size());
    if (order_ == Order::path) eliminate_common();
  }

  /// Goes to the node that these decisions lead to; those that it shares with the last node stay.
  void go_to(const std::vector<Decision>& path) {
    if (order_ == Order::sparse) return go_sparsely_to(path);
    return_to(static_cast<std::size_t>(
        std::mismatch(path.begin(), path.end(), path_.begin(), path_.end()).first - path.begin()));
    for (; path_.size() < path.size(); pivots_after_.push_back(pivots_.size())) {
      const Decision& next = path[path_.size()];
      path_.push_back(next);
      mode_[at(next.law)] = next.branch;
      if (next.unknown < 0) continue;
      Form form = equation(next);
      reduce(form, common_, pivots_.size());
      if (decided_sign(form[at(next.unknown)]) != 0) push(std::move(form), next.unknown);
    }
  }

  /// Is the claim true at this node?
  bool proves(const EmptinessClaim& claim) {
    Form form = claim.quantity < 0 ? equation(claim.equation) : quantity(claim.quantity);
    reduce(form, common_, pivots_.size());
    const std::size_t before = pivots_.size();
    if (!claim.active.empty()) replace(claim, form);
    const bool proved = claim.quantity < 0
                            ? misses(form, {Scalar(0), Scalar(0)}, claim.active)
                            : misses(form, range_of(claim.quantity), claim.active);
    pivots_.resize(before);
    return proved;
  }

  /// The only point that satisfies all equations at this node; nothing if they leave more than one
  /// as far as was decided.
  [[nodiscard]] std::optional<std::vector<Scalar>> point() const {
    const auto n = static_cast<std::size_t>(unknowns());
    if (pivots_.size() != n) return std::nullopt;
    std::vector<Scalar> y(n, Scalar(0));
    for (auto pivot = pivots_.rbegin(); pivot != pivots_.rend(); ++pivot) {
      Scalar sum = -pivot->form[n];
      for (const std::size_t j : pivot->support)
        if (j < n) subtract_product(sum, y[j], pivot->form[j]);
      y[at(pivot->unknown)] = sum / pivot->form[at(pivot->unknown)];
    }
    return y;
  }

  [[nodiscard]] const AlgebraicProblem<Scalar>& problem() const { return problem_; }

  /// w_i or λ_i (index m + i) after the equations of the problem.
  const Form& quantity(int index) {
    Form& form = forms_[at(index)];
    if (!form.empty()) return form;
    const bool is_w = index < problem_.m;
    if (is_w)
      form = problem_.w_row(index);
    else
      form.assign(at(unknowns() + 1), Scalar(0));
    if (!is_w) form[at(problem_.p + index - problem_.m)] = Scalar(1);
    reduce(form, 0, common_);
    return form;
  }
  /// Do the equations of the problem eliminate this unknown?
  [[nodiscard]] bool is_eliminated(int unknown) const {
    return std::any_of(pivots_.begin(), pivots_.begin() + static_cast<std::ptrdiff_t>(common_),
                       [&](const Pivot& pivot) { return pivot.unknown == unknown; });
  }

 private:
  /// An equation that eliminates an unknown; `support`: its other entries that are not 0.
  struct Pivot {
    Form form;
    int unknown;
    std::vector<std::size_t> support;
  };

  [[nodiscard]] int unknowns() const { return problem_.p + problem_.m; }

  void eliminate_common() {
    std::vector<int> candidates;
    for (int j = 0; j < unknowns(); ++j)
      if (!free_[at(j)]) candidates.push_back(j);
    for (int i = 0; i < problem_.p; ++i) {
      Form form = problem_.rows[at(i)];
      reduce(form, 0, pivots_.size());
      const auto largest = std::max_element(
          candidates.begin(), candidates.end(),
          [&](int j, int k) { return is_larger(form[at(k)], form[at(j)]); });
      if (largest == candidates.end() || decided_sign(form[at(*largest)]) == 0) continue;
      push(std::move(form), *largest);
      candidates.erase(largest);
    }
    common_ = pivots_.size();
  }

  /// Takes back all decisions of the path but the first ones.
  void return_to(std::size_t decisions) {
    for (; path_.size() > decisions; path_.pop_back()) mode_[at(path_.back().law)] = -1;
    pivots_.resize(decisions == 0 ? common_ : pivots_after_[decisions - 1]);
    pivots_after_.resize(decisions);
  }

  void go_sparsely_to(const std::vector<Decision>& path) {
    if (path == path_ && !pivots_.empty()) return;
    path_ = path;
    std::fill(mode_.begin(), mode_.end(), -1);
    std::vector<Form> rows(problem_.rows.begin(), problem_.rows.begin() + problem_.p);
    std::vector<char> allowed;
    for (int j = 0; j < unknowns(); ++j) allowed.push_back(free_[at(j)] ? 0 : 1);
    for (const Decision& decision : path) {
      mode_[at(decision.law)] = decision.branch;
      if (decision.unknown < 0) continue;
      rows.push_back(branch_equation(problem_, decision.law, decision.branch));
      allowed[at(decision.unknown)] = 1;
    }
    pivots_.clear();
    for (SparsePivot<Scalar>& pivot :
         SparseElimination<Scalar>(std::move(rows), std::move(allowed))())
      push(std::move(pivot.form), static_cast<int>(pivot.unknown));
  }

  void push(Form form, int unknown) {
    Pivot pivot{std::move(form), unknown, {}};
    for (std::size_t j = 0; j < pivot.form.size(); ++j)
      if (j != at(unknown) && !is_zero(pivot.form[j])) pivot.support.push_back(j);
    pivots_.push_back(std::move(pivot));
  }

  /// Eliminates from a form the unknowns of the pivots first, ..., last - 1, in their order.
  void reduce(Form& form, std::size_t first, std::size_t last) const {
    for (std::size_t k = first; k < last; ++k) {
      if constexpr (std::is_same_v<Scalar, Rational>) check_interruption();  // whose numbers grow
      const Pivot& pivot = pivots_[k];
      Scalar& entry = form[at(pivot.unknown)];
      if (is_zero(entry)) continue;
      if (form.size() < pivot.form.size()) form.resize(pivot.form.size(), Scalar(0));
      const Scalar factor = form[at(pivot.unknown)] / pivot.form[at(pivot.unknown)];
      for (const std::size_t j : pivot.support) subtract_product(form[j], factor, pivot.form[j]);
      form[at(pivot.unknown)] = Scalar(0);
    }
  }

  /// a w + b λ - c of a branch after the equations of the problem.
  Form equation(const Decision& decision) {
    const LawBranch<Scalar>& branch = problem_.laws[at(decision.law)][at(decision.branch)];
    Form form(at(unknowns() + 1), Scalar(0));
    const auto add = [&](const Scalar& factor, int index) {
      if (is_zero(factor)) return;
      const Form& other = quantity(index);
      for (std::size_t j = 0; j < form.size(); ++j) subtract_product(form[j], -factor, other[j]);
    };
    add(branch.a, decision.law);
    add(branch.b, problem_.m + decision.law);
    form.back() = form.back() - branch.c;
    return form;
  }

  /// Each active quantity becomes an unknown s in the place of another: its form - s = 0.
  void replace(const EmptinessClaim& claim, Form& form) {
    const std::size_t width = at(unknowns() + 1) + claim.active.size(), before = pivots_.size();
    std::vector<int> candidates = claim.replaced;
    for (std::size_t k = 0; k < claim.active.size(); ++k) {
      Form active = quantity(claim.active[k]);
      active.resize(width, Scalar(0));
      active[at(unknowns() + 1) + k] = Scalar(-1);
      reduce(active, common_, pivots_.size());
      const auto largest = std::max_element(
          candidates.begin(), candidates.end(),
          [&](int i, int j) { return is_larger(active[at(j)], active[at(i)]); });
      if (largest == candidates.end() || decided_sign(active[at(*largest)]) == 0) continue;
      push(std::move(active), *largest);
      candidates.erase(largest);
    }
    form.resize(width, Scalar(0));
    reduce(form, before, pivots_.size());
  }

  /// The quantity of an entry of a form: a λ, or an active one behind the constant.
  [[nodiscard]] int quantity_of(std::size_t entry, const std::vector<int>& active) const {
    const auto n = at(unknowns());
    return entry < n ? problem_.m + static_cast<int>(entry) - problem_.p : active[entry - n - 1];
  }

  [[nodiscard]] const Interval<Scalar>& range_of(int index) const {
    const int law = index < problem_.m ? index : index - problem_.m;
    const int branch = mode_[at(law)];
    const LawRanges<Scalar>& ranges = branch < 0 ? hulls_[at(law)] : branches_[at(law)][at(branch)];
    return index < problem_.m ? ranges.w : ranges.lambda;
  }

  /// Is the form below or above the range whatever its unknowns are?
  bool misses(const Form& form, const Interval<Scalar>& range, const std::vector<int>& active) {
    if (range.lower && stays_below(form, 1, *range.lower, active)) return true;
    return range.upper && stays_below(form, -1, -*range.upper, active);
  }

  /// max sign·form < bound over the ranges of the unknowns?
  bool stays_below(const Form& form, int sign, const Scalar& bound,
                   const std::vector<int>& active) const {
    const auto n = at(unknowns());
    Scalar most = (sign > 0 ? form[n] : -form[n]) - bound;
    for (std::size_t j = 0; j < form.size(); ++j) {
      if (j == n || is_zero(form[j])) continue;
      if (j < at(problem_.p)) return false;  // a u has no range
      const Scalar factor = sign > 0 ? form[j] : -form[j];
      const std::optional<Scalar> of_entry = supremum(factor, range_of(quantity_of(j, active)));
      if (!of_entry) return false;
      most = most + *of_entry;
    }
    return decided_sign(most) < 0;
  }

  AlgebraicProblem<Scalar> problem_;
  Order order_;
  std::vector<bool> free_;
  std::vector<std::vector<LawRanges<Scalar>>> branches_;
  std::vector<LawRanges<Scalar>> hulls_;
  std::vector<Form> forms_;    ///< of the quantities; empty: not made yet
  std::vector<Pivot> pivots_;  ///< of the problem's equations, then of the path
  std::size_t common_ = 0;     ///< number of the former
  std::vector<Decision> path_;
  std::vector<std::size_t> pivots_after_;  ///< number of pivots after each decision
  Mode mode_;                              ///< -1: not decided
};

}  // namespace perp
