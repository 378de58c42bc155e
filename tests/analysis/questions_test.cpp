#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <tuple>

#include <perp/analysis/equilibria.hpp>
#include <perp/analysis/jumps.hpp>
#include <perp/analysis/mlcp.hpp>
#include <perp/analysis/sensitivities.hpp>
#include <perp/analysis/well_posedness.hpp>
#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/paths.hpp>

using namespace perp;

namespace {

Model decay() {
  return read_model_text(
      "name = \"decay\"\n[parameters]\np = 2\n[variables]\nx = 3\n[model]\n"
      "equations = [\"der(x) = -p*x\"]\n[run]\nt = [0, 1]\nscheme = \"located\"\ntol = 1e-11\n",
      "decay.toml");
}

/// The last state of the run with its derivatives.
Step end_of(const Model& model, const SensitivityQuantities& by) {
  Step last;
  IntegrateOptions options;
  options.observer = [&](const Step& step) {
    last = step;
    return true;
  };
  REQUIRE(integrate_sensitivities(model, by, options).status == Status::solved);
  return last;
}

}  // namespace

TEST_SUITE("analysis") {
  TEST_CASE("jumps of a contact that closes with a restitution are refused, others are listed") {
    const auto jumps = [](const std::string& e, double y, double v) {
      const Model model = read_model_text(
          "[variables]\ny = 0\nv = 0\n[model]\nlaws = [\"0 <= f perp y >= 0\"]\nrestitution = { f = " + e +
              " }\nequations = [\"der(y) = v\", \"der(v) = -9.81 + f\"]\n[run]\nt = [0, 1]\nscheme = \"located\"\n",
          "floor.toml");
      return jumps_of(model, Vector{{y, v}}, 0, {});
    };
    CHECK_THROWS_WITH_AS(jumps("0.5", 0, -3), doctest::Contains("the contact 'f' closes in this state"), InvalidInput);
    CHECK(jumps("0", 0, -3).jumps.status == Status::solved);
    for (const auto& [y, v] : {std::pair{1.0, -3.0}, {0.0, 3.0}}) {
      const ModelJumps found = jumps("0.5", y, v);
      REQUIRE(found.jumps.status == Status::solved);
      CHECK(found.jumps.blocks[0].jumps[0].amplitude == 0);
    }
  }

  TEST_CASE("the sliding mode of the index-2 example has index 2, and its start is consistent") {
    const Model model = read_model(test::models_path("/switching_dae_crossing.toml"));
    const ModelModes modes = well_posedness(model);
    REQUIRE(modes.list.size() == static_cast<std::size_t>(modes.count));
    for (const ModeWellPosedness& mode : modes.list) {
      REQUIRE(mode.index);
      CHECK(*mode.index == 2);
      CHECK(mode.product.rows() >= 1);
      CHECK_FALSE(mode.has_singular_step());
    }
    const StartConsistency start = consistency_of_start(model);
    CHECK(start.complete);
    CHECK(start.modes.size() == 1);
    CHECK(rank_of_e(model.lcs()) == 2);
  }

  TEST_CASE("a decay rests at 0 with its rate as eigenvalue") {
    const ModelEquilibria found = equilibria_of(decay(), 0, {}, false);
    REQUIRE(found.points.found.size() == 1);
    CHECK(found.points.found[0].x[0] == doctest::Approx(0));
    REQUIRE(found.points.found[0].eigenvalues.size() == 1);
    CHECK(found.points.found[0].eigenvalues[0].real() == doctest::Approx(-2));
    CHECK_FALSE(found.tangents);
  }

  TEST_CASE("x = x0 exp(-p t) is differentiated by x0 and p") {
    const Model model = decay();
    const auto with = [&](const std::string& name, double value) {
      return read_model_text("", "never.toml", {{name, std::to_string(value)}});
    };
    const auto same = [&](const std::string& /*name*/, double /*value*/) { return decay(); };
    const SensitivityQuantities quantities = sensitivity_quantities(model, {}, same);
    CHECK(quantities.names == std::vector<std::string>{"x(0)", "p"});
    const Step last = end_of(model, quantities);
    CHECK(last.dx_dq(0, 0) == doctest::Approx(std::exp(-2)).epsilon(1e-9));
    CHECK(last.dx_dq(0, 1) == doctest::Approx(-3 * std::exp(-2)).epsilon(1e-9));
    CHECK_THROWS_AS(sensitivity_quantities(model, {"q"}, with), InvalidInput);
    CHECK_THROWS_AS(sensitivity_quantities(model, {"x(0)", "x(0)"}, with), InvalidInput);
  }

  TEST_CASE("what is a formula of a parameter moves with it: derivatives are those of runs with another value of it") {
    const auto with = [](const std::vector<Override>& set) {
      return read_model_text("[parameters]\nF = 2\nm = \"F/4\"\nk = \"m^2 + 1\"\n[variables]\nx = \"2*F\"\nv = { start = \"k - F\" }\n"
                             "[model]\nequations = [\"der(x) = v\", \"m*der(v) = -F - k*x\"]\n[run]\nt = [0, 1]\nscheme = \"located\"\ntol = 1e-12\n",
                             "formulas.toml", set);
    };
    const Model model = with({});
    const auto other = [&](const std::string& name, double value) { return with({{name, fmt::format("{:.17g}", value)}}); };
    const SensitivityQuantities quantities = sensitivity_quantities(model, {"F", "v(0)", "m", "k"}, other);
    const Matrix found = end_of(model, quantities).dx_dq;
    REQUIRE(found.cols() == 4);
    for (const auto& [column, name, value] : {std::tuple(0, "F", 2.0), std::tuple(1, "v", -0.75), std::tuple(2, "m", 0.5), std::tuple(3, "k", 1.25)}) {
      const std::string shown_name = name;
      CAPTURE(shown_name);
      constexpr double step = 1e-4;
      const Vector difference = (end_of(other(name, value + step), quantities).x - end_of(other(name, value - step), quantities).x) / (2 * step);
      for (Eigen::Index i = 0; i < 2; ++i) CHECK(found(i, column) == doctest::Approx(difference[i]).epsilon(1e-6));
    }
  }

  TEST_CASE("a consistent state needs no jump; resets say themselves where the state jumps") {
    const Model model = read_model(test::models_path("/switching_dae_crossing.toml"));
    const ModelJumps found = jumps_of(model, model.x0(), 0, {});
    CHECK(found.is_proved);
    CHECK(found.jumps.starts_continuously());
  }

  TEST_CASE(
      "the solutions of a 2x2 problem with three modes that hold are all found, as fractions") {
    // w = M λ - 1 with M = [1 2; 2 1]: λ = (1, 0), (0, 1), (1/3, 1/3).
    Mlcp problem;
    problem.M11 = Matrix(0, 0);
    problem.M12 = Matrix(0, 2);
    problem.q1 = Vector(0);
    problem.M21 = Matrix(2, 0);
    problem.M22 = Matrix{{1, 2}, {2, 1}};
    problem.q2 = Vector{{-1, -1}};
    problem.laws = {2, complementarity()};
    const WeightedNorm norm{{0, 1}, {1, 1}, {0, 0}};
    const MlcpAnswer answer = all_solutions(problem, {}, VertexArithmetic::by_size, &norm);
    CHECK(answer.status == Status::solved);
    CHECK(answer.is_exact);
    CHECK(answer.pieces.size() == 3);
    int thirds = 0;
    for (const WholePiece& piece : answer.pieces)
      for (const auto& vertex : piece.exact_vertices)
        thirds += vertex == std::vector<std::string>{"1/3", "1/3"};
    CHECK(thirds == 1);
    REQUIRE(answer.minimum);
    CHECK(answer.minimum->square == "2/9");
    problem.q2 = Vector{{0, -1}};
    problem.M22 = Matrix{{0, 0}, {0, -1}};
    CHECK(all_solutions(problem, {}, VertexArithmetic::floating, nullptr).status ==
          Status::no_solution);
  }
}
