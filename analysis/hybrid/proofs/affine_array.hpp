#pragma once

#include <map>
#include <optional>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {

/// Σ_c a_c u_c + rest = 0, or the value of that sum.
template <class Number>
struct AffineRow {
  std::vector<Rational> a;
  Number rest{};
};

/// The Taylor coefficients of orders 0 to 3 of equations and constraints that are affine in the
/// signals with constant coefficients. The matrix is eliminated in rational numbers, whatever its
/// rank and the index of the equations; right sides carry bounds of their errors (Number =
/// RunningError), or are rational, too.
template <class Number>
class AffineArray {
 public:
  /// `equations`, `constraints`: lines of the tape of a mode. `inputs`: t and the states.
  AffineArray(const HybridModel& model, const HybridStructure& structure, Tape tape,
              const std::vector<int>& equations, const std::vector<int>& constraints,
              const std::vector<Number>& inputs);

  /// Are they? Else nothing else may be asked.
  [[nodiscard]] bool is_affine() const { return is_affine_; }
  /// Do the equations contradict each other, beyond all errors?
  [[nodiscard]] bool has_contradiction() const { return has_contradiction_; }
  /// Coefficient k of a constraint; none where the equations do not determine it.
  [[nodiscard]] std::optional<Number> constraint(int l, int k) const;
  /// The same of -z (end 0) or z - 1 (end 1) of a released binary.
  [[nodiscard]] std::optional<Number> beyond_end(int binary, int end, int k) const;
  /// ẋ_j; none where the equations do not determine it.
  [[nodiscard]] std::optional<Number> rate(int j) const;

 private:
  static constexpr int orders = 4;
  using Row = AffineRow<Number>;

  bool read_slopes(const std::vector<Number>& inputs);
  bool read_rests(const std::vector<Number>& inputs);
  void add_slope(int input, const Rational& slope, int k, Row& row) const;
  [[nodiscard]] Row row_of(int output, int k) const;
  bool add(Row row);
  void reduce(Row& row) const;
  [[nodiscard]] std::optional<Number> value(Row row) const;
  [[nodiscard]] std::size_t column(int variable, int order) const;
  [[nodiscard]] Row empty_row() const;

  const HybridModel& model_;
  const HybridStructure& structure_;
  Tape tape_;
  std::vector<int> outputs_;  // lines
  std::size_t equations_;
  std::vector<Number> inputs_;
  std::vector<std::map<int, Rational>> slopes_;  // of each output by inputs
  std::vector<std::vector<Number>> rests_;
  std::map<std::size_t, Row> rows_;  // reduced echelon form, by their pivots
  bool is_affine_ = false, has_contradiction_ = false;
};

}  // namespace perp
