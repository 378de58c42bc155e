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

  /// The limit h → 0 of the solutions of a mode.
  [[nodiscard]] ConsistentJump operator()(const Mode& mode, const Generators<Number>& generators) const;

  /// Are two states the same in what E sees of them?
  [[nodiscard]] bool same(const Vector& a, const Vector& b) const;

  /// Without the impulses Σ/h, a solution of a step is one of E (x⁺ − x_0) = h (A x⁺ + B λ + b) from its limit x_0. Is it in
  /// the branches of this mode too, and with it all solutions that the mode has? Then continuous solutions start
  /// there in this mode; else there may be some in others.
  [[nodiscard]] bool go_on(const Mode& mode, const Generators<Number>& generators) const;

  /// E (x_0 − x⁻), where the solutions of the mode have one limit x_0.
  [[nodiscard]] std::optional<std::vector<Rational>> change(const Generators<Number>& generators) const;

 private:
  /// Of a set of solutions the ends at a finite distance, and where it has none.
  struct Ends {
    std::vector<Vector> points, directions;
    const Point* nearest = nullptr;  // to the state before
    double least = inf;              // the distance of that
  };

  [[nodiscard]] Ends ends_of(const Generators<Number>& generators) const;
  [[nodiscard]] Point between(const std::vector<Point>& ends) const;
  [[nodiscard]] Vector state(const Point& y, bool direction) const;
  [[nodiscard]] Point without_impulses(Point y) const;
  [[nodiscard]] bool is_in_branches(const Mode& mode, const Point& y) const;
  void write(Mode mode, const Point& y, double amplitude, ConsistentJump& jump) const;

  const ShortStep& step_;
};

}  // namespace perp
