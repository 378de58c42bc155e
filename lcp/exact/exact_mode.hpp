#pragma once

#include <optional>
#include <vector>

#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/lcp/parametric/mode_map.hpp>

namespace perp {

/// The value rounded to about 106 bits.
DoubleDouble to_double_double(const Rational& value);

/// One mode of a family, solved in rational arithmetic from the exact data of the family, which must outlive it: whether its
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

  /// Rows in (θ, 1) that must vanish, none of them 0.
  [[nodiscard]] const std::vector<Row>& equalities() const { return equalities_; }
  /// Number of free unknowns t, those that the equations leave open.
  [[nodiscard]] int free() const { return free_; }
  /// Is u the same for every t? What follows stands only where no equality does.
  [[nodiscard]] bool determines_u() const { return determines_u_; }
  /// (u, λ) = value (θ, 1) + direction t, row by row.
  [[nodiscard]] const std::vector<Row>& value() const;
  [[nodiscard]] const std::vector<Row>& direction() const { return direction_; }
  /// w in the same way.
  [[nodiscard]] const std::vector<Row>& w_value() const { return outputs().w_value; }
  [[nodiscard]] const std::vector<Row>& w_direction() const { return outputs().w_direction; }
  /// The finite ends of the branches: law by law the lower, then the upper one.
  [[nodiscard]] const std::vector<End>& ends() const { return outputs().ends; }

  /// Row i of `value` at θ, with a division less for each entry.
  [[nodiscard]] Rational unknown(int i, const double* theta) const;
  /// Row i of `w_value` at θ, without that row.
  [[nodiscard]] Rational argument(int i, const double* theta) const;

  /// row·(θ, 1).
  static Rational value(const Row& row, const double* theta);

 private:
  /// What follows from (u, λ).
  struct Outputs {
    std::vector<Row> w_value, w_direction;
    std::vector<End> ends;
  };

  bool solve_in_integers(std::vector<Row> rows);
  void keep_multiples(std::vector<Row> rows, const std::vector<int>& columns);
  void eliminate(std::vector<Row> rows);
  void read_solution(const std::vector<Row>& rows, const std::vector<int>& pivot_of, const std::vector<int>& free);
  [[nodiscard]] const Outputs& outputs() const;
  void find_w(Outputs& outputs) const;
  void add_end(int law, bool of_lambda, bool upper, const Rational& bound, Outputs& outputs) const;
  void find_ends(Outputs& outputs) const;

  const ParametricMlcp& family_;
  Mode mode_;
  int p_, m_, k_, free_ = 0;
  bool determines_u_ = true;
  std::vector<Row> equalities_, direction_;
  std::vector<Row> multiples_;        // of the rows of `value`: by their first number, in integers
  mutable std::vector<Row> value_;    // made when it is asked for where there are these
  mutable std::optional<Outputs> outputs_;  // made when one of them is asked for
};

}  // namespace perp
