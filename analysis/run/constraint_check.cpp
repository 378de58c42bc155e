#include <algorithm>
#include <cmath>
#include <memory>

#include <perp/analysis/run/constraint_check.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/system/algebraic_rows.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>

namespace perp {
namespace {

constexpr double most_checked_numbers = 1e6;  // kept for the check of the constraints

/// 0 = A x + B λ + b in the rows without a rate, those that E hides among them.
std::function<ConstraintRows(const Step&)> rows_of(const Lcs& given, const Vector& x_unit,
                                                   const Vector& lambda_unit) {
  const auto lcs = std::make_shared<SparseLcs>(sparse(given));
  separate_algebraic_rows(*lcs);
  std::vector<int> algebraic;
  for (int i = 0; i < lcs->n(); ++i)
    if (lcs->E.row(i).empty()) algebraic.push_back(i);
  return [=](const Step& step) {
    const Vector x = step.x.cwiseAbs().cwiseMax(x_unit);
    const Vector lambda = step.lambda.cwiseAbs().cwiseMax(lambda_unit);
    const Vector b = lcs->b(step.t), q = lcs->q(step.t);
    const Vector rows = lcs->A.times(step.x) + lcs->B.times(step.lambda) + b;
    const Vector terms = b.cwiseAbs() + lcs->A.sizes_times(x) + lcs->B.sizes_times(lambda);
    return ConstraintRows{rows(algebraic), terms(algebraic), lcs->C.times(step.x) + lcs->D.times(step.lambda) + q,
                          q.cwiseAbs() + lcs->C.sizes_times(x) + lcs->D.sizes_times(lambda)};
  };
}

/// 0 = F_i where F_i holds no derivative; the terms are |∂F_i/∂z_k| |z_k|, z = (t, x, λ).
std::function<ConstraintRows(const Step&)> rows_of(const Dcs& system, const Vector& x_unit,
                                                   const Vector& lambda_unit) {
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
  return [=](const Step& step) {
    Vector z = Vector::Zero(evaluator->inputs());
    z[0] = step.t;
    z.segment(1 + n, n) = step.x;
    z.tail(m) = step.lambda;
    Vector rows(n + m);
    std::vector<double> derivatives(evaluator->entries().size());
    evaluator->linearize(z.data(), rows.data(), derivatives.data());
    Vector terms = rows.cwiseAbs(), sizes = z.cwiseAbs();
    sizes.segment(1 + n, n) = sizes.segment(1 + n, n).cwiseMax(x_unit);
    sizes.tail(m) = sizes.tail(m).cwiseMax(lambda_unit);
    for (std::size_t k = 0; k < derivatives.size(); ++k) {
      const auto [row, column] = evaluator->entries()[k];
      if (sizes[column] != 0) terms[row] += std::abs(derivatives[k]) * sizes[column];
    }
    ConstraintRows result{rows(algebraic), terms(algebraic), rows.tail(m), terms.tail(m)};
    for (int i = 0; i < m; ++i)
      if (has_derivative[static_cast<std::size_t>(n + i)]) result.w[i] = step.w[i];
    return result;
  };
}

Vector largest_of(const Vector& so_far, const Vector& now) {
  return so_far.size() == 0 ? now : Vector(so_far.cwiseMax(now));
}

}  // namespace

ConstraintCheck::ConstraintCheck(const Model& model, double expected_steps)
    : laws_(model.laws()), lambda_scale_(Vector::Zero(model.m())) {
  Vector x_unit = Vector::Zero(static_cast<Eigen::Index>(model.variables.size()));
  if (model.run.scheme == "located") {
    const ModelScales scales =
        model_scales(equations_of(model), model.x0(), model.run.span, located_options(model).scale);
    x_unit = scales.x;
    lambda_scale_ = scales.lambda;
  }
  const Lcs* lcs = model.system.affine();
  rows_ = lcs != nullptr ? rows_of(*lcs, x_unit, lambda_scale_)
                         : rows_of(model.system.functions(), x_unit, lambda_scale_);
  const double most = most_checked_numbers / (1 + 2 * model.m());
  stride_ = std::max(1L, static_cast<long>(expected_steps / std::clamp(most, 100.0, 5000.0)));
}

void ConstraintCheck::add(const Step& step) {
  // The first state is the user's: whether it is consistent is reported as an event.
  if (seen_++ % stride_ != 0 || seen_ == 1) return;
  const auto m = static_cast<Eigen::Index>(laws_.size());
  if (step.lambda.size() != m || (m > 0 && step.mode.empty())) return;
  const ConstraintRows rows = rows_(step);
  equation_ = largest_of(equation_, rows.equation.cwiseAbs());
  equation_scale_ = largest_of(equation_scale_, rows.equation_terms);
  w_scale_ = largest_of(w_scale_, rows.w_terms);
  lambda_scale_ = largest_of(lambda_scale_, step.lambda.cwiseAbs());
  w_.push_back(rows.w);
  lambda_.push_back(step.lambda);
}

double ConstraintCheck::largest() const {
  double largest = 0;
  for (Eigen::Index i = 0; i < equation_.size(); ++i)
    if (equation_scale_[i] > 0) largest = std::max(largest, equation_[i] / equation_scale_[i]);
  const auto scale = [](double size) { return size > 0 ? size : 1; };
  for (std::size_t k = 0; k < w_.size(); ++k)
    for (Eigen::Index i = 0; i < w_scale_.size(); ++i)
      largest =
          std::max(largest, distance(laws_[static_cast<std::size_t>(i)], w_[k][i], lambda_[k][i],
                                     scale(w_scale_[i]), scale(lambda_scale_[i])));
  return largest;
}

}  // namespace perp
