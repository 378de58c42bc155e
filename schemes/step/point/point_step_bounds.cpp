// What is known of the solution of a mode at one point: bounds of its numbers and on which side of
// the ends of their branches they are.
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/schemes/step/point/point_step.hpp>

namespace perp {
namespace {

constexpr double largest_share = 0x1p-20;  ///< of the terms of a margin: a larger error tells nothing of it

}  // namespace

/// What the rounding of the parameter and of an evaluation in doubles adds to the unknowns, see
/// `ModeMap`.
bool PointStep::find_bounds() {
  const double each = (parameters_ + 4) * unit_roundoff;
  for (int i = 0; i < size_; ++i) {
    const double a = i < n_ ? 1 : std::abs(branch(i - n_).a),
                 c = i < n_ ? 0 : std::abs(branch(i - n_).c);
    spread_[at(i)] = each * (a * r_terms_[at(i)] + c);
  }
  return bound_in_place(spread_);
}

void PointStep::find_outputs(const Mode& mode) {
  const std::vector<Law>& laws = equations_.laws();
  const double each = (parameters_ + 4) * unit_roundoff;
  for (int j = 0; j < n_; ++j) {
    x_[j] = y_[at(j)] * column_scale_[at(j)];
    rounding_[j] = (error_[at(j)] + spread_[at(j)]) * column_scale_[at(j)];
  }
  for (int i = 0; i < m_; ++i) {
    const Branch& branch = laws[at(i)].branches[at(mode[at(i)])];
    const double kappa = column_scale_[at(n_ + i)], rho = row_scale_[at(n_ + i)];
    lambda_[i] = branch.a == 0 ? branch.c / branch.b : y_[at(n_ + i)] * kappa;
    DoubleDouble sum{r_[at(n_ + i)], r_low_[at(n_ + i)]};
    double terms = r_terms_[at(n_ + i)], error = each * terms, missing = r_error_[at(n_ + i)];
    int count = 6;
    rows_.for_each(n_ + i, [&](const Entry& entry) {
      const double y = y_[at(entry.column)];
      if (is_precise_)
        sum = sum + DoubleDouble{y, y_low_[at(entry.column)]} * entry.high;
      else
        sum.high += entry.high * y;
      terms += std::abs(entry.high * y);
      missing += std::abs(entry.high) * error_[at(entry.column)];
      error += std::abs(entry.high) * spread_[at(entry.column)];
      ++count;
    });
    const double grown = 1 + 4 * count * unit_roundoff;
    missing =
        grown * (missing + count * (is_precise_ ? double_double_rounding : unit_roundoff) * terms);
    if (std::abs(sum.high) <= missing) sum.high = 0;
    w_[i] = branch.b == 0 ? branch.c / branch.a : sum.high / rho;
    w_low_[at(i)] = sum.high == 0 ? 0 : sum.low / rho;
    w_error_[at(i)] = 2 * missing / rho;
    w_spread_[at(i)] = grown * error / rho;
  }
}

/// Of a margin, without the rounding of the parameter.
double PointStep::error_of(const ScaledBranch::End& end) const {
  const int law = end.margin.law;
  const double of_value =
      end.margin.of_lambda ? error_[at(n_ + law)] * column_scale_[at(n_ + law)] : w_error_[at(law)];
  return of_value + 4 * double_double_rounding * end.bound.terms;
}

// The margin is c θ + d with c = v' K⁻¹ R for λ or, with q, for w: Σ |c_j θ_j| + |d|.
double PointStep::terms_of(const ScaledBranch::End& end) {
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
  for (int i = 0; i < n_; ++i) add(i, work_[at(place_[at(i)])]);
  for (int i = 0; i < m_; ++i) {
    const double factor = work_[at(place_[at(n_ + i)])];
    add(n_ + i, -factor * branch(i).a);
    row_.back() += factor * branch(i).c;
  }
  if (!end.margin.of_lambda) add(row, 1);
  double terms = std::abs(row_.back() * unit - end.bound.bound.high);
  for (int j = 0; j < parameters_; ++j) terms += std::abs(row_[at(j)] * parameter_[at(j)]) * unit;
  return terms;
}

/// Of the rounding of the parameter in a margin.
double PointStep::spread_of(const ScaledBranch::End& end) const {
  const int law = end.margin.law;
  return end.margin.of_lambda ? spread_[at(n_ + law)] * column_scale_[at(n_ + law)]
                              : w_spread_[at(law)];
}

bool PointStep::is_at_end() const {
  auto margin = margins_.begin();
  for (int i = 0; i < m_; ++i)
    for (const ScaledBranch::End& end : branch(i).ends)
      if (std::abs((margin++)->value) <= 2 * error_of(end) + spread_of(end)) return true;
  return false;
}

PointStep::Verdict PointStep::judge() {
  const double each = (parameters_ + 4) * unit_roundoff;
  Verdict verdict = Verdict::inside;
  margins_.clear();
  for (int i = 0; i < m_; ++i)
    for (const ScaledBranch::End& end : branch(i).ends) {
      const bool of_lambda = end.margin.of_lambda;
      const DoubleDouble value{
          of_lambda ? lambda_[i] : w_[i],
          of_lambda ? y_low_[at(n_ + i)] * column_scale_[at(n_ + i)] : w_low_[at(i)]};
      const double above = (value - end.bound.bound).high,
                   distance = end.margin.upper ? -above : above;
      margins_.push_back({end.margin, distance, false});
      if (distance >= 0) continue;
      const double error = 2 * error_of(end);
      const double spread = spread_of(end);
      // The spread bounds the rounding of the terms: where it does not decide, they do themselves.
      if (-distance > error + spread) {
        margins_.back().is_beyond = true;
      } else {
        const double terms = terms_of(end);
        if (error > largest_share * terms) return Verdict::undecided;
        margins_.back().is_beyond = -distance > error + each * terms;
      }
      if (margins_.back().is_beyond) verdict = Verdict::outside;
    }
  return verdict;
}

/// Are the unknowns, and the bounds of their rounding?
bool PointStep::is_finite() const {
  for (int j = 0; j < size_; ++j)
    if (!std::isfinite(y_[at(j)]) || !std::isfinite(spread_[at(j)])) return false;
  return true;
}

PointStep::Verdict PointStep::solve(const Mode& mode) {
  if (!factorise(mode)) return Verdict::undecided;
  for (int i = 0; i < size_; ++i)
    y_[at(i)] = i < n_ ? r_[at(i)] : branch(i - n_).c - branch(i - n_).a * r_[at(i)];
  solve_in_place(y_);
  if (!find_bounds() || !(is_precise_ ? refine() : refine_roughly())) return Verdict::undecided;
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
