#pragma once

#include <optional>
#include <span>

#include <perp/core/tape/lanes/lane_tape.hpp>
#include <perp/core/tape/machine_code.hpp>

namespace perp {

/// A tape for doubles made ready for many evaluations, in the way that serves it best: lines of one
/// form together where there are many of them, else as instructions of the processor. Both give the
/// values of the tape, bit by bit.
class TapeCode {
 public:
  TapeCode() = default;
  /// Results: outputs[0 .. split - 1] go to `first`, the others to `second` (see run).
  TapeCode(const Tape& tape, std::span<const int> outputs, std::size_t split) {
    if (LaneTape lanes(tape, outputs, split); lanes.serves())
      lanes_ = std::move(lanes);
    else
      code_ = MachineCode(tape, outputs, split);
  }

  /// Runs the tape on these inputs. Does not allocate.
  void run(const double* inputs, std::size_t count, double* first, double* second) {
    if (lanes_)
      lanes_->run(inputs, first, second);
    else
      code_.run(inputs, count, first, second);
  }

  /// Where lines are not run in lanes, the tape and its outputs; else null.
  [[nodiscard]] const MachineCode* code() const { return lanes_ ? nullptr : &code_; }

 private:
  std::optional<LaneTape> lanes_;
  MachineCode code_;
};

}  // namespace perp
