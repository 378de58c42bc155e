#include <fmt/format.h>
#include <algorithm>
#include <string_view>

#include <perp/core/base/nearest_name.hpp>
#include <perp/core/interval/decimal.hpp>
#include <perp/models/language/reader/context.hpp>
#include <perp/models/language/run_options.hpp>

namespace perp::reader {
namespace {

double allowed_number(const Context& context, const Value& value, const std::string& what,
                      const RunOption::Allowed& allowed) {
  const double number = context.number(value, what);
  const bool inside = allowed.open ? number > allowed.lower && number < allowed.upper
                                   : number >= allowed.lower && number <= allowed.upper;
  if (!inside)
    context.document().fail(value,
                            fmt::format("{} is {}; expected {}", what, number, allowed.text));
  return number;
}

std::string known_name(const Context& context, const Value& value, const std::string& what,
                       const std::vector<std::string>& known) {
  std::string name = context.text(value, what);
  if (std::find(known.begin(), known.end(), name) == known.end())
    context.document().fail(value, fmt::format("unknown {} '{}'; expected one of {}{}", what, name,
                                               fmt::join(known, ", "), suggestion(name, known)));
  return name;
}

/// A boolean of the file, or true and false as the text of an override.
bool yes_or_no(const Context& context, const Value& value, const std::string& what) {
  if (value.source > 0 && value.text == "true") return true;
  if (value.source > 0 && value.text == "false") return false;
  if (value.kind != Value::Kind::boolean)
    context.document().fail(
        value, fmt::format("{} is {}; expected true or false", what,
                           value.source > 0 ? value.text : describe(value.kind)));
  return value.number != 0;
}

/// The ends of a proof are exact times.
void require_double(const Context& context, const Value& value, const char* what, double nearest) {
  if (context.quantity(value, "run.t").exact.is_point()) return;
  const std::string digits = enclosure::exact_decimal(nearest);
  context.document().fail(
      value, fmt::format("run.t {} at {}, which is no double, and times of an enclosure are exact; "
                         "expected the double that is meant: {}",
                         what,
                         value.kind == Value::Kind::text ? value.text
                                                         : context.document().literal(value),
                         digits));
}

Span read_span(const Context& context, const Value* table, const Value* value) {
  const Document& document = context.document();
  if (value == nullptr) {
    const std::string message = "'t' is missing in [run]; expected t = [start, end]";
    if (table == nullptr) document.fail(document.root(), message);
    document.fail(*table, message);
  }
  const Range range = context.range(*value, "run.t", Finite::yes);
  if (range.upper <= range.lower)
    document.fail(*value,
                  fmt::format("run.t = [{}, {}] {}; expected start < end",
                              range.lower, range.upper, range.upper < range.lower ? "ends before it starts" : "ends where it starts"));
  if (context.is_exact()) {
    require_double(context, value->items[0], "starts", range.lower);
    require_double(context, value->items[1], "ends", range.upper);
  }
  return {range.lower, range.upper};
}

void read_option(const Context& context, const RunOption& option, const Value& value,
                 RunOptions& run) {
  const std::string what = fmt::format("run.{}", option.key);
  if (const auto* number = std::get_if<double RunOptions::*>(&option.member))
    run.*(*number) = allowed_number(context, value, what, option.allowed);
  else if (const auto* yes = std::get_if<bool RunOptions::*>(&option.member))
    run.*(*yes) = yes_or_no(context, value, what);
  else if (const auto* word = std::get_if<std::string RunOptions::*>(&option.member))
    run.*(*word) = option.names == nullptr ? context.text(value, what) : known_name(context, value, option.key, option.names());
  else
    run.own[option.key] = allowed_number(context, value, what, option.allowed);
}

/// The scheme that the file itself names.
std::string scheme_of_file(const Value* table) {
  const Member* member = table == nullptr ? nullptr : table->find("scheme");
  return member == nullptr ? RunOptions{}.scheme : member->value.text;
}

[[noreturn]] void fail_at_key(const Context& context, const Value* table, const Value& value,
                              const std::string& key, const std::string& message) {
  if (!context.is_overridden("run", key) && table != nullptr && table->find(key) != nullptr)
    context.document().fail(*table->find(key), message);
  context.document().fail(value, message);
}

/// Throws where an override sets a key of [run] on which nothing depends that is computed.
void check_is_wanted(const Context& context, const Value* table, const Value& value, const std::string& key) {
  const std::vector<std::string>& wanted = context.known().run_keys;
  if (!context.is_overridden("run", key) || wanted.empty() ||
      std::find(wanted.begin(), wanted.end(), key) != wanted.end())
    return;
  fail_at_key(context, table, value, key,
              fmt::format("run.{} has no effect on what is computed here; of [run] it depends "
                          "on {}",
                          key, fmt::join(wanted, ", ")));
}

/// Nothing stands there without effect: a key that the scheme does not read is an error. Where the
/// scheme is another one than the file's, what the file has for its own scheme is left aside.
void check_is_read(const Context& context, const Value* table, const SchemeEntry& scheme,
                   RunOptions& run) {
  for (const RunOption& option : run_options()) {
    const std::string key = option.key;
    const Value* value = context.find(table, "run", key);
    if (value == nullptr) continue;
    check_is_wanted(context, table, *value, key);
    if (reads(run.scheme, key)) continue;
    if (!context.is_overridden("run", key) && run.scheme != scheme_of_file(table)) {
      run.left_aside.push_back(key);
      continue;
    }
    fail_at_key(context, table, *value, key,
                fmt::format("scheme {} has no option '{}', which belongs to {}; it has {}",
                            run.scheme, key, schemes_reading(key), fmt::join(scheme.keys(), ", ")));
  }
}

/// Gives the own options of a scheme the values that they have where nothing is said.
void set_own_defaults(const SchemeEntry& scheme, RunOptions& run) {
  for (const RunOption& option : scheme.options)
    if (const auto* own = std::get_if<RunOption::Own>(&option.member))
      run.own[option.key] = own->fallback;
}

/// Notes a key of the file that is not read, once.
void leave_aside(RunOptions& run, const std::string& key) {
  std::vector<std::string>& aside = run.left_aside;
  if (std::find(aside.begin(), aside.end(), key) == aside.end()) aside.push_back(key);
}

/// The keys of a scheme that have an effect on this model.
std::vector<std::string> keys_with_effect(const SchemeEntry& scheme, const Model& model) {
  std::vector<std::string> keys;
  for (const std::string& key : scheme.keys())
    if (has_effect(model, key)) keys.push_back(key);
  return keys;
}

}  // namespace

RunOptions read_run(const Context& context, const Value* table) {
  if (table != nullptr) {
    context.check_kind(*table, Value::Kind::table, "run");
    context.check_keys(*table, "[run]", run_keys());
  }
  RunOptions run;
  run.span = read_span(context, table, context.find(table, "run", "t"));
  const auto read_if_given = [&](const RunOption& option) {
    if (const Value* value = context.find(table, "run", option.key))
      read_option(context, option, *value, run);
  };
  for (const RunOption& option : run_options())
    if (option.key == std::string_view("scheme")) read_if_given(option);
  const SchemeEntry& scheme = *find_scheme(run.scheme);
  set_own_defaults(scheme, run);
  // Its own options as it declares them, then those of other schemes.
  for (const RunOption& option : scheme.options) read_if_given(option);
  for (const RunOption& option : run_options())
    if (!reads(scheme.name, option.key)) read_if_given(option);
  check_is_read(context, table, scheme, run);
  return run;
}

void check_effects(const Context& context, const Value* table, Model& model) {
  const SchemeEntry& scheme = *find_scheme(model.run.scheme);
  for (const RunOption& option : scheme.options) {
    if (option.without_effect == nullptr) continue;
    const std::string key = option.key;
    const Value* value = context.find(table, "run", key);
    const std::string why = value == nullptr ? std::string() : option.without_effect(model);
    if (why.empty()) continue;
    const bool chosen_elsewhere =
        context.is_overridden("run", "selector") || context.is_overridden("run", "scheme");
    if (chosen_elsewhere && !context.is_overridden("run", key)) {
      leave_aside(model.run, key);
      continue;
    }
    fail_at_key(context, table, *value, key,
                fmt::format("{}: '{}' has no effect; scheme {} has {} here", why, key, scheme.name,
                            fmt::join(keys_with_effect(scheme, model), ", ")));
  }
}

}  // namespace perp::reader
