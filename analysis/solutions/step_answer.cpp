// One step looked at from all sides: `perp solutions` asks it.
#include <fmt/format.h>
#include <set>

#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/solutions/step_answer.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/schemes/capturing/capturing.hpp>

namespace perp {
namespace {

/// The mode in which a run starts from x, which satisfies the equations and laws to its rounding.
PresentMode mode_at_start(const Model& model, const Vector& x, double t) {
  Capturing scheme(model.lcs(), step_options(model));
  std::vector<Event> events;
  if (scheme.start(t, x, model.run.h, events).status == Status::solved && events.empty())
    return {scheme.mode(), "the mode in which a run starts from x"};
  return {{}, "unknown: x violates the algebraic equations or laws in every mode"};
}

/// The modes whose algebraic equations and ranges x satisfies, if that is exactly one.
PresentMode mode_that_is_satisfied(const Model& model, const Vector& x,
                                   const StepQuestion& question) {
  const StepEquations equations(model.lcs(), step_options(model).theta);
  const SolutionSet set = enumerate(equations.consistency(x, question.t));
  std::set<Mode> modes;
  for (const Piece& piece : pieces(set, question.most_listed))
    modes.insert(piece.modes.begin(), piece.modes.end());
  if (set.complete && modes.size() == 1) return {*modes.begin(), "the only mode that x satisfies"};
  if (!set.complete) return {{}, "unknown: " + set.certificate + ", see --mode"};
  if (modes.empty()) return mode_at_start(model, x, question.t);
  return {{}, fmt::format("unknown: x satisfies {} modes, see --mode", modes.size())};
}

std::vector<std::pair<Mode, double>> violations_of(const Model& model, const Vector& x, double t) {
  Capturing scheme(model.lcs(), step_options(model));
  const int m = model.m();
  const Mode any(model.laws().size(), 0);
  scheme.restore({t, x, Vector::Zero(m), Vector::Zero(m), any});
  return scheme.violations(model.run.h);
}

}  // namespace

StepAnswer answer_step(const Model& model, const Vector& x, const StepQuestion& question) {
  const bool affine = is_affine(model);
  StepAnswer answer;
  answer.present = question.present ? *question.present
                   : affine         ? mode_that_is_satisfied(model, x, question)
                                    : PresentMode{{}, "unknown, see --mode"};
  answer.solutions =
      StepLister(model, question.limits)(x, question.t, model.run.h, question.most_listed);
  answer.choice = choice_of_step(model, answer.solutions, x, question.t, answer.present.mode);
  if (answer.choice.status == Status::solved)
    answer.choice_is_listed = mark_chosen(answer.solutions, answer.choice.x, answer.choice.lambda);
  if (answer.has_none() && affine) answer.violations = violations_of(model, x, question.t);
  return answer;
}

}  // namespace perp
