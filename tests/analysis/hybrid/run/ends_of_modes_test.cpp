#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/read_model.hpp>

TEST_SUITE("analysis/hybrid/run/ends_of_modes") {
  // ẋ = 2.1 - 1.162 (x + 1), in mode 11; y = 1024 and more has coarse bounds, which are not those of x.
  TEST_CASE("a mode ends where its constraint is 0 to rounding, whatever bounds of errors say beside large unknowns") {
    const char* text = R"toml(
      [variables]
      x = { start = -1.257, nominal = 1 }
      y = { start = 1024.053, nominal = 1 }
      u = { start = -4096.945, nominal = 1 }
      [binaries]
      b1 = 1
      b2 = 1
      b3 = 1
      [model]
      equations = [
        "der(x) = -1.162*(x + 1) + 3.899*b1 - 1.71556 - 0.562*b1 + 1.94*b2 - 0.43262 - 1.088912",
        "der(y) = -0.276*(x + 1)",
        "0 = -1.726*(u + 4096) + 0.408*(y - 1024)",
      ]
      constraints = [
        "(0)*(1 - b1) + (0)*b1 <= 0",
        "0.013*(1 - b2)*(1 - b3) <= 0",
        "((x + 1) - 0.519)*b2 + ((x + 1) - 0.519)*(1 - b2)*b3 <= 0",
      ]
      [run]
      t = [0, 2.729]
      h = 0.0213203125)toml";
    const perp::Model model =
        perp::read_model_text(text, "coarse.toml", {{"run.scheme", "backward_euler"}}, {.hybrid = true});
    const perp::Trajectory run = perp::scheme("backward_euler").run(model, {});
    REQUIRE(run.status == perp::Status::solved);
    REQUIRE(run.events.size() == 1);
    CHECK(std::abs(run.events[0].x_before[0] - (0.519 - 1)) < 1e-14);
  }

  // ẋ = 4.934 from -0.929; b = 0 needs x >= 0.463, b = 1 needs x <= 0.
  TEST_CASE("the last row of a run that ends is where its mode does, wherever in a step of h that is") {
    const char* text = R"toml(
      [variables]
      x = { start = -0.929, nominal = 1 }
      [binaries]
      b = 1
      [model]
      equations = ["der(x) = 3 + 1.934*b"]
      constraints = ["(-x + 0.463)*(1 - b) + x*b <= 0"]
      [run]
      t = [0, 1])toml";
    for (const double h : {0.008265625, 0.25, 0.01}) {
      CAPTURE(h);
      perp::Model model = perp::read_model_text(text, "ends.toml", {{"run.scheme", "backward_euler"}}, {.hybrid = true});
      model.run.h = h;
      const perp::Trajectory run = perp::scheme("backward_euler").run(model, {});
      REQUIRE(run.status == perp::Status::no_solution);
      CHECK(run.t.back() == doctest::Approx(0.929 / 4.934).epsilon(1e-9));
      CHECK(run.events.back().t == run.t.back());
    }
  }

  // x ends on its constraint whatever b is: what rounding makes of b in the last moment is no change.
  TEST_CASE("a run that ends ends in the mode before, wherever its variables are counted from") {
    const char* text = R"toml(
      [variables]
      x = { start = -511.8, nominal = 1 }
      y = { start = -1023.4, nominal = 1 }
      [binaries]
      a = 1
      b = 1
      [model]
      equations = ["der(x) = 1.529*a + 0.5*b*(y + 1024)", "der(y) = 0"]
      constraints = [
        "(x + 512)*(2*a - 1) >= 0",
        "(-0.591)*(1 - b) + (0)*b <= 0",
        "(x + 512) - 1.33 <= 0",
      ]
      [run]
      t = [0, 3]
      h = 0.0198359375)toml";
    const perp::Model model = perp::read_model_text(text, "end.toml", {{"run.scheme", "backward_euler"}}, {.hybrid = true});
    const perp::Trajectory run = perp::scheme("backward_euler").run(model, {});
    CHECK(run.status == perp::Status::not_solved);
    CHECK(run.t.back() == doctest::Approx(1.13 / 1.829).epsilon(1e-9));
    CHECK(run.events.size() == 1);
  }

  // The bounds of x were those beside the binaries that no equation reads, whose unit is 1 whatever that of x.
  TEST_CASE("powers of two as units of a variable and of time change no bit of the end of a mode beside binaries that nothing reads") {
    const auto run_in = [](double unit, double time) {
      const std::string text = fmt::format(
          R"toml(
      [variables]
      x = {{ start = {:.17g}, nominal = {:.17g} }}
      [binaries]
      b1 = 1
      b2 = 0
      b3 = 1
      b4 = 1
      [model]
      equations = ["{:.17g}*der(x) = -0.547*x + {:.17g} - {:.17g}*b4"]
      constraints = [
        "(0)*(1 - 2*b1) <= 0",
        "(0)*(1 - b2)*(1 - b3) <= 0",
        "(0)*b2 + {:.17g}*x*(1 - b2)*b3 <= 0",
        "({:.17g}*x - 0.517)*b4 <= 0",
      ]
      [run]
      t = [0, {:.17g}]
      h = {:.17g})toml",
          0.502 * unit, unit, time, 2.507232 * unit, 1.248 * unit, 1 / unit, 1 / unit, 3 * time, 0.0234140625 * time);
      const perp::Model model = perp::read_model_text(text, "units.toml", {{"run.scheme", "backward_euler"}}, {.hybrid = true});
      return perp::scheme("backward_euler").run(model, {});
    };
    const perp::Trajectory one = run_in(1, 1);
    for (const auto& [unit, time] : std::vector<std::pair<double, double>>{{0x1p-22, 1}, {0x1p-22, 0x1p-23}, {0x1p30, 0x1p5}, {1, 0x1p-9}}) {
      CAPTURE(unit);
      CAPTURE(time);
      const perp::Trajectory other = run_in(unit, time);
      REQUIRE(other.size() == one.size());
      bool is_same = true;
      for (std::size_t k = 0; k < one.size(); ++k)
        is_same = is_same && time * one.t[k] == other.t[k] && unit * one.x[k][0] == other.x[k][0];
      CHECK(is_same);
    }
  }

  // x chatters between -0.713 and -0.399 - 0.2 u, which meet at t*; behind it 1001 and 0100 continue, and more.
  TEST_CASE("where changes crowd towards a moment from which several values continue the one that is taken is said to be one of rounding") {
    const char* text = R"toml(
      [variables]
      x = { start = -0.3, nominal = 1 }
      [inputs]
      u = "0.957 + 1.147*sin(1.299*t)"
      [binaries]
      b1 = 1
      b2 = 1
      b3 = 0
      b4 = 0
      [model]
      equations = ["der(x) = -0.8*u + 2.353*b1 - 1 - 3*b4 + 0.922572"]
      constraints = [
        "x*(2*b3 - 1) >= 0",
        "(-x - 0.713)*(1 - b1)*(1 - b2) <= 0",
        "(x + 0.399 + 0.2*u)*b1 + (x + 0.399)*(1 - b1)*b2 <= 0",
        "(-0.763)*(1 - 2*b4)*b2 <= 0",
      ]
      [run]
      t = [0, 3]
      h = 0.01975)toml";
    const double limit = std::asin((0.314 / 0.2 - 0.957) / 1.147) / 1.299;  // -0.399 - 0.2 u = -0.713
    for (const std::string scheme : {"backward_euler", "located"}) {
      CAPTURE(scheme);
      const perp::Model model = perp::read_model_text(text, "crowd.toml", {{"run.scheme", scheme}}, {.hybrid = true});
      const perp::Trajectory run = perp::scheme(scheme).run(model, {});
      REQUIRE(run.status == perp::Status::solved);
      const perp::Event& last = run.events.back();
      CHECK(last.t == doctest::Approx(limit).epsilon(1e-9));
      CHECK(last.is_weak);
      CHECK(last.note.find("changes crowd towards this moment") != std::string::npos);
      for (const perp::Event& event : run.events) CHECK((event.is_weak ? std::abs(event.t - limit) < 1e-9 : event.t < limit));
    }
  }
}
