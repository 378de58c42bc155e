#include <doctest/doctest.h>
#include <cmath>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/recorder.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>

#include <perp/tests/schemes/located/lcs_system.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;

namespace {

/// Where a jet starts, as a function of quantities q.
struct Start {
  double t = 0;
  Vector x, lambda;
  std::vector<double> parameters{};
};

Jet jet_of(Dcs system, const Start& start, const Mode& mode) {
  system.parameters = start.parameters;
  ConsistentJets jets(system);
  return jets.solve(mode, start.t, start.x, start.lambda);
}

/// Checks every derivative that exists against differences of fourth order of the jets.
int compare_with_differences(const Dcs& system, const Mode& mode, const Start& at,
                             const Start& direction, double h) {
  const auto moved = [&](double s) {
    Start start = at;
    start.t += s * direction.t;
    start.x += s * direction.x;
    for (std::size_t k = 0; k < at.parameters.size(); ++k)
      start.parameters[k] += s * direction.parameters[k];
    return jet_of(system, start, mode);
  };
  ConsistentJets jets(system);
  const Jet jet = jets.solve(mode, at.t, at.x, at.lambda);
  REQUIRE(jet.consistent);
  const auto parameters = static_cast<Eigen::Index>(at.parameters.size());
  const Matrix dp = Eigen::Map<const Vector>(direction.parameters.data(), parameters);
  const JetSensitivities found = jets.sensitivities(jet, direction.x, Vector{{direction.t}}, dp);
  CHECK(found.residual < 1e-9);
  const Jet a = moved(h), b = moved(-h), c = moved(2 * h), d = moved(-2 * h);
  int compared = 0;
  const auto compare = [&](const std::vector<Matrix>& derivatives, Matrix Jet::*member,
                           std::vector<int> Jet::*known) {
    for (std::size_t k = 0; k < derivatives.size(); ++k)
      for (Eigen::Index i = 0; i < derivatives[k].rows(); ++i) {
        CAPTURE(k);
        CAPTURE(i);
        const double value = derivatives[k](i, 0);
        const bool determined = (jet.*known)[static_cast<std::size_t>(i)] > static_cast<int>(k);
        CHECK(std::isfinite(value) == determined);
        if (!determined) continue;
        const auto entry = [&](const Jet& j) { return (j.*member)(i, static_cast<int>(k)); };
        const double difference = (8 * (entry(a) - entry(b)) - (entry(c) - entry(d))) / (12 * h);
        const double size = std::max({1.0, std::abs(entry(jet)), std::abs(value)});
        CHECK(std::abs(difference - value) < 1e-7 * size);
        ++compared;
      }
  };
  compare(found.x, &Jet::x, &Jet::x_known);
  compare(found.lambda, &Jet::lambda, &Jet::lambda_known);
  compare(found.w, &Jet::w, &Jet::w_known);
  return compared;
}

/// Index 1: y³ + y = x + λ, ẋ = −y sin t, w = y − t.
struct Algebraic {
  void residual(const auto& t, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] + x[1] * sin(t);
    r[1] = x[1] * x[1] * x[1] + x[1] - x[0] - lambda[0];
  }
  void output(const auto& t, const auto& x, const auto&, auto& w) const { w[0] = x[1] - t; }
};

/// A contact whose force is that of a spring and the weight.
struct Contact {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = xdot[1] + 1 + x[2] - lambda[0];
    r[2] = xdot[2] + x[2] * x[2];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

}  // namespace

TEST_SUITE("schemes/located/jet_sensitivities") {
  TEST_CASE("a loop of algebraic variable and multiplier, moving x and t") {
    const Dcs system = make_dcs(Algebraic{}, 2, {equality()});
    const Start at{1.5, Vector{{0.3, 1.4}}, Vector{{1}}};
    CHECK(compare_with_differences(system, {0}, at, {0, Vector{{1, 0}}, {}}, 1e-3) > 5);
    CHECK(compare_with_differences(system, {0}, at, {1, Vector{{0, 0}}, {}}, 1e-3) > 5);
    CHECK(compare_with_differences(system, {0}, at, {-0.4, Vector{{0.7, 3}}, {}}, 1e-3) > 5);
  }

  TEST_CASE("the index-2 sliding of variant (37) along its manifold") {
    const Dcs system = test::dcs_of(switching_dae::own_law(-1, 0.5, 1, -1));
    const Start at{0, Vector{{0, 0.2, 0}}, Vector{{0}}};
    CHECK(compare_with_differences(system, {1}, at, {0, Vector{{0, 1, 0}}, {}}, 1e-2) > 5);
  }

  TEST_CASE("a contact of relative degree two: its force follows the spring") {
    const Dcs system = make_dcs(Contact{}, 3, {complementarity()});
    const Start at{0, Vector{{0, 0, 0.5}}, Vector{{0}}};
    CHECK(compare_with_differences(system, {1}, at, {0, Vector{{0, 0, 1}}, {}}, 1e-3) > 5);
  }

  TEST_CASE("derivatives that leave the manifold are told by their residual") {
    ConsistentJets jets(make_dcs(Contact{}, 3, {complementarity()}));
    const Jet rest = jets.solve({1}, 0, Vector{{0, 0, 0.5}}, Vector{{0}});
    CHECK(jets.sensitivities(rest, Vector{{0, 1, 0}}).residual > 0.1);
    CHECK(jets.sensitivities(rest, Vector{{0, 0, 1}}).residual < 1e-14);
  }

  TEST_CASE("the soft drink tank by its variables and parameters, in a region and sliding") {
    for (const char* name : {"soft_drink_filippov", "soft_drink_paired"}) {
      CAPTURE(name);
      const Model model = read_model(find_model(name));
      const Dcs& system = model.system.functions();
      Start at{0, model.x0(), Vector{{1}}, system.parameters};
      at.x.head(3) << 2.142570199535172, 112.48093305365549, 0.006101422830242619;
      const auto none = std::vector<double>(at.parameters.size(), 0.0);
      for (const int mode : {2, 1}) {
        CAPTURE(mode);
        at.lambda[0] = mode == 2 ? 1 : (std::string(name) == "soft_drink_paired" ? 0.0032 : 0.53);
        ConsistentJets jets(system);
        at.x = jets.solve({mode}, 0, at.x, at.lambda).x.col(0);
        Start direction{0, Vector::Zero(at.x.size()), {}, none};
        direction.x[0] = 0.1;
        CHECK(compare_with_differences(system, {mode}, at, direction, 1e-4) > 5);
        direction.x[0] = 0;
        // F1, F2, rho_L, rho_a, V, V_d, T, P_out, X, k_L, ...: not those of the surface
        for (const std::size_t p :
             {std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{6}, std::size_t{9}}) {
          CAPTURE(p);
          direction.parameters = none;
          direction.parameters[p] = 0.1 * at.parameters[p];
          CHECK(compare_with_differences(system, {mode}, at, direction, 1e-4) > 5);
        }
      }
    }
  }

  TEST_CASE("units of time do not matter") {
    ConsistentJets jets(make_dcs(Contact{}, 3, {complementarity()}));
    const Vector x{{0, 0, 0.5}};
    const JetSensitivities one =
        jets.sensitivities(jets.solve({1}, 0, x, Vector{{0}}), Vector{{0, 0, 1}});
    jets.set_scales({1e-3});
    const JetSensitivities two =
        jets.sensitivities(jets.solve({1}, 0, x, Vector{{0}}), Vector{{0, 0, 1}});
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(two.x[k](2, 0) == doctest::Approx(one.x[k](2, 0)).epsilon(1e-12));
    CHECK(two.lambda[0](0, 0) == doctest::Approx(one.lambda[0](0, 0)).epsilon(1e-12));
  }

  TEST_CASE("wrong shapes and inconsistent jets are refused") {
    ConsistentJets jets(make_dcs(Contact{}, 3, {complementarity()}));
    const Jet rest = jets.solve({1}, 0, Vector{{0, 0, 0.5}}, Vector{{0}});
    CHECK_THROWS_WITH_AS(jets.sensitivities(rest, Matrix::Zero(2, 1)),
                         "dx_dq must have 3 rows but has 2", InvalidInput);
    CHECK_THROWS_WITH_AS(jets.sensitivities(rest, Matrix::Zero(3, 1), Vector::Zero(2)),
                         "dt_dq must have 1 entries but has 2", InvalidInput);
    const Jet impact = jets.solve({1}, 0, Vector{{0, -1, 0.5}}, Vector{{0}});
    CHECK_THROWS_WITH_AS(jets.sensitivities(impact, Matrix::Zero(3, 1)),
                         "sensitivities need a jet that is consistent", InvalidInput);
  }
}
