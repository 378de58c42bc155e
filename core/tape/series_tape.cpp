#include <algorithm>
#include <array>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/core/tape/series_tape.hpp>

namespace perp {
namespace {

/// Has the line a value of its own, without operands and inputs?
bool is_number(const Instruction& line) {
  return line.operation == Operation::constant || line.operation == Operation::pi;
}

/// That value, with the error of its digits.
RunningError number_of(const Instruction& line) {
  return line.operation == Operation::pi ? ScalarTraits<RunningError>::pi() : RunningError(line.value);
}

/// sin and cos of an argument are computed together.
bool has_companion(const Instruction& line) {
  return line.operation == Operation::sin || line.operation == Operation::cos;
}

/// Is the line constant in time? `inputs`: which inputs are; `lines`: which lines before it are.
bool is_constant_in_time(const Instruction& line, const std::vector<char>& inputs, const std::vector<char>& lines) {
  if (line.operation == Operation::input) return inputs[at(line.a)] != 0;
  const auto rests = [&](int operand) { return operand < 0 || lines[at(operand)] != 0; };
  return is_number(line) || (rests(line.a) && rests(line.b));
}

/// Σ_{j=1..k} j a_j b_{k−j} / k
double weighted(const double* a, const double* b, int k) {
  double sum = 0;
  for (int j = 1; j <= k; ++j) sum += j * a[j] * b[k - j];
  return sum / k;
}

/// Σ_{j=from..last} a_j b_{k−j}
double convolution(const double* a, const double* b, int from, int last, int k) {
  double sum = 0;
  for (int j = from; j <= last; ++j) sum += a[j] * b[k - j];
  return sum;
}

}  // namespace

std::string SeriesTape::obstacle(const Tape& tape, std::span<const int> outputs) {
  constexpr std::array known{Operation::constant, Operation::input,    Operation::pi,     Operation::negate,
                             Operation::add,      Operation::subtract, Operation::multiply, Operation::divide,
                             Operation::sin,      Operation::cos,      Operation::exp,    Operation::log,
                             Operation::sqrt,     Operation::power,    Operation::guard};
  const std::vector<bool> needed = needed_lines(tape, outputs);
  for (int k = 0; k < tape.size(); ++k) {
    const Instruction& here = tape[k];
    if (!needed[at(k)]) continue;
    if (std::find(known.begin(), known.end(), here.operation) == known.end())
      return "a function without a series of its own here";
    if (here.operation == Operation::power && tape[here.b].operation != Operation::constant)
      return "a power whose exponent is no number";
  }
  return {};
}

SeriesTape::SeriesTape(const Tape& tape, int orders, const std::vector<char>& steady)
    : tape_(tape), orders_(orders), steady_(at(tape.size()), 0), companion_(at(tape.size()), -1) {
  int places = tape.size();
  for (int k = 0; k < tape.size(); ++k) {
    steady_[at(k)] = is_constant_in_time(tape[k], steady, steady_) ? 1 : 0;
    if (has_companion(tape[k])) companion_[at(k)] = places++;
  }
  coefficients_.assign(at(places) * at(orders), 0);
  errors_.assign(at(places) * at(bounded_orders), 0);
  for (int k = 0; k < tape.size(); ++k) {
    if (!is_number(tape[k])) continue;
    const RunningError value = number_of(tape[k]);
    (*this)[k][0] = value.value;
    error(k)[0] = value.error;
  }
}

void SeriesTape::compute(std::span<const int> lines, int k) {
  for (const int line : lines) {
    if (companion_[at(line)] >= 0)
      sine(tape_[line], line, k);
    else
      (*this)[line][k] = k == 0 ? apply_operation(tape_[line].operation, (*this)[tape_[line].a][0],
                                                  tape_[line].b < 0 ? 0 : (*this)[tape_[line].b][0])
                                : coefficient(line, k);
  }
}

/// s' = c a', c' = −s a'
void SeriesTape::sine(const Instruction& here, int line, int k) {
  const bool is_sine = here.operation == Operation::sin;
  const double* a = (*this)[here.a];
  double* s = (*this)[is_sine ? line : companion_[at(line)]];
  double* c = (*this)[is_sine ? companion_[at(line)] : line];
  s[k] = k == 0 ? std::sin(a[0]) : weighted(a, c, k);
  c[k] = k == 0 ? std::cos(a[0]) : -weighted(a, s, k);
}

/// k >= 1
double SeriesTape::coefficient(int line, int k) {
  const Instruction& here = tape_[line];
  const double* a = (*this)[here.a];
  const double* b = here.b < 0 ? a : (*this)[here.b];
  switch (here.operation) {
    case Operation::negate: return -a[k];
    case Operation::add: return a[k] + b[k];
    case Operation::subtract: return a[k] - b[k];
    case Operation::multiply: return of_product(here, k);
    case Operation::divide:
      return (steady_[at(here.b)] ? a[k] : a[k] - convolution(b, (*this)[line], 1, k, k)) / b[0];
    default: return of_function(here, (*this)[line], k);
  }
}

/// Σ_{j=0..k} a_j b_{k−j}, one term where a factor is steady, k >= 1.
double SeriesTape::of_product(const Instruction& here, int k) const {
  const double *a = (*this)[here.a], *b = (*this)[here.b];
  if (steady_[at(here.a)]) return a[0] * b[k];
  return steady_[at(here.b)] ? a[k] * b[0] : convolution(a, b, 0, k, k);
}

/// y = a^p by a y' = p a' y, k >= 1.
double SeriesTape::of_power(const double* a, double p, const double* y, int k) {
  if (p == 2) return convolution(a, a, 0, k, k);
  double sum = 0;
  for (int j = 1; j <= k; ++j) sum += (p * j - (k - j)) * a[j] * y[k - j];
  return sum / (k * a[0]);
}

/// By the differential equation that the function y of a fulfils, k >= 1.
double SeriesTape::of_function(const Instruction& here, const double* y, int k) const {
  const double* a = (*this)[here.a];
  double sum = 0;
  switch (here.operation) {
    case Operation::exp: return weighted(a, y, k);  // y' = a' y
    case Operation::log:                            // a y' = a'
      for (int j = 1; j < k; ++j) sum += j * y[j] * a[k - j];
      return (a[k] - sum / k) / a[0];
    case Operation::sqrt: return (a[k] - convolution(y, y, 1, k - 1, k)) / (2 * y[0]);  // y y = a
    case Operation::power: return of_power(a, (*this)[here.b][0], y, k);
    case Operation::guard: return a[0] != 0 ? (*this)[here.b][k] : 0;
    default: return std::nan("");
  }
}

}  // namespace perp
