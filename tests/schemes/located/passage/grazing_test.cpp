// Starts and events at which a law's argument is zero with its first derivatives: the first coefficient that is not
// zero tells on which side the solution goes on.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::is_captured;
using perp::test::run_located;

namespace {

/// y' = `law` of x, which is `s` t^q in units of 1/p while time is in units of 1/k: where the solution ends.
struct Grazing {
  std::string name;
  std::string law;           ///< a formula of x in units of 1/p
  std::string definition{};  ///< of a multiplier in it
  double start = 0;          ///< of x, beside s t^q
  double (*exact)(double s, int q) = nullptr;  ///< y(1)
};

const std::vector<Grazing> laws{
    {"sign", "sign(x/p)", "", 0, [](double s, int) { return s; }},
    {"branch", "if(x > 0, 3, -1)", "", 0, [](double s, int) { return s > 0 ? 3.0 : -1.0; }},
    {"bend", "if(x > 0, 4*x/p, x/p)", "", 0, [](double s, int q) { return (s > 0 ? 4.0 : -1.0) / (q + 1); }},
    {"abs", "abs(x/p)", "", 0, [](double, int q) { return 1.0 / (q + 1); }},
    {"max", "max(x/p, -2*x/p)", "", 0, [](double s, int q) { return (s > 0 ? 1.0 : 2.0) / (q + 1); }},
    {"complementarity", "u/p", "\"0 <= u perp x + u >= 0\"", 0,
     [](double s, int q) { return s > 0 ? 0.0 : 1.0 / (q + 1); }},
    {"hysteresis", "z", "\"z in hysteresis(x/p, 0, 1)\"", 1, [](double s, int) { return s > 0 ? 1.0 : 0.0; }}};

/// How x comes about.
enum class Form { ode, chain, algebraic, index_two };

/// The equations of x, which is start + s t^q; more variables, with their start values.
struct Source {
  std::string variables, equations;
};

Source source(Form form, double s, int q, double start) {
  const std::string rate = fmt::format("p*k*{}*(k*t)^{}", s * q, q - 1);
  const std::string x = fmt::format("x = \"{}*p\"\n", start);
  if (form == Form::ode) return {x, fmt::format("\"der(x) = {}\"", rate)};
  if (form == Form::algebraic)  // x = v, of index 1
    return {fmt::format("{}v = \"{}*p\"\n", x, start), fmt::format("\"der(v) = {}\", \"0 = x - v\"", rate)};
  if (form == Form::index_two)  // x is the rate of what a constraint gives
    return {fmt::format("{}v = 0\n", x),
            fmt::format("\"der(v) = k*x\", \"0 = v - p*({}*(k*t)^{}/{} + {}*(k*t))\"", s, q + 1, q + 1, start)};
  Source chain{x, ""};
  double factorial = 1;
  for (int j = 1; j < q; ++j) {
    chain.variables += fmt::format("x{} = 0\n", j);
    chain.equations += fmt::format("\"der({}) = k*x{}\", ", j == 1 ? "x" : fmt::format("x{}", j - 1), j);
    factorial *= j;
  }
  chain.equations += fmt::format("\"der({}) = {}*k*p\"", q == 1 ? "x" : fmt::format("x{}", q - 1), s * factorial * q);
  return chain;
}

Trajectory run_from_zero(const Grazing& law, Form form, double s, int q, double p = 1, double k = 1,
                         double tol = 1e-10, ContinuationPolicy policy = ContinuationPolicy::minimal_norm) {
  const Source x = source(form, s, q, law.start);
  const Model model = read_model_text(
      fmt::format("[parameters]\np = {:.17g}\nk = {:.17g}\n[variables]\n{}y = 0\n[model]\n{}equations = [{}, "
                  "\"der(y) = k*({})\"]\n[run]\nt = [0, \"1/k\"]\n",
                  p, k, x.variables, law.definition.empty() ? "" : fmt::format("laws = [{}]\n", law.definition),
                  x.equations, law.law),
      "a test");
  Located scheme = test::located(model, tol);
  scheme.policy = policy;
  return integrate(test::system_of(model), model.x0(), model.run.span, scheme);
}

constexpr Form forms[] = {Form::ode, Form::chain, Form::algebraic, Form::index_two};

}  // namespace

TEST_SUITE("schemes/located/passage/grazing") {
  TEST_CASE("a law whose argument starts with t^q goes on on the side where that is: ODEs, DAEs of index 1 and 2") {
    for (const Grazing& law : laws)
      for (const Form form : forms)
        for (const int q : {2, 3, 4, 5})
          for (const double s : {1.0, -1.0}) {
            CAPTURE(law.name);
            CAPTURE(static_cast<int>(form));
            CAPTURE(q);
            CAPTURE(s);
            for (const double tol : {1e-6, 1e-10, 1e-13}) {  // three, five and seven stages
              CAPTURE(tol);
              const Trajectory run = run_from_zero(law, form, s, q, 1, 1, tol);
              REQUIRE_MESSAGE(run.status == Status::solved, run.message);
              CHECK_FALSE(is_captured(run));
              CHECK(run.events.empty());
              const Vector& end = run.x.back();
              CHECK(std::abs(end[end.size() - 1] - law.exact(s, q)) < std::max(10 * tol, 1e-12));
            }
          }
  }

  TEST_CASE("the same under the policy that stays") {
    for (const Grazing& law : laws)
      for (const int q : {3, 5})
        for (const double s : {1.0, -1.0}) {
          CAPTURE(law.name);
          const Trajectory run = run_from_zero(law, Form::chain, s, q, 1, 1, 1e-12, ContinuationPolicy::stay);
          REQUIRE_MESSAGE(run.status == Status::solved, run.message);
          CHECK_FALSE(is_captured(run));
          const Vector& end = run.x.back();
          CHECK(std::abs(end[end.size() - 1] - law.exact(s, q)) < 1e-11);
        }
  }

  TEST_CASE("it does so in units of powers of two to the bit, and in others") {
    for (const Grazing& law : laws)
      for (const Form form : {Form::chain, Form::index_two})
        for (const int q : {3, 4}) {
          CAPTURE(law.name);
          CAPTURE(static_cast<int>(form));
          CAPTURE(q);
          const Trajectory run = run_from_zero(law, form, 1, q);
          for (const double p : {0x1p30, 0x1p-30, 1e9, 1e-9})
            for (const double k : {0x1p30, 0x1p-30, 1e9, 1e-9}) {
              CAPTURE(p);
              CAPTURE(k);
              const Trajectory other = run_from_zero(law, form, 1, q, p, k);
              REQUIRE_MESSAGE(other.status == Status::solved, other.message);
              CHECK_FALSE(is_captured(other));
              const double y = run.x.back()[run.x.back().size() - 1];
              const double other_y = other.x.back()[other.x.back().size() - 1];
              CHECK(std::abs(other_y - y) < 1e-9);
              if (std::exp2(std::ilogb(p)) != p || std::exp2(std::ilogb(k)) != k) continue;
              CHECK(other_y == y);
              REQUIRE(other.size() == run.size());
              for (std::size_t i = 0; i < run.size(); ++i) CHECK(other.t[i] == run.t[i] / k);
            }
        }
  }

  TEST_CASE("a law that rests at its end leaves it where another law's event sets it in motion with a higher power") {
    // r falls through 0 at t = 1; from there the last of q integrators is driven, and x = (t − 1)^q/q!.
    double factorial = 1;
    for (const int q : {1, 2, 3, 4}) {
      factorial *= q;
      std::string variables = "x = 0\n", equations;
      for (int j = 1; j < q; ++j) {
        variables += fmt::format("x{} = 0\n", j);
        equations += fmt::format("\"der({}) = x{}\", ", j == 1 ? "x" : fmt::format("x{}", j - 1), j);
      }
      const std::string last = q == 1 ? "x" : fmt::format("x{}", q - 1);
      for (const double s : {1.0, -1.0}) {
        CAPTURE(q);
        CAPTURE(s);
        const Trajectory run = run_located(
            fmt::format("[variables]\n{}r = 1\ny = 0\n[model]\nequations = [{}\"der({}) = if(r < 0, {}, 0)\", "
                        "\"der(r) = -1\", \"der(y) = if(x > 0, 3*x, x)\"]\n[run]\nt = [0, 2]\n",
                        variables, equations, last, s),
            1e-12);
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK_FALSE(is_captured(run));
        const Vector& end = run.x.back();
        CHECK(std::abs(end[end.size() - 1] - (s > 0 ? 3 : -1) / (factorial * (q + 1))) < 1e-12);
      }
    }
  }

  TEST_CASE("a spring that is stiffer on one side starts from rest at its bend and feels the stiffer side") {
    // ẍ = sin 4t − 4x from 0: x = t → (sin 2t)/6 − (sin 4t)/12, which stays positive on [0, 1].
    for (const double tol : {1e-6, 1e-8, 1e-10, 1e-12}) {
      CAPTURE(tol);
      const Trajectory run = run_located(
          "[variables]\nx = 0\nv = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = sin(4*t) - if(x > 0, 4*x, "
          "x)\"]\n[run]\nt = [0, 1]\n",
          tol);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK_FALSE(is_captured(run));
      CHECK(run.events.empty());
      CHECK(std::abs(run.x.back()[0] - (std::sin(2.0) / 6 - std::sin(4.0) / 12)) < 10 * tol);
    }
  }

  TEST_CASE("where no series tells, short implicit steps tell the mode") {
    // x = t^9, beyond the levels that there are.
    for (const double s : {1.0, -1.0})
      for (const double tol : {1e-6, 1e-10}) {
        CAPTURE(s);
        const Trajectory run = run_located(
            fmt::format("[variables]\nx = 0\ny = 0\nz = 0\n[model]\nequations = [\"der(x) = {}*t^8\", \"der(y) = "
                        "if(x > 0, 3, -1)\", \"der(z) = cos(t)\"]\n[run]\nt = [0, 1]\n",
                        9 * s),
            tol);
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK_FALSE(is_captured(run));
        CHECK(std::abs(run.x.back()[1] - (s > 0 ? 3 : -1)) < 1e-12);
        CHECK(std::abs(run.x.back()[2] - std::sin(1.0)) < 10 * tol);
      }
  }
}
