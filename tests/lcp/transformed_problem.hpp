#pragma once

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <perp/lcp/solution_set.hpp>
#include <perp/tests/lcp/random_problems.hpp>

namespace perp::test {

/// The same problem in other words, and the way back: unknown j of `problem` is unit[j] times the
/// unknown order[j] of the given one (u, then λ); law i is its law laws[i].
struct Transformed {
  Mlcp problem;
  std::vector<int> order, laws;
  Vector unit;  ///< y_given[order[j]] = unit[j] y[j]

  explicit Transformed(const Mlcp& given)
      : problem(given),
        order(static_cast<std::size_t>(given.p() + given.m())),
        laws(static_cast<std::size_t>(given.m())),
        unit(Vector::Ones(given.p() + given.m())) {
    std::iota(order.begin(), order.end(), 0);
    std::iota(laws.begin(), laws.end(), 0);
  }

  /// Equations, unknowns and laws in another order.
  Transformed& permute(RandomProblems& random) {
    std::vector<int> u, which;
    random.permute(problem, u, which);
    std::vector<int> from = u;
    for (const int i : which) from.push_back(problem.p() + i);
    const std::vector<int> old_order = order, old_laws = laws;
    const Vector old_unit = unit;
    for (std::size_t j = 0; j < order.size(); ++j) {
      order[j] = old_order[static_cast<std::size_t>(from[j])];
      unit[static_cast<Eigen::Index>(j)] = old_unit[from[j]];
    }
    for (std::size_t i = 0; i < laws.size(); ++i)
      laws[i] = old_laws[static_cast<std::size_t>(which[i])];
    return *this;
  }

  /// Equations and rows of w times positive factors; of laws that are boxes the graph does not
  /// change with w. `exact`: powers of two, which cost no rounding.
  Transformed& multiply_rows(RandomProblems& random, bool exact) {
    const auto factor = [&] {
      const int power = random.integer(-9, 9);
      return exact ? std::ldexp(1.0, power) : std::exp(power);
    };
    for (int i = 0; i < problem.p(); ++i) {
      const double f = factor();
      problem.M11.row(i) *= f;
      problem.M12.row(i) *= f;
      problem.q1[i] *= f;
    }
    for (int i = 0; i < problem.m(); ++i) {
      const double f = factor();
      problem.M21.row(i) *= f;
      problem.M22.row(i) *= f;
      problem.q2[i] *= f;
    }
    return *this;
  }

  /// Units of u, λ and w up to 2^±bits.
  Transformed& change_units(RandomProblems& random, int bits) {
    const auto powers = [&](int count) {
      Vector factors(count);
      for (double& factor : factors) factor = std::ldexp(1.0, random.integer(-bits, bits));
      return factors;
    };
    const int p = problem.p(), m = problem.m();
    const Scaling scaling{.u_scale = powers(p),
                          .row_scale = Vector::Ones(p),
                          .lambda_scale = powers(m),
                          .w_scale = powers(m)};
    problem = scaled(problem, scaling);
    unit.head(p).array() *= scaling.u_scale.array();
    unit.tail(m).array() *= scaling.lambda_scale.array();
    return *this;
  }

  /// The given norm of the given unknowns.
  [[nodiscard]] Norm norm(const Norm& given) const {
    Norm result{Matrix(given.W.rows(), unit.size()), Vector(unit.size())};
    for (Eigen::Index j = 0; j < unit.size(); ++j) {
      const int from = order[static_cast<std::size_t>(j)];
      result.W.col(j) = given.W.col(from) * unit[j];
      result.center[j] = given.center[from] / unit[j];
    }
    return result;
  }

  /// Columns (u, λ) in the given unknowns.
  [[nodiscard]] Matrix back(const Matrix& columns) const {
    Matrix result(columns.rows(), columns.cols());
    for (Eigen::Index j = 0; j < unit.size(); ++j)
      result.row(order[static_cast<std::size_t>(j)]) = unit[j] * columns.row(j);
    return result;
  }

  /// The same with the modes in the given order of the laws.
  [[nodiscard]] Piece back(const Piece& piece) const {
    Piece result{{}, piece.dimension, back(piece.vertices), back(piece.rays), back(piece.lines)};
    for (const Mode& mode : piece.modes) {
      result.modes.push_back(mode);
      for (std::size_t i = 0; i < laws.size(); ++i)
        result.modes.back()[static_cast<std::size_t>(laws[i])] = mode[i];
    }
    return result;
  }

  [[nodiscard]] std::vector<Piece> back(const std::vector<Piece>& pieces) const {
    std::vector<Piece> list;
    for (const Piece& piece : pieces) list.push_back(back(piece));
    return list;
  }
};

/// Every kind of change alone and all together, drawn from the seed; `exact`: none costs rounding.
inline std::vector<std::pair<std::string, Transformed>> transformations(const Mlcp& given,
                                                                        unsigned seed, bool exact) {
  RandomProblems random(seed);
  std::vector<std::pair<std::string, Transformed>> list;
  list.emplace_back("another order", Transformed(given).permute(random));
  list.emplace_back("multiplied rows", Transformed(given).multiply_rows(random, exact));
  list.emplace_back("other units", Transformed(given).change_units(random, 12));
  list.emplace_back(
      "all of them",
      Transformed(given).change_units(random, 12).permute(random).multiply_rows(random, exact));
  return list;
}

}  // namespace perp::test
