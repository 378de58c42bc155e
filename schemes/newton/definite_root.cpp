#include <perp/schemes/newton/definite_root.hpp>
#include <perp/schemes/newton/mode_newton.hpp>

namespace perp {

struct DefiniteRoot::Parts {
  explicit Parts(const Dcs& system) : step(system), newton(step) {}

  ImplicitStep step;
  ModeNewton newton;
};

DefiniteRoot::DefiniteRoot(const Dcs& system) : parts_(std::make_unique<Parts>(system)) {}
DefiniteRoot::~DefiniteRoot() = default;

bool DefiniteRoot::may_be(const Mode& mode, double t, const Vector& x, const Vector& lambda) {
  ImplicitStep& step = parts_->step;
  step.set_consistency(x, t);
  step.set_mode(mode);
  if (step.curved_unknowns().empty()) return true;
  if (!step.has_units()) step.choose_units(x, t, 1);
  Vector d = Vector::Zero(step.n()), multipliers = lambda;
  return parts_->newton.run_near(d, multipliers) != NewtonEnd::indefinite;
}

}  // namespace perp
