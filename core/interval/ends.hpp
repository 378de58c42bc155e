#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <perp/core/interval/directed.hpp>

namespace perp::enclosure {

/// Two doubles, one for each end of an interval, that go through the same operations at once. All
/// round to nearest, so that the bits are the same with and without SSE2.
class Ends {
 public:
#if defined(__SSE2__)
  Ends() : both_(_mm_setzero_pd()) {}
  Ends(double lower, double upper) : both_(_mm_set_pd(upper, lower)) {}
  /// From and to a type that holds two doubles, at once: a processor waits where parts of what it
  /// loads have been stored one by one.
  ///@{
  template <class Pair>
  explicit Ends(const Pair& pair) : both_(std::bit_cast<__m128d>(pair)) {}
  template <class Pair>
  [[nodiscard]] Pair as() const {
    return std::bit_cast<Pair>(both_);
  }
  ///@}
  [[nodiscard]] double lower() const { return _mm_cvtsd_f64(both_); }
  [[nodiscard]] double upper() const { return _mm_cvtsd_f64(_mm_unpackhi_pd(both_, both_)); }

  friend Ends operator+(Ends a, Ends b) { return Ends(_mm_add_pd(a.both_, b.both_)); }
  friend Ends operator-(Ends a, Ends b) { return Ends(_mm_sub_pd(a.both_, b.both_)); }
  friend Ends abs(Ends a) { return Ends(_mm_andnot_pd(_mm_set1_pd(-0.0), a.both_)); }
  friend Ends swapped(Ends a) { return Ends(_mm_shuffle_pd(a.both_, a.both_, 1)); }
  /// Some end is below the bound.
  friend bool any_below(Ends a, double bound) {
    return _mm_movemask_pd(_mm_cmplt_pd(a.both_, _mm_set1_pd(bound))) != 0;
  }
  /// Both are numbers up to `most`.
  friend bool lie_below(Ends a, double most) { return _mm_movemask_pd(_mm_cmple_pd(a.both_, _mm_set1_pd(most))) == 3; }
  /// Both are numbers from `least` to `most`.
  friend bool lie_within(Ends a, double least, double most) {
    const __m128d is_large = _mm_cmpge_pd(a.both_, _mm_set1_pd(least));
    return _mm_movemask_pd(_mm_and_pd(is_large, _mm_cmple_pd(a.both_, _mm_set1_pd(most)))) == 3;
  }
  /// The products of ends, each with its own rounding: what uses them must not fuse them.
  friend Ends rounded_products(Ends a, Ends b) {
    __m128d p = _mm_mul_pd(a.both_, b.both_);
#if defined(__GNUC__) && defined(__FMA__)
    asm("" : "+x"(p));
#endif
    return Ends(p);
  }
  /// Least and largest of the four products of ends, each rounded to nearest.
  friend Ends extreme_products(Ends a, Ends b) {
    const __m128d same = _mm_mul_pd(a.both_, b.both_);
    const __m128d crossed = _mm_mul_pd(a.both_, _mm_shuffle_pd(b.both_, b.both_, 1));
    const __m128d less = _mm_min_pd(same, crossed), more = _mm_max_pd(same, crossed);
    const __m128d first = _mm_unpacklo_pd(less, more), second = _mm_unpackhi_pd(less, more);
    return Ends(_mm_move_sd(_mm_max_pd(first, second), _mm_min_pd(first, second)));
  }
  /// For each end where a < 0 that of b, else that of c.
  friend Ends where_negative(Ends a, Ends b, Ends c) {
    const __m128d is_negative = _mm_cmplt_pd(a.both_, _mm_setzero_pd());
    return Ends(
        _mm_or_pd(_mm_and_pd(is_negative, b.both_), _mm_andnot_pd(is_negative, c.both_)));
  }
  /// q + e rounded outward, for finite q = fl(q + e) ≠ 0 or e = 0: to the double below where the
  /// first e < 0, to the double above where the second e > 0. Positive doubles are in the order of
  /// their bits, negative ones in the opposite order.
  friend Ends outward(Ends q, Ends e) {
    const __m128d first = _mm_set_pd(0.0, -0.0);  // down is up of the opposite
    const __m128i is_inside =
        _mm_castpd_si128(_mm_cmpgt_pd(_mm_xor_pd(e.both_, first), _mm_setzero_pd()));
    const __m128i is_negative = _mm_srli_epi64(_mm_castpd_si128(_mm_xor_pd(q.both_, first)), 63);
    const __m128i step =
        _mm_sub_epi64(_mm_set_epi32(0, 1, 0, 1), _mm_add_epi64(is_negative, is_negative));
    return Ends(_mm_castsi128_pd(
        _mm_add_epi64(_mm_castpd_si128(q.both_), _mm_and_si128(is_inside, step))));
  }

  friend Ends product_errors_of_fused(Ends a, Ends b, Ends p);

 private:
  explicit Ends(__m128d both) : both_(both) {}
  __m128d both_;
#else
  Ends() = default;
  Ends(double lower, double upper) : lower_(lower), upper_(upper) {}
  /// From and to a type that holds two doubles.
  ///@{
  template <class Pair>
  explicit Ends(const Pair& pair) : Ends(std::bit_cast<Ends>(pair)) {}
  template <class Pair>
  [[nodiscard]] Pair as() const {
    return std::bit_cast<Pair>(*this);
  }
  ///@}
  [[nodiscard]] double lower() const { return lower_; }
  [[nodiscard]] double upper() const { return upper_; }

  friend Ends operator+(Ends a, Ends b) { return {a.lower_ + b.lower_, a.upper_ + b.upper_}; }
  friend Ends operator-(Ends a, Ends b) { return {a.lower_ - b.lower_, a.upper_ - b.upper_}; }
  friend Ends abs(Ends a) { return {std::abs(a.lower_), std::abs(a.upper_)}; }
  friend Ends swapped(Ends a) { return {a.upper_, a.lower_}; }
  /// Some end is below the bound.
  friend bool any_below(Ends a, double bound) { return a.lower_ < bound || a.upper_ < bound; }
  /// Both are numbers up to `most`.
  friend bool lie_below(Ends a, double most) { return a.lower_ <= most && a.upper_ <= most; }
  /// Both are numbers from `least` to `most`.
  friend bool lie_within(Ends a, double least, double most) {
    return a.lower_ >= least && a.lower_ <= most && a.upper_ >= least && a.upper_ <= most;
  }
  /// The products of ends, each with its own rounding: what uses them must not fuse them.
  friend Ends rounded_products(Ends a, Ends b) {
    return {directed::product(a.lower_, b.lower_), directed::product(a.upper_, b.upper_)};
  }
  /// Least and largest of the four products of ends, each rounded to nearest.
  friend Ends extreme_products(Ends a, Ends b) {
    const Ends same = rounded_products(a, b), crossed = rounded_products(a, swapped(b));
    return {std::min(std::min(same.lower_, same.upper_), std::min(crossed.lower_, crossed.upper_)),
            std::max(std::max(same.lower_, same.upper_), std::max(crossed.lower_, crossed.upper_))};
  }
  /// For each end where a < 0 that of b, else that of c.
  friend Ends where_negative(Ends a, Ends b, Ends c) {
    return {a.lower_ < 0 ? b.lower_ : c.lower_, a.upper_ < 0 ? b.upper_ : c.upper_};
  }
  /// q + e rounded outward, for finite q = fl(q + e) ≠ 0 or e = 0: to the double below where the
  /// first e < 0, to the double above where the second e > 0.
  friend Ends outward(Ends q, Ends e) {
    return {e.lower_ < 0 ? directed::next_down(q.lower_) : q.lower_,
            e.upper_ > 0 ? directed::next_up(q.upper_) : q.upper_};
  }

 private:
  double lower_ = 0, upper_ = 0;
#endif
};

/// The errors of s = fl(a + b), exactly (Knuth): a + b = s + errors. Also for subnormal numbers.
inline Ends sum_errors(Ends a, Ends b, Ends s) {
  const Ends from_b = s - a;
  return (a - (s - from_b)) + (b - from_b);
}

/// Those of p = fl(a b), exactly where they are doubles (`directed::exact_from`).
#if defined(__SSE2__) && !defined(__FMA__)
extern Ends (*const& product_errors)(Ends a, Ends b, Ends p);
#else
inline Ends product_errors(Ends a, Ends b, Ends p) {
  return {std::fma(a.lower(), b.lower(), -p.lower()), std::fma(a.upper(), b.upper(), -p.upper())};
}
#endif

}  // namespace perp::enclosure
