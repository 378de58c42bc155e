#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/binary_scaling.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/schemes/step/point/point_step.hpp>
#include <perp/schemes/step/step_gate.hpp>

namespace perp {
namespace {

/// Up to here solutions are refined to twice the precision of doubles, so that each x is the exact
/// one but for its last digit; beyond, to the rounding of their rows.
constexpr int most_precise = 32;
constexpr double precise_share = 0x1p-54;  ///< of an unknown, up to which it is known then;
constexpr double small_share = 0x1p-20;    ///< or of it and of the rounding of the parameter in it
constexpr int most_refinements = 4;
constexpr double most_error = 16;  ///< in roundings of the parameter, of what is not refined so far

double power_of_two(int exponent) { return std::ldexp(1.0, exponent); }

bool is_kept(double given, double scaled) { return given == 0 || std::isnormal(scaled); }

}  // namespace

void PointStep::Rows::add(int column, double given, double by_length, Length length) {
  if (given != 0 || by_length != 0) entries.push_back({column, given, by_length, length});
}

void PointStep::Rows::multiply(const double* length) {
  for (Entry& entry : entries) {
    if (entry.length == none) {
      entry.high = entry.given;
      continue;
    }
    const DoubleDouble value =
        two_product(length[entry.length], entry.by_length) + DoubleDouble{entry.given, 0};
    entry.high = value.high;
    entry.low = value.low;
  }
}

PointStep::PointStep(const StepEquations& equations, double h)
    : equations_(equations),
      n_(equations.n()),
      m_(equations.m()),
      size_(n_ + m_),
      parameters_(equations.parameters()),
      is_precise_(size_ <= most_precise) {
  scale(h);
  std::vector<char> is_algebraic(at(n_), 0);
  for (const int i : equations.algebraic_rows()) is_algebraic[at(i)] = 1;
  for (int i = 0; i < n_; ++i) {
    list_equation(i, is_algebraic[at(i)] != 0);
    list_right_side(i, is_algebraic[at(i)] != 0);
  }
  for (int i = 0; i < m_; ++i) list_output(i);
  list_branches();
  find_bands();
  for (std::vector<double>* list : {&r_, &r_low_, &r_terms_, &r_error_, &y_, &y_low_, &residual_,
                                    &bound_, &terms_, &error_, &spread_, &work_})
    list->assign(at(size_), 0.0);
  x_ = rounding_ = Vector::Zero(n_);
  lambda_ = w_ = Vector::Zero(m_);
  w_error_.assign(at(m_), 0.0);
  w_spread_.assign(at(m_), 0.0);
  w_low_.assign(at(m_), 0.0);
  present_.assign(at(m_), nullptr);
}

/// By the entries of a step of length h in which no law holds yet.
void PointStep::scale(double h) {
  const Lcs& lcs = equations_.lcs();
  Matrix entries(size_, size_);
  entries << lcs.E - h * equations_.theta() * lcs.A, -h * lcs.B, lcs.C, lcs.D;
  for (const int i : equations_.algebraic_rows()) entries.row(i) << lcs.A.row(i), lcs.B.row(i);
  const BinaryScaling scaling(entries);
  for (int i = 0; i < size_; ++i) {
    row_scale_.push_back(power_of_two(scaling.row[at(i)]));
    column_scale_.push_back(power_of_two(scaling.column[at(i)]));
  }
}

// The left of E x⁺ - h θ A x⁺ - h B λ⁺ = E x + h (1 - θ) A x + h b, and of A x⁺ + B λ⁺ = -b, see
// `StepEquations`.
void PointStep::list_equation(int row, bool is_algebraic) {
  const Lcs& lcs = equations_.lcs();
  const double by = row_scale_[at(row)];
  const auto scaled = [&](double entry, int column) {
    const double value = entry * (by * column_scale_[at(column)]);
    is_usable_ = is_usable_ && is_kept(entry, value);
    return value;
  };
  for (int j = 0; j < n_; ++j) {
    const double A = scaled(lcs.A(row, j), j);
    rows_.add(j, is_algebraic ? A : scaled(lcs.E(row, j), j), is_algebraic ? 0 : -A,
              is_algebraic ? none : implicit_share);
  }
  for (int j = 0; j < m_; ++j) {
    const double B = scaled(lcs.B(row, j), n_ + j);
    rows_.add(n_ + j, is_algebraic ? B : 0, is_algebraic ? 0 : -B, is_algebraic ? none : whole);
  }
  rows_.close_row();
}

/// Its right side, in the parameter of a step.
void PointStep::list_right_side(int row, bool is_algebraic) {
  const Lcs& lcs = equations_.lcs();
  const double by = row_scale_[at(row)];
  const auto& state = equations_.state();
  const auto scaled = [&](double entry) {
    is_usable_ = is_usable_ && is_kept(entry, by * entry);
    return by * entry;
  };
  for (int j = 0; j < static_cast<int>(state.size()) && !is_algebraic; ++j)
    right_.add(j, scaled(lcs.E(row, state[at(j)])), scaled(lcs.A(row, state[at(j)])),
               explicit_share);
  const auto& varying = lcs.b.varying();
  const auto place = std::lower_bound(varying.begin(), varying.end(), row);
  const bool varies = place != varying.end() && *place == row;
  const int column =
      varies ? static_cast<int>(state.size()) + static_cast<int>(place - varying.begin())
             : parameters_;
  const double b = varies ? by : scaled(lcs.b.constant()[row]);
  right_.add(column, is_algebraic ? -b : 0, is_algebraic ? 0 : b, is_algebraic ? none : whole);
  right_.close_row();
}

/// C x⁺ + D λ⁺, and q on the other side.
void PointStep::list_output(int law) {
  const Lcs& lcs = equations_.lcs();
  const int row = n_ + law;
  const double by = row_scale_[at(row)];
  for (int j = 0; j < size_; ++j) {
    const double entry = j < n_ ? lcs.C(law, j) : lcs.D(law, j - n_);
    const double value = entry * (by * column_scale_[at(j)]);
    is_usable_ = is_usable_ && is_kept(entry, value);
    rows_.add(j, value, 0, none);
  }
  rows_.close_row();
  const auto& varying = lcs.q.varying();
  const auto place = std::lower_bound(varying.begin(), varying.end(), law);
  const bool varies = place != varying.end() && *place == law;
  const int first = static_cast<int>(equations_.state().size() + lcs.b.varying().size());
  const double q = by * lcs.q.constant()[law];
  is_usable_ = is_usable_ && (varies || is_kept(lcs.q.constant()[law], q));
  right_.add(varies ? first + static_cast<int>(place - varying.begin()) : parameters_,
             varies ? by : q, 0, none);
  right_.close_row();
}

// With ŵ = ρ w and λ = κ λ̂ the branch a w + b λ = c is a ŵ + b κ ρ λ̂ = c ρ, over a power of two
// near a.
void PointStep::list_branches() {
  const std::vector<Law>& laws = equations_.lcs().laws;
  branches_.resize(at(m_));
  for (int i = 0; i < m_; ++i) {
    const double rho = row_scale_[at(n_ + i)], kappa = column_scale_[at(n_ + i)];
    for (const Branch& branch : laws[at(i)].branches) {
      ScaledBranch scaled{0, 1, branch.c / branch.b / kappa, {}};
      if (branch.a != 0) {
        const double by = power_of_two(-std::ilogb(branch.a));
        scaled = {by * branch.a, by * branch.b * kappa * rho, by * branch.c * rho, {}};
      }
      is_usable_ = is_usable_ && is_kept(branch.b, scaled.b) && std::isfinite(scaled.c);
      for (const bool upper : {false, true})
        if (const BoundedEnd end = bounded_end(branch, upper); std::isfinite(end.bound.high))
          scaled.ends.push_back({{i, branch.b == 0, upper, false}, end});
      branches_[at(i)].push_back(std::move(scaled));
    }
  }
}

void PointStep::find_bands() {
  linear::Pattern pattern(at(size_));
  for (int i = 0; i < size_; ++i)
    rows_.for_each(i, [&](const Entry& entry) { pattern[at(i)].push_back(entry.column); });
  place_ = linear::banded_order(pattern);
  int below = 0, above = 0;
  for (int i = 0; i < size_; ++i)
    for (const int j : pattern[at(i)]) {
      below = std::max(below, place_[at(i)] - place_[at(j)]);
      above = std::max(above, place_[at(j)] - place_[at(i)]);
    }
  lu_ = linear::BandedLu(size_, below, above);
}

void PointStep::set_length(double h) {
  const double theta = equations_.theta();
  const double length[lengths] = {0, h * theta, h * (1 - theta), h};
  rows_.multiply(length);
  right_.multiply(length);
  h_ = h;
  is_factored_ = false;
}

void PointStep::set(double h, const double* parameter) {
  if (h != h_) set_length(h);
  parameter_.assign(parameter, parameter + parameters_);
  find_right_side(parameter);
}

void PointStep::find_right_side(const double* parameter) {
  for (int i = 0; i < size_; ++i) {
    DoubleDouble sum;
    double terms = 0;
    int count = 4;
    right_.for_each(i, [&](const Entry& entry) {
      const double factor = entry.column < parameters_ ? parameter[entry.column] : 1;
      if (factor == 0) return;
      sum = sum + DoubleDouble{entry.high, entry.low} * factor;
      terms += std::abs(entry.high * factor);
      ++count;
    });
    r_[at(i)] = sum.high;
    r_low_[at(i)] = sum.low;
    r_terms_[at(i)] = terms * (1 + 4 * count * unit_roundoff);
    r_error_[at(i)] = count * double_double_rounding * r_terms_[at(i)];
  }
}

/// Of the equations of the present mode.
template <class Work>
void PointStep::for_each_entry(int row, const Work& work) const {
  if (row < n_) {
    rows_.for_each(row, [&](const Entry& entry) {
      work(entry.column, DoubleDouble{entry.high, entry.low});
    });
    return;
  }
  const ScaledBranch& branch = this->branch(row - n_);
  if (branch.a != 0)
    rows_.for_each(
        row, [&](const Entry& entry) { work(entry.column, two_product(branch.a, entry.high)); });
  if (branch.b != 0) work(row, DoubleDouble{branch.b, 0});
}

bool PointStep::factorise(const Mode& mode) {
  for (int i = 0; i < m_; ++i) present_[at(i)] = &branches_[at(i)][at(mode[at(i)])];
  if (is_factored_ && mode == factored_) return true;
  lu_.clear();
  for (int i = 0; i < size_; ++i)
    for_each_entry(i, [&](int column, const DoubleDouble& value) {
      lu_.entry(place_[at(i)], place_[at(column)]) += value.high;
    });
  ++factorisations_;
  factored_ = mode;
  return is_factored_ = lu_.factorise() && is_regular();
}

/// Have the equations of the mode an inverse? `BandedLu::bound` shows it of the unknowns that its
/// right side reaches: of all, where no entry is 0.
bool PointStep::is_regular() {
  std::fill(bound_.begin(), bound_.end(), 1.0);
  return bound_in_place(bound_);
}

void PointStep::transfer(Archive& archive) {
  double h = h_;
  bool is_factored = is_factored_;
  archive(h, is_factored, factored_);
  if (archive.is_reading() && !std::isnan(h)) set_length(h);
  if (archive.is_reading() && is_factored) factorise(factored_);
  archive(factorisations_);
}

void PointStep::solve_in_place(std::vector<double>& right) {
  for (int i = 0; i < size_; ++i) work_[at(place_[at(i)])] = right[at(i)];
  lu_.solve(work_.data());
  for (int i = 0; i < size_; ++i) right[at(i)] = work_[at(place_[at(i)])];
}

bool PointStep::bound_in_place(std::vector<double>& right) {
  for (int i = 0; i < size_; ++i) work_[at(place_[at(i)])] = right[at(i)];
  if (!lu_.bound(work_.data(), terms_.data())) return false;
  for (int i = 0; i < size_; ++i) right[at(i)] = work_[at(place_[at(i)])];
  return true;
}

/// Of y to twice the precision, with the bound of its own rounding.
void PointStep::find_residual() {
  for (int i = 0; i < size_; ++i) {
    const double a = i < n_ ? 1 : branch(i - n_).a, c = i < n_ ? 0 : branch(i - n_).c;
    DoubleDouble sum = i < n_ ? DoubleDouble{r_[at(i)], r_low_[at(i)]}
                              : DoubleDouble{c, 0} - DoubleDouble{r_[at(i)], r_low_[at(i)]} * a;
    double terms = std::abs(a) * r_terms_[at(i)] + std::abs(c);
    int count = 4;
    for_each_entry(i, [&](int column, const DoubleDouble& value) {
      const double y = y_[at(column)];
      if (y == 0) return;
      sum = sum - value * DoubleDouble{y, y_low_[at(column)]};
      terms += std::abs(value.high * y);
      ++count;
    });
    residual_[at(i)] = sum.high;
    bound_[at(i)] = (std::abs(a) * r_error_[at(i)] + count * double_double_rounding * terms) *
                        (1 + 4 * count * unit_roundoff) +
                    unit_roundoff * std::abs(sum.high);
  }
}

/// The same in doubles.
void PointStep::find_rough_residual() {
  for (int i = 0; i < size_; ++i) {
    const double a = i < n_ ? 1 : branch(i - n_).a, c = i < n_ ? 0 : branch(i - n_).c;
    double sum = i < n_ ? r_[at(i)] : c - a * r_[at(i)];
    double terms = std::abs(a) * r_terms_[at(i)] + std::abs(c);
    int count = 6;
    for_each_entry(i, [&](int column, const DoubleDouble& value) {
      const double term = value.high * y_[at(column)];
      sum -= term;
      terms += std::abs(term);
      ++count;
    });
    residual_[at(i)] = sum;
    bound_[at(i)] = count * unit_roundoff * terms * (1 + 4 * count * unit_roundoff);
  }
}

/// y = K⁻¹ r. False: it is not known well enough.
bool PointStep::refine() {
  std::fill(y_low_.begin(), y_low_.end(), 0.0);
  for (int step = 1; step <= most_refinements; ++step) {
    find_residual();
    if (step > 1)
      for (int i = 0; i < size_; ++i) error_[at(i)] = std::abs(residual_[at(i)]) + bound_[at(i)];
    solve_in_place(residual_);
    for (int j = 0; j < size_; ++j) {
      const DoubleDouble y =
          DoubleDouble{y_[at(j)], y_low_[at(j)]} + DoubleDouble{residual_[at(j)], 0};
      y_[at(j)] = y.high;
      y_low_[at(j)] = y.low;
    }
    if (step > 1 && !bound_in_place(error_)) return false;
    if (step > 1 && is_known()) return true;
  }
  return false;
}

/// Is each unknown known to its last digit? One that the error of the last correction may be all of
/// is 0.
bool PointStep::is_known() {
  for (int j = 0; j < size_; ++j) {
    // what the last correction adds is no more than the error was before it
    double& error = error_[at(j)];
    error += std::abs(residual_[at(j)]) + double_double_rounding * std::abs(y_[at(j)]);
    const double size = std::abs(y_[at(j)]);
    const bool is_known =
        error <= precise_share * size || error <= small_share * std::min(size, spread_[at(j)]);
    if (size > error && !is_known) return false;
  }
  return !drop_unknown() || keeps_equations();
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

/// Is each equation 0 within the rounding of its terms? Bounds of errors alone do not say so: they may be too large
/// to tell anything.
bool PointStep::keeps_equations() {
  find_rough_residual();
  for (int i = 0; i < size_; ++i)
    if (!(std::abs(residual_[at(i)]) <= most_rounding * bound_[at(i)])) return false;
  return true;
}

/// The same in doubles, to what the rounding of the parameter leaves and each row holds to its rounding.
bool PointStep::refine_roughly() {
  std::fill(y_low_.begin(), y_low_.end(), 0.0);
  for (int step = 0; step < most_refinements; ++step) {
    find_rough_residual();
    if (!find_rough_error()) return false;
    if (is_known_roughly()) {
      drop_unknown();
      if (keeps_equations()) return true;
    }
    solve_in_place(residual_);
    for (int j = 0; j < size_; ++j) y_[at(j)] += residual_[at(j)];
  }
  return false;
}

/// Of y, by its residual. False: it has no bound.
bool PointStep::find_rough_error() {
  for (int i = 0; i < size_; ++i) error_[at(i)] = std::abs(residual_[at(i)]) + bound_[at(i)];
  return bound_in_place(error_);
}

/// Are the errors beside what the rounding of the parameter leaves?
bool PointStep::is_known_roughly() const {
  for (int j = 0; j < size_; ++j)
    if (!(error_[at(j)] <= most_error * spread_[at(j)])) return false;
  return true;
}

}  // namespace perp
