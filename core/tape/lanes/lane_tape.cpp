#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/lanes/lane_loops.hpp>
#include <perp/core/tape/lanes/lane_tape.hpp>

namespace perp {
namespace lanes {
namespace {

struct Sum {
  template <class T>
  PERP_LANES_INLINE static T of(const T& x, const T& y) { return x + y; }
};
struct Difference {
  template <class T>
  PERP_LANES_INLINE static T of(const T& x, const T& y) { return x - y; }
};
struct Product {
  template <class T>
  PERP_LANES_INLINE static T of(const T& x, const T& y) { return x * y; }
};
struct Quotient {
  template <class T>
  PERP_LANES_INLINE static T of(const T& x, const T& y) { return x / y; }
};

template <class Op>
PERP_LANES_INLINE void arithmetic(double* result, Source a, Source b, int count) {
  int i = 0;
  if (a.step != 0 && b.step != 0) {
    for (; i + width <= count; i += width)
      store(result + i, Op::of(load(a.from + i), load(b.from + i)));
  } else if (a.step != 0) {
    const Four y = all(*b.from);
    for (; i + width <= count; i += width)
      store(result + i, Op::of(load(a.from + i), y));
  } else if (b.step != 0) {
    const Four x = all(*a.from);
    for (; i + width <= count; i += width)
      store(result + i, Op::of(x, load(b.from + i)));
  }
  for (; i < count; ++i) result[i] = Op::of(a.from[a.step * i], b.from[b.step * i]);
}

PERP_LANES_INLINE void negative(double* result, Source a, int count) {
  int i = 0;
  for (; a.step != 0 && i + width <= count; i += width)
    store(result + i, -load(a.from + i));
  for (; i < count; ++i) result[i] = -a.from[a.step * i];
}

void others(Operation operation, double* result, Source a, Source b, int count) {
  for (int i = 0; i < count; ++i)
    result[i] = apply_operation(operation, a.from[a.step * i], b.from[b.step * i]);
}

struct Run {
  const LaneProgram& program;
  double* values;
  const double* inputs;
  double* first;
  double* second;
  const double* known_first;
  const double* known_second;
};

PERP_LANES_INLINE void compute(Operation operation, double* result, Source a, Source b, int count) {
  switch (operation) {
    case Operation::add: return arithmetic<Sum>(result, a, b, count);
    case Operation::subtract: return arithmetic<Difference>(result, a, b, count);
    case Operation::multiply: return arithmetic<Product>(result, a, b, count);
    case Operation::divide: return arithmetic<Quotient>(result, a, b, count);
    case Operation::negate: return negative(result, a, count);
    default: return others(operation, result, a, b, count);
  }
}

PERP_LANES_INLINE void copy_known(const Run& run, const LaneProgram::Instruction& line) {
  double* const to = line.result == 0 ? run.first : run.second;
  const double* const from = line.result == 0 ? run.known_first : run.known_second;
  std::memcpy(to + line.a.place, from + line.a.place, sizeof(double) * static_cast<std::size_t>(line.count));
}

PERP_LANES_INLINE void run_all(const Run& run) {
  double lists[2][most_lanes];
  const auto is_input = [](const LaneProgram::Lanes& x) { return x.of == LaneProgram::Lanes::Of::inputs; };
  for (const LaneProgram::Instruction& line : run.program.instructions) {
    const double* const base_a = is_input(line.a) ? run.inputs : run.values;
    if (line.operation == Operation::constant) {
      copy_known(run, line);
      continue;
    }
    if (line.operation == Operation::input) {
      copy_lanes(run.program, line, base_a, line.result == 0 ? run.first : run.second);
      continue;
    }
    const double* const base_b = is_input(line.b) ? run.inputs : run.values;
    const Source a = source_of(run.program, line.a, line.count, base_a, lists[0]);
    const Source b = source_of(run.program, line.b, line.count, base_b, lists[1]);
    compute(line.operation, run.values + line.result, a, b, line.count);
  }
}

#ifdef PERP_LANES_WIDE
PERP_LANES_WIDE void run_wide(const Run& run) { run_all(run); }
#endif
void run_plain(const Run& run) { run_all(run); }

}  // namespace
}  // namespace lanes

namespace {

std::vector<char> lines_of_numbers(const Tape& tape) {
  std::vector<char> is_number(at(tape.size()), 0);
  for (int k = 0; k < tape.size(); ++k)
    is_number[at(k)] = tape[k].operation == Operation::constant || tape[k].operation == Operation::pi;
  return is_number;
}

double number_of(const Instruction& line) {
  return line.operation == Operation::pi ? ScalarTraits<double>::pi() : line.value;
}

}  // namespace

LaneTape::LaneTape(const Tape& tape, std::span<const int> outputs, std::size_t split) {
  std::optional<LaneProgram> program = lane_program(tape, outputs, split, lines_of_numbers(tape));
  serves_ = program.has_value();
  if (!serves_) return;
  program_ = *std::move(program);
  values_.assign(at(program_.size), 0);
  for (std::size_t k = 0; k < program_.known.size(); ++k) values_[k] = number_of(tape[program_.known[k]]);
  for (const LaneProgram::KnownOutput& known : program_.known_outputs) {
    const bool is_first = at(known.output) < split;
    std::vector<double>& list = is_first ? first_ : second_;
    list.resize(is_first ? split : outputs.size() - split, 0);
    list[at(known.output) - (is_first ? 0 : split)] = number_of(tape[known.line]);
  }
}

void LaneTape::run(const double* inputs, double* first, double* second) {
  const lanes::Run run{program_, values_.data(), inputs, first, second, first_.data(), second_.data()};
#ifdef PERP_LANES_WIDE
  if (lanes::is_wide()) return lanes::run_wide(run);
#endif
  lanes::run_plain(run);
}

}  // namespace perp
