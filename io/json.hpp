#pragma once

#include <nlohmann/json.hpp>

#include <perp/core/base/rational.hpp>
#include <perp/core/base/types.hpp>

namespace perp::io {

using Json = nlohmann::ordered_json;

/// A number; those that JSON has no word for are the texts "inf" and "-inf", null is not known.
Json to_json(double value);
Json to_json(const Vector& values);

/// A number where a double holds it, otherwise all its digits as a text.
Json count_to_json(const Integer& number);

}  // namespace perp::io
