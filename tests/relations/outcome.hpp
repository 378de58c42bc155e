#pragma once

#include <string>
#include <vector>

#include <perp/core/law.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp::relations {

enum class SchemeName { backward_euler, located };

const char* to_string(SchemeName scheme);

/// Of several continuations, by more than counts of the binaries that change, which no unit and no order moves; or by the order
/// in which they are declared.
bool was_chosen(const Event& event);

/// What became of a model text: a trajectory, or why it was refused.
struct Outcome {
  Trajectory run{};
  Span span{};
  double h = 0;
  SchemeName scheme = SchemeName::backward_euler;
  Vector nominal{};
  std::vector<Law> laws{};
  std::string refusal{};  ///< the message of the exception, if there was one
  /// A state that is none of the system's: rows that it misses by more than rounding, whatever the run said.
  std::string fault{};
  bool is_slow = false;   ///< the limit of rows or of time for one run ended it

  /// The step was one of several, or a mode one of several that continue: the norm, whose weights
  /// are units, decided.
  [[nodiscard]] bool has_choice() const;
  /// The state at t, after whatever happened there; size 0 where no row is at t.
  [[nodiscard]] Vector at(double t) const;
};

/// Options of a run.
struct RunSettings {
  double step_factor = 1;  ///< of h
  double tol = 1e-10;
  long rows = 20'000;  ///< after which a run is given up
  double seconds = 20;  ///< of the processor, the same: no run of the suite comes near it
};

/// A model whose modes laws or the rule nearest_mode choose. Throws InvalidInput.
Model read_random_model(const std::string& text);

/// Reads the text and runs it.
Outcome run(const std::string& text, SchemeName scheme, const RunSettings& settings = {});

/// The same for a model that was read.
Outcome run(const Model& model, SchemeName scheme, const RunSettings& settings = {});

}  // namespace perp::relations
