#pragma once

#include <perp/schemes/located/passage/located_parts.hpp>

namespace perp {

/// Passages of the bounds of variables: each is an event, one that ends the run does.
class BoundPassage {
 public:
  /// `run` must outlive this.
  explicit BoundPassage(LocatedParts& run) : run_(run) {}

  /// The present state is the moment at which this gap falls.
  void pass(const Gap& gap);
  /// Bounds that the present state is beyond although no gap fell: a jump led there, or the run starts there.
  void pass_by_jump();

 private:
  void log(int surface, bool at_start, const Vector& dt_dq, double condition);

  LocatedParts& run_;
};

}  // namespace perp
