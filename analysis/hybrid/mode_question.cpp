// Which values of the binaries are looked at: all of them, those near the previous one, or its neighbours by series.
#include <algorithm>

#include <perp/analysis/hybrid/mode_question.hpp>
#include <perp/core/base/index.hpp>

namespace perp {
namespace {

/// Binaries: 3^6 values cost less than to go through them again and again, and the list of what excludes them says more.
constexpr long most_called = 6;

}  // namespace

void HybridModes::Implementation::begin_list() {
  by_derivatives.clear();
  result.list.clear();
  result.excluded.clear();
  result.excluded_count = 0;
}

/// False where it ended early. Candidates first: their derivatives are dear.
bool HybridModes::Implementation::search_all(const ValueLimits& limits) {
  std::vector<ModeCandidate> candidates;
  begin_list();
  const bool is_whole = whole().search.run(
      t, x, options.share, limits,
      [&](const ModeCandidate& candidate) { candidates.push_back(candidate); },
      [&](const Exclusion& exclusion) { exclude(exclusion); });
  if (!is_whole) return false;
  for (const ModeCandidate& candidate : candidates) {
    if (options.stop && options.stop()) {  // of a part nothing is best
      result.list.clear();
      return false;
    }
    judge(candidate);
  }
  return true;
}

ValueLimits HybridModes::Implementation::near_limits() const {
  ValueLimits limits{.nodes = options.most_nodes, .candidates = options.most_candidates, .most_outside = 0,
                     .inside = inside, .previous = branches_before(), .stop = options.stop};
  return limits;
}

/// Of many binaries in called sub-problems the fewest changes first: the rule takes the smallest number of
/// them. False where it ended early.
bool HybridModes::Implementation::search_inside(ValueLimits& limits) {
  const long count = std::count(inside.begin(), inside.end(), 1);
  limits.most_inside = -1;
  if (count <= most_called) return search_all(limits);
  for (limits.most_inside = 0; limits.most_inside <= count; ++limits.most_inside) {
    if (!search_all(limits)) return false;
    nearest_inside = limits.most_inside < count;
    if (!result.list.empty()) break;
  }
  return true;
}

/// Where there are too many values: those with few changes outside of the called sub-problems, the
/// fewest first. Then the rule's choice is among them, whatever the others are.
void HybridModes::Implementation::search_near() {
  result.is_complete = false;
  ValueLimits limits = near_limits();
  for (; !previous.empty() && limits.most_outside <= options.most_outside; ++limits.most_outside)
    if (!search_inside(limits) || !result.list.empty()) break;
}

void HybridModes::Implementation::judge_value(const std::vector<int>& z) {
  judge(whole().search.walk(t, x, options.share, z).candidate);
}

/// The nearest value as runs choose it, of up to 2^20 of a sub-problem. What slides is not looked at.
void HybridModes::Implementation::search_by_series() {
  const std::optional<HybridContinuations> found = near().nearest(t, x, branches_before(), options);
  if (!found) return;
  judge_value(NearSearch::values_of(found->list.front()));
  nearest_inside = true;
}

/// All values of many binaries none of which slides: the best ones are kept, the others counted. False: open.
bool HybridModes::Implementation::search_tree() {
  if (model.q() <= most_called) return false;
  std::optional<HybridContinuations> found = near().all(t, x, branches_before(), inside, options);
  if (!found) return false;
  begin_list();
  result.list = std::move(found->list);
  result.count = found->count;
  result.is_complete = found->is_complete;
  result.excluded = std::move(found->excluded);
  result.excluded_count = found->excluded_count;
  return true;
}

/// Of very many unknowns, for which dense matrices do not serve; who asks for the nearest alone has tried it. Empty: open.
std::optional<HybridContinuations> HybridModes::Implementation::of_large_model() {
  constexpr int most_dense = 256;
  if (options.nearest_alone || model.n() + model.q() <= most_dense) return std::nullopt;
  auto found = near().nearest(t, x, branches_before(), options);
  if (found) found->notes.emplace_back("a large model: values near the previous one alone were looked at");
  return found;
}

/// The previous value where it continues, else those without changes outside of the called
/// sub-problems.
void HybridModes::Implementation::search_nearest() {
  result.is_complete = false;
  if (previous_continues) {
    judge_value(branches_before());
    return;
  }
  // Of many binaries none of which slides the series tell at once.
  if (std::count(inside.begin(), inside.end(), 1) > most_called) search_by_series();
  if (!result.list.empty()) return;
  ValueLimits limits = near_limits();
  search_inside(limits);
}

/// What continues. False: not all values were looked at.
bool HybridModes::Implementation::find() {
  result = {};
  previous_continues = has_open_modes = nearest_inside = false;
  whole().search.set_errors(options.share * options.sizes);
  whole().jets.begin(options.sizes);
  whole().search.begin_roots();
  look_at_previous();
  bool is_whole = false;
  if (options.nearest_alone && !previous.empty()) search_nearest();
  if (result.list.empty()) {
    if (search_tree()) return true;
    result.is_complete = true;
    is_whole =
        search_all({.nodes = options.most_nodes, .candidates = options.most_candidates, .stop = options.stop});
    if (!is_whole) search_near();
    if (!is_whole && result.list.empty()) search_by_series();
  }
  return is_whole;
}

}  // namespace perp
