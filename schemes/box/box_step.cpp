#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/types.hpp>
#include <perp/lcp/residual_gate.hpp>
#include <perp/schemes/box/box_step.hpp>

namespace perp {
namespace {

constexpr int most_corrections = 12;
constexpr double clear_progress = 0.5;  ///< less of the residual after a correction is none

/// Once a process. Throws InvalidInput.
void begin(const PerpPetsc& petsc, const std::string& options) {
  static const std::string begun = options;
  static const char* const why = petsc.begin(options.c_str());
  if (why != nullptr) throw InvalidInput(fmt::format("--petsc '{}': {}", options, why));
  if (begun != options) throw InvalidInput(fmt::format("--petsc '{}': PETSc has other options in this process: '{}'", options, begun));
}

/// Once a process, behind the first system that was solved. Throws InvalidInput where an option was read by nothing.
void check_options(const PerpPetsc& petsc) {
  static bool is_checked = false;
  if (std::exchange(is_checked, true)) return;
  if (const char* option = petsc.unused(); option != nullptr)
    throw InvalidInput(fmt::format("--petsc: PETSc does not read -{} here", option));
}

}  // namespace

double BoxStep::Sum::rounding() const { return (count + 4) * unit_roundoff * terms; }

BoxStep::BoxStep(const SparseLcs& lcs, const std::string& options) : lcs_(lcs), petsc_(petsc_library()) {
  BoxLaws laws = box_laws(lcs);
  if (!laws.unsupported.empty()) throw InvalidInput("solver petsc: " + laws.unsupported);
  laws_ = std::move(laws.list);
  begin(petsc_, options);
  number_unknowns();
  petsc_.range(size(), &first_, &behind_);
  list_rows();
  system_ = petsc_.create(size(), start_.data(), columns_.data());
  if (system_ == nullptr) throw InvalidInput(fmt::format("--petsc '{}': PETSc does not take it", options));
  for (Vector* vector : {&x_before_, &b_, &x_}) *vector = Vector::Zero(lcs.n());
  for (Vector* vector : {&q_, &lambda_, &w_}) *vector = Vector::Zero(lcs.m());
  for (std::vector<double>* list : {&y_, &lower_, &upper_, &d_}) list->assign(unknowns_.size(), 0);
  held_.assign(unknowns_.size(), 0);
}

BoxStep::~BoxStep() {
  if (system_ != nullptr) petsc_.destroy(system_);
}

/// A multiplier stands beside the first variable whose equation holds it, so that both are on one rank.
void BoxStep::number_unknowns() {
  const int n = lcs_.n(), m = lcs_.m();
  law_of_.assign(at(n), -1);
  place_.assign(at(n + m), -1);
  const auto add = [&](int unknown) {
    place_[at(unknown)] = static_cast<int>(unknowns_.size());
    unknowns_.push_back(unknown);
  };
  const auto add_multiplier = [&](int i) {
    if (laws_[at(i)].variable < 0 && place_[at(n + i)] < 0) add(n + i);
  };
  for (int i = 0; i < m; ++i)
    if (laws_[at(i)].variable >= 0) law_of_[at(laws_[at(i)].variable)] = i;
  for (int j = 0; j < n; ++j) {
    add(j);
    for (const auto& [law, value] : lcs_.B.row(j)) add_multiplier(law);
  }
  for (int i = 0; i < m; ++i) add_multiplier(i);
  find_signs();
}

/// F >= 0 where an unknown is at its lower bound.
void BoxStep::find_signs() {
  sign_.assign(unknowns_.size(), 1);
  for (int i = 0; i < lcs_.m(); ++i) {
    const BoxLaw& law = laws_[at(i)];
    if (law.variable < 0) {
      sign_[at(place_[at(lcs_.n() + i)])] = law.side;
      continue;
    }
    // where x_j is at its bound λ leaves its end, and F = h b (λ - end)
    const double moves = law.at_lower >= 0 ? law.b : -law.b;
    sign_[at(place_[at(law.variable)])] = (moves > 0) == law.bounds_below() ? 1 : -1;
  }
}

/// Where its equation has entries.
void BoxStep::add_row(int unknown, std::vector<int>& row) const {
  const int n = lcs_.n();
  const auto add = [&](const linear::SparseMatrix& matrix, int i, int first) {
    for (const auto& entry : matrix.row(i))
      if (const int place = place_[at(first + entry.column)]; place >= 0) row.push_back(place);
  };
  if (unknown >= n) {
    add(lcs_.C, unknown - n, 0);
    add(lcs_.D, unknown - n, n);
    return;
  }
  add(lcs_.E, unknown, 0);
  add(lcs_.A, unknown, 0);
  add(lcs_.B, unknown, n);
}

/// The places of the entries of the rows of this rank, with increasing columns.
void BoxStep::list_rows() {
  start_.assign(1, 0);
  std::vector<int> row;
  for (int k = first_; k < behind_; ++k) {
    row.clear();
    add_row(unknowns_[at(k)], row);
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    columns_.insert(columns_.end(), row.begin(), row.end());
    start_.push_back(static_cast<int>(columns_.size()));
  }
}

void BoxStep::put_values() {
  std::vector<double> values(columns_.size(), 0);
  for (int k = first_; k < behind_; ++k) {
    const auto begin = columns_.begin() + start_[at(k - first_)], end = columns_.begin() + start_[at(k - first_ + 1)];
    const auto add = [&](const linear::SparseMatrix& matrix, int i, int first, double factor) {
      for (const auto& entry : matrix.row(i))
        if (const int place = place_[at(first + entry.column)]; place >= 0)
          values[static_cast<std::size_t>(std::lower_bound(begin, end, place) - columns_.begin())] += factor * entry.value;
    };
    const int own = unknowns_[at(k)], n = lcs_.n();
    const double sign = sign_of(k);
    if (own < n) {
      add(lcs_.E, own, 0, sign);
      add(lcs_.A, own, 0, -sign * h_);
      add(lcs_.B, own, n, -sign * h_);
    } else {
      add(lcs_.C, own - n, 0, sign);
      add(lcs_.D, own - n, n, sign);
    }
  }
  petsc_.set(system_, values.data());
  values_h_ = h_;
}

void BoxStep::set(double h, const Vector& x, double t_next) {
  h_ = h;
  if (h_ != values_h_) put_values();
  x_before_ = x;
  lcs_.b.evaluate(t_next, b_);
  lcs_.q.evaluate(t_next, q_);
  for (int k = 0; k < size(); ++k) y_[at(k)] = unknowns_[at(k)] < lcs_.n() ? x[unknowns_[at(k)]] : lambda_[unknowns_[at(k)] - lcs_.n()];
  find_box();
}

/// Of x_j by its law, of λ by its own.
void BoxStep::find_box() {
  for (int k = 0; k < size(); ++k) {
    const int own = unknowns_[at(k)];
    double &lower = lower_[at(k)], &upper = upper_[at(k)];
    lower = -inf, upper = inf;
    if (own >= lcs_.n()) {
      lower = laws_[at(own - lcs_.n())].lower, upper = laws_[at(own - lcs_.n())].upper;
    } else if (const int i = law_of_[at(own)]; i >= 0) {
      const BoxLaw& law = laws_[at(i)];
      (law.bounds_below() ? lower : upper) = (law.corner - q_[i]) / law.c;
    }
  }
}

/// E (x⁺ - x) - h (A x⁺ + B λ + b) of equation j; the multiplier of a law that bounds x_j at its end, or as it is.
BoxStep::Sum BoxStep::equation(int j, bool with_bounded) const {
  Sum sum;
  const long double h = h_;
  for (const auto& [k, value] : lcs_.E.row(j)) {
    sum.add(static_cast<long double>(value) * y_[at(place_[at(k)])]);
    sum.add(-static_cast<long double>(value) * x_before_[k]);
  }
  for (const auto& [k, value] : lcs_.A.row(j)) sum.add(-h * value * y_[at(place_[at(k)])]);
  sum.add(-h * b_[j]);
  for (const auto& [i, value] : lcs_.B.row(j)) {
    const BoxLaw& law = laws_[at(i)];
    const int place = place_[at(lcs_.n() + i)];
    if (place >= 0)
      sum.add(-h * value * y_[at(place)]);
    else if (!with_bounded)
      sum.add(-h * value * (law.at_lower >= 0 ? law.lower : law.upper));
    else
      sum.add(-h * value * lambda_[i]);
  }
  return sum;
}

/// w - corner of a law.
BoxStep::Sum BoxStep::argument(int i) const {
  Sum sum;
  for (const auto& [j, value] : lcs_.C.row(i)) sum.add(static_cast<long double>(value) * y_[at(place_[at(j)])]);
  for (const auto& [k, value] : lcs_.D.row(i)) {
    const int place = place_[at(lcs_.n() + k)];
    sum.add(static_cast<long double>(value) * (place >= 0 ? y_[at(place)] : lambda_[k]));
  }
  sum.add(q_[i]);
  sum.add(-laws_[at(i)].corner);
  return sum;
}

BoxStep::Sum BoxStep::row(int k) const {
  const int own = unknowns_[at(k)];
  Sum sum = own < lcs_.n() ? equation(own, false) : argument(own - lcs_.n());
  sum.value *= sign_of(k);
  return sum;
}

/// Of x_j, by its own equation.
double BoxStep::rounding_of_variable(int j) const {
  return equation(j, false).rounding() / std::abs(lcs_.E(j, j) - h_ * lcs_.A(j, j));
}

/// What rounding may leave of a row: that of its terms, and in the argument of a law that of the variables in it. Where it is a
/// variable alone, which is 0, its terms are what is left.
double BoxStep::rounding_of(int k, const Sum& row) const {
  double rounding = row.rounding();
  const int own = unknowns_[at(k)], n = lcs_.n();
  if (own >= n)
    for (const auto& [j, value] : lcs_.C.row(own - n)) rounding += std::abs(value) * rounding_of_variable(j);
  return rounding;
}

/// F of this rank's rows; the largest of all ranks that is not held, in bounds of its rounding.
double BoxStep::find_residual(std::vector<double>& right) const {
  double most = 0;
  right.resize(at(behind_ - first_));
  for (int k = first_; k < behind_; ++k) {
    const Sum sum = row(k);
    right[at(k - first_)] = static_cast<double>(sum.value);
    const double size = std::abs(static_cast<double>(sum.value));
    if (held_[at(k)] == 0 && size > 0) most = std::max(most, size / rounding_of(k, sum));
    if (!std::isfinite(size)) most = inf;
  }
  return petsc_.largest(most);
}

/// What the mode fixes: the variable of a law on its corner, a multiplier at its end.
void BoxStep::hold(const Mode& mode) {
  for (int k = 0; k < size(); ++k) {
    const int own = unknowns_[at(k)], n = lcs_.n();
    const int i = own < n ? law_of_[at(own)] : own - n;
    if (i < 0) continue;
    const BoxLaw& law = laws_[at(i)];
    const bool is_inside = mode[at(i)] == law.inside;
    const bool is_held = own < n ? is_inside : !is_inside;
    held_[at(k)] = is_held ? 1 : 0;
    if (is_held) y_[at(k)] = own < n ? (lower_[at(k)] > -inf ? lower_[at(k)] : upper_[at(k)]) : (mode[at(i)] == law.at_lower ? law.lower : law.upper);
  }
}

/// Corrections until they change no more than rounding.
bool BoxStep::refine() {
  std::vector<double> right;
  double before = inf;
  residual_ = find_residual(right);
  for (int k = 0; k < most_corrections && residual_ > 1 && !(residual_ > clear_progress * before && residual_ <= misfit_limit); ++k) {
    for (double& value : right) value = -value;
    if (const char* why = petsc_.correct(system_, held_.data(), right.data(), d_.data()); why != nullptr) {
      message_ = fmt::format("PETSc: {}", why);
      return false;
    }
    ++systems_;
    check_options(petsc_);
    for (int j = 0; j < size(); ++j)
      if (held_[at(j)] == 0) y_[at(j)] += d_[at(j)];
    before = residual_;
    residual_ = find_residual(right);
  }
  if (!(residual_ <= misfit_limit))
    message_ = fmt::format("PETSc: an equation is left {:.3g} times the rounding of its terms", residual_);
  return residual_ <= misfit_limit;
}

bool BoxStep::solve(const Mode& mode) {
  hold(mode);
  if (!refine()) return false;
  find_outputs(mode);
  find_margins(mode);
  return true;
}

/// By what is at its bounds.
Mode BoxStep::mode_of(const std::vector<double>& y) const {
  Mode mode(laws_.size());
  const int n = lcs_.n();
  for (int i = 0; i < lcs_.m(); ++i) {
    const BoxLaw& law = laws_[at(i)];
    const int k = place_[at(law.variable >= 0 ? law.variable : n + i)];
    const bool at_lower = y[at(k)] <= lower_[at(k)], at_upper = y[at(k)] >= upper_[at(k)];
    if (law.variable >= 0)
      mode[at(i)] = at_lower || at_upper ? law.inside : std::max(law.at_lower, law.at_upper);
    else
      mode[at(i)] = at_lower ? law.at_lower : at_upper ? law.at_upper : law.inside;
  }
  return mode;
}

/// Laws beyond the ends of their branches go to the ones that begin there. False: there is none.
bool BoxStep::move_violated(Mode& mode) const {
  bool is_any = false;
  for (const Margin& margin : margins_) {
    if (!margin.is_beyond) continue;
    const BoxLaw& law = laws_[at(margin.law)];
    mode[at(margin.law)] = !margin.of_lambda ? law.inside : margin.is_upper ? law.at_upper : law.at_lower;
    is_any = true;
  }
  return is_any;
}

bool BoxStep::search(Mode& mode) {
  constexpr int most_moves = 100;
  std::vector<double> right, at_0(y_.size(), 0), y = y_;
  for (int k = 0; k < size(); ++k) y[at(k)] = std::clamp(y[at(k)], lower_[at(k)], upper_[at(k)]);
  // r = F(0), and the norm of F that its rounding leaves
  std::swap(y_, at_0);
  std::fill(held_.begin(), held_.end(), char{0});
  find_residual(right);
  std::swap(y_, at_0);
  double rounding = 0;
  for (int k = first_; k < behind_; ++k) rounding = std::max(rounding, row(k).rounding());
  long iterations = 0;
  const char* const why = petsc_.search(system_, right.data(), lower_.data(), upper_.data(), petsc_.largest(rounding), y.data(), &iterations);
  iterations_ += iterations;
  message_ = why == nullptr ? "PETSc found no mode that holds its solution" : fmt::format("PETSc: {}", why);
  const std::string of_search = message_;
  mode = mode_of(y);
  y_ = y;
  for (int k = 0; k < most_moves; ++k) {
    if (!solve(mode)) return false;
    if (!move_violated(mode)) return true;
  }
  message_ = of_search;
  return false;
}

/// Bounds hold their rounding on the safe side.
bool BoxStep::is_dominant(double h) const {
  if (std::any_of(laws_.begin(), laws_.end(), [](const BoxLaw& law) { return law.variable < 0; })) return false;
  for (int j = 0; j < lcs_.n(); ++j) {
    const bool is_turned = law_of_[at(j)] >= 0 && sign_of(place_[at(j)]) * lcs_.E(j, j) < 0;
    if (lcs_.E.row(j).size() != 1 || is_turned) return false;
    double diagonal = std::abs(lcs_.E(j, j)), others = 0, terms = diagonal;
    for (const auto& [k, value] : lcs_.A.row(j)) {
      if (k == j) diagonal -= h * value * (lcs_.E(j, j) > 0 ? 1 : -1);
      else others += h * std::abs(value);
      terms += h * std::abs(value);
    }
    const double rounding = (static_cast<double>(lcs_.A.row(j).size()) + 4) * 2 * unit_roundoff * terms;
    if (!(diagonal - others > rounding)) return false;
  }
  return true;
}

}  // namespace perp
