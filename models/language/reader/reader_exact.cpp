#include <fmt/format.h>
#include <algorithm>

#include <perp/models/language/reader/context.hpp>

namespace perp::reader {
namespace {

/// The formulas of a piece.
struct PieceEntries {
  const Value* t = nullptr;
  std::vector<const Value*> entries{};
  std::vector<std::string> names{};
  std::vector<int> indices{};  ///< of the variables
};

PieceEntries piece_entries(const Context& context, const Value& table, const std::string& what,
                           const std::vector<Variable>& variables) {
  context.check_kind(table, Value::Kind::table, what);
  std::vector<std::string> keys{"t"};
  for (const Variable& variable : variables) keys.push_back(variable.name);
  context.check_keys(table, what, keys);
  const Member* t = table.find("t");
  if (t == nullptr)
    context.document().fail(table,
                            fmt::format("'t' is missing in {}; expected t = [start, end]", what));
  PieceEntries piece{.t = &t->value};
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Member* member = table.find(variables[i].name);
    if (member == nullptr) continue;
    piece.entries.push_back(&member->value);
    piece.names.push_back(fmt::format("{} of {}", variables[i].name, what));
    piece.indices.push_back(static_cast<int>(i));
  }
  if (piece.entries.empty())
    context.document().fail(table, what + " has no variable; expected at least one");
  return piece;
}

ExactPiece read_piece(const Context& context, const Value& table, const std::string& what,
                      const std::vector<Variable>& variables) {
  const PieceEntries piece = piece_entries(context, table, what, variables);
  const Range range = context.range(*piece.t, "t of " + what, Finite::yes);
  if (range.upper <= range.lower)
    context.document().fail(*piece.t, fmt::format("t of {} = [{}, {}] ends before it starts", what,
                                                  range.lower, range.upper));
  const Signal signal = context.signal(piece.entries, piece.names, range.lower);
  const auto x = [signal, indices = piece.indices](double time, Vector& state) {
    const Vector value = signal(time);
    for (std::size_t k = 0; k < indices.size(); ++k)
      state[indices[k]] = value[static_cast<Eigen::Index>(k)];
  };
  return {{range.lower, range.upper}, x};
}

/// The list of pieces.
const Value& pieces_of(const Context& context, const Value& table) {
  context.check_kind(table, Value::Kind::table, "exact");
  context.check_keys(table, "[exact]", {"pieces"});
  const Member* pieces = table.find("pieces");
  if (pieces == nullptr)
    context.document().fail(table, "'pieces' is missing in [exact]; expected a list of tables");
  context.check_kind(pieces->value, Value::Kind::list, "pieces of [exact]");
  return pieces->value;
}

}  // namespace

std::vector<ExactPiece> read_exact(const Context& context, const Value& table,
                                   const std::vector<Variable>& variables) {
  std::vector<ExactPiece> exact;
  for (const Value& item : pieces_of(context, table).items) {
    const std::string what = fmt::format("piece {}", exact.size() + 1);
    ExactPiece piece = read_piece(context, item, what, variables);
    if (!exact.empty() && piece.span.start < exact.back().span.end)
      context.document().fail(
          item, fmt::format("{} starts at {} but the piece before it ends at {}", what,
                            piece.span.start, exact.back().span.end));
    exact.push_back(std::move(piece));
  }
  return exact;
}

void check_exact(const Context& context, const Value& table, const std::vector<Variable>& variables) {
  std::size_t count = 0;
  for (const Value& item : pieces_of(context, table).items) {
    const std::string what = fmt::format("piece {}", ++count);
    PieceEntries piece = piece_entries(context, item, what, variables);
    context.check_kind(*piece.t, Value::Kind::list, "t of " + what);
    for (const Value& end : piece.t->items) {
      piece.entries.push_back(&end);
      piece.names.push_back("t of " + what);
    }
    context.check_signal(piece.entries, piece.names);
  }
}

}  // namespace perp::reader
