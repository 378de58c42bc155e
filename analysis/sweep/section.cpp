#include <fmt/format.h>
#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>

#include <perp/analysis/measures/constant_expression.hpp>
#include <perp/analysis/measures/event_choice.hpp>
#include <perp/analysis/measures/state_formula.hpp>
#include <perp/analysis/sweep/section.hpp>
#include <perp/core/base/error.hpp>

namespace perp {
namespace {

/// What was kept while the run went on.
class CourseSection : public Section {
 public:
  std::vector<SectionPoint> points(const Trajectory& /*run*/, double from) override {
    std::vector<SectionPoint> list;
    for (const SectionPoint& point : kept_)
      if (point.t >= from) list.push_back(point);
    return list;
  }

 protected:
  void keep(const StepCourse& step, double s) {
    const Step state = step.at(s);
    kept_.push_back({step.start + s * (step.end - step.start), state.x});
  }

 private:
  std::vector<SectionPoint> kept_;
};

/// t0 + k T, k = 1, 2, ...
class Stroboscope final : public CourseSection {
 public:
  Stroboscope(const Model& model, const std::string& period)
      : start_(model.run.span.start), end_(model.run.span.end), period_(constant_expression(model, period)) {
    const Span span = model.run.span;
    if (!(period_ > 0) || (span.end - span.start) / period_ > 1e9)
      throw InvalidInput(fmt::format("'every:{}' is every {}; expected a time > 0", period, period_));
  }
  void course(const StepCourse& step) override {
    for (;; ++k_) {
      const double t = time();
      if (t > step.end) return;
      keep(step, t == step.end ? 1 : (t - step.start) / (step.end - step.start));
    }
  }

 private:
  /// The end of the span where only the rounding of T, of k T and of the sum lies between them.
  [[nodiscard]] double time() const {
    const double way = static_cast<double>(k_) * period_, t = start_ + way;
    const double rounding = std::numeric_limits<double>::epsilon() * (std::abs(way) + std::abs(start_) + std::abs(end_));
    return std::abs(t - end_) <= rounding ? end_ : t;
  }

  double start_, end_, period_;
  long k_ = 1;
};

/// Where formula − value passes 0 in one direction.
class Passage final : public CourseSection {
 public:
  Passage(const Model& model, const std::string& formula, const std::string& value, int direction)
      : formula_(model, formula), value_(constant_expression(model, value)), direction_(direction) {}
  void course(const StepCourse& step) override {
    constexpr int parts = 8;  // of a step: what passes twice within one is not seen
    const auto gap = [&](double s) { return direction_ * (formula_(step.at(s)) - value_); };
    double before = gap(0);
    for (int k = 1; k <= parts; ++k) {
      const double from = static_cast<double>(k - 1) / parts, to = static_cast<double>(k) / parts;
      const double after = gap(to);
      if (before < 0 && after >= 0) keep_once(step, after == 0 ? to : root(gap, from, to, before, after));
      before = after;
    }
  }

 private:
  /// Rounding on both sides of an event is one passage.
  void keep_once(const StepCourse& step, double s) {
    const double t = step.start + s * (step.end - step.start);
    if (t - last_ <= 8 * std::numeric_limits<double>::epsilon() * std::abs(t)) return;
    last_ = t;
    keep(step, s);
  }

  static double root(const std::function<double(double)>& gap, double from, double to, double before, double after) {
    std::uintmax_t most = 100;
    const auto bracket = boost::math::tools::toms748_solve(
        gap, from, to, before, after, boost::math::tools::eps_tolerance<double>(50), most);
    return bracket.second;
  }

  StateFormula formula_;
  double value_;
  int direction_;
  double last_ = -inf;
};

class AtEvents final : public Section {
 public:
  explicit AtEvents(EventChoice choice) : choice_(std::move(choice)) {}
  std::vector<SectionPoint> points(const Trajectory& run, double from) override {
    std::vector<SectionPoint> list;
    for (const Event& event : run.events)
      if (event.t >= from && choice_.holds(event) && event.x_before.size() > 0) list.push_back({event.t, event.x_before});
    return list;
  }

 private:
  EventChoice choice_;
};

}  // namespace

namespace {

/// Is it a formula and its value, and no event, whose branches and comparisons may hold = too?
bool is_passage(const std::string& text, std::size_t equals) {
  const bool has_value = equals != std::string::npos && equals > 0 && text.find("->") == std::string::npos;
  return has_value && text[equals - 1] != '<' && text[equals - 1] != '>';
}

}  // namespace

std::unique_ptr<Section> Section::read(const Model& model, const std::string& text) {
  try {
    if (text.starts_with("every:")) return std::make_unique<Stroboscope>(model, text.substr(6));
    const std::size_t equals = text.find('='), colon = text.rfind(':');
    const std::string way = colon == std::string::npos ? "" : text.substr(colon + 1);
    if (is_passage(text, equals)) {
      if (way != "up" && way != "down") throw InvalidInput(fmt::format("'{}' is no direction", way));
      return std::make_unique<Passage>(model, text.substr(0, equals), text.substr(equals + 1, colon - equals - 1),
                                       way == "up" ? 1 : -1);
    }
    return std::make_unique<AtEvents>(EventChoice(model, text));
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("section '{}': {}; expected every:T, an event, or FORMULA=VALUE:up|down", text,
                                   error.what()));
  }
}

}  // namespace perp
