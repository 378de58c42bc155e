#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include <perp/core/interval/series/interval_series.hpp>

namespace perp::enclosure {

/// The unknowns z(t, x) of h(t, x, z) = 0 over boxes of t and x. Newton's operator
///     N(U) = ẑ − J⁻¹ (h(m, ẑ) + ∂h/∂(t, x) ((t, x) − m)),     J ⊃ ∂h/∂z over t, x and U
/// holds every root in U; where it lies in U, every t and x has exactly one there, J is regular (the
/// index of the equations is 1), and z is a differentiable function. It is the one that is meant where
/// U holds the root that is known somewhere in the box. From root to root this leads along a solution,
/// as long as the boxes hold it.
class ImplicitFunction {
 public:
  explicit ImplicitFunction(const Flow& flow);

  /// Values and slopes ∂z/∂x over all of t and x. False: the root that is meant could not be followed
  /// to there, or is not simple everywhere.
  [[nodiscard]] bool compute(const Interval& t, std::span<const Interval> x);
  [[nodiscard]] const Interval& value(int i) const { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Interval& slope(int i, int state) const {
    return slopes_[static_cast<std::size_t>(i * states_ + state)];
  }

  /// A function over all of t and x whose neighbourhood, in which it is the only root, holds all of
  /// `z`; none: there is none, or it was not found.
  [[nodiscard]] std::optional<std::vector<Interval>> around(const Interval& t,
                                                           std::span<const Interval> x,
                                                           std::vector<Interval> z);
  /// A root to which Newton's method in doubles leads from here, at the middle of t and x.
  [[nodiscard]] std::vector<Interval> approach(const Interval& t, std::span<const Interval> x,
                                               std::vector<double> z);
  /// h, also for unknowns without bounds.
  [[nodiscard]] std::vector<Interval> rows(const Interval& t, std::span<const Interval> x,
                                           std::span<const Interval> z) const;
  /// ∂h/∂z, row by row, also for unknowns without bounds; an entry is none where it or h has no value.
  [[nodiscard]] std::vector<Interval> jacobian(const Interval& t, std::span<const Interval> x,
                                               std::span<const Interval> z) const;

 private:
  [[nodiscard]] Flow still(const Flow& flow);
  [[nodiscard]] std::vector<Interval> first_lines(int count, const Interval& t, std::span<const Interval> x,
                                                  std::span<const Interval> z) const;
  bool evaluate(const Interval& t, std::span<const Interval> x, std::span<const Interval> z, bool rows_alone = false);
  bool apply(const Interval& t, std::span<const Interval> x, const std::vector<Interval>& z,
             std::vector<Interval>& result);
  [[nodiscard]] Interval derivative(int equation, int column) const;
  [[nodiscard]] bool precondition(std::vector<double>& inverse) const;
  [[nodiscard]] std::vector<Interval> multiplied(const std::vector<double>& P, const std::vector<Interval>& right,
                                                 int width) const;
  [[nodiscard]] bool solve(const std::vector<Interval>& right, int width,
                           std::vector<Interval>& result) const;
  void add_moves(const Interval& later, std::span<const Interval> x, std::span<const Interval> m,
                 std::vector<Interval>& h) const;
  struct NewtonStep {
    std::vector<double> numbers{};
    bool is_rounding = false;  ///< does rounding not tell its place from a root?
  };
  [[nodiscard]] std::optional<NewtonStep> step_from(const Interval& t, const std::vector<Interval>& m,
                                                    const std::vector<double>& from);
  [[nodiscard]] static bool are_rounding(const std::array<std::optional<NewtonStep>, 2>& steps);
  [[nodiscard]] std::vector<double> root_from(const Interval& t, const std::vector<Interval>& m, std::vector<double> z);
  bool contract(const Interval& t, std::span<const Interval> x);
  bool find_slopes(const Interval& t, std::span<const Interval> x);

  int states_ = 0, count_ = 0;
  std::shared_ptr<KnownRoot> known_;
  std::vector<int> places_;  // of ∂h/∂(t, x, z) among the outputs; −1: it is 0
  Flow still_;
  IntervalSeries series_;
  std::vector<Interval> values_, slopes_;
  struct {
    Interval t{};
    std::vector<Interval> x{};
    std::vector<double> z{}, to{};
  } approached_;  // asked for last: several questions about one point begin so
};

}  // namespace perp::enclosure
