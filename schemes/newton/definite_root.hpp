#pragma once

#include <memory>

#include <perp/core/dcs.hpp>

namespace perp {

/// Tells roots of algebraic equations from points around which they vanish by rounding or underflow alone, because their
/// root is at infinity (log(1 + y) = log(y)) or there is none.
class DefiniteRoot {
 public:
  /// Throws InvalidInput (see `validate`).
  explicit DefiniteRoot(const Dcs& system);
  ~DefiniteRoot();

  /// False: the equations without derivatives and the laws of the mode hold at (t, x, λ), but so they do far around.
  /// True is no proof of a root.
  /// `time`: in which the solution changes by its size.
  bool may_be(const Mode& mode, double t, const Vector& x, const Vector& lambda, double time);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace perp
