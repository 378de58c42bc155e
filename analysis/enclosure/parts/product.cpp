// Systems that are several without coupling: each is enclosed by itself, with its own pieces;
// called by `enclose`.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <perp/analysis/enclosure/parts/product.hpp>
#include <perp/analysis/enclosure/pieces/row_union.hpp>
#include <perp/core/base/index.hpp>

namespace perp::enclosure {
namespace {

constexpr std::size_t most_modes = 64;  ///< of a row

/// The k-th entry of a part is entry places[k] of the whole.
template <class List>
void put(const List& part, const std::vector<int>& places, List& whole) {
  for (std::size_t k = 0; k < places.size(); ++k) whole[at(places[k])] = part[k];
}

void put_mode(const EnclosureRow& row, const std::vector<int>& laws, Mode& whole) {
  if (!row.modes.empty()) put(row.modes.front(), laws, whole);
}

int place_in_whole(const std::vector<int>& places, int of_part) {
  return of_part < 0 ? of_part : places[at(of_part)];
}

/// Rows are in the order of t.
std::span<const EnclosureRow> rows_at(const std::vector<EnclosureRow>& rows, double t) {
  return {std::ranges::lower_bound(rows, t, {}, &EnclosureRow::t), std::ranges::upper_bound(rows, t, {}, &EnclosureRow::t)};
}

/// Of all branches as one: a solution is in a row of its time, and so in the hull of them.
void join_rows(std::vector<EnclosureRow>& rows) {
  RowUnion one;
  for (EnclosureRow& row : rows) {
    row.branch = 0;
    one.add(row);
  }
  rows = one.take();
}

void join_into_one(Enclosure& found) {
  join_rows(found.rows);
  for (EnclosurePiece& piece : found.paving) join_rows(piece.rows);
  for (EnclosureEvent& event : found.events) {
    event.branch = 0;
    event.unique = false;
    event.note = "of one of several branches that stand in one row";
  }
}

/// The values of these parameters that are in both boxes; false: there are none of one.
bool restrict_to(const Box& other, const std::vector<int>& parameters, Box& box) {
  for (const int k : parameters) {
    const std::optional<Interval> both = intersection(box[at(k)], other[at(k)]);
    if (!both) return false;
    box[at(k)] = *both;
  }
  return true;
}

/// A row of the whole so far, with one of a part more.
EnclosureRow with_row(EnclosureRow whole, const SystemPart& part, const EnclosureRow& own) {
  put(own.box, part.variables, whole.box);
  put(own.multipliers, part.laws, whole.multipliers);
  if (own.flag == Flag::all) whole.flag = Flag::all;
  whole.how = std::max(whole.how, own.how);
  whole.root = std::max(whole.root, own.root);
  std::vector<Mode> modes;
  if (whole.modes.size() * own.modes.size() > most_modes) whole.modes.clear();
  for (const Mode& mode : whole.modes)
    for (const Mode& of_part : own.modes) {
      modes.push_back(mode);
      put(of_part, part.laws, modes.back());
    }
  whole.modes = std::move(modes);
  return whole;
}

}  // namespace

/// Increasing.
std::vector<int> Product::branches_of(const Enclosure& found) {
  std::vector<int> list;
  for (const EnclosureRow& row : found.rows) list.push_back(row.branch);
  for (const EnclosureEvent& event : found.events) list.push_back(event.branch);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

/// Those of the part that has the most become one, until there are few enough of the whole.
void Product::join_branches() {
  for (Member& member : members_) member.branches = branches_of(member.found);
  for (;;) {
    double count = 1;
    for (const Member& member : members_) count *= static_cast<double>(member.branches.size());
    if (!(count > options_.branches)) return;
    Member& widest = *std::ranges::max_element(
        members_, {}, [](const Member& member) { return member.branches.size(); });
    if (widest.branches.size() == 1) return;
    result_.joined += static_cast<int>(widest.branches.size());
    join_into_one(widest.found);
    widest.branches = branches_of(widest.found);
  }
}

/// Every branch of one with every branch of all others.
void Product::find_branches() {
  join_branches();
  std::vector<std::vector<int>> all{{}};
  for (const Member& member : members_) {
    const std::vector<int>& list = member.branches;
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

/// Null: none is lost.
const Product::Member* Product::first_lost() const {
  const Member* first = nullptr;
  for (const Member& member : members_)
    if (member.found.lost &&
        (first == nullptr || member.found.lost->t.lo < first->found.lost->t.lo))
      first = &member;
  return first;
}

/// The first one, with the last mode of all parts before it.
void Product::find_lost() {
  const Member* first = first_lost();
  if (first == nullptr) return;
  Lost lost = *first->found.lost;
  lost.law = place_in_whole(first->part.laws, lost.law);
  lost.reset = place_in_whole(first->part.resets, lost.reset);
  lost.mode.assign(whole_.laws.size(), 0);
  for (const Member& member : members_)
    for (const EnclosureRow& row : member.found.rows)
      if (row.t <= lost.t.lo) put_mode(row, member.part.laws, lost.mode);
  if (const Mode& mode = first->found.lost->mode; mode.size() == first->part.laws.size())
    put(mode, first->part.laws, lost.mode);
  result_.lost = std::move(lost);
}

std::vector<EnclosureRow> Product::rows_of(
    const std::vector<const std::vector<EnclosureRow>*>& parts) const {
  struct Partial {
    EnclosureRow row;
    std::vector<int> branches;
  };
  std::vector<EnclosureRow> rows;
  for (const EnclosureRow& first : *parts.front()) {
    const double t = first.t;
    if (!rows.empty() && rows.back().t == t) continue;
    EnclosureRow empty{.t = t, .box = Box(at(whole_.n())), .multipliers = Box(at(whole_.m()))};
    empty.modes = {Mode(whole_.laws.size())};
    std::vector<Partial> list{{empty, {}}};
    for (std::size_t k = 0; k < parts.size(); ++k) {
      std::vector<Partial> longer;
      for (const Partial& partial : list)
        for (const EnclosureRow& row : rows_at(*parts[k], t)) {
          longer.push_back({with_row(partial.row, members_[k].part, row), partial.branches});
          longer.back().branches.push_back(row.branch);
        }
      list = std::move(longer);
    }
    for (Partial& made : list) {
      made.row.branch = number(made.branches);
      rows.push_back(std::move(made.row));
    }
  }
  return rows;
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

/// The set as one piece, without rows.
EnclosurePiece Product::whole_piece() const { return {.start = start_, .parameters = parameters_}; }

/// Those of the part that has the most become one, until there are few enough of the whole.
void Product::join_pieces() {
  for (;;) {
    double count = 1;
    for (const Member& member : members_) count *= static_cast<double>(member.found.paving.size());
    if (!(count > options_.pieces)) return;
    Enclosure& widest = std::ranges::max_element(members_, {}, [](const Member& member) {
                          return member.found.paving.size();
                        })->found;
    EnclosurePiece all{widest.paving.front().start, parameters_, widest.rows};
    for (const EnclosurePiece& piece : widest.paving) all.start = hull(all.start, piece.start);
    widest.paving = {std::move(all)};
  }
}

/// Each piece of a part with each of the others: where parts share a parameter, those that hold a
/// value of it in common.
void Product::add_pieces() {
  struct Partial {
    EnclosurePiece piece;
    std::vector<const std::vector<EnclosureRow>*> rows;
  };
  std::vector<Partial> list{{whole_piece(), {}}};
  for (const Member& member : members_) {
    std::vector<Partial> longer;
    for (const Partial& partial : list)
      for (const EnclosurePiece& own : member.found.paving) {
        Partial next = partial;
        put(own.start, member.part.variables, next.piece.start);
        if (!restrict_to(own.parameters, member.part.parameters, next.piece.parameters)) continue;
        next.rows.push_back(&own.rows);
        longer.push_back(std::move(next));
      }
    list = std::move(longer);
  }
  for (Partial& made : list) {
    made.piece.rows = rows_of(made.rows);
    result_.paving.push_back(std::move(made.piece));
  }
}

Enclosure Product::finish() {
  find_branches();
  find_lost();
  std::vector<const std::vector<EnclosureRow>*> all;
  for (const Member& member : members_) all.push_back(&member.found.rows);
  result_.rows = rows_of(all);
  if (options_.paving) {
    join_pieces();
    add_pieces();
  }
  result_.pieces = 0;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    add_events(k);
    result_.steps += members_[k].found.steps;
    result_.forbids_starts = result_.forbids_starts || members_[k].found.forbids_starts;
    result_.pieces += members_[k].found.pieces;
  }
  std::stable_sort(
      result_.events.begin(), result_.events.end(),
      [](const EnclosureEvent& a, const EnclosureEvent& b) { return a.t.lo < b.t.lo; });
  return std::move(result_);
}

}  // namespace perp::enclosure
