// What every place asks of a system: called by all who do not build one.
#include <perp/core/linearize.hpp>
#include <perp/core/system/function_derivatives.hpp>
#include <perp/core/system/system.hpp>

namespace perp {
namespace {

/// Those with a nonzero column in E.
std::vector<int> differential_variables(const Lcs& lcs) {
  std::vector<int> variables;
  for (int j = 0; j < lcs.n(); ++j)
    if (lcs.E.size() == 0 || !lcs.E.col(j).isZero(0)) variables.push_back(j);
  return variables;
}

}  // namespace

int System::n() const {
  return std::visit([](const auto& any) { return any.n(); }, kind_);
}

const Laws& System::laws() const {
  return std::visit([](const auto& any) -> const Laws& { return any.laws; }, kind_);
}

const std::vector<Reset>& System::resets() const {
  static const std::vector<Reset> none;
  const Dcs* functions = std::get_if<Dcs>(&kind_);
  return functions != nullptr ? functions->resets : none;
}

std::vector<int> System::differential() const {
  if (const Lcs* lcs = affine()) return differential_variables(*lcs);
  return differential_variables(std::get<Dcs>(kind_));
}

Dcs System::functions() const {
  const Lcs* lcs = affine();
  return lcs != nullptr ? as_dcs(*lcs) : std::get<Dcs>(kind_);
}

Lcs System::in_mode(double t, const Vector& x, const Mode& mode) const {
  if (const Lcs* lcs = affine()) return *lcs;
  const Dcs& functions = std::get<Dcs>(kind_);
  return linearized(functions, t, state_in_mode(functions, t, x, mode));
}

}  // namespace perp
