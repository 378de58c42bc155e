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
  for (const std::string& text : options.set)
    if (!time.empty() && same_key(parse_assignment(text, "--set").key, "run.t"))
      throw InvalidInput(
          fmt::format("--t {}: run.t is given by '--set {}' too; expected one of them", time, text));
}

double StateOptions::t(const Model& model) const {
  return time.empty() ? model.run.span.start : io::parse_number(time, "--t");
}

Mode StateOptions::present(const std::vector<Law>& laws) const {
  Mode branches;
  if (mode.empty()) return branches;
  const std::vector<std::string> parts = split_list(mode);
  if (parts.size() != laws.size())
    throw InvalidInput(
        fmt::format("--mode {}: expected {} branches, one for each law, but found {}", mode,
                    laws.size(), parts.size()));
  for (std::size_t i = 0; i < laws.size(); ++i) {
    std::vector<std::string> known;
    for (const Branch& branch : laws[i].branches) known.push_back(describe(branch));
    int number = 0;
    for (std::size_t k = 0; k < known.size(); ++k)
      if (parts[i] == fmt::format("{}", k + 1)) number = static_cast<int>(k) + 1;
    if (number == 0)
      number =
          1 + static_cast<int>(find_name(parts[i], known, fmt::format("branch of law {}", i + 1)));
    branches.push_back(number - 1);
  }
  return branches;
}

std::vector<Override> parse_state(std::string_view text,
                                  const std::vector<std::string>& variables) {
  std::vector<Override> state;
  for (const std::string& part : split_list(text)) {
    Override item = parse_assignment(part, "--at");
    find_name(item.key, variables, "variable");
    for (const Override& known : state)
      if (known.key == item.key)
        throw InvalidInput(fmt::format("--at {}: {} stands there twice", text, item.key));
    state.push_back(std::move(item));
  }
  return state;
}

}  // namespace perp::cli
