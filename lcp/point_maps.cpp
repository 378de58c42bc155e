#include <algorithm>
#include <cmath>

#include <perp/lcp/arithmetic.hpp>
#include <perp/lcp/point_maps.hpp>

namespace perp {
namespace {

using Real = long double;

// Beside the size of its terms a number is surely 0 below the first, surely not above the second.
constexpr Real surely_zero = 1e-14L, surely_not_zero = 1e-6L;
constexpr Real largest_condition = 1e6L;
constexpr Real same_point = 8 * static_cast<Real>(solution_tolerance);

struct Product {
  Real value = 0, size = 0;
};

Product product(const std::vector<Real>& row, const std::vector<Real>& r) {
  Product result;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Real term = row[j] * r[j];
    result.value += term;
    result.size += std::abs(term);
  }
  return result;
}

bool next(Mode& mode, const std::vector<Law>& laws) {
  for (std::size_t i = 0; i < mode.size(); ++i) {
    if (++mode[i] < static_cast<int>(laws[i].branches.size())) return true;
    mode[i] = 0;
  }
  return false;
}

}  // namespace

PointMaps::PointMaps(const Mlcp& problem) {
  double modes = 1;
  for (const Law& law : problem.laws) modes *= static_cast<double>(law.branches.size());
  if (modes > most_modes) return;
  const Scaling scaling = equilibrate(problem);
  problem_ = scaled(problem, scaling);
  unit_ = equilibrate(problem_);
  for (const Vector* part : {&scaling.u_scale, &scaling.lambda_scale})
    unknown_scale_.insert(unknown_scale_.end(), part->begin(), part->end());
  for (const Vector* part : {&scaling.row_scale, &scaling.w_scale})
    row_scale_.insert(row_scale_.end(), part->begin(), part->end());
  Mode mode(static_cast<std::size_t>(problem.m()), 0);
  usable_ = true;
  do {
    usable_ = add_mode(mode);
  } while (usable_ && next(mode, problem_.laws));
}

/// Inverts the equations  M11 u + M12 λ = -q1,  a (M21 u + M22 λ) + b λ = c - a q2  of a mode.
bool PointMaps::add_mode(const Mode& mode) {
  const int p = problem_.p(), m = problem_.m();
  const auto n = static_cast<std::size_t>(p + m);
  ModeMap map;
  map.mode = mode;
  std::vector<std::vector<Real>> matrix(n, std::vector<Real>(2 * n, 0));
  for (int i = 0; i < p + m; ++i) {
    std::vector<Real>& row = matrix[static_cast<std::size_t>(i)];
    const auto at = [&](int j) -> Real& { return row[static_cast<std::size_t>(j)]; };
    at(p + m + i) = 1;
    if (i < p) {
      for (int j = 0; j < p; ++j) at(j) = problem_.M11(i, j);
      for (int j = 0; j < m; ++j) at(p + j) = problem_.M12(i, j);
      continue;
    }
    const auto law = static_cast<std::size_t>(i - p);
    const Branch& branch = problem_.laws[law].branches[static_cast<std::size_t>(mode[law])];
    for (int j = 0; j < p; ++j) at(j) = branch.a * static_cast<Real>(problem_.M21(i - p, j));
    for (int j = 0; j < m; ++j) at(p + j) = branch.a * static_cast<Real>(problem_.M22(i - p, j));
    at(i) += branch.b;
    map.a.push_back(branch.a);
    map.c.push_back(branch.c);
  }
  if (!invert(matrix, map)) return false;
  if (map.conflicts.empty()) watch(map);
  maps_.push_back(std::move(map));
  return true;
}

/// Gauss-Jordan elimination with full pivoting of [A | I]. False if the rank is in doubt.
bool PointMaps::invert(std::vector<std::vector<Real>>& matrix, ModeMap& map) const {
  const std::size_t n = matrix.size();
  std::vector<std::size_t> row_of(n, n);  // of an unknown
  std::vector<bool> used(n, false);
  Real norm = 0;
  for (const std::vector<Real>& row : matrix) {
    Real sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += std::abs(row[j]);
    norm = std::max(norm, sum);
  }
  for (std::size_t step = 0; step < n; ++step) {
    std::size_t pivot = n, column = n;
    Real largest = 0;
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t j = 0; j < n; ++j)
        if (!used[r] && row_of[j] == n && std::abs(matrix[r][j]) > largest) {
          largest = std::abs(matrix[r][j]);
          pivot = r;
          column = j;
        }
    if (largest <= surely_zero * norm) break;
    if (largest <= norm / largest_condition) return false;
    used[pivot] = true;
    row_of[column] = pivot;
    const Real value = matrix[pivot][column];
    for (Real& entry : matrix[pivot]) entry /= value;
    for (std::size_t r = 0; r < n; ++r) {
      const Real factor = matrix[r][column];
      if (r == pivot || factor == 0) continue;
      for (std::size_t j = 0; j < 2 * n; ++j)  // what a cancellation leaves must not look like data
        matrix[r][j] = Arithmetic<Real>::difference(matrix[r][j], factor * matrix[pivot][j]);
      matrix[r][column] = 0;
    }
  }
  const auto tail = [&](std::size_t r) {
    return std::vector<Real>(matrix[r].begin() + static_cast<std::ptrdiff_t>(n), matrix[r].end());
  };
  Real inverse_norm = 0;
  for (std::size_t r = 0; r < n; ++r) {
    if (!used[r]) map.conflicts.push_back(tail(r));
    Real sum = 0;
    for (const Real entry : tail(r)) sum += std::abs(entry);
    inverse_norm = std::max(inverse_norm, sum);
  }
  if (norm * inverse_norm > largest_condition) return false;
  if (!map.conflicts.empty()) return true;
  for (std::size_t j = 0; j < n; ++j) map.rows.push_back(tail(row_of[j]));
  return true;
}

/// The rows of what has a range in the mode: the λ and the w = M2 K r + q2 of its branches.
void PointMaps::watch(ModeMap& map) const {
  const int p = problem_.p(), m = problem_.m();
  const auto bounded = [](const Range& range) { return range.lower > -inf || range.upper < inf; };
  for (int i = 0; i < m; ++i) {
    const auto law = static_cast<std::size_t>(i);
    const Branch& branch = problem_.laws[law].branches[static_cast<std::size_t>(map.mode[law])];
    if (branch.a != 0 && bounded(branch.lambda))
      map.watched.push_back({map.rows[static_cast<std::size_t>(p + i)], -1, branch.lambda});
    if (branch.b == 0 || !bounded(branch.w)) continue;
    std::vector<Real> row(static_cast<std::size_t>(p + m), 0);
    for (int j = 0; j < p + m; ++j) {
      const Real factor = j < p ? problem_.M21(i, j) : problem_.M22(i, j - p);
      if (factor == 0) continue;
      for (std::size_t k = 0; k < row.size(); ++k)
        row[k] = Arithmetic<Real>::difference(row[k],
                                              -factor * map.rows[static_cast<std::size_t>(j)][k]);
    }
    map.watched.push_back({std::move(row), i, branch.w});
  }
}

PointMaps::Answer PointMaps::admits(const ModeMap& map, const std::vector<Real>& q,
                                    const std::vector<Real>& r) const {
  Answer answer = Answer::yes;
  for (const std::vector<Real>& conflict : map.conflicts) {
    const Product test = product(conflict, r);
    if (std::abs(test.value) > surely_not_zero * test.size) return Answer::no;
    answer = Answer::unclear;
  }
  const auto p = static_cast<std::size_t>(problem_.p());
  for (const Watched& watched : map.watched) {
    Product test = product(watched.row, r);
    if (watched.w >= 0) {
      const Real constant = q[p + static_cast<std::size_t>(watched.w)];
      test.value += constant;
      test.size += std::abs(constant);
    }
    const Real missing =
        std::max<Real>(watched.range.lower - test.value, test.value - watched.range.upper);
    if (missing <= surely_zero * test.size) continue;
    if (missing > surely_not_zero * (1 + test.size)) return Answer::no;
    answer = Answer::unclear;
  }
  return answer;
}

/// Nothing is a solution before its residual passed.
bool PointMaps::passes(const std::vector<Real>& q, const std::vector<Real>& y) {
  const int p = problem_.p(), m = problem_.m();
  for (int i = 0; i < p; ++i) problem_.q1[i] = static_cast<double>(q[static_cast<std::size_t>(i)]);
  for (int i = 0; i < m; ++i)
    problem_.q2[i] = static_cast<double>(q[static_cast<std::size_t>(p + i)]);
  Vector u(p), lambda(m);
  for (int j = 0; j < p; ++j) u[j] = static_cast<double>(y[static_cast<std::size_t>(j)]);
  for (int j = 0; j < m; ++j) lambda[j] = static_cast<double>(y[static_cast<std::size_t>(p + j)]);
  return residual(problem_, unit_, u, lambda) <= solution_tolerance;
}

bool PointMaps::solve(const std::vector<Real>& q, std::vector<ModalPoint>& points) {
  const auto p = static_cast<std::size_t>(problem_.p());
  std::vector<Real> scaled_q(q), r(q.size());
  for (std::size_t i = 0; i < q.size(); ++i) scaled_q[i] /= row_scale_[i];
  points.clear();
  for (const ModeMap& map : maps_) {
    for (std::size_t i = 0; i < r.size(); ++i)
      r[i] = i < p ? -scaled_q[i] : map.c[i - p] - map.a[i - p] * scaled_q[i];
    const Answer answer = admits(map, scaled_q, r);
    if (answer == Answer::unclear) return false;
    if (answer == Answer::no) continue;
    std::vector<Real> y;
    Real size = 1;
    for (const std::vector<Real>& row : map.rows) {
      const Product unknown = product(row, r);
      const bool rounding = std::abs(unknown.value) <= surely_zero * unknown.size;
      y.push_back(rounding ? 0 : unknown.value);
      size = std::max(size, std::abs(y.back()));
    }
    const auto same = std::find_if(points.begin(), points.end(), [&](const ModalPoint& other) {
      return std::equal(y.begin(), y.end(), other.y.begin(),
                        [&](Real a, Real b) { return std::abs(a - b) <= same_point * size; });
    });
    if (same != points.end()) {
      same->modes.push_back(map.mode);
      continue;
    }
    if (!passes(scaled_q, y)) return false;
    points.push_back({std::move(y), {map.mode}});
  }
  for (ModalPoint& point : points) {
    std::sort(point.modes.begin(), point.modes.end());
    for (std::size_t j = 0; j < point.y.size(); ++j) point.y[j] *= unknown_scale_[j];
  }
  return true;
}

}  // namespace perp
