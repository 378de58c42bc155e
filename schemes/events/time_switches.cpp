#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/branches.hpp>
#include <perp/schemes/events/law_formula.hpp>
#include <perp/schemes/events/time_switches.hpp>

namespace perp {
namespace {

bool is_counted(Operation operation, TimeSwitches::Of which) {
  if (operation == Operation::sign) return true;
  const bool has_kink = operation == Operation::abs || operation == Operation::min || operation == Operation::max;
  return has_kink && which == TimeSwitches::Of::kinks;
}

/// Does something switch where the argument of the law passes this end of a branch?
bool end_counts(const Law& law, double end, TimeSwitches::Of which) {
  return std::isfinite(end) && (which != TimeSwitches::Of::jumps || law_jumps_at(law, end));
}

/// Of t or a parameter, whose number is put in its place; -1: of another input.
int copy_of_input(const Dcs& system, int input, Tape& tape) {
  const int parameter = input - system.parameter_input(0);
  if (parameter >= 0) return tape.constant(system.parameters[static_cast<std::size_t>(parameter)]);
  return input == Dcs::time_input() ? tape.input(0) : -1;
}

/// What is no formula is constant to the search.
Signal formulas_of(const Signal& signal) {
  return signal.is_constant() || signal.tape() != nullptr ? signal : Signal(signal.constant());
}

Dcs with_formulas(SparseLcs lcs) {
  lcs.b = formulas_of(lcs.b);
  lcs.q = formulas_of(lcs.q);
  return as_dcs(lcs);
}

/// Does no formula of the signal hold an operation with a kink or a jump, or data?
bool is_smooth(const Signal& signal) {
  if (signal.is_constant() || signal.tape() == nullptr) return true;
  const Tape& tape = *signal.tape();
  for (int k = 0; k < tape.size(); ++k)
    if (tape[k].operation == Operation::table || is_counted(tape[k].operation, TimeSwitches::Of::kinks)) return false;
  return true;
}

/// Are b and q smooth, and does every law read a variable?
bool has_no_switches(const SparseLcs& lcs) {
  if (!is_smooth(lcs.b) || !is_smooth(lcs.q)) return false;
  for (int i = 0; i < lcs.m(); ++i)
    if (std::ranges::none_of(lcs.C.row(i), [](const auto& entry) { return entry.value != 0; })) return false;
  return true;
}

}  // namespace

TimeSwitches::TimeSwitches(const SparseLcs& lcs) : which_(Of::jumps), laws_(lcs.laws.size(), 0) {
  if (!has_no_switches(lcs)) *this = TimeSwitches(with_formulas(lcs), Of::jumps);
}

TimeSwitches::TimeSwitches(const Dcs& system, Of which) : which_(which) {
  const std::vector<int> lines = copy_functions_of_time(system);
  add_tables();
  add_laws(system, lines, which);
  std::sort(arguments_.begin(), arguments_.end());
  arguments_.erase(std::unique(arguments_.begin(), arguments_.end()), arguments_.end());
  if (which == Of::jumps)
    if (std::vector<int> kinks = inner_kinks(); !kinks.empty()) kinks_ = {tape_, std::move(kinks)};
  zeros_ = {std::move(tape_), std::move(arguments_)};
}

/// The lines at whose zeros the arguments have kinks, inner ones first.
std::vector<int> TimeSwitches::inner_kinks() {
  std::vector<int> kinks;
  const std::vector<bool> needed = needed_lines(tape_, arguments_);
  for (int k = 0, count = tape_.size(); k < count; ++k) {
    const Instruction line = tape_[k];
    if (!needed[static_cast<std::size_t>(k)] || !is_counted(line.operation, Of::kinks) || line.operation == Operation::sign) continue;
    kinks.push_back(line.b < 0 ? line.a : tape_.apply(Operation::subtract, line.a, line.b));
  }
  return kinks;
}

/// No search passes a kink of an argument: a series from before it holds no longer behind.
std::optional<TimeSwitches::Switch> TimeSwitches::next_of_formulas(double t, double end) {
  for (;;) {
    const auto kink = kinks_.count() == 0 ? std::nullopt : kinks_.next(t, end);
    if (const auto zero = zeros_.next(t, kink ? kink->after : end); zero || !kink) return zero;
    if (zeros_.changes_between(kink->before, kink->after)) return kink;
    t = kink->after;
  }
}

/// Copies the lines of t, parameters and constants alone to a tape of their own, and those of multipliers whose laws have
/// such an argument; the new line of each, -1: none. A kink that moves with a parameter is left to the control of the error.
std::vector<int> TimeSwitches::copy_functions_of_time(const Dcs& system) {
  const auto size = static_cast<std::size_t>(system.tape.size());
  Copies copies{std::vector<int>(size, -1), std::vector<char>(size, 0)};
  std::size_t before = 0;  // a multiplier may be read before the argument of its law is made
  for (std::size_t known = 1; known > before;) {
    before = known;
    for (int k = 0; k < system.tape.size(); ++k)
      if (copies.of(k) < 0) copy_line(system, k, copies);
    known = 1 + static_cast<std::size_t>(std::ranges::count_if(copies.line, [](int line) { return line >= 0; }));
  }
  return copies.line;
}

void TimeSwitches::copy_line(const Dcs& system, int k, Copies& copies) {
  const Instruction& line = system.tape[k];
  const auto at = static_cast<std::size_t>(k);
  if (line.operation == Operation::constant) {
    copies.line[at] = tape_.constant(line.value);
  } else if (line.operation != Operation::input) {
    copy_operation(line, at, copies);
  } else if (const int law = line.a - system.multiplier_input(0); law >= 0 && law < system.m()) {
    const int argument = system.G[static_cast<std::size_t>(law)];
    if (copies.lacks(argument)) return;
    copies.line[at] = append_multiplier(system.laws[static_cast<std::size_t>(law)], copies.of(argument), tape_).value_or(-1);
    copies.moves[at] = copies.moves_with(argument);
  } else {
    copies.line[at] = copy_of_input(system, line.a, tape_);
    copies.moves[at] = line.a >= system.parameter_input(0);
  }
}

/// Copies a line where its operands have copies, and notes the argument whose change of sign counts.
void TimeSwitches::copy_operation(const Instruction& line, std::size_t at, Copies& copies) {
  if (copies.lacks(line.a) || copies.lacks(line.b)) return;
  const int a = copies.of(line.a), b = copies.of(line.b);
  copies.line[at] = tape_.apply(line.operation, a, b);
  copies.moves[at] = copies.moves_with(line.a) || copies.moves_with(line.b);
  if (is_counted(line.operation, which_) && copies.moves[at] == 0)
    arguments_.push_back(b < 0 ? a : tape_.apply(Operation::subtract, a, b));
}

/// Data of t itself.
void TimeSwitches::add_tables() {
  for (int k = 0; k < tape_.size(); ++k) {
    if (tape_[k].operation != Operation::table) continue;
    if (tape_[tape_[k].a].operation != Operation::input) continue;
    const DataTable& table = DataTable::of(tape_[tape_[k].b].value);
    const bool switches =
        !table.jumps().empty() || (which_ == Of::kinks && !table.kinks().empty());
    if (switches && std::find(tables_.begin(), tables_.end(), &table) == tables_.end())
      tables_.push_back(&table);
  }
}

std::optional<TimeSwitches::Switch> TimeSwitches::next(double t, double end) {
  double moment = end;
  const auto look_at = [&](const std::vector<double>& times) {
    const auto first = std::upper_bound(times.begin(), times.end(), t);
    if (first != times.end()) moment = std::min(moment, *first);
  };
  for (const DataTable* table : tables_) {
    look_at(table->jumps());
    if (which_ == Of::kinks) look_at(table->kinks());
  }
  // Zeros of formulas are looked for up to there only.
  const auto zero = zeros_.count() == 0 ? std::nullopt : next_of_formulas(t, moment);
  if (zero || !(moment < end)) return zero;
  return Switch{std::max(t, std::nextafter(moment, t)), moment};
}

bool TimeSwitches::is_of_data(double t) const {
  for (const DataTable* table : tables_)
    for (const std::vector<double>* times : {&table->jumps(), &table->kinks()})
      if (std::binary_search(times->begin(), times->end(), t)) return true;
  return false;
}

double TimeSwitches::decided_before(const Switch& at, double since) {
  return is_of_data(at.after) ? at.before : zeros_.decided_before(at, since);
}

std::vector<std::string> TimeSwitches::jumps_at(double t) const {
  std::vector<std::string> list;
  for (const DataTable* table : tables_) {
    if (!std::binary_search(table->jumps().begin(), table->jumps().end(), t)) continue;
    const auto k = static_cast<std::size_t>(
        std::lower_bound(table->times().begin(), table->times().end(), t) - table->times().begin());
    list.push_back(
        fmt::format("{}: {:g} -> {:g}", table->name(), table->values()[k - 1], table->values()[k]));
  }
  return list;
}

/// Laws whose argument is a function of t: it leaves a branch where it passes an end of it.
void TimeSwitches::add_laws(const Dcs& system, const std::vector<int>& lines, Of which) {
  laws_.assign(system.laws.size(), 0);
  for (std::size_t i = 0; i < system.laws.size(); ++i) {
    const int line = lines[static_cast<std::size_t>(system.G[i])];
    if (line < 0 || tape_[line].operation == Operation::constant) continue;
    for (const Branch& branch : system.laws[i].branches) {
      const Range range = w_range(branch);
      for (const double end : {range.lower, range.upper}) {
        if (!end_counts(system.laws[i], end, which)) continue;
        laws_[i] = 1;
        arguments_.push_back(end == 0 ? line : tape_.apply(Operation::subtract, line, tape_.constant(end)));
      }
    }
  }
}

}  // namespace perp
