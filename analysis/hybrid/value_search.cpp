#include <algorithm>
#include <cmath>

#include <perp/analysis/hybrid/value_search.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/differentiate.hpp>

namespace perp {
namespace {

/// Of a signal that is not known: finite, so that its product with an exact 0 is 0.
constexpr double unknown_error = 1e100;
constexpr long nodes_between_questions = 16;
/// Binaries of a sub-problem whose values are tried all at once: to look at parts of them costs more than it saves.
constexpr std::size_t most_at_once = 4;

}  // namespace

ValueSearch::ValueSearch(const HybridModel& model, const HybridStructure& structure, Faces& faces)
    : model_(model),
      structure_(structure),
      faces_(faces),
      tape_(faces.tape()),
      rows_(faces.rows()) {
  for (const SubProblem& block : structure.blocks) read_block(block);
  inputs_.resize(at(model.parameter_input(0)));
  values_.resize(at(tape_.size()));
  lines_.resize(at(tape_.size()));
}

int ValueSearch::input_of(int unknown) const {
  if (unknown >= model_.n()) return model_.binary_input(unknown - model_.n());
  return structure_.is_state[at(unknown)] ? HybridModel::derivative_input(unknown)
                                          : model_.variable_input(unknown);
}

void ValueSearch::read_block(const SubProblem& given) {
  Block block;
  for (const int unknown : given.unknowns)
    if (unknown >= model_.n())
      block.binaries.push_back(unknown - model_.n());
    else
      block.open.push_back(unknown);
  if (block.open.size() == 1) {
    const int input = input_of(block.open[0]);
    for (const int row : given.rows) {
      const bool is_equation = row < static_cast<int>(model_.f.size());
      if (!is_equation || degree_in(tape_, rows_[at(row)], {input}) != 1) continue;
      const std::vector<int> outputs{rows_[at(row)]};
      for (const Derivative& derivative : differentiate(tape_, outputs, input, input + 1))
        block.single.push_back({row, derivative.line});
    }
  }
  read_roots(given, block);
  blocks_.push_back(std::move(block));
}

ValueSearch::Number ValueSearch::evaluate(int line) {
  std::vector<int>& lines = lines_[at(line)];
  if (lines.empty()) lines = lines_below(tape_, line);
  for (const int k : lines) {
    const Instruction& here = tape_[k];
    Number& value = values_[at(k)];
    if (here.operation == Operation::constant)
      value = Number(here.value);
    else if (here.operation == Operation::input)
      value = inputs_[at(here.a)];
    else if (here.operation == Operation::pi)
      value = ScalarTraits<Number>::pi();
    else
      value = apply_operation(here.operation, values_[at(here.a)],
                              here.b < 0 ? values_[at(here.a)] : values_[at(here.b)]);
  }
  return values_[at(line)];
}

bool ValueSearch::run(double t, const Vector& x, double share, const ValueLimits& limits,
                      const std::function<void(const ModeCandidate&)>& found,
                      const std::function<void(const Exclusion&)>& left) {
  begin(t, x, share);
  limits_ = &limits;
  found_ = &found;
  left_ = &left;
  nodes_ = candidates_ = 0;
  ended_ = false;
  visit(0);
  return !ended_;
}

void ValueSearch::begin(double t, const Vector& x, double share) {
  const auto known = [share](double value) { return Number(value, share * std::abs(value)); };
  inputs_[0] = known(t);
  for (int j = 0; j < model_.n(); ++j) {
    inputs_[at(HybridModel::derivative_input(j))] = Number(0, unknown_error);
    Number& value = inputs_[at(model_.variable_input(j))];
    value = structure_.is_state[at(j)] ? known(x[j]) : Number(x[j], unknown_error);
    if (structure_.is_state[at(j)] && j < x_error_.size())
      value.error = std::max(value.error, x_error_[j]);
  }
  z_.assign(at(model_.q()), any_binary);
  x_given_ = x;
  root_ = 0;
}

ModeCandidate ValueSearch::candidate() const {
  ModeCandidate result{z_, Vector::Zero(model_.n()), Vector::Zero(model_.n()), root_};
  for (int j = 0; j < model_.n(); ++j) {
    result.x[j] = inputs_[at(model_.variable_input(j))].value;
    if (structure_.is_state[at(j)])
      result.rates[j] = inputs_[at(HybridModel::derivative_input(j))].value;
  }
  return result;
}

/// Are all unknowns of the row known, its binaries numbers?
bool ValueSearch::is_known(int row) const {
  const std::vector<int>& unknowns = structure_.unknowns_of_row[at(row)];
  return std::all_of(unknowns.begin(), unknowns.end(), [this](int unknown) {
    const double error = inputs_[at(input_of(unknown))].error;
    return unknown < model_.n() ? error < unknown_error : error == 0;
  });
}

/// What a row says of the present values, of which it may be that its sub-problem cannot be solved.
void ValueSearch::note_row(int row, bool is_unsolvable, Walk& walk) {
  const int constraint = row - static_cast<int>(model_.f.size());
  const bool is_equation = constraint < 0;
  const int sign = row_sign(row);
  if (is_unsolvable || (is_equation ? sign != 0 : sign > 0)) {
    walk.excluding.push_back(row);
  } else if (!is_equation && sign == 0 && is_known(row) && !faces_.is_void(constraint, z_)) {
    walk.on_surface.push_back(row);
  }
}

ValueSearch::Walk ValueSearch::walk(double t, const Vector& x, double share,
                                    const std::vector<int>& z) {
  begin(t, x, share);
  z_ = z;
  Walk walk;
  for (int block = 0; block < static_cast<int>(blocks_.size()); ++block) {
    put_binaries(block);
    const int unsolvable = unsolvable_row(block);
    put_nearest_root(block, walk.excluding);
    for (const int row : structure_.blocks[at(block)].rows) note_row(row, row == unsolvable, walk);
  }
  walk.candidate = candidate();
  std::sort(walk.excluding.begin(), walk.excluding.end());
  return walk;
}

/// Has the binary a value, and another one than before?
bool ValueSearch::is_changed(int i) const {
  const int before = limits_->previous[at(i)];
  return z_[at(i)] != any_binary && before != any_binary && z_[at(i)] != before;
}

bool ValueSearch::exceeds_changes() const {
  if (limits_->most_outside < 0) return false;
  int outside = 0, inside = 0;
  for (int i = 0; i < model_.q(); ++i)
    if (is_changed(i)) ++(limits_->inside[at(i)] ? inside : outside);
  return outside > limits_->most_outside || (limits_->most_inside >= 0 && inside > limits_->most_inside);
}

void ValueSearch::visit(int block) {
  if (ended_) return;
  if (block == static_cast<int>(blocks_.size())) {
    if (++candidates_ > limits_->candidates) {
      ended_ = true;
      return;
    }
    (*found_)(candidate());
    return;
  }
  const std::vector<int>& binaries = blocks_[at(block)].binaries;
  if (binaries.size() > most_at_once)
    assign(block, 0);
  else
    count_up(block);
  for (const int i : binaries) z_[at(i)] = any_binary;
  for (const int unknown : blocks_[at(block)].open)
    inputs_[at(input_of(unknown))] = Number(0, unknown_error);
}

/// All values of the sub-problem's binaries, as numbers of base 3.
void ValueSearch::count_up(int block) {
  const std::vector<int>& binaries = blocks_[at(block)].binaries;
  for (const int i : binaries) z_[at(i)] = 0;
  for (bool more = true; more && !ended_;) {
    if (!exceeds_changes() && enter(block)) visit_roots(block);
    more = false;
    for (const int i : binaries) {
      if (z_[at(i)]++ < released_binary) {
        more = true;
        break;
      }
      z_[at(i)] = 0;
    }
  }
}

/// The same one binary after the other: what rows exclude whatever the later ones are is left at once.
void ValueSearch::assign(int block, std::size_t place) {
  const std::vector<int>& binaries = blocks_[at(block)].binaries;
  if (place == binaries.size()) {
    if (!exceeds_changes() && enter(block)) visit_roots(block);
    return;
  }
  int& value = z_[at(binaries[place])];
  for (value = 0; value <= released_binary && !ended_; ++value)
    if (place + 1 == binaries.size() || may_go_on(block, binaries[place])) assign(block, place + 1);
  value = any_binary;
}

/// The binaries that have no value yet are somewhere in [0, 1], as released ones are: what bounds
/// exclude holds for all of them.
bool ValueSearch::may_go_on(int block, int last) {
  if (exceeds_changes() || !takes_node()) return false;
  put_binaries(block);
  if (const int row = unsolvable_row(block); row >= 0) {
    exclude(block, row, "has no solution");
    return false;
  }
  return check_rows(block) && (z_[at(last)] != released_binary || may_slide(block, last));
}

/// False where the search ends.
bool ValueSearch::takes_node() {
  if (++nodes_ > limits_->nodes) ended_ = true;
  if (limits_->stop && nodes_ % nodes_between_questions == 0 && limits_->stop()) ended_ = true;
  return !ended_;
}

/// False where a row of the sub-problem excludes the present values.
bool ValueSearch::enter(int block) {
  if (!takes_node()) return false;
  put_binaries(block);
  if (!check_surfaces(block)) return false;
  if (const int row = unsolvable_row(block); row >= 0) {
    exclude(block, row, "has no solution");
    return false;
  }
  return check_rows(block);
}

/// A released binary, and one without a value, is somewhere in [0, 1].
void ValueSearch::put_binaries(int block) {
  for (const int i : blocks_[at(block)].binaries)
    inputs_[at(model_.binary_input(i))] =
        z_[at(i)] == 0 || z_[at(i)] == 1 ? Number(z_[at(i)]) : Number(0.5, 0.5);
}

/// Solves f = f(0) + slope u, where an equation holds the only unknown that way. An equation that
/// has no solution, or -1.
int ValueSearch::unsolvable_row(int block) {
  const Block& here = blocks_[at(block)];
  for (const int unknown : here.open) {
    const double guess = structure_.is_state[at(unknown)] ? 0 : x_given_[unknown];
    inputs_[at(input_of(unknown))] = Number(guess, unknown_error);
  }
  for (const Equation& equation : here.single) {
    Number& unknown = inputs_[at(input_of(here.open[0]))];
    const Number before = unknown;
    unknown = Number(0);
    const Number rest = evaluate(rows_[at(equation.row)]);
    const Number slope = evaluate(equation.slope);
    if (std::abs(slope.value) > slope.error) {
      unknown = -rest / slope;
      return -1;
    }
    unknown = before;
    if (slope.value == 0 && slope.error == 0 && std::abs(rest.value) > rest.error)
      return equation.row;
  }
  return -1;
}

/// Of the value of a row, 0 where it is not certain.
int ValueSearch::row_sign(int row) {
  const Number value = evaluate(rows_[at(row)]);
  if (!(std::abs(value.value) > value.error)) return 0;
  return value.value > 0 ? 1 : -1;
}

bool ValueSearch::check_rows(int block) {
  for (const int row : structure_.blocks[at(block)].rows) {
    const bool is_equation = row < static_cast<int>(model_.f.size());
    const int sign = row_sign(row);
    if (is_equation ? sign == 0 : sign <= 0) continue;
    exclude(block, row, is_equation ? "has no solution" : "is positive");
    return false;
  }
  return true;
}

void ValueSearch::exclude(int block, int row, const char* why) {
  Exclusion exclusion{z_, {row}, why};
  for (int later = block + 1; later < static_cast<int>(blocks_.size()); ++later)
    for (const int i : blocks_[at(later)].binaries) exclusion.z[at(i)] = any_binary;
  (*left_)(exclusion);
}

}  // namespace perp
