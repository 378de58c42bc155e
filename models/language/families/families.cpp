// Families in the tables of a model file: read_model writes them out before it reads anything else.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <perp/core/base/types.hpp>
#include <perp/models/language/families/families.hpp>
#include <perp/models/language/families/family_template.hpp>
#include <perp/models/language/families/family_text.hpp>

namespace perp::reader {
namespace {

constexpr long most_elements = 1'000'000;  ///< of one family
constexpr int deepest = 64;                ///< parameters that are given by parameters

class FamilyTables {
 public:
  explicit FamilyTables(const Document& document) : document_(document) {
    families_.parameter = [this](std::string_view name) {
      auto known = parameters_.find(name);
      if (known == parameters_.end()) known = parameters_.emplace(name, parameter(name, 0)).first;
      return known->second;
    };
  }

  [[nodiscard]] bool read_sizes();
  /// Multipliers that families of laws declare.
  void read_multipliers();
  /// Does a line of the model stand for several, or hold a sum or product over an index?
  [[nodiscard]] bool has_lines() const;
  Value expanded();

 private:
  /// Of the texts of one family.
  using Templates = std::map<std::string, std::optional<FamilyTemplate>, std::less<>>;

  [[nodiscard]] double parameter(std::string_view name, int depth) const;
  [[nodiscard]] long size_of(const Value& size, const std::string& name) const;
  [[nodiscard]] std::vector<long> sizes_of(const Value& value, const std::string& name) const;
  void expand_members(Value& table) const;
  void expand_texts(Value& value, const Indices& indices) const;
  void expand_element(Value& value, const Indices& indices, Templates& ready) const;
  void expand_list(Value& list) const;
  void expand_model(Value& model) const;
  void expand_laws(Value& system) const;
  template <class Run>
  auto at_place(const Value& value, const Run& run) const;

  const Document& document_;
  Families families_;
  std::map<std::string, double, std::less<>> parameters_;  ///< those that were asked for
};

/// Errors of a text at their place in the file.
template <class Run>
auto FamilyTables::at_place(const Value& value, const Run& run) const {
  try {
    return run();
  } catch (const FamilyError& error) {
    document_.fail(value, error.offset(), error.what());
  }
}

const Value* table_of(const Value& root, const char* name) {
  const Member* member = root.find(name);
  return member != nullptr && member->value.kind == Value::Kind::table ? &member->value : nullptr;
}

/// The value of a parameter, which the last override of it replaces.
Value given_value(const Document& document, const Member& parameter) {
  const auto& overrides = document.overrides();
  Value value = parameter.value;
  for (std::size_t k = 0; k < overrides.size(); ++k)
    if (overrides[k].key == parameter.key || overrides[k].key == "parameters." + parameter.key)
      value = document.override_value(k);
  return value;
}

/// A parameter that is a number, or a formula of such: overrides count. NaN where it is neither.
double FamilyTables::parameter(std::string_view name, int depth) const {
  const Value* table = table_of(document_.root(), "parameters");
  const Member* member = table == nullptr ? nullptr : table->find(name);
  if (member == nullptr || depth > deepest) return nan;
  const Value value = given_value(document_, *member);
  if (value.kind == Value::Kind::number) return value.number;
  if (value.kind != Value::Kind::text) return nan;
  Families inner;
  inner.parameter = [&](std::string_view other) { return parameter(other, depth + 1); };
  try {
    return number_of(value.text, {}, inner);
  } catch (const FamilyError&) {
    return nan;
  }
}

/// One entry of the size of a family.
long FamilyTables::size_of(const Value& size, const std::string& name) const {
  long number = 0;
  if (size.kind == Value::Kind::text)
    number = at_place(size, [&] { return whole_number(size.text, {}, families_); });
  else if (size.kind == Value::Kind::number && size.number == std::floor(size.number) &&
           std::abs(size.number) <= most_elements)
    number = static_cast<long>(size.number);
  else
    document_.fail(size, fmt::format("size of '{}' is no whole number; expected one, as in 10 or "
                                     "\"N\"",
                                     name));
  if (number < 1 || number > most_elements)
    document_.fail(
        size, fmt::format("size of '{}' is {}; expected 1 to {}", name, number, most_elements));
  return number;
}

std::vector<long> FamilyTables::sizes_of(const Value& value, const std::string& name) const {
  if (value.kind != Value::Kind::list) return {size_of(value, name)};
  if (value.items.size() != 2)
    document_.fail(value, fmt::format("size of '{}' has {} entries; expected one or two", name,
                                      value.items.size()));
  return {size_of(value.items[0], name), size_of(value.items[1], name)};
}

bool FamilyTables::read_sizes() {
  for (const char* name : {"variables", "binaries"}) {
    const Value* table = table_of(document_.root(), name);
    if (table == nullptr) continue;
    for (const Member& member : table->members)
      if (const Member* size = member.value.find("size"))
        families_.sizes[member.key] = sizes_of(size->value, member.key);
  }
  return !families_.sizes.empty();
}

/// The line of an item of a list: the item itself, or a member of a table; null: none.
const Value* line_of(const Value& item) {
  if (item.kind == Value::Kind::text) return &item;
  for (const char* key : {"g", "law"})
    if (const Member* member = item.kind == Value::Kind::table ? item.find(key) : nullptr)
      return member->value.kind == Value::Kind::text ? &member->value : nullptr;
  return nullptr;
}

// A law that stands among the equations is read as one, so that whoever parses it can say where it belongs.
void FamilyTables::read_multipliers() {
  const Value* model = table_of(document_.root(), "model");
  for (const char* key : {"laws", "equations"}) {
    const Member* list = model == nullptr ? nullptr : model->find(key);
    if (list == nullptr) continue;
    for (const Value& item : list->value.items) {
      const Value* line = line_of(item);
      if (line == nullptr) continue;
      auto [name, indices] = declared_family(line->text, families_);
      if (indices > 0) families_.multipliers[std::move(name)] = indices;
    }
  }
}

bool holds_index(const Value& value) {
  const std::string& text = value.text;
  if (text.starts_with("for ") || text.find("sum(") != std::string::npos ||
      text.find("prod(") != std::string::npos)
    return true;
  return std::any_of(value.items.begin(), value.items.end(), holds_index) ||
         std::any_of(value.members.begin(), value.members.end(),
                     [](const Member& member) { return holds_index(member.value); });
}

bool FamilyTables::has_lines() const {
  const Value* model = table_of(document_.root(), "model");
  const Value* system = table_of(document_.root(), "system");
  const Member* laws = system == nullptr ? nullptr : system->find("laws");
  return (model != nullptr && holds_index(*model)) || (laws != nullptr && holds_index(laws->value));
}

/// Are the texts of this member of a variable names, or text for people?
bool is_told_as_it_stands(const Member& member) {
  return member.key == "unit" || member.key == "modes" || member.key == "name";
}

/// All texts of a value, with numbers in place of the indices.
void FamilyTables::expand_texts(Value& value, const Indices& indices) const {
  Templates none;
  expand_element(value, indices, none);
}

/// The same of one of the elements of a family.
void FamilyTables::expand_element(Value& value, const Indices& indices, Templates& ready) const {
  if (value.kind == Value::Kind::text) {
    auto known = ready.find(value.text);
    if (known == ready.end()) known = ready.emplace(value.text, FamilyTemplate::of(value.text, indices, families_)).first;
    std::optional<std::string> text = known->second ? known->second->at(indices) : std::nullopt;
    value.text = text ? *std::move(text) : at_place(value, [&] { return expand_indices(value.text, indices, families_); });
  }
  for (Value& item : value.items) expand_element(item, indices, ready);
  for (Member& member : value.members)
    if (!is_told_as_it_stands(member)) expand_element(member.value, indices, ready);
}

/// x = { size = 3, .. } as x[1], x[2], x[3].
void FamilyTables::expand_members(Value& table) const {
  std::vector<Member> members;
  for (Member& member : table.members) {
    const auto known = families_.sizes.find(member.key);
    if (known == families_.sizes.end()) {
      members.push_back(std::move(member));
      continue;
    }
    std::erase_if(member.value.members, [](const Member& key) { return key.key == "size"; });
    const std::vector<long>& sizes = known->second;
    const long columns = sizes.size() > 1 ? sizes[1] : 1;
    members.reserve(members.size() + static_cast<std::size_t>(sizes[0] * columns));
    Templates ready;
    for (long i = 1; i <= sizes[0]; ++i)
      for (long j = 1; j <= columns; ++j) {
        Member element = member;
        Indices indices{{"i", i}};
        if (sizes.size() > 1) indices["j"] = j;
        element.key += sizes.size() > 1 ? fmt::format("[{},{}]", i, j) : fmt::format("[{}]", i);
        expand_element(element.value, indices, ready);
        members.push_back(std::move(element));
      }
  }
  table.members = std::move(members);
}

/// The item with one of the texts that its line stands for; a name says for which indices.
Value with_line(const Value& item, ExpandedText element) {
  Value copy = item;
  Value* own = &copy;
  for (Member& member : copy.members) {
    if (member.key == "g" || member.key == "law") own = &member.value;
    if (member.key == "name" && !element.instance.empty())
      member.value.text += " (" + element.instance + ")";
  }
  own->text = std::move(element.text);
  own->instance = element.instance.empty() ? "written out" : std::move(element.instance);
  return copy;
}

/// "for i in 1:N: .." as N items, also as the g of a constraint or the law of a table with a name.
void FamilyTables::expand_list(Value& list) const {
  std::vector<Value> items;
  for (Value& item : list.items) {
    const Value* line = line_of(item);
    if (line == nullptr) {
      expand_texts(item, {});
      items.push_back(std::move(item));
      continue;
    }
    auto elements = at_place(*line, [&] { return expand_family(line->text, families_); });
    items.reserve(items.size() + elements.size());
    for (ExpandedText& element : elements) items.push_back(with_line(item, std::move(element)));
  }
  list.items = std::move(items);
}

void FamilyTables::expand_model(Value& model) const {
  for (Member& member : model.members) {
    const bool is_rows =
        member.key == "equations" || member.key == "constraints" || member.key == "laws";
    if (is_rows && member.value.kind == Value::Kind::list)
      expand_list(member.value);
    else
      expand_texts(member.value, {});
  }
}

/// Those of matrices, whose entries hold no indices.
void FamilyTables::expand_laws(Value& system) const {
  for (Member& member : system.members)
    if (member.key == "laws" && member.value.kind == Value::Kind::list) expand_list(member.value);
}

Value FamilyTables::expanded() {
  Value root = document_.root();
  for (Member& member : root.members) {
    if (member.value.kind != Value::Kind::table) continue;
    if (member.key == "variables" || member.key == "binaries") expand_members(member.value);
    if (member.key == "model") expand_model(member.value);
    if (member.key == "system") expand_laws(member.value);
  }
  return root;
}

}  // namespace

Document with_families(Document document) {
  FamilyTables tables(document);
  const bool has_sizes = tables.read_sizes();
  tables.read_multipliers();
  return has_sizes || tables.has_lines() ? document.with_root(tables.expanded()) : std::move(document);
}

}  // namespace perp::reader
