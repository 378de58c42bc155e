#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include <perp/lcp/mlcp.hpp>

namespace perp::test {

/// All modes of a small mixed complementarity problem over a box in rational arithmetic, by brute
/// force: equations by elimination, polyhedra by trying which inequalities are tight. Shares no code
/// with the library but the problem's data.
class ExactOracle {
 public:
  using Number = boost::multiprecision::cpp_rational;
  using Point = std::vector<Number>;
  using Rows = std::vector<Point>;  ///< each row: coefficients, then the constant

  ExactOracle(const Mlcp& problem, const Vector& lower, const Vector& upper)
      : p_(problem.p()), m_(problem.m()), n_(p_ + m_) {
    for (int i = 0; i < p_; ++i) equations_.push_back(row(problem.M11, problem.M12, problem.q1, i));
    for (int i = 0; i < m_; ++i) outputs_.push_back(row(problem.M21, problem.M22, problem.q2, i));
    descend(0, equations_, {}, lower, upper);
  }

  [[nodiscard]] bool continuum() const { return continuum_; }
  [[nodiscard]] bool continuum_of_u() const { return continuum_of_u_; }
  [[nodiscard]] bool none() const { return !continuum_ && points_.empty(); }
  /// Meaningful without a continuum.
  [[nodiscard]] const std::set<Point>& points() const { return points_; }
  [[nodiscard]] const std::set<Point>& points_of_u() const { return points_of_u_; }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  static Point row(const Matrix& left, const Matrix& right, const Vector& q, int i) {
    Point result;
    for (int j = 0; j < left.cols(); ++j) result.emplace_back(left(i, j));
    for (int j = 0; j < right.cols(); ++j) result.emplace_back(right(i, j));
    result.emplace_back(q[i]);
    return result;
  }

  Point lambda_minus(int law, double value) const {
    Point result(at(n_ + 1), Number(0));
    result[at(p_ + law)] = 1;
    result.back() = -Number(value);
    return result;
  }
  static Point negated(Point row) {
    for (Number& value : row) value = -value;
    return row;
  }

  /// inequalities: row·(y, 1) ≥ 0
  void descend(int law, const Rows& equations, const Rows& inequalities, const Vector& lower,
               const Vector& upper) {
    if (law == m_) return judge(equations, inequalities);
    const double l = lower[law], u = upper[law];
    const Point& w = outputs_[at(law)];
    const auto with = [](Rows rows, const std::vector<Point>& more) {
      rows.insert(rows.end(), more.begin(), more.end());
      return rows;
    };
    if (l == u) return descend(law + 1, with(equations, {lambda_minus(law, l)}), inequalities, lower, upper);
    if (l > -inf)
      descend(law + 1, with(equations, {lambda_minus(law, l)}), with(inequalities, {w}), lower, upper);
    if (u < inf)
      descend(law + 1, with(equations, {lambda_minus(law, u)}), with(inequalities, {negated(w)}), lower, upper);
    Rows inside = inequalities;
    if (l > -inf) inside.push_back(lambda_minus(law, l));
    if (u < inf) inside.push_back(negated(lambda_minus(law, u)));
    descend(law + 1, with(equations, {w}), inside, lower, upper);
  }

  struct Flat {
    Point origin;
    Rows directions;
  };

  /// All y with rows·(y, 1) = 0; nothing if there are none.
  static std::optional<Flat> solve(Rows rows, int n) {
    std::vector<int> pivot_of_row;
    std::size_t next = 0;
    for (int j = 0; j < n && next < rows.size(); ++j) {
      std::size_t r = next;
      while (r < rows.size() && rows[r][at(j)] == 0) ++r;
      if (r == rows.size()) continue;
      std::swap(rows[r], rows[next]);
      const Number pivot = rows[next][at(j)];
      for (Number& value : rows[next]) value /= pivot;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i == next || rows[i][at(j)] == 0) continue;
        const Number factor = rows[i][at(j)];
        for (std::size_t k = 0; k <= at(n); ++k) rows[i][k] -= factor * rows[next][k];
      }
      pivot_of_row.push_back(j);
      ++next;
    }
    for (std::size_t r = next; r < rows.size(); ++r)
      if (rows[r].back() != 0) return std::nullopt;
    Flat flat{Point(at(n), Number(0)), {}};
    for (std::size_t r = 0; r < next; ++r) flat.origin[at(pivot_of_row[r])] = -rows[r].back();
    for (int j = 0; j < n; ++j) {
      if (std::find(pivot_of_row.begin(), pivot_of_row.end(), j) != pivot_of_row.end()) continue;
      Point direction(at(n), Number(0));
      direction[at(j)] = 1;
      for (std::size_t r = 0; r < next; ++r) direction[at(pivot_of_row[r])] = -rows[r][at(j)];
      flat.directions.push_back(std::move(direction));
    }
    return flat;
  }

  static Number value(const Point& row, const Point& t, bool is_direction) {
    Number sum = is_direction ? Number(0) : row.back();
    for (std::size_t j = 0; j < t.size(); ++j) sum += row[j] * t[j];
    return sum;
  }

  /// The solutions of one mode.
  void judge(const Rows& equations, const Rows& inequalities) {
    const auto flat = solve(equations, n_);
    if (!flat) return;
    const int k = static_cast<int>(flat->directions.size());
    Rows rows;
    for (const Point& inequality : inequalities) {
      Point of_t;
      for (const Point& direction : flat->directions) of_t.push_back(value(inequality, direction, true));
      of_t.push_back(value(inequality, flat->origin, false));
      rows.push_back(std::move(of_t));
    }
    // lines: t along which nothing changes; what is left is pointed
    Rows homogeneous = rows;
    for (Point& row : homogeneous) row.back() = 0;
    const Rows lines = solve(homogeneous, k)->directions;
    Rows fixed;
    for (Point line : lines) {
      line.emplace_back(0);
      fixed.push_back(std::move(line));
    }
    std::vector<std::size_t> tight;
    std::optional<Point> vertex = find_vertex(rows, fixed, k, k - static_cast<int>(lines.size()), 0, tight);
    if (!vertex) return;
    Rows free_directions = lines;
    extreme_rays(rows, fixed, *vertex, k, free_directions);
    record(*flat, *vertex, free_directions);
  }

  /// Tries all sets of `missing` more tight rows from `first` on.
  static std::optional<Point> find_vertex(const Rows& rows, const Rows& equations, int k, int missing,
                                          std::size_t first, std::vector<std::size_t>& tight) {
    if (missing == 0) {
      const auto point = solve(equations, k);
      if (!point || !point->directions.empty()) return std::nullopt;
      for (const Point& row : rows)
        if (value(row, point->origin, false) < 0) return std::nullopt;
      return point->origin;
    }
    for (std::size_t r = first; r < rows.size(); ++r) {
      Rows more = equations;
      more.push_back(rows[r]);
      if (auto found = find_vertex(rows, more, k, missing - 1, r + 1, tight)) return found;
    }
    return std::nullopt;
  }

  /// Extreme rays of the cone of directions that stay inside at a vertex.
  static void extreme_rays(const Rows& rows, const Rows& fixed, const Point& vertex, int k, Rows& rays) {
    Rows active;
    for (const Point& row : rows)
      if (value(row, vertex, false) == 0) active.push_back(row);
    for (Point& row : active) row.back() = 0;
    try_rays(active, fixed, k, k - 1 - static_cast<int>(fixed.size()), 0, rays);
  }
  static void try_rays(const Rows& active, const Rows& equations, int k, int missing, std::size_t first, Rows& rays) {
    if (missing < 0) return;
    if (missing == 0) {
      const auto flat = solve(equations, k);
      if (!flat || flat->directions.size() != 1) return;
      for (const int sign : {1, -1}) {
        Point ray = flat->directions[0];
        for (Number& entry : ray) entry *= sign;
        bool inside = true;
        for (const Point& row : active) inside = inside && value(row, ray, true) >= 0;
        if (inside) rays.push_back(std::move(ray));
      }
      return;
    }
    for (std::size_t r = first; r < active.size(); ++r) {
      Rows more = equations;
      more.push_back(active[r]);
      try_rays(active, more, k, missing - 1, r + 1, rays);
    }
  }

  void record(const Flat& flat, const Point& vertex, const Rows& free_directions) {
    Point y = flat.origin;
    for (std::size_t k = 0; k < vertex.size(); ++k)
      for (std::size_t j = 0; j < y.size(); ++j) y[j] += vertex[k] * flat.directions[k][j];
    points_.insert(y);
    points_of_u_.insert(Point(y.begin(), y.begin() + p_));
    continuum_ = continuum_ || !free_directions.empty();
    for (const Point& direction : free_directions)
      for (int j = 0; j < p_; ++j) {
        Number change = 0;
        for (std::size_t k = 0; k < direction.size(); ++k) change += direction[k] * flat.directions[k][at(j)];
        continuum_of_u_ = continuum_of_u_ || change != 0;
      }
  }

  int p_, m_, n_;
  Rows equations_, outputs_;
  bool continuum_ = false, continuum_of_u_ = false;
  std::set<Point> points_, points_of_u_;
};

}  // namespace perp::test
