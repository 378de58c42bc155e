// Enclosures of systems with laws: the start in pieces, each followed by itself, and their union.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>

#include <perp/analysis/enclosure/inconsistent_start.hpp>
#include <perp/analysis/enclosure/pieces/pieces.hpp>
#include <perp/analysis/enclosure/pieces/reach.hpp>
#include <perp/analysis/enclosure/pieces/row_union.hpp>
#include <perp/analysis/enclosure/section/section_piece.hpp>
#include <perp/analysis/enclosure/times.hpp>
#include <perp/analysis/parallel.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>

namespace perp::enclosure {
namespace {

/// A part of the start, and what became of it.
struct Part {
  Box start{};
  PieceResult result{};
  bool is_done = false;
  bool is_last = false;  ///< it is not bisected any more
  int favours = 0;  ///< how often in a row the section form went further in parts that held it,
                    ///< less the other
};

/// From section to section, or with one time for all members? The one comes further where
/// differences of time gather, the other where surfaces are met slantwise by rates that hardly
/// jump.
class Forms {
 public:
  Forms(const PieceTask& task, const SectionTask* section) : task_(task), section_(section) {}

  PieceResult run(Part& part, Effort effort) const {
    if (section_ == nullptr || effort == Effort::last || part.favours <= -certain)
      return Piece(task_, part.start, effort).run();
    if (part.favours <= 0) {
      PieceResult at_once = Piece(task_, part.start, effort).run();
      if (is_accepted(at_once)) return at_once;
      return better(part, SectionPiece(*section_, part.start, effort).run(), std::move(at_once));
    }
    std::optional<PieceResult> in_turn = SectionPiece(*section_, part.start, effort).run();
    if (in_turn && (is_accepted(*in_turn) || part.favours >= certain)) return *std::move(in_turn);
    return better(part, std::move(in_turn), Piece(task_, part.start, effort).run());
  }

 private:
  static constexpr int certain = 2;

  [[nodiscard]] bool is_accepted(const PieceResult& result) const {
    return !result.enclosure.lost && result.excess <= task_.options.share;
  }
  /// The one that is accepted, or was followed further.
  PieceResult better(Part& part, std::optional<PieceResult> section, PieceResult other) const {
    const auto rank = [&](const PieceResult& result) {
      return std::tuple(is_accepted(result), !result.enclosure.lost, result.enclosure.rows.size(),
                        -result.excess);
    };
    const bool is_better = section && rank(*section) > rank(other);
    part.favours = std::clamp(part.favours + (is_better ? 1 : -1), -certain, certain);
    return is_better ? *std::move(section) : std::move(other);
  }

  const PieceTask& task_;
  const SectionTask* section_;
};

/// Runs the parts that have not been run; each by itself, so that the number of threads changes
/// nothing. Where the budget lasts to bisect all of them, those that are too wide are not followed
/// further.
void run_all(const PieceTask& task, const Forms& forms, const PieceKeeper& keeper, int round, std::vector<Part>& parts) {
  std::vector<Part*> waiting;
  for (Part& part : parts)
    if (!part.is_done) waiting.push_back(&part);
  const bool can_split =
      parts.size() + waiting.size() <= static_cast<std::size_t>(task.options.pieces);
  in_parallel(std::max(task.options.threads, 1), waiting.size(), [&](std::size_t k, int) {
    require_directed_arithmetic();
    const Effort effort = waiting[k]->is_last ? Effort::last
                          : can_split         ? Effort::until_wide
                                              : Effort::whole;
    Part& part = *waiting[k];
    std::tie(part.result, part.favours) = keeper.answer<std::pair<PieceResult, int>>(fmt::format("{} {}", round, k), [&] {
      PieceResult result = forms.run(part, effort);
      return std::pair(std::move(result), part.favours);
    });
    part.is_done = true;
  });
}

/// Is it lost, or wider than it may be?
bool is_wanting(const PieceTask& task, const Part& part) {
  return part.result.enclosure.lost || part.result.excess > task.options.share;
}

bool is_any_wanting(const PieceTask& task, const std::vector<Part>& parts) {
  return std::ranges::any_of(parts, [&](const Part& part) { return is_wanting(task, part); });
}

bool has_wide_side(const Box& start) { return std::any_of(start.begin(), start.end(), is_wide); }

/// Bisects parts that were lost or are too wide, as long as the budget lasts. False: nothing is
/// left.
bool split(std::vector<Part>& parts, const PieceTask& task) {
  const EncloseOptions& options = task.options;
  std::vector<Part> next;
  std::size_t count = parts.size();
  for (Part& part : parts) {
    const PieceResult& result = part.result;
    if (!is_wanting(task, part) || !can_bisect(part.start, result.split) ||
        count >= static_cast<std::size_t>(options.pieces)) {
      if (result.is_given_up) throw std::logic_error("a piece was given up and is not bisected");
      next.push_back(std::move(part));
      continue;
    }
    ++count;
    const Interval side = part.start[at(result.split)];
    const double half = middle(side);
    for (const Interval& of : {Interval(side.lo, half), Interval(half, side.hi)}) {
      next.push_back({.start = part.start, .favours = part.favours});
      next.back().start[at(result.split)] = of;
      next.back().start = task.dependent.completed(next.back().start);
    }
  }
  const bool any = next.size() > parts.size();
  parts = std::move(next);
  return any;
}

/// What is lost and not bisected goes on by all that may follow. False: nothing is left.
bool open_lost(std::vector<Part>& parts) {
  bool any = false;
  for (Part& part : parts) {
    if (!part.result.enclosure.lost || part.is_last) continue;
    part = {.start = part.start, .is_last = true};
    any = true;
  }
  return any;
}

using EventKey = std::vector<std::tuple<std::string, int, int, int, int>>;

/// What happens to a branch of a part, in order: the branches in which its laws start, and events.
EventKey key_of(const Enclosure& enclosure, int branch, double start) {
  EventKey key;
  for (const EnclosureRow& row : enclosure.rows)
    if (row.branch == branch && row.t == start) {
      key.emplace_back("root", row.root, -1, -1, -1);
      if (row.modes.empty()) continue;
      for (int i = 0; i < static_cast<int>(row.modes.front().size()); ++i)
        key.emplace_back("start", i, -1, row.modes.front()[static_cast<std::size_t>(i)], -1);
    }
  for (const EnclosureEvent& event : enclosure.events)
    if (event.branch == branch)
      key.emplace_back(event.type, event.law, event.from, event.to,
                       event.reset >= 0 ? event.reset : -1 - event.root);
  return key;
}

/// Joins the parts: branches to which the same happens in the same order become one.
class Union {
 public:
  /// Nothing is claimed after `until`, at rows from `rows_until` on, of a tube that ends after
  /// `tube_until`.
  Union(double start, double until, double rows_until, double tube_until, const RowBounds& bounds)
      : bounds_(bounds),
        start_(start),
        until_(until),
        rows_until_(rows_until),
        tube_until_(std::min(until, tube_until)) {}

  /// `own`, if given, takes its rows as they count in the whole, with the numbers of branches
  /// there.
  void add(const Enclosure& part, RowUnion* own) {
    std::map<int, int> numbers = numbers_in_whole(part);
    for (EnclosureRow row : part.rows) {
      if (row.t > until_ || row.t >= rows_until_) continue;
      row.branch = numbers[row.branch];
      bounds_.narrow(row);
      if (own != nullptr) own->add(row);
      rows_.add(row);
    }
    add_events(part, numbers);
    for (TubeRow row : part.tube) {
      row.branch = numbers[row.branch];
      if (row.to <= tube_until_) whole_.tube.push_back(row);
    }
    whole_.steps += part.steps;
    whole_.forbids_starts = whole_.forbids_starts || part.forbids_starts;
    whole_.proof.insert(whole_.proof.end(), part.proof.begin(), part.proof.end());
  }

  Enclosure finish() {
    whole_.rows = rows_.take();
    for (auto& [key, event] : events_) whole_.events.push_back(std::move(event));
    std::ranges::stable_sort(whole_.events, {}, [](const EnclosureEvent& one) { return one.t.lo; });
    std::ranges::stable_sort(whole_.tube, {}, &TubeRow::from);
    return std::move(whole_);
  }

 private:
  /// By branch of the part.
  std::map<int, int> numbers_in_whole(const Enclosure& part) {
    std::map<int, int> numbers;
    for (const EnclosureRow& row : part.rows) {
      if (numbers.contains(row.branch)) continue;
      const EventKey key = key_of(part, row.branch, start_);
      numbers[row.branch] =
          groups_.try_emplace(key, static_cast<int>(groups_.size())).first->second;
    }
    return numbers;
  }

  void add_events(const Enclosure& part, std::map<int, int>& numbers) {
    std::map<int, int> counts;
    for (EnclosureEvent event : part.events) {
      event.branch = numbers[event.branch];
      const int order = counts[event.branch]++;
      const auto [place, is_new] = events_.try_emplace({event.branch, order}, event);
      if (is_new) continue;
      place->second.t = hull(place->second.t, event.t);
      place->second.unique = place->second.unique && event.unique;
    }
  }

  const RowBounds& bounds_;
  double start_, until_, rows_until_, tube_until_;
  std::map<EventKey, int> groups_;
  RowUnion rows_;
  std::map<std::pair<int, int>, EnclosureEvent> events_;
  Enclosure whole_;
};

/// Throws where no part holds a consistent start.
void check_starts(const Dcs& system, const std::vector<Part>& parts) {
  for (const Part& part : parts)
    if (!part.result.elsewhere) return;
  const Successor& why = *parts.front().result.elsewhere;
  const std::string mode = why.mode.empty() ? "" : describe(system.laws, why.mode) + ": ";
  if (why.equation < 0) throw InconsistentStart(-1, mode + why.reason);
  throw InconsistentStart(why.equation, fmt::format("{}the sides differ by {:.6g} to {:.6g}", mode,
                                                    why.residual.lo, why.residual.hi));
}

/// One thing to try where the proof ended.
std::string advice_for(const Lost& lost, const std::vector<Part>& parts, double start,
                       const EncloseOptions& options) {
  const auto is_set = [](const Part& part) { return has_wide_side(part.start); };
  if (!std::any_of(parts.begin(), parts.end(), is_set)) {
    if (lost.t.lo <= start) return "another start, or perp jumps to see what may follow this one";
    return fmt::format(
        "a span that ends before t = {:.6g}, or perp run --scheme located to see what "
        "happens there",
        lost.t.lo);
  }
  if (parts.size() >= static_cast<std::size_t>(options.pieces))
    return fmt::format("smaller intervals, or more pieces than {} (--pieces-max)", options.pieces);
  return "smaller intervals of starts and parameters";
}

/// The numbers of a part of the set, as variables and parameters.
EnclosurePiece piece_of(const PieceTask& task, const Box& part) {
  EnclosurePiece piece{.start = task.start, .parameters = task.space.values};
  std::size_t state = 0;
  for (const int j : task.space.variables) piece.start[at(j)] = part[state++];
  for (const int k : task.space.parameters) piece.parameters[at(k)] = part[state++];
  return piece;
}

/// The pieces, where they are asked for; parts that hold no consistent start are none.
std::vector<EnclosurePiece> add_parts(const PieceTask& task, const std::vector<Part>& parts,
                                      Union& whole) {
  std::vector<EnclosurePiece> paving;
  for (const Part& part : parts) {
    RowUnion rows;
    whole.add(part.result.enclosure, task.options.paving ? &rows : nullptr);
    if (part.result.elsewhere || !task.options.paving) continue;
    paving.push_back(piece_of(task, part.start));
    paving.back().rows = rows.take();
  }
  return paving;
}

/// `bounds`: what else is known of the whole set.
Enclosure join(const PieceTask& task, const std::vector<Part>& parts, const RowBounds& bounds) {
  const double start = task.span.start;
  const EncloseOptions& options = task.options;
  std::optional<Lost> lost;
  double rows_until = directed::infinity, tube_until = directed::infinity;
  for (const Part& part : parts) {
    if (part.result.enclosure.lost) {
      rows_until = std::min(rows_until, part.result.rows_until);
      tube_until = std::min(tube_until, part.result.tube_until);
    }
    const auto& other = part.result.enclosure.lost;
    if (other && (!lost || other->t.lo < lost->t.lo)) lost = other;
  }
  Union whole(start, lost ? lost->t.lo : directed::infinity, rows_until, tube_until, bounds);
  std::vector<EnclosurePiece> paving = add_parts(task, parts, whole);
  Enclosure joined = whole.finish();
  joined.paving = std::move(paving);
  joined.lost = lost;
  if (lost) joined.lost->advice = advice_for(*lost, parts, start, options);
  joined.pieces = static_cast<int>(parts.size());
  return joined;
}

/// The whole set as one piece, to the end or to where it is lost.
Part followed_as_one(const Forms& forms, const PieceKeeper& keeper, const Box& whole) {
  Part one{.start = whole};
  one.result = keeper.answer<PieceResult>("as one", [&] { return forms.run(one, Effort::whole); });
  if (!one.result.enclosure.lost) return one;
  one.is_last = true;
  one.result = keeper.answer<PieceResult>("as one, last", [&] { return forms.run(one, Effort::last); });
  return one;
}

/// Where the pieces do not get what they were made for, the whole as one piece counts as well: its rows hold
/// the same members, so that more pieces are never worse than one.
Enclosure join_with_one(const PieceTask& task, const std::vector<Part>& parts, const Part& one) {
  const Enclosure as_one = join(task, {one}, {});
  Enclosure joined = join(task, parts, RowBounds(as_one.rows));
  joined.proof.insert(joined.proof.end(), as_one.proof.begin(), as_one.proof.end());
  if (!joined.lost || (as_one.lost && as_one.lost->t.lo <= joined.lost->t.lo)) return joined;
  const int steps = joined.steps + as_one.steps;
  Enclosure longer = join(task, {one}, RowBounds(joined.rows));
  if (longer.lost) longer.lost->advice = advice_for(*longer.lost, parts, task.span.start, task.options);
  longer.pieces = joined.pieces;
  longer.steps = steps;
  longer.proof = std::move(joined.proof);  // of both
  return longer;
}

Box start_of(const StateSpace& space, const Box& start) {
  Box box;
  for (const int j : space.variables) box.push_back(start[static_cast<std::size_t>(j)]);
  for (const int k : space.parameters) box.push_back(space.values[static_cast<std::size_t>(k)]);
  return box;
}

/// Is the whole set too wide, or lost, so that its parts are measured with what it reaches?
/// Disturbances widen every part alike.
bool is_to_be_measured(const PieceTask& task, const std::vector<Part>& parts) {
  const PieceResult& first = parts.front().result;
  return parts.size() == 1 && !parts.front().is_last && is_wanting(task, parts.front()) &&
         can_bisect(parts.front().start, first.split) && task.space.disturbances.empty();
}

/// Points, and starts that follow others, go with one time for all.
std::optional<SectionTask> section_of_sets(const PieceTask& task, Dcs& clocked, StateSpace& clocked_space,
                                           const Box& whole) {
  std::optional<SectionTask> section = section_task(task, clocked, clocked_space);
  if (!has_wide_side(whole) || !task.dependent.empty()) section.reset();
  return section;
}

}  // namespace

Enclosure enclose_in_pieces(const Dcs& system, const StateSpace& space, const Box& start,
                            const Span& span, const EncloseOptions& options,
                            const ExactStart& exact, const DependentStarts& dependent,
                            const PieceKeeper& keeper) {
  const Box whole = dependent.completed(start_of(space, start));
  PieceTask task{.system = system,
                 .space = space,
                 .options = options,
                 .span = span,
                 .times = times_of_rows(span, options),
                 .grid = time_grid(span),
                 .start = start,
                 .exact = exact,
                 .dependent = dependent};
  std::optional<PieceResult> middle;
  if (has_wide_side(whole)) middle = keeper.answer<PieceResult>("middle", [&] { return follow_middle(task, whole); });
  if (middle) task.most_smooth_steps = most_steps_of(*middle, options);
  std::vector<Part> parts{{.start = whole}};
  Dcs clocked;
  StateSpace clocked_space;
  std::optional<SectionTask> section = section_of_sets(task, clocked, clocked_space, whole);
  const Forms forms(task, section ? &*section : nullptr);
  int round = 0;
  do {
    run_all(task, forms, keeper, round++, parts);
    if (!is_to_be_measured(task, parts)) continue;
    task.reach = keeper.answer<std::vector<std::vector<double>>>(
        fmt::format("{} reach", round), [&] { return reach_of(task, whole, middle.value()); });
    task.widest = widest_of(whole, task.reach);
    if (section) section->use_reach(task);
  } while (split(parts, task) || open_lost(parts));
  check_starts(system, parts);
  if (parts.size() == 1 || !is_any_wanting(task, parts)) return join(task, parts, {});
  return join_with_one(task, parts, followed_as_one(forms, keeper, whole));
}

}  // namespace perp::enclosure
