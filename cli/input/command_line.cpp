// The words of a command, read by CLI11, which stands here alone; its complaints in our words.
#include <fmt/format.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include <cctype>

#include <perp/cli/command.hpp>
#include <perp/cli/input/command_line.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>

namespace perp::cli {
namespace {

using Arguments = std::vector<std::string>;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// What CLI11 complains about, in our words.
std::string describe(const CLI::ParseError& error, const CLI::App& app) {
  const std::string what = first_line(error.what());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string name = what.substr(0, what.find(':'));
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option != nullptr && option->results().size() > 1)
      return fmt::format("{} is given twice: {}; expected it once", name,
                         fmt::join(option->results(), " and "));
    return fmt::format("{} needs a value", name);
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return fmt::format("{} is missing", what.substr(0, what.find(" is required")));
  const std::size_t equals = what.find(" = ");
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr &&
      equals != std::string::npos) {  // all numbers that CLI11 reads are whole ones
    const std::string option = what.substr(what.rfind(' ', equals - 1) + 1);
    return fmt::format("{} is '{}'; expected a whole number", option.substr(0, option.find(' ')),
                       what.substr(equals + 3));
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return fmt::format("there are too many arguments: '{}' has no place",
                       what.substr(what.find(": ") == std::string::npos ? 0 : what.find(": ") + 2));
  return what;
}

/// The name of an argument that is one of an option's: "--h" of "--h=1", "-o" of "-oFILE"; empty
/// for a value.
std::string option_name(const std::string& argument) {
  if (argument.size() < 2 || argument[0] != '-') return {};
  if (argument[1] == '-') return argument.substr(0, argument.find('='));
  return std::isalpha(static_cast<unsigned char>(argument[1])) != 0 ? argument.substr(0, 2) : "";
}

/// CLI11 says which arguments it could not place, but neither the nearest name nor in one line; so
/// options are looked up before it sees them.
void check_option_names(const Arguments& known, const Arguments& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    const std::string name = option_name(argument);
    if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string& shown = name.starts_with("--") ? name : argument;
    throw InvalidInput(fmt::format("unknown option '{}'{}", shown, suggestion(shown, known)));
  }
}

CLI::Option* option_of(void* option) { return static_cast<CLI::Option*>(option); }

}  // namespace

struct CommandLine::Parser {
  explicit Parser(const Command& command)
      : name(std::string("perp ") + command.name), app(command.purpose, name) {
    app.get_formatter()->column_width(30);
    app.set_help_flag("--help", "this help");
    app.footer(command.examples);
  }

  template <class T>
  Argument add(const std::string& names, T& value, const std::string& meaning) {
    return Argument(app.add_option(names, value, meaning));
  }

  /// An empty value is none: --times "" of a script whose variable is not set.
  void check_values() const {
    for (const CLI::Option* option : app.get_options())
      for (const std::string& value : option->results())
        if (value.empty())
          throw InvalidInput(
              fmt::format("{} needs a value; see {} --help", option->get_name(), name));
  }

  std::string name;
  CLI::App app;
};

using Argument = CommandLine::Argument;

Argument& Argument::required() {
  option_of(option_)->required();
  return *this;
}

Argument& Argument::type_name(const std::string& name) {
  option_of(option_)->type_name(name);
  return *this;
}

Argument& Argument::default_text(const std::string& text) {
  option_of(option_)->default_str(text);
  return *this;
}

Argument& Argument::one_at_a_time() {
  option_of(option_)->allow_extra_args(false);
  return *this;
}

Argument& Argument::between(int least, int most) {
  option_of(option_)->check(CLI::Range(least, most));
  return *this;
}

Argument& Argument::positive() {
  option_of(option_)->check([](const std::string& text) {
    double value = 0;
    return CLI::detail::lexical_cast(text, value) && value > 0 ? "" : "'" + text + "' is not above 0";
  });
  return *this;
}

CommandLine::CommandLine(const Command& command) : parser_(std::make_unique<Parser>(command)) {}
CommandLine::~CommandLine() = default;

Argument CommandLine::add_option(const std::string& names, std::string& value,
                                 const std::string& meaning) {
  return parser_->add(names, value, meaning);
}
Argument CommandLine::add_option(const std::string& names, std::vector<std::string>& values,
                                 const std::string& meaning) {
  return parser_->add(names, values, meaning);
}
Argument CommandLine::add_option(const std::string& names, int& value, const std::string& meaning) {
  return parser_->add(names, value, meaning);
}
Argument CommandLine::add_option(const std::string& names, long& value,
                                 const std::string& meaning) {
  return parser_->add(names, value, meaning);
}
Argument CommandLine::add_option(const std::string& names, std::optional<int>& value,
                                 const std::string& meaning) {
  return parser_->add(names, value, meaning);
}
Argument CommandLine::add_option(const std::string& names, std::optional<long>& value,
                                 const std::string& meaning) {
  return parser_->add(names, value, meaning);
}
Argument CommandLine::add_option(const std::string& names, std::optional<unsigned>& value,
                                 const std::string& meaning) {
  return parser_->add(names, value, meaning);
}
Argument CommandLine::add_option(const std::string& names, std::optional<double>& value,
                                 const std::string& meaning) {
  return parser_->add(names, value, meaning);
}

void CommandLine::add_flag(const std::string& name, bool& value, const std::string& meaning) {
  parser_->app.add_flag(name, value, meaning);
}

void CommandLine::add_flag(const std::string& name, std::string& value,
                           const std::string& meaning) {
  parser_->app.add_flag_callback(name, [&value] { value = "true"; }, meaning);
}

std::string CommandLine::help() const { return parser_->app.help(); }

std::vector<ArgumentText> CommandLine::arguments() const {
  std::vector<ArgumentText> list;
  for (const CLI::Option* option : parser_->app.get_options()) {
    ArgumentText text;
    for (const std::string& name : option->get_snames()) text.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) text.names.push_back("--" + name);
    text.has_place = text.names.empty();
    if (text.has_place) text.names.push_back(option->get_single_name());
    if (!text.has_place && option->get_items_expected_max() > 0) text.placeholder = option->get_type_name();
    text.meaning = option->get_description();
    list.push_back(std::move(text));
  }
  return list;
}

std::vector<std::string> CommandLine::option_names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : parser_->app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// Options of another program are one argument that begins as an option does: it is joined to the one whose value it is.
void CommandLine::join_options_of_others(std::vector<std::string>& arguments) const {
  for (std::size_t k = 0; k + 1 < arguments.size(); ++k) {
    const CLI::Option* option = arguments[k].starts_with("--") ? parser_->app.get_option_no_throw(arguments[k]) : nullptr;
    if (option == nullptr || option->get_type_name() != "OPTIONS" || !arguments[k + 1].starts_with('-')) continue;
    arguments[k] += "=" + arguments[k + 1];
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  }
}

void CommandLine::read(std::vector<std::string> arguments) {
  join_options_of_others(arguments);
  check_option_names(option_names(), arguments);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  CLI::App& app = parser_->app;
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    throw InvalidInput(fmt::format("{}; see {} --help", describe(error, app), parser_->name));
  }
  parser_->check_values();
}

}  // namespace perp::cli
