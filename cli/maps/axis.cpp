#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/cli/maps/axis.hpp>
#include <perp/core/base/error.hpp>

namespace perp::cli {
namespace {

constexpr double most_values = 1e6;  // on one axis
constexpr double most_points = 1e8;  // of the whole grid

}  // namespace

double Axis::value(int k) const {
  const int steps = count - 1;
  return (first * (steps - k) + last * k) / steps + 0.0;  // no -0
}

Axis parse_axis(const std::string& text) {
  const Override assignment = parse_assignment(text, "--vary");
  const std::string& range = assignment.value;
  const std::size_t one = range.find(':');
  const std::size_t two = one == std::string::npos ? one : range.find(':', one + 1);
  if (two == std::string::npos)
    throw InvalidInput(
        fmt::format("--vary {}: expected NAME=FIRST:LAST:COUNT, as in B1=-2:2:161", text));
  const std::string what = "--vary " + assignment.key;
  Axis axis{.name = assignment.key,
            .first = parse_number(range.substr(0, one), what),
            .last = parse_number(range.substr(one + 1, two - one - 1), what)};
  const double count = parse_number(range.substr(two + 1), what);
  if (!(count >= 2 && count <= most_values) || count != std::floor(count))
    throw InvalidInput(
        fmt::format("--vary {}: the count is {}; expected a whole number from 2 to "
                    "{:.0f}",
                    text, count, most_values));
  axis.count = static_cast<int>(count);
  if (axis.first == axis.last)
    throw InvalidInput(fmt::format("--vary {}: expected two different ends", text));
  if (!std::isfinite(axis.first * count) || !std::isfinite(axis.last * count))
    throw InvalidInput(fmt::format("--vary {}: the ends are too large", text));
  return axis;
}

void check_axes(const std::vector<Axis>& axes, const Model& model) {
  std::vector<std::string> names;
  for (const auto& [name, value] : model.parameters) names.push_back(name);
  for (const std::string& name : variable_names(model)) names.push_back(name);
  names.emplace_back("run.h");
  double points = 1;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    find_name(axes[k].name, names, "--vary");
    for (std::size_t other = 0; other < k; ++other)
      if (axes[other].name == axes[k].name)
        throw InvalidInput(fmt::format("--vary {} is given twice", axes[k].name));
    points *= axes[k].count;
  }
  if (points > most_points)
    throw InvalidInput(
        fmt::format("the map has {:.3g} points; expected at most {:.0e}", points, most_points));
}

}  // namespace perp::cli
