// The loop over steps in modes of affine systems, compiled for processors with vectors of 256 bits: called by AffineBlock.
#include <perp/schemes/lanes/affine/affine_lanes.hpp>

namespace perp::eight {
namespace {

// What ModeMap::dot, is_finite and evaluate are, in each lane.

template <int K>
PERP_EIGHT_INLINE Eight dot(const AffineLanes::Row& row, const Eight* theta) {
  Eight sum = row[K];
  for (std::size_t j = 0; j < K; ++j) sum += row[j] * theta[j];
  return sum;
}

/// On which lanes a step from θ is one in its mode.
template <int K>
PERP_EIGHT_INLINE Bits goes_on(const AffineLanes& s, const Eight* theta) {
  Bits good = s.taken;
  for (std::size_t j = 0; j < K; ++j) good &= size_of(theta[j]) <= s.finite_up_to;
  for (int i = 0; i < s.margins; ++i) good &= dot<K>(s.margin[static_cast<std::size_t>(i)], theta) >= all(0);
  return good;
}

/// θ⁺_j of the lanes where the terms of its row cancel.
template <int K>
void put_cancelled(AffineLanes& s, const Bits& lanes, std::size_t j, const Eight* theta, Eight& next) {
  for (int lane = 0; lane < width; ++lane) {
    if (lanes[lane] == 0) continue;
    double own[K];  // NOLINT: written before it is read
    for (int l = 0; l < K; ++l) own[l] = theta[l][lane];
    const auto at = static_cast<std::size_t>(lane);
    next[lane] = s.map[at]->u((*s.which[at])[j], own);
  }
}

template <int K>
PERP_EIGHT_INLINE void make_step(AffineLanes& s, const Eight* theta, Eight* next) {
  for (std::size_t j = 0; j < K; ++j) {
    const AffineLanes::Row& row = s.next[j];
    Eight sum = row[K], terms = size_of(sum);
    for (std::size_t l = 0; l < K; ++l) {
      const Eight term = row[l] * theta[l];
      sum += term;
      terms += size_of(term);
    }
    next[j] = sum;
    const Bits cancelled = s.taken & ~(terms <= s.most_cancelled[j] * size_of(sum));
    if (any(cancelled)) [[unlikely]] put_cancelled<K>(s, cancelled, j, theta, next[j]);
  }
}

template <int K>
PERP_EIGHT_INLINE long run(AffineLanes& s, long most, Bits& ended) {
  for (long made = 0; made < most; ++made, ++s.step) {
    const Eight* theta = s.ring[static_cast<std::size_t>(s.step & 3)].data();
    const Bits left = s.taken & ~goes_on<K>(s, theta);
    if (any(left)) {
      ended = left;
      return made;
    }
    make_step<K>(s, theta, s.ring[static_cast<std::size_t>((s.step + 1) & 3)].data());
  }
  return most;
}

}  // namespace

#if defined(__x86_64__) && defined(__linux__)
__attribute__((target("avx2"))) long run_affine(AffineLanes& lanes, long most, Bits* ended) {
  switch (lanes.k) {
    case 1: return run<1>(lanes, most, *ended);
    case 2: return run<2>(lanes, most, *ended);
    case 3: return run<3>(lanes, most, *ended);
    default: return run<4>(lanes, most, *ended);
  }
}
#else
long run_affine(AffineLanes&, long, Bits*) { return 0; }
#endif

}  // namespace perp::eight
