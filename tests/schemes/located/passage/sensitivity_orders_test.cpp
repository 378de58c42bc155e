#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <perp/tests/schemes/located/models.hpp>
#include <perp/tests/thinned.hpp>

// Derivatives across events of one moment of random systems, against differences of a simulation that takes the events one
// after the other where moved starts and parameters part them.

using namespace perp;

namespace {

constexpr double moment = 0.5, span = 0.9, gravity = 4;

enum class Kind { crossing, kink, reset, switch_of_time, ball, level };

/// An event at the moment, in a clock, a ball or a switch of its own, which acts on a variable x[target].
struct Part {
  Kind kind;
  double rate;          ///< of its clock; the velocity of its ball
  int target;
  double force;         ///< on the target: ± before and behind a crossing, else times what the part has
  double factor, jump;  ///< of a reset: x := factor x + jump p
};

/// x' = A x + b p + forces, with the clocks and balls of the parts.
struct Problem {
  std::vector<Part> parts;
  Matrix A{2, 2};
  Vector b{2}, x0{2};
};

struct Units {
  double x = 1, part = 1, time = 1;
};

bool has_clock(Kind kind) { return kind == Kind::crossing || kind == Kind::kink || kind == Kind::reset; }

/// What is moved: p, x(0), and of each part the rate and the start of its clock, the start of its ball, its moment or its level.
struct Input {
  std::string start, parameter;  ///< the variable whose start it is, or the name of the parameter
  double value, unit;
};

std::vector<Input> inputs_of(const Problem& problem, const Units& units) {
  std::vector<Input> q{{"", "p", 1, 1}, {"x0", "", problem.x0[0], units.x}, {"x1", "", problem.x0[1], units.x}};
  for (std::size_t i = 0; i < problem.parts.size(); ++i) {
    const Part& part = problem.parts[i];
    const double rate = units.part / units.time;
    if (has_clock(part.kind)) q.push_back({"", fmt::format("r{}", i), part.rate, rate}), q.push_back({fmt::format("y{}", i), "", -part.rate * moment, units.part});
    if (part.kind == Kind::ball)
      q.push_back({fmt::format("y{}", i), "", gravity / 2 * moment * moment - part.rate * moment, units.part}), q.push_back({fmt::format("v{}", i), "", part.rate, rate});
    if (part.kind == Kind::switch_of_time) q.push_back({"", fmt::format("tau{}", i), moment, units.time});
    if (part.kind == Kind::level) q.push_back({"", fmt::format("c{}", i), part.rate, units.x});
  }
  return q;
}

/// The motion for given inputs, by the classical method of fourth order between events that it locates by bisection.
class Simulation {
 public:
  Simulation(const Problem& problem, const std::vector<double>& q) : problem_(problem), done_(problem.parts.size(), false) {
    p_ = q[0];
    z_ = {q[1], q[2]};
    std::size_t next = 3;
    for (const Part& part : problem.parts) {
      const bool has_two = has_clock(part.kind) || part.kind == Kind::ball;
      first_.push_back(z_.size());
      fixed_.push_back(q[next]);
      if (has_clock(part.kind)) z_.push_back(q[next + 1]);
      if (part.kind == Kind::ball) z_.insert(z_.end(), {q[next], q[next + 1]});
      next += has_two ? 2 : 1;
    }
  }

  /// x at the end.
  Vector run(double end, bool has_events = true) {
    constexpr int steps = 200;
    for (int k = 0; k < steps; ++k) {
      const double goal = end * (k + 1) / steps;
      while (t_ < goal) has_events ? to_event(goal) : move(goal - t_);
    }
    return Vector{{z_[0], z_[1]}};
  }
  /// x' at the present state.
  Vector rate() const {
    const State f = field(z_);
    return Vector{{f[0], f[1]}};
  }

 private:
  using State = std::vector<double>;

  State field(const State& z) const {
    State f(z.size(), 0);
    for (int j = 0; j < 2; ++j) f[static_cast<std::size_t>(j)] = problem_.A(j, 0) * z[0] + problem_.A(j, 1) * z[1] + problem_.b[j] * p_;
    for (std::size_t i = 0; i < done_.size(); ++i) {
      const Part& part = problem_.parts[i];
      double acts = done_[i] ? 1 : -1;
      if (part.kind == Kind::kink) acts = done_[i] ? z[first_[i]] : 0;
      if (part.kind == Kind::reset) acts = 0;
      if (part.kind == Kind::ball) acts = z[first_[i] + 1], f[first_[i]] = z[first_[i] + 1], f[first_[i] + 1] = -gravity;
      if (has_clock(part.kind)) f[first_[i]] = fixed_[i];
      f[static_cast<std::size_t>(part.target)] += part.force * acts;
    }
    return f;
  }

  State moved(double h) const {
    const auto at = [this](const State& f, double length) {
      State z = z_;
      for (std::size_t k = 0; k < z.size(); ++k) z[k] += length * f[k];
      return z;
    };
    const State a = field(z_), b = field(at(a, h / 2)), c = field(at(b, h / 2)), d = field(at(c, h));
    State z = z_;
    for (std::size_t k = 0; k < z.size(); ++k) z[k] += h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]);
    return z;
  }
  void move(double h) { z_ = moved(h), t_ += h; }

  /// Above 0 behind the event.
  double passed(std::size_t i, const State& z, double t) const {
    const Part& part = problem_.parts[i];
    if (part.kind == Kind::switch_of_time) return t - fixed_[i];
    if (part.kind == Kind::level) return z[static_cast<std::size_t>(1 - part.target)] - fixed_[i];
    return part.kind == Kind::ball ? -z[first_[i]] : z[first_[i]];
  }

  void to_event(double goal) {
    double h = goal - t_;
    std::size_t event = done_.size();
    for (std::size_t i = 0; i < done_.size(); ++i) {
      if (done_[i] || !(passed(i, moved(h), t_ + h) > 0)) continue;
      double low = 0;
      for (int k = 0; k < 60; ++k) (passed(i, moved((low + h) / 2), t_ + (low + h) / 2) > 0 ? h : low) = (low + h) / 2;
      event = i;
    }
    if (event == done_.size()) return move(h), void(t_ = goal);
    move(h);
    done_[event] = true;
    const Part& part = problem_.parts[event];
    double& x = z_[static_cast<std::size_t>(part.target)];
    if (part.kind == Kind::reset) x = part.factor * x + part.jump * p_;
    if (part.kind == Kind::ball) z_[first_[event] + 1] *= -0.5;
  }

  const Problem& problem_;
  std::vector<bool> done_;
  std::vector<std::size_t> first_;
  std::vector<double> fixed_;
  double p_ = 1, t_ = 0;
  State z_;
};

std::vector<double> values_of(const std::vector<Input>& inputs) {
  std::vector<double> q;
  for (const Input& input : inputs) q.push_back(input.value);
  return q;
}

struct Differences {
  Matrix derivative{};
  bool exists = true;  ///< along each input, and along random combinations, from both sides
};

Differences differences(const Problem& problem, std::mt19937& random) {
  constexpr double e = 1e-5;
  const std::vector<double> q = values_of(inputs_of(problem, {}));
  const int columns = static_cast<int>(q.size());
  Differences found{Matrix(2, columns)};
  for (int d = 0; d < columns + 20; ++d) {
    std::vector<double> way(q.size(), 0);
    if (d < columns) way[static_cast<std::size_t>(d)] = 1;
    else for (double& entry : way) entry = std::uniform_real_distribution<>(-1, 1)(random);
    const auto at = [&](double length) {
      std::vector<double> there = q;
      for (std::size_t k = 0; k < q.size(); ++k) there[k] += length * way[k];
      return Simulation(problem, there).run(span);
    };
    const Vector near = at(e), back = at(-e), most = at(2 * e), least = at(-2 * e);
    // What is left of central differences where f'' jumps is of the size of e, and drops from two of them.
    const Vector far = (most - near) / e, behind = (back - least) / e, across = (near - back) / e - (most - least) / (4 * e);
    const double size = 1 + far.cwiseAbs().maxCoeff();
    if ((far - behind).cwiseAbs().maxCoeff() > 2e-3 * size || (far - across).cwiseAbs().maxCoeff() > 2e-3 * size) found.exists = false;
    if (d < columns) found.derivative.col(d) = across;
  }
  return found;
}

double pick(std::mt19937& random, std::initializer_list<double> from) {
  return from.begin()[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random)];
}

/// A level is that of x[1 − target] at the moment: it must rise through it whatever other events do.
bool has_level(Problem& problem, Part& part) {
  const auto watched = static_cast<Eigen::Index>(1 - part.target);
  problem.b[watched] = 8;
  Simulation ahead(problem, values_of(inputs_of(problem, {})));
  part.rate = ahead.run(moment, false)[watched];
  double forces = 0;
  for (const Part& other : problem.parts) {
    if (other.target == watched && other.kind == Kind::reset) return false;
    if (other.target == watched) forces += 4 * std::abs(other.force);
  }
  return ahead.rate()[watched] > forces + 1;
}

Problem random_problem(std::mt19937& random) {
  Problem problem;
  const bool is_coupled = pick(random, {0, 1}) > 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) problem.A(i, j) = i == j || is_coupled ? pick(random, {-1, 0, 0.5}) : 0;
  for (int j = 0; j < 2; ++j) problem.b[j] = pick(random, {0, 1}), problem.x0[j] = pick(random, {1, -0.5, 2});
  const int count = static_cast<int>(pick(random, {2, 2, 3}));
  const bool has_a_level = pick(random, {0, 0, 1}) > 0;
  for (int i = 0; i < count; ++i) {
    Part part{static_cast<Kind>(static_cast<int>(pick(random, {0, 1, 2, 3, 4}))), pick(random, {1, 2, 0.5}), static_cast<int>(pick(random, {0, 1})),
              pick(random, {-1, 1, 2, 0}), pick(random, {0.5, 1, -1, 2}), pick(random, {-1, 0, 1})};
    if (part.kind == Kind::ball) part.rate = pick(random, {0, -1}), part.force /= 2;
    // Two resets of one variable make the state behind them of what it is before both, where no moved one does.
    const auto writes = [&part](const Part& other) { return other.kind == Kind::reset && other.target == part.target; };
    if (part.kind == Kind::reset && std::ranges::any_of(problem.parts, writes)) part.kind = Kind::kink;
    problem.parts.push_back(part);
  }
  Part level{Kind::level, 0, static_cast<int>(pick(random, {0, 1})), pick(random, {-1, 1, 2}), 0, 0};
  const Problem without = problem;
  if (has_a_level && has_level(problem, level)) problem.parts.back() = level;
  else problem = without;
  return problem;
}

/// The lines of a model file.
struct Lines {
  std::string parameters, variables, equations, laws, when, restitution;
};

void add_part(Lines& lines, const Part& part, std::size_t i, const Units& units, std::array<std::string, 2>& rates) {
  std::string& rate = rates[static_cast<std::size_t>(part.target)];
  const double force = part.force * units.x / units.time;
  if (has_clock(part.kind)) lines.equations += fmt::format("\"der(y{0}) = r{0}\", ", i);
  switch (part.kind) {
    case Kind::crossing: rate += fmt::format(" + {:.17g}*sign(y{})", force, i); break;
    case Kind::kink: rate += fmt::format(" + {:.17g}*max(y{}, 0)", force / units.part, i); break;
    case Kind::reset:
      lines.when += fmt::format("{{condition = \"y{0}\", direction = 1, set = {{x{1} = \"{2:.17g}*x{1} + {3:.17g}*p\"}}}}, ", i, part.target, part.factor, part.jump * units.x);
      break;
    case Kind::switch_of_time: rate += fmt::format(" + {:.17g}*sign(t - tau{})", force, i); break;
    case Kind::ball:
      rate += fmt::format(" + {:.17g}*v{}", part.force * units.x / units.part, i);
      lines.equations += fmt::format("\"der(y{0}) = v{0}\", \"der(v{0}) = {1:.17g} + a{0}\", ", i, -gravity * units.part / units.time / units.time);
      lines.laws += fmt::format("\"0 <= y{0} perp a{0} >= 0\", ", i);
      lines.restitution += fmt::format("a{} = 0.5, ", i);
      break;
    case Kind::level: rate += fmt::format(" + {:.17g}*sign(x{} - c{})", force, 1 - part.target, i); break;
  }
}

std::string text_of(const Problem& problem, const Units& units, bool has_company) {
  Lines lines;
  for (const Input& input : inputs_of(problem, units)) {
    const double value = input.value * input.unit;
    if (!input.parameter.empty()) lines.parameters += fmt::format("{} = {:.17g}\n", input.parameter, value);
    if (!input.start.empty()) lines.variables += fmt::format("{} = {{start = {:.17g}, nominal = {:.17g}}}\n", input.start, value, input.unit);
  }
  std::array<std::string, 2> rates;
  for (int j = 0; j < 2; ++j)
    rates[static_cast<std::size_t>(j)] = fmt::format("{:.17g}*x0 + {:.17g}*x1 + {:.17g}*p", problem.A(j, 0) / units.time, problem.A(j, 1) / units.time, problem.b[j] * units.x / units.time);
  for (std::size_t i = 0; i < problem.parts.size(); ++i) add_part(lines, problem.parts[i], i, units, rates);
  if (has_company) {
    lines.variables += "k = 1\nl = 0\nm = -3\n";
    lines.equations += fmt::format("\"der(k) = {0:.17g}*l\", \"der(l) = {1:.17g}*k\", \"der(m) = {2:.17g}*(1 - 0.5*sign(m))\", ", 30 / units.time, -30 / units.time, 10 / units.time);
  }
  return fmt::format("[parameters]\n{}[variables]\n{}[model]\nequations = [{}\"der(x0) = {}\", \"der(x1) = {}\"]\n{}{}{}[run]\nt = [0, {:.17g}]\n", lines.parameters,
                     lines.variables, lines.equations, rates[0], rates[1], lines.laws.empty() ? "" : "laws = [" + lines.laws + "]\n",
                     lines.restitution.empty() ? "" : "restitution = {" + lines.restitution.substr(0, lines.restitution.size() - 2) + "}\n",
                     lines.when.empty() ? "" : "when = [" + lines.when + "]\n", span * units.time);
}

int place_of(const Model& model, const std::string& variable) {
  const auto found = std::ranges::find(model.variables, variable, &Variable::name);
  return static_cast<int>(found - model.variables.begin());
}

Trajectory run(const Model& model, const std::vector<Input>& inputs) {
  Located scheme = test::located(model, 1e-12);
  scheme.restitution = model.restitution;
  int parameters = 0;
  for (const Input& input : inputs) {
    if (input.start.empty()) scheme.sensitivities.parameters.push_back(parameters++);
    else scheme.sensitivities.starts.push_back(place_of(model, input.start));
  }
  return integrate(*model.equations, model.x0(), model.run.span, scheme);
}

/// The rows of x in units, by the inputs in their order; empty: there are none.
Matrix derivative_of(const Trajectory& found, const Model& model, const std::vector<Input>& inputs, const Units& units) {
  if (found.dx_dq.size() != found.t.size() || found.dx_dq.back().size() == 0) return {};
  const auto starts = std::ranges::count_if(inputs, [](const Input& input) { return !input.start.empty(); });
  Matrix derivative(2, static_cast<Eigen::Index>(inputs.size()));
  Eigen::Index start = 0, parameter = starts;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Eigen::Index column = inputs[k].start.empty() ? parameter++ : start++;
    for (int j = 0; j < 2; ++j)
      derivative(j, static_cast<Eigen::Index>(k)) = found.dx_dq.back()(place_of(model, fmt::format("x{}", j)), column) * inputs[k].unit / units.x;
  }
  return derivative;
}

void check(const Problem& problem, const Differences& expected, const Units& units, bool has_company) {
  const std::string text = text_of(problem, units, has_company);
  CAPTURE(text);
  const Model model = read_model_text(text, "moment.toml");
  const std::vector<Input> inputs = inputs_of(problem, units);
  const Trajectory found = run(model, inputs);
  CAPTURE(found.message);
  REQUIRE(found.status == Status::solved);
  const Matrix derivative = derivative_of(found, model, inputs, units);
  const bool has_several = found.counts.contains("one_sided");
  CHECK((derivative.size() > 0 && !has_several) == expected.exists);
  if (!expected.exists) return;
  REQUIRE(derivative.size() > 0);
  CHECK_MESSAGE(((derivative - expected.derivative).array().abs() <= 1e-5 * (1 + expected.derivative.array().abs())).all(), (derivative - expected.derivative));
}

}  // namespace

TEST_SUITE("schemes/located/sensitivity_orders") {
  TEST_CASE("events of one moment have the derivative where it exists, in any unit and beside others, and say so where it does not") {
    const std::array<Units, 6> units{{{}, {0x1p30, 1, 1}, {1, 0x1p-30, 1}, {1, 1, 0x1p-30}, {1e9, 1e-9, 1e9}, {1e-9, 0x1p30, 0x1p30}}};
    int differentiable = 0;
    constexpr int stride = perp::test::stride_of_cases(5);
    for (unsigned seed = 61; seed <= 110; seed += stride) {
      CAPTURE(seed);
      std::mt19937 random(seed);
      const Problem problem = random_problem(random);
      const Differences expected = differences(problem, random);
      differentiable += expected.exists ? 1 : 0;
      check(problem, expected, {}, false);
      check(problem, expected, units[seed % units.size()], seed % 2 == 0);
    }
    CHECK(differentiable > 20 / stride);
    CHECK(differentiable < 50 / stride);
  }
}
