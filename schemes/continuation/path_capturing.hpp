#pragma once

#include <memory>
#include <string>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/system/sparse_lcs.hpp>
#include <perp/schemes/backward_euler.hpp>
#include <perp/schemes/continuation/step_path.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// Event capturing with the selector `continuation`: a step ends where the path of solutions leads
/// that begins in the present state at h = 0 (see `follow`). Everything else is the scheme within.
class PathCapturing final : public Scheme {
 public:
  /// Steps shorter than `shortest` are left to the scheme within.
  PathCapturing(std::unique_ptr<ModewiseScheme> within, std::unique_ptr<StepFamily> family,
                double shortest);

  Attempt start(double t, const Vector& x0, double h, std::vector<Event>& events) override;
  Attempt attempt(double t_next, double h) override;
  [[nodiscard]] const std::string& message() const override { return message_; }
  void accept() override;
  ResetOutcome reset(std::vector<Event>& events, long steps) override;
  [[nodiscard]] double attempted_norm() const override { return within_->attempted_norm(); }
  [[nodiscard]] const Vector& attempted() const override { return within_->attempted(); }
  [[nodiscard]] Vector motion(const Vector& a, const Vector& b) const override {
    return within_->motion(a, b);
  }
  [[nodiscard]] bool is_algebraic(int j) const override { return within_->is_algebraic(j); }
  [[nodiscard]] bool argument_jumps(int i) const override { return within_->argument_jumps(i); }
  [[nodiscard]] Vector motion_terms(const Vector& a, const Vector& b) const override {
    return within_->motion_terms(a, b);
  }
  [[nodiscard]] Vector rounding() override { return within_->rounding(); }
  [[nodiscard]] Vector motion_rounding(const Vector& a, const Vector& b) const override {
    return within_->motion_rounding(a, b);
  }
  [[nodiscard]] Vector drift(const Vector& sizes, long steps) const override {
    return within_->drift(sizes, steps);
  }
  [[nodiscard]] std::vector<int> lost_variables() const override {
    return within_->lost_variables();
  }
  [[nodiscard]] double residual() const override { return within_->residual(); }
  [[nodiscard]] double t() const override { return within_->t(); }
  [[nodiscard]] const Vector& x() const override { return within_->x(); }
  const Vector& lambda() override { return within_->lambda(); }
  const Vector& w() override { return within_->w(); }
  [[nodiscard]] const Mode& mode() const override { return within_->mode(); }
  [[nodiscard]] Step seen() override { return within_->seen(); }
  void restore(const Step& state) override { within_->restore(state); }
  void interpolate(double s, Vector& x) const override { within_->interpolate(s, x); }
  std::vector<Departure> departures() override;
  std::vector<Departure> approaches() override { return within_->approaches(); }
  void renew_allowance() override { within_->renew_allowance(); }
  [[nodiscard]] bool is_short_of_work() const override { return within_->is_short_of_work(); }
  std::vector<std::pair<Mode, double>> violations(double h) override;
  void count(Counts& counts) const override;
  [[nodiscard]] bool is_kept() const override { return within_->is_kept(); }
  void transfer(Archive& archive) override {
    archive(*within_, departures_, broken_, not_followed_);
  }

 private:
  Attempt attempt_within(double t_next, double h);

  std::unique_ptr<ModewiseScheme> within_;
  std::unique_ptr<StepFamily> family_;
  double shortest_;
  std::vector<Departure> trial_departures_, departures_;  // of the attempted, the accepted step
  std::string message_;
  long broken_ = 0, not_followed_ = 0;
};

/// The event-capturing scheme with the selector of its options. Throw InvalidInput.
std::unique_ptr<Scheme> capturing_scheme(const Lcs& lcs, const Theta& options);
std::unique_ptr<Scheme> capturing_scheme(const SparseLcs& lcs, Theta options);
std::unique_ptr<Scheme> capturing_scheme(const Dcs& system, BackwardEuler options);
std::unique_ptr<Scheme> capturing_scheme(const Dcs& system, const Theta& options);

/// The path of one step of length h from the state `from` at its time, of the θ-method and of
/// backward Euler. from.mode, lambda and w may be empty, if they are not known. Throw InvalidInput:
/// options, a state or a mode that is none of the system.
StepPath follow(const Lcs& lcs, const Step& from, double h, double theta = 1);
StepPath follow(const Dcs& system, const Step& from, double h);

}  // namespace perp
