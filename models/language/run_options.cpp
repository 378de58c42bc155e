#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <string_view>

#include <perp/models/language/run_options.hpp>
#include <perp/models/language/scheme_table.hpp>

namespace perp {
namespace {

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const SchemeEntry* entry : scheme_entries()) names.emplace_back(entry->name);
  return names;
}

}  // namespace

const RunOption* SchemeEntry::option(const std::string& key) const {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const RunOption& option) { return option.key == key; });
  return found == options.end() ? nullptr : &*found;
}

std::vector<std::string> SchemeEntry::keys() const {
  std::vector<std::string> list;
  for (const RunOption& option : options) list.emplace_back(option.key);
  return list;
}

const std::vector<const SchemeEntry*>& scheme_entries() {
  static const std::vector<const SchemeEntry*> sorted = [] {
    std::vector<const SchemeEntry*> list = scheme_files::scheme_table();
    std::sort(list.begin(), list.end(), [](const SchemeEntry* a, const SchemeEntry* b) {
      return std::string_view(a->name) < b->name;
    });
    return list;
  }();
  return sorted;
}

const SchemeEntry* find_scheme(const std::string& name) {
  for (const SchemeEntry* entry : scheme_entries())
    if (entry->name == name) return entry;
  return nullptr;
}

const std::vector<RunOption>& run_options() {
  static const std::vector<RunOption> table = [] {
    std::map<std::string, RunOption> by_key;
    by_key.emplace("scheme", RunOption{.key = "scheme",
                                       .member = &RunOptions::scheme,
                                       .placeholder = "NAME",
                                       .meaning = "see perp list schemes",
                                       .names = scheme_names});
    for (const SchemeEntry* entry : scheme_entries())
      for (const RunOption& option : entry->options) by_key.emplace(option.key, option);
    std::vector<RunOption> list;
    for (const auto& [key, option] : by_key) list.push_back(option);
    return list;
  }();
  return table;
}

std::vector<OptionMeaning> meanings_of(const std::string& key) {
  std::vector<OptionMeaning> meanings;
  for (const SchemeEntry* entry : scheme_entries()) {
    const RunOption* option = entry->option(key);
    if (option == nullptr) continue;
    auto known = std::find_if(meanings.begin(), meanings.end(), [&](const OptionMeaning& item) {
      return std::string_view(item.text) == option->meaning;
    });
    if (known == meanings.end()) known = meanings.insert(known, {option->meaning, {}});
    known->schemes.emplace_back(entry->name);
  }
  return meanings;
}

std::string meaning_of(const std::string& key) {
  std::string text;
  for (const auto& [meaning, schemes] : meanings_of(key))
    text += fmt::format("{}{} ({} {})", text.empty() ? "" : "; ", meaning,
                        schemes.size() == 1 ? "scheme" : "schemes", fmt::join(schemes, ", "));
  return text.empty() ? "see perp list schemes" : text;
}

bool reads(const std::string& scheme, const std::string& key) {
  if (key == "t" || key == "scheme") return true;
  const SchemeEntry* entry = find_scheme(scheme);
  return entry != nullptr && entry->option(key) != nullptr;
}

bool has_effect(const Model& model, const std::string& key) {
  if (!reads(model.run.scheme, key)) return false;
  const SchemeEntry* entry = find_scheme(model.run.scheme);
  const RunOption* option = entry == nullptr ? nullptr : entry->option(key);
  return option == nullptr || option->without_effect == nullptr ||
         option->without_effect(model).empty();
}

std::string schemes_reading(const std::string& key) {
  std::vector<std::string> list;
  for (const SchemeEntry* entry : scheme_entries())
    if (entry->option(key) != nullptr) list.emplace_back(entry->name);
  return fmt::format("{}", fmt::join(list, ", "));
}

bool honours_restitution(const std::string& scheme) {
  const SchemeEntry* entry = find_scheme(scheme);
  return entry != nullptr && entry->rebounds;
}

}  // namespace perp
