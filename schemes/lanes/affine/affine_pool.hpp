#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <perp/schemes/lanes/affine/affine_block.hpp>
#include <perp/schemes/lanes/affine/affine_lanes.hpp>
#include <perp/schemes/run/stepwise_run.hpp>

namespace perp::eight {

/// Runs of affine systems that were started, to their ends: steps in their modes side by side, all others each run makes alone, so
/// that every run has the bits that it has alone.
class AffinePool {
 public:
  explicit AffinePool(std::vector<StepwiseRun*> runs) : runs_(std::move(runs)) {}
  /// Until all have ended.
  void finish();
  /// How many steps were made side by side.
  [[nodiscard]] long common_steps() const { return common_steps_; }

 private:
  static std::optional<AffineMember> member(StepwiseRun& run);
  void go_on(std::size_t runner);
  void fill(AffineBlock& block, int numbers);
  void take_back(AffineBlock& block, int lane);
  void run_waiting(int numbers);

  std::vector<StepwiseRun*> runs_;
  std::array<std::vector<std::size_t>, most_affine_numbers + 1> waiting_{};  // by how many numbers their steps read
  std::array<std::size_t, AffineBlock::width> in_lane_{};
  long common_steps_ = 0;
};

}  // namespace perp::eight
