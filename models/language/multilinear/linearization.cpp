// Multilinear models near a point as descriptor systems: perp multilinear --linearize.
#include <perp/models/language/multilinear/linearization.hpp>

namespace perp {

SignalCounts signal_counts(const HybridModel& model) {
  const int states = static_cast<int>(model.states().size());
  return {states, static_cast<int>(model.inputs.size()), model.n() - states, model.q()};
}

MultilinearLinearization linearized(const MultilinearForm& form, const SignalCounts& counts,
                                    const Vector& v) {
  const int n = counts.states, unknowns = n + counts.algebraic, rows = form.equations();
  const Vector values = form.values(v);
  MultilinearLinearization result;
  result.f = values.head(rows);
  result.g = values.tail(form.constraints());
  result.E = {rows, unknowns, {}};
  result.A = {rows, unknowns, {}};
  result.B = {rows, counts.inputs, {}};
  result.C = {form.constraints(), unknowns, {}};
  result.D = {form.constraints(), counts.inputs, {}};
  for (const SparseEntry& entry : form.jacobian(v)) {
    if (entry.value == 0 || entry.column >= counts.first_binary()) continue;
    const bool is_constraint = entry.row >= rows;
    const int row = is_constraint ? entry.row - rows : entry.row;
    const double value = is_constraint ? entry.value : -entry.value;
    if (entry.column < n) {
      if (is_constraint)
        result.constraints_hold_rates = true;
      else
        result.E.entries.push_back({row, entry.column, entry.value});
    } else if (entry.column >= counts.first_input() && entry.column < counts.first_algebraic()) {
      (is_constraint ? result.D : result.B)
          .entries.push_back({row, entry.column - counts.first_input(), value});
    } else {
      const int column = entry.column < counts.first_input()
                             ? entry.column - n
                             : n + entry.column - counts.first_algebraic();
      (is_constraint ? result.C : result.A).entries.push_back({row, column, value});
    }
  }
  return result;
}

}  // namespace perp
