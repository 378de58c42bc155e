// Parts of tapes with other inputs: called where systems are put together or taken apart.
#include <vector>

#include <perp/core/expression/rewriting/moved_inputs.hpp>

namespace perp {

Tape with_moved_inputs(const Tape& tape, const std::function<int(int)>& moved,
                       std::span<int> outputs) {
  Tape result;
  std::vector<int> lines(static_cast<std::size_t>(tape.size()), -1);
  const auto line_of = [&](int old) { return old < 0 ? -1 : lines[static_cast<std::size_t>(old)]; };
  const std::vector<bool> needed = needed_lines(tape, outputs);
  for (int k = 0; k < tape.size(); ++k) {
    if (!needed[static_cast<std::size_t>(k)]) continue;
    const Instruction& old = tape[k];
    int& line = lines[static_cast<std::size_t>(k)];
    if (old.operation == Operation::constant)
      line = result.constant(old.value);
    else if (old.operation == Operation::input)
      line = result.input(moved(old.a));
    else
      line = result.apply(old.operation, line_of(old.a), line_of(old.b));
  }
  for (int& output : outputs) output = line_of(output);
  return result;
}

}  // namespace perp
