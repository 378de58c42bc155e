#pragma once

#include <vector>

#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/lcp/parametric/mode_map.hpp>

namespace perp {

/// The value rounded to about 106 bits.
DoubleDouble to_double_double(const Rational& value);

/// One mode of a family, solved in rational arithmetic from the exact data of the family: whether its
/// matrix is singular, and signs that rounding leaves open.
class ExactMode {
 public:
  using Row = std::vector<Rational>;

  /// free·t + value·(θ, 1) ≥ 0: an end of a branch.
  struct End {
    ModeMap::Margin margin;
    Row free, value;
  };

  ExactMode(const ParametricMlcp& family, const Mode& mode);

  /// Number of free unknowns t, those that the equations leave open.
  [[nodiscard]] int free() const { return free_; }
  /// Is u the same for every t?
  [[nodiscard]] bool determines_u() const { return determines_u_; }
  /// Rows in (θ, 1) that must vanish, none of them 0.
  [[nodiscard]] const std::vector<Row>& equalities() const { return equalities_; }
  /// (u, λ) = value (θ, 1) + direction t, row by row.
  [[nodiscard]] const std::vector<Row>& value() const { return value_; }
  [[nodiscard]] const std::vector<Row>& direction() const { return direction_; }
  /// w in the same way.
  [[nodiscard]] const std::vector<Row>& w_value() const { return w_value_; }
  [[nodiscard]] const std::vector<Row>& w_direction() const { return w_direction_; }
  /// The finite ends of the branches: law by law the lower, then the upper one.
  [[nodiscard]] const std::vector<End>& ends() const { return ends_; }

  /// row·(θ, 1).
  static Rational value(const Row& row, const double* theta);

 private:
  void eliminate(std::vector<Row> rows);
  void find_outputs(const ParametricMlcp& family, const Mode& mode);
  void add_end(int law, bool of_lambda, bool upper, const Rational& bound);
  void find_ends(const ParametricMlcp& family, const Mode& mode);

  int p_, m_, k_, free_ = 0;
  bool determines_u_ = true;
  std::vector<Row> equalities_, value_, direction_, w_value_, w_direction_;
  std::vector<End> ends_;
};

}  // namespace perp
