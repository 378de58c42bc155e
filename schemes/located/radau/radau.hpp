#pragma once

#include <complex>
#include <optional>
#include <vector>


#include <perp/core/base/archive.hpp>
#include <perp/core/base/types.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/core/linear/sparse/entry_lu.hpp>
#include <perp/schemes/located/radau/mode_flow.hpp>
#include <perp/schemes/located/radau/radau_table.hpp>

namespace perp {

/// What the estimated error of a step is held against: |error_k| ≤ atol_k + rtol |x_k|.
struct RadauTolerance {
  double rtol = 1e-8;  ///< > 0
  Vector atol;         ///< n, > 0
  /// The polynomial of a step is of order s + 1 inside it, its end of order 2s - 1. true: the
  /// tolerance holds inside, and the end is more exact. false: it is meant for the ends of the
  /// steps, which become longer; the error inside is about tolerance^((s+1)/(2s-1)) then.
  bool inside = true;
};

/// Radau IIA with 3, 5 or 7 stages (order 2s - 1) on the implicit DAE of a mode, index up to 2:
///     0 = H(t_n + c_i h, (1/h) Σ_j (A⁻¹)_ij (Y_j - y_n), Y_i),   i = 1..s,   y_{n+1} = Y_s
/// An algebraic part of y_n does not enter. Between `start` and the next nothing is allocated after
/// the first step. The mode set in `flow` at `start` must be set whenever a member below is called.
class Radau {
 public:
  /// `flow` must outlive this. Throws InvalidInput: stages other than 3, 5, 7; a tolerance that is
  /// not positive; atol not of size n.
  Radau(ModeFlow& flow, int stages, RadauTolerance tolerance);

  /// Before the next `start`. Throws InvalidInput as the constructor does.
  void set_tolerance(RadauTolerance tolerance);
  /// Sizes of the variables (n) and multipliers (m) by which the columns of the linear systems are
  /// scaled, powers of two; 1 where none are set. Before the next `start`.
  void set_units(const Vector& x, const Vector& lambda);

  /// A new beginning at y (N) in the mode set in the flow before. Algebraic parts of y are guesses.
  /// `rates` (N): a guess of ẏ, from which the first stages are foretold; empty: the stages are the
  /// state.
  void start(double t, const Vector& y, const Vector& rates = {});

  /// Unknowns (N, not 0) that are solved for to the rounding of their own size, however small they are beside their units:
  /// those near which the equations have other roots. Empty: none.
  void resolve(std::vector<char> unknowns) { resolved_ = std::move(unknowns); }

  /// The present state, the step before it and the last attempt, with the control of steps.
  void transfer(Archive& archive);

  enum class Outcome {
    solved,    ///< to rounding
    diverged,  ///< Newton's method did not converge, or met a singular matrix
    domain     ///< left the domain of the equations (log of a negative number, ...)
  };
  /// Solves the stages of a step of length h > 0; repeatable with other h from the same state.
  [[nodiscard]] Outcome attempt(double h);
  /// Derivatives by q that a step has to know to the tolerance as well, see `sensitivities`.
  struct Variation {
    Matrix start;                          ///< N×q: dy_n/dq
    std::vector<int> column_of_parameter;  ///< of the flow
    Vector terms;                          ///< q: the largest that the column was computed of, in units of the variables
  };
  /// Estimated local error of the attempt, which was solved, in units of the tolerance, of the
  /// differential components (of the algebraic ones where there is no other). ≤ 1: acceptable.
  /// `along`: the larger one of this and that of these derivatives, each column beside its own size.
  [[nodiscard]] double error(const Variation* along = nullptr);
  /// Is that error above 1 for the derivatives alone?
  [[nodiscard]] bool misses_variation() const { return estimated_ && by_variation_; }
  /// Length for the next step if the attempt is accepted, for another attempt if its error is above
  /// 1. After `error`.
  [[nodiscard]] double proposed_step() const { return proposed_; }
  /// Forgets the attempt: the next one does not start from its stages.
  void discard() { attempted_ = knows_variation_ = false; }
  /// Takes the attempt, which was solved, as the new state.
  void accept();

  /// A solved attempt with its error.
  struct Attempt;
  /// Keeps the attempt, which was solved, while others are made from the same state.
  void set_aside(Attempt& kept) const;
  /// Makes it the attempt again.
  void take_back(const Attempt& kept);
  /// Its polynomial at its start + s h, as `interpolate`.
  void interpolate(const Attempt& kept, double s, Vector& y) const;

  /// The relative error inside a step up to which it is accepted.
  [[nodiscard]] double rtol() const { return tolerance_.rtol; }
  [[nodiscard]] int stages() const { return table_.stages; }
  [[nodiscard]] const Vector& nodes() const { return table_.c; }  ///< c_i, of which the last is 1
  /// Of each equation the unit of its residual for a change of the unknowns by their units, inverse; of the last matrix.
  [[nodiscard]] const Vector& row_scale() const { return row_scale_; }
  [[nodiscard]] double t() const { return t_; }             ///< of the present state
  [[nodiscard]] double h() const { return h_; }             ///< of the last attempt
  /// Is there a solved attempt of this length, ready for `accept`?
  [[nodiscard]] bool has_attempted(double h) const { return attempted_ && h_ == h; }
  [[nodiscard]] const Vector& y() const { return y_; }      ///< present state
  [[nodiscard]] const Vector& end() const { return end_; }  ///< of the attempt

  /// The polynomial of the attempt, after `accept` of the accepted step, at its start + s h: of
  /// degree s, through the state and the stages. An algebraic part that was a guess is left out.
  void interpolate(double s, Vector& y) const;
  void interpolate_derivative(double s, Vector& ydot) const;
  /// What Newton's method would add to the polynomial of the attempt at its start + s h, of which these are the values:
  ///     -((μ/h) H_ẏ + H_y)⁻¹ H(t_n + s h, ẏ, y),
  /// by the matrix of the estimate. Where differential parts rest it is the error of the algebraic ones. False: there
  /// is no value.
  [[nodiscard]] bool correction_at(double s, const Vector& ydot, const Vector& y, Vector& correction);

  /// The same by the matrix at that point.
  [[nodiscard]] bool correction_by_point(double s, const Vector& ydot, const Vector& y, Vector& correction);

  /// Stage i of the attempt, and the polynomial through its stages alone at its start.
  void stage(int i, Vector& y) const { y = attempt_.base + attempt_.Z.col(i); }
  void extrapolate_stages(Vector& y) const;

  /// Derivative of the discrete step: S_start = dy_n/dq (N×q) -> S_end = dy_end/dq (N×q) at fixed
  /// t_n and h. `column_of_parameter[k]`: the column that is the derivative with respect to
  /// parameter k of the flow (-1: none). After an attempt that was solved, before or after
  /// `accept`. False: the matrix is singular.
  [[nodiscard]] bool sensitivities(const Matrix& S_start, Matrix& S_end,
                                   const std::vector<int>& column_of_parameter);

  struct Counts {
    long steps = 0;  ///< accepted
    long attempts = 0;
    long factorisations = 0;  ///< of all the matrices of a Newton iteration, as one
    long iterations = 0;      ///< of Newton's method

    void transfer(Archive& archive) { archive(steps, attempts, factorisations, iterations); }
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  static constexpr int most_stages = 7;
  using Basis = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, most_stages + 1, 1>;

  /// u(t + s h) = base + Σ_j ℓ_j(s) Z_j: the polynomial of a step.
  struct Polynomial {
    double t = 0, h = 0;  // h = 0: there is none
    Vector base;          // N
    Matrix Z;             // N×s

    void transfer(Archive& archive) { archive(t, h, base, Z); }
  };

  void interpolate(const Polynomial& step, double s, Vector& y) const;
  [[nodiscard]] const Polynomial& latest() const { return attempted_ ? attempt_ : last_; }
  [[nodiscard]] bool can_predict() const;
  void start_from(bool predicted);
  Outcome solve_from(bool predicted);
  Outcome simplified_newton();
  std::optional<Outcome> iterate(int& iterations);
  Outcome full_newton();
  bool full_system();
  bool freeze_jacobian(const Vector& base, const Matrix& Z);
  [[nodiscard]] double least_size(Eigen::Index k) const;
  [[nodiscard]] Vector least_sizes_alone() const;
  void measure_rounding();
  void scaled_matrix(double h, Vector& matrix, Vector& scale) const;
  bool rows_vanish();
  bool rests_at_rounding();
  bool residuals();
  void correction();
  double take_correction();
  void stage_point(const Vector& base, const Matrix& Z, double h, int i);
  bool stage_row(double t, double h, int i);
  void resize_stages();
  void finish();
  [[nodiscard]] bool is_any_differential() const;
  void set_start();
  [[nodiscard]] double filtered_defect(const Vector& y);
  [[nodiscard]] double differential_error();
  [[nodiscard]] double error_by_start();
  [[nodiscard]] double size_of(int k) const;
  [[nodiscard]] double tolerance_norm(const Vector& error) const;
  [[nodiscard]] double algebraic_error() const;
  [[nodiscard]] bool stage_variations(const Matrix& S_start, const std::vector<int>& column_of_parameter);
  void take_variation_end(const Matrix& S_start);
  [[nodiscard]] double variation_error(const Variation& along);
  [[nodiscard]] Matrix variation_at_start() const;
  bool variation_defect(const Variation& along, double share);
  void filter_variation(const linear::EntryLu<double>& matrix, const Vector& scale, Matrix& error);
  void measure_variation_noise(const Variation& along);
  void measure_stage_noise();
  void add_variation_noise(const Vector& noise, Eigen::Index column);
  [[nodiscard]] double variation_size(const Matrix& start, Eigen::Index column) const;
  [[nodiscard]] double variation_norm(const Variation& along, const Matrix& error) const;
  void propose(int order);

  ModeFlow& flow_;
  const RadauTable& table_;
  RadauTolerance tolerance_;  // as it is held against the estimate
  double variation_rtol_ = 0;  // the same for derivatives by q, which are known at the ends of steps only
  Vector defect_;             // s: ℓ_j'(0)
  Vector extrapolation_;      // s: of the polynomial through the stages alone to the start

  // state and attempt
  double t_ = 0, h_ = 0;
  Vector y_, end_, rates_;
  bool first_ = true;       // algebraic parts of y_ are guesses
  bool attempted_ = false;  // attempt_ is solved and starts at y_
  Polynomial attempt_, last_;

  // step control
  double error_ = 0, proposed_ = 0;
  double last_error_ = 0, last_h_ = 0;  // of the step accepted before; 0: none
  bool rejected_ = false;               // an attempt from this state
  bool estimated_ = false;              // error_ is that of the attempt
  bool by_variation_ = false;           // above 1 for derivatives alone

  // Newton's method: unknowns Z (N×s)
  Matrix Z_, Ydot_, R_, W_;
  Matrix H_ydot_, H_y_;
  Vector rates_at_, slopes_at_, M_, start_matrix_;  // H_ẏ, H_y and matrices made of them, at the places of the flow
  Eigen::VectorXcd M_complex_;
  Vector row_scale_, start_scale_, noise_;
  std::vector<char> resolved_;  // empty: none
  Vector x_unit_, lambda_unit_, unit_;  // unit_: of y, N
  bool frozen_nearby_ = false;  // the Jacobian is that of good starting values
  linear::EntryLu<double> real_, start_, full_newton_;
  std::vector<linear::EntryLu<std::complex<double>>> complex_;
  Eigen::VectorXcd w_complex_, solution_complex_;
  Vector ydot_, Y_, Y_start_, H_, delta_;

  // all stages at once (sN)
  Matrix stages_, H_p_, right_side_, solution_;
  linear::Lu all_;
  Vector all_residual_, all_solution_;

  // derivatives by q
  bool knows_variation_ = false;            // of the latest attempt:
  Matrix variation_start_, variation_end_;  // N×q
  Matrix variation_defect_, variation_error_, start_error_;
  Vector variation_noise_;                  // q, in units of the variables

  Counts counts_;
};

struct Radau::Attempt {
  Polynomial polynomial;
  Vector end;
  Matrix variation_start, variation_end;
  double error = 0, proposed = 0;
  bool estimated = false, knows_variation = false;
};

}  // namespace perp
