#pragma once

#include <memory>
#include <vector>

namespace perp::bench {

/// Data of a run in the kernel; matrices row by row. (Plain data, since the kernel's headers need
/// C++17 and those of perp C++20.)
struct KernelProblem {
  unsigned n = 0;
  unsigned m = 0;
  std::vector<double> E, A, B, C, D, b, q, x0;  // E empty: identity
  void (*b_of_t)(double t, unsigned n, double* b, unsigned, double*) = nullptr;
  double h = 0;
  double theta = 1;
  long steps = 0;
};

/// A linear complementarity system in Siconos' own C++ kernel: first-order linear system with E as
/// its M, Euler-Moreau integrator, the one-step problem an LCP.
class SiconosKernel {
 public:
  enum class Solver { lemke, enumeration };

  SiconosKernel(const KernelProblem& problem, Solver solver);
  ~SiconosKernel();
  SiconosKernel(const SiconosKernel&) = delete;
  SiconosKernel& operator=(const SiconosKernel&) = delete;

  void step();
  /// One enumeration for each of `seeds` start modes, and the solution nearest to the last state in
  /// its first two variables: how the kernel is made to follow the minimal-norm rule of [RAB] eq.
  /// (31).
  void step_nearest(int seeds);
  [[nodiscard]] std::vector<double> x() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace perp::bench
