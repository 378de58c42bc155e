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
}
