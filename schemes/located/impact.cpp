#include <algorithm>
#include <cmath>
#include <Eigen/LU>

#include <perp/core/error.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/schemes/located/impact.hpp>

namespace perp {
namespace {

constexpr double touching = 1e-9;  ///< of the size of the terms of a gap: a contact of this moment
constexpr double resting = 1e-12;  ///< of the velocities: no approach

}  // namespace

std::optional<Impact> Impact::of(const Dcs& system, const std::vector<double>& restitution) {
  if (system.m() == 0) return std::nullopt;
  try {
    MechanicalSystem mechanical(system);
    std::vector<double> e = restitution;
    e.resize(static_cast<std::size_t>(system.m()), 0.0);
    return Impact(std::move(mechanical), std::move(e));
  } catch (const InvalidInput&) {
    return std::nullopt;  // no mechanical system: it has no impacts
  }
}

std::optional<Impact::Result> Impact::operator()(double t, const Vector& x) {
  MechanicalSystem::Contacts contacts;
  MechanicalSystem::Dynamics dynamics;
  system_.evaluate(t, x, contacts);
  const auto& velocities = system_.velocities();
  const auto nv = static_cast<Eigen::Index>(velocities.size());
  Vector v(nv);
  for (Eigen::Index k = 0; k < nv; ++k) v[k] = x[velocities[static_cast<std::size_t>(k)]];
  system_.evaluate(t, Vector::Zero(nv), x, dynamics);

  std::vector<int> touch;
  bool closes = false;
  const Vector U = contacts.G * v + contacts.g_t;
  for (int i = 0; i < system_.m(); ++i) {
    if (contacts.g[i] > touching * std::max(1.0, contacts.size[i])) continue;
    touch.push_back(i);
    const double size = contacts.G.row(i).cwiseAbs().dot(v.cwiseAbs()) + std::abs(contacts.g_t[i]);
    closes = closes || U[i] < -resting * std::max(1e-3, size);
  }
  if (!closes) return std::nullopt;
  const auto count = static_cast<Eigen::Index>(touch.size());
  const Matrix response = dynamics.A.fullPivLu().solve(contacts.B);  // A⁻¹ B
  Mlcp problem;
  problem.M11.resize(0, 0);
  problem.M12.resize(0, count);
  problem.q1.resize(0);
  problem.M21.resize(count, 0);
  problem.M22.resize(count, count);
  problem.q2.resize(count);
  problem.laws.assign(touch.size(), complementarity());
  for (Eigen::Index i = 0; i < count; ++i) {
    const int law = touch[static_cast<std::size_t>(i)];
    problem.q2[i] = (1 + restitution_[static_cast<std::size_t>(law)]) * U[law];
    for (Eigen::Index j = 0; j < count; ++j)
      problem.M22(i, j) = contacts.G.row(law).dot(response.col(touch[static_cast<std::size_t>(j)]));
  }
  SolveResult solved = solve(solver("lemke"), problem);
  if (solved.status != Status::solved) solved = solve(solver("enumerate"), problem);
  if (solved.status != Status::solved) return std::nullopt;

  Result result{x, {}};
  for (Eigen::Index i = 0; i < count; ++i) {
    const double P = solved.solution.lambda[i];
    const int law = touch[static_cast<std::size_t>(i)];
    for (Eigen::Index k = 0; k < nv; ++k)
      result.x[velocities[static_cast<std::size_t>(k)]] += response(k, law) * P;
    if (P > 0) result.laws.push_back(law);
  }
  return result;
}

// P = −(G A⁻¹ B)⁻¹ (1 + e) U of these contacts.
Vector Impact::map(double t, const Vector& x, const std::vector<int>& laws) {
  MechanicalSystem::Contacts contacts;
  MechanicalSystem::Dynamics dynamics;
  system_.evaluate(t, x, contacts);
  const auto& velocities = system_.velocities();
  const auto nv = static_cast<Eigen::Index>(velocities.size());
  const auto count = static_cast<Eigen::Index>(laws.size());
  system_.evaluate(t, Vector::Zero(nv), x, dynamics);
  const Matrix response = dynamics.A.fullPivLu().solve(contacts.B);
  Vector v(nv), rebound(count);
  for (Eigen::Index k = 0; k < nv; ++k) v[k] = x[velocities[static_cast<std::size_t>(k)]];
  const Vector U = contacts.G * v + contacts.g_t;
  Matrix M(count, count), push(nv, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const int law = laws[static_cast<std::size_t>(i)];
    rebound[i] = (1 + restitution_[static_cast<std::size_t>(law)]) * U[law];
    push.col(i) = response.col(law);
    for (Eigen::Index j = 0; j < count; ++j)
      M(i, j) = contacts.G.row(law).dot(response.col(laws[static_cast<std::size_t>(j)]));
  }
  const Vector dv = -push * M.fullPivLu().solve(rebound);
  Vector after = x;
  for (Eigen::Index k = 0; k < nv; ++k) after[velocities[static_cast<std::size_t>(k)]] += dv[k];
  return after;
}

}  // namespace perp
