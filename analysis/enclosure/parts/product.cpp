// Systems that are several without coupling: each is enclosed by itself, with its own pieces;
// called by `enclose`.
#include <algorithm>
#include <utility>

#include <perp/analysis/enclosure/parts/product.hpp>
#include <perp/core/base/index.hpp>

namespace perp::enclosure {
namespace {

/// The k-th entry of a part is entry places[k] of the whole.
template <class List>
void put(const List& part, const std::vector<int>& places, List& whole) {
  for (std::size_t k = 0; k < places.size(); ++k) whole[at(places[k])] = part[k];
}

int place_in_whole(const std::vector<int>& places, int of_part) {
  return of_part < 0 ? of_part : places[at(of_part)];
}

/// Rows are in the order of t.
auto rows_at(const Enclosure& found, double t) {
  return std::ranges::equal_range(found.rows, t, {}, &EnclosureRow::t);
}

/// A row of the whole so far, with one of a part more.
EnclosureRow with_row(EnclosureRow whole, const SystemPart& part, const EnclosureRow& own) {
  put(own.box, part.variables, whole.box);
  put(own.multipliers, part.laws, whole.multipliers);
  if (own.flag == Flag::all) whole.flag = Flag::all;
  whole.how = std::max(whole.how, own.how);
  whole.root = std::max(whole.root, own.root);
  std::vector<Mode> modes;
  for (const Mode& mode : whole.modes)
    for (const Mode& of_part : own.modes) {
      modes.push_back(mode);
      put(of_part, part.laws, modes.back());
    }
  whole.modes = std::move(modes);
  return whole;
}

}  // namespace

/// Every branch of one with every branch of all others.
void Product::find_branches() {
  std::vector<std::vector<int>> all{{}};
  for (Member& member : members_) {
    std::vector<int>& list = member.branches;
    for (const EnclosureRow& row : member.found.rows) list.push_back(row.branch);
    for (const EnclosureEvent& event : member.found.events) list.push_back(event.branch);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& branches : all)
      for (const int branch : list) {
        longer.push_back(branches);
        longer.back().push_back(branch);
      }
    all = std::move(longer);
  }
  for (const std::vector<int>& branches : all)
    numbers_.emplace(branches, static_cast<int>(numbers_.size()));
}

/// The first one, with the last mode of all parts before it.
void Product::find_lost() {
  const Member* first = nullptr;
  for (const Member& member : members_)
    if (member.found.lost &&
        (first == nullptr || member.found.lost->t.lo < first->found.lost->t.lo))
      first = &member;
  if (first == nullptr) return;
  Lost lost = *first->found.lost;
  lost.law = place_in_whole(first->part.laws, lost.law);
  lost.reset = place_in_whole(first->part.resets, lost.reset);
  lost.mode.assign(whole_.laws.size(), 0);
  for (const Member& member : members_)
    for (const EnclosureRow& row : member.found.rows)
      if (row.t <= lost.t.lo) put(row.modes.front(), member.part.laws, lost.mode);
  if (const Mode& mode = first->found.lost->mode; mode.size() == first->part.laws.size())
    put(mode, first->part.laws, lost.mode);
  result_.lost = std::move(lost);
}

void Product::add_rows(double t) {
  struct Partial {
    EnclosureRow row;
    std::vector<int> branches;
  };
  EnclosureRow empty{.t = t, .box = Box(at(whole_.n())), .multipliers = Box(at(whole_.m()))};
  empty.modes = {Mode(whole_.laws.size())};
  std::vector<Partial> list{{empty, {}}};
  for (const Member& member : members_) {
    std::vector<Partial> longer;
    for (const Partial& partial : list)
      for (const EnclosureRow& row : rows_at(member.found, t)) {
        longer.push_back({with_row(partial.row, member.part, row), partial.branches});
        longer.back().branches.push_back(row.branch);
      }
    list = std::move(longer);
  }
  for (Partial& made : list) {
    made.row.branch = number(made.branches);
    result_.rows.push_back(std::move(made.row));
  }
}

/// An event of a branch is one of every branch of the whole that holds it.
void Product::add_events(std::size_t member) {
  const SystemPart& part = members_[member].part;
  for (EnclosureEvent event : members_[member].found.events) {
    const int branch = event.branch;
    if (result_.lost && event.t.lo > result_.lost->t.hi) continue;
    event.law = place_in_whole(part.laws, event.law);
    event.reset = place_in_whole(part.resets, event.reset);
    for (const auto& [branches, number_of] : numbers_) {
      if (branches[member] != branch) continue;
      event.branch = number_of;
      result_.events.push_back(event);
    }
  }
}

Enclosure Product::finish() {
  find_branches();
  find_lost();
  double before = -directed::infinity;
  for (const EnclosureRow& row : members_.front().found.rows)
    if (row.t > before) add_rows(before = row.t);
  result_.pieces = 0;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    add_events(k);
    result_.steps += members_[k].found.steps;
    result_.pieces += members_[k].found.pieces;
  }
  std::stable_sort(
      result_.events.begin(), result_.events.end(),
      [](const EnclosureEvent& a, const EnclosureEvent& b) { return a.t.lo < b.t.lo; });
  return std::move(result_);
}

}  // namespace perp::enclosure
