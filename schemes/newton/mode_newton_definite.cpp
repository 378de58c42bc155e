// Is there a solution where the rows vanish to rounding? Called by ModeNewton::run where it
// converged.
//
// |F| <= 8 e bounds the distance y − y* of a simple solution by z = |J⁻¹| (|F| + 8 e), and Newton's
// step from 16 z beside it leads back by 16 z; by 16 z / k to a k-fold one. A row that goes to 0 at
// infinity, or is flat as exp(−1/y²) at 0, lets the gate pass from some point on: there it does so
// on one side as well, or Newton's step leads nowhere.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include <perp/core/base/index.hpp>
#include <perp/lcp/polyhedra/affine_space.hpp>
#include <perp/schemes/newton/mode_newton.hpp>

namespace perp {
namespace {

constexpr double bounds_beside = 16;  ///< of the distance from the solution: the point looked at
constexpr double least_bounds = 4;    ///< where rows have no values farther off: an exponential overflows
constexpr double fewest_bounds = 0.5;  ///< where they have none there on either side
constexpr double most_fold = 64;      ///< of a solution, to which Newton's step is so much shorter
constexpr double definite = 0x1p-26;  ///< share of an unknown that no branch is apart by
constexpr double loose = 0x1p-13;     ///< share of an unknown that is open; at a fold rounding leaves it open by its root, 2^-26
constexpr int most_sharpenings = 256;    ///< of a point that has passed the gate
constexpr double flat_share = 0x1p-10;  ///< of an unknown by which a row that is flat lets it move
constexpr double underflow = 0x1p-960;  ///< below this a product may round by more than u of itself

/// Has a row a derivative left in the unknown?
bool has_slope(const ImplicitStep& step, int unknown) {
  bool found = false;
  step.for_each_in_column(static_cast<std::size_t>(unknown),
                          [&](std::size_t, double entry) { found = found || entry != 0; });
  return found;
}

/// Is a state moved along the way, one for these unknowns, of which those below n are states?
bool moves_state(const std::vector<Rational>& way, const std::vector<int>& unknowns, int n) {
  for (std::size_t k = 0; k < unknowns.size(); ++k)
    if (unknowns[k] < n && way[k] != 0) return true;
  return false;
}

}  // namespace

/// x_j + d_j, or λ.
double ModeNewton::unknown_value(int unknown, const Vector& lambda) const {
  if (unknown < step_.n()) return step_.variable(unknown);
  return lambda[step_.free_laws()[static_cast<std::size_t>(unknown - step_.n())]];
}

/// Has a row that is not linear an error, but one of underflow alone? That it is 0 shows nothing.
bool ModeNewton::has_underflowed() const {
  return std::ranges::any_of(step_.curved_rows(), [&](int row) {
    return row >= 0 && 0 < step_.errors()[row] && step_.errors()[row] < underflow;
  });
}

/// The bound z = |J⁻¹| b, b = |F| + 8 e, of the distance of an unknown from its solution. Its row
/// of J⁻¹ is left in the way out, its terms in the work.
double ModeNewton::distance_bound(int unknown) {
  std::fill_n(way_out_.begin(), step_.size(), 0.0);
  way_out_[static_cast<std::size_t>(unknown)] = 1;
  lu_.solve_transposed(way_out_.data());
  double sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(step_.size()); ++i) {
    const double bound = std::abs(step_.residual()[i]) + gate * step_.errors()[i];
    sum += work_[i] = bound == 0 ? 0 : bound * std::abs(way_out_[i]);
  }
  return sum;
}

/// The same by the factors alone where that is enough: at most so much.
double ModeNewton::distance_bound(int unknown, double enough) {
  const double by_factors = distances_[at(unknown)];
  return by_factors <= enough ? by_factors : distance_bound(unknown);
}

/// The same of all unknowns, by the factors alone: too large by what cancels in J⁻¹.
void ModeNewton::bound_distances() {
  distances_.resize(static_cast<std::size_t>(step_.size()));
  for (std::size_t i = 0; i < distances_.size(); ++i)
    distances_[i] = std::abs(step_.residual()[i]) + gate * step_.errors()[i];
  lu_.bound(distances_.data());
}

/// The way on which the rows let the unknown move most, J⁻¹ (b_i² (J⁻ᵀ)_i), as long as its bound.
void ModeNewton::write_way_out(int unknown, double distance) {
  const auto size = static_cast<std::size_t>(step_.size());
  const double largest = *std::max_element(work_.begin(), work_.begin() + step_.size());
  for (std::size_t i = 0; i < size; ++i) {
    const double bound = std::abs(step_.residual()[i]) + gate * step_.errors()[i];
    way_out_[i] = std::copysign(bound * (work_[i] / largest), way_out_[i]);
  }
  lu_.solve(way_out_.data());
  const double scale = distance / way_out_[static_cast<std::size_t>(unknown)];
  for (std::size_t j = 0; j < size; ++j) way_out_[j] *= scale;
}

/// Newton's step J⁻¹ F at the present point, in the work. Refined, so that an entry that is small
/// beside the others is right too where its own row tells it.
void ModeNewton::solve_refined() {
  const auto size = static_cast<std::size_t>(step_.size());
  std::copy_n(step_.residual(), size, work_.begin());
  lu_.solve(work_.data());
  for (int refinement = 0; refinement < 2; ++refinement) {
    rest_.assign(step_.residual(), step_.residual() + size);
    for (std::size_t i = 0; i < size; ++i)
      step_.for_each_in_row(i, [&](std::size_t j, double entry) { rest_[i] -= entry * work_[j]; });
    lu_.solve(rest_.data());
    for (std::size_t j = 0; j < size; ++j) work_[j] += rest_[j];
  }
}

/// Does Newton's step lead back from beside the solution on one side, at least `least` bounds away,
/// where a row is beyond its gate? Where the rows have no values, however near, there is nothing that
/// goes on (nullopt).
std::optional<bool> ModeNewton::comes_back(const Vector& d, const Vector& lambda, int unknown, double side,
                                           double least) {
  double bounds = bounds_beside;
  const auto has_values = [&] {
    step_.move(d, lambda, side * bounds, way_out_.data(), d_trial_, lambda_trial_);
    return step_.linearise(d_trial_, lambda_trial_);
  };
  while (!has_values())
    if ((bounds /= 2) < least) return std::nullopt;
  const double residual = step_.bound(d_trial_, lambda_trial_);
  if (bounds >= least_bounds && residual <= gate) return false;  // nearer it may be rounding
  if (!factorise()) return false;
  solve_refined();
  const auto k = static_cast<std::size_t>(unknown);
  const double back = side * work_[k], out = bounds * way_out_[k];
  return back >= out / most_fold && back <= out * most_fold;
}

/// The same on both sides. The rows may have no values on one side of a solution at the edge of their
/// domain; where they have none on both, as where exponentials overflow, it is asked nearer.
bool ModeNewton::comes_back(const Vector& d, const Vector& lambda, int unknown) {
  for (const double least : {least_bounds, fewest_bounds}) {
    const auto above = comes_back(d, lambda, unknown, 1, least), below = comes_back(d, lambda, unknown, -1, least);
    if (above || below) return above.value_or(true) && below.value_or(true);
  }
  return true;
}

/// Does the gate pass at this share of the way out? The step stands linearised at the point itself then.
bool ModeNewton::gate_passes_beside(const Vector& d, const Vector& lambda, double share) {
  step_.move(d, lambda, share, way_out_.data(), d_trial_, lambda_trial_);
  const bool holds =
      step_.linearise(d_trial_, lambda_trial_) && step_.bound(d_trial_, lambda_trial_) <= gate;
  step_.linearise(d, lambda);
  ask_gate(d, lambda);
  return holds;
}

/// Where the matrix is singular: does the gate pass beside the point as well, where an unknown is
/// moved in whose own function no derivative is left, as in tanh(y) = 1 from y = 20 on? A double
/// root does not, and products with a factor 0 leave the other one open.
bool ModeNewton::is_flat(const Vector& d, const Vector& lambda) {
  if (has_underflowed()) return true;
  for (const int unknown : step_.curved_unknowns()) {
    const double value = unknown_value(unknown, lambda);
    if (value == 0 || !step_.is_curved_alone(unknown) || has_slope(step_, unknown)) continue;
    std::fill_n(way_out_.begin(), step_.size(), 0.0);
    way_out_[static_cast<std::size_t>(unknown)] = value;
    for (const double share : {flat_share, -flat_share})
      if (gate_passes_beside(d, lambda, share)) return true;
  }
  return false;
}

/// The unknowns that the equations of the mode are linear in.
std::vector<int> ModeNewton::linear_unknowns() const {
  std::vector<char> is_curved(static_cast<std::size_t>(step_.size()), 0);
  for (const int unknown : step_.curved_unknowns()) is_curved[static_cast<std::size_t>(unknown)] = 1;
  std::vector<int> linear;
  for (int j = 0; j < step_.size(); ++j)
    if (is_curved[static_cast<std::size_t>(j)] == 0) linear.push_back(j);
  return linear;
}

bool ModeNewton::is_open() const {
  if (lu_.is_too_large() || determines_state()) return false;
  const std::vector<int> linear = linear_unknowns();
  const auto size = static_cast<std::size_t>(step_.size());
  std::vector<std::vector<Rational>> rows(size);
  const std::vector<double> jacobian = step_.full_jacobian();
  for (std::size_t i = 0; i < size; ++i) {
    for (const int j : linear) {
      const double entry = jacobian[i * size + static_cast<std::size_t>(j)];
      if (!std::isfinite(entry)) return false;
      rows[i].emplace_back(entry);
    }
    rows[i].emplace_back(0);
  }
  const auto ways = solve_equations(std::move(rows), static_cast<int>(linear.size()));
  return std::ranges::any_of(ways->directions, [&](const auto& way) { return moves_state(way, linear, step_.n()); });
}

/// Do the rows, each of them 0 to its rounding, leave an unknown open that their equations are not linear in?
bool ModeNewton::is_loose(const Vector& lambda) {
  return std::ranges::any_of(step_.curved_unknowns(), [&](int unknown) {
    const double nothing = loose * std::abs(unknown_value(unknown, lambda));
    return !(distance_bound(unknown, nothing) <= nothing);
  });
}

/// Does the correction in the work move an unknown that the equations are not linear in by more than branches are apart?
bool ModeNewton::is_correction_open(const Vector& lambda) const {
  return std::ranges::any_of(step_.curved_unknowns(), [&](int unknown) {
    return std::abs(work_[at(unknown)]) > definite * std::abs(unknown_value(unknown, lambda));
  });
}

/// Of the next correction along the last one, both in scaled unknowns: their product.
double ModeNewton::goes_on_by() const {
  double product = 0;
  for (int j = 0; j < step_.size(); ++j)
    product -= (work_[at(j)] / lu_.column_scale(j)) * (direction_[at(j)] / lu_.column_scale(j));
  return product;
}

/// Newton's steps on from a point that has passed the gate, as long as they fall: terms that stand in several rows, as
/// the current of a source that floats, round alike in all of them, and their sums tell what no row does. The step stands
/// linearised and factorised at the last point. False: the matrix is singular.
bool ModeNewton::sharpen(Vector& d, Vector& lambda) {
  solve_refined();
  if (!is_correction_open(lambda)) return true;
  double size = scaled_size(work_);
  for (int k = 0; k < most_sharpenings && is_correction_open(lambda); ++k) {
    std::ranges::transform(work_, direction_.begin(), std::negate{});
    step_.move(d, lambda, 1, direction_.data(), d_trial_, lambda_trial_);
    if (!step_.linearise(d_trial_, lambda_trial_) || !(ask_gate(d_trial_, lambda_trial_) <= gate) || !factorise()) break;
    solve_refined();
    // Down an exponential they fall slowly, all the same way; rounding leads back and forth.
    const double next = scaled_size(work_), way = goes_on_by();
    if (!(next <= size / 2) && !(next <= size && way > size * size / 2)) break;
    size = next;
    d = d_trial_, lambda = lambda_trial_;
  }
  step_.linearise(d, lambda);
  ask_gate(d, lambda);
  return factorise();
}

bool ModeNewton::is_definite(Vector& d, Vector& lambda) {
  if (step_.curved_unknowns().empty()) return true;
  if (!factorise()) return !is_flat(d, lambda);
  bound_distances();
  if (is_loose(lambda)) {
    if (!sharpen(d, lambda)) return !is_flat(d, lambda);
    bound_distances();
  }
  for (const int unknown : step_.curved_unknowns()) {
    const double nothing = definite * std::abs(unknown_value(unknown, lambda));
    const double distance = distance_bound(unknown, nothing);
    if (distance <= nothing) continue;
    if (!std::isfinite(distance)) return !has_underflowed();
    write_way_out(unknown, distance);
    const bool comes = comes_back(d, lambda, unknown);
    step_.linearise(d, lambda);
    ask_gate(d, lambda);
    if (!comes) return false;
    if (!factorise()) return true;
  }
  return true;
}

}  // namespace perp
