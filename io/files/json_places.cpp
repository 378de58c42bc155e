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

  /// Is the next character one of these?
  [[nodiscard]] bool is_at(std::string_view characters) const {
    return at_ < text_.size() && characters.find(now()) != std::string_view::npos;
  }

  void skip_space() {
    while (is_at(" \t\r\n")) ++at_;
  }

  void skip_text() {
    for (++at_; at_ < text_.size() && now() != '"'; ++at_)
      if (now() == '\\') ++at_;
    ++at_;
  }

  /// Over a number, true, false or null.
  void skip_word() {
    while (at_ < text_.size() && !is_at(" \t\r\n,]}:")) ++at_;
  }

  /// Over one value of any kind; depth is counted, not recursed into.
  void skip_value() {
    int depth = 0;
    do {
      skip_space();
      if (is_at("\"")) {
        skip_text();
      } else if (is_at("[{")) {
        ++depth;
        ++at_;
      } else if (is_at("]}")) {
        --depth;
        ++at_;
      } else if (is_at(",:")) {
        ++at_;
      } else {
        skip_word();
      }
    } while (depth > 0 && at_ < text_.size());
    skip_space();
  }

  /// From the start of a member of a table to its value. Is this its key?
  bool enter_member(std::string_view key) {
    const std::size_t from = at_;
    skip_text();
    const bool found = parse_json(text_.substr(from, at_ - from)).text() == key;
    skip_space();
    ++at_;  // ':'
    skip_space();
    return found;
  }

  /// From the start of a list or table to the start of one of its values.
  bool enter(const JsonStep& step) {
    if (now() != (step.is_index ? '[' : '{')) return false;
    ++at_;
    skip_space();
    for (std::size_t k = 0; at_ < text_.size() && !is_at("]}"); ++k) {
      const bool found = step.is_index ? k == step.index : enter_member(step.key);
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
