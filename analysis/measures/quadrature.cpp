#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/tools/minima.hpp>
#include <cmath>
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

Part part_of(const std::function<double(double)>& f, double a, double b) {
  Part part{a, b, 0, 0, 0};
  part.value = boost::math::quadrature::gauss_kronrod<double, 15>::integrate(f, a, b, 0, 0, &part.error,
                                                                            &part.magnitude);
  return part;
}

}  // namespace

double integral(const std::function<double(double)>& f, double a, double b) {
  constexpr std::size_t most_parts = 48;  // a kink is closed in to 2^-48 of the interval; noise ends there
  constexpr double rounding = 0x1p-44;    // of the integral of |f|, which more parts do not better
  std::vector<Part> parts{part_of(f, a, b)};
  const auto total = [&](double Part::*member) {
    double sum = 0;
    for (const Part& part : parts) sum += part.*member;
    return sum;
  };
  while (parts.size() < most_parts && total(&Part::error) > rounding * total(&Part::magnitude)) {
    std::pop_heap(parts.begin(), parts.end());  // the largest error
    const Part worst = parts.back();
    parts.pop_back();
    const double middle = (worst.a + worst.b) / 2;
    for (const auto& [from, to] : {std::pair(worst.a, middle), std::pair(middle, worst.b)}) {
      parts.push_back(part_of(f, from, to));
      std::push_heap(parts.begin(), parts.end());
    }
  }
  return total(&Part::value);
}

double largest(const std::function<double(double)>& f, double a, double b, double known) {
  constexpr int nodes = 9;
  std::array<double, nodes> at{}, value{};
  for (int k = 0; k < nodes; ++k) {
    const auto i = static_cast<std::size_t>(k);
    at[i] = k + 1 == nodes ? b : a + (b - a) * k / (nodes - 1);
    value[i] = f(at[i]);
  }
  const auto best = static_cast<std::size_t>(std::max_element(value.begin(), value.end()) - value.begin());
  const bool is_first = best == 0, is_last = best == nodes - 1;
  const std::size_t before = is_first ? 0 : best - 1, after = is_last ? nodes - 1 : best + 1;
  // Between three points of a smooth function the top is above the middle one by less than they differ.
  const double reach = value[best] + std::max(value[best] - value[before], value[best] - value[after]);
  if (!(reach > known)) return std::max(known, value[best]);
  if (is_first || is_last) {
    // Does the parabola through the end, its neighbour and the point between them rise from the end?
    const double next = is_first ? value[after] : value[before];
    if (!(4 * f((at[before] + at[after]) / 2) - 3 * value[best] - next > 0))
      return std::max(known, value[best]);
  }
  const auto [place, negative] = boost::math::tools::brent_find_minima(
      [&](double s) { return -f(s); }, at[before], at[after], std::numeric_limits<double>::digits / 2);
  (void)place;
  return std::max({known, value[best], -negative});
}

}  // namespace perp
