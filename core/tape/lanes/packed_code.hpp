#pragma once

#include <cstddef>
#include <span>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// Lines of a tape on eight doubles each, as instructions of a processor with vectors of 256 bits: what `apply_operation`
/// does on each of them, bit by bit but for what no number is. Only sums, products, quotients, roots, signs and guards;
/// other lines are left to whoever reads them.
class PackedCode {
 public:
  static constexpr int width = 8;
  /// Operands and result are places, of eight doubles each; b is a where there is no second one.
  struct Line {
    Operation operation;
    int a, b, to;
  };

  PackedCode() = default;
  explicit PackedCode(std::span<const Line> lines);
  PackedCode(PackedCode&& other) noexcept;
  PackedCode& operator=(PackedCode&& other) noexcept;
  PackedCode(const PackedCode&) = delete;
  PackedCode& operator=(const PackedCode&) = delete;
  ~PackedCode();

  /// Could they all be made? Else there is nothing to run.
  [[nodiscard]] bool is_native() const { return code_ != nullptr; }
  /// Places begin at multiples of 32 bytes.
  void run(double* places) const { reinterpret_cast<Code>(code_)(places, constants); }

 private:
  using Code = void (*)(double*, const double*);
  static const double constants[];

  void* code_ = nullptr;  // pages of the system
  std::size_t size_ = 0;
};

}  // namespace perp
