#include <fmt/format.h>

#include <perp/analysis/maps/axis.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>

namespace perp {
namespace {

constexpr double most_points = 1e8;  // of the whole grid

}  // namespace

double MapAxis::value(int k) const {
  const int steps = count - 1;
  if (k == 0 || k == steps) return (k == 0 ? first : last) + 0.0;  // as they were given
  return (first * (steps - k) + last * k) / steps + 0.0;  // no -0
}

void check_axes(const std::vector<MapAxis>& axes, const Model& model) {
  std::vector<std::string> names;
  for (const auto& [name, value] : model.parameters) names.push_back(name);
  for (const std::string& name : variable_names(model)) names.push_back(name);
  names.emplace_back("run.h");
  double points = 1;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].name == "h") throw InvalidInput("unknown --vary 'h'; expected the step length as run.h");
    find_name(axes[k].name, names, "parameter or variable");
    for (std::size_t other = 0; other < k; ++other)
      if (axes[other].name == axes[k].name)
        throw InvalidInput(fmt::format("--vary {} is given twice", axes[k].name));
    points *= axes[k].count;
  }
  if (points > most_points)
    throw InvalidInput(
        fmt::format("the map has {:.3g} points; expected at most {:.0e}", points, most_points));
}

}  // namespace perp
