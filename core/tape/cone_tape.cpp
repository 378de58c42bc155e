#include <algorithm>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/cone_tape.hpp>

namespace perp {
namespace {

constexpr int most_read = 64;  ///< outputs of one form from which on its operations become code

bool has_no_operands(const Instruction& line) {
  return line.operation == Operation::input || line.operation == Operation::constant;
}

}  // namespace

ConeTape::ConeTape(Tape tape, std::vector<int> outputs)
    : tape_(std::move(tape)),
      outputs_(std::move(outputs)),
      cones_(outputs_.size()),
      place_(at(tape_.size()), -1) {}

/// The lines that an output needs, in their order.
void ConeTape::find_lines_below(int output) {
  lines_.clear();
  const auto meet = [&](int line) {
    if (line < 0 || std::exchange(place_[at(line)], 0) >= 0) return;
    lines_.push_back(line);
  };
  meet(output);
  for (std::size_t next = 0; next < lines_.size(); ++next) {
    const Instruction& line = tape_[lines_[next]];
    if (has_no_operands(line)) continue;
    meet(line.a);
    meet(line.b);
  }
  std::sort(lines_.begin(), lines_.end());
}

/// The form of the cone with these lines; its inputs and numbers become those of the cone.
ConeTape::Form& ConeTape::form_of(Cone& cone) {
  cone.inputs = inputs_.size();
  for (const int number : lines_) {
    const Instruction& line = tape_[number];
    if (line.operation == Operation::input) {
      place_[at(number)] = static_cast<int>(inputs_.size() - cone.inputs);
      inputs_.push_back(line.a);
    }
  }
  const auto inputs = inputs_.size() - cone.inputs;
  cone.leaves = leaves_.size();
  leaves_.insert(leaves_.end(), inputs, 0.0);
  for (const int number : lines_) {
    const Instruction& line = tape_[number];
    if (line.operation == Operation::constant) {
      place_[at(number)] = static_cast<int>(leaves_.size() - cone.leaves);
      leaves_.push_back(line.value);
    }
  }
  const auto leaves = leaves_.size() - cone.leaves;
  // Of a form: its leaves, then operation and operands of each line.
  key_.assign({static_cast<int>(inputs), static_cast<int>(leaves)});
  const auto place_of = [&](int line) { return line < 0 ? -1 : place_[at(line)]; };
  int next = static_cast<int>(leaves);
  for (const int number : lines_) {
    const Instruction& line = tape_[number];
    if (has_no_operands(line)) continue;
    place_[at(number)] = next++;
    key_.insert(key_.end(), {static_cast<int>(line.operation), place_of(line.a), place_of(line.b)});
  }
  if (const auto known = forms_.find(key_); known != forms_.end()) return known->second;
  Form form{{}, inputs, leaves};
  for (std::size_t k = 2; k < key_.size(); k += 3)
    form.lines.push_back({static_cast<Operation>(key_[k]), key_[k + 1], key_[k + 2], 0});
  return forms_.try_emplace(key_, std::move(form)).first->second;
}

/// A form as instructions of the processor, its leaves as inputs.
void ConeTape::compile(Form& form) {
  Tape tape;
  std::vector<int> place;
  for (std::size_t k = 0; k < form.leaves; ++k) place.push_back(tape.input(static_cast<int>(k)));
  for (const Instruction& line : form.lines)
    place.push_back(tape.apply(line.operation, line.a < 0 ? -1 : place[at(line.a)],
                               line.b < 0 ? -1 : place[at(line.b)]));
  form.code = std::make_unique<MachineCode>(tape, std::span(&place.back(), 1), 1);
}

void ConeTape::find(int k) {
  find_lines_below(outputs_[at(k)]);
  Cone& cone = cones_[at(k)];
  cone.form = &form_of(cone);
  for (const int line : lines_) place_[at(line)] = -1;
  Form& form = *cone.form;
  values_.resize(std::max(values_.size(), form.leaves + form.lines.size()));
  if (++form.users == most_read) compile(form);
}

/// The last line, from the leaves.
double ConeTape::read(const Form& form, const double* leaves) {
  double* const values = std::copy_n(leaves, form.leaves, values_.data()) - form.leaves;
  double* to = values + form.leaves;
  for (const Instruction& line : form.lines) {
    const double x = line.a < 0 ? 0 : values[line.a];
    const double y = line.b < 0 ? x : values[line.b];
    switch (line.operation) {  // the frequent ones without the long way
      case Operation::add: *to++ = x + y; break;
      case Operation::subtract: *to++ = x - y; break;
      case Operation::multiply: *to++ = x * y; break;
      default: *to++ = apply_operation(line.operation, x, y);
    }
  }
  return to[-1];
}

double ConeTape::value(int k, const std::vector<double>& inputs) {
  if (cones_[at(k)].form == nullptr) find(k);
  const Cone& cone = cones_[at(k)];
  Form& form = *cone.form;
  double* const leaves = leaves_.data() + cone.leaves;
  const int* const input = inputs_.data() + cone.inputs;
  for (std::size_t m = 0; m < form.inputs; ++m) leaves[m] = inputs[at(input[m])];
  if (!form.code) return read(form, leaves);
  double value = 0;
  form.code->run(leaves, form.leaves, &value, nullptr);
  return value;
}

}  // namespace perp
