#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <perp/schemes/lanes/lane_block.hpp>
#include <perp/schemes/run/stepwise_run.hpp>

namespace perp::eight {

/// Runs that were started, to their ends: those of one form go on side by side. Steps that are not common ones each run
/// makes alone, so that every run has the bits that it has alone.
class LanePool {
 public:
  explicit LanePool(const std::vector<StepwiseRun*>& runs) {
    for (StepwiseRun* run : runs) runs_.push_back({.run = run});
  }
  /// Until all have ended.
  void finish();
  /// How many steps were made side by side.
  [[nodiscard]] long common_steps() const { return common_steps_; }

 private:
  struct InMode {
    const LaneForm* form = nullptr;
    LaneNumbers numbers{};
  };
  struct Runner {
    StepwiseRun* run = nullptr;
    std::map<Mode, InMode> modes{};
  };

  void go_on(std::size_t runner);
  std::optional<LaneMember> member(std::size_t runner);
  const InMode& in_mode(Runner& runner, const NonlinearCapturing& scheme);
  const LaneForm* known(LaneForm form);
  const LaneForm* next_form() const;
  void fill(LaneBlock& block, const LaneForm& form);
  void take_back(LaneBlock& block, int lane);
  [[nodiscard]] bool is_short(const LaneBlock& block, const LaneForm& form) const;
  void run_form(LaneBlock& block, const LaneForm& form);

  std::vector<Runner> runs_;
  std::vector<std::unique_ptr<LaneForm>> forms_;
  std::map<const LaneForm*, std::vector<std::size_t>> waiting_;
  long common_steps_ = 0;
  std::vector<std::size_t> in_lane_ = std::vector<std::size_t>(LaneBlock::width);
};

}  // namespace perp::eight
