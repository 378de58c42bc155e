#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>

using namespace perp;

namespace {

Trajectory run_text(const std::string& variables, const std::string& equations, const BackwardEuler& options, double end) {
  const std::string text = fmt::format("[variables]\n{}\n[model]\nequations = [{}]\n[run]\nt = [0, {}]\n", variables, equations, end);
  const Model model = read_model_text(text, "roots");
  return integrate(model.system.functions(), model.x0(), {0, end}, options);
}

const std::vector<Selector> compared{Selector::keep_mode, Selector::minimal_norm};

/// y of the run, with both signs of the root and of splitting, against sign·|y| of t at every state.
template <class Size>
void check_kept(const std::string& equation, double unit, double offset, double h, const Size& size) {
  for (const double sign : {1.0, -1.0})
    for (const Selector selector : compared)
      for (const bool splits : {true, false}) {
        CAPTURE(equation);
        CAPTURE(unit);
        CAPTURE(offset);
        CAPTURE(sign);
        CAPTURE(splits);
        CAPTURE(static_cast<int>(selector));
        const std::string variables = fmt::format("y = {}\nw = 0", unit * (sign * size(0.0) + offset));
        const std::string equations = fmt::format("\"{}\", \"der(w) = y/{} + 3\"", fmt::format(fmt::runtime(equation), fmt::format("(y/{} - {})", unit, offset)), unit);
        const Trajectory run = run_text(variables, equations, {.h = h, .selector = selector, .split_at_events = splits}, 2);
        CHECK((run.status == Status::solved || selector == Selector::minimal_norm));
        for (std::size_t k = 0; k < run.size(); ++k)
          CHECK(run.x[k][0] / unit - offset == doctest::Approx(sign * size(run.t[k])).epsilon(1e-6));
      }
}

}  // namespace

TEST_SUITE("schemes/capturing/roots") {
  TEST_CASE("an algebraic variable stays on its root where a law changes its branch, however far the step moves it") {
    for (const double unit : {1.0, 0x1p30, 1e-9}) {
      check_kept("{}^2*max(0.01, t - 1) = 1", unit, 0, 0.1, [](double t) { return 1 / std::sqrt(std::max(0.01, t - 1)); });
      check_kept("{}^2*(1 + 1e4*max(0, t - 1)) = 1", unit, 3, 0.1, [](double t) { return 1 / std::sqrt(1 + 1e4 * std::max(0.0, t - 1)); });
    }
    check_kept("{}^2*(0.02 + abs(5*(t - 1.05))) = 1", 1, 0, 0.1, [](double t) { return 1 / std::sqrt(0.02 + std::abs(5 * (t - 1.05))); });
  }

  TEST_CASE("a root that a steep kink throws far and back is the one before") {
    const Trajectory run = run_text("y = 0.1\nw = 0", "\"y^2*(0.02 + abs(80*(t - 1.05))) = 1\", \"der(w) = y\"", {.h = 0.1}, 2);
    REQUIRE(run.status == Status::solved);
    for (std::size_t k = 0; k < run.size(); ++k) CHECK(run.x[k][0] == doctest::Approx(1 / std::sqrt(0.02 + std::abs(80 * (run.t[k] - 1.05)))));
  }

  TEST_CASE("where a law jumps the root is that which its values between lead to") {
    // The multiplier passes [-1, 1]: y goes from -1/sqrt(0.11) to -1/sqrt(1.91) and from there nowhere.
    const Trajectory run = run_text("y = -3\nz = 3\nw = 0",
                                    "\"y^2*(1.01 + 0.9*sign(t - 0.95)) = 1\", \"z^2*(1.01 + 0.9*sign(t - 0.95)) = 1\", \"der(w) = y - 3\"",
                                    {.h = 0.2}, 2);
    REQUIRE(run.status == Status::solved);
    for (std::size_t k = 0; k < run.size(); ++k) {
      const double size = 1 / std::sqrt(run.t[k] < 0.95 ? 0.11 : 1.91);
      CHECK(run.x[k][0] == doctest::Approx(-size));
      CHECK(run.x[k][1] == doctest::Approx(size));
    }
  }

  TEST_CASE("two variables do not both come to other roots where the sign of the determinant does not tell") {
    for (const double offset : {0.0, 3.0}) {
      const Trajectory run = run_text(
          fmt::format("y = {}\nz = 1\nw = 0", 1 + offset),
          fmt::format("\"(y - {})^2 = (t - 1.04)^2 + 1e-3\", \"der(w) = y + z\", \"z^2 = (t - 1.04)^2 + 1e-3 + 1e-6*sin(w)\"", offset), {.h = 0.1}, 2);
      CAPTURE(offset);
      for (std::size_t k = 0; k < run.size(); ++k) {
        CHECK((run.x[k][0] - offset > 0 || run.status != Status::solved));
        CHECK((run.x[k][1] > 0 || run.status != Status::solved));
      }
      if (offset == 0) CHECK(run.status == Status::solved);
    }
  }

  TEST_CASE("a start keeps a guess that is a root, and else takes the root nearest to it") {
    struct Case {
      double guess, root;
    };
    for (const double unit : {1.0, 0x1p-30, 1e9})
      for (const auto& [guess, root] : {Case{-1, -1}, Case{1, 1}, Case{-0.7, -1}, Case{1.4, 1}})
        for (const double shift : {0.0, 5.0, -5.0})
          for (const Selector selector : compared) {
            CAPTURE(unit);
            CAPTURE(guess);
            CAPTURE(shift);
            const Trajectory run = run_text(fmt::format("q = {}\np = 2", guess * unit),
                                            fmt::format("\"(q/{}/max(0.01, p/2))^2 = p/2\", \"der(p) = -q/{} + {}\"", unit, unit, shift),
                                            {.h = 0.1, .selector = selector}, 0.1);
            REQUIRE(!run.t.empty());
            CHECK(run.x[0][0] == doctest::Approx(root * unit));
            CHECK(run.status == Status::solved);
          }
  }

  TEST_CASE("of three roots a start takes the nearest, and a run stays on it") {
    for (int branch = 0; branch < 3; ++branch) {
      const auto root = [&](double t) {
        const double c = 1.8 * (2 / (1 + std::max(0.1, 80 * (t - 0.5))) - 1);
        return 2 * std::cos(std::acos(c / 2) / 3 - 2 * std::numbers::pi * branch / 3);
      };
      CAPTURE(branch);
      const Trajectory run = run_text(fmt::format("y = {}\nw = 0", root(0) + 0.05),
                                      "\"y^3 - 3*y = 1.8*(2/(1 + max(0.1, 80*(t - 0.5))) - 1)\", \"der(w) = y - 3\"", {.h = 0.1}, 1);
      REQUIRE(run.status == Status::solved);
      for (std::size_t k = 0; k < run.size(); ++k) CHECK(run.x[k][0] == doctest::Approx(root(run.t[k])));
    }
  }

  TEST_CASE("a start keeps a root that is given, or the nearest one, in whatever mode of the laws of that variable") {
    // Beside x = 0.54 are y = -1.568.. below x and 1.3027.. above it, whose step moves x by less.
    for (const double unit : {1.0, 0x1p30, 0x1p-30, 1e9, 1e-9})
      for (const double guess : {-1.5684387141358123, -1.5})
        for (const Selector selector : {Selector::keep_mode, Selector::minimal_norm, Selector::continuation})
          for (const bool splits : {true, false})
            for (const char* word : {"max(y, {0})", "if(y > {0}, y, {0})", "-min(-v, -{0})"}) {
              CAPTURE(unit);
              CAPTURE(guess);
              CAPTURE(word);
              const Trajectory run = run_text(fmt::format("x = {}\ny = {}\nv = 0", 0.54 * unit, guess * unit),
                                              fmt::format("\"der(x) = y - 2*x*abs(x)/{0}\", \"v = y\", \"y^2 + {0}*{1} = 3*{0}^2\"", unit,
                                                          fmt::format(fmt::runtime(word), "x")),
                                              {.h = 0.2, .selector = selector, .split_at_events = splits}, 2);
              REQUIRE(run.status == Status::solved);
              CHECK(run.x[0][1] == doctest::Approx(-std::sqrt(2.46) * unit));
              for (const Vector& x : run.x) CHECK(x[1] < 0);
            }
  }

  TEST_CASE("behind an event, and where a selector compares modes, a step does not go to another root that moves less") {
    for (const double unit : {1.0, 0x1p30, 0x1p-30, 1e9, 1e-9})
      for (const Selector selector : {Selector::keep_mode, Selector::minimal_norm, Selector::continuation})
        for (const bool splits : {true, false}) {
          CAPTURE(unit);
          CAPTURE(splits);
          // y^2 grows by 100 of the way of x behind -0.05; -2.7 would need less of it.
          for (const double h : {0.05, 0.1, 0.2, 0.3, 0.5}) {
            CAPTURE(h);
            const Trajectory grows = run_text(
                fmt::format("x = {}\ny = {}", -0.2 * unit, std::sqrt(0.2) * unit),
                fmt::format("\"der(x) = {0} - 0.54*x + 0.3*y\", \"y^2 = {0}*if(x > {1}, 0.2*{0} + 100*(x - {1}), 0.2*{0})\"", unit, -0.05 * unit),
                {.h = h, .selector = selector, .split_at_events = splits}, 4);
            REQUIRE(grows.status == Status::solved);
            for (const Vector& x : grows.x) CHECK(x[1] > 0);
          }
          // y and z are the roots of u^2 - (2 + |x - 0.4|) u = 1, one of either sign.
          const double y = (2.03 + std::sqrt(2.03 * 2.03 + 4)) / 2;
          const Trajectory pair = run_text(fmt::format("x = {}\ny = {}\nz = {}", 0.43 * unit, y * unit, -unit / y),
                                           fmt::format("\"der(x) = y - 2*x*abs(x)/{0}\", \"y + z = 2*{0} + abs(x - 0.4*{0})\", \"y*z = -{0}^2\"", unit),
                                           {.h = 0.2, .selector = selector, .split_at_events = splits}, 1);
          REQUIRE(pair.status == Status::solved);
          for (const Vector& x : pair.x) CHECK(x[1] > 0);
        }
  }

  TEST_CASE("what moves by another part of the way than it did, or by a longer step, is looked for from where it is") {
    // Behind the step at 0.94, in which y moves by 2.4, its motion leads to the next root of the sine, 2 pi farther.
    const Trajectory run = run_text("y = 5.708453470840215\nw = 0",
                                    "\"sin(y - 10) = 0.95*(2/(1 + if(w - 0.95 > 0, 0.02 + 1e4*(w - 0.95), 0.02)) - 1)\", \"der(w) = 1 + 0.01*sin(y - 10)\"",
                                    {.h = 0.07}, 2);
    REQUIRE(run.status == Status::solved);
    for (const Vector& x : run.x) CHECK(std::abs(x[0] - 10 + std::numbers::pi) < std::numbers::pi / 2);
  }
}
