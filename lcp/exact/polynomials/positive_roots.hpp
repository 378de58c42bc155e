#pragma once

#include <vector>

#include <perp/lcp/exact/polynomials/polynomial.hpp>

namespace perp {

/// The positive roots of a polynomial, by Sturm's sequence in rational arithmetic: what is said of them is proved.
class PositiveRoots {
 public:
  /// Roots at 0 are divided out. Of the polynomial 0, which vanishes everywhere, `is_zero` alone may be asked.
  explicit PositiveRoots(Polynomial p);

  [[nodiscard]] bool is_zero() const { return sequence_.empty(); }
  /// Has it a root in (0, end]? `end` may be infinite.
  [[nodiscard]] bool has_root_to(double end) const;
  /// The largest double below which there is no positive root: the smallest one, or the double before it;
  /// infinite where there is none.
  [[nodiscard]] double smallest() const;

 private:
  std::vector<Polynomial> sequence_;  // p, p', then the rests with their signs turned
};

}  // namespace perp
