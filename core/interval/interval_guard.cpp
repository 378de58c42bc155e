// The check of the arithmetic that enclosures stand on, called before each.
#include <stdexcept>

#include <perp/core/interval/interval.hpp>

namespace perp::enclosure {

// Operands that the compiler does not know, so that they are added while the program runs.
void require_directed_arithmetic() {
  const volatile double one = 1, half_ulp = 0x1p-53, least = 0x1p-1074, third = 1.0 / 3;
  const double to_even = one + half_ulp, to_odd = (one + 2 * half_ulp) + half_ulp;
  if (to_even != 1 || to_odd != 1 + 0x1p-51 || -one - half_ulp != -1)
    throw std::runtime_error("the processor does not round to nearest: bounds would be no bounds");
  if (!(least + least > 0) || 0x1p-1000 * (one * 0x1p-50) == 0)
    throw std::runtime_error("subnormal numbers are flushed to zero: bounds would be no bounds");
  // 1/3 = fl(1/3) + r, 3 fl(1/3) = 1 − 2^−54: seen only if fma rounds once
  if (std::fma(third, 3.0, -1.0) != -0x1p-54 || directed::multiply_down(third, 3) >= 1 ||
      directed::divide_up(one, 3) <= third || directed::add_down(one, -least) >= 1)
    throw std::runtime_error("fused multiply-add does not round once: bounds would be no bounds");
}

}  // namespace perp::enclosure
