// Backward Euler against the located scheme, and the located scheme against itself at a smaller
// tolerance.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>

#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/tests/relations/relations.hpp>

namespace perp::relations {
namespace {

/// Does an event make the state near t depend on which side of it a scheme has t?
bool is_near_event(const Outcome& outcome, double t, double near, bool of_any_kind) {
  return std::any_of(outcome.run.events.begin(), outcome.run.events.end(), [&](const Event& event) {
    return (of_any_kind || event.kind == EventKind::jump) && std::abs(event.t - t) <= near;
  });
}

/// Has the variable no derivative, so that it may jump where a law changes?
std::vector<char> algebraic_variables(const Model& model) {
  std::vector<char> algebraic(model.variables.size(), 1);
  for (const int j : model.hybrid ? model.hybrid->states() : model.differential_variables()) algebraic[static_cast<std::size_t>(j)] = 0;
  return algebraic;
}

/// The largest distance at common times, relative to the size of each variable. Times within `near` of a jump are left
/// out, for algebraic variables those near any event.
double distance(const Outcome& here, const Outcome& there, double near, const std::vector<char>& algebraic) {
  const Vector size = sizes(here, 1e-6);
  double result = 0;
  const double length = here.span.end - here.span.start;
  for (int k = 1; k <= 16; ++k) {
    const double t = here.span.start + length * k / 16;
    const Vector x = here.at(t), y = there.at(t);
    if (x.size() == 0 || y.size() == 0 || is_near_event(here, t, near, false)) continue;
    const bool may_jump = is_near_event(here, t, near, true);
    for (Eigen::Index j = 0; j < x.size(); ++j)
      if (size[j] > 0 && !(may_jump && algebraic[static_cast<std::size_t>(j)] != 0))
        result = std::max(result, std::abs(x[j] - y[j]) / size[j]);
  }
  return result;
}

/// What happens to one law, or by one reset, in its order: (from, to) of each change with its time.
struct Passage {
  int from, to;
  double t;
};
using Passages = std::map<std::string, std::vector<Passage>>;

/// Changes of branch by law, resets by name. A law that leaves a branch and comes to another by way
/// of one it stays on for less than `shortest` has gone there at once.
Passages passages_of(const Outcome& outcome, double shortest) {
  Passages all;
  for (const Event& event : outcome.run.events) {
    if (event.law < 0 && event.kind != EventKind::jump) continue;
    auto& list = all[event.law < 0 ? event.note : fmt::format("law {}", event.law)];
    if (event.law >= 0 && !list.empty() && list.back().to == event.from &&
        event.t - list.back().t <= shortest) {
      list.back().to = event.to;
      if (list.back().from == list.back().to) list.pop_back();
    } else {
      list.push_back({event.from, event.to, event.t});
    }
  }
  std::erase_if(all, [](const auto& entry) { return entry.second.empty(); });
  return all;
}

/// Do schemes see jumps of laws, which they name and split in their own ways?
bool has_jumping_law(const Outcome& outcome) {
  return std::any_of(outcome.run.events.begin(), outcome.run.events.end(), [](const Event& event) {
    return (event.kind == EventKind::jump && event.law >= 0) ||
           event.kind == EventKind::accumulation || event.kind == EventKind::inconsistent_start;
  });
}

/// The largest distance of moments where both lists have the same passages, law by law; else
/// infinite, and `what` says where they differ. Passages within `margin` of the end may lack.
double moment_distance(const Passages& here, const Passages& there, double end,
                       std::string& what) {
  double largest = 0;
  Passages names = here;
  names.insert(there.begin(), there.end());
  for (const auto& [name, unused] : names) {
    const auto list = [&, &name = name](const Passages& all) {
      const auto found = all.find(name);
      std::vector<Passage> kept;
      if (found != all.end()) kept = found->second;
      std::erase_if(kept, [&](const Passage& passage) { return passage.t > end; });
      return kept;
    };
    const std::vector<Passage> a = list(here), b = list(there);
    for (std::size_t k = 0; k < std::max(a.size(), b.size()); ++k) {
      if (k >= a.size() || k >= b.size() || a[k].from != b[k].from || a[k].to != b[k].to) {
        what = fmt::format("passage {} of {}: {} there", k + 1, name,
                           k < b.size() ? fmt::format("{} -> {} at t = {:.9g}", b[k].from + 1,
                                                      b[k].to + 1, b[k].t)
                                        : "none");
        return inf;
      }
      largest = std::max(largest, std::abs(a[k].t - b[k].t));
    }
  }
  return largest;
}

/// From some h on backward Euler has the events of the located scheme, at moments of first order.
std::string event_difference(const Outcome& located, const Outcome& coarse, const Outcome& fine,
                             const Model& model) {
  if (has_jumping_law(located) || has_jumping_law(fine)) return {};
  const double length = located.span.end - located.span.start;
  const auto distance_of = [&](const Outcome& run, std::string& what) {
    const double shortest = 4 * run.h, end = std::min(located.run.t.back(), run.run.t.back());
    return moment_distance(passages_of(located, shortest), passages_of(run, shortest),
                           end - std::max(shortest, 1e-3 * length), what);
  };
  std::string what;
  const double before = distance_of(coarse, what), after = distance_of(fine, what);
  if (after <= std::max({1e-4 * length, 8 * fine.h, 0.25 * before})) return {};
  const Outcome finer = run(model, SchemeName::backward_euler,
                            {.step_factor = 1.0 / 512, .rows = 200'000});
  if (finer.is_slow) return {};
  const double last = distance_of(finer, what);
  if (last <= std::max({1e-4 * length, 8 * finer.h, 0.25 * after})) return {};
  return std::isinf(last) ? "events of backward_euler at h/512 against located: " + what
                          : fmt::format("moments differ from located by {:.3g} at h/64 and by "
                                        "{:.3g} at h/512",
                                        after, last);
}

/// From some h on states come nearer as those of a scheme of first order do. At h itself events that come often may
/// be late by whole periods, where states are near by accident.
std::string state_difference(const Outcome& located, const Outcome& coarse, const Outcome& fine, const Model& model) {
  const std::vector<char> algebraic = algebraic_variables(model);
  const auto distance_of = [&](const Outcome& run) { return distance(located, run, 2 * coarse.h, algebraic); };
  const double before = distance_of(coarse), after = distance_of(fine);
  if (after <= std::max(1e-4, 0.25 * before)) return {};
  const Outcome finer = run(model, SchemeName::backward_euler, {.step_factor = 1.0 / 512, .rows = 200'000});
  if (finer.is_slow) return {};
  const double last = distance_of(finer);
  if (last <= std::max(1e-4, 0.25 * after)) return {};
  return fmt::format("backward_euler differs from located by {:.3g} at h, by {:.3g} at h/64 and by {:.3g} at h/512", before,
                     after, last);
}

}  // namespace

Judgement judge_schemes(Subject& subject, SchemeName scheme, std::mt19937& /*random*/) {
  Judgement judgement;
  const Outcome& located = subject.outcome(SchemeName::located);
  judgement.other = subject.name();
  if (!located.refusal.empty() || located.is_slow) return judgement;
  const Model& model = subject.read();
  if (scheme == SchemeName::located) {
    const Outcome fine = run(model, scheme, {.tol = 1e-12});
    if (fine.is_slow) return judgement;
    judgement.what = difference(located, fine, identity(static_cast<int>(model.variables.size())),
                                {1e-6, 1e-6});
    judgement.verdict = Verdict::same;
    if (!judgement.what.empty())
      judgement.verdict =
          subject.is_at_tie(scheme, {1e-6, 1e-6}) ? Verdict::tie : Verdict::different;
    return judgement;
  }
  // A capturing scheme knows no restitution.
  for (const double restitution : model.restitution)
    if (restitution > 0) return judgement;
  // First order: what is at h / 64 is nearer by far than at h, unless both are there already.
  const Outcome& coarse = subject.outcome(scheme);
  const Outcome fine = run(model, scheme, {.step_factor = 1.0 / 64});
  if (!coarse.refusal.empty() || coarse.is_slow || fine.is_slow) return judgement;
  judgement.verdict = Verdict::same;
  if (located.has_choice() || fine.has_choice() || coarse.has_choice()) {
    judgement.verdict = Verdict::choice;
    return judgement;
  }
  // not_solved claims nothing, and so does not contradict no_solution.
  const bool one_solves =
      (fine.run.status == Status::solved) != (located.run.status == Status::solved);
  if (one_solves)
    judgement.what =
        fmt::format("backward_euler at h/64: {} ({}), located: {} ({})", to_string(fine.run.status),
                    fine.run.message, to_string(located.run.status), located.run.message);
  if (judgement.what.empty()) judgement.what = state_difference(located, coarse, fine, model);
  if (judgement.what.empty() && fine.run.status == Status::solved)
    judgement.what = event_difference(located, coarse, fine, model);
  if (judgement.what.empty()) return judgement;
  judgement.verdict = Verdict::different;
  if (subject.is_at_tie(SchemeName::located, {1e-6, 1e-6})) judgement.verdict = Verdict::tie;
  return judgement;
}

}  // namespace perp::relations
