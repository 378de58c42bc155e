#include <perp/tests/claims/switching_dae_exact.hpp>

using namespace claims;
using perp::Mlcp;

namespace {

/// [RAB] eq. (28) with a random affine field and `laws` constraints of the kind of (11'),
///     ẋ = A x + B z + b,   g·x + s ∈ |c·x + d| + sign(c·x + d)   for each of them;
/// n differential variables, then one z per constraint. All data are multiples of 1/4.
struct PiecewiseLinear {
  int n, laws;
  Matrix A, B;  // of the differential rows
  Lcs lcs;
};

PiecewiseLinear random_system(std::mt19937& engine, int n, int laws) {
  std::uniform_int_distribution<int> quarter(-8, 8);
  const auto draw = [&] { return quarter(engine) / 4.0; };
  const auto matrix = [&](int rows, int columns) -> Matrix {
    return Matrix::NullaryExpr(rows, columns, draw);
  };
  PiecewiseLinear made{n, laws, matrix(n, n), matrix(n, laws), {}};
  const int all = n + laws;
  Lcs& lcs = made.lcs;
  lcs.E = Matrix::Zero(all, all);
  lcs.E.topLeftCorner(n, n).setIdentity();
  lcs.A = Matrix::Zero(all, all);
  lcs.A.topLeftCorner(n, n) = made.A;
  lcs.A.topRightCorner(n, laws) = made.B;
  lcs.A.bottomLeftCorner(laws, n) = matrix(laws, n);
  lcs.B = Matrix::Zero(all, laws);
  lcs.B.bottomRows(laws) = -Matrix::Identity(laws, laws);
  lcs.b = Vector(matrix(all, 1));
  lcs.C = Matrix::Zero(laws, all);
  lcs.C.leftCols(n) = matrix(laws, n);
  lcs.q = Vector(matrix(laws, 1));
  lcs.laws.assign(static_cast<std::size_t>(laws), perp::abs_plus_sign());
  return made;
}

/// The solutions of a step in exact arithmetic: fractions of (x, λ), and z as numbers.
struct ExactStep {
  std::vector<std::vector<std::string>> x_lambda;
  std::vector<Vector> z;
};

ExactStep exact_step(const PiecewiseLinear& system, const Vector& x, double h) {
  perp::Fractions fractions;
  const auto set = perp::enumerate_exact(perp::step_problem(system.lcs, x, 0, h), {}, &fractions);
  REQUIRE(set.complete);
  ExactStep found;
  if (set.blocks.size() != 1) return found;
  for (std::size_t k = 0; k < set.blocks[0].pieces.size(); ++k) {
    const perp::Piece& piece = set.blocks[0].pieces[k];
    if (piece.dimension != 0) return {};  // a continuum: not what is compared here
    std::vector<std::string> kept = fractions[0][k][0];
    kept.erase(kept.begin() + system.n, kept.begin() + system.n + system.laws);
    found.x_lambda.push_back(kept);
    found.z.push_back(piece.vertices.col(0).segment(system.n, system.laws));
  }
  return found;
}

/// The switching DAE with a field A x beside it.
Lcs with_field(const B& b, const Matrix& A) {
  Lcs lcs = b.law();
  lcs.A.topLeftCorner(2, 2) = A;
  return lcs;
}

/// The continuous solution from x⁺ on a branch of the switching DAE with the field A x, h later:
/// on the line x⁺ + s d it is ṡ = α s + β.
Vector after(const B& b, const Matrix& A, const Vector& x, Branch branch, double h) {
  const Vector direction = branch == left    ? Vector{{1, -1}}
                           : branch == right ? Vector{{1, 1}}
                                             : Vector{{0, 1}};
  const Vector normal{{direction[1], -direction[0]}};
  const Vector Bz{{b.B1, b.B2}}, drift{{1, 0}};
  // z from normal · (A x + B z + drift) = 0
  const auto rate = [&](const Vector& f) {
    const Vector moved = f - Bz * normal.dot(f) / normal.dot(Bz);
    return moved.dot(direction) / direction.squaredNorm();
  };
  const double alpha = rate(A * direction), beta = rate(A * x + drift);
  return x + (alpha == 0 ? beta * h : beta * std::expm1(alpha * h) / alpha) * direction;
}

double nearest(const Found& found, const Vector& x) {
  double best = perp::inf;
  for (const Vector& y : found.points) best = std::min(best, (y - x).norm());
  return best;
}

}  // namespace

TEST_SUITE("claims/switching_dae_consistent_steps") {
  TEST_CASE(
      "[RAB] Proposition 5: the Euler steps from x- and from x+ = x- + B σ are the same, "
      "exactly, and z = γ + σ/h") {
    std::mt19937 engine(51);
    std::uniform_int_distribution<int> quarter(-8, 8), size(2, 4), constraints(1, 2);
    int compared = 0, several = 0;
    for (int k = 0; k < 200; ++k) {
      const PiecewiseLinear system = random_system(engine, size(engine), constraints(engine));
      const double h = std::ldexp(1, -(k % 6));
      Vector minus(system.n + system.laws), sigma(system.laws);
      for (double& entry : minus) entry = quarter(engine) / 4.0;
      for (double& entry : sigma) entry = quarter(engine) / 4.0;
      Vector plus = minus;
      plus.head(system.n) += system.B * sigma;
      CAPTURE(k);
      const ExactStep from_minus = exact_step(system, minus, h),
                      from_plus = exact_step(system, plus, h);
      REQUIRE(from_minus.x_lambda.size() == from_plus.x_lambda.size());
      for (std::size_t i = 0; i < from_plus.x_lambda.size(); ++i) {
        const auto same = std::find(from_minus.x_lambda.begin(), from_minus.x_lambda.end(),
                                    from_plus.x_lambda[i]);
        REQUIRE(same != from_minus.x_lambda.end());
        const Vector z = from_minus.z[static_cast<std::size_t>(same - from_minus.x_lambda.begin())];
        const Vector shifted = from_plus.z[i] + sigma / h;
        CHECK((z - shifted).norm() <= 1e-12 * (1 + z.norm() + sigma.norm() / h));
        ++compared;
      }
      several += from_plus.x_lambda.size() > 1;
    }
    CHECK(compared > 150);
    CHECK(several > 10);
  }

  TEST_CASE(
      "[RAB] Proposition 5: a step from x- is one from each of its consistent jumps x+, also "
      "with A != 0") {
    Draw draw(52);
    int jumps = 0;
    for (int k = 0; k < 200; ++k) {
      const B b = draw.B_with(
          [](const B& v) { return v.ratio_minus(1) > 0 || v.B1 + v.B2 == 0 || v.B1 == v.B2; });
      Matrix A = Matrix::Zero(2, 2);
      if (k % 2)
        for (double& entry : A.reshaped()) entry = draw.number(-8, 8);
      const Lcs lcs = with_field(b, A);
      const Vector x = k % 3 ? draw.point(branches[k / 3 % 3]) : A_minus();
      const double h = draw.step() / 8;
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x.transpose());
      const auto found = perp::consistent_jumps(lcs, with_z(x), 0);
      const auto from_minus = found_after_step(lcs, x, h);
      for (const auto& jump : found.jumps) {
        if (jump.amplitude == 0 || jump.is_continuum || from_minus.is_continuum) continue;
        const Vector plus = jump.x().head(2);
        const auto from_plus = found_after_step(lcs, plus, h);
        CHECK(same_points(from_minus.points, from_plus.points));
        ++jumps;
      }
    }
    CHECK(jumps > 60);
  }

  TEST_CASE(
      "[RAB] Proposition 5: some Euler solution is within O(h) of the continuous solution "
      "that starts at x+") {
    Draw draw(53);
    int compared = 0, away = 0;
    for (int k = 0; k < 150; ++k) {
      const B b = draw.any_B();
      Matrix A(2, 2);
      for (double& entry : A.reshaped()) entry = draw.number(-8, 8);
      const Lcs lcs = with_field(b, A);
      const Vector x = k % 3 ? draw.point(branches[k / 3 % 3]) : A_minus();
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x.transpose());
      for (const auto& jump : perp::consistent_jumps(lcs, with_z(x), 0).jumps)
        for (const auto& start : jump.continuations) {
          const auto branch = static_cast<Branch>(start.mode[0]);
          if (jump.is_continuum || b.product(branch) == 0) continue;
          const Vector plus = start.x.head(2);
          const auto error = [&](double h) {
            return nearest(found_after_step(lcs, x, h), after(b, A, plus, branch, h));
          };
          // one step of a linear DAE of index 2: the error is even of second order
          const double coarse = error(0x1p-16), fine = error(0x1p-17);
          CHECK(coarse < 0.01);
          CHECK((fine < 0.27 * coarse || fine < 1e-12 * (1 + plus.norm())));
          ++compared;
          away += jump.amplitude > 0;
        }
    }
    CHECK(compared > 100);
    CHECK(away > 10);
  }

  TEST_CASE("[RAB] Proposition 5: from A- with B = (1,2) every step is the one from (2,3)") {
    for (int k = 1; k <= 40; ++k) {
      const double h = k / 8.0;
      const auto from_corner = found_after_step(own_law(1, 2), A_minus(), h);
      const auto from_jump = found_after_step(own_law(1, 2), Vector{{2, 3}}, h);
      CHECK(same_points(from_corner.points, from_jump.points));
      CHECK(same_points(from_corner.points, {Vector{{2 + 2 * h, 3 + 2 * h}}}));
    }
  }

  TEST_CASE(
      "[RAB] after Proposition 5: with B1 = 0, x1 = -h Euler solutions with x2 < 1 are not "
      "consistent, (0,1) is") {
    Draw draw(54);
    for (int k = 0; k < 40; ++k) {
      const B b{0, draw.number(1, 24) * (k % 2 ? 1 : -1)};
      const double h = draw.step();
      const auto set = perp::enumerate(perp::step_problem(b.law(), Vector{{-h, h - 1, 0}}, 0, h));
      const auto all = perp::pieces(set, 10);
      REQUIRE(all.size() == 1);
      CHECK(all[0].vertices.row(1).minCoeff() == doctest::Approx(-1));
      CHECK(all[0].vertices.row(1).maxCoeff() == doctest::Approx(1));
      for (int eighths = -8; eighths <= 8; ++eighths) {
        const Vector x{{0, eighths / 8.0, 0}};
        CHECK(perp::consistent_jumps(b.law(), x, 0).starts_continuously() == (eighths == 8));
      }
    }
  }
}
