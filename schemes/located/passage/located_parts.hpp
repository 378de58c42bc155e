#pragma once

#include <perp/schemes/located/events/between_samples.hpp>
#include <perp/schemes/located/events/hidden_pulses.hpp>
#include <perp/schemes/located/events/pole_ahead.hpp>
#include <perp/schemes/located/events/rough_ends.hpp>
#include <perp/schemes/located/passage/continuation_choice.hpp>
#include <perp/schemes/located/passage/first_order_rest.hpp>

namespace perp {

/// The objects that an event-located run is made of, each of which refers to those above it.
struct LocatedParts {
  /// Throws InvalidInput.
  LocatedParts(const Dcs& system, const Located& options, const IntegrateOptions& output)
      : at(system, options),
        jets(at),
        integrator(at, jets),
        record(at, output, integrator.radau().counts()),
        sides(at, jets, integrator),
        locator(at, jets, integrator, sides, output.bounds),
        between(at, integrator, locator),
        pulses(at, integrator),
        rough(at, jets, integrator, locator),
        poles(at, integrator),
        sensitivity(at, record, jets, integrator, locator),
        choice(at, jets, integrator),
        rest(at, record, sides, sensitivity) {}
  LocatedParts(const LocatedParts&) = delete;
  LocatedParts& operator=(const LocatedParts&) = delete;

  /// All that the next steps depend on, in the order in which parts refer to each other.
  void transfer(Archive& archive) {
    archive(at, jets, integrator, record, sides, locator, poles, sensitivity, choice, rest);
  }
  /// After an accepted step: the sides of the conditions of resets, and their gaps.
  void watch_resets() {
    if (sides.watch_step()) locator.watch_mode();
  }

  LocatedState at;                ///< where it stands
  ModeJets jets;                  ///< Taylor series of modes
  ModeIntegrator integrator;      ///< steps within a mode
  LocatedRecord record;           ///< what is kept and told
  ResetSides sides;               ///< of the conditions of resets
  EventLocator locator;           ///< the end of a mode
  BetweenSamples between;         ///< what the samples of a step do not show
  HiddenPulses pulses;            ///< of algebraic variables
  RoughEnds rough;                ///< ends that no step reaches
  PoleAhead poles;                ///< of the equations
  SensitivityUpdate sensitivity;  ///< ∂x/∂q
  ContinuationChoice choice;      ///< which mode follows
  FirstOrderRest rest;            ///< where nothing of this goes on
};

}  // namespace perp
