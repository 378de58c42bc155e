#include <array>

#include <perp/core/error.hpp>
#include <perp/core/nearest_name.hpp>
#include <perp/lcp/selector.hpp>

namespace perp {

const char* to_string(Selector selector) {
  switch (selector) {
    case Selector::keep_mode: return "keep_mode";
    case Selector::minimal_norm: return "minimal_norm";
    case Selector::first: return "first";
  }
  return "unknown";
}

Selector selector_from(const std::string& name) {
  for (const Selector s : {Selector::keep_mode, Selector::minimal_norm, Selector::first})
    if (name == to_string(s)) return s;
  const std::array<std::string, 3> known{"keep_mode", "minimal_norm", "first"};
  throw InvalidInput("unknown selector '" + name + "'; expected keep_mode, minimal_norm or first" +
                     suggestion(name, known));
}

}  // namespace perp
