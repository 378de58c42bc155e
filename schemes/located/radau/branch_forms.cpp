#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/branches.hpp>
#include <perp/core/expression/dependent_lines.hpp>
#include <perp/schemes/located/radau/branch_forms.hpp>

namespace perp {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// The value of a line, if it is a constant, a parameter or an operation on lines that have one; else NaN.
double number_of(const Instruction& line, const Dcs& system, const std::vector<double>& numbers) {
  if (line.operation == Operation::constant) return line.value;
  if (line.operation == Operation::input) {
    const int p = line.a - system.parameter_input(0);
    return p >= 0 ? system.parameters[static_cast<std::size_t>(p)] : no_number;
  }
  if (line.a < 0 && line.operation != Operation::pi) return no_number;
  const double a = line.a < 0 ? 0 : numbers[static_cast<std::size_t>(line.a)];
  const double b = line.b < 0 ? a : numbers[static_cast<std::size_t>(line.b)];
  return apply_operation(line.operation, a, b);
}

/// Lines that hold parameters and constants alone have a value, the others NaN.
std::vector<double> numbers_of(const Dcs& system) {
  std::vector<double> numbers(static_cast<std::size_t>(system.tape.size()), no_number);
  for (int k = 0; k < system.tape.size(); ++k)
    numbers[static_cast<std::size_t>(k)] = number_of(system.tape[k], system, numbers);
  return numbers;
}

/// Has the operation values without derivatives where its first operand is 0? A power with a whole
/// exponent has all.
bool is_rough(const Instruction& line, const std::vector<double>& numbers) {
  if (line.operation == Operation::sqrt) return true;
  if (line.operation != Operation::power) return false;
  const double exponent = numbers[static_cast<std::size_t>(line.b)];
  return !(std::isfinite(exponent) && exponent == std::floor(exponent));
}

/// Writes lines with what follows from operands that are numbers, 0 above all: what it is multiplied
/// with is finite where the equations have a value.
class Writer {
 public:
  Tape tape;

  int apply(Operation operation, int a, int b) {
    if (has_zero_factor(operation, a, b)) return tape.constant(0);
    if (const int summand = only_summand(operation, a, b); summand >= 0) return summand;
    if (is_number(a) && (b < 0 || is_number(b))) {
      const double x = tape[a].value;
      return tape.constant(apply_operation(operation, x, b < 0 ? x : tape[b].value));
    }
    return tape.apply(operation, a, b);
  }
  /// The second operand or 1/2, see Operation::guard.
  int guard(int weight, int a) {
    if (!is_number(weight)) return tape.apply(Operation::guard, weight, a);
    return tape[weight].value == 0 ? tape.constant(Instruction::unweighted) : a;
  }
  [[nodiscard]] bool is_number(int line) const {
    return line >= 0 && tape[line].operation == Operation::constant;
  }
  [[nodiscard]] bool is_zero(int line) const { return is_number(line) && tape[line].value == 0; }

 private:
  /// Is it a product with a factor that is 0, or a quotient with such a numerator?
  [[nodiscard]] bool has_zero_factor(Operation operation, int a, int b) const {
    if (operation == Operation::multiply) return is_zero(a) || is_zero(b);
    return operation == Operation::divide && is_zero(a) && !is_zero(b);
  }
  /// What a sum or difference is where the other term is 0; -1: it has no such term.
  [[nodiscard]] int only_summand(Operation operation, int a, int b) const {
    const bool is_sum = operation == Operation::add;
    if ((is_sum || operation == Operation::subtract) && is_zero(b)) return a;
    return is_sum && is_zero(a) ? b : -1;
  }
};

/// The arguments of rough formulas, of the lines that F and G need.
std::vector<int> rough_arguments(const Dcs& system, const std::vector<double>& numbers) {
  std::vector<int> arguments, rows = system.F;
  rows.insert(rows.end(), system.G.begin(), system.G.end());
  const std::vector<bool> needed = needed_lines(system.tape, rows);
  for (int k = 0; k < system.tape.size(); ++k)
    if (needed[static_cast<std::size_t>(k)] && is_rough(system.tape[k], numbers))
      arguments.push_back(system.tape[k].a);
  return arguments;
}

/// Is this input one of the lines?
bool holds_input(const Tape& tape, const std::vector<char>& lines, int input) {
  for (int k = 0; k < tape.size(); ++k)
    if (lines[static_cast<std::size_t>(k)] && tape[k].operation == Operation::input && tape[k].a == input) return true;
  return false;
}

double middle(const Range& range) {
  if (std::isfinite(range.lower) && std::isfinite(range.upper))
    return range.lower + (range.upper - range.lower) / 2;
  return std::isfinite(range.lower) ? range.lower : std::isfinite(range.upper) ? range.upper : 0;
}

}  // namespace

BranchForms::BranchForms(const Dcs& system) : system_(system) {
  validate(system_);
  numbers_ = numbers_of(system_);
  const Tape& tape = system_.tape;
  const std::vector<bool> below = needed_lines(tape, rough_arguments(system_, numbers_));
  cone_.assign(below.begin(), below.end());

  // The w of a law that stands in an argument, or its λ; w of t and x alone.
  const std::vector<char> of_rates = dependent_lines(tape, 1, 1 + system_.n());
  const std::vector<char> of_lambda =
      dependent_lines(tape, system_.multiplier_input(0), system_.parameter_input(0));
  rough_.assign(static_cast<std::size_t>(system_.m()), 0);
  for (int i = 0; i < system_.m(); ++i) {
    const auto g = static_cast<std::size_t>(system_.G[static_cast<std::size_t>(i)]);
    if (of_rates[g] || of_lambda[g] || std::isfinite(numbers_[g])) continue;
    const bool stands = cone_[g] != 0 || holds_input(tape, cone_, system_.multiplier_input(i));
    rough_[static_cast<std::size_t>(i)] = stands;
    any_ = any_ || stands;
  }
}

/// The w that the branch or the given end holds; NaN: none.
double BranchForms::held(int law, const Mode& mode, const Ends& ends) const {
  const auto i = static_cast<std::size_t>(law);
  const Branch& branch = system_.laws[i].branches[static_cast<std::size_t>(mode[i])];
  if (is_vertical(branch)) return branch.c / branch.a;
  if (ends.empty() || ends[i] == open) return no_number;
  const Range range = w_range(branch);
  return ends[i] == range.lower || ends[i] == range.upper ? ends[i] : no_number;
}

BranchForms::Key BranchForms::key(const Mode& mode, const Ends& ends) const {
  Key key;
  for (int i = 0; i < system_.m(); ++i) {
    if (!rough_[static_cast<std::size_t>(i)]) continue;
    const double end = held(i, mode, ends);
    key.push_back(mode[static_cast<std::size_t>(i)]);
    key.push_back(std::isnan(end) ? open : end);
  }
  return key;
}

const BranchForms::Form& BranchForms::of(const Mode& mode, const Ends& ends) {
  Key now = key(mode, ends);
  const auto known = forms_.find(now);
  if (known != forms_.end()) return known->second;
  return forms_.emplace(std::move(now), make(mode, ends)).first->second;
}

bool BranchForms::is_held(int law, const Mode& mode, const Ends& ends) {
  const auto i = static_cast<std::size_t>(law);
  const Branch& branch = system_.laws[i].branches[static_cast<std::size_t>(mode[i])];
  if (!rough_[i] || is_vertical(branch) || std::isnan(held(law, mode, ends))) return false;
  Ends others = ends;
  others[i] = open;
  const Dcs &with = of(mode, ends).system, &without = of(mode, others).system;
  return !(with.tape == without.tape && with.F == without.F && with.G == without.G);
}

namespace {

/// Copies the lines of a system twice: inside the arguments of rough formulas, where w is held or λ is a line
/// of w, and outside of them, where nothing changes.
class FormWriter {
 public:
  /// `held`: of each law the w that its branch or a given end holds in arguments; NaN: none.
  FormWriter(const Dcs& system, const Mode& mode, const std::vector<char>& rough, const std::vector<double>& numbers,
             std::vector<double> held)
      : system_(system), mode_(mode), rough_(rough), numbers_(numbers), held_(std::move(held)),
        inside_(static_cast<std::size_t>(system.tape.size()), -1), outside_(inside_), law_of_line_(inside_) {
    for (int i = system_.m() - 1; i >= 0; --i)
      if (rough_[static_cast<std::size_t>(i)] && !std::isnan(held_[static_cast<std::size_t>(i)]))
        law_of_line_[static_cast<std::size_t>(system_.G[static_cast<std::size_t>(i)])] = i;
  }

  /// `cone`: the lines that arguments depend on.
  Dcs write(const std::vector<char>& cone) {
    // Arguments w of t and x alone stand before the multipliers that are functions of them.
    const std::vector<char> later =
        dependent_lines(system_.tape, system_.multiplier_input(0), system_.parameter_input(0));
    for (const bool second : {false, true})
      for (int k = 0; k < system_.tape.size(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        if ((later[at] != 0) != second) continue;
        if (cone[at]) inside_[at] = line_inside(k);
        outside_[at] = system_.tape[k].operation == Operation::input ? writer_.tape.input(system_.tape[k].a)
                                                                     : operation(k, outside_);
      }
    return renamed();
  }

 private:
  [[nodiscard]] const Branch& branch(int law) const {
    const auto i = static_cast<std::size_t>(law);
    return system_.laws[i].branches[static_cast<std::size_t>(mode_[i])];
  }

  /// λ of a law within an argument; its w has been written.
  int multiplier(int law) {
    const Branch& on = branch(law);
    Tape& tape = writer_.tape;
    if (on.a == 0) return tape.constant(on.c / on.b);
    const double end = held_[static_cast<std::size_t>(law)];
    if (!std::isnan(end)) return tape.constant((on.c - on.a * end) / on.b);
    const auto g = static_cast<std::size_t>(system_.G[static_cast<std::size_t>(law)]);
    int line = inside_[g] >= 0 ? inside_[g] : outside_[g];
    if (on.a != 1) line = writer_.apply(Operation::multiply, tape.constant(on.a), line);
    line = on.c == 0 ? writer_.apply(Operation::negate, line, -1)
                     : writer_.apply(Operation::subtract, tape.constant(on.c), line);
    return on.b == 1 ? line : writer_.apply(Operation::divide, line, tape.constant(on.b));
  }

  int line_inside(int k) {
    const int law = law_of_line_[static_cast<std::size_t>(k)];
    if (law >= 0) return writer_.tape.constant(held_[static_cast<std::size_t>(law)]);
    const Instruction& line = system_.tape[k];
    if (line.operation != Operation::input) return operation(k, inside_);
    const int i = line.a - system_.multiplier_input(0);
    const bool is_law = i >= 0 && i < system_.m();
    const bool is_line = is_law && rough_[static_cast<std::size_t>(i)] && !is_vertical(branch(i));
    return is_line ? multiplier(i) : writer_.tape.input(line.a);
  }

  /// Is it a power of 0 with an exponent that is positive, as a parameter may be? `a`: its base, written.
  [[nodiscard]] bool is_power_of_zero(const Instruction& line, int a) const {
    return line.operation == Operation::power && writer_.is_zero(a) && numbers_[static_cast<std::size_t>(line.b)] > 0;
  }

  /// A line that is no input, of operands that have been written.
  int operation(int k, const std::vector<int>& lines) {
    const Instruction& line = system_.tape[k];
    if (line.operation == Operation::constant) return writer_.tape.constant(line.value);
    if (line.a < 0) return writer_.tape.apply(line.operation);
    // Of formulas that resets alone need no argument has been written inside.
    const int inside = inside_[static_cast<std::size_t>(line.a)];
    const int a = is_rough(line, numbers_) && inside >= 0 ? inside : lines[static_cast<std::size_t>(line.a)];
    const int b = line.b < 0 ? -1 : lines[static_cast<std::size_t>(line.b)];
    if (is_power_of_zero(line, a)) return writer_.tape.constant(0);
    return line.operation == Operation::guard ? writer_.guard(a, b) : writer_.apply(line.operation, a, b);
  }

  /// The system on the lines that stand outside of arguments.
  Dcs renamed() {
    Dcs system = system_;
    system.tape = std::move(writer_.tape);
    const auto rename = [&](int& line) { line = outside_[static_cast<std::size_t>(line)]; };
    std::ranges::for_each(system.F, rename);
    std::ranges::for_each(system.G, rename);
    for (Reset& reset : system.resets) {
      rename(reset.condition);
      std::ranges::for_each(reset.values, rename);
    }
    return system;
  }

  const Dcs& system_;
  const Mode& mode_;
  const std::vector<char>& rough_;
  const std::vector<double>& numbers_;
  std::vector<double> held_;
  std::vector<int> inside_, outside_, law_of_line_;
  Writer writer_;
};

/// Does an equation or an argument of a law hold this multiplier?
bool holds_multiplier(const Dcs& system, int law) {
  const std::vector<char> of_it =
      dependent_lines(system.tape, system.multiplier_input(law), system.multiplier_input(law) + 1);
  const auto is_of_it = [&](int line) { return of_it[static_cast<std::size_t>(line)] != 0; };
  return std::ranges::any_of(system.F, is_of_it) || std::ranges::any_of(system.G, is_of_it);
}

}  // namespace

BranchForms::Form BranchForms::make(const Mode& mode, const Ends& ends) const {
  std::vector<double> all_held;
  for (int i = 0; i < system_.m(); ++i) all_held.push_back(held(i, mode, ends));
  Form form{FormWriter(system_, mode, rough_, numbers_, std::move(all_held)).write(cone_),
            std::vector<char>(system_.laws.size(), 0)};
  for (int i = 0; i < system_.m(); ++i) {
    const auto law = static_cast<std::size_t>(i);
    const Branch branch = form.system.laws[law].branches[static_cast<std::size_t>(mode[law])];
    if (!rough_[law] || !is_vertical(branch) || holds_multiplier(form.system, i)) continue;
    form.inert[law] = 1;
    const double end = branch.c / branch.a;
    form.system.laws.changed(law).branches.changed(static_cast<std::size_t>(mode[law])) = {
        0, 1, middle(branch.lambda), {end, end}, branch.lambda, branch.name};
  }
  return form;
}

}  // namespace perp
