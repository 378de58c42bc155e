#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/lcp/enumeration/active_set.hpp>
#include <perp/lcp/grid/grid_box.hpp>
#include <perp/lcp/residual_gate.hpp>

namespace perp {

using linear::GridField;
using linear::GridMatrix;

namespace {

constexpr double rough = 1e-3;       ///< of the energy of a residual, while sets change
constexpr double fine = 1e-7;        ///< of the same in one round of refinement
constexpr int most_rough_iterations = 20;
constexpr int most_rounds = 6;       ///< of refinement
constexpr int most_rough_sets = 30;  ///< of one grid
constexpr int most_sets = 200;       ///< that are solved to the rounding of their rows
constexpr long few = 16;             ///< nodes that move: of more, sets of coarser grids come first
constexpr double largest_share = 0x1p-20;  ///< of the terms of y: a larger error tells nothing of it
constexpr int least_grid = 8;        ///< nodes of the coarsest grid whose set is looked for

/// Roundings of a row: its products and sums, and those of its entries.
constexpr double row_rounding = (GridMatrix::neighbours + 8) * unit_roundoff;

}  // namespace

GridBox::GridBox(GridMatrix A, bool has_upper) : hierarchy_(std::move(A)), has_upper_(has_upper) {
  for (int k = 0; k < hierarchy_.levels(); ++k) {
    const linear::GridShape& shape = hierarchy_.shape(k);
    Level& level = levels_.emplace_back(Level{GridField(shape), GridField(shape), {}, GridField(shape), {}});
    if (has_upper) level.upper = GridField(shape);
    level.held.assign(at(shape.nodes()), free);
  }
  rest_ = sizes_ = GridField(hierarchy_.shape(0));
  is_certified_ = certify();
}

/// Is no entry beside the diagonal positive?
bool GridBox::has_signs() const {
  for (std::ptrdiff_t i = 0; i < nodes(); ++i) {
    if (!(matrix().diagonal()[i] > 0)) return false;
    for (int code = GridMatrix::centre + 1; code < GridMatrix::neighbours; ++code)
      if (!matrix().beside(code).empty() && !(matrix().beside(code)[i] <= 0)) return false;
  }
  return true;
}

/// The least entry of A v, less what its rounding may be; -inf where v is not positive.
double GridBox::least_product(const GridField& v) {
  const GridField zero(hierarchy_.shape(0));
  matrix().residual(zero, v, rest_, &sizes_);
  double least = inf;
  for (std::ptrdiff_t i = 0; i < nodes(); ++i) {
    if (!(v[i] > 0)) return -inf;
    least = std::min(least, -rest_[i] - row_rounding * sizes_[i]);
  }
  return least;
}

// v = 1 where all rows are dominant, else the solution of A v = 1, whatever its error.
bool GridBox::certify() {
  if (!has_signs()) return false;
  GridField v(hierarchy_.shape(0));
  v.fill(1);
  least_gain_ = least_product(v);
  if (least_gain_ > 0) return true;
  GridField one = v;
  hierarchy_.hold(0, held());
  hierarchy_.solve(one, v, fine);
  least_gain_ = least_product(v);
  weight_ = std::move(v);
  return least_gain_ > 0;
}

/// b - A x and the sizes of its terms, and from them the error of x: |A| |x - x*| <= its rows, and A v > 0.
void GridBox::find_rest() {
  matrix().residual(right(), x(), rest_, &sizes_);
  error_ = 0;
  for (std::ptrdiff_t i = 0; i < nodes(); ++i)
    if (levels_[0].held[at(i)] == free) error_ = std::max(error_, std::abs(rest_[i]) + row_rounding * sizes_[i]);
  error_ = error_ / least_gain_ * (1 + 8 * unit_roundoff);
}

/// Does each row of a free node hold to the rounding of its terms?
bool GridBox::keeps_rows() const {
  for (std::ptrdiff_t i = 0; i < nodes(); ++i)
    if (levels_[0].held[at(i)] == free && !(std::abs(rest_[i]) <= misfit_limit * 8 * unit_roundoff * sizes_[i])) return false;
  return true;
}

/// |a_ij| v_j make at most 2 a_ii v_i in the row of an M-matrix with A v > 0.
double GridBox::y_error(std::ptrdiff_t node) const {
  return 2 * matrix().diagonal()[node] * x_error(node) + row_rounding * sizes_[node];
}

void GridBox::put_on_bounds(int level) {
  Level& own = levels_[at(level)];
  for (std::size_t i = 0; i < own.held.size(); ++i) {
    if (own.held[i] == at_lower) own.x[static_cast<std::ptrdiff_t>(i)] = own.lower[static_cast<std::ptrdiff_t>(i)];
    if (own.held[i] == at_upper) own.x[static_cast<std::ptrdiff_t>(i)] = own.upper[static_cast<std::ptrdiff_t>(i)];
  }
}

// Most sets that move do so by more than a rough solution leaves open.
GridBox::Outcome GridBox::solve_held() {
  put_on_bounds(0);
  hierarchy_.hold(0, held());
  ++sets_;
  find_rest();
  if (!keeps_rows()) {
    hierarchy_.solve(right(), x(), rough, rounding_energy(), most_rough_iterations);
    find_rest();
    if (violated() > 0) return Outcome::moves;
  }
  if (!solve_to_rounding() || !is_decided()) return Outcome::unknown;
  return violated() > 0 ? Outcome::moves : Outcome::rests;
}

bool GridBox::solve_to_rounding() {
  for (int round = 0; !keeps_rows(); ++round) {
    check_interruption();
    if (round == most_rounds) return false;
    hierarchy_.solve(right(), x(), fine, 0, most_rough_iterations);
    find_rest();
  }
  return true;
}

/// Of a residual that is the rounding of its rows, by the diagonal: it is rough.
double GridBox::rounding_energy() const {
  double sum = 0;
  for (std::ptrdiff_t i = 0; i < nodes(); ++i) {
    const double rest = unit_roundoff * sizes_[i];
    if (levels_[0].held[at(i)] == free) sum += rest * rest / matrix().diagonal()[i];
  }
  return sum;
}

/// Are the errors of y a small share of its terms, and those of x of the largest x, so that a sign that they leave open is 0 to
/// rounding?
bool GridBox::is_decided() const {
  const Level& own = levels_[0];
  double largest = 0, largest_error = 0;
  for (std::ptrdiff_t i = 0; i < nodes(); ++i) {
    if (own.held[at(i)] != free && !(y_error(i) <= largest_share * sizes_[i])) return false;
    largest = std::max(largest, std::abs(own.x[i]));
    largest_error = std::max(largest_error, x_error(i));
  }
  return largest_error <= largest_share * largest;
}

/// Where a node of the present solution goes by more than its error; `free` for one that is pulled off its bound, its own side
/// for one that stays.
signed char GridBox::side_beyond(std::ptrdiff_t i) const {
  const Level& own = levels_[0];
  const signed char held = own.held[at(i)];
  if (held == at_lower) return y(i) < -y_error(i) ? free : held;
  if (held == at_upper) return y(i) > y_error(i) ? free : held;
  if (own.x[i] < own.lower[i] - x_error(i)) return at_lower;
  return has_upper_ && own.x[i] > own.upper[i] + x_error(i) ? at_upper : free;
}

long GridBox::violated() const {
  long count = 0;
  for (std::ptrdiff_t i = 0; i < nodes(); ++i) count += side_beyond(i) != levels_[0].held[at(i)];
  return count;
}

void GridBox::change_certainly(bool takes_all) {
  for (std::ptrdiff_t i = 0; i < nodes(); ++i) {
    const signed char side = side_beyond(i);
    const bool changes = std::exchange(levels_[0].held[at(i)], side) != side;
    if (changes && !takes_all) return;
  }
}

/// The same by numbers as they are.
long GridBox::change(int level) {
  Level& own = levels_[at(level)];
  GridField& rest = hierarchy_.rest(level);
  hierarchy_.matrix(level).residual(own.right, own.x, rest);
  long count = 0;
  for (std::size_t k = 0; k < own.held.size(); ++k) {
    const auto i = static_cast<std::ptrdiff_t>(k);
    const double y = -rest[i];
    signed char side = own.held[k];
    if (side == free)
      side = own.x[i] < own.lower[i] ? at_lower : has_upper_ && own.x[i] > own.upper[i] ? at_upper : free;
    else if (side == at_lower ? y < 0 : y > 0)
      side = free;
    count += std::exchange(own.held[k], side) != side;
  }
  return count;
}

/// Sets of one grid, each solved roughly: all by what the first one needed. Does it rest?
bool GridBox::improve(int level) {
  Level& own = levels_[at(level)];
  double enough = 0;
  for (int count = 0; count < most_rough_sets; ++count) {
    check_interruption();
    put_on_bounds(level);
    hierarchy_.hold(level, own.held);
    ++(level == 0 ? sets_ : coarse_sets_);
    const linear::GridHierarchy::End end = hierarchy_.solve(own.right, own.x, rough, enough, most_rough_iterations);
    if (count == 0) enough = rough * rough * end.first;
    if (change(level) == 0) return true;
  }
  return false;
}

/// P' b and the bounds at the nodes of the coarser grids.
void GridBox::restrict_problem() {
  for (int level = 0; level + 1 < hierarchy_.levels(); ++level) {
    const Level& from = levels_[at(level)];
    Level& to = levels_[at(level + 1)];
    hierarchy_.restrict_to(level, from.right, to.right);
    for (std::size_t k = 0; k < to.held.size(); ++k) {
      const auto i = static_cast<std::ptrdiff_t>(k);
      const std::ptrdiff_t j = hierarchy_.finer_node(level + 1, i);
      to.x[i] = from.x[j];
      to.lower[i] = from.lower[j];
      if (has_upper_) to.upper[i] = from.upper[j];
      to.held[k] = from.held[at(j)];
    }
  }
}

/// A node of the finer grid that has the bound is held at it where all are that it is interpolated from.
void GridBox::pass_on_set(int level) {
  const Level& from = levels_[at(level)];
  Level& to = levels_[at(level - 1)];
  GridField &shares = hierarchy_.rest(level), &share = hierarchy_.rest(level - 1);
  for (std::size_t k = 0; k < from.held.size(); ++k) shares[static_cast<std::ptrdiff_t>(k)] = from.held[k];
  hierarchy_.interpolate(level - 1, shares, share);
  constexpr double all = 0.999;
  for (std::size_t k = 0; k < to.held.size(); ++k) {
    const auto i = static_cast<std::ptrdiff_t>(k);
    to.held[k] = share[i] <= -all && to.lower[i] > -inf ? at_lower : has_upper_ && share[i] >= all && to.upper[i] < inf ? at_upper : free;
  }
  hierarchy_.interpolate(level - 1, from.x, to.x);
}

void GridBox::find_coarse_sets() {
  restrict_problem();
  int level = hierarchy_.levels() - 1;
  while (level > 0 && hierarchy_.shape(level).nodes() < least_grid) --level;
  for (; level > 0; --level) {
    improve(level);
    pass_on_set(level);
  }
}

void GridBox::find_near_set() {
  find_coarse_sets();
  improve(0);
}

bool GridBox::find() {
  if (!is_certified_) return false;
  const long moving = violated();
  if (moving > few)
    find_coarse_sets();
  else
    change_certainly(true);
  improve(0);
  BlockPivots pivots;
  for (int count = 0; count < most_sets; ++count) {
    const Outcome outcome = solve_held();
    if (outcome != Outcome::moves) return outcome == Outcome::rests;
    change_certainly(pivots.takes_all(at(violated())));
  }
  return false;
}

GridBox::Counts GridBox::counts() const { return {sets_, coarse_sets_, hierarchy_.iterations()[0]}; }

}  // namespace perp
