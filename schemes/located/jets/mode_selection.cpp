#include <fmt/format.h>
#include <algorithm>
#include <limits>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/located/jets/all_solutions.hpp>
#include <perp/schemes/located/jets/mode_search.hpp>

namespace perp {
namespace {

constexpr double most_work = 1e9;  ///< multiplications for series of more levels, in one selection

/// Each mode of equal jets as an entry of its own.
std::vector<Continuation> with_all_modes(std::vector<Continuation> list) {
  for (std::size_t k = 0, count = list.size(); k < count; ++k)
    for (const Mode& mode : std::vector<Mode>(std::move(list[k].also)))
      list.push_back({mode, list[k].jet, {}, list[k].strict, list[k].at_end});
  return list;
}

/// The undecided laws, those of a group together.
std::vector<std::vector<int>> group_laws(const std::vector<int>& group,
                                         const std::vector<int>& undecided) {
  std::vector<std::vector<int>> result;
  std::vector<int> seen;
  for (const int i : undecided) {
    const int number = group[static_cast<std::size_t>(i)];
    const auto known = std::find(seen.begin(), seen.end(), number);
    if (known == seen.end()) {
      seen.push_back(number);
      result.push_back({i});
    } else {
      result[static_cast<std::size_t>(known - seen.begin())].push_back(i);
    }
  }
  return result;
}

/// Takes the laws out of `open` that their argument decides.
void set_decided(const std::vector<int>& decided, Mode& mode, std::vector<int>& open) {
  std::erase_if(open, [&](int i) {
    const int branch = decided[static_cast<std::size_t>(i)];
    if (branch < 0) return false;
    mode[static_cast<std::size_t>(i)] = branch;
    return true;
  });
}

/// The branch on which the argument of a law is in all continuations, by more than rounding; -1: not one.
int branch_of_argument(const Law& law, int i, double eps, const std::vector<Continuation>& list) {
  const auto branch = [&](const Continuation& c) {
    const bool is_known = c.jet.w_known[static_cast<std::size_t>(i)] > 0;
    return is_known ? decided_branch(law, c.jet.w(i, 0), eps * c.jet.w_size(i, 0)) : -1;
  };
  const int first = branch(list.front());
  return std::ranges::all_of(list, [&](const Continuation& c) { return branch(c) == first; }) ? first : -1;
}

/// The mode with laws with memory on the branches on which their arguments are, whatever continuation is taken: a run may start,
/// and a reset may lead, where one cannot be on its own.
Mode possible(const Laws& laws, double eps, Mode mode, const std::vector<Continuation>& list) {
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const int branch = laws[i].memory ? branch_of_argument(laws[i], static_cast<int>(i), eps, list) : -1;
    if (branch >= 0) mode[i] = branch;
  }
  return mode;
}

/// Of the continuations those that change the fewest laws with memory whose argument stays in their branch, and of these those
/// that change most of the others: laws whose arguments reach their ends in one moment all change there, in whichever order
/// they stand.
void keep_memory(const Laws& laws, ModeSearch& search, const Mode& given, double eps, Selection& selection) {
  auto& list = selection.admissible;
  if (list.size() < 2 || std::ranges::none_of(laws, [](const Law& law) { return law.memory; })) return;
  const Mode mode = possible(laws, eps, given, list);
  const std::vector<char> leaving = search.leaving_laws(mode);
  const auto rank = [&](const Mode& after) {
    int without_need = 0, due = 0;
    for (std::size_t i = 0; i < laws.size(); ++i)
      if (laws[i].memory && after[i] != mode[i]) ++(leaving[i] != 0 ? due : without_need);
    return std::pair(without_need, -due);
  };
  std::pair best = rank(list.front().mode);
  for (const Continuation& c : list) best = std::min(best, rank(c.mode));
  for (const Continuation& c : list)
    if (rank(c.mode) != best) selection.rejected.emplace_back(c.mode, 0);
  std::erase_if(list, [&](const Continuation& c) { return rank(c.mode) != best; });
}

/// How many multiplications the series of these modes take, by their elimination.
double work(const std::vector<Continuation>& weak, const ConsistentJets& jets) {
  double modes = 0;
  for (const Continuation& c : weak) modes += c.strict ? 0 : 1 + static_cast<double>(c.also.size());
  const double rows = (jets.n() + jets.m()) * (jets.levels() + 1);
  return modes * rows * rows * rows / 3;
}

/// Has one of these groups of laws more combinations of branches than jets are solved for?
bool are_too_many(const std::vector<Law>& laws, const std::vector<std::vector<int>>& groups, int most) {
  return std::ranges::any_of(groups, [&](const std::vector<int>& group) {
    double modes = 1;
    for (const int i : group) modes *= static_cast<double>(laws[static_cast<std::size_t>(i)].branches.size());
    return modes > most;
  });
}

/// The continuations of the first of these modes that has any.
std::vector<Continuation> first_of_likely(ModeSearch& search, const std::vector<Mode>& likely) {
  std::vector<Continuation> found;
  for (const Mode& mode : likely)
    if (found.empty()) found = search.enumerate(mode, {}, {});
  return found;
}

/// Weak continuations, of which jets of more levels tell which modes are left. Where they reject all and leave another mode
/// open, that is how the solution goes on: x = 0 of x' = -t³ sign(x). Else the series and the equations do not agree on what
/// is zero, and what the fewer levels say stands.
void decide_weak(ConsistentJets& jets, double t, const Vector& x, const Vector& lambda,
                 const SelectionOptions& options, Selection& selection) {
  const auto is_weak = [](const Continuation& c) { return !c.strict; };
  auto& list = selection.admissible;
  int levels = jets.levels();
  while (levels < options.most_levels && std::any_of(list.begin(), list.end(), is_weak)) {
    levels = std::min(2 * levels, options.most_levels);
    ConsistentJets& deeper = jets.with_levels(levels);
    if (work(list, deeper) > most_work) return;
    ModeSearch search(deeper, t, x, lambda, options);
    deeper.allow_work(options.most_points);
    std::vector<Continuation> decided = search.decide(list, jets.levels());
    if (decided.empty() && !selection.leaves_open) return;
    list = std::move(decided);
    selection.rejected.insert(selection.rejected.end(), search.rejected.begin(),
                              search.rejected.end());
  }
}

/// Of the continuations those with this law on this branch, if there are any.
void prefer(std::size_t law, int branch, Selection& selection) {
  auto& list = selection.admissible;
  const auto differs = [&](const Continuation& c) { return c.mode[law] != branch; };
  if (std::ranges::all_of(list, differs)) return;
  for (const Continuation& c : list)
    if (differs(c)) selection.rejected.emplace_back(c.mode, 0);
  std::erase_if(list, differs);
}

/// Laws of a given state stay in the branches that their arguments are in by more than rounding: from beside a surface that
/// repels only one continuation leads on, to one that attracts the way takes no time.
void keep_given(const std::vector<int>& given, Selection& selection) {
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i] >= 0) prefer(i, given[i], selection);
}

/// Those of these modes that series of more levels do not exclude either. Their equations hold and do not tell how they go on.
std::vector<Mode> left_open(ConsistentJets& jets, double t, const Vector& x, const Vector& lambda, const SelectionOptions& options,
                 std::vector<Mode> open) {
  int levels = jets.levels();
  while (levels < options.most_levels && !open.empty()) {
    levels = std::min(2 * levels, options.most_levels);
    ConsistentJets& deeper = jets.with_levels(levels);
    const double rows = (deeper.n() + deeper.m()) * (deeper.levels() + 1);
    if (static_cast<double>(open.size()) * rows * rows * rows / 3 > most_work) break;
    ModeSearch search(deeper, t, x, lambda, options);
    deeper.allow_work(options.most_points);
    open = search.not_excluded(open, jets.levels());
  }
  return open;
}

/// These laws, each once.
std::vector<int> checked(const ConsistentJets& jets, const std::vector<int>& undecided, const Mode& mode) {
  std::vector<int> open = undecided;
  std::sort(open.begin(), open.end());
  open.erase(std::unique(open.begin(), open.end()), open.end());
  if (!open.empty() && (open.front() < 0 || open.back() >= jets.m()))
    throw InvalidInput(fmt::format("undecided must hold numbers of laws, 0 to {}", jets.m() - 1));
  if (static_cast<int>(mode.size()) != jets.m())
    throw InvalidInput(fmt::format("mode must have {} entries but has {}", jets.m(), mode.size()));
  return open;
}

/// All continuations in modes that differ from `decided` in the open laws, group by group where there are several.
std::vector<Continuation> all_of(ModeSearch& search, const Mode& decided, const std::vector<int>& open,
                                 const std::vector<std::vector<int>>& groups) {
  Mode reference = decided;
  if (groups.size() < 2 || !search.make_reference(reference, open)) return search.enumerate(decided, open, open);
  std::vector<std::vector<Continuation>> choices;
  for (const auto& group : groups) choices.push_back(with_all_modes(search.enumerate(reference, group, open)));
  return search.combine(reference, groups, choices);
}

/// Is every mode tried, and some continuation found?
bool has_all(const Selection& selection) {
  return selection.complete && !selection.leaves_open && !selection.admissible.empty();
}

/// Does no solution begin but these, in no mode or as another one of theirs?
bool begin_in_modes(ConsistentJets& jets, double t, const Vector& x, const Vector& lambda, const std::vector<int>& open,
                    const SelectionOptions& options, const Selection& selection) {
  return begin_in_one_mode(jets, t, x, lambda, selection.admissible.front().mode, open, options) &&
         std::ranges::all_of(selection.admissible, [&](const Continuation& c) { return jets.tells_all(c.jet); });
}

/// Continuations by modes that are likely, where there are too many to try all. False: there are none, or not too many.
bool take_likely(ConsistentJets& jets, ModeSearch& search, const std::vector<int>& open, const SelectionOptions& options,
                 Selection& selection) {
  if (!options.likely || !are_too_many(jets.laws(), group_laws(jets.groups(), open), options.most)) return false;
  selection.admissible = first_of_likely(search, options.likely());
  return !selection.admissible.empty();
}

}  // namespace

Selection select(ConsistentJets& jets, double t, const Vector& x, const Vector& lambda,
                 const Mode& mode, const std::vector<int>& undecided,
                 const SelectionOptions& options) {
  std::vector<int> open = checked(jets, undecided, mode);
  Mode decided = mode;
  std::vector<int> fixed = mode;
  for (const int i : open) fixed[static_cast<std::size_t>(i)] = -1;
  set_decided(jets.decided_branches(t, x, options.eps, fixed, options.ended), decided, open);
  ModeSearch search(jets, t, x, lambda, options);
  jets.allow_work(options.most_points);
  Selection selection;
  const bool is_likely = take_likely(jets, search, open, options, selection);
  if (!is_likely) selection.admissible = all_of(search, decided, open, group_laws(jets.groups(), open));
  selection.rejected = std::move(search.rejected);
  selection.complete = !is_likely && search.complete();
  selection.open = left_open(jets, t, x, lambda, options, search.left_open());
  selection.leaves_open = !selection.open.empty();
  if (selection.complete || is_likely) decide_weak(jets, t, x, lambda, options, selection);
  std::stable_sort(selection.admissible.begin(), selection.admissible.end(),
                   [](const Continuation& a, const Continuation& b) { return a.mode < b.mode; });
  jets.allow_work(std::numeric_limits<long>::max());
  if (options.is_given) keep_given(jets.given_branches(t, x), selection);
  if (options.memory) keep_memory(jets.laws(), search, mode, options.eps, selection);
  if (options.asks_all) selection.begins_in_modes = has_all(selection) && begin_in_modes(jets, t, x, lambda, open, options, selection);
  return selection;
}

}  // namespace perp
