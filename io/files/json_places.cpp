#include <perp/io/files/json_places.hpp>
#include <perp/io/json.hpp>

namespace perp::io {
namespace {

/// Walks over a valid JSON text without making anything of it.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  std::size_t find(const JsonPath& path) {
    skip_space();
    for (const JsonStep& step : path) {
      const std::size_t here = at_;
      if (!enter(step)) return here;
    }
    return at_;
  }

 private:
  [[nodiscard]] char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(now()) != std::string_view::npos)
      ++at_;
  }

  void skip_text() {
    for (++at_; at_ < text_.size() && now() != '"'; ++at_)
      if (now() == '\\') ++at_;
    ++at_;
  }

  /// Over one value of any kind; depth is counted, not recursed into.
  void skip_value() {
    int depth = 0;
    do {
      skip_space();
      const char c = now();
      if (c == '"') {
        skip_text();
      } else if (c == '[' || c == '{') {
        ++depth;
        ++at_;
      } else if (c == ']' || c == '}') {
        --depth;
        ++at_;
      } else if (c == ',' || c == ':') {
        ++at_;
      } else {
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n,]}:").find(now()) == std::string_view::npos)
          ++at_;
      }
    } while (depth > 0 && at_ < text_.size());
    skip_space();
  }

  /// From the start of a list or table to the start of one of its values.
  bool enter(const JsonStep& step) {
    if (now() != (step.is_index ? '[' : '{')) return false;
    ++at_;
    skip_space();
    for (std::size_t k = 0; at_ < text_.size() && now() != ']' && now() != '}'; ++k) {
      bool found = step.is_index && k == step.index;
      if (!step.is_index) {
        const std::size_t from = at_;
        skip_text();
        found = parse_json(text_.substr(from, at_ - from)).text() == step.key;
        skip_space();
        ++at_;  // ':'
        skip_space();
      }
      if (found) return true;
      skip_value();
      if (now() == ',') ++at_;
      skip_space();
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::size_t json_place(std::string_view text, const JsonPath& path) {
  return Walker(text).find(path);
}

}  // namespace perp::io
