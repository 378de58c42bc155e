#pragma once

#include <string>

namespace perp::io {

/// A table of the models of the zoo, the laws, schemes, solvers or measures that are known by name; of the schemes with
/// `options` their options instead. Throws InvalidInput for another word, with the nearest one.
std::string list_text(const std::string& what, bool options);

}  // namespace perp::io
