#pragma once

#include <optional>
#include <vector>

#include <perp/schemes/jumps/consistent_jumps.hpp>
#include <perp/schemes/step/short_step.hpp>

namespace perp {

/// Makes jumps of what a mode of a short step has as solutions, and says where its continuous solutions start.
class JumpLimits {
 public:
  using Number = RationalFunction;
  using Point = std::vector<Number>;

  /// The step must outlive this.
  explicit JumpLimits(const ShortStep& step) : step_(step) {}

  /// The limit h → 0 of the solutions of a mode; of infinitely many the point nearest to the state before.
  [[nodiscard]] ConsistentJump operator()(const Mode& mode, const Generators<Number>& generators) const;

  /// Do two states differ by roundings alone in what E sees of them, E x⁺ − E x⁻?
  [[nodiscard]] bool same(const Vector& a, const Vector& b) const;
  /// E (x⁺ − x⁻) of the point of a jump.
  [[nodiscard]] Vector change_of(const ConsistentJump& jump) const { return step_.E * (jump.x() - step_.x); }

  /// Without the impulses Σ/h, a solution of a step is one of E (x⁺ − x_0) = h (A x⁺ + B λ + b) from its limit x_0. Is it in
  /// the branches of this mode too, and with it all solutions that the mode has? Then continuous solutions start
  /// there in this mode; else there may be some in others.
  [[nodiscard]] bool go_on(const Mode& mode, const Generators<Number>& generators) const;

  /// E (x_0 − x⁻), where the solutions of the mode have one limit x_0.
  [[nodiscard]] std::optional<std::vector<Rational>> change(const Generators<Number>& generators) const;

 private:
  /// What is kept of a point or a direction: E (x⁺ − x⁻), then the coefficients of √h^0 of (x, λ), then those of 1/h.
  using Limit = std::vector<Rational>;
  [[nodiscard]] Limit limit_of(const Point& y, bool is_direction) const;
  [[nodiscard]] Limit limit_of_direction(Point y) const;
  [[nodiscard]] std::vector<Point> finite_points(const Generators<Number>& generators) const;
  [[nodiscard]] std::vector<Limit> directions_of(const Generators<Number>& generators) const;
  [[nodiscard]] Point between(const std::vector<Point>& ends) const;
  [[nodiscard]] Matrix states_of(const std::vector<Limit>& limits) const;
  [[nodiscard]] bool is_at_rest(const Vector& x) const;
  void write(Mode mode, const std::vector<Point>& points, const Limit& nearest, ConsistentJump& jump) const;
  [[nodiscard]] Point without_impulses(Point y) const;
  [[nodiscard]] bool is_in_branches(const Mode& mode, const Point& y) const;

  const ShortStep& step_;
};

}  // namespace perp
