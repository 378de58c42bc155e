#pragma once

#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/lanes/lane_form.hpp>
#include <perp/schemes/poles/pole_watch.hpp>

namespace perp::eight {

/// What steps of several runs side by side need of a scheme, and give back.
struct LaneAccess {
  static bool is_served(const NonlinearCapturing& scheme);
  static LaneForm form(const NonlinearCapturing& scheme);
  static LaneNumbers numbers(const NonlinearCapturing& scheme, const LaneForm& form);
  static bool is_ready(const NonlinearCapturing& scheme, double h);

  /// A state between two steps.
  struct State {
    double t = 0;
    const double *x = nullptr, *d = nullptr, *lambda = nullptr, *w = nullptr;
    double residual = 0;
  };
  static const Vector& d(const NonlinearCapturing& scheme) { return scheme.current().d; }
  static const Vector& lambda(const NonlinearCapturing& scheme) { return scheme.current().lambda; }
  static const Vector& w(const NonlinearCapturing& scheme) { return scheme.current().w; }
  static double state_residual(const NonlinearCapturing& scheme) { return scheme.current().residual; }
  static int orientation(const NonlinearCapturing& scheme) { return scheme.orientation_; }
  static const std::vector<double>& last_errors(const NonlinearCapturing& scheme) { return scheme.newton_.last_errors_; }

  struct Made {
    long steps = 0, iterations = 0;
    double residual = 0;  ///< largest of the states
    const double* last_errors = nullptr;
  };
  /// The state after so many steps of length h, and those before it, `oldest` where there were two or more.
  /// Unknowns that no formula gives are followed over the last step.
  static void follow_poles(const NonlinearCapturing& scheme, PoleWatch& poles);
  /// As far ahead of the last step as may be nothing is to be looked for.
  static bool look_ahead(const NonlinearCapturing& scheme, PoleWatch* poles);
  static void take(NonlinearCapturing& scheme, const Made& made, double h, const State& now, const State& before,
                   const State& oldest);
};

}  // namespace perp::eight
