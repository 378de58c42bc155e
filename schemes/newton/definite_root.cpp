#include <perp/schemes/newton/definite_root.hpp>
#include <perp/schemes/newton/mode_newton.hpp>

namespace perp {

struct DefiniteRoot::Parts {
  explicit Parts(const Dcs& system) : step(system) {}

  ImplicitStep step;
};

DefiniteRoot::DefiniteRoot(const Dcs& system) : parts_(std::make_unique<Parts>(system)) {}
DefiniteRoot::~DefiniteRoot() = default;

/// An answer depends on its own point alone, not on those that were asked about before: a run that is gone on with asks fewer.
bool DefiniteRoot::may_be(const Mode& mode, double t, const Vector& x, const Vector& lambda, double time) {
  ImplicitStep& step = parts_->step;
  step.set_consistency(x, t);
  step.set_mode(mode);
  if (step.curved_unknowns().empty()) return true;
  step.choose_units(x, t, time);
  ModeNewton newton(step);
  Vector d = Vector::Zero(step.n()), multipliers = lambda;
  return newton.run_near(d, multipliers) != NewtonEnd::indefinite;
}

}  // namespace perp
