#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include <perp/schemes/poles/pole_watch.hpp>
#include <perp/schemes/lanes/lane_access.hpp>
#include <perp/schemes/lanes/lane_code.hpp>
#include <perp/schemes/step_grid.hpp>

namespace perp::eight {

struct Lanes;

/// A run that may go on beside others of its form.
struct LaneMember {
  NonlinearCapturing* scheme = nullptr;
  PoleWatch* poles = nullptr;  ///< null: none
  UniformSteps steps{};        ///< that it may make
  const LaneForm* form = nullptr;
  const LaneNumbers* numbers = nullptr;
};

/// Steps of up to eight runs of one form side by side: each has the bits that it has alone. Every lane goes on until its
/// next step is not one that all filters decide; that step, whatever it is, its run makes alone.
class LaneBlock {
 public:
  static constexpr int width = 8;

  LaneBlock();
  ~LaneBlock();
  LaneBlock(const LaneBlock&) = delete;
  LaneBlock& operator=(const LaneBlock&) = delete;

  /// All lanes are free, for runs of this form, which stays where it is as long as the block.
  void begin(const LaneForm& form);
  /// Into a free lane. False: the state is not one from which the common step goes on.
  bool load(int lane, const LaneMember& member);
  /// Steps of all lanes that are taken, until one is given up or `most` were made.
  void run(long most);
  [[nodiscard]] bool is_taken(int lane) const { return taken_[static_cast<std::size_t>(lane)]; }
  [[nodiscard]] bool is_any_taken() const { return std::ranges::find(taken_, true) != taken_.end(); }
  /// Is it taken, and its next step no common one?
  [[nodiscard]] bool is_given_up(int lane) const { return is_taken(lane) && given_up_[static_cast<std::size_t>(lane)]; }
  /// The scheme gets the state of its lane, which is free then. How many steps it made.
  long store(int lane);
  /// After that: was the lane at the end of what is known not to be searched for poles, and is there more ahead now?
  bool looks_ahead(int lane);

 private:
  void load_form_numbers(int lane, const LaneMember& member);
  bool load_sides(int lane, const LaneMember& member);
  void load_state(int lane, const LaneMember& member);
  [[nodiscard]] bool has_fixed_multipliers(const LaneMember& member) const;

  std::unique_ptr<Lanes> lanes_;
  std::map<const LaneForm*, LaneCode> codes_;  // of the forms so far
  std::vector<LaneMember> members_;
  std::vector<bool> taken_, given_up_;
  std::vector<CalmBox::Side> sides_;  // of the lane being loaded
};

}  // namespace perp::eight
