// What is known of the solution of a mode at one point: bounds of its numbers and on which side of
// the ends of their branches they are.
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/schemes/step/point/point_step.hpp>

namespace perp {
namespace {

constexpr double largest_share = 0x1p-20;  ///< of the terms of a margin: a larger error tells nothing of it

}  // namespace

/// What the rounding of the parameter and of an evaluation in doubles adds to the rows, see `ModeMap`.
void PointStep::find_spread() {
  const double each = (parameters_ + 4) * unit_roundoff;
  for (int i = 0; i < size_; ++i) {
    const double a = i < n_ ? 1 : std::abs(branch(i - n_).a),
                 c = i < n_ ? 0 : std::abs(branch(i - n_).c);
    spread_[at(i)] = each * (a * r_terms_[at(i)] + c);
  }
}

/// w of a law on this branch, and bounds of its errors.
template <bool is_refined>
void PointStep::find_argument(int law, const Branch& branch) {
  const int row = n_ + law;
  const double each = (parameters_ + 4) * unit_roundoff, rho = row_scale_[at(row)];
  CompensatedSum sum{r_[at(row)], r_low_[at(row)]};
  double terms = r_terms_[at(row)], error = each * terms, missing = r_error_[at(row)];
  int count = 6;
  rows_.for_each(row, [&](const Entry& entry) {
    const double y = y_[at(entry.column)];
    if constexpr (!is_refined)
      sum.high += entry.high * y;
    else if (y != 0)
      sum.add_product({entry.high, 0}, {y, y_low_[at(entry.column)]});
    const double size = std::abs(entry.high);
    terms += std::abs(entry.high * y);
    missing += size * error_[at(entry.column)];
    error += size * spread_[at(entry.column)];
    ++count;
  });
  const double grown = 1 + 4 * count * unit_roundoff;
  missing =
      grown * (missing + count * (is_refined ? compensated_rounding(count) : unit_roundoff) * terms);
  DoubleDouble value = is_refined ? sum.value() : DoubleDouble{sum.high, sum.low};
  if (std::abs(value.high) <= missing) value = {};
  const double unit = 1 / rho;  // a power of two, as rho is: products with it are the quotients
  w_[law] = branch.b == 0 ? branch.c / branch.a : value.high * unit;
  w_low_[at(law)] = value.low * unit;
  w_error_[at(law)] = 2 * missing * unit;
  w_spread_[at(law)] = grown * error * unit;
}

void PointStep::find_outputs(const Mode& mode) {
  const Laws& laws = equations_.laws();
  for (int j = 0; j < n_; ++j) {
    x_[j] = y_[at(j)] * column_scale_[at(j)];
    rounding_[j] = (error_[at(j)] + spread_[at(j)]) * column_scale_[at(j)];
  }
  for (int i = 0; i < m_; ++i) {
    const Branch& branch = laws[at(i)].branches[at(mode[at(i)])];
    lambda_[i] = branch.a == 0 ? branch.c / branch.b : y_[at(n_ + i)] * column_scale_[at(n_ + i)];
    is_refined_ ? find_argument<true>(i, branch) : find_argument<false>(i, branch);
  }
}

/// Of a margin, without the rounding of the parameter.
double PointStep::error_of(const ScaledBranch::End& end) const {
  const int law = end.margin.law;
  const double of_value =
      end.margin.of_lambda ? error_[at(n_ + law)] * column_scale_[at(n_ + law)] : w_error_[at(law)];
  return of_value + 4 * double_double_rounding * end.bound.terms;
}

// The margin is c θ + d with c = v' K⁻¹ R for λ or, with q, for w.
void PointStep::find_row(const ScaledBranch::End& end) {
  const int law = end.margin.law, row = n_ + law;
  const double unit = end.margin.of_lambda ? column_scale_[at(row)] : 1 / row_scale_[at(row)];
  std::fill(work_.begin(), work_.end(), 0.0);
  if (end.margin.of_lambda)
    work_[at(place_[at(row)])] = 1;
  else
    rows_.for_each(row,
                   [&](const Entry& entry) { work_[at(place_[at(entry.column)])] = entry.high; });
  lu_.solve_transposed(work_.data());
  row_.assign(at(parameters_ + 1), 0.0);
  const auto add = [&](int i, double factor) {
    right_.for_each(i, [&](const Entry& entry) { row_[at(entry.column)] += factor * entry.high; });
  };
  for (int i = 0; i < n_; ++i) add(i, work_[at(row_place_[at(i)])]);
  for (int i = 0; i < m_; ++i) {
    const double factor = work_[at(row_place_[at(n_ + i)])];
    add(n_ + i, -factor * branch(i).a);
    row_.back() += factor * branch(i).c;
  }
  if (!end.margin.of_lambda) add(row, 1);
  for (double& entry : row_) entry *= unit;
  row_.back() -= end.bound.bound.high;
}

/// Σ |c_j θ_j| + |d| of a margin.
double PointStep::terms_of_row() const {
  double terms = std::abs(row_.back());
  for (int j = 0; j < parameters_; ++j) terms += std::abs(row_[at(j)] * parameter_[at(j)]);
  return terms;
}

/// Of the rounding of the parameter in a margin.
double PointStep::spread_of(const ScaledBranch::End& end) const {
  const int law = end.margin.law;
  return end.margin.of_lambda ? spread_[at(n_ + law)] * column_scale_[at(n_ + law)]
                              : w_spread_[at(law)];
}

/// From an end, inside of the branch.
DoubleDouble PointStep::distance_of(const ScaledBranch::End& end) const {
  const int law = end.margin.law;
  const DoubleDouble value{
      end.margin.of_lambda ? lambda_[law] : w_[law],
      end.margin.of_lambda ? y_low_[at(n_ + law)] * column_scale_[at(n_ + law)] : w_low_[at(law)]};
  // most ends are at 0
  const DoubleDouble above = end.bound.bound.high == 0 ? two_sum(value.high, value.low) : value - end.bound.bound;
  return end.margin.upper ? -above : above;
}

/// `find_row` makes the row of a margin, where its terms are asked for: the spread bounds their rounding, and where it does
/// not decide they do themselves. A margin whose error is as large as its terms says nothing, be it 0 or more.
PointStep::Verdict PointStep::judge_margin(Margin& margin, double error, double spread, const std::function<void()>& find_row) {
  if (margin.value >= error + spread) return Verdict::inside;
  if (-margin.value > error + spread) {
    margin.is_beyond = true;
    return Verdict::outside;
  }
  find_row();
  const double terms = terms_of_row();
  if (margin.value == 0 && terms == 0) return Verdict::inside;
  if (error > largest_share * terms) return Verdict::undecided;
  margin.is_beyond = -margin.value > error + (parameters_ + 4) * unit_roundoff * terms;
  return margin.is_beyond ? Verdict::outside : Verdict::inside;
}

PointStep::Verdict PointStep::judge_ends(int law) {
  Verdict verdict = Verdict::inside;
  for (const ScaledBranch::End& any : branch(law).ends) {
    const ScaledBranch::End end = any.of(law);
    Margin& margin = margins_.emplace_back();
    margin.end = end.margin;
    margin.value = distance_of(end).high;
    const double error = 2 * error_of(end), spread = spread_of(end);
    if (margin.value >= error + spread) continue;
    const Verdict of_end = judge_margin(margin, error, spread, [&] { find_row(end); });
    if (of_end == Verdict::undecided) return of_end;
    if (of_end == Verdict::outside) verdict = of_end;
  }
  return verdict;
}

double PointStep::doubt_of(const ModeMap::Margin& end) const {
  const std::vector<ScaledBranch::End>& ends = branch(end.law).ends;
  const auto own = std::ranges::find_if(ends, [&](const ScaledBranch::End& other) { return other.margin.upper == end.upper; });
  const ScaledBranch::End of_law = own->of(end.law);
  return 2 * error_of(of_law) + spread_of(of_law);
}

double PointStep::doubt_of(const Margin& margin) const {
  const double with = margin.share_with == 0 ? 0 : margin.share_with * doubt_of(margin.with);
  return margin.share * doubt_of(margin.end) + with;
}

bool PointStep::is_at_end() const {
  return std::ranges::any_of(margins_, [this](const Margin& margin) { return std::abs(margin.value) <= doubt_of(margin); });
}

bool PointStep::is_certain() const {
  return std::ranges::all_of(margins_, [this](const Margin& margin) {
    const double doubt = doubt_of(margin);
    return margin.value > doubt || (margin.value == 0 && doubt == 0);
  });
}

PointStep::Verdict PointStep::judge() {
  Verdict verdict = Verdict::inside;
  std::size_t ends = 0;
  for (int i = 0; i < m_; ++i) ends += branch(i).ends.size();
  margins_.clear();
  margins_.reserve(ends);  // no room for more, of which there is much otherwise
  const auto add = [&](Verdict other) {
    if (other != Verdict::inside) verdict = other;
    return other != Verdict::undecided;
  };
  for (int i = 0; i < m_; ++i)
    if (!reads_free(i) && !add(judge_ends(i))) return verdict;
  for (const int free : free_) {
    const std::vector<Side> sides = sides_of(free);
    if (!add(judge_free(free, sides))) return verdict;
    choose_free(free, sides);
  }
  return verdict;
}

/// Are the unknowns, and the bounds of their rounding?
bool PointStep::is_finite() const {
  for (int j = 0; j < size_; ++j)
    if (!std::isfinite(y_[at(j)]) || !std::isfinite(spread_[at(j)])) return false;
  return true;
}

/// To the rounding of the rows where unknowns are many, to twice the precision where that is not enough.
bool PointStep::find_unknowns() {
  find_spread();
  is_refined_ = is_precise_;
  if (!is_refined_ && refine_roughly()) return true;
  if (!std::exchange(is_refined_, true)) find_spread();
  return refine();
}

/// Of a mode whose matrix has no factors.
PointStep::Verdict PointStep::judge_singular() const {
  for (int i = 0; i < m_; ++i)
    if (contradicts(i)) return Verdict::never;
  return Verdict::undecided;
}

// Exchanges of rows let bounds grow until they tell nothing of some unknowns: pivots on the diagonal that decide where those did
// not stay from then on.
PointStep::Verdict PointStep::solve(const Mode& mode) {
  const Verdict first = solve_by_factors(mode);
  if (first != Verdict::undecided || !is_factored_ || is_precise_ || keeps_diagonal_ || !lu_.may_keep_diagonal()) return first;
  keeps_diagonal_ = true;
  is_factored_ = false;
  const Verdict second = solve_by_factors(mode);
  if (second == Verdict::undecided) keeps_diagonal_ = is_factored_ = false;
  return second;
}

PointStep::Verdict PointStep::solve_by_factors(const Mode& mode) {
  if (!factorise(mode)) return judge_singular();
  for (int i = 0; i < size_; ++i)
    y_[at(i)] = i < n_ ? r_[at(i)] : branch(i - n_).c - branch(i - n_).a * r_[at(i)];
  solve_in_place(y_);
  put_alone();
  if (!find_unknowns()) return Verdict::undecided;
  if (!is_finite()) return Verdict::undecided;
  find_outputs(mode);
  const Verdict verdict = judge();
  if (verdict == Verdict::inside) put_on_branches(mode);
  return verdict;
}

void PointStep::put_on_branches(const Mode& mode) {
  for (int i = 0; i < m_; ++i) {
    const Branch& branch = equations_.laws()[at(i)].branches[at(mode[at(i)])];
    lambda_[i] = std::clamp(lambda_[i], branch.lambda.lower, branch.lambda.upper);
    w_[i] = std::clamp(w_[i], branch.w.lower, branch.w.upper);
  }
}

}  // namespace perp
