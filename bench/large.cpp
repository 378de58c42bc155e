// Models with many binaries: rows and Jacobian, one changed binary, the choice in a sub-problem, runs; each
// beside the loop that one writes by hand.
#include <fmt/format.h>
#include <bit>
#include <cmath>
#include <vector>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/bench/measure.hpp>
#include <perp/bench/rooms.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/tape/cone_tape.hpp>
#include <perp/models/language/hybrid/constraint_system.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/read_model.hpp>

namespace perp::bench {
namespace {

double low_end(int i) { return 19 + 0.01 * (3 * i % 7); }
double high_end(int i) { return 20 + 0.01 * (3 * i % 7 + 2 * i % 5); }
double start(int i) { return 19.3 + 0.0041 * (37 * i % 101); }
bool is_on(int i) { return i % 3 == 0; }

/// The rows and derivatives of the chain as a loop.
struct Chain {
  explicit Chain(int size) : n(size), x(at(size)), rate(at(size)), z(at(size)), f(at(size)), g(at(size)) {
    for (int i = 0; i < n; ++i) x[at(i)] = start(i), z[at(i)] = is_on(i) ? 1 : 0;
    J.resize(10 * at(n));
  }
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  double row(int i) const {
    double flow = 0;
    if (i > 0) flow += x[at(i - 1)] - x[at(i)];
    if (i + 1 < n) flow += x[at(i + 1)] - x[at(i)];
    return rate[at(i)] - (-0.1 * (x[at(i)] - 5) + 0.2 * flow +
                          4 * z[at(i)] * (i + 1 < n ? 1 - 0.3 * z[at(i + 1)] : 1));
  }
  double bound(int i) const {
    return (low_end_[at(i)] - x[at(i)]) * (1 - z[at(i)]) + (x[at(i)] - high_end_[at(i)]) * z[at(i)];
  }
  void linearize() {
    double* entry = J.data();
    for (int i = 0; i < n; ++i) {
      f[at(i)] = row(i);
      *entry++ = 1;
      if (i > 0) *entry++ = -0.2;
      *entry++ = 0.1 + 0.2 * ((i > 0 ? 1 : 0) + (i + 1 < n ? 1 : 0));
      if (i + 1 < n) *entry++ = -0.2;
      *entry++ = -4 * (i + 1 < n ? 1 - 0.3 * z[at(i + 1)] : 1);
      if (i + 1 < n) *entry++ = 4 * 0.3 * z[at(i)];
      g[at(i)] = bound(i);
      *entry++ = z[at(i)] - (1 - z[at(i)]);
      *entry++ = x[at(i)] - high_end_[at(i)] - (low_end_[at(i)] - x[at(i)]);
    }
  }
  void set_ends() {
    for (int i = 0; i < n; ++i) low_end_.push_back(low_end(i)), high_end_.push_back(high_end(i));
  }

  int n;
  std::vector<double> x, rate, z, f, g, J, low_end_, high_end_;
};

HybridModel hybrid_rooms(int n) { return *read_hybrid_model_text(rooms(n), "rooms.toml"); }

void hybrid_rows(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  DcsEvaluator evaluator(constraint_system(hybrid_rooms(n)));
  std::vector<double> z(Chain::at(evaluator.inputs()), 0), rows(Chain::at(evaluator.n() + evaluator.m())),
      derivatives(evaluator.entries().size());
  Chain chain(n);
  chain.set_ends();
  for (int i = 0; i < n; ++i) {
    z[Chain::at(1 + n + i)] = chain.x[Chain::at(i)];
    z[Chain::at(1 + 2 * n + i)] = chain.z[Chain::at(i)];
  }
  evaluator.linearize(z.data(), rows.data(), derivatives.data());
  chain.linearize();
  for (int i = 0; i < n; ++i)
    if (!(std::abs(rows[Chain::at(i)] - chain.f[Chain::at(i)]) < 1e-12) ||
        !(std::abs(rows[Chain::at(2 * n + i)] - chain.g[Chain::at(i)]) < 1e-12))
      return state.SkipWithError("the rows are wrong");
  constexpr long calls = 1000;
  const double floor = ns_per_unit(calls, [&] {
    for (long k = 0; k < calls; ++k) {
      chain.x[0] += 1e-9;
      chain.linearize();
      benchmark::DoNotOptimize(chain.J.data());
    }
  });
  const Meter meter;
  for (auto _ : state)
    for (long k = 0; k < calls; ++k) {
      z[Chain::at(1 + n)] += 1e-9;
      evaluator.linearize(z.data(), rows.data(), derivatives.data());
      benchmark::DoNotOptimize(derivatives.data());
    }
  meter.report(state, calls, floor);
}

/// One binary changes: the rows that hold it.
void hybrid_flip(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  const HybridModel model = hybrid_rooms(n);
  std::vector<int> rows;
  const Tape closed = model.closed(rows);
  ConeTape cones(closed, rows);
  Chain chain(n);
  chain.set_ends();
  std::vector<double> inputs(Chain::at(model.parameter_input(0)), 0);
  for (int i = 0; i < n; ++i) {
    inputs[Chain::at(model.variable_input(i))] = chain.x[Chain::at(i)];
    inputs[Chain::at(model.binary_input(i))] = chain.z[Chain::at(i)];
  }
  std::vector<double> values(rows.size());
  const auto evaluate = [&](int row) { values[Chain::at(row)] = cones.value(row, inputs); };
  for (int row = 0; row < 2 * n; ++row) evaluate(row);  // all cones are known afterwards
  constexpr long calls = 100000;
  unsigned place = 1;
  const auto next = [&] { return static_cast<int>((place = place * 1664525u + 1013904223u) >> 8) % n; };
  const double floor = ns_per_unit(calls, [&] {
    for (long k = 0; k < calls; ++k) {
      const int i = next();
      chain.z[Chain::at(i)] = 1 - chain.z[Chain::at(i)];
      chain.f[Chain::at(i)] = chain.row(i);
      if (i > 0) chain.f[Chain::at(i - 1)] = chain.row(i - 1);
      chain.g[Chain::at(i)] = chain.bound(i);
      benchmark::DoNotOptimize(chain.f.data());
    }
  });
  const Meter meter;
  for (auto _ : state)
    for (long k = 0; k < calls; ++k) {
      const int i = next();
      double& z = inputs[Chain::at(model.binary_input(i))];
      z = 1 - z;
      evaluate(i);
      if (i > 0) evaluate(i - 1);
      evaluate(n + i);
    }
  meter.report(state, calls, floor);
  for (int i = 0; i < n; ++i) chain.z[Chain::at(i)] = inputs[Chain::at(model.binary_input(i))];
  chain.linearize();
  for (int i = 0; i < n; ++i)
    if (!(std::abs(values[Chain::at(i)]) < 1e300 && std::abs(values[Chain::at(i)] - chain.f[Chain::at(i)]) < 1e-12))
      return state.SkipWithError("the rows are wrong");
}

/// k heaters on a ring, of two neighbours one is on below a temperature of their own: the choice in one sub-problem.
void hybrid_choice(benchmark::State& state) {
  const int k = static_cast<int>(state.range(0));
  std::string binaries, constraints, heat;
  for (int i = 0; i < k; ++i) {
    binaries += fmt::format("z{} = 0\n", i);
    heat += fmt::format(" + {}*z{}", 4 + i, i);
    constraints += fmt::format("\"(19 + {}/100 - x)*(1 - z{})*(1 - z{}) <= 0\",\n", 7 * i % k, i, (i + 1) % k);
  }
  const std::string text = fmt::format(
      "[variables]\nx = 19\n[binaries]\n{}[model]\nequations = [\"der(x) = -0.1*(x - 5){}\"]\n"
      "constraints = [\n{}]\n[run]\nt = [0, 1]\n",
      binaries, heat, constraints);
  HybridModes modes(*read_hybrid_model_text(text, "ring.toml"));
  const Vector x = Vector::Constant(1, 19.005 + 0.01 * (k - 4));  // three are below theirs
  const std::vector<double> previous(Chain::at(k), 0);
  const auto choose = [&] { return modes.continuations(0, x, previous, {.nearest_alone = true}); };
  if (choose().status != Status::solved) return state.SkipWithError("no mode was chosen");
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(choose());
  state.counters["ms"] = 1e-6 * meter.report(state, 1);
}

/// All values judged, those that continue counted; `floor` does by hand what gives their number.
template <class Floor>
void values_of_all(benchmark::State& state, HybridModes& modes, int k, long wanted, const Floor& floor, int states,
                   double x) {
  const std::vector<double> previous(Chain::at(k), 0);
  const Vector at_x = Vector::Constant(states, x);
  const auto judge = [&] { return modes.continuations(0, at_x, previous); };
  if (judge().count != wanted) return state.SkipWithError("the number of values that continue is wrong");
  const double by_hand = ns_per_unit(1, floor);
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(judge());
  state.counters["ms"] = 1e-6 * meter.report(state, 1, by_hand);
  state.counters["ms_by_hand"] = 1e-6 * by_hand;
}

/// All 2^k values of the heaters of one room: at 19 degrees one has to be on, as it becomes colder without; at 21 none may
/// be, as it becomes hotter with each, which the rates alone tell.
/// By hand: in Gray code order, what the changed heater has in the rate and the number that is on.
void hybrid_heaters(benchmark::State& state, double x) {
  const int k = static_cast<int>(state.range(0));
  std::string binaries, heat, off = "1", pairs;
  for (int i = 0; i < k; ++i) {
    binaries += fmt::format("z{} = 0\n", i);
    heat += fmt::format(" + {}*z{}", 4 + i, i);
    off += fmt::format("*(1 - z{})", i);
    if (i > 0) pairs += fmt::format(", \"(0 - x)*z{}*z{} <= 0\"", i - 1, i);
  }
  HybridModes modes(*read_hybrid_model_text(
      fmt::format("[variables]\nx = 19\n[binaries]\n{0}[model]\nequations = [\"der(x) = -0.1*(x - 5){1}\"]\n"
                  "constraints = [\"(19 - x)*{2} <= 0\", \"(x - 21)*(1 - {2}) <= 0\"{3}]\n[run]\nt = [0, 1]\n",
                  binaries, heat, off, pairs),
      "heaters.toml"));
  const auto by_hand = [k, x] {
    double rate = -0.1 * (x - 5), least = 1e300;
    long on = 0, count = 0;
    for (unsigned long step = 0; step < 1UL << k; ++step) {
      if (step > 0) {
        const int i = std::countr_zero(step);
        const bool is_on = (((step ^ (step >> 1)) >> i) & 1) != 0;
        rate += is_on ? 4 + i : -4 - i;
        on += is_on ? 1 : -1;
      }
      const double low = (19 - x) * (on == 0 ? 1 : 0), high = (x - 21) * (on == 0 ? 0 : 1);
      const bool is_low = low > 0 || (on == 0 && low == 0 && rate < 0), is_high = high > 0 || (on > 0 && high == 0 && rate > 0);
      if (is_low || is_high) continue;
      ++count;
      if (rate * rate < least) least = rate * rate;
    }
    benchmark::DoNotOptimize(least);
    return count;
  };
  values_of_all(state, modes, k, by_hand(), [&] { benchmark::DoNotOptimize(by_hand()); }, 1, x);
}

/// All 2^k values of the heaters of ten rooms: two of neighbours are on below their temperature and off above it, and one
/// fuse stands all but all of them. By hand: the rows that hold the changed one.
void hybrid_values(benchmark::State& state) {
  constexpr int k = 20, rooms = 10;
  std::string variables, binaries, equations, constraints, fuse;
  for (int r = 0; r < rooms; ++r) {
    variables += fmt::format("x{} = 19.5\n", r);
    equations += fmt::format("\"der(x{0}) = -0.1*(x{0} - 5) + 4*z{1}*(1 - 0.3*z{2}) + 2*z{3}\",\n", r, r, (r + 1) % rooms, r + rooms);
  }
  for (int i = 0; i < k; ++i) {
    binaries += fmt::format("z{} = 0\n", i);
    constraints += fmt::format("\"(19 - x{0})*(1 - z{1})*(1 - z{2}) + (x{0} - 20)*z{1}*z{2} <= 0\",\n", i % rooms, i, (i + 1) % k);
    fuse += fmt::format(" + {}*z{}", 4 + i % 3, i);
  }
  HybridModes modes(*read_hybrid_model_text(
      fmt::format("[variables]\n{}[binaries]\n{}[model]\nequations = [\n{}]\nconstraints = [\n{}\"0{} <= 98\"]\n[run]\nt = [0, 1]\n",
                  variables, binaries, equations, constraints, fuse),
      "rooms.toml"));
  const auto by_hand = [] {
    std::vector<double> g(k + 1, -0.5), f(rooms, 0);
    std::vector<int> z(k, 0);
    g[k] = -98;
    int violated = 0;
    long count = 1;
    const auto put = [&](int row, double value) {
      violated += (value > 0 ? 1 : 0) - (g[Chain::at(row)] > 0 ? 1 : 0);
      g[Chain::at(row)] = value;
    };
    const auto rate = [&](int r) {
      f[Chain::at(r)] = -0.1 * 14.5 + 4 * z[Chain::at(r)] * (1 - 0.3 * z[Chain::at((r + 1) % rooms)]) + 2 * z[Chain::at(r + rooms)];
    };
    const auto row = [&](int i) {
      const int a = z[Chain::at(i)], b = z[Chain::at((i + 1) % k)];
      put(i, -0.5 * (1 - a) * (1 - b) - 0.5 * a * b);
    };
    for (unsigned long step = 1; step < 1UL << k; ++step) {
      const int i = std::countr_zero(step);
      int& here = z[Chain::at(i)];
      here = 1 - here;
      row(i);
      row((i + k - 1) % k);
      put(k, g[k] + (here != 0 ? 1 : -1) * (4 + i % 3));
      rate(i % rooms);
      if (i < rooms) rate((i + rooms - 1) % rooms);
      count += violated == 0 ? 1 : 0;
    }
    benchmark::DoNotOptimize(f.data());
    return count;
  };
  values_of_all(state, modes, k, by_hand(), [&] { benchmark::DoNotOptimize(by_hand()); }, rooms, 19.5);
}

Model rooms_model(int n, const char* scheme, const char* tol) {
  ReadOptions known;
  known.hybrid = true;
  std::vector<Override> set{{"run.scheme", scheme}};
  if (tol != nullptr) set.push_back({"run.tol", tol});
  return read_model_text(rooms(n), "rooms.toml", set, known);
}

void hybrid_run(benchmark::State& state, const char* scheme, const char* tol) {
  const Model model = rooms_model(static_cast<int>(state.range(0)), scheme, tol);
  IntegrateOptions options;
  options.keep = false;
  const auto run = [&] { return perp::scheme(scheme).run(model, options); };
  const Trajectory once = run();
  if (once.status != Status::solved) return state.SkipWithError(once.message.c_str());
  const auto steps = once.counts.at("steps");
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(run());
  const double ns = meter.report(state, steps);
  state.counters["ms_per_run"] = 1e-6 * ns * static_cast<double>(steps);
  state.counters["changes"] = static_cast<double>(once.counts.at("mode_changes"));
}

/// The three tanks with six binaries, 1000 s, 37 events.
void hybrid_tanks(benchmark::State& state) {
  ReadOptions known;
  known.hybrid = true;
  const Model model = read_model(std::string(PERP_MODELS) + "/three_tank_binaries.toml",
                                 {{"run.scheme", "located"}, {"run.tol", "1e-12"}}, known);
  const auto run = [&] { return scheme("located").run(model, {}); };
  const Trajectory once = run();
  if (once.status != Status::solved) return state.SkipWithError(once.message.c_str());
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(run());
  state.counters["ms_per_run"] = 1e-6 * meter.report(state, 1);
  state.counters["changes"] = static_cast<double>(once.counts.at("mode_changes"));
}

void hybrid_reading(benchmark::State& state) {
  const std::string text = rooms(static_cast<int>(state.range(0)));
  const Meter meter;
  for (auto _ : state) {
    const HybridModel model = *read_hybrid_model_text(text, "rooms.toml");
    benchmark::DoNotOptimize(structure_of(model).blocks.size());
  }
  state.counters["ms_per_model"] = 1e-6 * meter.report(state, 1);
}

// clang-format off
BENCHMARK(hybrid_rows)->Arg(1000);
BENCHMARK(hybrid_flip)->Arg(10)->Arg(100)->Arg(1000)->Arg(10000);
BENCHMARK(hybrid_choice)->Arg(8)->Arg(12)->Arg(20);
BENCHMARK_CAPTURE(hybrid_heaters, cold, 19.0)->Arg(16)->Arg(20);
BENCHMARK_CAPTURE(hybrid_heaters, hot, 21.0)->Arg(16)->Arg(20);
BENCHMARK(hybrid_values);
BENCHMARK(hybrid_tanks);
BENCHMARK(hybrid_reading)->Arg(1000)->Arg(10000);
BENCHMARK_CAPTURE(hybrid_run, backward_euler, "backward_euler", nullptr)->Arg(100)->Arg(1000)->Arg(10000);
BENCHMARK_CAPTURE(hybrid_run, located, "located", "1e-10")->Arg(12)->Arg(100)->Arg(1000);
// clang-format on

}  // namespace

std::string rooms(int n) {
  std::string variables, binaries, equations, constraints;
  for (int i = 0; i < n; ++i) {
    variables += fmt::format("x{} = {:.10g}\n", i, start(i));
    binaries += fmt::format("z{} = {}\n", i, is_on(i) ? 1 : 0);
    std::string flow;
    if (i > 0) flow += fmt::format("(x{} - x{})", i - 1, i);
    if (i + 1 < n) flow += fmt::format("{}(x{} - x{})", i > 0 ? " + " : "", i + 1, i);
    equations += fmt::format("\"der(x{0}) = -0.1*(x{0} - 5) + 0.2*({1}) + 4*z{0}{2}\",\n", i, flow,
                             i + 1 < n ? fmt::format("*(1 - 0.3*z{})", i + 1) : "");
    constraints += fmt::format("\"({1:.10g} - x{0})*(1 - z{0}) + (x{0} - {2:.10g})*z{0} <= 0\",\n", i,
                               low_end(i), high_end(i));
  }
  return fmt::format(
      "[variables]\n{}[binaries]\n{}[model]\nequations = [\n{}]\nconstraints = [\n{}]\n[run]\nt = [0, 2]\nh "
      "= 0.01\n",
      variables, binaries, equations, constraints);
}

}  // namespace perp::bench
