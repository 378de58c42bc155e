#include <perp/models/model.hpp>

namespace perp {

Vector Model::x0() const {
  Vector x(static_cast<Eigen::Index>(variables.size()));
  for (std::size_t i = 0; i < variables.size(); ++i)
    x[static_cast<Eigen::Index>(i)] = variables[i].start;
  return x;
}

Vector Model::exact_at(double t) const {
  for (std::size_t k = exact.size(); k-- > 0;) {
    if (t < exact[k].span.start || t > exact[k].span.end) continue;
    Vector x = Vector::Constant(static_cast<Eigen::Index>(variables.size()), nan);
    exact[k].x(t, x);
    return x;
  }
  return {};
}

}  // namespace perp
