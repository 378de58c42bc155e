// What a model says in other words is proved like before.
#include <doctest/doctest.h>
#include <string>

#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::Enclosure;
using enclosure::Flag;

namespace {

Enclosure run(const std::string& text, int pieces = 64) {
  enclosure::EncloseOptions options;
  options.pieces = pieces;
  return enclosure::read_exact_model(text, "wording.toml").enclose(options);
}

std::string model(const std::string& variables, const std::string& body, const std::string& end = "1") {
  return "[variables]\n" + variables + "[model]\n" + body + "[run]\nt = [0, " + end + "]\n";
}

double widest(const Enclosure& result, std::size_t variable) {
  return width(result.rows.back().box[variable]);
}

}  // namespace

TEST_SUITE("analysis/enclosure/modes/wording") {
  TEST_CASE("variables that are names of others change no proof") {
    const auto dae = [](const std::string& more, const std::string& rate, const std::string& law) {
      return run(model("x1 = -5\nx2 = 4\nz = 0\n" + std::string(more.empty() ? "" : "n = 0\n"),
                       "equations = [\"der(x1) = 1 - z/2\", \"der(x2) = " + rate + "\", \"x2 = " + law + "\"" + more +
                           "]\n",
                       "10"));
    };
    const Enclosure plain = dae("", "z", "abs(x1) + sign(x1)");
    const Enclosure of_state = dae(", \"n = x1\"", "z", "abs(n) + sign(n)");
    const Enclosure of_rate = dae(", \"n = z\"", "n", "abs(x1) + sign(x1)");
    const Enclosure of_law = dae(", \"n = abs(x1) + sign(x1)\"", "z", "n");
    REQUIRE(plain.rows.back().t == 10);
    for (const Enclosure* named : {&of_state, &of_rate, &of_law}) {
      REQUIRE_FALSE(named->lost.has_value());
      CHECK(named->rows.back().flag == Flag::unique);
      CHECK(named->events.size() == plain.events.size());
      CHECK(widest(*named, 0) <= widest(plain, 0) + 1e-13);
    }
  }

  TEST_CASE("a surface that is written in two ways is met as one, in any unit and for any parameter") {
    const auto stick_slip = [](const std::string& vb, const std::string& distance) {
      return run("[parameters]\nvb = \"" + vb + "\"\n" +
                 model("x1 = \"vb\"\nx2 = 0\n",
                       "equations = [\"der(x1) = x2\", \"der(x2) = -x1 - 0.35*vb*sign(x2 - vb)/(1 + 3*" +
                           distance + ")\"]\n",
                       "20"));
    };
    for (const char* vb : {"1", "0.1", "1e12", "3e-12", "[0.999, 1.001]"}) {
      CAPTURE(vb);
      const Enclosure once = stick_slip(vb, "abs(x2 - vb)/vb");
      for (const char* again : {"abs(x2/vb - 1)", "abs(2 - x2*2/vb)/2", "max(1 - x2/vb, x2/vb - 1)"}) {
        CAPTURE(again);
        const Enclosure twice = stick_slip(vb, again);
        REQUIRE(twice.rows.back().t == 20);
        CHECK(twice.rows.back().flag == Flag::unique);
        CHECK(twice.events.size() == once.events.size());
        CHECK(twice.rows.back().multipliers.size() == 1);
        for (std::size_t j = 0; j < 2; ++j)
          CHECK(widest(twice, j) <= 1.01 * widest(once, j) + 1e-11 * magnitude(once.rows.back().box[j]));
      }
    }
  }

  // y is 0 at the surface, or -100 in another unit: (1 - λ)(x - y) + λ (x + y) = 0 has the roots y = 0, λ = 1/2
  TEST_CASE("a root of a product is found wherever the zero of its unit lies") {
    for (const char* shift : {"0", "100", "0.1", "-273.15"}) {
      CAPTURE(shift);
      const std::string y = "(y + " + std::string(shift) + ")";
      const Enclosure result = run(model(
          "x = -1\nq = 0.2\ny = -1\nr = 0\n",
          "laws = [\"lambda in step(x)\"]\nequations = [\"r = (1 - lambda)*(-x - 3*q + " + y +
              " + 15) + lambda*(x + 3*q + 2*" + y + " - 1)\", \"der(x) = r\", \"der(q) = (1 - lambda)*(3*x - q - 2*" + y +
              ") + lambda*(3*x + q - 3*" + y + ")\", \"-(0)/3 = -((1 - lambda)*(x - " + y + ") + lambda*(x + " + y +
              "))/3\"]\n"));
      CHECK_FALSE(result.lost.has_value());
      CHECK(result.rows.back().flag == Flag::unique);
      CHECK(widest(result, 1) < 1e-11);
    }
  }

  TEST_CASE("the zero of an unknown's unit widens nothing, of an interval as its factor neither") {
    const auto dae = [](const std::string& z) {
      return run("[parameters]\nB1 = \"[-0.55, -0.45]\"\nB2 = \"[0.95, 1.05]\"\nq = 40\n" +
                     model("x1 = -5\nx2 = 4\nz = 0\n", "equations = [\"der(x1) = 1 + B1*" + z + "\", \"der(x2) = B2*" + z +
                                                             "\", \"x2 = abs(x1) + sign(x1)\"]\n"));
    };
    const Enclosure plain = dae("z");
    for (const char* z : {"(z + 1000)", "(z - 273.15)", "(0.1 + z)", "(z - q)"}) {
      CAPTURE(z);
      const Enclosure shifted = dae(z);
      REQUIRE_FALSE(shifted.lost.has_value());
      CHECK(shifted.pieces == plain.pieces);
      for (std::size_t i = 0; i < 3; ++i) CHECK(widest(shifted, i) <= widest(plain, i) + 1e-12);
    }
  }

  TEST_CASE("time as a state widens no set") {
    const auto driven = [](const std::string& clock, const std::string& rate) {
      return run(model("x = 0\nv = \"[0.95, 1.05]\"\n" + clock,
                       "equations = [" + rate + "\"der(x) = v\", \"der(v) = sin(4*" + (clock.empty() ? "t" : "c") +
                           ") - 4*x\"]\n",
                       "8"),
                 1);
    };
    const Enclosure plain = driven("", ""), clocked = driven("c = 0\n", "\"der(c) = 1\", ");
    REQUIRE_FALSE(clocked.lost.has_value());
    for (const std::size_t j : {0U, 1U}) CHECK(widest(clocked, j) <= 1.0001 * widest(plain, j));
  }

  TEST_CASE("company that acts on nothing widens nothing, whatever it does meanwhile") {
    const auto oscillator = [](const std::string& start, const std::string& rate) {
      return run(model("x = 0\nv = \"[0.95, 1.05]\"\n" + start,
                       "equations = [" + rate + "\"der(x) = v\", \"der(v) = sin(4*t) - if(x > 0, 4*x, x)\"]\n", "16"),
                 1);
    };
    const Enclosure alone = oscillator("", "");
    const Enclosure beside = oscillator("q = \"[0.99, 1.01]\"\n", "\"der(q) = -0.168*sign(q - 0.3)\", ");
    REQUIRE_FALSE(alone.lost.has_value());
    REQUIRE_FALSE(beside.lost.has_value());
    for (const std::size_t j : {0U, 1U}) CHECK(widest(beside, j) <= 1.0001 * widest(alone, j));
  }

  // the window of the crossing of x is wide, and the kink of the company inside it for some members
  TEST_CASE("an event is told apart from one of company at nearly the same time by its own interval") {
    const auto event = [](const std::string& variables, const std::string& equations) {
      return run("[parameters]\na = \"[0.98, 1.02]\"\n" + model("x = -0.5\n" + variables,
                                                                "equations = [\"der(x) = a*(1 - 0.5*step(x))\"" + equations + "]\n"));
    };
    const Enclosure alone = event("", "");
    for (const char* start : {"0.5", "0.497", "0.505"}) {
      CAPTURE(start);
      const Enclosure both = event("q = " + std::string(start) + "\nw = 0\n", ", \"der(q) = -1\", \"der(w) = abs(q)\"");
      REQUIRE_FALSE(both.lost.has_value());
      CHECK(both.rows.back().flag == Flag::unique);
      CHECK(widest(both, 0) <= 1.2 * widest(alone, 0));
      CHECK(widest(both, 1) <= 1e-12);
    }
  }

  // x2 = abs(x1) + sign(x1) has no continuous continuation at t = 0.75; the company slides from t = 0.131 on
  TEST_CASE("what was proved before a loss stays proved, events of company before it or not") {
    const auto rows = [](const std::string& variables, const std::string& equations) {
      const Enclosure result =
          run(model("x1 = -0.5\nx2 = -0.5\nz = 0\n" + variables,
                    "equations = [\"der(x1) = 1 - z\", \"der(x2) = -2*z\", \"x2 = abs(x1) + sign(x1)\"" + equations + "]\n"));
      REQUIRE(result.lost.has_value());
      CHECK(result.lost->t.contains(0.75));
      return result.rows.size();
    };
    CHECK(rows("q = \"[0.99, 1.01]\"\n", ", \"der(q) = -5.25*sign(q - 0.3)\"") == rows("", ""));
  }

  TEST_CASE("a reset leaves a law on its surface that it does not touch") {
    const Enclosure ball = run(model(
        "h = 1\nv = 0\nq = \"[-0.42, -0.41]\"\n",
        "equations = [\"der(h) = v\", \"der(v) = -9.81\", \"der(q)*0.1 = 0.1*sign(-q - 0.3)\"]\n"
        "when = [{ condition = \"h\", direction = -1, set = { v = \"-0.9*v\" } }]\n"));
    REQUIRE_FALSE(ball.lost.has_value());
    CHECK(ball.rows.back().flag == Flag::unique);
    CHECK(widest(ball, 2) < 1e-15);
  }

  // Sliding on x = 0 would need tanh(y) + a z = 0, its derivative, and so on: nothing there holds λ.
  TEST_CASE("a surface that its own law cannot hold is differentiated as often as there are states") {
    const Enclosure result = run(
        model("x = -0.1\ny = 1\nz = 0.5\nu = 0.3\nv = 0.2\nw = 0.1\nq = 0\n",
              "equations = [\"der(x) = tanh(y) + 0.3*z\", \"der(y) = sin(z)*0.2 - 0.1*y\", \"der(z) = tanh(u)*y\", "
              "\"der(u) = sin(v)*z\", \"der(v) = tanh(w)*u\", \"der(w) = 0.1*sin(y)*v\", \"der(q) = step(x)\"]\n"));
    REQUIRE_FALSE(result.lost.has_value());
    CHECK(result.rows.back().flag == Flag::unique);
    CHECK(result.events.size() == 1);
  }
}
