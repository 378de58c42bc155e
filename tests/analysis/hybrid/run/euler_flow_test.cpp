#include <doctest/doctest.h>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/index.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/paths.hpp>

// Steps of implicit Euler of ẋ = A x + b are samples of a flow, that of the matrix −log(1 − h A)/h with the same
// equilibrium. Changes where this flow meets a constraint are the best that such steps can tell: what a run lacks beside
// the exact changes although the flow has it, it would lack by its own fault, and what the flow lacks too by that of h.
namespace euler_flow {
namespace {

using nlohmann::json;
using perp::at;
using perp::Event;
using perp::EventKind;
using perp::Matrix;
using perp::Model;
using perp::Trajectory;
using perp::Vector;
using Changes = std::map<std::string, std::vector<double>>;  // of each binary that changes: when

std::string text_of(const std::string& file) {
  std::ifstream stream(perp::test::data_path(file));
  REQUIRE(stream);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Tanks with a valve each for hot water of one supply, which those that are open share:
///     ẋ = (own − diag(c z / y)) x + c hot z / y,   y = max(1, Σ z);   valve i opens at low_i and closes at high_i.
struct Tanks {
  Matrix own;
  double c, hot;
  Vector x, low, high;
  std::vector<std::string> valves{};
};

Tanks three_tanks(const json& data) {
  const json& p = data["parameters"];
  const double mass = p["c"].get<double>() * p["m"].get<double>(), alpha = p["alpha1"], gamma = p["gamma"];
  REQUIRE(p["u1"] == 0);
  const Matrix all = Matrix::Ones(3, 3), unit = Matrix::Identity(3, 3);
  return {(alpha * (all - unit) - gamma * unit) / mass,
          p["c"].get<double>() * p["f_v"].get<double>() / mass,
          p["u2"],
          Vector{{data["x0"][0], data["x0"][1], data["x0"][2]}},
          Vector{{p["u3"], p["u5"], p["u7"]}},
          Vector{{p["u4"], p["u6"], p["u8"]}},
          {"z1", "z3", "z5"}};
}

Vector vector_of(const json& list) {
  Vector vector(static_cast<Eigen::Index>(list.size()));
  for (Eigen::Index k = 0; k < vector.size(); ++k) vector[k] = list[at(k)];
  return vector;
}

Tanks tanks_in_a_row(const json& data) {
  const json &p = data["parameters"], &model = data["model"];
  REQUIRE(p["u1"] == 0);
  Tanks tanks{{}, p["c"], p["u2"], vector_of(data["x0"]), vector_of(model["lo"]), vector_of(model["hi"])};
  const Eigen::Index n = tanks.x.size();
  tanks.own = -p["b"].get<double>() * Matrix::Identity(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    tanks.valves.push_back("z" + std::to_string(i + 1));
    for (const Eigen::Index j : {i - 1, i + 1}) {
      if (j < 0 || j >= n) continue;
      tanks.own(i, i) -= p["a"].get<double>();
      tanks.own(i, j) += p["a"].get<double>();
    }
  }
  return tanks;
}

/// With some valves open: x(t) = rest + V exp(rates t) Vᵀ (x − rest), the matrices being symmetric.
struct Mode {
  Mode(const Tanks& tanks, const std::vector<int>& z, double h) {
    double open = 0;
    for (const int one : z) open += one;
    Matrix A = tanks.own;
    Vector b = Vector::Zero(tanks.x.size());
    for (Eigen::Index i = 0; i < b.size(); ++i) {
      const double share = tanks.c * z[at(i)] / std::max(1.0, open);
      A(i, i) -= share;
      b[i] = tanks.hot * share;
    }
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(A);
    V = solver.eigenvectors();
    rates = -(1 - h * solver.eigenvalues().array()).log() / h;
    rest = -A.partialPivLu().solve(b);
  }
  Vector at_time(const Vector& x, double t) const {
    return rest + V * ((rates.array() * t).exp() * (V.transpose() * (x - rest)).array()).matrix();
  }
  Matrix V;
  Vector rates, rest;
};

/// The valves that are to change.
std::vector<int> called(const Tanks& tanks, const Vector& x, const std::vector<int>& z) {
  std::vector<int> valves;
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (z[at(i)] == 0 ? x[i] < tanks.low[i] : x[i] > tanks.high[i]) valves.push_back(static_cast<int>(i));
  return valves;
}

/// Of the flow of steps of length h.
Changes changes_of_flow(const Tanks& tanks, double h, double end) {
  Changes changes;
  std::map<std::vector<int>, Mode> modes;
  Vector x = tanks.x;
  std::vector<int> z(tanks.valves.size(), 0);
  for (double t = 0; t < end;) {
    const Mode& mode = modes.try_emplace(z, tanks, z, h).first->second;
    double behind = h;
    if (!called(tanks, mode.at_time(x, h), z).empty())
      for (double before = 0, k = 0; k < 60; ++k) {
        const double middle = (before + behind) / 2;
        (called(tanks, mode.at_time(x, middle), z).empty() ? before : behind) = middle;
      }
    x = mode.at_time(x, behind);
    t += behind;
    for (const int i : called(tanks, x, z)) {
      z[at(i)] = 1 - z[at(i)];
      if (t < end) changes[tanks.valves[at(i)]].push_back(t);
    }
  }
  return changes;
}

Changes changes_of_run(const std::string& name, double h) {
  perp::ReadOptions known;
  known.hybrid = true;
  const Model model = perp::read_model_text(text_of("/hybrid_runs/" + name + ".toml"), "m.toml",
                                            {{"run.scheme", "backward_euler"}, {"run.h", std::to_string(h)}}, known);
  const Trajectory trajectory = perp::scheme("backward_euler").run(model, {});
  REQUIRE(trajectory.status == perp::Status::solved);
  Changes changes;
  for (const Event& event : trajectory.events)
    if (event.kind == EventKind::mode_change) changes[model.multipliers[at(event.law)]].push_back(event.t);
  return changes;
}

std::vector<std::size_t> counts(const Tanks& tanks, const Changes& changes) {
  std::vector<std::size_t> list;
  for (const std::string& valve : tanks.valves) list.push_back(changes.contains(valve) ? changes.at(valve).size() : 0);
  return list;
}

/// The largest distance between changes of both.
double distance(const Changes& a, const Changes& b) {
  double largest = 0;
  for (const auto& [binary, times] : a)
    for (std::size_t k = 0; k < times.size(); ++k) largest = std::max(largest, std::abs(times[k] - b.at(binary)[k]));
  return largest;
}

TEST_SUITE_BEGIN("analysis/hybrid/run");

TEST_CASE("changes of backward Euler are those of the flow that its steps are samples of, to the square of h") {
  const json data = json::parse(text_of("/trajectories/s002_three_tank.json"));
  const Tanks tanks = three_tanks(data);
  std::vector<double> distances;
  for (const double steps : {2000.0, 4000.0, 8000.0}) {
    CAPTURE(steps);
    const double h = 1000 / steps;
    const Changes flow = changes_of_flow(tanks, h, 1000), run = changes_of_run("s002_three_tank", h);
    CHECK(counts(tanks, run) == counts(tanks, flow));
    distances.push_back(distance(flow, run));
    // The 7th change of z3 is at 995.36: with h = 1/2 the flow, too, has it behind the end, at 1000.30.
    CHECK(counts(tanks, flow) == std::vector<std::size_t>{15, steps > 2000 ? 7U : 6U, 15});
  }
  const Changes beyond = changes_of_flow(tanks, 0.5, 1010);
  CHECK(beyond.at("z3")[6] == doctest::Approx(1000.304).epsilon(1e-6));
  for (std::size_t k = 1; k < distances.size(); ++k) {
    CHECK(distances[k - 1] / distances[k] >= 3.5);
    CHECK(distances[k - 1] / distances[k] <= 4.5);
  }
}

TEST_CASE("a change that backward Euler has not made at the end of a run its flow has not made either") {
  const json data = json::parse(text_of("/trajectories/s002_tanks_10.json"));
  const Tanks tanks = tanks_in_a_row(data);
  for (const double steps : {2000.0, 4000.0, 8000.0, 16000.0}) {
    CAPTURE(steps);
    const double h = 400 / steps;
    const Changes flow = changes_of_flow(tanks, h, 400), run = changes_of_run("s002_tanks_10", h);
    // The 22nd change of z7 is at 399.72; the flow has it 3.9 h late.
    const std::size_t of_z7 = steps < 5000 ? 21 : 22;
    CHECK(counts(tanks, flow) == std::vector<std::size_t>{15, 15, 46, 12, 28, 10, of_z7, 8, 16, 68});
    CHECK(counts(tanks, run) == counts(tanks, flow));
    // With longer steps some changes that are near pass each other.
    if (steps >= 8000) CHECK(distance(flow, run) <= 8 * h * h);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace euler_flow
