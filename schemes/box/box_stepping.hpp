#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <perp/schemes/backward_euler.hpp>
#include <perp/schemes/box/box_step.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// Backward Euler for affine systems too large for one machine: the present mode is tried first, another one is looked for by
/// SNES, both on all ranks, see BoxStep. Other solutions are not looked for: where no certificate says that there is one alone, a
/// step is counted as not enumerated.
class BoxStepping final : public Scheme {
 public:
  /// Throws InvalidInput.
  BoxStepping(SparseLcs lcs, const Theta& options);

  Attempt start(double t, const Vector& x0, double h, std::vector<Event>& events) override;
  Attempt attempt(double t_next, double h) override { return attempt_by(t_next, h, false); }
  Attempt attempt_end(double t_next, double h) override { return attempt_by(t_next, h, true); }
  [[nodiscard]] const std::string& message() const override { return message_; }
  void accept() override;
  [[nodiscard]] bool has_resets() const override { return false; }
  [[nodiscard]] double attempted_norm() const override { return motion(x(), attempted()).norm(); }
  [[nodiscard]] const Vector& attempted() const override { return trial().x; }
  [[nodiscard]] bool moves_with_length(double h) override;
  [[nodiscard]] Vector motion(const Vector& a, const Vector& b) const override { return lcs_.E.times(b - a); }
  [[nodiscard]] Vector motion_terms(const Vector& a, const Vector& b) const override {
    return lcs_.E.sizes_times(a.cwiseAbs() + b.cwiseAbs());
  }
  [[nodiscard]] Vector motion_rounding(const Vector& a, const Vector& b) const override;
  [[nodiscard]] Vector drift(const Vector& sizes, long steps) const override;
  [[nodiscard]] Vector rounding() override;
  [[nodiscard]] bool argument_jumps(int i) const override { return !lcs_.D.row(i).empty(); }
  [[nodiscard]] double t() const override { return current().t; }
  [[nodiscard]] const Vector& x() const override { return current().x; }
  const Vector& lambda() override { return current().lambda; }
  const Vector& w() override { return current().w; }
  [[nodiscard]] const Mode& mode() const override { return current().mode; }
  void restore(const Step& state) override;
  void interpolate(double s, Vector& x) const override { x = (1 - s) * before().x + s * this->x(); }
  std::vector<Departure> departures() override;
  std::vector<Departure> approaches() override;
  std::vector<int> laws_beyond_end() override;
  std::vector<std::pair<Mode, double>> violations(double /*h*/) override { return {}; }
  [[nodiscard]] double residual() const override { return residual_; }
  void count(Counts& counts) const override;

 private:
  struct State {
    double t = 0;
    Vector x, lambda, w, rounding;
    Mode mode;
    std::vector<BoxStep::Margin> ends;  // of the mode before, at its end
  };
  [[nodiscard]] const State& current() const { return states_[now_]; }
  [[nodiscard]] State& current() { return states_[now_]; }
  [[nodiscard]] const State& before() const { return states_[previous_]; }
  [[nodiscard]] State& trial() { return states_[trial_]; }
  [[nodiscard]] const State& trial() const { return states_[trial_]; }

  Attempt attempt_by(double t_next, double h, bool is_end_enough);
  Attempt unsolved(Status status, std::string why);
  Attempt take(double t_next, const Mode& mode, double h);
  void put(double t_next, const Mode& mode);
  bool has_one_solution(double h) { return is_dominant(h) || is_monotone(h); }
  bool is_dominant(double h);
  bool is_monotone(double h);
  [[nodiscard]] double slack_before(const BoxStep::Margin& margin, const Mode& mode) const;
  void put_start(const Vector& x0, double t);
  bool starts_inside(const Vector& x0, double t, Mode& mode, bool& touches);

  SparseLcs lcs_;
  BoxStep step_;
  std::array<State, 3> states_;
  std::size_t previous_ = 0, now_ = 1, trial_ = 2;
  double longest_dominant_ = 0, shortest_not_ = inf;
  std::optional<double> longest_monotone_;  // once it was asked for
  bool is_continuous_ = false;              // where steps are monotone
  std::string message_;
  double residual_ = nan;
  long not_enumerated_ = 0, searches_ = 0;
};

}  // namespace perp
