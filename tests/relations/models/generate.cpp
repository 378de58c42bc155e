#include <algorithm>
#include <cmath>
#include <random>

#include <perp/tests/relations/models/generate.hpp>

namespace perp::relations {
namespace {

/// Draws a model part by part.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed * 2654435761U + 12345U) { model_.seed = seed; }

  RandomModel make() {
    states_ = 1 + pick(4);
    for (int j = 0; j < states_; ++j) add_state(decimal(-2, 2));
    add_linear_part();
    if (chance(0.4)) add_forcing();
    const int laws = pick(4);
    for (int i = 0; i < laws; ++i) add_law();
    if (chance(0.15)) add_product_of_multipliers();
    if (chance(0.2)) add_nonlinear_term();
    if (chance(0.25)) add_explicit_algebraic();
    if (chance(0.1)) add_index_two();
    if (chance(0.15)) add_time_switch();
    if (chance(0.15)) add_hysteresis();
    if (chance(0.3)) add_reset();
    if (chance(0.08)) add_contact();
    model_.end = decimal(0.5, 4);
    model_.h = model_.end / 128;
    return model_;
  }

 private:
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
  /// Three decimals, rarely a round number, which makes ties.
  double decimal(double lower, double upper) {
    const double value = std::uniform_real_distribution<double>(lower, upper)(random_);
    const double rounded = std::round(value * 1000) / 1000;
    return rounded == 0 ? 0.5 : rounded;
  }
  double away_from_zero(double lower, double upper) {
    return decimal(lower, upper) * (chance(0.5) ? 1 : -1);
  }

  static Factor variable(int j) { return {Factor::Kind::variable, j}; }
  static Factor multiplier(int i) { return {Factor::Kind::law, i}; }
  static Factor time(Function function = Function::none, double scale = 1, double offset = 0) {
    return {Factor::Kind::time, 0, function, scale, offset};
  }

  int add_state(double start) {
    const int j = static_cast<int>(model_.variables.size());
    model_.variables.push_back({"x" + std::to_string(j + 1), start});
    model_.equations.push_back({j, 1, {}});
    return j;
  }
  Sum& row(int k) { return model_.equations[static_cast<std::size_t>(k)].right; }
  double start_of(int j) const { return model_.variables[static_cast<std::size_t>(j)].start; }

  void add_linear_part() {
    for (int j = 0; j < states_; ++j) {
      if (chance(0.8)) row(j).push_back({-decimal(0.1, 1.5), {variable(j)}});
      for (int k = 0; k < states_; ++k)
        if (k != j && chance(0.45)) row(j).push_back({away_from_zero(0.1, 1.5), {variable(k)}});
      if (chance(0.5)) row(j).push_back({away_from_zero(0.1, 2)});
    }
  }

  void add_forcing() {
    const Function function = chance(0.5) ? Function::sin : Function::cos;
    row(pick(states_)).push_back(
        {away_from_zero(0.2, 2), {time(function, decimal(0.5, 5), chance(0.5) ? 0 : 0.3)}});
  }

  /// An affine argument: one or two states, a constant, sometimes a multiplier before this law.
  Sum argument() {
    Sum sum;
    const int j = pick(states_);
    sum.push_back({away_from_zero(0.2, 2), {variable(j)}});
    if (states_ > 1 && chance(0.3))
      sum.push_back({away_from_zero(0.2, 1), {variable((j + 1) % states_)}});
    if (chance(0.7)) sum.push_back({away_from_zero(0.1, 1.5)});
    const int laws = static_cast<int>(model_.laws.size());
    if (laws > 0 && chance(0.15)) sum.push_back({away_from_zero(0.1, 0.6), {multiplier(pick(laws))}});
    return sum;
  }

  int add_named_law(LawKind kind, Sum argument, double lower = -1, double upper = 1) {
    const int i = static_cast<int>(model_.laws.size());
    model_.laws.push_back({"s" + std::to_string(i + 1), kind, std::move(argument), lower, upper});
    return i;
  }

  void add_law() {
    static constexpr LawKind kinds[] = {LawKind::sign,       LawKind::step,      LawKind::positive_part,
                                        LawKind::absolute,   LawKind::saturation, LawKind::dead_zone,
                                        LawKind::relay,      LawKind::complementarity};
    const LawKind kind = kinds[pick(8)];
    Sum w = argument();
    int target = pick(states_);
    double coefficient = away_from_zero(0.2, 2);
    // w = c x + d λ + q with d > 0 has one λ for each x; with d = 0 the constraint C x ≥ 0 needs
    // C B > 0 and a start on its side.
    if (kind == LawKind::complementarity) {
      std::erase_if(w, [](const Term& term) {
        return !term.factors.empty() && term.factors[0].kind == Factor::Kind::law;
      });
      const int self = static_cast<int>(model_.laws.size());
      if (chance(0.7)) {
        w.push_back({decimal(0.2, 1.5), {multiplier(self)}});
      } else {
        target = w[0].factors[0].index;
        coefficient = std::copysign(coefficient, w[0].c);
        w = {w[0], {std::abs(w[0].c * start_of(target)) + decimal(0.1, 1)}};
      }
    }
    const int i = add_named_law(kind, std::move(w), -decimal(0.2, 1), decimal(0.2, 1));
    row(target).push_back({coefficient, {multiplier(i)}});
    if (chance(0.2)) row(pick(states_)).push_back({away_from_zero(0.1, 1), {multiplier(i)}});
  }

  /// θ₁ θ₂: the condition `w₁ > 0 and w₂ > 0`.
  void add_product_of_multipliers() {
    const int first = add_named_law(LawKind::step, argument());
    const int second = add_named_law(LawKind::step, argument());
    row(pick(states_)).push_back({away_from_zero(0.3, 2), {multiplier(first), multiplier(second)}});
  }

  void add_nonlinear_term() {
    const int j = pick(states_), k = pick(states_);
    switch (pick(4)) {
      case 0:
        row(j).push_back(
            {away_from_zero(0.2, 1), {{Factor::Kind::variable, k, Function::sin, decimal(0.5, 2)}}});
        break;
      case 1:
        row(j).push_back({away_from_zero(0.2, 1),
                          {{Factor::Kind::variable, k, Function::tanh, decimal(0.5, 2)}}});
        break;
      case 2:  // -c x³
        row(j).push_back({-decimal(0.1, 0.5), {variable(j), variable(j), variable(j)}});
        break;
      default:  // x sin(t)
        row(j).push_back({away_from_zero(0.1, 0.6), {variable(k), time(Function::sin, 1)}});
    }
  }

  /// An algebraic variable z with 0 = right(x, λ) - c z, and its force on a state.
  void add_explicit_algebraic() {
    const int z = static_cast<int>(model_.variables.size());
    model_.variables.push_back({"z1", decimal(-1, 1)});
    Sum right{{-decimal(0.5, 2), {variable(z)}}, {away_from_zero(0.2, 1), {variable(pick(states_))}}};
    if (chance(0.3)) right.push_back({-decimal(0.1, 1), {variable(z), variable(z), variable(z)}});
    if (!model_.laws.empty() && chance(0.3))
      right.push_back({away_from_zero(0.2, 1), {multiplier(pick(static_cast<int>(model_.laws.size())))}});
    model_.equations.push_back({-1, 1, right});
    row(pick(states_)).push_back({away_from_zero(0.2, 1), {variable(z)}});
  }

  /// A state p that follows a sine by a force: ṗ = a p + f, 0 = p - c sin(ω t) - p(0).
  void add_index_two() {
    const int p = add_state(decimal(-1, 1));
    const int f = static_cast<int>(model_.variables.size());
    model_.variables.push_back({"f1", 0.5});
    model_.equations.back().right = {{away_from_zero(0.2, 1), {variable(p)}},
                                     {away_from_zero(0.2, 1), {variable(pick(states_))}},
                                     {decimal(0.5, 2), {variable(f)}}};
    model_.equations.push_back({-1,
                                1,
                                {{1, {variable(p)}},
                                 {-start_of(p)},
                                 {away_from_zero(0.2, 1), {time(Function::sin, decimal(0.5, 3))}}}});
    if (chance(0.5)) row(pick(states_)).push_back({away_from_zero(0.2, 1), {variable(p)}});
  }

  void add_time_switch() {
    const double c = away_from_zero(0.3, 1.5);
    if (chance(0.5)) {
      row(pick(states_)).push_back({c, {time(Function::square_wave, decimal(1, 6), decimal(0.1, 1))}});
      return;
    }
    const int i = add_named_law(chance(0.5) ? LawKind::sign : LawKind::positive_part,
                                {{1, {time()}}, {-decimal(0.1, 2)}});
    row(pick(states_)).push_back({c, {multiplier(i)}});
  }

  void add_hysteresis() {
    const int j = pick(states_);
    const double centre = decimal(-0.5, 0.5), half = decimal(0.1, 0.4);
    const int i = add_named_law(LawKind::hysteresis, {{1, {variable(j)}}}, centre - half, centre + half);
    row(j).push_back({-decimal(1, 4), {multiplier(i)}});
    row(j).push_back({decimal(0.3, 2)});
  }

  void add_reset() {
    RandomReset reset;
    const int j = pick(states_);
    reset.condition = {{1, {variable(j)}}, {-(start_of(j) + away_from_zero(0.2, 0.8))}};
    reset.direction = pick(3) - 1;
    switch (pick(4)) {
      case 0: {  // a count
        const int n = add_state(0);
        reset.variables = {n};
        reset.values = {{{1, {variable(n)}}, {1}}};
        break;
      }
      case 1:  // at a moment, adds to a state
        reset.condition = {{1, {time()}}, {-decimal(0.1, 1.5)}};
        reset.direction = 1;
        reset.variables = {j};
        reset.values = {{{1, {variable(j)}}, {away_from_zero(0.2, 1)}}};
        break;
      case 2: {  // another state is turned back
        const int k = pick(states_);
        reset.variables = {k};
        reset.values = {{{-decimal(0.3, 0.9), {variable(k)}}}};
        break;
      }
      default:  // writes a value
        reset.variables = {j};
        reset.values = {{{start_of(j)}}};
    }
    model_.resets.push_back(reset);
  }

  /// A mass above a table, pulled down: ẏ = v, v̇ = -g - d v + N, 0 <= N perp y >= 0.
  void add_contact() {
    const int y = add_state(decimal(0.3, 1.5));
    const int v = add_state(decimal(-0.5, 0.5));
    const int i = add_named_law(LawKind::complementarity, {{1, {variable(y)}}});
    if (chance(0.5)) model_.laws.back().restitution = chance(0.3) ? 0 : decimal(0.2, 0.9);
    row(y) = {{1, {variable(v)}}};
    row(v) = {{-decimal(3, 10)}, {-decimal(0.1, 0.5), {variable(v)}}, {1, {multiplier(i)}}};
    if (chance(0.5)) row(v).push_back({away_from_zero(0.2, 1), {variable(pick(states_))}});
  }

  std::mt19937 random_;
  RandomModel model_;
  int states_ = 0;
};

RandomModel relay_companion() {
  RandomModel model;
  model.variables = {{"u", 2}};
  model.laws = {{"r", LawKind::sign, {{1, {{Factor::Kind::variable, 0}}}}}};
  model.equations = {{0, 1, {{-1.3, {{Factor::Kind::law, 0}}}}}};
  return model;
}

/// It loses nothing, so that its impacts do not accumulate, which would end every run.
RandomModel ball_companion() {
  RandomModel model;
  model.variables = {{"y", 0.7}, {"v", 0}};
  model.equations = {{0, 1, {{1, {{Factor::Kind::variable, 1}}}}}, {1, 1, {{-9.81}}}};
  model.resets = {{{{1, {{Factor::Kind::variable, 0}}}}, -1, {1}, {{{-1, {{Factor::Kind::variable, 1}}}}}}};
  return model;
}

RandomModel oscillator_companion() {
  RandomModel model;
  model.variables = {{"p", 0.3}, {"q", 0.1}};
  model.equations = {{0, 1, {{2.7, {{Factor::Kind::variable, 1}}}}},
                     {1, 1, {{-2.7, {{Factor::Kind::variable, 0}}}}}};
  return model;
}

}  // namespace

RandomModel random_model(unsigned seed) { return Generator(seed).make(); }

RandomModel companion(unsigned seed) {
  switch (seed % 3) {
    case 0: return relay_companion();
    case 1: return ball_companion();
    default: return oscillator_companion();
  }
}

}  // namespace perp::relations
