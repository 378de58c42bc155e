#include <algorithm>
#include <set>

#include <perp/core/linear/least_squares.hpp>
#include <perp/core/state_derivative.hpp>

namespace perp {
namespace {

constexpr int most_iterations = 50;
constexpr double rounding = 1e-12;  ///< relative change that ends Newton's method

/// Puts the numbers at their places.
void put_at(const std::vector<int>& places, const Vector& numbers, double* to) {
  for (std::size_t k = 0; k < places.size(); ++k) to[places[k]] = numbers[static_cast<Eigen::Index>(k)];
}

}  // namespace

bool holds_derivative(const Tape& tape, std::span<const int> lines, const Dcs& system) {
  const std::vector<bool> needed = needed_lines(tape, lines);
  for (int k = 0; k < tape.size(); ++k) {
    const int j = tape[k].a - system.derivative_input(0);
    if (needed[static_cast<std::size_t>(k)] && tape[k].operation == Operation::input && 0 <= j && j < system.n())
      return true;
  }
  return false;
}

StateDerivative::StateDerivative(const Dcs& system)
    : tape_(system.tape), parameters_(system.parameters), n_(system.n()), m_(system.m()) {
  const int first = system.derivative_input(0);
  std::set<int> rows, variables;
  for (const Derivative& slope : differentiate(tape_, system.F, first, first + n_)) {
    rows.insert(slope.output);
    variables.insert(slope.input - first);
  }
  for (const int row : rows) rows_.push_back(system.F[static_cast<std::size_t>(row)]);
  variables_.assign(variables.begin(), variables.end());
  slopes_ = differentiate(tape_, rows_, first, first + n_);
}

void StateDerivative::read(const std::vector<double>& values, Vector& F, Matrix& J) const {
  const auto rows = static_cast<Eigen::Index>(rows_.size());
  const auto column_of = [&](int input) {
    return std::lower_bound(variables_.begin(), variables_.end(), input - 1) - variables_.begin();
  };
  F.resize(rows);
  J.setZero(rows, static_cast<Eigen::Index>(variables_.size()));
  for (Eigen::Index i = 0; i < rows; ++i)
    F[i] = values[static_cast<std::size_t>(rows_[static_cast<std::size_t>(i)])];
  for (const Derivative& slope : slopes_)
    J(slope.output, column_of(slope.input)) = values[static_cast<std::size_t>(slope.line)];
}

Vector StateDerivative::operator()(double t, const Vector& x, const Vector& lambda) const {
  Vector xdot = Vector::Constant(n_, nan);
  if (lambda.size() != m_) return xdot;
  std::vector<double> inputs{t};
  inputs.resize(1 + static_cast<std::size_t>(n_), 0.0);
  inputs.insert(inputs.end(), x.begin(), x.end());
  inputs.insert(inputs.end(), lambda.begin(), lambda.end());
  inputs.insert(inputs.end(), parameters_.begin(), parameters_.end());
  std::vector<double> values(static_cast<std::size_t>(tape_.size()));
  Vector found = Vector::Zero(static_cast<Eigen::Index>(variables_.size())), F;
  Matrix J;
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    tape_.evaluate(std::span<const double>(inputs), std::span<double>(values));
    read(values, F, J);
    if (!F.allFinite() || !J.allFinite()) return xdot;
    const std::optional<Matrix> change = linear::unique_least_squares(J, F, linear::rounding_share);
    if (!change) return xdot;
    found -= *change;
    put_at(variables_, found, inputs.data() + 1);
    if (change->norm() > rounding * found.norm()) continue;
    put_at(variables_, found, xdot.data());
    return xdot;
  }
  return xdot;
}

}  // namespace perp
