// The loop over common steps, compiled for processors with vectors of 256 bits: called by LaneBlock.
#include <perp/schemes/lanes/lane_newton.hpp>
#include <perp/schemes/lanes/lane_run.hpp>

namespace perp::eight {
namespace {

constexpr int most_iterations_beside = 4;

/// Are w and λ in the ranges of their branches?
PERP_EIGHT_INLINE Bits is_admitted(const Lanes& s) {
  const LaneForm& form = *s.form;
  Bits inside = all_bits(-1);
  for (int i = 0; i < form.m; ++i) {
    const auto law = static_cast<std::size_t>(i);
    const Eight& w = s.w_now[i];
    const Eight& lambda = s.lambda_now[i];
    if (form.has_b[law] != 0) inside &= ~((s.w_low[i] - w > all(0)) | (w - s.w_high[i] > all(0)));
    if (form.has_a[law] != 0) inside &= ~((s.lambda_low[i] - lambda > all(0)) | (lambda - s.lambda_high[i] > all(0)));
  }
  return inside;
}

/// Is it sure that algebraic variables which may have other roots stay on theirs? See NonlinearCapturing::may_leave_root.
PERP_EIGHT_INLINE Bits stays_on_root(const Lanes& s) {
  const LaneForm& form = *s.form;
  Bits stays = all_bits(-1);
  for (const int j : form.curved) {
    if (j >= form.n || form.differential[static_cast<std::size_t>(j)] != 0) continue;
    const Eight way = size_of(s.d_now[j]);
    stays &= ~((size_of(s.d_now[j] - s.d[j]) > all(most_missed) * way) & (way > all(least_apart) * size_of(s.x[j])));
  }
  return stays;
}

/// Does no algebraic variable change its sign, and no variable come from far?
PERP_EIGHT_INLINE Bits is_steady(const Lanes& s) {
  const LaneForm& form = *s.form;
  Bits steady = all_bits(-1);
  for (int j = 0; j < form.n; ++j) {
    const Eight after = s.x[j] + s.d_now[j];
    steady &= ~(size_of(s.d_now[j]) * all(unit_roundoff) > all(coarse_share) * size_of(after));
    if (form.differential[static_cast<std::size_t>(j)] != 0) continue;
    const Bits turns = ((s.x[j] < all(0)) & (after > all(0))) | ((s.x[j] > all(0)) & (after < all(0)));
    steady &= ~turns;
  }
  return steady;
}

/// Does the new state stay where no pole is looked for?
PERP_EIGHT_INLINE Bits is_calm(const Lanes& s) {
  const int n = s.form->n;
  Bits calm = all_bits(-1);
  for (const Lanes::Side& side : s.sides) {
    Eight value = s.t;
    if (side.input > 2 * n)
      value = s.lambda_now[side.input - 1 - 2 * n];
    else if (side.input > 0)
      value = s.x[side.input - 1 - n] + s.d_now[side.input - 1 - n];
    calm &= (side.low <= value) & (value <= side.high);
  }
  return calm;
}

PERP_EIGHT_INLINE void commit(Lanes& s, const Bits& good) {
  const LaneForm& form = *s.form;
  for (int j = 0; j < form.n; ++j) {
    put(good, s.x_before[j], s.x[j]);
    put(good, s.d_before[j], s.d[j]);
    put(good, s.x[j], s.x[j] + s.d_now[j]);
    put(good, s.d[j], s.d_now[j]);
  }
  for (int i = 0; i < form.m; ++i) {
    put(good, s.lambda_before[i], s.lambda[i]);
    put(good, s.w_before[i], s.w[i]);
    put(good, s.lambda[i], s.lambda_now[i]);
    const bool is_given = form.has_b[static_cast<std::size_t>(i)] == 0;
    put(good, s.w[i], is_given ? s.c[i] / s.a[i] : s.w_now[i]);
  }
  put(good, s.residual_before, s.residual);
  put(good, s.residual, s.ratio);
  put(good, s.largest_residual, larger(s.largest_residual, s.ratio));
  put(good, s.iterations, s.iterations + s.iterations_now);
  put(good, s.steps, s.steps + all(1));
  put(good, s.k, s.k + all(1));
  for (int i = 0; i < form.size; ++i) put(~good, s.last_errors[i], s.errors_before[i]);
}

/// One step of the lanes of `of`; those on which it is made.
PERP_EIGHT_INLINE Bits make_step(Lanes& s, const Bits& of) {
  const LaneForm& form = *s.form;
  s.t = s.from + s.k * s.h;
  s.iterations_now = all(0);
  for (int j = 0; j < form.n; ++j) s.d_now[j] = s.d[j];
  for (int i = 0; i < form.m; ++i) s.lambda_now[i] = s.lambda[i];
  for (int i = 0; i < form.size; ++i) s.errors_before[i] = s.last_errors[i];
  LaneProgress p{of & (s.k <= s.last), of & (s.k <= s.last)};
  p.free = ~of;
  p.give_up(~linearise(s, s.d_now, s.lambda_now, p.open | p.free));
  for (int iteration = 0; iteration < most_iterations_beside && any(p.open); ++iteration) {
    ask(s, p, iteration);
    if (iteration + 1 < most_iterations_beside && any(p.open)) iterate(s, p, iteration);
  }
  p.give_up(p.open | ~p.local);
  if (any(p.good)) p.good = is_definite(s, p.good);
  p.good &= ~(p.has_sign & s.is_oriented & (p.negative ^ s.orientation));
  p.good &= is_admitted(s) & is_steady(s) & stays_on_root(s) & is_calm(s);
  commit(s, p.good);
  return p.good;
}

/// Until a lane of `of` is given up, or `most` steps were made; the lanes that go on.
PERP_EIGHT_INLINE Bits run_steps(Lanes& s, const Bits& of, long most) {
  Bits good = of;
  run_fixed(s);
  for (long step = 0; step < most; ++step) {
    good = make_step(s, of);
    if (any(good ^ of)) break;
  }
  return good;
}

}  // namespace

// Vectors that the processor does not have would be compared number by number: no lanes are faster then.
#if defined(__x86_64__) && defined(__linux__)
bool has_lanes() { return __builtin_cpu_supports("avx2"); }

__attribute__((target("avx2"))) void run_lanes(Lanes& lanes, Bits* taken, long most) { *taken = run_steps(lanes, *taken, most); }
#else
bool has_lanes() { return false; }

void run_lanes(Lanes&, Bits*, long) {}
#endif

}  // namespace perp::eight
