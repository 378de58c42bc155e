#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <perp/core/tape/lanes/lane_tape.hpp>
#include <perp/core/tape/machine_code.hpp>

namespace perp {

/// A tape for doubles made ready for many evaluations, in the way that serves it best: lines of one
/// form together where there are many of them, else as instructions of the processor. Both give the
/// values of the tape, bit by bit.
class TapeCode {
 public:
  TapeCode() = default;
  /// Results: outputs[0 .. split - 1] go to `first`, the others to `second` (see run). `read`: a long tape that
  /// may be run seldom is read as it is for as many runs.
  TapeCode(const Tape& tape, std::span<const int> outputs, std::size_t split, int read = 0) {
    if (tape.size() < long_tape || read == 0) {
      make(tape, outputs, split);
    } else {
      std::vector<double> values(static_cast<std::size_t>(tape.size()));
      read_.emplace(Read{tape, {outputs.begin(), outputs.end()}, split, std::move(values), read});
    }
  }

  /// Runs the tape on these inputs. Does not allocate but where a long tape is made ready.
  void run(const double* inputs, std::size_t count, double* first, double* second) {
    if (read_ && read_->left == 0) {
      const Read read = *std::exchange(read_, std::nullopt);
      make(read.tape, read.outputs, read.split);
    }
    if (read_)
      read_->run({inputs, count}, first, second);
    else if (lanes_)
      lanes_->run(inputs, first, second);
    else
      code_.run(inputs, count, first, second);
  }

  /// Where lines are not run in lanes, the tape and its outputs; else, and for long tapes, null.
  [[nodiscard]] const MachineCode* code() const { return lanes_ || read_ ? nullptr : &code_; }

 private:
  static constexpr int long_tape = 4096;  ///< lines

  struct Read {
    Tape tape;
    std::vector<int> outputs;
    std::size_t split;
    std::vector<double> values;
    int left;  // runs

    void run(std::span<const double> inputs, double* first, double* second) {
      --left;
      tape.evaluate(inputs, std::span(values));
      for (std::size_t k = 0; k < outputs.size(); ++k)
        (k < split ? first[k] : second[k - split]) = values[static_cast<std::size_t>(outputs[k])];
    }
  };

  void make(const Tape& tape, std::span<const int> outputs, std::size_t split) {
    if (LaneTape lanes(tape, outputs, split); lanes.serves())
      lanes_ = std::move(lanes);
    else
      code_ = MachineCode(tape, outputs, split);
  }

  std::optional<Read> read_;  // a long tape that has been run seldom
  std::optional<LaneTape> lanes_;
  MachineCode code_;
};

}  // namespace perp
