// Parts of sums that would take the digits of others, as multipliers: called at the end of `lower`.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/dependent_lines.hpp>
#include <perp/core/expression/rewriting/moved_inputs.hpp>
#include <perp/core/laws/separated_term.hpp>
#include <perp/core/system/sparse_lcs.hpp>
#include <perp/models/language/lowering/separated_terms.hpp>

namespace perp::lowering {
namespace {

using perp::at;

/// Of a coefficient, lost beside a larger one: half of its digits are known then.
constexpr double most_lost = 0x1p-26;
/// Of one row: sums that share parts with each other all the way down have 2^depth of them, and are left as they are.
constexpr std::size_t most_summands = 65536;
constexpr int none = -1;

/// What is asked of two coefficients that are added.
enum class Measure {
  size,  ///< is one so much smaller that elimination loses it?
  sum    ///< does their sum lose it?
};

/// The lines of sums of a system, as they are spread into summands.
class Sums {
 public:
  explicit Sums(const Dcs& system)
      : tape_(system.tape), varies_(dependent_lines(tape_, 0, system.parameter_input(0))), values_(at(tape_.size())) {
    std::vector<double> inputs(at(system.parameter_input(0)), 0.0);
    inputs.insert(inputs.end(), system.parameters.begin(), system.parameters.end());
    tape_.evaluate(std::span<const double>(inputs), std::span(values_));
  }

  /// Depends it on unknowns or time?
  [[nodiscard]] bool varies(int line) const { return varies_[at(line)] != 0; }
  [[nodiscard]] double value(int line) const { return values_[at(line)]; }
  [[nodiscard]] bool is_sum(int line) const {
    const Operation of = tape_[line].operation;
    return of == Operation::add || of == Operation::subtract || of == Operation::negate;
  }
  /// The operand that varies of a product with a constant, or of a quotient by one; none: it is another line.
  [[nodiscard]] int scaled_part(int line) const {
    const Instruction& here = tape_[line];
    if (here.operation == Operation::multiply && varies(here.a) != varies(here.b)) return varies(here.a) ? here.a : here.b;
    return here.operation == Operation::divide && !varies(here.b) ? here.a : none;
  }
  /// The constant that it is multiplied by then.
  [[nodiscard]] double scale(int line) const {
    const Instruction& here = tape_[line];
    if (here.operation == Operation::divide) return 1 / value(here.b);
    return varies(here.a) ? value(here.b) : value(here.a);
  }
  [[nodiscard]] const Tape& tape() const { return tape_; }

 private:
  const Tape& tape_;
  std::vector<char> varies_;
  std::vector<double> values_;
};

/// Finds the lines that become multipliers.
class Separation {
 public:
  Separation(const Dcs& system, const Sums& sums) : system_(system), sums_(sums) {}

  /// In the order in which they are found.
  const std::vector<int>& lines(Measure measure) {
    measure_ = measure;
    for (const std::vector<int>* rows : {&system_.F, &system_.G})
      for (const int row : *rows) separate(row);
    for (std::size_t k = 0; k < lines_.size(); ++k) separate(lines_[k]);
    return lines_;
  }

 private:
  /// A line of a sum with its factor; `outer`: number of the part that it was reached through, none: it is the row.
  struct Part {
    int line, outer;
    double factor;
  };
  /// coefficient · what the line `of` stands for, 1 where that is none.
  struct Summand {
    int of, part;
    double coefficient;
  };

  /// The summands of a row, what is separated already being one.
  void spread(int row) {
    parts_.assign(1, {row, none, 1});
    summands_.clear();
    for (std::size_t k = 0; k < parts_.size() && parts_.size() <= most_summands; ++k) {
      const Part part = parts_[k];
      const auto number = static_cast<int>(k);
      if (k > 0 && is_separated(part.line))
        summands_.push_back({part.line, number, part.factor});
      else if (!sums_.varies(part.line))
        summands_.push_back({none, number, part.factor * sums_.value(part.line)});
      else if (!open(number))
        summands_.push_back({part.line, number, part.factor});
    }
  }

  /// The parts of one that varies. False: it has none.
  bool open(int number) {
    const Part part = parts_[at(number)];
    const Instruction& here = sums_.tape()[part.line];
    const auto add = [&](int line, double factor) { parts_.push_back({line, number, part.factor * factor}); };
    const int inner = sums_.scaled_part(part.line);
    if (inner != none) {
      add(inner, sums_.scale(part.line));
    } else if (sums_.is_sum(part.line)) {
      add(here.a, here.operation == Operation::negate ? -1 : 1);
      if (here.b >= 0) add(here.b, here.operation == Operation::subtract ? -1 : 1);
    } else {
      return false;
    }
    return true;
  }

  /// Separates parts of a row until no coefficient takes the digits of another one.
  void separate(int row) {
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      spread(row);
      if (parts_.size() > most_summands) return;
      std::ranges::stable_sort(summands_, {}, &Summand::of);
      for (std::size_t from = 0, to = 0; from < summands_.size() && !is_changed; from = to) {
        while (to < summands_.size() && summands_[to].of == summands_[from].of) ++to;
        is_changed = separate_one(std::span(summands_).subspan(from, to - from));
      }
    }
  }

  /// Of the summands of one unknown. False: there is nothing to separate.
  bool separate_one(std::span<const Summand> summands) {
    const auto size = [](const Summand& each) { return std::abs(each.coefficient); };
    const Summand& large = *std::ranges::max_element(summands, {}, size);
    for (const Summand& small : summands) {
      if (!is_lost(small.coefficient, large.coefficient)) continue;
      const int line = line_to_separate(large, small);
      if (line == none) continue;
      lines_.push_back(line);
      separated_.insert(line);
      return true;
    }
    return false;
  }

  [[nodiscard]] bool is_lost(double small, double large) const {
    if (small == 0 || !std::isfinite(large)) return false;
    if (measure_ == Measure::size) return std::abs(small) < most_lost * std::abs(large);
    const double sum = large + small, lost = small - (sum - large);
    return std::abs(lost) > most_lost * std::abs(small);
  }

  /// The outermost sum behind a constant factor around the one but not the other, else a product in one of them.
  [[nodiscard]] int line_to_separate(const Summand& large, const Summand& small) const {
    const std::vector<int> of_large = around(large), of_small = around(small);
    const auto choose = [this](const std::vector<int>& list, const std::vector<int>& other, bool is_sum) {
      for (const int line : list)
        if (sums_.is_sum(line) == is_sum && std::ranges::find(other, line) == other.end()) return line;
      return none;
    };
    for (const bool is_sum : {true, false}) {
      if (const int line = choose(of_large, of_small, is_sum); line != none) return line;
      if (const int line = choose(of_small, of_large, is_sum); line != none) return line;
    }
    return none;
  }

  /// The lines that can stand for a part around a summand, from without: sums behind a constant factor, products with one,
  /// and a constant itself.
  [[nodiscard]] std::vector<int> around(const Summand& summand) const {
    std::vector<int> list;
    for (int k = summand.part; parts_[at(k)].outer != none; k = parts_[at(k)].outer) {
      const int line = parts_[at(k)].line, outer = parts_[at(parts_[at(k)].outer)].line;
      if (is_separated(line)) continue;
      const bool is_behind_factor = sums_.is_sum(line) && sums_.scaled_part(outer) != none;
      if (is_behind_factor || sums_.scaled_part(line) != none || !sums_.varies(line)) list.push_back(line);
    }
    std::ranges::reverse(list);
    return list;
  }

  [[nodiscard]] bool is_separated(int line) const { return separated_.contains(line); }

  const Dcs& system_;
  const Sums& sums_;
  Measure measure_ = Measure::size;
  std::vector<int> lines_;
  std::set<int> separated_;
  std::vector<Part> parts_;
  std::vector<Summand> summands_;
};

/// The lines of a system with multipliers, inputs of its tape, in place of what is separated where that is a part of a sum.
/// In other places, as in a product of unknowns, it stays what it is.
struct Written {
  Tape tape;
  std::vector<int> opened;  ///< of each line: with those in its parts alone
  std::vector<int> whole;   ///< with its own, too
};

Written written(const Dcs& system, const std::vector<int>& separated) {
  const Sums sums(system);
  std::map<int, int> multiplier;
  const int first = system.multiplier_input(system.m() - static_cast<int>(separated.size()));
  for (std::size_t k = 0; k < separated.size(); ++k) multiplier[separated[k]] = first + static_cast<int>(k);
  Written lines{system.tape, {}, {}};
  const auto whole = [&](int line) { return line < 0 ? none : lines.whole[at(line)]; };
  for (int line = 0; line < system.tape.size(); ++line) {
    const Instruction here = system.tape[line];
    const int inner = sums.scaled_part(line);
    int opened = line;
    if (sums.varies(line) && sums.is_sum(line))
      opened = lines.tape.apply(here.operation, whole(here.a), whole(here.b));
    else if (inner != none)
      opened = lines.tape.apply(here.operation, here.a == inner ? whole(inner) : here.a, here.b == inner ? whole(inner) : here.b);
    lines.opened.push_back(opened);
    const auto own = multiplier.find(line);
    lines.whole.push_back(own == multiplier.end() ? opened : lines.tape.input(own->second));
  }
  return lines;
}

/// Laws for what is separated, with parameters behind their multipliers. Renames the lines.
void make_room(Dcs& system, std::vector<int>& separated, std::vector<int>& others) {
  const int parameters = system.parameter_input(0), added = static_cast<int>(separated.size());
  std::vector<int> lines;
  const std::vector<std::vector<int>*> lists{&system.F, &system.G, &separated, &others};
  for (const std::vector<int>* list : lists) lines.insert(lines.end(), list->begin(), list->end());
  system.tape = with_moved_inputs(system.tape, [=](int input) { return input < parameters ? input : input + added; }, lines);
  auto next = lines.begin();
  for (std::vector<int>* list : lists)
    for (int& line : *list) line = *next++;
  for (int k = 0; k < added; ++k) system.laws.push_back(separated_term());
}

}  // namespace

void separate_terms(Dcs& system, std::vector<int>& others) {
  std::vector<int> separated;
  {
    const Sums sums(system);
    separated = Separation(system, sums).lines(Measure::size);
    if (!separated.empty() && as_sparse_lcs(system)) separated = Separation(system, sums).lines(Measure::sum);
  }
  if (separated.empty()) return;
  make_room(system, separated, others);
  Written lines = written(system, separated);
  system.tape = std::move(lines.tape);
  for (std::vector<int>* rows : {&system.F, &system.G})
    for (int& row : *rows) row = lines.opened[at(row)];
  for (const int line : separated) system.G.push_back(lines.opened[at(line)]);
  system.tape.settle();
}

}  // namespace perp::lowering
