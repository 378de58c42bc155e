#include <fmt/format.h>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <mutex>
#include <set>

#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/cli/values/set_file.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/files/file_identity.hpp>
#include <perp/io/hybrid/sparse_hdf5.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/run_options.hpp>

namespace perp::cli {
namespace {

ReadOptions options_of(const ModelOptions& options) {
  ReadOptions known =
      read_options({options.run_keys, options.hybrid, options.exact, options.plain_equations});
  known.sparse_hdf5 = io::read_sparse_hdf5;
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

constexpr const char* model_meaning = "a model file, a name of the zoo (perp list models), or - for standard input";

/// MODEL parsed; standard input is read once, however often a command asks for its model.
ModelText text_of(const ModelOptions& options) {
  if (options.model != "-") return read_model_file(find_model(options.model), options_of(options));
  static const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  if (text.empty()) throw FileError("standard input is empty; expected a model");
  return {text, "standard input", options_of(options)};
}

}  // namespace

void ModelOptions::add_to(CommandLine& line) {
  line.add_option("MODEL", model, model_meaning).required().type_name("");
  add_set_to(line);
}

void ModelOptions::add_optional_to(CommandLine& line) {
  line.add_option("MODEL", model, model_meaning).type_name("");
  add_set_to(line);
}

void ModelOptions::add_set_to(CommandLine& line) {
  line.add_option("--set", set,
                 "override a parameter, a start value or a key (run.h=0.01); repeatable")
      .type_name("NAME=VALUE")
      .one_at_a_time();
  line.add_option("--set-file", set_file, "the same from a file of lines NAME = VALUE; --set overrides them")
      .type_name("FILE");
}

std::vector<WrittenOverride> ModelOptions::assignments() const {
  std::vector<WrittenOverride> list;
  for (const std::string& text : set) {
    const Override item = parse_assignment(text, "--set");
    list.push_back({item, fmt::format("--set {}={}", item.key, item.value)});
  }
  if (set_file.empty()) return list;
  std::vector<WrittenOverride> of_file = read_set_file(set_file);
  std::erase_if(of_file, [&](const WrittenOverride& line) {
    return std::any_of(list.begin(), list.end(),
                       [&](const WrittenOverride& other) { return same_key(other.item.key, line.item.key); });
  });
  list.insert(list.begin(), of_file.begin(), of_file.end());
  return list;
}

std::vector<std::string> ModelOptions::assignment_texts() const {
  std::vector<std::string> texts;
  if (set_file.empty()) return set;
  for (const auto& [item, written] : assignments()) texts.push_back(item.key + "=" + item.value);
  return texts;
}

void ModelOptions::declare(io::FilesOfCommand& files) const {
  if (model != "-") files.reads(find_model(model), "MODEL");
  if (!set_file.empty()) files.reads(set_file, "--set-file");
}

void ModelOptions::declare(io::FilesOfCommand& files, const Model& read) const {
  declare(files);
  declare_data(files, read);
}

void declare_data(io::FilesOfCommand& files, const Model& read) {
  for (const std::string& file : read.data_files) files.reads(file, "a file of MODEL");
}

void ModelOptions::add_span_to(CommandLine& line) {
  line.add_option("--t", run["t"], "time span instead of the model's").type_name("T0,T");
}

void ModelOptions::add_run_to(CommandLine& line, const std::vector<std::string>& keys) {
  for (const RunOption& option : run_options()) {
    if (std::find(keys.begin(), keys.end(), option.key) == keys.end()) continue;
    std::string& value = run[option.key];
    const std::string help = meaning_of(option.key);
    if (option.is_flag())
      line.add_flag(flag_of(option.key), value, help);
    else
      line.add_option(flag_of(option.key), value, help).type_name(option.placeholder);
  }
}

void ModelOptions::add_scheme_to(CommandLine& line) {
  const RunOptions unsaid;
  std::vector<std::string> keys;
  for (const RunOption& option : run_options()) {
    // A switch that is on where nothing is said has no flag; --set run.KEY=false turns it off.
    const auto* yes = std::get_if<bool RunOptions::*>(&option.member);
    if (option.key != std::string_view("h") && (yes == nullptr || !(unsaid.**yes)))
      keys.emplace_back(option.key);
  }
  add_run_to(line, keys);
}

std::string flag_of(const std::string& key) {
  std::string flag = "--" + key;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::vector<WrittenOverride> ModelOptions::of_flags() const {
  std::vector<WrittenOverride> list;
  for (const auto& [key, value] : run)
    if (!value.empty()) list.push_back({{"run." + key, value}, value == "true" ? flag_of(key) : fmt::format("{} {}", flag_of(key), value)});
  return list;
}

ModelReader::ModelReader(const ModelOptions& options)
    : set_(options.assignments()), shortcuts_(options.of_flags()), text_(text_of(options)) {}

/// Throws InvalidInput where the message is of a whole override, whose beginning is no place.
void throw_without_place(const std::string& message, const std::vector<WrittenOverride>& set) {
  for (const WrittenOverride& given : set)
    if (const std::string place = given.written + ":1:1: "; message.starts_with(place))
      throw InvalidInput(fmt::format("{}: {}", given.written, message.substr(place.size())));
}

/// The overrides whose messages name what the user wrote instead.
std::vector<WrittenOverride> ModelReader::written(const std::vector<Override>& more, const std::string& more_option) const {
  std::vector<WrittenOverride> list = shortcuts_;
  for (const WrittenOverride& given : set_)
    if (!given.written.starts_with("--set ")) list.push_back(given);  // a line of a file
  for (const Override& item : more)
    list.push_back({{"variables." + item.key, item.value},
                    fmt::format("{} {}={}", more_option, item.key, item.value)});
  return list;
}

/// What `read` makes of all overrides; its errors name the options as they were written.
template <class Read>
auto ModelReader::in_users_words(const std::vector<Override>& set, const std::vector<Override>& more,
                                 const std::string& more_option, const Read& read) const {
  std::vector<Override> overrides;
  for (const WrittenOverride& given : set_) overrides.push_back(given.item);
  for (const WrittenOverride& shortcut : shortcuts_) overrides.push_back(shortcut.item);
  for (const Override& item : set)  // those of a command take the place of the user's
    std::erase_if(overrides, [&](const Override& other) { return same_key(other.key, item.key); });
  overrides.insert(overrides.end(), set.begin(), set.end());
  for (const Override& item : more) overrides.push_back({"variables." + item.key, item.value});
  try {
    return read(overrides);
  } catch (const ModelError& error) {
    const std::string said = error.what(), message = perp::in_users_words(said, written(more, more_option));
    if (message != said) throw InvalidInput(message);
    throw_without_place(said, set_);
    throw;
  }
}

Model ModelReader::operator()(const std::vector<Override>& set, const std::vector<Override>& more,
                              const std::string& more_option) const {
  return in_users_words(set, more, more_option, [&](const std::vector<Override>& overrides) {
    Model model = read_for_run(text_, overrides);
    say_midpoints(model);
    say_warnings(model);
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
