#include <fmt/format.h>
#include <algorithm>

#include <perp/analysis/measures/event_choice.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/history.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp {
namespace {

std::string without_spaces(std::string_view text) {
  std::string plain(text);
  std::erase_if(plain, [](char c) { return c == ' ' || c == '\t'; });
  return plain;
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (int k = 0; k <= static_cast<int>(EventKind::stopped); ++k)
    names.emplace_back(to_string(static_cast<EventKind>(k)));
  return names;
}

/// What a law may be called: its own name where no other has it, the name of its multiplier.
std::vector<std::pair<std::string, int>> names_of_laws(const Model& model) {
  std::vector<std::pair<std::string, int>> names;
  const Laws& laws = model.laws();
  const Columns columns = columns_of(model);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const std::string& name = laws[i].name;
    const auto has_name = [&](const Law& other) { return other.name == name; };
    if (std::count_if(laws.begin(), laws.end(), has_name) == 1) names.emplace_back(name, i);
    names.emplace_back(columns.lambda[i], i);
  }
  return names;
}

int find_law(const Model& model, const std::string& name) {
  const auto names = names_of_laws(model);
  std::vector<std::string> known, plain;
  for (const auto& [text, law] : names) known.push_back(text), plain.push_back(without_spaces(text));
  const auto place = std::find(plain.begin(), plain.end(), without_spaces(name));
  return names[place != plain.end() ? static_cast<std::size_t>(place - plain.begin()) : find_name(name, known, "law")].second;
}

std::vector<std::string> names_of_resets(const Model& model) {
  std::vector<std::string> names;
  if (model.equations)
    for (const Reset& reset : model.equations->resets) names.push_back(reset.name);
  return names;
}

/// How much of the text the name is that it begins with, up to its end or one of `ends`; 0: none.
std::size_t length_of_name(std::string_view text, const std::string& name, std::string_view ends) {
  const std::string plain = without_spaces(name);
  const bool begins = !plain.empty() && text.starts_with(plain);
  return begins && (text.size() == plain.size() || ends.find(text[plain.size()]) != std::string_view::npos) ? plain.size() : 0;
}

int find_branch(const Law& law, const std::string& text) {
  std::vector<std::string> known;
  for (const Branch& branch : law.branches) known.push_back(without_spaces(describe(branch)));
  return static_cast<int>(find_name(text, known, fmt::format("branch of law {}", law.name)));
}

/// Do the data of this input jump there?
bool is_of_data(const Event& event, const std::string& input) {
  return event.law < 0 && event.note.starts_with(input + ": ");
}

}  // namespace

/// What a choice may be of, with what may stand behind the name.
std::vector<EventChoice::Head> EventChoice::heads_of(const Model& model) {
  std::vector<Head> heads;
  for (const auto& [name, law] : names_of_laws(model)) heads.push_back({name, ".:|", {.law = law}});
  for (const std::string& name : names_of_resets(model))
    heads.push_back({name, "|", {.kind = static_cast<int>(EventKind::jump), .reset = name}});
  for (const std::string& name : model.inputs)
    heads.push_back({name, "|", {.kind = static_cast<int>(EventKind::mode_change), .input = name}});
  const std::vector<std::string> known = kinds();
  for (std::size_t k = 0; k < known.size(); ++k) heads.push_back({known[k], ":|", {.kind = static_cast<int>(k)}});
  return heads;
}

/// By the longest name that stands there: names of laws hold any signs. Takes it from the text.
EventChoice::Choice EventChoice::parse_head(const Model& model, std::string_view& text) {
  Choice choice;
  std::size_t length = 0;
  for (Head& head : heads_of(model))
    if (const std::size_t found = length_of_name(text, head.name, head.ends); found > length) {
      length = found;
      choice = std::move(head.choice);
    }
  if (length == 0) refuse_head(model, text);
  text.remove_prefix(length);
  if (choice.law < 0 || !text.starts_with('.')) return choice;
  const std::string kind(text.substr(1, text.find_first_of(":|") - 1));
  choice.kind = static_cast<int>(find_name(kind, kinds(), "kind of event"));
  text.remove_prefix(1 + kind.size());
  return choice;
}

/// Throws InvalidInput with the nearest name of what may stand there.
void EventChoice::refuse_head(const Model& model, std::string_view text) {
  const std::string head(text.substr(0, text.find_first_of(":|")));
  const std::vector<std::string> known = kinds();
  const std::size_t dot = head.rfind('.');
  if (dot != std::string::npos && std::find(known.begin(), known.end(), head.substr(dot + 1)) != known.end())
    find_law(model, head.substr(0, dot));
  std::vector<std::string> names = known;
  for (const auto& [name, law] : names_of_laws(model))
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (const std::string& name : names_of_resets(model)) names.push_back(name);
  names.insert(names.end(), model.inputs.begin(), model.inputs.end());
  find_name(head, names, "kind of event, law, reset or input");
  throw InvalidInput(fmt::format("'{}': what stands behind it is none of .KIND, :FROM->TO and |", head));
}

/// One of the choices, which it takes from the text.
EventChoice::Choice EventChoice::parse(const Model& model, std::string_view& text) {
  const std::string whole(text.substr(0, text.find('|')));
  Choice choice = parse_head(model, text);
  if (!text.starts_with(':')) return choice;
  const std::string way(text.substr(1, text.find('|') - 1));
  text.remove_prefix(1 + way.size());
  const std::size_t arrow = way.find("->");
  if (arrow == std::string::npos || choice.law < 0)
    throw InvalidInput(fmt::format(
        "'{}': expected LAW.KIND:FROM->TO or LAW:FROM->TO with two branches of the law, or *", whole));
  const Law& law = model.laws()[static_cast<std::size_t>(choice.law)];
  const std::string from = way.substr(0, arrow), to = way.substr(arrow + 2);
  if (from != "*") choice.from = find_branch(law, from);
  if (to != "*") choice.to = find_branch(law, to);
  return choice;
}

EventChoice::EventChoice(const Model& model, std::string_view text)
    : text_(without_spaces(text)), resets_(names_of_resets(model)) {
  std::string_view rest = text_;
  for (;;) {
    if (rest.empty() || rest.front() == '|')
      throw InvalidInput("expected an event: a kind (crossing, jump, ...), a law, LAW.KIND or the name of a reset");
    choices_.push_back(parse(model, rest));
    if (rest.empty()) return;
    rest.remove_prefix(1);
  }
}

bool EventChoice::meets(const Choice& choice, const Event& event) {
  const auto meet = [](int wanted, int found) { return wanted == any || wanted == found; };
  return meet(choice.kind, static_cast<int>(event.kind)) && meet(choice.law, event.law) && meet(choice.from, event.from) &&
         meet(choice.to, event.to) && (choice.reset.empty() || is_of_reset(event, choice.reset)) &&
         (choice.input.empty() || is_of_data(event, choice.input));
}

bool EventChoice::holds(const Event& event) const {
  return std::ranges::any_of(choices_, [&](const Choice& choice) { return meets(choice, event); });
}

std::vector<std::string> EventChoice::resets_in(const Event& event) const {
  std::vector<std::string> found;
  for (const std::string& name : resets_) {
    const auto means = [&](const Choice& choice) {
      return meets(choice, event) && (choice.reset.empty() || choice.reset == name);
    };
    if (is_of_reset(event, name) && std::ranges::any_of(choices_, means)) found.push_back(name);
  }
  return found;
}

ModeChoice::ModeChoice(const Model& model, std::string_view text) : laws_(model.laws()) {
  const std::string plain = without_spaces(text);
  if (plain == "sliding") return;
  if (laws_.empty()) throw InvalidInput("the model has no laws, whose branches are its modes");
  const std::size_t colon = plain.find(':');
  if (colon == std::string::npos && laws_.size() > 1)
    throw InvalidInput(fmt::format("'{}': expected LAW:BRANCH or sliding", text));
  law_ = colon == std::string::npos ? 0 : find_law(model, plain.substr(0, colon));
  branch_ = find_branch(laws_[static_cast<std::size_t>(law_)],
                        colon == std::string::npos ? plain : plain.substr(colon + 1));
}

bool ModeChoice::holds(const Mode& mode) const {
  if (law_ < 0) return is_sliding(laws_, mode);
  return static_cast<std::size_t>(law_) < mode.size() && mode[static_cast<std::size_t>(law_)] == branch_;
}

}  // namespace perp
