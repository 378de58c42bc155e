#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/recorder.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/located/radau/mode_flow.hpp>
#include <perp/tests/allocations.hpp>

using namespace perp;

namespace {

/// Two laws; w contains ẋ and λ, the equations t and products of unknowns.
const std::string text = R"toml(
[parameters]
a = 0.7
unused = 3
b = 1.3
[variables]
x = 1
y = 0.5
z = 0.2
[model]
equations = [
  "a*der(x) + y*der(y) = sin(b*t) - x*u",
  "der(y) = -b*y + v^2",
  "z = a*x*y + u",
]
laws = ["u in saturation(x*v + a*t^2 - y, -1, 2)", "v in sign(x - b*t + 0.1*der(y))"]
[run]
t = [0, 1]
)toml";

Dcs two_laws() { return *read_model_text(text, "m.toml").equations; }

/// A bead on a circle that turns and grows: w contains t and x alone; degree two.
struct Bead {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[2];
    r[1] = xdot[1] - x[3];
    r[2] = xdot[2] - lambda[0] * x[0];
    r[3] = xdot[3] - lambda[0] * x[1] + 9.81;
  }
  void output(const auto& t, const auto& x, const auto& lambda, auto& w) const {
    w[0] = x[0] * x[0] + x[1] * x[1] - (1 + t) * (1 + t);
    w[1] = x[0] + lambda[1];
  }
};

struct Root {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] - sqrt(x[0]);
  }
};

double largest(const Matrix& X) { return X.size() == 0 ? 0 : X.cwiseAbs().maxCoeff(); }

/// Central difference of order four of a vector function of a number at 0.
Vector slope(const std::function<Vector(double)>& f) {
  constexpr double d = 1e-3;
  return (8 * (f(d) - f(-d)) - (f(2 * d) - f(-2 * d))) / (12 * d);
}

}  // namespace

TEST_SUITE("schemes/located/mode_flow") {
  TEST_CASE("a mode has the equations of its branches, and unknowns where a branch leaves λ open") {
    ModeFlow flow(two_laws());
    REQUIRE(flow.n() == 3);
    REQUIRE(flow.m() == 2);
    const Vector xdot{{0.3, -0.4, 7}}, x{{1.1, 0.6, 0.2}};
    const double t = 0.8, a = 0.7, b = 1.3;

    flow.set_mode({1, 2});  // saturation: λ = w; sign: λ = 1
    CHECK(flow.size() == 4);
    CHECK(flow.free_laws() == std::vector{0});
    Vector y, x_again, lambda_again, H, w;
    flow.gather(x, Vector{{0.9, 5}}, y);
    CHECK(y == Vector{{1.1, 0.6, 0.2, 0.9}});
    flow.scatter(y, x_again, lambda_again);
    CHECK(x_again == x);
    CHECK(lambda_again == Vector{{0.9, 1}});
    const Vector ydot{{0.3, -0.4, 7, perp::nan}};
    REQUIRE(flow.evaluate(t, ydot, y, H));
    const double w0 = x[0] * 1 + a * t * t - x[1];
    CHECK(std::abs(H[0] - (a * 0.3 + x[1] * -0.4 - std::sin(b * t) + x[0] * 0.9)) < 1e-15);
    CHECK(std::abs(H[1] - (-0.4 + b * x[1] - 1)) < 1e-15);
    CHECK(std::abs(H[2] - (x[2] - a * x[0] * x[1] - 0.9)) < 1e-15);
    const Branch& branch = flow.system().laws[0].branches[1];
    CHECK(std::abs(H[3] - (branch.a * w0 + branch.b * 0.9 - branch.c)) < 1e-15);
    CHECK(flow.is_differential(0));
    CHECK(flow.is_differential(1));
    CHECK_FALSE(flow.is_differential(2));
    CHECK_FALSE(flow.is_differential(3));
    REQUIRE(flow.w(t, ydot, y, w));
    CHECK(std::abs(w[0] - w0) < 1e-15);
    CHECK(std::abs(w[1] - (x[0] - b * t + 0.1 * -0.4)) < 1e-15);

    flow.set_mode({0, 1});  // λ₁ = -1; sliding on w₂ = 0
    CHECK(flow.size() == 4);
    CHECK(flow.free_laws() == std::vector{1});
    REQUIRE(flow.evaluate(t, ydot, y, H));
    CHECK(std::abs(H[2] - (x[2] - a * x[0] * x[1] + 1)) < 1e-15);
    CHECK(std::abs(H[3] - w[1]) < 1e-15);
  }

  TEST_CASE("every derivative is the slope of the function, in every mode") {
    const std::vector<int> parameters{2, 0};  // b, a: in the caller's order
    ModeFlow flow(two_laws(), parameters);
    const double t = 0.37;
    Mode mode{0, 0};
    do {
      flow.set_mode(mode);
      const int N = flow.size();
      const Vector ydot = Vector::LinSpaced(N, -0.7, 0.9), y = Vector::LinSpaced(N, 1.2, 0.3);
      Vector H, H_t, w, w_t, value;
      Matrix H_ydot, H_y, H_p, w_ydot, w_y, w_p;
      REQUIRE(flow.linearize(t, ydot, y, H, H_ydot, H_y));
      REQUIRE(flow.evaluate(t + 1, ydot, y, value));  // elsewhere: does not move the point
      flow.by_time(H_t);
      flow.by_parameters(H_p);
      REQUIRE(flow.linearize_w(t, ydot, y, w, w_ydot, w_y, w_t, w_p));
      REQUIRE(flow.evaluate(t, ydot, y, value));
      CHECK(value == H);
      const auto at = [&](ModeFlow& f, double time, const Vector& yd, const Vector& yy) {
        Vector all(N + 2), part;
        REQUIRE(f.evaluate(time, yd, yy, part));
        all.head(N) = part;
        REQUIRE(f.w(time, yd, yy, part));
        all.tail(2) = part;
        return all;
      };
      const auto check = [&](const Vector& derivative_H, const Vector& derivative_w,
                             const std::function<Vector(double)>& f) {
        Vector all(N + 2);
        all << derivative_H, derivative_w;
        CHECK(largest(all - slope(f)) < 1e-10);
      };
      check(H_t, w_t, [&](double d) { return at(flow, t + d, ydot, y); });
      for (int j = 0; j < N; ++j) {
        const Vector e = Vector::Unit(N, j);
        check(H_y.col(j), w_y.col(j), [&](double d) { return at(flow, t, ydot, y + d * e); });
        check(H_ydot.col(j), w_ydot.col(j), [&](double d) { return at(flow, t, ydot + d * e, y); });
        CHECK(flow.is_differential(j) == (largest(H_ydot.col(j)) > 0));
      }
      for (int k = 0; k < 2; ++k)
        check(H_p.col(k), w_p.col(k), [&](double d) {
          Dcs other = two_laws();
          other.parameters[static_cast<std::size_t>(parameters[static_cast<std::size_t>(k)])] += d;
          ModeFlow moved(other);
          moved.set_mode(mode);
          return at(moved, t, ydot, y);
        });
    } while (next_mode(mode, flow.system().laws));
  }

  TEST_CASE("at the velocity level the row is dw/dt, with its derivatives") {
    const Dcs bead = make_dcs(Bead{}, 4, {complementarity(), equality()});
    ModeFlow flow(bead);
    const Vector y{{0.6, 0.8, -0.3, 0.4, 2.5, 0}}, ydot{{1.1, -0.2, 0.5, 0.7, 0, 0}};
    const double t = 0.25;
    Vector H;
    flow.set_mode({1, 0});
    REQUIRE(flow.evaluate(t, ydot, y, H));
    CHECK(std::abs(H[4] - (1 - 1.25 * 1.25)) < 1e-15);
    flow.set_mode({1, 0}, {1, 0});
    Matrix H_ydot, H_y;
    REQUIRE(flow.linearize(t, ydot, y, H, H_ydot, H_y));
    CHECK(std::abs(H[4] - (2 * 0.6 * 1.1 + 2 * 0.8 * -0.2 - 2 * 1.25)) < 1e-15);
    CHECK(largest(H_ydot.row(4) - Eigen::RowVectorXd{{1.2, 1.6, 0, 0, 0, 0}}) < 1e-15);
    CHECK(largest(H_y.row(4) - Eigen::RowVectorXd{{2.2, -0.4, 0, 0, 0, 0}}) < 1e-15);
    Vector H_t, w;
    flow.by_time(H_t);
    CHECK(H_t[4] == -2);
    REQUIRE(flow.w(t, ydot, y, w));
    CHECK(std::abs(w[0] - (1 - 1.25 * 1.25)) < 1e-15);  // w itself stays
    flow.set_mode({1, 0});
    REQUIRE(flow.evaluate(t, ydot, y, H));
    CHECK(std::abs(H[4] - w[0]) < 1e-15);
  }

  TEST_CASE("what a mode cannot be is refused with the reason") {
    CHECK_THROWS_WITH_AS(ModeFlow(two_laws(), {3}), "there is no parameter 3: the system has 3",
                         InvalidInput);
    CHECK_THROWS_WITH_AS(ModeFlow(two_laws(), {1, 1}), "parameter 1 is asked for twice",
                         InvalidInput);
    const Dcs bead = make_dcs(Bead{}, 4, {complementarity(), equality()});
    ModeFlow flow(bead);
    CHECK_THROWS_WITH_AS(flow.set_mode({1}), "the mode has 1 branches, the system 2 laws",
                         InvalidInput);
    CHECK_THROWS_WITH_AS(flow.set_mode({1, 7}), "law 1 has no branch 7", InvalidInput);
    CHECK_THROWS_AS(flow.set_mode({1, -1}), InvalidInput);
    CHECK_THROWS_AS(flow.set_mode({1, 0}, {1}), InvalidInput);
    CHECK_THROWS_WITH_AS(flow.set_mode({0, 0}, {1, 0}),
                         "law 0: its branch does not fix w, which the velocity level needs",
                         InvalidInput);
    CHECK_THROWS_WITH_AS(flow.set_mode({1, 0}, {0, 1}),
                         "law 1: the derivative of w is wanted, but w contains more than t and x",
                         InvalidInput);
  }

  TEST_CASE("outside of the domain the answer is false") {
    ModeFlow flow(make_dcs(Root{}, 1));
    flow.set_mode({});
    Vector H;
    Matrix A, B;
    CHECK(flow.evaluate(0, Vector{{1}}, Vector{{0}}, H));
    CHECK_FALSE(flow.linearize(0, Vector{{1}}, Vector{{0}}, H, A, B));  // infinite slope
    CHECK_FALSE(flow.evaluate(0, Vector{{1}}, Vector{{-1}}, H));
  }

  TEST_CASE("w alone is w beside its derivatives, also with parameters that are asked for and at the velocity level") {
    for (const std::vector<int>& parameters : {std::vector<int>{}, std::vector<int>{0, 2}}) {
      ModeFlow flow(two_laws(), parameters);
      for (const Mode& mode : {Mode{1, 1}, Mode{0, 2}, Mode{2, 0}}) {
        flow.set_mode(mode);
        const Vector y = Vector::LinSpaced(flow.size(), 0.3, 0.9), ydot = Vector::LinSpaced(flow.size(), -1, 0.4);
        Vector w, with, w_t;
        Matrix w_ydot, w_y, w_p;
        REQUIRE(flow.w(0.6, ydot, y, w));
        REQUIRE(flow.linearize_w(0.6, ydot, y, with, w_ydot, w_y, w_t, w_p));
        CHECK(w == with);
      }
    }
  }

  TEST_CASE("evaluations do not allocate") {
    ModeFlow flow(two_laws(), {0, 2});
    flow.set_mode({1, 1});
    const Vector y = Vector::Constant(5, 0.5), ydot = Vector::Zero(5);
    Vector H, H_t, w, w_t;
    Matrix H_ydot, H_y, H_p, w_ydot, w_y, w_p;
    bool finite = true;
    const auto all = [&] {
      finite = finite && flow.evaluate(0, ydot, y, H) &&
               flow.linearize(0, ydot, y, H, H_ydot, H_y) && flow.w(0, ydot, y, w) &&
               flow.linearize_w(0, ydot, y, w, w_ydot, w_y, w_t, w_p);
      flow.by_time(H_t);
      flow.by_parameters(H_p);
    };
    all();
    const long before = allocations();
    for (int i = 0; i < 10; ++i) all();
    CHECK(allocations() == before);
    CHECK(finite);
  }
}
