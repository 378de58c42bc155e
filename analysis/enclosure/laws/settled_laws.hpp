#pragma once

#include <vector>

#include <perp/analysis/enclosure/modes/mode_flow.hpp>

namespace perp::enclosure {

/// What is known of the arguments w of laws near a set where some of them hold multipliers of
/// others, w = g(t, x, λ): over the set their ranges follow from those of the λ, and these from the
/// graphs over the ranges of their w. Ranges and graphs are closed: what lies strictly inside of a
/// branch over the set does so for every solution near it, for some time, whatever the other laws
/// do.
class SettledLaws {
 public:
  SettledLaws(ModeFlows& flows, const Interval& t, const Box& box);

  /// w of a law over the set.
  [[nodiscard]] const Interval& argument(int law) const {
    return arguments_[static_cast<std::size_t>(law)];
  }
  /// Is w a function of time, states and parameters for as long as no law leaves its branch in the
  /// mode, for every solution that has the other laws in theirs? By formula, or since the same is
  /// so of all laws whose λ stand in it, none of which is on a vertical branch, but where its λ is
  /// multiplied by its w, which is 0.
  [[nodiscard]] bool is_of_states_in(const Mode& mode, int law) const;
  /// Is w a function of time, states and parameters along all solutions near the set? By formula,
  /// or since the λ in it are those of settled laws, of which the same is so.
  [[nodiscard]] bool is_of_states(int law) const {
    return of_states_[static_cast<std::size_t>(law)];
  }

 private:
  /// A λ that stands in an argument.
  struct Read {
    int law = -1;
    bool vanishes = false;  ///< where the w of that law is 0, whatever its λ is
  };

  [[nodiscard]] bool is_inside_of_branch(int law) const;
  [[nodiscard]] bool reads_settled_laws(int law) const;
  void settle(ModeFlows& flows, const Interval& t, const Box& box);
  [[nodiscard]] bool is_triangular(const Mode& mode, int law, int depth) const;

  const Dcs& system_;
  Box arguments_{};
  std::vector<bool> settled_{};  // on one branch, not a vertical one, by all solutions near the set
  std::vector<bool> is_formula_{};  // w is a function of time, states and parameters by itself
  std::vector<bool> of_states_{};
  std::vector<std::vector<Read>> reads_{};
};

}  // namespace perp::enclosure
