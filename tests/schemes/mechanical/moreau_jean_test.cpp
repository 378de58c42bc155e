#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <Eigen/LU>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include <perp/perp.hpp>
#include <perp/tests/paths.hpp>
#include <perp/tests/schemes/mechanical_models.hpp>

using namespace perp;
using namespace perp::test;

namespace {

constexpr double g = 9.81;

Dcs ball() { return make_dcs(BallOnTable{}, 2, contacts({"floor"})); }

/// Height and velocity of a ball thrown from the floor with v0, at t before the accumulation.
std::pair<double, double> bouncing(double v0, double e, double t) {
  while (t > 2 * v0 / g) {
    t -= 2 * v0 / g;
    v0 *= e;
  }
  return {v0 * t - g * t * t / 2, v0 - g * t};
}

long jumps(const Trajectory& run) {
  return std::count_if(run.events.begin(), run.events.end(),
                       [](const Event& event) { return event.kind == EventKind::jump; });
}

double slope(const std::vector<double>& h, const std::vector<double>& error) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t k = 0; k < h.size(); ++k) {
    const double x = std::log(h[k]), y = std::log(error[k]);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  const auto n = static_cast<double>(h.size());
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

}  // namespace

TEST_SUITE("schemes/moreau_jean") {
  TEST_CASE("a bouncing ball passes the accumulation of its impacts and rests on the floor") {
    std::ifstream file(perp::test::data_path("/trajectories/s000_bouncing_ball_zeno.json"));
    const auto reference = nlohmann::json::parse(file);
    IntegrateOptions options;
    options.only_times = true;
    for (const auto& point : reference["checkpoints"])
      if (point["t"] > 0 && point["t"] < 25) options.times.push_back(point["t"]);
    for (const double h : {1e-2, 1e-3, 1e-4}) {
      CAPTURE(h);
      const Trajectory run = integrate(
          ball(), Vector{{0, 10}}, {0, 25},
          MoreauJean{.h = h, .restitution = {reference["parameters"]["gamma"].get<double>()}},
          options);
      REQUIRE(run.status == Status::solved);
      for (std::size_t k = 1; k < run.size(); ++k) {
        const auto& point = reference["checkpoints"][k];
        REQUIRE(run.t[k] == point["t"].get<double>());
        CAPTURE(run.t[k]);
        CHECK(std::abs(run.x[k][0] - point["x"][0].get<double>()) < 10 * h);
      }
      for (std::size_t k = run.size() - 2; k < run.size(); ++k) {  // t = 21 and 25
        if (h > 1e-3 && k + 1 < run.size()) continue;
        CHECK(std::abs(run.x[k][0]) < 20 * h * h);
        CHECK(std::abs(run.x[k][1]) < 1e-12);
        CHECK(run.lambda[k][0] == doctest::Approx(g).epsilon(1e-12));
        CHECK(run.mode[k][0] == 1);
      }
      CHECK(std::stod(run.provenance.at("deepest penetration")) < 10 * h);
      // The 40 impacts that the reference lists, more of them, and at last the contact.
      REQUIRE(run.events.size() > 40);
      for (std::size_t k = 0; k < 40; ++k) {
        const Event& impact = run.events[k];
        const auto& exact = reference["events"][k];
        REQUIRE(exact["type"] == "jump");
        CHECK(impact.kind == EventKind::jump);
        CHECK(impact.law == 0);
        CHECK(std::abs(impact.t - exact["t"].get<double>()) < 60 * h);
        CHECK(impact.x_after[1] == doctest::Approx(-0.9 * impact.x_before[1]));
        if (k < 5) CHECK(std::abs(impact.x_before[1] - exact["x_minus"][1].get<double>()) < 12 * h);
      }
      CHECK(run.events.back().kind == EventKind::mode_change);
      CHECK(run.events.back().to == 1);
      CHECK(std::abs(run.events.back().t - reference["zeno_time"].get<double>()) < 100 * h);
    }
  }

  TEST_CASE("the error after several impacts is of first order in h") {
    // The error depends on where in its step an impact falls; the mean over many starts does not.
    std::vector<double> sizes, errors;
    for (const double h : {1.6e-2, 8e-3, 4e-3, 2e-3, 1e-3}) {
      double sum = 0;
      for (int k = 0; k < 60; ++k) {
        const double v0 = 5 + 0.0217 * k;
        const Trajectory run =
            integrate(ball(), Vector{{0, v0}}, {0, 2.4}, MoreauJean{.h = h, .restitution = {0.8}});
        REQUIRE(run.status == Status::solved);
        sum += std::abs(run.x.back()[0] - bouncing(v0, 0.8, 2.4).first);
      }
      sizes.push_back(h);
      errors.push_back(sum / 60);
    }
    CHECK(slope(sizes, errors) > 0.9);
    CHECK(slope(sizes, errors) < 1.1);
  }

  TEST_CASE("smooth motion is of second order for theta = 1/2 and of first order for theta = 1") {
    const Dcs system = make_dcs(CartWithPendulum{}, 4, contacts({"wall"}));
    const Vector x0{{5, 1, 0.3, -0.2}};
    const auto end = [&](double h, double theta) {
      const Trajectory run =
          integrate(system, x0, {0, 1}, MoreauJean{.h = h, .theta = theta, .restitution = {1}});
      REQUIRE(run.status == Status::solved);
      return run.x.back();
    };
    for (const double theta : {0.5, 1.0}) {
      const double first = (end(4e-3, theta) - end(2e-3, theta)).norm();
      const double second = (end(2e-3, theta) - end(1e-3, theta)).norm();
      REQUIRE(second > 1e-9);
      CHECK(std::log2(first / second) == doctest::Approx(theta == 0.5 ? 2 : 1).epsilon(0.05));
    }
  }

  TEST_CASE("an impact takes (1 - e^2)/2 of the kinetic energy of its contact velocity") {
    const Matrix M{{2, 0.5, 0}, {0.5, 1, 0.2}, {0, 0.2, 3}};
    const FlatContacts model{M, Matrix{{1, 2, -1}}, Vector::Zero(3), Vector{{0.05}}};
    Vector x0{{0, 0, 0, -1, -0.5, 0.3}};
    for (const double e : {0.0, 0.4, 1.0}) {
      const Trajectory run =
          integrate(model.system(), x0, {0, 0.1}, MoreauJean{.h = 1e-3, .restitution = {e}});
      REQUIRE(run.status == Status::solved);
      CHECK(jumps(run) == 1);
      const double U = model.G.row(0).dot(x0.tail(3));
      const double mass = 1 / model.G.row(0).dot(M.inverse() * model.G.row(0).transpose());
      CHECK(model.energy(x0) - model.energy(run.x.back()) ==
            doctest::Approx((1 - e * e) * mass * U * U / 2));
      CHECK(model.G.row(0).dot(run.x.back().tail(3)) == doctest::Approx(-e * U));
    }
  }

  TEST_CASE("energy never grows, whatever contacts, masses, forces and restitutions") {
    std::mt19937 random(20240607);
    std::uniform_real_distribution<double> number(-1, 1), share(0, 1);
    long impacts = 0;
    for (int sample = 0; sample < 40; ++sample) {
      CAPTURE(sample);
      const auto n = static_cast<Eigen::Index>(1 + sample % 4);
      const auto m = static_cast<Eigen::Index>(1 + sample % 6);
      const Matrix R = Matrix::NullaryExpr(n, n, [&] { return number(random); });
      const FlatContacts model{R * R.transpose() + 0.3 * Matrix::Identity(n, n),
                               Matrix::NullaryExpr(m, n, [&] { return number(random); }),
                               Vector::NullaryExpr(n, [&] { return 5 * number(random); }),
                               Vector::NullaryExpr(m, [&] { return 0.2 * share(random); })};
      Vector x0 = Vector::Zero(2 * n);
      for (Eigen::Index k = 0; k < n; ++k) x0[n + k] = 2 * number(random);
      MoreauJean scheme{.h = 5e-3};
      double largest = 0;
      for (Eigen::Index a = 0; a < m; ++a) {
        scheme.restitution.push_back(sample % 5 == 0 ? 1 : share(random));
        largest = std::max(largest, scheme.restitution.back());
      }
      scheme.theta = sample % 2 == 0 ? 0.5 : 1 / (1 + largest);
      const Trajectory run = integrate(model.system(), x0, {0, 2}, scheme);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      impacts += run.counts.at("impacts");
      double growth = 0, scale = 1;
      for (std::size_t k = 1; k < run.size(); ++k) {
        growth = std::max(growth, model.energy(run.x[k]) - model.energy(run.x[k - 1]));
        scale = std::max(scale, std::abs(model.energy(run.x[k])) + run.x[k].squaredNorm());
      }
      CHECK(growth < 1e-11 * scale);
    }
    CHECK(impacts > 300);
  }

  TEST_CASE("energy never grows in a curved vessel either") {
    for (const double e : {0.0, 0.6, 1.0}) {
      CAPTURE(e);
      const Trajectory run =
          integrate(make_dcs(Bowl{}, 4, contacts({"bowl"})), Vector{{0.3, 0.2, 1, 0}}, {0, 5},
                    MoreauJean{.h = 1e-3, .restitution = {e}});
      REQUIRE(run.status == Status::solved);
      CHECK(run.counts.at("impacts") > 0);
      CHECK(run.counts.at("impacts") < 60);  // from then on the mass slides
      const auto energy = [](const Vector& x) { return 0.5 * x.tail(2).squaredNorm() + g * x[1]; };
      double growth = 0;
      for (std::size_t k = 1; k < run.size(); ++k)
        growth = std::max(growth, energy(run.x[k]) - energy(run.x[k - 1]));
      CHECK(growth < 1e-12);
      CHECK(std::stod(run.provenance.at("deepest penetration")) < 1e-2);
    }
  }

  TEST_CASE("three touching balls share an impact as Newton's law says, apart they pass it on") {
    const Row row{{1, 1, 1}};
    const MoreauJean scheme{.h = 1e-3, .restitution = {1, 1}};
    const Trajectory touching =
        integrate(row.system(), Vector{{-0.0205, 0, 0, 1, 0, 0}}, {0, 0.1}, scheme);
    REQUIRE(touching.status == Status::solved);
    CHECK((touching.x.back().tail(3) - Vector{{-1.0 / 3, 2.0 / 3, 2.0 / 3}}).norm() < 1e-12);
    const Trajectory apart =
        integrate(row.system(), Vector{{-0.0205, 0, 0.01, 1, 0, 0}}, {0, 0.1}, scheme);
    REQUIRE(apart.status == Status::solved);
    CHECK((apart.x.back().tail(3) - Vector{{0, 0, 1}}).norm() < 1e-12);
    CHECK(jumps(apart) == 2);
  }

  TEST_CASE("two balls that rest on a floor press with their weights") {
    const Row stack{{2, 3}, true, -g};
    const Trajectory run = integrate(stack.system(), Vector::Zero(4), {0, 1},
                                     MoreauJean{.h = 1e-3, .restitution = {0.5, 0.5}});
    REQUIRE(run.status == Status::solved);
    for (std::size_t k = 0; k < run.size(); ++k) {
      CHECK(run.x[k].norm() < 1e-12);
      CHECK((run.lambda[k] - Vector{{5 * g, 3 * g}}).norm() < 1e-9);
      CHECK(run.mode[k] == Mode{1, 1});
    }
    CHECK(run.events.empty());
  }

  TEST_CASE("two balls that fall on a floor come to rest on each other") {
    const Row stack{{2, 3}, true, -g};
    const Trajectory run = integrate(stack.system(), Vector{{0.3, 0.7, 0, 0}}, {0, 4},
                                     MoreauJean{.h = 1e-3, .restitution = {0.5, 0.5}});
    REQUIRE(run.status == Status::solved);
    CHECK(run.x.back().norm() < 1e-2);
    CHECK((run.lambda.back() - Vector{{5 * g, 3 * g}}).norm() < 1e-6);
    CHECK(run.mode.back() == Mode{1, 1});
  }

  TEST_CASE("twenty balls that fall on each other come to rest, energy never grows") {
    // Resting contacts below impacts: what is at rest must not look like data of the impact
    // problem.
    Row column{std::vector<double>(20, 1.0), true, -g};
    for (std::size_t k = 0; k < 20; k += 2) column.masses[k] = 10;
    Vector x0 = Vector::Zero(40);
    for (Eigen::Index k = 0; k < 20; ++k) x0[k] = 0.01 * static_cast<double>(k + 1);
    const MoreauJean scheme{.h = 1e-3, .restitution = std::vector<double>(20, 0.5)};
    const Trajectory run = integrate(column.system(), x0, {0, 1.5}, scheme);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    double last = inf, growth = 0, weight = 0;
    for (const Vector& x : run.x) {
      double energy = 0;
      for (Eigen::Index k = 0; k < 20; ++k) {
        const double m = column.masses[static_cast<std::size_t>(k)];
        energy += m * (g * x[k] + x[20 + k] * x[20 + k] / 2);
      }
      growth = std::max(growth, energy - last);
      last = energy;
    }
    for (const double m : column.masses) weight += m * g;
    CHECK(growth < 1e-11);
    CHECK(run.x.back().tail(20).norm() < 1e-9);
    const double residual = std::stod(run.provenance.at("impact residual"));
    CHECK(residual > 0);
    CHECK(residual <= scheme.tol);
    CHECK(run.lambda.back()[0] == doctest::Approx(weight));
  }

  TEST_CASE("a light ball on a heavy one leaves the floor with almost three times the speed") {
    const Row pair{{100, 0.1}, true, -g};
    const Trajectory run = integrate(pair.system(), Vector{{1, 1.01, 0, 0}}, {0, 0.6},
                                     MoreauJean{.h = 1e-5, .restitution = {1, 1}});
    REQUIRE(run.status == Status::solved);
    const double v = std::sqrt(2 * g), ratio = (3 * 100 - 0.1) / (100 + 0.1);
    const auto last = std::find_if(run.events.rbegin(), run.events.rend(), [](const Event& event) {
      return event.kind == EventKind::jump && event.law == 1;
    });
    REQUIRE(last != run.events.rend());
    CHECK(last->x_after[3] == doctest::Approx(ratio * v).epsilon(0.01));
  }

  TEST_CASE("a ball in a corner is thrown back by both walls at once") {
    const FlatContacts corner{Matrix::Identity(2, 2), Matrix::Identity(2, 2), Vector::Zero(2),
                              Vector::Zero(2)};
    const Trajectory run = integrate(corner.system(), Vector{{0.1005, 0.2010, -1, -2}}, {0, 0.2},
                                     MoreauJean{.h = 1e-3, .restitution = {0.5, 0.25}});
    REQUIRE(run.status == Status::solved);
    CHECK((run.x.back().tail(2) - Vector{{0.5, 0.5}}).norm() < 1e-12);
    CHECK(jumps(run) == 2);
    CHECK(run.events[0].t_after == run.events[1].t_after);
  }

  TEST_CASE("more supports than needed carry the weight together") {
    const FlatContacts table{Matrix{{2, 0}, {0, 0.5}}, Matrix{{1, -1}, {1, 0}, {1, 1}},
                             Vector{{-2 * g, 0}}, Vector::Zero(3)};
    const Trajectory run = integrate(table.system(), Vector::Zero(4), {0, 0.1},
                                     MoreauJean{.h = 1e-3, .restitution = {0.3, 0.3, 0.3}});
    REQUIRE(run.status == Status::solved);
    CHECK(run.x.back().norm() < 1e-12);
    CHECK(run.lambda.back().sum() == doctest::Approx(2 * g));
    CHECK(run.lambda.back()[0] == doctest::Approx(run.lambda.back()[2]));
  }

  TEST_CASE("a ball rests on a moving table with the table's acceleration in its weight") {
    const BallOnTable table{.A = 0.02, .omega = 15};  // 4.5 m/s^2
    for (const double h : {1e-3, 1e-4}) {
      CAPTURE(h);
      const Trajectory run = integrate(make_dcs(table, 2, contacts({"table"})), Vector{{0, 0.3}},
                                       {0, 1}, MoreauJean{.h = h, .restitution = {0.6}});
      REQUIRE(run.status == Status::solved);
      double worst_gap = 0, worst_force = 0;
      for (std::size_t k = 1; k < run.size(); ++k) {
        const double phase = 15 * run.t[k];
        worst_gap = std::max(worst_gap, std::abs(run.x[k][0] - 0.02 * std::sin(phase)));
        worst_force =
            std::max(worst_force, std::abs(run.lambda[k][0] - (g - 4.5 * std::sin(phase))));
      }
      CHECK(worst_gap < 20 * h * h);
      CHECK(worst_force < 100 * h);
    }
  }

  TEST_CASE("a ball leaves a moving table when the table falls faster than it") {
    const BallOnTable table{.A = 0.02, .omega = 25};  // 12.5 m/s^2
    const Trajectory run = integrate(make_dcs(table, 2, contacts({"table"})), Vector{{0, 0.5}},
                                     {0, 0.06}, MoreauJean{.h = 1e-5, .restitution = {0.6}});
    REQUIRE(run.status == Status::solved);
    REQUIRE(run.events.size() == 1);  // closed from the start
    CHECK(run.events[0].kind == EventKind::mode_change);
    CHECK(run.events[0].to == 0);
    CHECK(std::abs(run.events[0].t - std::asin(g / 12.5) / 25) < 1e-3);
  }

  TEST_CASE("an impact on a moving table counts the velocity of the table") {
    const BallOnTable table{.A = 0.1, .omega = 10};  // moves up with 1 m/s at first
    const Trajectory run = integrate(make_dcs(table, 2, contacts({"table"})), Vector{{0.03, -2}},
                                     {0, 0.011}, MoreauJean{.h = 1e-5, .restitution = {0.5}});
    REQUIRE(run.status == Status::solved);
    REQUIRE(jumps(run) == 1);
    const double t = run.events[0].t, u = std::cos(10 * t), v = run.events[0].x_before[1];
    CHECK(run.events[0].x_after[1] == doctest::Approx(u + 0.5 * (u - v)).epsilon(1e-3));
  }
}
