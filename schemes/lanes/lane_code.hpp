#pragma once

#include <cstdint>
#include <vector>

#include <perp/core/tape/lanes/packed_code.hpp>
#include <perp/schemes/lanes/lane_form.hpp>

namespace perp::eight {

/// How a line of running errors is computed: what its operands are in every lane tells which of the cases of
/// running_error.hpp it is.
enum class BoundedWork : std::uint8_t {
  sum,
  difference,
  sum_with_zero,         ///< the second operand is 0
  sum_from_zero,         ///< the first one is
  difference_with_zero,
  difference_from_zero,
  product,
  product_by_scale,      ///< the second operand is an exact power of two
  product_with_zero,     ///< an operand is 0
  quotient,
  quotient_by_scale,
  quotient_of_zero,
  negate,
  abs,
  sign,
  second,                ///< a guard whose weight is not 0
  unweighted,            ///< and one whose weight is
  function,              ///< whatever case it is; its result has an error
  any                    ///< whatever case it is, and whatever its result
};

struct BoundedLine {
  BoundedWork work;
  Operation operation;
  int a, b, to;
};

/// The equations of a form as they are run: places of their lines, and of what a step has besides. What no residual,
/// entry of the matrix or argument of a law needs is left out.
struct LaneCode {
  explicit LaneCode(const LaneForm& form);

  // In doubles.
  int places = 0, z = 0, h = 0, zero = 0, a = 0, b = 0, c = 0;  ///< how many; first ones of inputs, h, 0 and the laws' numbers
  std::vector<LaneLine> fixed{};     ///< lines that no step of the mode changes
  std::vector<LaneLine> changing{};  ///< the others
  PackedCode packed{};               ///< the same, where the processor has instructions for all of them
  std::vector<int> w{}, F{}, J{};    ///< results: arguments of the laws, residual, matrix row by row
  std::vector<int> finite{};         ///< those of them that may be no numbers, each once

  // With running errors.
  int bounded_places = 0, bounded_z = 0, bounded_a = 0, bounded_b = 0, bounded_c = 0;
  std::vector<BoundedLine> bounded{};
  std::vector<int> known{};  ///< inputs that have an error
  std::vector<int> bounded_F{};
};

}  // namespace perp::eight
