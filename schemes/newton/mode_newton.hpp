#pragma once

#include <limits>
#include <optional>
#include <vector>

#include <perp/core/law.hpp>
#include <perp/core/linear/sparse/block_lu.hpp>
#include <perp/schemes/newton/step_factor.hpp>
#include <perp/schemes/step/implicit_step.hpp>
#include <perp/schemes/step/step_gate.hpp>

namespace perp {

/// How Newton's method ended in one mode.
enum class NewtonEnd {
  converged,     ///< every row vanishes within its rounding
  inconsistent,  ///< the linearised equations contradict each other and nothing near solves them
  domain,        ///< every step leaves the domain of F or G (log of a negative number, ...)
  indefinite,    ///< rows that vanish to rounding do so far around as well, or have underflowed
  stalled,       ///< neither in the iterations allowed
  exhausted      ///< the iterations allowed to all runs together have run out
};

/// One sentence for people, e.g. "left the domain of the equations".
const char* describe(NewtonEnd end);

/// Where a solution of the equations of a mode stands to the ranges of its branches.
enum class Admission {
  inside,  ///< every w and λ is in its range
  weak,    ///< on a bound, or as near as rounding lets see
  outside  ///< beyond a bound by more than rounding
};

/// The gate of nonlinear steps: a state solves a mode if every row vanishes within this many of its
/// running error bounds.
constexpr double gate = most_rounding;

/// Share of its way that one step with the matrix at a solution may miss it by: the mean of the matrix along the way is
/// regular then, and no other root of these equations lies at its beginning.
constexpr double straight = 0.5;

/// Damped Newton's method for the equations of one mode, which are smooth there: a product of λ and
/// x is what it is, whatever the law does elsewhere. A step is accepted where the next correction
/// falls (the natural monotonicity test, which knows no units) or all rows do. At a singular matrix
/// the step of least norm is taken. What has converged has passed the gate, nothing else has.
class ModeNewton {
 public:
  explicit ModeNewton(ImplicitStep& step);

  /// From (d, λ), in the mode set in the step; on return they hold the last point. Does not
  /// allocate as long as no matrix is singular.
  NewtonEnd run(Vector& d, Vector& lambda);
  /// The same, given up as `stalled` where it does not contract from its first step on.
  NewtonEnd run_near(Vector& d, Vector& lambda);
  /// Adds one whole Newton step. False: there is none.
  bool first_step(Vector& d, Vector& lambda);

  /// Was a matrix singular on the way?
  [[nodiscard]] bool met_singular() const { return singular_; }
  /// Did a step leave the domain of the equations on the way?
  [[nodiscard]] bool left_domain() const { return left_domain_; }
  /// Largest |F_i| / e_i at the last point: at most `gate` where the last run converged.
  [[nodiscard]] double residual() const { return residual_; }
  [[nodiscard]] long iterations() const { return iterations_; }
  /// How many iterations all runs from now on may make together; what would need more ends as
  /// exhausted.
  void allow(long iterations) { allowed_ = iterations_ + iterations; }
  /// How many of them are left.
  [[nodiscard]] long left() const { return iterations_ < allowed_ ? allowed_ - iterations_ : 0; }
  /// Did the last run contract from its first step on as near a simple solution
  /// (Newton-Kantorovich: the second correction at most a quarter of the first)? Then no other
  /// branch came between.
  [[nodiscard]] bool is_local() const { return local_; }
  /// Gives λ the values that the branches of the mode have over their arguments at d, where they tell one: a multiplier that
  /// is an explicit term then makes no unknown of Newton's method far from its place.
  void put_on_branches(const Vector& d, Vector& lambda);
  /// Does the matrix at the solution (d, λ) lead there at once from (d_from, λ_from), on the branches, but for a share `straight` of the ways
  /// of these variables, or of `reach` where that is longer? Of linear equations it does; between two roots it misses the
  /// whole way. The step stands linearised at the solution. False too: the matrix is singular, or rows have no values there.
  bool leads_straight(const Vector& d_from, const Vector& lambda_from, const Vector& d, const Vector& lambda,
                      const std::vector<int>& variables, const Vector& reach);
  /// Sign of the determinant of the last matrix of the last run; 0: none was regular.
  [[nodiscard]] int orientation() const { return orientation_; }

  /// The same of the matrix the step was linearised to last.
  int orientation_here() { return factorise() ? lu_.determinant_sign() : 0; }

  /// Are λ and w of the converged last point in the ranges of their branches? A λ that is outside
  /// by no more than its error is put on its bound, one that the equations do not determine into
  /// its range, and the rows are looked at again.
  Admission admit(Vector& d, Vector& lambda, Vector& w);
  /// Did the last `admit` move a λ onto its bound?
  [[nodiscard]] bool has_moved() const { return has_moved_; }
  /// What later runs depend on: where the gate was asked last, and counts.
  void transfer(Archive& archive);
  /// Signs of distances to the ends of branches that doubles left open and 113 bits decided.
  [[nodiscard]] long refined_signs() const { return refined_signs_; }
  /// By how much the last point is outside, relative to the numbers compared: for people.
  [[nodiscard]] double violation(const Vector& lambda, const Vector& w) const;

  /// Factorises at the last point, whose errors are computed. False: singular.
  bool factorise();
  /// Bounds, to first order, of the distance of the unknowns from the solution they belong to:
  /// |J⁻¹| (|F| + e). After `factorise`, which must have said true.
  void errors(Vector& d_error, Vector& lambda_error);
  /// The error of w_i, or of λ_i, through the matrix of the last `factorise` if that said true.
  double w_error(int law, bool regular);
  double lambda_error(int law, bool regular);
  /// With a singular matrix: is x⁺ isolated, although λ is not?
  [[nodiscard]] bool determines_state() const {
    return lu_.determines(step_.n());
  }
  /// With a singular matrix: is x⁺ shown to be one of a continuum? A way along which no row changes
  /// leads through unknowns alone that the equations of the mode are linear in, by their form. At a
  /// multiple root there is none, nor is it shown of a curve of solutions.
  [[nodiscard]] bool is_open() const;

 private:
  friend struct eight::LaneAccess;
  /// How the iterations of a run go, mode_newton_run.cpp
  struct Course {
    int iteration = 0;
    bool contracts = false;  // from the first step on
    bool stagnates = false;  // the last correction is hardly smaller than its step
    bool rests = false;      // the last step moved nothing
  };
  NewtonEnd iterate(Vector& d, Vector& lambda);
  bool corrects_from(const Vector& d, const Vector& lambda);
  std::optional<NewtonEnd> iterate_once(Course& course, Vector& d, Vector& lambda);
  bool converges_here(const Course& course, Vector& d, Vector& lambda);
  bool gives_up(const Course& course, const Vector& d, const Vector& lambda);
  [[nodiscard]] bool is_contradictory() const;
  [[nodiscard]] bool stays_at(const Vector& d, const Vector& lambda) const;
  bool solves_again(Vector& d, Vector& lambda);
  // Does the solution that the gate let pass lie where the rows say, mode_newton_definite.cpp
  bool is_definite(Vector& d, Vector& lambda);
  [[nodiscard]] bool is_loose(const Vector& lambda);
  bool sharpen(Vector& d, Vector& lambda);
  [[nodiscard]] bool is_correction_open(const Vector& lambda) const;
  [[nodiscard]] double goes_on_by() const;
  void solve_refined();
  [[nodiscard]] bool has_underflowed() const;
  bool is_flat(const Vector& d, const Vector& lambda);
  bool gate_passes_beside(const Vector& d, const Vector& lambda, double share);
  std::optional<bool> comes_back(const Vector& d, const Vector& lambda, int unknown, double side, double least);
  bool comes_back(const Vector& d, const Vector& lambda, int unknown);
  [[nodiscard]] std::vector<int> linear_unknowns() const;
  double distance_bound(int unknown);
  double distance_bound(int unknown, double enough);
  void bound_distances();
  void refine_once();
  void bound_errors();
  void write_way_out(int unknown, double distance);
  [[nodiscard]] double unknown_value(int unknown, const Vector& lambda) const;
  NewtonEnd refused(Vector& d, Vector& lambda, bool finite, bool contracts);
  double ask_gate(const Vector& d, const Vector& lambda);
  [[nodiscard]] bool has_asked_rows() const;
  void polish(Vector& d, Vector& lambda);
  bool direction(bool by_blocks);
  void solve_direction(bool by_blocks);
  void solve(std::vector<double>& right) const;
  [[nodiscard]] bool holds_in_rows(const std::vector<double>& solution) const;
  void drop_small_rests();
  bool advance(const Vector& d, const Vector& lambda, bool& finite);
  bool search_line(const Vector& d, const Vector& lambda, bool& finite);
  bool try_share(const Vector& d, const Vector& lambda, int halvings, bool& finite);
  [[nodiscard]] bool rows_fell(double share) const;
  [[nodiscard]] bool corrections_fell() const;
  [[nodiscard]] bool is_promising() const;
  [[nodiscard]] bool is_at_rounding(std::size_t row) const;
  bool makes_progress(const Vector& d, const Vector& lambda);
  bool is_rounding(const Vector& lambda);
  void write_floor(const Vector& d, const Vector& lambda);
  double correction();
  [[nodiscard]] double scaled_size(const std::vector<double>& step) const;
  double error_through(double* derivatives);
  [[nodiscard]] bool is_inside(const Vector& lambda, const Vector& w) const;
  bool lambda_is_outside(const Vector& d, const Vector& lambda, bool regular, bool& open);
  bool put_into_ranges(Vector& lambda) const;
  Admission judge_w(const Vector& d, const Vector& lambda, const Vector& w, bool regular);

  ImplicitStep& step_;
  StepFactor lu_;
  BlockLu blocks_;
  std::vector<double> direction_, work_;
  Vector w_, given_, lambda_from_, d_error_, lambda_error_;  // room for `leads_straight`
  std::vector<double> way_out_;      // along which an unknown leaves its solution
  std::vector<double> distances_;    // of the unknowns from their solution, bounds by the factors alone
  std::vector<double> rest_;         // of a solved system, refined
  std::vector<double> floor_;        // rounding of the unknowns
  std::vector<double> before_;       // residuals before the present step
  std::vector<double> milestone_;    // and some iterations ago
  std::vector<double> last_errors_;  // of the rows where the gate was asked last
  Vector d_trial_, lambda_trial_;
  bool singular_ = false, left_domain_ = false, regular_now_ = true, local_ = true, gate_known_ = false;
  bool near_only_ = false, by_blocks_ = false, has_moved_ = false;
  // Of the refined solution, mode_newton_refined.cpp
  enum class Side { inside, outside, open };
  void begin_refinement();
  bool refine(const Vector& d, const Vector& lambda);
  template <class Judge>
  Side refined_side(const Vector& d, const Vector& lambda, const Judge& judge);
  Side refined_side_of_w(const Vector& d, const Vector& lambda, int law, double w);
  Side refined_side_of_lambda(const Vector& d, const Vector& lambda, int law);
  void correct_refined();
  double refined_error(double* derivatives);
  Side side_of(const WideNumber& value, double bound, bool upper);
  Side side_of_w(int law, const Range& range, double w);
  Side side_of_lambda(int law, const Range& range, double lambda);
  Side judge_argument(const Vector& d, const Vector& lambda, int law, double w, bool regular);
  Vector d_low_, lambda_low_;
  std::vector<WideNumber> wide_residual_, wide_w_;
  int corrections_ = 0;
  bool is_refinable_ = false, in_pairs_ = false;
  long refined_signs_ = 0;
  int orientation_ = 0;
  struct Asked {
    int law;
    const Branch* branch;  // which other laws may share
  };
  std::vector<Asked> asked_;  // of the free laws where the gate was asked last
  int share_ = 0;                     // halvings of the direction tried last
  DenseLu::Remainder remainder_;      // of the last singular matrix
  double size_ = 0, next_size_ = 0;
  double residual_ = 0;
  long iterations_ = 0;
  long allowed_ = std::numeric_limits<long>::max();
};

}  // namespace perp
