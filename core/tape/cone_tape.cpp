#include <algorithm>
#include <cstring>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/cone_tape.hpp>

namespace perp {
namespace {

constexpr int most_read = 64;  ///< outputs of one form from which on its operations become code

bool has_no_operands(const Instruction& line) {
  return line.operation == Operation::input || line.operation == Operation::constant;
}

}  // namespace

ConeTape::ConeTape(Tape tape, std::vector<int> outputs)
    : tape_(std::move(tape)),
      outputs_(std::move(outputs)),
      cones_(outputs_.size()),
      place_(at(tape_.size()), -1) {}

/// The lines that an output needs, in their order.
void ConeTape::find_lines_below(int output) {
  lines_.clear();
  const auto meet = [&](int line) {
    if (line < 0 || std::exchange(place_[at(line)], 0) >= 0) return;
    lines_.push_back(line);
  };
  meet(output);
  for (std::size_t next = 0; next < lines_.size(); ++next) {
    const Instruction& line = tape_[lines_[next]];
    if (has_no_operands(line)) continue;
    meet(line.a);
    meet(line.b);
  }
  std::sort(lines_.begin(), lines_.end());
}

/// The form of the cone with these lines; its inputs and numbers become those of the cone.
ConeTape::Form& ConeTape::form_of(Cone& cone) {
  cone.inputs = static_cast<std::uint32_t>(inputs_.size());
  for (const int number : lines_) {
    const Instruction& line = tape_[number];
    if (line.operation == Operation::input) {
      place_[at(number)] = static_cast<int>(inputs_.size() - cone.inputs);
      inputs_.push_back(line.a);
    }
  }
  const auto inputs = inputs_.size() - cone.inputs;
  cone.numbers = static_cast<std::uint32_t>(numbers_.size());
  for (const int number : lines_) {
    const Instruction& line = tape_[number];
    if (line.operation == Operation::constant) {
      place_[at(number)] = static_cast<int>(inputs + numbers_.size() - cone.numbers);
      numbers_.push_back(line.value);
    }
  }
  const auto leaves = inputs + numbers_.size() - cone.numbers;
  find_key(inputs, leaves);
  if (last_form_ == nullptr || last_form_->first != key_) last_form_ = &form_of_key(inputs, leaves, cone.numbers);
  return last_form_->second;
}

/// Of a form: its leaves, then operation and operands of each line.
void ConeTape::find_key(std::size_t inputs, std::size_t leaves) {
  key_.resize(2 + 3 * lines_.size());
  std::size_t length = 0;
  key_[length++] = static_cast<int>(inputs);
  key_[length++] = static_cast<int>(leaves);
  const auto place_of = [&](int line) { return line < 0 ? -1 : place_[at(line)]; };
  int next = static_cast<int>(leaves);
  for (const int number : lines_) {
    const Instruction& line = tape_[number];
    if (has_no_operands(line)) continue;
    place_[at(number)] = next++;
    for (const int part : {static_cast<int>(line.operation), place_of(line.a), place_of(line.b)}) key_[length++] = part;
  }
  key_.resize(length);
}

/// The form of key_; of a new one the first cone's numbers.
ConeTape::Forms::value_type& ConeTape::form_of_key(std::size_t inputs, std::size_t leaves, std::size_t numbers) {
  if (const auto known = forms_.find(key_); known != forms_.end()) return *known;
  Form form{{}, inputs, leaves, numbers};
  for (std::size_t k = 2; k < key_.size(); k += 3)
    form.lines.push_back({static_cast<Operation>(key_[k]), key_[k + 1], key_[k + 2], 0});
  return *forms_.try_emplace(key_, std::move(form)).first;
}

/// Its numbers stand last: they are not needed twice.
void ConeTape::share_numbers(const Form& form, Cone& cone) {
  const std::size_t count = form.leaves - form.inputs;
  const double *const own = numbers_.data() + cone.numbers, *const first = numbers_.data() + form.numbers;
  if (cone.numbers == form.numbers || count == 0 || std::memcmp(own, first, count * sizeof(double)) != 0) return;
  cone.numbers = static_cast<std::uint32_t>(form.numbers);
  numbers_.resize(numbers_.size() - count);
}

/// A form as instructions of the processor, its leaves as inputs.
void ConeTape::compile(Form& form) {
  Tape tape;
  std::vector<int> place;
  for (std::size_t k = 0; k < form.leaves; ++k) place.push_back(tape.input(static_cast<int>(k)));
  for (const Instruction& line : form.lines)
    place.push_back(tape.apply(line.operation, line.a < 0 ? -1 : place[at(line.a)],
                               line.b < 0 ? -1 : place[at(line.b)]));
  form.code = std::make_unique<MachineCode>(tape, std::span(&place.back(), 1), 1);
}

void ConeTape::find(int k) {
  find_lines_below(outputs_[at(k)]);
  Cone& cone = cones_[at(k)];
  cone.form = &form_of(cone);
  share_numbers(*cone.form, cone);
  for (const int line : lines_) place_[at(line)] = -1;
  Form& form = *cone.form;
  form.values.resize(form.leaves + form.lines.size());
  if (++form.users == most_read) compile(form);
}

/// The last line, from the leaves.
double ConeTape::read(Form& form) {
  double* const values = form.values.data();
  double* to = values + form.leaves;
  for (const Instruction& line : form.lines) {
    const double x = line.a < 0 ? 0 : values[line.a];
    const double y = line.b < 0 ? x : values[line.b];
    switch (line.operation) {  // the frequent ones without the long way
      case Operation::add: *to++ = x + y; break;
      case Operation::subtract: *to++ = x - y; break;
      case Operation::multiply: *to++ = x * y; break;
      default: *to++ = apply_operation(line.operation, x, y);
    }
  }
  return to[-1];
}

double ConeTape::value(int k, const std::vector<double>& inputs) {
  const Cone& cone = cones_[at(k)];
  if (cone.form == nullptr) find(k);
  Form& form = *cone.form;
  double* const leaves = form.values.data();
  const int* const input = inputs_.data() + cone.inputs;
  for (std::size_t m = 0; m < form.inputs; ++m) leaves[m] = inputs[at(input[m])];
  // Most cones of a form have the numbers of the one before.
  if (std::exchange(form.read_numbers, cone.numbers) != cone.numbers)
    std::copy_n(numbers_.data() + cone.numbers, form.leaves - form.inputs, leaves + form.inputs);
  if (!form.code) return read(form);
  double value = 0;
  form.code->run(leaves, form.leaves, &value, nullptr);
  return value;
}

/// The gradient that a place of the cone has, a number none.
const ConeTape::Gradient& ConeTape::gradient(const Form& form, int place) const {
  static const Gradient none;
  const auto k = at(place);
  if (place < 0 || (k >= form.inputs && k < form.leaves)) return none;
  return gradients_[k < form.inputs ? k : k - form.leaves + form.inputs];
}

/// The number of a place of the cone.
std::optional<double> ConeTape::number(const Cone& cone, int place) const {
  const auto k = at(place), first = cone.form->inputs;
  if (place < 0 || k < first || k >= cone.form->leaves) return std::nullopt;
  return numbers_[cone.numbers + k - first];
}

/// d(line) = first da + second db, where these are numbers.
std::optional<std::pair<double, double>> ConeTape::factors(const Cone& cone, const Instruction& line) const {
  switch (line.operation) {
    case Operation::add: return std::pair(1.0, 1.0);
    case Operation::subtract: return std::pair(1.0, -1.0);
    case Operation::negate: return std::pair(-1.0, 0.0);
    case Operation::multiply: {
      const std::optional<double> of_a = number(cone, line.b), of_b = number(cone, line.a);
      if (!of_a && !of_b) return std::nullopt;
      return std::pair(of_a.value_or(0), of_b.value_or(0));  // a number has no gradient
    }
    default: return std::nullopt;
  }
}

/// factor_a da + factor_b db, with the operations of `differentiate`.
void ConeTape::combine(double factor_a, const Gradient& a, double factor_b, const Gradient& b, Gradient& to) {
  for (const auto& [leaf, value] : a) to.emplace_back(leaf, factor_a * value);
  for (const auto& [leaf, value] : b) {
    const auto place = std::lower_bound(to.begin(), to.end(), leaf, [](const auto& x, std::size_t k) { return x.first < k; });
    if (place != to.end() && place->first == leaf)
      place->second += factor_b * value;
    else
      to.insert(place, {leaf, factor_b * value});
  }
}

/// The gradient of a line from those of its operands. False: it is not told in numbers.
bool ConeTape::pass(const Cone& cone, const Instruction& line, Gradient& to) const {
  to.clear();
  const Gradient &a = gradient(*cone.form, line.a), &b = gradient(*cone.form, line.b);
  if (a.empty() && b.empty()) return true;
  const std::optional<std::pair<double, double>> factor = factors(cone, line);
  if (factor) combine(factor->first, a, factor->second, b, to);
  return factor.has_value();
}

/// Of the inputs number `first` to `behind` - 1.
void ConeTape::begin_gradients(const Cone& cone, int first, int behind) {
  const Form& form = *cone.form;
  gradients_.resize(std::max(gradients_.size(), form.inputs + form.lines.size()));
  for (std::size_t m = 0; m < form.inputs; ++m) {
    const int input = inputs_[cone.inputs + m];
    gradients_[m].clear();
    if (input >= first && input < behind) gradients_[m].emplace_back(m, 1);
  }
}

bool ConeTape::slopes(int k, int first, int behind, std::vector<Slope>& slopes) {
  const Cone& cone = cones_[at(k)];
  if (cone.form == nullptr) find(k);
  const Form& form = *cone.form;
  begin_gradients(cone, first, behind);
  for (std::size_t m = 0; m < form.lines.size(); ++m)
    if (!pass(cone, form.lines[m], gradients_[form.inputs + m])) return false;
  slopes.clear();
  const std::size_t count = form.inputs + form.lines.size();
  if (count == 0) return true;  // a number
  for (const auto& [leaf, value] : gradients_[count - 1])
    if (value != 0) slopes.push_back({inputs_[cone.inputs + leaf], value});
  std::sort(slopes.begin(), slopes.end(), [](const Slope& a, const Slope& b) { return a.input < b.input; });
  return true;
}

}  // namespace perp
