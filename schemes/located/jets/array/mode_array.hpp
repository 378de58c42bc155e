#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <perp/core/linear/rank_elimination.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>
#include <perp/schemes/located/jets/array/derivative_array.hpp>

namespace perp {

/// The square or rectangular system that the derivative array and the branches of one mode are for
/// the unknown Taylor coefficients u:
///     F_[k] = 0,   a_i w_[k],i + b_i λ_[k],i = c_i δ_k0 where a_i ≠ 0,   k = 0..K
/// u: y with x_[0] = x + Z y, Z a basis of the null space of ∂(F, G)/∂ẋ (the differential part
/// stays); x_[1..K+1]; λ_[0..K] where a_i ≠ 0. Otherwise λ is fixed at c_i / b_i. Coefficients are
/// those of powers of τ / scales.fastest.
class ModeArray {
 public:
  ModeArray(const Dcs& system, int levels);

  void set_scales(const JetScales& scales);
  [[nodiscard]] const JetScales& scales() const { return scales_; }
  [[nodiscard]] const Laws& laws() const { return laws_; }
  [[nodiscard]] const DerivativeArray& array() const { return array_; }

  /// Starts at a guess, see ConsistentJets::solve. False outside of the domain of F or G.
  bool begin(const Mode& mode, double t, const Vector& x, const Vector& lambda,
             const Vector& rates);
  /// Holds all multipliers at their present values and keeps level 0 only: F_[0] = 0 for y and
  /// x_[1].
  bool hold_multipliers();
  /// Back to all levels of the mode, from the present coefficients.
  bool release_multipliers();
  /// From now on x_[0] is unknown as a whole: Z is the identity. Until the next `begin`.
  bool free_variables();
  /// Has the state grown beyond the units of the model by orders of magnitude?
  [[nodiscard]] bool has_grown() const;
  /// After `begin` and until the next one unknowns have the sizes that such a state gives them by the rows of level 0.
  /// Residuals are judged as before.
  void set_grown_units();
  /// Starts at a given jet.
  bool begin(const Jet& jet);

  /// Values and derivatives at the present coefficients. False where they are not finite.
  bool evaluate();
  /// Does the matrix not depend on the coefficients?
  [[nodiscard]] bool is_linear() const { return array_.is_linear(); }
  /// Moves the coefficients by share·step, a vector of unknowns.
  void move(double share, const Vector& step);

  [[nodiscard]] int unknowns() const { return static_cast<int>(columns_.size()) + free_; }
  [[nodiscard]] const Vector& residual() const { return residual_; }
  [[nodiscard]] const linear::SparseMatrix& matrix() const { return matrix_; }
  /// Of the terms of each row of the residual.
  [[nodiscard]] const Vector& row_sizes() const { return row_sizes_; }
  /// Of the unknowns.
  [[nodiscard]] const Vector& sizes() const { return sizes_; }
  /// Largest residual relative to the sizes of its terms.
  [[nodiscard]] double relative_residual() const;
  /// The same of the first derivatives alone, for terms in units of scales.time: in the shortest
  /// time every rate is small.
  [[nodiscard]] double slow_residual() const;

  /// The combination of the array's rows that is the residual, for other columns than the unknowns.
  void combine(const Matrix& rows, const Matrix& lambda_columns, Matrix& result) const;
  /// Changes of all coefficients (columns of `array()`) that belong to changes of the unknowns.
  [[nodiscard]] Matrix expand(const Matrix& unknowns) const;
  [[nodiscard]] linear::SparseMatrix expand(const linear::SparseMatrix& unknowns) const;

  /// Basis Z of what x_[0] may change by.
  [[nodiscard]] const linear::SparseMatrix& algebraic_directions() const { return Z_; }
  /// Projection on the differential part, orthogonal to Z.
  [[nodiscard]] Matrix differential_projection() const;
  [[nodiscard]] const Matrix& x() const { return x_; }
  [[nodiscard]] const Matrix& lambda() const { return lambda_; }

  /// w_i at the present coefficients, and the size of its terms: those of the variables, and what
  /// it changes by within t or the time scale.
  struct Argument {
    double value;
    double size;
  };
  [[nodiscard]] Argument argument(int law) const;

  /// Coefficients in units of time^-k instead of scales.fastest^-k.
  void write(Jet& jet) const;

 private:
  /// a w + b λ = c
  struct Line {
    double a, b, c;
  };

  void set_mode(const Mode& mode);
  void set_equations(int levels);
  void split_variables();
  void set_directions(linear::SparseMatrix Z);
  void assemble();
  void set_sizes();
  void set_unknown_sizes();
  bool raise_units(const Vector& plain, Vector& units) const;
  double assemble_row(int from);
  void add_directions(std::span<const linear::SparseMatrix::Entry>& row, double a);
  [[nodiscard]] double terms_of(int row) const;
  /// Of the unknown of a column.
  [[nodiscard]] double size_of(int column) const {
    return grown_units_.size() > 0 ? std::max(column_sizes_[column], grown_units_[column]) : column_sizes_[column];
  }
  [[nodiscard]] bool is_finite() const { return finite_ && residual_.allFinite() && matrix_.all_finite(); }
  /// Of a row that is not of a law, i < 0: 1 times F.
  [[nodiscard]] Line line_of_row(int i) const { return i < 0 ? Line{1, 0, 0} : line(i); }
  [[nodiscard]] const Line& line(int i) const { return lines_[static_cast<std::size_t>(i)]; }

  Laws laws_;
  DerivativeArray array_;
  JetScales scales_;
  Mode mode_;
  std::vector<Line> lines_;  // of each law
  double t_ = 0;
  Matrix x_, lambda_;
  linear::SparseMatrix Z_, directions_;  // and its columns as rows
  bool split_known_ = false;  // Z does not depend on the point and is there
  int free_ = 0;              // columns of Z
  std::vector<int> columns_;  // of the array, that are unknowns; after y
  std::vector<int> rows_;     // of the array
  Vector residual_, row_sizes_, sizes_, column_sizes_, term_sizes_;
  Vector grown_units_;  // of all columns; empty: they are those of the model
  linear::SparseMatrix matrix_;
  std::vector<int> unknown_of_;   // of each column of the array; -1: none
  std::vector<int> touched_;      // directions that the present row moves along
  std::vector<double> along_;     // by how much, of each direction
  bool finite_ = true;            // what x_[0] moves
  RankElimination split_;
};

}  // namespace perp
