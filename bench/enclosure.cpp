// Enclosures: an operation, a function, a step and a run, beside the same in plain doubles.
#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/analysis/enclosure/modes/successor.hpp>
#include <perp/analysis/enclosure/times.hpp>
#include <perp/bench/measure.hpp>

namespace perp::bench {
namespace {

using enclosure::Box;
using enclosure::Doubleton;
using enclosure::ExactModel;
using enclosure::Flow;
using enclosure::Interval;
using enclosure::SeriesInput;

constexpr int count = 1024;

std::vector<double> numbers(double least, double most) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> number(least, most);
  std::vector<double> list(count);
  for (double& x : list) x = number(random);
  return list;
}

/// Points; of most operations the result is not one.
std::vector<Interval> intervals(const std::vector<double>& list) {
  std::vector<Interval> all;
  for (const double x : list) all.emplace_back(x, x + std::abs(x) * 0x1p-40);
  return all;
}

/// s ← a b + s, each product in a sum of its own.
void interval_multiply_add(benchmark::State& state) {
  const std::vector<double> x = numbers(-2, 2), y = numbers(-1, 3);
  const std::vector<Interval> a = intervals(x), b = intervals(y);
  std::vector<Interval> s(count);
  std::vector<double> plain(count);
  const double floor = ns_per_unit(count * 64L, [&] {
    for (int round = 0; round < 64; ++round) {
      for (std::size_t k = 0; k < count; ++k) plain[k] += x[k] * y[k];
      benchmark::DoNotOptimize(plain.data());
      benchmark::ClobberMemory();
    }
  });
  const Meter meter;
  for (auto _ : state) {
    for (std::size_t k = 0; k < count; ++k) s[k] += a[k] * b[k];
    benchmark::DoNotOptimize(s.data());
    benchmark::ClobberMemory();
  }
  meter.report(state, count, floor);
}
BENCHMARK(interval_multiply_add);

using Function = Interval (*)(const Interval&);
using Plain = double (*)(double);

void interval_function(benchmark::State& state, Function function, Plain of_double, double least,
                       double most, bool points) {
  const std::vector<double> x = numbers(least, most);
  std::vector<Interval> a = intervals(x);
  if (points)
    for (std::size_t k = 0; k < count; ++k) a[k] = Interval(x[k]);
  const double floor = ns_per_unit(count * 8L, [&] {
    for (int round = 0; round < 8; ++round)
      for (const double value : x) benchmark::DoNotOptimize(of_double(value));
  });
  const Meter meter;
  for (auto _ : state)
    for (const Interval& value : a) benchmark::DoNotOptimize(function(value));
  meter.report(state, count, floor);
}
BENCHMARK_CAPTURE(interval_function, sin, enclosure::sin, std::sin, -20, 20, false);
BENCHMARK_CAPTURE(interval_function, sin_of_points, enclosure::sin, std::sin, -20, 20, true);
BENCHMARK_CAPTURE(interval_function, exp, enclosure::exp, std::exp, -20, 20, false);
BENCHMARK_CAPTURE(interval_function, exp_of_points, enclosure::exp, std::exp, -20, 20, true);
BENCHMARK_CAPTURE(interval_function, log, enclosure::log, std::log, 0.01, 20, false);

/// Coefficients of one solution in plain doubles by the same recurrences, of what the flows below
/// hold.
class PlainSeries {
 public:
  PlainSeries(const Flow& flow, int order) : flow_(flow), order_(order) {
    const std::vector<bool> needed = needed_lines(flow.tape, flow.rates);
    for (int k = 0; k < flow.tape.size(); ++k)
      if (needed[static_cast<std::size_t>(k)]) lines_.push_back(k);
    values_.resize(static_cast<std::size_t>(flow.tape.size() * stride()));
    partners_.resize(values_.size());
    states_.resize(flow.rates.size() * static_cast<std::size_t>(stride()));
  }

  const std::vector<double>& compute(double t, const std::vector<double>& x) {
    t_ = t;
    for (int j = 0; j < flow_.states(); ++j) state(j, 0) = x[static_cast<std::size_t>(j)];
    for (int k = 0; k < order_; ++k) {
      for (const int line : lines_) evaluate(line, k);
      for (int j = 0; j < flow_.states(); ++j)
        state(j, k + 1) = at(flow_.rates[static_cast<std::size_t>(j)], k) / (k + 1);
    }
    return states_;
  }

 private:
  [[nodiscard]] int stride() const { return order_ + 1; }
  double& at(int line, int k) { return values_[static_cast<std::size_t>(line * stride() + k)]; }
  double& partner(int line, int k) {
    return partners_[static_cast<std::size_t>(line * stride() + k)];
  }
  double& state(int j, int k) { return states_[static_cast<std::size_t>(j * stride() + k)]; }

  double input(const SeriesInput& input, int k) {
    switch (input.kind) {
      case SeriesInput::Kind::time: return k == 0 ? t_ : (k == 1 ? 1 : 0);
      case SeriesInput::Kind::state: return state(input.state, k);
      default: return k == 0 ? middle(input.value) : 0;
    }
  }

  /// s = sin a, c = cos a by  k s_k = Σ l a_l c_{k−l},  k c_k = −Σ l a_l s_{k−l}; s in `sine`.
  void evaluate_pair(int a, int k, double& sine, double& cosine, int line, bool is_sine) {
    if (k == 0) {
      sine = std::sin(at(a, 0));
      cosine = std::cos(at(a, 0));
      return;
    }
    double s = 0, c = 0;
    for (int l = 1; l <= k; ++l) {
      const double slope = l * at(a, l);
      s += slope * (is_sine ? partner(line, k - l) : at(line, k - l));
      c -= slope * (is_sine ? at(line, k - l) : partner(line, k - l));
    }
    sine = s / k;
    cosine = c / k;
  }

  void evaluate(int line, int k) {
    const Instruction here = flow_.tape[line];
    double& y = at(line, k);
    switch (here.operation) {
      case Operation::constant: y = k == 0 ? here.value : 0; return;
      case Operation::pi: y = k == 0 ? M_PI : 0; return;
      case Operation::input: y = input(flow_.inputs[static_cast<std::size_t>(here.a)], k); return;
      case Operation::negate: y = -at(here.a, k); return;
      case Operation::add: y = at(here.a, k) + at(here.b, k); return;
      case Operation::subtract: y = at(here.a, k) - at(here.b, k); return;
      case Operation::multiply:
        y = 0;
        for (int l = 0; l <= k; ++l) y += at(here.a, l) * at(here.b, k - l);
        return;
      case Operation::divide: {
        double sum = at(here.a, k);
        for (int l = 1; l <= k; ++l) sum -= at(here.b, l) * at(line, k - l);
        y = sum / at(here.b, 0);
        return;
      }
      case Operation::sin: return evaluate_pair(here.a, k, y, partner(line, k), line, true);
      case Operation::cos: return evaluate_pair(here.a, k, partner(line, k), y, line, false);
      default: throw std::logic_error("no recurrence for an operation of this flow");
    }
  }

  const Flow& flow_;
  int order_;
  double t_ = 0;
  std::vector<int> lines_;
  std::vector<double> values_, partners_, states_;
};

constexpr const char* tacoma = R"toml(
[parameters]
m = 1
k_up = 4
k_down = 1
omega = 4
[variables]
x1 = 0
x2 = 1
[model]
equations = [
  "der(x1) = x2",
  "m*der(x2) = sin(omega*t) - if(x1 > 0, k_up*x1, k_down*x1)",
]
[run]
t = [0, 47.5]
)toml";

constexpr const char* dry_friction = R"toml(
[parameters]
c = 0.2
A = 2
w = 1
mu = 4
[variables]
x1 = 3
x2 = 4
[model]
equations = ["der(x1) = x2", "der(x2) = -c*x2 - x1 + A*cos(w*pi*t) - mu*sign(x2)"]
[run]
t = [0, 20]
)toml";

constexpr const char* water_level = R"toml(
[parameters]
lo = 3
hi = 7
gain = 0.5
[variables]
x1 = 5
x2 = 1.1
[model]
equations = ["der(x1) = x2", "der(x2) = gain*if(x1 < lo, 1, if(x1 > hi, -1, 0))"]
[run]
t = [0, 100]
)toml";

/// Intervals as parameters are states too: six of them, most derivatives are 0.
constexpr const char* hysteresis = R"toml(
[parameters]
m = "[1.1, 1.11]"
Fs = "[0.08, 0.09]"
kappa_x = 0.001
kappa_w = 0.001
rho = 0.001
sigma = 0.001
mu = 0.001
[variables]
x1 = 0
x2 = 0.5
x3 = -0.001
[model]
equations = [
  "der(x1) = x2",
  "m*der(x2) = 2*sin(3*t) - kappa_x*x1 - kappa_w*x3 - Fs*sign(x2) - mu*x2",
  "der(x3) = rho*(x2 - sigma*abs(x2)*x3 + (sigma - 1)*x2*abs(x3))",
]
[run]
t = [0, 10]
)toml";

constexpr const char* lorenz = R"toml(
[parameters]
sigma = 10
rho = 28
beta = "8/3"
[variables]
x1 = 15
x2 = 15
x3 = 36
[model]
equations = ["der(x1) = sigma*(x2 - x1)", "der(x2) = x1*(rho - x3) - x2", "der(x3) = x1*x2 - beta*x3"]
[run]
t = [0, 5]
)toml";

/// A proved step from the start beside the coefficients of one solution in doubles, both of order 18.
void enclosure_step(benchmark::State& state, const char* text) {
  const ExactModel model = enclosure::read_exact_model(text, "bench.toml");
  const enclosure::StateSpace space = enclosure::state_space(model.system, model.values);
  const enclosure::StepOptions options;
  enclosure::ModeFlows flows(model.system, space, options);
  Box start = model.start;  // variables, and parameters that are intervals
  for (const int k : space.parameters) start.push_back(space.values[static_cast<std::size_t>(k)]);
  enclosure::Successors successors(flows, Interval(0), start);
  const auto list = successors.at_start(nullptr, {});
  const auto first = std::find_if(list.begin(), list.end(), [](const auto& next) {
    return next.verdict == enclosure::Verdict::proved;
  });
  if (first == list.end()) return state.SkipWithError("no mode was proved");
  enclosure::ModeFlow& flow = flows.get(first->mode, Interval(0), start);
  const double grid = enclosure::time_grid(model.span);
  const std::vector<double> x0 = enclosure::middle(start);
  PlainSeries plain(flow.system.flow, options.order);
  const double floor = ns_per_unit(200, [&] {
    for (int k = 0; k < 200; ++k) benchmark::DoNotOptimize(plain.compute(0, x0).data());
  });
  const auto step = [&] {
    Doubleton set(start);
    if (!flow.step.prepare(set, 0, model.span.end, grid)) return false;
    flow.step.move(set);
    benchmark::DoNotOptimize(set.box().data());
    return true;
  };
  for (int k = 0; k < 3; ++k)
    if (!step()) return state.SkipWithError("a step was not proved");
  const Meter meter;
  for (auto _ : state)
    if (!step()) return state.SkipWithError("a step was not proved");
  meter.report(state, 1, floor);
}
BENCHMARK_CAPTURE(enclosure_step, tacoma, tacoma);
BENCHMARK_CAPTURE(enclosure_step, dry_friction, dry_friction);
BENCHMARK_CAPTURE(enclosure_step, hysteresis, hysteresis);
BENCHMARK_CAPTURE(enclosure_step, lorenz, lorenz);

/// A whole run of a point to the end of its span.
void enclosure_run(benchmark::State& state, const char* text) {
  const ExactModel model = enclosure::read_exact_model(text, "bench.toml");
  std::size_t events = 0;
  int steps = 0;
  const double start = cpu_ns();
  for (auto _ : state) {
    const enclosure::Enclosure result = model.enclose({});
    if (result.lost) return state.SkipWithError("the proof ended before the span");
    events = result.events.size();
    steps = result.steps;
  }
  const double seconds = (cpu_ns() - start) / 1e9 / static_cast<double>(state.iterations());
  state.counters["ms"] = 1e3 * seconds;
  state.counters["steps"] = steps;
  state.counters["events"] = static_cast<double>(events);
  state.counters["events_per_second"] = static_cast<double>(events) / seconds;
}
BENCHMARK_CAPTURE(enclosure_run, tacoma, tacoma)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(enclosure_run, dry_friction, dry_friction)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(enclosure_run, water_level, water_level)->Unit(benchmark::kMillisecond);

/// A box in some 130 pieces, on one thread and on two: wall clock time.
void enclosure_pieces(benchmark::State& state) {
  std::string text = water_level;
  text.replace(text.find("x2 = 1.1"), 8, "x2 = \"[1, 1.2]\"");
  const ExactModel model = enclosure::read_exact_model(text, "bench.toml");
  enclosure::EncloseOptions options;
  options.threads = static_cast<int>(state.range(0));
  int pieces = 0;
  for (auto _ : state) {
    const enclosure::Enclosure result = model.enclose(options);
    if (result.lost) return state.SkipWithError("the proof ended before the span");
    pieces = result.pieces;
  }
  state.counters["pieces"] = pieces;
}
BENCHMARK(enclosure_pieces)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace perp::bench
