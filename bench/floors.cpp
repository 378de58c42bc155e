#include <Eigen/LU>

#include <perp/bench/measure.hpp>
#include <perp/bench/stepping.hpp>

namespace perp::bench {
namespace {

constexpr int repeats = 20'000;

#ifdef __x86_64__
__attribute__((target("fma"))) double chain_fma(double x) {
  for (int i = 0; i < repeats; ++i) x = __builtin_fma(__builtin_fma(x, 0.999, 1e-3), 1.001, -1e-3);
  return x;
}
#endif

double chain(double x) {
  for (int i = 0; i < repeats; ++i) x = (x * 0.999 + 1e-3) * 1.001 - 1e-3;
  return x;
}

}  // namespace

double two_fma_ns() {
  double x = 0.5;
  return ns_per_unit(repeats, [&] {
#ifdef __x86_64__
    x = __builtin_cpu_supports("fma") ? chain_fma(x) : chain(x);
#else
    x = chain(x);
#endif
    benchmark::DoNotOptimize(x);
  });
}

double mat_vec_ns(int n) {
  const Matrix M = Matrix::Random(n, n) / n;
  Vector x = Vector::Random(n), y(n);
  return ns_per_unit(2000, [&] {
    for (int i = 0; i < 1000; ++i) {  // each product needs the one before
      y.noalias() = M * x;
      x.noalias() = M * y;
    }
    benchmark::DoNotOptimize(x.data());
  });
}

double lu_ns(int m) {
  const Matrix M = Matrix::Random(m, m) + m * Matrix::Identity(m, m);
  Eigen::PartialPivLU<Matrix> lu(m);
  return ns_per_unit(200, [&] {
    for (int i = 0; i < 200; ++i) {
      lu.compute(M);
      benchmark::DoNotOptimize(lu.matrixLU().data());
    }
  });
}

}  // namespace perp::bench
