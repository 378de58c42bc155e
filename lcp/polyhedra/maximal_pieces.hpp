#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include <perp/lcp/polyhedra/mode_polyhedron.hpp>

namespace perp {

/// A polyhedron with all the modes that have exactly these solutions.
template <class Scalar>
struct ModalPiece {
  std::vector<Mode> modes;
  Generators<Scalar> generators;
  int dimension = 0;
};

/// Subtracts the multiple of a line that makes the coordinate `lead` of z 0.
template <class Scalar>
void reduce_by_line(std::vector<Scalar>& z, const std::vector<Scalar>& line, std::size_t lead) {
  const Scalar factor = z[lead] / line[lead];
  if (factor == 0) return;
  for (std::size_t j = 0; j < z.size(); ++j)
    if (line[j] != 0) z[j] = Arithmetic<Scalar>::difference(z[j], factor * line[j]);
  z[lead] = 0;
}

/// Subtracts that of the line number `pivot` from all other generators.
template <class Scalar>
void reduce_others(Generators<Scalar>& generators, std::size_t pivot, std::size_t lead) {
  using A = Arithmetic<Scalar>;
  auto& lines = generators.lines;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (i != pivot) {
      reduce_by_line(lines[i], lines[pivot], lead);
      A::normalise(lines[i]);
    }
  for (auto& vertex : generators.vertices) reduce_by_line(vertex, lines[pivot], lead);
  for (auto& ray : generators.rays) {
    reduce_by_line(ray, lines[pivot], lead);
    A::normalise(ray);
  }
}

/// Makes the generators canonical where a polyhedron contains lines: the lines in reduced echelon
/// form, and vertices and rays with 0 in the lines' leading coordinates.
template <class Scalar>
void reduce_by_lines(Generators<Scalar>& generators) {
  using A = Arithmetic<Scalar>;
  auto& lines = generators.lines;
  std::size_t done = 0;
  for (std::size_t lead = 0; !lines.empty() && lead < lines[0].size() && done < lines.size();
       ++lead) {
    const auto largest = std::max_element(
        lines.begin() + static_cast<std::ptrdiff_t>(done), lines.end(),
        [&](const auto& a, const auto& b) { return A::size(a[lead]) < A::size(b[lead]); });
    if (A::no_pivot((*largest)[lead], Scalar(1))) continue;
    std::swap(lines[done], *largest);
    reduce_others(generators, done, lead);
    if (lines[done][lead] < 0)
      for (Scalar& value : lines[done]) value = -value;
    ++done;
  }
}

/// Dimension of the polyhedron: rank of the differences of its vertices, its rays and lines.
template <class Scalar>
int dimension(const Generators<Scalar>& generators) {
  if (generators.vertices.size() + generators.rays.size() + generators.lines.size() == 1) return 0;
  std::vector<std::vector<Scalar>> rows;
  const auto append = [&](std::vector<Scalar> direction) {
    Arithmetic<Scalar>::normalise(direction);
    direction.emplace_back(0);
    rows.push_back(std::move(direction));
  };
  for (std::size_t i = 1; i < generators.vertices.size(); ++i) {
    std::vector<Scalar> difference = generators.vertices[i];
    for (std::size_t j = 0; j < difference.size(); ++j)
      difference[j] = Arithmetic<Scalar>::difference(difference[j], generators.vertices[0][j]);
    append(std::move(difference));
  }
  for (const auto& ray : generators.rays) append(ray);
  for (const auto& line : generators.lines) append(line);
  const int n = static_cast<int>(generators.vertices[0].size());
  const auto orthogonal = solve_equations(std::move(rows), n);
  return n - static_cast<int>(orthogonal->directions.size());
}

/// Collects the polyhedra of the modes: equal ones become one piece with several modes, and what is
/// contained in another piece is dropped.
template <class Scalar>
class PieceCollector {
 public:
  explicit PieceCollector(const AlgebraicProblem<Scalar>& problem) : problem_(problem) {}

  void add(const Mode& mode, Generators<Scalar> generators) {
    reduce_by_lines(generators);
    remove_duplicates(generators.vertices);
    ModalPiece<Scalar> piece{{mode}, std::move(generators), 0};
    piece.dimension = dimension(piece.generators);
    if (piece.dimension == 0) {
      piece.generators.vertices.resize(1);
      add_point(std::move(piece));
    } else {
      add_continuum(std::move(piece));
    }
  }

  /// The inclusion-maximal pieces, modes in lexicographic order.
  std::vector<ModalPiece<Scalar>> take() {
    std::vector<ModalPiece<Scalar>> result;
    for (std::size_t i = 0; i < continua_.size(); ++i) {
      const bool covered = std::any_of(continua_.begin(), continua_.end(), [&](const auto& other) {
        return &other != &continua_[i] && other.dimension >= continua_[i].dimension &&
               contains(other, continua_[i]);
      });
      if (!covered) result.push_back(continua_[i]);
    }
    for (ModalPiece<Scalar>& point : points_)
      if (std::none_of(continua_.begin(), continua_.end(),
                       [&](const auto& other) { return contains(other, point); }))
        result.push_back(std::move(point));
    for (ModalPiece<Scalar>& piece : result) std::sort(piece.modes.begin(), piece.modes.end());
    std::sort(result.begin(), result.end(),
              [](const auto& a, const auto& b) { return a.modes < b.modes; });
    return result;
  }

 private:
  using A = Arithmetic<Scalar>;
  using Point = std::vector<Scalar>;

  static Scalar size_of(const Point& y) {
    Scalar largest = 1;
    for (const Scalar& value : y) largest = std::max<Scalar>(largest, A::size(value));
    return largest;
  }
  /// Tolerance of identity: some times that of a solution, as both points carry an error.
  static bool same(const Scalar& difference, const Scalar& size) {
    return A::vanishes(difference, Scalar(8) * size);
  }

  static bool same_point(const Point& a, const Point& b) {
    const Scalar size = size_of(a);
    return std::equal(a.begin(), a.end(), b.begin(), [&](const Scalar& left, const Scalar& right) {
      return same(left - right, size);
    });
  }
  static void remove_duplicates(std::vector<Point>& points) {
    std::vector<Point> distinct;
    for (Point& point : points)
      if (std::none_of(distinct.begin(), distinct.end(),
                       [&](const Point& other) { return same_point(point, other); }))
        distinct.push_back(std::move(point));
    points = std::move(distinct);
  }

  void add_point(ModalPiece<Scalar> piece) {
    const Point& y = piece.generators.vertices[0];
    const long key = bucket(y);
    for (const long near : {key - 1, key, key + 1}) {
      const auto [first, last] = index_.equal_range(near);
      for (auto it = first; it != last; ++it) {
        if (!same_point(y, points_[it->second].generators.vertices[0])) continue;
        points_[it->second].modes.push_back(std::move(piece.modes[0]));
        return;
      }
    }
    index_.emplace(key, points_.size());
    points_.push_back(std::move(piece));
  }

  /// Equal points get equal or neighbouring numbers: a positive combination of |y_j + shift|, on a
  /// scale that is linear near 0 and logarithmic beyond; points beyond the doubles share a number.
  static long bucket(const Point& y) {
    double sum = 0, weight = 1, shift = 0.5;
    for (const Scalar& value : y) {
      sum += weight * std::abs(static_cast<double>(value) + shift);
      weight = 1 + std::fmod(weight * 1.618033988749895, 1.0);
      shift = std::fmod(shift + 0.7548776662466927, 1.0);
    }
    const double mean =
        std::min(sum / static_cast<double>(y.size() + 1), std::numeric_limits<double>::max());
    return std::lround(std::asinh(mean) * 1e7);
  }

  void add_continuum(ModalPiece<Scalar> piece) {
    for (ModalPiece<Scalar>& other : continua_)
      if (other.dimension == piece.dimension && contains(other, piece) && contains(piece, other)) {
        other.modes.push_back(std::move(piece.modes[0]));
        return;
      }
    continua_.push_back(std::move(piece));
  }

  /// Is every generator of `part` a solution (or a direction) of the mode of `whole`?
  bool contains(const ModalPiece<Scalar>& whole, const ModalPiece<Scalar>& part) const {
    const auto all = [&](const std::vector<Point>& points, bool is_direction, bool both) {
      return std::all_of(points.begin(), points.end(), [&](const Point& z) {
        return belongs(whole.modes[0], z, is_direction, both);
      });
    };
    return all(part.generators.vertices, false, false) && all(part.generators.rays, true, false) &&
           all(part.generators.lines, true, true);
  }

  bool belongs(const Mode& mode, const Point& z, bool is_direction, bool both_ways) const {
    const Scalar leak = Scalar(size_leak) * size_of(z);
    for (int i = 0; i < problem_.m; ++i) {
      const LawBranch<Scalar>& branch = problem_.branch(mode, i);
      const Scalar& lambda = z[static_cast<std::size_t>(problem_.p + i)];
      const Sum<Scalar> w = output(problem_, i, z, is_direction);
      const Scalar size_w = w.size + leak, size_lambda = A::size(lambda) + leak;
      const Scalar gap =
          branch.a * w.value + branch.b * lambda - (is_direction ? Scalar(0) : branch.c);
      if (!same(gap, A::size(branch.a) * size_w + A::size(branch.b) * size_lambda)) return false;
      if (!within(branch.w, w.value, size_w, is_direction, both_ways) ||
          !within(branch.lambda, lambda, size_lambda, is_direction, both_ways))
        return false;
    }
    return true;
  }
  /// An end of a range, of directions 0.
  static Scalar end_of(const std::optional<Scalar>& end, bool is_direction) {
    return is_direction || !end ? Scalar(0) : *end;
  }
  static bool is_below(const Scalar& value, const Scalar& end, const Scalar& size) {
    return value < end && !same(end - value, size);
  }
  static bool within(const Interval<Scalar>& range, const Scalar& value, const Scalar& size,
                     bool is_direction, bool both_ways) {
    const bool below = range.lower && is_below(value, end_of(range.lower, is_direction), size);
    const bool above = range.upper && is_below(end_of(range.upper, is_direction), value, size);
    const bool bounded = both_ways && (range.lower || range.upper) && !same(value, size);
    return !below && !above && !bounded;
  }

  const AlgebraicProblem<Scalar>& problem_;
  std::vector<ModalPiece<Scalar>> points_;
  std::vector<ModalPiece<Scalar>> continua_;
  std::unordered_multimap<long, std::size_t> index_;
};

}  // namespace perp
