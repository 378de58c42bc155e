#pragma once

#include <string>

#include <perp/cli/output/provenance.hpp>
#include <perp/core/base/rational.hpp>

namespace perp::cli {

/// All digits, or of a very long number "about 1.606e60".
std::string short_count(const Integer& number);

/// A number where a double holds it, otherwise all its digits as a text.
Json count_to_json(const Integer& number);

}  // namespace perp::cli
