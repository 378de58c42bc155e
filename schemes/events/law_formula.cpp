#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <perp/core/branches.hpp>
#include <perp/schemes/events/law_formula.hpp>

namespace perp {
namespace {

/// λ = value + slope w from an end on.
struct Piece {
  Range w;
  double slope, value;
};

/// The branches in the order of w, without those over one w only.
std::vector<Piece> pieces_of(const Law& law) {
  std::vector<Piece> pieces;
  for (const Branch& branch : law.branches)
    if (!is_vertical(branch)) pieces.push_back({w_range(branch), -branch.a / branch.b, branch.c / branch.b});
  std::ranges::sort(pieces, {}, [](const Piece& piece) { return piece.w.lower; });
  return pieces;
}

/// From -∞ to ∞, one beside the other.
bool cover_all(const std::vector<Piece>& pieces) {
  if (pieces.empty() || pieces.front().w.lower != -inf || pieces.back().w.upper != inf) return false;
  const auto part = [](const Piece& left, const Piece& right) { return left.w.upper != right.w.lower; };
  return std::ranges::adjacent_find(pieces, part) == pieces.end();
}

}  // namespace

std::optional<int> append_multiplier(const Law& law, int w, Tape& tape) {
  const std::vector<Piece> pieces = pieces_of(law);
  if (law.memory || !cover_all(pieces)) return std::nullopt;
  const auto times = [&](double factor, int line) { return tape.apply(Operation::multiply, tape.constant(factor), line); };
  const auto sum = [&](int a, int b) { return tape.apply(Operation::add, a, b); };
  // λ = c_0 + s_0 w + Σ (s_k - s_{k-1}) max(w - e_k, 0) + jump_k (1 + sign(w - e_k))/2
  int lambda = sum(tape.constant(pieces.front().value), times(pieces.front().slope, w));
  for (std::size_t k = 1; k < pieces.size(); ++k) {
    const Piece &left = pieces[k - 1], &right = pieces[k];
    const double end = right.w.lower, bend = right.slope - left.slope;
    const int past = end == 0 ? w : tape.apply(Operation::subtract, w, tape.constant(end));
    if (bend != 0) lambda = sum(lambda, times(bend, tape.apply(Operation::max, past, tape.constant(0))));
    if (!law_jumps_at(law, end)) continue;
    const double half = (right.value - left.value + bend * end) / 2;
    lambda = sum(lambda, sum(tape.constant(half), times(half, tape.apply(Operation::sign, past, -1))));
  }
  return lambda;
}

bool law_jumps_at(const Law& law, double end) {
  constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();  // of the terms of λ
  Range met{inf, -inf};
  double terms = 0;
  for (const Branch& branch : law.branches) {
    const Range range = w_range(branch);
    if (!(range.lower <= end && end <= range.upper)) continue;
    if (is_vertical(branch)) return true;
    const double lambda = (branch.c - branch.a * end) / branch.b;
    met = {std::min(met.lower, lambda), std::max(met.upper, lambda)};
    terms = std::max(terms, (std::abs(branch.c) + std::abs(branch.a * end)) / std::abs(branch.b));
  }
  return met.upper - met.lower > rounding * terms;
}

}  // namespace perp
