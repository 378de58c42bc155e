// Tells steps that pass a pole of a formula, which no implicit equation at the end of a step sees.
// The run loop asks it after each step.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/schemes/pole_watch.hpp>

namespace perp {
namespace {

constexpr int wide_bisections = 12, narrow_bisections = 8;
/// At a pole of order one what is watched grows by 2^narrow_bisections, elsewhere they go to a limit.
constexpr double pole_growth = 16;

int side_of_zero(double value) { return (value > 0) - (value < 0); }

/// Adds the lines whose zeros are those of `line`.
void add_factors_of(const Tape& tape, int line, std::vector<int>& factors) {
  const Instruction& what = tape[line];
  switch (what.operation) {
    case Operation::constant:
    case Operation::pi: return;
    case Operation::negate:
    case Operation::power:
    case Operation::abs: return add_factors_of(tape, what.a, factors);
    case Operation::divide: return add_factors_of(tape, what.a, factors);
    case Operation::multiply:
      add_factors_of(tape, what.a, factors);
      return add_factors_of(tape, what.b, factors);
    default:
      if (std::find(factors.begin(), factors.end(), line) == factors.end()) factors.push_back(line);
  }
}

/// The factors of all denominators; `tape` gets a cosine for each tangent.
std::vector<int> denominators_of(Tape& tape, const std::vector<int>& rows) {
  const std::vector<bool> needed = needed_lines(tape, rows);
  std::vector<int> factors;
  for (int k = 0, count = tape.size(); k < count; ++k) {
    if (!needed[static_cast<std::size_t>(k)]) continue;
    const Instruction what = tape[k];
    if (what.operation == Operation::divide)
      add_factors_of(tape, what.b, factors);
    else if (what.operation == Operation::power &&
             tape[what.b].operation == Operation::constant && tape[what.b].value < 0)
      add_factors_of(tape, what.a, factors);
    else if (what.operation == Operation::tan)
      add_factors_of(tape, tape.apply(Operation::cos, what.a), factors);
  }
  return factors;
}

/// Halves the share of the way on which a value changes its sign.
void halve_to_zero(const auto& value, int times, double& low, double& high) {
  const int before = side_of_zero(value(low));
  for (; times > 0; --times) {
    const double middle = low + (high - low) / 2;
    (side_of_zero(value(middle)) == before ? low : high) = middle;
  }
}

BoundedTape denominator_tape(const Dcs& system) {
  std::vector<int> rows = system.F;
  rows.insert(rows.end(), system.G.begin(), system.G.end());
  Tape tape = bind_inputs(system.tape, system.parameter_input(0), system.parameters, rows);
  const std::vector<int> factors = denominators_of(tape, rows);
  return {tape, factors, system.parameter_input(0), {}};
}

}  // namespace

PoleWatch::PoleWatch(const Dcs& system)
    : evaluator_(system),
      denominators_(denominator_tape(system)),
      z_(static_cast<std::size_t>(evaluator_->inputs())) {}

PoleWatch::PoleWatch(const Lcs& lcs) {
  for (const Signal* signal : {&lcs.b, &lcs.q})
    if (!signal->is_constant()) signals_.push_back(*signal);
}

/// (t, ẋ, x, λ) at the share s of the way, with the multipliers of its end.
void PoleWatch::load(const Step& a, const Step& b, double s) {
  const int n = evaluator_->n();
  z_[0] = (1 - s) * a.t + s * b.t;
  for (int j = 0; j < n; ++j) {
    z_[static_cast<std::size_t>(1 + j)] = (b.x[j] - a.x[j]) / (b.t - a.t);
    z_[static_cast<std::size_t>(1 + n + j)] = (1 - s) * a.x[j] + s * b.x[j];
  }
  std::copy(b.lambda.begin(), b.lambda.end(), z_.begin() + 1 + 2 * n);
}

double PoleWatch::denominator(std::size_t k, const Step& a, const Step& b, double s) {
  load(a, b, s);
  denominators_.run(z_.data(), nullptr);
  return denominators_.output(k).value;
}

/// (F, G) at a share of the way, with bounds of their rounding.
PoleWatch::Rows PoleWatch::rows_at(const Step& a, const Step& b, double s) {
  load(a, b, s);
  const Eigen::Index count = evaluator_->n() + evaluator_->m();
  Rows rows{Vector(count), Vector(count)};
  evaluator_->evaluate_bounded(z_.data(), nullptr, rows.values.data(), rows.errors.data());
  return rows;
}

/// Encloses the zero of denominator k: at a pole some row grows at both ends.
bool PoleWatch::is_pole(std::size_t k, const Step& a, const Step& b, double& low, double& high) {
  const auto at = [&](double s) { return denominator(k, a, b, s); };
  halve_to_zero(at, wide_bisections, low, high);
  const double wide_low = low, wide_high = high;
  halve_to_zero(at, narrow_bisections, low, high);
  // By how much a row differs from that at a, at least (sign -1) or at most (1); no value: a pole.
  const Rows start = rows_at(a, b, 0);
  const auto change = [&](const Rows& rows, Eigen::Index row, double sign) {
    const double size = std::abs(rows.values[row] - start.values[row]) +
                        sign * (rows.errors[row] + start.errors[row]);
    return std::isfinite(size) ? size : inf;
  };
  const Rows wide[] = {rows_at(a, b, wide_low), rows_at(a, b, wide_high)};
  const Rows narrow[] = {rows_at(a, b, low), rows_at(a, b, high)};
  for (Eigen::Index row = 0; row < start.values.size(); ++row) {
    const double before = std::min(change(wide[0], row, 1), change(wide[1], row, 1));
    const double after = std::min(change(narrow[0], row, -1), change(narrow[1], row, -1));
    if (after > pole_growth * before) return true;
  }
  return false;
}

/// The same of an entry of a signal, which changes its sign: at a zero it gets smaller.
bool PoleWatch::is_pole(const Signal& signal, int entry, const Step& a, const Step& b, double& low,
                        double& high) {
  const auto at = [&](double s) { return signal((1 - s) * a.t + s * b.t)[entry]; };
  if (side_of_zero(at(0)) * side_of_zero(at(1)) >= 0) return false;
  const auto smaller = [&] { return std::min(std::abs(at(low)), std::abs(at(high))); };
  halve_to_zero(at, wide_bisections, low, high);
  const double wide = smaller();
  halve_to_zero(at, narrow_bisections, low, high);
  return smaller() > pole_growth * wide;
}

std::optional<std::string> PoleWatch::pass(const Step& a, const Step& b) {
  if (!(b.t > a.t)) return std::nullopt;
  const auto text = [&](double low) {
    return fmt::format("the equations have a pole at t = {:.6g}, which no step passes",
                       (1 - low) * a.t + low * b.t);
  };
  for (std::size_t k = 0; k < denominators_.outputs(); ++k) {
    const int before = side_of_zero(denominator(k, a, b, 0));
    if (before == 0 || side_of_zero(denominator(k, a, b, 1)) == before) continue;
    double low = 0, high = 1;
    if (is_pole(k, a, b, low, high)) return text(low);
  }
  for (const Signal& signal : signals_)
    for (const int entry : signal.varying()) {
      double low = 0, high = 1;
      if (!std::isfinite(signal(b.t)[entry])) return text(1);
      if (is_pole(signal, entry, a, b, low, high)) return text(low);
    }
  return std::nullopt;
}

}  // namespace perp
