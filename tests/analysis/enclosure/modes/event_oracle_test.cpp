// Windows of events as units: the time of every member, the set on the surface, and the set behind
// it at the common time, of low order over wide sets and of points, beside solutions in 50 digits.
#include <doctest/doctest.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/analysis/enclosure/modes/event_window.hpp>
#include <perp/analysis/enclosure/times.hpp>
#include <perp/tests/analysis/enclosure/flow_oracle.hpp>
#include <perp/tests/analysis/enclosure/flows.hpp>
#include <perp/tests/thinned.hpp>

using namespace perp;
using enclosure::Box;
using enclosure::Doubleton;
using enclosure::EventWindow;
using enclosure::Interval;
using enclosure::ModeFlow;
using enclosure::Successor;
using enclosure::Verdict;
using test::Digits50;
using test::FlowOracle;
using test::Point50;

namespace {

using Texts = std::vector<std::string>;  // of x' and y'

constexpr double start = 0.5;

/// The variable x of the texts by another formula.
std::string substituted(const std::string& text, const std::string& x) {
  const auto is_part_of_name = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  std::string result;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const bool is_x = text[k] == 'x' && !is_part_of_name(k + 1) && (k == 0 || !is_part_of_name(k - 1));
    result += is_x ? x : std::string(1, text[k]);
  }
  return result;
}

/// What a random event is made of; its surface is x = 0.
struct Event {
  std::string model;       ///< its file
  Texts before, after;     ///< rates in x and y on both sides of the event in time
  bool is_linear = false;  ///< the model has u = x − 2 y + 0.1 for x
  std::string reset;       ///< of y; empty: there is none

  /// The coordinates of the model.
  [[nodiscard]] Point50 own(const Point50& p) const {
    if (!is_linear) return p;
    return {p[0] - p[1] * 2 + Digits50(1) / 10, p[1]};
  }
  [[nodiscard]] Point50 plain(const Point50& p) const {
    if (!is_linear) return p;
    return {p[0] + p[1] * 2 - Digits50(1) / 10, p[1]};
  }
};

std::string file(const Event& event, const Texts& below, const Texts& above) {
  const std::string x = event.is_linear ? "(u + 2*y - 0.1)" : "x";
  const auto side = [&](std::size_t k) {
    return "if(" + x + " > 0, " + substituted(above[k], x) + ", " + substituted(below[k], x) + ")";
  };
  const std::string first = event.is_linear ? "u" : "x";
  std::string rate = event.reset.empty() ? side(0) : below[0];
  const std::string second = event.reset.empty() ? side(1) : below[1];
  if (event.is_linear) rate += " - 2*(" + second + ")";
  std::string text = "[variables]\n" + first + " = 0\ny = 0\n[model]\nequations = [\"der(" + first +
                     ") = " + rate + "\", \"der(y) = " + second + "\"]\n";
  if (!event.reset.empty())
    text +=
        "when = [{ condition = \"x\", direction = 1, set = { y = \"" + event.reset + "\" } }]\n";
  return text + "[run]\nt = [0, 4]\n";
}

/// Corners, an edge, inside.
std::vector<Point50> members(const Box& box) {
  std::vector<Point50> list;
  for (const auto& [u, v] : std::vector<std::pair<double, double>>{
           {0, 0}, {0, 1}, {1, 0}, {1, 1}, {0.25, 1}, {0.625, 0.375}}) {
    const auto at = [](const Interval& a, double share) {
      return Digits50(a.lo) + (Digits50(a.hi) - Digits50(a.lo)) * Digits50(share);
    };
    list.push_back({at(box[0], u), at(box[1], v)});
  }
  return list;
}

bool holds(const Box& box, const Point50& p) {
  return test::holds(box[0], p[0]) && test::holds(box[1], p[1]);
}

/// Follows a box at `start` through its event and beyond it. False: the event was not proved.
/// `time_of`: when after `start` the solution through a point of (x, y) has its event.
template <class TimeOf>
bool follow(const Event& event, const Box& box, int order, const TimeOf& time_of) {
  const enclosure::ExactModel model = enclosure::read_exact_model(event.model, "random.toml");
  const enclosure::StateSpace space = enclosure::state_space(model.system, model.values);
  const enclosure::StepOptions options{
      .order = order, .share = 1, .longest = 0.0625, .excess = directed::infinity};
  enclosure::ModeFlows flows(model.system, space, options);
  const auto proved = [](const std::vector<Successor>& list) {
    return std::find_if(list.begin(), list.end(),
                        [](const Successor& next) { return next.verdict == Verdict::proved; });
  };
  enclosure::Successors at_start(flows, Interval(start), box);
  const std::vector<Successor> first = at_start.at_start(nullptr, {});
  const auto mode = proved(first);
  if (mode == first.end()) return false;
  ModeFlow& from = flows.get(mode->mode, Interval(start), box);
  const double grid = enclosure::time_grid(model.span);
  const FlowOracle before(test::make_flow({"x", "y"}, event.before)),
      after(test::make_flow({"x", "y"}, event.after)),
      reset(test::make_flow({"x", "y"}, {"0", event.reset.empty() ? "0" : event.reset}));

  const Doubleton set(box);
  // the gap of the event is the one that the window can locate
  for (int reached = 0; reached < static_cast<int>(mode->monitors.size()); ++reached) {
    EventWindow window(flows, start, set, from, mode->monitors, reached, grid);
    if (!window.locate()) continue;
    const std::vector<Successor> list = window.successors();
    const auto next = proved(list);
    if (next == list.end()) continue;
    ModeFlow& to = flows.get(next->mode, window.time(), window.states(), next->root);
    const std::optional<Doubleton> passed = window.pass(to, *next);
    if (!passed) continue;
    Doubleton later = *passed;
    const bool has_step = to.step.prepare(later, start, 4, grid);
    const double end = to.step.end();
    if (has_step) to.step.move(later);
    for (const Point50& member : members(box)) {
      const Point50 p = event.plain(member);
      const Digits50 tau = time_of(before, p);
      CHECK(test::holds(window.delta(), tau));
      Point50 at = before.flow(start, p, tau);
      CHECK(holds(window.states(), event.own(at)));
      at[0] = 0;  // which Newton's method misses by 1e-40
      if (!event.reset.empty()) at[1] = reset.rates(Digits50(start) + tau, at)[1];
      Point50 back = after.flow(Digits50(start) + tau, at, -tau);
      for (std::size_t i = 0; i < back.size(); ++i)  // what the event does not touch keeps its box, to the bit
        if (abs(back[i] - p[i]) < test::oracle_error) back[i] = p[i];
      CHECK(holds(passed->box(), event.own(back)));
      if (has_step)
        CHECK(holds(later.box(), event.own(after.flow(start, back, Digits50(end) - start))));
    }
    return true;
  }
  return false;
}

/// A box near the surface, some of them points, some so thin that only rounding shows.
Box box_before(test::RandomFields& random, const Event& event) {
  const int kind = random.whole(0, 3);
  const double radius = kind == 0 ? 0 : std::pow(10, random.in(kind == 1 ? -16 : -3, -1.7));
  const double x = -random.in(0.03, 0.06), y = random.in(-0.5, 0.5),
               thin = radius * random.in(0, 1);
  const double first = event.is_linear ? x - 2 * y + 0.1 : x;
  return {Interval(first - radius, first + radius), Interval(y - thin, y + thin)};
}

std::string rate(test::RandomFields& random, int whole) {
  return std::to_string(whole) + " + (" + random.text(3) + ")/4";
}

const auto to_surface = [](const FlowOracle& oracle, const Point50& p) {
  return oracle.time_to(start, p, 0);
};

}  // namespace

TEST_SUITE("analysis/enclosure/modes/event_oracle") {
  TEST_CASE("members cross surfaces, coordinates and linear ones, in their own time") {
    test::RandomFields random(21);
    int proved = 0;
    const int trials = 24 / test::stride_of_cases(10);
    for (int trial = 0; trial < trials; ++trial) {
      Event event;
      event.is_linear = trial % 3 == 2;
      event.before = {rate(random, 2), rate(random, 0)};
      event.after = {rate(random, 2), rate(random, 0)};
      event.model = file(event, event.before, event.after);
      CAPTURE(event.model);
      proved +=
          follow(event, box_before(random, event), trial % 4 == 3 ? 18 : 2 + trial % 4, to_surface);
    }
    CHECK(proved > 0.7 * trials);
  }

  TEST_CASE("members come to slide on surfaces, coordinates and linear ones, and stay on them") {
    test::RandomFields random(22);
    int proved = 0;
    const int trials = 24 / test::stride_of_cases(10);
    for (int trial = 0; trial < trials; ++trial) {
      Event event;
      event.is_linear = trial % 3 == 2;
      const Texts above{rate(random, -2), rate(random, 0)};
      event.before = {rate(random, 2), rate(random, 0)};
      // the convex combination with x' = 0
      const std::string f = "(" + event.before[0] + ")", g = "(" + above[0] + ")";
      event.after = {"0*x", substituted("(" + f + "*(" + above[1] + ") - " + g + "*(" +
                                            event.before[1] + "))/(" + f + " - " + g + ")",
                                        "0")};
      event.model = file(event, event.before, above);
      CAPTURE(event.model);
      proved +=
          follow(event, box_before(random, event), trial % 4 == 3 ? 18 : 2 + trial % 4, to_surface);
    }
    CHECK(proved > 0.7 * trials);
  }

  TEST_CASE("members leave the surface on which they slide, in their own time") {
    test::RandomFields random(23);
    int proved = 0;
    const int trials = 20 / test::stride_of_cases(10);
    for (int trial = 0; trial < trials; ++trial) {
      Event event;
      const std::string below = rate(random, 1), above = rate(random, 1);
      event.after = {"y - 1", above};
      event.before = {"0*x",
                      substituted("(2*(" + above + ") + (1 - y)*(" + below + "))/(3 - y)", "0")};
      event.model = file(event, {"2", below}, event.after);
      CAPTURE(event.model);
      const double radius =
          trial % 4 == 0 ? 0 : std::pow(10, random.in(trial % 4 == 1 ? -16 : -3, -2));
      const double y = 1 - random.in(0.03, 0.06);
      const FlowOracle turned(test::make_flow({"y", "x"}, {event.before[1], "0*x"}));
      proved += follow(event, {Interval(0), Interval(y - radius, y + radius)}, 2 + trial % 3,
                       [&](const FlowOracle&, const Point50& p) {
                         return turned.time_to(start, {p[1], p[0]}, 1);
                       });
    }
    CHECK(proved > 0.7 * trials);
  }

  TEST_CASE("members are reset on a surface, in their own time") {
    test::RandomFields random(24);
    int proved = 0;
    const int trials = 20 / test::stride_of_cases(10);
    for (int trial = 0; trial < trials; ++trial) {
      Event event;
      event.before = event.after = {rate(random, 2), rate(random, 0)};
      event.reset = "y/2 + (" + random.text(2) + ")/4";
      event.model = file(event, event.before, event.after);
      CAPTURE(event.model);
      proved += follow(event, box_before(random, event), 2 + trial % 3, to_surface);
    }
    CHECK(proved > 0.7 * trials);
  }
}
