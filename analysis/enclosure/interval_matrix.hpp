#pragma once

#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/interval/interval.hpp>

namespace perp::enclosure {

/// A box: one interval for each state.
using Box = std::vector<Interval>;

/// Does it hold more than one decimal number? Such a number may lie between two neighbouring
/// doubles.
inline bool is_wide(const Interval& side) { return side.hi > directed::next_up(side.lo); }

/// Dense matrix of intervals.
class IntervalMatrix {
 public:
  IntervalMatrix(int rows, int columns)
      : columns_(columns), entries_(static_cast<std::size_t>(rows * columns)) {}
  /// Points.
  explicit IntervalMatrix(const Matrix& points);

  [[nodiscard]] int rows() const {
    return columns_ == 0 ? 0 : static_cast<int>(entries_.size()) / columns_;
  }
  [[nodiscard]] int columns() const { return columns_; }
  Interval& operator()(int i, int j) {
    return entries_[static_cast<std::size_t>(i * columns_ + j)];
  }
  const Interval& operator()(int i, int j) const {
    return entries_[static_cast<std::size_t>(i * columns_ + j)];
  }

 private:
  int columns_;
  std::vector<Interval> entries_;
};

/// Sums of products; exact zeros cost and widen nothing.
///@{
inline void add_product(Interval& sum, const Interval& a, const Interval& b) {
  if ((a.is_zero() && b.has_value()) || (b.is_zero() && a.has_value())) return;
  sum += a * b;
}
IntervalMatrix operator*(const IntervalMatrix& a, const IntervalMatrix& b);
IntervalMatrix operator-(const IntervalMatrix& a, const IntervalMatrix& b);
Box operator*(const IntervalMatrix& a, const Box& x);
Box operator+(const Box& a, const Box& b);
Box operator-(const Box& a, const Box& b);
///@}

/// Points near the middle of each entry.
///@{
Matrix middle(const IntervalMatrix& a);
std::vector<double> middle(const Box& a);
/// The box with the middles of its wide sides; what is a point, or two neighbouring doubles, stays.
Box middle_of(Box box);
///@}
Box points(const std::vector<double>& x);
bool is_bounded(const Box& a);
/// The smallest box that contains both.
Box hull(const Box& a, const Box& b);

/// Two enclosures of one non-empty set. Throws std::logic_error where they do not meet.
///@{
Interval common_part(const Interval& a, const Interval& b);
Box common(const Box& a, const Box& b);
///@}

/// E with |W(τ) − I| ≤ E for every W' = A(t) W, W(0) = I, |A(t)| ≤ `rates`, |τ| ≤ `time`: the sum of
/// Picard's series, entry by entry, so that what does not act on a state changes nothing of it and
/// units drop out. `sizes`: what the states are measured in, any positive numbers.
Matrix change_bound(const Matrix& rates, double time, std::vector<double> sizes);

/// A frame of coordinates with an enclosure of its inverse.
struct Frame {
  Matrix columns{};
  IntervalMatrix inverse{0, 0};
};

/// A frame close to the orthonormal one that Gram and Schmidt make of the columns of `directions`,
/// the longest first, each in the place of its direction, in coordinates divided by `scales` (powers of
/// two): of any matrix at all,
/// singular ones too.
Frame orthogonal_frame(const Matrix& directions, const std::vector<double>& lengths,
                       const std::vector<double>& scales);

}  // namespace perp::enclosure
