#include <fmt/format.h>
#include <algorithm>

#include <perp/analysis/measures/event_choice.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/history.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>

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
  const std::vector<Law>& laws = model.laws();
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
  std::vector<std::string> known;
  for (const auto& [text, law] : names) known.push_back(text);
  return names[find_name(name, known, "law")].second;
}

int find_branch(const Law& law, const std::string& text) {
  std::vector<std::string> known;
  for (const Branch& branch : law.branches) known.push_back(without_spaces(describe(branch)));
  return static_cast<int>(find_name(text, known, fmt::format("branch of law {}", law.name)));
}

}  // namespace

EventChoice::Choice EventChoice::parse(const Model& model, std::string_view text) {
  Choice choice;
  const std::size_t colon = text.find(':');
  const std::string head(text.substr(0, colon));
  const std::vector<std::string> known = kinds();
  const std::size_t dot = head.rfind('.');  // the name of a law may hold others: sign(0.5*x)
  if (dot != std::string::npos && head.find(')', dot) == std::string::npos) {
    choice.law = find_law(model, head.substr(0, dot));
    choice.kind = static_cast<int>(find_name(head.substr(dot + 1), known, "kind of event"));
  } else if (std::find(known.begin(), known.end(), head) != known.end()) {
    choice.kind = static_cast<int>(find_name(head, known, "kind of event"));
  } else {
    std::vector<std::string> names = known;
    for (const auto& [name, law] : names_of_laws(model)) names.push_back(name);
    find_name(head, names, "kind of event or law");
    choice.law = find_law(model, head);
  }
  if (colon == std::string_view::npos) return choice;
  const std::string way(text.substr(colon + 1));
  const std::size_t arrow = way.find("->");
  if (arrow == std::string::npos || choice.law < 0)
    throw InvalidInput(fmt::format(
        "'{}': expected LAW.KIND:FROM->TO or LAW:FROM->TO with two branches of the law, or *", text));
  const Law& law = model.laws()[static_cast<std::size_t>(choice.law)];
  const std::string from = way.substr(0, arrow), to = way.substr(arrow + 2);
  if (from != "*") choice.from = find_branch(law, from);
  if (to != "*") choice.to = find_branch(law, to);
  return choice;
}

EventChoice::EventChoice(const Model& model, std::string_view text) : text_(without_spaces(text)) {
  std::string_view rest = text_;
  for (;;) {
    const std::size_t bar = rest.find('|');
    if (rest.substr(0, bar).empty())
      throw InvalidInput("expected an event: a kind (crossing, jump, ...), a law, or LAW.KIND");
    choices_.push_back(parse(model, rest.substr(0, bar)));
    if (bar == std::string_view::npos) return;
    rest.remove_prefix(bar + 1);
  }
}

bool EventChoice::holds(const Event& event) const {
  const auto meets = [](int wanted, int found) { return wanted == any || wanted == found; };
  return std::any_of(choices_.begin(), choices_.end(), [&](const Choice& choice) {
    return meets(choice.kind, static_cast<int>(event.kind)) && meets(choice.law, event.law) &&
           meets(choice.from, event.from) && meets(choice.to, event.to);
  });
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
