#pragma once

#include <string>

#include <perp/tests/relations/models/random_model.hpp>

namespace perp::relations {

/// A sum as an expression of the model language.
std::string sum_text(const RandomModel& model, const Sum& sum);

/// The name of a variable.
std::string variable_text(const RandomModel& model, int variable);

/// The tables [inputs] and [binaries], and the list of constraints, those of laws that are written as binaries
/// among them; empty: there are none.
std::string inputs_text(const RandomModel& model);
std::string binaries_text(const RandomModel& model);
std::string constraints_text(const RandomModel& model);

/// λ of a law where it stands in an equation: its name if the law is listed, else the operator.
std::string multiplier_text(const RandomModel& model, int law);

/// The entry of a listed law in the list of laws.
std::string law_text(const RandomModel& model, int law);

/// The law by its own branches, as a table of the form of matrices.
std::string branches_text(const RandomLaw& law);

}  // namespace perp::relations
