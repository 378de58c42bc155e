#pragma once

#include <string>
#include <vector>

#include <perp/core/pencil/pencil.hpp>
#include <perp/schemes/continuation/step_path.hpp>
#include <perp/schemes/newton/mode_newton.hpp>
#include <perp/schemes/step/implicit_step.hpp>
#include <perp/schemes/step/step_search.hpp>

namespace perp {

/// The backward Euler steps of a Dcs, by Newton's method in each mode.
class DcsFamily final : public StepFamily {
 public:
  /// Throws InvalidInput (see `validate`).
  explicit DcsFamily(const Dcs& system);

  void set_state(const Vector& x, double t, double h) override;
  [[nodiscard]] const Laws& laws() const override { return step_.laws(); }
  bool solve(double h, StepPoint& point, Vector& noise) override;
  std::vector<std::complex<double>> poles(const StepPoint& point) override;
  Status solutions(double h, const StepPoint& from, std::vector<StepPoint>& list,
                   int& count) override;
  [[nodiscard]] double distance(const Vector& a, const Vector& b) override;
  [[nodiscard]] const std::string& message() const override { return message_; }

 private:
  [[nodiscard]] const Branch& branch_of(const Mode& mode, int law) const;
  ModeDae linearised(const StepPoint& point);

  ImplicitStep step_;
  ModeNewton newton_;
  StepSearch search_;
  Vector x_;
  double t_ = 0;
  std::string message_;
};

}  // namespace perp
