// Tapes in 113 bits: what Newton's method refines undecided signs with.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <perp/core/tape/wide_tape.hpp>

namespace perp {
namespace {

/// 113 bits by Boost, which has functions of them.
using Digits = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<113, boost::multiprecision::digit_base_2>,
    boost::multiprecision::et_off>;

#ifdef __SIZEOF_FLOAT128__
/// The same 113 bits of the compiler, whose sums, products and quotients are rounded as those of Boost and cost a tenth.
__extension__ typedef __float128 Quad;

/// The same number: three doubles hold 113 bits. What no double is as large as is infinite.
template <class To, class From>
To as(const From& x) {
  const auto high = static_cast<double>(x);
  if (!std::isfinite(high)) return To(high);
  const From rest = x - From(high);
  const auto low = static_cast<double>(rest);
  return To(high) + To(low) + To(static_cast<double>(From(rest - From(low))));
}
#define PERP_QUAD_FUNCTION(name) \
  Quad name(Quad x) { return as<Quad>(Digits(name(as<Digits>(x)))); }
PERP_QUAD_FUNCTION(sin)
PERP_QUAD_FUNCTION(cos)
PERP_QUAD_FUNCTION(tan)
PERP_QUAD_FUNCTION(asin)
PERP_QUAD_FUNCTION(acos)
PERP_QUAD_FUNCTION(atan)
PERP_QUAD_FUNCTION(sinh)
PERP_QUAD_FUNCTION(cosh)
PERP_QUAD_FUNCTION(tanh)
PERP_QUAD_FUNCTION(exp)
PERP_QUAD_FUNCTION(log)
PERP_QUAD_FUNCTION(sqrt)
PERP_QUAD_FUNCTION(floor)
#undef PERP_QUAD_FUNCTION
Quad pow(Quad x, Quad y) { return as<Quad>(Digits(pow(as<Digits>(x), as<Digits>(y)))); }
Quad atan2(Quad y, Quad x) { return as<Quad>(Digits(atan2(as<Digits>(y), as<Digits>(x)))); }
Quad pi() { return as<Quad>(boost::math::constants::pi<Digits>()); }
#else
using Quad = Digits;
Quad pi() { return boost::math::constants::pi<Digits>(); }
#endif

constexpr double unit = 0x1p-112;     ///< twice the relative rounding of an operation
constexpr double library = 0x1p-102;  ///< and of a function
constexpr double coarse = 1e-250;     ///< smaller results have errors that no double holds
constexpr double infinite = std::numeric_limits<double>::infinity();

/// |v|, rounded up.
double size(const Quad& v) { return std::abs(static_cast<double>(v)) * (1 + 0x1p-50); }

/// A value with a bound of its error. The errors are so small beside any distance that matters that
/// the slope of a function at the value, doubled, stands for the largest one near it; where it may
/// not, the error is infinite.
struct Wide {
  Quad value = 0;
  double error = 0;

  Wide() = default;
  explicit Wide(const Quad& v, double e = 0) : value(v), error(e) {}
  explicit Wide(double v) : value(v) {}
};

Wide bound(const Quad& value, double passed, double rounding = unit) {
  const double s = size(value);
  double error = (passed + rounding * s) * (1 + 0x1p-40);
  if (!std::isfinite(s) || !(error >= 0) || (s < coarse && value != 0)) error = infinite;
  return Wide(value, error);
}

bool is_zero(const Wide& a) { return a.error == 0 && a.value == 0; }
/// Is a beyond twice its error away from 0?
bool is_clear(const Wide& a) { return size(a.value) > 4 * a.error; }

Wide function(const Wide& a, const Quad& f, double slope) {
  return bound(f, a.error > 0 ? slope * a.error : 0, library);
}

Wide operator-(const Wide& a) { return Wide(Quad(-a.value), a.error); }

Wide operator+(const Wide& a, const Wide& b) {
  if (is_zero(a)) return b;
  if (is_zero(b)) return a;
  // The rounding is that of the sum, unless it cancels to what neither term shows.
  return bound(a.value + b.value, a.error + b.error);
}

Wide operator-(const Wide& a, const Wide& b) { return a + -b; }

Wide operator*(const Wide& a, const Wide& b) {
  if (is_zero(a) || is_zero(b))
    return std::isfinite(a.error + b.error) ? Wide() : Wide(Quad(0), infinite);
  return bound(a.value * b.value,
               size(a.value) * b.error + size(b.value) * a.error + a.error * b.error);
}

Wide operator/(const Wide& a, const Wide& b) {
  if (!is_clear(b)) return Wide(Quad(0), infinite);
  if (is_zero(a)) return a;
  const Quad quotient = a.value / b.value;
  return bound(quotient, 2 * (a.error + size(quotient) * b.error) / size(b.value));
}

/// Angles beyond this are reduced with too few digits.
Wide reduced(const Wide& a, const Quad& f, double slope) {
  Wide result = function(a, f, slope);
  result.error += library * (size(a.value) + 1);
  return size(a.value) < 0x1p20 ? result : Wide(f, infinite);
}
Wide sin(const Wide& a) { return is_zero(a) ? a : reduced(a, Quad(sin(a.value)), 1); }
Wide cos(const Wide& a) { return reduced(a, Quad(cos(a.value)), 1); }
Wide tan(const Wide& a) {
  const Quad f = tan(a.value);
  const double slope = 2 * (1 + size(f) * size(f));
  return slope * (a.error + library * (size(a.value) + 1)) < 0.1 ? reduced(a, f, slope)
                                                                 : Wide(f, infinite);
}
Wide arc(const Wide& a, const Quad& f) {
  const Wide square(Quad((1 - a.value) * (1 + a.value)), 4 * a.error);
  if (a.error > 0 && !is_clear(square)) return Wide(f, infinite);
  return function(a, f, a.error > 0 ? 2 / std::sqrt(size(square.value)) : 0);
}
Wide asin(const Wide& a) { return arc(a, Quad(asin(a.value))); }
Wide acos(const Wide& a) { return arc(a, Quad(acos(a.value))); }
Wide atan(const Wide& a) { return function(a, Quad(atan(a.value)), 1); }
Wide sinh(const Wide& a) { return function(a, Quad(sinh(a.value)), 2 * size(cosh(a.value))); }
Wide cosh(const Wide& a) { return function(a, Quad(cosh(a.value)), 2 * size(cosh(a.value))); }
Wide tanh(const Wide& a) { return function(a, Quad(tanh(a.value)), 1); }
Wide exp(const Wide& a) {
  const Quad f = exp(a.value);
  return a.error < 0.1 ? function(a, f, 2 * size(f)) : Wide(f, infinite);
}
Wide log(const Wide& a) {
  if (!(a.value > 0) || !is_clear(a)) return Wide(Quad(0), infinite);
  Wide result = function(a, Quad(log(a.value)), 2 / size(a.value));
  result.error += library;  // next to 1
  return result;
}
Wide log10(const Wide& a) { return log(a) / log(Wide(10.0)); }
Wide sqrt(const Wide& a) {
  if (a.value < 0) return Wide(Quad(0), infinite);
  const Quad f = sqrt(a.value);
  if (a.error == 0) return is_zero(a) ? a : bound(f, 0, library);
  return is_clear(a) ? function(a, f, 1 / size(f)) : bound(f, 2 * std::sqrt(a.error), library);
}
Wide power_of_positive(const Wide& a, const Wide& b) {
  const Quad f = pow(a.value, b.value);
  const double logarithm = size(log(a.value));
  return bound(f, 2 * size(f) * (size(b.value) * a.error / size(a.value) + b.error * logarithm),
               library * (1 + size(b.value) * logarithm));
}
/// (−1)^b |a|^b, which exists for whole numbers b.
Wide power_of_negative(const Wide& a, const Wide& b) {
  if (b.error > 0 || floor(b.value) != b.value) return Wide(Quad(0), infinite);
  const Wide size_of = power_of_positive(-a, b);
  return floor(b.value / 2) * 2 == b.value ? size_of : -size_of;
}
/// Is a known to be this number?
bool is_exactly(const Wide& a, int value) { return a.error == 0 && a.value == value; }
Wide pow(const Wide& a, const Wide& b) {
  if (is_exactly(b, 1)) return a;
  if (is_exactly(b, 2)) return a * a;
  if (is_zero(a) && b.error == 0 && b.value > 0) return a;
  if (!is_clear(a)) return Wide(Quad(0), infinite);
  return a.value > 0 ? power_of_positive(a, b) : power_of_negative(a, b);
}
Wide atan2(const Wide& y, const Wide& x) {
  const Quad f = atan2(y.value, x.value);
  const double away = size(sqrt(Quad(x.value * x.value + y.value * y.value)));
  const double errors = x.error + y.error;
  const bool may_cut = size(y.value) <= y.error && x.value <= x.error;
  if (may_cut || !(away > 4 * errors)) return Wide(f, infinite);
  return bound(f, 2 * errors / away, library);
}

}  // namespace

template <>
struct ScalarTraits<Wide> {
  static Wide pi() { return Wide(Quad(perp::pi()), 4 * unit); }
  static Wide abs(const Wide& a) { return a.value < 0 ? -a : a; }
  static Wide min(const Wide& a, const Wide& b) {
    return Wide(b.value < a.value ? b.value : a.value, std::max(a.error, b.error));
  }
  static Wide max(const Wide& a, const Wide& b) { return -min(-a, -b); }
  static Wide sign(const Wide& a) {
    const bool decided = a.error == 0 || size(a.value) > 2 * a.error;
    return Wide(Quad(a.value > 0 ? 1 : (a.value < 0 ? -1 : 0)), decided ? 0 : 2);
  }
  static Wide guard(const Wide& weight, const Wide& a) {
    return is_zero(weight) ? Wide(Instruction::unweighted) : a;
  }
  static Wide table(const Wide& a, const Wide& number) {
    return DataTable::of(static_cast<double>(number.value)).value(a, static_cast<double>(a.value));
  }
};

namespace {

/// A value as the sum of two doubles with a bound of its error: sums, products and quotients cost a tenth of those in 113
/// bits and have 2^-98 of their result.
struct Pair {
  double high = 0, low = 0, error = 0;
};

constexpr double pair_unit = 0x1p-98;

double size(const Pair& a) { return std::abs(a.high) * (1 + 0x1p-50); }
bool is_zero(const Pair& a) { return a.high == 0 && a.low == 0 && a.error == 0; }

/// high + low without any error.
Pair exact_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part), 0};
}

/// `is_tiny`: a result of 0 is one of what no double holds.
Pair bound(const Pair& value, double passed, bool is_tiny) {
  const double s = size(value);
  double error = (passed + pair_unit * s) * (1 + 0x1p-40);
  const bool is_coarse = s < coarse && (s != 0 || is_tiny);
  if (!std::isfinite(s) || !(error >= 0) || is_coarse) error = infinite;
  return {value.high, value.low, error};
}

Pair operator-(const Pair& a) { return {-a.high, -a.low, a.error}; }

Pair operator+(const Pair& a, const Pair& b) {
  if (is_zero(a)) return b;
  if (is_zero(b)) return a;
  const Pair high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
  const Pair sum = exact_sum(high.high, high.low + low.high);
  return bound(exact_sum(sum.high, sum.low + low.low), a.error + b.error, false);
}

Pair operator*(const Pair& a, const Pair& b) {
  if (is_zero(a) || is_zero(b)) return {0, 0, std::isfinite(a.error + b.error) ? 0 : infinite};
  const double product = a.high * b.high, rest = std::fma(a.high, b.high, -product);
  const Pair value = exact_sum(product, rest + (a.high * b.low + a.low * b.high));
  return bound(value, size(a) * b.error + size(b) * a.error + a.error * b.error, a.high != 0 && b.high != 0);
}

Pair operator/(const Pair& a, const Pair& b) {
  if (is_zero(a)) return {0, 0, size(b) > 4 * b.error ? 0 : infinite};
  if (!(size(b) > 4 * b.error) || size(a) < coarse) return {0, 0, infinite};
  const double first = a.high / b.high;
  const Pair rest = a + -(Pair{first, 0, 0} * Pair{b.high, b.low, 0});
  const Pair value = exact_sum(first, rest.high / b.high);
  return bound(value, 2 * (a.error + size(value) * b.error) / size(b), a.high != 0);
}

Pair sign_of(const Pair& a) {
  const bool is_decided = a.error == 0 || size(a) > 2 * a.error;
  return {ScalarTraits<double>::sign(a.high), 0, is_decided ? 0.0 : 2.0};
}

/// Has it lines of pairs alone?
bool is_of_pairs(const Tape& tape) {
  constexpr std::array served{Operation::constant, Operation::input,    Operation::negate, Operation::add, Operation::subtract,
                              Operation::multiply, Operation::divide,   Operation::abs,    Operation::sign, Operation::guard};
  for (int k = 0; k < tape.size(); ++k)
    if (std::ranges::find(served, tape[k].operation) == served.end()) return false;
  return true;
}

Pair apply(Operation operation, const Pair& a, const Pair& b) {
  switch (operation) {
    case Operation::negate: return -a;
    case Operation::add: return a + b;
    case Operation::subtract: return a + -b;
    case Operation::multiply: return a * b;
    case Operation::divide: return a / b;
    case Operation::abs: return a.high < 0 ? -a : a;
    case Operation::sign: return sign_of(a);
    default: return is_zero(a) ? Pair{Instruction::unweighted, 0, 0} : b;
  }
}

}  // namespace

struct WideTape::Lines {
  std::vector<int> outputs;
  Tape tape;
  std::vector<double> known;
  int inputs;
  bool has_pairs = false, is_in_pairs = false;  // may be made in pairs; was
  std::vector<Wide> values{};
  std::vector<Pair> pairs{};
};

WideTape::WideTape(const Tape& tape, std::span<const int> outputs, int inputs,
                   std::span<const double> known)
    : lines_(new Lines{{outputs.begin(), outputs.end()}, {}, {known.begin(), known.end()}, inputs}) {
  lines_->tape = tape.part(lines_->outputs);
  lines_->has_pairs = is_of_pairs(lines_->tape);
}

WideTape::WideTape() = default;
WideTape::WideTape(WideTape&&) noexcept = default;
WideTape& WideTape::operator=(WideTape&&) noexcept = default;
WideTape::~WideTape() = default;

bool WideTape::has_pairs() const { return lines_ != nullptr && lines_->has_pairs; }

void WideTape::run(std::span<const WideNumber> z) {
  Lines& lines = *lines_;
  lines.is_in_pairs = false;
  lines.values.resize(static_cast<std::size_t>(lines.tape.size()));
  const auto value_of = [&](const Instruction& line) {
    if (line.operation == Operation::constant) return Wide(line.value);
    if (line.operation == Operation::pi) return ScalarTraits<Wide>::pi();
    if (line.operation == Operation::input) {
      const auto k = static_cast<std::size_t>(line.a);
      if (line.a >= lines.inputs)
        return Wide(lines.known[k - static_cast<std::size_t>(lines.inputs)]);
      return Wide(Quad(z[k].high) + Quad(z[k].low), z[k].error);
    }
    const Wide& a = lines.values[static_cast<std::size_t>(line.a)];
    const Wide& b = line.b < 0 ? a : lines.values[static_cast<std::size_t>(line.b)];
    return apply_operation(line.operation, a, b);
  };
  for (int k = 0; k < lines.tape.size(); ++k) lines.values[static_cast<std::size_t>(k)] = value_of(lines.tape[k]);
}

void WideTape::run_pairs(std::span<const WideNumber> z) {
  Lines& lines = *lines_;
  lines.is_in_pairs = true;
  lines.pairs.resize(static_cast<std::size_t>(lines.tape.size()));
  const auto value_of = [&](const Instruction& line) {
    const auto a = static_cast<std::size_t>(line.a), b = static_cast<std::size_t>(line.b < 0 ? line.a : line.b);
    if (line.operation == Operation::constant) return Pair{line.value, 0, 0};
    if (line.operation != Operation::input) return apply(line.operation, lines.pairs[a], lines.pairs[b]);
    if (line.a >= lines.inputs) return Pair{lines.known[a - static_cast<std::size_t>(lines.inputs)], 0, 0};
    Pair input = exact_sum(z[a].high, z[a].low);
    input.error = z[a].error;
    return input;
  };
  for (int k = 0; k < lines.tape.size(); ++k) lines.pairs[static_cast<std::size_t>(k)] = value_of(lines.tape[k]);
}

WideNumber WideTape::output(std::size_t k) const {
  const auto line = static_cast<std::size_t>(lines_->outputs[k]);
  if (lines_->is_in_pairs) return {lines_->pairs[line].high, lines_->pairs[line].low, lines_->pairs[line].error};
  const Wide& value = lines_->values[line];
  const auto high = static_cast<double>(value.value);
  if (!std::isfinite(high)) return {high, 0, infinite};
  const auto low = static_cast<double>(Quad(value.value - Quad(high)));
  return {high, low, (value.error + std::abs(low) * 0x1p-52) * (1 + 0x1p-50)};
}

}  // namespace perp
