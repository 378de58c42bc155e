#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <perp/tests/schemes/located/models.hpp>

// Derivatives across several events of one moment, by closed forms.

using namespace perp;

namespace {

Trajectory run(const std::string& text, double end, std::vector<int> starts, std::vector<int> parameters) {
  const Model model = read_model_text(text + fmt::format("[run]\nt = [0, {}]\n", end), "moment.toml");
  Located scheme = test::located(model, 1e-12);
  scheme.restitution = model.restitution;
  scheme.sensitivities = {std::move(starts), std::move(parameters)};
  Trajectory found = integrate(*model.equations, model.x0(), model.run.span, scheme);
  REQUIRE_MESSAGE(found.status == Status::solved, found.message);
  return found;
}

/// Of the given rows of variables, all columns.
void check_end(const Trajectory& found, const Matrix& expected) {
  CAPTURE(found.message);
  REQUIRE(found.dx_dq.size() == found.t.size());
  REQUIRE(found.dx_dq.back().size() == expected.size());
  const double size = expected.cwiseAbs().maxCoeff();
  CHECK((found.dx_dq.back() - expected).cwiseAbs().maxCoeff() <= 1e-9 * size);
}

void check_ends(const Trajectory& found, const std::string& why) {
  CAPTURE(found.message);
  CHECK(found.dx_dq.size() < found.t.size());
  CHECK(found.message.find(why) != std::string::npos);
}

}  // namespace

TEST_SUITE("schemes/located/sensitivity_moments") {
  // Each of two balls has the derivatives of one, and none by what moves the other.
  TEST_CASE("two balls that land at one moment have each their own derivatives, in any unit") {
    const auto alone = run("[parameters]\np = 1\n[variables]\nx = 1\nv = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = -p + a\"]\n"
                           "laws = [\"0 <= x perp a >= 0\"]\nrestitution = {a = 0.5}\n", 1.8, {0, 1}, {0});
    REQUIRE(alone.dx_dq.size() == alone.t.size());
    const Matrix& one = alone.dx_dq.back();
    for (const double unit : {0x1p-30, 1.0, 0x1p30}) {
      CAPTURE(unit);
      const Trajectory both = run(fmt::format("[parameters]\np = 1\nq = {0:.17g}\n[variables]\nx = 1\nv = 0\ny = {{start = {0:.17g}, nominal = {0:.17g}}}\n"
                                              "w = {{start = 0, nominal = {0:.17g}}}\n[model]\nequations = [\"der(x) = v\", \"der(v) = -p + a\", \"der(y) = w\", "
                                              "\"der(w) = -q + b\"]\nlaws = [\"0 <= x perp a >= 0\", \"0 <= y perp b >= 0\"]\nrestitution = {{a = 0.5, b = 0.5}}\n", unit),
                                  1.8, {0, 1, 2, 3}, {0, 1});
      REQUIRE(both.dx_dq.size() == both.t.size());
      const Matrix& S = both.dx_dq.back();
      Matrix expected = Matrix::Zero(4, 6);
      expected.block(0, 0, 2, 2) = one.leftCols(2), expected.block(0, 4, 2, 1) = one.col(2);
      expected.block(2, 2, 2, 2) = one.leftCols(2), expected.block(2, 5, 2, 1) = one.col(2);
      // In the units of rows and columns.
      const Vector rows{{1, 1, unit, unit}}, columns{{1, 1, unit, unit, 1, unit}};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 6; ++j) CHECK(S(i, j) / rows[i] * columns[j] == doctest::Approx(expected(i, j)).epsilon(1e-9).scale(1));
    }
  }

  TEST_CASE("two resets of one moment have each their own derivatives, in either order of the file") {
    const std::string head = "[parameters]\np = 1\nq = 1\n[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = 1\", \"der(y) = 1\"]\nwhen = [";
    const std::string one = "{condition = \"x-p\", direction = 1, set = {x = \"0\"}}", two = "{condition = \"y-q\", direction = 1, set = {y = \"0\"}}";
    const Matrix expected{{1, 0, -1, 0}, {0, 1, 0, -1}};
    check_end(run(head + one + "," + two + "]\n", 1.5, {0, 1}, {0, 1}), expected);
    check_end(run(head + two + "," + one + "]\n", 1.5, {0, 1}, {0, 1}), expected);
  }

  // y(3/2) = p (3/2 - 1/p)
  TEST_CASE("a reset at a fixed moment beside one whose moment moves") {
    check_end(run("[parameters]\np = 1\n[variables]\nn = 0\ny = 0\n[model]\nequations = [\"der(n) = 0\", \"der(y) = p\"]\nwhen = [{condition = \"sin(pi*t)\", "
                  "direction = -1, set = {n = \"n+1\"}}, {condition = \"y-1\", direction = 1, set = {y = \"0\"}}]\n", 1.5, {}, {0}),
              Matrix{{0}, {1.5}});
  }

  // x moves by 1 before y = 1 and by 3 behind it: one order has the derivatives of the other
  TEST_CASE("a reset and a crossing that acts on it have the derivative of both orders") {
    check_end(run("[parameters]\np = 1\n[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = 1 + if(y > 1, 2, 0)\", \"der(y) = p\"]\n"
                  "when = [{condition = \"x - 1\", direction = 1, set = {x = \"0\"}}]\n", 1.2, {0, 1}, {0}),
              Matrix{{1, 2, 2}, {0, 1, 1.2}});
  }

  // Before the crossing the reset is at x(0) + t = 1, behind it at x(0) + 1/p + 3 (t - 1/p) = 1 for y(0) = 0: one order moves it with y(0) and p, the other not.
  TEST_CASE("the moment of an event that another one of the moment moves has no derivative, that of the other has") {
    const Trajectory found = run("[parameters]\np = 1\n[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = 1 + if(y > 1, 2, 0)\", \"der(y) = p\"]\n"
                                 "when = [{condition = \"x - 1\", direction = 1, set = {x = \"0\"}}]\n", 1.2, {0, 1}, {0});
    for (const Event& event : found.events) {
      if (event.kind == EventKind::jump) CHECK(event.dt_dq.size() == 0);
      if (event.law < 0) continue;
      REQUIRE(event.dt_dq.size() == 3);
      CHECK(event.dt_dq[1] == doctest::Approx(-1));
      CHECK(event.dt_dq[2] == doctest::Approx(-1));
    }
  }

  TEST_CASE("a crossing, and a switch of time, beside an impact") {
    check_end(run("[parameters]\nq = 1\n[variables]\nx = 0\nz = 0\ny = 1\nw = 0\n[model]\nequations = [\"der(x) = 1\", \"der(z) = sign(x-q)\", \"der(y) = w\", "
                  "\"der(w) = -2+b\"]\nlaws = [\"0 <= y perp b >= 0\"]\nrestitution = {b = 0.5}\n", 1.5, {0, 2}, {0}),
              Matrix{{1, 0, 0}, {2, 0, -2}, {0, 0.25, 0}, {0, 1.5, 0}});
    check_end(run("[parameters]\nq = 1\n[variables]\ny = 1\nw = 0\nz = 0\n[model]\nequations = [\"der(y) = w\", \"der(w) = -2+b\", \"der(z) = sign(t-q)\"]\n"
                  "laws = [\"0 <= y perp b >= 0\"]\nrestitution = {b = 0.5}\n", 1.5, {0}, {0}),
              Matrix{{0.25, 0}, {1.5, 0}, {0, -2}});
  }

  // x(1) = x(0) + 1 + (1 - tau) - tau whenever a is 0
  TEST_CASE("a reset at the moment of a switch of time, or of a crossing, that nothing connects with it") {
    const std::string rest = "when = [{condition = \"a\", direction = 1, set = {x = \"x + 1\"}}]\n";
    check_end(run("[parameters]\ntau = 0.5\n[variables]\na = -1\nx = 1\n[model]\nequations = [\"der(a) = 2\", \"der(x) = sign(t - tau)\"]\n" + rest, 1, {0, 1}, {0}),
              Matrix{{1, 0, 0}, {0, 1, -2}});
    check_end(run("[variables]\na = -1\nx = 1\ny = -1\n[model]\nequations = [\"der(a) = 2\", \"der(x) = sign(y)\", \"der(y) = 2\"]\n" + rest, 1, {0, 1, 2}, {}),
              Matrix{{1, 0, 0}, {0, 1, 1}, {0, 0, 1}});
  }

  // x = 2 (x + dt) - dt or 2 (x - dt) + dt
  TEST_CASE("a reset that doubles what a switch of time moves has two derivatives in either order of the events") {
    const Trajectory found = run("[parameters]\ntau = 0.5\n[variables]\na = -1\nx = 1\n[model]\nequations = [\"der(a) = 2\", \"der(x) = sign(t - tau)\"]\n"
                                 "when = [{condition = \"a\", direction = 1, set = {x = \"2*x\"}}]\n", 1, {0}, {0});
    CHECK(found.counts.contains("one_sided"));
    const auto jump = std::ranges::find(found.events, EventKind::jump, &Event::kind);
    REQUIRE(jump != found.events.end());
    REQUIRE(jump->pieces.size() == 2);
    // By a(0) and tau: the reset comes first, or the switch.
    const Matrix one{{1, 0}, {0.5, -2}}, other{{1, 0}, {-0.5, -4}};
    const auto rows = [](const Matrix& piece) { return piece.topRows(2); };
    const auto differs = [&](const Matrix& expected) {
      return std::ranges::all_of(jump->pieces, [&](const Matrix& piece) { return (rows(piece) - expected).cwiseAbs().maxCoeff() > 1e-9; });
    };
    CHECK_FALSE(differs(one));
    CHECK_FALSE(differs(other));
  }

  TEST_CASE("a power of 0 has no derivative by its exponent, and the run goes on without") {
    const Trajectory found = run("[parameters]\np = 2\n[variables]\nx = -1\ny = 0\n[model]\nequations = [\"der(x) = 1\", \"der(y) = max(x, 0)^p\"]\n", 2, {}, {0});
    check_ends(found, "the equations have no derivatives there");
    CHECK(found.x.back()[1] == doctest::Approx(1.0 / 3).epsilon(1e-9));
  }

  TEST_CASE("ten balls that land at one moment have each the derivatives of one") {
    std::string variables, equations, laws, restitution;
    std::vector<int> starts;
    Matrix expected = Matrix::Zero(20, 20);
    for (int i = 0; i < 10; ++i) {
      variables += fmt::format("x{0} = 1\nv{0} = 0\n", i);
      equations += fmt::format("\"der(x{0}) = v{0}\", \"der(v{0}) = -2 + a{0}\", ", i);
      laws += fmt::format("\"0 <= x{0} perp a{0} >= 0\", ", i);
      restitution += fmt::format("{}a{} = 0.5", i == 0 ? "" : ", ", i);
      starts.insert(starts.end(), {2 * i, 2 * i + 1});
      // dt* = (dx + dv)/2, v+ = -(dv - 2 dt*)/2 = dx/2, x(1.5) = v+ (1.5 - t*) - (1.5 - t*)^2 at v+ = 1, t* = 1
      expected.block(2 * i, 2 * i, 2, 2) = Matrix{{0.25, 0}, {1.5, 1}};
    }
    check_end(run("[variables]\n" + variables + "[model]\nequations = [" + equations + "]\nlaws = [" + laws + "]\nrestitution = {" + restitution + "}\n", 1.5, starts, {}), expected);
  }

  TEST_CASE("a crossing at the moment of an impact is an event of its own") {
    const Trajectory found = run("[parameters]\nq = 1\n[variables]\nx = 0\nz = 0\ny = 1\nw = 0\n[model]\nequations = [\"der(x) = 1\", \"der(z) = sign(x-q)\", \"der(y) = w\", "
                                 "\"der(w) = -2+b\"]\nlaws = [\"0 <= y perp b >= 0\"]\nrestitution = {b = 0.5}\n", 1.5, {2}, {0});
    CHECK(std::ranges::count(found.events, EventKind::jump, &Event::kind) == 1);
    const auto crossing = std::ranges::find(found.events, EventKind::crossing, &Event::kind);
    REQUIRE(crossing != found.events.end());
    CHECK(crossing->t == doctest::Approx(1));
    CHECK((crossing->dt_dq - Vector{{0, 1}}).cwiseAbs().maxCoeff() <= 1e-9);
  }

  // z = 2 (z + 1) or 2 z + 1
  TEST_CASE("events that lead to different states in different orders have no derivative") {
    check_ends(run("[variables]\nx = -1\ny = -1\nz = 0\n[model]\nequations = [\"der(x) = 1\", \"der(y) = 1\", \"der(z) = 1\"]\nwhen = [{condition = \"x\", direction = 1, "
                   "set = {z = \"z+1\"}}, {condition = \"y\", direction = 1, set = {z = \"2*z\"}}]\n", 2, {0, 1, 2}, {}),
               "no sensitivities from t = 1 on: the solution passes the condition of when 1 and the condition of when 2 at one moment");
  }

  // The laws on the surfaces of both resets have sides of their own, which neither of the states 2 (y + 3)^2, 2 y^2 + 3 behind has.
  TEST_CASE("where events of one moment have no derivative, nothing is told of the sides of some of them") {
    const Trajectory found = run("[parameters]\ns = 1\nb = 1\n[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = 1\", \"der(y) = if(t<s,1,3)*if(x<b,2,5)\"]\n"
                                 "when = [{condition = \"x-b\", direction = 1, set = {y = \"2*y*y\"}}, {condition = \"t-s\", direction = 1, set = {y = \"y+3\"}}]\n",
                                 2, {0, 1}, {0, 1});
    check_ends(found, "the state behind them depends on their order");
    CHECK(found.events.size() == 3);
    CHECK(std::ranges::all_of(found.events, [](const Event& event) { return event.pieces.empty(); }));
  }

  TEST_CASE("a reset that lands on a surface has none by what moves that, and has by what does not") {
    const std::string text = "[parameters]\np = 1\n[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = 1\", \"der(y) = sign(x - p)\"]\n"
                             "when = [{condition = \"t - 0.5\", direction = 1, set = {x = \"1\"}}]\n";
    check_ends(run(text, 2, {}, {0}), "lands on the end of a branch of sign(x - p)");
    check_end(run(text, 2, {0, 1}, {}), Matrix{{0, 0}, {0, 1}});
  }
}
