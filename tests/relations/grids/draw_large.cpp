#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/tests/relations/grids/large_model.hpp>

namespace perp::relations {
namespace {

/// Draws one, part by part; every number has few bits, so that sums of entries have no rounding.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed * 2654435761U + 977U) { grid_.seed = seed; }

  LargeDraw make() {
    const int kind = pick(8);
    if (kind == 7) {
      LargeModel row = blocks();
      return {std::nullopt, row.seed % 2 == 0 ? row : net(row)};
    }
    put_size(kind);
    put_weights();
    put_state();
    put_obstacles();
    put_time();
    return {grid_, by_entries(grid_)};
  }

 private:
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
  /// In [lower, upper], of 10 bits.
  double dyadic(double lower, double upper) {
    const double value = std::uniform_real_distribution<double>(lower, upper)(random_);
    const double unit = std::exp2(std::floor(std::log2(std::abs(value))) - 9);
    return std::round(value / unit) * unit;
  }

  /// Three of eight are membranes, one a body, two long strings and one a short one.
  void put_size(int kind) {
    if (kind < 3) grid_.size = {25 + pick(16), 40 + pick(12), 1};
    if (kind == 3) grid_.size = {8 + pick(5), 10 + pick(4), 13 + pick(3)};
    if (kind == 4 || kind == 5) grid_.size = {1000 + pick(1500), 1, 1};
    if (kind == 6) grid_.size = {20 + pick(300), 1, 1};
    if (kind < 3 && chance(0.1)) grid_.size[0] = 4 + pick(12);  // fewer than a grid's least
  }

  GridField field(double base, double rough, int most_period) {
    GridField result{.base = base};
    if (chance(0.6)) return result;
    result.rough = rough;
    result.period = 2 + pick(most_period - 1);
    for (int& by : result.by) by = 1 + pick(5);
    return result;
  }

  /// Squares of the number of nodes along an axis, or others; two materials; axes of other scales.
  void put_weights() {
    const double stiffness = std::exp2(pick(5) - 3), jump = chance(0.15) ? std::exp2(pick(12)) : dyadic(0.1, 1);
    const bool is_scaled = chance(0.25);
    for (int a = 0; a < 3; ++a) {
      const double across = grid_.size[at(a)] + 1;
      const double base = dyadic(1, 2) * stiffness * across * across * (is_scaled ? std::exp2(pick(9) - 4) : 1);
      const double dyadic_base = std::round(base * 8) / 8;
      grid_.weight[at(a)] = field(std::max(dyadic_base, 0.125), std::round(std::max(dyadic_base, 1.0)) * jump, 4);
    }
    grid_.rate = field(1, dyadic(0.1, 2), 3);
    if (chance(0.1)) grid_.rate = {};  // no rates: the obstacle or the load moves
    if (chance(0.3)) grid_.own = field(dyadic(0.1, 4), dyadic(0.1, 4), 5);
  }

  double bow(double height) const {
    double across = 1;
    for (const int size : grid_.size) across *= (size + 1) * (size + 1) / 4.0;
    return std::exp2(std::round(std::log2(height / across)));
  }

  void put_state() {
    grid_.start = chance(0.5) ? field(0, std::exp2(-4), 5) : GridField{.bow = bow(dyadic(0.1, 0.5))};
    grid_.load = field(-dyadic(2, 12), -dyadic(1, 8), 6);
    if (chance(0.3)) grid_.s = dyadic(1, 30);
    grid_.omega = dyadic(20, 400);
  }

  /// Below, sometimes above too; the start is between, on one of them in few models.
  void put_obstacles() {
    grid_.lower = field(-dyadic(0.01, 0.1), -std::exp2(-6), 4);
    if (chance(0.15)) grid_.lower.base = 0;
    grid_.first = chance(0.8) ? 1 : 1 + pick(grid_.size[0]);
    grid_.last = chance(0.8) ? grid_.size[0] : grid_.first + pick(grid_.size[0] - grid_.first + 1);
    grid_.has_upper = chance(0.35);
    grid_.upper = field(0.5 + dyadic(0.01, 0.1), std::exp2(-6), 4);
    if (grid_.start.bow == 0 && chance(0.5)) grid_.upper.base = 0.25 + dyadic(0.01, 0.1);
    if (grid_.start.bow != 0) grid_.upper.base = 1 + dyadic(0.01, 0.3);
    if (grid_.has_upper && chance(0.5)) grid_.load.base = -grid_.load.base;
  }

  void put_time() {
    grid_.h = std::exp2(-8 - pick(5));
    grid_.steps = 12 + pick(13);
  }

  /// v' = k (x_- - 2 x + x_+) + friction, x' = v: blocks that springs join, on a belt whose speed swings.
  LargeModel blocks() {
    LargeModel model{.seed = grid_.seed};
    const int N = 120 + pick(200);
    const double stiffness = dyadic(10, 400), force = dyadic(0.1, 1), damping = chance(0.5) ? dyadic(0.1, 1) : 0;
    for (int i = 0; i < N; ++i) {
      for (const double start : {0.0, dyadic(-1, 1)}) model.start.push_back(start);
      for (const double b : {0.0, 0.0}) model.b.push_back(b), model.s.push_back(b);
      model.E.push_back({2 * i, 2 * i, 1});
      model.E.push_back({2 * i + 1, 2 * i + 1, 1.0 + pick(3)});
      model.A.push_back({2 * i, 2 * i + 1, 1});
      model.A.push_back({2 * i + 1, 2 * i, -2 * stiffness});
      if (damping != 0) model.A.push_back({2 * i + 1, 2 * i + 1, -damping});
      if (i > 0) model.A.push_back({2 * i + 1, 2 * i - 2, stiffness});
      if (i + 1 < N) model.A.push_back({2 * i + 1, 2 * i + 2, stiffness});
      model.laws.push_back({.row = 2 * i + 1, .column = 2 * i + 1, .B = -1, .q = -0.25, .p = chance(0.5) ? 0.125 : 0, .force = force * (1 + pick(3))});
    }
    model.omega = dyadic(2, 40);
    model.h = std::exp2(-6 - pick(5));
    model.steps = 12 + pick(13);
    return model;
  }

  /// The blocks of a row, each joined to others anywhere by further springs: no order of them has narrow bands.
  LargeModel net(const LargeModel& row) {
    LargeModel model = row;
    const int N = row.n() / 2;
    std::map<std::pair<int, int>, double> A;
    for (const LargeModel::Entry& entry : row.A) A[{entry.row, entry.column}] = entry.value;
    for (int k = 0; k < N; ++k) {
      const int i = pick(N), j = pick(N);
      const double stiffness = dyadic(10, 400);
      if (i == j) continue;
      A[{2 * i + 1, 2 * i}] -= stiffness, A[{2 * i + 1, 2 * j}] += stiffness;
      A[{2 * j + 1, 2 * j}] -= stiffness, A[{2 * j + 1, 2 * i}] += stiffness;
    }
    model.A.clear();
    for (const auto& [place, value] : A) model.A.push_back({place.first, place.second, value});
    return model;
  }

  std::mt19937 random_;
  GridModel grid_;
};

std::array<int, 3> indices(const GridModel& grid, int node) {
  return {node / (grid.size[1] * grid.size[2]) + 1, node / grid.size[2] % grid.size[1] + 1, node % grid.size[2] + 1};
}

double value(const GridField& field, const GridModel& grid, const std::array<int, 3>& index) {
  int sum = 0;
  double arch = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    if (grid.size[a] == 1) continue;
    sum += field.by[a] * index[a];
    arch *= index[a] * (grid.size[a] + 1.0 - index[a]);
  }
  return field.base + field.rough * (sum % field.period) + field.bow * arch;
}

int stride(const GridModel& grid, std::size_t axis) {
  return axis == 0 ? grid.size[1] * grid.size[2] : axis == 1 ? grid.size[2] : 1;
}

/// The row of a node: its neighbours, and what flows to them.
void add_row(const GridModel& grid, int node, LargeModel& model) {
  const std::array<int, 3> index = indices(grid, node);
  double sum = value(grid.own, grid, index);
  for (std::size_t a = 0; a < 3; ++a) {
    if (grid.size[a] == 1) continue;
    std::array<int, 3> before = index;
    --before[a];
    const double behind = value(grid.weight[a], grid, index), ahead = value(grid.weight[a], grid, before);
    sum += behind + ahead;
    if (index[a] > 1) model.A.push_back({node, node - stride(grid, a), ahead});
    if (index[a] < grid.size[a]) model.A.push_back({node, node + stride(grid, a), behind});
  }
  model.A.push_back({node, node, -sum});
}

}  // namespace

LargeDraw random_large(unsigned seed) { return Draw(seed).make(); }

LargeModel by_entries(const GridModel& grid) {
  LargeModel model{.seed = grid.seed, .omega = grid.omega, .h = grid.h, .steps = grid.steps};
  for (int node = 0; node < grid.nodes(); ++node) {
    const std::array<int, 3> index = indices(grid, node);
    model.start.push_back(value(grid.start, grid, index));
    const double rate = value(grid.rate, grid, index);
    if (rate != 0) model.E.push_back({node, node, rate});
    model.b.push_back(value(grid.load, grid, index));
    model.s.push_back(grid.s);
    add_row(grid, node, model);
    if (index[0] >= grid.first && index[0] <= grid.last)
      model.laws.push_back({.row = node, .column = node, .q = -value(grid.lower, grid, index)});
  }
  for (int node = 0; node < grid.nodes() && grid.has_upper; ++node)
    model.laws.push_back({.row = node, .column = node, .B = -1, .c = -1, .q = value(grid.upper, grid, indices(grid, node))});
  return model;
}

std::vector<int> transposition(const GridModel& grid, const std::array<int, 3>& axes) {
  std::vector<int> places(at(grid.nodes()));
  std::array<int, 3> size{};
  for (std::size_t a = 0; a < 3; ++a) size[a] = grid.size[at(axes[a])];
  for (int node = 0; node < grid.nodes(); ++node) {
    const std::array<int, 3> index = indices(grid, node);
    int place = 0;
    for (std::size_t a = 0; a < 3; ++a) place = place * size[a] + index[at(axes[a])] - 1;
    places[at(node)] = place;
  }
  return places;
}

}  // namespace perp::relations
