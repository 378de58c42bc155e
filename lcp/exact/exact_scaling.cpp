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

}  // namespace

bool is_exactly_scaled(const Mlcp& given, const Mlcp& scaled) {
  for (const auto member : {&Mlcp::M11, &Mlcp::M12, &Mlcp::M21, &Mlcp::M22})
    if (!kept(given.*member, scaled.*member)) return false;
  for (const auto member : {&Mlcp::q1, &Mlcp::q2})
    if (!kept(Matrix(given.*member), Matrix(scaled.*member))) return false;
  for (std::size_t i = 0; i < given.laws.size(); ++i)
    for (std::size_t k = 0; k < given.laws[i].branches.size(); ++k) {
      const Branch &a = given.laws[i].branches[k], &b = scaled.laws[i].branches[k];
      for (const auto member : {&Branch::a, &Branch::b, &Branch::c})
        if (!kept(a.*member, b.*member)) return false;
      for (const auto member : {&Branch::w, &Branch::lambda})
        if (!kept((a.*member).lower, (b.*member).lower) ||
            !kept((a.*member).upper, (b.*member).upper))
          return false;
    }
  return true;
}

}  // namespace perp
