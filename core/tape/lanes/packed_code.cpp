#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <perp/core/tape/lanes/packed_code.hpp>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/mman.h>
#define PERP_PACKED_CODE 1
#endif

namespace perp {

namespace {

/// Places of numbers that instructions need, four times each.
enum class Constant { sign, digits, zero, one, minus_one, unweighted };

constexpr double digits_alone = std::bit_cast<double>(0x7FFF'FFFF'FFFF'FFFFULL);

}  // namespace

#define PERP_FOUR(x) x, x, x, x
alignas(32) const double PackedCode::constants[] = {PERP_FOUR(-0.0), PERP_FOUR(digits_alone), PERP_FOUR(0.0), PERP_FOUR(1.0),
                                                    PERP_FOUR(-1.0), PERP_FOUR(Instruction::unweighted)};
#undef PERP_FOUR

#ifdef PERP_PACKED_CODE
namespace {

/// Writes the code of   void(double* places, const double* constants)   (System V calling convention: rdi, rsi) in the
/// encoding of three operands. The four lower and the four upper numbers of a place are in one register each, and the
/// last results stay in theirs.
class Assembler {
 public:
  /// Empty: some line has no instructions.
  std::vector<std::uint8_t> run(std::span<const PackedCode::Line> lines) {
    held_.fill(-1);
    for (const PackedCode::Line& line : lines)
      if (!write(line)) return {};
    put({0xC5, 0xF8, 0x77, 0xC3});  // vzeroupper, return
    return std::move(code_);
  }

 private:
  enum : std::uint8_t { load = 0x28, store = 0x29, root = 0x51, both = 0x54, different = 0x57, sum = 0x58, product = 0x59,
                        difference = 0x5C, quotient = 0x5E, compared = 0xC2, blended = 0x4B };
  enum Comparison : std::uint8_t { equal = 0, less = 1, greater = 14 };
  static constexpr int pairs = 6;    ///< of registers that hold results: 4 to 15; 0 to 3 are for what is between
  static constexpr int base = 7, numbers = 6;  ///< registers rdi and rsi

  /// A register, or four numbers in memory.
  struct Operand {
    int number = 0;
    int memory = 0;       // base, numbers; 0: it is a register
    std::uint32_t offset = 0;
  };

  void put(std::initializer_list<std::uint8_t> bytes) { code_.insert(code_.end(), bytes.begin(), bytes.end()); }

  static Operand of_register(int number) { return {number}; }
  static Operand constant(Constant which) { return {0, numbers, static_cast<std::uint32_t>(32 * static_cast<int>(which))}; }

  /// VEX.256.66 with opcodes of 0F (`map` 1) or 0F3A (3).
  void instruction(std::uint8_t op, int to, int first, const Operand& second, int map = 1) {
    const bool is_memory = second.memory != 0;
    const int rm = is_memory ? second.memory : second.number;
    put({0xC4, static_cast<std::uint8_t>((to < 8 ? 0x80 : 0) | 0x40 | (rm < 8 ? 0x20 : 0) | map),
         static_cast<std::uint8_t>(((~first & 15) << 3) | 0x04 | 0x01), op,
         static_cast<std::uint8_t>((is_memory ? 0x80 : 0xC0) | ((to & 7) << 3) | (rm & 7))});
    if (!is_memory) return;
    for (int shift = 0; shift < 32; shift += 8) code_.push_back(static_cast<std::uint8_t>(second.offset >> shift));
  }

  void compare(int to, int first, const Operand& second, Comparison how) {
    instruction(compared, to, first, second);
    put({how});
  }
  /// to = mask ? second : first
  void blend(int to, int first, const Operand& second, int mask) {
    instruction(blended, to, first, second, 3);
    put({static_cast<std::uint8_t>(mask << 4)});
  }

  /// One half of the numbers of a place: in a register if they still are.
  [[nodiscard]] Operand operand(int place, int half) const {
    for (int pair = 0; pair < pairs; ++pair)
      if (held_[static_cast<std::size_t>(pair)] == place) return of_register(4 + 2 * pair + half);
    return {0, base, static_cast<std::uint32_t>(64 * place + 32 * half)};
  }
  /// The same in a register, `free` if they are in none.
  int in_register(int place, int half, int free) {
    const Operand from = operand(place, half);
    if (from.memory == 0) return from.number;
    instruction(load, free, 0, from);
    return free;
  }

  bool write(const PackedCode::Line& line) {
    const int result = 4 + 2 * next_;
    for (const int half : {0, 1}) {
      if (!write_half(line, result + half, half)) return false;
      instruction(store, result + half, 0, {0, base, static_cast<std::uint32_t>(64 * line.to + 32 * half)});
    }
    for (int& place : held_)
      if (place == line.to) place = -1;
    held_[static_cast<std::size_t>(next_)] = line.to;
    next_ = (next_ + 1) % pairs;
    return true;
  }

  static std::uint8_t arithmetic(Operation operation) {
    switch (operation) {
      case Operation::add: return sum;
      case Operation::subtract: return difference;
      case Operation::multiply: return product;
      case Operation::divide: return quotient;
      default: return 0;
    }
  }

  bool write_half(const PackedCode::Line& line, int to, int half) {
    if (const std::uint8_t op = arithmetic(line.operation); op != 0) {
      write_arithmetic(op, line, to, half);
      return true;
    }
    switch (line.operation) {
      case Operation::sqrt: instruction(root, to, 0, operand(line.a, half)); return true;
      case Operation::negate: instruction(different, to, in_register(line.a, half, half), constant(Constant::sign)); return true;
      case Operation::abs: instruction(both, to, in_register(line.a, half, half), constant(Constant::digits)); return true;
      case Operation::sign: write_sign(in_register(line.a, half, half), to); return true;
      case Operation::guard: write_guard(line, to, half); return true;
      default: return false;
    }
  }

  /// A sum or product with its first operand in memory and its second one in a register is the same the other way round.
  void write_arithmetic(std::uint8_t op, const PackedCode::Line& line, int to, int half) {
    const bool commutes = op == sum || op == product;
    const bool is_swapped = commutes && operand(line.a, half).memory != 0 && operand(line.b, half).memory == 0;
    const auto [a, b] = is_swapped ? std::pair(line.b, line.a) : std::pair(line.a, line.b);
    instruction(op, to, in_register(a, half, half), operand(b, half));
  }

  /// a 0, −1 where a < 0, 1 where a > 0.
  void write_sign(int a, int to) {
    constexpr int mask = 2;
    instruction(product, 3, a, constant(Constant::zero));
    compare(mask, a, constant(Constant::zero), less);
    blend(3, 3, constant(Constant::minus_one), mask);
    compare(mask, a, constant(Constant::zero), greater);
    blend(to, 3, constant(Constant::one), mask);
  }

  void write_guard(const PackedCode::Line& line, int to, int half) {
    constexpr int mask = 2;
    compare(mask, in_register(line.a, half, half), constant(Constant::zero), equal);
    blend(to, in_register(line.b, half, 3), constant(Constant::unweighted), mask);
  }

  std::vector<std::uint8_t> code_;
  std::array<int, pairs> held_{};  // the place whose numbers are in a pair of registers
  int next_ = 0;                   // that is used next
};

}  // namespace

PackedCode::PackedCode(std::span<const Line> lines) {
  if (__builtin_cpu_supports("avx2") == 0) return;
  const std::vector<std::uint8_t> code = Assembler().run(lines);
  if (code.empty()) return;
  void* pages = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return;
  std::memcpy(pages, code.data(), code.size());
  if (mprotect(pages, code.size(), PROT_READ | PROT_EXEC) != 0) {
    munmap(pages, code.size());
    return;
  }
  code_ = pages;
  size_ = code.size();
}

PackedCode::~PackedCode() {
  if (code_ != nullptr) munmap(code_, size_);
}
#else
PackedCode::PackedCode(std::span<const Line>) {}

PackedCode::~PackedCode() = default;
#endif

PackedCode::PackedCode(PackedCode&& other) noexcept { *this = std::move(other); }

PackedCode& PackedCode::operator=(PackedCode&& other) noexcept {
  std::swap(code_, other.code_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace perp
