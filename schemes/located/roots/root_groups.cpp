// Which equations without derivatives may have several roots: asked when a mode begins.
#include <algorithm>
#include <limits>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/structure.hpp>
#include <perp/schemes/located/roots/line_dependence.hpp>
#include <perp/schemes/located/roots/monotone_lines.hpp>
#include <perp/schemes/located/roots/root_groups.hpp>

namespace perp {
namespace {

/// The place of each number in a list; -1: not there.
std::vector<int> places_in(const std::vector<Eigen::Index>& list, int numbers) {
  std::vector<int> place(at(numbers), -1);
  for (std::size_t k = 0; k < list.size(); ++k) place[at(list[k])] = static_cast<int>(k);
  return place;
}

/// work(row, column, number of the entry) of each entry of ∂H/∂y in these rows and columns, by its
/// place in the lists.
template <class Work>
void for_each_entry(const ModeFlow& flow, const std::vector<Eigen::Index>& rows,
                    const std::vector<Eigen::Index>& unknowns, const Work& work) {
  const std::vector<int> row_place = places_in(rows, flow.size());
  const linear::EntryPlaces& places = flow.places();
  for (std::size_t c = 0; c < unknowns.size(); ++c)
    for (int e = places.start[at(unknowns[c])]; e < places.start[at(unknowns[c]) + 1]; ++e)
      if (const int r = row_place[at(places.row[at(e)])]; r >= 0) work(r, static_cast<int>(c), e);
}

/// Of each of these rows: is it not affine in the unknowns together? The row of a law is one in its
/// w.
std::vector<char> curved_rows(const ModeFlow& flow, const std::vector<Eigen::Index>& rows,
                              const std::vector<Eigen::Index>& unknowns) {
  const Dcs& formulas = flow.formulas();
  std::vector<char> inputs(at(formulas.parameter_input(0)) + formulas.parameters.size(), 0);
  const auto law = [&](Eigen::Index k) { return flow.free_laws()[at(k - flow.n())]; };
  for (const Eigen::Index k : unknowns)
    inputs[at(k < flow.n() ? formulas.variable_input(static_cast<int>(k))
                           : formulas.multiplier_input(law(k)))] = 1;
  const std::vector<Dependence> all = dependences(formulas.tape, inputs);
  std::vector<char> curved;
  for (const Eigen::Index k : rows)
    curved.push_back(all[at(k < flow.n() ? formulas.F[at(k)] : formulas.G[at(law(k))])] ==
                     Dependence::nonlinear);
  return curved;
}

/// Of each row: is it curved, or does it determine what one holds? A row's successors determine
/// what it holds.
std::vector<char> rows_of_groups(const linear::Pattern& successors, std::vector<char> curved) {
  std::vector<std::size_t> reached;
  for (std::size_t r = 0; r < curved.size(); ++r)
    if (curved[r] != 0) reached.push_back(r);
  while (!reached.empty()) {
    const std::size_t r = reached.back();
    reached.pop_back();
    for (const int to : successors[r]) {
      if (curved[at(to)] != 0) continue;
      curved[at(to)] = 1;
      reached.push_back(at(to));
    }
  }
  return curved;
}

/// Rows that are connected, in one component.
linear::Components connected(const linear::Pattern& successors, const std::vector<char>& kept) {
  linear::Pattern both(successors.size());
  for (std::size_t r = 0; r < successors.size(); ++r)
    for (const int to : successors[r]) {
      if (kept[r] == 0 || kept[at(to)] == 0) continue;
      both[r].push_back(to);
      both[at(to)].push_back(static_cast<int>(r));
    }
  return linear::strong_components(both);
}

}  // namespace

std::vector<RootGroup> root_groups(const ModeFlow& flow, const std::vector<Eigen::Index>& rows,
                                   const std::vector<Eigen::Index>& unknowns) {
  if (rows.size() != unknowns.size()) return {};
  const std::vector<char> curved = curved_rows(flow, rows, unknowns);
  if (std::ranges::count(curved, 0) == std::ssize(curved)) return {};
  linear::Pattern pattern(rows.size());
  for_each_entry(flow, rows, unknowns, [&](int r, int c, int) { pattern[at(r)].push_back(c); });
  const linear::Matching matching =
      linear::maximum_matching(pattern, static_cast<int>(unknowns.size()));
  if (!matching.is_perfect()) return {};
  linear::Pattern successors(pattern.size());
  for (std::size_t r = 0; r < pattern.size(); ++r)
    for (const int c : pattern[r]) successors[r].push_back(matching.row_of_column[at(c)]);
  const std::vector<char> kept = rows_of_groups(successors, curved);
  const linear::Components components = connected(successors, kept);
  std::vector<RootGroup> groups(at(components.count));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (kept[r] == 0) continue;
    RootGroup& group = groups[at(components.of_node[r])];
    group.rows.push_back(rows[r]);
    group.unknowns.push_back(unknowns[at(matching.column_of_row[r])]);
  }
  std::erase_if(groups, [&](const RootGroup& group) { return group.rows.empty(); });
  for (RootGroup& group : groups)
    for_each_entry(flow, group.rows, group.unknowns, [&](int r, int c, int e) {
      group.entries.emplace_back(e, r * group.size() + c);
    });
  return groups;
}

bool has_one_root(const ModeFlow& flow, const RootGroup& group) {
  if (group.size() != 1 || group.rows.front() >= flow.n() || group.unknowns.front() >= flow.n())
    return false;
  const Dcs& formulas = flow.formulas();
  std::vector<double> values(at(formulas.parameter_input(0)),
                             std::numeric_limits<double>::quiet_NaN());
  values.insert(values.end(), formulas.parameters.begin(), formulas.parameters.end());
  const int unknown = formulas.variable_input(static_cast<int>(group.unknowns.front()));
  const Way way = ways_with(formulas.tape, unknown, values)[at(formulas.F[at(group.rows.front())])];
  return way == Way::up || way == Way::down;
}

}  // namespace perp
