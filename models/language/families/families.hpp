#pragma once

#include <perp/models/language/reader/document.hpp>

namespace perp::reader {

/// The file with its indexed families written out: x = { size = "N", start = "i" } is x[1], x[2],
/// .., "for i in 1:N: ..." one equation for each i. The same document where there are no families.
/// Throws ModelError.
Document with_families(Document document);

}  // namespace perp::reader
