#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/models/language/families/families.hpp>
#include <perp/models/language/rebinding.hpp>

namespace perp {
namespace {

using reader::Document;
using reader::Member;
using reader::Value;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80U) != 0; }

/// The number that a text is, with or without a sign, as expressions read it; nothing where it is another expression or not
/// finite.
std::optional<double> plain_number(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (text.empty() || !is_digit(text.front()) || !is_digit(text.back())) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return is_negative ? -value : value;
}

/// Does the text hold one of these names? Of elements of families, "p[2]", every element counts.
bool mentions(std::string_view text, const std::vector<std::string>& names) {
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (!starts_name(text[k])) continue;
    std::size_t end = k + 1;
    while (end < text.size() && (starts_name(text[end]) || is_digit(text[end]))) ++end;
    const std::string_view word = text.substr(k, end - k);
    const auto is_word = [&](const std::string& name) { return std::string_view(name).substr(0, name.find('[')) == word; };
    if (std::ranges::any_of(names, is_word)) return true;
    k = end - 1;
  }
  return false;
}

bool mentions(const Value& value, const std::vector<std::string>& names) {
  if (value.kind == Value::Kind::text && mentions(value.text, names)) return true;
  const auto of_member = [&](const Member& member) { return mentions(member.key, names) || mentions(member.value, names); };
  return std::ranges::any_of(value.items, [&](const Value& item) { return mentions(item, names); }) || std::ranges::any_of(value.members, of_member);
}

/// The matrix of this key of [system]; null: it is none.
Matrix Lcs::*matrix_of(std::string_view key) {
  static constexpr std::pair<char, Matrix Lcs::*> matrices[] = {
      {'A', &Lcs::A}, {'B', &Lcs::B}, {'C', &Lcs::C}, {'D', &Lcs::D}, {'E', &Lcs::E}};
  for (const auto& [name, matrix] : matrices)
    if (key.size() == 1 && key[0] == name) return matrix;
  return nullptr;
}

/// Does anything but the entries of matrices depend on these names? Titles do not, nor does the exact solution, which holds for the
/// numbers of the file alone.
bool matters_elsewhere(const Value& root, const std::vector<std::string>& names) {
  for (const Member& table : root.members) {
    if (table.key == "name" || table.key == "source" || table.key == "exact") continue;
    for (const Member& member : table.value.members) {
      // Entries of a table have rows and columns beside them, which may be formulas too: these are read.
      const bool is_matrix = table.key == "system" && matrix_of(member.key) != nullptr && member.value.kind == Value::Kind::list;
      if (!is_matrix && mentions(member.value, names)) return true;
    }
  }
  return false;
}

/// Is it a document of matrices as they stand there?
bool has_plain_matrices(const Document& document, const Model& model) {
  if (model.system.affine() == nullptr || model.hybrid != nullptr || model.exact_numbers != nullptr) return false;
  const Document expanded = reader::with_families(document);
  return &expanded.root() == &document.root() && document.root().find("model") == nullptr && document.root().find("system") != nullptr;
}

/// The number of what an override of this key gives in a list of names, in its table or without it; -1: it is none of them.
int place_of(std::string_view key, std::string_view table, const std::vector<std::string>& names) {
  if (key.starts_with(table)) key.remove_prefix(table.size());
  const auto found = std::ranges::find(names, key);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

}  // namespace

/// False: one that changes gives something else, or is read by another one.
bool Rebinding::find_places(const std::vector<bool>& changes) {
  std::vector<std::string> parameters, variables;
  for (const auto& [name, value] : base_.parameters) parameters.push_back(name);
  for (const Variable& variable : base_.variables) variables.push_back(variable.name);
  for (std::size_t k = 0; k < overrides_.size(); ++k) {
    places_.push_back({changes[k]});
    if (!changes[k]) continue;
    const int parameter = place_of(overrides_[k].key, "parameters.", parameters);
    const int variable = place_of(overrides_[k].key, "variables.", variables);
    if ((parameter < 0) == (variable < 0)) return false;
    places_[k].is_start = variable >= 0;
    places_[k].number = at(std::max(parameter, variable));
    names_.push_back(places_[k].is_start ? variables[at(variable)] : parameters[at(parameter)]);
  }
  const auto is_other = [&](std::size_t k) { return !changes[k] && mentions(overrides_[k].value, names_); };
  for (std::size_t k = 0; k < overrides_.size(); ++k)
    if (is_other(k)) return false;
  return true;
}

/// Of all matrices.
void Rebinding::find_entries(const Document& document) {
  Scope scope;
  for (const auto& [name, value] : base_.parameters) scope.names.push_back(name);
  for (const Member& member : document.root().find("system")->value.members) {
    Matrix Lcs::*const matrix = matrix_of(member.key);
    if (matrix == nullptr) continue;
    const std::vector<Value>& rows = member.value.items;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < rows[i].items.size(); ++j) {
        const Value& entry = rows[i].items[j];
        if (!mentions(entry, names_)) continue;
        entries_.push_back({matrix, static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j), Expression(entry.text, scope)});
      }
  }
}

std::unique_ptr<const Rebinding> Rebinding::of(const Document& document, const Model& model, const std::vector<bool>& changes) {
  if (!has_plain_matrices(document, model)) return nullptr;
  auto made = std::make_unique<Rebinding>();
  made->base_ = model;
  made->digest_ = document.digest();
  made->overrides_ = document.overrides();
  if (!made->find_places(changes) || matters_elsewhere(document.root(), made->names_)) return nullptr;
  made->find_entries(document);
  // what stands there now is among the numbers that it may be
  return made->model(made->overrides_) ? std::move(made) : nullptr;
}

/// False: an entry is no finite number.
bool Rebinding::put_entries(Model& model) const {
  std::vector<double> values;
  for (const auto& [name, value] : model.parameters) values.push_back(value);
  Lcs& matrices = model.lcs();
  for (const Entry& entry : entries_) {
    const double value = entry.formula(values);
    if (!std::isfinite(value)) return false;
    (matrices.*entry.matrix)(entry.row, entry.column) = value;
  }
  return true;
}

/// Of those that change; nothing: one is another expression, or one of the others is not as it was.
std::optional<std::vector<double>> Rebinding::numbers_of(const std::vector<Override>& overrides) const {
  const auto has_key_of = [](const Override& a, const Override& b) { return a.key == b.key; };
  if (!std::ranges::equal(overrides, overrides_, has_key_of)) return std::nullopt;
  std::vector<double> numbers(overrides.size(), 0);
  for (std::size_t k = 0; k < overrides.size(); ++k) {
    if (!places_[k].changes && overrides[k].value != overrides_[k].value) return std::nullopt;
    const std::optional<double> number = places_[k].changes ? plain_number(overrides[k].value) : 0;
    if (!number) return std::nullopt;
    numbers[k] = *number;
  }
  return numbers;
}

std::optional<Model> Rebinding::model(const std::vector<Override>& overrides) const {
  const std::optional<std::vector<double>> numbers = numbers_of(overrides);
  if (!numbers) return std::nullopt;
  std::optional<Model> model = base_;
  for (std::size_t k = 0; k < overrides.size(); ++k) {
    if (!places_[k].changes) continue;
    double& value = places_[k].is_start ? model->variables[places_[k].number].start : model->parameters[places_[k].number].second;
    value = (*numbers)[k];
  }
  model->hash = reader::hash_of(digest_, overrides);
  return put_entries(*model) ? std::move(model) : std::nullopt;
}

std::optional<Model> Rebindings::model(const std::vector<Override>& overrides) {
  std::shared_ptr<const Rebinding> known;
  {
    const std::lock_guard lock(mutex_);
    known = rebinding_;
  }
  return known == nullptr ? std::nullopt : known->model(overrides);
}

// What has changed once may change again: as a last axis does, and then those before it.
void Rebindings::note(const Document& document, const Model& model) {
  const std::vector<Override>& now = document.overrides();
  const std::lock_guard lock(mutex_);
  const auto has_key_of = [](const Override& a, const Override& b) { return a.key == b.key; };
  if (!std::ranges::equal(now, last_, has_key_of)) {
    last_ = now;
    changes_.assign(now.size(), false);
    rebinding_ = nullptr;
    return;
  }
  bool are_more = false;
  for (std::size_t k = 0; k < now.size(); ++k)
    if (!changes_[k] && now[k].value != last_[k].value) changes_[k] = are_more = true;
  last_ = now;
  if (are_more) rebinding_ = Rebinding::of(document, model, changes_);
}

}  // namespace perp
