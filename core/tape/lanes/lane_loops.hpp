#pragma once

#include <cstring>

#include <perp/core/tape/lanes/lane_program.hpp>

// Vectors are never passed between functions of the program: everything is inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

// Loops over lanes, four doubles at a time in the vector types of the compiler. Everything is
// inlined into functions of one instruction set each (see PERP_LANES_FUNCTION), which is chosen when
// the program runs; none of them joins a product and a sum into one rounding.
#define PERP_LANES_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__) && defined(__linux__)
#define PERP_LANES_WIDE __attribute__((target("avx2")))
#endif

namespace perp::lanes {

inline constexpr int width = 4;
typedef double Four __attribute__((vector_size(32)));
typedef long long FourBits __attribute__((vector_size(32)));

PERP_LANES_INLINE Four load(const double* from) {
  Four four;
  std::memcpy(&four, from, sizeof four);
  return four;
}
PERP_LANES_INLINE void store(double* to, const Four& four) { std::memcpy(to, &four, sizeof four); }
PERP_LANES_INLINE Four all(double x) { return Four{x, x, x, x}; }

/// Does the processor run functions of PERP_LANES_WIDE?
inline bool is_wide() {
#ifdef PERP_LANES_WIDE
  static const bool is = __builtin_cpu_supports("avx2") != 0;
  return is;
#else
  return false;
#endif
}

/// Numbers of an operand: lane i has from[step * i], step 0 or 1.
struct Source {
  const double* from;
  int step;
};

/// `list`: room for most_lanes.
PERP_LANES_INLINE Source source_of(const LaneProgram& program, const LaneProgram::Lanes& lanes, int count,
                                   const double* base, double* list) {
  if (lanes.by == LaneProgram::Lanes::By::lanes) return {base + lanes.place, 1};
  if (lanes.by == LaneProgram::Lanes::By::one) return {base + lanes.place, 0};
  const int* const index = program.indices.data() + lanes.place;
  if (lanes.by == LaneProgram::Lanes::By::steps) {
    const std::ptrdiff_t step = index[1];
    base += index[0];
    for (int i = 0; i < count; ++i) list[i] = base[i * step];
  } else {
    for (int i = 0; i < count; ++i) list[i] = base[index[i]];
  }
  return {list, 1};
}

/// Those of lanes that have some.
PERP_LANES_INLINE const int* indices_of(const LaneProgram& program, const LaneProgram::Lanes& lanes) {
  using By = LaneProgram::Lanes::By;
  return lanes.by == By::lanes || lanes.by == By::one ? nullptr : program.indices.data() + lanes.place;
}

/// Place i of lanes.
PERP_LANES_INLINE std::ptrdiff_t place_of(const LaneProgram::Lanes& lanes, const int* index, int i) {
  using By = LaneProgram::Lanes::By;
  if (lanes.by == By::lanes) return lanes.place + i;
  if (lanes.by == By::one) return lanes.place;
  return lanes.by == By::steps ? index[0] + static_cast<std::ptrdiff_t>(i) * index[1] : index[i];
}

/// A store.
PERP_LANES_INLINE void copy_lanes(const LaneProgram& program, const LaneProgram::Instruction& line,
                                  const double* base, double* outputs) {
  using By = LaneProgram::Lanes::By;
  const int* const from = indices_of(program, line.a);
  const int* const to = indices_of(program, line.b);
  if (line.a.by == By::lanes && line.b.by == By::lanes) {
    std::memcpy(outputs + line.b.place, base + line.a.place, sizeof(double) * static_cast<std::size_t>(line.count));
  } else if (line.a.by == By::lanes && line.b.by == By::steps) {
    const std::ptrdiff_t step = to[1];
    double* target = outputs + to[0];
    for (int i = 0; i < line.count; ++i, target += step) *target = base[line.a.place + i];
  } else {
    for (int i = 0; i < line.count; ++i)
      outputs[place_of(line.b, to, i)] = base[place_of(line.a, from, i)];
  }
}

}  // namespace perp::lanes
