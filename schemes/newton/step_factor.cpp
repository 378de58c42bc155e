#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/schemes/newton/step_factor.hpp>

namespace perp {
namespace {

constexpr int most_singular = 2048;  ///< unknowns of a singular matrix that is looked at in full

}  // namespace

StepFactor::StepFactor(const ImplicitStep& step) : step_(step), full_(step.is_large() ? 0 : step.n() + step.m()) {}

bool StepFactor::is_too_large() const { return step_.size() > most_singular; }

bool StepFactor::factorise() {
  is_full_ = !step_.is_large();
  if (is_full_) return full_.factorise(step_.jacobian(), step_.size(), step_.units());
  if (factorise_sparse()) return true;
  if (is_too_large()) return false;
  is_full_ = true;
  full_ = DenseLu(step_.size());
  return full_.factorise(step_.full_jacobian().data(), step_.size(), step_.units());
}

bool StepFactor::factorise_sparse() {
  if (!sparse_ || sparse_->pattern() != step_.pattern()) sparse_.emplace(step_.pattern());
  return sparse_->factorise(step_.jacobian(), step_.units());
}

void StepFactor::solve(double* x) const {
  if (is_full_)
    full_.solve(x);
  else
    sparse_->solve(x);
}

void StepFactor::solve_transposed(double* x) const {
  if (is_full_)
    full_.solve_transposed(x);
  else
    sparse_->solve_transposed(x);
}

int StepFactor::determinant_sign() const { return is_full_ ? full_.determinant_sign() : sparse_->determinant_sign(); }

double StepFactor::column_scale(int j) const { return is_full_ ? full_.column_scale(j) : sparse_->column_scale(j); }

DenseLu::Remainder StepFactor::solve_least_squares(double* x) const {
  if (is_full_) return full_.solve_least_squares(step_.full_jacobian().data(), step_.residual(), x);
  std::fill_n(x, step_.size(), 0.0);
  return {};
}

bool StepFactor::determines(int count) const {
  return is_full_ && full_.determines(step_.full_jacobian().data(), count);
}

void StepFactor::transfer(Archive& archive) {
  bool is_made = sparse_.has_value();
  archive(is_made);
  if (!is_made) return;
  linear::RowPattern pattern = archive.is_reading() ? linear::RowPattern{} : sparse_->pattern();
  archive(pattern.start, pattern.column);
  if (archive.is_reading()) sparse_.emplace(pattern);
  sparse_->transfer(archive);
}

}  // namespace perp
