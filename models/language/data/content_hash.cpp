// Identities of models that read files: the readers of data call it.
#include <perp/core/base/digest.hpp>
#include <perp/models/language/data/content_hash.hpp>

namespace perp::reader {

std::string hash_with_file(const std::string& hash, std::string_view content) {
  Digest digest;
  digest.add(hash);
  digest.add(std::string_view("\0", 1));
  digest.add(content);
  return digest.text();
}

}  // namespace perp::reader
