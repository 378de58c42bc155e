#pragma once

#include <string>

/// Where this checkout keeps what tests read and run. Defined in one unit, so that the others are the same in every
/// checkout.
namespace perp::test {

std::string data_path(const std::string& inside);    ///< tests/data + inside, e.g. "/mlcp/"
std::string models_path(const std::string& inside);  ///< models + inside
std::string program_path();                          ///< the program perp of this build

}  // namespace perp::test
