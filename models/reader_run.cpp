#include <fmt/format.h>
#include <algorithm>

#include <perp/core/nearest_name.hpp>
#include <perp/models/reader/context.hpp>

namespace perp::reader {
namespace {

double positive(const Context& context, const Value& value, const std::string& what) {
  const double number = context.number(value, what);
  if (number <= 0)
    context.document().fail(value, fmt::format("{} is {}; expected a number > 0", what, number));
  return number;
}

std::string known_name(const Context& context, const Value& value, const std::string& what,
                       const std::vector<std::string>& known) {
  std::string name = context.text(value, what);
  if (!known.empty() && std::find(known.begin(), known.end(), name) == known.end())
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
                  fmt::format("run.t = [{}, {}] ends before it starts; expected start < end",
                              range.lower, range.upper));
  return {range.lower, range.upper};
}

}  // namespace

RunOptions read_run(const Context& context, const Value* table) {
  if (table != nullptr) {
    context.check_kind(*table, Value::Kind::table, "run");
    context.check_keys(*table, "[run]", run_keys());
  }
  const auto find = [&](const char* key) { return context.find(table, "run", key); };
  RunOptions run;
  run.span = read_span(context, table, find("t"));
  if (const Value* value = find("h")) run.h = positive(context, *value, "run.h");
  if (const Value* value = find("tol")) run.tol = positive(context, *value, "run.tol");
  if (const Value* value = find("cross_check"))
    run.cross_check = yes_or_no(context, *value, "run.cross_check");
  if (const Value* value = find("split_at_events")) {
    run.split_at_events = yes_or_no(context, *value, "run.split_at_events");
  }
  if (const Value* value = find("theta")) {
    run.theta = context.number(*value, "run.theta");
    if (run.theta < 0.5 || run.theta > 1)
      context.document().fail(
          *value, fmt::format("run.theta is {}; expected a number in [0.5, 1]", run.theta));
  }
  const KnownNames& known = context.known();
  if (const Value* value = find("scheme"))
    run.scheme = known_name(context, *value, "scheme", known.schemes);
  if (const Value* value = find("selector"))
    run.selector = known_name(context, *value, "selector", known.selectors);
  if (const Value* value = find("policy"))
    run.policy = known_name(context, *value, "policy", known.policies);
  if (const Value* value = find("solver"))
    run.solver = known_name(context, *value, "solver", known.solvers);
  return run;
}

}  // namespace perp::reader
