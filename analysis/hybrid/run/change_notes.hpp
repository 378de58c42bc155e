#pragma once

#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// Does a binary change its value there, or begin or end to slide?
bool is_change(const Event& event);

/// The run with what decided at changes of binaries that laws stand for: in the note of each such event the constraint
/// that called and what the rule nearest_mode says of the choice, and the number of values of the called binaries that
/// continue. The rule is asked at the state of the event; where it takes another value than the run (the state of a
/// captured event is known to a step only), the note names the constraint of the binary alone. Events that have a note
/// stay as they are, and all of models without binaries; a declared start that does not continue is an event, too.
Trajectory with_change_notes(const Model& model, Trajectory run);

}  // namespace perp
