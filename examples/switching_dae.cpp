#include <iostream>
#include <perp/perp.hpp>

int main() {
  using namespace perp;
  const double B1 = -0.5, B2 = 1.0;                       // sliding-crossing case

  // E ẋ = A x + B λ + b,   w = C x + D λ + q,   0 ≤ w ⊥ λ ≥ 0      [RAB] eq. (36), x = (x₁, x₂, z)
  const Lcs lcs{
      .E = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
      .A = Matrix{{0, 0, B1}, {0, 0, B2}, {1, -1, 0}},
      .B = Matrix{{0, 0, 0}, {0, 0, 0}, {1, -1, 0}},
      .b = Vector{{1, 0, 1}},
      .C = Matrix{{2, 0, 0}, {1, 0, 0}, {0, 0, 0}},
      .D = Matrix{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
      .q = Vector{{0, 0, 2}},
      .laws = {3, complementarity()},
  };

  const Trajectory run = integrate(lcs, Vector{{-5, 4, 0}}, {0, 10},
                                   BackwardEuler{.h = 0.01, .selector = Selector::minimal_norm});

  std::cout << to_string(run.status) << ' ' << run.message << '\n'
            << "x(10) = " << run.x.back().head(2).transpose() << '\n';      // 4.33333 5.33333
}
