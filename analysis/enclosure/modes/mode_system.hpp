#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/modes/state_space.hpp>

namespace perp::enclosure {

/// A quantity that is positive inside of a mode: the distance of w or λ to an end of the branch,
///     side (w − end)   or   side (λ − end),
/// or the condition of a reset, times the side on which it is.
struct Gap {
  int law = -1;
  int reset = -1;
  bool of_multiplier = false;
  double end = 0;
  int side = 1;
};

/// g(t, x) = 0 among the equations of a mode, which gives one state by the others.
struct ModeConstraint {
  int equation = -1;  ///< of the system; -1: the argument of a law with a vertical branch
  int law = -1;
  int residual = -1;  ///< its line, on the tape of `observed`
};

/// The equations of one mode, solved by sums and products for rates, algebraic variables and
/// multipliers, each in terms of time, states and parameters. Equations that hold none of these are
/// constraints: they give one state by the others, and their time derivative takes their place.
/// Divisors are evaluated where the solution is: a mode that is singular somewhere in a set has no
/// value there, and proves nothing. An equation that is a product a u = 0 of unknowns has two
/// roots, u = 0 where a ≠ 0, and a = 0 where u ≠ 0; each is a system of its own, and 1/a or 1/u is
/// evaluated with it: along a solution its root is a simple one, so that no other meets it.
struct ModeSystem {
  Mode mode{};
  int root = 0, roots = 1;  ///< which one of how many
  Flow flow{};      ///< its outputs are `gaps`, the w of open laws, and what must not be infinite
  Flow observed{};  ///< stands still; outputs: n variables, m multipliers, residuals of constraints
  std::vector<Gap> gaps{};
  std::vector<ModeConstraint> constraints{};
  std::vector<std::vector<int>> resets{};  ///< by reset, its values: lines on the tape of `flow`
  /// By law: w is a function of time, states and parameters, whatever the multipliers are.
  std::vector<bool> argument_of_states{};
  [[nodiscard]] bool has_all_arguments_of_states() const {
    return std::find(argument_of_states.begin(), argument_of_states.end(), false) ==
           argument_of_states.end();
  }
  /// By law: the laws whose λ stand in w, which is a formula of these and of the same; none: it is
  /// not given by one.
  std::vector<std::optional<std::vector<int>>> argument_reads{};
  /// Equations of the system that give the implicit unknowns by time and states, whatever the mode
  /// is; none: they hold multipliers, too.
  std::vector<int> implicit_sources{};

  enum class Outcome { made, impossible, not_solved };
  Outcome outcome = Outcome::made;
  /// One root, by formulas.
  [[nodiscard]] bool is_explicit() const {
    return outcome == Outcome::made && roots == 1 && flow.implicit.empty();
  }
  std::string reason{};  ///< why there is no flow
};

/// Laws whose branch is not known. Their λ are not determined but given, as those of no law:
/// constant along the solutions that the series are of.
struct OpenLaws {
  std::vector<int> laws{};  ///< in increasing order
  Box values{};             ///< of their λ

  [[nodiscard]] bool contains(int law) const {
    return std::binary_search(laws.begin(), laws.end(), law);
  }
};

/// All of so many laws, with λ = 0.
inline OpenLaws all_open(int count) {
  OpenLaws all{.laws = {}, .values = Box(static_cast<std::size_t>(count), Interval(0))};
  for (int i = 0; i < count; ++i) all.laws.push_back(i);
  return all;
}

/// All roots. `near` are values of the inputs of the tape (t, variables and parameters count, and
/// the λ of open laws), by which divisors are chosen. The w of open laws are outputs behind the
/// gaps; what `mode` says of them does not count, and they have no gaps.
std::vector<ModeSystem> mode_systems(const Dcs& system, const StateSpace& space, const Mode& mode,
                                     const std::vector<double>& near, const OpenLaws& open = {});

/// The only root; not solved where there are several.
ModeSystem mode_system(const Dcs& system, const StateSpace& space, const Mode& mode,
                       const std::vector<double>& near, const OpenLaws& open = {});

}  // namespace perp::enclosure
