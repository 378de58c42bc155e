// Mode determination in the neighbourhood of the previous mode: runs of large hybrid models ask it first.
#include <algorithm>
#include <cmath>
#include <map>

#include <perp/analysis/hybrid/nearest_mode.hpp>
#include <perp/core/interval/rational_tape.hpp>
#include <perp/analysis/hybrid/sparse/near_choice.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/models/language/hybrid/hybrid_parts.hpp>

namespace perp {
namespace {

constexpr int last_order = 3;
constexpr int every_part = -2;
constexpr int most_kept = 10;     ///< binaries of a constraint whose faces are all kept
constexpr int most_corners = 6;  ///< binaries of a constraint whose values are all looked at

/// The next set of `chosen` out of `count` numbers, increasing; false: it was the last.
bool next_set(std::vector<int>& chosen, int count) {
  const int size = static_cast<int>(chosen.size());
  int k = size - 1;
  while (k >= 0 && chosen[at(k)] == count - size + k) --k;
  if (k < 0) return false;
  ++chosen[at(k)];
  for (int j = k + 1; j < size; ++j) chosen[at(j)] = chosen[at(j - 1)] + 1;
  return true;
}

}  // namespace

NearChoice::NearChoice(const HybridModel& model, const HybridStructure& structure, ModeSeries& series,
                       Options options)
    : model_(model),
      structure_(structure),
      series_(series),
      options_(std::move(options)),
      faces_(model),
      constraints_of_(at(model.q())),
      slides_(at(model.q()), -1) {
  for (int l = 0; l < faces_.constraints(); ++l)
    for (const int i : faces_.binaries_of(l)) constraints_of_[at(i)].push_back(l);
  // Models that share nothing stand beside each other, and each chooses as it would alone.
  const IndependentSets sets = independent_sets(model, structure);
  parts_ = sets.parts();
  part_of_signal_ = sets.of_variable;
  part_of_signal_.insert(part_of_signal_.end(), sets.of_binary.begin(), sets.of_binary.end());
  part_of_constraint_.assign(sets.of_row.begin() + static_cast<std::ptrdiff_t>(model.f.size()),
                             sets.of_row.end());
}

/// The variable that an input of the tape is, -1: it is t or a binary, -2: no state.
int NearChoice::state_of_input(int input) const {
  if (input == HybridModel::time_input() || input >= model_.binary_input(0)) return -1;
  const int j = input - model_.variable_input(0);
  return j >= 0 && series_.is_state(j) ? j : -2;
}

/// Of g_l at exact states, where it holds nothing but them, t and binaries and is rational.
std::optional<int> NearChoice::exact_sign(int l, const std::vector<int>& z) {
  const Tape& tape = faces_.tape();
  const int line = faces_.rows()[model_.f.size() + at(l)];
  std::vector<RunningError> inputs(at(model_.parameter_input(0)));
  inputs[0].value = series_.time();
  for (int i = 0; i < model_.q(); ++i) inputs[at(model_.binary_input(i))].value = z[at(i)];
  for (const int k : lines_below(tape, line)) {
    if (tape[k].operation != Operation::input) continue;
    const int j = state_of_input(tape[k].a);
    if (j == -2) return std::nullopt;
    if (j >= 0) inputs[at(tape[k].a)].value = series_.variable(j)[0];
  }
  RationalTape exact(tape, inputs);
  const std::optional<Rational> g = exact.value(line);
  if (!g || !exact.is_exact) return std::nullopt;
  return g->sign();
}

/// Of g_l itself, 0: not told from 0. `has_bound`: is there one?
int NearChoice::value_sign(int l, const std::vector<int>& z, bool& has_bound) {
  const RunningError g(series_.constraint(l)[0], series_.error(l, 0));
  has_bound = std::isfinite(g.error);
  const int sign = decided_sign(g);
  const bool asks = sign == 0 && has_bound && g.error > 0 && series_.knows_states_exactly();
  return asks ? exact_sign(l, z).value_or(0) : sign;
}

/// Of the first of the derivatives 1 to 3 of a constraint that is 0 that is told from 0.
NearChoice::Sign NearChoice::sign_behind(int l) {
  for (int k = 1; k <= last_order; ++k) {
    if (!series_.extend(k)) return Sign::open;
    const RunningError here(series_.constraint(l)[k], series_.error(l, k));
    if (const int sign = decided_sign(here); sign != 0) return sign > 0 ? Sign::rises : Sign::falls;
    if (!std::isfinite(here.error)) return Sign::open;
  }
  return Sign::stays;
}

/// The sign of constraint l just after t.
NearChoice::Sign NearChoice::sign_of(int l, const std::vector<int>& z, bool asks_for_one) {
  bool has_bound = false;
  const int value = value_sign(l, z, has_bound);
  if (value != 0) return value > 0 ? Sign::positive : Sign::negative;
  return sign_at_zero(l, z, has_bound, asks_for_one);
}

/// The same where g_l is not told from 0.
NearChoice::Sign NearChoice::sign_at_zero(int l, const std::vector<int>& z, bool has_bound, bool asks_for_one) {
  // Of many binaries faces are not kept for all values: one that is void has no derivative that is told from 0, and
  // whether it is does not matter where only violations are asked for.
  const bool is_small = static_cast<int>(faces_.binaries_of(l).size()) <= most_kept;
  if (is_small && faces_.is_void(l, z)) return Sign::idle;
  const Sign sign = has_bound ? sign_behind(l) : Sign::open;
  const bool may_be_void = sign == Sign::stays && !is_small && !asks_for_one;
  return may_be_void && faces_.is_void(l, z) ? Sign::idle : sign;
}

NearChoice::Verdict NearChoice::judge(double t, const Vector& x, const std::vector<int>& z, int part, bool asks_for_one) {
  Verdict verdict;
  if (!series_.begin(t, x, z, 0) || !series_.passes_gate()) return verdict;
  verdict.has_series = true;
  read_constraints(z, part, verdict, asks_for_one);
  if (!asks_for_one || verdict.violated.empty()) read_rates(part, verdict);
  return verdict;
}

/// `asks_for_one`: no further than the first that is violated, which excludes z whatever the others are.
void NearChoice::read_constraints(const std::vector<int>& z, int part, Verdict& verdict, bool asks_for_one) {
  for (int l = 0; l < faces_.constraints(); ++l) {
    if (part != every_part && part_of_constraint_[at(l)] != part) continue;
    read_constraint(l, z, verdict, asks_for_one);
    if (asks_for_one && !verdict.violated.empty()) return;
  }
}

void NearChoice::read_constraint(int l, const std::vector<int>& z, Verdict& verdict, bool asks_for_one) {
  const int row = static_cast<int>(model_.f.size()) + l;
  const Sign sign = sign_of(l, z, asks_for_one);
  if (sign == Sign::open) verdict.has_series = false;
  if (sign == Sign::positive || sign == Sign::rises) verdict.violated.push_back(row);
  if (sign >= Sign::falls) verdict.on_surface.push_back(row);
  if (sign == Sign::stays) verdict.is_strict = false;
}

void NearChoice::read_rates(int part, Verdict& verdict) {
  for (int j = 0; j < model_.n(); ++j) {
    if (!series_.is_state(j) || (part != every_part && part_of_signal_[at(j)] != part)) continue;
    const RunningError rate = RunningError(series_.rate(j), series_.rate_error(j)) /
                              RunningError(model_.head.variables[at(j)].nominal);
    verdict.rate_norm = verdict.rate_norm + rate * rate;
  }
}

/// Has a constraint of the binary, where the others are as in `corner`, at 0 a face that another one has at 1
/// with the opposite sign? Where that is too large to tell, too.
bool NearChoice::has_surface(std::vector<int>& corner, int binary) {
  for (const int l : constraints_of_[at(binary)]) {
    corner[at(binary)] = 0;
    const SparsePolynomial* low = faces_.face(l, corner);
    if (low == nullptr) return true;
    if (low->is_zero()) continue;
    corner[at(binary)] = 1;
    for (const int k : constraints_of_[at(binary)]) {
      const SparsePolynomial* high = faces_.face(k, corner);
      const std::optional<double> kappa = high == nullptr ? std::optional(-1.0) : ratio(*high, *low);
      if (kappa && *kappa < 0) return true;
    }
  }
  return false;
}

/// Of a binary in too many constraints for all values of the others.
bool NearChoice::may_slide_on_products(int binary) {
  const std::vector<int>& own = constraints_of_[at(binary)];
  for (const int l : own)
    products_.try_emplace(l, ProductFace::read(faces_.tape(), faces_.rows()[model_.f.size() + at(l)], model_.binary_input(0)));
  return std::any_of(own.begin(), own.end(), [&](int low) {
    return std::any_of(own.begin(), own.end(), [&](int high) {
      const std::optional<ProductFace>&a = products_.at(low), &b = products_.at(high);
      return !a || !b || ProductFace::may_be_opposite(*a, *b, binary);
    });
  });
}

/// Is there, for some values of the other binaries in its constraints, a surface on which the binary could
/// slide? Said too often rather than too rarely.
bool NearChoice::may_slide(const std::vector<int>& z, int binary) {
  std::vector<int> others;
  for (const int l : constraints_of_[at(binary)])
    for (const int i : faces_.binaries_of(l))
      if (i != binary) others.push_back(i);
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  if (static_cast<int>(others.size()) > most_corners) return may_slide_on_products(binary);
  std::vector<int> corner = z;
  for (int values = 0; values < 1 << others.size(); ++values) {
    for (std::size_t k = 0; k < others.size(); ++k) corner[at(others[k])] = values >> k & 1;
    if (has_surface(corner, binary)) return true;
  }
  return false;
}

/// The series are those of z: of the last judgement.
HybridContinuations NearChoice::taken(const std::vector<int>& z, const Verdict& verdict) {
  HybridContinuation c;
  c.z.assign(z.begin(), z.end());
  c.surfaces.assign(z.size(), -1);
  c.is_strict = verdict.is_strict;
  c.x.resize(model_.n());
  c.rates = Vector::Constant(model_.n(), nan);
  for (int j = 0; j < model_.n(); ++j) {
    c.x[j] = series_.variable(j)[0];
    if (series_.is_state(j)) c.rates[j] = series_.rate(j);
  }
  c.rate_norm = verdict.rate_norm.value;
  c.rate_norm_error = verdict.rate_norm.error;
  for (int l = 0; l < faces_.constraints(); ++l) {
    const double g = series_.constraint(l)[0];
    const bool is_zero = std::abs(g) <= series_.error(l, 0);
    c.constraints.push_back({is_zero && faces_.is_void(l, z), false, {is_zero ? 0 : g}});
  }
  HybridContinuations found;
  found.status = Status::solved;
  found.list.push_back(std::move(c));
  found.chosen = 0;
  found.is_complete = false;
  return found;
}

bool NearChoice::takes_value() { return ++tried_ <= options_.most_values && !(options_.stop && options_.stop()); }

/// With the other values of these binaries.
NearChoice::Verdict NearChoice::judge_changed(double t, const Vector& x, std::vector<int>& z,
                                              const std::vector<int>& changed, int part) {
  for (const int i : changed) z[at(i)] = 1 - z[at(i)];
  Verdict verdict = judge(t, x, z, part, true);
  for (const int i : changed) z[at(i)] = 1 - z[at(i)];
  return verdict;
}

/// Which sets of `distance` of the binaries continue with their other values. Empty: open.
std::optional<std::vector<NearChoice::Found>> NearChoice::at_distance(double t, const Vector& x,
                                                                      const std::vector<int>& z,
                                                                      const std::vector<int>& binaries,
                                                                      int part, int distance) {
  std::vector<Found> found;
  std::vector<int> chosen(at(distance)), other = z;
  for (int k = 0; k < distance; ++k) chosen[at(k)] = k;
  do {
    check_interruption();
    if (!takes_value()) return std::nullopt;
    std::vector<int> changed;
    for (const int k : chosen) changed.push_back(binaries[at(k)]);
    const Verdict verdict = judge_changed(t, x, other, changed, part);
    if (!verdict.has_series) return std::nullopt;
    if (verdict.violated.empty()) found.push_back({std::move(changed), verdict.rate_norm});
  } while (next_set(chosen, static_cast<int>(binaries.size())));
  return found;
}

/// Sets come in the order of their first binaries, so that the first of equal ones is the rule's.
NearChoice::Taken NearChoice::taken_of(const std::vector<Found>& found, bool is_one) {
  std::vector<RunningError> norms;
  for (const Found& f : found) norms.push_back(f.rate_norm);
  const std::vector<std::size_t> least = least_rate_norms(norms);
  return {found[least.front()].changed, is_one              ? "fewest changes outside the called sub-problems"
                                        : found.size() == 1 ? "fewest changes inside"
                                        : least.size() == 1 ? "smallest rate norm"
                                                            : "first declared binary changes"};
}

/// The values of a part's called binaries that are taken, at the least distance at which some continue.
std::optional<NearChoice::Taken> NearChoice::choose(double t, const Vector& x, const std::vector<int>& z,
                                                    const std::vector<int>& binaries, int part) {
  tried_ = 0;
  const bool are_many = static_cast<int>(binaries.size()) > most_singly;
  const ValueProgram* tree = are_many ? program(binaries, part) : nullptr;
  return tree != nullptr ? choose_in_tree(t, x, z, *tree, part) : choose_singly(t, x, z, binaries, part);
}

std::optional<NearChoice::Taken> NearChoice::choose_singly(double t, const Vector& x, const std::vector<int>& z,
                                                           const std::vector<int>& binaries, int part) {
  std::optional<bool> any_slides;
  for (int distance = 1; distance <= static_cast<int>(binaries.size()); ++distance) {
    std::optional<std::vector<Found>> found = at_distance(t, x, z, binaries, part, distance);
    if (!found) return std::nullopt;
    if (found->empty()) {  // a binary that slides counts as one that changes
      if (!any_slides) any_slides = std::any_of(binaries.begin(), binaries.end(), [this](int i) { return slides(i); });
      if (*any_slides) return std::nullopt;
      continue;
    }
    Taken taken = taken_of(*found, binaries.size() == 1);
    if (const auto others = count_singly(t, x, z, binaries, part, distance + 1))
      taken.count = *others + static_cast<long>(found->size());
    return taken;
  }
  return std::nullopt;
}

/// The binaries of called sub-problems, increasing, by parts.
std::map<int, std::vector<int>> NearChoice::called_binaries(const std::vector<int>& called) const {
  std::map<int, std::vector<int>> binaries;
  for (const int block : called)
    for (const int unknown : structure_.blocks[at(block)].unknowns)
      if (unknown >= model_.n()) binaries[part_of_signal_[at(unknown)]].push_back(unknown - model_.n());
  for (auto& [part, own] : binaries) std::sort(own.begin(), own.end());
  return binaries;
}

/// Are all values of the binaries judged, and are these all that may continue?
bool NearChoice::lists_all() {
  if (lists_all_) return *lists_all_;
  lists_all_ = model_.q() <= most_listed && parts_ == 1 && has_single_roots();
  for (int i = 0; i < model_.q() && *lists_all_; ++i) lists_all_ = !slides(i);
  return *lists_all_;
}

void NearChoice::count_changes(const std::vector<int>& previous, const std::vector<int>& called,
                               HybridContinuation& next) const {
  for (const auto& [part, own] : called_binaries(called))
    for (const int i : own) next.inside += next.z[at(i)] != previous[at(i)] ? 1 : 0;
  for (std::size_t i = 0; i < previous.size(); ++i) next.outside += next.z[i] != previous[i] ? 1 : 0;
  next.outside -= next.inside;
}

/// The complete list of a model of few binaries none of which slides. Empty: open.
std::optional<HybridContinuations> NearChoice::of_all(double t, const Vector& x, const std::vector<int>& previous,
                                                      const std::vector<int>& called) {
  HybridContinuations found;
  for (int values = 0; values < 1 << model_.q(); ++values) {
    check_interruption();
    std::vector<int> z;
    for (int i = 0; i < model_.q(); ++i) z.push_back(values >> i & 1);
    const Verdict verdict = judge(t, x, z, every_part, true);
    if (!verdict.has_series) return std::nullopt;
    if (!verdict.violated.empty()) continue;
    found.list.push_back(std::move(taken(z, verdict).list.front()));
    count_changes(previous, called, found.list.back());
  }
  if (found.list.empty()) return std::nullopt;
  found.status = Status::solved;
  order_continuations({previous.begin(), previous.end()}, false, found);
  return found;
}

/// Every part's called binaries at their least distance. Empty: open.
std::optional<HybridContinuations> NearChoice::of_parts(double t, const Vector& x, const std::vector<int>& previous,
                                                        const std::vector<int>& called) {
  std::vector<int> z = previous;
  int inside = 0;
  std::optional<long> count = 1;
  const char* decided_by = "";
  for (const auto& [part, own] : called_binaries(called)) {
    const std::optional<Taken> change = choose(t, x, previous, own, part);
    if (!change) return std::nullopt;
    for (const int i : change->changed) z[at(i)] = 1 - previous[at(i)];
    inside += static_cast<int>(change->changed.size());
    decided_by = change->decided_by;
    count = count && change->count ? std::optional(*count * *change->count) : std::nullopt;
  }
  const Verdict verdict = judge(t, x, z, every_part);
  if (!verdict.has_series || !verdict.violated.empty()) return std::nullopt;
  HybridContinuations result = taken(z, verdict);
  result.list[0].inside = inside;
  result.count_inside = count;
  result.decided_by = decided_by;
  return result;
}

/// By all values where they are few, else by each set of called binaries that acts on no other. Empty: open.
std::optional<HybridContinuations> NearChoice::of_called(double t, const Vector& x, const std::vector<int>& previous,
                                                         const std::vector<int>& called) {
  std::optional<HybridContinuations> result;
  if (options_.lists_all && lists_all()) result = of_all(t, x, previous, called);
  if (!result && model_.q() > most_searched) result = of_parts(t, x, previous, called);
  return result;
}

std::optional<HybridContinuations> NearChoice::operator()(double t, const Vector& x,
                                                          const std::vector<int>& previous, bool is_exact) {
  series_.set_known(is_exact ? 0 : options_.share, options_.sizes);
  const Verdict before = judge(t, x, previous, every_part);
  if (!before.has_series) return std::nullopt;
  if (before.violated.empty()) {
    HybridContinuations found = taken(previous, before);
    found.decided_by = "previous mode continues";
    return found;
  }
  const std::vector<int> called =
      called_sub_problems(model_, structure_, before.violated, before.on_surface);
  std::optional<HybridContinuations> result = of_called(t, x, previous, called);
  if (!result) return std::nullopt;
  result->violated = before.violated;
  result->called = called;
  return result;
}

}  // namespace perp
