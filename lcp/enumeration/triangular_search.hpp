#pragma once

#include <perp/lcp/enumeration/block_search.hpp>

namespace perp {

/// All solutions of a problem part by part in its block triangular form: for every solution of the
/// earlier parts those of the next one, whose q they shift. What a part has for the same q is found
/// once and kept. A part whose solutions are a continuum is searched together with all parts that
/// need it. What bounds of the errors do not decide is decided in rational arithmetic. Where a part has
/// too many modes for its maps and the parts before it make its q no double, and with one part, it
/// is `search_block` of the whole.
BlockFindings search_triangular(const Mlcp& block, const EnumerateOptions& options);

}  // namespace perp
