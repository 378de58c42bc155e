#include <fmt/format.h>
#include <algorithm>

#include <perp/schemes/located/located_run.hpp>

// Poles of the equations, which a long step passes between its stages.

namespace perp {

/// The way between two shares of the attempt of length h, with the error that the tolerance allows.
Way LocatedRun::way_of_attempt(double from, double to, double h) {
  Way way{sample(from, h), sample(to, h)};
  way.curve = [this, from, to, h](double s) { return sample(from + s * (to - from), h).x; };
  way.tolerance = options_.tol * way.a.x.cwiseAbs().cwiseMax(way.b.x.cwiseAbs()).cwiseMax(scales_.x);
  return way;
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
    pole_ = poles_.pass(way_of_attempt(end * k / sections, end * (k + 1) / sections, h));
  return pole_;
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
