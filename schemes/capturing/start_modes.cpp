// In which modes a start of Capturing may begin: laws whose arguments x0 decides begin on their branches.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <perp/core/base/index.hpp>
#include <perp/schemes/capturing/capturing.hpp>

namespace perp {

/// w = C x0 + D λ + q of a law that reads no variable without a rate and, of the multipliers, known ones only, and a bound of
/// its error. Nothing of others.
Capturing::Known Capturing::argument_at(int law, const Vector& x0, const Vector& q, const std::vector<Known>& multipliers) const {
  const SparseLcs& lcs = equations_.system();
  double w = q[law], terms = std::abs(q[law]), error = 0;
  int count = 4;
  const auto add = [&](double entry, double value) {
    w += entry * value;
    terms += std::abs(entry * value);
    ++count;
  };
  for (const auto& [column, entry] : lcs.D.row(law)) {
    if (entry == 0) continue;
    const Known& multiplier = multipliers[at(column)];
    if (!multiplier) return std::nullopt;
    add(entry, multiplier->first);
    error += std::abs(entry) * multiplier->second;
  }
  for (const auto& [column, entry] : lcs.C.row(law)) {
    if (entry == 0) continue;
    if (is_algebraic(column)) return std::nullopt;
    add(entry, x0[column]);
  }
  return std::pair(w, error + count * std::numeric_limits<double>::epsilon() * terms);
}

/// λ = (c - a w) / b of a law on a branch on which it is a function of its argument, and a bound of its error.
Capturing::Known Capturing::multiplier_at(const Branch& branch, const std::pair<double, double>& argument) {
  if (branch.b == 0) return std::nullopt;
  const auto [w, error] = argument;
  const double terms = (std::abs(branch.c) + std::abs(branch.a * w)) / std::abs(branch.b);
  return std::pair((branch.c - branch.a * w) / branch.b,
                   std::abs(branch.a / branch.b) * error + 4 * std::numeric_limits<double>::epsilon() * terms);
}

/// Is each law that its argument at x0 decides on its branch, one with memory on that it starts in where this holds it?
bool Capturing::is_possible_start(const Mode& mode, const Vector& x0, const Vector& q) const {
  const int m = equations_.m();
  std::vector<Known> multipliers(at(m));
  std::vector<int> open(at(m));
  std::iota(open.begin(), open.end(), 0);
  for (std::size_t left = open.size() + 1; left > open.size();) {  // laws that read multipliers follow those that give them
    left = open.size();
    std::vector<int> rest;
    for (const int i : open) {
      const Known argument = argument_at(i, x0, q, multipliers);
      if (argument && !holds_start(i, mode[at(i)], *argument)) return false;
      if (argument)
        multipliers[at(i)] = multiplier_at(equations_.laws()[at(i)].branches[at(mode[at(i)])], *argument);
      else
        rest.push_back(i);
    }
    open = std::move(rest);
  }
  return true;
}

/// May a law of this argument at x0 start on this branch?
bool Capturing::holds_start(int law, int branch, const std::pair<double, double>& argument) const {
  const std::vector<int> branches = branches_at(equations_.laws()[at(law)], argument.first, argument.second);
  const auto holds = [&](int other) { return std::ranges::find(branches, other) != branches.end(); };
  const bool stays = equations_.laws()[at(law)].memory && !memory_.empty() && holds(memory_[at(law)]);
  return stays ? branch == memory_[at(law)] : holds(branch);
}

/// A step that is longer than the way to a surface may end on it, or beyond, as the one of least motion, although a
/// continuous solution begins on this side: where laws have left the branches that x0 decides, ever shorter steps tell
/// whether one does. Where none is found on them the steps stay as they are.
void Capturing::shorten_into_possible_mode(const Vector& x0, double t, double h, ShortSteps<State>& steps) {
  constexpr int shortened_by = 6, shortened_at_last = 30;
  // About the least double, with a quarter of it: how near a surface x0 may be is no matter of h.
  const int shortest = std::numeric_limits<double>::min_exponent + 4 - std::ilogb(h);
  const Vector q = equations_.system().q(t);
  const auto is_possible = [&](const ShortSteps<State>& some) { return is_possible_start(*some.limit.mode, x0, q); };
  if (is_possible(steps)) return;
  const auto step = [&](int k) { return short_step(x0, h, k); };
  for (int last = steps.exponent; last > shortest;) {
    const int k = std::max(last - (last > least_motion_probe ? shortened_by : shortened_at_last), shortest);
    last = k;
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
