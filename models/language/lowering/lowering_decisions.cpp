#include <algorithm>
#include <array>
#include <optional>

#include <perp/models/language/lowering/decisions.hpp>

namespace perp::lowering {
namespace {

using Kind = Decision::Kind;
using Uses = std::vector<std::array<bool, basis_count>>;

constexpr std::size_t at(Basis basis) { return static_cast<std::size_t>(basis); }

/// Which lines do the roots need?
std::vector<bool> reached(const Tape& tape, std::span<const int> roots) {
  std::vector<bool> needed(static_cast<std::size_t>(tape.size()));
  for (const int root : roots) needed[static_cast<std::size_t>(root)] = true;
  for (int k = tape.size() - 1; k >= 0; --k) {
    const Instruction& line = tape[k];
    if (!needed[static_cast<std::size_t>(k)] || line.operation == Operation::input) continue;
    for (const int operand : {line.a, line.b})
      if (operand >= 0) needed[static_cast<std::size_t>(operand)] = true;
  }
  return needed;
}

/// What the lines ask of each switch.
Uses uses_in(const Tape& tape, const Switches& switches, std::span<const int> roots) {
  Uses uses(switches.list().size());
  if (uses.empty()) return uses;
  const std::vector<bool> needed = reached(tape, roots);
  for (int k = 0; k < tape.size(); ++k) {
    if (!needed[static_cast<std::size_t>(k)] || tape[k].operation != Operation::input) continue;
    const auto [index, basis] = switches.of_input(tape[k].a);
    if (index >= 0) uses[static_cast<std::size_t>(index)][at(basis)] = true;
  }
  return uses;
}

bool any(const std::array<bool, basis_count>& of) {
  return std::any_of(of.begin(), of.end(), [](bool used) { return used; });
}

/// Jump and kink of one switch in one row: coefficients of s and κ, where they are constant.
struct Weights {
  int jump = -1;
  int kink = -1;
};

/// The rows with every basis of switch `index` written in s = sign(w) and κ = |w|, and how these
/// two enter: λ ∈ |w| + β sign(w) serves all rows if they do so in one constant ratio jump : kink.
class MergeTest {
 public:
  MergeTest(Algebra& algebra, const Switches& switches, int index, std::span<const int> rows)
      : algebra_(algebra), switches_(switches), index_(index), rows_(rows) {}

  std::optional<double> beta() {
    std::optional<double> common;
    for (const int row : rows_) {
      const std::optional<Weights> weights = weights_of(row);
      if (!weights) return std::nullopt;
      if (weights->jump < 0 && weights->kink < 0) continue;
      const std::optional<double> ratio = ratio_of(*weights);
      if (!ratio || (common && *common != *ratio)) return std::nullopt;
      common = ratio;
    }
    return common;
  }

 private:
  [[nodiscard]] std::optional<Basis> basis_of(int line) const {
    const Instruction& here = algebra_.tape()[line];
    if (here.operation != Operation::input) return std::nullopt;
    const auto [index, basis] = switches_.of_input(here.a);
    return index == index_ ? std::optional(basis) : std::nullopt;
  }

  [[nodiscard]] bool depends(int line) const {
    const std::vector<bool> needed = reached(algebra_.tape(), std::span(&line, 1));
    for (int k = 0; k <= line; ++k)
      if (needed[static_cast<std::size_t>(k)] && basis_of(k)) return true;
    return false;
  }

  /// Adds coefficient times a basis, with θ = (1 + s)/2 and max(0, w) = (w + κ)/2.
  void add_basis(Weights& weights, Basis basis, int coefficient) {
    const bool is_half = basis == Basis::step || basis == Basis::positive_part;
    const bool jumps = basis == Basis::sign || basis == Basis::step;
    int& target = jumps ? weights.jump : weights.kink;
    const int term = algebra_.multiply(algebra_.number(is_half ? 0.5 : 1), coefficient);
    target = target < 0 ? term : algebra_.add(target, term);
  }

  std::optional<Weights> weights_of(int row) {
    if (!depends(row)) return Weights{};
    Weights weights;
    for (const auto& [line, coefficient] : algebra_.affine(row)) {
      if (line == one) continue;
      const std::optional<Basis> basis = basis_of(line);
      if (!basis && depends(line)) return std::nullopt;  // not constant
      if (basis) add_basis(weights, *basis, coefficient);
    }
    return weights;
  }

  std::optional<double> ratio_of(const Weights& weights) {
    if (weights.jump < 0 || weights.kink < 0) return std::nullopt;
    if (weights.jump == weights.kink) return 1;
    if (algebra_.negate(weights.jump) == weights.kink) return -1;
    // The data of a law are numbers: a ratio that depends on parameters would hide them.
    if (algebra_.dependence(weights.jump) != Dependence::nothing ||
        algebra_.dependence(weights.kink) != Dependence::nothing ||
        algebra_.value(weights.kink) == 0)
      return std::nullopt;
    const int ratio = algebra_.divide(weights.jump, weights.kink);
    if (algebra_.dependence(ratio) != Dependence::nothing) return std::nullopt;
    return algebra_.value(ratio);
  }

  Algebra& algebra_;
  const Switches& switches_;
  int index_;
  std::span<const int> rows_;
};

Kind kind_of(const std::array<bool, basis_count>& uses) {
  if (uses[at(Basis::sign)]) return Kind::sign;
  const bool jumps = uses[at(Basis::step)];
  if (jumps && uses[at(Basis::absolute)]) return Kind::sign;
  if (jumps) return Kind::step;
  return uses[at(Basis::absolute)] ? Kind::absolute : Kind::positive_part;
}

Law positive_part() {
  return {"positive part",
          {{0, 1, 0, {-inf, 0}, {0, 0}}, {-1, 1, 0, {0, inf}, {0, inf}}}};
}

/// λ ∈ |w| + β sign(w); β = 1 is abs_plus_sign().
Law merged_law(double beta) {
  const double size = beta < 0 ? -beta : beta;
  return {"abs_plus_sign",
          {{1, 1, -beta, {-inf, 0}, {}},
           {1, 0, 0, {0, 0}, {-size, size}},
           {-1, 1, beta, {0, inf}, {}}}};
}

/// The law of a decision, with the names that it has of itself.
Law plain_law(const Decision& decision, const Switch& of) {
  switch (decision.kind) {
    case Kind::none:
    case Kind::own: break;
    case Kind::sign: return perp::sign();
    case Kind::step: return perp::step();
    case Kind::absolute: return perp::absolute();
    case Kind::positive_part: return positive_part();
    case Kind::merged: return merged_law(decision.beta);
  }
  return *of.law;
}

}  // namespace

Law Decision::law(const Switch& of) const {
  Law law = plain_law(*this, of);
  law.name = of.name();
  if (kind == Kind::none || kind == Kind::own) return law;
  const auto [negative, positive] = of.sides();
  law.branches.change([&](std::vector<Branch>& branches) {
    for (Branch& branch : branches) branch.name = "sliding";
    branches.front().name = negative;
    branches.back().name = positive;
  });
  return law;
}

namespace {

/// The switches that these lines need, and `rows`: the lines and the arguments of those switches.
std::vector<bool> live_switches(const Tape& tape, const std::vector<Switch>& list,
                                const Switches& switches, std::vector<int>& rows) {
  std::vector<bool> is_live(list.size());
  for (bool grows = true; grows;) {
    const Uses uses = uses_in(tape, switches, rows);
    grows = false;
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (is_live[k] || (!any(uses[k]) && !list[k].is_stated)) continue;
      is_live[k] = grows = true;
      rows.push_back(list[k].argument);
    }
  }
  return is_live;
}

/// Is both the jump and the kink of a switch asked for?
bool asks_both(const std::array<bool, basis_count>& asked) {
  const bool jumps = asked[at(Basis::sign)] || asked[at(Basis::step)];
  const bool bends = asked[at(Basis::absolute)] || asked[at(Basis::positive_part)];
  return jumps && bends;
}

}  // namespace

Decisions decide(Algebra& algebra, const Switches& switches, std::span<const int> equations,
                 std::span<const int> others) {
  const std::vector<Switch>& list = switches.list();
  std::vector<int> all(equations.begin(), equations.end());
  all.insert(all.end(), others.begin(), others.end());
  const std::vector<bool> is_live = live_switches(algebra.tape(), list, switches, all);
  std::vector<int> rows(equations.begin(), equations.end());
  live_switches(algebra.tape(), list, switches, rows);
  const Uses asked = uses_in(algebra.tape(), switches, rows);
  const Uses asked_by_all = uses_in(algebra.tape(), switches, all);
  Decisions decisions{{}, std::vector<Decision>(list.size())};
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (!is_live[k]) continue;
    decisions.live.push_back(static_cast<int>(k));
    Decision& decision = decisions.of_switch[k];
    decision.kind = list[k].law ? Kind::own : kind_of(any(asked[k]) ? asked[k] : asked_by_all[k]);
    if (list[k].law || !asks_both(asked[k])) continue;
    if (const auto beta = MergeTest(algebra, switches, static_cast<int>(k), rows).beta())
      decision = {Kind::merged, *beta};
  }
  return decisions;
}

namespace {

/// The bases of an argument w as lines of the multiplier L of the law that serves it.
struct BasisLines {
  Algebra& algebra;
  Kind kind;
  double beta;
  int L, w;
  bool in_equations;
  int half = algebra.number(0.5);

  [[nodiscard]] int half_of(int line) const { return algebra.multiply(half, line); }

  [[nodiscard]] int sign() const {
    switch (kind) {
      case Kind::sign: return L;
      case Kind::step:
        return algebra.subtract(algebra.multiply(algebra.number(2), L), algebra.number(1));
      case Kind::merged: {
        if (in_equations) return algebra.number(0);
        const int rest = algebra.subtract(L, algebra.apply(Operation::abs, w, -1));
        return algebra.divide(rest, algebra.number(beta));
      }
      default: return algebra.apply(Operation::sign, w, -1);
    }
  }

  /// θ = (1 + s)/2
  [[nodiscard]] int step() const {
    return kind == Kind::step ? L : algebra.add(half, half_of(sign()));
  }

  [[nodiscard]] int absolute() const {
    switch (kind) {
      case Kind::absolute: return L;
      case Kind::positive_part: return algebra.subtract(algebra.multiply(algebra.number(2), L), w);
      case Kind::merged: return in_equations ? L : algebra.apply(Operation::abs, w, -1);
      default: return algebra.multiply(sign(), w);
    }
  }

  /// max(0, w) = (w + |w|)/2
  [[nodiscard]] int positive_part() const {
    if (kind == Kind::positive_part) return L;
    if (kind == Kind::step) return algebra.multiply(L, w);
    return algebra.add(half_of(w), half_of(absolute()));
  }
};

}  // namespace

int basis_line(Algebra& algebra, const Decision& decision, Basis basis, int multiplier,
               int argument, bool in_equations) {
  const BasisLines lines{algebra, decision.kind, decision.beta, multiplier, argument, in_equations};
  if (decision.kind == Kind::own) return multiplier;
  switch (basis) {
    case Basis::sign: return lines.sign();
    case Basis::step: return lines.step();
    case Basis::absolute: return lines.absolute();
    case Basis::positive_part: break;
  }
  return lines.positive_part();
}

}  // namespace perp::lowering
