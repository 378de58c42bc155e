#pragma once

#include <perp/lcp/solution_set.hpp>

namespace perp {

/// The parts of a problem in an order in which each needs only the unknowns of earlier ones: the
/// block triangular form of its equations and laws, [WL] section 4. An equation is matched with an
/// unknown that it holds, a law with its own λ; the parts are the strongly connected components of
/// "the row holds the unknown that is matched with the other row". Parts without a choice of branches
/// come as soon as all that they need is known. One part, the whole problem,
/// where no matching is perfect (a structurally singular problem) or where everything depends on
/// everything. Pieces are empty.
std::vector<Block> triangular_parts(const Mlcp& problem);

/// The parts with `stuck` and all that need it put together at the end; `joint` is where a part at
/// the end was put together before, which then is taken in too.
void put_together(const Mlcp& problem, std::vector<Block>& parts, std::size_t stuck, bool joint);

}  // namespace perp
