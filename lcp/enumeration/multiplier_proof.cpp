#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/lcp/enumeration/multiplier_proof.hpp>

// The first proof that ModeTree tries at a node.

namespace perp {
namespace {

using RowOfDoubles = Eigen::Map<Eigen::ArrayXd>;

constexpr double shift_per_bound = 64;  ///< of a coefficient off 0, in bounds of its rounding

/// The largest value of f w + g λ on a branch; nothing where it has none.
std::optional<Bounded<double>> largest_on(const LawBranch<Bounded<double>>& branch,
                                          const LawRanges<Bounded<double>>& ranges,
                                          const Bounded<double>& f, const Bounded<double>& g) {
  const bool is_sloped = !is_zero(branch.a) && !is_zero(branch.b);
  // on a sloped branch w = (c - b λ)/a
  const auto w = is_sloped ? std::optional<Bounded<double>>(f * branch.c / branch.a)
                           : supremum(f, ranges.w);
  const auto lambda = supremum(is_sloped ? g - f * branch.b / branch.a : g, ranges.lambda);
  if (!w || !lambda) return std::nullopt;
  return *w + *lambda;
}

/// A square system with two right sides, row by row, that Gauss' elimination solves in its place.
struct SystemOfTwoSides {
  double* data;
  int size;

  [[nodiscard]] int stride() const { return size + 2; }
  [[nodiscard]] double* row(int i) const { return data + at(i * stride()); }

  /// Brings the largest entry of column k from row k on into row k. False: they are 0.
  [[nodiscard]] bool take_pivot(int k) const {
    int pivot = k;
    for (int i = k + 1; i < size; ++i)
      if (std::abs(row(i)[k]) > std::abs(row(pivot)[k])) pivot = i;
    if (!(std::abs(row(pivot)[k]) > 0)) return false;
    if (pivot != k) std::swap_ranges(row(k) + k, row(k) + stride(), row(pivot) + k);
    return true;
  }

  void eliminate_below(int k) const {
    for (int i = k + 1; i < size; ++i)
      if (row(i)[k] != 0)
        RowOfDoubles(row(i) + k + 1, stride() - k - 1) -=
            row(i)[k] / row(k)[k] * RowOfDoubles(row(k) + k + 1, stride() - k - 1);
  }

  void substitute_back() const {
    for (int k = size - 1; k >= 0; --k)
      for (double* x = row(k) + size; x < row(k) + stride(); ++x) {
        for (int j = k + 1; j < size; ++j) *x -= row(k)[j] * x[(j - k) * stride()];
        *x /= row(k)[k];
      }
  }
};

}  // namespace

MultiplierProof::MultiplierProof(Forms& forms) : problem_(forms.problem()) {
  for (const auto& law : problem_.laws) {
    ranges_.emplace_back();
    for (const LawBranch<Number>& branch : law) ranges_.back().push_back(ranges_of(branch));
  }
  find_columns(forms);
  append_rows(forms);
  add_rounding();
  sum_.resize(at(width_));
  error_.resize(at(width_));
  mode_.assign(at(problem_.m), -1);
}

/// The parameters: a column for each unknown that the equations leave.
void MultiplierProof::find_columns(const Forms& forms) {
  const int n = problem_.p + problem_.m;
  column_.assign(at(n), -1);
  for (int j = 0; j < n; ++j) {
    if (forms.is_eliminated(j)) continue;
    column_[at(j)] = static_cast<int>(unknown_.size());
    unknown_.push_back(j);
  }
  width_ = static_cast<int>(unknown_.size()) + 1;
}

/// Every w, and the λ that are no parameters.
void MultiplierProof::append_rows(Forms& forms) {
  const int p = problem_.p, m = problem_.m;
  row_.assign(at(2 * m), -1);
  for (int i = 0; i < 2 * m; ++i) {
    if (i >= m && column_[at(p + i - m)] >= 0) continue;
    row_[at(i)] = rows_++;
    append_row(forms.quantity(i));
  }
}

/// The bounds get the rounding of sums of rows; the shifts are made of them.
void MultiplierProof::add_rounding() {
  const double rounding = (rows_ + 8) * bounded::unit<double>;  // of a sum of that many products
  for (std::size_t k = 0; k < entry_.size(); ++k)
    if (entry_[k] != 0 || bound_[k] != 0)
      bound_[k] = bounded::up(bound_[k] + rounding * std::abs(entry_[k]));
  shift_of_column_.assign(at(width_), 0);
  for (std::size_t k = 0; k < bound_.size(); ++k) {
    double& shift = shift_of_column_[k % at(width_)];
    shift = std::max(shift, shift_per_bound * bound_[k]);
  }
}

void MultiplierProof::append_row(const std::vector<Number>& form) {
  for (int j = 0; j < width_; ++j) {
    const Number& entry = j + 1 < width_ ? form[at(unknown_[at(j)])] : form.back();
    entry_.push_back(entry.value);
    bound_.push_back(entry.error);
  }
}

bool MultiplierProof::proves(const std::vector<Decision>& path, const EmptinessClaim& claim) {
  read(path, claim);
  if (!leave_out_fixed_lambdas() || !find_multipliers()) return false;
  // The quantity may be too small or too large.
  for (const double sign : {-1.0, 1.0}) {
    y_.resize(at(rows_));
    for (std::size_t i = 0; i < y_.size(); ++i) y_[i] = sign * base_[i] + shift_[i];
    if (separates(y_.data())) return true;
  }
  return false;
}

/// The branches of the node, and which functionals eliminate which unknowns.
void MultiplierProof::read(const std::vector<Decision>& path, const EmptinessClaim& claim) {
  const auto of_branch = [&](const Decision& decision) {
    const LawBranch<Number>& branch = problem_.laws[at(decision.law)][at(decision.branch)];
    mode_[at(decision.law)] = decision.branch;
    return Functional{decision.law, branch.a.value, branch.b.value};
  };
  const auto of_quantity = [&](int i) {
    return i < problem_.m ? Functional{i, 1, 0} : Functional{i - problem_.m, 0, 1};
  };
  std::fill(mode_.begin(), mode_.end(), -1);
  eliminating_.clear();
  eliminated_.clear();
  for (const Decision& decision : path) {
    const Functional functional = of_branch(decision);
    if (decision.unknown < 0) continue;
    eliminating_.push_back(functional);
    eliminated_.push_back(column_[at(decision.unknown)]);
  }
  for (const int i : claim.active) eliminating_.push_back(of_quantity(i));
  for (const int j : claim.replaced) eliminated_.push_back(column_[at(j)]);
  claimed_ = claim.quantity < 0 ? of_branch(claim.equation) : of_quantity(claim.quantity);
}

/// A parameter λ that is a functional itself has any coefficient: it takes no multiplier.
bool MultiplierProof::leave_out_fixed_lambdas() {
  const auto is_parameter = [&](const Functional& of) {
    return of.a == 0 && column_[at(problem_.p + of.law)] >= 0;
  };
  for (const Functional& functional : eliminating_)
    if (is_parameter(functional)) std::erase(eliminated_, column_[at(problem_.p + functional.law)]);
  std::erase_if(eliminating_, is_parameter);
  return eliminating_.size() == eliminated_.size();
}

/// y gets the multipliers of a functional times the factor.
void MultiplierProof::add(const Functional& of, double factor, double* y) const {
  y[row_[at(of.law)]] += factor * of.a;
  const int own = row_[at(problem_.m + of.law)];
  if (own >= 0) y[own] += factor * of.b;
}

/// A functional in the eliminated parameters, written with this stride.
void MultiplierProof::write_coefficients(const Functional& of, double* to, int stride) const {
  const double* w = &entry_[at(row_[at(of.law)] * width_)];
  const int own = row_[at(problem_.m + of.law)], column = column_[at(problem_.p + of.law)];
  const double* lambda = own >= 0 ? &entry_[at(own * width_)] : nullptr;
  for (const int j : eliminated_) {
    *to = of.a * w[j];
    if (of.b != 0) *to += of.b * (lambda != nullptr ? lambda[j] : (j == column ? 1 : 0));
    to += stride;
  }
}

/// Σ_d μ_d f_dj = f_j of the claimed functional in the eliminated columns j, and the change of μ that moves
/// their coefficients to the right side of 0.
bool MultiplierProof::find_multipliers() {
  const auto size = static_cast<int>(eliminating_.size());
  const int stride = size + 2;
  matrix_.resize(at(size * stride));
  for (int d = 0; d < size; ++d) write_coefficients(eliminating_[at(d)], &matrix_[at(d)], stride);
  if (size > 0) write_coefficients(claimed_, &matrix_[at(size)], stride);
  for (int j = 0; j < size; ++j) {
    const int column = eliminated_[at(j)];
    matrix_[at(j * stride + size + 1)] = -open_end(column) * shift_of_column_[at(column)];
  }
  if (!solve(size)) return false;
  base_.assign(at(rows_), 0);
  shift_.assign(at(rows_), 0);
  add(claimed_, 1, base_.data());
  for (int d = 0; d < size; ++d) {
    const double* mu = &matrix_[at(d * stride + size)];
    add(eliminating_[at(d)], -mu[0], base_.data());
    add(eliminating_[at(d)], -mu[1], shift_.data());
  }
  double multipliers = 0;
  for (const double y : base_) multipliers += std::abs(y);
  for (double& y : shift_) y *= multipliers;
  return true;
}

/// Gauss' elimination with two right sides, which the solutions take the place of.
bool MultiplierProof::solve(int size) {
  const SystemOfTwoSides system{matrix_.data(), size};
  for (int k = 0; k < size; ++k) {
    if (!system.take_pivot(k)) return false;
    system.eliminate_below(k);
  }
  system.substitute_back();
  return true;
}

/// 1: the parameter has no upper end, -1: no lower one, 0: both or none.
int MultiplierProof::open_end(int column) const {
  const int law = unknown_[at(column)] - problem_.p;
  if (law < 0) return 0;
  const auto& of_law = ranges_[at(law)];
  const auto is_open = [&](std::optional<Number> Interval<Number>::*end) {
    if (mode_[at(law)] >= 0) return !(of_law[at(mode_[at(law)])].lambda.*end);
    return std::any_of(of_law.begin(), of_law.end(),
                       [&](const LawRanges<Number>& ranges) { return !(ranges.lambda.*end); });
  };
  return (is_open(&Interval<Number>::upper) ? 1 : 0) - (is_open(&Interval<Number>::lower) ? 1 : 0);
}

/// yᵀ(entry) and a bound of its error.
void MultiplierProof::combine(const double* y) {
  RowOfDoubles sum(sum_.data(), width_), error(error_.data(), width_);
  sum.setZero();
  error.setZero();
  for (int i = 0; i < rows_; ++i) {
    if (y[i] == 0) continue;
    sum += y[i] * RowOfDoubles(&entry_[at(i * width_)], width_);
    error += std::abs(y[i]) * RowOfDoubles(&bound_[at(i * width_)], width_);
  }
  // its own rounding, and what underflowed
  error *= 1 + 2 * (rows_ + 8) * bounded::unit<double>;
  error += error.unaryExpr([&](double e) {
    return e > 0 ? 4.0 * (rows_ + 1) * std::numeric_limits<double>::denorm_min() : 0.0;
  });
}

/// Σ_i largest(y_i w_i + κ_i λ_i) < yᵀq?
bool MultiplierProof::separates(const double* y) {
  combine(y);
  const int constant = width_ - 1;
  for (int j = 0; j < constant; ++j)  // a u has no range
    if (unknown_[at(j)] < problem_.p && (sum_[at(j)] != 0 || error_[at(j)] != 0)) return false;
  Number most = -Number(sum_[at(constant)], error_[at(constant)]);
  for (int i = 0; i < problem_.m; ++i) {
    const auto of_law = largest(i, y);
    if (!of_law) return false;
    most = most + *of_law;
  }
  return decided_sign(most) < 0;
}

/// Does the node leave this branch to the law?
bool MultiplierProof::leaves(int law, int branch) const {
  return mode_[at(law)] < 0 || mode_[at(law)] == branch;
}

/// Of y_i w + κ_i λ on the branches that the node leaves to the law; κ_i = -(yᵀM)_i of a parameter.
std::optional<Bounded<double>> MultiplierProof::largest(int law, const double* y) const {
  const int column = column_[at(problem_.p + law)];
  const Number of_w = y[row_[at(law)]];
  const Number of_lambda = column < 0 ? Number(y[row_[at(problem_.m + law)]])
                                      : Number(-sum_[at(column)], error_[at(column)]);
  if (is_zero(of_w) && is_zero(of_lambda)) return Number(0);
  std::optional<Number> most;
  const auto& branches = problem_.laws[at(law)];
  for (std::size_t k = 0; k < branches.size(); ++k) {
    if (!leaves(law, static_cast<int>(k))) continue;
    const auto here = largest_on(branches[k], ranges_[at(law)][k], of_w, of_lambda);
    if (!here) return std::nullopt;
    most = most ? larger(*most, *here) : *here;
  }
  return most;
}

}  // namespace perp
