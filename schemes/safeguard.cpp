#include <algorithm>
#include <cmath>

#include <perp/schemes/safeguard.hpp>

namespace perp {
namespace {

constexpr int most_split_halvings = 4;  ///< of a step, to pass its first change alone
/// Of a row of E dx that a smooth step or a kink shows when h is halved; outside of it the row is
/// examined: by how much it misses one half shrinks to a quarter where the motion is smooth.
constexpr double least_shrink = 0.35, most_shrink = 0.65;
constexpr double least_curved = 0.15, most_curved = 0.35;
constexpr double artefact = 0.25;  ///< share of the ways travelled that two ends are apart
constexpr double lost_share = 1e-3;  ///< of an algebraic variable: its change to another branch

/// The rows of a motion that are more than this, or no numbers.
std::vector<int> rows_above(const Vector& least, const Vector& motion) {
  std::vector<int> rows;
  for (int i = 0; i < static_cast<int>(motion.size()); ++i)
    if (!(std::abs(motion[i]) <= least[i])) rows.push_back(i);
  return rows;
}

}  // namespace

bool take_step(Scheme& scheme, const Step& before, double t_next, double h) {
  scheme.restore(before);
  const bool is_solved = scheme.attempt(t_next, h).status == Status::solved;
  if (is_solved)
    scheme.accept();
  else
    scheme.restore(before);
  return is_solved;
}

std::vector<int> unsteady_rows(Scheme& scheme, const Step& before, const Vector& whole, double h,
                               const Vector& rounding) {
  const Vector least = rounding.cwiseMax(scheme.motion_rounding(before.x, before.x));
  const auto shorter = [&](double length) {
    const Attempt attempt = scheme.attempt(before.t + length, length);
    return attempt.status == Status::solved ? scheme.motion(before.x, scheme.attempted()) : Vector();
  };
  std::vector<int> rows = rows_above(least, whole);
  if (rows.empty()) return rows;
  const Vector half = shorter(h / 2);
  if (half.size() == 0) return rows;
  std::erase_if(rows, [&](int i) {
    const double share = half[i] / whole[i];
    return share >= least_shrink && share <= most_shrink;
  });
  if (rows.empty()) return rows;
  const Vector quarter = shorter(h / 4);
  if (quarter.size() == 0) return rows;
  std::erase_if(rows, [&](int i) {
    const double share = (quarter[i] - half[i] / 2) / (half[i] - whole[i] / 2);
    return share >= least_curved && share <= most_curved;
  });
  return rows;
}

bool shrinks_as_a_whole(Scheme& scheme, const Step& before, const Vector& whole, double h) {
  scheme.restore(before);
  if (scheme.attempt(before.t + h / 2, h / 2).status != Status::solved) return false;
  const double share = scheme.motion(before.x, scheme.attempted()).norm() / whole.norm();
  return share >= least_shrink && share <= most_shrink;
}

bool differs(const Scheme& scheme, const Step& before, const Step& refined, const Vector& whole,
             const std::vector<int>& rows) {
  if (scheme.mode() == refined.mode) return false;
  const Vector travelled = scheme.motion(before.x, refined.x).cwiseAbs() + whole.cwiseAbs();
  const Vector apart = scheme.motion(refined.x, scheme.x()).cwiseAbs();
  return std::any_of(rows.begin(), rows.end(),
                     [&](int i) { return apart[i] > artefact * travelled[i]; });
}

bool is_jump(const Scheme& scheme, const Refinement& refinement, const LocatedChange& change,
             const Vector& whole, double h, const Vector& rounding) {
  const Vector &before = change.before.x, &after = change.after.x;
  const Vector moved = scheme.motion(before, after).cwiseAbs();
  const Vector least = rounding.cwiseMax(change.rounding).cwiseMax(scheme.motion_rounding(before, after));
  // What a row moves elsewhere, in a step of length h.
  Vector rest = Vector::Zero(moved.size());
  double time = 0;
  const auto include = [&](const Step& a, const Step& b) {
    rest += scheme.motion(a.x, b.x).cwiseAbs();
    time += b.t - a.t;
  };
  const Step* last = &refinement.from;
  for (const LocatedChange& other : refinement.changes) {
    include(*last, other.before);
    last = &other.after;
  }
  include(*last, refinement.to);
  if (time > 0) rest *= std::max(1.0, h / time);
  if (whole.size() > 0) rest = rest.cwiseMax(whole.cwiseAbs());
  const Vector terms = scheme.motion_terms(before, after);
  const double length = change.after.t - change.before.t, share = jump_share + 4 * length / h;
  // What rates move in the time of the change is no jump, however fast.
  const Vector by_rates =
      moved_by_rates * length * scheme.rate_terms_between(change.before, change.after);
  for (Eigen::Index i = 0; i < moved.size(); ++i)
    if (moved[i] > std::max(least[i], by_rates[i]) && moved[i] > share * (rest[i] > 0 ? rest[i] : terms[i])) return true;
  return std::any_of(change.lost.begin(), change.lost.end(), [&](int j) {
    const double size = std::max({std::abs(refinement.from.x[j]), std::abs(refinement.to.x[j]),
                                  std::abs(before[j]), std::abs(after[j])});
    return std::abs(after[j] - before[j]) > lost_share * size;
  });
}

namespace {

/// The laws that an accepted step changes, for good or for a part of it: how often one leaves its branch,
/// and the shares of the step at which the first and the last do.
struct LawChanges {
  int count = 0;
  double first = 1, last = 0;
};

LawChanges changes_since(Scheme& scheme, const Step& before) {
  const std::vector<Scheme::Departure> departures = scheme.departures();
  LawChanges changes;
  for (const Scheme::Departure& departure : departures) {
    const auto i = static_cast<std::size_t>(departure.law);
    const auto times = std::count_if(departures.begin(), departures.end(),
                                     [&](const auto& other) { return other.law == departure.law; });
    if (times < 2 && before.mode[i] == scheme.mode()[i]) continue;
    changes.first = std::min(changes.first, departure.s);
    changes.last = std::max(changes.last, departure.s);
    ++changes.count;
  }
  return changes;
}

/// Does a step of this length change a law which the whole step, that ends in the mode `end`, leaves as it
/// was? The scheme stands at `before`, before and after.
bool shorter_changes_another(Scheme& scheme, const Step& before, double length, const Mode& end) {
  const Attempt shorter = scheme.attempt(before.t + length, length);
  if (shorter.status != Status::solved || shorter.kept_mode) return false;
  scheme.accept();
  bool left_out = false;
  for (std::size_t i = 0; i < end.size(); ++i)
    left_out = left_out || (scheme.mode()[i] != before.mode[i] && end[i] == before.mode[i]);
  scheme.restore(before);
  return left_out;
}

/// The laws that an accepted step changes at once, and the share of it at which the first of the others does.
struct FirstChange {
  std::vector<char> at_once;
  double next = 1;
};

FirstChange first_change(Scheme& scheme, std::size_t laws) {
  FirstChange first{std::vector<char>(laws, 0)};
  for (const Scheme::Departure& departure : scheme.departures()) {
    if (departure.s < least_share)
      first.at_once[static_cast<std::size_t>(departure.law)] = 1;
    else
      first.next = std::min(first.next, departure.s);
  }
  return first;
}

/// Makes the step of this length from `before`, unless it is not solved or a jump.
bool take_steady_step(Scheme& scheme, const Step& before, double length, const Vector& rounding) {
  scheme.restore(before);
  const double t = before.t + length;
  if (scheme.attempt(t, length).status != Status::solved) return false;
  const Vector whole = scheme.motion(before.x, scheme.attempted());
  return unsteady_rows(scheme, before, whole, length, rounding).empty() && take_step(scheme, before, t, length);
}

/// Are all laws as they were, but these?
bool changes_only(const std::vector<char>& laws, const Mode& before, const Mode& after) {
  for (std::size_t i = 0; i < laws.size(); ++i)
    if (laws[i] == 0 && after[i] != before[i]) return false;
  return true;
}

}  // namespace

bool skips_modes(Scheme& scheme, const Step& before, double t_next, double h) {
  if (!take_step(scheme, before, t_next, h)) return true;
  const LawChanges changes = changes_since(scheme, before);
  const Mode end = scheme.mode();
  scheme.restore(before);
  if (changes.count >= 2 && changes.last - changes.first > least_share) return true;
  if (changes.count == 0 || !(changes.first > least_share && changes.first < 1)) return false;
  // Before the first change another law has to change, which the whole step has left out.
  return shorter_changes_another(scheme, before, changes.first / 2 * h, end);
}

bool pass_first_change(Scheme& scheme, const Step& before, double t_next, double h,
                       const Vector& rounding) {
  if (!take_step(scheme, before, t_next, h)) return false;
  const FirstChange first = first_change(scheme, before.mode.size());
  double share = first.next;
  for (int k = 0; k < most_split_halvings; ++k) {
    share /= 2;
    if (!take_steady_step(scheme, before, share * h, rounding)) break;
    if (changes_only(first.at_once, before.mode, scheme.mode())) return true;
  }
  scheme.restore(before);
  return false;
}

bool leaves_at_once(Scheme& scheme, double h) {
  const double moment = std::ldexp(h, -10);
  const Attempt attempt = scheme.attempt(scheme.t() + moment, moment);
  return attempt.status == Status::solved && !attempt.kept_mode;
}

}  // namespace perp
