#include <algorithm>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/cone_tape.hpp>

namespace perp {
namespace {

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
std::vector<int> ConeTape::lines_below(int output) {
  std::vector<int> lines;
  const auto meet = [&](int line) {
    if (line < 0 || std::exchange(place_[at(line)], 0) >= 0) return;
    lines.push_back(line);
  };
  meet(output);
  for (std::size_t next = 0; next < lines.size(); ++next) {
    const Instruction& line = tape_[lines[next]];
    if (has_no_operands(line)) continue;
    meet(line.a);
    meet(line.b);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

const ConeTape::Cone& ConeTape::cone(int k) {
  Cone& made = cones_[at(k)];
  if (!made.empty()) return made;
  const std::vector<int> lines = lines_below(outputs_[at(k)]);
  for (std::size_t m = 0; m < lines.size(); ++m) place_[at(lines[m])] = static_cast<int>(m);
  made.reserve(lines.size());
  for (const int number : lines) {
    Instruction line = tape_[number];
    if (!has_no_operands(line)) {
      if (line.a >= 0) line.a = place_[at(line.a)];
      if (line.b >= 0) line.b = place_[at(line.b)];
    }
    made.push_back(line);
  }
  for (const int line : lines) place_[at(line)] = -1;
  values_.resize(std::max(values_.size(), lines.size()));
  return made;
}

double ConeTape::value(int k, const std::vector<double>& inputs) {
  const Cone& lines = cone(k);
  double* values = values_.data();
  for (std::size_t m = 0; m < lines.size(); ++m) {
    const Instruction& line = lines[m];
    const double x = line.operation == Operation::input ? inputs[at(line.a)]
                     : line.a < 0                       ? line.value
                                                        : values[line.a];
    const double y = line.b < 0 ? x : values[line.b];
    switch (line.operation) {  // the frequent ones without the long way
      case Operation::add: values[m] = x + y; break;
      case Operation::subtract: values[m] = x - y; break;
      case Operation::multiply: values[m] = x * y; break;
      default: values[m] = apply_operation(line.operation, x, y);
    }
  }
  return values[lines.size() - 1];
}

}  // namespace perp
