#pragma once

#include <optional>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/core/tape/taylor.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {

/// Is it 0, or not told from it?
///@{
inline bool may_be_zero(const RunningError& a) { return decided_sign(a) == 0; }
inline bool may_be_zero(const Rational& a) { return a.sign() == 0; }
///@}

inline constexpr int mode_orders = 4;  ///< coefficients of orders 0 to 3

/// Taylor coefficients of orders 0 to 3: numbers with bounds of their errors, or rational ones.
template <class Number>
using ModeTaylor = Taylor<Number, mode_orders>;

/// A line of a tape at series of its inputs. None where it holds other than the four operations,
/// powers with natural exponents and, with bounds, functions of one argument, or divides by what may be 0.
template <class Number>
std::optional<ModeTaylor<Number>> series_value(const Tape& tape, int line,
                                               const std::vector<ModeTaylor<Number>>& inputs);

/// The sub-problems of the equations of a mode.
struct ModeBlocks {
  struct Block {
    std::vector<int> rows;    ///< lines
    std::vector<int> inputs;  ///< unknowns
    std::vector<int> slopes;  ///< lines, row by row, -1: 0
    bool is_affine = true;
  };
  std::vector<Block> blocks{};
  bool is_square = true;
};

/// `equations`: lines of the model's equations in this mode, in their order. Slopes get lines of
/// the tape.
ModeBlocks mode_blocks(const HybridModel& model, const HybridStructure& structure, Tape& tape,
                       const std::vector<int>& equations);

/// The solution of a mode in which each sub-problem determines its derivatives and algebraic
/// variables: its Taylor coefficients, sub-problem by sub-problem and order by order, with bounds
/// (Number = RunningError) or without rounding (Rational).
template <class Number>
class BlockSeries {
 public:
  /// `inputs`: t and the states with their errors. The tape and the blocks must outlive this.
  BlockSeries(const HybridModel& model, const HybridStructure& structure, const Tape& tape,
              const ModeBlocks& blocks, const std::vector<Number>& inputs);

  /// The first coefficients, `orders` of them, as far as they are not known: of several solutions
  /// the one at these values (n each). False: a sub-problem does not determine its unknowns, as far
  /// as rounding lets see.
  bool solve(const Vector& x, const Vector& rates, int orders);

  /// Coefficient k of a derivative or variable, by its input.
  [[nodiscard]] const Number& coefficient(int input, int k) const {
    return series_[static_cast<std::size_t>(input)][k];
  }
  /// A line of the tape along the solution.
  [[nodiscard]] std::optional<ModeTaylor<Number>> value(int line) const {
    return series_value<Number>(tape_, line, series_);
  }

 private:
  using Block = ModeBlocks::Block;
  bool solve_block(const Block& block, int order, const std::vector<double>& near);
  [[nodiscard]] static std::optional<Number> solved(const Number& value, double near, bool is_root);
  [[nodiscard]] std::optional<std::vector<Number>> rests_of(const Block& block,
                                                                  int order) const;
  [[nodiscard]] std::optional<std::vector<Number>> slopes_of(const Block& block) const;
  void put(int input, int order, const Number& value);

  const HybridModel& model_;
  const Tape& tape_;
  const ModeBlocks& blocks_;
  std::vector<ModeTaylor<Number>> series_;
  bool is_determined_;  // as far as is known
  int solved_ = 0;      // orders
};

}  // namespace perp
