// What decides at changes of binaries that laws stand for. Laws take the same values as the rule, without its words.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <perp/analysis/hybrid/run/change_notes.hpp>
#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/analysis/hybrid/start_modes.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/core/branches.hpp>
#include <perp/models/language/hybrid/hybrid_parts.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp {

bool is_change(const Event& event) {
  return event.law >= 0 && (event.kind == EventKind::mode_change || event.kind == EventKind::sliding_entry ||
                            event.kind == EventKind::sliding_exit);
}

namespace {

/// The changes of one set of binaries that acts on no other, in the order of time.
class ChangeNotes {
 public:
  ChangeNotes(const Model& whole, HybridPart part)
      : whole_(whole), part_(std::move(part)), structure_(structure_of(part_.model)), model_(part_.model.head) {
    model_.run = whole.run;
    model_.run.scheme = "located";  // asks for the rule at states, not along whole steps
    model_.hybrid = std::make_shared<const HybridModel>(part_.model);
    rule_ = std::make_unique<HybridRun>(model_, HybridSchemes{}, nothing_kept_);
  }

  void write(Trajectory& run) {
    if (run.mode.empty()) return;
    for (const int binary : part_.binaries) z_.push_back(value(binary, run.mode.front()[at(binary)]));
    if (whole_.hybrid == nullptr) tell_start(run);
    for (std::size_t k = 0; k < run.events.size();)
      if (const std::vector<Event*> together = changes_at_once(run, k); !together.empty()) tell(together);
  }

 private:
  /// Changes of one moment, from event k on, are one decision; k becomes the first one behind it.
  [[nodiscard]] std::vector<Event*> changes_at_once(Trajectory& run, std::size_t& k) const {
    std::vector<Event*> together;
    const double t = run.events[k].t;
    for (; k < run.events.size() && run.events[k].t == t; ++k)
      if (is_change(run.events[k]) && place(run.events[k].law) >= 0) together.push_back(&run.events[k]);
    return together;
  }

  /// In the part; -1: it is not there.
  [[nodiscard]] int place(int binary) const {
    const auto found = std::lower_bound(part_.binaries.begin(), part_.binaries.end(), binary);
    const bool is_there = found != part_.binaries.end() && *found == binary;
    return is_there ? static_cast<int>(found - part_.binaries.begin()) : -1;
  }

  /// What a branch of the law that stands for a binary is.
  [[nodiscard]] int value(int binary, int branch) const {
    if (whole_.hybrid != nullptr) return branch;
    const Branch& own = whole_.laws()[at(binary)].branches[at(branch)];
    return is_vertical(own) ? released_binary : static_cast<int>(own.lambda.lower);
  }

  /// Where a declared start does not continue: by which row, and what does.
  void tell_start(Trajectory& run) {
    std::vector<int> declared;
    for (const Binary& binary : part_.model.binaries) declared.push_back(binary.start.value_or(any_binary));
    bool is_kept = true;
    for (std::size_t i = 0; i < z_.size(); ++i) is_kept = is_kept && (declared[i] == any_binary || declared[i] == z_[i]);
    if (is_kept) return;
    const Vector x0 = part_.model.head.x0();
    std::vector<int> before = declared;
    for (std::size_t i = 0; i < z_.size(); ++i)
      if (before[i] == any_binary) before[i] = z_[i];
    const HybridContinuations found = rule_->continuations_from(whole_.run.span.start, x0, before);
    run.events.insert(run.events.begin(),
                      event_at(EventKind::mode_change, whole_.run.span.start, run.x.front(),
                               fmt::format("the start {} of the binaries violates {}; {} continues", values_text(declared),
                                           violated_start(part_.model, found), values_text(z_))));
  }

  void tell(const std::vector<Event*>& changes) {
    std::vector<int> before = z_;
    for (const Event* event : changes) before[at(place(event->law))] = value(event->law, event->from);
    z_ = before;
    for (const Event* event : changes) z_[at(place(event->law))] = value(event->law, event->to);
    if (std::all_of(changes.begin(), changes.end(), [](const Event* event) { return !event->note.empty(); })) return;
    const HybridContinuations found = rule_->continuations_from(changes.front()->t, state(*changes.front()), before);
    const bool is_same = found.chosen && takes(found.list[at(*found.chosen)]);
    for (Event* event : changes) {
      if (!event->note.empty()) continue;
      if (is_same)
        note(found, *event);
      else
        event->note = constraint_of(event->law);
    }
  }

  /// What the rule says of a change that it takes, too.
  void note(const HybridContinuations& found, Event& event) const {
    event.note = fmt::format("{}; {}", rows_text(found.violated), found.decided_by);
    if (const int count = count_of_called(found); count > 0) event.continuations = count;
    event.is_weak = !found.list[at(*found.chosen)].is_strict;
  }

  [[nodiscard]] Vector state(const Event& event) const {
    Vector x = Vector::Zero(part_.model.n());
    for (std::size_t j = 0; j < part_.variables.size(); ++j)
      x[static_cast<Eigen::Index>(j)] = event.x_before[part_.variables[j]];
    return x;
  }

  /// Does it lead to the present values?
  [[nodiscard]] bool takes(const HybridContinuation& c) const {
    for (std::size_t i = 0; i < z_.size(); ++i) {
      const bool slides = std::binary_search(c.released.begin(), c.released.end(), static_cast<int>(i));
      if (z_[i] != (slides ? released_binary : static_cast<int>(std::lround(c.z[i])))) return false;
    }
    return true;
  }

  /// 0: not counted.
  [[nodiscard]] static int count_of_called(const HybridContinuations& found) {
    if (found.count_inside) return static_cast<int>(*found.count_inside);
    if (!found.is_complete) return 0;
    return static_cast<int>(std::count_if(found.list.begin(), found.list.end(), [](const auto& c) { return c.outside == 0; }));
  }

  [[nodiscard]] std::string rows_text(const std::vector<int>& rows) const {
    std::vector<std::string> names;
    for (const int row : rows) names.push_back(row_word(part_.model, row));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  /// The first one that holds the binary.
  [[nodiscard]] std::string constraint_of(int binary) const {
    const int unknown = part_.model.n() + place(binary);
    for (std::size_t row = part_.model.f.size(); row < structure_.unknowns_of_row.size(); ++row) {
      const auto& unknowns = structure_.unknowns_of_row[row];
      if (std::find(unknowns.begin(), unknowns.end(), unknown) != unknowns.end())
        return part_.model.row_name(static_cast<int>(row));
    }
    return {};
  }

  const Model& whole_;
  HybridPart part_;
  HybridStructure structure_;
  Model model_;  // of the part
  IntegrateOptions nothing_kept_;
  std::unique_ptr<HybridRun> rule_;
  std::vector<int> z_;  // present values
};

/// Changes of binaries that nothing is said of, with their states.
bool has_open_changes(const Trajectory& run, const HybridModel& model) {
  return std::any_of(run.events.begin(), run.events.end(), [&](const Event& event) {
    return is_change(event) && event.note.empty() && event.law < model.q() && event.x_before.size() == model.n();
  });
}

}  // namespace

Trajectory with_change_notes(const Model& model, Trajectory run) {
  const std::shared_ptr<const HybridModel>& binaries = model.hybrid != nullptr ? model.hybrid : model.lowered;
  if (binaries == nullptr || (model.lowered == nullptr && !has_open_changes(run, *binaries))) return run;
  const IndependentSets sets = independent_sets(*binaries, structure_of(*binaries));
  try {
    for (HybridPart& part : independent_parts(*binaries, sets))
      if (!part.binaries.empty()) ChangeNotes(model, std::move(part)).write(run);
  } catch (const Interrupted&) {
    return run;  // the run stands; the rest of its changes has no words
  }
  return run;
}

}  // namespace perp
