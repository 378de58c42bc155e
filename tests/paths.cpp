#include <perp/tests/paths.hpp>

namespace perp::test {

std::string data_path(const std::string& inside) { return PERP_TEST_DATA + inside; }
std::string models_path(const std::string& inside) { return PERP_MODELS + inside; }
std::string program_path() { return PERP_PROGRAM; }

}  // namespace perp::test
