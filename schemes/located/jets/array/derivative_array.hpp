#pragma once

#include <memory>
#include <span>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/linear/sparse/sparse_matrix.hpp>

namespace perp {

/// Taylor coefficients of the functions of a Dcs along a truncated series of its variables, and
/// their derivatives with respect to the coefficients of the variables. Time is counted in units of
/// `time` from t: the coefficients are those of powers of s = τ/time.
/// With H = (F, G) and [k] the k-th coefficient,
///     ∂H_[k]/∂x_[j] = (∂H/∂x)_[k-j] + j/time (∂H/∂ẋ)_[k-j+1],   ∂H_[k]/∂λ_[j] = (∂H/∂λ)_[k-j]
/// so that the coefficients of the derivatives' tape give all of it.
class DerivativeArray {
 public:
  static constexpr int most_levels = 8;

  /// Levels 0..`levels`. With `parameters` the derivatives with respect to t and p are there as
  /// well. Throws InvalidInput (see `validate`, and for `levels` out of 1..most_levels).
  DerivativeArray(const Dcs& system, int levels, bool parameters = false);
  ~DerivativeArray();

  [[nodiscard]] int n() const { return n_; }
  [[nodiscard]] int m() const { return m_; }
  [[nodiscard]] int levels() const { return levels_; }
  /// (n + m)(levels + 1); row i of level k is k (n + m) + i, i < n: F, then G.
  [[nodiscard]] int rows() const { return (n_ + m_) * (levels_ + 1); }
  /// n (levels + 2) + m (levels + 1) columns: x_[0], .., x_[levels+1], λ_[0], .., λ_[levels].
  [[nodiscard]] int columns() const { return n_ * (levels_ + 2) + m_ * (levels_ + 1); }
  [[nodiscard]] int x_column(int k, int j) const { return k * n_ + j; }
  [[nodiscard]] int lambda_column(int k, int i) const { return n_ * (levels_ + 2) + k * m_ + i; }
  /// Do all derivatives with respect to ẋ, x and λ not depend on anything?
  [[nodiscard]] bool is_linear() const { return linear_; }

  /// The functions and derivatives at the coefficients x, n×(levels+2), and λ, m×(levels+1).
  void evaluate(double t, double time, const Matrix& x, const Matrix& lambda);
  /// Of the last `evaluate`.
  [[nodiscard]] const Vector& values() const { return values_; }
  /// By their places, which stay: all those that the form of the equations may fill, and ∂G_[k]/∂λ_[k] of a law by its
  /// own multiplier.
  [[nodiscard]] const linear::SparseMatrix& derivatives() const { return derivatives_; }

  /// ∂(F, G)/∂ẋ at the point of the last `evaluate`, (n+m)×n.
  [[nodiscard]] linear::SparseMatrix rate_derivatives() const;
  /// Derivatives of all rows by t and by the parameters, rows()×(1 + parameters), if asked for in
  /// the constructor; dt moves the point of expansion.
  [[nodiscard]] const Matrix& outer_derivatives() const { return outer_; }

 private:
  struct Series;
  template <int N>
  struct SeriesOf;
  template <int N>
  static std::unique_ptr<Series> make_series(int levels, Tape tape, std::vector<int> outputs, std::size_t inputs);
  struct Entry {
    int row = 0;
    int input = 0;
    bool constant = false;  // its series has one coefficient
  };

  void load(double t, double time, const Matrix& x, const Matrix& lambda);
  [[nodiscard]] bool is_outer(const Entry& entry) const { return entry.input == 0 || entry.input > 2 * n_ + m_; }
  [[nodiscard]] int column_of(const Entry& entry, int j) const;
  void find_constants(const Tape& tape, std::span<const int> derivatives);
  void make_places();
  const int* add_series(const Entry& entry, const double* coefficients, double time, const int* place);
  void place_outer(const Entry& entry, const double* coefficients);

  int n_ = 0, m_ = 0, levels_ = 0, parameters_ = 0;
  bool linear_ = true;
  std::vector<double> parameter_values_;  // inputs of the tape if it has them
  std::unique_ptr<Series> series_;
  std::vector<Entry> entries_;
  std::vector<double> inputs_, outputs_;  // levels+1 coefficients of each
  Vector values_;
  linear::SparseMatrix derivatives_;
  std::vector<int> places_;  // in derivatives_, of one entry after the other at its levels
  Matrix outer_;
};

}  // namespace perp
