#include <doctest/doctest.h>
#include <cmath>
#include <optional>
#include <random>
#include <set>

#include <perp/core/branches.hpp>
#include <perp/lcp/parametric/mode_cache.hpp>
#include <perp/schemes/step/step_equations.hpp>

using namespace perp;

namespace {

using Row = std::vector<Rational>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The exact equations of a step from x in rational arithmetic, from the data themselves.
struct ExactStep {
  Lcs lcs;
  Rational h;
  Vector x;

  [[nodiscard]] const Branch& branch(const Mode& mode, int i) const {
    return lcs.laws[at(i)].branches[at(mode[at(i)])];
  }

  [[nodiscard]] std::vector<Row> rows(const Mode& mode) const {
    const int n = lcs.n(), m = lcs.m();
    std::vector<Row> K(at(n + m), Row(at(n + m + 1)));
    for (int i = 0; i < n; ++i) {
      const bool algebraic = lcs.E.row(i).isZero(0);
      const Rational share = algebraic ? Rational(-1) : h;
      for (int j = 0; j < n; ++j) {
        K[at(i)][at(j)] = Rational(lcs.E(i, j)) - share * Rational(lcs.A(i, j));
        K[at(i)].back() += Rational(lcs.E(i, j)) * Rational(x[j]);
      }
      for (int j = 0; j < m; ++j) K[at(i)][at(n + j)] = -share * Rational(lcs.B(i, j));
      K[at(i)].back() += share * Rational(lcs.b.constant()[i]);
    }
    for (int i = 0; i < m; ++i) {
      Row& row = K[at(n + i)];
      const Rational a(branch(mode, i).a);
      for (int j = 0; j < n; ++j) row[at(j)] = a * Rational(lcs.C(i, j));
      for (int j = 0; j < m; ++j) row[at(n + j)] = a * Rational(lcs.D(i, j));
      row[at(n + i)] += Rational(branch(mode, i).b);
      row.back() = Rational(branch(mode, i).c) - a * Rational(lcs.q.constant()[i]);
    }
    return K;
  }

  /// The solution of a mode; nothing where its matrix is singular, then `consistent` says the rest.
  [[nodiscard]] std::optional<Row> solve(const Mode& mode, bool& consistent) const {
    std::vector<Row> K = rows(mode);
    const std::size_t n = K.size();
    std::size_t rank = 0;
    for (std::size_t j = 0; j < n; ++j) {
      std::size_t p = rank;
      while (p < n && K[p][j] == 0) ++p;
      if (p == n) continue;
      std::swap(K[p], K[rank]);
      for (std::size_t i = 0; i < n; ++i) {
        if (i == rank || K[i][j] == 0) continue;
        const Rational factor = K[i][j] / K[rank][j];
        for (std::size_t l = j; l <= n; ++l) K[i][l] -= factor * K[rank][l];
      }
      ++rank;
    }
    consistent = true;
    for (std::size_t i = rank; i < n; ++i) consistent = consistent && K[i][n] == 0;
    if (rank < n) return std::nullopt;
    Row y;
    for (std::size_t i = 0; i < n; ++i) y.push_back(K[i][n] / K[i][i]);
    return y;
  }

  [[nodiscard]] bool in_ranges(const Mode& mode, const Row& y) const {
    const auto inside = [](const Rational& value, const Range& range) {
      return !(std::isfinite(range.lower) && value < Rational(range.lower)) &&
             !(std::isfinite(range.upper) && value > Rational(range.upper));
    };
    const int n = lcs.n();
    for (int i = 0; i < lcs.m(); ++i) {
      Rational w(lcs.q.constant()[i]);
      for (int j = 0; j < n; ++j) w += Rational(lcs.C(i, j)) * y[at(j)];
      for (int j = 0; j < lcs.m(); ++j) w += Rational(lcs.D(i, j)) * y[at(n + j)];
      if (!inside(w, branch(mode, i).w) || !inside(y[at(n + i)], branch(mode, i).lambda))
        return false;
    }
    return true;
  }
};

/// Small numbers, many of them 0, with units from 2^-60 to 2^60 where `wild`.
ExactStep random_step(std::mt19937& random, bool wild) {
  std::uniform_int_distribution<int> size(1, 3), small(-2, 2), exponent(-60, 60), law(0, 5);
  std::uniform_real_distribution<double> decade(-9, 3);
  const auto entry = [&] {
    const int by = wild ? exponent(random) : 0;  // in this order with every compiler
    return std::ldexp(static_cast<double>(small(random)), by);
  };
  const auto matrix = [&](int rows, int columns) {
    Matrix M(rows, columns);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) M(i, j) = entry();
    if (rows > 1 && small(random) == 0) M.row(1) = M.row(0);
    return M;
  };
  const int n = size(random), m = size(random);
  ExactStep step;
  step.lcs.E = Matrix::Zero(n, n);
  for (int i = 0; i < n; ++i)
    if (small(random) > -2) step.lcs.E(i, i) = std::ldexp(1.0, wild ? exponent(random) : 0);
  step.lcs.A = matrix(n, n);
  step.lcs.B = matrix(n, m);
  step.lcs.b = Vector(matrix(n, 1));
  step.lcs.C = matrix(m, n);
  step.lcs.D = matrix(m, m);
  step.lcs.q = Vector(matrix(m, 1));
  const Law laws[] = {complementarity(), sign(), relay(-0.1, 0.3), saturation(-1, 1), absolute(),
                      abs_plus_sign()};
  for (int i = 0; i < m; ++i) step.lcs.laws.push_back(laws[law(random)]);
  step.h = Rational(std::pow(10, decade(random)));
  step.x = matrix(n, 1);
  return step;
}

/// Do two points agree in every entry to its last digits?
bool same(const Vector& a, const Vector& b) {
  constexpr double last_digits = 32 * std::numeric_limits<double>::epsilon();
  return ((a - b).array().abs() <= last_digits * b.array().abs()).all();
}

}  // namespace

TEST_SUITE("schemes/exact_steps") {
  TEST_CASE("what is said of a step of an affine system is what rational arithmetic says") {
    std::mt19937 random(77);
    int solved = 0, none = 0, several = 0, open = 0, weak = 0, rounded = 0, at_ends = 0;
    for (int trial = 0; trial < 12000; ++trial) {
      CAPTURE(trial);
      const ExactStep exact = random_step(random, trial % 3 != 0);
      StepEquations equations(exact.lcs, 1);
      ModeCache cache(equations.family(static_cast<double>(exact.h)));
      std::vector<double> theta(at(equations.parameters()) + 1);
      equations.parameter(exact.x, 0, static_cast<double>(exact.h), theta.data());
      const ModeCache::Choice choice = cache.nearest(theta.data(), -1);

      std::vector<Vector> solutions;  // those that doubles tell apart
      bool continuum = false;
      Mode mode(exact.lcs.laws.size(), 0);
      do {
        bool consistent = false;
        const std::optional<Row> y = exact.solve(mode, consistent);
        if (!y) {
          continuum = continuum || consistent;
          continue;
        }
        if (!exact.in_ranges(mode, *y)) continue;
        Vector u(exact.lcs.n());
        for (int j = 0; j < u.size(); ++j) u[j] = static_cast<double>((*y)[at(j)]);
        const bool known = std::any_of(solutions.begin(), solutions.end(),
                                       [&](const Vector& other) { return same(u, other); });
        if (!known) solutions.push_back(u);
      } while (next_mode(mode, exact.lcs.laws));

      if (choice.status == Status::not_enumerated) {
        ++open;
        continue;
      }
      if (continuum) continue;  // of multipliers alone, or out of its ranges
      if (choice.status == Status::no_solution) {
        ++none;
        CHECK(solutions.empty());
        continue;
      }
      REQUIRE(choice.status == Status::solved);
      if (solutions.empty()) {
        ++weak;
        continue;
      }
      ++solved;
      several += solutions.size() > 1;
      rounded += choice.solutions != static_cast<int>(solutions.size());
      // the state is one of the solutions to the last digits of each entry
      Vector u(exact.lcs.n());
      cache.map(choice.map).u(theta.data(), u.data());
      const bool among = std::any_of(solutions.begin(), solutions.end(),
                                     [&](const Vector& point) { return same(u, point); });
      // beyond the end of a branch by less than the rounding of θ moves it, or of the margin in doubles
      const ModeMap& map = cache.map(choice.map);
      bool is_at_end = false;
      for (int k = 0; k < static_cast<int>(map.margins().size()); ++k)
        is_at_end = is_at_end || (map.sign(k, theta.data()) < 0 && map.verdict(k, theta.data()) != ModeMap::Verdict::negative);
      CHECK((among || is_at_end));
      at_ends += !among;
    }
    MESSAGE(solved << " solved, " << several << " several, " << none << " none, " << open
                   << " open, " << weak << " within rounding, " << rounded << " counts rounded, "
                   << at_ends << " at ends but for the rounding of the state");
    CHECK(solved > 4800);
    CHECK(none > 1400);
    CHECK(several > 1000);
    CHECK(weak < 280);
    CHECK(rounded < 160);  // further ones within the rounding of their range
  }

  TEST_CASE("the family of steps keeps what rounding takes from E - h A") {
    std::mt19937 random(78);
    for (int trial = 0; trial < 300; ++trial) {
      const ExactStep exact = random_step(random, true);
      const StepEquations equations(exact.lcs, 1);
      const ParametricMlcp family = equations.family(static_cast<double>(exact.h));
      const std::vector<Row> rows = exact.rows(Mode(exact.lcs.laws.size(), 0));
      const int n = exact.lcs.n();
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n + exact.lcs.m(); ++j)
          CHECK(family.exact_entry(i, j) == rows[at(i)][at(j)]);
    }
  }
}
