#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>

#include <perp/core/base/error.hpp>
#include <perp/lcp/memory.hpp>
#include <perp/lcp/polyhedra/field_search.hpp>
#include <perp/schemes/jumps/consistent_jumps.hpp>
#include <perp/schemes/step/short_step.hpp>

namespace perp {
namespace {

constexpr double same_point = 1e-12;  // share of the terms of a row of E x
constexpr double no_change = 1e-12;   // likewise

using Number = RationalFunction;
using Point = std::vector<Number>;

bool is_finite(const Number& value) { return value.is_zero() || value.order() >= 0; }

bool is_finite(const Point& values) {
  return std::all_of(values.begin(), values.end(),
                     [](const Number& value) { return is_finite(value); });
}

double limit(const Number& value) {
  return is_finite(value) ? to_double(value.coefficient(0)) + 0.0 : nan;
}

Vector limits(const Point& values) {
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
                                          const Generators<Number>& generators) const {
    const Ends ends = ends_of(generators);
    ConsistentJump jump;
    jump.is_continuum = !ends.directions.empty() || ends.nearest == nullptr ||
                        std::any_of(ends.points.begin(), ends.points.end(), [&](const Vector& point) {
                          return !same(point, ends.points.front());
                        });
    write(Mode(mode.begin(), mode.begin() + step_.m()),
          ends.nearest != nullptr ? *ends.nearest : between(generators.vertices), ends.least, jump);
    if (jump.is_continuum) {
      jump.vertices = beside(ends.points);
      jump.directions = beside(ends.directions);
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
  /// Of a set of solutions the ends at a finite distance, and where it has none.
  struct Ends {
    std::vector<Vector> points, directions;
    const Point* nearest = nullptr;  // to the state before
    double least = inf;              // the distance of that
  };

  [[nodiscard]] Ends ends_of(const Generators<Number>& generators) const {
    Ends ends;
    for (const Point& vertex : generators.vertices) {
      const Point moved = step_.change(vertex, false);
      if (!is_finite(moved)) {  // an end of `bounded`: a direction
        ends.directions.push_back(state(vertex, true));
        continue;
      }
      ends.points.push_back(state(vertex, false));
      if (const double length = limits(moved).stableNorm(); length < ends.least) {
        ends.least = length;
        ends.nearest = &vertex;
      }
    }
    for (const auto* list : {&generators.rays, &generators.lines})
      for (const Point& ray : *list)
        if (moves(step_.change(ray, true))) ends.directions.push_back(state(ray, true));
    return ends;
  }

  static bool moves(const Point& change) {
    return std::any_of(change.begin(), change.end(),
                       [](const Number& value) { return !value.is_zero(); });
  }

  /// The share of the line from one change of state to another at which it is nearest to 0; nothing where that is none of
  /// it.
  static std::optional<Number> nearest_share(const Point& from, const Point& to) {
    Number along = 0, length = 0;
    for (std::size_t k = 0; k < from.size(); ++k) {
      const Number part = to[k] - from[k];
      along -= from[k] * part;
      length += part * part;
    }
    if (length.is_zero()) return std::nullopt;
    const Number share = along / length;
    if (share < 0 || share > 1) return std::nullopt;
    return share;
  }

  /// A point of a set without an end of its own: of the lines between two ends of `bounded` that
  /// opposite ones are on pass at a finite distance; where they do, the point nearest to the state
  /// before.
  [[nodiscard]] Point between(const std::vector<Point>& ends) const {
    for (std::size_t i = 0; i < ends.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const std::optional<Number> share = nearest_share(step_.change(ends[j], false), step_.change(ends[i], false));
        if (!share) continue;
        Point point = ends[j];
        for (std::size_t k = 0; k < point.size(); ++k)
          point[k] += *share * (ends[i][k] - ends[j][k]);
        if (is_finite(step_.change(point, false))) return point;
      }
    return ends.front();
  }

  /// Limit of x⁺; of a direction that of largest entry 1 in E x.
  [[nodiscard]] Vector state(const Point& y, bool direction) const {
    Point x(y.begin(), y.begin() + step_.n());
    if (direction) {
      Number largest;
      for (const Number& value : step_.change(y, true))
        largest = std::max(largest, Arithmetic<Number>::size(value));
      const Number unit(largest.order(), largest.leading());
      for (Number& value : x) value /= unit;
    }
    return limits(x);
  }

  void write(Mode mode, const Point& y, double amplitude, ConsistentJump& jump) const {
    const int n = step_.n(), m = step_.m();
    const Matrix& E = step_.E;
    Vector first = Vector::Zero(n + m), impulse = Vector::Zero(n + m);
    for (int j = 0; j < n + m; ++j) {
      const Number& value = y[static_cast<std::size_t>(j)];
      const bool is_differential = j < n && !E.col(j).isZero(0);
      first[j] = is_differential ? limit(value) : to_double(value.coefficient(0)) + 0.0;
      if (!is_differential) impulse[j] = limit(value * Number(2, 1));  // times h
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

using Modes = std::set<Mode>;

/// What a search of all modes of a block found.
struct ModeSearch {
  Modes modes{};  ///< with solutions
  bool complete = false;
  long nodes = 0;
};

ModeSearch search_modes(const ShortStep& step, long budget,
                        const std::function<void(const Mode&, const Generators<Number>&)>& leaf) {
  ModeSearch result;
  FieldSearch<Number> search(step.problem, budget);
  result.complete = search.run([&](const Mode& mode, const Generators<Number>& generators) {
    result.modes.insert(Mode(mode.begin(), mode.begin() + step.m()));
    leaf(mode, generators);
  });
  result.nodes = search.nodes();
  return result;
}

/// Adds what a mode has: a jump to a point that is known goes on in one mode more.
void add(ConsistentJump jump, const Limits& limits_of, std::vector<ConsistentJump>& jumps) {
  const auto known = std::find_if(jumps.begin(), jumps.end(), [&](const ConsistentJump& other) {
    return !jump.is_continuum && !other.is_continuum && limits_of.same(jump.x(), other.x());
  });
  if (known == jumps.end())
    jumps.push_back(std::move(jump));
  else
    known->continuations.push_back(std::move(jump.continuations.front()));
}

/// All jumps of a block; spends at most `budget` nodes of the search and says how many.
JumpBlock search(const ShortSteps& steps, const Block& block, long budget, ModeSearch& searched) {
  const ShortStep step = steps.of(block);
  const Limits limits_of(step);
  JumpBlock found{step.block.u, step.block.lambda, {}, false};
  searched.complete = true;  // no budget ended it
  if (!step.finite) return found;
  searched =
      search_modes(step, budget, [&](const Mode& mode, const Generators<Number>& generators) {
        add(limits_of(mode, generators), limits_of, found.jumps);
      });
  found.complete = searched.complete && step.known;
  // entries known to a rounding decide nothing: the same modes for all that they can be
  if (found.complete && step.rounded) {
    const ModeSearch all =
        search_modes(steps.relaxed(block), budget, [](const Mode&, const auto&) {});
    found.complete = all.complete && all.modes == searched.modes;
  }
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

/// Why jumps are not proved complete. `ended`: the search was not.
std::string incomplete_text(bool ended, long nodes) {
  if (ended) return fmt::format("not proved complete: the search ended after {} nodes", nodes);
  return "not proved complete: rounding of rows, or of b and q at this time, leaves modes open";
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
  bool ended = false;
  for (const Block& block : steps.blocks()) {
    ModeSearch searched;
    result.blocks.push_back(search(steps, block, options.max_nodes - result.nodes, searched));
    result.nodes += searched.nodes;
    ended = ended || !searched.complete;
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
    result.message = incomplete_text(ended, result.nodes);
  list_products(result, lcs.n(), lcs.m(), options.most_listed);
  return result;
}

}  // namespace perp
