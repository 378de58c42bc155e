#pragma once

#include <vector>

#include <perp/core/interval/interval.hpp>
#include <perp/core/law.hpp>

namespace perp::enclosure {

/// The graph of a law over an interval of w.
struct LawGraph {
  std::vector<int> branches{};  ///< that hold a w of it
  Interval lambda{};            ///< hull of the λ there; none where there are none or no bounds
  /// Is λ a continuous function of w there? It is Lipschitz then, since branches are straight.
  bool is_function = false;
  /// Is it one curve over all of w, λ a function but on vertical branches? An end of w is one that
  /// is vertical without bound.
  bool is_curve = false;
  /// Of a curve: 1 where λ falls nowhere with w, −1 where it rises nowhere, 0: neither.
  int direction = 0;
};

LawGraph graph_over(const Law& law, const Interval& w);

/// λ of the points of the graph with w > corner (side 1) or w < corner (side −1), w in the
/// interval: their hull; none where there are none or no bounds.
Interval lambda_beside(const Law& law, double corner, int side, const Interval& w);

}  // namespace perp::enclosure
