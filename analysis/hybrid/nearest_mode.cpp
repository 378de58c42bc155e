#include <algorithm>
#include <array>
#include <cmath>

#include <perp/analysis/hybrid/nearest_mode.hpp>
#include <perp/core/base/index.hpp>

namespace perp {
namespace {

/// Does the derivative of a constraint hold an unknown of a called sub-problem? It needs the
/// ancestors of its own, and those of ẋ for every state in it or in the rows of these.
bool derivative_needs(const HybridStructure& structure, int row, const std::vector<char>& called) {
  const auto is_called = [&](int block) { return called[at(block)] != 0; };
  const auto any_called = [&](const std::vector<int>& blocks) {
    return std::any_of(blocks.begin(), blocks.end(), is_called);
  };
  const std::vector<int>& ancestors = structure.blocks[at(structure.block_of_row[at(row)])].ancestors;
  if (any_called(ancestors)) return true;
  std::vector<int> rows{row};
  for (const int block : ancestors) {
    const std::vector<int>& more = structure.blocks[at(block)].rows;
    rows.insert(rows.end(), more.begin(), more.end());
  }
  for (const int r : rows)
    for (const int state : structure.states_of_row[at(r)])
      if (const int block = structure.block_of_unknown[at(state)]; block >= 0)
        if (is_called(block) || any_called(structure.blocks[at(block)].ancestors)) return true;
  return false;
}

/// The sub-problems that rows which a value violates call by themselves.
std::vector<char> called_by_rows(const HybridModel& model, const HybridStructure& structure,
                                 const std::vector<int>& violated) {
  const int rows = static_cast<int>(structure.unknowns_of_row.size());
  std::vector<char> called(structure.blocks.size(), 0);
  for (const int row : violated) {
    const int block = row < rows ? structure.block_of_row[at(row)]
                                 : structure.block_of_unknown[at(model.n() + row - rows)];
    called[at(block)] = 1;
    // A constraint beyond the number of binaries determines none: those in it are asked.
    if (row < rows && structure.blocks[at(block)].unknowns.empty())
      for (const int unknown : structure.unknowns_of_row[at(row)])
        if (unknown >= model.n()) called[at(structure.block_of_unknown[at(unknown)])] = 1;
  }
  return called;
}

/// Calls the sub-problems that need called ones, and those of constraints on the surface whose derivatives do.
/// False: there are no more.
bool call_more(const HybridStructure& structure, const std::vector<int>& on_surface, std::vector<char>& called) {
  bool grows = false;
  const auto call = [&](int block) {
    grows = grows || !called[at(block)];
    called[at(block)] = 1;
  };
  for (std::size_t b = 0; b < structure.blocks.size(); ++b)
    for (const int other : structure.blocks[b].needs)
      if (called[at(other)]) call(static_cast<int>(b));
  for (const int row : on_surface)
    if (!called[at(structure.block_of_row[at(row)])] && derivative_needs(structure, row, called))
      call(structure.block_of_row[at(row)]);
  return grows;
}

/// The numbers that the rule compares, one after the other.
std::array<int, 4> counts(const HybridContinuation& c) {
  return {c.outside, c.inside, static_cast<int>(c.released.size()), c.root};
}

/// Of two with equal counts and rates: does `a` change a binary that is declared before those that
/// `b` alone changes?
bool changes_earlier(const std::vector<double>& previous, const HybridContinuation& a,
                     const HybridContinuation& b) {
  for (std::size_t i = 0; i < a.z.size(); ++i) {
    const double before = previous.empty() || std::isnan(previous[i]) ? 0 : previous[i];
    const bool left = a.z[i] != before, right = b.z[i] != before;
    if (left != right) return left;
  }
  return a.z < b.z;
}

/// Has `a` certainly a smaller rate norm than `b`?
bool is_slower(const HybridContinuation& a, const HybridContinuation& b) {
  if (a.exact_rate_norm && b.exact_rate_norm) return *a.exact_rate_norm < *b.exact_rate_norm;
  return decided_sign(RunningError(b.rate_norm, b.rate_norm_error) -
                      RunningError(a.rate_norm, a.rate_norm_error)) > 0;
}

/// By what the rule compares first, rates as numbers.
bool is_before(const HybridContinuation& a, const HybridContinuation& b) {
  if (counts(a) != counts(b)) return counts(a) < counts(b);
  if (a.exact_rate_norm && b.exact_rate_norm && !(*a.exact_rate_norm == *b.exact_rate_norm))
    return *a.exact_rate_norm < *b.exact_rate_norm;
  return a.rate_norm != b.rate_norm ? a.rate_norm < b.rate_norm : a.z < b.z;
}

/// How the first differs from all others in the list.
std::string decision(const HybridContinuations& continuations, const std::vector<double>& previous) {
  std::array<const char*, 4> words{"fewest changes outside the called sub-problems",
                                   "fewest changes inside", "fewest sliding binaries",
                                   "nearest root of the equations"};
  const bool knows_previous = !previous.empty();
  if (std::any_of(previous.begin(), previous.end(), [](double z) { return std::isnan(z); }))
    words[0] = "fewest changes of declared values";
  const std::vector<HybridContinuation>& list = continuations.list;
  if (list.size() == 1) return "only continuation";
  std::vector<const HybridContinuation*> rest;
  for (const HybridContinuation& c : list) rest.push_back(&c);
  for (std::size_t k = knows_previous ? 0 : 2; k < words.size(); ++k) {
    std::erase_if(rest,
                  [&](const HybridContinuation* c) { return counts(*c)[k] != counts(list[0])[k]; });
    if (rest.size() == 1) return words[k];
  }
  std::erase_if(rest, [&](const HybridContinuation* c) {
    return is_slower(list[0], *c);
  });
  return rest.size() == 1 ? "smallest rate norm" : "first declared binary changes";
}

}  // namespace

std::vector<int> called_sub_problems(const HybridModel& model, const HybridStructure& structure,
                                     const std::vector<int>& violated,
                                     const std::vector<int>& on_surface) {
  std::vector<char> called = called_by_rows(model, structure, violated);
  for (bool grows = !violated.empty(); grows;) grows = call_more(structure, on_surface, called);
  std::vector<int> list;
  for (std::size_t b = 0; b < called.size(); ++b)
    if (called[b]) list.push_back(static_cast<int>(b));
  return list;
}

std::vector<std::size_t> least_rate_norms(const std::vector<RunningError>& norms) {
  const auto least = std::min_element(
      norms.begin(), norms.end(),
      [](const RunningError& a, const RunningError& b) { return a.value < b.value; });
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < norms.size(); ++k)
    if (decided_sign(norms[k] - *least) <= 0) places.push_back(k);
  return places;
}

void order_continuations(const std::vector<double>& previous, bool previous_continues,
                         HybridContinuations& continuations) {
  std::vector<HybridContinuation>& list = continuations.list;
  std::sort(list.begin(), list.end(), is_before);
  // Runs of rates that are equal to rounding are ordered by declaration.
  for (std::size_t from = 0; from < list.size();) {
    std::size_t to = from + 1;
    while (to < list.size() && counts(list[to]) == counts(list[from]) &&
           !is_slower(list[to - 1], list[to]))
      ++to;
    std::sort(list.begin() + static_cast<std::ptrdiff_t>(from),
              list.begin() + static_cast<std::ptrdiff_t>(to),
              [&](const HybridContinuation& a, const HybridContinuation& b) {
                return changes_earlier(previous, a, b);
              });
    from = to;
  }
  if (list.empty()) {
    continuations.decided_by = "none: no continuation";
    return;
  }
  continuations.chosen = 0;
  continuations.decided_by = previous_continues ? "previous mode continues"
                                                : decision(continuations, previous);
}

}  // namespace perp
