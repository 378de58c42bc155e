#pragma once

#include <memory>
#include <span>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// A number as a sum of two doubles with a bound of its error.
struct WideNumber {
  double high = 0, low = 0, error = 0;
};

/// Lines of a tape in 113 bits with bounds of their rounding errors, as `BoundedTape` has them in
/// doubles: decides signs that those leave open. Slow, and made for few evaluations.
class WideTape {
 public:
  WideTape();
  /// `known`: the exact values of the inputs from number `inputs` on.
  WideTape(const Tape& tape, std::span<const int> outputs, int inputs,
           std::span<const double> known);
  WideTape(WideTape&& other) noexcept;
  WideTape& operator=(WideTape&& other) noexcept;
  ~WideTape();  // where Lines is complete

  /// At inputs z that are known to within their errors.
  void run(std::span<const WideNumber> z);
  /// The same in sums of two doubles, with a dozen bits less and at a tenth of the cost, where the lines are sums, products
  /// and quotients: `has_pairs`.
  void run_pairs(std::span<const WideNumber> z);
  [[nodiscard]] bool has_pairs() const;
  /// Of the last run.
  [[nodiscard]] WideNumber output(std::size_t k) const;

 private:
  struct Lines;
  std::unique_ptr<Lines> lines_;
};

}  // namespace perp
