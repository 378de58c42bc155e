#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <perp/analysis/hybrid/sparse/local_rates.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/linear/sparse_lu.hpp>
#include <perp/core/tape/bounded_tape.hpp>
#include <perp/core/tape/tape_code.hpp>

namespace perp {

/// Equations F and constraints g of a hybrid model with many unknowns, one behind the other, at z = (t, ẋ, x,
/// binaries), and the matrix of a step of backward Euler. Where all its entries are made of numbers they are found
/// once, row by row, without a tape of derivatives.
class StepRows {
 public:
  /// `system`: constraint_system of a model with as many binaries.
  StepRows(const Dcs& system, int binaries);

  /// Numbers in z: behind the binaries is room that no row needs.
  [[nodiscard]] int inputs() const { return inputs_; }
  [[nodiscard]] int count() const { return static_cast<int>(lines_.size()); }
  /// Each by itself; to be called once.
  ConeTape single_rows() { return {std::move(tape_), lines_}; }
  /// To be called before the matrix is asked for. `rates`: with the single rows.
  void find_matrix(LocalRates& rates, const Dcs& system);

  void equations(const double* z, double* rows) { F_.run(z, static_cast<std::size_t>(inputs_), rows, nullptr); }
  void constraints(const double* z, double* rows) { g_.run(z, static_cast<std::size_t>(inputs_), rows, nullptr); }
  /// All rows with bounds of the rounding errors, z being known to within z_error.
  void evaluate_bounded(const double* z, const double* z_error, double* rows, double* errors) {
    bounded_.run(z, z_error, rows, errors);
  }

  /// Is the matrix the same everywhere?
  [[nodiscard]] bool is_affine() const { return !derivatives_; }
  [[nodiscard]] const std::vector<linear::Place>& places() const { return places_; }
  /// Equations that hold the rate of a variable.
  [[nodiscard]] std::span<const int> rows_of_rate(int j) const {
    const auto k = static_cast<std::size_t>(j);
    return {rows_of_rates_.data() + first_of_rate_[k], first_of_rate_[k + 1] - first_of_rate_[k]};
  }
  /// ∂F/∂ẋ / h + ∂F/∂x at z, in the order of the places.
  void matrix(const double* z, double h, std::vector<double>& values);

 private:
  struct Term {
    std::size_t entry = 0, place = 0;
    bool by_rate = false;
  };
  bool find_numbers(LocalRates& rates);
  void find_derivatives(const Dcs& system);
  void find_rows_of_rates();
  void find_terms(const std::vector<DcsEvaluator::Entry>& entries);

  int n_, inputs_;
  Tape tape_;
  std::vector<int> lines_;
  TapeCode F_, g_;
  BoundedTape bounded_;
  std::optional<DcsEvaluator> derivatives_;  // where an entry is no number
  std::vector<double> entries_, rows_;       // that the terms are made of; of the derivatives
  std::vector<linear::Place> places_;
  std::vector<Term> terms_;
  std::vector<std::size_t> first_of_rate_;
  std::vector<int> rows_of_rates_;
};

}  // namespace perp
