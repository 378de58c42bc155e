#pragma once

#include <perp/schemes/lanes/lane_step.hpp>

// Newton's method of the common step, see ModeNewton.

namespace perp::eight {

/// Where is every row within its gate, as its errors were last?
PERP_EIGHT_INLINE Bits is_promising(const Lanes& s) {
  Bits promises = all_bits(-1);
  for (int i = 0; i < s.form->size; ++i) promises &= ~(size_of(s.F[i]) > all(lane_gate) * s.last_errors[i]);
  return promises;
}

/// Is this entry of the direction needed by a row?
PERP_EIGHT_INLINE Bits is_needed(const Lanes& s, const LaneIteration& now, int entry) {
  const int size = s.form->size;
  Bits needed = all_bits(0);
  for (int i = 0; i < size; ++i) {
    const Eight* const row = s.J + i * size;
    const Eight term = size_of(row[entry] * now.direction[entry]);
    Eight largest = all(0);
    for (int k = 0; k < size; ++k) largest = larger(largest, size_of(row[k] * now.direction[k]));
    needed |= (term != all(0)) & ~(size_of(s.F[i]) <= s.last_errors[i]) & (term > all(cancelled_share) * largest);
  }
  return needed;
}

PERP_EIGHT_INLINE void drop_rests(const Lanes& s, LaneIteration& now) {
  for (int j = 0; j < s.form->size; ++j) {
    const Eight rest = all(cancelled_share) * now.size * s.lu.column_scale[j];
    const Bits is_rest = (now.direction[j] != all(0)) & (size_of(now.direction[j]) <= rest);
    if (any(is_rest)) put(is_rest & ~is_needed(s, now, j), now.direction[j], all(0));
  }
}

PERP_EIGHT_INLINE void write_floor(const Lanes& s, LaneIteration& now) {
  const LaneForm& form = *s.form;
  for (int j = 0; j < form.n; ++j)
    now.floor[j] = all(2) * half_ulp(larger(size_of(inputs_of(s)[1 + form.n + j]), size_of(s.d_now[j])));
  for (const int law : form.free_laws) now.floor[unknown_of(form, law)] = all(2) * half_ulp(s.lambda_now[law]);
}

/// The whole step, with what it has carried to 0 put there.
PERP_EIGHT_INLINE void move_and_snap(const Lanes& s, LaneIteration& now) {
  const LaneForm& form = *s.form;
  for (int j = 0; j < form.n; ++j) {
    now.d[j] = s.d_now[j] + all(1) * now.direction[j];
    const Eight rounding = all(cancelled_share) * size_of(now.direction[j]);
    const Bits is_at_zero = size_of(s.x[j] + now.d[j]) <= rounding, rests = size_of(now.d[j]) <= rounding;
    now.d[j] = chosen(is_at_zero, -s.x[j], chosen(rests, all(0), now.d[j]));
  }
  for (int i = 0; i < form.m; ++i) now.lambda[i] = s.lambda_now[i];
  for (const int law : form.free_laws) {
    const Eight step = now.direction[unknown_of(form, law)];
    const Eight moved = s.lambda_now[law] + all(1) * step;
    now.lambda[law] = chosen(size_of(moved) <= all(cancelled_share) * size_of(step), all(0), moved);
  }
}

/// Did every row fall, to half of it or to its rounding?
PERP_EIGHT_INLINE Bits have_rows_fallen(const Lanes& s, const LaneIteration& now) {
  Bits fell = all_bits(-1);
  for (int j = 0; j < s.form->size; ++j) {
    const Eight row = size_of(s.F[j]), before = size_of(now.before[j]);
    fell &= (row == all(0)) | ((row <= all(0.5) * before) & (row < before)) | (row <= all(lane_gate) * s.last_errors[j]);
  }
  return fell;
}

/// Did the corrections of all unknowns?
PERP_EIGHT_INLINE Bits have_corrections_fallen(const Lanes& s, const LaneIteration& now) {
  Bits fell = all_bits(-1);
  for (int j = 0; j < s.form->size; ++j)
    fell &= size_of(now.correction[j]) <= larger(size_of(now.direction[j]) / all(2), now.floor[j]);
  return fell;
}

PERP_EIGHT_INLINE Bits rests(const Lanes& s, const LaneIteration& now) {
  Bits same = all_bits(-1);
  for (int j = 0; j < s.form->n; ++j) same &= now.d[j] == s.d_now[j];
  for (int i = 0; i < s.form->m; ++i) same &= now.lambda[i] == s.lambda_now[i];
  return same;
}

/// Is the step noise beside the unknowns?
PERP_EIGHT_INLINE Bits is_rounding(const Lanes& s, const LaneIteration& now) {
  Eight values[most_unknowns];
  for (int j = 0; j < s.form->size; ++j) values[j] = unknown_value(s, j, s.lambda_now);
  return now.size <= all(noise_share) * scaled_size(s, values);
}

/// How far the lanes have come.
struct LaneProgress {
  Bits good;  ///< not given up
  Bits open;  ///< of them, not converged
  Bits contracts = all_bits(0), stagnates = all_bits(0), rests = all_bits(0), local = all_bits(0);
  Bits negative = all_bits(0), has_sign = all_bits(0);  ///< determinants of the last matrices
  Bits free = all_bits(0);                              ///< lanes of no run, in which anything may stand

  PERP_EIGHT_INLINE void give_up(const Bits& lanes) {
    good &= ~lanes;
    open &= ~lanes;
  }
};

/// Does a solution of J y = F hold in every row, beside its terms or its rounding? Else it is made by blocks.
PERP_EIGHT_INLINE Bits holds_in_rows(const Lanes& s, const Eight* solution) {
  const int size = s.form->size;
  Bits holds = all_bits(-1);
  for (int i = 0; i < size; ++i) {
    Eight rest = s.F[i], terms = size_of(rest);
    for (int j = 0; j < size; ++j) {
      const Eight term = s.J[i * size + j] * solution[j];
      rest -= term;
      terms += size_of(term);
    }
    holds &= size_of(rest) <= larger(all(noise_share) * terms, s.last_errors[i]);
  }
  return holds;
}

/// What a point has in its lanes, to go back to it.
struct LanePoint {
  Eight F[most_unknowns], J[most_unknowns * most_unknowns], w[most_unknowns], errors[most_unknowns];

  PERP_EIGHT_INLINE void keep(const Lanes& s) {
    const LaneForm& form = *s.form;
    for (int i = 0; i < form.size; ++i) F[i] = s.F[i], errors[i] = s.errors[i];
    for (int i = 0; i < form.size * form.size; ++i) J[i] = s.J[i];
    for (int i = 0; i < form.m; ++i) w[i] = s.w_now[i];
  }
  PERP_EIGHT_INLINE void give_back(Lanes& s, const Bits& of) const {
    const LaneForm& form = *s.form;
    for (int i = 0; i < form.size; ++i) {
      put(of, s.F[i], F[i]);
      put(of, s.errors[i], errors[i]);
      put(of, s.last_errors[i], errors[i]);
    }
    for (int i = 0; i < form.size * form.size; ++i) put(of, s.J[i], J[i]);
    for (int i = 0; i < form.m; ++i) put(of, s.w_now[i], w[i]);
  }
};

/// One more step of the lanes of `of`, which have passed the gate, where it comes nearer.
PERP_EIGHT_INLINE void polish(Lanes& s, LaneProgress& p, const Bits& passed) {
  const LaneForm& form = *s.form;
  put(passed, s.iterations_now, s.iterations_now + all(1));
  Bits of = s.lu.factorise(s.J, form.size, s.units, passed);
  LanePoint point;
  point.keep(s);
  Eight step[most_unknowns], d[most_unknowns], lambda[most_unknowns];
  for (int i = 0; i < form.size; ++i) step[i] = s.F[i];
  s.lu.solve(step);
  of &= holds_in_rows(s, step);
  p.give_up(passed & ~of);
  if (!any(of)) return;
  p.negative = chosen(of, s.lu.negative, p.negative);
  p.has_sign |= of;
  for (int j = 0; j < form.n; ++j) d[j] = s.d_now[j] + all(1) * -step[j];
  for (int i = 0; i < form.m; ++i) lambda[i] = s.lambda_now[i];
  for (const int law : form.free_laws) lambda[law] = s.lambda_now[law] + all(1) * -step[unknown_of(form, law)];
  const Bits is_finite_there = linearise(s, d, lambda, of);
  const Eight ratio = ask_gate(s, d, lambda, of);
  const Bits nearer = of & is_finite_there & (ratio < s.ratio);
  point.give_back(s, of & ~nearer);
  put(nearer, s.ratio, ratio);
  for (int j = 0; j < form.n; ++j) put(nearer, s.d_now[j], d[j]);
  for (int i = 0; i < form.m; ++i) put(nearer, s.lambda_now[i], lambda[i]);
  write_inputs(s, s.d_now, s.lambda_now);
}

/// Asks the gate where that is worth it: lanes that pass have converged.
PERP_EIGHT_INLINE void ask(Lanes& s, LaneProgress& p, int iteration) {
  const Bits asks = p.open & (is_promising(s) | p.stagnates | p.rests);
  if (any(asks)) {
    const Eight ratio = ask_gate(s, s.d_now, s.lambda_now, asks);
    const Bits passed = asks & (ratio <= all(lane_gate));
    put(passed, s.ratio, ratio);
    p.local |= passed & (iteration <= 1 ? all_bits(-1) : p.contracts);
    p.open &= ~passed;
    if (const Bits is_rough = passed & (ratio > all(1)); any(is_rough)) polish(s, p, is_rough);
  }
  p.give_up(p.open & p.rests);
}

/// Gives up the lanes in which the whole step is not accepted, by rows or by the corrections that are left; of the size
/// of these nobody asks where rows have fallen so far that the gate is asked next.
PERP_EIGHT_INLINE void judge(Lanes& s, LaneProgress& p, LaneIteration& now, int iteration) {
  const int size = s.form->size;
  const Bits rows_fell = have_rows_fallen(s, now);
  if (iteration > 0 && !any(p.open & ~(rows_fell & is_promising(s)))) return;
  for (int i = 0; i < size; ++i) now.correction[i] = s.F[i];
  s.lu.solve(now.correction);
  now.next_size = scaled_size(s, now.correction);
  p.give_up(p.open & ~((now.next_size <= all(0.75) * now.size) | have_corrections_fallen(s, now) | rows_fell));
  p.stagnates = now.next_size > now.size / all(2);
  if (iteration == 0) p.contracts = (now.next_size <= all(0.25) * now.size) | is_rounding(s, now);
}

/// One iteration of the open lanes.
PERP_EIGHT_INLINE void iterate(Lanes& s, LaneProgress& p, int iteration) {
  LaneIteration now;
  const int size = s.form->size;
  put(p.open, s.iterations_now, s.iterations_now + all(1));
  p.give_up(p.open & ~s.lu.factorise(s.J, size, s.units, p.open));
  if (!any(p.open)) return;
  for (int i = 0; i < size; ++i) now.direction[i] = now.before[i] = s.F[i];
  s.lu.solve(now.direction);
  p.give_up(p.open & ~holds_in_rows(s, now.direction));
  p.negative = chosen(p.open, s.lu.negative, p.negative);
  p.has_sign |= p.open;
  for (int i = 0; i < size; ++i) now.direction[i] = -now.direction[i];
  write_floor(s, now);
  now.size = scaled_size(s, now.direction);
  drop_rests(s, now);
  move_and_snap(s, now);
  p.give_up(p.open & ~linearise(s, now.d, now.lambda, p.open | p.free));
  judge(s, p, now, iteration);
  p.rests = rests(s, now);
  for (int j = 0; j < s.form->n; ++j) put(p.open, s.d_now[j], now.d[j]);
  for (int i = 0; i < s.form->m; ++i) put(p.open, s.lambda_now[i], now.lambda[i]);
}

/// The lanes of `of` in which the solution lies where the rows say, as the bound of its distance tells alone.
PERP_EIGHT_INLINE Bits is_definite(Lanes& s, const Bits& of) {
  const LaneForm& form = *s.form;
  if (form.curved.empty()) return of;
  Bits good = s.lu.factorise(s.J, form.size, s.units, of);
  if (!any(good)) return good;
  Eight distance[most_unknowns];
  for (int i = 0; i < form.size; ++i) distance[i] = size_of(s.F[i]) + all(lane_gate) * s.errors[i];
  s.lu.bound(distance);
  for (const int unknown : form.curved) {
    Eight value;
    if (unknown < form.n)
      value = s.x[unknown] + s.d_now[unknown];
    else
      value = s.lambda_now[form.free_laws[static_cast<std::size_t>(unknown - form.n)]];
    good &= distance[unknown] <= all(definite_share) * size_of(value);
  }
  return good;
}

}  // namespace perp::eight
