#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

namespace {

using Real = long double;

/// Hybrid automata whose state moves with constant rates between resets,
///     x' = v,  v' = 0,  p' = q,  n' = 0,  r' = 0,
/// so that implicit Euler is exact for them too and the moments of resets are quotients.
enum Component { x, v, p, n, r, components };
constexpr const char* names[] = {"x", "v", "p", "n", "r"};

/// One reset: where Σ condition_j z_j + by_t t + constant passes 0, component `target` becomes
/// Σ value_j z_j + value_by_t t + value_constant.
struct Rule {
  Real condition[components] = {};
  Real by_t = 0, constant = 0;
  int direction = 0;
  int target = n;
  Real value[components] = {};
  Real value_by_t = 0, value_constant = 0;
};

struct Automaton {
  Real start[components] = {};
  Real q = 0;
  std::vector<Rule> rules;
  Real end = 6;
  double h = 0.03125;
  bool algebraic = false;  ///< x in conditions is the algebraic y = x
  bool company = false;    ///< a relay stands beside
};

struct Firing {
  Real t;
  std::string names;
};

/// What is known without perp: the sequence of resets, by quotients. `usable`: no two moments are
/// so near that rounding decides their order, and there are not too many.
struct Exact {
  std::vector<Firing> firings;
  Real end[components] = {};
  bool usable = true;
  /// Resets meet each other or the end of the run, and steps of h do not come there without
  /// rounding.
  bool meets_by_rounding = false;
  bool meets = false;  ///< they do, whatever the steps
  bool is_on_grid = true;  ///< steps of h come to every reset without rounding
};

constexpr Real zero = 1e-13L, near = 1e-6L;  // equal moments, and too near ones

class Simulation {
 public:
  explicit Simulation(const Automaton& automaton) : a_(automaton) {
    std::copy(std::begin(a_.start), std::end(a_.start), z_);
  }

  Exact run(Real end) {
    settle();
    while (exact_.usable && exact_.firings.size() < 40) {
      const Real s = next(end - t_);
      if (s < 0) break;
      go(s);
    }
    if (exact_.firings.size() >= 40) exact_.usable = false;
    bool meets = false, is_exact = a_.h == 0.03125 || a_.h == 0.25;
    for (const Firing& firing : exact_.firings) {
      meets = meets || firing.names.find(',') != std::string::npos || end - firing.t < near;
      is_exact = is_exact && firing.t * 64 == std::floor(firing.t * 64);
    }
    exact_.meets = meets;
    exact_.meets_by_rounding = meets && !is_exact;
    exact_.is_on_grid = is_exact;
    move(end - t_);
    std::copy(z_, z_ + components, exact_.end);
    return exact_;
  }

 private:
  [[nodiscard]] Real rate(int j) const { return j == x ? z_[v] : j == p ? a_.q : 0; }
  [[nodiscard]] Real c(const Rule& rule) const {
    Real sum = rule.constant + rule.by_t * t_;
    for (int j = 0; j < components; ++j) sum += rule.condition[j] * z_[j];
    return sum;
  }
  [[nodiscard]] Real speed(const Rule& rule) const {
    Real sum = rule.by_t;
    for (int j = 0; j < components; ++j) sum += rule.condition[j] * rate(j);
    return sum;
  }
  static int sign(Real value) { return std::abs(value) <= zero ? 0 : value > 0 ? 1 : -1; }

  void settle() {
    side_.clear();
    for (const Rule& rule : a_.rules) {
      const Real value = c(rule);
      if (std::abs(value) > zero && std::abs(value) < near) exact_.usable = false;
      side_.push_back(sign(value) != 0 ? sign(value) : sign(speed(rule)));
    }
  }
  void move(Real s) {
    Real rates[components];
    for (int j = 0; j < components; ++j) rates[j] = rate(j);
    for (int j = 0; j < components; ++j) z_[j] += s * rates[j];
    t_ += s;
  }
  /// Time to the next passage of any condition, up to `most`; -1: none. Passing in the other
  /// direction changes the side only.
  Real next(Real most) {
    Real first = -1;
    for (std::size_t k = 0; k < a_.rules.size(); ++k) {
      const Real value = c(a_.rules[k]), slope = speed(a_.rules[k]);
      if (sign(slope) == 0 || side_[k] != -sign(slope)) continue;
      const Real s = std::max<Real>(0, -value / slope);
      if (s > most + near) continue;
      if (s > most + zero || (first >= 0 && std::abs(s - first) > zero && std::abs(s - first) < near))
        exact_.usable = false;
      if (first < 0 || s < first) first = s;
    }
    return first;
  }
  void go(Real s) {
    move(s);
    std::string fired;
    Real after[components];
    std::copy(z_, z_ + components, after);
    for (std::size_t k = 0; k < a_.rules.size(); ++k) {
      const Rule& rule = a_.rules[k];
      const int to = sign(speed(rule));
      if (std::abs(c(rule)) > 1e-11L || to == 0 || side_[k] != -to) continue;
      side_[k] = to;
      if (rule.direction != 0 && rule.direction != to) continue;
      fired += fmt::format("{}r{}", fired.empty() ? "" : ", ", k);
      Real sum = rule.value_constant + rule.value_by_t * t_;
      for (int j = 0; j < components; ++j) sum += rule.value[j] * z_[j];
      after[rule.target] = sum;
    }
    if (fired.empty()) return;
    std::copy(after, after + components, z_);
    exact_.firings.push_back({t_, fired});
    settle();
  }

  const Automaton& a_;
  Real z_[components] = {};
  Real t_ = 0;
  std::vector<int> side_;
  Exact exact_;
};

/// Units: each number of the model in a unit of its own.
struct Units {
  double x = 1, t = 1;
};

std::string formula(const Real* z, Real by_t, Real constant, const Units& to, double of,
                    const Automaton& a, bool condition) {
  const Units units = to;
  const auto unit = [&](int j) { return j == x || j == p || j == r ? units.x
                                        : j == v                   ? units.x / units.t
                                                                   : 1.0; };
  std::string text = fmt::format("{:.17g}", static_cast<double>(constant) * of);
  for (int j = 0; j < components; ++j)
    if (z[j] != 0)
      text += fmt::format(" + ({:.17g})*{}", static_cast<double>(z[j]) * of / unit(j),
                          condition && j == x && a.algebraic ? "y" : names[j]);
  if (by_t != 0) text += fmt::format(" + ({:.17g})*t", static_cast<double>(by_t) * of / units.t);
  return text;
}

Model model_of(const Automaton& a, const Units& units) {
  const double speed = units.x / units.t;
  const double of[] = {units.x, speed, units.x, 1, units.x};
  std::string text = "[variables]\n";
  for (int j = 0; j < components; ++j)
    text += fmt::format("{} = {:.17g}\n", names[j], static_cast<double>(a.start[j]) * of[j]);
  if (a.algebraic) text += fmt::format("y = {:.17g}\n", static_cast<double>(a.start[x]) * units.x);
  if (a.company) text += "u = 2\n";
  text += "[model]\nequations = [\"der(x) = v\", \"der(v) = 0\", ";
  text += fmt::format("\"der(p) = {:.17g}\", \"der(n) = 0\", \"der(r) = 0\"",
                      static_cast<double>(a.q) * speed);
  if (a.algebraic) text += ", \"y = x\"";
  if (a.company) text += fmt::format(", \"der(u) = -sign(u)/({:.17g})\"", units.t);
  text += "]\nwhen = [";
  for (std::size_t k = 0; k < a.rules.size(); ++k) {
    const Rule& rule = a.rules[k];
    text += fmt::format(
        "{{ condition = \"{}\", direction = {}, set = {{ {} = \"{}\" }}, name = \"r{}\" }},",
        formula(rule.condition, rule.by_t, rule.constant, units, units.x, a, true), rule.direction,
        names[rule.target],
        formula(rule.value, rule.value_by_t, rule.value_constant, units, of[rule.target], a, false),
        k);
  }
  text += fmt::format("]\n[run]\nt = [0, {:.17g}]\nh = {:.17g}\n",
                      static_cast<double>(a.end) * units.t, a.h * units.t);
  return read_model_text(text, "automaton.toml");
}

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Automaton automaton() {
    Automaton a;
    a.start[x] = number();
    a.start[v] = pick({-2, -1, -0.5, 0.5, 1, 2});
    a.start[p] = number();
    a.q = pick({0, 0.25, -0.5});
    a.h = static_cast<double>(pick({0.03125, 0.03, 0.25}));
    a.algebraic = pick({0, 0, 1}) == 1;
    a.company = pick({0, 0, 1}) == 1;
    const int count = 1 + static_cast<int>(random_() % 4);
    for (int k = 0; k < count; ++k) a.rules.push_back(rule());
    return a;
  }

 private:
  Real pick(std::initializer_list<double> list) { return *(list.begin() + random_() % list.size()); }
  Real number() { return static_cast<Real>(static_cast<int>(random_() % 33) - 16) / 8; }

  /// Passes, turns, counts, records, shifts gears, doses, and writes to its own condition.
  Rule rule() {
    Rule rule;
    rule.direction = static_cast<int>(random_() % 3) - 1;
    rule.constant = number();
    switch (random_() % 4) {
      case 0: rule.by_t = 1, rule.constant = -std::abs(rule.constant) - 0.125L; break;
      case 1: rule.condition[x] = 1, rule.condition[p] = -1; break;
      default: rule.condition[x] = pick({1, -1, 2}); break;
    }
    switch (random_() % 6) {
      case 0: rule.target = v, rule.value[v] = pick({-1, -0.5, -1}); break;
      case 1: rule.target = v, rule.value[v] = pick({0.5, 1.5, 1}); break;
      case 2: rule.target = v, rule.value_constant = pick({-1, 0.75, 0}); break;
      case 3: rule.target = r, rule.value[x] = 1, rule.value_by_t = 1; break;
      case 4: rule.target = x, rule.value[x] = 1, rule.value_constant = number(); break;
      default: rule.target = n, rule.value[n] = 1, rule.value_constant = 1; break;
    }
    return rule;
  }

  std::mt19937 random_;
};

std::vector<Event> jumps(const Trajectory& run) {
  std::vector<Event> list;
  for (const Event& event : run.events)
    if (event.kind == EventKind::jump) list.push_back(event);
  return list;
}

Trajectory located(const Model& model, const Vector& x0, Span span) {
  Located scheme{.tol = 1e-10, .scale = Vector::Ones(x0.size())};
  for (Eigen::Index j = 0; j < x0.size(); ++j)
    if (x0[j] != 0) scheme.scale[j] = std::abs(x0[j]);
  return integrate(model.system.functions(), x0, span, scheme);
}

Trajectory captured(const Model& model, const Vector& x0, Span span) {
  return integrate(model.system.functions(), x0, span, BackwardEuler{.h = model.run.h});
}

/// Which of the firings a run has otherwise, as a sentence; empty: none.
std::string difference(const Exact& exact, const Trajectory& run, double unit) {
  const std::vector<Event> found = jumps(run);
  if (run.status != Status::solved) return run.message;
  for (std::size_t k = 0; k < std::max(found.size(), exact.firings.size()); ++k) {
    if (k >= found.size()) return fmt::format("lost: {} at {}", exact.firings[k].names,
                                              static_cast<double>(exact.firings[k].t));
    if (k >= exact.firings.size())
      return fmt::format("too many: {} at {}", found[k].note, found[k].t / unit);
    const double t = static_cast<double>(exact.firings[k].t);
    if (found[k].note != exact.firings[k].names || std::abs(found[k].t / unit - t) > 1e-9 * (1 + t))
      return fmt::format("{} at {} instead of {} at {}", found[k].note, found[k].t / unit,
                         exact.firings[k].names, t);
  }
  const double last = static_cast<double>(exact.end[n]);
  return run.x.back()[n] == last ? "" : fmt::format("n = {} instead of {}", run.x.back()[n], last);
}

int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::max(1, std::atoi(text));
}

/// How many automata: more by the environment.
int wanted_models() { return from_environment("PERP_EVENT_MODELS", 100); }

/// Calls `check` with automata whose sequence rounding does not decide, from the first seed on.
template <class Check>
void for_each_automaton(int count, const Check& check) {
  int used = 0;
  const auto first = static_cast<unsigned>(from_environment("PERP_EVENT_SEED", 1));
  for (unsigned seed = first; used < count; ++seed) {
    const Automaton a = Generator(seed).automaton();
    const Exact exact = Simulation(a).run(a.end);
    if (!exact.usable || exact.firings.empty()) continue;
    ++used;
    CAPTURE(seed);
    check(a, exact, seed);
  }
}

}  // namespace

TEST_SUITE("schemes/event_sequences") {
  TEST_CASE("resets of random automata fire as the quotients say, in both run loops") {
    for_each_automaton(wanted_models(), [](const Automaton& a, const Exact& exact, unsigned) {
      const Model model = model_of(a, {});
      CHECK(difference(exact, located(model, model.x0(), model.run.span), 1) == "");
      if (!exact.meets_by_rounding)
        CHECK(difference(exact, captured(model, model.x0(), model.run.span), 1) == "");
    });
  }

  // x and p move alike from 0.75 on, where x = p - 1.375: the rounding of 175 steps is no passage.
  TEST_CASE("a condition that rests on its surface is not moved off it by the rounding of steps") {
    const Automaton a = Generator(21692).automaton();
    const Exact exact = Simulation(a).run(a.end);
    REQUIRE(exact.usable);
    const Model model = model_of(a, {});
    for (const auto& scheme : {located, captured})
      CHECK(difference(exact, scheme(model, model.x0(), model.run.span), 1) == "");
  }

  TEST_CASE("units of variables and time do not change what fires") {
    const double two = std::ldexp(1.0, 30);
    const Units list[] = {{two, 1}, {1 / two, 1}, {1, two}, {1, 1 / two}, {1e9, 1},
                          {1e-9, 1}, {1, 1e9},    {1, 1e-9}};
    for_each_automaton(wanted_models() / 2, [&](const Automaton& a, const Exact& exact,
                                                unsigned seed) {
      const Units& units = list[seed % std::size(list)];
      CAPTURE(units.x);
      CAPTURE(units.t);
      const Model model = model_of(a, units);
      CHECK(difference(exact, located(model, model.x0(), model.run.span), units.t) == "");
      const bool rounds = units.t == 1e9 || units.t == 1e-9 || units.x == 1e9 || units.x == 1e-9;
      if (!exact.meets_by_rounding && !(exact.meets && rounds))
        CHECK(difference(exact, captured(model, model.x0(), model.run.span), units.t) == "");
    });
  }

  TEST_CASE("a run that is stopped and goes on from its last state has the same resets") {
    for_each_automaton(wanted_models() / 2, [](const Automaton& a, const Exact& exact, unsigned seed) {
      const Model model = model_of(a, {});
      // At the moment of a reset, or at any time. What is written at a reset that rounded steps come to
      // may be on the first side of its surface still.
      const bool at_reset = seed % 2 == 0;
      const double stop = at_reset ? static_cast<double>(exact.firings.front().t) : 1.7;
      if (!(stop > 0 && stop < model.run.span.end)) return;
      for (const auto& scheme : {located, captured}) {
        if (scheme == captured && (exact.meets_by_rounding || (at_reset && !exact.is_on_grid))) continue;
        Trajectory first = scheme(model, model.x0(), {0, stop});
        const Trajectory rest = scheme(model, first.x.back(), {stop, model.run.span.end});
        first.events.insert(first.events.end(), rest.events.begin(), rest.events.end());
        first.append({rest.t.back(), rest.x.back(), rest.lambda.back(), rest.w.back(), {}});
        first.status = rest.status;
        CHECK(difference(exact, first, 1) == "");
      }
    });
  }
}
