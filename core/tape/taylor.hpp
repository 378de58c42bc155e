#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <type_traits>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// Truncated power series of N coefficients,
///     x(t + τ) = x[0] + x[1] τ + .. + x[N-1] τ^(N-1),
/// so that a tape run on series gives the Taylor coefficients of its results. Arithmetic is that of
/// series: a product is the Cauchy product; a function y = f(x) is defined by the differential
/// equation that f fulfils, e.g. τ-derivative of exp: y' = y x', which gives coefficient k from
/// those before,
///     k y[k] = Σ_{j=1..k} j x[j] y[k-j].
/// T may be any scalar that a tape can be run on. Coefficients are divided by integers only.
template <class T, int N>
struct Taylor {
  static_assert(N >= 1);
  std::array<T, N> coefficient;

  Taylor() : Taylor(T(0)) {}
  Taylor(const T& constant) {  // NOLINT: implicit, as in 0.5 * x
    coefficient.fill(T(0));
    coefficient[0] = constant;
  }
  template <class Number>
  requires(std::is_arithmetic_v<Number> && !std::is_same_v<Number, T>) Taylor(Number constant)
      : Taylor(T(constant)) {}  // NOLINT: implicit

  T& operator[](int k) { return coefficient[static_cast<std::size_t>(k)]; }
  const T& operator[](int k) const { return coefficient[static_cast<std::size_t>(k)]; }

  Taylor operator-() const {
    Taylor y;
    for (int k = 0; k < N; ++k) y[k] = -(*this)[k];
    return y;
  }
  friend Taylor operator+(const Taylor& x, const Taylor& y) {
    Taylor z;
    for (int k = 0; k < N; ++k) z[k] = x[k] + y[k];
    return z;
  }
  friend Taylor operator-(const Taylor& x, const Taylor& y) {
    Taylor z;
    for (int k = 0; k < N; ++k) z[k] = x[k] - y[k];
    return z;
  }
  friend Taylor operator*(const Taylor& x, const Taylor& y) {
    Taylor z;
    for (int k = 0; k < N; ++k) {
      z[k] = x[0] * y[k];
      for (int j = 1; j <= k; ++j) z[k] = z[k] + x[j] * y[k - j];
    }
    return z;
  }
  /// y z = x
  friend Taylor operator/(const Taylor& x, const Taylor& y) {
    Taylor z;
    for (int k = 0; k < N; ++k) {
      z[k] = x[k];
      for (int j = 1; j <= k; ++j) z[k] = z[k] - y[j] * z[k - j];
      z[k] = z[k] / y[0];
    }
    return z;
  }
};

/// Is the first coefficient that is not zero negative? -1, 0 (all are zero), 1; just after t the
/// series has this sign.
template <class T, int N>
int leading_sign(const Taylor<T, N>& x) {
  for (int k = 0; k < N; ++k) {
    if (x[k] < T(0)) return -1;
    if (T(0) < x[k]) return 1;
  }
  return 0;
}

/// Just after t: x < y.
template <class T, int N>
bool operator<(const Taylor<T, N>& x, const Taylor<T, N>& y) {
  return leading_sign(x - y) < 0;
}

namespace taylor {

/// Coefficient k of y from y' = g x', the other ones being known: (Σ_{j=1..k} j x[j] g[k-j]) / k.
/// Needs g[0..k-1].
template <class T, int N>
T integral_of_product(const Taylor<T, N>& g, const Taylor<T, N>& x, int k) {
  T sum = x[1] * g[k - 1];
  for (int j = 2; j <= k; ++j) sum = sum + T(j) * x[j] * g[k - j];
  return sum / T(k);
}

/// y with y[0] = value and r y' = x': the inverse functions, whose derivative is 1/r.
template <class T, int N>
Taylor<T, N> integral_of_quotient(const T& value, const Taylor<T, N>& x, const Taylor<T, N>& r) {
  Taylor<T, N> y(value);
  for (int k = 1; k < N; ++k) {
    T sum = T(k) * x[k];
    for (int j = 1; j < k; ++j) sum = sum - T(j) * y[j] * r[k - j];
    y[k] = sum / (T(k) * r[0]);
  }
  return y;
}

/// s' = c x', c' = sign·s x' from the values at t: sine and cosine (sign = -1), hyperbolic (+1).
template <class T, int N>
void sine_pair(const Taylor<T, N>& x, int sign, Taylor<T, N>& s, Taylor<T, N>& c) {
  for (int k = 1; k < N; ++k) {
    s[k] = integral_of_product(c, x, k);
    const T other = integral_of_product(s, x, k);
    c[k] = sign < 0 ? -other : other;
  }
}

/// y' = (1 + sign·y²) x': tan (+1), tanh (-1).
template <class T, int N>
Taylor<T, N> tangent(const T& value, const Taylor<T, N>& x, int sign) {
  Taylor<T, N> y(value);
  Taylor<T, N> slope;  // 1 + sign y²
  for (int k = 0; k < N; ++k) {
    if (k > 0) y[k] = integral_of_product(slope, x, k);
    T square = y[0] * y[k];
    for (int j = 1; j <= k; ++j) square = square + y[j] * y[k - j];
    slope[k] = sign < 0 ? -square : square;
    if (k == 0) slope[0] = T(1) + slope[0];
  }
  return y;
}

/// x^r for an exponent that does not change, x[0] not 0:  x y' = r y x'.
template <class T, int N>
Taylor<T, N> constant_power(const T& value, const Taylor<T, N>& x, const T& r) {
  Taylor<T, N> y(value);
  for (int k = 1; k < N; ++k) {
    T sum = r * (T(k) * x[k] * y[0]);
    for (int j = 1; j < k; ++j) sum = sum + (r * T(k - j) - T(j)) * (x[k - j] * y[j]);
    y[k] = sum / (T(k) * x[0]);
  }
  return y;
}

/// x^n by repeated squaring, n > 0; good where x[0] = 0 as well.
template <class T, int N>
Taylor<T, N> natural_power(Taylor<T, N> x, long n) {
  while (n % 2 == 0) {
    x = x * x;
    n /= 2;
  }
  Taylor<T, N> y = x;
  for (n /= 2; n > 0; n /= 2) {
    x = x * x;
    if (n % 2 == 1) y = y * x;
  }
  return y;
}

/// The whole number between −2^20 and 2^20 that y is; empty: it is none.
template <class T>
std::optional<long> whole_number(const T& y) {
  constexpr long most = 1L << 20;
  if (!(-T(most) < y && y < T(most))) return std::nullopt;
  const long n = static_cast<long>(y);
  if (T(n) < y || y < T(n)) return std::nullopt;
  return n;
}

/// x^n with this value at t.
template <class T, int N>
Taylor<T, N> whole_power(const T& value, const Taylor<T, N>& x, long n) {
  if (n == 0) return Taylor<T, N>(value);
  Taylor<T, N> z = natural_power(x, n < 0 ? -n : n);
  if (n < 0) z = Taylor<T, N>(T(1)) / z;
  z[0] = value;
  return z;
}

template <class T, int N>
bool is_constant(const Taylor<T, N>& x) {
  for (int k = 1; k < N; ++k)
    if (x[k] < T(0) || T(0) < x[k]) return false;
  return true;
}

}  // namespace taylor

template <class T, int N>
Taylor<T, N> exp(const Taylor<T, N>& x) {
  using std::exp;
  Taylor<T, N> y(exp(x[0]));
  for (int k = 1; k < N; ++k) y[k] = taylor::integral_of_product(y, x, k);
  return y;
}

template <class T, int N>
Taylor<T, N> log(const Taylor<T, N>& x) {
  using std::log;
  return taylor::integral_of_quotient<T, N>(log(x[0]), x, x);
}

template <class T, int N>
Taylor<T, N> log10(const Taylor<T, N>& x) {
  using std::log, std::log10;
  const T ten = log(T(10));
  Taylor<T, N> y = taylor::integral_of_quotient<T, N>(log10(x[0]), x, x);
  for (int k = 1; k < N; ++k) y[k] = y[k] / ten;
  return y;
}

/// y y = x. The series of the square root of a constant zero is zero.
template <class T, int N>
Taylor<T, N> sqrt(const Taylor<T, N>& x) {
  using std::sqrt;
  Taylor<T, N> y(sqrt(x[0]));
  if (taylor::is_constant(x)) return y;
  for (int k = 1; k < N; ++k) {
    T sum = x[k];
    for (int j = 1; j < k; ++j) sum = sum - y[j] * y[k - j];
    y[k] = sum / (T(2) * y[0]);
  }
  return y;
}

template <class T, int N>
Taylor<T, N> sin(const Taylor<T, N>& x) {
  using std::cos, std::sin;
  Taylor<T, N> s(sin(x[0])), c(cos(x[0]));
  taylor::sine_pair(x, -1, s, c);
  return s;
}

template <class T, int N>
Taylor<T, N> cos(const Taylor<T, N>& x) {
  using std::cos, std::sin;
  Taylor<T, N> s(sin(x[0])), c(cos(x[0]));
  taylor::sine_pair(x, -1, s, c);
  return c;
}

template <class T, int N>
Taylor<T, N> sinh(const Taylor<T, N>& x) {
  using std::cosh, std::sinh;
  Taylor<T, N> s(sinh(x[0])), c(cosh(x[0]));
  taylor::sine_pair(x, 1, s, c);
  return s;
}

template <class T, int N>
Taylor<T, N> cosh(const Taylor<T, N>& x) {
  using std::cosh, std::sinh;
  Taylor<T, N> s(sinh(x[0])), c(cosh(x[0]));
  taylor::sine_pair(x, 1, s, c);
  return c;
}

template <class T, int N>
Taylor<T, N> tan(const Taylor<T, N>& x) {
  using std::tan;
  return taylor::tangent<T, N>(tan(x[0]), x, 1);
}

template <class T, int N>
Taylor<T, N> tanh(const Taylor<T, N>& x) {
  using std::tanh;
  return taylor::tangent<T, N>(tanh(x[0]), x, -1);
}

template <class T, int N>
Taylor<T, N> asin(const Taylor<T, N>& x) {
  using std::asin;
  const T value = asin(x[0]);
  if (taylor::is_constant(x)) return value;
  return taylor::integral_of_quotient<T, N>(value, x, sqrt((T(1) - x) * (T(1) + x)));
}

template <class T, int N>
Taylor<T, N> acos(const Taylor<T, N>& x) {
  using std::acos;
  const T value = acos(x[0]);
  if (taylor::is_constant(x)) return value;
  return taylor::integral_of_quotient<T, N>(value, -x, sqrt((T(1) - x) * (T(1) + x)));
}

template <class T, int N>
Taylor<T, N> atan(const Taylor<T, N>& x) {
  using std::atan;
  return taylor::integral_of_quotient<T, N>(atan(x[0]), x, T(1) + x * x);
}

/// The angle of (x, y):  (x² + y²) φ' = x y' − y x'.
template <class T, int N>
Taylor<T, N> atan2(const Taylor<T, N>& y, const Taylor<T, N>& x) {
  using std::atan2;
  Taylor<T, N> angle(atan2(y[0], x[0]));
  const Taylor<T, N> square = x * x + y * y;
  for (int k = 1; k < N; ++k) {
    T sum(0);
    for (int j = 1; j <= k; ++j) sum = sum + T(j) * (y[j] * x[k - j] - x[j] * y[k - j]);
    for (int j = 1; j < k; ++j) sum = sum - T(j) * angle[j] * square[k - j];
    angle[k] = sum / (T(k) * square[0]);
  }
  return angle;
}

/// Whole exponents up to 2^20 are products, so that they may have a base of zero or negative; other
/// constant ones follow x y' = r y x'; an exponent that changes needs a positive base,
/// x^y = exp(y log x).
template <class T, int N>
Taylor<T, N> pow(const Taylor<T, N>& x, const Taylor<T, N>& y) {
  using std::pow;
  const T value = pow(x[0], y[0]);
  if (taylor::is_constant(y)) {
    if (const std::optional<long> n = taylor::whole_number(y[0])) return taylor::whole_power<T, N>(value, x, *n);
    if (taylor::is_constant(x)) return Taylor<T, N>(value);
    return taylor::constant_power<T, N>(value, x, y[0]);
  }
  Taylor<T, N> z = exp(y * log(x));
  z[0] = value;
  return z;
}

/// Choices are made by the first coefficient that is not zero: what holds just after t. What has no
/// value has no choice either: NaN stays NaN.
template <class T, int N>
struct ScalarTraits<Taylor<T, N>> {
  using Series = Taylor<T, N>;
  static Series pi() { return ScalarTraits<T>::pi(); }
  static Series abs(const Series& x) { return leading_sign(x) < 0 ? -x : x; }
  static Series min(const Series& x, const Series& y) { return choose(x - y, x, y); }
  static Series max(const Series& x, const Series& y) { return choose(y - x, x, y); }
  static Series sign(const Series& x) {
    for (int k = 0; k < N; ++k) {
      const T value = ScalarTraits<T>::sign(x[k]);
      if (!(value == T(0))) return value;
    }
    return T(0);
  }
  /// Open where the weight is not 0 just after t.
  static Series guard(const Series& weight, const Series& x) {
    return leading_sign(weight) != 0 ? x : Series(T(Instruction::unweighted));
  }
  /// The piece that holds just after t; `number` is a constant.
  static Series table(const Series& x, const Series& number)
    requires std::is_same_v<T, double>
  {
    return std::isnan(x[0]) ? x : DataTable::of(number[0]).value(x, x[0]);
  }

 private:
  /// x where the difference is not positive, else y.
  static Series choose(const Series& difference, const Series& x, const Series& y) {
    const T value = sign(difference)[0];
    if (!(value == value)) return value;
    return T(0) < value ? y : x;
  }
};

}  // namespace perp
