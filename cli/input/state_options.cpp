#include <fmt/format.h>

#include <perp/analysis/run/columns.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/state_options.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/files/input_text.hpp>

namespace perp::cli {

void StateOptions::add_to(CommandLine& line, const std::string& state, const std::string& time_of) {
  line.add_option("--at", at, state + "; variables that are not named have the model's start")
      .type_name("NAME=VALUE,...");
  line.add_option("--t", time, time_of + "; default: the model's start").type_name("T");
}

void StateOptions::add_mode_to(CommandLine& line, const std::string& meaning) {
  line.add_option("--mode", mode, meaning).type_name("BRANCH,...");
}

Model StateOptions::read(const ModelOptions& options) const {
  check_time(options);
  const ModelReader reader(options);
  if (at.empty()) return reader({}, {}, "--at");
  return reader({}, parse_state(at, variable_names(reader({}, {}, "--at"))), "--at");
}

/// Throws InvalidInput where --set gives another time.
void StateOptions::check_time(const ModelOptions& options) const {
  if (time.empty()) return;
  for (const auto& [item, written] : options.assignments())
    if (same_key(item.key, "run.t"))
      throw InvalidInput(
          fmt::format("--t {}: run.t is given by '{}' too; expected one of them", time, written));
}

double StateOptions::t(const Model& model) const {
  return time.empty() ? model.run.span.start : io::parse_number(time, "--t");
}

Mode StateOptions::present(const std::vector<Law>& laws) const {
  return mode.empty() ? Mode{} : mode_of(split_list(mode), laws, "--mode " + mode);
}

std::vector<Override> parse_state(std::string_view text,
                                  const std::vector<std::string>& variables,
                                  const std::string& option) {
  std::vector<Override> state;
  for (const std::string& part : split_list(text)) {
    Override item = parse_assignment(part, option);
    find_name(item.key, variables, "variable");
    for (const Override& known : state)
      if (known.key == item.key)
        throw InvalidInput(fmt::format("{} {}: {} stands there twice", option, text, item.key));
    state.push_back(std::move(item));
  }
  return state;
}

}  // namespace perp::cli
