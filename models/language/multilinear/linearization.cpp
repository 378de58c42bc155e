// Multilinear models near a point as descriptor systems: perp multilinear --linearize.
#include <perp/models/language/multilinear/linearization.hpp>

namespace perp {

SignalCounts signal_counts(const HybridModel& model) {
  const int states = static_cast<int>(model.states().size());
  return {states, static_cast<int>(model.inputs.size()), model.n() - states, model.q()};
}

namespace {

/// Where a derivative by signal `column` stands: a matrix of the equations, or of the constraints.
struct Place {
  SparseEntries* of_f = nullptr;
  SparseEntries* of_g = nullptr;
  int column = 0;
};

Place place_of(MultilinearLinearization& result, const SignalCounts& counts, int column) {
  const int n = counts.states;
  if (column < n) return {&result.E, nullptr, column};
  if (column < counts.first_input()) return {&result.A, &result.C, column - n};
  if (column < counts.first_algebraic())
    return {&result.B, &result.D, column - counts.first_input()};
  if (column < counts.first_binary())
    return {&result.A, &result.C, n + column - counts.first_algebraic()};
  return {};
}

}  // namespace

MultilinearLinearization linearized(const MultilinearForm& form, const SignalCounts& counts,
                                    const Vector& v) {
  const int unknowns = counts.states + counts.algebraic, rows = form.equations();
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
    if (entry.value == 0) continue;
    const Place place = place_of(result, counts, entry.column);
    const bool is_constraint = entry.row >= rows;
    if (is_constraint && place.of_f == &result.E) result.constraints_hold_rates = true;
    SparseEntries* matrix = is_constraint ? place.of_g : place.of_f;
    if (matrix == nullptr) continue;
    const double sign = is_constraint || matrix == &result.E ? 1 : -1;
    matrix->entries.push_back(
        {is_constraint ? entry.row - rows : entry.row, place.column, sign * entry.value});
  }
  return result;
}

}  // namespace perp
