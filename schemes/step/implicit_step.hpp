#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/base/types.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/linear/sparse/scaled_lu.hpp>

namespace perp {

namespace eight {
struct LaneAccess;  // steps of several runs side by side
}

/// The equations of one step of a Dcs in one mode, with d = x⁺ − x as the unknown so that short
/// steps lose no digits:
///     0 = F(t⁺, d/h, x + d, λ),   a_i w_i + b_i λ_i = c_i,   w = G(t⁺, d/h, x + d, λ)
/// By the θ-method the rows of F with derivatives are θ F(t⁺, d/h, x + d, λ) + (1−θ) F(t, d/h, x,
/// λ). A branch with a = 0 fixes its λ, which is then no unknown: y = (d, the other λ).
///
/// The size of a residual is a bound of its own rounding error, the unknowns being known to half a
/// unit in their last place: row i of a solution has |F_i| of the order of error e_i.
class ImplicitStep {
 public:
  /// Throws InvalidInput (see `validate`).
  explicit ImplicitStep(const Dcs& system);

  [[nodiscard]] int n() const { return evaluator_.n(); }
  [[nodiscard]] int m() const { return evaluator_.m(); }
  [[nodiscard]] const Laws& laws() const { return laws_; }
  [[nodiscard]] DcsEvaluator& evaluator() { return evaluator_; }
  /// Are the equations of the mode linear in its unknowns, by their form?
  [[nodiscard]] bool is_linear() const { return !nonlinear_; }
  /// Are there equations of the mode in which a multiplier is multiplied by an unknown?
  [[nodiscard]] bool is_nonlinear_in_lambda() const { return nonlinear_in_lambda_; }

  /// In [1/2, 1], of the steps set from now on; 1 is backward Euler.
  void set_theta(double theta) { theta_ = theta; }
  /// Units of the unknowns, from the numbers of the system at (t, x) and the usual length h of the
  /// steps: in units that are 2^k times smaller they are 2^k times larger.
  void choose_units(const Vector& x, double t, double h);
  [[nodiscard]] bool has_units() const { return has_units_; }
  /// From x to t_next by a step of length h.
  void set_step(const Vector& x, double t_next, double h);
  /// The unknown of the step that is set becomes x⁺ − base, of which doubles know more than of x⁺ − x where x⁺ is small beside x:
  /// 0 = F(t⁺, (base − x + d)/h, base + d, λ). For steps of backward Euler.
  void set_base(const Vector& base);
  /// Instead of a step: the consistent states at t. Rows of F with derivatives become
  /// ∂F/∂ẋ d = 0, the derivatives of F being taken at ẋ = 0.
  void set_consistency(const Vector& x, double t);
  void set_mode(const Mode& mode) { set_mode(mode, false); }
  /// The equations 0 = F alone, every λ held where it is: the curve along which a mode is searched
  /// for solutions.
  void hold_lambda(const Mode& mode) { set_mode(mode, true); }
  /// The laws whose argument contains a derivative, by its form.
  [[nodiscard]] std::vector<int> laws_of_rates() const;
  [[nodiscard]] const Branch& branch(int law) const {
    return *branch_[static_cast<std::size_t>(law)];
  }

  /// The rows of F without derivatives, and w, at (t, ẋ = 0, x, λ).
  void constraints(double t, const Vector& x, const Vector& lambda, Vector& equations, Vector& w);

  /// What steps after this one depend on: the units, and derivatives that stand for some that are not finite.
  void transfer(Archive& archive) {
    archive(has_units_, all_units_, last_derivatives_);
    set_.reset();
  }

  /// Number of unknowns.
  [[nodiscard]] int size() const { return size_; }
  /// Exponents of two of the units of the unknowns, size(): 0 unless they were chosen.
  [[nodiscard]] const int* units() const { return units_.data(); }
  /// Law of the unknown n + k.
  [[nodiscard]] const std::vector<int>& free_laws() const { return free_laws_; }
  /// The unknowns that the equations of the mode are not linear in, by their form: their derivatives
  /// depend on unknowns.
  [[nodiscard]] const std::vector<int>& curved_unknowns() const { return curved_; }
  /// The rows that they are in, each once or more often; -1: of a law whose branch fixes λ.
  [[nodiscard]] const std::vector<int>& curved_rows() const { return curved_rows_; }
  /// Is one of its derivatives a function of this unknown itself, by its form?
  [[nodiscard]] bool is_curved_alone(int unknown) const;
  /// λ of the laws whose branch fixes it.
  void fix(Vector& lambda) const;
  /// Adds the share s of a step of the unknowns.
  void move(const Vector& d, const Vector& lambda, double s, const double* step, Vector& d_moved,
            Vector& lambda_moved) const;

  /// Variables, changes and multipliers that a whole step has carried to 0, up to this share of the
  /// step, become 0: the error of what is left would be taken for that of a small number.
  void snap(const double* step, double share, Vector& d, Vector& lambda) const;

  /// Computes residual and jacobian at (d, λ). False if a residual is not finite. A derivative that
  /// is not (√ at 0) keeps the value it had last, which only slows Newton's method down.
  bool linearise(const Vector& d, const Vector& lambda);

  [[nodiscard]] const double* residual() const { return residual_.data(); }  ///< size()
  /// The matrix, row after row: all of its entries, or those of `pattern` where the step is large.
  [[nodiscard]] const double* jacobian() const { return jacobian_.data(); }
  static constexpr int most_full = 64;  ///< unknowns of a step whose matrix has all entries
  [[nodiscard]] bool is_large() const { return n() + m() > most_full; }
  [[nodiscard]] const linear::RowPattern& pattern() const { return pattern_; }
  /// All entries of the matrix, row after row.
  [[nodiscard]] std::vector<double> full_jacobian() const;
  /// work(column, entry) for the entries of a row that may not be 0, and work(row, entry) for those of a column.
  ///@{
  template <class Work>
  void for_each_in_row(std::size_t row, const Work& work) const {
    if (is_large())
      for (int k = pattern_.start[row]; k < pattern_.start[row + 1]; ++k)
        work(static_cast<std::size_t>(pattern_.column[static_cast<std::size_t>(k)]), jacobian_[static_cast<std::size_t>(k)]);
    else
      for (std::size_t j = 0, size = static_cast<std::size_t>(size_); j < size; ++j) work(j, jacobian_[row * size + j]);
  }
  template <class Work>
  void for_each_in_column(std::size_t column, const Work& work) const {
    if (is_large())
      for (int k = columns_.start[column]; k < columns_.start[column + 1]; ++k)
        work(static_cast<std::size_t>(columns_.row[static_cast<std::size_t>(k)]),
             jacobian_[static_cast<std::size_t>(columns_.entry[static_cast<std::size_t>(k)])]);
    else
      for (std::size_t i = 0, size = static_cast<std::size_t>(size_); i < size; ++i) work(i, jacobian_[i * size + column]);
  }
  ///@}

  /// Computes the errors of the residuals and of w at (d, λ), and the residuals again. Returns the
  /// largest |F_i| / e_i, infinite where a row has no finite bound.
  double bound(const Vector& d, const Vector& lambda);
  [[nodiscard]] const double* errors() const { return errors_.data(); }  ///< e, size()
  /// The same of the state x + d that is written, each variable known to half a unit in its own last place: what the
  /// rounding of a longer way d leaves open counts.
  double bound_written(const Vector& d, const Vector& lambda);
  /// w_i at the point of the last `bound`.
  [[nodiscard]] RunningError bounded_w(int law) const {
    const auto row = static_cast<std::size_t>(n() + law);
    return RunningError(bounded_rows_[row], row_errors_[row]);
  }

  /// The residuals and w in 113 bits at the unknowns d + d_low, λ + λ_low, which are exact there; for
  /// steps of backward Euler. `in_pairs`: in sums of two doubles, where `has_wide_pairs`.
  void widen(const Vector& d, const Vector& d_low, const Vector& lambda, const Vector& lambda_low, bool in_pairs,
             std::vector<WideNumber>& residual, std::vector<WideNumber>& w);
  [[nodiscard]] bool has_wide_pairs() const { return evaluator_.has_wide_pairs(); }
  /// Can it be asked for?
  [[nodiscard]] bool is_widened() const { return !consistency_; }

  // At the point of the last `linearise`:
  void w(Vector& value) const;
  /// a w + b λ − c of a law.
  [[nodiscard]] double law_residual(int law, double lambda) const {
    return branch(law).a * rows_[static_cast<std::size_t>(n() + law)] + branch(law).b * lambda -
           branch(law).c;
  }
  /// Derivatives of w_i with respect to y.
  void w_derivatives(int law, double* derivatives) const;
  /// ‖∂F/∂ẋ d‖, the norm of [RAB] eq. (31).
  [[nodiscard]] double norm(const Vector& d) const;
  /// Row by row ∂F/∂ẋ d and, with every derivative and entry by its size, |∂F/∂ẋ| |d|, at any point
  /// (t, ẋ, x, λ). A derivative that is not finite there is left out.
  Vector motion(double t, const Vector& rate, const Vector& x, const Vector& lambda,
                const Vector& d);
  Vector motion_terms(double t, const Vector& rate, const Vector& x, const Vector& lambda,
                      const Vector& d);
  /// The size of the terms of each row of F at ẋ = 0: the larger of its value and its error bound in
  /// units of the roundoff; 0 where it has none.
  Vector rate_terms(double t, const Vector& x, const Vector& lambda);
  /// A bound of its change where d changes by d_error.
  [[nodiscard]] double norm_error(const Vector& d_error) const;
  /// x⁺_j.
  [[nodiscard]] double variable(int j) const {
    return z_[static_cast<std::size_t>(1 + n() + j)];
  }
  /// Its rounding.
  [[nodiscard]] double variable_error(int j) const {
    return z_error_[static_cast<std::size_t>(1 + n() + j)];
  }

 private:
  friend struct eight::LaneAccess;
  enum class Kind : std::uint8_t { time, derivative, variable, multiplier };
  struct Place {  // of an entry of the evaluator
    int row;      // of F, then G
    int index;    // of the input among those of its kind
    Kind kind;
  };

  static Place place_of(const Dcs& system, int row, int input);
  void set_mode(const Mode& mode, bool hold);
  void write_units();
  void find_curved();
  [[nodiscard]] bool is_replaced(int row) const;
  [[nodiscard]] bool is_unknown(int input) const;
  [[nodiscard]] int unknown_of(int input) const;
  template <class Term>
  double norm_of_rows(const Term& term) const;
  template <class Term>
  Vector rate_rows(double t, const Vector& rate, const Vector& x, const Vector& lambda,
                   const Term& term);
  Vector row_terms(double t, const Vector& x, const Vector& lambda);
  void write_inputs(const Vector& d, const Vector& lambda);
  void write_input_errors(const Vector& d, const Vector& lambda);
  double bound_by_input_errors(const Vector& d, const Vector& lambda);
  void average();
  void average_wide(std::vector<WideNumber> z, bool in_pairs, std::vector<WideNumber>& rows);
  void average_errors();
  void write_equations(const Vector& lambda);
  void add(std::size_t entry, double slope);
  void place_entries();
  [[nodiscard]] std::vector<std::vector<int>> columns_by_rows() const;
  void place_in_rows();
  void list_columns();
  [[nodiscard]] int row_of(const Place& place) const;
  [[nodiscard]] int column_of(const Place& place) const;
  void consistency_rows(const Vector& d);
  void bound_consistency_rows(const Vector& d);
  void replace_infinite_derivatives();

  DcsEvaluator evaluator_;
  Laws laws_;
  std::vector<Place> places_;
  std::vector<char> has_derivatives_;  // rows of F
  bool nonlinear_ = false, nonlinear_in_lambda_ = false;
  struct Setting {  // what the lists of a mode were made for
    Mode mode{};
    bool holds_lambda = false, is_consistency = false;
    [[nodiscard]] bool is_for(const Mode& other, bool holds, bool consistency) const {
      return mode == other && holds_lambda == holds && is_consistency == consistency;
    }
  };
  std::optional<Setting> set_;

  Vector x_;      // to which d is added
  Vector shift_;  // x_ less the state in which the step begins, where `set_base` has moved it; else empty
  double t_ = 0, t_old_ = 0, h_ = 1;
  bool consistency_ = false;

  std::vector<const Branch*> branch_;
  std::vector<int> free_laws_, unknown_;  // unknown_[i]: that of λ_i, -1: fixed
  std::vector<int> curved_, curved_rows_;
  std::vector<char> is_curved_;
  int size_ = 0;
  // Of the free laws for which they were made: where the derivatives and the b of free laws are in the matrix; -1: nowhere.
  std::vector<int> place_, law_place_, placed_;
  bool is_placed_ = false;
  linear::RowPattern pattern_;
  struct {
    std::vector<int> start{}, row{}, entry{};
  } columns_;
  bool has_units_ = false;
  std::vector<int> all_units_, units_;  // of d and every λ; of the unknowns

  double theta_ = 1;
  std::vector<double> z_, z_error_, rows_, derivatives_, last_derivatives_, residual_, jacobian_;
  std::vector<double> bounded_rows_, row_errors_, errors_;
  // At the beginning of the step, for θ < 1.
  std::vector<double> z_old_, rows_old_, derivatives_old_, errors_old_;
};

}  // namespace perp
