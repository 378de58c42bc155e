#pragma once

#include <functional>
#include <string>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// The algebraic equations and the arguments of the laws at one state, each with the size of the
/// terms that it is the sum of, and the sizes of the multipliers.
struct ConstraintRows {
  Vector equation, equation_terms;
  Vector w, w_terms;
  Vector lambda_terms;
};

/// Sizes of the unknowns, in which they count at least.
struct RowSizes {
  Vector x, lambda;
};

/// The largest residual of the algebraic equations and the laws over the states of a run (all of
/// them, or evenly spaced ones of a long run), relative to the largest terms that each equation and
/// each w has during the run. In scheme located, whose tolerance is relative to the larger of a value
/// and its unit, values count with at least their units: a gap of 1e-36 that stands alone in its row is
/// no residual. In steps of affine systems they count with the terms of the equations that they are computed from.
///
/// A step of an affine system is exact to the rounding of these terms. Where a state misses an equation or a law by half of the
/// digits and more, the step was none, whatever was concluded from bounds: the run is not solved. In scheme located the same
/// holds for the equations, of which a state may miss its tolerance.
class ConstraintCheck {
 public:
  ConstraintCheck(const Model& model, double expected_steps);

  /// False where the state is none of the system's: see `fault`.
  bool add(const Step& step);
  /// So many of the next states are not looked at.
  [[nodiscard]] long passed_over() const { return seen_ == 0 ? stride_ : (stride_ - seen_ % stride_) % stride_; }
  /// So many of them came.
  void pass_over(long states) { seen_ += states; }
  /// "stopped at t = 1: law s is missed by 0.005 of its terms ..."; empty: no state was found so.
  [[nodiscard]] const std::string& fault() const { return fault_; }
  /// What was looked at so far.
  void transfer(Archive& archive) {
    archive(seen_, w_, lambda_, equation_, terms_.equation_terms, terms_.w_terms, terms_.lambda_terms, sizes_.x, sizes_.lambda);
  }
  [[nodiscard]] double largest() const;
  [[nodiscard]] long states() const { return static_cast<long>(w_.size()); }

 private:
  /// The largest of one state, with the place of its row: equations first, then laws.
  struct Largest {
    double size = 0;
    Eigen::Index row = 0;
  };
  [[nodiscard]] ConstraintRows rows_at(const Step& step);
  [[nodiscard]] bool passes(const ConstraintRows& rows, const Step& step);
  /// What these rows miss, in units of `terms`.
  [[nodiscard]] Largest largest_of(const Vector& equation, const Vector& w, const Vector& lambda,
                                   const ConstraintRows& terms) const;

  Laws laws_;
  double model_time_;  ///< length of the run
  std::vector<std::string> names_;  // of their multipliers
  std::string fault_;
  enum class Gate : char { none, equations, all };
  Gate gate_ = Gate::none;
  double most_ = 0;  // that passes it
  RowSizes sizes_;
  std::function<ConstraintRows(const Step&, RowSizes&)> rows_;
  long stride_;
  long seen_ = 0;
  std::vector<Vector> w_, lambda_;  // of the states looked at
  Vector equation_;  // largest of each row during the run
  ConstraintRows terms_;  // the largest of the run
};

}  // namespace perp
