#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>

using namespace perp;

namespace {

/// n oscillators in a ring with springs that soften.
Trajectory ring(int n, const char* start, double end) {
  const Model model = read_model_text(
      fmt::format("[parameters]\nN = {}\n[variables]\nx = {{ size = \"N\", start = \"{}\" }}\nv = {{ size = \"N\", start = 0 }}\n"
                  "[model]\nequations = [\n\"for i in 1:N: der(x[i]) = v[i]\",\n"
                  "\"for i in 1:N: der(v[i]) = -0.1*v[i] + sin(if(i < N, x[i+1], x[1]) - x[i]) + "
                  "sin(if(i > 1, x[i-1], x[N]) - x[i]) - x[i]^3\",\n]\n[run]\nt = [0, {}]\nscheme = \"located\"\n",
                  n, start, end),
      "ring.toml");
  return integrate(model.system.functions(), model.x0(), model.run.span, Located{}, {});
}

TEST_CASE("many oscillators whose starts repeat after four move as four") {
  const char* start = "0.3*cos(pi*i/2) + 0.1";
  const Trajectory few = ring(4, start, 2), many = ring(60, start, 2);
  REQUIRE(few.status == Status::solved);
  REQUIRE(many.status == Status::solved);
  for (int i = 0; i < 60; ++i) {
    CHECK(std::abs(few.x.back()[i % 4] - many.x.back()[i]) <= 1e-9);
    CHECK(std::abs(few.x.back()[4 + i % 4] - many.x.back()[60 + i]) <= 1e-9);
  }
}

TEST_CASE("an oscillator that rests by symmetry holds no step up: others say how well it is known") {
  const Trajectory run = ring(20, "sin(2*pi*i/N)", 1);
  REQUIRE(run.status == Status::solved);
  CHECK(std::abs(run.x.back()[9]) <= 1e-14);
  CHECK(std::abs(run.x.back()[4] + run.x.back()[14]) <= 1e-13);
  CHECK(run.counts.at("rejected") == 0);
  CHECK_FALSE(run.counts.contains("rows_not_solved"));
}

TEST_CASE("the series of many variables, half of them algebraic, are those of the matrix that they amount to") {
  // ẋ_i = y_i − x_i, y_i = x_(i−1)/2, less λ at the first one: ẋ = A x − λ e_1
  constexpr int n = 60;
  const Model model = read_model_text(
      fmt::format("[parameters]\nN = {}\n[variables]\nx = {{ size = \"N\" }}\ny = {{ size = \"N\" }}\n"
                  "[model]\nequations = [\n\"for i in 1:N: der(x[i]) = y[i] - x[i] - if(i < 2, u, 0)\",\n"
                  "\"for i in 1:N: y[i] = 0.5*if(i > 1, x[i-1], x[N])\",\n]\nlaws = [\"u in sign(x[1])\"]\n[run]\nt = [0, 1]\n",
                  n),
      "ring.toml");
  constexpr int levels = 2;
  ConsistentJets jets(model.system.functions(), levels);
  Vector x = Vector::Zero(2 * n), lambda = Vector::Ones(1);
  for (int i = 0; i < n; ++i) x[i] = i == 0 ? 0 : std::cos(i);
  Matrix A = -Matrix::Identity(n, n);
  for (int i = 0; i < n; ++i) A(i, (i + n - 1) % n) = 0.5;
  for (const int branch : {0, 1, 2}) {
    CAPTURE(branch);
    const Jet jet = jets.solve({branch}, 0, x, lambda);
    REQUIRE(jet.consistent);
    REQUIRE(jet.determined);
    const bool slides = model.laws()[0].branches[static_cast<std::size_t>(branch)].a != 0;
    Vector coefficient = x.head(n);
    for (int k = 0; k <= levels; ++k) {
      const double force = jet.lambda(0, k);
      if (slides && k < levels) CHECK(std::abs(force - (A * coefficient)[0]) <= 1e-13);
      CHECK((jet.x.col(k).head(n) - coefficient).cwiseAbs().maxCoeff() <= 1e-13);
      for (int i = 0; i < n; ++i) CHECK(std::abs(jet.x(n + i, k) - coefficient[(i + n - 1) % n] / 2) <= 1e-13);
      coefficient = A * coefficient;
      coefficient[0] -= force;
      coefficient /= k + 1;
    }
    CHECK((jet.x.col(levels + 1).segment(1, n - 1) - coefficient.tail(n - 1)).cwiseAbs().maxCoeff() <= 1e-13);
    // Of what slides the last coefficient of the force is open, and what it drives.
    CHECK(jet.lambda_known[0] == (slides ? levels : levels + 1));
    for (int i = 0; i < n; ++i) {
      CHECK(jet.x_known[static_cast<std::size_t>(i)] == (slides && i == 0 ? levels + 1 : levels + 2));
      CHECK(jet.x_known[static_cast<std::size_t>(n + i)] == levels + 1);
    }
  }
}

TEST_CASE("laws of many variables whose branches end at one moment are decided as each alone would be") {
  // Masses on springs with dry friction that start alike come to rest at one moment and stay.
  const auto run = [](int n) {
    const Model model = read_model_text(
        fmt::format("[parameters]\nN = {}\n[variables]\nx = {{ size = \"N\", start = 1 }}\nv = {{ size = \"N\", start = 0.5 }}\n"
                    "[model]\nequations = [\n\"for i in 1:N: der(x[i]) = v[i]\",\n"
                    "\"for i in 1:N: der(v[i]) = -x[i] + if(i < N, x[i+1], x[1]) - 2*x[i] + if(i > 1, x[i-1], x[N]) - 0.2*u[i]\",\n]\n"
                    "laws = [\"for i in 1:N: u[i] in sign(v[i])\"]\n[run]\nt = [0, 2]\nscheme = \"located\"\n",
                    n),
        "ring.toml");
    return integrate(model.system.functions(), model.x0(), model.run.span, Located{}, {});
  };
  const Trajectory few = run(3), many = run(75);
  REQUIRE(few.status == Status::solved);
  REQUIRE(many.status == Status::solved);
  REQUIRE(few.events.size() == 3);
  REQUIRE(many.events.size() == 75);
  for (const Event& event : many.events) CHECK(std::abs(event.t - few.events[0].t) <= 1e-12);
  for (int i = 0; i < 75; ++i) CHECK(std::abs(few.x.back()[i % 3] - many.x.back()[i]) <= 1e-9);
}

TEST_CASE("laws whose branches end within one moment, but not at one double, go on") {
  // Of masses that start alike in threes the three come to rest within some 1e-11 s: what is not at its end is told by how
  // fast it came there, the same in every mode.
  const Model model = read_model_text(
      "[parameters]\nN = 40\n[variables]\nx = { size = \"N\", start = \"1 + 0.01*mod(7*(i-1), 13)\" }\nv = { size = \"N\", start = 0.5 }\n"
      "[model]\nequations = [\n\"for i in 1:N: der(x[i]) = v[i]\",\n"
      "\"for i in 1:N: der(v[i]) = -x[i] + (if(i < N, x[i+1], x[1]) - 2*x[i] + if(i > 1, x[i-1], x[N])) - 0.2*u[i]\",\n]\n"
      "laws = [\"for i in 1:N: u[i] in sign(v[i])\"]\n[run]\nt = [0, 2]\nscheme = \"located\"\ntol = 1e-8\n",
      "chain.toml");
  IntegrateOptions options;
  options.observer = [](const Step& state) { return state.t < 0.6; };
  const Trajectory run = integrate(model.system.functions(), model.x0(), model.run.span, Located{.tol = 1e-8}, options);
  REQUIRE(run.status == Status::interrupted);
  CHECK(run.events.size() == 40);
  for (const int branch : run.mode.back()) CHECK(branch == 0);
}

}  // namespace
