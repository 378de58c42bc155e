#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/base/error.hpp>
#include <perp/lcp/memory.hpp>
#include <perp/lcp/polyhedra/field_search.hpp>
#include <perp/schemes/jumps/consistent_jumps.hpp>
#include <perp/schemes/step/short_step.hpp>

namespace perp {
namespace {

constexpr double same_point = 1e-9;  // share of the terms of a row of E x
constexpr double no_change = 1e-12;  // likewise

double limit(const Laurent& value) {
  if (!value.is_zero() && value.order() < 0) return nan;
  return static_cast<double>(value.coefficient(0)) + 0.0;
}

Vector limits(const std::vector<Laurent>& values) {
  Vector result(static_cast<Eigen::Index>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    result[static_cast<Eigen::Index>(i)] = limit(values[i]);
  return result;
}

/// Makes jumps of what a mode of the step has as solutions.
class Limits {
 public:
  explicit Limits(const ShortStep& step) : step_(step) {}

  [[nodiscard]] ConsistentJump operator()(const Mode& mode,
                                          const Generators<Laurent>& generators) const {
    std::vector<Vector> points, directions;
    const std::vector<Laurent>* nearest = nullptr;
    double least = inf;
    for (const auto& vertex : generators.vertices) {
      const Vector change = limits(step_.change(vertex, false));
      if (change.lpNorm<Eigen::Infinity>() >
          unbounded_jump / 2) {  // an end of `bounded`: a direction
        directions.push_back(state(vertex, true));
        continue;
      }
      points.push_back(state(vertex, false));
      if (change.norm() < least) {
        least = change.norm();
        nearest = &vertex;
      }
    }
    for (const auto* list : {&generators.rays, &generators.lines})
      for (const auto& ray : *list)
        if (moves(step_.change(ray, true))) directions.push_back(state(ray, true));
    ConsistentJump jump;
    jump.is_continuum = !directions.empty() || nearest == nullptr ||
                        std::any_of(points.begin(), points.end(), [&](const Vector& point) {
                          return !same(point, points.front());
                        });
    // without an end of its own the whole line is the set, and its first direction has one
    write(Mode(mode.begin(), mode.begin() + step_.m()),
          nearest != nullptr ? *nearest : generators.vertices.front(), least, jump);
    if (jump.is_continuum) {
      jump.vertices = beside(points);
      jump.directions = beside(directions);
    }
    return jump;
  }

  /// Are two states the same in what E sees of them?
  [[nodiscard]] bool same(const Vector& a, const Vector& b) const {
    const Matrix& E = step_.E;
    const auto known = [](const Vector& x) {
      return Vector(x.unaryExpr([](double v) { return std::isnan(v) ? 0 : v; }));
    };
    const Vector terms =
        E.cwiseAbs() * (known(a).cwiseAbs() + known(b).cwiseAbs() + step_.x.cwiseAbs());
    const Vector change = (E * (known(a) - known(b))).cwiseAbs();
    return (change.array() <= same_point * terms.array()).all();
  }

 private:
  static bool moves(const std::vector<Laurent>& change) {
    return std::any_of(change.begin(), change.end(),
                       [](const Laurent& value) { return !value.is_zero(); });
  }

  /// Limit of x⁺; of a direction that of largest entry 1 in E x.
  [[nodiscard]] Vector state(const std::vector<Laurent>& y, bool direction) const {
    std::vector<Laurent> x(y.begin(), y.begin() + step_.n());
    if (direction) {
      Laurent largest;
      for (const Laurent& value : step_.change(y, true))
        largest = std::max(largest, value.magnitude());
      const Laurent unit(largest.order(), largest.coefficient(largest.order()));
      for (Laurent& value : x) value /= unit;
    }
    return limits(x);
  }

  void write(Mode mode, const std::vector<Laurent>& y, double amplitude,
             ConsistentJump& jump) const {
    const int n = step_.n(), m = step_.m();
    const Matrix& E = step_.E;
    Vector first = Vector::Zero(n + m), impulse = Vector::Zero(n + m);
    for (int j = 0; j < n + m; ++j) {
      const Laurent& value = y[static_cast<std::size_t>(j)];
      const bool is_differential = j < n && !E.col(j).isZero(0);
      first[j] = is_differential ? limit(value) : static_cast<double>(value.coefficient(0)) + 0.0;
      if (!is_differential) impulse[j] = limit(value * Laurent(1, 1.0L));
    }
    jump.continuations = {{std::move(mode), first.head(n), first.tail(m)}};
    jump.impulse_x = impulse.head(n);
    jump.impulse_lambda = impulse.tail(m);
    // each row of E x in its own unit
    const Vector after = first.head(n).unaryExpr([](double v) { return std::isnan(v) ? 0 : v; });
    const Vector terms = E.cwiseAbs() * (after.cwiseAbs() + step_.x.cwiseAbs());
    const Vector change = (E * (after - step_.x)).cwiseAbs();
    const bool moves = (change.array() > no_change * terms.array()).any();
    jump.amplitude = moves || std::isinf(amplitude) ? amplitude : 0;
  }

  static Matrix beside(const std::vector<Vector>& columns) {
    Matrix result(columns.empty() ? 0 : columns.front().size(),
                  static_cast<Eigen::Index>(columns.size()));
    for (std::size_t k = 0; k < columns.size(); ++k)
      result.col(static_cast<Eigen::Index>(k)) = columns[k];
    return result;
  }

  const ShortStep& step_;
};

/// All jumps of a block; spends at most `budget` nodes of the search and says how many.
JumpBlock search(const ShortStep& step, long budget, long& nodes) {
  const Limits limits_of(step);
  JumpBlock found{step.block.u, step.block.lambda, {}, false};
  FieldSearch<Laurent> search(step.problem, budget);
  found.complete = search.run([&](const Mode& mode, const Generators<Laurent>& generators) {
    ConsistentJump jump = limits_of(mode, generators);
    const auto known =
        std::find_if(found.jumps.begin(), found.jumps.end(), [&](const ConsistentJump& other) {
          return !jump.is_continuum && !other.is_continuum && limits_of.same(jump.x(), other.x());
        });
    if (known == found.jumps.end())
      found.jumps.push_back(std::move(jump));
    else
      known->continuations.push_back(std::move(jump.continuations.front()));
  });
  nodes = search.nodes();
  std::stable_sort(
      found.jumps.begin(), found.jumps.end(),
      [](const ConsistentJump& a, const ConsistentJump& b) { return a.amplitude < b.amplitude; });
  return found;
}

void check(const Lcs& lcs, const Vector& x, const JumpOptions& options) {
  if (x.size() != lcs.n())
    throw InvalidInput(fmt::format("x must have {} entries but has {}", lcs.n(), x.size()));
  if (!x.allFinite()) throw InvalidInput("x must be finite");
  const Mode& present = options.present;
  if (present.empty()) return;
  if (present.size() != lcs.laws.size())
    throw InvalidInput(fmt::format("present must have {} entries or none but has {}",
                                   lcs.laws.size(), present.size()));
  for (std::size_t i = 0; i < present.size(); ++i)
    if (present[i] < 0 || present[i] >= static_cast<int>(lcs.laws[i].branches.size()))
      throw InvalidInput(
          fmt::format("present must hold branches of the laws, but law {} has none "
                      "of index {}",
                      i + 1, present[i]));
}

}  // namespace

void respect_memory(JumpBlock& block, const std::vector<Law>& laws, const Mode& present) {
  if (present.empty()) return;
  const auto changes = [&](const ContinuousStart& start) {
    return memory_changes(laws, block.lambda, start.mode, present);
  };
  int fewest = std::numeric_limits<int>::max();
  for (const ConsistentJump& jump : block.jumps)
    for (const ContinuousStart& start : jump.continuations)
      fewest = std::min(fewest, changes(start));
  for (ConsistentJump& jump : block.jumps)
    std::erase_if(jump.continuations,
                  [&](const ContinuousStart& start) { return changes(start) > fewest; });
  std::erase_if(block.jumps, [](const ConsistentJump& jump) { return jump.continuations.empty(); });
}

ConsistentJumps consistent_jumps(const Lcs& lcs, const Vector& x, double t,
                                 const JumpOptions& options) {
  check(lcs, x, options);
  const ShortSteps steps(lcs, x, t);
  ConsistentJumps result;
  for (const Block& block : steps.blocks()) {
    long nodes = 0;
    result.blocks.push_back(search(steps.of(block), options.max_nodes - result.nodes, nodes));
    result.nodes += nodes;
    respect_memory(result.blocks.back(), lcs.laws, options.present);
  }
  const auto& blocks = result.blocks;
  const bool complete = std::all_of(blocks.begin(), blocks.end(),
                                    [](const JumpBlock& block) { return block.complete; });
  const bool none = std::any_of(blocks.begin(), blocks.end(), [](const JumpBlock& block) {
    return block.complete && block.jumps.empty();
  });
  result.status = none ? Status::no_solution : complete ? Status::solved : Status::not_enumerated;
  if (none)
    result.message = "no jump leads to a state from which a continuous solution starts";
  else if (!complete)
    result.message =
        fmt::format("not proved complete: the search ended after {} nodes", result.nodes);
  list_products(result, lcs.n(), lcs.m(), options.most_listed);
  return result;
}

}  // namespace perp
