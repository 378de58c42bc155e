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

/// The contacts at (t, x) and their velocities.
Impact::Moment Impact::at(double t, const Vector& x) {
  Moment now;
  system_.evaluate(t, x, now.contacts);
  const auto& velocities = system_.velocities();
  const auto nv = static_cast<Eigen::Index>(velocities.size());
  now.v.resize(nv);
  for (Eigen::Index k = 0; k < nv; ++k) now.v[k] = x[velocities[static_cast<std::size_t>(k)]];
  now.U = now.contacts.G * now.v + now.contacts.g_t;
  return now;
}

/// G A⁻¹ B and (1 + e) U of these contacts.
Impact::Problem Impact::problem(double t, const Vector& x, const Moment& now,
                                const std::vector<int>& laws) {
  MechanicalSystem::Dynamics dynamics;
  system_.evaluate(t, Vector::Zero(now.v.size()), x, dynamics);
  Problem problem{Matrix(dynamics.A.fullPivLu().solve(now.contacts.B)(Eigen::all, laws)),
                  {},
                  Vector(static_cast<Eigen::Index>(laws.size()))};
  problem.M = now.contacts.G(laws, Eigen::all) * problem.response;
  for (std::size_t i = 0; i < laws.size(); ++i)
    problem.rebound[static_cast<Eigen::Index>(i)] =
        (1 + restitution_[static_cast<std::size_t>(laws[i])]) * now.U[laws[i]];
  return problem;
}

Vector Impact::pushed(Vector x, const Problem& problem, const Vector& P) const {
  const Vector dv = problem.response * P;
  const auto& velocities = system_.velocities();
  for (std::size_t k = 0; k < velocities.size(); ++k)
    x[velocities[k]] += dv[static_cast<Eigen::Index>(k)];
  return x;
}

std::optional<Impact::Result> Impact::operator()(double t, const Vector& x) {
  const Moment now = at(t, x);
  const MechanicalSystem::Contacts& contacts = now.contacts;
  std::vector<int> touch;
  bool closes = false;
  for (int i = 0; i < system_.m(); ++i) {
    if (contacts.g[i] > touching * std::max(1.0, contacts.size[i])) continue;
    touch.push_back(i);
    const double size =
        contacts.G.row(i).cwiseAbs().dot(now.v.cwiseAbs()) + std::abs(contacts.g_t[i]);
    closes = closes || now.U[i] < -resting * std::max(1e-3, size);
  }
  if (!closes) return std::nullopt;
  const Problem impact = problem(t, x, now, touch);
  const auto count = static_cast<Eigen::Index>(touch.size());
  const Mlcp lcp{.M11 = Matrix(0, 0),
                 .M12 = Matrix(0, count),
                 .q1 = Vector(0),
                 .M21 = Matrix(count, 0),
                 .M22 = impact.M,
                 .q2 = impact.rebound,
                 .laws = std::vector<Law>(touch.size(), complementarity())};
  SolveResult solved = solve(solver("lemke"), lcp);
  if (solved.status != Status::solved) solved = solve(solver("enumerate"), lcp);
  if (solved.status != Status::solved) return std::nullopt;
  const Vector& P = solved.solution.lambda;
  Result result{pushed(x, impact, P), {}};
  for (std::size_t i = 0; i < touch.size(); ++i)
    if (P[static_cast<Eigen::Index>(i)] > 0) result.laws.push_back(touch[i]);
  return result;
}

// P = −(G A⁻¹ B)⁻¹ (1 + e) U of these contacts.
Vector Impact::map(double t, const Vector& x, const std::vector<int>& laws) {
  const Problem impact = problem(t, x, at(t, x), laws);
  return pushed(x, impact, -impact.M.fullPivLu().solve(impact.rebound));
}

}  // namespace perp
