// Bounds of the errors of Taylor coefficients on a tape: signs of constraints in large hybrid models rest on them.
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/core/tape/series_tape.hpp>

namespace perp {
namespace {

/// A line with the errors of its coefficients.
struct Series {
  const double* value;
  const double* error;
};

/// Of w_j a_j b_{k−j} what the errors of a and b make of it, and the size that rounding is a share of.
struct Terms {
  double passed = 0, size = 0;

  void add(double weight, double a, double a_error, double b, double b_error) {
    passed += weight * (std::abs(a) * b_error + a_error * std::abs(b) + a_error * b_error);
    size += weight * std::abs(a * b);
  }
  /// Of a sum of k + 1 such terms, each of at most six roundings.
  [[nodiscard]] double error(int k) const { return passed + (k + 8) * unit_roundoff * size; }
};

/// Σ_{j=from..last} w(j) a_j b_{k−j}
template <class Weight>
Terms terms(const Series& a, const Series& b, int from, int last, int k, const Weight& weight) {
  Terms sum;
  for (int j = from; j <= last; ++j)
    sum.add(weight(j), a.value[j], a.error[j], b.value[k - j], b.error[k - j]);
  return sum;
}

double one(int /*j*/) { return 1; }

}  // namespace

/// Order 0 is the function itself.
double SeriesTape::first_error(const Instruction& here) const {
  const auto number = [&](int line) { return RunningError((*this)[line][0], error(line)[0]); };
  const RunningError a = number(here.a);
  return apply_operation(here.operation, a, here.b < 0 ? a : number(here.b)).error;
}

/// y with scale d_0 y_k = terms, where d may be y itself: (e_terms + scale |y_k| e_d) / (scale (|d_0| − e_d)).
double SeriesTape::of_quotient(int line, int divisor, double of_terms, double scale, int k) const {
  const double y = std::abs((*this)[line][k]), d = std::abs((*this)[divisor][0]), d_error = error(divisor)[0];
  const double least = scale * (d - d_error);
  if (!(least > 0)) return std::numeric_limits<double>::infinity();
  return (of_terms + scale * y * d_error) / least + 4 * unit_roundoff * y;
}

double SeriesTape::next_error(const Instruction& here, int line, int k) const {
  const auto series = [&](int of) { return Series{(*this)[of], error(of)}; };
  const Series a = series(here.a), b = here.b < 0 ? a : series(here.b), y = series(line);
  const double own = a.error[k] + 2 * unit_roundoff * std::abs(a.value[k]);
  switch (here.operation) {
    case Operation::negate: return a.error[k];
    case Operation::add:
    case Operation::subtract:
      return a.error[k] + b.error[k] +
             (a.value[k] != 0 && b.value[k] != 0 ? unit_roundoff * std::abs(y.value[k]) : 0);
    case Operation::multiply: return terms(a, b, 0, k, k, one).error(k);
    case Operation::divide: return of_quotient(line, here.b, own + terms(b, y, 1, k, k, one).error(k), 1, k);
    default: return function_error(here, line, k);
  }
}

double SeriesTape::function_error(const Instruction& here, int line, int k) const {
  const Series a{(*this)[here.a], error(here.a)}, y{(*this)[line], error(line)};
  const auto share = [k](int j) { return static_cast<double>(j) / k; };
  const double own = a.error[k] + 2 * unit_roundoff * std::abs(a.value[k]);
  switch (here.operation) {
    case Operation::exp: return terms(a, y, 1, k, k, share).error(k);
    case Operation::log: return of_quotient(line, here.a, own + terms(y, a, 1, k - 1, k, share).error(k), 1, k);
    case Operation::sqrt: return of_quotient(line, line, own + terms(y, y, 1, k - 1, k, one).error(k), 2, k);
    case Operation::power: {
      const double p = (*this)[here.b][0];
      if (p == 2) return terms(a, a, 0, k, k, one).error(k);
      const auto weight = [&](int j) { return (std::abs(p) * j + (k - j)) / k; };
      return of_quotient(line, here.a, terms(a, y, 1, k, k, weight).error(k), 1, k);
    }
    case Operation::guard: return a.value[0] != 0 ? error(here.b)[k] : 0;  // order 0 has told whether the weight is 0
    default: return std::numeric_limits<double>::infinity();
  }
}

/// Both of the pair, by their recurrences.
void SeriesTape::bound_sine(const Instruction& here, int line, int k) {
  const int other = companion_[at(line)];
  const int s = here.operation == Operation::sin ? line : other, c = s == line ? other : line;
  if (k == 0) {
    const RunningError a((*this)[here.a][0], error(here.a)[0]);
    error(s)[0] = running_error::sin(a).error;
    error(c)[0] = running_error::cos(a).error;
    return;
  }
  const auto series = [&](int of) { return Series{(*this)[of], error(of)}; };
  const auto share = [k](int j) { return static_cast<double>(j) / k; };
  const double of_s = terms(series(here.a), series(c), 1, k, k, share).error(k);
  const double of_c = terms(series(here.a), series(s), 1, k, k, share).error(k);
  error(s)[k] = running_error::bound((*this)[s][k], of_s).error;
  error(c)[k] = running_error::bound((*this)[c][k], of_c).error;
}

void SeriesTape::bound_errors(std::span<const int> lines, int k) {
  for (const int line : lines) {
    const Instruction& here = tape_[line];
    if (companion_[at(line)] >= 0) {
      bound_sine(here, line, k);
    } else if (k > 0 && steady_[at(line)] != 0) {
      error(line)[k] = 0;
    } else {
      const double bound = k == 0 ? first_error(here) : next_error(here, line, k);
      error(line)[k] = running_error::bound((*this)[line][k], bound).error;
    }
  }
}

}  // namespace perp
