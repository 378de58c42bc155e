#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include <perp/analysis/measures/quadrature.hpp>

namespace perp {

namespace {

/// A part of an interval with its integral, as 15 points give it, and by how much 7 of them differ.
struct Part {
  double a, b, value, error, magnitude;
  friend bool operator<(const Part& x, const Part& y) { return x.error < y.error; }
};

using Rule = boost::math::quadrature::gauss_kronrod<double, 15>;
constexpr std::size_t points = 15;  // of the rule

constexpr double edge = 1 - 0x1p-30;  // of [-1, 1]: at the ends themselves f may jump

/// The factors of the values at the points x with which their sum is the polynomial through them at `edge`; Lagrange's formula.
std::array<double, points> polynomial_at_edge(const std::array<double, points>& x) {
  std::array<double, points> factors{};
  for (std::size_t k = 0; k < points; ++k) {
    factors[k] = 1;
    for (std::size_t j = 0; j < points; ++j)
      if (j != k) factors[k] *= (edge - x[j]) / (x[k] - x[j]);
  }
  return factors;
}

/// The points of the rule on [-1, 1] in the order of its values, and the polynomial at both ends.
struct Points {
  std::array<double, points> x{}, right{}, left{};
  Points() {
    std::size_t count = 0;
    Rule::integrate([&](double s) { return x[count++] = s; }, -1.0, 1.0, 0);
    std::array<double, points> mirrored{};
    std::ranges::transform(x, mirrored.begin(), std::negate<>());
    right = polynomial_at_edge(x);
    left = polynomial_at_edge(mirrored);
  }
};

/// What no point of the rule shows: a kink between an end of the part and the point next to it. Behind it f leaves the
/// polynomial through the points; the integral is wrong by no more than it does at the end, times this way.
double unseen(const std::function<double(double)>& f, const Part& part, const std::array<double, points>& values) {
  static const Points rule;
  static const double way = (1 - *std::ranges::max_element(rule.x)) / 2;
  double right = 0, left = 0;
  for (std::size_t k = 0; k < points; ++k) right += rule.right[k] * values[k], left += rule.left[k] * values[k];
  const double middle = (part.a + part.b) / 2, half = (part.b - part.a) / 2;
  const double error = way * (part.b - part.a) * std::max(std::abs(right - f(middle + edge * half)), std::abs(left - f(middle - edge * half)));
  return std::isfinite(error) ? error : 0;  // a pole there is none of the part
}

Part part_of(const std::function<double(double)>& f, double a, double b) {
  Part part{a, b, 0, 0, 0};
  std::array<double, points> values{};
  std::size_t count = 0;
  part.value = Rule::integrate([&](double s) { return values[count++] = f(s); }, a, b, 0, 0, &part.error, &part.magnitude);
  part.error = std::max(part.error, unseen(f, part, values));
  return part;
}

Quadrature total(const std::vector<Part>& parts) {
  Quadrature sum;
  for (const Part& part : parts) {
    sum.value += part.value;
    sum.error += part.error;
    sum.magnitude += part.magnitude;
  }
  sum.parts = static_cast<long>(parts.size());
  return sum;
}

/// Of a heap by their errors.
void halve_worst(const std::function<double(double)>& f, std::vector<Part>& parts) {
  std::pop_heap(parts.begin(), parts.end());  // the largest error
  const Part worst = parts.back();
  parts.pop_back();
  const double middle = (worst.a + worst.b) / 2;
  for (const auto& [from, to] : {std::pair(worst.a, middle), std::pair(middle, worst.b)}) {
    parts.push_back(part_of(f, from, to));
    std::push_heap(parts.begin(), parts.end());
  }
}

}  // namespace

Quadrature integral(const std::function<double(double)>& f, double a, double b, long more, double beside) {
  constexpr double rounding = 0x1p-44;  // of the integral of |f|, which more parts do not better
  constexpr long few_parts = 48;        // a kink is closed in to 2^-48 of the interval; noise ends there
  std::vector<Part> parts{part_of(f, a, b)};
  Quadrature sum = total(parts);
  const auto is_known = [&] { return sum.error <= std::max(0x1p-36 * sum.magnitude, 0x1p-50 * beside); };
  // Twice as many parts that do not halve a small error divide noise.
  double error_at_half = std::numeric_limits<double>::infinity();
  long doubled = few_parts;
  const auto is_noise = [&] {
    if (sum.parts < doubled) return false;
    const bool rests = sum.error > error_at_half / 2 && sum.error <= 0x1p-20 * sum.magnitude;
    error_at_half = sum.error;
    doubled *= 2;
    return rests;
  };
  while (sum.parts < few_parts + (is_known() ? 0 : more) && sum.error > rounding * sum.magnitude && !is_noise()) {
    halve_worst(f, parts);
    sum = total(parts);
  }
  return sum;
}

namespace {

/// Values of f at equally spaced nodes of [a, b].
class Sample {
 public:
  Sample(const std::function<double(double)>& f, double a, double b) : f_(f), a_(a), b_(b) {
    constexpr int first = 8;  // intervals
    for (int k = 0; k <= first; ++k) values_.push_back(f(at(k, first)));
    constexpr int most = 1024;
    while (intervals() < most && !is_shown_by_halving()) {
    }
  }

  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] int intervals() const { return static_cast<int>(values_.size()) - 1; }
  [[nodiscard]] double at(int k) const { return at(k, intervals()); }

 private:
  [[nodiscard]] double at(int k, int intervals) const { return k == intervals ? b_ : a_ + (b_ - a_) * k / intervals; }

  /// Adds the middles. Are their values those of parabolas through the nodes, up to 1/16 of what the values span?
  bool is_shown_by_halving() {
    const std::vector<double> old = std::move(values_);
    const int count = static_cast<int>(old.size()) - 1;
    const auto [least, most] = std::minmax_element(old.begin(), old.end());
    const double span = *most - *least;
    double deviation = 0;
    values_ = {old[0]};
    for (int k = 0; k < count; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const double middle = f_(at(2 * k + 1, 2 * count));
      // The parabolas through the interval and its left, or its right neighbour.
      const double left = k > 0 ? (6 * old[i] + 3 * old[i + 1] - old[i - 1]) / 8 : middle;
      const double right = k + 1 < count ? (3 * old[i] + 6 * old[i + 1] - old[i + 2]) / 8 : middle;
      deviation = std::max({deviation, std::abs(middle - left), std::abs(middle - right)});
      values_.insert(values_.end(), {middle, old[i + 1]});
    }
    return !(deviation > span / 16);
  }

  const std::function<double(double)>& f_;
  double a_, b_;
  std::vector<double> values_;
};

/// The top of f near node k of the sample, a local maximum of it, if it may be above `known`.
double top(const std::function<double(double)>& f, const Sample& sample, int k, double known) {
  const auto value = [&](int node) { return sample.values()[static_cast<std::size_t>(node)]; };
  const bool is_first = k == 0, is_last = k == sample.intervals();
  const int before = is_first ? 0 : k - 1, after = is_last ? k : k + 1;
  known = std::max(known, value(k));
  // Between three points of a smooth function the top is above the middle one by less than they differ.
  if (!(value(k) + std::max(value(k) - value(before), value(k) - value(after)) > known)) return known;
  if (is_first || is_last) {
    // Does the parabola through the end, its neighbour and the point between them rise from the end?
    const double next = value(is_first ? after : before);
    if (!(4 * f((sample.at(before) + sample.at(after)) / 2) - 3 * value(k) - next > 0)) return known;
  }
  const auto [place, negative] = boost::math::tools::brent_find_minima(
      [&](double s) { return -f(s); }, sample.at(before), sample.at(after), std::numeric_limits<double>::digits / 2);
  (void)place;
  return std::max(known, -negative);
}

}  // namespace

double largest(const std::function<double(double)>& f, double a, double b, double known) {
  const Sample sample(f, a, b);
  const std::vector<double>& values = sample.values();
  if (std::ranges::any_of(values, [](double value) { return std::isnan(value); })) return std::numeric_limits<double>::quiet_NaN();
  for (int k = 0; k <= sample.intervals(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const bool is_top = (k == 0 || values[i] >= values[i - 1]) && (k == sample.intervals() || values[i] >= values[i + 1]);
    if (is_top) known = top(f, sample, k, known);
  }
  return known;
}

}  // namespace perp
