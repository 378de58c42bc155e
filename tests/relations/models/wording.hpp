#pragma once

#include <string>

#include <perp/tests/relations/models/random_model.hpp>

namespace perp::relations {

/// A sum as an expression of the model language.
std::string sum_text(const RandomModel& model, const Sum& sum);

/// λ of a law where it stands in an equation: its name if the law is listed, else the operator.
std::string multiplier_text(const RandomModel& model, int law);

/// The entry of a listed law in the list of laws.
std::string law_text(const RandomModel& model, int law);

/// The law by its own branches, as a table of the form of matrices.
std::string branches_text(const RandomLaw& law);

}  // namespace perp::relations
