#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <perp/core/base/interruption.hpp>
#include <perp/lcp/exact/arithmetic.hpp>

namespace perp {

/// A polyhedron by its generators: conv(vertices) + cone(rays) + span(lines); empty without a
/// vertex.
template <class Scalar>
struct Generators {
  using Point = std::vector<Scalar>;
  std::vector<Point> vertices;
  std::vector<Point> rays;
  std::vector<Point> lines;
};

/// Generators of a polyhedral cone {z : h_k · z ≥ 0, k = 1..} by the double description method:
/// rows are inserted one by one; a new row keeps the rays on its positive side and joins each
/// adjacent pair of rays on different sides. Two rays are adjacent if no third ray lies on all rows
/// that both lie on.
template <class Scalar>
class DoubleDescription {
 public:
  using Point = std::vector<Scalar>;

  /// The whole space R^dimension; `limit`: largest number of rays that is worked with.
  DoubleDescription(int dimension, std::size_t limit) : limit_(limit) {
    for (int i = 0; i < dimension; ++i) {
      Point line(static_cast<std::size_t>(dimension), Scalar(0));
      line[static_cast<std::size_t>(i)] = 1;
      lines_.push_back(std::move(line));
    }
  }

  /// A cone whose generators are known, with the rows that each ray lies on (of `rows` rows so
  /// far).
  DoubleDescription(std::vector<Point> lines, std::vector<Point> rays,
                    const std::vector<std::vector<bool>>& on_row, int rows, std::size_t limit)
      : limit_(limit), rows_(rows), lines_(std::move(lines)) {
    for (std::size_t r = 0; r < rays.size(); ++r) {
      Ray ray{std::move(rays[r]), {}};
      for (int k = 0; k < rows; ++k)
        if (on_row[r][static_cast<std::size_t>(k)]) insert(ray.zero, k);
      rays_.push_back(std::move(ray));
    }
  }

  /// Intersects with h · z ≥ 0. False if there are more rays than the limit.
  [[nodiscard]] bool insert(Point h) {
    check_interruption();
    A::normalise(h);
    const int row = rows_++;
    return cut_lines(h, row) || cut_rays(h, row);
  }

  [[nodiscard]] const std::vector<Point>& lines() const { return lines_; }
  [[nodiscard]] std::size_t ray_count() const { return rays_.size(); }
  [[nodiscard]] const Point& ray(std::size_t i) const { return rays_[i].z; }

 private:
  using A = Arithmetic<Scalar>;
  using Set = std::vector<std::uint64_t>;  ///< rows, one bit each

  struct Ray {
    Point z;
    Set zero;  ///< the rows that the ray lies on
  };

  static void insert(Set& set, int row) {
    const auto word = static_cast<std::size_t>(row / 64);
    if (set.size() <= word) set.resize(word + 1, 0);
    set[word] |= std::uint64_t{1} << (row % 64);
  }
  static Set intersection(const Set& a, const Set& b) {
    Set both(std::min(a.size(), b.size()));
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = a[i] & b[i];
    return both;
  }
  static bool contains(const Set& set, const Set& part) {
    for (std::size_t i = 0; i < part.size(); ++i)
      if ((part[i] & ~(i < set.size() ? set[i] : 0)) != 0) return false;
    return true;
  }
  static Scalar dot(const Point& h, const Point& z) {
    Scalar sum = 0;
    for (std::size_t i = 0; i < z.size(); ++i)
      if (h[i] != 0 && z[i] != 0) sum += h[i] * z[i];
    return sum;
  }
  static int sign(const Scalar& value) {
    if (A::vanishes(value, Scalar(1))) return 0;
    return value > 0 ? 1 : -1;
  }
  /// z - (factor) direction
  static void subtract(Point& z, const Scalar& factor, const Point& direction) {
    for (std::size_t i = 0; i < z.size(); ++i)
      if (direction[i] != 0) z[i] = A::difference(z[i], factor * direction[i]);
    A::normalise(z);
  }

  /// The line that leaves the half space h · z ≥ 0 most, and its h · z; the number of lines: none does.
  std::size_t leaving_line(const Point& h, Scalar& value) const {
    std::size_t best = lines_.size();
    value = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const Scalar candidate = dot(h, lines_[i]);
      if (sign(candidate) != 0 && A::size(candidate) > A::size(value)) {
        best = i;
        value = candidate;
      }
    }
    return best;
  }

  /// If a line leaves the half space it becomes a ray, and everything else is moved along it onto
  /// the row.
  bool cut_lines(const Point& h, int row) {
    Scalar value = 0;
    const std::size_t best = leaving_line(h, value);
    if (best == lines_.size()) return false;
    Point line = std::move(lines_[best]);
    lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(best));
    for (Point& other : lines_) subtract(other, dot(h, other) / value, line);
    for (Ray& ray : rays_) {
      subtract(ray.z, dot(h, ray.z) / value, line);
      insert(ray.zero, row);
    }
    if (value < 0)
      for (Scalar& entry : line) entry = -entry;
    Ray fresh{std::move(line), {}};
    for (int k = 0; k < row; ++k) insert(fresh.zero, k);
    rays_.push_back(std::move(fresh));
    return true;
  }

  /// Where the rays are: h · z and its sign.
  struct Sides {
    std::vector<Scalar> value;
    std::vector<int> sign;
  };

  Sides sides_of(const Point& h) const {
    Sides sides;
    for (const Ray& ray : rays_) {
      sides.value.push_back(dot(h, ray.z));
      sides.sign.push_back(sign(sides.value.back()));
    }
    return sides;
  }

  /// Joins ray i, on the positive side, with each adjacent ray on the other side. False: too many rays.
  bool join(std::size_t i, const Sides& sides, int row, std::vector<Ray>& next) const {
    for (std::size_t j = 0; j < rays_.size(); ++j) {
      if (sides.sign[j] >= 0) continue;
      Set both = intersection(rays_[i].zero, rays_[j].zero);
      if (!adjacent(i, j, both)) continue;
      if (next.size() > limit_) return false;
      Point z = rays_[i].z;
      subtract(z, sides.value[i] / sides.value[j], rays_[j].z);
      insert(both, row);
      next.push_back({std::move(z), std::move(both)});
    }
    return true;
  }

  bool cut_rays(const Point& h, int row) {
    const Sides sides = sides_of(h);
    std::vector<Ray> next;
    for (std::size_t i = 0; i < rays_.size(); ++i)
      if (sides.sign[i] > 0 && !join(i, sides, row, next)) return false;
    for (std::size_t i = 0; i < rays_.size(); ++i) {
      if (sides.sign[i] < 0) continue;
      if (sides.sign[i] == 0) insert(rays_[i].zero, row);
      next.push_back(std::move(rays_[i]));
    }
    rays_ = std::move(next);
    return rays_.size() <= limit_;
  }

  bool adjacent(std::size_t i, std::size_t j, const Set& both) const {
    for (std::size_t k = 0; k < rays_.size(); ++k)
      if (k != i && k != j && contains(rays_[k].zero, both)) return false;
    return true;
  }

  std::size_t limit_;
  int rows_ = 0;
  std::vector<Point> lines_;
  std::vector<Ray> rays_;
};

/// Splits the generators of a cone in (t, τ), τ ≥ 0, into those of the polyhedron {t : (t, 1) in
/// the cone}.
template <class Scalar>
Generators<Scalar> dehomogenise(const DoubleDescription<Scalar>& cone) {
  using A = Arithmetic<Scalar>;
  Generators<Scalar> result;
  for (std::size_t i = 0; i < cone.ray_count(); ++i) {
    std::vector<Scalar> t = cone.ray(i);
    const Scalar tau = t.back();
    t.pop_back();
    if (A::vanishes(tau, Scalar(1))) {
      A::normalise(t);
      result.rays.push_back(std::move(t));
    } else {
      for (Scalar& entry : t) entry /= tau;
      result.vertices.push_back(std::move(t));
    }
  }
  for (std::vector<Scalar> line : cone.lines()) {
    line.pop_back();
    result.lines.push_back(std::move(line));
  }
  return result;
}

}  // namespace perp
