#include <algorithm>
#include <cstdlib>
#include <functional>

#include <perp/core/expression/rewriting/cancelled_constants.hpp>

namespace perp {
namespace {

constexpr int none = -1;  ///< a sum without terms

/// Into an increasing list.
void insert(std::vector<int>& list, int factor) {
  if (factor != none) list.insert(std::upper_bound(list.begin(), list.end(), factor), factor);
}

bool are_opposite(long a, long b) { return (a < 0 && b > 0) || (a > 0 && b < 0); }

}  // namespace

/// Does a line depend on nothing but parameters?
bool CancelledConstants::is_constant(int line) {
  for (int k = static_cast<int>(constant_.size()); k <= line; ++k) {
    const Instruction& at = tape_[k];
    const auto holds = [&](int operand) { return operand < 0 || constant_[static_cast<std::size_t>(operand)] != 0; };
    constant_.push_back(at.operation == Operation::input   ? at.a >= first_parameter_
                        : at.operation == Operation::table ? holds(at.a)
                                                           : holds(at.a) && holds(at.b));
  }
  return constant_[static_cast<std::size_t>(line)] != 0;
}

/// The terms of a line that is linear in them. None: it is a term itself.
CancelledConstants::Linear CancelledConstants::linear(int line) {
  const Instruction& at = tape_[line];
  const int a = at.a, b = at.b;
  switch (at.operation) {
    case Operation::negate: return {{{a, -1}}};
    case Operation::add: return {{{a, 1}, {b, 1}}};
    case Operation::subtract: return {{{a, 1}, {b, -1}}};
    case Operation::multiply:
      if (is_constant(a)) return {{{b, 1}}, a, none};
      return is_constant(b) ? Linear{{{a, 1}}, b, none} : Linear{};
    case Operation::divide: return is_constant(b) ? Linear{{{a, 1}}, none, b} : Linear{};
    default: return {};
  }
}

/// Adds a constant term as often as it is in the sum with each product of factors.
void CancelledConstants::add(int line, const Counts& counts) {
  const Instruction& at = tape_[line];
  const bool is_one = at.operation == Operation::constant && at.value == 1;
  for (const auto& [factors, count] : counts) {
    Factors all = factors;
    insert(all.above, is_one ? none : line);
    long& net = net_[std::move(all)];
    cancels_ = cancels_ || are_opposite(net, count);
    net += count;
  }
}

/// The constants of a sum, and its lines that are linear in their terms. Each line is met once, behind all that hold it.
void CancelledConstants::collect(int root) {
  std::map<int, Counts, std::greater<>> open{{root, {{Factors{}, 1}}}};
  while (!open.empty()) {
    const auto [line, counts] = *open.begin();
    open.erase(open.begin());
    const Linear parts = linear(line);
    if (parts.terms.empty()) {
      if (is_constant(line)) add(line, counts);
      continue;
    }
    if (!is_constant(line)) sums_.insert(line);
    for (const auto& [factors, count] : counts) {
      Factors all = factors;
      insert(all.above, parts.factor);
      insert(all.below, parts.divisor);
      for (const auto& [term, sign] : parts.terms) {
        long& net = open[term][all];
        cancels_ = cancels_ || (is_constant(term) && are_opposite(net, sign * count));
        net += sign * count;
      }
    }
  }
}

/// a ± b where either may have no terms.
int CancelledConstants::combined(Operation operation, int a, int b) {
  if (b == none) return a;
  if (a == none) return operation == Operation::add ? b : tape_.apply(Operation::negate, b);
  return tape_.apply(operation, a, b);
}

/// A sum times the factor of its line, or by the divisor.
int CancelledConstants::with_factors(int sum, const Linear& parts) {
  if (sum == none) return none;
  if (parts.factor != none) sum = tape_.apply(Operation::multiply, parts.factor, sum);
  if (parts.divisor != none) sum = tape_.apply(Operation::divide, sum, parts.divisor);
  return sum;
}

/// The root without its constants.
int CancelledConstants::rest(int root) {
  std::map<int, int> without;  // of the sums
  const auto of = [&](int line) {
    if (is_constant(line)) return none;
    const auto found = without.find(line);
    return found == without.end() ? line : found->second;
  };
  for (const int line : sums_) {
    const Linear parts = linear(line);
    int sum = none;
    for (const auto& [term, sign] : parts.terms)
      sum = combined(sign > 0 ? Operation::add : Operation::subtract, sum, of(term));
    without[line] = with_factors(sum, parts);
  }
  return of(root);
}

int CancelledConstants::product(const Factors& factors) {
  int line = none;
  for (const int factor : factors.above) line = line == none ? factor : tape_.apply(Operation::multiply, line, factor);
  if (line == none) line = tape_.constant(1);
  for (const int divisor : factors.below) line = tape_.apply(Operation::divide, line, divisor);
  return line;
}

/// The sum of the constants that are left.
int CancelledConstants::of_constants() {
  int sum = none;
  for (const auto& [factors, count] : net_) {
    if (count == 0) continue;
    int term = product(factors);
    if (const auto size = static_cast<double>(std::abs(count)); size > 1)
      term = tape_.apply(Operation::multiply, tape_.constant(size), term);
    sum = combined(count > 0 ? Operation::add : Operation::subtract, sum, term);
  }
  return sum;
}

/// What the line multiplies by a constant, or divides by one; none: it does neither.
int CancelledConstants::scaled(const Instruction& at) {
  if (at.operation == Operation::multiply && is_constant(at.a)) return at.b;
  const bool may_scale = at.operation == Operation::multiply || at.operation == Operation::divide;
  return may_scale && is_constant(at.b) ? at.a : none;
}

/// Adds the terms of a line that is linear in them to those that are to be looked at. False: it is a term itself.
bool CancelledConstants::open(const Instruction& at) {
  const bool is_sum = at.operation == Operation::add || at.operation == Operation::subtract;
  const int term = is_sum || at.operation == Operation::negate ? at.a : scaled(at);
  if (term == none) return false;
  open_.push_back(term);
  if (is_sum) open_.push_back(at.b);
  return true;
}

/// May two constants be in a sum? One alone cancels with nothing. Of many lines it is not told.
bool CancelledConstants::has_two(int root) {
  constexpr int most_looks = 64;
  open_.assign(1, root);
  int constants = 0;
  for (int looks = 0; !open_.empty() && constants < 2; ++looks) {
    if (looks == most_looks) return true;
    const int line = open_.back();
    open_.pop_back();
    if (!open(tape_[line]) && is_constant(line)) ++constants;
  }
  return constants >= 2;
}

int CancelledConstants::operator()(int line) {
  if (!has_two(line)) return line;
  net_.clear();
  sums_.clear();
  cancels_ = false;
  collect(line);
  if (!cancels_) return line;
  const int result = combined(Operation::add, rest(line), of_constants());
  return result == none ? tape_.constant(0) : result;
}

}  // namespace perp
