#pragma once

#include <optional>
#include <vector>

#include <perp/core/tape/running_error.hpp>
#include <perp/core/tape/taylor.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {

/// Taylor coefficients of orders 0 to 3, each with a bound of its error.
using SeriesOfNumbers = Taylor<RunningError, 4>;

/// A line of a tape at series of its inputs. None where it holds other than the four operations and
/// powers with natural exponents.
std::optional<SeriesOfNumbers> series_value(const Tape& tape, int line,
                                            const std::vector<SeriesOfNumbers>& inputs);

/// The solution of a mode in which each sub-problem determines its derivatives and algebraic
/// variables: its Taylor coefficients with bounds, sub-problem by sub-problem and order by order.
class BlockSeries {
 public:
  /// `equations`: lines of the model's equations in this mode, in their order. `inputs`: t and the
  /// states with their errors.
  BlockSeries(const HybridModel& model, const HybridStructure& structure, Tape& tape,
              const std::vector<int>& equations, const std::vector<RunningError>& inputs);

  /// Of several solutions the one at these values (n each). False: a sub-problem does not determine
  /// its unknowns, as far as rounding lets see.
  bool solve(const Vector& x, const Vector& rates);

  /// A line of the tape along the solution.
  [[nodiscard]] std::optional<SeriesOfNumbers> value(int line) const {
    return series_value(tape_, line, series_);
  }

 private:
  struct Block {
    std::vector<int> rows;    ///< lines
    std::vector<int> inputs;  ///< unknowns
    std::vector<int> slopes;  ///< lines, row by row, -1: 0
    bool is_affine = true;
  };
  void read_block(const HybridStructure& structure, const SubProblem& given,
                  const std::vector<int>& equations);
  void read_slopes(Block& block);
  bool solve_block(const Block& block, int order, const std::vector<double>& near);
  [[nodiscard]] std::optional<std::vector<RunningError>> rests_of(const Block& block,
                                                                  int order) const;
  [[nodiscard]] std::optional<std::vector<RunningError>> slopes_of(const Block& block) const;
  void put(int input, int order, const RunningError& value);

  const HybridModel& model_;
  Tape& tape_;
  std::vector<Block> blocks_;
  std::vector<SeriesOfNumbers> series_;
  bool is_square_ = true;
};

}  // namespace perp
