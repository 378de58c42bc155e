#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <Eigen/QR>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include <perp/core/branches.hpp>
#include <perp/core/lcs.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/paths.hpp>

namespace {

using perp::ExactPiece;
using perp::Law;
using perp::Lcs;
using perp::Matrix;
using perp::Mode;
using perp::Model;
using perp::Vector;

Vector state(const Model& model, const ExactPiece& piece, double t) {
  Vector x = Vector::Constant(model.lcs().n(), perp::nan);
  piece.x(t, x);
  return x;
}

/// ẋ from central differences of order 6, inside the piece.
Vector derivative(const Model& model, const ExactPiece& piece, double t, double h) {
  const auto difference = [&](double step) -> Vector {
    return (state(model, piece, t + step) - state(model, piece, t - step)) / (2 * step);
  };
  return 1.5 * difference(h) - 0.6 * difference(2 * h) + 0.1 * difference(3 * h);
}

/// Is there a λ with E ẋ = A x + B λ + b and (w, λ) on the laws? The smallest misfit over all
/// modes. Per mode the equations and the branches' lines are linear in λ; the ranges are checked
/// after.
double misfit(const Lcs& lcs, const Vector& xdot, const Vector& x, double t) {
  const int n = lcs.n();
  const int m = lcs.m();
  const Vector r = lcs.E * xdot - lcs.A * x - lcs.b(t);
  const Vector q = lcs.C * x + lcs.q(t);
  if (m == 0) return r.lpNorm<Eigen::Infinity>();
  const double scale = 1 + lcs.B.lpNorm<Eigen::Infinity>();
  double best = perp::inf;
  Mode mode(static_cast<std::size_t>(m), 0);
  while (true) {
    Matrix M(n + m, m);
    Vector d(n + m);
    M.topRows(n) = lcs.B / scale;
    d.head(n) = r / scale;
    for (int i = 0; i < m; ++i) {
      const auto law = static_cast<std::size_t>(i);
      const perp::Branch& branch = lcs.laws[law].branches[static_cast<std::size_t>(mode[law])];
      M.row(n + i) = branch.a * lcs.D.row(i);
      M(n + i, i) += branch.b;
      d[n + i] = branch.c - branch.a * q[i];
    }
    const Vector lambda = M.colPivHouseholderQr().solve(d);
    const Vector w = q + lcs.D * lambda;
    double here = (M * lambda - d).lpNorm<Eigen::Infinity>();
    for (int i = 0; i < m; ++i)
      here = std::max(here, distance(lcs.laws[static_cast<std::size_t>(i)], w[i], lambda[i]));
    best = std::min(best, here);
    // The next mode, as an odometer.
    std::size_t k = 0;
    while (k < mode.size() && ++mode[k] == static_cast<int>(lcs.laws[k].branches.size()))
      mode[k++] = 0;
    if (k == mode.size()) return best;
  }
}

/// Can E (x⁺ - x⁻) come from an impulse of λ and of the algebraic variables?
bool is_jump_of_the_model(const Lcs& lcs, const Vector& jump) {
  Matrix impulses = lcs.B;
  for (int j = 0; j < lcs.n(); ++j) {
    if (!lcs.E.col(j).isZero(0)) continue;
    impulses.conservativeResize(Eigen::NoChange, impulses.cols() + 1);
    impulses.rightCols(1) = lcs.A.col(j);
  }
  // Only the differential rows see an impulse as a jump.
  for (int i = 0; i < lcs.n(); ++i)
    if (lcs.E.row(i).isZero(0)) impulses.row(i).setZero();
  const Vector moved = lcs.E * jump;
  const Vector sigma = impulses.colPivHouseholderQr().solve(moved);
  return (impulses * sigma - moved).norm() <= 1e-12 * (1 + moved.norm());
}

std::vector<Model> models_with_exact_solution() {
  std::vector<Model> models;
  perp::ReadOptions known;
  known.hybrid = true;
  for (const std::string& name : perp::zoo()) {
    Model model = perp::read_model(perp::find_model(name), {}, known);
    if (!model.exact.empty() && model.system.affine() != nullptr)
      models.push_back(std::move(model));
  }
  return models;
}

}  // namespace

TEST_SUITE("models/exact_solutions") {
  TEST_CASE("every exact solution of the zoo satisfies its equations and laws") {
    std::mt19937 random(20240607);
    const std::vector<Model> models = models_with_exact_solution();
    REQUIRE(models.size() >= 19);
    for (const Model& model : models) {
      CAPTURE(model.file);
      for (const ExactPiece& piece : model.exact) {
        CAPTURE(piece.span.start);
        const double length = piece.span.end - piece.span.start;
        std::uniform_real_distribution<double> inside(0.1, 0.9);
        for (int k = 0; k < 20; ++k) {
          const double t = piece.span.start + inside(random) * length;
          const Vector x = state(model, piece, t);
          REQUIRE(x.allFinite());
          CHECK(model.exact_at(t) == x);
          const double h = std::min(0.002 * length, 1e-2);
          const Vector xdot = derivative(model, piece, t, h);
          // Rounding of the difference quotient: ε |x| / h.
          const double tolerance = 1e-8 * (1 + xdot.lpNorm<Eigen::Infinity>());
          CAPTURE(t);
          CHECK(misfit(model.lcs(), xdot, x, t) <= tolerance);
        }
      }
    }
  }

  TEST_CASE("the check notices a wrong sign") {
    Model model = perp::read_model(perp::find_model("two_relays"));
    model.lcs().B = -model.lcs().B;
    const ExactPiece& piece = model.exact[0];
    const double t = 0.3;
    CHECK(misfit(model.lcs(), derivative(model, piece, t, 1e-3), state(model, piece, t), t) > 0.1);
  }

  TEST_CASE("exact solutions start at x0 and are continuous except where they jump") {
    int jumps = 0;
    for (const Model& model : models_with_exact_solution()) {
      CAPTURE(model.file);
      const Matrix& E = model.lcs().E;
      CHECK(model.exact.front().span.start == model.run.span.start);
      const Vector first = state(model, model.exact.front(), model.run.span.start);
      CHECK((E * (first - model.x0())).norm() <= 1e-14 * (1 + first.norm()));
      for (std::size_t k = 1; k < model.exact.size(); ++k) {
        if (model.exact[k].span.start > model.exact[k - 1].span.end) continue;  // a gap: unknown
        const double t = model.exact[k].span.start;
        CAPTURE(t);
        const Vector jump = state(model, model.exact[k], t) - state(model, model.exact[k - 1], t);
        if ((E * jump).norm() <= 1e-12) continue;
        ++jumps;
        CHECK(is_jump_of_the_model(model.lcs(), jump));
      }
    }
    CHECK(jumps == 2);  // switching_dae_jump in its two forms
  }

  TEST_CASE("the switching DAE follows the reference solutions") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"crossing", "sliding_crossing"},    {"repulsive", "sliding_repulsive"},
        {"variant37", "variant37"},          {"jump", "jump_B_1_2"},
        {"no_solution", "nosolution_B_2_1"}, {"half", "nosolution_B_0.5_0.25"},
    };
    for (const auto& [name, reference] : cases)
      for (const std::string form : {"", "_lcp"}) {
        const Model model = perp::read_model(perp::find_model("switching_dae_" + name + form));
        CAPTURE(model.file);
        std::ifstream file(perp::test::data_path("/trajectories/s003_") + reference +
                           ".json");
        REQUIRE(file);
        const nlohmann::json data = nlohmann::json::parse(file);
        for (int i = 0; i < 2; ++i)
          CHECK(model.x0()[i] == data["x0"][static_cast<std::size_t>(i)].get<double>());
        for (const auto& parameter : model.parameters)
          CHECK(parameter.second == data["parameters"][parameter.first].get<double>());
        for (const auto& point : data["checkpoints"]) {
          const double t = point["t"];
          CAPTURE(t);
          const Vector x = model.exact_at(t);
          REQUIRE(x.size() == 3);
          CHECK(x[0] == doctest::Approx(point["x"][0].get<double>()).epsilon(1e-14));
          CHECK(x[1] == doctest::Approx(point["x"][1].get<double>()).epsilon(1e-14));
          CHECK(x[2] == doctest::Approx(point["extra"]["z"].get<double>()).epsilon(1e-14));
        }
      }
  }
}
