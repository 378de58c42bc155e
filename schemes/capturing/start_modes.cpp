// In which modes a start of Capturing may begin: laws whose arguments x0 decides begin on their branches.
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/base/index.hpp>
#include <perp/schemes/capturing/capturing.hpp>

namespace perp {

/// w = C x0 + q of a law that reads no multiplier and no variable without a rate, and a bound of its error. Nothing of others.
std::optional<std::pair<double, double>> Capturing::argument_at(int law, const Vector& x0, const Vector& q) const {
  const SparseLcs& lcs = equations_.system();
  if (std::ranges::any_of(lcs.D.row(law), [](const linear::SparseMatrix::Entry& entry) { return entry.value != 0; })) return std::nullopt;
  double w = q[law], terms = std::abs(q[law]);
  int count = 4;
  for (const auto& [column, entry] : lcs.C.row(law)) {
    if (entry == 0) continue;
    if (is_algebraic(column)) return std::nullopt;
    w += entry * x0[column];
    terms += std::abs(entry * x0[column]);
    ++count;
  }
  return std::pair(w, count * std::numeric_limits<double>::epsilon() * terms);
}

/// Is each law that its argument at x0 decides on its branch, one with memory on that it starts in where this holds it?
bool Capturing::is_possible_start(const Mode& mode, const Vector& x0, const Vector& q) const {
  for (int i = 0; i < equations_.m(); ++i) {
    const auto argument = argument_at(i, x0, q);
    if (!argument) continue;
    const std::vector<int> branches = branches_at(equations_.laws()[at(i)], argument->first, argument->second);
    const auto holds = [&](int branch) { return std::ranges::find(branches, branch) != branches.end(); };
    const bool stays = equations_.laws()[at(i)].memory && !memory_.empty() && holds(memory_[at(i)]);
    if (stays ? mode[at(i)] != memory_[at(i)] : !holds(mode[at(i)])) return false;
  }
  return true;
}

/// A step that is longer than the way to a surface may end on it, or beyond, as the one of least motion, although a
/// continuous solution begins on this side: where laws have left the branches that x0 decides, ever shorter steps tell
/// whether one does. Where none is found on them the steps stay as they are.
void Capturing::shorten_into_possible_mode(const Vector& x0, double t, double h, ShortSteps<State>& steps) {
  constexpr int shortened_by = 6;
  const Vector q = equations_.system().q(t);
  const auto is_possible = [&](const ShortSteps<State>& some) { return is_possible_start(*some.limit.mode, x0, q); };
  if (is_possible(steps)) return;
  const auto step = [&](int k) { return short_step(x0, h, k); };
  for (int k = steps.exponent - shortened_by; k >= least_motion_probe; k -= shortened_by) {
    auto first = step(k);
    if (!first) return;
    ShortSteps<State> shorter{std::move(first->first), {}, std::move(first->second), false, k};
    shorten(shorter, step);
    if (!is_possible(shorter)) continue;
    steps = std::move(shorter);
    return;
  }
}

}  // namespace perp
