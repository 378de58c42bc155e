#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include <perp/analysis/enclosure/exact_start.hpp>
#include <perp/analysis/enclosure/modes/mode_system.hpp>
#include <perp/analysis/enclosure/taylor_step.hpp>
#include <perp/core/interval/series/implicit_function.hpp>

namespace perp::enclosure {

/// One mode at work: its equations with what steps, windows of events and rows are computed with.
class ModeFlow {
 public:
  ModeFlow(ModeSystem made, const StepOptions& options);

  ModeSystem system;
  TaylorStep step;    ///< the present one
  TaylorStep window;  ///< around an event, on the side of this mode

  /// Series of degree `order` over a box; outputs are the gaps. False: something has no value.
  [[nodiscard]] bool expand(const Interval& t, const Box& box, int order, bool derivatives) {
    return jet_.compute(t, box, order, derivatives);
  }
  [[nodiscard]] const IntervalSeries& jet() const { return jet_; }

  /// The root of its implicit equations that is meant from now on, known somewhere.
  ///@{
  [[nodiscard]] bool has_implicit() const { return !system.flow.implicit.empty(); }
  [[nodiscard]] const KnownRoot& root() const { return *system.flow.implicit.known; }
  void use(const KnownRoot& root) {
    if (has_implicit()) *system.flow.implicit.known = root;
  }
  /// Moves it to the box, on a way that is proved to hold the solutions. False: it may end there.
  [[nodiscard]] bool follow(const Interval& t, const Box& box);
  /// Finds one near these values of the unknowns. `is_around`: in a neighbourhood of all of them,
  /// of which it is the only root.
  [[nodiscard]] bool find(const Interval& t, const Box& box, const Box& values, bool is_around);
  /// ∂h/∂z, z in these intervals, which may be without bounds.
  [[nodiscard]] IntervalMatrix jacobian(const Interval& t, const Box& box, const Box& values);
  ///@}

  /// The n variables, the m multipliers, and the residuals of constraints, over a box. False: one
  /// of them has no value.
  [[nodiscard]] bool observe(const Interval& t, const Box& box);
  /// The same of the members of a set where they are at t; what several states give is not as wide
  /// as it is over the box of these. `part`: of those in these states only.
  [[nodiscard]] bool observe(const Interval& t, const Doubleton& set,
                             const TaylorStep::Image& image, const Box* part = nullptr);
  [[nodiscard]] const Interval& observed(int k) const {
    return observed_[static_cast<std::size_t>(k)];
  }
  /// Its derivative by a state, of such members, if it has one everywhere.
  [[nodiscard]] bool has_slopes() const { return has_slopes_; }
  [[nodiscard]] const Interval& observed_slope(int k, int state) const {
    return observer_.output_derivative(k, state, 0);
  }
  /// The n = `count` variables over the box that was observed: of a state that others give both,
  /// its formula and its own interval, which is the narrower one where the formula holds a state
  /// more than once.
  [[nodiscard]] Box observed_variables(int count, const StateSpace& space, const Box& box) const;

 private:
  IntervalSeries jet_, observer_;
  void bound_observed(const Doubleton& set, const TaylorStep::Image& image, const Box& at_F,
                      bool is_whole);

  Box observed_{};
  bool has_slopes_ = false;
  std::optional<ImplicitFunction> implicit_;
};

/// The modes that one piece of the set has met; they are made once.
class ModeFlows {
 public:
  ModeFlows(const Dcs& system, const StateSpace& space, const StepOptions& options)
      : system_(system), space_(space), options_(options) {}

  /// `t` and `box` are where it is needed; by them divisors are chosen. The λ of open laws are
  /// constants of the flow.
  ///@{
  ModeFlow& get(const Mode& mode, const Interval& t, const Box& box, const OpenLaws& open = {},
                int root = 0);
  ModeFlow& get(const Mode& mode, const Interval& t, const Box& box, int root) {
    return get(mode, t, box, {}, root);
  }
  ///@}

  /// That in which no law is on a branch: all λ are open, inputs of value 0.
  ModeFlow& without_branches(const Interval& t, const Box& box) {
    const OpenLaws all = all_open(system_.m());
    return get(Mode(all.laws.size(), 0), t, box, all);
  }

  /// Values of the inputs of the tape in the middle of a box.
  [[nodiscard]] std::vector<double> near(const Interval& t, const Box& box) const;

  /// Values of algebraic variables, by which divisors are chosen.
  void guess(const Box& variables) { guess_ = variables; }

  /// The inputs of the tape at the start, where they are known without rounding.
  ///@{
  void start_at(const ExactNumbersOrNone& inputs) { start_inputs_ = inputs; }
  [[nodiscard]] const ExactNumbersOrNone& start_inputs() const { return start_inputs_; }
  ///@}

  [[nodiscard]] const Dcs& system() const { return system_; }
  [[nodiscard]] const StateSpace& space() const { return space_; }
  [[nodiscard]] const StepOptions& options() const { return options_; }

 private:
  const Dcs& system_;
  const StateSpace& space_;
  StepOptions options_;
  Box guess_{};
  ExactNumbersOrNone start_inputs_{};
  using Key = std::tuple<Mode, std::vector<int>, std::vector<double>>;  // ends of open λ
  std::map<Key, std::vector<std::unique_ptr<ModeFlow>>> flows_;         // by root
};

}  // namespace perp::enclosure
