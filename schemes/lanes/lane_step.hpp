#pragma once

#include <perp/schemes/lanes/lane_bounds.hpp>
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
  const LaneCode* code = nullptr;
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
  std::vector<Eight> linear;     // by the places of the code
  std::vector<Bounded> bounded;

  // Of the step that is being made.
  Eight t, w_now[most], J[most * most], F[most], errors[most];
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

/// The inputs t, ẋ, x, λ of the rows.
PERP_EIGHT_INLINE Eight* inputs_of(Lanes& s) { return s.linear.data() + s.code->z; }
PERP_EIGHT_INLINE const Eight* inputs_of(const Lanes& s) { return s.linear.data() + s.code->z; }

PERP_EIGHT_INLINE void write_inputs(Lanes& s, const Eight* d, const Eight* lambda) {
  const int n = s.form->n, m = s.form->m;
  Eight* const z = inputs_of(s);
  z[0] = s.t;
  for (int j = 0; j < n; ++j) {
    z[1 + j] = d[j] / s.h;
    z[1 + n + j] = s.x[j] + d[j];
  }
  for (int i = 0; i < m; ++i) z[1 + 2 * n + i] = lambda[i];
}

PERP_EIGHT_INLINE void run_lines(const std::vector<LaneLine>& lines, Eight* values) {
  const LaneLine* const end = lines.data() + lines.size();
  for (const LaneLine* line = lines.data(); line != end; ++line)
    apply(line->operation, values[line->a], values[line->b], values[line->to]);
}

/// What stays as it is while the lanes are what they are.
PERP_EIGHT_INLINE void run_fixed(Lanes& s) {
  const LaneCode& code = *s.code;
  Eight* const values = s.linear.data();
  values[code.h] = s.h;
  values[code.zero] = all(0);
  for (int i = 0; i < s.form->m; ++i) {
    values[code.a + i] = s.a[i], values[code.b + i] = s.b[i], values[code.c + i] = s.c[i];
    values[code.z + 1 + 2 * s.form->n + i] = s.lambda[i];
    s.bounded[static_cast<std::size_t>(code.bounded_a + i)] = {s.a[i], all(0)};
    s.bounded[static_cast<std::size_t>(code.bounded_b + i)] = {s.b[i], all(0)};
    s.bounded[static_cast<std::size_t>(code.bounded_c + i)] = {s.c[i], all(0)};
  }
  run_lines(code.fixed, values);
}

/// Are all these numbers finite, in each lane?
PERP_EIGHT_INLINE Bits are_finite(const std::vector<int>& places, const Eight* values) {
  Eight zero = all(0), other = all(0);
  const std::size_t pairs = places.size() / 2;
  for (std::size_t k = 0; k < pairs; ++k) {
    zero += all(0) * values[places[2 * k]];
    other += all(0) * values[places[2 * k + 1]];
  }
  if (places.size() % 2 != 0) zero += all(0) * values[places.back()];
  return zero + other == all(0);
}

/// Numbers at these places, in the lanes of `of`.
PERP_EIGHT_INLINE void take_lines(const Bits& of, const int* places, int count, const Eight* values, Eight* to) {
  if (!any(~of)) {
    for (int i = 0; i < count; ++i) to[i] = values[places[i]];
  } else {
    for (int i = 0; i < count; ++i) put(of, to[i], values[places[i]]);
  }
}

/// Arguments of the laws, residual and matrix at (d, λ) in the lanes of `of`; returns those whose numbers are finite.
PERP_EIGHT_INLINE Bits linearise(Lanes& s, const Eight* d, const Eight* lambda, const Bits& of) {
  const LaneCode& code = *s.code;
  write_inputs(s, d, lambda);
  Eight* const values = s.linear.data();
  if (code.packed.is_native())
    code.packed.run(reinterpret_cast<double*>(values));
  else
    run_lines(code.changing, values);
  const int m = s.form->m, size = s.form->size;
  take_lines(of, code.w.data(), m, values, s.w_now);
  take_lines(of, code.F.data(), size, values, s.F);
  take_lines(of, code.J.data(), size * size, values, s.J);
  return are_finite(code.finite, values);
}

/// The inputs with the errors of their rounding, where running errors have them.
PERP_EIGHT_INLINE void write_bounded_inputs(Lanes& s, const Eight* d, const Eight* lambda) {
  const LaneForm& form = *s.form;
  const int n = form.n;
  const Eight* const z = inputs_of(s);
  Bounded* const bounded = s.bounded.data() + s.code->bounded_z;
  bounded[0] = {z[0], all(0)};
  for (int j = 0; j < n; ++j) {
    const Eight of_d = half_ulp(d[j]);
    bounded[1 + j] = {z[1 + j], of_d / s.h + half_ulp(z[1 + j])};
    bounded[1 + n + j] = {z[1 + n + j], of_d + half_ulp(z[1 + n + j])};
  }
  for (int i = 0; i < form.m; ++i)
    bounded[1 + 2 * n + i] = {lambda[i], unknown_of(form, i) < 0 ? all(0) : half_ulp(lambda[i])};
}

PERP_EIGHT_INLINE void run_bounded(Lanes& s) {
  Bounded* const values = s.bounded.data();
  for (const LaneLine& line : s.form->bounded) {
    if (line.operation == Operation::input)
      values[line.to] = values[s.code->bounded_z + line.a];
    else
      apply(line.operation, values[line.a], values[line.b], values[line.to]);
  }
}

/// The residuals with their errors, in the lanes of `of`.
PERP_EIGHT_INLINE void bound_residual(Lanes& s, const Bits& of, Bounded* F) {
  const LaneForm& form = *s.form;
  const LaneCode& code = *s.code;
  Bounded* const values = s.bounded.data();
  if (!any(of & ~run_plain(code, values))) {
    for (int i = 0; i < form.size; ++i) F[i] = values[code.bounded_F[static_cast<std::size_t>(i)]];
    return;
  }
  run_bounded(s);
  const auto row = [&](int i) { return values[form.bounded_outputs[static_cast<std::size_t>(i)]]; };
  for (int i = 0; i < form.n; ++i) F[i] = row(i);
  for (const int law : form.free_laws) {
    const Bounded of_w = product_of(values[code.bounded_a + law], row(form.n + law));
    const Bounded of_lambda = product_of(values[code.bounded_b + law], values[code.bounded_z + 1 + 2 * form.n + law]);
    const Bounded& c = values[code.bounded_c + law];
    F[unknown_of(form, law)] = sum_of(sum_of(of_w, of_lambda), {-c.value, c.error});
  }
}

/// The gate in the lanes of `of`: errors of the rows at (d, λ), and the largest |F_i| / e_i.
PERP_EIGHT_INLINE Eight ask_gate(Lanes& s, const Eight* d, const Eight* lambda, const Bits& of) {
  write_inputs(s, d, lambda);
  write_bounded_inputs(s, d, lambda);
  Bounded F[most_unknowns];
  bound_residual(s, of, F);
  Eight largest = all(0);
  Bits has_bounds = all_bits(-1);
  for (int i = 0; i < s.form->size; ++i) {
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
  for (int j = 0; j < s.form->size; ++j) largest = larger(largest, size_of(step[j]) * s.lu.of_column[j]);
  return largest;
}

/// Variable j, or the multiplier, as the inputs have it.
PERP_EIGHT_INLINE Eight unknown_value(const Lanes& s, int unknown, const Eight* lambda) {
  const int n = s.form->n;
  return unknown < n ? inputs_of(s)[1 + n + unknown] : lambda[s.form->free_laws[static_cast<std::size_t>(unknown - n)]];
}

}  // namespace perp::eight
