#include <fmt/format.h>
#include <cmath>

#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/hybrid_input.hpp>
#include <perp/cli/input/state_options.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/files/input_text.hpp>

namespace perp::cli {

std::optional<HybridModel> read_hybrid(const ModelOptions& options, const std::string& at) {
  const ModelReader reader(options);
  std::optional<HybridModel> model = reader.hybrid({}, "--at");
  if (!model || at.empty()) return model;
  std::vector<std::string> names;
  for (const Variable& variable : model->head.variables) names.push_back(variable.name);
  return reader.hybrid(parse_state(at, names), "--at");
}

std::vector<double> previous_values(const HybridModel& model, const std::string& text) {
  std::vector<std::string> names;
  std::vector<double> values;
  for (const Binary& binary : model.binaries) {
    names.push_back(binary.name);
    values.push_back(binary.start ? *binary.start : nan);
  }
  for (const std::string& part : text.empty() ? std::vector<std::string>{} : split_list(text)) {
    const Override item = parse_assignment(part, "--previous");
    const std::size_t i = find_name(item.key, names, "binary");
    values[i] = io::parse_number(item.value, fmt::format("--previous {}", item.key));
    if (values[i] < 0 || values[i] > 1)
      throw InvalidInput(
          fmt::format("--previous {} is {}; expected 0, 1, or between them a binary that slides",
                      item.key, values[i]));
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isnan(values[i])) missing.push_back(names[i]);
  if (missing.size() == values.size()) return {};
  if (!missing.empty())
    throw InvalidInput(fmt::format(
        "--previous: {} {} no value and no start in the model; expected all binaries or none",
        fmt::join(missing, ", "), missing.size() == 1 ? "has" : "have"));
  return values;
}

}  // namespace perp::cli
