#include <perp/core/pencil/finite_eigenvalues.hpp>
#include <perp/core/pencil/pencil.hpp>
#include <perp/schemes/step/solvability/step_poles.hpp>

namespace perp {

Lcs stepped(const StepEquations& equations) {
  Lcs lcs = equations.lcs();
  const Matrix B = lcs.B;
  lcs.B /= equations.theta();
  for (const int i : equations.algebraic_rows()) lcs.B.row(i) = B.row(i);
  return lcs;
}

std::vector<std::complex<double>> step_poles(const Lcs& stepped, double theta, const Mode& mode) {
  const ModeDae dae = mode_dae(stepped, mode);
  std::vector<std::complex<double>> poles;
  const auto eigenvalues = finite_eigenvalues(dae.E, dae.A);
  if (!eigenvalues) return poles;
  for (const std::complex<double>& s : *eigenvalues)
    if (s != 0.0) poles.push_back(1.0 / (theta * s));
  return poles;
}

}  // namespace perp
