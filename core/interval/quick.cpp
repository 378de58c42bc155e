// Exponential, sine and cosine with tables; called by the functions of intervals.
#include <array>
#include <bit>
#include <cmath>

#include <perp/core/interval/quick.hpp>

namespace perp::enclosure::quick {
namespace {

/// A number beside its double, known to 2^−100 of 1.
struct Entry {
  double high = 0, low = 0;
};
Entry entry(const DoubleWord& x) { return {x.high, x.low}; }

/// The whole number next to a double below 2^51, by rounding to nearest.
double nearest(double x) {
  constexpr double units = 0x1.8p52;
  return (x + units) - units;
}

/// 2^(j/64)
const Entry& power_of_two(int j) {
  static const std::array<Entry, 64> list = [] {
    std::array<Entry, 64> powers;
    const DoubleWord ln2 = elementary::log(2);
    for (int k = 0; k < 64; ++k) {
      const elementary::Scaled power = elementary::exp(ln2 * DoubleWord(k / 64.0));
      powers[static_cast<std::size_t>(k)] =
          entry(scaled(power.mantissa, std::ldexp(1.0, power.exponent)));
    }
    return powers;
  }();
  return list[static_cast<std::size_t>(j)];
}

struct Direction {
  Entry sine{}, cosine{};
};

/// Of the angle j/64 ≤ 51/64.
const Direction& direction(int j) {
  static const std::array<Direction, 52> list = [] {
    std::array<Direction, 52> directions;
    for (int k = 0; k < 52; ++k) {
      const DoubleWord angle(k / 64.0);
      directions[static_cast<std::size_t>(k)] = {entry(elementary::sin_near_zero(angle)),
                                                 entry(elementary::cos_near_zero(angle))};
    }
    return directions;
  }();
  return list[static_cast<std::size_t>(j)];
}

// ln 2/64 = first + second to within 2^−99; the first has 37 bits: k · first is exact for |k| < 2^16.
constexpr double ln2_first = 0x1.62e42fefap-7, ln2_second = 0x1.cf79abc9e3b3ap-46;

// π/2 = first + second + third to within 2^−122; of the first two n times each is exact, |n| < 2^20.
constexpr double half_pi_first = 0x1.921fb544p+0, half_pi_second = 0x1.0b4611a6p-34,
                 half_pi_third = 0x1.3198a2e037073p-69;

/// X cos b + Y sin b for b = high + low, |high| ≤ 2^−7 + 2^−50, |low| ≤ 2^−53, (X, Y) a direction:
///     X + Y high + [X_l + Y_l high + (Y − X high) low + X (cos − 1) + Y (sin − high)]
/// Y high is exact in two doubles and so is its sum with X. What the bracket rounds and leaves out
/// is below 2^−50 of (|X| + |Y high|) high²/2, where that is not below 2^−98 together with the
/// tables and what b is known to.
DoubleWord turned(const Entry& X, const Entry& Y, double high, double low) {
  const double square = high * high;
  const double cosine_less_1 = square * (-1.0 / 2 + square * (1.0 / 24 - square * (1.0 / 720)));
  const double sine_less_b =
      high * square * (-1.0 / 6 + square * (1.0 / 120 - square * (1.0 / 5040)));
  const double product = directed::product(Y.high, high);
  const double product_error = std::fma(Y.high, high, -product);
  const double sum = X.high + product;
  const double corrections = X.low + Y.low * high + (Y.high - X.high * high) * low +
                             (X.high * cosine_less_1 + Y.high * sine_less_b);
  const double error =
      0x1p-49 * (std::abs(X.high) + std::abs(product)) * (square / 2) + 0x1p-96;
  return {sum, directed::sum_error(X.high, product, sum) + (product_error + corrections), error};
}

/// sin or cos of an angle in [0, π/4 + 2^−40].
DoubleWord sine_of_rest(double rest, double low, bool is_cosine) {
  const double j = nearest(rest * 64);
  const Direction& at = direction(static_cast<int>(j));
  const double b = rest - j / 64;  // exact: neighbours within a factor of 2, or j = 0
  if (is_cosine) return turned(at.cosine, {-at.sine.high, -at.sine.low}, b, low);
  return turned(at.sine, at.cosine, b, low);
}

DoubleWord sine(const Turns& turns, int quadrant, bool is_odd) {
  const DoubleWord y = sine_of_rest(turns.rest, turns.low, quadrant % 2 != 0);
  const bool flips = is_odd && turns.is_negative;
  return (quadrant >= 2) != flips ? -y : y;
}

}  // namespace

// x = k ln2/64 + r, |r| ≤ 0.0055: e^x = 2^(k/64) (1 + r + p), p = r²/2 + … + r^7/7! < 2^−15. r is
// known to 2^−81; what p rounds is below 2^−66, what the series leaves out r^8/8! < 2^−75, and low
// times r, which is left out, below 2^−68. Then T + T r + …: T r and its sum with T are exact, the
// rest is below 2^−14 and rounds by less than 2^−65: altogether below 2^−63.
elementary::Scaled exp(double x) {
  const double k = nearest(x * 0x1.71547652b82fep+6);
  const double first = k * ln2_first;
  const double s = x - first;
  const double left = directed::sum_error(x, -first, s) - directed::product(k, ln2_second);
  const double r = s + left, low = directed::sum_error(s, left, r);
  const double p =
      low + r * r *
                (1.0 / 2 +
                 r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r / 5040)))));
  const int whole = static_cast<int>(k), j = whole & 63;
  const Entry& T = power_of_two(j);
  const double product = directed::product(T.high, r);
  const double sum = T.high + product;
  const double rest = directed::sum_error(T.high, product, sum) +
                      (std::fma(T.high, r, -product) + (T.low + T.low * r + T.high * p));
  return {{sum, rest, 0x1p-63}, (whole - j) / 64};
}

// n π/2 is subtracted in three parts: sums are exact in two doubles each, and rounding of the last
// part n · third < 2^−48 and of the sum of what is left (< 2^−52) is below 2^−99.
Turns quarter_turns(double x) {
  Turns turns;
  if (!(std::abs(x) <= 0x1p20)) return turns;
  const double n = nearest(x * 0x1.45f306dc9c883p-1);
  const double first = n * half_pi_first, second = n * half_pi_second;
  const double a = x - first, b = a - second;
  const double left = (directed::sum_error(x, -first, a) + directed::sum_error(a, -second, b)) -
                      directed::product(n, half_pi_third);
  const double rest = b + left, low = directed::sum_error(b, left, rest);
  turns.quadrant = static_cast<int>(n) & 3;
  turns.is_negative = rest < 0;
  turns.rest = std::abs(rest);
  turns.low = turns.is_negative ? -low : low;
  turns.is_known = turns.rest >= 0x1p-25;
  return turns;
}

DoubleWord sine(const Turns& turns) { return sine(turns, turns.quadrant, turns.quadrant % 2 == 0); }

DoubleWord cosine(const Turns& turns) {
  return sine(turns, (turns.quadrant + 1) & 3, turns.quadrant % 2 != 0);
}

}  // namespace perp::enclosure::quick
