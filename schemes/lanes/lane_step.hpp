#pragma once

#include <perp/schemes/lanes/lane_form.hpp>
#include <perp/schemes/lanes/lane_lu.hpp>
#include <perp/schemes/step/step_gate.hpp>

// The common step of eight runs: what ImplicitStep and ModeNewton do on each of them where no filter is undecided, the
// same operations in the same order. A lane on which something else would have to be done is given up and not moved.

namespace perp::eight {

/// Eight runs in one form, their numbers side by side.
struct Lanes {
  static constexpr int most = most_unknowns;

  const LaneForm* form = nullptr;
  Eight h, from, k, last;  ///< the next step is number k, it ends at from + k h; none goes beyond `last`
  Eight x[most], d[most], lambda[most], w[most], residual;
  Eight x_before[most], d_before[most], lambda_before[most], w_before[most], residual_before;
  Eight last_errors[most], largest_residual, steps, iterations;
  Eight errors_before[most], iterations_now;  ///< of the step being made: it may be given up
  Eight a[most], b[most], c[most], w_low[most], w_high[most], lambda_low[most], lambda_high[most];
  Bits units[most], orientation, is_oriented;
  struct Side {
    int input;
    Eight low, high;
  };
  std::vector<Side> sides;
  std::vector<Eight> linear;
  std::vector<Bounded> bounded;

  // Of the step that is being made.
  Eight t, z[1 + 3 * most], z_error[1 + 3 * most], rows[2 * most], J[most * most], F[most], errors[most];
  Eight d_now[most], lambda_now[most], ratio;
  LaneLu lu;
};

/// One Newton iteration.
struct LaneIteration {
  Eight direction[most_unknowns], floor[most_unknowns], before[most_unknowns], correction[most_unknowns];
  Eight d[most_unknowns], lambda[most_unknowns];
  Eight size, next_size;
};

constexpr double lane_gate = most_rounding, cancelled_share = 0x1p-48, noise_share = 0x1p-26, definite_share = 0x1p-26;

PERP_EIGHT_INLINE int unknown_of(const LaneForm& form, int law) { return form.unknown[static_cast<std::size_t>(law)]; }

PERP_EIGHT_INLINE void write_inputs(Lanes& s, const Eight* d, const Eight* lambda) {
  const LaneForm& form = *s.form;
  const int n = form.n;
  s.z[0] = s.t;
  for (int j = 0; j < n; ++j) s.z[1 + j] = d[j] / s.h;
  for (int j = 0; j < n; ++j) s.z[1 + n + j] = s.x[j] + d[j];
  for (int i = 0; i < form.m; ++i) s.z[1 + 2 * n + i] = lambda[i];
}

PERP_EIGHT_INLINE void run_linear(Lanes& s) {
  Eight* const values = s.linear.data();
  for (const LaneLine& line : s.form->linear) {
    if (line.operation == Operation::input)
      values[line.to] = s.z[line.a];
    else
      apply(line.operation, values[line.a], values[line.b], values[line.to]);
  }
}

PERP_EIGHT_INLINE void add_entry(Lanes& s, const LaneForm::Place& place, int row, const Eight& slope, Eight* J) {
  Eight* const entries = J + row * s.form->size;
  switch (place.kind) {
    case LaneForm::Kind::time: return;
    case LaneForm::Kind::derivative: entries[place.index] += slope / s.h; return;
    case LaneForm::Kind::variable: entries[place.index] += slope; return;
    case LaneForm::Kind::multiplier:
      if (const int unknown = unknown_of(*s.form, place.index); unknown >= 0) entries[unknown] += slope;
  }
}

/// Output k of the tape of rows and derivatives.
PERP_EIGHT_INLINE const Eight& output(const Lanes& s, std::size_t k) {
  return s.linear[static_cast<std::size_t>(s.form->linear_outputs[k])];
}

/// The residual of the rows and the laws.
PERP_EIGHT_INLINE void write_residual(const Lanes& s, const Eight* lambda, Eight* F) {
  const LaneForm& form = *s.form;
  for (int i = 0; i < form.n; ++i) F[i] = output(s, static_cast<std::size_t>(i));
  for (const int law : form.free_laws)
    F[unknown_of(form, law)] =
        s.a[law] * output(s, static_cast<std::size_t>(form.n + law)) + s.b[law] * lambda[law] - s.c[law];
}

/// Its derivatives.
PERP_EIGHT_INLINE void write_matrix(Lanes& s, Eight* J) {
  const LaneForm& form = *s.form;
  const int size = form.size;
  for (int i = 0; i < size * size; ++i) J[i] = all(0);
  for (const int law : form.free_laws) J[unknown_of(form, law) * (size + 1)] = s.b[law];
  for (std::size_t k = 0; k < form.places.size(); ++k) {
    const LaneForm::Place& place = form.places[k];
    const Eight& derivative = output(s, static_cast<std::size_t>(form.n + form.m) + k);
    if (place.row < form.n)
      add_entry(s, place, place.row, derivative, J);
    else if (const int row = unknown_of(form, place.row - form.n); row >= 0)
      add_entry(s, place, row, s.a[place.row - form.n] * derivative, J);
  }
}

/// Rows, residual and matrix at (d, λ) in the lanes of `of`; returns those whose numbers are finite.
PERP_EIGHT_INLINE Bits linearise(Lanes& s, const Eight* d, const Eight* lambda, const Bits& of) {
  const LaneForm& form = *s.form;
  write_inputs(s, d, lambda);
  run_linear(s);
  Eight zero = all(0);
  for (std::size_t k = 0; k < form.linear_outputs.size(); ++k) zero += all(0) * output(s, k);
  for (int i = 0; i < form.n + form.m; ++i) put(of, s.rows[i], output(s, static_cast<std::size_t>(i)));
  Eight F[most_unknowns], J[most_unknowns * most_unknowns];
  write_residual(s, lambda, F);
  write_matrix(s, J);
  for (int i = 0; i < form.size; ++i) put(of, s.F[i], F[i]);
  for (int i = 0; i < form.size * form.size; ++i) put(of, s.J[i], J[i]);
  return zero == all(0);
}

PERP_EIGHT_INLINE void write_input_errors(Lanes& s, const Eight* d, const Eight* lambda) {
  const LaneForm& form = *s.form;
  const int n = form.n;
  s.z_error[0] = all(0);
  for (int j = 0; j < n; ++j) {
    const Eight of_d = half_ulp(d[j]);
    s.z_error[1 + j] = of_d / s.h + half_ulp(s.z[1 + j]);
    s.z_error[1 + n + j] = of_d + half_ulp(s.z[1 + n + j]);
  }
  for (int i = 0; i < form.m; ++i)
    s.z_error[1 + 2 * n + i] = unknown_of(form, i) < 0 ? all(0) : half_ulp(lambda[i]);
}

PERP_EIGHT_INLINE void run_bounded(Lanes& s) {
  Bounded* const values = s.bounded.data();
  for (const LaneLine& line : s.form->bounded) {
    if (line.operation == Operation::input)
      values[line.to] = {s.z[line.a], s.z_error[line.a]};
    else
      apply(line.operation, values[line.a], values[line.b], values[line.to]);
  }
}

/// The gate in the lanes of `of`: errors of the rows at (d, λ), and the largest |F_i| / e_i.
PERP_EIGHT_INLINE Eight ask_gate(Lanes& s, const Eight* d, const Eight* lambda, const Bits& of) {
  const LaneForm& form = *s.form;
  const int n = form.n;
  write_inputs(s, d, lambda);
  write_input_errors(s, d, lambda);
  run_bounded(s);
  const auto row = [&](int i) { return s.bounded[static_cast<std::size_t>(form.bounded_outputs[static_cast<std::size_t>(i)])]; };
  Bounded F[most_unknowns];
  for (int i = 0; i < n; ++i) F[i] = row(i);
  for (const int law : form.free_laws) {
    const Bounded a{s.a[law], all(0)}, b{s.b[law], all(0)}, c{s.c[law], all(0)};
    const Bounded of_w = product_of(a, row(n + law)), of_lambda = product_of(b, {lambda[law], half_ulp(lambda[law])});
    F[unknown_of(form, law)] = sum_of(sum_of(of_w, of_lambda), {-c.value, c.error});
  }
  Eight largest = all(0);
  Bits has_bounds = all_bits(-1);
  for (int i = 0; i < form.size; ++i) {
    const Eight ratio = size_of(F[i].value) / F[i].error;
    has_bounds &= is_finite(F[i].error) & is_finite(F[i].value);
    largest = chosen(F[i].value != all(0), larger(largest, ratio), largest);
    put(of, s.errors[i], F[i].error);
    put(of, s.last_errors[i], F[i].error);
  }
  return chosen(has_bounds, largest, all(std::numeric_limits<double>::infinity()));
}

/// Largest entry in scaled unknowns.
PERP_EIGHT_INLINE Eight scaled_size(const Lanes& s, const Eight* step) {
  Eight largest = all(0);
  for (int j = 0; j < s.form->size; ++j) largest = larger(largest, size_of(step[j]) / s.lu.column_scale[j]);
  return largest;
}

/// Variable j, or the multiplier, as the inputs have it.
PERP_EIGHT_INLINE Eight unknown_value(const Lanes& s, int unknown, const Eight* lambda) {
  const int n = s.form->n;
  return unknown < n ? s.z[1 + n + unknown] : lambda[s.form->free_laws[static_cast<std::size_t>(unknown - n)]];
}

}  // namespace perp::eight
