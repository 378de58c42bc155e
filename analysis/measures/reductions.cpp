// Reductions of signals: integrals, extremes, single values. Those of events and modes: event_reductions.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>

#include <perp/analysis/measures/constant_expression.hpp>
#include <perp/analysis/measures/event_reductions.hpp>
#include <perp/analysis/measures/quadrature.hpp>
#include <perp/analysis/measures/reductions.hpp>
#include <perp/analysis/measures/state_formula.hpp>
#include <perp/core/base/error.hpp>
#include <perp/schemes/events/moments.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp {
namespace {

using Arguments = std::vector<std::string>;

/// The result of a number that may have become NaN where its signal has no value.
MeasureResult checked(double value, const std::string& signal) {
  if (std::isfinite(value)) return {value, {}};
  return {{}, fmt::format("{} is {} in the window", signal, std::isnan(value) ? "not a number" : "infinite")};
}

/// A sum that keeps what its additions round off (Neumaier).
class Sum {
 public:
  void add(double term) {
    const double next = sum_ + term;
    lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
    sum_ = next;
  }
  [[nodiscard]] double value() const { return sum_ + lost_; }
  void transfer(Archive& archive) { archive(sum_, lost_); }

 private:
  double sum_ = 0, lost_ = 0;
};

/// ∫ g dt, (1/T) ∫ g dt or √((1/T) ∫ g² dt) over the window of length T.
class Integral final : public Reduction {
 public:
  enum class Of { integral, mean, rms };
  Integral(const Model& model, const Arguments& arguments, Of of)
      : text_(arguments[0]), signal_(model, text_), of_(of) {}

  void course(const StepCourse& step, double a, double b) override {
    const double length = step.end - step.start;
    constexpr long most_parts = 1000;  // of a step
    const Quadrature part = integral(
        [&](double s) {
          const double g = signal_(step.at(s));
          return of_ == Of::rms ? g * g : g;
        },
        (a - step.start) / length, b == step.end ? 1 : (b - step.start) / length, std::min(most_parts, spare_parts_),
        known_.magnitude / length);
    spare_parts_ -= std::clamp(part.parts - 48, 0L, spare_parts_);  // beyond what every step has
    sum_.add(part.value * length);
    known_.error += part.error * length;
    known_.magnitude += part.magnitude * length;
  }

  MeasureResult result(const MeasuredRun& run) override {
    const double length = run.until - run.from;
    if (of_ != Of::integral && !(length > 0)) return {{}, "the window has no length"};
    if (!known_.is_resolved())
      return {{}, fmt::format("{} changes faster than the steps show: its integral is known to {:.1g} of that of its size; "
                              "take shorter steps", text_, known_.error / known_.magnitude)};
    const double mean = of_ == Of::integral ? sum_.value() : sum_.value() / length;
    return checked(of_ == Of::rms ? std::sqrt(mean) : mean, text_);
  }
  void transfer(Archive& archive) override { archive(sum_, known_.error, known_.magnitude, spare_parts_); }

 private:
  std::string text_;
  StateFormula signal_;
  Of of_;
  Sum sum_;
  Quadrature known_;  // errors and sizes of all parts
  long spare_parts_ = 300'000;  // of the run, for signals that steps do not show
};

/// The least and the largest value, between rows too, on both sides of a jump.
class Extreme final : public Reduction {
 public:
  enum class Of { min, max, ptp };
  Extreme(const Model& model, const Arguments& arguments, Of of)
      : text_(arguments[0]), signal_(model, text_), of_(of) {}

  void course(const StepCourse& step, double a, double b) override {
    const double length = step.end - step.start;
    const double from = (a - step.start) / length, to = b == step.end ? 1 : (b - step.start) / length;
    if (std::isnan(least_) || std::isnan(largest_)) return;  // the signal has no value somewhere
    if (of_ != Of::max)
      least_ = -largest([&](double s) { return -signal_(step.at(s)); }, from, to, -least_);
    if (of_ != Of::min) largest_ = largest([&](double s) { return signal_(step.at(s)); }, from, to, largest_);
  }

  void row(const Step& state) override {
    const double value = signal_(state);
    least_ = std::min(least_, value);
    largest_ = std::max(largest_, value);
  }

  MeasureResult result(const MeasuredRun&) override {
    if (least_ == inf && largest_ == -inf) return {{}, text_ + " has no value in the window"};
    return checked(of_ == Of::min ? least_ : of_ == Of::max ? largest_ : largest_ - least_, text_);
  }
  void transfer(Archive& archive) override { archive(least_, largest_); }

 private:
  std::string text_;
  StateFormula signal_;
  Of of_;
  double least_ = inf, largest_ = -inf;
};

/// The value in the last state: the last row, or where nobody takes rows the end of the run, which is kept.
class End final : public Reduction {
 public:
  End(const Model& model, const Arguments& arguments) : text_(arguments[0]), signal_(model, text_) {}
  void row(const Step& state) override { last_ = state; }
  [[nodiscard]] bool needs_steps() const override { return false; }
  MeasureResult result(const MeasuredRun& run) override {
    const Trajectory& all = run.run;
    if (last_.x.size() == 0 && !all.t.empty())
      last_ = {all.t.back(), all.x.back(), all.lambda.back(), all.w.back(), all.mode.back()};
    return checked(signal_(last_), text_);
  }
  void transfer(Archive& archive) override { archive(last_); }

 private:
  std::string text_;
  StateFormula signal_;
  Step last_;
};

/// The value at a time; at an event the one behind it.
class ValueAt final : public Reduction {
 public:
  ValueAt(const Model& model, const Arguments& arguments)
      : text_(arguments[0]), signal_(model, text_), t_(constant_expression(model, arguments[1])) {
    if (!(t_ >= model.run.span.start && t_ <= model.run.span.end))
      throw InvalidInput(fmt::format("t = {} is outside of the run's span [{}, {}]", t_,
                                     model.run.span.start, model.run.span.end));
  }
  void course(const StepCourse& step, double a, double b) override {
    const bool is_before = t_ < a && !are_one_moment(t_, a);
    if (is_known_ || is_before || t_ >= b || are_one_moment(t_, b)) return;  // at b the next course tells, or the last row
    is_known_ = true;
    value_ = signal_(step.at(place_in(step.start, step.end, t_)));
  }
  MeasureResult result(const MeasuredRun& run) override {
    const Trajectory& all = run.run;
    if (!is_known_ && t_ >= run.from && !all.t.empty() && (t_ <= all.t.back() || are_one_moment(t_, all.t.back())))
      return checked(signal_({all.t.back(), all.x.back(), all.lambda.back(), all.w.back(), all.mode.back()}), text_);
    if (!is_known_)
      return {{}, fmt::format("t = {:.10g} is outside of the window [{:.10g}, {:.10g}]", t_, run.from, run.until)};
    return checked(value_, text_);
  }
  void transfer(Archive& archive) override { archive(is_known_, value_); }

 private:
  std::string text_;
  StateFormula signal_;
  double t_;
  bool is_known_ = false;
  double value_ = nan;
};

template <class Made, auto Of>
std::unique_ptr<Reduction> make(const Model& model, const Arguments& arguments) {
  return std::make_unique<Made>(model, arguments, Of);
}

std::unique_ptr<Reduction> make_value(const Model& model, const Arguments& arguments) {
  if (arguments.size() == 2) return std::make_unique<ValueAt>(model, arguments);
  return value_at_event(model, arguments, false);
}

}  // namespace

const std::vector<ReductionForm>& reduction_forms() {
  static const std::vector<ReductionForm> forms{
      {"after", "x, EVENT, k", 3, 3, "x after the k-th event",
       [](const Model& model, const Arguments& arguments) { return value_at_event(model, arguments, true); }},
      {"count", "EVENT", 1, 1, "number of events", count_of_events},
      {"duration", "MODE", 1, 1, "time in a mode: LAW:BRANCH or sliding", duration_of_mode},
      {"end", "x", 1, 1, "value in the last state",
       [](const Model& model, const Arguments& arguments) -> std::unique_ptr<Reduction> {
         return std::make_unique<End>(model, arguments);
       }},
      {"integral", "x", 1, 1, "integral over time", make<Integral, Integral::Of::integral>},
      {"max", "x", 1, 1, "largest value", make<Extreme, Extreme::Of::max>},
      {"mean", "x", 1, 1, "integral over time divided by its length", make<Integral, Integral::Of::mean>},
      {"min", "x", 1, 1, "least value", make<Extreme, Extreme::Of::min>},
      {"period", "EVENT", 1, 1, "mean time until it happens again, to the same branch, by the same reset", period_of_events},
      {"ptp", "x", 1, 1, "largest less least value", make<Extreme, Extreme::Of::ptp>},
      {"rms", "x", 1, 1, "root of the mean square", make<Integral, Integral::Of::rms>},
      {"t", "EVENT, k", 2, 2, "time of the k-th event, -1: the last", time_of_event},
      {"value", "x, t or x, EVENT, k", 2, 3, "x at a time, at an event behind it; or before the k-th event", make_value}};
  return forms;
}

}  // namespace perp
