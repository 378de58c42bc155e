#pragma once

#include <vector>

#include <perp/analysis/enclosure/interval_matrix.hpp>

namespace perp::enclosure {

/// The set  { x + C r_0 + Q r : r_0 ∈ R_0, r ∈ R } ∩ box.  C r_0 is the linear image of the
/// starting box, Q r with a frame Q close to an orthogonal one holds what rounding, remainders and
/// the change of the derivative over the set add (Lohner).
class Doubleton {
 public:
  /// `constant`: the states that no map of the whole flow changes, as parameters; none: no state.
  explicit Doubleton(const Box& box, std::vector<bool> constant = {});

  [[nodiscard]] const std::vector<double>& center() const { return center_; }
  [[nodiscard]] const Box& box() const { return box_; }
  [[nodiscard]] int states() const { return static_cast<int>(center_.size()); }
  /// What it is made of, as it stands in memory.
  struct Parts {
    std::vector<double> center{};
    Matrix C{}, Q{};
    Box r0{}, r{}, box{};
  };
  [[nodiscard]] Parts parts() const { return {center_, c_, q_, r0_, r_, box_}; }

  /// Where the set goes under every map φ with φ(x) ∈ F + J (x − center) for the members x: a box.
  [[nodiscard]] Box image_box(const Box& F, const IntervalMatrix& J) const;
  /// {a (x − center)} over the members x, of one row a.
  [[nodiscard]] Interval spread(const Box& a) const;
  /// The same as `image_box` as a set; `other` encloses it too.
  void move(const Box& F, const IntervalMatrix& J, const Box& other);
  /// How much each coordinate of the starting box has contributed to the widths of the states, by
  /// its linear image where that was widest, in shares of their sizes; those only that these states
  /// depend on. What a coordinate adds that the linear part does not tell was added where states
  /// were wide by it: they may not be so any more.
  /// `whole`: how wide the states are of all parts of the start together, as far as it is known; a
  /// coordinate that has been bisected often then counts for less than another one.
  [[nodiscard]] std::vector<double> smear(const std::vector<bool>& states,
                                          const std::vector<double>& whole = {}) const;
  /// Does this state depend on a coordinate of the starting box that is no point?
  [[nodiscard]] bool is_spread(int state) const;
  /// Members are in `box`: of these states nothing else is kept. Their linear image, a measure,
  /// counts as far as it is no wider.
  void bound(const std::vector<bool>& rows, const Box& box);
  /// What acts on these others acts on this state too, by what no derivative of `move` has told.
  void note_acting(int state, const std::vector<bool>& others);
  /// The linear image of the starting box, about 0. It is computed with rounded numbers and proves
  /// nothing.
  [[nodiscard]] Box linear_image() const { return IntervalMatrix(image_) * start_; }
  /// The same of a linear function of the states with these slopes.
  [[nodiscard]] Interval linear_image(const Vector& slopes) const {
    return (IntervalMatrix(slopes.transpose() * image_) * start_).front();
  }

 private:
  [[nodiscard]] std::vector<double> scales(double share_of_point) const;
  void note_sizes(const Box& box);
  void note_image();
  void note_acting(const IntervalMatrix& J);
  /// Does the coordinate of the starting box act on one of these states?
  [[nodiscard]] bool acts_on(const std::vector<bool>& states, Eigen::Index coordinate) const;
  [[nodiscard]] bool keeps_row(const IntervalMatrix& J, int i) const;
  void keep_constant_rows(const IntervalMatrix& J, std::vector<bool>& list) const;
  [[nodiscard]] Frame next_frame(const Matrix& directions, const std::vector<bool>& constant,
                                 const std::vector<double>& scales) const;
  [[nodiscard]] std::vector<int> blocks() const;
  [[nodiscard]] std::vector<bool> outgrown(std::vector<double> scales) const;
  void reorganize(const Frame& frame, const std::vector<bool>& constant,
                  const std::vector<double>& scales);

  std::vector<double> center_;
  Matrix c_, q_;
  Box r0_, r_, box_;
  Matrix image_;             // of the starting box, also where C r_0 is another one by now
  Box start_;                // about 0
  Matrix most_;              // |image_| where it was largest
  std::vector<bool> moved_;  // states that have not stayed what they were
  Matrix acts_;  // 1 where a coordinate of the starting box acts on a state, directly or not
  std::vector<double> widest_, largest_;
  std::vector<bool> constant_;
  bool has_frame_ = false;
};

}  // namespace perp::enclosure
