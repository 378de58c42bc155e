// A law of one's own from its branches, and the mode of every stretch of time.
#include <cstdio>
#include <perp/perp.hpp>

int main() {
  using namespace perp;
  // The constraint of [RAB] in the paper's own words, eq. (11'): x₂ ∈ |x₁| + sign(x₁)
  //                                         a  b   c      w          λ
  const Law abs_plus_sign{"abs_plus_sign", {{1, 1, -1, {-inf, 0}, {},      "left"},       // λ = −w − 1
                                            {1, 0,  0, {0, 0},    {-1, 1}, "sliding"},    // w = 0
                                            {-1, 1, 1, {0, inf},  {},      "right"}}};    // λ = w + 1
  const double B1 = -0.5, B2 = 1.0;

  // ẋ₁ = 1 + B₁ z,  ẋ₂ = B₂ z,  0 = x₂ − λ,  w = x₁;   z is what keeps x on the constraint
  const Lcs lcs{
      .E = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
      .A = Matrix{{0, 0, B1}, {0, 0, B2}, {0, 1, 0}},
      .B = Matrix{{0}, {0}, {-1}},
      .b = Vector{{1, 0, 0}},
      .C = Matrix{{1, 0, 0}},
      .laws = {abs_plus_sign},
  };

  const Trajectory run = integrate(lcs, Vector{{-5, 4, 0}}, {0, 10}, BackwardEuler{.h = 0.1});

  std::printf("%s\n%6s  %-8s %9s %9s %9s\n", to_string(run.status), "until", "mode", "x1", "x2", "z");
  for (std::size_t k = 1; k < run.size(); ++k) {
    if (k + 1 < run.size() && run.mode[k + 1] == run.mode[k]) continue;
    const Branch& branch = abs_plus_sign.branches[static_cast<std::size_t>(run.mode[k][0])];
    std::printf("%6.2f  %-8s %9.5f %9.5f %9.5f\n", run.t[k], branch.name.c_str(), run.x[k][0], run.x[k][1],
                run.x[k][2]);
  }
}
