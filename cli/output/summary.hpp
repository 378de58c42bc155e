#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <perp/cli/output/history.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/model.hpp>

namespace perp::cli {

/// The largest residual of the algebraic equations and the laws over the states of a run (all of
/// them, or evenly spaced ones of a long run), relative to the largest terms that each equation and
/// each w has during the run. It needs nothing of the scheme.
class ConstraintCheck {
 public:
  ConstraintCheck(const Model& model, double expected_steps);

  void add(const Step& step);
  [[nodiscard]] double largest() const;
  [[nodiscard]] long states() const { return static_cast<long>(w_.size()); }

 private:
  Lcs lcs_;
  Matrix N_;  ///< rows span the left null space of E: 0 = N (A x + B λ + b)
  long stride_;
  long seen_ = 0;
  std::vector<Vector> w_, lambda_;  // of the states looked at
  Vector equation_, equation_scale_, w_scale_, lambda_scale_;
};

/// What a run says to people.
struct Summary {
  const Model& model;
  const Trajectory& run;
  std::vector<ModeSpan> modes;
  const ConstraintCheck& constraints;
  Step last;
  std::vector<std::string> files;  ///< what was written
};

void print(std::FILE* stream, const Summary& summary);

/// "(x1, x2) = (1, 2)"; long vectors are cut.
std::string named_values(const std::vector<std::string>& names, const Vector& values);

}  // namespace perp::cli
