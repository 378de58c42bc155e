// Along which interval parts of the start are bisected; called by the pieces of enclosures.
#include <algorithm>
#include <stdexcept>

#include <perp/analysis/enclosure/pieces/part.hpp>
#include <perp/analysis/parallel.hpp>
#include <perp/core/base/index.hpp>

namespace perp::enclosure {
namespace {

constexpr double least_gain = 0.75;  ///< of the excess of a part, that a half of it has at most

/// Was it no use to bisect the part that this one is a half of? It is too wide as that was, was followed no
/// further, and its excess has hardly changed. Of what is lost the reason tells the interval.
bool was_in_vain(const Part& part, double share) {
  const PieceResult& result = part.result;
  if (!part.before || result.enclosure.lost || !(result.excess > share)) return false;
  const auto& [was_followed, rows, excess] = *part.before;
  return was_followed && can_bisect(part.start, result.split) &&
         result.enclosure.rows.size() <= rows && result.excess > -least_gain * excess;
}

/// How far the lower half along this interval is followed.
Progress progress_along(const Forms& forms, const Part& part, int state) {
  Part half{.start = part.start, .favours = part.favours};
  half.start[at(state)].hi = middle(part.start[at(state)]);
  return progress_of(forms.run(half, Effort::until_wide));
}

/// The interval whose bisection brings this part furthest; the one that widens others most if none
/// brings it further than that.
int best_split(const Forms& forms, const Part& part) {
  int best = part.result.split;
  Progress furthest = progress_along(forms, part, best);
  for (int i = 0; i < static_cast<int>(part.start.size()); ++i) {
    if (i == part.result.split || !is_wide(part.start[at(i)]) || !can_bisect(part.start, i))
      continue;
    const Progress now = progress_along(forms, part, i);
    if (!(now > furthest)) continue;
    furthest = now;
    best = i;
  }
  return best;
}

}  // namespace

void try_splits(const PieceTask& task, const Forms& forms, std::vector<Part>& parts) {
  if (2 * parts.size() > static_cast<std::size_t>(task.options.pieces)) return;
  std::vector<Part*> waiting;
  for (Part& part : parts)
    if (was_in_vain(part, task.options.share)) waiting.push_back(&part);
  in_parallel(std::max(task.options.threads, 1), waiting.size(), [&](std::size_t k, int) {
    require_directed_arithmetic();
    waiting[k]->result.split = best_split(forms, *waiting[k]);
  });
}

bool split(std::vector<Part>& parts, const EncloseOptions& options) {
  std::vector<Part> next;
  std::size_t count = parts.size();
  for (Part& part : parts) {
    const PieceResult& result = part.result;
    const bool wanted = result.enclosure.lost || result.excess > options.share;
    if (!wanted || !can_bisect(part.start, result.split) ||
        count >= static_cast<std::size_t>(options.pieces)) {
      if (result.is_given_up) throw std::logic_error("a piece was given up and is not bisected");
      next.push_back(std::move(part));
      continue;
    }
    ++count;
    const Interval side = part.start[at(result.split)];
    const double half = middle(side);
    for (const Interval& of : {Interval(side.lo, half), Interval(half, side.hi)}) {
      next.push_back({.start = part.start, .favours = part.favours, .before = progress_of(result)});
      next.back().start[at(result.split)] = of;
    }
  }
  const bool any = next.size() > parts.size();
  parts = std::move(next);
  return any;
}

}  // namespace perp::enclosure
