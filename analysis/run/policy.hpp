#pragma once

#include <string>

#include <perp/models/language/model.hpp>

namespace perp {

/// Why the key `policy` has no effect in a scheme that chooses between continuations: a model of
/// binaries follows all of them, or the rule nearest_mode chooses.
inline std::string policy_of_rule(const Model& model) {
  return model.hybrid == nullptr || model.run.policy == "all"
             ? ""
             : "modes of this model are chosen by the rule nearest_mode; expected all";
}

/// The same in a scheme of steps, whose selector chooses between solutions where laws say which there
/// are.
inline std::string policy_of_binaries(const Model& model) {
  return model.hybrid == nullptr
             ? "its steps are chosen by the selector, and perp run --all lists their solutions"
             : policy_of_rule(model);
}

}  // namespace perp
