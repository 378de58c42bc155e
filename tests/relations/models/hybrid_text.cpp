// Binaries with their constraints, and inputs, as text.
#include <fmt/format.h>
#include <algorithm>

#include <perp/tests/relations/models/wording.hpp>

namespace perp::relations {
namespace {

const RandomLaw& law_of(const RandomModel& model, int index) {
  return model.laws[static_cast<std::size_t>(index)];
}

std::string literal_text(const RandomModel& model, const Literal& literal) {
  const std::string& z = law_of(model, literal.law).name;
  switch (literal.kind) {
    case Literal::Kind::on: return z;
    case Literal::Kind::off: return fmt::format("(1 - {})", z);
    case Literal::Kind::side: return fmt::format("(1 - 2*{})", z);
    case Literal::Kind::off_or_beside: return fmt::format("(1 - {} + {})", z, law_of(model, literal.beside).name);
  }
  return {};
}

/// The constraint that says what a law says, {w} its argument, {z} the binary.
std::string constraint_of_law(const RandomModel& model, const RandomLaw& law) {
  static const std::vector<std::string> step{"({w})*(1 - 2*{z}) <= 0", "({w})*(2*{z} - 1) >= 0",
                                             "({w})*(1 - {z}) <= ({w})*{z}", "({w})*(1 - {z}) - 2*({w})*{z} <= 0"};
  static const std::vector<std::string> hysteresis{
      "(({w}) - ({u}))*(1 - {z}) + (({l}) - ({w}))*{z} <= 0", "(({u}) - ({w}))*(1 - {z}) + (({w}) - ({l}))*{z} >= 0",
      "(({w}) - ({u}))*(1 - {z}) <= 3*(({w}) - ({l}))*{z}"};
  const std::vector<std::string>& list = law.kind == LawKind::step ? step : hysteresis;
  const std::string& statement = list[static_cast<std::size_t>(law.wording) % list.size()];
  return fmt::format(fmt::runtime(statement), fmt::arg("w", sum_text(model, law.argument)), fmt::arg("z", law.name),
                     fmt::arg("l", number_text(law.lower)), fmt::arg("u", number_text(law.upper)));
}

std::string constraint_text(const RandomModel& model, const RandomConstraint& constraint) {
  std::string g;
  for (const RandomConstraint::Face& face : constraint.faces) {
    g += fmt::format("{}({})", g.empty() ? "" : " + ", sum_text(model, face.w));
    for (const Literal& literal : face.when) g += "*" + literal_text(model, literal);
  }
  const std::string factor = constraint.factor == 1 ? "" : number_text(constraint.factor) + "*";
  return constraint.is_turned ? fmt::format("-({}({})) >= 0", factor, g) : fmt::format("{}({}) <= 0", factor, g);
}

}  // namespace

bool is_hybrid(const RandomModel& model) {
  return model.as_binaries || !model.constraints.empty() ||
         std::any_of(model.laws.begin(), model.laws.end(),
                     [](const RandomLaw& law) { return law.kind == LawKind::binary; });
}

bool can_be_hybrid(const RandomModel& model) {
  const auto is_binary = [](const RandomLaw& law) {
    return law.kind == LawKind::step || law.kind == LawKind::hysteresis || law.kind == LawKind::binary;
  };
  const auto has_wave = [](const Sum& sum) {  // a sign, which does not stand beside binaries
    return std::ranges::any_of(sum, [](const Term& term) {
      return std::ranges::any_of(term.factors, [](const Factor& f) { return f.function == Function::square_wave; });
    });
  };
  return model.resets.empty() && !model.laws.empty() && std::ranges::all_of(model.laws, is_binary) &&
         std::ranges::none_of(model.equations, has_wave, &RandomEquation::right) &&
         std::ranges::none_of(model.laws, has_wave, &RandomLaw::argument);
}

std::string variable_text(const RandomModel& model, int variable) {
  return model.as_families ? fmt::format("x[{}]", variable + 1)
                           : model.variables[static_cast<std::size_t>(variable)].name;
}

std::string inputs_text(const RandomModel& model) {
  std::string result;
  for (const RandomInput& input : model.inputs)
    result += fmt::format("{} = \"{}\"\n", input.name, sum_text(model, input.value));
  return result.empty() ? result : "[inputs]\n" + result;
}

std::string binaries_text(const RandomModel& model) {
  if (!is_hybrid(model) || model.laws.empty()) return {};
  std::string result = "[binaries]\n";
  for (const RandomLaw& law : model.laws) result += fmt::format("{} = {}\n", law.name, law.start);
  return result;
}

std::string constraints_text(const RandomModel& model) {
  if (!is_hybrid(model)) return {};
  std::string result = "constraints = [\n";
  for (const RandomLaw& law : model.laws)
    if (law.kind != LawKind::binary) result += fmt::format("  \"{}\",\n", constraint_of_law(model, law));
  for (const RandomConstraint& constraint : model.constraints)
    result += fmt::format("  {{ name = \"{}\", g = \"{}\" }},\n", constraint.name, constraint_text(model, constraint));
  return result + "]\n";
}

}  // namespace perp::relations
