// Sparse multilinear functions: values and derivatives by the factors of their columns.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/models/language/multilinear/multilinear_form.hpp>

namespace perp {
namespace {

/// The entries by (column, row), those at one place added. Throws for what is out of range.
std::map<std::pair<int, int>, double> by_column(const SparseEntries& matrix, const char* name) {
  std::map<std::pair<int, int>, double> sorted;
  for (const SparseEntry& entry : matrix.entries) {
    if (entry.row < 0 || entry.row >= matrix.rows || entry.column < 0 ||
        entry.column >= matrix.columns)
      throw InvalidInput(
          fmt::format("{} has an entry at ({}, {}); expected rows 1 to {} and columns 1 to {}",
                      name, entry.row + 1, entry.column + 1, matrix.rows, matrix.columns));
    if (!std::isfinite(entry.value))
      throw InvalidInput(fmt::format("the entry ({}, {}) of {} is {}; expected a finite number",
                                     entry.row + 1, entry.column + 1, name, entry.value));
    sorted[{entry.column, entry.row}] += entry.value;
  }
  std::erase_if(sorted, [](const auto& item) { return item.second == 0; });
  return sorted;
}

}  // namespace

MultilinearForm::MultilinearForm(const SparseEntries& S, const SparseEntries& phi_f,
                                 const SparseEntries& phi_g)
    : signals_(S.rows), equations_(phi_f.rows), constraints_(phi_g.rows) {
  for (const auto& [matrix, name] : {std::pair(&phi_f, "Phi_f"), std::pair(&phi_g, "Phi_g")})
    if (matrix->columns != S.columns && matrix->rows > 0)
      throw InvalidInput(fmt::format("{} has {} columns; expected {}, as S has", name,
                                     matrix->columns, S.columns));
  const auto count = at(S.columns);
  std::vector<std::vector<Factor>> factors(count);
  std::vector<std::vector<Weight>> weights(count);
  for (const auto& [place, value] : by_column(S, "S"))
    factors[at(place.first)].push_back({place.second, value});
  for (const auto& [place, value] : by_column(phi_f, "Phi_f"))
    weights[at(place.first)].push_back({place.second, value});
  for (const auto& [place, value] : by_column(phi_g, "Phi_g"))
    weights[at(place.first)].push_back({equations_ + place.second, value});
  factor_start_ = weight_start_ = {0};
  for (std::size_t k = 0; k < count; ++k) {
    factors_.insert(factors_.end(), factors[k].begin(), factors[k].end());
    weights_.insert(weights_.end(), weights[k].begin(), weights[k].end());
    factor_start_.push_back(static_cast<int>(factors_.size()));
    weight_start_.push_back(static_cast<int>(weights_.size()));
  }
}

void MultilinearForm::check(const Vector& v) const {
  if (v.size() != signals_)
    throw InvalidInput(fmt::format("v must have {} entries but has {}", signals_, v.size()));
}

/// With what the difference, the product and the sum are rounded by.
double MultilinearForm::cancelled_factor(double S, double v) {
  const double size = std::abs(S), a = 1 - size;
  const double of_a = size < 1 ? (1 - a) - size : 1 - (a + size);
  const double b = S * v, of_b = std::fma(S, v, -b);
  const double sum = a + b, back = sum - a;
  const double of_sum = (a - (sum - back)) + (b - back);
  return sum + (of_sum + (of_a + of_b));
}

Vector MultilinearForm::values(const Vector& v) const {
  check(v);
  Vector rows = Vector::Zero(equations_ + constraints_);
  for (std::size_t k = 0; k + 1 < factor_start_.size(); ++k) {
    double product = 1;
    for (int i = factor_start_[k]; i < factor_start_[k + 1]; ++i)
      product *= factor(factors_[at(i)], v);
    for (int i = weight_start_[k]; i < weight_start_[k + 1]; ++i)
      rows[weights_[at(i)].row] += weights_[at(i)].phi * product;
  }
  return rows;
}

/// ∂π_k/∂v_b = S_bk Π_{i≠b} (1 − |S_ik| + S_ik v_i): the factors before b times those behind it,
/// never a quotient.
std::vector<SparseEntry> MultilinearForm::jacobian(const Vector& v) const {
  check(v);
  std::vector<SparseEntry> terms;
  std::vector<double> behind;
  for (std::size_t k = 0; k + 1 < factor_start_.size(); ++k) {
    const int first = factor_start_[k], end = factor_start_[k + 1];
    behind.assign(at(end - first) + 1, 1);
    for (int i = end - 1; i >= first; --i)
      behind[at(i - first)] = behind[at(i - first) + 1] * factor(factors_[at(i)], v);
    double before = 1;
    for (int i = first; i < end; ++i) {
      const Factor& here = factors_[at(i)];
      const double slope = here.S * before * behind[at(i - first) + 1];
      for (int w = weight_start_[k]; w < weight_start_[k + 1]; ++w)
        terms.push_back({weights_[at(w)].row, here.signal, weights_[at(w)].phi * slope});
      before *= factor(here, v);
    }
  }
  std::stable_sort(terms.begin(), terms.end(), [](const SparseEntry& a, const SparseEntry& b) {
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  });
  std::vector<SparseEntry> entries;
  for (const SparseEntry& term : terms) {
    if (!entries.empty() && entries.back().row == term.row && entries.back().column == term.column)
      entries.back().value += term.value;
    else
      entries.push_back(term);
  }
  return entries;
}

SparseEntries MultilinearForm::S() const {
  SparseEntries matrix{signals_, columns(), {}};
  for (int k = 0; k < columns(); ++k)
    for (const Factor& f : factors(k)) matrix.entries.push_back({f.signal, k, f.S});
  return matrix;
}

SparseEntries MultilinearForm::weights_of(int first, int count) const {
  SparseEntries matrix{count, columns(), {}};
  for (int k = 0; k < columns(); ++k)
    for (int i = weight_start_[at(k)]; i < weight_start_[at(k) + 1]; ++i)
      if (const int row = weights_[at(i)].row - first; row >= 0 && row < count)
        matrix.entries.push_back({row, k, weights_[at(i)].phi});
  return matrix;
}

SparseEntries MultilinearForm::phi_f() const { return weights_of(0, equations_); }
SparseEntries MultilinearForm::phi_g() const { return weights_of(equations_, constraints_); }

std::vector<MultilinearForm::Factor> MultilinearForm::factors(int k) const {
  return {factors_.begin() + factor_start_[at(k)], factors_.begin() + factor_start_[at(k) + 1]};
}

}  // namespace perp
