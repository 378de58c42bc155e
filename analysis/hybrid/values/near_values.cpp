// The choice among all values of many binaries: their tree, and what it leaves open by series.
#include <algorithm>
#include <numeric>

#include <perp/analysis/hybrid/nearest_mode.hpp>
#include <perp/analysis/hybrid/sparse/near_choice.hpp>
#include <perp/core/base/index.hpp>

namespace perp {
namespace {

constexpr int every_part = -2, last_order = 3;
constexpr std::size_t most_programs = 16;
constexpr int most_at_once = 20;  ///< binaries that may all change without a look at fewer changes first
constexpr int most_counted = 4096;  ///< variables of models whose continuations are counted
constexpr int outside_weight = 1 << 12;  ///< of a change, more than all inside

/// Binaries with those of the tree as its bits are.
void put_bits(const std::vector<int>& binaries, std::uint64_t bits, std::vector<int>& z) {
  for (std::size_t k = 0; k < binaries.size(); ++k) z[at(binaries[k])] = static_cast<int>(bits >> k & 1);
}

const ValueTree::Entry& first_declared(const ValueTree::Answer& answer) {
  const auto is_before = [](const ValueTree::Entry& a, const ValueTree::Entry& b) { return a.is_declared_before(b); };
  return *std::min_element(answer.least.begin(), answer.least.end(), is_before);
}

}  // namespace

const ExplicitRows& NearChoice::explicit_rows() {
  if (!explicit_rows_) explicit_rows_ = std::make_unique<ExplicitRows>(model_);
  return *explicit_rows_;
}

ValueProgram::Part NearChoice::rows_of(int part) const {
  ValueProgram::Part rows;
  for (int l = 0; l < faces_.constraints(); ++l)
    if (part == every_part || part_of_constraint_[at(l)] == part) rows.constraints.push_back(l);
  for (int j = 0; j < model_.n(); ++j)
    if (part == every_part || part_of_signal_[at(j)] == part) rows.variables.push_back(j);
  return rows;
}

/// Null: their values cannot be gone through as a tree.
const ValueProgram* NearChoice::program(const std::vector<int>& binaries, int part) {
  if (static_cast<int>(binaries.size()) > ValueTree::most_binaries || !explicit_rows().exist()) return nullptr;
  std::vector<int> key = binaries;
  key.push_back(part);
  auto known = programs_.find(key);
  if (known == programs_.end()) {
    if (programs_.size() == most_programs) programs_.clear();
    auto made = std::make_unique<ValueProgram>(model_, explicit_rows(), binaries, rows_of(part));
    known = programs_.emplace(std::move(key), std::move(made)).first;
  }
  return known->second->exists() ? known->second.get() : nullptr;
}

/// At z, with states as far as they are known.
ValueTree::Question NearChoice::question(double t, const Vector& x, const std::vector<int>& z, const ValueProgram& program,
                                         int part) {
  ValueTree::Question question;
  question.is_exact = series_.knows_states_exactly();
  question.inputs.resize(at(model_.parameter_input(0)));
  question.inputs[0] = RunningError(t, question.is_exact ? 0 : half_ulp(t));
  for (int j = 0; j < model_.n(); ++j)
    question.inputs[at(model_.variable_input(j))] = RunningError(x[j], series_.state_error(j, x[j]));
  for (int i = 0; i < model_.q(); ++i) question.inputs[at(model_.binary_input(i))] = RunningError(z[at(i)]);
  const std::vector<int>& binaries = program.binaries();
  for (const int i : binaries) question.previous.push_back(z[at(i)]);
  question.weights.assign(binaries.size(), 1);
  question.stop = options_.stop;
  question.judge = [this, t, x, z, &binaries, part](std::uint64_t bits) {
    std::vector<int> other = z;
    put_bits(binaries, bits, other);
    const Verdict verdict = judge(t, x, other, part, true);
    if (!verdict.has_series) return -1;
    return verdict.violated.empty() ? 1 : 0;
  };
  return question;
}

NearChoice::Taken NearChoice::taken_of(const ValueProgram& program, const ValueTree::Answer& answer) {
  const ValueTree::Entry& first = first_declared(answer);
  Taken taken{{}, "first declared binary changes"};
  for (std::size_t k = 0; k < program.binaries().size(); ++k)
    if ((first.changed >> k & 1) != 0) taken.changed.push_back(program.binaries()[k]);
  if (answer.nearest == 1)
    taken.decided_by = "fewest changes inside";
  else if (answer.least.size() == 1)
    taken.decided_by = "smallest rate norm";
  return taken;
}

/// Do the values of the binaries leave one value to every other unknown? Then each sub-problem's equations are linear
/// in its own.
bool NearChoice::has_single_roots() {
  if (has_single_roots_) return *has_single_roots_;
  has_single_roots_ = std::all_of(structure_.blocks.begin(), structure_.blocks.end(), [&](const SubProblem& block) {
    std::vector<int> inputs;
    for (const int unknown : block.unknowns)
      if (unknown < model_.n())
        inputs.push_back(series_.is_state(unknown) ? HybridModel::derivative_input(unknown)
                                                   : model_.variable_input(unknown));
    return std::all_of(block.rows.begin(), block.rows.end(), [&](int row) {
      const int degree = row < static_cast<int>(model_.f.size()) ? degree_in(faces_.tape(), faces_.rows()[at(row)], inputs) : 0;
      return degree == 0 || degree == 1;
    });
  });
  return *has_single_roots_;
}

std::optional<NearChoice::OfValue> NearChoice::of_value(double t, const Vector& x, const std::vector<int>& z, bool is_exact) {
  if (!has_single_roots()) return std::nullopt;
  series_.set_known(is_exact ? 0 : options_.share, options_.sizes);
  const Verdict verdict = judge(t, x, z, every_part);
  if (!verdict.has_series) return std::nullopt;
  return OfValue{verdict.violated, with_jets(z, verdict)};
}

/// What the series of this value tell, with the derivatives of the constraints.
HybridContinuation NearChoice::with_jets(const std::vector<int>& z, const Verdict& verdict) {
  HybridContinuation c = std::move(taken(z, verdict).list.front());
  for (int l = 0; l < faces_.constraints(); ++l) c.constraints[at(l)] = jet_of(l, z);
  return c;
}

/// For some values of the others, see may_slide.
bool NearChoice::slides(int binary) {
  signed char& known = slides_[at(binary)];
  if (known < 0) known = may_slide(std::vector<int>(at(model_.q()), 0), binary) ? 1 : 0;
  return known == 1;
}

/// May one of the tree's binaries slide at the point of its question?
bool NearChoice::may_slide_here(const ValueProgram& program, const ValueTree::Question& asked) {
  const std::uint64_t here = ValueTree(program, asked).may_slide();
  for (std::size_t k = 0; k < program.binaries().size(); ++k)
    if ((here >> k & 1) != 0 && slides(program.binaries()[k])) return true;
  return false;
}

/// Values at this distance and further that continue. Empty: not known, as binaries may slide or equations have several roots.
std::optional<long> NearChoice::count_singly(double t, const Vector& x, const std::vector<int>& z,
                                             const std::vector<int>& binaries, int part, int from) {
  const int size = static_cast<int>(binaries.size());
  const bool may_tell = options_.counts_inside && size <= most_listed && model_.n() <= most_counted && has_single_roots();
  if (!may_tell || std::any_of(binaries.begin(), binaries.end(), [this](int i) { return slides(i); })) return std::nullopt;
  long count = 0;
  for (int distance = from; distance <= size; ++distance) {
    const std::optional<std::vector<Found>> found = at_distance(t, x, z, binaries, part, distance);
    if (!found) return std::nullopt;
    count += static_cast<long>(found->size());
  }
  return count;
}

/// Numbers alone may take no more time than some hundred milliseconds of a run.
std::optional<long> NearChoice::count_in_tree(const ValueProgram& program, ValueTree::Question asked) {
  constexpr long most_nodes = 1L << 24;
  if (!options_.counts_inside || program.levels() > most_at_once || counted_ >= most_nodes || may_slide_here(program, asked)) return std::nullopt;
  asked.counts_all = true;
  asked.most_kept = 0;
  asked.most_nodes = most_nodes - counted_;
  const ValueTree::Answer answer = ValueTree(program, asked).search();
  counted_ += answer.nodes;
  return answer.is_whole ? std::optional(answer.count) : std::nullopt;
}

/// Few changes first, as most events need no more.
std::optional<NearChoice::Taken> NearChoice::choose_in_tree(double t, const Vector& x, const std::vector<int>& z,
                                                            const ValueProgram& program, int part) {
  const int count = program.levels();
  ValueTree::Question asked = question(t, x, z, program, part);
  asked.most_nodes = 4 * options_.most_values;
  std::optional<bool> slides;
  for (int most = 1;; most = count > most_at_once || most < 4 ? most + 1 : count) {
    asked.most_distance = std::min(most, count);
    const ValueTree::Answer answer = ValueTree(program, asked).search();
    asked.most_nodes -= answer.nodes;
    if (!answer.is_whole) return std::nullopt;
    if (!answer.least.empty()) {
      Taken taken = taken_of(program, answer);
      taken.count = count_in_tree(program, asked);
      return taken;
    }
    // A binary that slides counts as one that changes.
    if (!slides) slides = may_slide_here(program, asked);
    if (*slides || most >= count) return std::nullopt;
  }
}

Exclusion NearChoice::exclusion(std::uint64_t values, std::uint64_t known, int constraint, bool by_slope) const {
  Exclusion left{std::vector<int>(at(model_.q()), any_binary), {}, by_slope ? "becomes positive" : "is positive"};
  for (int i = 0; i < model_.q(); ++i)
    if ((known >> i & 1) != 0) left.z[at(i)] = static_cast<int>(values >> i & 1);
  if (constraint >= 0) left.rows.push_back(static_cast<int>(model_.f.size()) + constraint);
  return left;
}

/// What a constraint does in the present mode, by its series.
ConstraintJet NearChoice::jet_of(int l, const std::vector<int>& z) {
  ConstraintJet jet;
  const Sign sign = sign_of(l, z, false);
  jet.is_void = sign == Sign::idle;
  if (jet.is_void) return jet;
  const bool is_zero = sign != Sign::positive && sign != Sign::negative;
  jet.derivatives.push_back(is_zero ? 0 : series_.constraint(l)[0]);
  double factorial = 1;
  for (int k = 1; k <= last_order && jet.derivatives.back() == 0; ++k) {
    factorial *= k;
    const double value = series_.constraint(l)[k];
    jet.derivatives.push_back(decided_sign(RunningError(value, series_.error(l, k))) == 0 ? 0 : factorial * value);
  }
  return jet;
}

/// Empty: the series do not say the same.
std::optional<HybridContinuation> NearChoice::continuation(double t, const Vector& x, const ValueTree::Entry& entry) {
  std::vector<int> z;
  for (int i = 0; i < model_.q(); ++i) z.push_back(static_cast<int>(entry.values >> i & 1));
  const Verdict verdict = judge(t, x, z, every_part);
  if (!verdict.has_series || !verdict.violated.empty()) return std::nullopt;
  HybridContinuation c = with_jets(z, verdict);
  c.outside = entry.distance / outside_weight;
  c.inside = entry.distance % outside_weight;
  return c;
}

/// Those that are kept and, of many that rates do not tell apart, the one that the order of declaration takes.
std::vector<ValueTree::Entry> NearChoice::best_of(const ValueTree::Answer& answer) {
  std::vector<ValueTree::Entry> list = answer.kept;
  if (answer.least.empty()) return list;
  const ValueTree::Entry& first = first_declared(answer);
  const auto is_first = [&](const ValueTree::Entry& entry) { return entry.values == first.values; };
  if (std::none_of(list.begin(), list.end(), is_first)) list.push_back(first);
  return list;
}

ValueTree::Question NearChoice::question_of_all(double t, const Vector& x, const Asked& asked, const ValueProgram& tree,
                                                HybridContinuations& found) {
  ValueTree::Question all = question(t, x, std::vector<int>(at(model_.q()), 0), tree, every_part);
  all.counts_all = true;
  all.previous = asked.previous;
  for (int i = 0; i < model_.q(); ++i) all.weights[at(i)] = asked.inside[at(i)] ? 1 : outside_weight;
  all.most_nodes = asked.most_nodes;
  all.most_kept = asked.best;
  all.left = [this, &asked, &found](std::uint64_t values, std::uint64_t known, int constraint, bool by_slope) {
    if (++found.excluded_count <= static_cast<long>(asked.best))
      found.excluded.push_back(exclusion(values, known, constraint, by_slope));
  };
  return all;
}

/// The best ones are kept; all where they are few enough for a list.
ValueTree::Answer NearChoice::answer_of(const ValueProgram& tree, ValueTree::Question all, const Asked& asked) {
  ValueTree::Answer answer = ValueTree(tree, all).search();
  const auto count = static_cast<std::size_t>(answer.count);
  if (count <= asked.best || count > asked.most_kept) return answer;
  all.most_kept = count;
  all.left = {};
  return ValueTree(tree, all).search();
}

std::optional<HybridContinuations> NearChoice::all_values(double t, const Vector& x, const Asked& asked, bool is_exact) {
  series_.set_known(is_exact ? 0 : options_.share, options_.sizes);
  std::vector<int> binaries(at(model_.q()));
  std::iota(binaries.begin(), binaries.end(), 0);
  const ValueProgram* tree = program(binaries, every_part);
  if (tree == nullptr) return std::nullopt;
  HybridContinuations found;
  const ValueTree::Question all = question_of_all(t, x, asked, *tree, found);
  if (may_slide_here(*tree, all)) return std::nullopt;
  const ValueTree::Answer answer = answer_of(*tree, all, asked);
  if (!answer.is_whole) return std::nullopt;
  for (const ValueTree::Entry& entry : best_of(answer)) {
    std::optional<HybridContinuation> c = continuation(t, x, entry);
    if (!c) return std::nullopt;
    found.list.push_back(*std::move(c));
  }
  found.count = answer.count;
  found.status = answer.count > 0 ? Status::solved : Status::no_solution;
  found.is_complete = static_cast<long>(found.list.size()) == answer.count;
  return found;
}

}  // namespace perp
