#include <doctest/doctest.h>
#include <cstdlib>
#include <random>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/nearest/nearest_search.hpp>
#include <perp/lcp/solver.hpp>

#include <perp/tests/lcp/exact_oracle.hpp>

using namespace perp;
using test::ExactOracle;

namespace {

/// A problem over a box, as `perp mlcp` reads it.
struct Boxed {
  Mlcp problem;
  Vector lower, upper;

  void make_laws() {
    problem.laws.clear();
    for (Eigen::Index i = 0; i < lower.size(); ++i) problem.laws.push_back(box(lower[i], upper[i]));
  }
};

/// Random problems of the kinds in which rounding decides: rank-deficient, degenerate, with
/// identical and zero rows, fixed λ, entries over 120 powers of two.
class Generator {
 public:
  explicit Generator(unsigned long seed) : random_(seed) {}

  Boxed operator()() {
    style_ = pick(5);
    const int p = pick(4), m = pick(p > 2 ? 4 : 5);
    Boxed made{{matrix(p, p), matrix(p, m), vector(p), matrix(m, p), matrix(m, m), vector(m), {}},
               Vector(m),
               Vector(m)};
    for (int i = 0; i < m; ++i) set_box(made.lower[i], made.upper[i]);
    degenerate(made);
    made.make_laws();
    return made;
  }

  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned long>(count)); }

  /// 2^e for each unknown and each row: the same problem in other units.
  Boxed in_other_units(const Boxed& given, Vector& u_unit, Vector& lambda_unit) {
    const Mlcp& a = given.problem;
    const auto powers = [&](int n) {
      Vector result = Vector::Ones(n);
      if (n > 0) result[pick(n)] = std::ldexp(1, pick(81) - 40);
      return result;
    };
    u_unit = powers(a.p());
    lambda_unit = powers(a.m());
    const Vector rows = powers(a.p()), w = powers(a.m());
    Boxed other{{rows.asDiagonal() * a.M11 * u_unit.cwiseInverse().asDiagonal(),
                 rows.asDiagonal() * a.M12 * lambda_unit.cwiseInverse().asDiagonal(),
                 rows.cwiseProduct(a.q1), w.asDiagonal() * a.M21 * u_unit.cwiseInverse().asDiagonal(),
                 w.asDiagonal() * a.M22 * lambda_unit.cwiseInverse().asDiagonal(),
                 w.cwiseProduct(a.q2), {}},
                given.lower.cwiseProduct(lambda_unit),
                given.upper.cwiseProduct(lambda_unit)};
    other.make_laws();
    return other;
  }

  Boxed permuted(const Boxed& given) {
    const Mlcp& a = given.problem;
    const std::vector<int> u = order(a.p()), e = order(a.p()), l = order(a.m());
    Boxed other{{a.M11(e, u), a.M12(e, l), a.q1(e), a.M21(l, u), a.M22(l, l), a.q2(l), {}},
                given.lower(l),
                given.upper(l)};
    other.make_laws();
    return other;
  }

 private:
  std::vector<int> order(int n) {
    std::vector<int> result;
    for (int i = 0; i < n; ++i) result.push_back(i);
    std::shuffle(result.begin(), result.end(), random_);
    return result;
  }

  double entry() {
    if (pick(4) == 0) return 0;
    const double sign = pick(2) == 0 ? 1 : -1;
    switch (style_) {
      case 0: return sign * (1 + pick(2));
      case 1: return sign * std::ldexp(1, pick(121) - 60);
      case 2: return sign * std::ldexp(1.0 + pick(8), pick(41) - 20);
      case 3: return std::uniform_real_distribution<double>(-2, 2)(random_);
      default: return sign * (1 + pick(3)) * (pick(3) == 0 ? 0.1 : 1);
    }
  }
  Matrix matrix(int rows, int columns) {
    return Matrix::NullaryExpr(rows, columns, [&] { return entry(); });
  }
  Vector vector(int n) {
    return Vector::NullaryExpr(n, [&] { return entry(); });
  }
  void set_box(double& lower, double& upper) {
    lower = pick(3) == 0 ? -inf : pick(2) == 0 ? 0.0 : entry();
    upper = pick(3) == 0 ? inf : pick(4) == 0 && lower > -inf ? lower : entry();
    if (lower > upper) std::swap(lower, upper);
    if (lower == inf || upper == -inf) lower = upper = 0;
  }

  /// Identical, opposite and zero rows; w and λ that vanish together; columns that repeat.
  void degenerate(Boxed& made) {
    Mlcp& a = made.problem;
    if (a.p() > 1 && pick(4) == 0) {
      const double factor = pick(2) == 0 ? 1 : -2;
      a.M11.row(1) = factor * a.M11.row(0);
      a.M12.row(1) = factor * a.M12.row(0);
      a.q1[1] = pick(4) == 0 ? entry() : factor * a.q1[0];
    }
    if (a.m() > 1 && pick(4) == 0) {
      const double factor = pick(2) == 0 ? 1 : -1;
      a.M21.row(1) = factor * a.M21.row(0);
      a.M22.row(1) = factor * a.M22.row(0);
      a.q2[1] = factor * a.q2[0];
    }
    if (a.m() > 0 && pick(8) == 0) {
      a.M21.row(0).setZero();
      a.M22.row(0).setZero();
      a.q2[0] = pick(2) == 0 ? 0 : entry();
    }
    if (a.m() > 0 && pick(4) == 0) {  // passes through a corner at λ = the lower bound
      Vector at_corner = made.lower;
      for (double& value : at_corner)
        if (std::isinf(value)) value = 0;
      a.q2 = -a.M22 * at_corner;
    }
  }

  std::mt19937_64 random_;
  int style_ = 0;
};

/// Two problems side by side.
Boxed beside(const Boxed& a, const Boxed& b) {
  const auto diagonal = [](const Matrix& left, const Matrix& right) {
    Matrix both = Matrix::Zero(left.rows() + right.rows(), left.cols() + right.cols());
    both.topLeftCorner(left.rows(), left.cols()) = left;
    both.bottomRightCorner(right.rows(), right.cols()) = right;
    return both;
  };
  const auto stacked = [](const Vector& left, const Vector& right) {
    Vector both(left.size() + right.size());
    both << left, right;
    return both;
  };
  const Mlcp &x = a.problem, &y = b.problem;
  Boxed both{{diagonal(x.M11, y.M11), diagonal(x.M12, y.M12), stacked(x.q1, y.q1),
              diagonal(x.M21, y.M21), diagonal(x.M22, y.M22), stacked(x.q2, y.q2), {}},
             stacked(a.lower, b.lower),
             stacked(a.upper, b.upper)};
  both.make_laws();
  return both;
}

std::string text(const Boxed& made) {
  std::ostringstream out;
  out.precision(17);
  const Mlcp& a = made.problem;
  out << "p " << a.p() << " m " << a.m() << "\nAuu\n" << a.M11 << "\nAul\n" << a.M12 << "\nau\n"
      << a.q1.transpose() << "\nAlu\n" << a.M21 << "\nAll\n" << a.M22 << "\nal\n"
      << a.q2.transpose() << "\nlower " << made.lower.transpose() << "\nupper "
      << made.upper.transpose() << '\n';
  return out.str();
}

long wanted_count(const ExactOracle& oracle) {
  return oracle.continuum() ? -1 : static_cast<long>(oracle.points().size());
}
long wanted_count_of_u(const ExactOracle& oracle, int p) {
  if (p == 0) return wanted_count(oracle);
  return oracle.continuum_of_u() ? -1 : static_cast<long>(oracle.points_of_u().size());
}

/// All points (u, λ) of a finite set in the library's order.
std::vector<Vector> points_of(const SolutionSet& set) {
  std::vector<Vector> points;
  for (const Piece& piece : pieces(set, 10'000)) points.push_back(piece.vertices.col(0));
  return points;
}

/// Is every exact point among the doubles, to 50 bits of each coordinate?
bool same_points(const std::set<ExactOracle::Point>& exact, const std::vector<Vector>& found) {
  return std::all_of(exact.begin(), exact.end(), [&](const ExactOracle::Point& point) {
    return std::any_of(found.begin(), found.end(), [&](const Vector& other) {
      for (std::size_t j = 0; j < point.size(); ++j) {
        const ExactOracle::Number off =
            abs(point[j] - ExactOracle::Number(other[static_cast<Eigen::Index>(j)]));
        if (off > ExactOracle::Number(0x1p-50) * abs(point[j])) return false;
      }
      return true;
    });
  });
}

/// The least norm of a finite set, from its exact points.
double least_norm(const ExactOracle& oracle, int first, int last) {
  std::optional<ExactOracle::Number> least;
  for (const ExactOracle::Point& point : oracle.points()) {
    ExactOracle::Number square = 0;
    for (int j = first; j < last; ++j)
      square += point[static_cast<std::size_t>(j)] * point[static_cast<std::size_t>(j)];
    if (!least || square < *least) least = square;
  }
  return std::sqrt(static_cast<double>(*least));
}

void check_set(const Boxed& made, const ExactOracle& oracle) {
  const Mlcp& problem = made.problem;
  const SolutionSet set = enumerate(problem);
  CHECK(set.complete);
  CHECK(count(set) == wanted_count(oracle));
  CHECK(count_of_u(set) == wanted_count_of_u(oracle, problem.p()));
  if (oracle.continuum()) return;
  CHECK(same_points(oracle.points(), points_of(set)));
}

void check_nearest(const Boxed& made, const ExactOracle& oracle) {
  const Mlcp& problem = made.problem;
  const int p = problem.p(), n = p + problem.m();
  const int first = 0, last = p > 0 ? p : n;
  Norm norm{Matrix::Zero(last, n), Vector::Zero(n)};
  norm.W.leftCols(last).setIdentity();
  const ProvedNearest found = find_nearest(problem, norm);
  if (oracle.none()) {
    CHECK(found.status != Status::solved);
    CHECK(std::isnan(found.norm));
  } else {
    CHECK(found.status != Status::no_solution);
  }
  if (oracle.none() || oracle.continuum() || found.status != Status::solved) return;
  const double wanted = least_norm(oracle, first, last);
  CHECK(std::abs(found.norm - wanted) <= 1e-12 * wanted);
  CHECK(found.bound <= wanted * (1 + 1e-15));
  const Nearest of_set = nearest(problem, enumerate(problem), norm);
  CHECK(of_set.status == Status::solved);
  CHECK(std::abs(of_set.norm - wanted) <= 1e-12 * wanted);
}

void check_solvers(const Boxed& made, const ExactOracle& oracle) {
  for (const char* name : {"lemke", "mode_search", "enumerate"}) {
    CAPTURE(name);
    const SolveResult found = solve(solver(name), made.problem);
    if (oracle.none()) CHECK(found.status != Status::solved);
    if (!oracle.none()) CHECK(found.status != Status::no_solution);
    if (std::string(name) == "enumerate" && !oracle.none()) CHECK(found.status == Status::solved);
  }
}

void check_units(Generator& generate, const Boxed& made) {
  Vector u_unit, lambda_unit;
  const Boxed other = generate.in_other_units(made, u_unit, lambda_unit);
  const SolutionSet a = enumerate(made.problem), b = enumerate(other.problem);
  CHECK(b.complete);
  CHECK(count(a) == count(b));
  CHECK(count_of_u(a) == count_of_u(b));
  if (count(a) < 1) return;
  Vector unit(u_unit.size() + lambda_unit.size());
  unit << u_unit, lambda_unit;
  const std::vector<Vector> before = points_of(a), after = points_of(b);
  REQUIRE(before.size() == after.size());
  for (std::size_t k = 0; k < before.size(); ++k) CHECK(unit.cwiseProduct(before[k]) == after[k]);
}

long number_from(const char* variable, long otherwise) {
  const char* given = std::getenv(variable);
  return given == nullptr ? otherwise : std::atol(given);
}

}  // namespace

TEST_SUITE("lcp/exact_relations") {
  TEST_CASE("three solutions a few units in the last place apart, and three far apart, are three") {
    Boxed near{{Matrix{{1}}, Matrix{{-0x1p-40}}, Vector{{-1}}, Matrix{{0}}, Matrix{{-1}},
                Vector{{0.5}}, {}},
               Vector{{0}},
               Vector{{1}}};
    near.make_laws();
    const SolutionSet three = enumerate(near.problem);
    CHECK(three.complete);
    CHECK(count(three) == 3);
    CHECK(count_of_u(three) == 3);
    Boxed far{{Matrix{{1}}, Matrix{{0x1p34}}, Vector{{-2}}, Matrix{{1}}, Matrix{{0}}, Vector{{2}},
               {}},
              Vector{{-1024}},
              Vector{{1024}}};
    far.make_laws();
    CHECK(count(enumerate(far.problem)) == 3);
  }

  TEST_CASE("classes, counts, points and norms are those of brute force in rational arithmetic") {
    const long cases = number_from("PERP_MLCP_COUNT", 400), seed = number_from("PERP_MLCP_SEED", 1);
    for (long k = 0; k < cases; ++k) {
      Generator generate(static_cast<unsigned long>(seed + k));
      const Boxed made = generate();
      CAPTURE(seed + k);
      CAPTURE(text(made));
      const ExactOracle oracle(made.problem, made.lower, made.upper);
      check_set(made, oracle);
      check_nearest(made, oracle);
      check_solvers(made, oracle);
    }
  }

  // Zeros of one part stay zeros by structure alone: doubles do not show them beside the other part.
  TEST_CASE("degenerate parts that are coupled weakly have the solutions of brute force") {
    const long cases = number_from("PERP_MLCP_COUNT", 400), seed = number_from("PERP_MLCP_SEED", 1);
    int compared = 0;
    for (long k = 0; k < cases; ++k) {
      Generator generate(static_cast<unsigned long>(seed + k) + 2'000'000'011UL);
      const Boxed part = generate();
      const int p = part.problem.p(), m = part.problem.m();
      if (m == 0 || m > 2) continue;
      Boxed made = beside(part, part);
      if (p > 0) made.problem.M11(0, p) = made.problem.M11(p, 0) = 1e-3;
      made.problem.M22(0, m) = 1e-3;
      if (generate.pick(2) == 0) made.problem.M22(m, 0) = -0.3;
      CAPTURE(seed + k);
      CAPTURE(text(made));
      check_set(made, ExactOracle(made.problem, made.lower, made.upper));
      ++compared;
    }
    CHECK(compared > cases / 5);
  }

  TEST_CASE("units by powers of two, order and company change nothing") {
    const long cases = number_from("PERP_MLCP_COUNT", 400), seed = number_from("PERP_MLCP_SEED", 1);
    for (long k = 0; k < cases; ++k) {
      Generator generate(static_cast<unsigned long>(seed + k) + 1'000'000'007UL);
      const Boxed made = generate();
      CAPTURE(seed + k);
      CAPTURE(text(made));
      check_units(generate, made);
      const SolutionSet set = enumerate(made.problem);
      const SolutionSet other = enumerate(generate.permuted(made).problem);
      CHECK(count(set) == count(other));
      CHECK(count_of_u(set) == count_of_u(other));
      const SolutionSet both = enumerate(beside(made, made).problem);
      CHECK(both.complete);
      CHECK(count(both) == (count(set) < 0 ? -1 : count(set) * count(set)));
    }
  }
}
