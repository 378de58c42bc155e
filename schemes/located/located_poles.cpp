#include <fmt/format.h>
#include <algorithm>

#include <perp/schemes/located/located_run.hpp>

// Poles of the equations, which a long step passes between its stages.

namespace perp {

/// The path between two shares of the attempt of length h, with the error that the tolerance allows.
SolutionPath LocatedRun::path_of_attempt(double from, double to, double h) {
  SolutionPath path{sample(from, h), sample(to, h)};
  path.curve = [this, from, to, h](double s) { return sample(from + s * (to - from), h).x; };
  path.continues = from > 0;
  path.tolerance = options_.tol * path.a.x.cwiseAbs().cwiseMax(path.b.x.cwiseAbs()).cwiseMax(scales_.x);
  return path;
}

/// The first pole on the attempt of length h, up to this share of it. One that is found stays: nearer to
/// it the tolerance hides what grows.
std::optional<PoleWatch::Pole> LocatedRun::first_pole(double h, double end) {
  if (pole_mode_ != now_.mode) pole_.reset();
  if (pole_) return pole_->t <= now_.t + end * h ? pole_ : std::nullopt;
  if (!poles_.watches(now_.mode)) return std::nullopt;
  const int sections = 2 * stages_;
  pole_mode_ = now_.mode;
  for (int k = 0; k < sections && !pole_; ++k)
    pole_ = poles_.pass(path_of_attempt(end * k / sections, end * (k + 1) / sections, h));
  return pole_;
}

/// Accepts the attempt of length h, in which no gap falls, unless its end is on another branch of the equations.
void LocatedRun::take_step_on_branch(double h) {
  if (options_.fixed_step > 0 || !poles_.watches(now_.mode) || !poles_.leaves_branch(path_of_attempt(0, 1, h)))
    return take_step(h);
  radau_.discard();
  shorten(h / 2, "a step leads to another branch of the equations");
}

/// The next attempt ends half-way to the pole; ends the run where that is too short.
void LocatedRun::go_nearer(const PoleWatch::Pole& pole) {
  radau_.discard();
  ++rejected_;
  h_ = (pole.t - now_.t) / 2;
  if (h_ < shortest_step() || options_.fixed_step > 0)
    finish(Status::not_solved, fmt::format("stopped at {}: {}", place(now_), pole.text));
}

}  // namespace perp
