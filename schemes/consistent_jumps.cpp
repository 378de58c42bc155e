#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <memory>

#include <perp/core/error.hpp>
#include <perp/lcp/field_search.hpp>
#include <perp/lcp/laurent.hpp>
#include <perp/schemes/consistent_jumps.hpp>
#include <perp/schemes/step_equations.hpp>

namespace perp {
namespace {

constexpr double unbounded = 1e60;   // a change of E x that is larger is no bounded jump
constexpr double same_point = 1e-9;  // beside the size of the points
constexpr double slope_step = 1e-5;  // beside max(1, |t|)

/// The rows of a step of length h → 0 from x at t, with E (x⁺ - x) as more quantities w that may
/// not be unbounded, each with the law λ = 0.
class ShortStep {
 public:
  ShortStep(const Lcs& lcs, const Vector& x, double t)
      : equations_(lcs, 1), n_(equations_.n()), m_(equations_.m()), x_(x) {
    const Matrix& E = equations_.lcs().E;
    for (int i = 0; i < n_; ++i)
      if (!E.row(i).isZero(0)) differential_.push_back(i);
    const ParametricMlcp at_0 = equations_.family(0), at_1 = equations_.family(1);
    const int count = m_ + static_cast<int>(differential_.size());
    Mlcp base{.M11 = at_0.base.M11,
              .M12 = Matrix::Zero(n_, count),
              .q1 = Vector::Zero(n_),
              .M21 = Matrix::Zero(count, n_),
              .M22 = Matrix::Zero(count, count),
              .q2 = Vector::Zero(count),
              .laws = at_0.base.laws};
    base.M21.topRows(m_) = at_0.base.M21;
    base.M22.topLeftCorner(m_, m_) = at_0.base.M22;
    for (int k = m_; k < count; ++k) {
      base.M21.row(k) = E.row(differential_[at(k - m_)]);
      base.q2[k] = -base.M21.row(k).dot(x);
      base.laws.push_back({"bounded", {{0, 1, 0, {-unbounded, unbounded}, {}}}});
    }
    problem_ = std::make_unique<AlgebraicProblem<Laurent>>(base);
    write_steps(at_0, at_1, t);
  }

  [[nodiscard]] const AlgebraicProblem<Laurent>& problem() const { return *problem_; }
  [[nodiscard]] const StepEquations& equations() const { return equations_; }
  [[nodiscard]] int n() const { return n_; }
  [[nodiscard]] int m() const { return m_; }
  /// E (x⁺ - x⁻) of a point or a direction (u, λ) of the problem.
  [[nodiscard]] std::vector<Laurent> change(const std::vector<Laurent>& y, bool direction) const {
    std::vector<Laurent> value;
    for (std::size_t k = 0; k < differential_.size(); ++k)
      value.push_back(output(*problem_, m_ + static_cast<int>(k), y, direction).value);
    return value;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  /// value + h slope
  static Laurent linear(double value, double slope) {
    return Laurent(value) + Laurent(1, static_cast<long double>(slope));
  }

  /// The rows of [M11 M12 q1] are linear in h, q of b(t + h) and q(t + h) too.
  void write_steps(const ParametricMlcp& at_0, const ParametricMlcp& at_1, double t) {
    const std::vector<Laurent> p = parameter(t);
    const auto constant = [&](const Vector& q_0, const Vector& q_1, const Matrix& Q_0,
                              const Matrix& Q_1, int i) {
      Laurent sum = linear(q_0[i], q_1[i] - q_0[i]);
      for (std::size_t k = 0; k < p.size(); ++k) {
        const auto column = static_cast<Eigen::Index>(k);
        sum += linear(Q_0(i, column), Q_1(i, column) - Q_0(i, column)) * p[k];
      }
      return sum;
    };
    for (int i = 0; i < n_; ++i) {
      std::vector<Laurent>& row = problem_->rows[at(i)];
      for (int j = 0; j < n_; ++j)
        row[at(j)] = linear(at_0.base.M11(i, j), at_1.base.M11(i, j) - at_0.base.M11(i, j));
      for (int j = 0; j < m_; ++j)
        row[at(n_ + j)] = linear(at_0.base.M12(i, j), at_1.base.M12(i, j) - at_0.base.M12(i, j));
      row.back() = constant(at_0.base.q1, at_1.base.q1, at_0.Q1, at_1.Q1, i);
    }
    for (int i = 0; i < m_; ++i)
      problem_->rows[at(n_ + i)].back() = constant(at_0.base.q2, at_1.base.q2, at_0.Q2, at_1.Q2, i);
  }

  /// The family's parameter for a step to t + h: value and slope by one-sided differences of second
  /// order.
  std::vector<Laurent> parameter(double t) {
    const auto count = at(equations_.parameters());
    const double step = slope_step * std::max(1.0, std::abs(t));
    std::vector<double> now(count), half(count), whole(count);
    equations_.parameter(x_, t, t, now.data());
    equations_.parameter(x_, t, t + step / 2, half.data());
    equations_.parameter(x_, t, t + step, whole.data());
    std::vector<Laurent> p;
    for (std::size_t k = 0; k < count; ++k)
      p.push_back(linear(now[k], (4 * (half[k] - now[k]) - (whole[k] - now[k])) / step));
    return p;
  }

  StepEquations equations_;
  int n_, m_;
  Vector x_;
  std::vector<int> differential_;  // rows of E that are not 0
  std::unique_ptr<AlgebraicProblem<Laurent>> problem_;
};

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
  explicit Limits(const ShortStep& step, const Vector& x) : step_(step), x_(x) {}

  [[nodiscard]] ConsistentJump operator()(const Mode& mode,
                                          const Generators<Laurent>& generators) const {
    std::vector<Vector> points, directions;
    const std::vector<Laurent>* nearest = nullptr;
    double least = inf;
    for (const auto& vertex : generators.vertices) {
      const Vector change = limits(step_.change(vertex, false));
      if (change.lpNorm<Eigen::Infinity>() > unbounded / 2) {  // an end of `bounded`: a direction
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
    const Matrix& E = step_.equations().given_E();
    const auto seen = [&](const Vector& x) {
      return Vector(E * x.unaryExpr([](double v) { return std::isnan(v) ? 0 : v; }));
    };
    const double size = 1 + std::max(seen(a).norm(), seen(b).norm());
    return (seen(a) - seen(b)).norm() <= same_point * size;
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
    const Matrix& E = step_.equations().given_E();
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
    const double size = 1 + (E * x_).norm();
    jump.amplitude = amplitude <= same_point * 1e-3 * size ? 0 : amplitude;
  }

  static Matrix beside(const std::vector<Vector>& columns) {
    Matrix result(columns.empty() ? 0 : columns.front().size(),
                  static_cast<Eigen::Index>(columns.size()));
    for (std::size_t k = 0; k < columns.size(); ++k)
      result.col(static_cast<Eigen::Index>(k)) = columns[k];
    return result;
  }

  const ShortStep& step_;
  Vector x_;
};

}  // namespace

ConsistentJumps consistent_jumps(const Lcs& lcs, const Vector& x, double t,
                                 const JumpOptions& options) {
  if (x.size() != lcs.n())
    throw InvalidInput(fmt::format("x must have {} entries but has {}", lcs.n(), x.size()));
  if (!x.allFinite()) throw InvalidInput("x must be finite");
  const ShortStep step(lcs, x, t);
  const Limits limits_of(step, x);
  ConsistentJumps result;
  FieldSearch<Laurent> search(step.problem(), options.max_nodes);
  const bool complete = search.run([&](const Mode& mode, const Generators<Laurent>& generators) {
    ConsistentJump jump = limits_of(mode, generators);
    const auto known =
        std::find_if(result.jumps.begin(), result.jumps.end(), [&](const ConsistentJump& other) {
          return !jump.is_continuum && !other.is_continuum && limits_of.same(jump.x(), other.x());
        });
    if (known == result.jumps.end())
      result.jumps.push_back(std::move(jump));
    else
      known->continuations.push_back(std::move(jump.continuations.front()));
  });
  result.nodes = search.nodes();
  std::stable_sort(
      result.jumps.begin(), result.jumps.end(),
      [](const ConsistentJump& a, const ConsistentJump& b) { return a.amplitude < b.amplitude; });
  result.status = !complete              ? Status::not_enumerated
                  : result.jumps.empty() ? Status::no_solution
                                         : Status::solved;
  if (!complete)
    result.message =
        fmt::format("not proved complete: the search ended after {} nodes", result.nodes);
  else if (result.jumps.empty())
    result.message = "no jump leads to a state from which a continuous solution starts";
  return result;
}

}  // namespace perp
