#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <perp/tests/schemes/located/models.hpp>

// ∂x/∂q across a jump onto a constraint that the solution leaves at once, by closed forms.

using namespace perp;

namespace {

/// From t = 0, by these starts and parameters.
Trajectory run(const std::string& text, std::vector<int> starts, std::vector<int> parameters) {
  const Model model = read_model_text(text, "jump.toml");
  Located scheme = test::located(model, 1e-12);
  scheme.sensitivities = {std::move(starts), std::move(parameters)};
  Trajectory found = integrate(*model.equations, model.x0(), model.run.span, scheme);
  REQUIRE_MESSAGE(found.status == Status::solved, found.message);
  REQUIRE_MESSAGE(found.dx_dq.size() == found.t.size(), found.message);
  return found;
}

/// Row `j` of S.
void check(const Matrix& S, int j, const std::vector<double>& expected) {
  REQUIRE(S.cols() == static_cast<Eigen::Index>(expected.size()));
  for (Eigen::Index c = 0; c < S.cols(); ++c) {
    INFO("row " << j << ", column " << c);
    CHECK(S(j, c) == doctest::Approx(expected[static_cast<std::size_t>(c)]).epsilon(1e-9));
  }
}

}  // namespace

TEST_SUITE("schemes/located/sensitivities_of_jumps_left") {
  // x(0+) = p, y(0+) = 2 (p - x(0)), x(1) = p + 1
  TEST_CASE("a start off a constraint that is left at once has the derivatives of the jump, with those of its impulse") {
    const Trajectory found = run("[parameters]\np = 0.5\n[variables]\nx = -1\ny = 0\n[model]\n"
                                 "equations = [\"der(x) = 1 + lam\", \"der(y) = 2*lam\"]\n"
                                 "laws = [\"0 <= x - p perp lam >= 0\"]\n[run]\nt = [0, 1]\n", {0}, {0});
    for (const Matrix& S : {found.dx_dq.front(), found.dx_dq.back()}) {
      check(S, 0, {0, 1});
      check(S, 1, {-2, 2});
    }
  }

  // x = 10 p + 2 (t - tau) behind the jump
  TEST_CASE("a jump onto a constraint that moves at a moment, and is left at once, forgets the state before it") {
    const Trajectory found = run("[parameters]\np = 0.5\ntau = 1\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = 2 + lam\"]\n"
                                 "laws = [\"0 <= x - if(t > tau, 10*p, 0) perp lam >= 0\"]\n[run]\nt = [0, 2]\n", {0}, {0, 1});
    check(found.dx_dq.back(), 0, {0, 10, -2});
  }

  // the reset writes s, the jump makes p of it
  TEST_CASE("a jump behind a reset, onto a constraint that is left at once, forgets what the reset wrote") {
    const Trajectory found = run("[parameters]\ns = -1\np = 0.5\n[variables]\nx = 1\nc = -0.5\n[model]\n"
                                 "equations = [\"der(x) = 1 + lam\", \"der(c) = 1\"]\nlaws = [\"0 <= x - p perp lam >= 0\"]\n"
                                 "when = [{ condition = \"c\", set = { x = \"s\" } }]\n[run]\nt = [0, 1]\n", {0}, {0, 1});
    check(found.dx_dq.back(), 0, {0, 0, 1});
  }

  // impulses L of lam and M of mu: L + M/2 = p - x(0), M + L/4 = p² - u(0); u stays on its constraint, x does not;
  // y(0+) = (1 + p²) L, L = (p - x(0) - (p² - u(0))/2)/(7/8)
  TEST_CASE("of two constraints with impulses one is left at once and one holds") {
    const Trajectory found = run("[parameters]\np = 0.5\n[variables]\nx = -1\nu = -1\ny = 0\n[model]\n"
                                 "equations = [\"der(x) = 1 + lam + mu/2\", \"der(u) = -1 + mu + lam/4\", \"der(y) = (1 + x^2)*lam\"]\n"
                                 "laws = [\"0 <= x - p perp lam >= 0\", \"0 <= u - p^2 perp mu >= 0\"]\n[run]\nt = [0, 1]\n", {0, 1}, {0});
    const Matrix& S = found.dx_dq.front();
    check(S, 0, {0, 0, 1});
    check(S, 1, {0, 0, 1});
    check(S, 2, {-10.0 / 7, 5.0 / 7, 12.0 / 7});
  }

  // the multiplier is a variable, x - p the multiplier of the law: x(1) = p + 1
  TEST_CASE("where the laws with an impulse are not known, derivatives are those of the jump or end with the reason") {
    const Model model = read_model_text("[parameters]\np = 0.5\n[variables]\nx = -1\nz = 0\n[model]\nequations = [\"der(x) = 1 + z\"]\n"
                                        "laws = [\"0 <= z perp x - p >= 0\"]\n[run]\nt = [0, 1]\n", "jump.toml");
    Located scheme = test::located(model, 1e-12);
    scheme.sensitivities = {{0}, {0}};
    const Trajectory found = integrate(test::system_of(model), model.x0(), model.run.span, scheme);
    CHECK(found.status == Status::solved);
    CHECK(found.x.back()[0] == doctest::Approx(1.5));
    if (!found.dx_dq.empty() && found.dx_dq.back().size() > 0)
      check(found.dx_dq.back(), 0, {0, 1});
    else
      CHECK(found.message.find("no sensitivities from t = 0 on: which constraints hold") != std::string::npos);
  }
}
