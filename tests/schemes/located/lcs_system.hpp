#pragma once

#include <perp/core/dcs.hpp>
#include <perp/core/lcs.hpp>

namespace perp::test {

/// Adds coefficients · inputs (number `first` on) to a line; 0 is left out.
inline int add_products(Tape& tape, int line, const Vector& coefficients, int first) {
  for (int j = 0; j < coefficients.size(); ++j) {
    if (coefficients[j] == 0) continue;
    const int product =
        tape.apply(Operation::multiply, tape.constant(coefficients[j]), tape.input(first + j));
    line = tape.apply(Operation::add, line, product);
  }
  return line;
}

/// A system of constant matrices as functions.
inline Dcs dcs_of(const Lcs& given) {
  const Lcs lcs = validated(given);
  Dcs system;
  system.laws = lcs.laws;
  system.F.resize(static_cast<std::size_t>(lcs.n()));
  system.G.resize(lcs.laws.size());
  Tape& tape = system.tape;
  const Vector b = lcs.b(0), q = lcs.q(0);
  for (int i = 0; i < lcs.n(); ++i) {
    int line = tape.constant(-b[i]);
    line = add_products(tape, line, lcs.E.row(i), system.derivative_input(0));
    line = add_products(tape, line, -lcs.A.row(i), system.variable_input(0));
    line = add_products(tape, line, -lcs.B.row(i), system.multiplier_input(0));
    system.F[static_cast<std::size_t>(i)] = line;
  }
  for (int i = 0; i < lcs.m(); ++i) {
    int line = tape.constant(q[i]);
    line = add_products(tape, line, lcs.C.row(i), system.variable_input(0));
    line = add_products(tape, line, lcs.D.row(i), system.multiplier_input(0));
    system.G[static_cast<std::size_t>(i)] = line;
  }
  return system;
}

}  // namespace perp::test
