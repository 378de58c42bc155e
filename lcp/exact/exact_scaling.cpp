#include <cmath>

#include <perp/lcp/exact/exact_scaling.hpp>

namespace perp {
namespace {

/// Did powers of two change a number without rounding?
bool kept(double given, double scaled) {
  constexpr double smallest = std::numeric_limits<double>::min();
  if (given == 0 || std::isinf(given)) return scaled == given;
  return std::isfinite(scaled) && std::abs(scaled) >= smallest;
}

bool kept(const Matrix& given, const Matrix& scaled) {
  for (Eigen::Index k = 0; k < given.size(); ++k)
    if (!kept(given.data()[k], scaled.data()[k])) return false;
  return true;
}

bool kept(const Range& given, const Range& scaled) {
  return kept(given.lower, scaled.lower) && kept(given.upper, scaled.upper);
}

bool kept(const Branch& given, const Branch& scaled) {
  for (const auto member : {&Branch::a, &Branch::b, &Branch::c})
    if (!kept(given.*member, scaled.*member)) return false;
  for (const auto member : {&Branch::w, &Branch::lambda})
    if (!kept(given.*member, scaled.*member)) return false;
  return true;
}

bool kept(const Law& given, const Law& scaled) {
  for (std::size_t k = 0; k < given.branches.size(); ++k)
    if (!kept(given.branches[k], scaled.branches[k])) return false;
  return true;
}

}  // namespace

bool is_exactly_scaled(const Mlcp& given, const Mlcp& scaled) {
  for (const auto member : {&Mlcp::M11, &Mlcp::M12, &Mlcp::M21, &Mlcp::M22})
    if (!kept(given.*member, scaled.*member)) return false;
  for (const auto member : {&Mlcp::q1, &Mlcp::q2})
    if (!kept(Matrix(given.*member), Matrix(scaled.*member))) return false;
  for (std::size_t i = 0; i < given.laws.size(); ++i)
    if (!kept(given.laws[i], scaled.laws[i])) return false;
  return true;
}

}  // namespace perp
