#include <fmt/format.h>

#include <perp/tests/relations/models/wording.hpp>

namespace perp::relations {
namespace {

/// Statements of one kind: {w} the argument, {l} and {u} the bounds, {s} the name of the multiplier.
/// Those with " in " or " perp " are entries of the list of laws, the others operators in place.
const std::vector<std::string>& statements(LawKind kind) {
  static const std::vector<std::string> sign{
      "sign({w})",       "{s} in sign({w})",      "if({w} > 0, 1, -1)",  "{s} in relay({w}, -1, 1)",
      "(2*step({w}) - 1)", "if({w} < 0, -1, 1)", "(-sign(-({w})))", "{s} in normal_cone({w}, -1, 1)"};
  static const std::vector<std::string> step{
      "step({w})",           "{s} in step({w})",      "if({w} > 0, 1, 0)",
      "if(0 < {w}, 1, 0)", "if({w} <= 0, 0, 1)",    "if(not ({w} < 0), 1, 0)",
      "((1 + sign({w}))/2)", "{s} in relay({w}, 0, 1)"};
  static const std::vector<std::string> positive_part{"max({w}, 0)",
                                                      "max(0, {w})",
                                                      "(-min(-({w}), 0))",
                                                      "piecewise({w}, -1, 0, 0, 0, 1, 1)",
                                                      "0 <= {s} perp {s} - ({w}) >= 0",
                                                      "((({w}) + abs({w}))/2)"};
  static const std::vector<std::string> absolute{"abs({w})", "{s} in absolute({w})",
                                                 "max({w}, -({w}))", "(2*max({w}, 0) - ({w}))"};
  static const std::vector<std::string> saturation{
      "sat({w}, {l}, {u})", "{s} in saturation({w}, {l}, {u})", "min(max({w}, {l}), {u})",
      "max(min({w}, {u}), {l})"};
  static const std::vector<std::string> dead_zone{
      "deadzone({w}, {l}, {u})", "{s} in dead_zone({w}, {l}, {u})",
      "(max({w} - ({u}), 0) + min({w} - ({l}), 0))", "(({w}) - sat({w}, {l}, {u}))"};
  static const std::vector<std::string> relay{"{s} in relay({w}, {l}, {u})", "if({w} > 0, {u}, {l})",
                                              "({l} + (({u}) - ({l}))*step({w}))"};
  static const std::vector<std::string> complementarity{
      "0 <= {s} perp {w} >= 0", "{s} in complementarity({w})", "{s} in box({w}, 0, inf)",
      "{s} in normal_cone(-({w}), 0, inf)", "0 <= {w} perp {s} >= 0"};
  static const std::vector<std::string> hysteresis{"{s} in hysteresis({w}, {l}, {u})"};
  static const std::vector<std::string> binary{"{s}"};
  switch (kind) {
    case LawKind::sign: return sign;
    case LawKind::step: return step;
    case LawKind::positive_part: return positive_part;
    case LawKind::absolute: return absolute;
    case LawKind::saturation: return saturation;
    case LawKind::dead_zone: return dead_zone;
    case LawKind::relay: return relay;
    case LawKind::complementarity: return complementarity;
    case LawKind::hysteresis: return hysteresis;
    case LawKind::binary: return binary;
  }
  return sign;
}

std::string filled(const RandomModel& model, int index) {
  const RandomLaw& law = model.laws[static_cast<std::size_t>(index)];
  const std::string& statement = statements(law.kind)[static_cast<std::size_t>(law.wording)];
  return fmt::format(fmt::runtime(statement), fmt::arg("w", sum_text(model, law.argument)),
                     fmt::arg("l", number_text(law.lower)), fmt::arg("u", number_text(law.upper)),
                     fmt::arg("s", law.name));
}

std::string branch(double a, double b, double c, const std::string& ranges) {
  return fmt::format("{{ a = {}, b = {}, c = {}{} }}", a, b, number_text(c), ranges);
}

std::string range(const char* key, const std::string& lower, const std::string& upper) {
  return fmt::format(", {} = [{}, {}]", key, lower, upper);
}

/// λ = lower | [lower, upper] | upper, as w <, =, > 0.
std::string relay_branches(double lower, double upper) {
  return branch(0, 1, lower, range("w", "-inf", "0")) + ", " +
         branch(1, 0, 0, range("lambda", number_text(lower), number_text(upper))) + ", " +
         branch(0, 1, upper, range("w", "0", "inf"));
}

std::string branch_list(const RandomLaw& law) {
  const std::string l = number_text(law.lower), u = number_text(law.upper);
  switch (law.kind) {
    case LawKind::sign: return relay_branches(-1, 1);
    case LawKind::step: return relay_branches(0, 1);
    case LawKind::relay: return relay_branches(law.lower, law.upper);
    case LawKind::positive_part:
      return branch(0, 1, 0, range("w", "-inf", "0")) + ", " +
             branch(-1, 1, 0, range("w", "0", "inf"));
    case LawKind::absolute:
      return branch(1, 1, 0, range("w", "-inf", "0")) + ", " +
             branch(-1, 1, 0, range("w", "0", "inf"));
    case LawKind::saturation:
      return branch(0, 1, law.lower, range("w", "-inf", l)) + ", " +
             branch(-1, 1, 0, range("w", l, u)) + ", " +
             branch(0, 1, law.upper, range("w", u, "inf"));
    case LawKind::dead_zone:
      return branch(-1, 1, -law.lower, range("w", "-inf", l)) + ", " +
             branch(0, 1, 0, range("w", l, u)) + ", " +
             branch(-1, 1, -law.upper, range("w", u, "inf"));
    case LawKind::complementarity:
      return branch(0, 1, 0, range("w", "0", "inf")) + ", " +
             branch(1, 0, 0, range("lambda", "0", "inf"));
    case LawKind::hysteresis:
      return branch(0, 1, 0, range("w", "-inf", u)) + ", " +
             branch(0, 1, 1, range("w", l, "inf"));
    case LawKind::binary: break;
  }
  return {};
}

}  // namespace

int wordings(LawKind kind) { return static_cast<int>(statements(kind).size()); }

bool is_listed(LawKind kind, int wording) {
  const std::string& statement = statements(kind)[static_cast<std::size_t>(wording)];
  return statement.find(" in ") != std::string::npos ||
         statement.find(" perp ") != std::string::npos;
}

std::string multiplier_text(const RandomModel& model, int index) {
  const RandomLaw& law = model.laws[static_cast<std::size_t>(index)];
  if (is_hybrid(model)) return law.name;
  return is_listed(law.kind, law.wording) ? law.name : filled(model, index);
}

std::string law_text(const RandomModel& model, int index) { return filled(model, index); }

std::string branches_text(const RandomLaw& law) {
  return fmt::format("{{ name = \"{}\", memory = {}, branches = [{}] }}", law.name,
                     law.kind == LawKind::hysteresis, branch_list(law));
}

}  // namespace perp::relations
