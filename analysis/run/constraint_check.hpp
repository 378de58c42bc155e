#pragma once

#include <functional>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// The algebraic equations and the arguments of the laws at one state, each with the size of the
/// terms that it is the sum of.
struct ConstraintRows {
  Vector equation, equation_terms;
  Vector w, w_terms;
};

/// The largest residual of the algebraic equations and the laws over the states of a run (all of
/// them, or evenly spaced ones of a long run), relative to the largest terms that each equation and
/// each w has during the run. In scheme located, whose tolerance is relative to the larger of a value
/// and its unit, values count with at least their units: a gap of 1e-36 that stands alone in its row is
/// no residual.
class ConstraintCheck {
 public:
  ConstraintCheck(const Model& model, double expected_steps);

  void add(const Step& step);
  /// What was looked at so far.
  void transfer(Archive& archive) {
    archive(seen_, w_, lambda_, equation_, equation_scale_, w_scale_, lambda_scale_);
  }
  [[nodiscard]] double largest() const;
  [[nodiscard]] long states() const { return static_cast<long>(w_.size()); }

 private:
  std::vector<Law> laws_;
  std::function<ConstraintRows(const Step&)> rows_;
  long stride_;
  long seen_ = 0;
  std::vector<Vector> w_, lambda_;  // of the states looked at
  Vector equation_, equation_scale_, w_scale_, lambda_scale_;
};

}  // namespace perp
