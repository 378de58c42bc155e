#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>

#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::is_captured;
using perp::test::located_model;
using perp::test::run_located;

namespace {

/// `count` relays of as many states, all of which drive every state.
std::string relays(int count) {
  std::string variables, equations, sum;
  for (int i = 0; i < count; ++i) sum += fmt::format(" + 0.01*sign(x{})", i);
  for (int i = 0; i < count; ++i) {
    variables += fmt::format("x{} = {}\n", i, 2 + 0.1 * i);
    equations += fmt::format("  \"der(x{0}) = -x{0}{1}\",\n", i, sum);
  }
  return "[variables]\n" + variables + "[model]\nequations = [\n" + equations +
         "]\n[run]\nt = [0, 1]\n";
}

}  // namespace

TEST_SUITE("schemes/located/starts") {
  TEST_CASE(
      "laws that their argument decides are not enumerated: relays far from their switch start") {
    const Trajectory eight = run_located(located_model("eight_relays"), 1e-12);
    REQUIRE_MESSAGE(eight.status == Status::solved, eight.message);
    CHECK(std::abs(eight.x.back()[0] - (0.08 + 1.92 * std::exp(-1.0))) < 1e-13);
    for (const int count : {20, 40}) {
      const Trajectory run = run_located(relays(count), 1e-12);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK_FALSE(is_captured(run));
      const double rest = 0.01 * count;
      CHECK(std::abs(run.x.back()[0] - (rest + (2 - rest) * std::exp(-1.0))) < 1e-12);
    }
  }

  TEST_CASE("where several continuations start, the run says so, though no event does") {
    // ẋ = s sign(x) from 0: with s = 1 three, with s = -1 only the sliding one.
    for (const int s : {1, -1}) {
      const Trajectory run = run_located(
          fmt::format("[variables]\nx = 0\n[model]\nequations = [\"der(x) = {}*sign(x)\"]\n[run]\nt = [0, 1]\n", s), 1e-10);
      REQUIRE(run.status == Status::solved);
      CHECK(run.x.back()[0] == 0);
      CHECK(run.events.empty());
      const auto several = run.counts.find("choices_at_start");
      CHECK((several != run.counts.end()) == (s == 1));
    }
  }

  TEST_CASE("seven factors that switch start, and switch one after the other") {
    // ẋ = Π sign(y_i), ẏ_i = −1, y_i(0) = i + 1/2: the product changes its sign at 1/2, 3/2, ...
    std::string variables = "x = 0\n", equations, product;
    for (int i = 0; i < 7; ++i) {
      variables += fmt::format("y{} = {}\n", i, i + 0.5);
      equations += fmt::format(", \"der(y{}) = -1\"", i);
      product += fmt::format("{}sign(y{})", i > 0 ? "*" : "", i);
    }
    const Trajectory run =
        run_located("[variables]\n" + variables + "[model]\nequations = [\"der(x) = " + product +
                        "\"" + equations + "]\n[run]\nt = [0, 4]\n",
                    1e-12);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    CHECK_FALSE(is_captured(run));
    CHECK(run.events.size() == 4);
    CHECK(std::abs(run.x.back()[0] - (0.5 - 1 + 1 - 1 + 0.5)) < 1e-12);
  }

  TEST_CASE("nearer to the end of its branch than t can tell, a law starts on the next one") {
    // u̇ = −sign(u) from 1 at t = 1 is written at t = 2 with whatever the steps left of u = 0.
    for (const double u : {4.4408920985006262e-16, -4.4408920985006262e-16, 2.8698592549372279e-42}) {
      CAPTURE(u);
      const Trajectory run = run_located(
          fmt::format("[variables]\nu = {:.17g}\nx = 1\n[model]\nequations = [\"der(u) = "
                      "-sign(u)\", \"der(x) = 1\"]\n[run]\nt = [2, 6]\n",
                      u),
          1e-10);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.events.empty());
      CHECK(run.mode.front() == Mode{1});
      CHECK(std::abs(run.x.back()[0]) <= std::abs(u));
    }
  }

  TEST_CASE("beside a surface that repels a start is on its own side, however near, and on it only to the bit") {
    for (const std::string rate : {"sign(u)", "sign(u)*(1 + 0*u^3)", "1 + 2*sign(u)"})
      for (const double u : {1e-10, 1e-12, -1e-12, 1e-13, -1e-16, 1e-20, 1e-200, -1e-300}) {
        CAPTURE(rate);
        CAPTURE(u);
        const Trajectory run = run_located(fmt::format("[variables]\nu = {:.17g}\n[model]\nequations = [\"der(u) = {}\"]\n[run]\nt = [0, 1]\n", u, rate), 1e-10);
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        const double slope = rate[0] == '1' ? (u > 0 ? 3 : -1) : (u > 0 ? 1 : -1);
        CHECK(std::abs(run.x.back()[0] - slope) <= 2e-10);
        CHECK(run.counts.count("choices_at_start") == 0);
      }
    // in company that is attracted
    for (const double v : {1e-9, 1e-12, 1e-40}) {
      const Trajectory run = run_located(fmt::format("[variables]\nu = 1e-16\nv = {:.17g}\n[model]\nequations = [\"der(u) = sign(u)\", \"der(v) = -sign(v)\"]\n[run]\nt = [0, 1]\n", v), 1e-10);
      CAPTURE(v);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(std::abs(run.x.back()[0] - 1) <= 2e-10);
    }
  }

  TEST_CASE("a reset that has fired at the written moment does not fire again from there") {
    // x = 3/4 t − 9/32 passes 0 at t = 3/8; the double below 0 that the steps left is 3/4 ulps of t.
    const std::string model =
        "[variables]\nx = {:.17g}\nn = 0\n[model]\nequations = [\"der(x) = 0.75\", \"der(n) = "
        "0\"]\nwhen = [{{ condition = \"x\", direction = 1, set = {{ n = \"n + 1\" }}, name = "
        "\"r\" }}]\n[run]\nt = [0.375, 1]\n";
    const Trajectory passed =
        run_located(fmt::format(fmt::runtime(model), -4.163336342344337e-17), 1e-10);
    CHECK(passed.x.back()[1] == 0);
    const Trajectory ahead = run_located(fmt::format(fmt::runtime(model), -1e-13), 1e-10);
    CHECK(ahead.x.back()[1] == 1);
  }
}
