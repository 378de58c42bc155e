// Steps of Capturing for which all modes are asked at one point, where nothing proves that there is one solution.
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/capturing/capturing.hpp>

namespace perp {
namespace {

/// Has the mode certainly no solution?
bool is_refuted(PointStep::Verdict verdict) {
  return verdict == PointStep::Verdict::outside || verdict == PointStep::Verdict::never;
}

}  // namespace

/// May all modes be asked at the point of a step of a length that is not the user's?
bool Capturing::may_ask_all(double h) {
  const bool is_nearest = options_.selector == Selector::keep_mode || options_.selector == Selector::minimal_norm;
  return is_nearest && h != options_.h && !has_many_modes_ && !is_large() && once().is_usable();
}

/// Of a mode at the point; that of the present one may be known, with its margins, from `attempt_once`.
PointStep::Verdict Capturing::verdict_of(PointStep& step, const Mode& mode, const Mode& present) {
  if (mode != present) return step.solve(mode);
  if (is_refuted_) return PointStep::Verdict::outside;
  const PointStep::Verdict verdict = step.solve(mode);
  trial().ends = step.margins();
  return verdict;
}

/// The last solution of the step, which is in this mode.
void Capturing::Found::be(const Mode& of_step, const PointStep& step) {
  mode = of_step;
  x = step.x();
  lambda = step.lambda();
  w = step.w();
  rounding = step.rounding();
  changes = 0;
}

/// The solutions of all modes at the point, none of which gets a map: in `found_`; which modes may have one is kept. False
/// where one is undecided, memory counts, or an end of its branches is within rounding and no other mode has its solution
/// beyond doubt.
bool Capturing::find_all(PointStep& step, const Mode& present) {
  found_.count = doubtful_.count = 0;
  may_hold_.clear();
  bool is_decided = memory_.empty();
  search_.assign(active_->laws().size(), 0);
  do {
    const PointStep::Verdict verdict = verdict_of(step, search_, present);
    may_hold_.push_back(!is_refuted(verdict));
    if (is_refuted(verdict)) continue;
    is_decided = is_decided && verdict == PointStep::Verdict::inside;
    if (!is_decided) continue;
    const bool is_certain = step.is_certain();
    (is_certain ? found_ : doubtful_).next().be(search_, step);
    is_certain ? add_found(present) : void(++doubtful_.count);
  } while (next_mode(search_, active_->laws()));
  return is_decided && std::ranges::all_of(doubtful_.points(), [&](const Found& point) {
    return point.mode != present &&
           std::ranges::any_of(found_.points(), [&](const Found& sure) { return is_same_point(sure, point); });
  });
}

/// Of the modes that `find_all` has gone through, those that may have a solution.
void Capturing::list_possible() {
  possible_.emplace();
  search_.assign(active_->laws().size(), 0);
  for (const char may_hold : may_hold_) {
    if (may_hold != 0) possible_->push_back(search_);
    next_mode(search_, active_->laws());
  }
}

/// The nearest of all solutions. Nothing, too, where two are equally near.
std::optional<Attempt> Capturing::attempt_of_all(double h) {
  static const Mode none_present;
  if (const Answer* known = known_answer(h)) return take(*known);
  const Mode& present = start_pending_ ? none_present : mode();
  PointStep& step = *once().step;
  step.set(h, trial().parameter.data());
  const bool is_decided = find_all(step, present);
  if (is_decided && found_.count == 0) return unsolved(Status::no_solution, "no mode has a solution");
  const int nearest = is_decided ? nearest_of(found_.points()) : -1;
  if (nearest < 0) {
    list_possible();
    return std::nullopt;
  }
  Found& point = found_.list[at(nearest)];
  const Attempt attempt{Status::solved, point.mode == present, static_cast<int>(found_.count), 0};
  put_point(point, attempt.kept_mode);
  remember(h, mode(), attempt);
  return attempt;
}

/// Are the variables of two solutions the same but for their rounding?
bool Capturing::is_same_point(const Found& a, const Found& b) {
  for (Eigen::Index j = 0; j < a.x.size(); ++j)
    if (!(std::abs(a.x[j] - b.x[j]) <= a.rounding[j] + b.rounding[j])) return false;
  return true;
}

/// The next one of `found_` becomes one of them. The same solution in several modes is named by the one that changes the
/// fewest laws.
void Capturing::add_found(const Mode& present) {
  Found& other = found_.next();
  for (std::size_t i = 0; i < present.size(); ++i) other.changes += other.mode[i] != present[i];
  for (Found& known : found_.points()) {
    if (!is_same_point(known, other)) continue;
    if (other.changes < known.changes) std::swap(known, other);
    return;
  }
  ++found_.count;
}

/// -1: two of them are, but for rounding.
int Capturing::nearest_of(std::span<const Found> found) const {
  if (found.size() == 1) return motion(x(), found[0].x).squaredNorm() < inf ? 0 : -1;
  int nearest = -1;
  double best = inf, best_rounding = 0;
  bool is_tied = false;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const Vector moved = motion(x(), found[k].x), errors = motion_rounding(x(), found[k].x),
                 spread = equations_.given_E().sizes_times(found[k].rounding);
    double norm = 0, rounding = 0;
    for (Eigen::Index i = 0; i < moved.size(); ++i) {
      const double error = errors[i] + spread[i];
      norm += moved[i] * moved[i];
      rounding += (4 * std::abs(moved[i]) + 2 * error) * error;
    }
    const bool is_near = std::abs(norm - best) <= rounding + best_rounding;
    is_tied = is_near || (is_tied && !(norm < best));
    if (!(norm < best)) continue;
    best = norm;
    best_rounding = rounding;
    nearest = static_cast<int>(k);
  }
  return is_tied ? -1 : nearest;
}

/// Of a length that is no user's maps are made of those modes alone that its point leaves; null: of all.
const std::vector<Mode>* Capturing::modes_left(const ModeCache& maps) const {
  return possible_ && !maps.is_tabulated() ? &*possible_ : nullptr;
}

ModeCache::Choice Capturing::nearest_of_all(ModeCache& maps, int present) {
  const bool knows_before = !memory_.empty() && !start_pending_;
  return maps.nearest(trial().parameter.data(), present, modes_left(maps), knows_before ? &w() : nullptr);
}

/// The numbers of the point, which has those of the attempted state from here.
void Capturing::put_point(Found& point, bool is_kept) {
  State& next = trial();
  next.x.swap(point.x);
  next.lambda.swap(point.lambda);
  next.w.swap(point.w);
  next.rounding.swap(point.rounding);
  be_point(point.mode, is_kept);
}

}  // namespace perp
