#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/read_model.hpp>

namespace perp {

struct HybridStructure;

/// The hybrid model of a file's text, nothing where it has no [binaries], [inputs], constraints or
/// [multilinear]; `name` stands for the file in messages. Throws as `read_model` does, and where
/// equations and constraints cannot determine the unknowns by their form.
std::optional<HybridModel> read_hybrid_model_text(const std::string& text, const std::string& name,
                                                  const std::vector<Override>& overrides = {},
                                                  const ReadOptions& known = {});

namespace reader {

/// Does the file have [binaries], constraints or [multilinear]?
bool is_hybrid(const Document& document);

/// `structure`: null, or where that of the model goes. Throws ModelError.
HybridModel read_hybrid(const Document& document, const ReadOptions& known, HybridStructure* structure = nullptr);

class Context;
struct Value;
/// The [multilinear] table: S, Phi_f, Phi_g. The variables, inputs and binaries of `model` are
/// there already.
void read_multilinear(const Context& context, const Value& table, HybridModel& model);

/// The same model with laws in place of binaries and constraints, see `lower_binaries`. Throws
/// ModelError at the constraint that no law is.
Model read_lowered(const Document& document, const ReadOptions& known);

}  // namespace reader
}  // namespace perp
