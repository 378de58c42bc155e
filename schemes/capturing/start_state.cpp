#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/branches.hpp>
#include <perp/schemes/capturing/start_state.hpp>
#include <perp/schemes/newton/mode_newton.hpp>

namespace perp {
namespace {

/// Is a point with this w, known to its error, on the graph of a branch as far as w tells?
bool is_possible(const Branch& branch, double w, double error) {
  const double fixed = branch.b == 0 ? branch.c / branch.a : w;
  return std::abs(fixed - w) <= error && !(w + error < branch.w.lower) && !(w - error > branch.w.upper);
}

}  // namespace

FirstOrder first_order_since(double t, const std::vector<Law>& laws, const Mode& mode,
                             int index) {
  if (laws.empty())
    return {t, fmt::format("the equations have index {}, and steps with theta < 1 converge up to index {} only", index,
                           most_theta_index)};
  return {t, fmt::format("mode [{}] has index {}, and steps with theta < 1 converge up to index {} only",
                         describe_briefly(laws, mode), index, most_theta_index)};
}

std::vector<int> branches_at(const Law& law, double w, double error) {
  const auto count = static_cast<int>(law.branches.size());
  std::vector<int> possible;
  for (int k = 0; k < count; ++k)
    if (is_possible(law.branches[static_cast<std::size_t>(k)], w, error)) possible.push_back(k);
  if (!possible.empty()) return possible;
  for (int k = 0; k < count; ++k) possible.push_back(k);
  return possible;
}

Vector extrapolate(const Vector& at_h, const Vector& at_quarter) {
  return (4 * at_quarter - at_h) / 3;
}

bool keeps_its_size(const Vector& motion, const Vector& of_quarter, const Vector& rounding) {
  const auto moves = motion.array().abs() > rounding.array();
  return (moves && of_quarter.array().abs() > 0.5 * motion.array().abs()).any();
}

bool grows(const Vector& motion, const Vector& of_quarter, const Vector& rounding) {
  // 1/h or more: four times as much; the root of it: twice.
  const auto moves = of_quarter.array().abs() > rounding.array();
  return (moves && of_quarter.array().abs() > 1.5 * motion.array().abs()).any();
}

std::string growing_start_text(double violation) {
  return fmt::format("x0 violates the constraints, whose residual is {:.6g} there, and the state that a step leads to "
                     "grows without bound as the step gets shorter",
                     violation);
}

namespace {

/// By how much laws miss the branches of a mode, on which multipliers are put then; `moves`: was one elsewhere?
double violation_of_laws(const std::vector<Law>& laws, const Mode& mode, const Vector& w, Vector& lambda, bool& moves) {
  double largest = 0;
  moves = false;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const Branch& branch = laws[i].branches[static_cast<std::size_t>(mode[i])];
    const auto k = static_cast<Eigen::Index>(i);
    const double miss = branch.a * w[k] + branch.b * lambda[k] - branch.c;
    largest = std::max(largest, std::abs(miss / (branch.b == 0 ? branch.a : branch.b)));
    if (branch.b == 0) continue;
    const Range range = w_range(branch);
    largest = std::max({largest, range.lower - w[k], w[k] - range.upper});
    lambda[k] -= miss / branch.b;
    moves = moves || miss != 0;
  }
  return largest;
}

}  // namespace

double violation_of_constraints(const std::vector<Law>& laws, const Mode& mode, Vector lambda,
                                const ConstraintsAt& constraints) {
  Vector equations, w;
  double least = inf;
  bool moves = true;
  // Arguments may hold multipliers of other laws: each pass settles one more of them, until none moves.
  for (std::size_t pass = 0; pass <= laws.size() + 1 && moves; ++pass) {
    constraints(lambda, equations, w);
    const double of_equations = equations.size() > 0 ? equations.lpNorm<Eigen::Infinity>() : 0;
    const double largest = std::max(of_equations, violation_of_laws(laws, mode, w, lambda, moves));
    if (pass > 0 || !moves) least = std::min(least, largest);
  }
  return least;
}

double violation_of_constraints(const std::vector<Law>& laws, const ConstraintsAt& constraints) {
  const Vector lambda = Vector::Zero(static_cast<Eigen::Index>(laws.size()));
  Vector equations, w;
  constraints(lambda, equations, w);
  Mode mode;
  for (std::size_t i = 0; i < laws.size(); ++i)
    mode.push_back(nearest_branch(laws[i], w[static_cast<Eigen::Index>(i)], 0, -1));
  return violation_of_constraints(laws, mode, lambda, constraints);
}

double multiplier_over(const Law& law, double w) {
  for (const Branch& branch : law.branches) {
    const Range range = w_range(branch);
    if (branch.b != 0 && w >= range.lower && w <= range.upper) return (branch.c - branch.a * w) / branch.b;
  }
  return 0;
}

Vector multipliers_at(const std::vector<Law>& laws, const ConstraintsAt& constraints) {
  constexpr double settled = 0x1p-40;  // of a multiplier: what rounding moves
  const Vector none = Vector::Zero(static_cast<Eigen::Index>(laws.size()));
  Vector equations, w, lambda = none;
  // Arguments may hold multipliers of other laws: each pass settles one more of them.
  for (std::size_t pass = 0; pass <= laws.size(); ++pass) {
    const Vector before = lambda;
    constraints(lambda, equations, w);
    for (std::size_t i = 0; i < laws.size(); ++i)
      lambda[static_cast<Eigen::Index>(i)] = multiplier_over(laws[i], w[static_cast<Eigen::Index>(i)]);
    if (!lambda.allFinite()) return none;
    if (((lambda - before).array().abs() <= settled * lambda.array().abs()).all()) return lambda;
  }
  return none;
}

bool solve_constraints(ImplicitStep& step, ModeNewton& newton, double t, const Mode& mode, Vector& x,
                       Vector& lambda, Vector& w) {
  step.set_consistency(x, t);
  step.set_mode(mode);
  const std::vector<int> with_rates = step.laws_of_rates();
  const auto is_open = [&](int law) { return step.branch(law).a != 0; };
  if (std::any_of(with_rates.begin(), with_rates.end(), is_open)) return false;
  Vector d = Vector::Zero(step.n()), multipliers = lambda, arguments(step.m());
  if (newton.run(d, multipliers) != NewtonEnd::converged) return false;
  if (!with_rates.empty())
    step.w(arguments);
  else if (newton.admit(d, multipliers, arguments) == Admission::outside)
    return false;
  x += d;
  lambda = multipliers;
  for (int i = 0; i < step.m(); ++i)
    if (std::find(with_rates.begin(), with_rates.end(), i) == with_rates.end()) w[i] = arguments[i];
  return true;
}

Event start_event(double t, const Vector& x0, const Vector& limit, bool consistent,
                  double distance, double violation) {
  Event event;
  event.kind = consistent ? EventKind::jump : EventKind::inconsistent_start;
  event.t = event.t_before = event.t_after = t;
  event.x_before = x0;
  event.x_after = limit;
  event.size = consistent ? distance : violation;
  event.note = consistent ? "no continuous solution starts at x0"
                          : fmt::format("x0 violates the constraints; the consistent state it is "
                                        "led to is {:.6g} away",
                                        distance);
  return event;
}

}  // namespace perp
