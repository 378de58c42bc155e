// What pictures of matplotlib share with those of the program.
#include <algorithm>

#include <perp/io/plot/curves.hpp>
#include <perp/python/bindings.hpp>

namespace perp::python {
namespace {

using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;

Vector vector_of(const Array& values) { return Eigen::Map<const Vector>(values.data(), values.size()); }

/// (kind jumps?, an inconsistent start?, t, of a reset?, x_before, x_after)
using EventTuple = std::tuple<bool, bool, double, bool, Array, Array>;

Event event_of(const EventTuple& given) {
  const auto& [jumps, is_start, t, is_reset, before, after] = given;
  Event event;
  event.kind = is_start ? EventKind::inconsistent_start : jumps ? EventKind::jump : EventKind::mode_change;
  event.t = t;
  event.x_before = vector_of(before);
  event.x_after = vector_of(after);
  event.continuations = is_reset ? 1 : 0;
  return event;
}

std::vector<io::Samples::State> states_of(const Array& t, const Array& values, const std::vector<int>& mode) {
  const auto columns = values.ndim() == 2 ? values.shape(1) : 0;
  std::vector<io::Samples::State> states;
  for (py::ssize_t k = 0; k < t.size(); ++k)
    states.push_back({t.at(k), Eigen::Map<const Vector>(values.data() + k * columns, columns), Mode{mode.at(static_cast<std::size_t>(k))}});
  return states;
}

/// Spans (start, mode); each is found at the first row that has its mode.
std::vector<ModeSpan> spans_of(const std::vector<std::pair<double, int>>& given, const std::vector<io::Samples::State>& states) {
  std::vector<ModeSpan> spans;
  auto row = states.begin();
  for (const auto& [start, mode] : given) {
    const auto found = std::find_if(row, states.end(), [&, wanted = mode, from = start](const io::Samples::State& state) {
      return state.t >= from && state.mode.front() == wanted;
    });
    if (found == states.end()) continue;
    row = found;
    spans.push_back({.mode = {mode}, .start = start, .found_at = found->t});
  }
  return spans;
}

/// t, values, number of the mode of each row; jumps (column, t, before, after).
py::tuple curves_of(const Array& t, const Array& values, const std::vector<int>& mode, const std::vector<bool>& is_algebraic,
                    const std::vector<int>& variable, const std::vector<bool>& is_time,
                    const std::vector<std::pair<double, int>>& spans, const std::vector<EventTuple>& given) {
  const std::vector<io::Samples::State> states = states_of(t, values, mode);
  std::vector<Event> events;
  for (const EventTuple& event : given) events.push_back(event_of(event));
  const io::CurveColumns columns{{is_algebraic.begin(), is_algebraic.end()},
                                 variable,
                                 {is_time.begin(), is_time.end()},
                                 [](const Event& event) { return event.continuations == 1; }};
  const io::Curves curves = io::curves(states, columns, spans_of(spans, states), events);
  const auto rows = static_cast<py::ssize_t>(curves.rows.size());
  py::array_t<double> times(rows), shown({rows, static_cast<py::ssize_t>(variable.size())});
  py::array_t<int> modes(rows);
  double* place = shown.mutable_data();
  for (py::ssize_t k = 0; k < rows; ++k) {
    const io::Curves::Row& row = curves.rows[static_cast<std::size_t>(k)];
    times.mutable_at(k) = row.t;
    modes.mutable_at(k) = row.mode.front();
    place = std::copy(row.x.begin(), row.x.end(), place);
  }
  py::list jumps;
  for (const io::Curves::Jump& jump : curves.jumps) jumps.append(py::make_tuple(jump.curve, jump.t, jump.from, jump.to));
  return py::make_tuple(times, shown, modes, jumps);
}

}  // namespace

void bind_pictures(py::module_& module) { module.def("curves", &curves_of); }

}  // namespace perp::python
