#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/lanes/bounded_lanes.hpp>
#include <perp/core/tape/lanes/lane_loops.hpp>

namespace perp {
namespace lanes {
namespace {

// Sums and products of RunningError (running_error.hpp) on four lanes, cases as choices. Numbers below the normal
// ones, which processors treat slowly, enter where they change a result alone.

struct FourBounded {
  Four value, error;
};

PERP_LANES_INLINE FourBits bits_of(const Four& x) {
  FourBits bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
PERP_LANES_INLINE Four chosen(const FourBits& mask, const Four& x, const Four& y) { return mask ? x : y; }
PERP_LANES_INLINE FourBits all_bits(long long x) { return FourBits{x, x, x, x}; }
PERP_LANES_INLINE Four size_of(const Four& x) {
  const FourBits bits = bits_of(x) & all_bits(0x7FFFFFFFFFFFFFFF);
  Four four;
  std::memcpy(&four, &bits, sizeof four);
  return four;
}
PERP_LANES_INLINE FourBits is_finite(const Four& x) { return size_of(x) <= all(running_error::largest); }

PERP_LANES_INLINE FourBounded bound(const Four& value, const Four& passed) {
  Four error = passed * all(1 + 16 * unit_roundoff);
  const FourBits is_small = (error > all(0)) & (error < all(running_error::coarse));
  error += chosen(is_small, all(4 * running_error::least), all(0));
  const FourBits is_known = is_finite(value) & (error >= all(0));
  return {value, chosen(is_known, error, all(std::numeric_limits<double>::infinity()))};
}

/// The result of an exact operation.
PERP_LANES_INLINE Four exact_error(const Four& value, const Four& error) {
  const FourBits is_small = (error > all(0)) & (error < all(running_error::coarse));
  return chosen(is_small, bound(value, error).error, error);
}

PERP_LANES_INLINE FourBits is_zero(const FourBounded& a) { return (a.value == all(0)) & (a.error == all(0)); }

PERP_LANES_INLINE FourBits is_scale(const FourBounded& a) {
  constexpr int digits = 52;
  constexpr long long mantissas = (1LL << digits) - 1;
  const FourBits bits = bits_of(a.value) & all_bits(0x7FFFFFFFFFFFFFFF);
  const FourBits exponent = bits >> digits, mantissa = bits & all_bits(mantissas);
  const FourBits is_power = mantissa == all_bits(0);
  const FourBits is_bit = (mantissa != all_bits(0)) & ((mantissa & (mantissa - all_bits(1))) == all_bits(0));
  const FourBits is_normal = exponent != all_bits(0);
  return (a.error == all(0)) & (exponent != all_bits(0x7FF)) & ((is_normal & is_power) | (~is_normal & is_bit));
}

PERP_LANES_INLINE FourBits keeps_digits(const FourBounded& number, const Four& scaled, const Four& error) {
  const FourBits is_none = number.value == all(0), is_plain = (size_of(scaled) > all(running_error::coarse)) & is_finite(scaled);
  return (is_none & (error >= all(running_error::coarse))) | (~is_none & is_plain);
}

/// Are all four?
PERP_LANES_INLINE bool are_all(const FourBits& x) {
  const FourBits both = x & __builtin_shufflevector(x, x, 2, 3, 0, 1);
  return (both[0] & both[1]) != 0;
}

/// Sums of terms that are not 0: those of most rows.
struct UsualSum {
  PERP_LANES_INLINE static FourBounded of(const FourBounded& a, const FourBounded& b, const FourBits& /*fine_a*/,
                                          const FourBits& /*fine_b*/, FourBits& is_usual) {
    const Four sum = a.value + b.value;
    const Four error = (a.error + b.error + all(unit_roundoff) * size_of(sum)) * all(1 + 16 * unit_roundoff);
    is_usual = (a.value != all(0)) & (b.value != all(0)) & (error >= all(running_error::coarse)) &
               (error <= all(running_error::largest));  // that of a sum without value is larger
    return {sum, error};
  }
};

/// The same with terms among them that are 0: what binaries multiply.
struct SumWithZeros {
  PERP_LANES_INLINE static FourBounded of(const FourBounded& a, const FourBounded& b, const FourBits& fine_a,
                                          const FourBits& fine_b, FourBits& is_usual) {
    FourBounded sum = UsualSum::of(a, b, fine_a, fine_b, is_usual);
    const FourBits is_zero_a = is_zero(a), is_zero_b = is_zero(b);
    is_usual |= is_zero_a | is_zero_b;
    sum.error = chosen(is_zero_a, b.error, chosen(is_zero_b, a.error, sum.error));
    return sum;
  }
};

/// Products of factors neither of which is exact, or is a number that is `fine`: no power of two.
struct UsualProduct {
  PERP_LANES_INLINE static FourBounded of(const FourBounded& a, const FourBounded& b, const FourBits& fine_a,
                                          const FourBits& fine_b, FourBits& is_usual) {
    const Four product = a.value * b.value, size = size_of(product);
    const Four passed = size_of(a.value) * b.error + size_of(b.value) * a.error + a.error * b.error;
    const Four error = (passed + all(unit_roundoff) * size) * all(1 + 16 * unit_roundoff);
    is_usual = (size > all(running_error::coarse)) & (error >= all(running_error::coarse)) &
               (error <= all(running_error::largest)) & ((a.error > all(0)) | fine_a) &
               ((b.error > all(0)) | fine_b);
    return {product, error};
  }
};

/// Products whose second factor is 0 or 1, as binaries are.
struct ProductByBit {
  PERP_LANES_INLINE static FourBounded of(const FourBounded& a, const FourBounded& bit, const FourBits& /*fine_a*/,
                                          const FourBits& /*fine_b*/, FourBits& is_usual) {
    const Four product = a.value * bit.value, size = size_of(product), error = bit.value * a.error;
    const FourBits is_one = (bit.value == all(1)) & (size > all(running_error::coarse)) & is_finite(product) &
                            ((a.error == all(0)) | (a.error >= all(running_error::coarse)));
    const FourBits is_none = (bit.value == all(0)) & (product == all(0));
    is_usual = (bit.error == all(0)) & (error <= all(running_error::largest)) & (is_one | is_none);
    return {product, error};
  }
};

/// Products whose first factor is 0 or a power of two, as multiples of binaries may be.
struct ProductByScale {
  PERP_LANES_INLINE static FourBounded of(const FourBounded& scale, const FourBounded& b, const FourBits& /*fine_a*/,
                                          const FourBits& /*fine_b*/, FourBits& is_usual) {
    const Four product = scale.value * b.value, size = size_of(product), error = size_of(scale.value) * b.error;
    const FourBits is_power = is_scale(scale) & (size > all(running_error::coarse)) & is_finite(product) &
                              ((error == all(0)) | (error >= all(running_error::coarse)));
    const FourBits is_none = is_zero(scale) & (product == all(0));
    is_usual = (error <= all(running_error::largest)) & (is_power | is_none);
    return {product, error};
  }
};

struct BoundedSum {
  /// What is tried first.
  template <class Pass>
  PERP_LANES_INLINE static int pass_usual(const Pass& pass) { return pass(SumWithZeros(), pass(UsualSum(), 0)); }
  PERP_LANES_INLINE static FourBounded of(const FourBounded& a, const FourBounded& b) {
    const Four sum = a.value + b.value;
    const FourBits rounds = (a.value != all(0)) & (b.value != all(0));
    const Four rounding = chosen(rounds, all(unit_roundoff) * size_of(sum), all(0));
    FourBounded result = bound(sum, a.error + b.error + rounding);
    result.error = chosen(is_zero(b), a.error, result.error);
    result.error = chosen(is_zero(a), b.error, result.error);
    return result;
  }
  static RunningError of(const RunningError& a, const RunningError& b) { return a + b; }
};

struct BoundedDifference {
  template <class Sum>
  struct As {
    PERP_LANES_INLINE static FourBounded of(const FourBounded& a, const FourBounded& b, const FourBits& fine_a,
                                            const FourBits& fine_b, FourBits& is_usual) {
      return Sum::of(a, {-b.value, b.error}, fine_a, fine_b, is_usual);
    }
  };
  template <class Pass>
  PERP_LANES_INLINE static int pass_usual(const Pass& pass) {
    return pass(As<SumWithZeros>(), pass(As<UsualSum>(), 0));
  }
  PERP_LANES_INLINE static FourBounded of(const FourBounded& a, const FourBounded& b) {
    return BoundedSum::of(a, {-b.value, b.error});
  }
  static RunningError of(const RunningError& a, const RunningError& b) { return a - b; }
};

struct BoundedProduct {
  template <class Pass>
  PERP_LANES_INLINE static int pass_usual(const Pass& pass) {
    return pass(ProductByScale(), pass(ProductByBit(), pass(UsualProduct(), 0)));
  }
  PERP_LANES_INLINE static FourBounded of(const FourBounded& a, const FourBounded& b) {
    const Four product = a.value * b.value, size = size_of(product);
    const Four size_a = size_of(a.value), size_b = size_of(b.value);
    const FourBits has_zero = is_zero(a) | is_zero(b), is_coarse = ~has_zero & (size < all(running_error::coarse));
    const Four passed = size_a * b.error + size_b * a.error + a.error * b.error;
    const Four least = all(running_error::least);
    const Four rounding = all(unit_roundoff) * size + chosen(is_coarse & (size > all(0)), least, all(0));
    Four error = bound(product, passed + rounding + chosen(is_coarse, least, all(0))).error;
    const Four from_a = size_b * a.error, from_b = size_a * b.error;
    error = chosen(is_scale(b) & keeps_digits(a, product, from_a), exact_error(product, from_a), error);
    error = chosen(is_scale(a) & keeps_digits(b, product, from_b), exact_error(product, from_b), error);
    const FourBits is_known = is_finite(a.error + b.error + product);
    const Four of_zero = chosen(is_known, all(0), all(std::numeric_limits<double>::infinity()));
    return {product, chosen(has_zero, of_zero, error)};
  }
  static RunningError of(const RunningError& a, const RunningError& b) { return a * b; }
};

struct BoundedSource {
  Source values, errors;
  [[nodiscard]] RunningError at(int i) const {
    return RunningError(values.from[values.step * i], errors.from[errors.step * i]);
  }
};

struct BoundedResult {
  double* values;
  double* errors;
};

/// Four lanes of an operand that differs from lane to lane.
struct FromLanes {
  const double *values, *errors;
  PERP_LANES_INLINE FourBounded operator()(int i) const { return {load(values + i), load(errors + i)}; }
  [[nodiscard]] PERP_LANES_INLINE FourBits is_fine() const { return all_bits(0); }
};
/// One number for all lanes: what follows from it alone is computed once.
struct FromOne {
  FourBounded number;
  PERP_LANES_INLINE FourBounded operator()(int /*i*/) const { return number; }
  [[nodiscard]] PERP_LANES_INLINE FourBits is_fine() const { return (number.error == all(0)) & ~is_scale(number); }
};
PERP_LANES_INLINE FromLanes lanes_of(const BoundedSource& source) { return {source.values.from, source.errors.from}; }
PERP_LANES_INLINE FromOne one_of(const BoundedSource& source) {
  return {{all(*source.values.from), all(*source.errors.from)}};
}

template <class Op, class A, class B>
PERP_LANES_INLINE int in_fours(BoundedResult result, const A& a, const B& b, int count) {
  const auto put = [&](int i, const FourBounded& z) __attribute__((always_inline)) {
    store(result.values + i, z.value);
    store(result.errors + i, z.error);
  };
  const FourBits fine_a = a.is_fine(), fine_b = b.is_fine();
  // From i on, as long as the lanes are usual ones: then most choices are known. Eight are looked at together.
  const auto pass = [&](auto usual, int i) __attribute__((always_inline)) {
    FourBits is_usual, is_next_usual;
    for (; i + 2 * width <= count; i += 2 * width) {
      const FourBounded z = usual.of(a(i), b(i), fine_a, fine_b, is_usual);
      const FourBounded next = usual.of(a(i + width), b(i + width), fine_a, fine_b, is_next_usual);
      if (!are_all(is_usual & is_next_usual)) break;
      put(i, z);
      put(i + width, next);
    }
    for (; i + width <= count; i += width) {
      const FourBounded z = usual.of(a(i), b(i), fine_a, fine_b, is_usual);
      if (!are_all(is_usual)) break;
      put(i, z);
    }
    return i;
  };
  int i = Op::pass_usual(pass);
  for (; i + width <= count; i += width) put(i, Op::of(a(i), b(i)));
  return i;
}

template <class Op>
PERP_LANES_INLINE void bounded_arithmetic(BoundedResult result, const BoundedSource& a, const BoundedSource& b,
                                          int count) {
  const bool differs_a = a.values.step != 0, differs_b = b.values.step != 0;
  int i = 0;
  if (differs_a && differs_b)
    i = in_fours<Op>(result, lanes_of(a), lanes_of(b), count);
  else if (differs_a)
    i = in_fours<Op>(result, lanes_of(a), one_of(b), count);
  else if (differs_b)
    i = in_fours<Op>(result, one_of(a), lanes_of(b), count);
  for (; i < count; ++i) {
    const RunningError z = Op::of(a.at(i), b.at(i));
    result.values[i] = z.value;
    result.errors[i] = z.error;
  }
}

void bounded_others(Operation operation, BoundedResult result, const BoundedSource& a, const BoundedSource& b,
                    int count) {
  for (int i = 0; i < count; ++i) {
    const RunningError z = apply_operation(operation, a.at(i), b.at(i));
    result.values[i] = z.value;
    result.errors[i] = z.error;
  }
}

PERP_LANES_INLINE void compute(Operation operation, BoundedResult result, const BoundedSource& a,
                               const BoundedSource& b, int count) {
  switch (operation) {
    case Operation::add: return bounded_arithmetic<BoundedSum>(result, a, b, count);
    case Operation::subtract: return bounded_arithmetic<BoundedDifference>(result, a, b, count);
    case Operation::multiply: return bounded_arithmetic<BoundedProduct>(result, a, b, count);
    default: return bounded_others(operation, result, a, b, count);
  }
}

struct BoundedRun {
  const LaneProgram& program;
  double* values;
  double* errors;
  const double* inputs;
  const double* input_errors;
  double* outputs;
  double* output_errors;
};

PERP_LANES_INLINE void run_all(const BoundedRun& run) {
  double lists[4][most_lanes];
  for (const LaneProgram::Instruction& line : run.program.instructions) {
    if (line.operation == Operation::constant) continue;  // what is known is there from the start
    const bool is_input_a = line.a.of == LaneProgram::Lanes::Of::inputs;
    const bool is_input_b = line.b.of == LaneProgram::Lanes::Of::inputs;
    const double* const values_a = is_input_a ? run.inputs : run.values;
    const double* const errors_a = is_input_a ? run.input_errors : run.errors;
    if (line.operation == Operation::input) {
      copy_lanes(run.program, line, values_a, run.outputs);
      copy_lanes(run.program, line, errors_a, run.output_errors);
      continue;
    }
    const double* const values_b = is_input_b ? run.inputs : run.values;
    const double* const errors_b = is_input_b ? run.input_errors : run.errors;
    const BoundedSource a{source_of(run.program, line.a, line.count, values_a, lists[0]),
                          source_of(run.program, line.a, line.count, errors_a, lists[1])};
    const BoundedSource b{source_of(run.program, line.b, line.count, values_b, lists[2]),
                          source_of(run.program, line.b, line.count, errors_b, lists[3])};
    const BoundedResult result{run.values + line.result, run.errors + line.result};
    compute(line.operation, result, a, b, line.count);
  }
}

#ifdef PERP_LANES_WIDE
PERP_LANES_WIDE void run_wide(const BoundedRun& run) { run_all(run); }
#endif
void run_plain(const BoundedRun& run) { run_all(run); }

}  // namespace
}  // namespace lanes

BoundedLanes::BoundedLanes(const Tape& tape, std::span<const int> outputs, const std::vector<char>& is_known,
                           const std::vector<RunningError>& numbers) {
  std::optional<LaneProgram> program = lane_program(tape, outputs, outputs.size(), is_known);
  serves_ = program.has_value();
  if (!serves_) return;
  program_ = *std::move(program);
  values_.assign(at(program_.size), 0);
  errors_ = values_;
  for (std::size_t k = 0; k < program_.known.size(); ++k) {
    values_[k] = numbers[at(program_.known[k])].value;
    errors_[k] = numbers[at(program_.known[k])].error;
  }
  output_values_.assign(outputs.size(), 0);
  output_errors_ = output_values_;
  for (const LaneProgram::KnownOutput& known : program_.known_outputs) {
    output_values_[at(known.output)] = numbers[at(known.line)].value;
    output_errors_[at(known.output)] = numbers[at(known.line)].error;
  }
  int inputs = 0;
  for (int k = 0; k < tape.size(); ++k)
    if (tape[k].operation == Operation::input && is_known[at(k)] == 0) inputs = std::max(inputs, tape[k].a + 1);
  exact_.assign(at(inputs), 0);
}

void BoundedLanes::run(const double* z, const double* z_error, double* values, double* errors) {
  for (const LaneProgram::KnownOutput& known : program_.known_outputs) {
    values[known.output] = output_values_[at(known.output)];
    errors[known.output] = output_errors_[at(known.output)];
  }
  compute(z, z_error, values, errors);
}

void BoundedLanes::compute(const double* z, const double* z_error, double* values, double* errors) {
  const lanes::BoundedRun run{program_,
                              values_.data(),
                              errors_.data(),
                              z,
                              z_error == nullptr ? exact_.data() : z_error,
                              values,
                              errors};
#ifdef PERP_LANES_WIDE
  if (lanes::is_wide()) return lanes::run_wide(run);
#endif
  lanes::run_plain(run);
}

}  // namespace perp
