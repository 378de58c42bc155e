#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <perp/core/branches.hpp>
#include <perp/lcp/enumeration/point_maps.hpp>
#include <perp/lcp/exact/exact_scaling.hpp>

namespace perp {
namespace {

using Number = PointMaps::Number;

constexpr double point_known_to = 0x1p-54;  ///< share of a coordinate that its bound may be

template <class Scalar>
using Table = std::vector<std::vector<Scalar>>;

Number product(const std::vector<Number>& row, const std::vector<Number>& r) {
  Number sum;
  for (std::size_t j = 0; j < row.size(); ++j)
    if (!is_zero(row[j])) subtract_product(sum, -row[j], r[j]);
  return sum;
}

/// What Gauss-Jordan elimination makes of [A | I].
template <class Scalar>
struct Inverse {
  bool decided = true;       ///< false: an entry may be a pivot or 0
  Table<Scalar> rows;        ///< A⁻¹; empty: singular
  Table<Scalar> conflicts{};  ///< singular: left null vectors
};

/// The largest entry of the rows and columns that are left; {n, n} if there is none.
template <class Scalar>
std::pair<std::size_t, std::size_t> largest_entry(const Table<Scalar>& matrix,
                                                  const std::vector<bool>& used,
                                                  const std::vector<std::size_t>& row_of) {
  const std::size_t n = matrix.size();
  std::pair<std::size_t, std::size_t> best{n, n};
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t j = 0; j < n; ++j) {
      if (used[r] || row_of[j] < n || is_zero(matrix[r][j])) continue;
      if (best.first == n || is_larger(matrix[r][j], matrix[best.first][best.second])) best = {r, j};
    }
  return best;
}

/// Subtracts the row of a pivot from the others, which leaves nothing else in its column.
template <class Scalar>
void clear_column(Table<Scalar>& matrix, std::size_t pivot, std::size_t column) {
  for (std::size_t r = 0; r < matrix.size(); ++r) {
    if (r == pivot || is_zero(matrix[r][column])) continue;
    const Scalar factor = matrix[r][column] / matrix[pivot][column];
    for (std::size_t j = 0; j < matrix[r].size(); ++j)
      subtract_product(matrix[r][j], factor, matrix[pivot][j]);
    matrix[r][column] = Scalar(0);
  }
}

/// Reads the right half of [A | I] after the elimination: rows without a pivot are left null vectors; if
/// there are none, the others over their pivots are A⁻¹.
template <class Scalar>
void write_inverse(const Table<Scalar>& matrix, const std::vector<bool>& used,
                   const std::vector<std::size_t>& row_of, Inverse<Scalar>& result) {
  const std::size_t n = matrix.size();
  const auto tail = [&](std::size_t r) {
    return std::vector<Scalar>(matrix[r].begin() + static_cast<std::ptrdiff_t>(n), matrix[r].end());
  };
  for (std::size_t r = 0; r < n; ++r)
    if (!used[r]) result.conflicts.push_back(tail(r));
  for (std::size_t j = 0; j < n && result.conflicts.empty(); ++j) {
    result.rows.push_back(tail(row_of[j]));
    for (Scalar& entry : result.rows.back()) entry = entry / matrix[row_of[j]][j];
  }
}

template <class Scalar>
Inverse<Scalar> invert(Table<Scalar> matrix) {
  const std::size_t n = matrix.size();
  std::vector<std::size_t> row_of(n, n);  // of an unknown
  std::vector<bool> used(n, false);
  Inverse<Scalar> result;
  for (std::size_t step = 0; step < n; ++step) {
    const auto [pivot, column] = largest_entry(matrix, used, row_of);
    if (pivot == n) break;
    result.decided = decided_sign(matrix[pivot][column]) != 0;
    if (!result.decided) return result;
    used[pivot] = true;
    row_of[column] = pivot;
    clear_column(matrix, pivot, column);
  }
  write_inverse(matrix, used, row_of, result);
  return result;
}

/// [A | I] of the equations  M11 u + M12 λ = -q1,  a (M21 u + M22 λ) + b λ = c - a q2  of a mode.
template <class Scalar>
Table<Scalar> equations(const AlgebraicProblem<Scalar>& problem, const Mode& mode) {
  const auto p = static_cast<std::size_t>(problem.p);
  const std::size_t n = p + static_cast<std::size_t>(problem.m);
  Table<Scalar> matrix(n, std::vector<Scalar>(2 * n, Scalar(0)));
  for (std::size_t i = 0; i < n; ++i) {
    const LawBranch<Scalar>* branch =
        i < p ? nullptr : &problem.branch(mode, static_cast<int>(i - p));
    const Scalar factor = branch == nullptr ? Scalar(1) : branch->a;
    for (std::size_t j = 0; j < n; ++j) matrix[i][j] = factor * problem.rows[i][j];
    if (branch != nullptr) matrix[i][i] = matrix[i][i] + branch->b;
    matrix[i][n + i] = Scalar(1);
  }
  return matrix;
}

/// The scaled problem where scaling is exact, else the problem itself.
Mlcp well_scaled(const Mlcp& problem, Scaling& scaling) {
  Mlcp result = scaled(problem, scaling);
  if (is_exactly_scaled(problem, result)) return result;
  for (Vector* scale :
       {&scaling.u_scale, &scaling.row_scale, &scaling.lambda_scale, &scaling.w_scale})
    scale->setOnes();
  return problem;
}

/// A rational number is rounded, a rational system answers for one of bounds that is not decided.
Table<Number> with_bounds(const Table<Rational>& rows) {
  Table<Number> result;
  for (const std::vector<Rational>& row : rows) {
    result.emplace_back();
    for (const Rational& value : row) result.back().push_back(perp::with_bounds(value));
  }
  return result;
}

/// The problem with every number as it is.
AlgebraicProblem<Rational> exactly(const AlgebraicProblem<Number>& problem) {
  const auto number = [](const Number& value) { return Rational(static_cast<double>(value.value)); };
  AlgebraicProblem<Rational> result{Mlcp{}};
  result.p = problem.p;
  result.m = problem.m;
  for (const std::vector<Number>& row : problem.rows) {
    result.rows.emplace_back();
    for (const Number& value : row) result.rows.back().push_back(number(value));
  }
  for (const auto& law : problem.laws) {
    result.laws.emplace_back();
    for (const LawBranch<Number>& branch : law)
      result.laws.back().push_back(
          {number(branch.a), number(branch.b), number(branch.c), {}, {}});  // no range is needed
  }
  return result;
}

bool has_end(const Interval<Number>& range) { return range.lower || range.upper; }

/// Σ_j factor_j row_j of the rows of a map.
std::vector<Number> combined(const std::vector<Number>& factors, const Table<Number>& rows) {
  std::vector<Number> sum(rows.size());
  for (std::size_t j = 0; j < rows.size(); ++j)
    if (!is_zero(factors[j]))
      for (std::size_t k = 0; k < sum.size(); ++k)
        subtract_product(sum[k], -factors[j], rows[j][k]);
  return sum;
}

/// Takes the point of a regular mode to those that are on the same branches, where it is a solution. False
/// where something stays open.
bool add_meeting(const AlgebraicProblem<Number>& problem, const Mode& mode,
                 std::map<MeetingBranches, MeetingPoint>& found) {
  auto y = sparse_point(problem, mode);
  if (!y) return false;
  const auto branches = meeting_branches(problem, mode, *y);
  if (!branches) return false;
  if (count_modes(*branches, 1) == 0) return true;
  if (!is_precise(*y, point_known_to)) return false;
  MeetingPoint& point = found[*branches];
  if (point.modes.empty()) point.y = std::move(*y);
  point.modes.push_back(mode);
  return true;
}

}  // namespace

Bounded<long double> with_bounds(const Rational& value) {
  const double high = to_double(value);
  if (!std::isfinite(high)) return {high, inf};
  const Rational rest = value - Rational(high);
  if (rest == 0) return {high};
  const long double sum = static_cast<long double>(high) + to_double(rest);
  return {sum, bounded::up(4 * bounded::unit<long double> * std::abs(sum))};
}

PointMaps::PointMaps(const Mlcp& problem) : problem_(Mlcp{}) {
  double modes = 1;
  for (const Law& law : problem.laws) modes *= static_cast<double>(law.branches.size());
  if (modes > most_modes) return;
  usable_ = true;
  Scaling scaling = equilibrate(problem);
  const Mlcp same = well_scaled(problem, scaling);
  problem_ = AlgebraicProblem<Number>(same);
  for (const Vector* part : {&scaling.u_scale, &scaling.lambda_scale})
    unknown_scale_.insert(unknown_scale_.end(), part->begin(), part->end());
  for (const Vector* part : {&scaling.row_scale, &scaling.w_scale})
    row_scale_.insert(row_scale_.end(), part->begin(), part->end());
  Mode mode(static_cast<std::size_t>(problem.m()), 0);
  do {
    add_mode(mode);
  } while (next_mode(mode, same.laws));
}

void PointMaps::add_mode(const Mode& mode) {
  ModeMap map;
  map.mode = mode;
  Inverse<Number> inverse = invert(equations(problem_, mode));
  if (!inverse.decided) {
    const Inverse<Rational> exact = invert(equations(exactly(problem_), mode));
    inverse.rows = with_bounds(exact.rows);
    inverse.conflicts = with_bounds(exact.conflicts);
  }
  map.rows = std::move(inverse.rows);
  map.conflicts = std::move(inverse.conflicts);
  if (map.conflicts.empty()) watch(map);
  maps_.push_back(std::move(map));
}

/// The rows of what has a range in the mode: the λ and the w = M2 K r + q2 of its branches.
void PointMaps::watch(ModeMap& map) const {
  const auto p = static_cast<std::size_t>(problem_.p);
  for (int i = 0; i < problem_.m; ++i) {
    const LawBranch<Number>& branch = problem_.branch(map.mode, i);
    if (!is_zero(branch.a) && has_end(branch.lambda))
      map.watched.push_back({map.rows[p + static_cast<std::size_t>(i)], -1, branch.lambda});
    if (is_zero(branch.b) || !has_end(branch.w)) continue;
    map.watched.push_back({combined(problem_.w_row(i), map.rows), i, branch.w});
  }
}

std::vector<Number> PointMaps::right_side(const ModeMap& map, const std::vector<Number>& q) const {
  const auto p = static_cast<std::size_t>(problem_.p);
  std::vector<Number> r(q.size());
  for (std::size_t i = 0; i < r.size(); ++i) {
    if (i < p) {
      r[i] = -q[i];
      continue;
    }
    const LawBranch<Number>& branch = problem_.branch(map.mode, static_cast<int>(i - p));
    r[i] = branch.c;
    subtract_product(r[i], branch.a, q[i]);
  }
  return r;
}

Verdict PointMaps::verdict(const ModeMap& map, const std::vector<Number>& q,
                           const std::vector<Number>& r) const {
  for (const std::vector<Number>& conflict : map.conflicts)
    if (decided_sign(product(conflict, r)) != 0) return Verdict::outside;
  if (!map.conflicts.empty()) return Verdict::undecided;
  Verdict worst = Verdict::inside;
  const auto p = static_cast<std::size_t>(problem_.p);
  for (const Watched& watched : map.watched) {
    Number value = product(watched.row, r);
    if (watched.w >= 0) value = value + q[p + static_cast<std::size_t>(watched.w)];
    const Verdict here = stands(watched.range, value);
    if (here == Verdict::outside) return here;
    if (here == Verdict::undecided) worst = here;
  }
  return worst;
}

/// The same with the point, and whether no other mode has it.
Verdict PointMaps::verdict(const ModeMap& map, const std::vector<Number>& q,
                           const std::vector<Number>& r, std::vector<Number>& y) const {
  const Verdict of_ranges = verdict(map, q, r);
  if (of_ranges != Verdict::inside) return of_ranges;
  y.clear();
  for (const std::vector<Number>& row : map.rows) y.push_back(product(row, r));
  const auto p = static_cast<std::size_t>(problem_.p);
  for (std::size_t i = 0; i < problem_.laws.size(); ++i) {
    const std::vector<Number>& row = problem_.rows[p + i];
    Number w = q[p + i];
    for (std::size_t j = 0; j < y.size(); ++j)
      if (!is_zero(row[j])) subtract_product(w, -row[j], y[j]);
    if (stands(problem_.laws[i], map.mode[i], w, y[p + i]) != Verdict::inside)
      return Verdict::undecided;
  }
  return is_precise(y, point_known_to) ? Verdict::inside : Verdict::undecided;
}

std::vector<Number> PointMaps::scaled_q(const std::vector<Number>& q) const {
  std::vector<Number> scaled(q);
  for (std::size_t i = 0; i < q.size(); ++i) {
    scaled[i].value /= row_scale_[i];
    scaled[i].error /= row_scale_[i];
  }
  return scaled;
}

void PointMaps::unscale(std::vector<Number>& y) const {
  for (std::size_t j = 0; j < y.size(); ++j) {
    y[j].value *= unknown_scale_[j];
    y[j].error *= unknown_scale_[j];
  }
}

void PointMaps::solve(const std::vector<Number>& q, std::vector<ModalPoint>& points,
                      std::vector<Mode>& undecided) const {
  const std::vector<Number> scaled = scaled_q(q);
  std::vector<Number> y;
  points.clear();
  undecided.clear();
  for (const ModeMap& map : maps_) {
    const Verdict found = verdict(map, scaled, right_side(map, scaled), y);
    if (found == Verdict::undecided) undecided.push_back(map.mode);
    if (found != Verdict::inside) continue;
    unscale(y);
    points.push_back({y, map.mode});
  }
}

bool PointMaps::solve_meetings(const std::vector<Number>& q, const std::vector<Mode>& undecided,
                               std::vector<MeetingPoint>& points) const {
  AlgebraicProblem<Number> problem = problem_;
  const std::vector<Number> scaled = scaled_q(q);
  for (std::size_t i = 0; i < q.size(); ++i) problem.rows[i].back() = scaled[i];
  std::map<MeetingBranches, MeetingPoint> found;
  for (const Mode& mode : undecided)
    if (!add_meeting(problem, mode, found)) return false;
  for (auto& [branches, point] : found) {
    const auto count = static_cast<long>(point.modes.size());
    if (count_modes(branches, count + 1) != count) return false;
    unscale(point.y);
    points.push_back(std::move(point));
  }
  return true;
}

}  // namespace perp
