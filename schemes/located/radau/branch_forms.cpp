#include <algorithm>
#include <cmath>

#include <perp/schemes/located/radau/branch_forms.hpp>

namespace perp {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// Lines that hold parameters and constants alone have a value, the others NaN.
std::vector<double> numbers_of(const Dcs& system) {
  std::vector<double> numbers(static_cast<std::size_t>(system.tape.size()), no_number);
  for (int k = 0; k < system.tape.size(); ++k) {
    const Instruction& line = system.tape[k];
    double& number = numbers[static_cast<std::size_t>(k)];
    if (line.operation == Operation::constant) {
      number = line.value;
    } else if (line.operation == Operation::input) {
      const int p = line.a - system.parameter_input(0);
      if (p >= 0) number = system.parameters[static_cast<std::size_t>(p)];
    } else if (line.a >= 0 || line.operation == Operation::pi) {
      const double a = line.a < 0 ? 0 : numbers[static_cast<std::size_t>(line.a)];
      const double b = line.b < 0 ? a : numbers[static_cast<std::size_t>(line.b)];
      number = apply_operation(line.operation, a, b);
    }
  }
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

/// For every line: does it depend on an input of these?
std::vector<char> depends(const Tape& tape, int first, int behind) {
  std::vector<char> result(static_cast<std::size_t>(tape.size()), 0);
  for (int k = 0; k < tape.size(); ++k) {
    const Instruction& line = tape[k];
    char& mark = result[static_cast<std::size_t>(k)];
    if (line.operation == Operation::input) {
      mark = line.a >= first && line.a < behind;
    } else {
      for (const int operand : {line.a, line.b})
        if (operand >= 0 && result[static_cast<std::size_t>(operand)]) mark = 1;
    }
  }
  return result;
}

/// Writes lines with what follows from operands that are numbers, 0 above all: what it is multiplied
/// with is finite where the equations have a value.
class Writer {
 public:
  Tape tape;

  int apply(Operation operation, int a, int b) {
    const bool zero_a = is_number(a) && tape[a].value == 0;
    const bool zero_b = b >= 0 && is_number(b) && tape[b].value == 0;
    if (operation == Operation::multiply && (zero_a || zero_b)) return tape.constant(0);
    if (operation == Operation::divide && zero_a && !zero_b) return tape.constant(0);
    if ((operation == Operation::add && zero_b) || (operation == Operation::subtract && zero_b))
      return a;
    if (operation == Operation::add && zero_a) return b;
    if (a >= 0 && is_number(a) && (b < 0 || is_number(b))) {
      const double x = tape[a].value;
      return tape.constant(apply_operation(operation, x, b < 0 ? x : tape[b].value));
    }
    return tape.apply(operation, a, b);
  }
  [[nodiscard]] bool is_number(int line) const {
    return line >= 0 && tape[line].operation == Operation::constant;
  }
};

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
  std::vector<int> arguments, rows = system_.F;
  rows.insert(rows.end(), system_.G.begin(), system_.G.end());
  const std::vector<bool> needed = needed_lines(tape, rows);
  for (int k = 0; k < tape.size(); ++k)
    if (needed[static_cast<std::size_t>(k)] && is_rough(tape[k], numbers_))
      arguments.push_back(tape[k].a);
  const std::vector<bool> below = needed_lines(tape, arguments);
  cone_.assign(below.begin(), below.end());

  // The w of a law that stands in an argument, or its λ; w of t and x alone.
  const std::vector<char> of_rates = depends(tape, 1, 1 + system_.n());
  const std::vector<char> of_lambda =
      depends(tape, system_.multiplier_input(0), system_.parameter_input(0));
  rough_.assign(static_cast<std::size_t>(system_.m()), 0);
  for (int i = 0; i < system_.m(); ++i) {
    const auto g = static_cast<std::size_t>(system_.G[static_cast<std::size_t>(i)]);
    if (of_rates[g] || of_lambda[g] || std::isfinite(numbers_[g])) continue;
    bool stands = cone_[g] != 0;
    for (int k = 0; k < tape.size() && !stands; ++k)
      stands = cone_[static_cast<std::size_t>(k)] && tape[k].operation == Operation::input &&
               tape[k].a == system_.multiplier_input(i);
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

BranchForms::Form BranchForms::make(const Mode& mode, const Ends& ends) const {
  const Tape& tape = system_.tape;
  const auto count = static_cast<std::size_t>(tape.size());
  Writer writer;
  std::vector<int> outside(count, -1), inside(count, -1);
  std::vector<int> law_of_line(count, -1);
  for (int i = system_.m() - 1; i >= 0; --i)
    if (rough_[static_cast<std::size_t>(i)] && !std::isnan(held(i, mode, ends)))
      law_of_line[static_cast<std::size_t>(system_.G[static_cast<std::size_t>(i)])] = i;

  // λ of a law within an argument; its w has been written.
  const auto multiplier = [&](int i) {
    const auto law = static_cast<std::size_t>(i);
    const Branch& branch = system_.laws[law].branches[static_cast<std::size_t>(mode[law])];
    if (branch.a == 0) return writer.tape.constant(branch.c / branch.b);
    const double end = held(i, mode, ends);
    if (!std::isnan(end)) return writer.tape.constant((branch.c - branch.a * end) / branch.b);
    const int w = inside[static_cast<std::size_t>(system_.G[law])] >= 0
                      ? inside[static_cast<std::size_t>(system_.G[law])]
                      : outside[static_cast<std::size_t>(system_.G[law])];
    int line = w;
    if (branch.a != 1)
      line = writer.apply(Operation::multiply, writer.tape.constant(branch.a), w);
    line = branch.c == 0 ? writer.apply(Operation::negate, line, -1)
                         : writer.apply(Operation::subtract, writer.tape.constant(branch.c), line);
    return branch.b == 1
               ? line
               : writer.apply(Operation::divide, line, writer.tape.constant(branch.b));
  };
  const auto write = [&](int k, bool is_inside) {
    const Instruction& line = tape[k];
    const auto at = static_cast<std::size_t>(k);
    std::vector<int>& lines = is_inside ? inside : outside;
    if (is_inside && law_of_line[at] >= 0)
      return writer.tape.constant(held(law_of_line[at], mode, ends));
    if (line.operation == Operation::constant) return writer.tape.constant(line.value);
    if (line.operation == Operation::input) {
      const int i = line.a - system_.multiplier_input(0);
      const bool is_rough_law =
          i >= 0 && i < system_.m() && rough_[static_cast<std::size_t>(i)] &&
          !is_vertical(system_.laws[static_cast<std::size_t>(i)]
                           .branches[static_cast<std::size_t>(mode[static_cast<std::size_t>(i)])]);
      return is_inside && is_rough_law ? multiplier(i) : writer.tape.input(line.a);
    }
    if (line.a < 0) return writer.tape.apply(line.operation);
    const int a = is_rough(line, numbers_) ? inside[static_cast<std::size_t>(line.a)]
                                           : lines[static_cast<std::size_t>(line.a)];
    const int b = line.b < 0 ? -1 : lines[static_cast<std::size_t>(line.b)];
    // A power of 0 with an exponent that is a parameter is a number too.
    if (line.operation == Operation::power && writer.is_number(a) && writer.tape[a].value == 0 &&
        numbers_[static_cast<std::size_t>(line.b)] > 0)
      return writer.tape.constant(0);
    return writer.apply(line.operation, a, b);
  };
  // Arguments w of t and x alone stand before the multipliers that are functions of them.
  const std::vector<char> later =
      depends(tape, system_.multiplier_input(0), system_.parameter_input(0));
  for (const bool second : {false, true})
    for (int k = 0; k < tape.size(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      if ((later[at] != 0) != second) continue;
      if (cone_[at]) inside[at] = write(k, true);
      outside[at] = write(k, false);
    }

  Form form{system_, std::vector<char>(system_.laws.size(), 0)};
  form.system.tape = std::move(writer.tape);
  const auto rename = [&](int& line) { line = outside[static_cast<std::size_t>(line)]; };
  for (int& line : form.system.F) rename(line);
  for (int& line : form.system.G) rename(line);
  for (Reset& reset : form.system.resets) {
    rename(reset.condition);
    for (int& line : reset.values) rename(line);
  }
  for (int i = 0; i < system_.m(); ++i) {
    const auto law = static_cast<std::size_t>(i);
    Branch& branch = form.system.laws[law].branches[static_cast<std::size_t>(mode[law])];
    if (!rough_[law] || !is_vertical(branch)) continue;
    std::vector<int> rows = form.system.F;
    rows.insert(rows.end(), form.system.G.begin(), form.system.G.end());
    const std::vector<char> of_it = depends(form.system.tape, form.system.multiplier_input(i),
                                            form.system.multiplier_input(i) + 1);
    if (std::any_of(rows.begin(), rows.end(),
                    [&](int line) { return of_it[static_cast<std::size_t>(line)] != 0; }))
      continue;
    form.inert[law] = 1;
    const double end = branch.c / branch.a;
    branch = {0, 1, middle(branch.lambda), {end, end}, branch.lambda, branch.name};
  }
  return form;
}

}  // namespace perp
