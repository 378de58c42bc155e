#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/machine_code.hpp>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/mman.h>
#define PERP_MACHINE_CODE 1
#endif

namespace perp {
namespace {

/// Reading so many lines takes longer than to get pages for code, to make them executable and to give them back.
constexpr std::size_t lines_for_pages = 20'000;

#ifdef PERP_MACHINE_CODE

double tape_table(double t, double number) { return DataTable::value_of(number, t); }
double tape_abs(double x) { return ScalarTraits<double>::abs(x); }
double tape_sign(double x) { return ScalarTraits<double>::sign(x); }
double tape_min(double x, double y) { return ScalarTraits<double>::min(x, y); }
double tape_max(double x, double y) { return ScalarTraits<double>::max(x, y); }
double tape_guard(double weight, double x) { return ScalarTraits<double>::guard(weight, x); }

using Unary = double (*)(double);
using Binary = double (*)(double, double);

std::uint64_t address(Unary f) { return reinterpret_cast<std::uint64_t>(f); }
std::uint64_t address(Binary f) { return reinterpret_cast<std::uint64_t>(f); }

std::uint64_t rare_function_of(Operation operation) {
  if (operation == Operation::table) return address(Binary(tape_table));
  return operation == Operation::guard ? address(Binary(tape_guard)) : 0;
}

/// The function that an operation calls; 0: it is an instruction.
std::uint64_t function_of(Operation operation) {
  switch (operation) {
    case Operation::power: return address(Binary(std::pow));
    case Operation::sin: return address(Unary(std::sin));
    case Operation::cos: return address(Unary(std::cos));
    case Operation::tan: return address(Unary(std::tan));
    case Operation::asin: return address(Unary(std::asin));
    case Operation::acos: return address(Unary(std::acos));
    case Operation::atan: return address(Unary(std::atan));
    case Operation::sinh: return address(Unary(std::sinh));
    case Operation::cosh: return address(Unary(std::cosh));
    case Operation::tanh: return address(Unary(std::tanh));
    case Operation::exp: return address(Unary(std::exp));
    case Operation::log: return address(Unary(std::log));
    case Operation::log10: return address(Unary(std::log10));
    case Operation::atan2: return address(Binary(std::atan2));
    case Operation::abs: return address(Unary(tape_abs));
    case Operation::sign: return address(Unary(tape_sign));
    case Operation::min: return address(Binary(tape_min));
    case Operation::max: return address(Binary(tape_max));
    default: return rare_function_of(operation);
  }
}

/// Writes the code of   void(double* values, const double* inputs, double* first, double* second)
/// (System V calling convention: rdi, rsi, rdx, rcx, kept in rbx, rbp, r14, r15). Every line is
/// computed in xmm0 and stored; a line whose operand is the line before finds it in xmm0.
class Assembler {
 public:
  Assembler(const Tape& tape, std::span<const int> outputs, std::size_t split)
      : tape_(tape), results_(static_cast<std::size_t>(tape.size())), uses_(results_.size()) {
    for (std::size_t k = 0; k < outputs.size(); ++k)
      results_[static_cast<std::size_t>(outputs[k])].push_back(
          k < split ? Place{Base::first, k} : Place{Base::second, k - split});
    for (int k = 0; k < tape.size(); ++k) {
      if (tape[k].operation == Operation::input) continue;
      for (const int operand : {tape[k].a, tape[k].b})
        if (operand >= 0) ++uses_[static_cast<std::size_t>(operand)];
    }
  }

  /// `negative_zero`: where in `values` the number −0.0 stands.
  std::vector<std::uint8_t> run(std::size_t negative_zero) {
    put({0x53, 0x55, 0x41, 0x56, 0x41, 0x57, 0x48, 0x83, 0xEC, 0x08});  // push ..., align
    put({0x48, 0x89, 0xFB, 0x48, 0x89, 0xF5, 0x49, 0x89, 0xD6, 0x49, 0x89, 0xCF});  // keep them
    for (int k = 0; k < tape_.size(); ++k) line(k, negative_zero);
    put({0x48, 0x83, 0xC4, 0x08, 0x41, 0x5F, 0x41, 0x5E, 0x5D, 0x5B, 0xC3});  // pop ..., return
    return std::move(code_);
  }

 private:
  enum class Base { values, inputs, first, second };
  struct Place {
    Base base;
    std::size_t index;
  };
  enum : std::uint8_t { load = 0x10, store = 0x11, root = 0x51, add = 0x58, multiply = 0x59,
                        subtract = 0x5C, divide = 0x5E };

  void put(std::initializer_list<std::uint8_t> bytes) {
    code_.insert(code_.end(), bytes.begin(), bytes.end());
  }

  /// F2 [REX] 0F op /r: an instruction on a double in register xmm`reg` and one in memory.
  void memory(std::uint8_t op, int reg, Place place) {
    const bool extended = place.base == Base::first || place.base == Base::second;
    put({0xF2});
    if (extended) put({0x41});
    int rm = 3;  // rbx
    if (place.base == Base::inputs) rm = 5;  // rbp
    if (place.base == Base::first) rm = 6;   // r14
    if (place.base == Base::second) rm = 7;  // r15
    put({0x0F, op, static_cast<std::uint8_t>(0x80 | (reg << 3) | rm)});
    const auto offset = static_cast<std::uint32_t>(8 * place.index);
    for (int shift = 0; shift < 32; shift += 8)
      code_.push_back(static_cast<std::uint8_t>(offset >> shift));
  }

  [[nodiscard]] Place place_of(int line) const {
    if (tape_[line].operation == Operation::input)
      return {Base::inputs, static_cast<std::size_t>(tape_[line].a)};
    return {Base::values, static_cast<std::size_t>(line)};
  }

  /// Does the value of such a line stand in memory before the code runs?
  static bool is_given(Operation operation) {
    return operation == Operation::constant || operation == Operation::pi || operation == Operation::input;
  }

  void line(int k, std::size_t negative_zero) {
    const Instruction& line = tape_[k];
    const bool given = is_given(line.operation);
    const auto& results = results_[static_cast<std::size_t>(k)];
    if (given) {
      if (results.empty()) return;
      memory(load, 0, place_of(k));
    } else {
      compute(line, negative_zero);
    }
    for (const Place& result : results) memory(store, 0, result);
    in_xmm0_ = k;
    if (given) return;
    // A value that only the next line needs, and as the operand it finds in xmm0, is not stored.
    const bool passed_on = k + 1 < tape_.size() && uses_[static_cast<std::size_t>(k)] == 1 &&
                           takes_from_xmm0(tape_[k + 1], k);
    if (!passed_on) memory(store, 0, {Base::values, static_cast<std::size_t>(k)});
  }

  static bool commutes(Operation operation) {
    return operation == Operation::add || operation == Operation::multiply;
  }

  /// Does this line, if it comes next, use `last` without reading it from memory?
  static bool takes_from_xmm0(const Instruction& line, int last) {
    if (line.operation == Operation::input || line.operation == Operation::constant) return false;
    if (line.operation == Operation::negate || line.operation == Operation::sqrt) return false;
    return line.a == last || (commutes(line.operation) && line.b == last);
  }

  /// The operands in an order that the operation allows: the first one is in xmm0 if that can be.
  [[nodiscard]] std::pair<int, int> operands_of(const Instruction& line) const {
    const bool is_swapped = commutes(line.operation) && line.b == in_xmm0_ && line.a != in_xmm0_;
    return is_swapped ? std::pair(line.b, line.a) : std::pair(line.a, line.b);
  }

  /// The instruction that does an operation to xmm0 and a second operand in memory; 0: there is none.
  static std::uint8_t instruction_of(Operation operation) {
    switch (operation) {
      case Operation::add: return add;
      case Operation::subtract: return subtract;
      case Operation::multiply: return multiply;
      case Operation::divide: return divide;
      default: return 0;
    }
  }

  /// The result of a line, from its operands, to xmm0.
  void compute(const Instruction& line, std::size_t negative_zero) {
    const auto [a, b] = operands_of(line);
    if (line.operation == Operation::sqrt) return memory(root, 0, place_of(a));
    if (line.operation == Operation::negate) return change_sign(a, negative_zero);
    if (a != in_xmm0_) memory(load, 0, place_of(a));
    if (const std::uint8_t op = instruction_of(line.operation); op != 0) return memory(op, 0, place_of(b));
    if (b >= 0) memory(load, 1, place_of(b));
    call(function_of(line.operation));
  }

  /// xmm0 = −a, by the bit that −0.0 has alone.
  void change_sign(int a, std::size_t negative_zero) {
    memory(load, 0, place_of(a));
    memory(load, 1, {Base::values, negative_zero});
    put({0x66, 0x0F, 0x57, 0xC1});  // xorpd xmm0, xmm1
  }

  /// xmm0 = function(xmm0, xmm1)
  void call(std::uint64_t function) {
    put({0x48, 0xB8});  // mov rax, function
    for (int shift = 0; shift < 64; shift += 8)
      code_.push_back(static_cast<std::uint8_t>(function >> shift));
    put({0xFF, 0xD0});  // call rax
  }

  const Tape& tape_;
  std::vector<std::vector<Place>> results_;  // where the value of each line goes
  std::vector<int> uses_;                    // by other lines
  std::vector<std::uint8_t> code_;
  int in_xmm0_ = -1;  // the line whose value is there
};

#endif

}  // namespace

MachineCode::MachineCode(const Tape& tape, std::span<const int> outputs, std::size_t split)
    : tape_(tape), outputs_(outputs.begin(), outputs.end()), split_(split) {
  const auto lines = static_cast<std::size_t>(tape.size());
  values_.assign(lines + 1, -0.0);
  for (std::size_t k = 0; k < lines; ++k) {
    const Instruction& line = tape_[static_cast<int>(k)];
    if (line.operation == Operation::input && at(line.a) >= inputs_.size()) inputs_.resize(at(line.a) + 1);
    if (line.operation == Operation::constant) values_[k] = line.value;
    if (line.operation == Operation::pi) values_[k] = ScalarTraits<double>::pi();
  }
#ifdef PERP_MACHINE_CODE
  constexpr std::size_t most_lines = 10'000'000;  // offsets are 32 bits
  if (lines > most_lines) return;
  bytes_ = Assembler(tape_, outputs_, split_).run(lines);
#endif
}

void MachineCode::make_native() {
#ifdef PERP_MACHINE_CODE
  const std::vector<std::uint8_t> code = std::exchange(bytes_, {});
  if (code.empty()) return;
  void* pages = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);
  if (pages == MAP_FAILED) return;
  std::memcpy(pages, code.data(), code.size());
  if (mprotect(pages, code.size(), PROT_READ | PROT_EXEC) != 0) {
    munmap(pages, code.size());
    return;
  }
  code_ = pages;
  size_ = code.size();
#endif
}

void MachineCode::release() {
#ifdef PERP_MACHINE_CODE
  if (code_ != nullptr) munmap(code_, size_);
#endif
  code_ = nullptr;
}

MachineCode::~MachineCode() { release(); }

MachineCode::MachineCode(MachineCode&& other) noexcept { *this = std::move(other); }

MachineCode& MachineCode::operator=(MachineCode&& other) noexcept {
  if (this == &other) return *this;
  release();
  tape_ = std::move(other.tape_);
  outputs_ = std::move(other.outputs_);
  split_ = other.split_;
  values_ = std::move(other.values_);
  inputs_ = std::move(other.inputs_);
  bytes_ = std::move(other.bytes_);
  read_ = other.read_;
  code_ = std::exchange(other.code_, nullptr);
  size_ = other.size_;
  return *this;
}

void MachineCode::read(const double* inputs, std::size_t count, double* first, double* second) {
  std::copy_n(inputs, std::min(count, inputs_.size()), inputs_.begin());
  tape_.evaluate(std::span<const double>(inputs_), std::span(values_));
  read_ += values_.size();
  if (!bytes_.empty() && read_ >= lines_for_pages) make_native();
  for (std::size_t k = 0; k < outputs_.size(); ++k)
    (k < split_ ? first[k] : second[k - split_]) = values_[static_cast<std::size_t>(outputs_[k])];
}

}  // namespace perp
