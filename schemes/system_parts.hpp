#pragma once

#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/system/sparse_lcs.hpp>

namespace perp {

/// A system of its own within another one: no equation couples it to the rest.
struct LcsPart {
  std::vector<int> variables, laws;  ///< what its k-th variable and law are in the whole
  SparseLcs system;
};
/// The same of functions; it has all parameters.
struct DcsPart {
  std::vector<int> variables, laws;
  Dcs system;
};

/// The connected components of E, A, B, C and D, numbered by their first variable; those with more or fewer
/// equations than variables are one together.
std::vector<LcsPart> independent_parts(const SparseLcs& whole);
/// The same by the inputs that F and G depend on. None where there are resets, which act on all. Throws InvalidInput,
/// see `validate`.
std::vector<DcsPart> independent_parts(const Dcs& whole);

}  // namespace perp
