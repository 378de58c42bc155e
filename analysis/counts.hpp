#pragma once

#include <string>

#include <perp/core/base/rational.hpp>
#include <perp/lcp/solution_set.hpp>

namespace perp {

/// All digits, or of a very long number "about 1.606e60".
std::string short_count(const Integer& number);

/// "none", "unique", "several (3)", "a continuum" of a set that is known whole; else "none found",
/// "one found", "3 found".
std::string describe_count(Multiplicity multiplicity, long count, bool complete);

}  // namespace perp
