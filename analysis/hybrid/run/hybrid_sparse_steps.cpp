// Event capturing of hybrid models with many unknowns: whole steps with all changes in them. Steps that these
// leave open (sliding, ends of solutions, bounds) are made as for small models.
#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>

namespace perp {
namespace {

constexpr int most_parts = 4;  ///< halvings of a step in which a binary wants to change twice

}  // namespace

void HybridRun::make_sparse_steps() { sparse_ = std::make_unique<SparseSteps>(hybrid_, structure(), system_); }

/// Null where steps are made as for small models.
SparseSteps* HybridRun::sparse_steps() {
  if (model_.run.scheme != "backward_euler" || !hybrid_.takes_whole_steps() || !is_plain() ||
      hybrid_.f.size() != at(hybrid_.n()) || request_.columns() > 0 || !switches_.empty())
    return nullptr;
  if (!sparse_) make_sparse_steps();
  return sparse_.get();
}

/// Does the start keep every constraint by its value alone, with nothing but states to be found?
bool HybridRun::starts_strictly() {
  if (!result_.t.empty() || !is_plain()) return false;
  SparseSteps* steps = sparse_steps();
  return steps != nullptr && steps->is_strict_at(now_.t, now_.x, mode_.z);
}

/// From now_ on, as long as it lasts. False: the next step is to be made as for small models.
bool HybridRun::take_sparse_steps() {
  SparseSteps* steps = now_.t >= dense_until_ ? sparse_steps() : nullptr;
  if (steps == nullptr) return false;
  if (std::exchange(stage_, Stage::sparse_steps) != Stage::sparse_steps) {
    steps->from(now_.t, now_.x, mode_.z, now_.w.tail(static_cast<Eigen::Index>(hybrid_.g.size())));
    taken_before_ = taken_;
  }
  const auto stand = [&] {
    if (taken_ > taken_before_) now_ = last_ = state_of(*steps);
    stage_ = Stage::between_modes;
  };
  try {
    const bool is_done = follow_sparse_steps(*steps);
    stand();
    return is_done;
  } catch (const Interrupted&) {
    stand();
    throw;
  }
}

bool HybridRun::follow_sparse_steps(SparseSteps& steps) {
  while (is_under_way()) {
    check_interruption();
    keep_if_due();
    Target target = next_target();
    bool is_solved = steps.attempt(target.t, target.h);
    for (int k = 0; !is_solved && !steps.slides() && k < most_parts; ++k) {
      target = {now_.t + target.h / 2, target.h / 2};
      is_solved = target.t > now_.t && steps.attempt(target.t, target.h);
    }
    if (!is_solved) {
      dense_until_ = next_target().t;
      return false;
    }
    take_sparse_step(steps);
  }
  return true;
}

void HybridRun::take_sparse_step(SparseSteps& steps) {
  log_changes(steps);
  steps.accept();
  ++taken_;
  residual_ = std::max(residual_, steps.residual());
  if (mode_.z != steps.z()) {
    mode_.is_idle.clear();
    mode_.z = steps.z();
  }
  // Where nobody asks for the state it stays where it is until the last of these steps.
  const double t = steps.start_t();
  const bool is_told = output_.course || (is_row(t) && output_.asks_for_rows());
  if (is_told || t >= span_.end || hybrid_.n() <= most_states_of_events)
    record(state_of(steps), false);
  else
    now_.t = t;
}

Step HybridRun::state_of(const SparseSteps& steps) const {
  Step step{steps.start_t(), steps.start_x(), Vector::Zero(now_.lambda.size()), Vector::Zero(now_.w.size()), now_.mode};
  for (int i = 0; i < hybrid_.q(); ++i) step.lambda[i] = step.mode[at(i)] = mode_.z[at(i)];
  step.w.tail(steps.start_constraints().size()) = steps.start_constraints();
  return step;
}

/// An event for each sub-problem that has changed, where its constraint becomes positive on the path through the step.
void HybridRun::log_changes(const SparseSteps& steps) {
  const auto word = [&](int i, int z) { return describe(system_.laws[at(i)].branches[at(z)]); };
  if (steps.changes().empty()) return;
  result_.counts["mode_changes"] += static_cast<long>(steps.changes().size());
  for (const PathChange& change : steps.changes()) {
    Event event;
    event.kind = EventKind::mode_change;
    event.t_before = now_.t;
    event.t_after = steps.t();
    event.t = now_.t + change.share * (steps.t() - now_.t);
    event.x_before = event.x_after = state_of_event();
    event.law = change.binaries.front();
    event.from = mode_.z[at(event.law)];
    event.to = 1 - event.from;
    for (std::size_t k = 1; k < change.binaries.size(); ++k) {
      const int i = change.binaries[k], from = mode_.z[at(i)];
      event.note += fmt::format("{}{}: {} -> {}", k == 1 ? "with " : ", ", hybrid_.binaries[at(i)].name,
                                word(i, from), word(i, 1 - from));
    }
    if (!event.note.empty()) event.note += "; ";
    event.continuations = change.continuations;
    event.note.append(hybrid_.constraints[at(change.constraint)].name).append("; ").append(change.decided_by);
    result_.events.push_back(std::move(event));
  }
}

void HybridRun::count_sparse_steps() {
  if (!sparse_) return;
  const SparseSteps& steps = *sparse_;
  result_.counts["newton_iterations"] += steps.iterations();
  result_.counts["factorisations"] += steps.factorisations();
  if (taken_ > 0 && steps_.empty()) {
    result_.provenance["residual"] = fmt::format("{:.3g}", residual_);
    result_.provenance["gate"] = "|F_i| <= 8 e_i, the bound of its rounding";
  }
}

}  // namespace perp
