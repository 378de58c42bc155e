#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/io/json.hpp>
#include <perp/lcp/exact/exact_norm.hpp>
#include <perp/lcp/mlcp.hpp>
#include <perp/lcp/solution_set.hpp>

namespace perp::io {

/// A mixed complementarity problem over a box, as JSON:
///     0 = Auu u + Aul λ + au,    w = Alu u + All λ + al,    -w_i ∈ N_[lower_i, upper_i](λ_i)
/// keys name, p, m, Auu (p×p), Aul (p×m), au, Alu (m×p), All (m×m), al, lower, upper, and optional
/// norm {indices, ref, weights} over u (over λ where p = 0). Bounds may be "inf" and "-inf";
/// matrices without entries may be [] or left out.
struct MlcpFile {
  std::string name;
  Mlcp problem;
  Json norm_given;             ///< as it stands in the file; null: none
  WeightedNorm weighted_norm;  ///< the same, indices in the coordinates (u, λ)
  std::optional<Norm> norm;    ///< the same as a matrix
};

/// Reads it. Every error is InvalidInput with file:line:column, found and wanted.
MlcpFile read_mlcp(const std::string& file);

/// The same from text; `name` stands for the file in messages.
MlcpFile read_mlcp_text(const std::string& text, const std::string& name);

}  // namespace perp::io
