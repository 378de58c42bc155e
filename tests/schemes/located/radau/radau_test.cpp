#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/tests/allocations.hpp>
#include <perp/tests/schemes/located/smooth_systems.hpp>

using namespace perp;
using namespace smooth_systems;

namespace {

/// Observed order at the halvings of the step whose errors are well above rounding, at best three.
template <class System>
std::vector<double> orders(int stages, double end, int coarsest) {
  const Dcs system = System::system();
  ModeFlow flow(system);
  flow.set_mode(System::mode());
  std::vector<double> errors, result;
  for (int k = 0; k < 4; ++k) {
    const Vector y = fixed_steps(flow, stages, System::guess(), end, coarsest << k);
    errors.push_back(distance(y, System::exact(end), System::differential));
    if (k > 0 && errors.back() > 2e-14)
      result.push_back(std::log2(errors[errors.size() - 2] / errors.back()));
  }
  return result;
}

/// The last observed order is 2s - 1 within 0.3.
template <class System>
void check_order(int stages, double end, int coarsest) {
  const std::vector<double> observed = orders<System>(stages, end, coarsest);
  CAPTURE(stages);
  CAPTURE(observed.size());
  REQUIRE_FALSE(observed.empty());
  CHECK(std::abs(observed.back() - (2 * stages - 1)) < 0.3);
}

RadauTolerance tolerance(int n, double value = 1e-8) {
  return {.rtol = value, .atol = Vector::Constant(n, value)};
}

/// ẋ = A x + b(t) with a solution of degree `degree` in x₁, x₂; 0 = x₃ - x₁ - x₂.
struct Polynomial {
  int degree = 3;
  void residual(const auto& t, const auto& xdot, const auto& x, const auto&, auto& r) const {
    const auto p = pow(t, static_cast<double>(degree));
    const auto dp = degree * pow(t, degree - 1.0);
    r[0] = xdot[0] - dp - 3 * (x[1] - 2 * p);
    r[1] = xdot[1] - 2 * dp + 5 * (x[0] - p) - (x[2] - 3 * p);
    r[2] = x[2] - x[0] - x[1];
  }
};

struct Linear {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] - x[0];
  }
};

struct NoSolution {  // of the algebraic equation for t > 0
  void residual(const auto& t, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = x[1] * x[1] + t;
  }
};

struct Singular {  // x₂ is nowhere determined
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = 0 * x[1] + x[0] - x[0];
  }
};

struct Domain {  // x = 1 - t reaches 0
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] + 1 + 0 * log(x[0]);
  }
};

/// A pendulum in Cartesian coordinates, the rod a law at the velocity level: index 2.
struct Pendulum {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[2];
    r[1] = xdot[1] - x[3];
    r[2] = xdot[2] - lambda[0] * x[0];
    r[3] = xdot[3] - lambda[0] * x[1] + 1;
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = x[0] * x[0] + x[1] * x[1] - 1;
  }
};

}  // namespace

TEST_SUITE("schemes/located/radau") {
  TEST_CASE("differential components are of order 2s - 1 on an ODE") {
    check_order<Ode>(3, 1, 8);
    check_order<Ode>(5, 1, 4);
    check_order<Ode>(7, 1, 3);
  }

  TEST_CASE("differential components are of order 2s - 1 on a DAE of index 1") {
    check_order<IndexOne>(3, 1, 8);
    check_order<IndexOne>(5, 1, 4);
    check_order<IndexOne>(7, 1, 2);
  }

  TEST_CASE(
      "differential components are of order 2s - 1 on the sliding mode of [RAB] (37), index 2") {
    check_order<Variant37>(3, 2, 4);
    check_order<Variant37>(5, 4, 1);
    check_order<Variant37>(7, 16, 1);
  }

  TEST_CASE("differential components are of order 2s - 1 sliding on a circle, index 2") {
    check_order<Circle>(3, 2, 8);
    check_order<Circle>(5, 2, 2);
    check_order<Circle>(7, 2, 1);
  }

  TEST_CASE("differential components are of order 2s - 1 on fully implicit equations") {
    check_order<Implicit>(3, 1, 8);
    check_order<Implicit>(5, 1, 4);
    check_order<Implicit>(7, 1.5, 4);
  }

  TEST_CASE("the step is exact for linear equations whose solution is a polynomial of degree s") {
    for (const int s : {3, 5, 7}) {
      ModeFlow flow(make_dcs(Polynomial{s}, 3));
      flow.set_mode({});
      const Vector y = fixed_steps(flow, s, Vector{{0, 0, 9}}, 1.5, 2);
      const double p = std::pow(1.5, s);
      CHECK(distance(y, Vector{{p, 2 * p, 3 * p}}, 3) < 1e-13 * p);
    }
  }

  TEST_CASE("a step of ẋ = x is the Padé approximant of exp of degrees s - 1 and s") {
    ModeFlow flow(make_dcs(Linear{}, 1));
    flow.set_mode({});
    for (const int s : {3, 5, 7})
      for (const double h : {0.1, 1.0, 2.5}) {
        double numerator = 0, denominator = 0, term = 1;
        for (int j = 0; j < s; ++j) {
          numerator += term;
          term *= h * (s - 1 - j) / ((2 * s - 1 - j) * (j + 1.0));
        }
        term = 1;
        for (int j = 0; j <= s; ++j) {
          denominator += term;
          term *= -h * (s - j) / ((2 * s - 1 - j) * (j + 1.0));
        }
        const double wanted = numerator / denominator;
        CHECK(std::abs(fixed_steps(flow, s, Vector{{1}}, h, 1)[0] - wanted) < 4e-15 * wanted);
      }
  }

  TEST_CASE("algebraic parts of the start are guesses: no digit of the result depends on them") {
    ModeFlow flow(Circle::system());
    flow.set_mode(Circle::mode());
    Vector end[2], inside[2];
    double error[2];
    for (const int k : {0, 1}) {
      Radau radau(flow, 5, tolerance(3));
      radau.start(0, Vector{{1, 0, 1, k == 0 ? 0.0 : 5.0}});
      REQUIRE(radau.attempt(0.1) == Radau::Outcome::solved);
      end[k] = radau.end();
      error[k] = radau.error();
      radau.interpolate(0.1, inside[k]);
    }
    CHECK(distance(end[0], end[1], 3) < 1e-15);
    CHECK(std::abs(end[0][3] - end[1][3]) < 1e-13);
    CHECK(distance(inside[0], inside[1], 4) < 1e-13);
    CHECK(std::abs(error[0] - error[1]) < 1e-6 * error[0]);
    CHECK(std::abs(inside[0][3] + std::sin(0.01)) < 1e-6);
  }

  TEST_CASE("an attempt can be repeated: its result depends on its length alone") {
    ModeFlow flow(Circle::system());
    flow.set_mode(Circle::mode());
    Radau radau(flow, 5, tolerance(3));
    radau.start(0, Circle::guess());
    REQUIRE(radau.attempt(0.1) == Radau::Outcome::solved);
    radau.accept();
    const Vector start = radau.y();
    REQUIRE(radau.attempt(0.2) == Radau::Outcome::solved);
    const Vector first = radau.end();
    for (const double h : {0.07, 0.35, 1e-5, 0.13}) {
      REQUIRE(radau.attempt(h) == Radau::Outcome::solved);
      CHECK(distance(radau.end(), Circle::exact(0.1 + h), 3) < 1e-7);
      CHECK(radau.y() == start);
      CHECK(radau.t() == 0.1);
    }
    REQUIRE(radau.attempt(0.2) == Radau::Outcome::solved);
    CHECK(distance(radau.end(), first, 3) < 1e-15);
    radau.accept();
    CHECK(radau.t() == 0.1 + 0.2);
    CHECK(radau.counts().steps == 2);
    CHECK(radau.counts().attempts == 7);
  }

  TEST_CASE("a contact at the velocity level keeps the order of the index 2") {
    ModeFlow flow(make_dcs(Pendulum{}, 4, {equality()}));
    flow.set_mode({0}, {1});
    const auto energy = [](const Vector& y) { return (y[2] * y[2] + y[3] * y[3]) / 2 + y[1]; };
    Vector ends[4];
    for (const int k : {0, 1, 2, 3})
      ends[k] = fixed_steps(flow, 3, Vector{{1, 0, 0, 0, 0}}, 2, 8 << k);
    const double first = distance(ends[0], ends[3], 4), second = distance(ends[1], ends[3], 4);
    CHECK(std::abs(std::log2(first / second) - 5) < 0.3);
    CHECK(std::abs(energy(ends[3])) < 1e-8);
    CHECK(std::abs(ends[3].head(2).norm() - 1) < 1e-8);
    // λ = x₂ - v² on the circle, and v² = -2 x₂ by the energy
    CHECK(std::abs(ends[3][4] - 3 * ends[3][1]) < 1e-4);
  }

  TEST_CASE("the polynomial of a step is of order s + 1 inside, its derivative of order s") {
    for (const int s : {3, 5}) {
      ModeFlow flow(Circle::system());
      flow.set_mode(Circle::mode());
      double value_errors[2], slope_errors[2];
      for (const int k : {0, 1}) {
        Radau radau(flow, s, tolerance(3));
        radau.start(0, Circle::guess());
        double largest = 0, steepest = 0;
        Vector y, ydot;
        const int steps = (s == 3 ? 16 : 8) << k;
        for (int i = 0; i < steps; ++i) {
          REQUIRE(radau.attempt(2.0 / steps) == Radau::Outcome::solved);
          for (double x = 0; x <= 1; x += 0.125) {
            const double t = radau.t() + x * radau.h();
            radau.interpolate(x, y);
            radau.interpolate_derivative(x, ydot);
            largest = std::max(largest, distance(y, Circle::exact(t), 3));
            steepest = std::max(steepest, std::abs(ydot[2] + std::sin(t)));
          }
          radau.interpolate(1, y);
          CHECK(distance(y, radau.end(), 4) < 1e-14);
          radau.interpolate(0, y);
          CHECK(distance(y, radau.y(), 3) < 1e-15);
          radau.accept();
          Vector after;
          radau.interpolate(0, after);  // still of the accepted step
          CHECK(after == y);
        }
        value_errors[k] = largest;
        slope_errors[k] = steepest;
      }
      CAPTURE(s);
      CHECK(std::log2(value_errors[0] / value_errors[1]) > s + 1 - 0.3);
      CHECK(std::log2(slope_errors[0] / slope_errors[1]) > s - 0.3);
    }
  }

  TEST_CASE("a step that has no solution diverges, and the state stays as it was") {
    ModeFlow flow(make_dcs(NoSolution{}, 2));
    flow.set_mode({});
    Radau radau(flow, 5, tolerance(2));
    radau.start(0, Vector{{1, 0}});
    CHECK(radau.attempt(0.1) == Radau::Outcome::diverged);
    CHECK(radau.y() == Vector{{1, 0}});
    ModeFlow other(make_dcs(Singular{}, 2));
    other.set_mode({});
    Radau singular(other, 3, tolerance(2));
    singular.start(0, Vector{{1, 0}});
    CHECK(singular.attempt(0.1) == Radau::Outcome::diverged);
  }

  TEST_CASE("a step that leaves the domain says so, a shorter one is solved") {
    ModeFlow flow(make_dcs(Domain{}, 1));
    flow.set_mode({});
    Radau radau(flow, 3, tolerance(1));
    radau.start(0, Vector{{1}});
    CHECK(radau.attempt(2) == Radau::Outcome::domain);
    REQUIRE(radau.attempt(0.5) == Radau::Outcome::solved);
    CHECK(std::abs(radau.end()[0] - 0.5) < 1e-15);
    CHECK(std::isfinite(radau.error()));
    radau.accept();
    CHECK(radau.attempt(1) == Radau::Outcome::domain);
    REQUIRE(radau.attempt(0.25) == Radau::Outcome::solved);
    CHECK(std::abs(radau.end()[0] - 0.25) < 1e-15);
  }

  TEST_CASE("after the first step nothing is allocated") {
    const Dcs system = Circle::system();
    ModeFlow flow(system);
    flow.set_mode(Circle::mode());
    for (const int s : {3, 5, 7}) {
      Radau radau(flow, s, tolerance(3));
      radau.start(0, Circle::guess());
      Matrix S = Matrix::Identity(4, 3), S_end;
      Vector y;
      long before = 0;
      bool solved = true;
      for (int i = 0; i < 20; ++i) {
        if (i == 2) before = allocations();
        solved = solved && radau.attempt(0.05) == Radau::Outcome::solved;
        solved = solved && radau.error() > 0;
        solved = solved && radau.attempt(0.04) == Radau::Outcome::solved;
        radau.interpolate(0.5, y);
        solved = solved && radau.sensitivities(S, S_end, {});
        S.swap(S_end);
        radau.accept();
      }
      CHECK(solved);
      CHECK(allocations() == before);
    }
  }

  TEST_CASE("a new start in another mode, of another size, is a new beginning") {
    ModeFlow flow(Circle::system());
    Radau radau(flow, 5, tolerance(3));
    Vector y;
    for (const int branch : {1, 2, 0, 1}) {  // sliding, λ = 1, λ = -1
      flow.set_mode({branch});
      CHECK(flow.size() == (branch == 1 ? 4 : 3));
      flow.gather(Vector{{1, 0, 1}}, Vector{{0.3}}, y);
      Radau other(flow, 5, tolerance(3));
      for (Radau* one : {&radau, &other}) {
        one->start(0.5, y);
        REQUIRE(one->attempt(0.1) == Radau::Outcome::solved);
      }
      CHECK(radau.end() == other.end());
      CHECK(radau.error() == other.error());
      CHECK(radau.proposed_step() == other.proposed_step());
      radau.accept();
      REQUIRE(radau.attempt(0.05) == Radau::Outcome::solved);
    }
  }

  TEST_CASE("wrong arguments are refused with the reason") {
    ModeFlow flow(Ode::system());
    flow.set_mode({});
    CHECK_THROWS_WITH_AS(Radau(flow, 4, tolerance(2)), "stages must be 3, 5 or 7 but is 4",
                         InvalidInput);
    CHECK_THROWS_WITH_AS(Radau(flow, 3, tolerance(3)),
                         "atol must have 2 entries, one for each variable, but has 3",
                         InvalidInput);
    CHECK_THROWS_AS(Radau(flow, 3, tolerance(2, 0)), InvalidInput);
    CHECK_THROWS_AS(Radau(flow, 3, tolerance(2, perp::nan)), InvalidInput);
    const RadauTolerance one_is_zero{1e-8, Vector{{1e-8, 0}}};
    CHECK_THROWS_AS(Radau(flow, 3, one_is_zero), InvalidInput);
    Radau radau(flow, 3, tolerance(2));
    CHECK_THROWS_AS(radau.start(0, Vector{{1}}), InvalidInput);
    radau.start(0, Vector{{1, 1}});
    CHECK_THROWS_AS((void)radau.attempt(0), InvalidInput);
    CHECK_THROWS_AS((void)radau.attempt(-1), InvalidInput);
    CHECK_THROWS_AS((void)radau.attempt(inf), InvalidInput);
  }
}
