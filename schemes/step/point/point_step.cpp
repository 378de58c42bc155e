#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/schemes/step/point/point_step.hpp>
#include <perp/schemes/step/step_gate.hpp>

namespace perp {
namespace {

constexpr double precise_share = 0x1p-54;  ///< of an unknown, up to which it is known then;
constexpr double small_share = 0x1p-20;    ///< or of it and of the rounding of the parameter in it
constexpr int most_refinements = 4;
constexpr double least_diagonal = 0x1p-4;  ///< of the largest entry of a column: a pivot where exchanges spoil the bounds
constexpr double most_error = 16;  ///< in roundings of the parameter, of what is not refined so far

}  // namespace

void PointStep::Rows::multiply(const double* length) {
  for (Entry& entry : entries) {
    if (entry.length == none || entry.by_length == 0) {
      entry.high = entry.given;
      continue;
    }
    CompensatedSum sum{entry.given};
    sum.add_product({length[entry.length], 0}, {entry.by_length, 0});
    const DoubleDouble value = sum.value();
    entry.high = value.high;
    entry.low = value.low;
  }
}

void PointStep::set_length(double h) {
  const double theta = equations_.theta();
  const double length[lengths] = {0, h * theta, h * (1 - theta), h};
  rows_.multiply(length);
  right_.multiply(length);
  h_ = h;
  is_factored_ = has_constant_rows_ = false;
}

void PointStep::set(double h, const double* parameter) {
  if (h != h_) set_length(h);
  parameter_.assign(parameter, parameter + parameters_);
  find_right_side(parameter);
}

/// Rows that hold no parameter are the same for all of them.
void PointStep::find_right_side(const double* parameter) {
  if (std::exchange(has_constant_rows_, true))
    for (const int i : varying_) find_right_side_of(i, parameter);
  else
    for (int i = 0; i < size_; ++i) find_right_side_of(i, parameter);
}

void PointStep::find_right_side_of(int row, const double* parameter) {
  CompensatedSum sum;
  double terms = 0;
  int count = 4;
  for (const Entry& entry : right_.of_row(row)) {
    const double factor = entry.column < parameters_ ? parameter[entry.column] : 1;
    if (factor == 0) continue;
    if (factor == 1)
      sum.add(DoubleDouble{entry.high, entry.low});
    else
      sum.add_product({entry.high, entry.low}, {factor, 0});
    terms += std::abs(entry.high * factor);
    ++count;
  }
  const DoubleDouble value = sum.value();
  r_[at(row)] = value.high;
  r_low_[at(row)] = value.low;
  r_terms_[at(row)] = terms * (1 + 4 * count * unit_roundoff);
  r_error_[at(row)] = count * compensated_rounding(count) * r_terms_[at(row)];
}

void PointStep::list_coefficients() {
  coefficients_.resize(rows_.entries.size() + at(m_));  // room for all of them
  end_of_row_.resize(at(size_));
  Coefficient* next = coefficients_.data();
  for (int i = 0; i < size_; ++i) {
    const double a = i < n_ ? 1 : branch(i - n_).a, b = i < n_ ? 0 : branch(i - n_).b;
    if (a == 1)
      for (const Entry& entry : rows_.of_row(i)) *next++ = {entry.column, {entry.high, entry.low}};
    else if (a != 0)
      for (const Entry& entry : rows_.of_row(i)) *next++ = {entry.column, two_product(a, entry.high)};
    if (b != 0) *next++ = {i, {b, 0}};
    end_of_row_[at(i)] = static_cast<int>(next - coefficients_.data());
  }
}

bool PointStep::factorise(const Mode& mode) {
  if (is_factored_ && mode == factored_) return true;
  for (int i = 0; i < m_; ++i) present_[at(i)] = &branches_[at(kind_[at(i)])][at(mode[at(i)])];
  free_.clear();
  ++factorisations_;
  factored_ = mode;
  list_alone();
  return is_factored_ = (find_factors() || (find_free() && find_factors())) && is_regular();
}

/// Have the equations of the mode an inverse? Exchanges of rows let the bounds grow with each of them: where they are lost, and
/// from then on, pivots stay on the diagonal that are large enough.
bool PointStep::is_regular() {
  if (lu_.find_weights()) return true;
  if (!lu_.may_keep_diagonal() || std::exchange(keeps_diagonal_, true)) return false;
  return find_factors() && lu_.find_weights();
}

/// Laws that hold one unknown at a value: all else in their argument is a multiplier that its branch holds at 0.
void PointStep::list_alone() {
  alone_.clear();
  for (int i = 0; i < m_; ++i) {
    if (branch(i).a == 0 || branch(i).b != 0) continue;
    int unknown = -1, count = 0;
    rows_.for_each(n_ + i, [&](const Entry& entry) {
      if (!is_held_at_0(entry.column)) unknown = entry.column, ++count;
    });
    if (count == 1) alone_.push_back({i, unknown});
  }
}

bool PointStep::is_held_at_0(int unknown) const {
  return unknown >= n_ && branch(unknown - n_).a == 0 && branch(unknown - n_).c == 0;
}

/// An unknown that a law alone holds at a value has it, not the rounding of what it was eliminated with.
void PointStep::put_alone() {
  std::fill(is_exact_.begin(), is_exact_.end(), 0);
  const auto put = [this](int unknown, double value) {
    y_[at(unknown)] = value;
    is_exact_[at(unknown)] = 1;
  };
  for (int i = 0; i < m_; ++i)
    if (branch(i).a == 0) put(n_ + i, branch(i).c);
  for (const auto& [law, unknown] : alone_)
    if (r_[at(n_ + law)] == 0 && r_low_[at(n_ + law)] == 0 && branch(law).c == 0) put(unknown, 0);
}

bool PointStep::find_factors() {
  list_coefficients();
  lu_.clear();
  std::fill(work_.begin(), work_.end(), 0.0);
  for (int i = 0; i < size_; ++i)
    for (const auto& [column, value] : coefficients(i)) {
      lu_.add(row_place_[at(i)], place_[at(column)], value.high);
      work_[at(column)] += std::abs(value.high);
    }
  const bool is_read_each = std::ranges::all_of(work_, [](double sum) { return sum != 0; });
  return is_read_each && lu_.factorise(keeps_diagonal_ ? least_diagonal : 1);  // an unknown in no equation has no pivot
}

void PointStep::transfer(Archive& archive) {
  double h = h_;
  bool is_factored = is_factored_;
  archive(h, is_factored, factored_, keeps_diagonal_);
  lu_.transfer(archive);
  if (archive.is_reading() && !std::isnan(h)) set_length(h);
  if (archive.is_reading() && is_factored) factorise(factored_);
  archive(factorisations_);
}

void PointStep::solve_in_place(std::vector<double>& right) {
  for (int i = 0; i < size_; ++i) work_[at(row_place_[at(i)])] = right[at(i)];
  lu_.solve(work_.data());
  for (int i = 0; i < size_; ++i) right[at(i)] = work_[at(place_[at(i)])];
}

bool PointStep::bound_in_place(std::vector<double>& right) {
  for (int i = 0; i < size_; ++i) work_[at(row_place_[at(i)])] = right[at(i)];
  if (!lu_.bound_by_weights(work_.data())) return false;
  for (int i = 0; i < size_; ++i) right[at(i)] = work_[at(place_[at(i)])];
  return true;
}

/// That of y, the first time together with what the rounding of the parameter leaves.
bool PointStep::bound_errors(bool is_first) {
  if (!(is_first ? bound_both() : bound_in_place(error_))) return false;
  for (int j = 0; j < size_; ++j)
    if (is_exact_[at(j)] != 0) error_[at(j)] = spread_[at(j)] = 0;
  return true;
}

/// Of errors and of the rounding of the parameter.
bool PointStep::bound_both() { return lu_.bound_by_weights(error_.data(), spread_.data(), row_place_.data(), place_.data()); }

/// Of y to twice the precision, with the bound of its own rounding.
void PointStep::find_residual() {
  for (int i = 0; i < size_; ++i) {
    const double a = i < n_ ? 1 : branch(i - n_).a, c = i < n_ ? 0 : branch(i - n_).c;
    CompensatedSum sum{c};
    sum.add_product({i < n_ ? 1 : -a, 0}, {r_[at(i)], r_low_[at(i)]});
    double terms = std::abs(a) * r_terms_[at(i)] + std::abs(c);
    int count = 4;
    for (const auto& [column, value] : coefficients(i)) {
      const double y = y_[at(column)];
      if (y == 0) continue;
      sum.add_product(value, {-y, -y_low_[at(column)]});
      terms += std::abs(value.high * y);
      ++count;
    }
    residual_[at(i)] = sum.high + sum.low;
    bound_[at(i)] = (std::abs(a) * r_error_[at(i)] + count * compensated_rounding(count) * terms) *
                        (1 + 4 * count * unit_roundoff) +
                    unit_roundoff * std::abs(residual_[at(i)]);
  }
}

/// The same in doubles.
void PointStep::find_rough_residual() {
  for (int i = 0; i < size_; ++i) {
    const double a = i < n_ ? 1 : branch(i - n_).a, c = i < n_ ? 0 : branch(i - n_).c;
    double sum = i < n_ ? r_[at(i)] : c - a * r_[at(i)];
    double terms = std::abs(a) * r_terms_[at(i)] + std::abs(c);
    int count = 6;
    for (const auto& [column, value] : coefficients(i)) {
      const double term = value.high * y_[at(column)];
      sum -= term;
      terms += std::abs(term);
      ++count;
    }
    residual_[at(i)] = sum;
    bound_[at(i)] = count * unit_roundoff * terms * (1 + 4 * count * unit_roundoff);
  }
}

/// y = K⁻¹ r. False: it is not known well enough.
bool PointStep::refine() {
  std::fill(y_low_.begin(), y_low_.end(), 0.0);
  for (int step = 1; step <= most_refinements; ++step) {
    find_residual();
    for (int i = 0; i < size_; ++i) error_[at(i)] = (step > 1 ? std::abs(residual_[at(i)]) : 0) + bound_[at(i)];
    solve_in_place(residual_);
    if (step == 1) add_rest();
    keep_exact();
    for (int j = 0; j < size_; ++j) {
      CompensatedSum y{y_[at(j)], y_low_[at(j)]};
      y.add(residual_[at(j)]);
      y_[at(j)] = y.value().high;
      y_low_[at(j)] = y.value().low;
    }
    if (!bound_errors(step == 1)) return false;
    if (is_known(step == 1)) return true;
  }
  return false;
}

/// What is known exactly is not corrected.
void PointStep::keep_exact() {
  for (int j = 0; j < size_; ++j)
    if (is_exact_[at(j)] != 0) residual_[at(j)] = 0;
}

/// What the first correction has left of its right side: of a later one the error is what it corrects.
void PointStep::add_rest() {
  for (int j = 0; j < size_; ++j) work_[at(place_[at(j)])] = std::abs(residual_[at(j)]);
  lu_.bound_rest(work_.data());
  for (int i = 0; i < size_; ++i) error_[at(i)] += work_[at(row_place_[at(i)])];
}

/// Is each unknown known to its last digit? One that the error of the last correction may be all of
/// is 0. The first one has its own error, later ones that of what they correct.
bool PointStep::is_known(bool is_first) {
  for (int j = 0; j < size_; ++j) {
    // what the last correction adds is no more than the error was before it
    double& error = error_[at(j)];
    error += (is_first ? 0 : std::abs(residual_[at(j)])) + double_double_rounding * std::abs(y_[at(j)]);
    const double size = std::abs(y_[at(j)]);
    const bool is_known =
        error <= precise_share * size || (!is_first && error <= small_share * std::min(size, spread_[at(j)]));
    if (size > error && !is_known) return false;
  }
  if (!drop_unknown()) return true;
  find_rough_residual();
  return keeps_equations();
}

/// Unknowns of which no digit is known become 0. Is there one?
bool PointStep::drop_unknown() {
  bool is_any = false;
  for (int j = 0; j < size_; ++j) {
    if (y_[at(j)] == 0 || std::abs(y_[at(j)]) > error_[at(j)]) continue;
    error_[at(j)] += std::abs(y_[at(j)]);
    y_[at(j)] = y_low_[at(j)] = 0;
    is_any = true;
  }
  return is_any;
}

/// Is each equation 0 within the rounding of its terms, by the last rough residual? Bounds of errors alone do not say so:
/// they may be too large to tell anything.
bool PointStep::keeps_equations() const {
  for (int i = 0; i < size_; ++i)
    if (!(std::abs(residual_[at(i)]) <= most_rounding * bound_[at(i)])) return false;
  return true;
}

/// The same in doubles, to what the rounding of the parameter leaves and each row holds to its rounding.
bool PointStep::refine_roughly() {
  std::fill(y_low_.begin(), y_low_.end(), 0.0);
  for (int step = 1; step <= most_refinements; ++step) {
    find_rough_residual();
    for (int i = 0; i < size_; ++i) error_[at(i)] = std::abs(residual_[at(i)]) + bound_[at(i)];
    if (!bound_errors(step == 1)) return false;
    if (is_known_roughly()) {
      if (drop_unknown()) find_rough_residual();
      if (keeps_equations()) return true;
    }
    solve_in_place(residual_);
    keep_exact();
    for (int j = 0; j < size_; ++j) y_[at(j)] += residual_[at(j)];
  }
  return false;
}

/// Are the errors beside what the rounding of the parameter leaves?
bool PointStep::is_known_roughly() const {
  for (int j = 0; j < size_; ++j)
    if (!(error_[at(j)] <= most_error * spread_[at(j)])) return false;
  return true;
}

}  // namespace perp
