// A search over all values of some binaries in which one more value costs what its last binaries change.
#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

#include <perp/analysis/hybrid/values/value_tree.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>

namespace perp {
namespace {

constexpr long nodes_between_questions = 4096;
constexpr int fewest_below = 6;  ///< levels below a node at which the rows are bounded over all of them

}  // namespace

ValueTree::ValueTree(const ValueProgram& program, Question question)
    : program_(program), question_(std::move(question)), levels_(at(program.levels() + 1)) {
  const auto lines = at(program.tape().size());
  values_.resize(lines);
  is_eager_.assign(lines, 0);
  asked_.assign(lines, 0);
  stamps_.assign(lines, -1);
  nodes_of_level_.assign(levels_.size(), 0);
  for (std::size_t k = 0; k < program.binaries().size(); ++k)
    if (question_.previous[k] == 1) base_ |= std::uint64_t{1} << k;
  for (int d = 1; d <= program.levels(); ++d) put_binary(d, levels_[at(d)]);
  std::vector<int> rows;
  for (const ValueProgram::Row& row : program.rows()) rows.push_back(row.value);
  lines_of_rows_ = lines_for(rows);
  reaches_.resize(lines);
  is_surface_.assign(program.rows().size(), 0);
  bound_ = !question_.counts_all ? question_.most_distance : (question_.most_kept > 0 ? INT_MAX : -1);
}

/// That of a level, with the value that is tried first: the one before.
void ValueTree::put_binary(int d, Level& level) const {
  const std::vector<int>& binaries = program_.binaries();
  const auto k = at(std::find(binaries.begin(), binaries.end(), program_.binary_of(d)) - binaries.begin());
  level.line = program_.line_of(d);
  level.bit = std::uint64_t{1} << k;
  level.first_value = question_.previous[k] == 1 ? 1 : 0;
  level.weight = question_.previous[k] < 0 ? 0 : question_.weights[k];
}

ValueTree::Answer ValueTree::search() {
  put_static();
  if (!has_finite_unknowns()) return {};
  bound_lines(lines_of_rows_, 0);
  bool is_open = false;
  if (find_rows()) {
    find_steps();
    if (enter(0, is_open)) visit(0, 0, is_open);
  }
  answer_.nodes = nodes_;
  if (ended_) return {.nodes = nodes_};
  answer_.is_whole = true;
  thin_least();
  std::sort(answer_.kept.begin(), answer_.kept.end(), is_better);
  return std::move(answer_);
}

/// What is asked for at many nodes, from now on: on the way to the present one, of a level, too.
void ValueTree::compute_more_at_once(int level) {
  std::vector<int> roots;
  for (int k = 0; k < program_.tape().size(); ++k)
    if (std::exchange(asked_[at(k)], 0) > nodes_between_questions / 8) roots.push_back(k);
  if (roots.empty()) return;
  add_steps(roots);
  for (int d = 1; d < level; ++d) run(levels_[at(d)].steps);
}

void ValueTree::run(const std::vector<Step>& steps) {
  RunningError* const values = values_.data();
  for (const Step& step : steps) {
    const RunningError &a = values[step.a], &b = values[step.b];
    if (!step.is_choice)
      values[step.to] = result_of(step.operation, a, b);
    else if (step.operation == Operation::subtract)
      values[step.to] = RunningError(1 - b.value);
    else
      values[step.to] = b.value == 0 && std::isfinite(a.error) ? RunningError(0) : a;
  }
}

/// A row or the rate norm, which is perhaps not computed at every node.
const RunningError& ValueTree::asked(int root) {
  if (!is_eager_[at(root)]) ++asked_[at(root)];
  return lazily(root);
}

/// A line that is not computed at every node.
const RunningError& ValueTree::lazily(int line) {
  const int level = program_.level(line);
  RunningError& value = values_[at(line)];
  if (level == 0 || is_eager_[at(line)] || stamps_[at(line)] == nodes_of_level_[at(level)]) return value;
  const Instruction& here = program_.tape()[line];
  const RunningError a = lazily(here.a);
  value = result_of(here.operation, a, here.b < 0 ? a : lazily(here.b));
  stamps_[at(line)] = nodes_of_level_[at(level)];
  return value;
}

/// Is the line 0 whatever t and the states are, by the values of the binaries?
bool ValueTree::is_dead(int line) {
  if (program_.is_pure(line)) {
    const RunningError& value = lazily(line);
    return value.value == 0 && value.error == 0;
  }
  const Instruction& here = program_.tape()[line];
  switch (here.operation) {
    case Operation::negate: return is_dead(here.a);
    case Operation::multiply: return is_dead(here.a) || is_dead(here.b);
    case Operation::add:
    case Operation::subtract: return is_dead(here.b) && is_dead(here.a);
    default: return false;
  }
}

bool ValueTree::takes_node(int level) {
  nodes_of_level_[at(level)] = ++nodes_;
  if (nodes_ % nodes_between_questions == 0) {
    check_interruption();
    compute_more_at_once(level);
    ended_ = ended_ || (question_.stop && question_.stop());
  }
  ended_ = ended_ || nodes_ > question_.most_nodes;
  return !ended_;
}

/// False where a constraint is violated whatever the later binaries are.
bool ValueTree::enter(int d, bool& is_open) {
  if (!takes_node(d)) return false;
  const std::size_t before = pending_.size();
  const Level& level = levels_[at(d)];
  run(level.steps);
  for (const int line : level.denominators) is_open = is_open || decided_sign(values_[at(line)]) == 0;
  for (const int r : level.rows)
    if (!read_row(d, r, is_open)) return false;
  if (!read_pending(d, before, is_open)) return false;
  return d > free_from_ || d + fewest_below > last_bounded_ || may_go_on(d);
}

/// Bounds over all values of the later binaries: is no row violated by all of them? Where all are satisfied by all,
/// nothing below has to be computed to count them.
bool ValueTree::may_go_on(int d) {
  bound_lines(lines_of_rows_, d);
  bool is_free = true;
  for (const int r : pending_)
    if (slope_level(r) > d && !passes(d, r, outlook_of_slope(r), is_free)) return false;
  for (int below = d + 1; below <= last_level_; ++below) {
    is_free = is_free && levels_[at(below)].denominators.empty();
    for (const int r : levels_[at(below)].rows)
      if (!passes(d, r, outlook(r), is_free)) return false;
  }
  if (is_free) free_from_ = d;
  return true;
}

bool ValueTree::passes(int level, int r, int outlook, bool& is_free) {
  if (outlook > 0) note_left(level, r, is_surface_[at(r)] != 0);
  is_free = is_free && outlook < 0;
  return outlook <= 0;
}

bool ValueTree::read_row(int level, int r, bool& is_open) {
  const ValueProgram::Row& row = program_.rows()[at(r)];
  const RunningError& value = values_[at(row.value)];
  if (value.value > value.error) {
    note_left(level, r, false);
    return false;
  }
  if (-value.value > value.error || is_dead(row.value)) return true;
  if (!std::isfinite(value.error) || (question_.is_exact && value.error > 0)) {
    is_open = true;
    return true;
  }
  if (slope_level(r) <= level) return read_slope(level, r, is_open);
  pending_.push_back(r);
  return true;
}

/// Of the first rows that wait for their derivatives those that this level completes.
bool ValueTree::read_pending(int level, std::size_t count, bool& is_open) {
  for (std::size_t k = 0; k < count; ++k)
    if (slope_level(pending_[k]) == level && !read_slope(level, pending_[k], is_open)) return false;
  return true;
}

/// Of a row that is 0, as far as is known.
bool ValueTree::read_slope(int level, int r, bool& is_open) {
  const int slope = program_.rows()[at(r)].slope, sign = decided_sign(asked(slope));
  if (sign > 0) note_left(level, r, true);
  is_open = is_open || (sign == 0 && !is_dead(slope));  // a slope that is 0 whatever the states are stays so
  return sign <= 0;
}

/// Are all rows satisfied whatever the later binaries are?
bool ValueTree::is_decided(int level) const {
  return level >= free_from_ || (level >= last_level_ && std::all_of(pending_.begin(), pending_.end(), [&](int r) {
           return slope_level(r) <= level;
         }));
}

/// Are all values below this node further away than the last one that is kept, or, as far, with greater rates?
bool ValueTree::is_behind_kept(int level, int distance) {
  if (distance != bound_ || answer_.kept.empty() || level + fewest_below > program_.level(program_.norm())) return distance > bound_;
  bound_lines(lines_of_norm_, level);
  const double least = reaches_[at(program_.norm())].values.lo;
  const RunningError &last = answer_.kept.front().norm, &first = slowest_.norm;
  return least > last.value && least > std::nextafter(first.value + first.error, std::numeric_limits<double>::infinity());
}

/// Is nothing asked for that is below this node? What continues there is counted.
bool ValueTree::leaves(int level, int distance, bool is_open) {
  if (!question_.counts_all) return distance > bound_;
  if (distance < bound_ || is_open || !is_decided(level) || !is_behind_kept(level, distance)) return false;
  answer_.count += 1L << (program_.levels() - level);
  return true;
}

void ValueTree::visit(int level, int distance, bool is_open) {
  if (leaves(level, distance, is_open)) return;
  if (level == program_.levels()) return leaf(distance, is_open);
  const Level& next = levels_[at(level + 1)];
  for (const int change : {0, 1}) {
    const bool is_one = (next.first_value != 0) != (change != 0);
    if (next.line >= 0) values_[at(next.line)] = RunningError(is_one ? 1 : 0);
    bits_ = is_one ? bits_ | next.bit : bits_ & ~next.bit;
    const std::size_t pending = pending_.size();
    bool opens = is_open;
    if (enter(level + 1, opens)) visit(level + 1, distance + change * next.weight, opens);
    pending_.resize(pending);
    if (free_from_ > level) free_from_ = nowhere;
    if (ended_) return;
  }
}

void ValueTree::leaf(int distance, bool is_open) {
  if (is_open) {
    const int continues = question_.judge(bits_);
    ended_ = ended_ || continues < 0;
    if (continues == 0) note_left(program_.levels(), -1, true);
    if (continues <= 0) return;
  }
  ++answer_.count;
  if (distance <= bound_) keep({bits_, bits_ ^ base_, distance, asked(program_.norm())});
}

/// Of equal ones the first in which the binary that is declared first changes.
bool ValueTree::is_better(const Entry& a, const Entry& b) {
  if (a.distance != b.distance) return a.distance < b.distance;
  if (a.norm.value != b.norm.value) return a.norm.value < b.norm.value;
  return a.is_declared_before(b);
}

void ValueTree::keep(const Entry& entry) {
  add_least(entry);
  if (!question_.counts_all) {
    bound_ = entry.distance;
    return;
  }
  std::vector<Entry>& kept = answer_.kept;
  if (kept.size() == question_.most_kept) {
    if (!is_better(entry, kept.front())) return;
    std::pop_heap(kept.begin(), kept.end(), is_better);
    kept.pop_back();
  }
  kept.push_back(entry);
  std::push_heap(kept.begin(), kept.end(), is_better);
  if (kept.size() == question_.most_kept) bound_ = kept.front().distance;
}

void ValueTree::add_least(const Entry& entry) {
  std::vector<Entry>& least = answer_.least;
  if (!least.empty() && entry.distance > slowest_.distance) return;
  if (least.empty() || entry.distance < slowest_.distance) {
    least.clear();
    answer_.nearest = 0;
    slowest_ = entry;
  }
  ++answer_.nearest;
  if (decided_sign(entry.norm - slowest_.norm) > 0) return;
  if (entry.norm.value < slowest_.norm.value) slowest_ = entry;
  least.push_back(entry);
  if (least.size() > thin_at_) thin_least();
}

/// Those that are not told from the slowest one.
void ValueTree::thin_least() {
  std::erase_if(answer_.least, [this](const Entry& e) { return decided_sign(e.norm - slowest_.norm) > 0; });
  thin_at_ = 2 * answer_.least.size() + 1024;
}

void ValueTree::note_left(int level, int r, bool by_slope) {
  if (!question_.left) return;
  std::uint64_t known = 0;
  for (int d = 1; d <= level; ++d) known |= levels_[at(d)].bit;
  question_.left(bits_ & known, known, r < 0 ? -1 : program_.rows()[at(r)].constraint, by_slope);
}

}  // namespace perp
