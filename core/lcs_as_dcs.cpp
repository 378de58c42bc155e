#include <fmt/format.h>

#include <perp/core/base/error.hpp>
#include <perp/core/system/sparse_lcs.hpp>

namespace perp {
namespace {

/// Σ_j row_j · (input number first + j), added to a line (-1: none yet).
void add_products(Tape& tape, int& sum, std::span<const linear::SparseMatrix::Entry> row, int first, double factor) {
  for (const auto& [j, entry] : row) {
    const double value = factor * entry;
    int term = tape.input(first + j);
    if (value != 1) term = tape.apply(Operation::multiply, tape.constant(value), term);
    sum = sum < 0 ? term : tape.apply(Operation::add, sum, term);
  }
}

/// A line of the tape of a signal and what it needs, on another tape with the same input t.
int copy(const Tape& from, int line, Tape& to, std::vector<int>& copied) {
  int& known = copied[static_cast<std::size_t>(line)];
  if (known >= 0) return known;
  const Instruction& what = from[line];
  if (what.operation == Operation::constant) return known = to.constant(what.value);
  if (what.operation == Operation::input) return known = to.input(Dcs::time_input());
  const int a = what.a < 0 ? -1 : copy(from, what.a, to, copied);
  const int b = what.b < 0 ? -1 : copy(from, what.b, to, copied);
  return copied[static_cast<std::size_t>(line)] = to.apply(what.operation, a, b);
}

/// The entries of a signal as lines; constants are made only where they are not 0 (-1 otherwise).
std::vector<int> lines_of(const Signal& signal, const char* name, Tape& tape) {
  std::vector<int> lines(static_cast<std::size_t>(signal.size()), -1);
  for (Eigen::Index i = 0; i < signal.size(); ++i)
    if (signal.constant()[i] != 0)
      lines[static_cast<std::size_t>(i)] = tape.constant(signal.constant()[i]);
  if (signal.is_constant()) return lines;
  if (signal.tape() == nullptr)
    throw InvalidInput(
        fmt::format("{} is a function of t; expected constants or expressions, which can be "
                    "differentiated",
                    name));
  std::vector<int> copied(static_cast<std::size_t>(signal.tape()->size()), -1);
  for (std::size_t k = 0; k < signal.varying().size(); ++k)
    lines[static_cast<std::size_t>(signal.varying()[k])] =
        copy(*signal.tape(), signal.lines()[k], tape, copied);
  return lines;
}

int add(Tape& tape, int sum, int line, Operation operation) {
  if (line < 0) return sum;
  if (sum >= 0) return tape.apply(operation, sum, line);
  return operation == Operation::add ? line : tape.apply(Operation::negate, line);
}

}  // namespace

Dcs as_dcs(const Lcs& lcs) { return as_dcs(sparse(lcs)); }

Dcs as_dcs(const SparseLcs& lcs) {
  Dcs system;
  system.laws = lcs.laws;
  const int n = lcs.n(), m = lcs.m();
  const int derivatives = 1, variables = 1 + n, multipliers = 1 + 2 * n;
  const std::vector<int> b = lines_of(lcs.b, "b", system.tape);
  const std::vector<int> q = lines_of(lcs.q, "q", system.tape);
  for (int i = 0; i < n; ++i) {
    int sum = -1;
    add_products(system.tape, sum, lcs.E.row(i), derivatives, 1);
    add_products(system.tape, sum, lcs.A.row(i), variables, -1);
    add_products(system.tape, sum, lcs.B.row(i), multipliers, -1);
    sum = add(system.tape, sum, b[static_cast<std::size_t>(i)], Operation::subtract);
    system.F.push_back(sum < 0 ? system.tape.constant(0) : sum);
  }
  for (int i = 0; i < m; ++i) {
    int sum = -1;
    add_products(system.tape, sum, lcs.C.row(i), variables, 1);
    add_products(system.tape, sum, lcs.D.row(i), multipliers, 1);
    sum = add(system.tape, sum, q[static_cast<std::size_t>(i)], Operation::add);
    system.G.push_back(sum < 0 ? system.tape.constant(0) : sum);
  }
  return system;
}

}  // namespace perp
