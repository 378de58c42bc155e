#pragma once

#include <optional>

#include <perp/schemes/located/mode_integrator.hpp>
#include <perp/schemes/poles/pole_watch.hpp>

namespace perp {

/// Poles of the equations on an attempted step, which a long one passes between its stages.
class PoleAhead {
 public:
  /// Both must outlive this.
  PoleAhead(const LocatedState& at, ModeIntegrator& integrator)
      : at_(at), integrator_(integrator), poles_(at.system) {}

  /// The first pole on the attempt of length h, up to this share of it. One that is found stays: nearer to
  /// it the tolerance hides what grows.
  std::optional<PoleWatch::Pole> first(double h, double end);
  /// Does the attempt of length h, in which no gap falls, end on another branch of the equations?
  bool leaves_branch(double h);
  /// What has been seen of the poles.
  void transfer(Archive& archive) { archive(poles_, pole_, mode_); }
  /// A mode begins.
  void forget() { pole_.reset(); }

 private:
  SolutionPath path_of_attempt(double from, double to, double h);

  const LocatedState& at_;
  ModeIntegrator& integrator_;
  PoleWatch poles_;
  std::optional<PoleWatch::Pole> pole_;  // the one that is ahead in this mode
  Mode mode_;
};

}  // namespace perp
