// The modes that may follow: branches of each law that can hold its argument.
#include <algorithm>

#include <perp/analysis/enclosure/modes/successor.hpp>
#include <perp/core/branches.hpp>

namespace perp::enclosure {

/// May w be on the branch?
bool Successors::has_w_in(const Branch& branch, const Interval& w) const {
  if (branch.b == 0) return intersection(w, vertical_w(branch)).has_value();
  return w.hi >= branch.w.lower && w.lo <= branch.w.upper;
}

std::vector<Successor> Successors::at_start(ModeFlow* before, const std::vector<int>& resets, const Box* start) {
  const Dcs& system = flows_.system();
  reset_ = resets.empty() ? -1 : resets.front();
  fired_ = resets;
  start_ = start;
  is_start_of_run_ = before == nullptr;
  set_before(before);
  Flow still;  // w where it is a function of the states
  still.tape = system.tape;
  still.inputs = series_inputs(system, flows_.space());
  still.rates.assign(static_cast<std::size_t>(flows_.space().states()), still.tape.constant(0));
  Options options;
  for (int j = 0; j < system.m(); ++j) {
    const Law& law = system.laws[static_cast<std::size_t>(j)];
    const int line = system.G[static_cast<std::size_t>(j)];
    Interval w(-directed::infinity, directed::infinity);
    if (unknowns_of(system, flows_.space(), line).empty()) {
      still.outputs = {line};
      IntervalSeries series(still);
      if (series.compute(t_, box_, 1, false)) w = series.output(0, 0);
    } else {
      w = argument(j);
    }
    std::vector<int> choices = other_branches(j, -1, w);
    const auto present = before == nullptr
                             ? choices.begin()
                             : std::find(choices.begin(), choices.end(),
                                         before->system.mode[static_cast<std::size_t>(j)]);
    if (law.memory && present != choices.end()) choices = {*present};
    options.push_back(choices);
  }
  return assess_all(options, start);
}

std::vector<Successor> Successors::after(ModeFlow& from, const Monitor& reached) {
  const Gap& gap = from.system.gaps[static_cast<std::size_t>(reached.gap)];
  const Mode& old = from.system.mode;
  from_ = &from;
  set_before(&from);
  law_ = gap.law;
  reset_ = gap.reset;
  if (reset_ >= 0) fired_ = {reset_};
  of_multiplier_ = gap.of_multiplier;
  if (law_ >= 0) {
    const Branch& left = branch(old, law_);
    const Interval end(gap.end);
    const Interval a(left.a), b(left.b), c(left.c);
    corner_ = of_multiplier_ ? Corner{(c - b * end) / a, end} : Corner{end, (c - a * end) / b};
  }
  Options options;
  for (int j = 0; j < static_cast<int>(old.size()); ++j)
    options.push_back(j == law_ ? branches_at_corner(old[static_cast<std::size_t>(j)])
                                : branches_beside(from, j));
  return assess_all(options);
}

/// Branches that hold some of these w, without the present one; −1: there is none.
std::vector<int> Successors::other_branches(int law, int present, const Interval& w) const {
  const SharedList<Branch>& all = flows_.system().laws[static_cast<std::size_t>(law)].branches;
  std::vector<int> list;
  for (int k = 0; k < static_cast<int>(all.size()); ++k)
    if (k != present && has_w_in(all[static_cast<std::size_t>(k)], w)) list.push_back(k);
  return list;
}

/// Of the law that has reached its corner: what goes on from there.
std::vector<int> Successors::branches_at_corner(int present) const {
  if (open_.contains(law_)) return {present};
  std::vector<int> list = other_branches(law_, present, corner_.w);
  const SharedList<Branch>& all = flows_.system().laws[static_cast<std::size_t>(law_)].branches;
  if (of_multiplier_ || is_direct(law_))  // λ is on the graph
    std::erase_if(list, [&](int k) {
      return holds_corner(all[static_cast<std::size_t>(k)]) == Verdict::refuted;
    });
  return list;
}

/// Of another law: the present one, those beside it if it is held on a surface, and those that the
/// multipliers of the event may bring it to.
std::vector<int> Successors::branches_beside(const ModeFlow& from, int law) const {
  const int present = from.system.mode[static_cast<std::size_t>(law)];
  const Branch& here = branch(from.system.mode, law);
  std::vector<int> list;
  if (!open_.contains(law) && !flows_.system().laws[static_cast<std::size_t>(law)].memory) {
    if (law_ >= 0 && !has_argument_of_states(from, law))
      list = other_branches(law, present, argument(law));
    else if (is_vertical(here) && !is_direct(law))
      list = other_branches(law, present, vertical_w(here));
  }
  list.insert(list.begin(), present);
  return list;
}

}  // namespace perp::enclosure
