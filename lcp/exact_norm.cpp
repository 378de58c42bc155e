#include <algorithm>
#include <cmath>
#include <optional>

#include <perp/lcp/arithmetic.hpp>
#include <perp/lcp/exact_norm.hpp>

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
  LeastSquare(const ExactGenerators& piece, const WeightedNorm& norm) : norm_(norm) {
    for (const auto& vertex : piece.vertices) {
      Column column;
      for (std::size_t k = 0; k < norm.indices.size(); ++k)
        column.push_back(Rational(vertex[static_cast<std::size_t>(norm.indices[k])]) -
                         Rational(norm.center[k]));
      columns_.push_back(std::move(column));
    }
    vertices_ = columns_.size();
    for (const auto& ray : piece.rays) add_direction(ray, 1);
    for (const auto& line : piece.lines) {
      add_direction(line, 1);
      add_direction(line, -1);
    }
  }

  Rational operator()() {
    active_ = {0};
    weight_ = {Rational(1)};
    update_point();
    while (const auto next = steepest()) {
      active_.push_back(*next);
      weight_.push_back(0);
      descend();
    }
    return inner(point_, point_);
  }

 private:
  void add_direction(const std::vector<double>& direction, int sign) {
    Column column;
    for (const int index : norm_.indices)
      column.push_back(Rational(sign * direction[static_cast<std::size_t>(index)]));
    columns_.push_back(std::move(column));
  }

  [[nodiscard]] Rational inner(const Column& a, const Column& b) const {
    Rational sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += Rational(norm_.weights[k]) * a[k] * b[k];
    return sum;
  }

  void update_point() {
    point_.assign(norm_.indices.size(), 0);
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

  /// Goes to the minimiser of the active generators, and drops those whose weight becomes 0 on the way.
  void descend() {
    while (true) {
      const Column target = affine_minimiser();
      Rational step = 1;
      for (std::size_t a = 0; a < target.size(); ++a)
        if (target[a] <= 0 && weight_[a] - target[a] != 0)
          step = std::min(step, Rational(weight_[a] / (weight_[a] - target[a])));
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

  const WeightedNorm& norm_;
  std::vector<Column> columns_;
  std::size_t vertices_ = 0;
  std::vector<std::size_t> active_;
  Column weight_;
  Column point_;
};

bool is_exact(const std::vector<std::vector<double>>& directions) {
  return std::all_of(directions.begin(), directions.end(), [](const std::vector<double>& direction) {
    return std::all_of(direction.begin(), direction.end(),
                       [](double entry) { return std::abs(entry) <= 0x1p53; });
  });
}

}  // namespace

std::string exact_least_square(const std::vector<ExactGenerators>& pieces,
                               const WeightedNorm& norm) {
  std::optional<Rational> least;
  for (const ExactGenerators& piece : pieces) {
    if (!is_exact(piece.rays) || !is_exact(piece.lines)) return {};
    const Rational value = LeastSquare(piece, norm)();
    if (!least || value < *least) least = value;
  }
  return least ? least->str() : std::string();
}

}  // namespace perp
