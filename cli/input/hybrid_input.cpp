#include <fmt/format.h>
#include <utility>

#include <perp/analysis/run/reading.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/hybrid_input.hpp>
#include <perp/cli/input/state_options.hpp>
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
  std::vector<std::pair<std::string, double>> given;
  for (const std::string& part : text.empty() ? std::vector<std::string>{} : split_list(text)) {
    const Override item = parse_assignment(part, "--previous");
    given.emplace_back(item.key, io::parse_number(item.value, fmt::format("--previous {}", item.key)));
  }
  return perp::previous_values(model, given, "--previous");
}

}  // namespace perp::cli
