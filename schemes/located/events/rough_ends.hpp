#pragma once

#include <optional>
#include <vector>

#include <perp/schemes/located/events/event_locator.hpp>

namespace perp {

/// Ends of modes where the equations have values but no derivatives, as √|s| at s = 0: no step reaches them
/// and no Taylor series starts there. A solution may pass all the same, with a corner of its rates.
class RoughEnds {
 public:
  /// All must outlive this.
  RoughEnds(LocatedState& at, ModeJets& jets, ModeIntegrator& integrator, EventLocator& locator)
      : at_(at), jets_(jets), integrator_(integrator), locator_(locator) {}

  /// The gap of a law that is 0 as near as steps can go: by its size, or by what it falls by within the
  /// shortest steps.
  std::optional<Gap> gap_at_end();
  /// A gap that steps no longer see, and how long it still falls.
  struct Lost {
    Gap gap;
    double time = 0;
  };
  /// The first one whose end is before `limit`.
  std::optional<Lost> lost_gap(double limit);
  /// Puts the present state onto the end of a branch that its argument w is next to: the shortest way
  /// in units of the variables. On the other side of it the equations may have no value.
  void move_to(const Gap& gap);
  /// The modes into which the rates lead, those of the laws that are not open as they are. What needs
  /// a multiplier is not tried.
  std::vector<Continuation> continuations(const std::vector<int>& open);

 private:
  bool is_lost_in_rounding(const Gap& gap);
  double rate_of(const Gap& gap, const Jet& jet);
  [[nodiscard]] bool is_of_index_0() const;
  std::optional<double> time_to_end(const Gap& gap, double limit);
  std::optional<Continuation> continuation(const Mode& mode, const std::vector<int>& open);
  std::optional<Vector> rates_at_present();
  bool leads_inward(const Continuation& next, const Matrix& w_y, const std::vector<int>& open) const;

  LocatedState& at_;
  ModeJets& jets_;
  ModeIntegrator& integrator_;
  EventLocator& locator_;
};

}  // namespace perp
