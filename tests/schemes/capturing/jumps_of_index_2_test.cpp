#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/run_by_name.hpp>

// Behind a jump of a system of index 2 the algebraic variables are those of the solution there, not the impulse of the
// jump and not the rounding of the short step that makes it.

using namespace perp;

namespace {

/// x1' = -a x1 + z, x2' = -b x2 - c z on x1 = k x2 + s: there (1 + k c) z = a x1 - k b x2.
struct Pair {
  double a, b, c, k, s;
  explicit Pair(unsigned seed) {
    std::mt19937 random(seed);
    const auto draw = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
    a = draw(0.2, 2), b = draw(0.2, 2), c = draw(0.2, 2), k = draw(0.5, 2), s = draw(-2, 2);
  }
  [[nodiscard]] std::string rates(bool is_affine) const {
    return fmt::format("\"der(x1) = -{}*x1 + z{}\", \"der(x2) = -{}*x2 - {}*z\"", a, is_affine ? "" : " + 0*x1*x2", b, c);
  }
  /// By how much z misses the solution at (x1, x2).
  [[nodiscard]] double miss(const Vector& x) const {
    const double exact = (a * x[0] - k * b * x[1]) / (1 + k * c);
    return std::abs(x[2] - exact) / (1 + std::abs(exact));
  }
};

const std::vector<std::string> schemes = {"backward_euler", "theta", "located"};

}  // namespace

TEST_SUITE("schemes/capturing/jumps_of_index_2") {
  TEST_CASE("behind a jump of the data z is that of the rows, in every scheme, for every step length") {
    for (unsigned seed = 1; seed <= 6; ++seed)
      for (const bool is_affine : {true, false})
        for (const std::string& scheme : schemes)
          for (const double h : {0.01, 1e-3}) {
            CAPTURE(seed);
            CAPTURE(is_affine);
            CAPTURE(scheme);
            CAPTURE(h);
            const Pair pair(seed);
            const Model model = read_model_text(
                fmt::format("[variables]\nx1 = {}\nx2 = 1\nz = 0\n[model]\nequations = [{}, \"0 = x1 - {}*x2 - {}*step(t - "
                            "0.503)\"]\n[run]\nt = [0, 1]\n",
                            pair.k, pair.rates(is_affine), pair.k, pair.s),
                "data");
            const Trajectory run = test::run_by_name(model, scheme, h);
            REQUIRE_MESSAGE(run.status == Status::solved, run.message);
            CHECK(std::ranges::count(run.events, EventKind::jump, &Event::kind) == 1);
            for (std::size_t row = 1; row < run.size(); ++row) CHECK(pair.miss(run.x[row]) < 1e-8);
          }
  }

  TEST_CASE("a reset off a constraint is followed by the jump back onto it, an event of its own") {
    for (unsigned seed = 1; seed <= 6; ++seed)
      for (const std::string& scheme : schemes)
        for (const double h : {0.01, 1e-3}) {
          CAPTURE(seed);
          CAPTURE(scheme);
          CAPTURE(h);
          const Pair pair(seed);
          const Model model = read_model_text(
              fmt::format("[variables]\nx1 = {}\nx2 = 1\nz = 0\n[model]\nequations = [{}, \"0 = x1 - {}*x2\"]\nwhen = [{{ "
                          "condition = \"x2 < 0.6\", set = {{ x1 = \"x1 + 1\" }} }}]\n[run]\nt = [0, 1.5]\n",
                          pair.k, pair.rates(true), pair.k),
              "reset");
          const Trajectory run = test::run_by_name(model, scheme, h);
          REQUIRE_MESSAGE(run.status == Status::solved, run.message);
          std::vector<Event> jumps;
          std::ranges::copy_if(run.events, std::back_inserter(jumps), [](const Event& e) { return e.kind == EventKind::jump; });
          REQUIRE(jumps.size() % 2 == 0);
          CHECK(jumps.size() == run.events.size());
          for (std::size_t i = 0; i + 1 < jumps.size(); i += 2) {
            const Vector &written = jumps[i].x_after, &landed = jumps[i + 1].x_after;
            CHECK(jumps[i + 1].x_before == written);
            CHECK(std::abs(written[0] - jumps[i].x_before[0] - 1) < 1e-12);
            // An impulse of z moves (x1, x2) along (1, -c).
            CHECK(std::abs(landed[0] - pair.k * landed[1]) < 1e-9);
            CHECK(std::abs(pair.c * (landed[0] - written[0]) + (landed[1] - written[1])) < 1e-9);
          }
          for (std::size_t row = 1; row < run.size(); ++row) CHECK(pair.miss(run.x[row]) < 1e-8);
        }
  }

  TEST_CASE("a run that begins with a jump begins behind it; the event has the state before") {
    for (const double b2 : {1.5, 2.0, 7.0})
      for (const std::string& scheme : schemes)
        for (const char* bend : {"", " + 0*x1*x2"}) {
          CAPTURE(b2);
          CAPTURE(scheme);
          // On x2 = |x1| + sign(x1) the corner (0, -1) is left by (1, b2) alone.
          const Model model = read_model_text(
              fmt::format("[variables]\nx1 = 0\nx2 = -1\nz = 0\n[model]\nequations = [\"der(x1) = 1 + z{}\", \"der(x2) = {}*z\", "
                          "\"x2 = abs(x1) + sign(x1)\"]\n[run]\nt = [0, 1]\n",
                          bend, b2),
              "start");
          const Trajectory run = test::run_by_name(model, scheme, 0.01);
          REQUIRE_MESSAGE(run.status == Status::solved, run.message);
          REQUIRE(run.events.size() == 1);
          CHECK(run.events[0].kind == EventKind::jump);
          CHECK(run.events[0].x_before[1] == -1);
          const double moved = 2 / (b2 - 1), z = 1 / (b2 - 1);
          CHECK(std::abs(run.x[0][0] - moved) < 1e-9);
          CHECK(std::abs(run.events[0].x_after[0] - moved) < 1e-9);
          for (const Vector& x : run.x) CHECK(std::abs(x[2] - z) < 1e-8);
        }
  }

  TEST_CASE("where a solution ends within a step its last row has the algebraic variables of the rows before") {
    for (const double h : {1e-2, 1e-3, 1e-4}) {
      // x1 rises to the corner (0, -1), from which neither a mode nor a jump leads on; z = -1/(1 + b2) until then.
      const Model model = read_model_text(
          "[variables]\nx1 = -0.5037\nx2 = -0.4963\nz = 0\n[model]\nequations = [\"der(x1) = 1 + z\", \"der(x2) = 0.5*z\", "
          "\"x2 = abs(x1) + sign(x1)\"]\n[run]\nt = [0, 3]\n",
          "end");
      const Trajectory run = integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = h});
      CHECK(run.status == Status::no_solution);
      for (std::size_t row = 1; row < run.size(); ++row) CHECK(std::abs(run.x[row][2] + 1 / 1.5) < 1e-7);
    }
  }

  TEST_CASE("a jump at the end of a step is one, and no row has its impulse") {
    // x1 falls to -3/2 at t = 15/8, a multiple of h up to the rounding of 375 steps, and jumps to -53/30 there.
    const Model model = read_model_text(
        "[variables]\nx1 = -1\nx2 = -1\nz = 0\n[model]\nequations = [\"der(x1) = -0.5 + 0.5*z\", \"der(x2) = -1 + 2*z\", "
        "\"x2 = 0.25*x1 - 0.75 + abs(x1 - 1) - abs(x1 - 2) + 0.5*sign(x1 + 1.5) - 0.5*sign(x1 - 2)\"]\n[run]\nt = [0, 2]\n",
        "end");
    for (const std::string& scheme : schemes) {
      CAPTURE(scheme);
      const Trajectory run = test::run_by_name(model, scheme, 0.005);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(std::ranges::count(run.events, EventKind::jump, &Event::kind) == 1);
      CHECK(run.events.size() == 1);
      CHECK(std::abs(run.x.back()[0] + 1.8) < 1e-9);
      for (std::size_t row = 1; row < run.size(); ++row) CHECK(std::abs(run.x[row][2] - 1.4 / 3) < 1e-8);
    }
  }

  TEST_CASE("a jump over several surfaces keeps the order of the located scheme wherever rounding puts its start") {
    const Model model = read_model_text(
        "[variables]\nx1 = -2.75\nx2 = -0.6875\nz = 0\n[model]\nequations = [\"der(x1) = -1 + 2*z\", \"der(x2) = 0.5 - 0.5*z\", "
        "\"x2 = 0.75*x1 - 0.75 + 0.5*abs(x1 + 0.5) - 0.5*sign(x1 + 2) - 0.5*sign(x1 + 0.5)\"]\n[run]\nt = [0, 2]\n",
        "surfaces");
    for (const double h : {0.1, 0.01, 0.0051, 0.005, 0.004, 0.001}) {
      CAPTURE(h);
      const Trajectory run = test::run_by_name(model, "located", h);
      REQUIRE(run.status == Status::solved);
      CHECK(run.message.find("first order") == std::string::npos);
      REQUIRE(run.events.size() == 1);
      CHECK(run.events[0].kind == EventKind::jump);
      CHECK(std::abs(run.events[0].x_after[0] - 1.0 / 3) < 1e-9);
    }
  }

  TEST_CASE("a variable that is 0 up to the rounding of its steps passes no pole: nothing jumps before the mode ends") {
    for (const double unit : {1.0, 0x1p20, 0x1p-20})
      for (const double theta : {1.0, 0.5}) {
        CAPTURE(unit);
        CAPTURE(theta);
        const Model model = read_model_text(
            fmt::format("[variables]\nx1 = 2.625\nx2 = {0}\nz = 0\n[model]\nequations = [\"der(x1) = -2 + z + 0*x1*x1\", "
                        "\"der(x2)/{1} = 1 + 0.5*z\", \"x2/{1} = -x1 + 0.5*abs(x1 - 0.5) + sign(x1 - 0.5)\"]\n[run]\nt = [0, 2]\n",
                        -0.5625 * unit, unit),
            "zero");
        const Trajectory run = integrate(model.system, model.x0(), model.run.span, Theta{.h = 0.005, .theta = theta});
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        REQUIRE(run.events.size() == 1);
        CHECK(std::abs(run.events[0].t - 1.0625) < 1e-9);
        CHECK(std::abs(run.x.back()[0] + 1.4375) < 1e-9);
      }
  }

  TEST_CASE("of two jumps the smaller one is taken, in nonlinear models too") {
    // From (1, 4.75) to x1 = 65/41 or to -53/19.
    for (const char* bend : {"", " + 0*x1*x1"})
      for (const std::string& scheme : schemes) {
        CAPTURE(bend);
        CAPTURE(scheme);
        const Model model = read_model_text(
            fmt::format("[variables]\nx1 = -1.875\nx2 = 5.46875\nz = 0\n[model]\nequations = [\"der(x1) = 2 + 1.5*z{}\", "
                        "\"der(x2) = 1.5 - z\", \"x2 = 0.25*x1 + 0.5 + abs(x1 + 2) + 0.5*abs(x1 - 1) + abs(x1 - 1.5) - 0.5*sign(x1 - "
                        "1)\"]\n[run]\nt = [0, 1]\n",
                        bend),
            "two");
        const Trajectory run = test::run_by_name(model, scheme, 0.01);
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        REQUIRE(run.events.size() == 1);
        CHECK(std::abs(run.events[0].x_after[0] - 65.0 / 41) < 1e-9);
      }
  }
}
