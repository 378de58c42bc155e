#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <perp/cli/output/history.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/model.hpp>

namespace perp::cli {

/// The largest residual of the algebraic equations and the laws over the states of a run (all of
/// them, or evenly spaced ones of a long run). It needs nothing of the scheme.
class ConstraintCheck {
 public:
  ConstraintCheck(const Model& model, double expected_steps);
  ~ConstraintCheck();
  ConstraintCheck(const ConstraintCheck&) = delete;
  ConstraintCheck& operator=(const ConstraintCheck&) = delete;

  void add(const Step& step);
  [[nodiscard]] double largest() const { return largest_; }
  [[nodiscard]] long states() const { return checked_; }

 private:
  struct Equations;
  std::unique_ptr<Equations> equations_;
  long stride_;
  long seen_ = 0, checked_ = 0;
  double largest_ = 0;
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
