#include <algorithm>
#include <cmath>

#include <perp/models/language/lowering/switches.hpp>

namespace perp::lowering {
namespace {

constexpr std::size_t longest_side = 32;  ///< characters of a branch's name

std::vector<int> lines_of(const AffineForm& form) {
  std::vector<int> lines;
  for (const auto& term : form) lines.push_back(term.first);
  return lines;
}

/// Adds a name to those of a switch, once.
void add_name(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

std::string Switch::name() const {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::pair<std::string, std::string> Switch::sides() const {
  if (!first) return {"w<0", "w>0"};
  if (first->is_condition && names.size() == 1) return {"false", "true"};
  const auto readable = [](const std::string& side, const char* plain) {
    return side.empty() || side.size() > longest_side ? std::string(plain) : side;
  };
  if (first->is_condition)
    return {readable("not " + first->text, "w<0"), readable(first->text, "w>0")};
  return {readable(first->negative, "w<0"), readable(first->positive, "w>0")};
}

int Switches::add_law(const Law& law, const std::string& name, int argument) {
  list_.push_back({.argument = argument, .law = law, .names = {name}});
  return static_cast<int>(list_.size()) - 1;
}

void Switches::add_requirement(const Law& law, int argument) {
  list_.push_back({.argument = argument, .law = law, .is_stated = true, .names = {law.name}});
}

int Switches::add_stated_law(const Law& law) {
  list_.push_back({.law = law, .is_stated = true, .names = {law.name}});
  return static_cast<int>(list_.size()) - 1;
}

Switches::Argument Switches::find(int line, const Asked& asked, bool creates) {
  const bool is_known = algebra_.is_known(line);
  // A number has no sides: of 0 operators take their one value there. Of parameters that are sets they are sets.
  const bool is_set = algebra_.is_exact() && algebra_.dependence(line) != Dependence::nothing;
  if (is_known) {
    const std::optional<int> sign = algebra_.sign(line);
    const int side = sign.value_or(0);
    if (side != 0 || (sign.has_value() && !is_set)) return {.line = line, .known_sign = side};
  }
  // All arguments without a value are one; those that may be 0 are told apart.
  const bool has_none = is_known && !algebra_.is_exact();
  return find_form(line, has_none ? AffineForm{} : aliases_.form(line), asked, creates);
}

std::optional<Switches::Argument> Switches::as_multiple(std::size_t index, int line, const AffineForm& form,
                                                        const AffineForm& opposite) {
  const Switch& known = list_[index];
  if (known.law) return std::nullopt;
  Argument found{line, static_cast<int>(index), known.form == form ? 1 : -1, 0};
  if (known.form == form || known.form == opposite) return found;
  const std::optional<int> ratio = algebra_.ratio(form, known.form);
  if (!ratio) return std::nullopt;
  found.orientation = *algebra_.sign(*ratio);
  found.scale = found.orientation > 0 ? *ratio : algebra_.negate(*ratio);
  return found;
}

Switches::Argument Switches::find_form(int line, const AffineForm& form, const Asked& asked, bool creates) {
  const AffineForm opposite = algebra_.negated(form);
  // Forms that are multiples of each other hold the same lines.
  std::vector<std::size_t>& alike = of_lines_[lines_of(form)];
  for (const std::size_t k : alike) {
    const std::optional<Argument> found = as_multiple(k, line, form, opposite);
    if (!found) continue;
    if (creates) add_name(list_[k].names, asked.text);
    return *found;
  }
  if (!creates) return {.line = line};
  alike.push_back(list_.size());
  list_.push_back({.argument = line, .form = form, .names = {asked.text}, .first = std::make_shared<const Asked>(asked)});
  return {.line = line, .index = static_cast<int>(list_.size()) - 1};
}

int Switches::basis(int index, Basis which) {
  return algebra_.tape().input(first_input_ + basis_count * index + static_cast<int>(which));
}

int Switches::multiplier(int index) { return basis(index, Basis::sign); }

std::pair<int, Basis> Switches::of_input(int input) const {
  if (input < first_input_) return {-1, Basis::sign};
  const int k = input - first_input_;
  return {k / basis_count, static_cast<Basis>(k % basis_count)};
}

int Switches::sign(const Argument& w) {
  if (w.known_sign != 0) return algebra_.number(w.known_sign);
  if (w.index < 0) return algebra_.apply(Operation::sign, w.line, -1);
  const int s = basis(w.index, Basis::sign);
  return w.orientation > 0 ? s : algebra_.negate(s);
}

int Switches::step(const Argument& w) {
  if (w.known_sign != 0) return algebra_.number(w.known_sign > 0 ? 1 : 0);
  const int half = algebra_.number(0.5);
  if (w.index < 0) return algebra_.add(half, algebra_.multiply(half, sign(w)));
  const int theta = basis(w.index, Basis::step);
  return w.orientation > 0 ? theta : algebra_.subtract(algebra_.number(1), theta);
}

int Switches::absolute(const Argument& w) {
  if (w.index < 0) return algebra_.apply(Operation::abs, w.line, -1);
  return scaled(w, basis(w.index, Basis::absolute));
}

int Switches::scaled(const Argument& w, int value) {
  return w.scale < 0 ? value : algebra_.multiply(w.scale, value);
}

int Switches::positive_part(const Argument& w) {
  if (w.index < 0) return algebra_.apply(Operation::max, w.line, algebra_.number(0));
  const int part = scaled(w, basis(w.index, Basis::positive_part));
  if (w.orientation > 0) return part;
  return algebra_.add(part, w.line);  // max(0, w) = max(0, -w) + w
}

}  // namespace perp::lowering
