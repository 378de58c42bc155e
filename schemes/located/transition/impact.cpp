#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/schemes/located/transition/contact_parts.hpp>
#include <perp/schemes/located/transition/impact.hpp>

namespace perp {
namespace {

constexpr double touching = 1e-9;  ///< of the largest terms of a gap: a contact of this moment
constexpr double no_approach = 1e-12;  ///< of the largest velocities: no approach

/// Of these variables; those without a name are counted.
std::vector<std::string> names_of(const std::vector<int>& variables, const std::vector<std::string>& names) {
  std::vector<std::string> own;
  for (const int j : variables)
    own.push_back(j < static_cast<int>(names.size()) ? fmt::format("'{}'", names[static_cast<std::size_t>(j)])
                                                     : fmt::format("variable {}", j + 1));
  return own;
}

/// Makes the mechanical system of a part, which has these variables. Why there is none; empty: there is.
std::string make_mechanical(ContactPart& part, const std::vector<int>& variables, const std::vector<std::string>& names,
                            std::optional<MechanicalSystem>& system) {
  std::string objection = part.objection;
  if (objection.empty()) try {
      system.emplace(std::move(part.system), names_of(variables, names));
    } catch (const InvalidInput& error) {
      objection = error.what();  // no mechanical system: it has no impacts
      objection.erase(0, objection.find(": ") + 2);
    }
  return objection;
}

/// Throws InvalidInput.
void refuse_restitution(const Dcs& system, int law, const std::string& reason) {
  throw InvalidInput(
      fmt::format("the restitution of law '{}' cannot be honoured: {}",
                  system.laws[static_cast<std::size_t>(law)].name, reason));
}

/// Throws InvalidInput where a law has a restitution e but is in no part that has impacts.
void demand_honoured(const Dcs& system, const std::vector<double>& e, const std::vector<char>& honoured) {
  for (std::size_t i = 0; i < e.size(); ++i)
    if (e[i] != 0 && honoured[i] == 0)
      refuse_restitution(system, static_cast<int>(i), "it is not of the form 0 <= g perp lambda >= 0");
}

/// 0 ≤ M P + q ⊥ P ≥ 0 by Lemke's method, else by all of its modes.
SolveResult solve_impulses(const Matrix& M, const Vector& q) {
  const auto count = q.size();
  const Mlcp lcp{.M11 = Matrix(0, 0),
                 .M12 = Matrix(0, count),
                 .q1 = Vector(0),
                 .M21 = Matrix(count, 0),
                 .M22 = M,
                 .q2 = q,
                 .laws = std::vector<Law>(static_cast<std::size_t>(count), complementarity())};
  SolveResult solved = solve(solver("lemke"), lcp);
  if (solved.status != Status::solved) solved = solve(solver("enumerate"), lcp);
  return solved;
}

}  // namespace

std::optional<Impact> Impact::of(const Dcs& system, const std::vector<double>& restitution,
                                 const std::vector<std::string>& names) {
  std::vector<Part> parts;
  std::vector<double> e = restitution;
  e.resize(static_cast<std::size_t>(system.m()), 0.0);
  std::vector<char> honoured(e.size(), 0);
  for (ContactPart& found : contact_parts(system)) {
    Part part{std::move(found.variables), std::move(found.laws), {}, {}};
    for (const int law : part.laws) part.restitution.push_back(e[static_cast<std::size_t>(law)]);
    const auto rebounds = std::find_if(part.laws.begin(), part.laws.end(), [&](int law) {
      return e[static_cast<std::size_t>(law)] != 0;
    });
    const std::string objection = make_mechanical(found, part.variables, names, part.system);
    if (part.system) {
      for (const int law : part.laws) honoured[static_cast<std::size_t>(law)] = 1;
      parts.push_back(std::move(part));
    } else if (rebounds != part.laws.end()) {
      refuse_restitution(system, *rebounds, objection);
    }
  }
  demand_honoured(system, e, honoured);
  if (parts.empty()) return std::nullopt;
  return Impact(std::move(parts));
}

/// The contacts at (t, x) and their velocities.
Impact::Moment Impact::at(Part& part, double t, const Vector& x) {
  Moment now;
  part.system->evaluate(t, x, now.contacts);
  const auto& velocities = part.system->velocities();
  const auto nv = static_cast<Eigen::Index>(velocities.size());
  now.v.resize(nv);
  for (Eigen::Index k = 0; k < nv; ++k) now.v[k] = x[velocities[static_cast<std::size_t>(k)]];
  now.U = now.contacts.G * now.v + now.contacts.g_t;
  return now;
}

/// G A⁻¹ B and (1 + e) U of these contacts.
Impact::Problem Impact::problem(Part& part, double t, const Vector& x, const Moment& now,
                                const std::vector<int>& laws) {
  MechanicalSystem::Dynamics dynamics;
  part.system->evaluate(t, Vector::Zero(now.v.size()), x, dynamics);
  Problem problem{Matrix(linear::Lu(dynamics.A).solve(now.contacts.B)(Eigen::all, laws)),
                  {},
                  Vector(now.U(laws)),
                  Vector(static_cast<Eigen::Index>(laws.size()))};
  problem.M = now.contacts.G(laws, Eigen::all) * problem.response;
  for (std::size_t i = 0; i < laws.size(); ++i)
    problem.rebound[static_cast<Eigen::Index>(i)] =
        (1 + part.restitution[static_cast<std::size_t>(laws[i])]) * now.U[laws[i]];
  return problem;
}

Vector Impact::pushed(const Part& part, Vector x, const Problem& problem, const Vector& P) {
  const Vector dv = problem.response * P;
  const auto& velocities = part.system->velocities();
  for (std::size_t k = 0; k < velocities.size(); ++k)
    x[velocities[k]] += dv[static_cast<Eigen::Index>(k)];
  return x;
}

/// The size of the terms of a gap, with Σ_j |∂g_i/∂q_j| |q_j| at the largest |q_j| so far.
double Impact::length_of(const Part& part, const MechanicalSystem::Contacts& contacts, int i, const Vector& largest) {
  const std::vector<int>& positions = part.system->positions();
  double length = contacts.size[i];
  for (std::size_t k = 0; k < positions.size(); ++k)
    length += std::abs(contacts.G(i, part.system->velocity_of()[k]) /
                       part.system->velocity_factor()[k]) *
              largest[positions[k]];
  return length;
}

/// |∂g_i/∂t| + Σ_k |G_ik| |v_k| at the largest |v_k| so far: the size of the terms of the velocity of a gap.
double Impact::speed_of(const Part& part, const MechanicalSystem::Contacts& contacts, int i, const Vector& largest) {
  const std::vector<int>& velocities = part.system->velocities();
  double speed = std::abs(contacts.g_t[i]);
  for (std::size_t k = 0; k < velocities.size(); ++k)
    speed += std::abs(contacts.G(i, static_cast<Eigen::Index>(k))) * largest[velocities[k]];
  return speed;
}

/// In one part, in its own variables and laws.
std::optional<Impact::Result> Impact::impact(Part& part, double t, const Vector& x,
                                             const Vector& largest) {
  const Moment now = at(part, t, x);
  const MechanicalSystem::Contacts& contacts = now.contacts;
  std::vector<int> touch;
  bool closes = false;
  for (int i = 0; i < part.system->m(); ++i) {
    if (contacts.g[i] > touching * length_of(part, contacts, i, largest)) continue;
    touch.push_back(i);
    closes = closes || now.U[i] < -no_approach * speed_of(part, contacts, i, largest);
  }
  if (!closes) return std::nullopt;
  const Problem impact = problem(part, t, x, now, touch);
  const SolveResult solved = solve_impulses(impact.M, impact.rebound);
  if (solved.status != Status::solved) return std::nullopt;
  const Vector& P = solved.solution.lambda;
  Result result{pushed(part, x, impact, P), {}};
  std::vector<int> resting;
  for (std::size_t i = 0; i < touch.size(); ++i) {
    if (!(P[static_cast<Eigen::Index>(i)] > 0)) continue;
    result.laws.push_back(touch[i]);
    if (part.restitution[static_cast<std::size_t>(touch[i])] == 0) resting.push_back(touch[i]);
  }
  // Contacts that stay closed are at rest, not at the rounding of the velocities before: once more from there.
  if (!resting.empty()) result.x = at_rest(part, t, result.x, resting);
  return result;
}

/// With velocities at which these contacts stay closed: G (v⁺ - v) = -U.
Vector Impact::at_rest(Part& part, double t, const Vector& x, const std::vector<int>& laws) {
  const Problem still = problem(part, t, x, at(part, t, x), laws);
  return pushed(part, x, still, -linear::FullLu(still.M).solve(still.U));
}

std::optional<Impact::Result> Impact::operator()(double t, const Vector& x,
                                                 const Vector& largest) {
  Result all{x, {}};
  for (Part& part : parts_) {
    const std::optional<Result> result = impact(part, t, x(part.variables), largest(part.variables));
    if (!result) continue;
    all.x(part.variables) = result->x;
    for (const int law : result->laws) all.laws.push_back(part.laws[static_cast<std::size_t>(law)]);
  }
  if (all.laws.empty()) return std::nullopt;
  std::sort(all.laws.begin(), all.laws.end());
  return all;
}

// P = −(G A⁻¹ B)⁻¹ (1 + e) U of these contacts.
Vector Impact::map(double t, const Vector& x, const std::vector<int>& laws) {
  return pushed(t, x, laws, &Problem::rebound);
}

Vector Impact::rest(double t, const Vector& x, const std::vector<int>& laws) {
  return pushed(t, x, laws, &Problem::U);
}

/// After the impulses that change the velocities of the gaps by −`change`.
Vector Impact::pushed(double t, const Vector& x, const std::vector<int>& laws,
                      Vector Problem::*change) {
  Vector after = x;
  for (Part& part : parts_) {
    std::vector<int> own;
    for (std::size_t k = 0; k < part.laws.size(); ++k)
      if (std::find(laws.begin(), laws.end(), part.laws[k]) != laws.end())
        own.push_back(static_cast<int>(k));
    if (own.empty()) continue;
    const Vector small = x(part.variables);
    const Problem impact = problem(part, t, small, at(part, t, small), own);
    after(part.variables) =
        pushed(part, small, impact, -linear::FullLu(impact.M).solve(impact.*change));
  }
  return after;
}

}  // namespace perp
