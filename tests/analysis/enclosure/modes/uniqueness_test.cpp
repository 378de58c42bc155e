#include <doctest/doctest.h>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/analysis/enclosure/modes/law_coupling.hpp>

using namespace perp;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::EnclosureRow;
using enclosure::Flag;
using enclosure::Interval;
using enclosure::IntervalMatrix;

namespace {

Enclosure run(const std::string& variables, const std::string& equations, double end,
              std::vector<double> times, const std::string& parameters = "") {
  EncloseOptions options;
  options.times = std::move(times);
  const std::string text = "[parameters]\n" + parameters + "\n[variables]\n" + variables +
                           "\n[model]\nequations = [" + equations + "]\n[run]\nt = [0, " +
                           std::to_string(end) + "]\n";
  return enclosure::read_exact_model(text, "test.toml").enclose(options);
}

bool is_unique(const Enclosure& result) {
  return !result.lost && std::all_of(result.rows.begin(), result.rows.end(), [](const auto& row) {
    return row.flag == Flag::unique;
  });
}

bool any_unique_after(const Enclosure& result, double t) {
  return std::any_of(result.rows.begin(), result.rows.end(), [t](const auto& row) {
    return row.t > t && row.flag == Flag::unique;
  });
}

/// The least principal minor.
double least_minor(const Matrix& M) {
  const auto n = static_cast<int>(M.rows());
  double least = 1e300;
  for (int set = 1; set < 1 << n; ++set) {
    std::vector<Eigen::Index> rows;
    for (int i = 0; i < n; ++i)
      if ((set >> i & 1) != 0) rows.push_back(i);
    least = std::min(least, Matrix(M(rows, rows)).determinant());
  }
  return least;
}

}  // namespace

TEST_SUITE("analysis/enclosure/modes/uniqueness") {
  TEST_CASE("relays that slide together are unique where they act on each other alike, by numbers that are no doubles, too") {
    for (const char* equations : {"\"der(x) = -sign(x) + 0.25*sign(y)\", \"der(y) = -sign(y) + 0.25*sign(x)\"",
                                  "\"der(x) = -sign(x) + 0.3*sign(y)\", \"der(y) = -sign(y) + 0.3*sign(x)\"",
                                  "\"der(x) = -sign(x) + (1/3)*sign(y)\", \"der(y) = -sign(y) + (1/3)*sign(x)\"",
                                  "\"der(x) = -sign(x) + c*sign(y)\", \"der(y) = -sign(y) + c*sign(x)\""}) {
      CAPTURE(equations);
      const Enclosure result = run("x = 0\ny = 0", equations, 1, {0.5, 1}, "c = \"[-0.4, 0.4]\"");
      REQUIRE(is_unique(result));
      CHECK(result.rows.back().box[0] == Interval(0));
      CHECK(result.rows.back().box[1] == Interval(0));
    }
    // Not alike: several solutions may start.
    CHECK_FALSE(is_unique(run("x = 0\ny = 0", "\"der(x) = -sign(x) + 1.2*sign(y)\", \"der(y) = -sign(y) + 1.2*sign(x)\"", 1, {1})));
  }

  TEST_CASE("P-matrices are those with positive principal minors") {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> number(-1, 1);
    int found = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      const int n = 1 + trial % 4;
      Matrix M(n, n);
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) M(i, k) = number(random) + (i == k ? 0.9 : 0);
      const double least = least_minor(M);
      if (std::abs(least) < 1e-9) continue;
      CHECK(enclosure::is_P_matrix(IntervalMatrix(M)) == (least > 0));
      found += least > 0;
    }
    CHECK(found > 300);
    IntervalMatrix wide{Matrix(Matrix::Identity(2, 2))};
    wide(0, 1) = wide(1, 0) = Interval(-1.5, 0.5);  // at its ends no P-matrix
    CHECK_FALSE(enclosure::is_P_matrix(wide));
  }

  TEST_CASE("matrices that a diagonal makes symmetric and positive definite") {
    const auto of = [](std::initializer_list<double> entries) {
      const int n = entries.size() == 4 ? 2 : 3;
      Matrix M(n, n);
      auto next = entries.begin();
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) M(i, k) = *next++;
      return enclosure::has_symmetric_scaling(IntervalMatrix(M));
    };
    CHECK(of({2, 1, 1, 2}));
    CHECK(of({2, 1, 4, 3}));                             // d = (4, 1): (8, 4; 4, 3)
    CHECK_FALSE(of({2, 1, 4, 2}));                       // singular
    CHECK_FALSE(of({1, -2, 2, 1}));                      // a P-matrix, but of a rotation
    CHECK_FALSE(of({1, 1, 0, 1}));                       // not symmetric by any diagonal
    CHECK_FALSE(of({-1, 0, 0, 1}));
    CHECK(of({3, 1, 0, 1, 3, 1, 0, 1, 3}));
    CHECK_FALSE(of({3, 1, 1, 1, 3, 1, 1, 0.5, 3}));      // the cycle does not close
    IntervalMatrix M{Matrix(Matrix::Identity(2, 2))};
    M(0, 0) = Interval(0.5, 2);
    CHECK(enclosure::has_symmetric_scaling(M));
    M(0, 1) = M(1, 0) = Interval(0.1, 0.2);  // members of it are symmetric by no common diagonal
    CHECK_FALSE(enclosure::has_symmetric_scaling(M));
  }

  TEST_CASE("two surfaces are slid on at once, of each its own law and of laws that act on both") {
    // x = max(0, 1 − 2 t + …): both come to 0 and stay
    const Enclosure apart =
        run("x = 1\ny = 2\nz = 0", "\"der(x) = 1 - 3*sign(x)\", \"der(y) = -2*(2+x)*sign(y)\", "
            "\"der(z) = 1 + x + y\"", 4, {0.25, 2, 4});
    CHECK(is_unique(apart));
    CHECK(apart.events.size() == 2);
    CHECK(apart.rows.back().box[0] == Interval(0));
    CHECK(apart.rows.back().box[1] == Interval(0));
    CHECK(enclosure::width(apart.rows.back().box[2]) < 1e-13);
    const Enclosure both = run("x = 1\ny = 2", "\"der(x) = -2*sign(x) - sign(y)\", "
                               "\"der(y) = -sign(x) - 2*sign(y) + 0.5*sin(t)\"", 4, {0.25, 2, 4});
    CHECK(is_unique(both));
    CHECK(both.rows.back().box[0] == Interval(0));
    CHECK(both.rows.back().box[1] == Interval(0));
  }

  TEST_CASE("matrices whose diagonals outweigh the rest by some scaling") {
    const auto of = [](std::initializer_list<double> entries) {
      const int n = entries.size() == 4 ? 2 : 3;
      IntervalMatrix M(n, n);
      auto next = entries.begin();
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) M(i, k) = Interval(*next++);
      return enclosure::is_H_matrix(M);
    };
    CHECK(of({2, -0.5, 0.7, 2}));
    CHECK(of({1, 0, 1e6, 1}));                        // triangular: some units do
    CHECK(of({1, 0x1p30, 0x1p-31, 1}));
    CHECK_FALSE(of({1, 0x1p30, 0x1p-30, 1}));         // singular
    CHECK_FALSE(of({1, -2, 2, 1}));                   // a P-matrix
    CHECK_FALSE(of({-2, 0, 0, 2}));
    CHECK_FALSE(of({0, 0, 0, 1}));
    CHECK(of({3, 1, 1, -1, 3, 1, 1, -1, 3}));
    CHECK_FALSE(of({2, 1, 1, 1, 2, 1, 1, 1, 2}));     // <M> is singular, M is not
    IntervalMatrix M{Matrix(Matrix::Identity(2, 2))};
    M(0, 1) = M(1, 0) = Interval(-0.9, 0.9);
    CHECK(enclosure::is_H_matrix(M));
    M(0, 0) = Interval(0.5, 1);
    CHECK_FALSE(enclosure::is_H_matrix(M));
  }

  // z' is what the laws hold: 0 when both are slid on.
  TEST_CASE("two surfaces are slid on at once whose laws act on each other less than on their own") {
    const Enclosure turned =
        run("x = \"[0.99, 1.01]\"\ny = 1\nz = 0",
            "\"der(x) = -2*sign(x) + 0.5*sign(y)\", \"der(y) = -0.7*sign(x) - 2*sign(y)\", "
            "\"der(z) = sign(x) + 2*sign(y)\"",
            4, {0.25, 2, 4});
    CHECK(is_unique(turned));
    CHECK(turned.pieces < 16);
    CHECK(turned.rows.back().box[0] == Interval(0));
    CHECK(turned.rows.back().box[1] == Interval(0));
    // y is 0 at 10/27; x then falls with 2.175, sign(y) is −0.35
    const auto z = [](double x0) { return 30 / 27.0 + 0.3 * (x0 - 15 / 27.0) / 2.175; };
    CHECK(turned.rows.back().box[2].contains(z(0.991)));
    CHECK(turned.rows.back().box[2].contains(z(1.009)));
    CHECK(enclosure::width(turned.rows.back().box[2]) < 1.1 * (z(1.01) - z(0.99)));
    const Enclosure chain = run("x = 1\ny = 1", "\"der(x) = -sign(x)\", \"der(y) = -5*sign(y) - "
                                "3*sign(x) + 0.5*sin(t)\"", 4, {0.25, 2, 4});
    CHECK(is_unique(chain));
    CHECK(chain.rows.back().box[1] == Interval(0));
  }

  TEST_CASE("an intersection from which solutions turn out is none that is unique") {
    // Filippov's spiral backward: from 0 solutions turn out at any time
    const Enclosure out = run("x = 0\ny = 0", "\"der(x) = sign(x) - 2*sign(y)\", "
                              "\"der(y) = 2*sign(x) + sign(y)\"", 1, {0, 0.25, 1});
    CHECK_FALSE(any_unique_after(out, 0));
    if (!out.lost)
      CHECK(std::any_of(out.rows.begin(), out.rows.end(), [](const EnclosureRow& row) {
        return row.t == 0.25 && row.box[0].contains(0.0) && row.box[1].contains(0.0);
      }));
    const Enclosure in = run("x = 0\ny = 1", "\"der(x) = -sign(x) + 2*sign(y)\", "
                             "\"der(y) = -2*sign(x) - sign(y)\"", 1, {0.25, 1});
    CHECK_FALSE(any_unique_after(in, 0.5));
  }

  TEST_CASE("company on a surface of its own changes neither pieces nor flags") {
    const std::string own = "\"der(x) = y\", \"der(y) = -x - y - 3*sign(x + y)*(1 + 0.125*x)\"";
    const Enclosure alone = run("x = 1\ny = 1", own, 4, {1, 2, 4});
    const Enclosure beside = run("c = \"[0.51, 0.52]\"\nx = 1\ny = 1",
                                 own + ", \"der(c) = -sign(c)\"", 4, {1, 2, 4});
    CHECK(is_unique(alone));
    CHECK(is_unique(beside));
    CHECK(beside.pieces == alone.pieces + 1);  // that of the company
    REQUIRE(alone.rows.size() == beside.rows.size());
    for (std::size_t k = 0; k < alone.rows.size(); ++k)
      for (std::size_t i = 0; i < 2; ++i) {
        CHECK(enclosure::width(beside.rows[k].box[i + 1]) < 1e-12);
        CHECK(intersection(alone.rows[k].box[i], beside.rows[k].box[i + 1]).has_value());
      }
  }

  TEST_CASE("multipliers that act on their own argument are unique where they push it back") {
    // λ ∈ sign(x − 2 λ): λ = x/2 for |x| ≤ 2, and y' = λ
    const Enclosure back = run("x = 3\nz = 0\ny = 0",
                               "\"der(x) = -1\", \"z = x - 2*sign(z)\", \"der(y) = sign(z)\"", 6,
                               {1, 3, 5, 6});
    CHECK(is_unique(back));
    REQUIRE(back.rows.size() == 4);
    const double known[] = {1, 2, 1, 0};
    for (std::size_t k = 0; k < 4; ++k) {
      CHECK(back.rows[k].box[2].contains(known[k]));
      CHECK(enclosure::width(back.rows[k].box[2]) < 1e-13);
    }
    // λ ∈ sign(x + 2 λ): three of them
    const Enclosure forth = run("x = 3\nz = 0\ny = 0",
                                "\"der(x) = -1\", \"z = x + 2*sign(z)\", \"der(y) = sign(z)\"", 6,
                                {1, 3, 5, 6});
    CHECK(forth.lost.has_value());
    // two that act on each other: z = x − 2 λ − μ, w = x − 1 + λ − 2 μ, no symmetric matrix
    const std::string pair = "\"der(x) = -1\", \"z = x - 2*sat(z, -1, 1) - sat(w, -1, 1)\", "
                             "\"w = x - 1 + sat(z, -1, 1) - 2*sat(w, -1, 1)\"";
    const Enclosure two = run("x = 8\nz = 0\nw = 0", pair, 16, {1, 8, 16});
    CHECK(is_unique(two));
    CHECK(std::count_if(two.events.begin(), two.events.end(), [](const auto& event) {
            return event.unique && event.type == "kink";
          }) == 4);
  }

  // z = x − k |z|: x/(1 + k) where x > 0, x/(1 − k) where x < 0; with k > 1 two of them or none.
  TEST_CASE("multipliers of functions are unique for all slopes that leave the loop regular") {
    const auto loop = [](const std::string& k, const std::string& z) {
      return run("x = 1\ny = 0\nz = " + z, "\"der(x) = -1\", \"der(y) = z\", \"z = x - k*abs(z)\"", 2,
                 {0.5, 2}, "k = " + k);
    };
    const Enclosure half = loop("0.5", "0.6");
    REQUIRE(is_unique(half));
    CHECK(half.events.size() == 1);
    const Interval y = half.rows.back().box[1];
    CHECK((y.lo <= -2.0 / 3 && -2.0 / 3 <= y.hi));
    CHECK(enclosure::width(y) < 1e-13);
    CHECK(is_unique(loop("\"[0.4, 0.6]\"", "0.6")));
    CHECK_FALSE(is_unique(loop("1.5", "0.4")));
    CHECK_FALSE(is_unique(loop("\"[0.9, 1.1]\"", "0.5")));
    const auto two = [](const std::string& k, const std::string& x, const std::string& v) {
      return run("x = " + x + "\nv = " + v + "\ny = -2\nz = 1",
                 "\"der(x) = -y\", \"der(v) = z\", \"y = x + k*abs(z)\", \"z = v + k*max(y, 0)\"", 1, {1},
                 "k = " + k);
    };
    CHECK(is_unique(two("0.5", "1", "-1")));
    CHECK_FALSE(is_unique(two("1.5", "-4", "1")));  // y = -5/2, z = 1, or y = 2, z = 4
  }

  TEST_CASE("a jump is passed under a disturbance by each solution once") {
    const Enclosure result =
        run("x = -0.5\ny = 0", "\"der(x) = 1 + d\", \"der(y) = step(x)*(1 + y)\"", 2,
            {0.25, 0.5, 1, 2}, "d = \"[-0.125, 0.125] at every t\"");
    CHECK(is_unique(result));
    REQUIRE(result.events.size() == 1);
    CHECK(result.events[0].unique);
    CHECK(result.events[0].type == "crossing");
    CHECK(result.events[0].t.contains(Interval(0.5 / 1.125, 0.5 / 0.875)));
    // it may come back: more than one crossing is possible
    const Enclosure slow =
        run("x = -0.5\ny = 0", "\"der(x) = 0.5 + 8*d\", \"der(y) = step(x)\"", 2, {0.25, 2},
            "d = \"[-0.125, 0.125] at every t\"");
    CHECK_FALSE(slow.lost.has_value());
    CHECK(std::none_of(slow.events.begin(), slow.events.end(),
                       [](const auto& event) { return event.unique; }));
    CHECK_FALSE(any_unique_after(slow, 1));
  }
}
