#pragma once

#include <functional>
#include <vector>

namespace perp::bench {

/// A switching system as one writes it by hand for a solver that knows nothing of laws: the smooth
/// system of every mode, functions whose root ends the mode, and the mode that follows.
struct Hybrid {
  int n = 0;
  std::vector<double> x0;
  int mode0 = 0;
  /// ẋ in a mode.
  std::function<void(int mode, double t, const double* x, double* xdot)> rate;
  /// Two functions whose fall through 0 ends the mode; one without a second end has a positive
  /// constant there.
  std::function<void(int mode, double t, const double* x, double* g)> roots;
  /// The mode after root k of a mode.
  std::function<int(int mode, int k, double t, const double* x)> next;
  double max_step = 0;  ///< without it long steps pass over roots; 0: not needed
};

struct HybridRun {
  bool solved = false;
  std::vector<double> x;  ///< at the end
  std::vector<double> event_times{};
  long steps = 0;
};

/// Multistep codes of SUNDIALS with their root finding, started anew after every event, as their
/// manuals advise; tolerances relative and absolute `tol`, Jacobian by differences.
HybridRun run_cvode(const Hybrid& system, double end, double tol);  ///< BDF
/// The same system as 0 = ẋ - f.
HybridRun run_ida(const Hybrid& system, double end, double tol);

}  // namespace perp::bench
