#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <perp/analysis/measures/constant_expression.hpp>
#include <perp/analysis/measures/event_choice.hpp>
#include <perp/analysis/sweep/passages.hpp>
#include <perp/analysis/sweep/section.hpp>
#include <perp/core/base/error.hpp>
#include <perp/schemes/events/moments.hpp>

namespace perp {
namespace {

std::vector<SectionPoint> since(const std::vector<SectionPoint>& all, double from) {
  std::vector<SectionPoint> list;
  std::ranges::copy_if(all, std::back_inserter(list), [&](const SectionPoint& point) { return point.t >= from; });
  return list;
}

/// The last row, which may be behind an event that no course follows.
Step last_of(const Trajectory& run) {
  return {run.t.back(), run.x.back(), run.lambda.back(), run.w.back(), run.mode.back()};
}

/// t0 + k T, k = 1, 2, ...; at an event the state behind it, with which the next course begins.
class Stroboscope final : public Section {
 public:
  Stroboscope(const Model& model, const std::string& period)
      : start_(model.run.span.start), end_(model.run.span.end), period_(constant_expression(model, period)) {
    const Span span = model.run.span;
    if (!(period_ > 0) || (span.end - span.start) / period_ > 1e9)
      throw InvalidInput(fmt::format("'every:{}' is every {}; expected a time > 0", period, period_));
  }
  void course(const StepCourse& step) override {
    for (double t = time(); t < step.end && !are_one_moment(t, step.end); t = time()) {
      kept_.push_back({t, step.at(place_in(step.start, step.end, t)).x});
      ++k_;
    }
  }
  std::vector<SectionPoint> points(const Trajectory& run, double from) override {
    if (!run.t.empty())
      for (; time() <= run.t.back() || are_one_moment(time(), run.t.back()); ++k_) kept_.push_back({time(), run.x.back()});
    return since(kept_, from);
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
  std::vector<SectionPoint> kept_;
};

/// Where formula - value passes 0 in one direction.
class AtPassages final : public Section {
 public:
  AtPassages(const Model& model, const std::string& formula, const std::string& value, int direction)
      : passages_(model, formula, constant_expression(model, value), direction) {}
  void course(const StepCourse& step) override { passages_.course(step); }
  std::vector<SectionPoint> points(const Trajectory& run, double from) override {
    if (!run.t.empty()) passages_.finish(last_of(run));
    return since(passages_.points(), from);
  }

 private:
  Passages passages_;
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
      return std::make_unique<AtPassages>(model, text.substr(0, equals), text.substr(equals + 1, colon - equals - 1),
                                          way == "up" ? 1 : -1);
    }
    return std::make_unique<AtEvents>(EventChoice(model, text));
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("section '{}': {}; expected every:T, an event, or FORMULA=VALUE:up|down", text,
                                   error.what()));
  }
}

}  // namespace perp
