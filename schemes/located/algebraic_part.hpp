#pragma once

#include <string>
#include <vector>

#include <perp/core/linear/rank_elimination.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>
#include <perp/schemes/located/curved_rows.hpp>
#include <perp/schemes/located/located_state.hpp>
#include <perp/schemes/located/radau/mode_flow.hpp>
#include <perp/schemes/located/radau/radau.hpp>
#include <perp/schemes/located/roots/root_chain.hpp>

namespace perp {

/// Algebraic variables and multipliers of the present mode, of which the error estimate of a step knows
/// nothing: whether they go on from their values, and why they cannot.
class AlgebraicPart {
 public:
  /// Both must outlive this.
  AlgebraicPart(const LocatedState& at, ModeFlow& flow) : at_(at), flow_(flow), roots_(at, flow), path_(at, flow) {}

  /// A mode begins with these rates (n): finds the unknowns that the rows without derivatives determine. In a
  /// mode of index 2 stage values of the others hold impulses of the size 1/h and tell nothing.
  void watch(double t, const Vector& rates);
  /// What is watched.
  void transfer(Archive& archive) {
    archive(watched_, rows_of_watched_, units_);
    if (archive.is_reading()) look_at_rows();
  }
  /// The equations that determine it and are not affine in it.
  [[nodiscard]] CurvedRows& curved_rows() { return rows_; }
  /// Which of their roots they are, where they have several.
  [[nodiscard]] RootChain& roots() { return roots_; }
  enum class Solved { yes, no, undetermined };  ///< no: Newton's method does not converge
  /// Solves the equations without derivatives at (t, rates) for what is watched, in y (N), by Newton's method. Undetermined:
  /// to rounding they do not tell all unknowns there.
  [[nodiscard]] Solved solve(double t, const Vector& rates, Vector& y);
  /// Do they go on from their present values in the attempt? The error estimate is one of differential
  /// variables. The others go on where the polynomial through their stages meets these at its start, up to a
  /// share of its variation: Newton's method may have ended on another branch of a fold, or beyond a pole.
  [[nodiscard]] bool goes_on(const Radau& radau);
  enum class Asked : char { to_look, to_tell };  ///< a sample, or a state that is the solution for somebody
  /// Corrects them in y (N), a point of the polynomial at the share s of the attempt: by Newton's method for the
  /// equations there, with the matrix of the step. At the start the state knows them. The equations of what is watched are to
  /// hold then to the tolerance, those of a sample that may be off by more to that of the polynomial, or are solved: by
  /// Newton's method with the matrices there, and where that does not converge along the chain of roots from the present
  /// state. False: no solution is found.
  bool correct(Radau& radau, double s, Asked asked, Vector& y);
  /// What is watched becomes unknown in y (N).
  void lose(Vector& y) const { y(watched_).setConstant(nan); }
  /// Is the end of the attempt, which may be a part of a longer one, the root that the present one becomes?
  [[nodiscard]] RootChain::Led root_of_end(const Radau& radau);
  /// Has the consistent jet at y (N), a point of the attempt, the root that the attempt leads to? Newton's method for it
  /// may end on another branch too.
  [[nodiscard]] bool is_root_of(const Radau& radau, const Vector& y, const Jet& jet);
  /// Why no step is possible from here, as far as the equations without derivatives tell: they get
  /// singular, or a variable has grown. Empty: they tell nothing.
  std::string why_it_ends();

 private:
  std::vector<Eigen::Index> factorise(double t, const Vector& rates, double tolerance,
                                      RankElimination& elimination);
  void replace_in(Vector& y, const Vector& by) const;
  [[nodiscard]] bool correct_once(Radau& radau, double s, Vector& y);
  [[nodiscard]] bool put_root(Radau& radau, double s, Vector& y);
  [[nodiscard]] bool settle(const Radau& radau, double t, double tolerance, Vector& y);
  [[nodiscard]] bool holds(double tolerance, double t, const Vector& y);
  [[nodiscard]] bool solve_near(const Radau& radau, double t, Vector& y);
  [[nodiscard]] bool solve_along(const Radau& radau, double t, Vector& y);
  [[nodiscard]] double size_of(const Vector& y) const;
  [[nodiscard]] std::string name_of(Eigen::Index unknown) const;

  const LocatedState& at_;
  ModeFlow& flow_;
  void find_watched(double t, const Vector& rates);
  void find_rows(double t, const Vector& rates);
  void look_at_rows();
  Solved newton_step(double t, const Vector& rates, const Vector& y, Vector& step);

  CurvedRows rows_;
  RootChain roots_;
  RootChain path_;              // of all that are not affine, also those with one root; looked at when first asked for
  double path_length_ = 0;      // of the attempt that it was last asked for; 0: of none
  std::vector<Eigen::Index> watched_;  // unknowns that rows without derivatives determine
  std::vector<Eigen::Index> rows_of_watched_;  // those rows that contain them
  Vector units_;                       // of the unknowns of the mode
  Vector y_, start_, rates_, correction_, solved_, H_, H_ydot_, H_y_, sizes_;  // workspace
};

}  // namespace perp
