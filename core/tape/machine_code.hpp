#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// A tape for doubles as instructions of the processor: the same operations in the same order on
/// the same numbers, hence the same results bit by bit, without the cost of reading the tape. Pages
/// for instructions cost the system more than some runs of a short tape: it is read until as many of
/// its lines have been as pay for them. Where there is no compiler for the processor, or the system
/// does not let a program make code, the tape is read as ever.
class MachineCode {
 public:
  MachineCode() = default;
  /// Results: outputs[0 .. split - 1] go to `first`, the others to `second` (see run).
  MachineCode(const Tape& tape, std::span<const int> outputs, std::size_t split);
  MachineCode(MachineCode&& other) noexcept;
  MachineCode& operator=(MachineCode&& other) noexcept;
  MachineCode(const MachineCode&) = delete;
  MachineCode& operator=(const MachineCode&) = delete;
  ~MachineCode();

  /// Runs the tape on these inputs. Does not allocate.
  void run(const double* inputs, std::size_t count, double* first, double* second) {
    using Code = void (*)(double*, const double*, double*, double*);
    if (code_ != nullptr)
      reinterpret_cast<Code>(code_)(values_.data(), inputs, first, second);
    else
      read(inputs, count, first, second);
  }

  /// Is it code of the processor, or a tape that is read?
  [[nodiscard]] bool is_native() const { return code_ != nullptr; }
  /// What it was made of.
  [[nodiscard]] const Tape& tape() const { return tape_; }
  [[nodiscard]] const std::vector<int>& outputs() const { return outputs_; }
  /// Takes the pages now, for one who knows that there will be many runs.
  void make_native();

 private:
  void release();
  void read(const double* inputs, std::size_t count, double* first, double* second);

  Tape tape_;
  std::vector<int> outputs_;
  std::size_t split_ = 0;
  std::vector<double> values_;        // one per line; constants are there from the start
  std::vector<double> inputs_;        // where it is read: also those that nothing uses
  std::vector<std::uint8_t> bytes_;   // the instructions until they have pages
  std::size_t read_ = 0;              // lines, in all runs
  void* code_ = nullptr;              // pages of the system
  std::size_t size_ = 0;
};

}  // namespace perp
