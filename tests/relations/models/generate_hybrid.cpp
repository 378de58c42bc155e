#include <algorithm>
#include <cmath>
#include <random>

#include <perp/tests/relations/models/generate.hpp>

namespace perp::relations {
namespace {

/// Draws a model with binaries, constraints and inputs part by part.
class HybridGenerator {
 public:
  explicit HybridGenerator(unsigned seed) : random_(seed * 2246822519U + 3266489917U) { model_.seed = seed; }

  RandomModel make() {
    model_.as_binaries = true;
    states_ = 1 + pick(4);
    for (int j = 0; j < states_; ++j) add_variable(j, decimal(-1.5, 1.5));
    for (int j = 0; j < states_; ++j) {
      row(j).push_back({-decimal(0.1, 1.2), {variable(j)}});
      for (int k = 0; k < states_; ++k)
        if (k != j && chance(0.35)) row(j).push_back({away_from_zero(0.05, 0.5), {variable(k)}});
    }
    if (chance(0.5)) add_input();
    if (chance(0.35)) add_algebraic();
    for (int k = 1 + pick(3); k > 0; --k) add_binaries();
    if (chance(0.25)) add_product();
    if (chance(0.15)) add_bound();
    settle_starts();
    model_.end = decimal(0.6, 3);
    model_.h = model_.end / 128;
    return model_;
  }

 private:
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
  double decimal(double lower, double upper) {
    const double rounded =
        std::round(std::uniform_real_distribution<double>(lower, upper)(random_) * 1000) / 1000;
    return rounded == 0 ? 0.5 : rounded;
  }
  double away_from_zero(double lower, double upper) { return decimal(lower, upper) * (chance(0.5) ? 1 : -1); }

  static Factor variable(int j) { return {Factor::Kind::variable, j}; }
  static Factor binary(int i) { return {Factor::Kind::law, i}; }
  Sum& row(int k) { return model_.equations[static_cast<std::size_t>(k)].right; }

  int add_variable(int derivative, double start) {
    const int j = static_cast<int>(model_.variables.size());
    model_.variables.push_back({"x" + std::to_string(j + 1), start});
    model_.equations.push_back({derivative, 1, {}});
    return j;
  }
  int add_law(LawKind kind, Sum argument = {}, double lower = -1, double upper = 1) {
    const int i = static_cast<int>(model_.laws.size());
    model_.laws.push_back({"b" + std::to_string(i + 1), kind, std::move(argument), lower, upper});
    model_.laws.back().wording = pick(3);
    return i;
  }
  void add_constraint(std::vector<RandomConstraint::Face> faces) {
    model_.constraints.push_back({"c" + std::to_string(model_.constraints.size() + 1), std::move(faces)});
  }

  void add_input() {
    const Function function = chance(0.5) ? Function::sin : Function::cos;
    model_.inputs.push_back({"u1",
                             {{decimal(-1, 1)},
                              {away_from_zero(0.3, 1.5),
                               {{Factor::Kind::time, 0, function, decimal(0.5, 5), chance(0.5) ? 0 : 0.3}}}}});
    row(pick(states_)).push_back({away_from_zero(0.3, 1), {{Factor::Kind::input, 0}}});
  }

  /// 0 = right(x, u) - c y, and its force on a state; binaries enter it later.
  void add_algebraic() {
    algebraic_ = add_variable(-1, decimal(-1, 1));
    row(algebraic_) = {{-decimal(0.5, 2), {variable(algebraic_)}}, {away_from_zero(0.2, 1), {variable(pick(states_))}}};
    row(pick(states_)).push_back({away_from_zero(0.2, 0.8), {variable(algebraic_)}});
  }

  /// ±(x - level), sometimes with the input.
  Sum surface(int j, double sign, double level) {
    Sum w{{sign, {variable(j)}}, {-sign * level}};
    if (!model_.inputs.empty() && chance(0.1)) w.push_back({0.2 * sign, {{Factor::Kind::input, 0}}});
    return w;
  }
  static Sum negative(Sum w, double more = 0) {
    for (Term& term : w) term.c = -term.c;
    if (more != 0) w.push_back({more});
    return w;
  }

  /// A binary drives a state: up where `rises`.
  void drive(int i, int j, bool rises) {
    const double c = decimal(1, 4);
    Term term{rises ? c : -c, {binary(i)}};
    if (chance(0.15) && i > 0) term.factors.push_back(binary(pick(i)));
    row(j).push_back(term);
    row(j).push_back({(rises ? -1 : 1) * c * decimal(0.2, 0.8)});
    if (chance(0.2)) row(pick(states_)).push_back({away_from_zero(0.1, 0.6), {binary(i)}});
    if (algebraic_ >= 0 && chance(0.2)) row(algebraic_).push_back({away_from_zero(0.2, 0.6), {binary(i)}});
  }

  void add_binaries() {
    const int j = pick(states_);
    const double level = decimal(-0.8, 0.8), width = decimal(0.1, 0.8);
    switch (pick(7)) {
      case 0: drive(add_law(LawKind::step, surface(j, 1, level)), j, chance(0.5)); break;
      case 1: drive(add_law(LawKind::hysteresis, surface(j, 1, 0), level, level + width), j, chance(0.3)); break;
      case 2: add_tank(j, level, width); break;
      case 3: add_heaters(j, level, width); break;
      case 4: add_two_quantities(j, level, width); break;
      case 5: add_guarded_relay(j, level); break;
      default: add_range(j, level);
    }
  }

  /// Two binaries hold one band: one opens, the other keeps it open.
  void add_tank(int j, double level, double width) {
    const int a = add_law(LawKind::binary), b = add_law(LawKind::binary);
    add_constraint({{surface(j, -1, level), {{Literal::Kind::off_or_beside, a, b}}}});
    add_constraint({{surface(j, 1, level + width), {{Literal::Kind::off_or_beside, b, a}}}});
    drive(a, j, true);
  }

  /// One of two is on below the band, both are off above.
  void add_heaters(int j, double level, double width) {
    const int a = add_law(LawKind::binary), b = add_law(LawKind::binary);
    using Kind = Literal::Kind;
    add_constraint({{surface(j, -1, level), {{Kind::off, a}, {Kind::off, b}}}});
    const Sum above = surface(j, 1, level + width);
    add_constraint({{above, {{Kind::on, a}}}, {above, {{Kind::off, a}, {Kind::on, b}}}});
    drive(a, j, true);
    row(pick(states_)).push_back({decimal(0.5, 2), {binary(b)}});
  }

  /// On by one quantity, off by another one.
  void add_two_quantities(int j, double level, double width) {
    const int z = add_law(LawKind::binary), k = pick(states_);
    const double of_other = decimal(-0.8, 0.8);
    add_constraint({{surface(j, -1, level), {{Literal::Kind::off, z}}},
                    {k == j ? surface(j, 1, level + width) : surface(k, 1, of_other), {{Literal::Kind::on, z}}}});
    drive(z, j, true);
  }

  /// A relay that another binary switches off: its constraint is void then.
  void add_guarded_relay(int j, double level) {
    const int z = add_law(LawKind::binary);
    RandomConstraint::Face face{surface(j, 1, level), {{Literal::Kind::side, z}}};
    if (z > 0) face.when.push_back({chance(0.5) ? Literal::Kind::on : Literal::Kind::off, pick(z)});
    add_constraint({face});
    drive(z, j, chance(0.3));
  }

  /// Allowed on one side alone.
  void add_range(int j, double level) {
    const int z = add_law(LawKind::binary);
    add_constraint({{surface(j, chance(0.5) ? 1 : -1, level), {{Literal::Kind::on, z}}}});
    drive(z, j, chance(0.5));
  }

  void add_product() {
    const int i = pick(static_cast<int>(model_.laws.size()));
    row(pick(states_)).push_back({away_from_zero(0.2, 0.8), {binary(i), variable(pick(states_))}});
  }

  /// A bound without binaries that the state may reach.
  void add_bound() {
    const int j = pick(states_);
    add_constraint({{surface(j, 1, model_.variables[static_cast<std::size_t>(j)].start + decimal(0.2, 2)), {}}});
  }

  double at_start(const Sum& sum) const {
    double value = 0;
    for (const Term& term : sum) {
      double product = term.c;
      for (const Factor& factor : term.factors)
        product *= factor.kind == Factor::Kind::input ? at_start(model_.inputs[0].value)
                   : factor.kind == Factor::Kind::variable
                       ? model_.variables[static_cast<std::size_t>(factor.index)].start
                   : factor.function == Function::sin ? std::sin(factor.offset)
                                                      : std::cos(factor.offset);
      value += product;
    }
    return value;
  }

  /// Binaries that are laws start on the branch that these start on, others anywhere.
  void settle_starts() {
    for (RandomLaw& law : model_.laws) {
      const double w = at_start(law.argument);
      law.start = law.kind == LawKind::binary ? pick(2) : law.kind == LawKind::step ? (w > 0 ? 1 : 0) : (w > law.upper ? 1 : 0);
    }
  }

  std::mt19937 random_;
  RandomModel model_;
  int states_ = 0, algebraic_ = -1;
};

/// A room with a thermostat.
RandomModel room() {
  RandomModel model;
  model.as_binaries = true;
  model.variables = {{"T", 19.7}};
  model.laws = {{"heater", LawKind::hysteresis, {{1, {{Factor::Kind::variable, 0}}}}, 19, 20.3}};
  model.equations = {{0, 1, {{3}, {-0.15, {{Factor::Kind::variable, 0}}}, {-1.7, {{Factor::Kind::law, 0}}}}}};
  return model;
}

/// Two binaries hold one band: no law says so.
RandomModel tank() {
  RandomModel model;
  model.as_binaries = true;
  model.variables = {{"p", 0.3}};
  model.laws = {{"k", LawKind::binary}, {"l", LawKind::binary}};
  model.equations = {{0, 1, {{1.1, {{Factor::Kind::law, 0}}}, {-0.4}, {-0.2, {{Factor::Kind::variable, 0}}}}}};
  using Kind = Literal::Kind;
  model.constraints = {
      {"low", {{{{0.2}, {-1, {{Factor::Kind::variable, 0}}}}, {{Kind::off_or_beside, 0, 1}}}}},
      {"high", {{{{1, {{Factor::Kind::variable, 0}}}, {-0.45}}, {{Kind::off_or_beside, 1, 0}}}}}};
  return model;
}

}  // namespace

RandomModel random_hybrid_model(unsigned seed) { return HybridGenerator(seed).make(); }

RandomModel hybrid_companion(unsigned seed) {
  return seed % 3 == 2 ? companion(2) : seed % 3 == 1 ? tank() : room();
}

}  // namespace perp::relations
