// Random models whose roots never meet: algebraic variables are on the root of the first row in every row, in each unit, whatever law of
// time or of a variable with a rate moves them, and however far.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/tests/thinned.hpp>

using namespace perp;

namespace {

using Class = std::function<int(double)>;

int sign_of(double u) { return (u > 0) - (u < 0); }

/// An equation for {} = u with a size g > 0, its root at the start, and which root a value of u belongs to.
struct Roots {
  std::string equation;
  std::string others;  // further variables
  double start = 0;
  Class root_of;
};

class Draws {
 public:
  explicit Draws(unsigned seed) : random_(seed) {}
  template <class T>
  T one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(random_() % list.size())];
  }
  bool with(double share) { return static_cast<double>(random_()) < share * static_cast<double>(std::mt19937::max()); }

 private:
  std::mt19937 random_;
};

/// A function of the argument that is at least `least`, and its value.
struct Size {
  std::string text;
  double value = 0;
};
Size size_of(Draws& draw, const std::string& argument, double at, double least) {
  const double k = draw.one_of<double>({1, 3, 10, 80, 500, 1e4});
  switch (draw.one_of<int>({0, 1, 2, 3, 4, 5, 6})) {
    case 0: return {fmt::format("max({}, {}*({}))", least, k, argument), std::max(least, k * at)};
    case 1: return {fmt::format("({} + abs({}*({})))", least, k, argument), least + std::abs(k * at)};
    case 2: return {fmt::format("if({2} > 0, {0} + {1}*({2}), {0})", least, k, argument), least + std::max(0.0, k * at)};
    case 3: return {fmt::format("({} + 1 + sat({}*({}), -1, 1))", least, k, argument), least + 1 + std::clamp(k * at, -1.0, 1.0)};
    case 4: return {fmt::format("({} - min(0, {}*({})))", least, k, argument), least - std::min(0.0, k * at)};
    case 5: return {fmt::format("max({0}, max({1}*({2}), -2*({2})))", least, k, argument), std::max({least, k * at, -2 * at})};
    default: return {fmt::format("({} + 1 + 0.9*sign({}))", least, argument), least + 1 + 0.9 * sign_of(at)};
  }
}

Roots roots_of(Draws& draw, const Size& g) {
  const double sign = draw.one_of<double>({1, -1});
  const double c = 2 / (1 + g.value) - 1;  // in (-1, 1)
  switch (draw.one_of<int>({0, 1, 2, 3, 4, 5, 6})) {
    case 0: return {"{0}^2*" + g.text + " = 1", "", sign / std::sqrt(g.value), sign_of};
    case 1: return {"{0}^4*" + g.text + " = 1", "", sign / std::pow(g.value, 0.25), sign_of};
    case 2:
      return {"{0}^3 - 3*{0} = 1.8*(2/(1 + " + g.text + ") - 1)", "",
              2 * std::cos(std::acos(0.9 * c) / 3 - 2 * std::numbers::pi * draw.one_of<int>({0, 1, 2}) / 3),
              [](double u) { return (u >= 1) - (u <= -1); }};
    case 3: {
      const int k = draw.one_of<int>({-2, -1, 0, 1, 2});
      return {"sin({0}) = 0.95*(2/(1 + " + g.text + ") - 1)", "", (k % 2 == 0 ? 1 : -1) * std::asin(0.95 * c) + k * std::numbers::pi,
              [](double u) { return static_cast<int>(std::floor(u / std::numbers::pi + 0.5)); }};
    }
    case 4: {
      const double u = sign / std::sqrt(5 * g.value);
      return {"{0}^2 + z^2 = 1/" + g.text + "\", \"z = 2*{0}", fmt::format("z = {}\n", 2 * u), u, sign_of};
    }
    case 5: return {"exp({0}) + exp(-{0}) = 2.2 + 1/" + g.text, "", sign * std::acosh((2.2 + 1 / g.value) / 2), sign_of};
    default: {
      const double u = (-0.5 + sign * std::sqrt(0.25 + 4 / g.value)) / 2;
      return {"{0}*z = 1/" + g.text + "\", \"z - {0} = 0.5", fmt::format("z = {}\n", u + 0.5), u, [](double v) { return sign_of(v + 0.25); }};
    }
  }
}

struct RandomModel {
  std::string text;
  double unit = 1, offset = 0;
  Roots roots;
  BackwardEuler options;
};

RandomModel random_model(unsigned seed) {
  Draws draw(seed);
  RandomModel model;
  model.unit = draw.one_of<double>({1, 1, 0x1p30, 0x1p-30, 1e9, 1e-9});
  model.offset = draw.one_of<double>({0, 0, 3, -2, 10});
  const double moment = draw.one_of<double>({0.5, 0.73, 1.05, 1.01, 0.95, 0.9999});
  const bool has_rate = draw.with(0.3), is_turned = draw.with(0.3);
  const std::string argument = fmt::format("{}({} - {})", is_turned ? "-" : "", has_rate ? "w" : "t", moment);
  model.roots = roots_of(draw, size_of(draw, argument, is_turned ? moment : -moment, draw.one_of<double>({0.01, 0.02, 0.1, 0.5, 1e-3})));
  const std::string u = fmt::format("(y/{} - {})", model.unit, model.offset);
  const std::string rate = has_rate ? fmt::format("1 + {}*sin({})", draw.one_of<double>({0.1, 0.01, -0.1}), u)
                                    : fmt::format("{} + {}", u, draw.one_of<double>({0, 0, 3, -3}));
  const std::string company = draw.with(0.25) ? draw.one_of<std::string>({"-q + abs(q - 0.5)", "-sign(q - 0.3)", "-q^3"}) : "";
  model.text = fmt::format("[variables]\ny = {}\nw = 0\n{}{}[model]\nequations = [\"der(w) = {}\", \"{}\"{}]\n[run]\nt = [0, 2]\n",
                           model.unit * (model.roots.start + model.offset), model.roots.others, company.empty() ? "" : "q = 1\n", rate,
                           fmt::format(fmt::runtime(model.roots.equation), u), company.empty() ? "" : fmt::format(", \"der(q) = {}\"", company));
  model.options.h = draw.one_of<double>({0.1, 0.05, 0.07, 0.2});
  model.options.split_at_events = draw.with(0.7);
  if (draw.with(0.2)) model.options.selector = Selector::minimal_norm;
  return model;
}

struct Outcome {
  int solved = 0, begun = 0;
};

/// y of each row is on the root of the first one, which is that of the guess or another one.
void check_root(const RandomModel& random, Outcome& outcome) {
  const Model model = read_model_text(random.text, "roots.toml");
  const Trajectory run = integrate(model.system, model.x0(), model.run.span, random.options);
  const auto root_at = [&](const Vector& x) { return random.roots.root_of(x[0] / random.unit - random.offset); };
  REQUIRE(!run.x.empty());
  bool stays = true;
  for (const Vector& x : run.x) stays = stays && root_at(x) == root_at(run.x.front());
  CAPTURE(random.text);
  CAPTURE(random.options.h);
  CAPTURE(random.options.split_at_events);
  CHECK(stays);
  outcome.solved += run.status == Status::solved ? 1 : 0;
  outcome.begun += root_at(run.x.front()) == random.roots.root_of(random.roots.start) ? 1 : 0;
}

}  // namespace

TEST_SUITE("schemes/capturing/roots") {
  TEST_CASE("algebraic variables of random models, whose roots never meet, stay on the root that they begin on") {
    constexpr int models = 90 / perp::test::stride_of_cases(4);
    Outcome outcome;
    for (unsigned seed = 1; seed <= models; ++seed) {
      CAPTURE(seed);
      check_root(random_model(seed), outcome);
    }
    CHECK(outcome.solved >= models * 97 / 100);
    CHECK(outcome.begun >= models * 98 / 100);  // multipliers of the first modes that are tried may be far from those of the guess
  }
}
