#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/lcp/selector.hpp>

namespace perp {

const char* to_string(Selector selector) {
  switch (selector) {
    case Selector::keep_mode: return "keep_mode";
    case Selector::continuation: return "continuation";
    case Selector::minimal_norm: return "minimal_norm";
    case Selector::first: return "first";
  }
  return "unknown";
}

const std::vector<Selector>& selectors() {
  static const std::vector<Selector> all{Selector::keep_mode, Selector::continuation,
                                         Selector::minimal_norm, Selector::first};
  return all;
}

std::string selector_names() {
  std::string names;
  for (const Selector selector : selectors())
    names += (names.empty() ? "" : ", ") + std::string(to_string(selector));
  return names;
}

Selector selector_from(const std::string& name) {
  std::vector<std::string> known;
  for (const Selector selector : selectors()) {
    if (name == to_string(selector)) return selector;
    known.emplace_back(to_string(selector));
  }
  throw InvalidInput("unknown selector '" + name + "'; expected one of " + selector_names() +
                     suggestion(name, known));
}

}  // namespace perp
