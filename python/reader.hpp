#pragma once

#include <perp/python/bindings.hpp>

namespace perp::python {

/// Reads the model of a text with overrides, and others in their place. Threads may share one.
class Reader {
 public:
  Reader(Source& source, const ReadingOptions& options, const Overrides& overrides)
      : text_(source.parsed(options)), overrides_(overrides) {}

  [[nodiscard]] Model operator()(const std::vector<Override>& set, const std::vector<Override>& start) const {
    std::vector<Override> items = items_of(overrides_);
    for (const Override& item : set)
      std::erase_if(items, [&](const Override& other) { return same_key(other.key, item.key); });
    items.insert(items.end(), set.begin(), set.end());
    for (const Override& item : start) items.push_back({"variables." + item.key, item.value});
    Overrides words = overrides_;
    for (const Override& item : set) words.emplace_back(item.key, item.value, item.key + "=" + item.value);
    return in_words_of(words, [&] { return read_for_run(text_, items); });
  }

 private:
  ModelText text_;
  Overrides overrides_;
};

}  // namespace perp::python
