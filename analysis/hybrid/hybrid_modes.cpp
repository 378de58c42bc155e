// Mode determination: sub-problems give the candidates, Taylor series decide, the rule takes one.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>

#include <perp/analysis/hybrid/mode_question.hpp>
#include <perp/analysis/hybrid/nearest_mode.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>

namespace perp {
HybridModes::HybridModes(HybridModel model)
    : self_(std::make_unique<Implementation>(std::move(model))) {}
HybridModes::~HybridModes() = default;
HybridModes::HybridModes(HybridModes&&) noexcept = default;
HybridModes& HybridModes::operator=(HybridModes&&) noexcept = default;

const HybridModel& HybridModes::model() const { return self_->model; }
const HybridStructure& HybridModes::structure() const { return self_->structure; }

std::vector<int> HybridModes::Implementation::branches_before() const {
  std::vector<int> z;
  for (const double value : previous) z.push_back(branch_of(value));
  return z;
}

/// Those without a value before may take any.
void HybridModes::Implementation::note_free(const std::vector<int>& z) {
  for (int i = 0; i < model.q(); ++i) inside[at(i)] = z[at(i)] == any_binary ? 1 : 0;
}

/// Of a continuation with a jet: the rows of the constraints that are not known to differ from 0.
std::vector<int> HybridModes::Implementation::constraints_at_zero(const HybridContinuation& c) {
  std::vector<int> rows;
  for (int l = 0; l < whole().faces.constraints(); ++l) {
    const std::vector<double>& g = c.constraints[at(l)].derivatives;
    if (!g.empty() && g[0] == 0) rows.push_back(static_cast<int>(model.f.size()) + l);
  }
  return rows;
}

/// The binaries that the called sub-problems determine.
void HybridModes::Implementation::note_called_binaries() {
  for (const int block : result.called)
    for (const int unknown : structure.blocks[at(block)].unknowns)
      if (unknown >= model.n()) inside[at(unknown - model.n())] = 1;
}

/// What the previous value violates, and which sub-problems that calls.
void HybridModes::Implementation::look_at_previous() {
  inside.assign(at(model.q()), 0);
  if (previous.empty()) return;
  const std::vector<int> z = branches_before();
  if (has_free) return note_free(z);
  const ValueSearch::Walk walk = whole().search.walk(t, x, options.share, z);
  const HybridJets::Verdict verdict = judged(walk.candidate).verdict;
  result.violated = verdict.has_jet ? verdict.violated : walk.excluding;
  previous_continues = verdict.has_jet && verdict.violated.empty();
  if (previous_continues) return;
  if (result.violated.empty()) {  // no jet, and no row by itself says why: all equations together
    result.violated.resize(model.f.size());
    std::iota(result.violated.begin(), result.violated.end(), 0);
  }
  const std::vector<int> on_surface = verdict.has_jet ? constraints_at_zero(verdict.continuation) : walk.on_surface;
  result.called = called_sub_problems(model, structure, result.violated, on_surface);
  note_called_binaries();
}

void HybridModes::Implementation::count_changes(HybridContinuation& c) const {
  if (previous.empty()) return;
  for (int i = 0; i < model.q(); ++i) {
    const bool is_released = std::binary_search(c.released.begin(), c.released.end(), i);
    const int before = branch_of(previous[at(i)]);
    if (before == any_binary) continue;
    const int now = is_released ? released_binary : branch_of(c.z[at(i)]);
    if (now != before) ++(inside[at(i)] ? c.inside : c.outside);
  }
}

void HybridModes::Implementation::exclude(const Exclusion& exclusion) {
  ++result.excluded_count;
  if (static_cast<long>(result.excluded.size()) < options.most_excluded)
    result.excluded.push_back(exclusion);
}

/// Of values 0 and 1 series tell with bounds of all errors. Empty: open.
std::optional<HybridJets::Verdict> HybridModes::Implementation::by_series(const ModeCandidate& candidate) {
  const auto is_plain = [](int z) { return z == 0 || z == 1; };
  if (candidate.root != 0 || !std::all_of(candidate.z.begin(), candidate.z.end(), is_plain)) return std::nullopt;
  std::optional<NearChoice::OfValue> found = near().of_value(t, x, candidate.z, options);
  if (!found) return std::nullopt;
  HybridJets::Verdict verdict;
  verdict.has_jet = true;
  verdict.violated = std::move(found->violated);
  verdict.continuation = std::move(found->continuation);
  return verdict;
}

HybridModes::Implementation::Judged HybridModes::Implementation::judged(const ModeCandidate& candidate) {
  if (std::optional<HybridJets::Verdict> bounded = by_series(candidate)) return {*std::move(bounded), true};
  return {whole().jets.judge(t, candidate, options.share), false};
}

void HybridModes::Implementation::judge(const ModeCandidate& candidate) {
  auto [verdict, is_bounded] = judged(candidate);
  if (verdict.has_jet && verdict.violated.empty()) {
    count_changes(verdict.continuation);
    result.list.push_back(std::move(verdict.continuation));
    return;
  }
  if (!is_bounded) by_derivatives.emplace_back(candidate, result.excluded.size());
  if (!verdict.has_jet)
    exclude({candidate.z, {}, "has no solution from this state"});
  else
    exclude({candidate.z, verdict.violated, "becomes positive"});
}

/// Are all candidates that their derivatives exclude excluded by bounds, too?
bool HybridModes::Implementation::show_exclusions() {
  bool is_whole = true;
  for (const auto& [candidate, place] : by_derivatives) {
    if (options.stop && options.stop()) return false;
    whole().bounds.look_at(t, x, options.share, candidate);
    if (whole().bounds.is_excluded()) continue;
    if (whole().bounds.leaves_binaries_open()) {
      has_open_modes = true;
      if (place < result.excluded.size()) result.excluded[place].why = "leaves its sliding binaries open";
      continue;
    }
    is_whole = false;
    if (place < result.excluded.size()) result.excluded[place].is_shown = false;
  }
  return is_whole;
}

/// May the rule compare its rate norm with one that is near it? Of very many continuations this is asked of those that
/// change least: the others have the bounds of their series.
bool HybridModes::Implementation::has_rival(const HybridContinuation& c) const {
  constexpr double near = 0x1p-20;
  const HybridContinuation& first = result.list.front();
  if (result.count && (c.outside != first.outside || c.inside != first.inside)) return false;
  return std::any_of(result.list.begin(), result.list.end(), [&](const HybridContinuation& other) {
    return &other != &c && std::abs(other.rate_norm - c.rate_norm) <= near * std::max(c.rate_norm, other.rate_norm);
  });
}

/// Rate norms that are near each other: how well they are known.
void HybridModes::Implementation::bound_rates() {
  constexpr double rounding = 0x1p-40;
  for (HybridContinuation& c : result.list) {
    if (!has_rival(c)) continue;
    ModeCandidate candidate{{}, c.x, c.rates, c.root};
    for (int i = 0; i < model.q(); ++i)
      candidate.z.push_back(std::binary_search(c.released.begin(), c.released.end(), i)
                                ? released_binary
                                : branch_of(std::round(c.z[at(i)])));
    for (double& rate : candidate.rates) rate = std::isnan(rate) ? 0 : rate;
    whole().bounds.look_at(t, x, options.share, candidate);
    c.rate_norm_error = (options.share + rounding) * c.rate_norm;
    if (const auto norm = whole().bounds.rate_norm()) {
      c.rate_norm = norm->bounded.value;
      c.rate_norm_error = norm->bounded.error;
      c.exact_rate_norm = norm->exact;
    }
  }
}

Status HybridModes::Implementation::end_word(bool is_whole, bool are_shown) const {
  if (!result.list.empty()) return Status::solved;
  if (!is_whole || !result.is_complete) return Status::not_enumerated;
  return are_shown && !has_open_modes ? Status::no_solution : Status::not_solved;
}

void HybridModes::Implementation::note_ambiguity() {
  if (!previous.empty() && !has_free) return;
  const auto keeps = [](const HybridContinuation& c) { return c.outside == 0; };
  if (std::count_if(result.list.begin(), result.list.end(), keeps) > 1)
    result.notes.emplace_back("several modes continue and the previous one is not known");
}

/// Empty where no binary has a value before. Throws InvalidInput.
void HybridModes::Implementation::read_previous(const std::vector<double>& given) {
  if (!given.empty() && static_cast<int>(given.size()) != model.q())
    throw InvalidInput(fmt::format("the previous mode must have {} values but has {}", model.q(),
                                   given.size()));
  for (const double z : given)
    if (!std::isnan(z) && !(z >= 0 && z <= 1))
      throw InvalidInput(fmt::format("the previous value of a binary is {}; expected 0 to 1", z));
  const auto is_free = [](double z) { return std::isnan(z); };
  previous = given;
  if (std::all_of(given.begin(), given.end(), is_free)) previous.clear();
  has_free = std::any_of(previous.begin(), previous.end(), is_free);
}

/// What was not searched changes more.
void HybridModes::Implementation::note_nearest() {
  if (result.list.empty()) result.decided_by = "none: not enumerated";
  if (!previous_continues && result.list.size() == 1)
    result.decided_by = nearest_inside ? "fewest changes inside" : "fewest changes outside the called sub-problems";
}

/// What is known of those that are not in the list.
void HybridModes::Implementation::conclude(bool is_whole) {
  if (whole().search.may_have_other_roots()) {
    result.is_complete = false;
    result.notes.emplace_back(
        "unknowns of one sub-problem multiply each other: its solutions are not all enumerated");
  }
  const bool are_shown = !is_whole || !result.is_complete || show_exclusions();
  if (!are_shown && !result.list.empty()) {
    result.is_complete = false;
    result.notes.emplace_back("that the other values do not continue is not shown for all of them");
  }
  note_ambiguity();
  result.status = end_word(is_whole, are_shown);
  if (result.status != Status::not_solved) return;
  result.decided_by = "none: no continuation was found";
  result.is_complete = false;  // some may have been missed
}

HybridContinuations HybridModes::continuations(double t, const Vector& x,
                                               const std::vector<double>& previous,
                                               const HybridModeOptions& options) {
  Implementation& self = *self_;
  if (x.size() != self.model.n() || !x.allFinite())
    throw InvalidInput(fmt::format("x must be {} finite numbers", self.model.n()));
  self.read_previous(previous);
  self.t = t;
  self.x = x;
  self.options = options;
  if (auto found = self.of_large_model()) return *std::move(found);
  const bool is_whole = self.find();
  HybridContinuations& result = self.result;
  self.bound_rates();
  order_continuations(self.previous, self.previous_continues, result);
  if (!is_whole) self.note_nearest();
  self.conclude(is_whole);
  return result;
}

}  // namespace perp
