#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace perp {

/// Ten rounds of Philox 4x32 (Salmon, Moraes, Dror and Shaw, 2011): 128 random bits, a function of counter and
/// key. The key's low half comes first.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::uint64_t key);

/// Random numbers by counting: each is a function of seed, name and index alone, whichever thread or order
/// makes it.
class CounterRandom {
 public:
  CounterRandom(std::uint64_t seed, const std::string& name);

  /// Number `index` of the stream, uniform in (0, 1): a multiple of 2^-53 and a half of it.
  [[nodiscard]] double uniform(std::uint64_t index) const;

 private:
  std::uint64_t seed_, stream_;
};

}  // namespace perp
