#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include <perp/analysis/run/schemes.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/io/hybrid/sparse_hdf5.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/run_options.hpp>

namespace perp::cli {
namespace {

KnownNames known_names(const ModelOptions& options) {
  KnownNames known;
  known.schemes.clear();
  for (const SchemeEntry* entry : scheme_entries()) known.schemes.emplace_back(entry->name);
  for (const MlcpSolver* method : solvers()) known.solvers.emplace_back(method->name);
  known.run_keys = options.run_keys;
  known.exact = options.exact;
  known.hybrid = options.hybrid;
  known.plain_equations = options.plain_equations;
  known.sparse_hdf5 = io::read_sparse_hdf5;
  known.runs_scheme = options.run_keys.empty() || std::count(options.run_keys.begin(),
                                                             options.run_keys.end(), "scheme") > 0;
  return known;
}

/// Says once which intervals are taken at their middle.
void say_midpoints(const Model& model) {
  static std::once_flag said;
  if (model.midpoints.empty() || model.run.scheme == "enclosure") return;
  std::call_once(said, [&model] {
    fmt::print(stderr,
               "{}: intervals count with their middle: {}; perp enclose bounds all of them\n",
               model.file, fmt::join(model.midpoints, ", "));
  });
}

/// Each warning of a model is said once.
void say_warnings(const Model& model) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::scoped_lock lock(mutex);
  for (const std::string& warning : model.warnings)
    if (said.insert(warning).second) fmt::print(stderr, "{}: warning: {}\n", model.file, warning);
}

/// Messages about an override speak of "--set KEY=VALUE:1:COLUMN"; where the user wrote another
/// option, that option is named.
std::string in_users_words(const std::string& message,
                           const std::map<std::string, std::string>& written) {
  for (const auto& [set, option] : written) {
    if (!message.starts_with(set)) continue;
    const std::size_t rest = message.find(": ", set.size());
    if (rest != std::string::npos) return option + message.substr(rest);
  }
  return message;
}

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

bool same_key(const std::string& a, const std::string& b) {
  const auto [a_name, a_table] = name_and_table(a);
  const auto [b_name, b_table] = name_and_table(b);
  return a_name == b_name && (a_table == b_table || a_table.empty() || b_table.empty());
}

void ModelOptions::add_to(CommandLine& line) {
  line.add_option("MODEL", model, "a model file, or a name of the zoo (perp list models)")
      .required()
      .type_name("");
  add_set_to(line);
}

void ModelOptions::add_set_to(CommandLine& line) {
  line.add_option("--set", set,
                 "override a parameter, a start value or a key (run.h=0.01); repeatable")
      .type_name("NAME=VALUE")
      .one_at_a_time();
}

void ModelOptions::add_span_to(CommandLine& line) {
  line.add_option("--t", run["t"], "time span instead of the model's").type_name("T0,T");
}

void ModelOptions::add_run_to(CommandLine& line, const std::vector<std::string>& keys) {
  for (const RunOption& option : run_options()) {
    if (std::find(keys.begin(), keys.end(), option.key) == keys.end()) continue;
    std::string& value = run[option.key];
    const std::string readers = schemes_reading(option.key);
    const std::string help =
        option.meaning + (readers.empty() ? "" : fmt::format(" (schemes {})", readers));
    if (option.is_flag())
      line.add_flag(flag_of(option.key), value, help);
    else
      line.add_option(flag_of(option.key), value, help).type_name(option.placeholder);
  }
}

void ModelOptions::add_scheme_to(CommandLine& line) {
  // A switch that is on where nothing is said has no flag; --set run.KEY=false turns it off.
  add_run_to(line, {"cross_check", "policy", "scheme", "selector", "solver", "theta", "tol"});
}

std::string flag_of(const std::string& key) {
  std::string flag = "--" + key;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

ModelReader::ModelReader(const ModelOptions& options)
    : text_(read_model_file(find_model(options.model), known_names(options))) {
  for (const std::string& assignment : options.set)
    set_.push_back(parse_assignment(assignment, "--set"));
  for (const auto& [key, value] : options.run) {
    if (value.empty()) continue;
    shortcuts_.push_back({"run." + key, value});
    written_[fmt::format("--set run.{}={}:", key, value)] =
        value == "true" ? flag_of(key) : fmt::format("{} {}", flag_of(key), value);
  }
}

/// What `read` makes of all overrides; its errors name the options as they were written.
template <class Read>
auto ModelReader::in_users_words(const std::vector<Override>& set, const std::vector<Override>& more,
                                 const std::string& more_option, const Read& read) const {
  std::vector<Override> overrides = set_;
  overrides.insert(overrides.end(), shortcuts_.begin(), shortcuts_.end());
  for (const Override& item : set)  // those of a command take the place of the user's
    std::erase_if(overrides, [&](const Override& other) { return same_key(other.key, item.key); });
  overrides.insert(overrides.end(), set.begin(), set.end());
  for (const Override& item : more) overrides.push_back({"variables." + item.key, item.value});
  try {
    return read(overrides);
  } catch (const ModelError& error) {
    std::map<std::string, std::string> written = written_;
    for (const Override& item : more)
      written[fmt::format("--set variables.{}={}:", item.key, item.value)] =
          fmt::format("{} {}={}", more_option, item.key, item.value);
    const std::string message = cli::in_users_words(error.what(), written);
    if (message == error.what()) throw;
    throw InvalidInput(message);
  }
}

Model ModelReader::operator()(const std::vector<Override>& set, const std::vector<Override>& more,
                              const std::string& more_option) const {
  return in_users_words(set, more, more_option, [&](const std::vector<Override>& overrides) {
    Model model = text_.read(overrides);
    say_midpoints(model);
    say_warnings(model);
    if (model.run.h == 0) model.run.h = (model.run.span.end - model.run.span.start) / 1000;
    return model;
  });
}

std::optional<HybridModel> ModelReader::hybrid(const std::vector<Override>& more,
                                               const std::string& more_option) const {
  return in_users_words({}, more, more_option, [&](const std::vector<Override>& overrides) {
    return text_.read_hybrid(overrides);
  });
}

Model read(const ModelOptions& options, const std::vector<Override>& more,
           const std::string& more_option) {
  return ModelReader(options)({}, more, more_option);
}

}  // namespace perp::cli
