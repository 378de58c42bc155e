// Systems that are several without coupling: the run of each goes by its own steps, see `integrate`.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/moved_inputs.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/lcp/structure/balanced_blocks.hpp>
#include <perp/schemes/system_parts.hpp>

namespace perp {
namespace {

bool has_rows(const Signal& signal, int rows) {
  const std::vector<int>& varying = signal.varying();
  return signal.size() == 0 || (signal.size() == rows && std::is_sorted(varying.begin(), varying.end()) &&
                                (varying.empty() || (varying.front() >= 0 && varying.back() < rows)));
}

/// The connected components of the nodes: variables, laws, then equations.
class Connections {
 public:
  explicit Connections(const Lcs& lcs) : n_(lcs.n()), m_(lcs.m()), sets_(2 * n_ + m_) {
    is_usable_ = n_ > 0 && has_rows(lcs.b, n_) && has_rows(lcs.q, m_);
    const int equations = n_ + m_;
    join(lcs.A, {equations, n_}, {0, n_});
    if (lcs.E.size() == 0)
      for (int i = 0; i < n_; ++i) sets_.join(equations + i, i);
    else
      join(lcs.E, {equations, n_}, {0, n_});
    if (m_ == 0) return;
    join(lcs.B, {equations, n_}, {n_, m_});
    join(lcs.C, {n_, m_}, {0, n_});
    if (lcs.D.size() > 0) join(lcs.D, {n_, m_}, {n_, m_});
  }

  /// False: a shape does not fit, or an entry is not finite.
  [[nodiscard]] bool is_usable() const { return is_usable_; }
  /// A law of a function of time that nothing reads has no variable of its own: it goes with the first.
  linear::DisjointSets take() {
    for (int node = n_; node < 2 * n_ + m_; ++node)
      if (sets_.root(node) >= n_) sets_.join(node, 0);
    return std::move(sets_);
  }

 private:
  struct Nodes {
    int first, count;
  };
  void join(const Matrix& entries, Nodes rows, Nodes columns) {
    is_usable_ = is_usable_ && entries.rows() == rows.count && entries.cols() == columns.count;
    for (int j = 0; is_usable_ && j < columns.count; ++j)
      for (int i = 0; i < rows.count; ++i) {
        if (entries(i, j) == 0) continue;
        sets_.join(rows.first + i, columns.first + j);
        is_usable_ = is_usable_ && std::isfinite(entries(i, j));
      }
  }

  int n_, m_;
  bool is_usable_ = false;
  linear::DisjointSets sets_;
};

/// Matrices that are left out stay so: E and D of a part are an identity and zeros then as well.
Matrix part_of(const Matrix& entries, const std::vector<int>& rows, const std::vector<int>& columns) {
  return entries.size() == 0 ? Matrix(entries) : Matrix(entries(rows, columns));
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

LcsPart part_of(const Lcs& whole, const Block& block) {
  LcsPart part{block.u, block.lambda, {}};
  part.system = {.E = part_of(whole.E, block.equations, block.u),
              .A = part_of(whole.A, block.equations, block.u),
              .B = part_of(whole.B, block.equations, block.lambda),
              .b = part_of(whole.b, block.equations),
              .C = part_of(whole.C, block.lambda, block.u),
              .D = part_of(whole.D, block.lambda, block.lambda),
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
  for (int node = n; node < 2 * n + m; ++node)
    if (sets.root(node) >= n) sets.join(node, 0);  // a function of time that nothing reads
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

std::vector<LcsPart> independent_parts(const Lcs& whole) {
  std::vector<LcsPart> parts;
  Connections connections(whole);
  if (!connections.is_usable()) return parts;
  const std::vector<Block> blocks = balanced_blocks(connections.take(), whole.n(), whole.m());
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
