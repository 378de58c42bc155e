#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <perp/schemes/located/events/event_locator.hpp>
#include <perp/schemes/located/transition/sensitivity.hpp>

namespace perp {

/// One event of a moment: a gap that falls, and all that happens with it whatever q is.
struct MomentEvent {
  Gap gap;
  Sensitivities::GapRate rate;  ///< by the mode before the moment
  std::vector<int> resets{};    ///< that fire
  std::vector<int> contacts{};  ///< that collide, with those that they press on
  std::vector<int> laws{};      ///< that change their branch
};

/// The derivative of the flow across several events of one moment. They happen one after the other for almost every q; between
/// two of them the state moves by the rates of the mode in between for a time of the size of dq:
///     S ↦ R (S + ẋ⁻ dt*) − ẋ⁺ dt*       for each event, R the derivative of its jump, dt* by the mode before it
/// Where all orders lead to the same state with the same product that is the derivative.
class MomentOrders {
 public:
  /// All must outlive this.
  MomentOrders(const LocatedState& at, ModeJets& jets, ModeIntegrator& integrator, const EventLocator& locator,
               Sensitivities& maps, Impact* impact)
      : at_(at), jets_(jets), integrator_(integrator), locator_(locator), maps_(maps), impact_(impact) {}

  /// S behind the events in each order from S before them. `mode`: before them; `after`: the present state in the mode just
  /// entered. Empty: of an order it is not known what happens, or it leads elsewhere, as `why` tells.
  std::vector<Matrix> operator()(const std::vector<MomentEvent>& events, const Matrix& S, const Jet& after);
  [[nodiscard]] const char* why() const { return why_; }
  /// Has this event another dt*/dq in some order than by the mode before the moment?
  [[nodiscard]] bool has_several_times(const MomentEvent& event) const { return std::ranges::find(moved_, &event) != moved_.end(); }

 private:
  struct State {
    Vector x;
    Jet jet;
    Matrix S;
  };
  [[nodiscard]] std::optional<Matrix> in_order(const std::vector<const MomentEvent*>& order, State state, const Jet& after);
  [[nodiscard]] bool passes(const MomentEvent& event, const Sensitivities::GapRate& rate) const;
  void compare_times(const MomentEvent& event, const Sensitivities::GapRate& rate, const Matrix& S);
  [[nodiscard]] Vector jump(const MomentEvent& event, const State& state);
  [[nodiscard]] std::optional<Jet> between(const MomentEvent& event, const std::vector<const MomentEvent*>& pending, const Mode& mode, const Vector& x,
                                           const Jet& after);
  [[nodiscard]] bool holds(const MomentEvent& event, const std::vector<const MomentEvent*>& pending, const Jet& jet) const;
  [[nodiscard]] bool leads_to(const Vector& x, const Jet& after) const;

  const LocatedState& at_;
  ModeJets& jets_;
  ModeIntegrator& integrator_;
  const EventLocator& locator_;
  Sensitivities& maps_;
  Impact* impact_;  // of a mechanical system
  const char* why_ = "";
  std::vector<const MomentEvent*> moved_;  // whose times depend on the order
};

}  // namespace perp
