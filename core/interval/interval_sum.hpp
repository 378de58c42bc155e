#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <perp/core/interval/ends.hpp>
#include <perp/core/interval/interval.hpp>

namespace perp::enclosure {

/// At most 26 bits between 2^−480 and 2^480, or 0: the product of two such doubles is one.
inline bool is_short(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t exponent = bits >> 52U & 0x7FFU;
  return (bits & 0x7FFFFFFU) == 0 && ((exponent - 543U <= 960U) || x == 0);
}
inline bool is_short(const Interval& a) { return is_short(a.lo) && is_short(a.hi); }

/// A sum of intervals and of products of intervals that is rounded once, at its end. For each of
/// its two ends, of terms t_i that are rounded to p_i and summed to s_i = fl(s_{i−1} + p_i):
///     Σ t_i = s_n + Σ e_i + Σ (t_i − p_i),    e_i = s_{i−1} + p_i − s_i
/// The e_i are doubles and found exactly (Knuth); |t_i − p_i| ≤ u |p_i| as long as |p_i| is normal.
/// Hence |Σ t_i − s_n| ≤ ρ = Σ |e_i| + u Σ |p_i|, where p_i that are exact do not count. The end of
/// a product is the least (largest) of four, and that of the rounded ones is that one rounded, since
/// rounding is monotone. ρ is a sum of numbers that are not negative: up to 2^20 terms it is
/// rounded by less than 2^−30 of itself (sums of subnormal numbers are exact). Where all is exact,
/// ρ = 0 and so is the sum. Where an operation overflows, ρ is infinite or nan and nothing is known
/// but that there is a sum. Operands are bounded.
class IntervalSum {
 public:
  IntervalSum() = default;
  explicit IntervalSum(const Interval& a) : sum_(a) {}

  void add(const Interval& a) { add(Ends(a)); }
  void subtract(const Interval& a) { add(Ends(-a.hi, -a.lo)); }

  /// Σ_{i < count} a_i b_{−i}
  void add_products(const Interval* a, const Interval* b, int count, bool are_exact) {
    if (count == 1) return add(*a * *b);  // sharp, where a factor is a power of two too
    for (int i = 0; i < count; ++i) {
      const Ends p = extreme_products(Ends(a[i]), Ends(b[-i]));
      const Ends size = abs(p);
      // products that are 0 or not normal are rounded by themselves
      if (any_below(size, directed::exact_from)) [[unlikely]] {
        add(a[i] * b[-i]);
        continue;
      }
      add(p);
      if (!are_exact) products_ = products_ + size;
    }
  }

  /// Twice what it was: exact.
  void redouble() {
    sum_ = sum_ + sum_;
    errors_ = errors_ + errors_;
    products_ = products_ + products_;
  }

  [[nodiscard]] Interval value() const {
    const double below = error(errors_.lower(), products_.lower()),
                 above = error(errors_.upper(), products_.upper());
    if (!(std::abs(sum_.lower()) + below < directed::infinity &&
          std::abs(sum_.upper()) + above < directed::infinity))
      return {-directed::infinity, directed::infinity};
    return {directed::subtract_down(sum_.lower(), below), directed::add_up(sum_.upper(), above)};
  }

 private:
  void add(Ends p) {
    const Ends s = sum_ + p;
    errors_ = errors_ + abs(sum_errors(sum_, p, s));
    sum_ = s;
  }
  static double error(double of_sums, double of_products) {
    return directed::product(of_sums + 0x1p-53 * of_products, 1 + 0x1p-30);
  }

  Ends sum_{}, errors_{}, products_{};
};

}  // namespace perp::enclosure
