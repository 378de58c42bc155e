#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace perp {

/// FNV-1a, 64 bits, of bytes: tells texts apart that differ by accident, not by intent.
class Digest {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }
  /// 16 hexadecimal digits.
  [[nodiscard]] std::string text() const {
    constexpr const char* digits = "0123456789abcdef";
    std::string text(16, '0');
    for (int k = 0; k < 16; ++k) text[static_cast<std::size_t>(15 - k)] = digits[(hash_ >> (4 * k)) & 15U];
    return text;
  }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325ULL;
};

}  // namespace perp
