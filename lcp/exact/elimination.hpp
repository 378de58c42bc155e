#pragma once

#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/lcp/exact/arithmetic.hpp>

namespace perp {

/// Rows F t + G θ + g ≥ 0 in which a few unknowns t are free to choose: for which θ is there such a
/// t, and which one? By Fourier–Motzkin elimination in exact arithmetic, once for all θ.
class Elimination {
 public:
  static constexpr int most_free = 4;    ///< unknowns t
  static constexpr int most_rows = 256;  ///< of any stage

  using Row = std::vector<Rational>;

  /// `rows` have free+k+1 entries each, for (t, θ, 1). False if a stage would have more than
  /// `most_rows`.
  bool run(std::vector<Row> rows, int free);
  bool run(const Matrix& rows, int free);

  /// Rows in (θ, 1): all ≥ 0 exactly where some t exists.
  [[nodiscard]] const std::vector<Row>& exactly_projected() const { return projected_; }
  /// The same, rounded.
  [[nodiscard]] const Matrix& projected() const { return stages_.back(); }
  /// For every projected row: a given row that takes part in it.
  [[nodiscard]] const std::vector<int>& origin() const { return origin_; }
  /// Is the projected row a given one, without any t?
  [[nodiscard]] bool is_given(int row) const { return given_[static_cast<std::size_t>(row)] != 0; }

  /// A t that satisfies the rows at θ: each entry in turn as near to 0 as the rest allows.
  void choose(const double* theta, double* t) const;

 private:
  /// Leaves out an unknown, the last of those that are left. False where this makes too many rows.
  bool eliminate(std::size_t gone);

  int free_ = 0;
  std::vector<Row> projected_;
  std::vector<Matrix> stages_;  // stage j has the entries t_0 .. t_{free-1-j} left, then θ and 1
  std::vector<int> origin_;
  std::vector<char> given_;
};

}  // namespace perp
