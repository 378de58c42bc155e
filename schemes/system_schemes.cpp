// The one place where schemes part by what a system is made of: called by all who run a model.
#include <perp/schemes/system_schemes.hpp>

namespace perp {

Trajectory integrate(const System& system, const Vector& x0, Span span, const BackwardEuler& scheme,
                     const IntegrateOptions& options) {
  const Lcs* lcs = system.affine();
  return lcs != nullptr ? integrate(*lcs, x0, span, scheme, options)
                        : integrate(system.functions(), x0, span, scheme, options);
}

Trajectory integrate(const System& system, const Vector& x0, Span span, const Theta& scheme,
                     const IntegrateOptions& options) {
  const Lcs* lcs = system.affine();
  return lcs != nullptr ? integrate(*lcs, x0, span, scheme, options)
                        : integrate(system.functions(), x0, span, scheme, options);
}

Trajectory integrate(const System& system, const Vector& x0, Span span, const Located& scheme,
                     const IntegrateOptions& options) {
  return integrate(system.functions(), x0, span, scheme, options);
}

std::unique_ptr<Scheme> capturing_scheme(const System& system, const Theta& options) {
  const Lcs* lcs = system.affine();
  return lcs != nullptr ? capturing_scheme(*lcs, options) : capturing_scheme(system.functions(), options);
}

StepPath follow(const System& system, const Step& from, double h, double theta) {
  const Lcs* lcs = system.affine();
  return lcs != nullptr ? follow(*lcs, from, h, theta) : follow(system.functions(), from, h);
}

}  // namespace perp
