#include <cmath>
#include <cstddef>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/determinant.hpp>
#include <perp/schemes/step/solvability/step_determinants.hpp>

namespace perp {
namespace {

/// The polynomial of degree n - 1 with these values at 0, 1, ..., n - 1, by divided differences (Newton).
Polynomial interpolated(std::vector<Rational> values) {
  const std::size_t n = values.size();
  for (std::size_t order = 1; order < n; ++order)
    for (std::size_t k = n; k-- > order;) {
      values[k] -= values[k - 1];
      values[k] /= Rational(static_cast<long>(order));
    }
  // a_0 + x' (a_1 + (x - 1) (a_2 + ...)), expanded from the inside.
  Polynomial result;
  for (std::size_t k = n; k-- > 0;) {
    result.insert(result.begin(), Rational());
    for (std::size_t i = 0; i + 1 < result.size(); ++i) result[i] -= Rational(static_cast<long>(k)) * result[i + 1];
    result[0] += values[k];
  }
  return result;
}

}  // namespace

StepDeterminants::StepDeterminants(const StepEquations& equations, const Block& block)
    : laws_(&equations.laws()), lambda_(block.lambda) {
  const Lcs& lcs = equations.lcs();
  const auto row_of = [&](const Matrix& left, const Matrix& right, int i, const Rational& of_left, const Rational& of_right) {
    std::vector<Rational> row;
    for (const int j : block.u) row.push_back(of_left * Rational(left(i, j)));
    for (const int j : block.lambda) row.push_back(of_right * Rational(right(i, j)));
    return row;
  };
  for (const int i : block.equations) {
    if (equations.is_algebraic_row(i)) {
      constant_.push_back(row_of(lcs.A, lcs.B, i, 1, 1));
      slope_.push_back(row_of(lcs.A, lcs.B, i, 0, 0));
    } else {
      constant_.push_back(row_of(lcs.E, lcs.B, i, 1, 0));
      slope_.push_back(row_of(lcs.A, lcs.B, i, -Rational(equations.theta()), -1));
      ++degree_;
    }
  }
  for (const int i : block.lambda) law_.push_back(row_of(lcs.C, lcs.D, i, 1, 1));
}

StepDeterminants::Rows StepDeterminants::matrix(const Rows& laws, long h) const {
  Rows rows = constant_;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows[i].size(); ++j) rows[i][j] += Rational(h) * slope_[i][j];
  rows.insert(rows.end(), laws.begin(), laws.end());
  return rows;
}

Polynomial StepDeterminants::polynomial(const Mode& mode) const {
  Rows laws = law_;
  for (std::size_t k = 0; k < laws.size(); ++k) {
    const Branch& branch = (*laws_)[at(lambda_[k])].branches[at(mode[k])];
    for (Rational& entry : laws[k]) entry *= Rational(branch.a);
    laws[k][constant_.size() + k] += Rational(branch.b);
  }
  std::vector<Rational> values;
  for (std::size_t k = 0; k <= degree_; ++k) values.push_back(determinant(matrix(laws, static_cast<long>(k))));
  return interpolated(std::move(values));
}

double StepDeterminants::work() const {
  return static_cast<double>(degree_ + 1) * std::pow(static_cast<double>(constant_.size() + law_.size()), 3) / 3;
}

}  // namespace perp
