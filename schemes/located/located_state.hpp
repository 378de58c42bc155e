#pragma once

#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>
#include <perp/schemes/located/located.hpp>
#include <perp/schemes/located/radau/gaps.hpp>

namespace perp {

inline constexpr double resting = 1e-8;  ///< of its size within the time scale: a gap that stays

/// The end of a mode: its jet there, the gaps that are 0, and dt*/dq of the first.
struct Passage {
  Jet before;                    ///< of the mode that ends
  std::vector<Gap> gaps;         ///< that are 0, the one that fell first
  Vector dt;                     ///< dt*/dq, empty without sensitivities
  double condition = 0;          ///< |dt*/dgap|
  std::vector<Matrix> pieces{};  ///< the one-sided derivatives of the flow, where it has several
  bool rests = false;            ///< no gap moves: the time of the event is no smooth function of q

  void transfer(Archive& archive) { archive(before, gaps, dt, condition, pieces, rests); }
};

/// Where an event-located run stands: the problem, its units, and the present state, which the parts of a
/// run share. The run and its transitions move it; integrator, locator and sensitivities read it.
struct LocatedState {
  /// Throws InvalidInput: options that the scheme does not have a meaning for.
  LocatedState(const Dcs& dcs, const Located& scheme);

  const Dcs system;
  const Located options;
  const int stages;                 ///< of Radau IIA
  const std::vector<int> all_laws;  ///< 0..m-1
  Span span{};
  ModelScales scales;    ///< what "small" refers to
  Step now;              ///< the present state, in the present mode
  Step moved_from;       ///< the start of the last accepted step
  Vector largest;        ///< n: |x| so far
  Vector law_sizes;      ///< m: of the terms of each w in the present mode
  Passage passage;       ///< the present event

  /// What the run has moved; its span and scales are those of its start.
  void transfer(Archive& archive);
  /// No step is shorter.
  [[nodiscard]] double shortest_step() const;
  /// How far apart in time events at a state that a step led to may be and are those of one moment.
  [[nodiscard]] double same_moment(const Step& state) const;
  /// The laws whose gaps are 0 at the present event, increasing.
  [[nodiscard]] std::vector<int> laws_hit() const;
  /// The laws that may change their branch where those of `hit` do: these, and all whose multiplier
  /// follows the others.
  [[nodiscard]] std::vector<int> undecided_laws(const Step& before, const std::vector<int>& hit) const;
};

/// Measured on smooth problems: below, more stages mean fewer steps for the same work.
int stages_for(const Located& options);

}  // namespace perp
