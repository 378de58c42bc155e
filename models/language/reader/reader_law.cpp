#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/nearest_name.hpp>
#include <perp/core/laws/law_table.hpp>
#include <perp/models/language/reader/context.hpp>

namespace perp::reader {
namespace {

/// One argument of "relay(-F, F)": a part of the text.
struct Argument {
  std::size_t offset = 0;
  std::string_view text{};
};

struct Call {
  std::string_view name{};
  std::size_t name_offset = 0;
  std::vector<Argument> arguments{};
};

std::size_t skip_space(std::string_view text, std::size_t k) {
  while (k < text.size() && (text[k] == ' ' || text[k] == '\t')) ++k;
  return k;
}

/// The end of the letters, digits and _ at k.
std::size_t end_of_name(std::string_view text, std::size_t k) {
  while (k < text.size() && is_name(std::string{'a', text[k]})) ++k;
  return k;
}

/// What stands between the bracket at k and the one that closes it, split at the commas outside of further brackets. Moves k
/// to that one, to the end of the text where there is none.
std::vector<Argument> split_arguments(std::string_view text, std::size_t& k) {
  std::vector<Argument> arguments;
  int depth = 0;
  std::size_t from = k + 1;
  for (; k < text.size(); ++k) {
    depth += bracket_step(text[k]);
    if (depth > 1 || (depth == 1 && text[k] != ',')) continue;
    arguments.push_back({from, text.substr(from, k - from)});
    from = k + 1;
    if (depth == 0) break;
  }
  return arguments;
}

/// Splits "name" or "name(a, b)" at its top-level commas.
Call split_call(const Document& document, const Value& value, std::string_view what) {
  const std::string_view text = value.text;
  Call call;
  std::size_t k = skip_space(text, 0);
  call.name_offset = k;
  k = end_of_name(text, k);
  call.name = text.substr(call.name_offset, k - call.name_offset);
  if (call.name.empty())
    document.fail(value, k,
                  fmt::format("{} must be the name of a law, as in \"relay(-1, 1)\"", what));
  k = skip_space(text, k);
  if (k == text.size()) return call;
  if (text[k] != '(')
    document.fail(value, k, fmt::format("{}: expected '(' or the end after '{}'", what, call.name));
  call.arguments = split_arguments(text, k);
  if (k == text.size())
    document.fail(value, text.size(), fmt::format("{}: found the end; expected ')'", what));
  if (skip_space(text, k + 1) < text.size())
    document.fail(value, skip_space(text, k + 1),
                  fmt::format("{}: found more after ')'; expected the end", what));
  // relay() has no arguments rather than one empty one.
  if (call.arguments.size() == 1 &&
      skip_space(call.arguments[0].text, 0) == call.arguments[0].text.size())
    call.arguments.clear();
  return call;
}

/// Makes or checks a law; what is wrong with its numbers becomes an error at its place.
template <class Make>
Law at_place(const Document& document, const Value& value, const Make& make) {
  try {
    Law law = make();
    validate(law);
    return law;
  } catch (const ModelError&) {
    throw;
  } catch (const InvalidInput& error) {
    document.fail(value, error.what());
  }
}

UnitLaw named_law(const Context& context, const Value& value, std::string_view what) {
  const Document& document = context.document();
  const Call call = split_call(document, value, what);
  const NamedLaw& law =
      find_law(document, value, call.name, call.name_offset, call.arguments.size());
  std::vector<double> numbers;
  std::vector<enclosure::Interval> exact;
  for (const Argument& argument : call.arguments) {
    const std::string name = fmt::format("argument {} of law '{}'", numbers.size() + 1, law.name);
    numbers.push_back(context.number(value, argument.offset, argument.text, name, Finite::no));
    if (context.is_exact())
      exact.push_back(context.exact_number(value, argument.offset, argument.text, name));
  }
  if (context.is_exact()) return unit_law(document, value, law, exact);
  return {make_law(document, value, law, numbers)};
}

/// Data of branches have no form that is free of them.
void check_double(const Context& context, const Value& value, const std::string& what) {
  if (!context.is_exact()) return;
  const bool is_text = value.kind == Value::Kind::text;
  if (!is_text && std::isinf(value.number)) return;
  const enclosure::Interval exact = is_text ? context.exact_number(value, 0, value.text, what)
                                            : context.quantity(value, what).exact;
  if (exact.lo == exact.hi) return;
  context.document().fail(
      value, fmt::format("{} is no double; expected one, as 0.5, or the law in [model] equations: "
                         "an enclosure takes data of branches as they are",
                         what));
}

Branch read_branch(const Context& context, const Value& value, const std::string& what) {
  context.check_kind(value, Value::Kind::table, what);
  context.check_keys(value, what, {"a", "b", "c", "lambda", "name", "w"});
  Branch branch;
  const auto number = [&](const char* key, double& target) {
    if (const Member* member = value.find(key)) {
      target = context.number(member->value, fmt::format("{} of {}", key, what));
      check_double(context, member->value, fmt::format("{} of {}", key, what));
    }
  };
  const auto range = [&](const char* key, Range& target) {
    if (const Member* member = value.find(key)) {
      target = context.range(member->value, fmt::format("{} of {}", key, what), Finite::no);
      for (const Value& end : member->value.items)
        check_double(context, end, fmt::format("{} of {}", key, what));
    }
  };
  number("a", branch.a);
  number("b", branch.b);
  number("c", branch.c);
  range("w", branch.w);
  range("lambda", branch.lambda);
  if (const Member* name = value.find("name"))
    branch.name = context.text(name->value, "name of " + what);
  return branch;
}

Law law_of_branches(const Context& context, const Value& table, const Value& branches,
                    const std::string& what) {
  context.check_keys(table, what, {"branches", "memory", "name", "start", "unit"});
  context.check_kind(branches, Value::Kind::list, "branches of " + what);
  Law law;
  law.name = "law";
  for (const Value& item : branches.items)
    law.branches.push_back(
        read_branch(context, item, fmt::format("branch {} of {}", law.branches.size() + 1, what)));
  if (const Member* memory = table.find("memory")) {
    context.check_kind(memory->value, Value::Kind::boolean, "memory of " + what);
    law.memory = memory->value.number != 0;
  }
  return law;
}

/// Gives the branches of a law the names of a list.
void rename_branches(const Context& context, const Value& modes, Law& law,
                     const std::string& what) {
  context.check_kind(modes, Value::Kind::list, "modes of " + what);
  if (modes.items.size() != law.branches.size())
    context.document().fail(modes, fmt::format("modes of {} must have {} names but has {}", what,
                                               law.branches.size(), modes.items.size()));
  for (std::size_t k = 0; k < law.branches.size(); ++k)
    law.branches.changed(k).name = context.text(modes.items[k], fmt::format("mode {} of {}", k + 1, what));
}

/// Puts the branch in which a law with memory starts first: 'start' of its table, if that is there.
void read_start(const Context& context, const Value& table, Law& law, const std::string& what) {
  const Member* start = table.find("start");
  if (start == nullptr) return;
  if (!law.memory)
    context.document().fail(start->value, fmt::format("{} has no memory: its argument decides its "
                                                      "branch; expected no 'start'",
                                                      what));
  const std::string name = context.text(start->value, "start of " + what);
  std::vector<std::string> names;
  for (const Branch& branch : law.branches) names.push_back(describe(branch));
  const auto known = std::find(names.begin(), names.end(), name);
  if (known == names.end())
    context.document().fail(
        start->value, fmt::format("start of {} is '{}', which is none of its branches; expected "
                                  "one of {}{}",
                                  what, name, fmt::join(names, ", "), suggestion(name, names)));
  // A law with memory starts in the first of the branches that its argument allows.
  law.branches.change([&](std::vector<Branch>& branches) {
    const auto place = branches.begin() + (known - names.begin());
    std::rotate(branches.begin(), place, place + 1);
  });
}

UnitLaw law_of_table(const Context& context, const Value& table, const std::string& what) {
  const Member* kind = table.find("law");
  const Member* branches = table.find("branches");
  UnitLaw result;
  Law& law = result.law;
  if (kind != nullptr) {
    context.check_keys(table, what, {"law", "modes", "name", "start", "unit"});
    context.check_kind(kind->value, Value::Kind::text, "law of " + what);
    result = named_law(context, kind->value, what);
  } else if (branches != nullptr) {
    law = law_of_branches(context, table, branches->value, what);
  } else {
    context.check_keys(table, what, {"branches", "law", "memory", "modes", "name", "start", "unit"});
    context.document().fail(table, what + " has neither 'law' nor 'branches'");
  }
  read_names_and_start(context, table, law, what);
  law = at_place(context.document(), table, [&] { return law; });
  return result;
}

}  // namespace

const NamedLaw& find_law(const Document& document, const Value& value, std::string_view name,
                         std::size_t offset, std::size_t numbers) {
  std::vector<std::string> names;
  for (const NamedLaw& law : named_laws()) {
    names.emplace_back(law.name);
    if (name != law.name) continue;
    if (static_cast<int>(numbers) != law.arguments)
      document.fail(value, offset,
                    fmt::format("law '{}' takes {} argument{} but has {}", law.name, law.arguments,
                                law.arguments == 1 ? "" : "s", numbers));
    return law;
  }
  document.fail(value, offset,
                fmt::format("unknown law '{}'; expected one of {}{}", name, fmt::join(names, ", "),
                            suggestion(name, names)));
}

Law make_law(const Document& document, const Value& value, const NamedLaw& law,
             const std::vector<double>& numbers) {
  return at_place(document, value, [&] { return law.make(numbers.data()); });
}

std::string read_unit(const Context& context, const Value& table, const std::string& what) {
  const Member* unit = table.kind == Value::Kind::table ? table.find("unit") : nullptr;
  return unit == nullptr ? "" : context.text(unit->value, "unit of " + what);
}

void read_names_and_start(const Context& context, const Value& table, Law& law, const std::string& what) {
  if (const Member* modes = table.find("modes")) rename_branches(context, modes->value, law, what);
  if (const Member* name = table.find("name"))
    law.name = context.text(name->value, "name of " + what);
  read_start(context, table, law, what);
}

Law read_law(const Context& context, const Value& value, std::size_t number) {
  return read_unit_law(context, value, number).law;
}

UnitLaw read_unit_law(const Context& context, const Value& value, std::size_t number) {
  const std::string what = fmt::format("law {}", number);
  if (value.kind == Value::Kind::text) return named_law(context, value, what);
  if (value.kind == Value::Kind::table) return law_of_table(context, value, what);
  context.document().fail(
      value, fmt::format("{} is {}; expected text as in \"relay(-1, 1)\" or a table", what,
                         describe(value.kind)));
}

}  // namespace perp::reader
