#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <unordered_set>
#include <utility>

#include <perp/core/tape/tape.hpp>

namespace perp {

namespace {

constexpr std::size_t first_slots = 16;
constexpr int near_slots = 8;
constexpr std::size_t many_slots = std::size_t{1} << 18U;

std::uint32_t hash_of(const Instruction& line) {
  std::uint64_t hash = static_cast<std::uint64_t>(line.operation);
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
  };
  mix(static_cast<std::uint32_t>(line.a) | std::uint64_t{static_cast<std::uint32_t>(line.b)} << 32);
  mix(std::bit_cast<std::uint64_t>(line.value));
  return static_cast<std::uint32_t>(hash >> 32);
}

bool is_same(const Instruction& x, const Instruction& y) {
  // Constants by their bits: 0 and -0 differ, a NaN equals itself.
  return x.operation == y.operation && x.a == y.a && x.b == y.b &&
         std::bit_cast<std::uint64_t>(x.value) == std::bit_cast<std::uint64_t>(y.value);
}

}  // namespace

/// The slot of the line, or the free one where it belongs.
std::size_t Tape::place_of(const Instruction& instruction, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  const auto is_met = [&](std::size_t place) {
    const Slot& slot = slots_[place];
    return slot.line < 0 || (slot.hash == hash &&
                             is_same((*this)[slot.line], instruction));
  };
  const int latest = std::max(instruction.a, instruction.b);
  std::size_t place = latest < 0 ? hash : 2 * static_cast<std::size_t>(latest);
  for (int k = 0; k < near_slots; ++k, ++place)
    if (is_met(place & mask)) return place & mask;
  for (place = hash; !is_met(place & mask);) ++place;
  return place & mask;
}

void Tape::grow() {
  // Each time costs all lines again; of many the room counts more.
  std::size_t slots = slots_.empty() ? first_slots : (slots_.size() < many_slots ? 4 : 2) * slots_.size();
  while (2 * (static_cast<std::size_t>(size()) + 1) > slots) slots *= slots < many_slots ? 4 : 2;
  std::vector<Slot>().swap(slots_);  // before there are the new ones
  slots_.assign(slots, {});
  for (int k = 0; k < size(); ++k) {
    const Instruction& line = (*this)[k];
    const std::uint32_t hash = hash_of(line);
    slots_[place_of(line, hash)] = {hash, k};
  }
}

/// The lines, which no other tape has from now on.
Tape::Lines& Tape::own() {
  if (!lines_) {
    lines_ = std::make_shared<Lines>();
  } else if (lines_.use_count() > 1) {
    lines_ = std::make_shared<Lines>(*lines_);
  } else {
    std::atomic_thread_fence(std::memory_order_acquire);  // behind what the last of the others read
  }
  return *lines_;
}

void Tape::settle() {
  std::vector<Slot>().swap(slots_);
  if (lines_ && lines_.use_count() == 1) own().shrink_to_fit();
}

int Tape::line(const Instruction& instruction) {
  if (2 * (static_cast<std::size_t>(size()) + 1) > slots_.size()) grow();
  const std::uint32_t hash = hash_of(instruction);
  Slot& slot = slots_[place_of(instruction, hash)];
  if (slot.line >= 0) return slot.line;
  slot = {hash, size()};
  own().push_back(instruction);
  return slot.line;
}

int Tape::constant(double value) { return line({Operation::constant, -1, -1, value}); }

int Tape::input(int index) { return line({Operation::input, index, -1, 0}); }

int Tape::apply(Operation operation, int a, int b) { return line({operation, a, b, 0}); }

std::vector<bool> needed_lines(const Tape& tape, std::span<const int> outputs) {
  std::vector<bool> needed(static_cast<std::size_t>(tape.size()));
  const auto mark = [&needed](int line) {
    if (line >= 0) needed[static_cast<std::size_t>(line)] = true;
  };
  for (const int output : outputs) mark(output);
  for (int k = tape.size() - 1; k >= 0; --k) {
    if (!needed[static_cast<std::size_t>(k)] || tape[k].operation == Operation::input) continue;
    mark(tape[k].a);
    mark(tape[k].b);
  }
  return needed;
}

Tape bind_inputs(const Tape& tape, std::span<const double> known, std::span<int> outputs) {
  return bind_inputs(tape, 0, known, outputs);
}

namespace {

/// The number of an input that stays where those from `first` to first + gone go.
int renumbered(int input, int first, int gone) { return input < first ? input : input - gone; }

/// The lines that are needed, without the inputs from `first` to first + gone: lines that differ go on to
/// differ.
Tape part_of(const Tape& tape, const std::vector<bool>& needed, int first, int gone, std::span<int> outputs) {
  std::vector<Instruction> lines;
  std::vector<int> renamed(needed.size(), -1);
  const auto place = [&](int old) {  // constants are written where they are used, once
    if (old < 0) return -1;
    int& line = renamed[static_cast<std::size_t>(old)];
    if (line < 0) {
      line = static_cast<int>(lines.size());
      lines.push_back(tape[old]);
    }
    return line;
  };
  for (std::size_t k = 0; k < needed.size(); ++k) {
    Instruction line = tape[static_cast<int>(k)];
    if (!needed[k] || line.operation == Operation::constant) continue;
    if (line.operation == Operation::input) {
      line.a = renumbered(line.a, first, gone);
    } else {
      line.a = place(line.a);
      line.b = place(line.b);
    }
    renamed[k] = static_cast<int>(lines.size());
    lines.push_back(line);
  }
  for (int& output : outputs) output = place(output);
  return Tape(std::move(lines));
}

}  // namespace

Tape Tape::part(std::span<int> outputs) const {
  return part_of(*this, needed_lines(*this, outputs), 0, 0, outputs);
}

namespace {

/// Lines that depend on known inputs only, with their values.
struct KnownLines {
  std::vector<double> value{};
  std::vector<bool> is_known{};
};

/// Line k of operands that are known, or not, already.
void learn_operation(const Instruction& line, std::size_t k, KnownLines& lines) {
  auto& [value, is_known] = lines;
  const auto a = static_cast<std::size_t>(line.a), b = static_cast<std::size_t>(line.b);
  is_known[k] = (line.a < 0 || is_known[a]) && (line.b < 0 || is_known[b]);
  if (!is_known[k]) return;
  const double x = line.a < 0 ? 0 : value[a];
  value[k] = apply_operation(line.operation, x, line.b < 0 ? x : value[b]);
}

KnownLines known_lines(const Tape& tape, int first, std::span<const double> known) {
  const int behind = first + static_cast<int>(known.size());
  const auto count = static_cast<std::size_t>(tape.size());
  KnownLines lines{std::vector<double>(count), std::vector<bool>(count)};
  for (std::size_t k = 0; k < count; ++k) {
    const Instruction& line = tape[static_cast<int>(k)];
    if (line.operation == Operation::constant) {
      lines.is_known[k] = true;
      lines.value[k] = line.value;
    } else if (line.operation == Operation::input) {
      lines.is_known[k] = line.a >= first && line.a < behind;
      if (lines.is_known[k]) lines.value[k] = known[static_cast<std::size_t>(line.a - first)];
    } else {
      learn_operation(line, k, lines);
    }
  }
  return lines;
}

/// Does a line that is needed become a number?
bool is_any_made_known(const Tape& tape, const std::vector<bool>& needed, const std::vector<bool>& is_known) {
  for (std::size_t k = 0; k < needed.size(); ++k)
    if (needed[k] && is_known[k] && tape[static_cast<int>(k)].operation != Operation::constant) return true;
  return false;
}

/// Lines that are needed, with numbers for what is known, one behind the other: constants are written where they are
/// used, once.
class BoundLines {
 public:
  BoundLines(const Tape& tape, const KnownLines& known, int first, int gone)
      : tape_(tape), known_(known), first_(first), gone_(gone), renamed_(known.value.size(), -1) {}

  /// Have all numbers so far different values?
  [[nodiscard]] bool differ() const { return differ_; }
  void add(std::size_t k) {
    Instruction line = tape_[static_cast<int>(k)];
    if (line.operation == Operation::input) {
      line.a = renumbered(line.a, first_, gone_);
    } else {
      line.a = place(line.a);
      line.b = place(line.b);
    }
    renamed_[k] = static_cast<int>(lines_.size());
    lines_.push_back(line);
  }
  int place(int old) {
    if (old < 0) return -1;
    int& line = renamed_[static_cast<std::size_t>(old)];
    if (line >= 0) return line;
    const double value = known_.value[static_cast<std::size_t>(old)];
    differ_ = values_.insert(std::bit_cast<std::uint64_t>(value)).second && differ_;
    line = static_cast<int>(lines_.size());
    lines_.push_back({Operation::constant, -1, -1, value});
    return line;
  }
  Tape tape() { return Tape(std::move(lines_)); }

 private:
  const Tape& tape_;
  const KnownLines& known_;
  int first_, gone_;
  std::vector<Instruction> lines_;
  std::vector<int> renamed_;
  std::unordered_set<std::uint64_t> values_;
  bool differ_ = true;
};

/// Where numbers that are used differ from each other no two lines become one, and none is looked for. Empty: two of
/// them have one value.
std::optional<Tape> bound_part(const Tape& tape, const std::vector<bool>& needed, const KnownLines& known, int first,
                               int gone, std::span<int> outputs) {
  BoundLines lines(tape, known, first, gone);
  for (std::size_t k = 0; k < needed.size() && lines.differ(); ++k)
    if (needed[k] && !known.is_known[k]) lines.add(k);
  std::vector<int> placed;
  for (const int output : outputs) placed.push_back(lines.differ() ? lines.place(output) : -1);
  if (!lines.differ()) return std::nullopt;
  std::copy(placed.begin(), placed.end(), outputs.begin());
  return lines.tape();
}

/// The same, whatever becomes one.
Tape bound_lines(const Tape& tape, const std::vector<bool>& needed, const KnownLines& known, int first, int gone,
                 std::span<int> outputs) {
  Tape bound;
  std::vector<int> renamed(needed.size(), -1);
  const auto place = [&](int old) {  // constants are written where they are used, once
    if (old < 0) return -1;
    int& line = renamed[static_cast<std::size_t>(old)];
    if (line < 0) line = bound.constant(known.value[static_cast<std::size_t>(old)]);
    return line;
  };
  for (std::size_t k = 0; k < needed.size(); ++k) {
    if (!needed[k] || known.is_known[k]) continue;
    const Instruction& line = tape[static_cast<int>(k)];
    if (line.operation == Operation::input) {
      renamed[k] = bound.input(renumbered(line.a, first, gone));
    } else {
      const int a = place(line.a);
      renamed[k] = bound.apply(line.operation, a, place(line.b));
    }
  }
  for (int& output : outputs) output = place(output);
  return bound;
}

}  // namespace

Tape bind_inputs(const Tape& tape, int first, std::span<const double> known,
                 std::span<int> outputs) {
  const std::vector<bool> needed = needed_lines(tape, outputs);
  const KnownLines lines = known_lines(tape, first, known);
  const auto gone = static_cast<int>(known.size());
  if (!is_any_made_known(tape, needed, lines.is_known)) return part_of(tape, needed, first, gone, outputs);
  if (std::optional<Tape> part = bound_part(tape, needed, lines, first, gone, outputs)) return *std::move(part);
  return bound_lines(tape, needed, lines, first, gone, outputs);
}

}  // namespace perp
