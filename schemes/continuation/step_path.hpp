#pragma once

#include <complex>
#include <string>
#include <vector>

#include <perp/core/base/status.hpp>
#include <perp/core/base/types.hpp>
#include <perp/core/law.hpp>

namespace perp {

/// One solution of a step, as a point over the length of the step.
struct StepPoint {
  double h = 0;  ///< length of the step
  Mode mode;
  Vector x, lambda, w;  ///< x⁺, λ⁺, w⁺
};

/// The steps from one state as they depend on their length h: the equations of each mode, and the
/// set of all solutions.
class StepFamily {
 public:
  StepFamily() = default;
  StepFamily(const StepFamily&) = delete;
  StepFamily& operator=(const StepFamily&) = delete;
  virtual ~StepFamily() = default;

  /// From now on steps from x at t, of lengths up to h or so.
  virtual void set_state(const Vector& x, double t, double h) = 0;
  [[nodiscard]] virtual const Laws& laws() const = 0;
  /// Solves the equations of point.mode for a step of length h, whatever the ranges of the branches
  /// say, from the neighbourhood of `point`, which becomes the solution. `noise`: what is rounding
  /// in each of `gaps_of(laws(), point.mode)`. False: no solution was found, or not one alone.
  virtual bool solve(double h, StepPoint& point, Vector& noise) = 0;
  /// Lengths at which the equations of point.mode are singular; of nonlinear equations those of
  /// their linearisation at the point. Between them the solution is a smooth function of the
  /// length.
  virtual std::vector<std::complex<double>> poles(const StepPoint& point) = 0;

  /// All solutions of the step of length h, of a continuum the point nearest to `from` in the norm
  /// of the step, each in its mode of `least_change` from from.mode, which may be empty; those that
  /// leave more branches with memory than another one may be missing. `count`: number of
  /// distinct x⁺, -1: a continuum, 0: not counted. solved (at least one) | no_solution | not_solved
  /// | not_enumerated.
  virtual Status solutions(double h, const StepPoint& from, std::vector<StepPoint>& list,
                           int& count) = 0;

  /// ‖E (a − b)‖, the norm of [RAB] eq. (31).
  [[nodiscard]] virtual double distance(const Vector& a, const Vector& b) = 0;
  /// Why the last `solutions` found nothing.
  [[nodiscard]] virtual const std::string& message() const = 0;
};

/// The connected set of solutions that begins in the present state at h = 0, followed as h grows.
struct StepPath {
  /// A mode ends and another one goes on.
  struct Break {
    double h = 0;           ///< length of the step up to which the mode before lasts
    Mode after;             ///< the mode that goes on
    std::vector<int> laws;  ///< that change their branch
    double jump = 0;  ///< ‖E Δx‖ between the two ends where the path folds back there, else 0
  };

  Status status = Status::never_run;
  StepPoint end;                ///< where it arrived, also if not solved
  std::vector<Break> breaks{};  ///< in the order of h
  double norm = nan;            ///< ‖E (x⁺ − x)‖ there
  int solutions = 0;      ///< the most among which it was chosen where the path folded, -1: ∞
  std::string message{};  ///< one sentence when not solved
};

/// Follows the solutions of a step from (h = 0, present state) to the length h: within a mode as
/// long as it lasts, its gaps being watched at Chebyshev points and their falls solved for; at the
/// end of the mode on in the neighbouring mode that continues (x⁺, λ⁺); where no mode does, since
/// the set folds back towards smaller h, at the nearest solution beyond: there the exact solution
/// jumps, or ends. (A law with memory jumps in λ; then the whole step is one with the new λ, and
/// only a step that is split there is continuous.) not_solved where the solution runs to infinity
/// before h is reached: the step is too long for any selector.
StepPath follow(StepFamily& family, const StepPoint& start, double h);

}  // namespace perp
