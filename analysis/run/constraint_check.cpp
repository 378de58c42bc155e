#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>

#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/constraint_check.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/system/algebraic_rows.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>

namespace perp {
namespace {

constexpr double most_checked_numbers = 1e6;  // kept for the check of the constraints
constexpr double half_of_the_digits = 0x1p-26;  // of the terms of a row: what is missing more is no rounding

/// Rows that a column has entries in, with the size of these.
using Rows = std::vector<std::vector<std::pair<int, double>>>;

Rows rows_of_columns(const linear::SparseMatrix& matrix) {
  Rows rows(static_cast<std::size_t>(matrix.columns()));
  for (int i = 0; i < matrix.rows(); ++i)
    for (const auto& [column, value] : matrix.row(i))
      if (value != 0) rows[static_cast<std::size_t>(column)].emplace_back(i, std::abs(value));
  return rows;
}

/// 0 = A x + B λ + b in the rows without a rate, those that E hides among them.
class AffineRows {
 public:
  /// `h`: length of steps whose unknowns are computed from all terms of their equations; 0: of other schemes.
  AffineRows(const Lcs& given, double h) : lcs_(sparse(given)), h_(h) {
    separate_algebraic_rows(lcs_);
    for (int i = 0; i < lcs_.n(); ++i)
      if (lcs_.E.row(i).empty()) algebraic_.push_back(i);
    rows_of_E_.resize(static_cast<std::size_t>(lcs_.n()));
    for (int i = 0; i < lcs_.n(); ++i)
      linear::for_each_of(lcs_.E.row(i), lcs_.A.row(i), [&](int column, double e, double a) {
        if (e != 0) rows_of_E_[static_cast<std::size_t>(column)].emplace_back(i, std::abs(e) / h + std::abs(a));
      });
    rows_of_B_ = rows_of_columns(lcs_.B);
    rows_of_D_ = rows_of_columns(lcs_.D);
  }

  ConstraintRows operator()(const Step& step, RowSizes& sizes) const {
    const Vector b = lcs_.b(step.t), q = lcs_.q(step.t);
    if (h_ > 0) grow(step, b, q, sizes);
    const Vector x = step.x.cwiseAbs().cwiseMax(sizes.x), lambda = step.lambda.cwiseAbs().cwiseMax(sizes.lambda);
    const Vector rows = lcs_.A.times(step.x) + lcs_.B.times(step.lambda) + b;
    const Vector terms = b.cwiseAbs() + lcs_.A.sizes_times(x) + lcs_.B.sizes_times(lambda);
    return {.equation = rows(algebraic_),
            .equation_terms = terms(algebraic_),
            .w = lcs_.C.times(step.x) + lcs_.D.times(step.lambda) + q,
            .w_terms = q.cwiseAbs() + lcs_.C.sizes_times(x) + lcs_.D.sizes_times(lambda),
            .lambda_terms = lambda};
  }

 private:
  /// An unknown has the rounding of all terms of the equation that it is computed from, which may be larger than it is:
  ///     T = |E| |x| / h + |A| |x| + |B| |λ| + |b|,   x_j: T_i / (|E_ij| / h + |A_ij|),   λ_k: T_i / |B_ik|,
  /// and λ_k of the terms of w_i beside |D_ik|. What they have been stays.
  void grow(const Step& step, const Vector& b, const Vector& q, RowSizes& sizes) const {
    const Vector x = step.x.cwiseAbs(), lambda = step.lambda.cwiseAbs();
    const Vector T = lcs_.E.sizes_times(x) / h_ + lcs_.A.sizes_times(x) + lcs_.B.sizes_times(lambda) + b.cwiseAbs();
    const Vector of_w = lcs_.C.sizes_times(x) + lcs_.D.sizes_times(lambda) + q.cwiseAbs();
    const auto raise = [](double& size, double value) {
      if (std::isfinite(value)) size = std::max(size, value);
    };
    for (Eigen::Index j = 0; j < x.size(); ++j)
      for (const auto& [i, value] : rows_of_E_[static_cast<std::size_t>(j)])
        raise(sizes.x[j], T[i] / value);
    for (Eigen::Index k = 0; k < lambda.size(); ++k) {
      for (const auto& [i, value] : rows_of_B_[static_cast<std::size_t>(k)]) raise(sizes.lambda[k], T[i] / value);
      for (const auto& [i, value] : rows_of_D_[static_cast<std::size_t>(k)]) raise(sizes.lambda[k], of_w[i] / value);
    }
  }

  SparseLcs lcs_;
  double h_;
  std::vector<int> algebraic_;
  Rows rows_of_E_, rows_of_B_, rows_of_D_;
};

/// 0 = F_i where F_i holds no derivative; the terms are |∂F_i/∂z_k| |z_k|, z = (t, x, λ).
std::function<ConstraintRows(const Step&, RowSizes&)> rows_of(const Dcs& system) {
  const auto evaluator = std::make_shared<DcsEvaluator>(system);
  const int n = system.n();
  const int m = system.m();
  std::vector<bool> has_derivative(static_cast<std::size_t>(n + m));
  for (const auto& entry : evaluator->entries())
    if (entry.column >= 1 && entry.column <= n)
      has_derivative[static_cast<std::size_t>(entry.row)] = true;
  std::vector<int> algebraic;
  for (int i = 0; i < n; ++i)
    if (!has_derivative[static_cast<std::size_t>(i)]) algebraic.push_back(i);
  return [=](const Step& step, const RowSizes& unit) {
    Vector z = Vector::Zero(evaluator->inputs());
    z[0] = step.t;
    z.segment(1 + n, n) = step.x;
    z.tail(m) = step.lambda;
    Vector rows(n + m);
    std::vector<double> derivatives(evaluator->entries().size());
    evaluator->linearize(z.data(), rows.data(), derivatives.data());
    Vector terms = rows.cwiseAbs(), sizes = z.cwiseAbs();
    sizes.segment(1 + n, n) = sizes.segment(1 + n, n).cwiseMax(unit.x);
    sizes.tail(m) = sizes.tail(m).cwiseMax(unit.lambda);
    for (std::size_t k = 0; k < derivatives.size(); ++k) {
      const auto [row, column] = evaluator->entries()[k];
      if (sizes[column] != 0) terms[row] += std::abs(derivatives[k]) * sizes[column];
    }
    ConstraintRows result{rows(algebraic), terms(algebraic), rows.tail(m), terms.tail(m), step.lambda.cwiseAbs()};
    for (int i = 0; i < m; ++i)
      if (has_derivative[static_cast<std::size_t>(n + i)]) result.w[i] = step.w[i];
    return result;
  };
}

Vector larger(const Vector& so_far, const Vector& now) {
  return so_far.size() == 0 ? now : Vector(so_far.cwiseMax(now));
}

}  // namespace

ConstraintCheck::ConstraintCheck(const Model& model, double expected_steps)
    : laws_(model.laws()),
      model_time_(model.run.span.end - model.run.span.start),
      names_(columns_of(model).lambda),
      sizes_{Vector::Zero(static_cast<Eigen::Index>(model.variables.size())), Vector::Zero(model.m())} {
  if (model.run.scheme == "located") {
    const ModelScales scales =
        model_scales(equations_of(model), model.x0(), model.run.span, located_options(model).scale);
    sizes_ = {scales.x, scales.lambda};
    gate_ = Gate::equations;
    most_ = std::max(half_of_the_digits, located_options(model).tol);
  }
  terms_.lambda_terms = sizes_.lambda;
  if (const Lcs* lcs = model.system.affine()) {
    const bool is_of_steps = model.hybrid == nullptr && scheme(model.run.scheme).lists_solutions;
    if (is_of_steps) gate_ = Gate::all, most_ = half_of_the_digits;
    rows_ = AffineRows(*lcs, is_of_steps ? model.run.h : 0);
  } else {
    rows_ = rows_of(model.system.functions());
  }
  const double most = most_checked_numbers / (1 + 2 * model.m());
  stride_ = std::max(1L, static_cast<long>(expected_steps / std::clamp(most, 100.0, 5000.0)));
}

bool ConstraintCheck::add(const Step& step) {
  // The first state is the user's: whether it is consistent is reported as an event.
  if (seen_++ % stride_ != 0 || seen_ == 1) return true;
  const auto m = static_cast<Eigen::Index>(laws_.size());
  if (step.lambda.size() != m || (m > 0 && step.mode.empty())) return true;
  const ConstraintRows rows = rows_at(step);
  equation_ = larger(equation_, rows.equation.cwiseAbs());
  terms_.equation_terms = larger(terms_.equation_terms, rows.equation_terms);
  terms_.w_terms = larger(terms_.w_terms, rows.w_terms);
  terms_.lambda_terms = larger(terms_.lambda_terms, rows.lambda_terms);
  w_.push_back(rows.w);
  lambda_.push_back(step.lambda);
  return gate_ == Gate::none || passes(rows, step);
}

/// Beside the largest terms so far.
bool ConstraintCheck::passes(const ConstraintRows& rows, const Step& step) {
  const Vector none;
  const Largest now = gate_ == Gate::all ? largest_of(rows.equation.cwiseAbs(), rows.w, step.lambda, terms_)
                                         : largest_of(rows.equation.cwiseAbs(), none, none, terms_);
  if (now.size <= most_) return true;
  const Eigen::Index law = now.row - rows.equation.size();
  fault_ = fmt::format("stopped at t = {:.10g}: {} misses {:.3g} of its terms there, which is no rounding", step.t,
                       law < 0 ? "an algebraic equation" : "the law of " + names_[static_cast<std::size_t>(law)], now.size);
  return false;
}

/// Where formulas of t jump, the state is one of the moment before or behind.
ConstraintRows ConstraintCheck::rows_at(const Step& step) {
  const auto miss = [&](const ConstraintRows& rows) {
    return largest_of(rows.equation.cwiseAbs(), rows.w, step.lambda, rows).size;
  };
  ConstraintRows best = rows_(step, sizes_);
  double least = miss(best);
  for (const double side : {-1.0, 1.0}) {
    if (!(least >= half_of_the_digits)) break;
    Step beside = step;
    beside.t += side * 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(step.t), model_time_);
    RowSizes sizes = sizes_;
    ConstraintRows rows = rows_(beside, sizes);
    const double here = miss(rows);
    if (here < least) std::tie(best, least, sizes_) = std::tuple(std::move(rows), here, std::move(sizes));
  }
  return best;
}

ConstraintCheck::Largest ConstraintCheck::largest_of(const Vector& equation, const Vector& w, const Vector& lambda,
                                                     const ConstraintRows& terms) const {
  Largest largest;
  const auto take = [&](double size, Eigen::Index row) {
    if (size > largest.size) largest = {size, row};
  };
  for (Eigen::Index i = 0; i < equation.size(); ++i)
    if (terms.equation_terms[i] > 0) take(equation[i] / terms.equation_terms[i], i);
  const auto scale = [](double size) { return size > 0 ? size : 1; };
  for (Eigen::Index i = 0; i < w.size(); ++i)
    take(distance(laws_[static_cast<std::size_t>(i)], w[i], lambda[i], scale(terms.w_terms[i]), scale(terms.lambda_terms[i])),
         equation.size() + i);
  return largest;
}

double ConstraintCheck::largest() const {
  double largest = 0;
  for (std::size_t k = 0; k < w_.size(); ++k)
    largest = std::max(largest, largest_of(equation_, w_[k], lambda_[k], terms_).size);
  return largest;
}

}  // namespace perp
