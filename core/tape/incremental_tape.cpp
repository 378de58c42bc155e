#include <algorithm>
#include <numeric>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/incremental_tape.hpp>

namespace perp {
namespace {

template <class Visit>
void for_operands(const Instruction& line, const Visit& visit) {
  if (line.operation == Operation::input || line.operation == Operation::constant) return;
  if (line.a >= 0) visit(line.a);
  if (line.b >= 0) visit(line.b);
}

}  // namespace

IncrementalTape::IncrementalTape(Tape tape, std::span<const int> outputs)
    : tape_(std::move(tape)),
      values_(at(tape_.size())),
      user_start_(at(tape_.size()) + 1, 0),
      met_(at(tape_.size()), -1) {
  const std::vector<bool> needed = needed_lines(tape_, outputs);
  for (int k = 0; k < tape_.size(); ++k) {
    if (!needed[at(k)]) continue;
    needed_.push_back(k);
    for_operands(tape_[k], [&](int operand) { ++user_start_[at(operand) + 1]; });
    const Instruction& line = tape_[k];
    if (line.operation != Operation::input) continue;
    followers_.resize(std::max(followers_.size(), at(line.a) + 1));
    followers_[at(line.a)].line = k;
  }
  std::partial_sum(user_start_.begin(), user_start_.end(), user_start_.begin());
  users_.resize(at(user_start_.back()));
  std::vector<int> next(user_start_.begin(), user_start_.end() - 1);
  for (const int k : needed_)
    for_operands(tape_[k], [&](int operand) { users_[at(next[at(operand)]++)] = k; });
}

void IncrementalTape::run(const Line& line) {
  const double x = line.a < 0 ? 0 : values_[at(line.a)];
  const double y = line.b < 0 ? x : values_[at(line.b)];
  switch (line.operation) {  // the frequent ones without the long way
    case Operation::add: values_[at(line.to)] = x + y; break;
    case Operation::subtract: values_[at(line.to)] = x - y; break;
    case Operation::multiply: values_[at(line.to)] = x * y; break;
    default: values_[at(line.to)] = apply_operation(line.operation, x, y);
  }
}

void IncrementalTape::evaluate(std::span<const double> inputs) {
  for (const int k : needed_) {
    const Instruction& line = tape_[k];
    if (line.operation == Operation::input)
      values_[at(k)] = inputs[at(line.a)];
    else if (line.operation == Operation::constant)
      values_[at(k)] = line.value;
    else
      run({line.operation, line.a, line.b, k});
  }
}

const IncrementalTape::Followers& IncrementalTape::followers(int input) {
  Followers& found = followers_[at(input)];
  if (found.is_known) return found;
  found.is_known = true;
  std::vector<int> open{found.line}, lines;
  met_[at(found.line)] = input;
  while (!open.empty()) {
    const int k = open.back();
    open.pop_back();
    for (int u = user_start_[at(k)]; u < user_start_[at(k) + 1]; ++u) {
      const int user = users_[at(u)];
      if (met_[at(user)] == input) continue;
      met_[at(user)] = input;
      lines.push_back(user);
      open.push_back(user);
    }
  }
  std::sort(lines.begin(), lines.end());
  found.lines.reserve(lines.size());
  for (const int k : lines) found.lines.push_back({tape_[k].operation, tape_[k].a, tape_[k].b, k});
  return found;
}

void IncrementalTape::set(int input, double value) {
  if (at(input) >= followers_.size() || followers_[at(input)].line < 0) return;
  const Followers& behind = followers(input);
  values_[at(behind.line)] = value;
  for (const Line& line : behind.lines) run(line);
}

}  // namespace perp
