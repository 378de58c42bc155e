#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <perp/schemes/located/events/event_locator.hpp>
#include <perp/schemes/located/transition/sensitivity.hpp>

namespace perp {

/// What happens at one moment, in one transition or in several that follow at once, and what there was before all of it.
struct Moment {
  double until = 0;              ///< events up to this time are of this moment
  Jet before{};                  ///< of the mode that ends
  Matrix S{};                    ///< at its end
  std::vector<Gap> gaps{};       ///< of that mode, which are 0
  std::vector<int> met{};        ///< resets whose conditions are 0
  std::vector<int> fired{};      ///< resets that fire
  std::vector<int> struck{};     ///< contacts that collide
  std::size_t first_event = 0;   ///< of the run's events
  // Of the transition that goes on: the first of the resets that fire in it, of the contacts that collide, and of its events.
  std::size_t fired_now = 0, struck_now = 0, event_now = 0;
  bool is_joined = false;        ///< there have been several transitions
  bool has_jumped = false;       ///< x has, in one of them
  bool is_in_orders = false;     ///< S behind it is that of the orders of its events
  bool has_followers = false;    ///< resets have fired since a transition has moved their conditions
  bool is_one_sided = false;     ///< S behind it has several values
};

/// One event of a moment: a gap that falls, and all that happens with it whatever q is.
struct MomentEvent {
  Gap gap;
  Sensitivities::GapRate rate;  ///< by the mode before the moment
  std::vector<int> resets{};    ///< that fire
  std::vector<int> contacts{};  ///< that collide, with those that they press on
  std::vector<int> laws{};      ///< that change their branch
};

/// Of each column of the derivatives of a gap, the size of the terms that it is the sum of.
Vector terms_of(const LocatedState& at, const EventLocator& locator, const Gap& gap, const Sensitivities::GapRate& rate, const Matrix& S);

/// The derivative of the flow across several events of one moment. They happen one after the other for almost every q; between
/// two of them the state moves by the rates of the mode in between for a time of the size of dq:
///     S ↦ R (S + ẋ⁻ dt*) − ẋ⁺ dt*       for each event, R the derivative of its jump, dt* by the mode before it
/// Where all orders lead to the same state with the same product that is the derivative. Events that no equation and no reset
/// connects move different rows of S, each by the same product whenever the others happen: orders are compared within groups
/// of connected events.
class MomentOrders {
 public:
  /// All must outlive this.
  MomentOrders(const LocatedState& at, const Moment& moment, ModeJets& jets, ModeIntegrator& integrator, const EventLocator& locator,
               Sensitivities& maps, Impact* impact)
      : at_(at), moment_(moment), jets_(jets), integrator_(integrator), locator_(locator), maps_(maps), impact_(impact) {}

  static constexpr std::size_t most_ordered = 4;  ///< connected events of one moment whose orders, k!, are compared
  /// S behind the events of the moment: in the given order, then in each other order of connected ones, from S before them.
  /// `after`: the present state in the mode just entered. Empty: of an order it is not known what happens, or it leads
  /// elsewhere, as `why` tells.
  std::vector<Matrix> operator()(const std::vector<MomentEvent>& events, const Jet& after);
  [[nodiscard]] const char* why() const { return why_; }
  /// Has this event another dt*/dq in some order than by the mode before the moment?
  [[nodiscard]] bool has_several_times(const MomentEvent& event) const { return std::ranges::find(moved_, &event) != moved_.end(); }

 private:
  struct State {
    Vector x;
    Jet jet;
    Matrix S;
  };
  using Order = std::vector<const MomentEvent*>;
  [[nodiscard]] std::vector<int> parts_of(const MomentEvent& event) const;
  [[nodiscard]] std::vector<std::vector<std::size_t>> groups(const std::vector<MomentEvent>& events) const;
  [[nodiscard]] std::vector<Order> orders(const std::vector<MomentEvent>& events) const;
  [[nodiscard]] std::optional<Matrix> in_order(const Order& order, State state, const Jet& after);
  [[nodiscard]] bool passes(const MomentEvent& event, const Sensitivities::GapRate& rate) const;
  void compare_times(const MomentEvent& event, const Sensitivities::GapRate& rate, const Matrix& S);
  [[nodiscard]] Vector jump(const MomentEvent& event, const State& state);
  [[nodiscard]] std::optional<Jet> between(const MomentEvent& event, const Order& pending, const Mode& mode, const Vector& x,
                                           const Jet& after);
  [[nodiscard]] bool holds(const MomentEvent& event, const Order& pending, const Jet& jet) const;
  [[nodiscard]] bool leads_to(const Vector& x, const Jet& after) const;

  const LocatedState& at_;
  const Moment& moment_;
  ModeJets& jets_;
  ModeIntegrator& integrator_;
  const EventLocator& locator_;
  Sensitivities& maps_;
  Impact* impact_;  // of a mechanical system
  const char* why_ = "";
  Order moved_;  // whose times depend on the order
};

}  // namespace perp
