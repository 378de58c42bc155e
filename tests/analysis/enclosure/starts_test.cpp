#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/core/base/error.hpp>

using namespace perp;
using enclosure::Enclosure;
using enclosure::Interval;

namespace {

Enclosure run(const std::string& text, int pieces = 64) {
  enclosure::EncloseOptions options;
  options.pieces = pieces;
  return enclosure::read_exact_model(text, "start.toml").enclose(options);
}

/// What the refusal says; empty: it was not refused.
std::string refusal(const std::string& text) {
  try {
    run(text);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return {};
}

std::string surface(const std::string& x1, const std::string& x2) {
  return "[variables]\nx1 = " + x1 + "\nx2 = " + x2 +
         "\nz = 0\n[model]\nequations = [\n  \"der(x1) = 1 - z\",\n  \"der(x2) = z/2\",\n"
         "  \"x2 = abs(x1) + sign(x1)\",\n]\n[run]\nt = [0, 0.5]\n";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("analysis/enclosure/starts") {
  TEST_CASE("a start that an equation between states forbids is wrong input, at that equation") {
    CHECK(contains(refusal(surface("1", "1.5")), "start.toml:9:3: no start fulfils this equation"));
    CHECK(contains(refusal(surface("\"[1, 1.25]\"", "\"[2.5, 3]\"")), "differ by"));
    CHECK(refusal(surface("1", "2")).empty());
    CHECK(refusal(surface("\"[1, 1.25]\"", "\"[2, 2.25]\"")).empty());
    CHECK(refusal(surface("0", "0.5")).empty());  // the sign may be any from -1 to 1
    CHECK_FALSE(refusal(surface("0", "1.5")).empty());
  }

  TEST_CASE("so is one that no mode has, and one that a derived equation forbids") {
    const std::string contact =
        "[variables]\nx = X\n[model]\nlaws = [\"f in complementarity(x)\"]\nequations = [\"der(x) "
        "= "
        "f - 1\"]\n[run]\nt = [0, 0.5]\n";
    const auto at = [&contact](const std::string& x) {
      std::string text = contact;
      return text.replace(text.find('X'), 1, x);
    };
    CHECK(contains(refusal(at("-1")),
                   "start.toml:4:9: law 'f' has no branch for any of the starts: its argument is in "
                   "[-1, -1]; expected a consistent start"));
    CHECK(contains(refusal(at("\"[-2, -1]\"")), "its argument is in [-2, -1]"));
    CHECK(refusal(at("1")).empty());
    // a rod: x² + y² = 1 asks for x u + y v = 0 as well
    const std::string rod =
        "[variables]\nx = 1\ny = 0\nu = U\nz = 0\n[model]\nequations = [\"der(x) = u + x*z\", "
        "\"der(y) = 1 + y*z\", \"der(u) = 0\", \"x^2 + y^2 = 1\"]\n[run]\nt = [0, 0.25]\n";
    std::string free = rod;
    CHECK(refusal(free.replace(free.find('U'), 1, "0.5")).empty());
  }

  TEST_CASE("of a set of starts those count that are consistent") {
    // x1 = x2 leaves one point
    const Enclosure result = run(
        "[variables]\nx1 = 1\nx2 = \"[0.5, 1.5]\"\nz = 0\n[model]\nequations = [\"der(x1) = z\", "
        "\"der(x2) = -x2^2\", \"x1 = x2\"]\n[run]\nt = [0, 1]\n");
    REQUIRE_FALSE(result.lost.has_value());
    CHECK(result.rows.back().box[0].contains(0.5));
    CHECK(result.rows.back().box[1].contains(0.5));
    CHECK(result.forbids_starts);
  }

  TEST_CASE("a set with points that an equation between states or a law forbids is said to have them, and no other") {
    CHECK(run(surface("\"[-0.25, 0.25]\"", "0")).forbids_starts);
    CHECK(run(surface("\"[1, 1.25]\"", "\"[2, 2.25]\"")).forbids_starts);
    CHECK_FALSE(run(surface("1", "2")).forbids_starts);
    const auto contact = [](const std::string& x) {
      return run("[variables]\nx = " + x + "\n[model]\nlaws = [\"f in complementarity(x)\"]\nequations = [\"der(x) = f - 1\"]\n"
                 "[run]\nt = [0, 0.25]\n").forbids_starts;
    };
    CHECK_FALSE(contact("\"[0.5, 1]\""));
    CHECK_FALSE(contact("0"));
    // company without an equation between states, and a set on both sides of a relay
    const std::string relay = "[variables]\nx = \"[-1, 1]\"\ny = 2\nv = 2\nz = 0\n[model]\nequations = [\"der(x) = -sign(x)\", "
                              "\"der(y) = z\", \"der(v) = 1\", \"y = v\"]\n[run]\nt = [0, 0.25]\n";
    CHECK_FALSE(run(relay).forbids_starts);
  }

  TEST_CASE("where no mode continues any member, parts of the set would have none either") {
    const Enclosure result = run(
        "[variables]\nx1 = -0.5\nx2 = -0.5\nz = 0\nq = \"[0.99, 1.01]\"\ns = 0\n[model]\nequations = [\n"
        "  \"der(x1) = 1 + z\",\n  \"der(x2) = 2*z\",\n  \"x2 = abs(x1) + sign(x1)\",\n  \"der(q) = s\",\n"
        "  \"der(s) = -q - 0.3*sign(s)\",\n]\n[run]\nt = [0, 1.5]\n");
    REQUIRE(result.lost.has_value());
    CHECK(contains(result.lost->reason, "no continuous continuation"));
    CHECK(result.lost->t.contains(0.75));
    CHECK(result.pieces <= 2);
  }

  TEST_CASE("a set is bisected along what decides the next mode, not along what stands beside it") {
    const Enclosure result = run(
        "[parameters]\nk = \"[-0.5, 1]\"\n[variables]\nx = 0\nq = \"[9, 11]\"\n[model]\nequations = [\n"
        "  \"der(x) = k - 2*sign(x)\",\n  \"der(q) = -q\",\n]\n[run]\nt = [0, 1]\n");
    CHECK_FALSE(result.lost.has_value());
    CHECK(result.pieces == 2);  // one of x, one of q, which does not act on it
  }

  // 0.001 and 0.1 are no doubles: in intervals the multiplier is near -1, and the condition near 0.
  TEST_CASE("a start on a surface is known as the decimal numbers of the file, in any units") {
    const auto branches = [](const std::string& factor, const std::string& x2) {
      const Enclosure result = run(
          "[variables]\nx1 = 0\nx2 = " + x2 + "\nz = 0\n[model]\nequations = [\"der(x1) = 1 - z\", \"der(x2)*" +
          factor + " = z/2\", \"x2*" + factor + " = abs(x1) + sign(x1)\"]\n[run]\nt = [0, 0.5]\n");
      CHECK_FALSE(result.lost.has_value());
      CHECK(result.rows.back().flag == enclosure::Flag::all);
      int most = 0;
      for (const auto& row : result.rows) most = std::max(most, row.branch);
      return most + 1;
    };
    CHECK(branches("1", "-1") == 2);
    CHECK(branches("0.001", "-1000") == 2);
    CHECK(branches("1e9", "-1e-9") == 2);

    const Enclosure ball = run(
        "[variables]\nh = -0.1\nv = 10\n[model]\nequations = [\"der(h) = v\", \"der(v) = -9.81\"]\n"
        "when = [{ condition = \"h + 0.1\", direction = -1, set = { v = \"-0.9*v\" } }]\n[run]\nt = [0, 3]\n");
    CHECK_FALSE(ball.lost.has_value());
    CHECK(ball.events.size() == 1);
    CHECK(ball.rows.back().flag == enclosure::Flag::unique);
  }

  TEST_CASE("a start that misses a constraint by less than its rounding is none") {
    const auto text = [](const std::string& y) {
      return "[variables]\nx = 0.3\ny = " + y + "\nz = 0\n[model]\nequations = [\"der(x) = z\", \"der(y) = 1 - z\", "
             "\"y = x/3\"]\n[run]\nt = [0, 0.5]\n";
    };
    CHECK(refusal(text("0.1")).empty());
    CHECK(contains(refusal(text("0.1000000000000000000001")), "the start does not fulfil equation 3"));
  }

  // (-5.1, 5) fulfils the equation as decimal numbers, and no doubles beside them do: what is made of the start
  // to measure and bisect it, points and halves, must not be followed as if each of its boxes held a start
  TEST_CASE("of parts of a start no two enclosures contradict each other, whatever their rounding") {
    const auto text = [](const std::string& x1, const std::string& x2, const std::string& B1) {
      return "[parameters]\nB1 = " + B1 + "\nB2 = \"[0.95, 1.05]\"\n[variables]\nx1 = " + x1 + "\nx2 = " + x2 +
             "\nz = 0\n[model]\nequations = [\"der(x1) = 1 + B1*z\", \"der(x2) = B2*z\", "
             "\"(x2 - 1) = abs(x1 + 0.1) + sign(x1 + 0.1)\"]\n[run]\nt = [0, 6]\nh = 1.5\n";
    };
    for (const auto& [x1, x2, B1] : {std::tuple("-5.1", "5", "\"[-0.55, -0.45]\""),
                                     std::tuple("-5.7", "5.6", "\"[-0.55, -0.45]\""),
                                     std::tuple("\"[-5.3, -5.1]\"", "\"[5, 5.2]\"", "-0.5"),
                                     std::tuple("\"[-5.3, -5.1]\"", "\"[5, 5.2]\"", "\"[-0.55, -0.45]\"")}) {
      const auto& shown_x1 = x1;
      CAPTURE(shown_x1);
      const Enclosure result = run(text(x1, x2, B1), 128);
      CHECK_FALSE(result.lost.has_value());
      CHECK(result.rows.back().flag == enclosure::Flag::unique);
      // x2 - 1 = x1 + 0.1 + 1, all members being behind the surface
      CHECK(result.rows.back().box[1].contains(result.rows.back().box[0].lo + 2.1));
    }
  }

  // x = a e^(−a t), decreasing in a at t = 1; with a start of its own x would be in a set ten times as wide.
  TEST_CASE("starts and parameters that are formulas of intervals are no intervals of their own") {
    const double low = 1.5 * std::exp(-1.5), high = std::exp(-1);
    const auto check = [&](const std::string& parameters, const std::string& x, const std::string& company,
                           const std::string& rate) {
      CAPTURE(parameters);
      CAPTURE(company);
      CAPTURE(rate);
      const Enclosure result = run("[parameters]\na = \"[1, 1.5]\"\n" + parameters + "[variables]\nx = \"" + x +
                                   "\"\ny = 1\n[model]\nequations = [\"der(x) = " + rate + "\", \"der(y) = " +
                                   company + "\"]\n[run]\nt = [0, 1]\n");
      REQUIRE_FALSE(result.lost.has_value());
      Interval all = result.rows.back().box[0];
      for (const auto& row : result.rows)
        if (row.t == 1) all = hull(all, row.box[0]);
      CHECK(all.lo <= low);
      CHECK(all.hi >= high);
      CHECK(width(all) < 1.5 * (high - low));
    };
    for (const char* company : {"-y", "-y + x/8"}) {  // a part of its own, or not
      check("", "a", company, "-a*x");
      check("b = \"2*a\"\n", "b/2", company, "-a*x");
      check("b = \"2*a\"\nc = \"0.1*b - a/5\"\n", "a + c", company, "-b*x/2 + c*x");
      check("b = \"2*a\"\n", "a", company, "-0.5*b*x");
    }
    const Enclosure rest = run("[parameters]\na = \"[1, 3]\"\nb = \"a/4\"\n[variables]\nx = 0\n[model]\n"
                               "equations = [\"der(x) = a - 4*b\"]\n[run]\nt = [0, 2]\n");
    CHECK(rest.rows.back().box[0].is_zero());
    CHECK(rest.pieces == 1);
  }

  // sign(k - 1) of k = 1 is [-1, 1], as k/2 - 1/2 in the limit of sets around it; kinks there have one value.
  TEST_CASE("operators of parameters that are on their surface are sets, or the one value that they have") {
    const auto end = [&](const std::string& k, const std::string& rate) {
      CAPTURE(k);
      CAPTURE(rate);
      const Enclosure result = run("[parameters]\nk = " + k + "\n[variables]\nx = 0\n[model]\nequations = [\"der(x) = " + rate +
                                   "\"]\n[run]\nt = [0, 1]\n");
      REQUIRE_FALSE(result.lost.has_value());
      Interval all = result.rows.back().box[0];
      for (const auto& row : result.rows)
        if (row.t == 1) all = hull(all, row.box[0]);
      return all;
    };
    for (const char* k : {"1", "\"[1, 1]\"", "\"[0.5, 1.5]\""}) {
      CHECK(end(k, "sign(k - 1)").contains(Interval(-1, 1)));
      CHECK(end(k, "-sign(1 - k)*(1 + x^2)").contains(Interval(-1.5, 1.5)));
    }
    for (const char* k : {"1", "\"[1, 1]\""}) {
      CHECK(end(k, "abs(k - 1)").is_zero());
      CHECK(end(k, "max(k - 1, 0) + min(0, 1 - k)").is_zero());
      CHECK(end(k, "max(k, 1)").contains(1.0));
      CHECK(end(k, "sat(k, 1, 2)").contains(1.0));
      CHECK(end(k, "sign(0)").is_zero());
    }
    for (const char* rate : {"abs(k - 1)", "max(k - 1, 0) + max(0, 1 - k)", "max(k, 1) - min(k, 1)"}) {
      const Interval found = end("\"[0.5, 1.5]\"", rate);
      CHECK(found.contains(Interval(0, 0.5)));
      CHECK(width(found) < 1.01);
    }
  }
}
