#pragma once

#include <optional>
#include <vector>

#include <perp/core/linear/disjoint_sets.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {

/// The matrix of a step for differences of two solutions, row i beside variable i:
///     (E/h - θ A - h θ² Q) Δx = B Δλ,   Δw = C Δx + D Δλ;   of rows without a rate  -(A + h θ Q) Δx = B Δλ
struct EnergyForm {
  linear::SparseMatrix E, A, B, B_transposed, C, C_transposed, D, D_transposed;
  std::vector<linear::SparseMatrix::Placed> Q;  ///< terms: a place may occur more than once
  linear::SparseMatrix Q_sums;                  ///< the same, rounded
  std::vector<char> is_algebraic;               ///< of each row: there θ is 1 in the share of A, and 1 of the two in that of Q

  bool has_positions = false;                   ///< in place of some Δw stands what it is a multiple of, by the step's length

  [[nodiscard]] int n() const { return A.rows(); }
  [[nodiscard]] int m() const { return D.rows(); }
};

/// Is the rate of the row that of one variable, which is in no other row? `columns`: E'.
bool has_own_rate(const linear::SparseMatrix& E, const linear::SparseMatrix& columns, int row);

/// Makes the transposed matrices and the sums from the others.
void complete(EnergyForm& form);

/// The step as it is: Q = 0. A row whose rate is that of one variable alone stands beside this variable. What a strongly
/// connected component reads of variables of others is left out: their differences are 0 where theirs is shown first.
void make_energy_form(const StepEquations& equations, EnergyForm& form);

/// A diagonal P > 0 and d > 0 with P B = C' S diag(d) exactly. What couples two rows in A or Q, or two laws in D, sets their
/// weights so that terms cancel there, as far as B and C leave them open: a change of units by powers of two changes nothing
/// but weights. Weights d are powers of two times a scale that rows and laws have in common where B and C connect them: 1
/// where D reads one of these laws, so that what D is weighted with has no rounding. A law that is alone, of one row and not
/// coupled by D, has the weight d = S P B / C whatever P is: its power of two is near that.
class EnergyWeights {
 public:
  /// `signs`: S, 1 where λ falls with w, -1 where it rises.
  EnergyWeights(const EnergyForm& form, std::vector<double> signs);

  [[nodiscard]] bool exist() const { return exist_; }
  /// Of the rows, good to two roundings.
  [[nodiscard]] const std::vector<double>& of_rows() const { return p_; }
  /// The power of two of a law, with its sign.
  [[nodiscard]] double of_law(int j) const;
  /// Weights of one group have a common unit.
  [[nodiscard]] int group_of_row(int i) const;
  [[nodiscard]] int group_of_law(int j) const;

 private:
  [[nodiscard]] int n() const { return form_.n(); }
  [[nodiscard]] bool is_known(int row) const;
  [[nodiscard]] bool is_alone(int j) const;
  void connect();
  double& scale_of(int node);
  void begin_all();
  void begin(int node);
  void reach_loosely(int node, std::vector<int>& met);
  bool reach_rows(int j, std::vector<int>& met);
  [[nodiscard]] std::optional<int> compared_law(int i) const;
  bool reach_laws(int i, std::vector<int>& met);
  void reach_by(const linear::SparseMatrix& couplings, int i, std::vector<int>& met);
  void reach_by_D(int j, std::vector<int>& met);
  [[nodiscard]] bool compares_groups() const;

  const EnergyForm& form_;
  std::vector<double> signs_, p_, d_;  // 0: not known yet
  std::vector<char> is_alone_;         // of each law
  std::vector<int> group_;             // laws behind rows
  linear::DisjointSets connected_;     // the same by B and C
  std::vector<double> scale_;          // of each of these sets, at its root; 0: not known yet
  bool exist_ = true;
};

/// Has a product of this number with others kept its digits?
bool keeps_digits(double given, double product);

}  // namespace perp
