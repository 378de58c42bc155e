// Where derivatives by starts have two sides, since starts beside the present one go another way.
#include <algorithm>

#include <perp/core/branches.hpp>
#include <perp/schemes/located/passage/sensitivity_update.hpp>

namespace perp {

/// The mode of a start that some q moves off the end of this gap, w > bound or w < bound by its sign: all laws of the same
/// argument leave. Empty: one of them has no branch there.
Mode SensitivityUpdate::mode_beside(const Gap& gap, const Mode& mode) const {
  Mode beside = mode;
  const std::vector<int>& arguments = at_.system.G;
  for (std::size_t i = 0; i < beside.size(); ++i) {
    if (arguments[i] != arguments[static_cast<std::size_t>(gap.law)]) continue;
    const int branch = branch_beyond({static_cast<int>(i), -1, false, gap.bound, -gap.sign});
    if (branch < 0) return {};
    beside[i] = branch;
  }
  return beside;
}

/// The sides of laws that hold their argument, to which some q moves the start off.
std::vector<SensitivityUpdate::Beside> SensitivityUpdate::besides(const Jet& start, const Matrix& given) {
  std::vector<Beside> found;
  for (int i = 0; i < at_.system.m(); ++i) {
    const auto law = static_cast<std::size_t>(i);
    const Branch& branch = at_.system.laws[law].branches[static_cast<std::size_t>(start.mode[law])];
    for (const double sign : {1.0, -1.0}) {
      const Gap gap{i, -1, false, w_range(branch).lower, sign};
      const Mode mode = is_vertical(branch) ? mode_beside(gap, start.mode) : Mode();
      if (mode.empty()) continue;
      Jet beside = jets_.all().solve(mode, at_.now.t, at_.now.x, at_.now.lambda);
      // One that is held by its multiplier alone is not at its end there.
      if (!beside.consistent || !beside.determined || !locator_.is_zero(gap, gap.at(beside.w(i, 0)))) continue;
      Sensitivities::GapRate rate = maps_.gap_rate(gap, beside, given);
      if (moves_off(gap, rate)) found.push_back({gap, std::move(beside), std::move(rate)});
    }
  }
  return found;
}

/// The columns that move the start off this side, and off no law of another argument: 1, others 0.
Vector SensitivityUpdate::alone(const Beside& side, const std::vector<Beside>& all) const {
  const auto argument = [&](const Beside& of) { return at_.system.G[static_cast<std::size_t>(of.gap.law)]; };
  Vector columns = Vector::Ones(side.rate.by_q.size());
  for (const Beside& other : all)
    if (argument(other) != argument(side)) columns = (other.rate.by_q.array() != 0).select(0, columns);
  return (side.rate.by_q.array() == 0).select(0, columns);
}

/// Have starts on this side other derivatives than the start on the surface? They leave, or come back in a time −(∂w/∂q)/ẇ
/// on another way. `given`: S of the given start.
bool SensitivityUpdate::differs(const Beside& side, const std::vector<Beside>& all, const Jet& start, const Matrix& given) {
  if (!(side.rate.by_t < 0) || rests(side.gap, side.rate)) return true;
  const Vector mask = alone(side, all);
  const auto columns = mask.asDiagonal();
  const Matrix way = (side.jet.x.col(1) - start.x.col(1)) * side.rate.time().transpose();
  return !are_alike(maps_.complete(start, given + way).dx * columns, maps_.complete(start, maps_.dx()).dx * columns,
                    sizes(given).cwiseMax(sizes(way)));
}

/// Ends where a start is held on a surface that starts beside it leave, or come back to on another way; and where it is on
/// the condition of a reset, which fires for starts on one side of it.
void SensitivityUpdate::watch_start(const Jet& start, bool x_jumped) {
  if (!active() || x_jumped) return;
  const Matrix given = maps_.moved().size() > 0 ? maps_.moved() : maps_.dx();
  const std::vector<Beside> sides = besides(start, given);
  const auto other = std::ranges::find_if(sides, [&](const Beside& side) { return differs(side, sides, start, given); });
  if (other != sides.end()) return end_at(other->gap, "starts on");
  const std::vector<Gap> resets = resets_at_start(start);
  if (!resets.empty()) end_at(resets.front(), "starts on");
}

/// The resets on whose conditions the start is, moved off by some q, and passed from one side in their direction.
std::vector<Gap> SensitivityUpdate::resets_at_start(const Jet& start) {
  std::vector<Gap> found;
  for (int k = 0; k < static_cast<int>(at_.system.resets.size()); ++k) {
    const Gap gap{-1, k};
    if (!maps_.is_on_condition(k, start)) continue;
    const Sensitivities::GapRate rate = maps_.gap_rate(gap, start, maps_.dx());
    const int direction = at_.system.resets[static_cast<std::size_t>(k)].direction;
    if (moves_off(gap, rate) && !(rate.by_t * direction < 0)) found.push_back(gap);
  }
  return found;
}

}  // namespace perp
