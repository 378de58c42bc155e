#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// GridStates of a few variables at increasing times, row by row.
class GridStates {
 public:
  void add(double t, const Vector& x);  ///< replaces the last state if that is of the same time
  [[nodiscard]] std::size_t size() const { return times_.size(); }
  [[nodiscard]] double t(std::size_t k) const { return times_[k]; }
  [[nodiscard]] Vector x(std::size_t k) const;
  /// The state nearest to t within a tolerance, size 0 where there is none.
  [[nodiscard]] Vector at(double t, double tolerance) const;

 private:
  std::vector<double> times_, values_;
};

/// Times of a span that are this close are one and the same, computed in two ways.
double time_rounding(Span span);

/// What is compared of an event.
struct EventMark {
  double t = 0;
  std::string kind, law;
};
/// All but inconsistent starts and how a run ends.
bool is_compared(std::string_view kind);
std::vector<EventMark> marks_of(const Model& model, const std::vector<Event>& events);

/// Who waits for runs that take long.
struct RunWatch {
  std::function<bool()> stopped{};  ///< asked at every step: is the run to end?
  /// Called where a run begins; what it returns is called at every step and destroyed at the end.
  std::function<std::function<void(double t)>(Span span)> progress{};

  [[nodiscard]] bool is_stopped() const { return stopped && stopped(); }
};

/// What to run and what to keep of it.
struct GridRunRequest {
  std::function<Model()> read;     ///< a model of its own for every run
  std::vector<std::string> names;  ///< variables to keep
  std::string scheme;              ///< empty: the model's
  double h = 0;
  double tol = 0;             ///< 0: the model's
  double end = 0;             ///< of the span
  bool keep_grid = false;     ///< every state
  std::vector<double> times;  ///< else states at these times, which the run hits exactly
  RunWatch watch{};           ///< may be empty
};

/// What a run leaves to be compared.
struct GridRun {
  double h = 0;
  double t = 0;     ///< where it ended
  Vector x;         ///< there
  double size = 0;  ///< the largest |x_j| in the last tenth of the run
  GridStates states{};
  std::vector<EventMark> events{};
  long steps = 0;
  Status status = Status::never_run;
  std::string message{};
  bool captured = false;  ///< scheme located: backward Euler made a part of the way
};

/// May be called by several threads at once. Throws InvalidInput.
GridRun run_on_grid(const GridRunRequest& request);

/// The times of a run with steps of length h, the last one shorter to end exactly at span.end.
std::vector<double> grid_of(Span span, double h);

}  // namespace perp
