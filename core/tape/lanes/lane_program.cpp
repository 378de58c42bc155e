#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/lanes/lane_program.hpp>
#include <perp/core/tape/lanes/row_program.hpp>

namespace perp {
namespace {

constexpr int fewest_lanes = 8;     ///< shorter pieces are put together with their neighbours
constexpr int outputs_of_block = 512;
constexpr int rounded_lanes = 8;    ///< places of results are multiples of these
constexpr int least_lines = 512;    ///< of tapes that are worth a program of lanes
constexpr long worthwhile_lanes = 16;  ///< in the mean

using Lanes = LaneProgram::Lanes;

bool are_same(const std::vector<int>& list) {
  return std::all_of(list.begin(), list.end(), [&](int k) { return k == list[0]; });
}

/// Is every number of the list by `step` larger than the one before?
bool has_steps(const std::vector<int>& list, int step) {
  for (std::size_t k = 1; k < list.size(); ++k)
    if (list[k] - list[k - 1] != step) return false;
  return true;
}

class LaneProgramMaker {
 public:
  LaneProgramMaker(const Tape& tape, std::span<const int> outputs, std::size_t split,
                   const std::vector<char>& is_known)
      : tape_(tape),
        outputs_(outputs),
        split_(split),
        is_known_(is_known),
        form_(at(tape.size()), -1),
        piece_(at(tape.size()), -1),
        lane_(at(tape.size()), -1),
        first_output_(at(tape.size()), -1),
        next_output_(outputs.size(), -1) {}

  std::optional<LaneProgram> operator()() {
    find_forms();
    if (lines_ < worthwhile_lanes * forms_.size()) return std::nullopt;
    for (int form = forms_.size() - 1; form >= 0; --form) cut(form);
    if (lines_ < worthwhile_lanes * static_cast<long>(pieces_.size())) return std::nullopt;
    for (Piece& piece : pieces_) piece.needs = used_by(piece);
    order_pieces();
    find_uses();
    place_numbers();
    find_known_outputs();
    for (const int piece : order_) emit(piece);
    store_inputs();
    for (const bool is_second : {false, true})
      for (std::size_t block = 0; block < blocks_[is_second].size(); ++block)
        copy_block(static_cast<int>(block), is_second);
    program_.size = end_;
    return std::move(program_);
  }

 private:
  /// Where a line is used first: pieces of what other pieces use in one place have their order.
  struct Use {
    int form = -1, side = 0, piece = -1, lane = 0;
    auto operator<=>(const Use&) const = default;
  };
  struct Piece {
    std::vector<int> lines;
    int first = 0;             ///< smallest line
    std::vector<int> needs{};  ///< pieces that it uses
    int uses = 0;    ///< pieces that use it
    int place = -1;  ///< of its results
    bool is_met = false;
  };

  [[nodiscard]] bool is_leaf(int line) const {
    return is_known_[at(line)] != 0 || tape_[line].operation == Operation::input;
  }
  template <class Visit>
  void for_operands(int line, const Visit& visit) const {
    if (tape_[line].a >= 0) visit(tape_[line].a, 0);
    if (tape_[line].b >= 0) visit(tape_[line].b, 1);
  }

  /// A form is a line of a tape on which all known numbers are one and all inputs are one.
  void find_forms() {
    const int number = forms_.constant(0), input = forms_.input(0);
    const std::vector<bool> needed = needed_lines(tape_, outputs_);
    for (int line = 0; line < tape_.size(); ++line) {
      if (!needed[at(line)]) continue;
      const Instruction& here = tape_[line];
      int& form = form_[at(line)];
      if (is_leaf(line)) {
        form = is_known_[at(line)] != 0 ? number : input;
        continue;
      }
      form = forms_.apply(here.operation, form_[at(here.a)], here.b < 0 ? -1 : form_[at(here.b)]);
      members_.resize(at(forms_.size()));
      members_[at(form)].push_back(line);
      ++lines_;
    }
    members_.resize(at(forms_.size()));
    uses_.resize(at(tape_.size()));
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      const int line = outputs_[k];
      next_output_[k] = std::exchange(first_output_[at(line)], static_cast<int>(k));
      Use& use = uses_[at(line)];
      if (use.form < 0) use = {forms_.size(), 0, 0, static_cast<int>(k)};
    }
  }

  /// Lines of one form in the order of their uses, in pieces that one piece uses in one place. Uses
  /// are of later forms, which are cut before.
  void cut(int form) {
    std::vector<int>& lines = members_[at(form)];
    sort_by_uses(lines);
    std::size_t from = 0;
    while (from < lines.size()) {
      std::size_t to = end_of_piece(lines, from);
      // Short ones together.
      while (to < lines.size() && to - from < at(most_lanes) && is_short(lines, from, to))
        to = std::min(end_of_piece(lines, to), from + at(most_lanes));
      add_piece(std::span(lines).subspan(from, to - from));
      from = to;
    }
  }

  void sort_by_uses(std::vector<int>& lines) {
    const auto earlier = [&](int a, int b) { return uses_[at(a)] < uses_[at(b)]; };
    if (std::is_sorted(lines.begin(), lines.end(), earlier)) return;
    // The four numbers of a use, none of them negative, as two: they are compared often.
    struct Place {
      std::uint64_t form, lane;
      int line;
      bool operator<(const Place& other) const {
        return form != other.form ? form < other.form : lane < other.lane;
      }
    };
    const auto pair = [](int a, int b) { return std::uint64_t{static_cast<std::uint32_t>(a)} << 32 | static_cast<std::uint32_t>(b); };
    std::vector<Place> places;
    places.reserve(lines.size());
    for (const int line : lines) {
      const Use& use = uses_[at(line)];
      places.push_back({pair(use.form, use.side), pair(use.piece, use.lane), line});
    }
    std::sort(places.begin(), places.end());
    std::transform(places.begin(), places.end(), lines.begin(), [](const Place& place) { return place.line; });
  }

  [[nodiscard]] std::size_t end_of_piece(const std::vector<int>& lines, std::size_t from) const {
    const Use& first = uses_[at(lines[from])];
    std::size_t to = from;
    for (; to < lines.size() && to - from < at(most_lanes); ++to) {
      const Use& use = uses_[at(lines[to])];
      if (std::tie(use.form, use.side, use.piece) != std::tie(first.form, first.side, first.piece))
        break;
    }
    return to;
  }

  /// Is the piece that ends at `to`, and the next one, short?
  [[nodiscard]] bool is_short(const std::vector<int>& lines, std::size_t from, std::size_t to) const {
    const auto last = uses_[at(lines[to - 1])];
    std::size_t begin = to - 1;
    while (begin > from && to - begin < at(fewest_lanes)) {
      const Use& use = uses_[at(lines[begin - 1])];
      if (std::tie(use.form, use.side, use.piece) != std::tie(last.form, last.side, last.piece))
        break;
      --begin;
    }
    return to - begin < at(fewest_lanes) && end_of_piece(lines, to) - to < at(fewest_lanes);
  }

  void add_piece(std::span<const int> lines) {
    const int number = static_cast<int>(pieces_.size());
    pieces_.push_back({{lines.begin(), lines.end()}, *std::min_element(lines.begin(), lines.end())});
    for (std::size_t lane = 0; lane < lines.size(); ++lane) {
      const int line = lines[lane];
      piece_[at(line)] = number;
      lane_[at(line)] = static_cast<int>(lane);
      for_operands(line, [&](int operand, int side) {
        Use& use = uses_[at(operand)];
        if (use.form < 0 || use.form == forms_.size())
          use = {form_[at(line)], side, number, static_cast<int>(lane)};
      });
    }
  }

  /// By their lines, each behind the pieces that it uses.
  void order_pieces() {
    std::vector<int> by_line(pieces_.size());
    for (std::size_t k = 0; k < by_line.size(); ++k) by_line[k] = static_cast<int>(k);
    std::sort(by_line.begin(), by_line.end(),
              [&](int a, int b) { return pieces_[at(a)].first < pieces_[at(b)].first; });
    std::vector<std::pair<int, bool>> open;  // pieces, and whether what they use is ordered
    for (const int root : by_line) {
      open.emplace_back(root, false);
      while (!open.empty()) {
        const auto [number, is_ready] = open.back();
        open.pop_back();
        Piece& piece = pieces_[at(number)];
        if (is_ready) {
          order_.push_back(number);
          continue;
        }
        if (std::exchange(piece.is_met, true)) continue;
        open.emplace_back(number, true);
        for (const int other : piece.needs)
          if (!pieces_[at(other)].is_met) open.emplace_back(other, false);
      }
    }
  }

  [[nodiscard]] std::vector<int> used_by(const Piece& piece) const {
    std::vector<int> list;
    for (const int line : piece.lines)
      for_operands(line, [&](int operand, int /*side*/) {
        if (!is_leaf(operand) && (list.empty() || list.back() != piece_[at(operand)]))
          list.push_back(piece_[at(operand)]);
      });
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  }

  void find_uses() {
    for (const Piece& piece : pieces_)
      for (const int other : piece.needs) ++pieces_[at(other)].uses;
  }

  /// Operands that are known, and outputs; those that differ from lane to lane stand in the order of
  /// the lanes.
  void place_numbers() {
    for (std::size_t number = 0; number < pieces_.size(); ++number)
      for (const int side : {0, 1}) {
        const std::vector<int> lines = operands(pieces_[number], side);
        if (!lines.empty() && is_known_[at(lines[0])] != 0)
          numbers_[{static_cast<int>(number), side}] = place_of_numbers(lines);
      }
    end_ = rounded(end_);
  }

  /// Outputs that are known are copied by blocks, right before what is computed is stored in them.
  void find_known_outputs() {
    const auto blocks = [](std::size_t count) { return (count + at(outputs_of_block) - 1) / at(outputs_of_block); };
    blocks_[0].assign(blocks(split_), 0);
    blocks_[1].assign(blocks(outputs_.size() - split_), 0);
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      if (is_known_[at(outputs_[k])] == 0) continue;
      program_.known_outputs.push_back({static_cast<int>(k), outputs_[k]});
      blocks_[k >= split_][(k - (k >= split_ ? split_ : 0)) / at(outputs_of_block)] = 1;
    }
  }

  void copy_block(int block, bool is_second) {
    if (std::exchange(blocks_[is_second][at(block)], 0) == 0) return;
    const int from = block * outputs_of_block;
    const auto all = static_cast<int>(is_second ? outputs_.size() - split_ : split_);
    program_.instructions.push_back({Operation::constant, std::min(outputs_of_block, all - from),
                                     is_second ? 1 : 0, {Lanes::Of::values, Lanes::By::lanes, from}, {}});
  }

  int place_of_numbers(const std::vector<int>& lines) {
    const bool is_one = are_same(lines);
    const auto [known, is_new] =
        is_one ? number_of_.try_emplace(lines[0], end_) : std::pair(number_of_.end(), true);
    if (!is_new) return known->second;
    program_.known.insert(program_.known.end(), lines.begin(), is_one ? lines.begin() + 1 : lines.end());
    return std::exchange(end_, static_cast<int>(program_.known.size()));
  }

  [[nodiscard]] std::vector<int> operands(const Piece& piece, int side) const {
    std::vector<int> lines;
    for (const int line : piece.lines) {
      const int operand = side == 0 ? tape_[line].a : tape_[line].b;
      if (operand >= 0) lines.push_back(operand);
    }
    return lines;
  }

  static int rounded(int count) { return (count + rounded_lanes - 1) / rounded_lanes * rounded_lanes; }

  Lanes operand(int number, int side) {
    std::vector<int> lines = operands(pieces_[at(number)], side);
    if (lines.empty()) return {};
    if (is_known_[at(lines[0])] != 0) {
      const bool is_one = lines.size() > 1 && are_same(lines);
      return {Lanes::Of::values, is_one ? Lanes::By::one : Lanes::By::lanes, numbers_.at({number, side})};
    }
    const bool is_input = tape_[lines[0]].operation == Operation::input;
    for (int& line : lines)
      line = is_input ? tape_[line].a : pieces_[at(piece_[at(line)])].place + lane_[at(line)];
    return program_.lanes_at(lines, is_input ? Lanes::Of::inputs : Lanes::Of::values);
  }

  void emit(int number) {
    Piece& piece = pieces_[at(number)];
    const int count = static_cast<int>(piece.lines.size());
    piece.place = take(count);
    const Lanes a = operand(number, 0), b = operand(number, 1);
    program_.instructions.push_back({tape_[piece.lines[0]].operation, count, piece.place, a, b});
    store(piece.lines, [&](int line) { return piece.place + lane_[at(line)]; }, Lanes::Of::values);
    for (const int other : piece.needs)
      if (--pieces_[at(other)].uses == 0) give_back(pieces_[at(other)]);
    if (piece.uses == 0) give_back(piece);
  }

  /// A place for the results of as many lanes.
  int take(int count) {
    std::vector<int>& free = free_[rounded(count)];
    if (free.empty()) return std::exchange(end_, end_ + rounded(count));
    const int place = free.back();
    free.pop_back();
    return place;
  }
  void give_back(const Piece& piece) {
    free_[rounded(static_cast<int>(piece.lines.size()))].push_back(piece.place);
  }

  /// The outputs that these lines are.
  template <class Place>
  void store(const std::vector<int>& lines, const Place& place, Lanes::Of of) {
    for (const bool is_second : {false, true}) {
      std::vector<std::pair<int, int>> pairs;
      for (const int line : lines)
        for (int output = first_output_[at(line)]; output >= 0; output = next_output_[at(output)])
          if ((at(output) >= split_) == is_second) pairs.emplace_back(output, place(line));
      if (pairs.empty()) continue;
      std::sort(pairs.begin(), pairs.end());
      std::vector<int> from, to;
      for (const auto& [output, value] : pairs) {
        from.push_back(value);
        to.push_back(output - (is_second ? static_cast<int>(split_) : 0));
        copy_block(to.back() / outputs_of_block, is_second);
      }
      const Lanes source = program_.lanes_at(from, of), target = program_.lanes_at(to, Lanes::Of::values);
      program_.instructions.push_back(
          {Operation::input, static_cast<int>(from.size()), is_second ? 1 : 0, source, target});
    }
  }

  void store_inputs() {
    std::vector<int> lines;
    for (const int line : outputs_)
      if (is_known_[at(line)] == 0 && tape_[line].operation == Operation::input) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    store(lines, [&](int line) { return tape_[line].a; }, Lanes::Of::inputs);
  }

  const Tape& tape_;
  std::span<const int> outputs_;
  std::size_t split_;
  const std::vector<char>& is_known_;
  Tape forms_;
  std::vector<int> form_, piece_, lane_;  // of each line
  std::vector<int> first_output_, next_output_;  // of each line, behind each output of the same line
  std::vector<Use> uses_;
  std::vector<std::vector<int>> members_;  // of each form
  std::vector<Piece> pieces_;
  std::vector<int> order_;
  long lines_ = 0;                              // that are computed
  std::map<int, int> number_of_;                // places of known lines that stand alone
  std::map<std::pair<int, int>, int> numbers_;  // of operands that are known, by piece and side
  std::array<std::vector<char>, 2> blocks_;     // of first and second outputs: still to be copied
  std::map<int, std::vector<int>> free_;        // places of results by their length
  int end_ = 0;
  LaneProgram program_;
};

}  // namespace

LaneProgram::Lanes LaneProgram::lanes_at(const std::vector<int>& places, Lanes::Of of) {
  if (places.size() > 1 && are_same(places)) return {of, Lanes::By::one, places[0]};
  const int step = places.size() > 1 ? places[1] - places[0] : 1;
  const bool has_step = has_steps(places, step);
  if (has_step && step == 1) return {of, Lanes::By::lanes, places[0]};
  const auto behind = static_cast<int>(indices.size());
  if (has_step) {
    indices.insert(indices.end(), {places[0], step});
    return {of, Lanes::By::steps, behind};
  }
  indices.insert(indices.end(), places.begin(), places.end());
  return {of, Lanes::By::list, behind};
}

std::optional<LaneProgram> lane_program(const Tape& tape, std::span<const int> outputs, std::size_t split,
                                        const std::vector<char>& is_known) {
  if (tape.size() < least_lines) return std::nullopt;
  if (std::optional<LaneProgram> rows = row_program(tape, outputs, split, is_known)) return rows;
  return LaneProgramMaker(tape, outputs, split, is_known)();
}

}  // namespace perp
