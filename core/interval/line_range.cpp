#include <perp/core/base/index.hpp>
#include <perp/core/interval/line_range.hpp>

namespace perp::enclosure {

Interval range_of(const Instruction& line, std::span<const Interval> inputs, std::span<const Interval> lines) {
  switch (line.operation) {
    case Operation::constant: return Interval(line.value);
    case Operation::input: return inputs[at(line.a)];
    case Operation::pi: return ScalarTraits<Interval>::pi();
    case Operation::table: return Interval::none();
    default: break;
  }
  const Interval& a = lines[at(line.a)];
  if (line.operation == Operation::multiply && line.a == line.b) return square(a);
  return apply_operation(line.operation, a, line.b < 0 ? a : lines[at(line.b)]);
}

}  // namespace perp::enclosure
