#include <doctest/doctest.h>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/system/system.hpp>

using namespace perp;

namespace {

/// ẋ = −x + λ, 0 = y − 2x,  w = x − 1,  0 ≤ w ⊥ λ ≥ 0
Lcs matrices() {
  return {.E = Matrix{{1, 0}, {0, 0}},
          .A = Matrix{{-1, 0}, {-2, 1}},
          .B = Matrix{{1}, {0}},
          .C = Matrix{{1, 0}},
          .q = Vector{{-1}},
          .laws = {complementarity()}};
}

}  // namespace

TEST_SUITE("core/system/system") {
  TEST_CASE("matrices and their functions answer every question alike") {
    const System of_matrices = matrices();
    const System of_functions = of_matrices.functions();
    REQUIRE(of_matrices.affine() != nullptr);
    CHECK(of_functions.affine() == nullptr);
    CHECK(of_matrices.n() == 2);
    CHECK(of_functions.n() == 2);
    CHECK(of_matrices.m() == 1);
    CHECK(of_functions.laws() == of_matrices.laws());
    CHECK(of_matrices.resets().empty());
    CHECK(of_functions.resets().empty());
    CHECK(of_matrices.differential() == std::vector<int>{0});
    CHECK(of_functions.differential() == std::vector<int>{0});
  }

  TEST_CASE("in a mode an affine system is itself, and so is what is linearised") {
    const System of_matrices = matrices();
    const System of_functions = of_matrices.functions();
    const Vector x{{3, 6}};
    const Lcs there = validated(of_matrices.in_mode(0, x, {1})), linearised = of_functions.in_mode(0, x, {1});
    const Lcs expected = validated(matrices());
    CHECK(there.A == expected.A);
    CHECK(linearised.A.isApprox(expected.A, 1e-15));
    CHECK(linearised.E.isApprox(expected.E, 1e-15));
    CHECK(linearised.B.isApprox(expected.B, 1e-15));
    CHECK(linearised.C.isApprox(expected.C, 1e-15));
  }

  TEST_CASE("matrices that are changed are those of the functions") {
    System system = matrices();
    system.affine()->A(0, 0) = -5;
    const Lcs again = validated(*as_lcs(system.functions()));
    CHECK(again.A(0, 0) == -5);
  }

  TEST_CASE("a signal that is no formula has no functions") {
    Lcs lcs = matrices();
    lcs.b = Signal(Vector::Zero(2), {0}, Signal::Function([](double t, Vector& value) { value[0] = t; }));
    CHECK_THROWS_AS(static_cast<void>(System(lcs).functions()), InvalidInput);
    CHECK(System(lcs).differential() == std::vector<int>{0});
  }
}
