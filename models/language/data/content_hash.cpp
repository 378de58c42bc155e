// Identities of models, for provenance: read_model and the readers of data files call it.
#include <fmt/format.h>

#include <perp/models/language/data/content_hash.hpp>

namespace perp::reader {

unsigned long long hash_with(unsigned long long hash, std::string_view bytes) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

std::string hash_text(unsigned long long hash) { return fmt::format("{:016x}", hash); }

std::string hash_with_file(const std::string& hash, std::string_view content) {
  const unsigned long long before = hash_with(hash_with(hash_of_nothing, hash), std::string_view("\0", 1));
  return hash_text(hash_with(before, content));
}

}  // namespace perp::reader
