#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/lanes/row_program.hpp>

namespace perp {
namespace {

constexpr long worthwhile_rows = 16;  ///< of one instruction, in the mean
constexpr int most_shared = 64;       ///< one in so many lines may be computed twice

using Lanes = LaneProgram::Lanes;

class RowProgramMaker {
 public:
  RowProgramMaker(const Tape& tape, std::span<const int> outputs, std::size_t split,
                  const std::vector<char>& is_known)
      : tape_(tape),
        outputs_(outputs),
        split_(split),
        is_known_(is_known),
        place_(at(tape.size()), -1),
        is_met_(at(tape.size()), 0) {}

  std::optional<LaneProgram> operator()() {
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      if (is_known_[at(outputs_[k])] != 0)
        program_.known_outputs.push_back({static_cast<int>(k), outputs_[k]});
      else if (!add_row(static_cast<int>(k)))
        return std::nullopt;
    }
    if (!is_worthwhile()) return std::nullopt;
    copy_known_outputs();
    for (Form& form : forms_) {
      find_registers(form);
      for (std::size_t from = 0; from < form.outputs.size(); from += at(most_lanes)) emit(form, from);
    }
    place_registers();
    return std::move(program_);
  }

 private:
  /// Of its lines, in their order: those with operands as such on earlier ones.
  struct Form {
    std::vector<Instruction> lines{};  ///< operands are places among them; constant: known, input: one
    std::vector<int> outputs{};
    std::vector<int> lines_of_outputs{};  ///< as many for each output
    std::vector<int> registers{};         ///< of each line, -1: none
    long computed = 0;                    ///< lines
  };

  [[nodiscard]] bool is_leaf(int line) const {
    return is_known_[at(line)] != 0 || tape_[line].operation == Operation::input;
  }

  /// False: the lines that several outputs need are too many.
  bool add_row(int output) {
    const bool is_second = at(output) >= split_;
    if (!is_like_last(outputs_[at(output)], is_second)) {
      find_lines(outputs_[at(output)]);
      describe(is_second);
      find_form();
    }
    Form& form = forms_[last_->second];
    form.outputs.push_back(output);
    form.lines_of_outputs.insert(form.lines_of_outputs.end(), lines_.begin(), lines_.end());
    for (const int line : lines_) {
      place_[at(line)] = -1;
      if (std::exchange(is_met_[at(line)], 1) == 0 && !is_leaf(line)) ++different_;
    }
    computed_ += form.computed;
    return most_shared * (computed_ - different_) <= computed_ + 64;
  }

  /// Those below a line and itself, each behind its operands, in an order that follows from their form alone.
  void find_lines(int root) {
    lines_.clear();
    open_.assign(1, root);
    while (!open_.empty()) {
      const int line = open_.back();
      const bool is_ready = place_[at(line)] >= 0 || !open_operands(line);
      if (!is_ready) continue;
      open_.pop_back();
      if (place_[at(line)] >= 0) continue;
      place_[at(line)] = static_cast<int>(lines_.size());
      lines_.push_back(line);
    }
  }

  /// Most outputs are of the form of the one before: then their lines are found without a search.
  bool is_like_last(int root, bool is_second) {
    if (last_ == number_of_.end() || (last_->first.front() != 0) != is_second) return false;
    const Form& form = forms_[last_->second];
    lines_.assign(form.lines.size(), -1);
    lines_.back() = root;
    std::size_t k = lines_.size();
    while (k > 0 && is_like(form, k - 1)) --k;
    if (k == 0) return true;
    for (const int line : lines_)
      if (line >= 0) place_[at(line)] = -1;
    return false;
  }

  /// Is line k, which has one place alone, like that of the form? Then its operands are known, too.
  bool is_like(const Form& form, std::size_t k) {
    const int line = lines_[k];
    if (std::exchange(place_[at(line)], static_cast<int>(k)) >= 0) return false;
    const Instruction &like = form.lines[k], &here = tape_[line];
    if (is_known_[at(line)] != 0) return like.operation == Operation::constant;
    if (here.operation != like.operation) return false;
    return here.operation == Operation::input || (takes(like.a, here.a) && takes(like.b, here.b));
  }
  bool takes(int place, int operand) {
    if (place < 0 || operand < 0) return place == operand;
    int& line = lines_[at(place)];
    if (line < 0) line = operand;
    return line == operand;
  }

  /// Is there an operand that has no place yet?
  bool open_operands(int line) {
    if (is_leaf(line)) return false;
    const std::size_t before = open_.size();
    for (const int operand : {tape_[line].b, tape_[line].a})
      if (operand >= 0 && place_[at(operand)] < 0) open_.push_back(operand);
    return open_.size() > before;
  }

  /// The form of these lines in numbers.
  void describe(bool is_second) {
    key_.clear();
    key_.push_back(is_second ? 1 : 0);
    const auto place_of = [&](int line) { return line < 0 ? -1 : place_[at(line)]; };
    for (const int line : lines_) {
      const Instruction& here = tape_[line];
      if (is_known_[at(line)] != 0)
        key_.push_back(static_cast<int>(Operation::constant));
      else if (here.operation == Operation::input)
        key_.push_back(static_cast<int>(Operation::input));
      else
        for (const int part : {static_cast<int>(here.operation), place_of(here.a), place_of(here.b)}) key_.push_back(part);
    }
  }

  /// That of the description becomes the last one.
  void find_form() {
    bool is_new = false;
    std::tie(last_, is_new) = number_of_.try_emplace(key_, forms_.size());
    if (!is_new) return;
    Form& form = forms_.emplace_back();
    for (const int line : lines_) {
      const Instruction& here = tape_[line];
      const auto place_of = [&](int operand) { return operand < 0 ? -1 : place_[at(operand)]; };
      if (is_known_[at(line)] != 0)
        form.lines.push_back({Operation::constant, -1, -1, 0});
      else if (here.operation == Operation::input)
        form.lines.push_back({Operation::input, -1, -1, 0});
      else
        form.lines.push_back({here.operation, place_of(here.a), place_of(here.b), 0});
      form.computed += is_leaf(line) ? 0 : 1;
    }
  }

  [[nodiscard]] bool is_worthwhile() const {
    long pieces = 0;
    for (const Form& form : forms_)
      pieces += form.computed * static_cast<long>((form.outputs.size() + at(most_lanes) - 1) / at(most_lanes));
    return computed_ > 0 && computed_ >= worthwhile_rows * pieces;
  }

  /// Before anything is stored.
  void copy_known_outputs() {
    for (std::size_t k = 0; k < program_.known_outputs.size();) {
      const auto place = [&](std::size_t m) { return at(program_.known_outputs[m].output); };
      const bool is_second = place(k) >= split_;
      std::size_t behind = k + 1;
      while (behind < program_.known_outputs.size() && (place(behind) >= split_) == is_second) ++behind;
      const std::size_t first = place(k) - (is_second ? split_ : 0);
      program_.instructions.push_back({Operation::constant, static_cast<int>(place(behind - 1) - place(k)) + 1,
                                       is_second ? 1 : 0,
                                       {Lanes::Of::values, Lanes::By::lanes, static_cast<int>(first)},
                                       {}});
      k = behind;
    }
  }

  /// Of each line the last one that needs it; of the last line one behind them.
  static std::vector<std::size_t> last_uses(const Form& form) {
    const std::size_t count = form.lines.size();
    std::vector<std::size_t> last_use(count, 0);
    for (std::size_t k = 0; k < count; ++k)
      for (const int operand : {form.lines[k].a, form.lines[k].b})
        if (operand >= 0) last_use[at(operand)] = k;
    if (count > 0) last_use[count - 1] = count;
    return last_use;
  }

  /// Results that nothing needs any more leave their registers to later ones.
  void find_registers(Form& form) {
    const std::size_t count = form.lines.size();
    const std::vector<std::size_t> last_use = last_uses(form);
    form.registers.assign(count, -1);
    std::vector<int> free;
    int used = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const Instruction& line = form.lines[k];
      if (line.operation == Operation::constant || line.operation == Operation::input) continue;
      if (free.empty()) free.push_back(used++);
      form.registers[k] = free.back();
      free.pop_back();
      give_back(form, k, last_use, free);
    }
    registers_ = std::max(registers_, used);
  }
  static void give_back(const Form& form, std::size_t k, const std::vector<std::size_t>& last_use,
                        std::vector<int>& free) {
    const Instruction& line = form.lines[k];
    for (const int operand : {line.a, line.b == line.a ? -1 : line.b})
      if (operand >= 0 && last_use[at(operand)] == k && form.registers[at(operand)] >= 0)
        free.push_back(form.registers[at(operand)]);
  }

  /// The outputs of a form from number `from` on, as many as there are lanes.
  void emit(const Form& form, std::size_t from) {
    const std::size_t count = std::min(form.outputs.size() - from, at(most_lanes));
    const std::span<const int> rows(form.lines_of_outputs.data() + from * form.lines.size(), count * form.lines.size());
    for (std::size_t k = 0; k < form.lines.size(); ++k) {
      if (form.registers[k] < 0) continue;
      const Instruction& line = form.lines[k];
      const Lanes a = operand(form, rows, line.a), b = operand(form, rows, line.b);
      program_.instructions.push_back({line.operation, static_cast<int>(count), form.registers[k], a, b});
      computes_.push_back(program_.instructions.size() - 1);
    }
    places_.clear();
    const bool is_second = at(form.outputs[from]) >= split_;
    for (std::size_t k = 0; k < count; ++k)
      places_.push_back(form.outputs[from + k] - (is_second ? static_cast<int>(split_) : 0));
    const Lanes to = program_.lanes_at(places_, Lanes::Of::values);
    const Lanes source = operand(form, rows, static_cast<int>(form.lines.size()) - 1);
    program_.instructions.push_back({Operation::input, static_cast<int>(count), is_second ? 1 : 0, source, to});
  }

  /// A line of the form on these rows; of registers their number stands for the place.
  Lanes operand(const Form& form, std::span<const int> rows, int place) {
    if (place < 0) return {};
    if (form.registers[at(place)] >= 0) return {Lanes::Of::values, Lanes::By::lanes, ~form.registers[at(place)]};
    places_.clear();
    for (std::size_t k = at(place); k < rows.size(); k += form.lines.size()) places_.push_back(rows[k]);
    if (form.lines[at(place)].operation == Operation::constant) return numbers();
    for (int& line : places_) line = tape_[line].a;
    return program_.lanes_at(places_, Lanes::Of::inputs);
  }

  [[nodiscard]] bool is_one() const {
    return std::all_of(places_.begin(), places_.end(), [&](int k) { return k == places_[0]; });
  }

  /// Known lines that stand in places_: those that differ from lane to lane stand in the order of the lanes.
  Lanes numbers() {
    const auto behind = static_cast<int>(program_.known.size());
    if (!is_one()) {
      program_.known.insert(program_.known.end(), places_.begin(), places_.end());
      return {Lanes::Of::values, Lanes::By::lanes, behind};
    }
    const auto [known, is_new] = place_of_number_.try_emplace(places_[0], behind);
    if (is_new) program_.known.push_back(places_[0]);
    return {Lanes::Of::values, places_.size() > 1 ? Lanes::By::one : Lanes::By::lanes, known->second};
  }

  /// Behind the numbers, now that these are all known.
  void place_registers() {
    constexpr int rounded = 8;
    const int first = (static_cast<int>(program_.known.size()) + rounded - 1) / rounded * rounded;
    const auto place = [&](Lanes& lanes) {
      if (lanes.of == Lanes::Of::values && lanes.by == Lanes::By::lanes && lanes.place < 0)
        lanes.place = first + ~lanes.place * most_lanes;
    };
    for (LaneProgram::Instruction& line : program_.instructions) {
      place(line.a);
      if (line.operation != Operation::input) place(line.b);
    }
    for (const std::size_t k : computes_)
      program_.instructions[k].result = first + program_.instructions[k].result * most_lanes;
    program_.size = first + registers_ * most_lanes;
  }

  const Tape& tape_;
  std::span<const int> outputs_;
  std::size_t split_;
  const std::vector<char>& is_known_;
  std::vector<int> place_;     // of a line among those of the present output, -1: none
  std::vector<char> is_met_;   // lines that an output needs
  std::vector<int> lines_, open_, key_, places_;
  std::map<std::vector<int>, std::size_t> number_of_;  // of each form, by its description
  std::map<std::vector<int>, std::size_t>::iterator last_ = number_of_.end();
  std::vector<Form> forms_;
  std::map<int, int> place_of_number_;  // of known lines that stand alone
  std::vector<std::size_t> computes_;   // instructions with a register
  long computed_ = 0, different_ = 0;   // lines, in all outputs and once
  int registers_ = 0;
  LaneProgram program_;
};

}  // namespace

std::optional<LaneProgram> row_program(const Tape& tape, std::span<const int> outputs, std::size_t split,
                                       const std::vector<char>& is_known) {
  return RowProgramMaker(tape, outputs, split, is_known)();
}

}  // namespace perp
