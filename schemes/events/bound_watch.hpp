#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/core/base/variable_bounds.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// The surfaces x_j = l, x_j = u of bounds and on which side of each the state is.
class BoundWatch {
 public:
  /// One end of the bounds of a variable.
  struct Surface {
    VariableBounds bounds;
    bool upper = false;
    bool is_outside = false;  ///< the state is beyond it

    [[nodiscard]] double bound() const { return upper ? bounds.range.upper : bounds.range.lower; }
    /// >= 0 on the inner side.
    [[nodiscard]] double margin(const Vector& x) const {
      return upper ? bound() - x[bounds.variable] : x[bounds.variable] - bound();
    }
    /// Positive on the side where the state is now.
    [[nodiscard]] double rest(const Vector& x) const {
      return is_outside ? -margin(x) : margin(x);
    }
  };

  /// For systems of n variables. Throws InvalidInput: a variable that does not exist, bounds that
  /// bound nothing.
  BoundWatch(const std::vector<VariableBounds>& bounds, int n);

  [[nodiscard]] bool empty() const { return surfaces_.empty(); }
  [[nodiscard]] int count() const { return static_cast<int>(surfaces_.size()); }
  [[nodiscard]] const Surface& surface(int k) const {
    return surfaces_[static_cast<std::size_t>(k)];
  }

  /// On which sides the state is.
  void transfer(Archive& archive) {
    for (Surface& surface : surfaces_) archive(surface.is_outside);
  }
  /// Passes surface k: the state is on its other side from now on. "x falls below its bound 0", the
  /// note of the event.
  std::string pass(int k, bool at_start = false);
  /// "x falls below its bound 0 (bounds = [0, inf]) at t = 1": how a run ends.
  [[nodiscard]] std::string end_message(int k, const Event& event) const;

 private:
  std::vector<Surface> surfaces_;
};

/// Bounds along the accepted way of a Scheme, on which every variable moves linearly in time.
class BoundedWay {
 public:
  BoundedWay(const std::vector<VariableBounds>& bounds, int n)
      : watch_(bounds, n), touched_(static_cast<std::size_t>(watch_.count())) {}

  [[nodiscard]] bool empty() const { return watch_.empty(); }

  /// What it knows between two steps.
  void transfer(Archive& archive) { archive(watch_, touched_, largest_, roundings_, steps_); }
  /// Bounds that the first state is beyond. The sentence that ends the run, if one does.
  std::optional<std::string> start(Scheme& scheme, std::vector<Event>& events);

  /// The passages from `from` through the states of the events since `first_event` to the present
  /// state of the scheme, which `steps` steps led to; they join `events`. Where one ends the run, its
  /// sentence is returned, what came later is taken out of `events`, and the scheme stands at the
  /// end of a shorter step to that moment, or at `from` where that step keeps no mode.
  std::optional<std::string> pass(Scheme& scheme, const Step& from, std::size_t first_event,
                                  long steps, std::vector<Event>& events);

 private:
  struct Point {
    double t;
    Vector x;
  };
  std::vector<Point> corners(const Scheme& scheme, const Step& from, std::size_t first_event,
                             const std::vector<Event>& events) const;
  std::vector<std::pair<double, int>> passed_between(const Point& a, const Point& b, bool is_last, double way,
                                                     Scheme& scheme);
  std::optional<std::string> end(Scheme& scheme, const Step& from, const Point& before,
                                 const Point& after, int surface, Event event,
                                 std::vector<Event>& events);
  std::optional<Step> state_on(const BoundWatch::Surface& surface, Scheme& scheme, const Step& from,
                               double t, double t_after);
  bool passes(int k, double rest, Scheme& scheme);
  bool mode_is_certain(Scheme& scheme, double way) const;
  double rounding(int variable, Scheme& scheme);
  double error(int variable, Scheme& scheme);

  BoundWatch watch_;
  std::vector<double> touched_;  // distance to each surface where the state met it, beyond by rounding
  Vector largest_;    // |x_j| met
  Vector roundings_;  // of the present state; empty: not asked for yet
  long steps_ = 0;    // that led here
};

}  // namespace perp
