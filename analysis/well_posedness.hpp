#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/models/language/model.hpp>
#include <perp/schemes/step/solvability/step_solvability.hpp>

namespace perp {

/// The DAE of a model in one mode, and the matrix of a step in it.
struct ModeWellPosedness {
  Mode mode{};                 ///< one branch of every law
  std::string fault{};         ///< why nothing is known of this mode; else empty
  std::optional<int> index{};  ///< of the DAE in x and the open multipliers; none: it is singular
  Matrix product{};  ///< C_i B of the constraints that are left; 0×0 where there are none
  double reciprocal_condition = nan;  ///< of the scaled matrix of a step of length model.run.h

  /// Is that matrix singular up to rounding?
  [[nodiscard]] bool has_singular_step() const;
};

/// Every mode of a model, in the order of its branches; a model that is not affine is linearised at
/// the start.
struct ModelModes {
  double count = 0;  ///< of modes
  bool is_linearised = false;             ///< at the start, as the model is not affine
  std::vector<ModeWellPosedness> list{};  ///< the first 256; of more modes fewer where these are large
};
/// The index of the DAE of each mode, C_i B, and the matrix of a step.
ModelModes well_posedness(const Model& model);

/// How many solutions the steps of an affine model with laws have, whatever the state.
struct ModelSteps {
  bool is_affine = true;        ///< false: nothing is decided but by `longest_monotone`
  /// Of a model of many unknowns: up to this length a step has at most one x⁺, see `longest_monotone_step`; 0: that was
  /// not found.
  double longest_monotone = 0;
  bool judges_shorter = false;  ///< of a model with few modes: `found` tells of shorter steps too
  StepSolvability found{};      ///< of the step, and of shorter ones
};
/// Of steps of length model.run.h, and shorter ones.
ModelSteps solvability_of_steps(const Model& model);

/// Is x0 consistent with the algebraic equations and laws of an affine model?
struct StartConsistency {
  bool complete = true;         ///< false: the search was ended
  Multiplicity multiplicity{};  ///< of the algebraic variables and λ that x0 leaves
  long count = 0;               ///< of these values, where they are no continuum
  std::vector<Mode> modes{};    ///< that hold one, each once; empty: none
};
/// Of an affine model. Throws InvalidInput for others.
StartConsistency consistency_of_start(const Model& model);

/// Of the matrix E of an affine model.
int rank_of_e(const Lcs& lcs);

}  // namespace perp
