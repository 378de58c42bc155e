// Steps that were taken are among the enumerated ones; every solver's answer is; exact and double
// enumeration count the same.
#include <fmt/format.h>
#include <algorithm>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/step_mlcp.hpp>
#include <perp/tests/relations/relations.hpp>

namespace perp::relations {
namespace {

/// Empty, or what is wrong with the step from row k to the next one; `size` of the largest state.
std::string step_difference(const Lcs& lcs, const Trajectory& run, std::size_t k, double size) {
  const double h = run.t[k + 1] - run.t[k];
  const Mlcp problem = step_problem(lcs, run.x[k], run.t[k], h);
  const SolutionSet set = enumerate(problem);
  const std::string place = fmt::format("step from t = {:.12g}, h = {:.6g}: ", run.t[k], h);
  if (multiplicity(set) == Multiplicity::none)
    return place + "taken, but the enumeration has no solution";
  const Multiplicity exact = multiplicity_of_u(enumerate_exact(problem));
  if (exact != multiplicity_of_u(set))
    return place + fmt::format("{} in doubles, {} exactly", to_string(multiplicity_of_u(set)),
                               to_string(exact));
  if (multiplicity_of_u(set) != Multiplicity::unique) return {};
  Vector u(problem.p());
  for (const Block& block : set.blocks)
    for (std::size_t j = 0; j < block.u.size(); ++j)
      u[block.u[j]] = block.pieces[0].vertices(static_cast<Eigen::Index>(j), 0);
  if (!((u - run.x[k + 1]).cwiseAbs().maxCoeff() <= 1e-8 * size))
    return place + "the step taken is not the only solution";
  for (const MlcpSolver* method : solvers()) {
    const SolveResult result = solve(*method, problem);
    if (result.status == Status::no_solution)
      return place + fmt::format("{} says no_solution of a unique one", method->name);
    if (result.status == Status::solved &&
        !((result.solution.u - u).cwiseAbs().maxCoeff() <= 1e-6 * size))
      return place + fmt::format("{} answers elsewhere", method->name);
  }
  return {};
}

/// Is the way from row k to the next one a single step? A jump is none, and a step in which the mode
/// changes is made in two.
bool is_one_step(const Trajectory& run, std::size_t k) {
  return run.t[k + 1] > run.t[k] &&
         std::none_of(run.events.begin(), run.events.end(), [&](const Event& event) {
           return event.t_after >= run.t[k] && event.t_before <= run.t[k + 1];
         });
}

}  // namespace

Judgement judge_solvers(Subject& subject, SchemeName scheme, std::mt19937& random) {
  Judgement judgement;
  judgement.other = subject.name();
  if (scheme == SchemeName::located) return judgement;
  const Outcome& here = subject.outcome(scheme);
  if (!here.refusal.empty() || here.run.size() < 2 || here.run.events.size() > 60) return judgement;
  if (subject.read().hybrid != nullptr) return judgement;
  const Lcs* lcs = subject.read().system.affine();
  if (lcs == nullptr) return judgement;
  judgement.verdict = Verdict::same;
  const double size = sizes(here).maxCoeff();
  for (int sample = 0; sample < 6; ++sample) {
    const std::size_t k = random() % (here.run.size() - 1);
    if (!is_one_step(here.run, k)) continue;
    judgement.what = step_difference(*lcs, here.run, k, size);
    if (judgement.what.empty()) continue;
    judgement.verdict = Verdict::different;
    return judgement;
  }
  return judgement;
}

}  // namespace perp::relations
