#include <algorithm>
#include <cmath>

#include <perp/core/pencil/finite_eigenvalues.hpp>
#include <perp/schemes/continuation/dcs_family.hpp>
#include <perp/schemes/continuation/mode_changes.hpp>
#include <perp/schemes/located/radau/gaps.hpp>

namespace perp {

DcsFamily::DcsFamily(const Dcs& system) : step_(system), newton_(step_), search_(step_, newton_) {}

void DcsFamily::set_state(const Vector& x, double t, double h) {
  if (!step_.has_units()) step_.choose_units(x, t, h);
  x_ = x;
  t_ = t;
}

const Branch& DcsFamily::branch_of(const Mode& mode, int law) const {
  const auto i = static_cast<std::size_t>(law);
  return laws()[i].branches[static_cast<std::size_t>(mode[i])];
}

bool DcsFamily::solve(double h, StepPoint& point, Vector& noise) {
  step_.set_step(x_, t_ + h, h);
  step_.set_mode(point.mode);
  // x⁺ − x grows with the length of the step as long as nothing else is known.
  Vector d = point.h > 0 ? Vector((h / point.h) * (point.x - x_)) : Vector::Zero(step_.n());
  Vector lambda = point.lambda;
  NewtonEnd end = newton_.run(d, lambda);
  if (end != NewtonEnd::converged) {
    d = point.x - x_;
    lambda = point.lambda;
    end = newton_.run(d, lambda);
  }
  if (end != NewtonEnd::converged) return false;
  point.h = h;
  point.x = x_ + d;
  point.lambda = lambda;
  point.w.resize(step_.m());
  step_.w(point.w);
  const std::vector<Gap> gaps = gaps_of(laws(), point.mode);
  noise = Vector::Zero(static_cast<Eigen::Index>(gaps.size()));
  const bool regular = newton_.factorise();
  for (std::size_t g = 0; g < gaps.size(); ++g) {
    const Gap& gap = gaps[g];
    noise[static_cast<Eigen::Index>(g)] =
        gate * (gap.of_lambda ? newton_.lambda_error(gap.law, regular) + half_ulp(lambda[gap.law])
                              : newton_.w_error(gap.law, regular));
  }
  return regular || newton_.determines_state();
}

/// E and A of the equations 0 = F and a w + b λ = c of a mode, linearised at a point: over (x, λ).
ModeDae DcsFamily::linearised(const StepPoint& point) {
  DcsEvaluator& evaluator = step_.evaluator();
  const int n = step_.n(), m = step_.m();
  Vector z = Vector::Zero(evaluator.inputs());
  z[0] = t_ + point.h;
  if (point.h > 0) z.segment(1, n) = (point.x - x_) / point.h;
  z.segment(1 + n, n) = point.x;
  z.tail(m) = point.lambda;
  Vector rows(n + m);
  std::vector<double> derivatives(evaluator.entries().size());
  evaluator.linearize(z.data(), rows.data(), derivatives.data());
  ModeDae dae{Matrix::Zero(n + m, n + m), Matrix::Zero(n + m, n + m)};
  for (int i = 0; i < m; ++i) dae.A(n + i, n + i) = -branch_of(point.mode, i).b;
  for (std::size_t k = 0; k < derivatives.size(); ++k) {
    const auto [row, column] = evaluator.entries()[k];
    const double factor = row < n ? 1 : branch_of(point.mode, row - n).a;
    if (column > n)
      dae.A(row, column - 1 - n) -= factor * derivatives[k];
    else if (column > 0)
      dae.E(row, column - 1) += factor * derivatives[k];
  }
  return dae;
}

/// Those of the pencil  s E − A.
std::vector<std::complex<double>> DcsFamily::poles(const StepPoint& point) {
  const auto [E, A] = linearised(point);
  std::vector<std::complex<double>> poles;
  if (!E.allFinite() || !A.allFinite()) return poles;
  if (const auto eigenvalues = finite_eigenvalues(E, A))
    for (const std::complex<double>& s : *eigenvalues)
      if (s != 0.0) poles.push_back(1.0 / s);
  return poles;
}

Status DcsFamily::solutions(double h, const StepPoint& from, std::vector<StepPoint>& list,
                            int& count) {
  step_.set_step(x_, t_ + h, h);
  const Vector moved = from.x - x_;
  FoundSolutions all = search_.all(from.mode, moved, from.lambda, false);
  if (all.list.empty()) all = search_.all(from.mode, moved, from.lambda);
  if (all.list.empty()) {
    message_ = !all.all_modes    ? "no solution was found near it, and there are too many modes to "
                                   "try all"
               : all.why.empty() ? "no solution of a longer step was found"
                                 : all.why;
    return all.all_modes ? Status::not_solved : Status::not_enumerated;
  }
  int ties = 0;
  search_.choose(all, from.mode, count, ties);
  if (!all.all_modes) count = 0;
  for (ModeSolution& solution : all.list) {
    solution.also.insert(solution.also.begin(), solution.mode);
    list.push_back({h, least_change(laws(), from.mode, solution.also), x_ + solution.d,
                    solution.lambda, solution.w});
  }
  return Status::solved;
}

double DcsFamily::distance(const Vector& a, const Vector& b) { return step_.norm(a - b); }

}  // namespace perp
