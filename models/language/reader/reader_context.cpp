#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <memory>

#include <perp/core/base/nearest_name.hpp>
#include <perp/models/language/reader/context.hpp>

namespace perp::reader {
namespace {

/// NaN has a sign that nobody wants to read.
std::string show(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

constexpr const char* time_reason = "time may be used in b, q and exact solutions only";

}  // namespace

Context::Context(const Document& document, const ReadOptions& known)
    : document_(document), known_(known), is_exact_(known.exact) {
  set_elsewhere({"t", "time"}, time_reason);
}

Context Context::rounded() const {
  Context context = *this;
  context.is_exact_ = false;
  return context;
}

void Context::add_parameter(const std::string& name, const Quantity& value) {
  scope_.elsewhere.erase(name);
  scope_.names.push_back(name);
  values_.push_back(value.value);
  exact_values_.push_back(value.exact);
  rationals_.push_back(value.rational);
  is_interval_.push_back(value.is_interval);
  is_disturbance_.push_back(value.is_disturbance);
}

void Context::set_elsewhere(const std::vector<std::string>& names, const std::string& reason) {
  const auto shared = std::make_shared<const std::string>(reason);
  for (const std::string& name : names) scope_.elsewhere[name] = shared;
}

double Context::number(const Value& text, std::size_t offset, std::string_view part,
                       std::string_view what, Finite finite) const {
  if (is_interval_text(part))
    document_.fail(text, offset,
                   fmt::format("{} is the interval {}; expected a number: parameters and starts "
                               "may be intervals",
                               what, part));
  double result = 0;
  try {
    const Expression expression(part, scope_);
    if (is_exact())
      refuse_intervals(text, offset, what, expression.tape(), expression.line(), 0);
    result = expression(values_);
  } catch (const ExpressionError& error) {
    document_.fail(text, offset + error.offset(), fmt::format("{}: {}", what, error.what()));
  }
  if (std::isnan(result) || (finite == Finite::yes && std::isinf(result)))
    document_.fail(text, offset,
                   fmt::format("{} is {}; expected a {}number", what, show(result),
                               finite == Finite::yes ? "finite " : ""));
  return result;
}

double Context::number(const Value& value, std::string_view what, Finite finite) const {
  if (value.kind == Value::Kind::text) return number(value, 0, value.text, what, finite);
  if (value.kind != Value::Kind::number)
    document_.fail(value, fmt::format("{} is {}; expected a number or an expression in quotes",
                                      what, describe(value.kind)));
  if (std::isnan(value.number) || (finite == Finite::yes && std::isinf(value.number)))
    document_.fail(value, fmt::format("{} is {}; expected a {}number", what, show(value.number),
                                      finite == Finite::yes ? "finite " : ""));
  return value.number;
}

std::string Context::text(const Value& value, std::string_view what) const {
  check_kind(value, Value::Kind::text, what);
  if (value.text.empty()) document_.fail(value, fmt::format("{} is empty; expected text", what));
  for (const char c : value.text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      document_.fail(value, fmt::format("{} has a line break or a control character; expected text "
                                        "in one line",
                                        what));
  return value.text;
}

Range Context::range(const Value& value, std::string_view what, Finite finite) const {
  if (value.kind != Value::Kind::list)
    document_.fail(value, fmt::format("{} is {}; expected two numbers in brackets, as in [0, 1]",
                                      what, describe(value.kind)));
  if (value.items.size() != 2)
    document_.fail(value,
                   fmt::format("{} must be two numbers, as in [0, 1], but has {} {}", what,
                               value.items.size(), value.items.size() == 1 ? "entry" : "entries"));
  return {number(value.items[0], fmt::format("the first entry of {}", what), finite),
          number(value.items[1], fmt::format("the second entry of {}", what), finite)};
}

int Context::entry_line(const Value& entry, const std::string& what, const Scope& scope, Tape& tape) const {
  if (entry.kind != Value::Kind::text) return tape.constant(number(entry, what));
  try {
    return parse_expression(entry.text, scope, tape);
  } catch (const ExpressionError& error) {
    document_.fail(entry, error.offset(), fmt::format("{}: {}", what, error.what()));
  }
}

std::vector<int> Context::signal_lines(const std::vector<const Value*>& entries, const std::vector<std::string>& what,
                                       Tape& tape) const {
  Scope scope = scope_;
  scope.elsewhere.erase("t");
  scope.elsewhere.erase("time");
  scope.aliases["time"] = static_cast<int>(scope.names.size());
  scope.names.emplace_back("t");
  std::vector<int> lines;
  for (std::size_t i = 0; i < entries.size(); ++i)
    lines.push_back(entry_line(*entries[i], what[i], scope, tape));
  return lines;
}

void Context::check_signal(const std::vector<const Value*>& entries, const std::vector<std::string>& what) const {
  Tape tape;
  signal_lines(entries, what, tape);
}

Signal Context::signal(const std::vector<const Value*>& entries,
                       const std::vector<std::string>& what, double t) const {
  Tape tape;
  std::vector<int> lines = signal_lines(entries, what, tape);
  auto bound = std::make_shared<const Tape>(bind_inputs(tape, values_, lines));

  std::vector<int> varying, varying_lines;
  Vector value(static_cast<Eigen::Index>(entries.size()));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Instruction& line = (*bound)[lines[i]];
    const int index = static_cast<int>(i);
    value[index] = line.value;
    if (line.operation == Operation::constant) continue;
    varying.push_back(index);
    varying_lines.push_back(lines[i]);
  }
  Signal signal(std::move(value), varying, std::move(bound), std::move(varying_lines));
  value = signal(t);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double entry = value[static_cast<Eigen::Index>(i)];
    if (!std::isfinite(entry))
      document_.fail(*entries[i], fmt::format("{} is {} at t = {}; expected a finite number",
                                              what[i], show(entry), t));
  }
  if (varying.empty()) return value;
  return signal;
}

const Value* Context::find(const Value* table, const std::string& table_name,
                           const std::string& key) const {
  const auto found = overrides_.find(table_name + "." + key);
  if (found != overrides_.end()) return &found->second;
  const Member* member = table == nullptr ? nullptr : table->find(key);
  return member == nullptr ? nullptr : &member->value;
}

bool Context::is_overridden(const std::string& table_name, const std::string& key) const {
  return overrides_.contains(table_name + "." + key);
}

void Context::check_keys(const Value& table, std::string_view where,
                         const std::vector<std::string>& known_keys) const {
  for (const Member& member : table.members)
    if (std::find(known_keys.begin(), known_keys.end(), member.key) == known_keys.end())
      document_.fail(
          member, fmt::format("unknown key '{}' in {}; expected {}{}{}", member.key, where,
                              known_keys.size() > 1 ? "one of " : "", fmt::join(known_keys, ", "),
                              suggestion(member.key, known_keys)));
}

void Context::check_kind(const Value& value, Value::Kind kind, std::string_view what) const {
  if (value.kind != kind)
    document_.fail(
        value, fmt::format("{} is {}; expected {}", what, describe(value.kind), describe(kind)));
}

}  // namespace perp::reader
