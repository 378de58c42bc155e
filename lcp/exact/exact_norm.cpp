#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <perp/core/base/error.hpp>
#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/exact/exact_norm.hpp>
#include <perp/lcp/exact/exact_pieces.hpp>

namespace perp {
namespace {

using Column = std::vector<Rational>;

/// Solves a square nonsingular system by elimination; the last column of `rows` is the right side.
Column solve(std::vector<Column> rows) {
  const std::size_t n = rows.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    while (rows[pivot][k] == 0) ++pivot;
    std::swap(rows[k], rows[pivot]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k || rows[i][k] == 0) continue;
      const Rational factor = rows[i][k] / rows[k][k];
      for (std::size_t j = k; j <= n; ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  Column x(n);
  for (std::size_t k = 0; k < n; ++k) x[k] = rows[k][n] / rows[k][k];
  return x;
}

/// min |Σ x_k g_k|²  with x >= 0 and Σ x_k = 1 over the vertices; lines come as two rays.
class LeastSquare {
 public:
  LeastSquare(const Generators<Rational>& piece, const ExactNorm& norm) : norm_(norm) {
    for (const Column& vertex : piece.vertices) {
      Column from_center(vertex);
      for (std::size_t j = 0; j < vertex.size(); ++j) from_center[j] -= norm.center[j];
      add(vertex, image(from_center));
    }
    vertices_ = columns_.size();
    for (const Column& ray : piece.rays) add(ray, image(ray));
    for (Column line : piece.lines)
      for (int side = 0; side < 2; ++side) {
        add(line, image(line));
        for (Rational& entry : line) entry = -entry;
      }
  }

  ExactNearest operator()() {
    active_ = {0};
    weight_ = {Rational(1)};
    update_point();
    while (const auto next = steepest()) {
      active_.push_back(*next);
      weight_.push_back(0);
      descend();
    }
    ExactNearest result{inner(point_, point_), Column(generators_[0].size(), Rational(0))};
    for (std::size_t a = 0; a < active_.size(); ++a)
      for (std::size_t j = 0; j < result.y.size(); ++j)
        result.y[j] += weight_[a] * generators_[active_[a]][j];
    return result;
  }

 private:
  void add(Column generator, Column image) {
    generators_.push_back(std::move(generator));
    columns_.push_back(std::move(image));
  }

  /// W z
  [[nodiscard]] Column image(const Column& z) const {
    Column result;
    for (const Column& row : norm_.W) {
      Rational sum = 0;
      for (std::size_t j = 0; j < z.size(); ++j)
        if (row[j] != 0 && z[j] != 0) sum += row[j] * z[j];
      result.push_back(std::move(sum));
    }
    return result;
  }

  [[nodiscard]] Rational inner(const Column& a, const Column& b) const {
    Rational sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += norm_.weights[k] * a[k] * b[k];
    return sum;
  }

  void update_point() {
    point_.assign(norm_.W.size(), 0);
    for (std::size_t a = 0; a < active_.size(); ++a)
      for (std::size_t k = 0; k < point_.size(); ++k)
        point_[k] += weight_[a] * columns_[active_[a]][k];
  }

  /// The first generator that leads downhill from the minimiser of the active ones. It is affinely
  /// independent of them, else its slope would be 0.
  [[nodiscard]] std::optional<std::size_t> steepest() const {
    const Rational at_vertices = inner(point_, point_);  // the slope along every active vertex
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const Rational slope = inner(columns_[k], point_);
      if (slope < (k < vertices_ ? at_vertices : Rational(0))) return k;
    }
    return std::nullopt;
  }

  /// Weights of the affine minimiser of the active generators:
  ///     Gram x = μ e,  eᵀ x = 1   with e = 1 at vertices and 0 at directions.
  [[nodiscard]] Column affine_minimiser() const {
    const std::size_t n = active_.size();
    std::vector<Column> rows(n + 1, Column(n + 2, Rational(0)));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) rows[i][j] = inner(columns_[active_[i]], columns_[active_[j]]);
      if (active_[i] < vertices_) rows[i][n] = rows[n][i] = 1;
    }
    rows[n][n + 1] = 1;
    Column x = solve(std::move(rows));
    x.pop_back();
    return x;
  }

  /// The share of the way to these weights on which none becomes negative.
  [[nodiscard]] Rational step_to(const Column& target) const {
    Rational step = 1;
    for (std::size_t a = 0; a < target.size(); ++a)
      if (target[a] <= 0 && weight_[a] - target[a] != 0)
        step = std::min(step, Rational(weight_[a] / (weight_[a] - target[a])));
    return step;
  }

  /// Goes to the minimiser of the active generators, and drops those whose weight becomes 0 on the way.
  void descend() {
    while (true) {
      const Column target = affine_minimiser();
      const Rational step = step_to(target);
      for (std::size_t a = 0; a < target.size(); ++a)
        weight_[a] += step * (target[a] - weight_[a]);
      for (std::size_t a = target.size(); a-- > 0;)
        if (weight_[a] == 0) {
          weight_.erase(weight_.begin() + static_cast<std::ptrdiff_t>(a));
          active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(a));
        }
      if (step == 1) break;
    }
    update_point();
  }

  const ExactNorm& norm_;
  std::vector<Column> generators_;
  std::vector<Column> columns_;  ///< their images
  std::size_t vertices_ = 0;
  std::vector<std::size_t> active_;
  Column weight_;
  Column point_;
};

/// The least square so far, and the different points that have it.
struct LeastPoints {
  std::optional<Rational> square{};
  std::set<Column> points{};

  /// Keeps a point where its square is the least.
  void add(const Rational& of_point, Column point) {
    if (square && of_point > *square) return;
    if (!square || of_point < *square) points.clear();
    square = of_point;
    points.insert(std::move(point));
  }
};

/// Of a point the coordinates of the norm.
Column seen(const WeightedNorm& norm, const Column& y) {
  Column point;
  for (const int j : norm.indices) point.push_back(y[static_cast<std::size_t>(j)]);
  return point;
}

/// Rows that pick the coordinates of the norm.
ExactNorm norm_of(const WeightedNorm& norm, std::size_t n) {
  ExactNorm result{{}, {}, Column(n, Rational(0))};
  for (std::size_t k = 0; k < norm.indices.size(); ++k) {
    const auto j = static_cast<std::size_t>(norm.indices[k]);
    result.W.emplace_back(n, Rational(0));
    result.W.back()[j] = 1;
    result.weights.emplace_back(norm.weights[k]);
    result.center[j] = Rational(norm.center[k]);
  }
  return result;
}

}  // namespace

ExactNorm ExactNorm::of(const Matrix& W, const Vector& center) {
  ExactNorm norm{{}, Column(static_cast<std::size_t>(W.rows()), Rational(1)), {}};
  norm.center.assign(center.begin(), center.end());
  for (Eigen::Index r = 0; r < W.rows(); ++r) {
    norm.W.emplace_back();
    for (Eigen::Index j = 0; j < W.cols(); ++j) norm.W.back().emplace_back(W(r, j));
  }
  return norm;
}

ExactNorm ExactNorm::of_coordinates(std::size_t first, std::size_t count, Column center) {
  ExactNorm norm{{}, Column(count, Rational(1)), std::move(center)};
  for (std::size_t k = 0; k < count; ++k) {
    norm.W.emplace_back(norm.center.size(), Rational(0));
    norm.W.back()[first + k] = 1;
  }
  return norm;
}

ExactNearest exact_nearest(const Generators<Rational>& piece, const ExactNorm& norm) {
  return LeastSquare(piece, norm)();
}

/// √(s 4^-k) 2^k with s 4^-k near 1, where nothing over- or underflows.
double root(const Rational& square) {
  if (square == 0) return 0;
  const long k = binary_size(square) / 2;
  return std::ldexp(std::sqrt(to_double(ldexp(square, -2 * k))), static_cast<int>(k));
}

std::optional<ExactMinimum> exact_minimum(const Mlcp& problem, const std::vector<Mode>& modes,
                                          const WeightedNorm& norm) {
  const AlgebraicProblem<Rational> exact(problem);
  const ExactNorm of_all = norm_of(norm, static_cast<std::size_t>(problem.p() + problem.m()));
  LeastPoints least;
  for (const Mode& mode : modes) {
    bool overflow = false;
    const Generators<Rational> all = exact_generators(exact, mode, overflow);
    if (overflow) throw InvalidInput("a mode has too many vertices for the minimal norm");
    if (all.vertices.empty()) continue;
    const ExactNearest found = exact_nearest(all, of_all);
    least.add(found.square, seen(norm, found.y));
  }
  if (!least.square) return std::nullopt;
  ExactMinimum result{least.square->str(), to_double(*least.square), {}};
  for (const Column& point : least.points) {
    result.minimisers.emplace_back();
    for (const Rational& value : point) result.minimisers.back().push_back(to_double(value));
  }
  return result;
}

}  // namespace perp
