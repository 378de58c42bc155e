#pragma once

#include <optional>
#include <span>
#include <vector>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// A tape with lines of one form brought together: lines have the same form where their operations
/// and, down to inputs and known numbers, those of their operands are the same, as in the rows of a
/// family that differ in their indices alone. Such lines depend on none of their form, so a piece of
/// them is one instruction on as many lanes. Every line of the tape is computed once, by its own
/// operation on its own operands: the values are those of the tape, bit by bit.
///
/// Values stand in an array: first the numbers that are known, then the results, whose places are
/// used again where nothing needs them any more.
struct LaneProgram {
  /// Operands of an instruction, one for each lane.
  struct Lanes {
    enum class Of : std::uint8_t { values, inputs };
    enum class By : std::uint8_t {
      lanes,  ///< place, place + 1, ...
      one,    ///< place, for every lane
      steps,  ///< indices[place] + i indices[place + 1], i = 0, 1, ...
      list    ///< indices[place], indices[place + 1], ...
    };
    Of of = Of::values;
    By by = By::lanes;
    int place = 0;
  };
  struct Instruction {
    /// input: a store; constant: a copy of `count` outputs that are known and those between them,
    /// from number a.place on, before any store to these.
    Operation operation = Operation::input;
    int count = 0;                           ///< lanes
    int result = 0;  ///< place of the first; of stores, copies: 0 the first outputs, 1 the second
    Lanes a{}, b{};  ///< b of a store: where in these outputs
  };
  /// An output that is known.
  struct KnownOutput {
    int output = 0;
    int line = 0;
  };

  std::vector<Instruction> instructions{};
  std::vector<int> indices{};
  std::vector<int> known{};  ///< lines of the tape whose numbers stand first in the array
  std::vector<KnownOutput> known_outputs{};
  int size = 0;  ///< of the array

  /// Operands at these places: one, a run, equal steps, or a list, which are written to `indices`.
  Lanes lanes_at(const std::vector<int>& places, Lanes::Of of);
};

/// Most lanes of an instruction that computes: the values of some rows stay in the nearest cache.
inline constexpr int most_lanes = 128;

/// `is_known`: of each line, whether its number is known before the run (those that are not needed
/// do not matter). Outputs number 0 to split - 1 are the first ones, the others the second. None
/// where the pieces are so short that the lines cost less one by one.
std::optional<LaneProgram> lane_program(const Tape& tape, std::span<const int> outputs,
                                        std::size_t split, const std::vector<char>& is_known);

}  // namespace perp
