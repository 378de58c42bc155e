// Which of several continuations is taken: asked by transitions.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/branches.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/passage/continuation_choice.hpp>

namespace perp {
namespace {

constexpr double same_norm = 1e-9;        ///< relative: norms that tie
constexpr double shares_of_steps[] = {0x1p-20, 0x1p-10};  ///< of the time scale
constexpr double same_multiplier = 1e-5;  ///< relative: a multiplier that goes on

/// Do the laws outside of `hit` keep their branch and their multiplier?
bool goes_on(const Continuation& continuation, const Step& before, const std::vector<int>& hit,
             const Vector& units) {
  for (std::size_t i = 0; i < before.mode.size(); ++i) {
    const int law = static_cast<int>(i);
    if (std::find(hit.begin(), hit.end(), law) != hit.end()) continue;
    if (continuation.mode[i] != before.mode[i]) return false;
    const double old_value = before.lambda[law], new_value = continuation.jet.lambda(law, 0);
    if (std::abs(new_value - old_value) >
        same_multiplier * std::max({std::abs(old_value), std::abs(new_value), units[law]}))
      return false;
  }
  return true;
}

/// The continuation that begins in a mode; empty: there is none, or no mode.
std::optional<std::size_t> begun_in(const std::vector<Continuation>& found, const std::optional<Mode>& mode) {
  if (!mode) return std::nullopt;
  const auto begun = std::find_if(found.begin(), found.end(), [&](const Continuation& c) {
    return c.mode == *mode || std::find(c.also.begin(), c.also.end(), *mode) != c.also.end();
  });
  return begun == found.end() ? std::nullopt : std::optional(static_cast<std::size_t>(begun - found.begin()));
}

/// The rule of first order that chooses as the policy does.
Selector selector_of(const LocatedState& at) {
  return at.options.policy == ContinuationPolicy::stay ? Selector::keep_mode : Selector::minimal_norm;
}

}  // namespace

/// Are solutions not excluded that are none of these continuations? A tree of solutions asks of those as well that begin by
/// infinitely many changes of mode.
bool ContinuationChoice::may_miss_some(const Selection& selection) const {
  return !selection.complete || selection.leaves_open || (at_.options.watches_repulsion && !selection.begins_in_modes);
}

std::size_t ContinuationChoice::choose(const Selection& selection, const Step& before,
                               const std::vector<int>& hit) {
  misses_some_ = misses_some_ || may_miss_some(selection);
  if (selection.admissible.size() == 1) return 0;
  const std::size_t usual = by_policy(selection, before, hit);
  const std::size_t place = branchings_.size();
  // Choice 0 is the policy's, the others follow in their order.
  std::size_t choice = place < choices_.size() ? choices_[place] : 0;
  Branching branching{at_.now.t, {selection.admissible[usual].mode}};
  for (std::size_t k = 0; k < selection.admissible.size(); ++k)
    if (k != usual) branching.modes.push_back(selection.admissible[k].mode);
  branchings_.push_back(std::move(branching));
  if (choice == 0) return usual;
  return choice <= usual ? choice - 1 : choice;
}

/// The continuations in which the laws outside of `hit` go on, or all if none is such.
std::vector<std::size_t> ContinuationChoice::least_changing(const std::vector<Continuation>& found, const Step& before,
                                                            const std::vector<int>& hit) const {
  std::vector<std::size_t> left;
  for (std::size_t k = 0; k < found.size(); ++k)
    if (!hit.empty() && goes_on(found[k], before, hit, at_.scales.lambda)) left.push_back(k);
  if (left.empty())
    for (std::size_t k = 0; k < found.size(); ++k) left.push_back(k);
  return left;
}

std::size_t ContinuationChoice::by_policy(const Selection& selection, const Step& before,
                                          const std::vector<int>& hit) {
  const auto& found = selection.admissible;
  if (const std::optional<std::size_t> told = by_steps(found, before)) return *told;
  const std::vector<std::size_t> left = least_changing(found, before, hit);
  if (at_.options.policy == ContinuationPolicy::stay)
    for (const std::size_t k : left)
      if (found[k].mode == before.mode) return k;
  return least_norm(found, left, before.mode);
}

/// Where no series tells on which side of its end any law goes on, the selector of first order does: its short steps
/// and longer ones begin one of the continuations. Empty: a series tells, or the steps do not agree.
std::optional<std::size_t> ContinuationChoice::by_steps(const std::vector<Continuation>& found,
                                                        const Step& before) const {
  const auto is_strict = [](const Continuation& c) { return c.strict; };
  if (found.size() < 2 || std::any_of(found.begin(), found.end(), is_strict)) return std::nullopt;
  std::optional<std::size_t> told;
  for (const double share : shares_of_steps) {
    const auto begun = begun_in(found, mode_of_step(at_, before, share * at_.scales.time, selector_of(at_)));
    if (!begun || (told && *told != *begun)) return std::nullopt;
    told = begun;
  }
  return told;
}

/// Of those that are left the one of least ‖∂F/∂ẋ ẋ‖, of equal ones that in the present mode.
std::size_t ContinuationChoice::least_norm(const std::vector<Continuation>& found,
                                           const std::vector<std::size_t>& left, const Mode& present) {
  const auto is_present = [&](std::size_t k) { return found[k].mode == present; };
  std::size_t best = left.front();
  double least = integrator_.speed(found[best]).norm;
  for (std::size_t i = 1; i < left.size(); ++i) {
    const auto [norm, unit] = integrator_.speed(found[left[i]]);
    const double tie = same_norm * std::max({norm, least, unit});
    if (norm < least - tie || (norm <= least + tie && is_present(left[i]) && !is_present(best)))
      best = left[i];
    least = std::min(least, norm);
  }
  return best;
}

bool ContinuationChoice::is_least_open(const Selection& selection, const Step& before) {
  const bool is_asked = at_.options.policy == ContinuationPolicy::minimal_norm && !at_.options.watches_repulsion;
  if (!is_asked || selection.open.empty() || selection.admissible.empty()) return false;
  double least = inf;
  for (const Continuation& found : selection.admissible) least = std::min(least, integrator_.speed(found).norm);
  for (const double share : shares_of_steps) {
    const double h = share * at_.scales.time;
    const std::optional<Step> step = short_step(at_, before, h, Selector::minimal_norm);
    if (!step || std::ranges::find(selection.open, step->mode) == selection.open.end()) return false;
    Continuation way{step->mode, {}};
    way.jet.t = at_.now.t;
    way.jet.x.resize(at_.system.n(), 2);
    way.jet.x << step->x, (step->x - at_.now.x) / h;
    way.jet.lambda = step->lambda;
    // Its norm is that of its mode up to a share like that of the step.
    if (!(integrator_.speed(way).norm < (1 - shares_of_steps[1]) * least)) return false;
  }
  return true;
}

/// Does the state tell how its mode goes on, alone?
void ContinuationChoice::watch_singular_points() {
  if (misses_some_ || jets_.all().is_linear()) return;
  const Jet jet = jets_.at_state(at_.now);
  misses_some_ = jet.consistent && jet.determined && !jets_.all().tells_all(jet);
}

void ContinuationChoice::watch_repulsion() {
  if (!at_.options.watches_repulsion) return;
  watch_singular_points();
  if (repulsion_) return;
  std::vector<int> sliding;
  for (const int i : at_.all_laws) {
    const auto law = static_cast<std::size_t>(i);
    if (is_vertical(at_.system.laws[law].branches[static_cast<std::size_t>(at_.now.mode[law])])) sliding.push_back(i);
  }
  if (sliding.empty()) return;
  const Selection around = select(jets_.all(), at_.now.t, at_.now.x, at_.now.lambda, at_.now.mode, sliding, {.ended = sliding});
  if (around.admissible.size() > 1) repulsion_ = {at_.moved_from.t, at_.now.t, at_.now.mode};
}

std::optional<Mode> mode_of_step(const LocatedState& at, const Step& before, double h, Selector selector) {
  const std::optional<Step> step = short_step(at, before, h, selector);
  return step ? std::optional(step->mode) : std::nullopt;
}

std::optional<Step> short_step(const LocatedState& at, const Step& before, double h, Selector selector) {
  NonlinearCapturing capturing(at.system, {.h = h, .selector = selector});
  Step state = before;
  state.x = at.now.x;
  capturing.restore(state);
  if (capturing.attempt(at.now.t + h, h).status != Status::solved) return std::nullopt;
  capturing.accept();
  return Step{at.now.t + h, capturing.x(), capturing.lambda(), capturing.w(), capturing.mode()};
}

std::vector<Mode> modes_of_steps(const LocatedState& at, const Step& before) {
  std::vector<Mode> modes;
  for (const double share : shares_of_steps) {
    const std::optional<Mode> mode = mode_of_step(at, before, share * at.scales.time, selector_of(at));
    if (mode && std::ranges::find(modes, *mode) == modes.end()) modes.push_back(*mode);
  }
  return modes;
}

namespace {

/// The modes of continuations, the chosen one among them, as far as they are named.
std::string named_modes(const std::vector<Law>& laws, const std::vector<Continuation>& found, std::size_t chosen) {
  std::string text;
  std::size_t named = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (k != chosen && named == most_named_modes - 1) continue;
    text += fmt::format("{} [{}]{}", named++ > 0 ? "," : "", describe_briefly(laws, found[k].mode),
                        k == chosen ? " (taken)" : "");
  }
  return named < found.size() ? text + ", ..." : text;
}

}  // namespace

std::string continuations_note(const std::vector<Law>& laws, const Selection& selection, std::size_t chosen) {
  const char* not_complete = "the search ended before all modes were tried";
  const std::size_t count = selection.admissible.size();
  if (count < 2) return selection.complete ? "" : not_complete;
  const std::string note = fmt::format("{} continuations:", count) + named_modes(laws, selection.admissible, chosen);
  return selection.complete ? note : note + "; " + not_complete;
}

}  // namespace perp
