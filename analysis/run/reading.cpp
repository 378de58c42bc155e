// How a model is read for a question: the command line and the Python module do it alike.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/analysis/run/reading.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/run_options.hpp>

namespace perp {
namespace {

/// "x" and the table that a key names: {"x", "variables."} of "x(0)"; no table: "".
std::pair<std::string, std::string> name_and_table(std::string key) {
  std::string table;
  for (const char* known : {"parameters.", "variables.", "run."})
    if (key.starts_with(known)) {
      table = known;
      key.erase(0, table.size());
    }
  for (const char* start : {"(0)", ".start"})
    if (key.ends_with(start)) {
      table = "variables.";
      key.resize(key.size() - std::string(start).size());
    }
  return {key, table};
}

}  // namespace

ReadOptions read_options(const ReadingOptions& options) {
  const std::vector<std::string>& keys = options.run_keys;
  return {.run_keys = keys,
          .hybrid = options.hybrid,
          .plain_equations = options.plain_equations,
          .runs_scheme = keys.empty() || std::count(keys.begin(), keys.end(), "scheme") > 0,
          .exact = options.exact};
}

Model read_for_run(const ModelText& text, const std::vector<Override>& overrides) {
  Model model = text.read(overrides);
  if (model.run.h == 0) model.run.h = (model.run.span.end - model.run.span.start) / 1000;
  return model;
}

std::string in_users_words(const std::string& message,
                           const std::vector<WrittenOverride>& overrides) {
  for (const auto& [item, written] : overrides) {
    const std::string set = fmt::format("--set {}={}:", item.key, item.value);
    if (!message.starts_with(set)) continue;
    const std::size_t rest = message.find(": ", set.size());
    if (rest != std::string::npos) return written + message.substr(rest);
  }
  return message;
}

bool same_key(const std::string& a, const std::string& b) {
  const auto [a_name, a_table] = name_and_table(a);
  const auto [b_name, b_table] = name_and_table(b);
  return a_name == b_name && (a_table == b_table || a_table.empty() || b_table.empty());
}

Mode mode_of(const std::vector<std::string>& branches, const std::vector<Law>& laws,
             const std::string& what) {
  if (branches.size() != laws.size())
    throw InvalidInput(fmt::format("{}: expected {} branches, one for each law, but found {}", what,
                                   laws.size(), branches.size()));
  Mode mode;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    std::vector<std::string> known;
    for (const Branch& branch : laws[i].branches) known.push_back(describe(branch));
    int number = 0;
    for (std::size_t k = 0; k < known.size(); ++k)
      if (branches[i] == fmt::format("{}", k + 1)) number = static_cast<int>(k) + 1;
    if (number == 0)
      number = 1 + static_cast<int>(find_name(branches[i], known, fmt::format("branch of law {}", i + 1)));
    mode.push_back(number - 1);
  }
  return mode;
}

std::vector<double> previous_values(const HybridModel& model,
                                    const std::vector<std::pair<std::string, double>>& given,
                                    const std::string& what) {
  std::vector<std::string> names;
  std::vector<double> values;
  for (const Binary& binary : model.binaries) {
    names.push_back(binary.name);
    values.push_back(binary.start ? *binary.start : nan);
  }
  for (const auto& [name, value] : given) {
    values[find_name(name, names, "binary")] = value;
    if (!(value >= 0 && value <= 1))
      throw InvalidInput(fmt::format(
          "{} is {}; expected 0, 1, or between them a binary that slides", what + " " + name, value));
  }
  if (std::all_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) return {};
  return values;
}

}  // namespace perp
