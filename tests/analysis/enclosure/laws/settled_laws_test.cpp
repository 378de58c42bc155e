#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::Enclosure;
using enclosure::EnclosureRow;
using enclosure::Flag;
using enclosure::Interval;

namespace {

/// x'' = -f(x), v = x', or any other equation of v.
Enclosure run(const std::string& equation, const std::string& x, const std::string& v, double end) {
  enclosure::EncloseOptions options;
  for (int k = 0; k <= 16; ++k) options.times.push_back(end * k / 16);
  const std::string text = "[variables]\nx = " + x + "\nv = " + v +
                           "\n[model]\nequations = [\"der(x) = v\", \"der(v) = " + equation +
                           "\"]\n[run]\nt = [0, " + std::to_string(end) + "]\n";
  return enclosure::read_exact_model(text, "nested.toml").enclose(options);
}

/// The same solutions in other words: rows that have points in common, as many events of laws that
/// act.
void check_same(const Enclosure& one, const Enclosure& other) {
  REQUIRE_FALSE(one.lost);
  REQUIRE_FALSE(other.lost);
  REQUIRE(one.rows.size() == other.rows.size());
  for (std::size_t k = 0; k < one.rows.size(); ++k) {
    const EnclosureRow &a = one.rows[k], &b = other.rows[k];
    CAPTURE(a.t);
    CHECK(a.flag == b.flag);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(intersection(a.box[i], b.box[i]).has_value());
      CHECK(enclosure::width(a.box[i]) <= 4 * enclosure::width(b.box[i]) + 1e-12);
    }
  }
}

bool is_unique(const Enclosure& all) {
  return !all.lost && !all.rows.empty() &&
         std::all_of(all.rows.begin(), all.rows.end(),
                     [](const EnclosureRow& row) { return row.flag == Flag::unique; });
}

}  // namespace

TEST_SUITE("analysis/enclosure/laws/settled_laws") {
  TEST_CASE("laws inside of laws have the solutions of the same function without") {
    const std::string flat = "-if(x > 1, 1, if(x < -1, -1, 0))";
    for (const std::string nested : {"-if(abs(x) > 1, sign(x), 0)", "-step(abs(x) - 1)*sign(x)",
                                     "-if(abs(x) > 1, 1, 0)*sign(x)"})
      for (const std::string x : {"3", "\"[2.9, 3]\"", "0.5"}) {
        CAPTURE(nested);
        CAPTURE(x);
        check_same(run(nested, x, "-0.25", 8), run(flat, x, "-0.25", 8));
      }
  }

  TEST_CASE("three laws in one another") {
    check_same(run("-if(abs(abs(x) - 2) < 0.5, 1, 0) - x", "3", "0", 6),
               run("-if(x > 1.5, if(x < 2.5, 1, 0), if(x < -1.5, if(x > -2.5, 1, 0), 0)) - x", "3",
                   "0", 6));
  }

  TEST_CASE("a start at the corner of the inner law, where the outer one is inside of a branch") {
    check_same(run("-if(abs(x) > 1, sign(x), 0)", "0", "1.5", 5),
               run("-if(x > 1, 1, if(x < -1, -1, 0))", "0", "1.5", 5));
  }

  // Friction that jumps with the speed's distance from 0: slides at v = 0, where the outer law
  // rests.
  TEST_CASE("the inner law slides, the outer one is inside of a branch") {
    check_same(run("-sign(v)*if(abs(v) > 1, 0.5, 1) - x/4", "2", "0", 10),
               run("-if(v > 1, 0.5, if(v > 0, 1, if(v > -1, 0, 0))) + if(v < -1, 0.5, if(v < 0, 1, "
                   "0)) - x/4",
                   "2", "0", 10));
  }

  // a = sign(x + b), b = sign(x + a): at |x| < 1 both are 1 or both are -1.
  TEST_CASE("laws that hold each other in their branches are not unique") {
    const auto loop = [](const std::string& x) {
      return enclosure::read_exact_model(
                 "[variables]\nx = " + x +
                     "\n[model]\nlaws = [\"a in sign(x + b)\", \"b in sign(x + a)\"]\n"
                     "equations = [\"der(x) = -a\"]\n[run]\nt = [0, 0.25]\n",
                 "loop.toml")
          .enclose({});
    };
    CHECK_FALSE(is_unique(loop("0.5")));
    CHECK_FALSE(is_unique(loop("0")));
    CHECK_FALSE(is_unique(loop("\"[0.5, 1.5]\"")));
  }

  // sign(|x| - 1) - 1 pushes away from |x| = 1 to one side, sign(1 - |x|) to both: the surface
  // repels.
  TEST_CASE("a surface of an outer law that repels is not unique") {
    CHECK_FALSE(
        is_unique(enclosure::read_exact_model(
                      "[variables]\nx = 1\n[model]\nequations = [\"der(x) = sign(abs(x) - 1)\"]\n"
                      "[run]\nt = [0, 0.5]\n",
                      "repels.toml")
                      .enclose({})));
  }

  // x' = max(|x|, 1/2): x = x0 + t/2 until it is 1/2, then e^(t − t1)/2.
  TEST_CASE("a start set across the corners of both an inner law and an outer one") {
    for (const char* rate : {"max(x, -x, 0.5)", "max(abs(x), 0.5)", "0.5 + max(abs(x) - 0.5, 0)"}) {
      CAPTURE(rate);
      const Enclosure all = enclosure::read_exact_model(
                                "[variables]\nx = \"[-0.1, 0.6]\"\n[model]\nequations = [\"der(x) = " +
                                    std::string(rate) + "\"]\n[run]\nt = [0, 2]\n",
                                "kinks.toml")
                                .enclose({});
      CHECK(is_unique(all));
      double least = 1e300, most = 0;
      for (const EnclosureRow& row : all.rows)
        if (row.t == 2) least = std::min(least, row.box[0].lo), most = std::max(most, row.box[0].hi);
      CHECK(least <= 0.5 * std::exp(0.8));
      CHECK(most >= 0.6 * std::exp(2));
      CHECK(most - least <= 1.1 * (0.6 * std::exp(2) - 0.5 * std::exp(0.8)));
    }
  }

  // max(sign(x), 0) jumps at x = 0: every x(t) = max(t − s, 0) is a solution from there.
  TEST_CASE("a function of a law that jumps is no function") {
    const auto push = [](const char* rate) {
      return enclosure::read_exact_model(
                 "[variables]\nx = \"[-0.125, 0.125]\"\n[model]\nequations = [\"der(x) = " +
                     std::string(rate) + "\"]\n[run]\nt = [0, 1]\n",
                 "push.toml")
          .enclose({});
    };
    const Enclosure some = push("max(sign(x), 0)");
    CHECK_FALSE(is_unique(some));
    REQUIRE_FALSE(some.rows.empty());
    double most = 0;
    for (const EnclosureRow& row : some.rows)
      if (row.t == 1) most = std::max(most, row.box[0].hi);
    CHECK((some.lost || most >= 1.125));
    CHECK(is_unique(push("1 + max(sign(x), 0)")));  // crosses it
  }
}
