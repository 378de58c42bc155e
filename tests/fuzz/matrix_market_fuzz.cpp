#include <cstddef>
#include <cstdint>
#include <string>

#include <perp/core/base/error.hpp>
#include <perp/models/language/data/matrix_market.hpp>

/// Any text is a matrix, whose entries have digits, or is refused with a typed error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const perp::MarketMatrix matrix = perp::read_matrix_market(text, "fuzz.mtx");
    for (const perp::MarketMatrix::Entry& entry : matrix.entries) (void)matrix.digits(text, entry);
  } catch (const perp::InvalidInput&) {  // what a wrong file must come to
  }
  return 0;
}
