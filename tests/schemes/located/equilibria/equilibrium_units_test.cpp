#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/lcs.hpp>
#include <perp/schemes/located/equilibria/equilibria.hpp>

// Equilibria of random piecewise-linear systems against all of their modes in rational numbers, in many units.

using namespace perp;

namespace {

constexpr int n = 2, m = 2;

/// ẋ = A x + B λ + b,  w = C x + D λ + q,  (w_i, λ_i) on the graph of law i.
struct Data {
  Matrix A, B, C, D;
  Vector b, q;
  std::vector<Law> laws;
};

Data random_data(std::mt19937& random) {
  const auto entry = [&] { return static_cast<double>(static_cast<int>(random() % 17) - 8) / 4; };
  const auto matrix = [&](int rows, int columns) { return Matrix(Matrix::NullaryExpr(rows, columns, entry)); };
  Data data{matrix(n, n), matrix(n, m), matrix(m, n), 0.25 * matrix(m, m), matrix(n, 1), matrix(m, 1), {}};
  const Law known[] = {sign(), complementarity(), saturation(-0.75, 1), relay(-0.5, 2), absolute(), dead_zone(-1, 0.5)};
  for (int i = 0; i < m; ++i) data.laws.push_back(known[random() % std::size(known)]);
  return data;
}

/// An end of a branch of the law: (w, λ).
std::pair<double, double> corner_of(const Law& law) {
  for (const Branch& branch : law.branches) {
    const Range range = w_range(branch);
    const double w = std::isfinite(range.lower) ? range.lower : range.upper;
    if (branch.b != 0 && std::isfinite(w)) return {w, (branch.c - branch.a * w) / branch.b};
  }
  return {0, 0};
}

/// The same with a point at rest where the first law is at a corner, all numbers being multiples of 2^-8.
Data with_corner(Data data, std::mt19937& random) {
  const auto eighth = [&] { return static_cast<double>(static_cast<int>(random() % 17) - 8) / 8; };
  const Vector x = Vector::NullaryExpr(n, eighth);
  Vector w(m), lambda(m);
  for (int i = 0; i < m; ++i) std::tie(w[i], lambda[i]) = corner_of(data.laws[static_cast<std::size_t>(i)]);
  data.b = -(data.A * x + data.B * lambda);
  data.q = w - (data.C * x + data.D * lambda);
  return data;
}

/// Units of x, λ, w and of time.
struct Units {
  Vector x, lambda, w;
  double time = 1;
};

Data in_units(const Data& data, const Units& units) {
  const auto X = units.x.asDiagonal(), W = units.w.asDiagonal();
  const Matrix by_x = units.x.cwiseInverse().asDiagonal(), by_lambda = units.lambda.cwiseInverse().asDiagonal();
  Data other{X * data.A * by_x / units.time, X * data.B * by_lambda / units.time, W * data.C * by_x, W * data.D * by_lambda,
             X * data.b / units.time,        W * data.q,                          {}};
  for (int i = 0; i < m; ++i) {
    std::vector<Branch> branches;
    for (Branch branch : data.laws[static_cast<std::size_t>(i)].branches) {
      // a w + b λ = c in units of λ where the branch has a slope, else of the only one of the two
      const double own = branch.b != 0 ? units.lambda[i] : units.w[i];
      branch.a *= own / units.w[i], branch.b *= own / units.lambda[i], branch.c *= own;
      branch.w = {branch.w.lower * units.w[i], branch.w.upper * units.w[i]};
      branch.lambda = {branch.lambda.lower * units.lambda[i], branch.lambda.upper * units.lambda[i]};
      branches.push_back(branch);
    }
    other.laws.push_back({data.laws[static_cast<std::size_t>(i)].name, branches, false});
  }
  return other;
}

Equilibria found(const Data& data, const Vector& x) {
  return find_equilibria(as_dcs(Lcs{.A = data.A, .B = data.B, .b = data.b, .C = data.C, .D = data.D, .q = data.q, .laws = data.laws}),
                         0, x, {.starts = 6});
}

/// A point of the equations of a mode, and the least side of its laws: 1 inside, 0 at an end, −1 beyond one.
struct ExactPoint {
  Mode mode;
  std::vector<Rational> x, lambda;
  int side = 1;
};

/// The solution of a square system; none: it is singular.
std::optional<std::vector<Rational>> solution(std::vector<std::vector<Rational>> rows) {
  const std::size_t size = rows.size();
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t pivot = k;
    while (pivot < size && rows[pivot][k] == 0) ++pivot;
    if (pivot == size) return std::nullopt;
    std::swap(rows[k], rows[pivot]);
    for (std::size_t r = 0; r < size; ++r) {
      if (r == k || rows[r][k] == 0) continue;
      const Rational factor = rows[r][k] / rows[k][k];
      for (std::size_t c = k; c <= size; ++c) rows[r][c] -= factor * rows[k][c];
    }
  }
  std::vector<Rational> values;
  for (std::size_t k = 0; k < size; ++k) values.push_back(rows[k][size] / rows[k][k]);
  return values;
}

const Branch& branch_of(const Data& data, const Mode& mode, int i) {
  return data.laws[static_cast<std::size_t>(i)].branches[static_cast<std::size_t>(mode[static_cast<std::size_t>(i)])];
}

/// The equations of a mode in (x, λ), the right side last.
std::vector<std::vector<Rational>> equations(const Data& data, const Mode& mode) {
  std::vector<std::vector<Rational>> rows;
  for (int r = 0; r < n + m; ++r) {
    std::vector<Rational> row;
    const Branch branch = r < n ? Branch{} : branch_of(data, mode, r - n);
    for (int j = 0; j < n + m; ++j) {
      if (r < n) {
        row.emplace_back(j < n ? data.A(r, j) : data.B(r, j - n));
      } else {
        const double G = j < n ? data.C(r - n, j) : data.D(r - n, j - n);
        row.push_back(Rational(branch.a) * G + (j == r ? Rational(branch.b) : Rational(0)));
      }
    }
    row.push_back(r < n ? -Rational(data.b[r]) : Rational(branch.c) - Rational(branch.a) * data.q[r - n]);
    rows.push_back(row);
  }
  return rows;
}

int least_side(const Data& data, const Mode& mode, const std::vector<Rational>& y) {
  int least = 1;
  for (int i = 0; i < m; ++i) {
    const Branch& branch = branch_of(data, mode, i);
    Rational w(data.q[i]);
    for (int j = 0; j < n + m; ++j)
      w += (j < n ? Rational(data.C(i, j)) : Rational(data.D(i, j - n))) * y[static_cast<std::size_t>(j)];
    const bool vertical = is_vertical(branch);
    const Range range = vertical ? branch.lambda : w_range(branch);
    const Rational& value = vertical ? y[static_cast<std::size_t>(n + i)] : w;
    if (std::isfinite(range.lower)) least = std::min(least, (value - Rational(range.lower)).sign());
    if (std::isfinite(range.upper)) least = std::min(least, (Rational(range.upper) - value).sign());
  }
  return least;
}

/// The points of all modes; none: the equations of one are singular.
std::optional<std::vector<ExactPoint>> all_points(const Data& data) {
  std::vector<ExactPoint> points;
  Mode mode(m, 0);
  do {
    const auto y = solution(equations(data, mode));
    if (!y) return std::nullopt;
    points.push_back({mode, {y->begin(), y->begin() + n}, {y->begin() + n, y->end()}, least_side(data, mode, *y)});
  } while (next_mode(mode, data.laws));
  return points;
}

bool is_of_mode(const Equilibrium& point, const Mode& mode) {
  return point.mode == mode || std::ranges::find(point.also, mode) != point.also.end();
}

/// What is found is, mode by mode, what there is.
void check_against(const std::vector<ExactPoint>& exact, const Data& data, const Units& units, const Equilibria& all) {
  for (const ExactPoint& point : exact) {
    CAPTURE(point.mode[0]);
    CAPTURE(point.mode[1]);
    const auto e = std::ranges::find_if(all.found, [&](const Equilibrium& other) { return is_of_mode(other, point.mode); });
    REQUIRE(e != all.found.end());
    CHECK(std::ranges::count_if(all.found, [&](const Equilibrium& other) { return is_of_mode(other, point.mode); }) == 1);
    bool sliding = false;
    for (int i = 0; i < m; ++i)
      sliding = sliding || is_sliding(data.laws[static_cast<std::size_t>(i)], point.mode[static_cast<std::size_t>(i)]);
    const EquilibriumKind inside = sliding ? EquilibriumKind::pseudo : EquilibriumKind::regular;
    CHECK(e->kind == (point.side < 0 ? EquilibriumKind::outside : point.side == 0 ? EquilibriumKind::boundary : inside));
    for (int j = 0; j < n; ++j) {
      const double wanted = to_double(point.x[static_cast<std::size_t>(j)]) * units.x[j];
      CHECK(std::abs(e->x[j] - wanted) <= std::max(e->x_error[j], 1e-14 * std::abs(wanted)));
    }
    for (int i = 0; i < m; ++i) {
      const double wanted = to_double(point.lambda[static_cast<std::size_t>(i)]) * units.lambda[i];
      CHECK(std::abs(e->lambda[i] - wanted) <= std::max(e->lambda_error[i], 1e-14 * std::abs(wanted)));
    }
  }
}

Units ones() { return {Vector::Ones(n), Vector::Ones(m), Vector::Ones(m)}; }

Units random_units(std::mt19937& random, double base, int largest) {
  const auto power = [&] { return std::pow(base, static_cast<int>(random() % static_cast<unsigned>(2 * largest + 1)) - largest); };
  return {Vector::NullaryExpr(n, power), Vector::NullaryExpr(m, power), Vector::NullaryExpr(m, power), power()};
}

/// Beside it  ẏ = 2^20 − 2^-9 y.
Lcs with_company(const Data& data) {
  Lcs lcs{.A = Matrix::Zero(n + 1, n + 1), .B = Matrix::Zero(n + 1, m), .C = Matrix::Zero(m, n + 1), .D = data.D, .q = data.q, .laws = data.laws};
  lcs.A.topLeftCorner(n, n) = data.A, lcs.B.topRows(n) = data.B, lcs.C.leftCols(n) = data.C;
  Vector b = Vector::Constant(n + 1, 0x1p20);
  b.head(n) = data.b;
  lcs.b = b, lcs.A(n, n) = -0x1p-9;
  return lcs;
}

}  // namespace

TEST_SUITE("schemes/located/equilibria/units") {
  TEST_CASE("equilibria of random piecewise-linear systems are those of all modes in rational numbers, in every unit") {
    std::mt19937 random(1);
    int looked = 0, boundaries = 0;
    for (int model = 0; looked < 60; ++model) {
      CAPTURE(model);
      const Data data = model % 3 == 0 ? with_corner(random_data(random), random) : random_data(random);
      const auto exact = all_points(data);
      const Vector x = Vector::NullaryExpr(n, [&] { return static_cast<double>(static_cast<int>(random() % 9) - 4) / 2; });
      if (!exact) continue;
      ++looked;
      boundaries += static_cast<int>(std::ranges::count(*exact, 0, &ExactPoint::side));
      const Equilibria plain = found(data, x);
      check_against(*exact, data, ones(), plain);
      // Powers of two as units: the same to the bit.
      const Units binary = random_units(random, 2, 30);
      const Equilibria scaled = found(in_units(data, binary), x.cwiseProduct(binary.x));
      check_against(*exact, data, binary, scaled);
      REQUIRE(scaled.found.size() == plain.found.size());
      for (std::size_t k = 0; k < plain.found.size(); ++k) {
        const Equilibrium& a = plain.found[k];
        const auto b = std::ranges::find_if(scaled.found, [&](const Equilibrium& other) { return other.mode == a.mode; });
        REQUIRE(b != scaled.found.end());
        CHECK(b->x == Vector(a.x.cwiseProduct(binary.x)));
        CHECK(b->lambda == Vector(a.lambda.cwiseProduct(binary.lambda)));
        CHECK(b->w == Vector(a.w.cwiseProduct(binary.w)));
        CHECK(b->stability == a.stability);
        CHECK(b->overall == a.overall);
        CHECK(b->continuations.size() == a.continuations.size());
        REQUIRE(b->eigenvalues.size() == a.eigenvalues.size());
        for (std::size_t e = 0; e < a.eigenvalues.size(); ++e) CHECK(b->eigenvalues[e] == a.eigenvalues[e] / binary.time);
      }
    }
    CHECK(boundaries > 0);
  }

  TEST_CASE("in decimal units, whose factors are rounded, kinds and points stay where no point is at an end") {
    std::mt19937 random(2);
    for (int looked = 0; looked < 60;) {
      const Data data = random_data(random);
      const auto exact = all_points(data);
      if (!exact || std::ranges::count(*exact, 0, &ExactPoint::side) > 0) continue;
      ++looked;
      CAPTURE(looked);
      const Units decimal = random_units(random, 10, 9);
      check_against(*exact, data, decimal, found(in_units(data, decimal), Vector::Zero(n)));
    }
  }

  TEST_CASE("beside an uncoupled equation of another size the points are the same") {
    std::mt19937 random(3);
    for (int looked = 0; looked < 30;) {
      const Data data = random_data(random);
      const auto exact = all_points(data);
      if (!exact) continue;
      ++looked;
      CAPTURE(looked);
      const Equilibria all = find_equilibria(as_dcs(with_company(data)), 0, Vector::Zero(n + 1), {.starts = 6});
      check_against(*exact, data, ones(), all);
      for (const Equilibrium& e : all.found) CHECK(e.x[n] == 0x1p29);
    }
  }
}
