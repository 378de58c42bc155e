#include <cstddef>
#include <cstdint>
#include <string>

#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>

/// Any text is a model or is refused with a typed error; nothing else may happen.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const perp::Model model =
        perp::read_model_text(std::string(reinterpret_cast<const char*>(data), size), "fuzz.toml");
    (void)model;
  } catch (const perp::InvalidInput&) {  // what a wrong model must come to
  }
  return 0;
}
