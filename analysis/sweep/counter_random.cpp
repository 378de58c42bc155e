#include <perp/analysis/sweep/counter_random.hpp>

namespace perp {
namespace {

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

/// FNV-1a.
std::uint64_t hash(const std::string& text) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return value;
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::uint64_t key) {
  constexpr std::uint64_t factor0 = 0xD2511F53, factor1 = 0xCD9E8D57;
  constexpr std::uint32_t golden = 0x9E3779B9, root3 = 0xBB67AE85;  // steps of the key
  std::uint32_t key0 = low(key), key1 = high(key);
  // A round is two products, whose halves are exchanged.
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = factor0 * counter[0], p1 = factor1 * counter[2];
    counter = {high(p1) ^ counter[1] ^ key0, low(p1), high(p0) ^ counter[3] ^ key1, low(p0)};
    key0 += golden;
    key1 += root3;
  }
  return counter;
}

CounterRandom::CounterRandom(std::uint64_t seed, const std::string& name) : seed_(seed), stream_(hash(name)) {}

double CounterRandom::uniform(std::uint64_t index) const {
  const std::array<std::uint32_t, 4> block = philox({low(index), high(index), low(stream_), high(stream_)}, seed_);
  const std::uint64_t bits = (static_cast<std::uint64_t>(block[0]) << 32 | block[1]) >> 11;
  return (static_cast<double>(bits) + 0.5) * 0x1p-53;
}

}  // namespace perp
