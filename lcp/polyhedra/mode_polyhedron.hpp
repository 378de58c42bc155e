#pragma once

#include <optional>

#include <perp/lcp/polyhedra/affine_space.hpp>
#include <perp/lcp/polyhedra/polyhedron.hpp>

namespace perp {

/// A range whose ends may be missing, in any scalar.
template <class Scalar>
struct Interval {
  std::optional<Scalar> lower;
  std::optional<Scalar> upper;
};

template <class Scalar>
struct LawBranch {
  Scalar a;
  Scalar b;
  Scalar c;
  Interval<Scalar> w;
  Interval<Scalar> lambda;
};

/// An Mlcp in any scalar. Rows (n+1 entries, n = p+m, the last one is q): first the p equations,
/// then w.
template <class Scalar>
struct AlgebraicProblem {
  int p = 0;
  int m = 0;
  std::vector<std::vector<Scalar>> rows;
  std::vector<std::vector<LawBranch<Scalar>>> laws;

  explicit AlgebraicProblem(const Mlcp& problem) : p(problem.p()), m(problem.m()) {
    for (int i = 0; i < p; ++i) rows.push_back(row(problem.M11, problem.M12, problem.q1, i));
    for (int i = 0; i < m; ++i) rows.push_back(row(problem.M21, problem.M22, problem.q2, i));
    for (const Law& law : problem.laws) {
      laws.emplace_back();
      for (const Branch& branch : law.branches)
        laws.back().push_back({Scalar(branch.a), Scalar(branch.b), Scalar(branch.c),
                               interval(branch.w), interval(branch.lambda)});
    }
  }

  [[nodiscard]] const LawBranch<Scalar>& branch(const Mode& mode, int law) const {
    return laws[static_cast<std::size_t>(law)]
               [static_cast<std::size_t>(mode[static_cast<std::size_t>(law)])];
  }
  [[nodiscard]] const std::vector<Scalar>& w_row(int law) const {
    return rows[static_cast<std::size_t>(p + law)];
  }

 private:
  static std::vector<Scalar> row(const Matrix& left, const Matrix& right, const Vector& q, int i) {
    std::vector<Scalar> entries;
    for (int j = 0; j < left.cols(); ++j) entries.emplace_back(left(i, j));
    for (int j = 0; j < right.cols(); ++j) entries.emplace_back(right(i, j));
    entries.emplace_back(q[i]);
    return entries;
  }
  static Interval<Scalar> interval(const Range& range) {
    Interval<Scalar> result;
    if (range.lower > -inf) result.lower = Scalar(range.lower);
    if (range.upper < inf) result.upper = Scalar(range.upper);
    return result;
  }
};

/// Sum of products with the size of its terms, so that a vanishing sum can be told from a small
/// one; an exact sum needs no size.
template <class Scalar>
struct Sum {
  Scalar value = 0;
  Scalar size = 0;

  void add(const Scalar& factor, const Scalar& other) {
    if (factor == 0 || other == 0) return;
    const Scalar term = factor * other;
    value = Arithmetic<Scalar>::difference(value, -term);
    if constexpr (!Arithmetic<Scalar>::exact) size += Arithmetic<Scalar>::size(term);
  }
  /// The value, or 0 where it is nothing beside its terms.
  [[nodiscard]] Scalar rounded() const {
    return Arithmetic<Scalar>::no_pivot(value, size) ? Scalar(0) : value;
  }
};

/// w_i (or its linear part, for directions) at y.
template <class Scalar>
Sum<Scalar> output(const AlgebraicProblem<Scalar>& problem, int law, const std::vector<Scalar>& y,
                   bool is_direction) {
  const std::vector<Scalar>& row = problem.w_row(law);
  Sum<Scalar> sum;
  for (std::size_t j = 0; j < y.size(); ++j) sum.add(row[j], y[j]);
  if (!is_direction) sum.add(row.back(), Scalar(1));
  return sum;
}

/// Part of the size of a whole problem that counts for each of its rows, see `residual`.
inline constexpr double size_leak = 0x1p-14;

/// Most generators of the solutions of one mode.
inline constexpr std::size_t generator_limit = 20'000;

/// All solutions of one mode as a polyhedron in y = (u, λ).
template <class Scalar>
class ModePolyhedron {
 public:
  ModePolyhedron(const AlgebraicProblem<Scalar>& problem, std::size_t limit)
      : problem_(problem), limit_(limit) {
    // The p equations hold in every mode: they are solved once, for u as far as possible.
    const int n = problem.p + problem.m;
    common_ = solve_equations<Scalar>({problem.rows.begin(), problem.rows.begin() + problem.p}, n,
                                      problem.p);
    if (!common_) return;
    for (int i = 0; i < problem.m; ++i) {
      w_.push_back(w_row(*common_, i));
      lambda_.push_back(lambda_row(*common_, i));
    }
  }

  /// Generators of the mode's solutions that satisfy the `further` equations rows · (y, 1) = 0, too; no
  /// vertex: no solution. `overflow` is set where there are more generators than the limit.
  Generators<Scalar> operator()(const Mode& mode, bool& overflow,
                                const std::vector<std::vector<Scalar>>& further = {}) {
    const auto space = solve(mode, further);
    if (!space) return {};
    if (space->directions.empty()) {
      if (!admits_point(mode, space->origin)) return {};
      return {{space->origin}, {}, {}};
    }
    DoubleDescription<Scalar> cone(static_cast<int>(space->directions.size()) + 1, limit_);
    std::vector<Scalar> tau(space->directions.size() + 1, Scalar(0));
    tau.back() = 1;
    if (!cone.insert(tau)) overflow = true;
    if (!insert_ranges(cone, mode, *space, overflow) || overflow) return {};
    return lift(*space, dehomogenise(cone));
  }

 private:
  using A = Arithmetic<Scalar>;
  using Point = std::vector<Scalar>;

  /// A quantity as an affine function of the parameters t, with the size of its constant's terms.
  struct Row {
    Point coefficients;  ///< of t, then the constant
    Scalar size;
  };

  /// The affine space of the mode's equations a w + b λ = c within that of the common equations.
  std::optional<AffineSpace<Scalar>> solve(const Mode& mode,
                                           const std::vector<Point>& further) const {
    if (!common_) return std::nullopt;
    const std::size_t count = common_->directions.size();
    std::vector<Point> equations;
    for (int i = 0; i < problem_.m; ++i) {
      const LawBranch<Scalar>& branch = problem_.branch(mode, i);
      const Point& w = w_[static_cast<std::size_t>(i)].coefficients;
      const Point& lambda = lambda_[static_cast<std::size_t>(i)].coefficients;
      Point equation(count + 1);
      for (std::size_t k = 0; k <= count; ++k)
        equation[k] = A::difference(branch.a * w[k], -branch.b * lambda[k]);
      equation.back() = A::difference(equation.back(), branch.c);
      equations.push_back(std::move(equation));
    }
    for (const Point& row : further) equations.push_back(in_parameters(row));
    auto inner = solve_equations(std::move(equations), static_cast<int>(count));
    if (!inner) return std::nullopt;
    AffineSpace<Scalar> space{combine(*common_, inner->origin, false), {}, {}};
    for (const Point& direction : inner->directions)
      space.directions.push_back(combine(*common_, direction, true));
    return space;
  }

  /// A row over (y, 1) in the parameters of the common equations.
  Point in_parameters(const Point& row) const {
    const auto product = [&](const Point& y) {
      Sum<Scalar> sum;
      for (std::size_t j = 0; j < y.size(); ++j) sum.add(row[j], y[j]);
      return sum;
    };
    Point equation;
    for (const Point& direction : common_->directions)
      equation.push_back(product(direction).rounded());
    Sum<Scalar> constant = product(common_->origin);
    constant.add(row.back(), Scalar(1));
    equation.push_back(constant.rounded());
    return equation;
  }

  static Scalar size_of(const Point& y) {
    Scalar largest = 1;
    if constexpr (A::exact) return largest;  // sizes decide nothing
    for (const Scalar& value : y) largest = std::max<Scalar>(largest, A::size(value));
    return largest;
  }
  static bool admits(const Interval<Scalar>& range, const Scalar& value, const Scalar& size) {
    return !(range.lower && value < *range.lower && !A::vanishes(*range.lower - value, size)) &&
           !(range.upper && value > *range.upper && !A::vanishes(value - *range.upper, size));
  }

  bool admits_point(const Mode& mode, const Point& y) const {
    const Scalar leak = Scalar(size_leak) * size_of(y);
    for (int i = 0; i < problem_.m; ++i) {
      const LawBranch<Scalar>& branch = problem_.branch(mode, i);
      const Scalar& lambda = y[static_cast<std::size_t>(problem_.p + i)];
      if (branch.a != 0 && !admits(branch.lambda, lambda, A::size(lambda) + leak)) return false;
      if (branch.b == 0) continue;
      const Sum<Scalar> w = output(problem_, i, y, false);
      if (!admits(branch.w, w.value, w.size + leak)) return false;
    }
    return true;
  }

  Row w_row(const AffineSpace<Scalar>& space, int law) const {
    Row row;
    for (const Point& direction : space.directions)
      row.coefficients.push_back(output(problem_, law, direction, true).rounded());
    const Sum<Scalar> constant = output(problem_, law, space.origin, false);
    row.coefficients.push_back(constant.rounded());
    row.size = constant.size + Scalar(size_leak) * size_of(space.origin);
    return row;
  }
  Row lambda_row(const AffineSpace<Scalar>& space, int law) const {
    const auto j = static_cast<std::size_t>(problem_.p + law);
    Row row;
    for (const Point& direction : space.directions) row.coefficients.push_back(direction[j]);
    row.coefficients.push_back(space.origin[j]);
    row.size = A::size(space.origin[j]) + Scalar(size_leak) * size_of(space.origin);
    return row;
  }

  /// Cuts by both ends of a range. False if the quantity is constant and outside of it.
  static bool insert(DoubleDescription<Scalar>& cone, const Row& row, const Interval<Scalar>& range,
                     bool& overflow) {
    const bool is_constant = std::all_of(row.coefficients.begin(), row.coefficients.end() - 1,
                                         [](const Scalar& value) { return value == 0; });
    if (is_constant) return admits(range, row.coefficients.back(), row.size);
    if (range.lower) {
      Point h = row.coefficients;
      h.back() = A::difference(h.back(), *range.lower);
      overflow = overflow || !cone.insert(std::move(h));
    }
    if (range.upper) {
      Point h = row.coefficients;
      for (Scalar& value : h) value = -value;
      h.back() = A::difference(h.back(), -*range.upper);
      overflow = overflow || !cone.insert(std::move(h));
    }
    return true;
  }

  /// Cuts by the ranges of all branches of the mode. False: a quantity is constant and outside of its range.
  bool insert_ranges(DoubleDescription<Scalar>& cone, const Mode& mode,
                     const AffineSpace<Scalar>& space, bool& overflow) const {
    for (int i = 0; i < problem_.m && !overflow; ++i) {
      const LawBranch<Scalar>& branch = problem_.branch(mode, i);
      if (branch.b != 0 && !insert(cone, w_row(space, i), branch.w, overflow)) return false;
      if (branch.a != 0 && !insert(cone, lambda_row(space, i), branch.lambda, overflow)) return false;
    }
    return true;
  }

  /// The point (or direction) of the space with these parameters.
  static Point combine(const AffineSpace<Scalar>& space, const Point& t, bool is_direction) {
    Point y;
    for (std::size_t j = 0; j < space.origin.size(); ++j) {
      Sum<Scalar> sum;
      if (!is_direction) sum.add(space.origin[j], Scalar(1));
      for (std::size_t k = 0; k < t.size(); ++k) sum.add(space.directions[k][j], t[k]);
      y.push_back(sum.value);
    }
    if (is_direction) A::normalise(y);
    return y;
  }
  static Generators<Scalar> lift(const AffineSpace<Scalar>& space, const Generators<Scalar>& of_t) {
    Generators<Scalar> result;
    for (const Point& t : of_t.vertices) result.vertices.push_back(combine(space, t, false));
    for (const Point& t : of_t.rays) result.rays.push_back(combine(space, t, true));
    for (const Point& t : of_t.lines) result.lines.push_back(combine(space, t, true));
    return result;
  }

  const AlgebraicProblem<Scalar>& problem_;
  std::size_t limit_;
  std::optional<AffineSpace<Scalar>> common_;  ///< all y that satisfy the p equations
  std::vector<Row> w_;                         ///< in the parameters of `common_`
  std::vector<Row> lambda_;
};

}  // namespace perp
