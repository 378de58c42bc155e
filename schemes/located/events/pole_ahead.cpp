// Poles on an attempted step: asked by the run before it takes one.
#include <algorithm>

#include <perp/schemes/located/events/pole_ahead.hpp>

namespace perp {

/// The path between two shares of the attempt of length h, with the error that the tolerance allows.
SolutionPath PoleAhead::path_of_attempt(double from, double to, double h) {
  SolutionPath path{integrator_.on_polynomial(from, h), integrator_.on_polynomial(to, h)};
  path.curve = [this, from, to, h](double s) { return integrator_.on_polynomial(from + s * (to - from), h).x; };
  path.continues = from > 0;
  path.tolerance = at_.options.tol * path.a.x.cwiseAbs().cwiseMax(path.b.x.cwiseAbs()).cwiseMax(at_.scales.x);
  return path;
}

std::optional<PoleWatch::Pole> PoleAhead::first(double h, double end) {
  if (mode_ != at_.now.mode) pole_.reset();
  if (pole_) return pole_->t <= at_.now.t + end * h ? pole_ : std::nullopt;
  if (!poles_.watches(at_.now.mode)) return std::nullopt;
  const int sections = 2 * at_.stages;
  mode_ = at_.now.mode;
  for (int k = 0; k < sections && !pole_; ++k)
    pole_ = poles_.pass(path_of_attempt(end * k / sections, end * (k + 1) / sections, h));
  return pole_;
}

bool PoleAhead::leaves_branch(double h) {
  return poles_.watches(at_.now.mode) && poles_.leaves_branch(path_of_attempt(0, 1, h));
}

}  // namespace perp
