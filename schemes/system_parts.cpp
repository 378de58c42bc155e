// Systems that are several without coupling: the run of each goes by its own steps, see `integrate`.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/rewriting/moved_inputs.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/lcp/structure/balanced_blocks.hpp>
#include <perp/schemes/system_parts.hpp>

namespace perp {
namespace {

/// The connected components of the nodes: variables, laws, then equations.
linear::DisjointSets connections(const SparseLcs& lcs) {
  const int n = lcs.n(), m = lcs.m(), equations = n + m;
  linear::DisjointSets sets(2 * n + m);
  const auto join = [&](const linear::SparseMatrix& entries, int first_row, int first_column) {
    for (int i = 0; i < entries.rows(); ++i)
      for (const auto& [column, value] : entries.row(i)) sets.join(first_row + i, first_column + column);
  };
  join(lcs.A, equations, 0);
  join(lcs.E, equations, 0);
  join(lcs.B, equations, n);
  join(lcs.C, n, 0);
  join(lcs.D, n, n);
  join_functions_of_time(sets, n, m);
  return sets;
}

/// These rows, increasing, of a signal.
Signal part_of(const Signal& signal, const std::vector<int>& rows) {
  if (signal.size() == 0) return {};
  Vector value = signal.constant()(rows);
  std::vector<int> varying, lines, from;  // their places here, in the tape, there
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto place = std::lower_bound(signal.varying().begin(), signal.varying().end(), rows[k]);
    if (place == signal.varying().end() || *place != rows[k]) continue;
    varying.push_back(static_cast<int>(k));
    from.push_back(rows[k]);
    if (signal.tape() != nullptr) lines.push_back(signal.lines()[at(place - signal.varying().begin())]);
  }
  if (varying.empty()) return {std::move(value)};
  if (signal.tape() != nullptr) {
    auto tape = std::make_shared<const Tape>(bind_inputs(*signal.tape(), {}, lines));
    return {std::move(value), std::move(varying), std::move(tape), std::move(lines)};
  }
  return {std::move(value), varying, [signal, varying, from](double t, Vector& part) {
            const Vector whole = signal(t);
            for (std::size_t k = 0; k < from.size(); ++k) part[varying[k]] = whole[from[k]];
          }};
}

LcsPart part_of(const SparseLcs& whole, const Block& block) {
  LcsPart part{block.u, block.lambda, {}};
  part.system = {.E = whole.E.part(block.equations, block.u),
                 .A = whole.A.part(block.equations, block.u),
                 .B = whole.B.part(block.equations, block.lambda),
                 .b = part_of(whole.b, block.equations),
                 .C = whole.C.part(block.lambda, block.u),
                 .D = whole.D.part(block.lambda, block.lambda),
                 .q = part_of(whole.q, block.lambda),
                 .laws = {}};
  for (const int i : block.lambda) part.system.laws.push_back(whole.laws[at(i)]);
  return part;
}

/// What depends on what, by the form of F and G; nodes as above.
linear::DisjointSets connections(const Dcs& dcs) {
  const int n = dcs.n(), m = dcs.m();
  linear::DisjointSets sets(2 * n + m);
  InputsBelow inputs_of(dcs.tape);
  const auto join = [&](int node, int line) {
    for (const int input : inputs_of(line)) {
      if (input == Dcs::time_input() || input >= dcs.parameter_input(0)) continue;
      const bool is_multiplier = input >= dcs.multiplier_input(0);
      sets.join(node, is_multiplier ? n + input - dcs.multiplier_input(0) : (input - 1) % n);
    }
  };
  for (int i = 0; i < m; ++i) join(n + i, dcs.G[at(i)]);
  for (int j = 0; j < n; ++j) join(n + m + j, dcs.F[at(j)]);
  join_functions_of_time(sets, n, m);
  return sets;
}

DcsPart part_of(const Dcs& whole, const Block& block) {
  DcsPart part{block.u, block.lambda, {}};
  Dcs& own = part.system;
  own.parameters = whole.parameters;
  for (const int i : block.lambda) own.laws.push_back(whole.laws[at(i)]);
  std::vector<int> lines;
  for (const int j : block.equations) lines.push_back(whole.F[at(j)]);
  own.F = lines;  // for their number, which the inputs are counted by
  for (const int i : block.lambda) lines.push_back(whole.G[at(i)]);
  const auto place = [](const std::vector<int>& list, int k) {
    return static_cast<int>(std::lower_bound(list.begin(), list.end(), k) - list.begin());
  };
  own.tape = with_moved_inputs(
      whole.tape,
      [&](int input) {
        if (input == Dcs::time_input()) return input;
        if (input >= whole.parameter_input(0)) return own.parameter_input(input - whole.parameter_input(0));
        if (input >= whole.multiplier_input(0))
          return own.multiplier_input(place(block.lambda, input - whole.multiplier_input(0)));
        const int j = place(block.u, (input - 1) % whole.n());
        return input < whole.variable_input(0) ? own.derivative_input(j) : own.variable_input(j);
      },
      lines);
  const auto n = static_cast<std::ptrdiff_t>(own.F.size());
  own.F.assign(lines.begin(), lines.begin() + n);
  own.G.assign(lines.begin() + n, lines.end());
  return part;
}

}  // namespace

std::vector<LcsPart> independent_parts(const SparseLcs& whole) {
  std::vector<LcsPart> parts;
  const std::vector<Block> blocks = balanced_blocks(connections(whole), whole.n(), whole.m());
  if (blocks.size() == 1)
    parts.push_back({blocks.front().u, blocks.front().lambda, whole});
  else
    for (const Block& block : blocks) parts.push_back(part_of(whole, block));
  return parts;
}

std::vector<DcsPart> independent_parts(const Dcs& whole) {
  std::vector<DcsPart> parts;
  validate(whole);
  if (whole.n() == 0 || !whole.resets.empty()) return parts;
  const std::vector<Block> blocks = balanced_blocks(connections(whole), whole.n(), whole.m());
  for (const Block& block : blocks) parts.push_back(part_of(whole, block));
  return parts;
}

}  // namespace perp
