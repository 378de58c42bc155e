// What happens between the samples of an attempted step: asked by the run before it takes one.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <perp/core/base/index.hpp>
#include <perp/core/interval/line_range.hpp>
#include <perp/schemes/located/events/between_samples.hpp>

namespace perp {

using enclosure::Interval;
using enclosure::range_of;

namespace {

constexpr int most_beside = 64;    ///< points of a step beside its stages
constexpr double much = 0.5;       ///< of the variation of a line over a step
constexpr double unusual = 4;      ///< times the corrections elsewhere
constexpr double tolerated = 10;   ///< times the tolerance of an unknown
constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();  ///< of a range
constexpr double least_size = 0x1p-960;  ///< where a line is 0 at all samples: only ranks its pieces

/// May the range of the operation between two points exceed its values there, its operands lying between theirs?
bool may_turn(const Instruction& line) {
  switch (line.operation) {
    case Operation::constant:
    case Operation::input:
    case Operation::pi:
    case Operation::negate:
    case Operation::add:
    case Operation::subtract:
    case Operation::guard:
    case Operation::table: return false;
    case Operation::multiply: return line.a == line.b;
    default: return true;
  }
}

/// These lines and all that are made of them.
std::vector<char> with_followers(const Tape& tape, std::vector<char> lines) {
  for (int k = 0; k < tape.size(); ++k) {
    if (tape[k].operation == Operation::input) continue;
    for (const int operand : {tape[k].a, tape[k].b})
      if (operand >= 0 && lines[at(operand)]) lines[at(k)] = 1;
  }
  return lines;
}

/// These lines and all that they are made of, in increasing order.
std::vector<int> with_operands(const Tape& tape, const std::vector<int>& lines) {
  const std::vector<bool> needed = needed_lines(tape, lines);
  std::vector<int> all;
  for (int k = 0; k < tape.size(); ++k)
    if (needed[at(k)]) all.push_back(k);
  return all;
}

/// Which lines depend on more than parameters?
std::vector<char> varying_lines(const Dcs& formulas) {
  std::vector<char> inputs(at(formulas.tape.size()), 0);
  for (int k = 0; k < formulas.tape.size(); ++k)
    inputs[at(k)] = formulas.tape[k].operation == Operation::input && formulas.tape[k].a < formulas.parameter_input(0);
  return with_followers(formulas.tape, std::move(inputs));
}

}  // namespace

/// The lines of the mode's formulas that depend on more than parameters and may turn, and those of gaps that are made of
/// them.
void BetweenSamples::look_at_formulas() {
  const Dcs& formulas = integrator_.flow().formulas();
  if (formulas_ == &formulas && may_dip_.size() == at(formulas.tape.size())) return;
  formulas_ = &formulas;
  std::vector<int> outputs = formulas.G;
  for (const Reset& reset : formulas.resets) outputs.push_back(reset.condition);
  std::vector<int> all = formulas.F, looked_at;
  all.insert(all.end(), outputs.begin(), outputs.end());
  needed_ = with_operands(formulas.tape, all);
  const std::vector<char> varies = varying_lines(formulas);
  std::vector<char> turning(varies.size(), 0);
  watched_.clear();
  for (const int k : needed_) {
    if (!varies[at(k)] || !may_turn(formulas.tape[k])) continue;
    turning[at(k)] = 1;
    watched_.push_back({at(k)});
    looked_at.push_back(k);
  }
  may_dip_ = with_followers(formulas.tape, std::move(turning));
  std::ranges::copy_if(outputs, std::back_inserter(looked_at), [this](int line) { return may_dip_[at(line)] != 0; });
  looked_at_ = with_operands(formulas.tape, looked_at);
}

/// The line of a gap that is one of a w or of the condition of a reset that may fire, and may dip; -1: another one.
int BetweenSamples::line_of(const Gap& gap) const {
  if (gap.of_lambda || gap.variable >= 0 || (gap.reset >= 0 && !locator_.begins_inside(gap))) return -1;
  const int line = gap.reset >= 0 ? formulas_->resets[at(gap.reset)].condition : formulas_->G[at(gap.law)];
  return may_dip_[at(line)] ? line : -1;
}

/// How far gaps that are above 0 at two points may dip below it in between, at most, in their values there; 0: none does.
double BetweenSamples::dip(const Sample& low, const Sample& high) const {
  double deepest = 0;
  for (const Gap& gap : locator_.gaps()) {
    const int line = line_of(gap);
    if (line < 0) continue;
    const double least = std::min(gap.at(low.lines[at(line)]), gap.at(high.lines[at(line)]));
    const Interval& range = ranges_[at(line)];
    const double bottom = std::min(gap.at(range.lo), gap.at(range.hi));
    if (least > 0 && bottom < 0) deepest = std::max(deepest, -bottom / least);
  }
  return deepest;
}

std::size_t BetweenSamples::add_sample(double share, double h) {
  const Step state = integrator_.sample(share, h);
  integrator_.radau().interpolate_derivative(share, ydot_);
  Sample sample{.share = share, .inputs = {state.t}, .lines = std::vector<double>(at(formulas_->tape.size())),
                .is_before_falls = locator_.is_before_falls(state)};
  sample.inputs.insert(sample.inputs.end(), ydot_.data(), ydot_.data() + at_.system.n());
  for (const Vector* values : {&state.x, &state.lambda})
    sample.inputs.insert(sample.inputs.end(), values->begin(), values->end());
  sample.inputs.insert(sample.inputs.end(), formulas_->parameters.begin(), formulas_->parameters.end());
  formulas_->tape.evaluate<double>(sample.inputs, sample.lines);
  samples_.push_back(std::move(sample));
  return samples_.size() - 1;
}

/// The ranges of these lines from those of the inputs and of what they are made of.
void BetweenSamples::evaluate(const std::vector<int>& lines, std::vector<Interval>& ranges) const {
  for (const int k : lines) ranges[at(k)] = range_of(formulas_->tape[k], box_, ranges);
}

/// The ranges of the lines that are looked at, their inputs between those of two points.
void BetweenSamples::evaluate_between(const Sample& low, const Sample& high) {
  box_.clear();
  for (std::size_t k = 0; k < low.inputs.size(); ++k) {
    const auto [least, most] = std::minmax(low.inputs[k], high.inputs[k]);
    box_.emplace_back(least, most);
  }
  ranges_.resize(at(formulas_->tape.size()));
  evaluate(looked_at_, ranges_);
}

/// The largest excess of a line between two points over its values there, in half of its variation over all samples;
/// 0: less than that.
double BetweenSamples::excess(const Sample& low, const Sample& high) const {
  double largest = 0;
  for (const Line& line : watched_) {
    const Interval& range = ranges_[line.line];
    const auto [least, most] = std::minmax(low.lines[line.line], high.lines[line.line]);
    const double beyond = std::max(range.hi - most, least - range.lo);  // NaN: no value
    const double size = std::max(std::abs(line.highest), std::abs(line.lowest));
    const double varies = much * (line.highest - line.lowest) + rounding * size;
    if (std::isfinite(varies) && beyond > varies) largest = std::max(largest, beyond / (varies + least_size));
  }
  return largest;
}

/// Is this a sine whose argument passes more than half a turn between the two points of `ranges_`?
bool BetweenSamples::oscillates(const Line& line) const {
  const Instruction& formula = formulas_->tape[static_cast<int>(line.line)];
  if (formula.operation != Operation::sin && formula.operation != Operation::cos) return false;
  const Interval& angle = ranges_[at(formula.a)];
  return angle.hi - angle.lo > std::numbers::pi;
}

/// Does an oscillation pass more than half a turn between two points, and would it matter if it did not move? After
/// evaluate_between.
bool BetweenSamples::is_aliased(const Sample& low) {
  if (std::ranges::none_of(watched_, [this](const Line& line) { return oscillates(line); })) return false;
  std::vector<int> moving = needed_;
  without_.resize(ranges_.size());
  for (const Line& line : watched_) {
    if (!oscillates(line)) continue;
    std::erase(moving, static_cast<int>(line.line));
    without_[line.line] = Interval(low.lines[line.line]);
  }
  evaluate(needed_, ranges_);
  evaluate(moving, without_);
  return matters(without_);
}

/// Are these ranges of the equations narrower than those of the formulas by more than the tolerance of the unknowns, or
/// may a gap fall below 0 in the latter alone?
bool BetweenSamples::matters(const std::vector<Interval>& without) {
  const Vector& scale = integrator_.radau().row_scale();
  for (int i = 0; i < at_.system.n(); ++i) {
    const auto line = at(formulas_->F[at(i)]);
    const double all = ranges_[line].hi - ranges_[line].lo, others = without[line].hi - without[line].lo;
    if ((all - others) * scale[i] > tolerated * at_.options.tol) return true;
  }
  const auto may_fall = [](const Gap& gap, const Interval& range) {
    return std::min(gap.at(range.lo), gap.at(range.hi)) < 0;
  };
  return std::ranges::any_of(locator_.gaps(), [&](const Gap& gap) {
    const int line = line_of(gap);
    return line >= 0 && may_fall(gap, ranges_[at(line)]) && !may_fall(gap, without[at(line)]);
  });
}

/// Is a line at the point in the middle much beyond its values on both sides?
bool BetweenSamples::shows_new_values(const Sample& middle, const Sample& low, const Sample& high) const {
  return std::ranges::any_of(watched_, [&](const Line& line) {
    const auto [least, most] = std::minmax(low.lines[line.line], high.lines[line.line]);
    const double value = middle.lines[line.line], varies = much * (line.highest - line.lowest);
    return value > most + varies || value < least - varies;
  });
}

bool BetweenSamples::hide_something(double h, double end) {
  look_at_formulas();
  if (watched_.empty()) return false;
  sample_stages(h);
  return stages_show(end) || points_between_show(h, end);
}

/// Is a gap below 0 at a stage before the share `end`, or an oscillation behind one not resolved? Else the pieces between
/// them are made.
bool BetweenSamples::stages_show(double end) {
  for (std::size_t k = 0; k + 1 < samples_.size() && samples_[k].share < end; ++k) {
    add_piece(k, k + 1);
    if (!samples_[k].is_before_falls || is_aliased(samples_[k])) return true;
  }
  return false;
}

/// Is something found at further points, in the middles of the pieces in which most may be hidden?
bool BetweenSamples::points_between_show(double h, double end) {
  for (int looks = 0; looks < most_beside && !pieces_.empty(); ++looks) {
    const auto most = std::ranges::max_element(pieces_, {}, &Piece::excess);
    const Piece piece = *most;
    pieces_.erase(most);
    const std::size_t middle = add_sample((samples_[piece.low].share + samples_[piece.high].share) / 2, h);
    if (samples_[middle].share < end && is_found(samples_[middle], samples_[piece.low], samples_[piece.high])) return true;
    widen(samples_[middle]);
    add_piece(piece.low, middle);
    add_piece(middle, piece.high);
  }
  return false;
}

/// The start and the stages of the attempt of length h.
void BetweenSamples::sample_stages(double h) {
  samples_.clear(), pieces_.clear();
  usual_.resize(0);
  add_sample(0, h);
  for (const double share : integrator_.radau().nodes()) add_sample(share, h);
  for (Line& line : watched_) line.lowest = line.highest = samples_[0].lines[line.line];
  for (const Sample& sample : samples_) widen(sample);
}

/// Is a gap below 0 at the point in the middle, or a line much beyond its values on both sides where that matters?
bool BetweenSamples::is_found(const Sample& middle, const Sample& low, const Sample& high) {
  return !middle.is_before_falls || (shows_new_values(middle, low, high) && is_missed(middle.share));
}

void BetweenSamples::widen(const Sample& sample) {
  for (Line& line : watched_) {
    line.lowest = std::min(line.lowest, sample.lines[line.line]);
    line.highest = std::max(line.highest, sample.lines[line.line]);
  }
}

/// Between two samples, where something may be hidden.
void BetweenSamples::add_piece(std::size_t low, std::size_t high) {
  evaluate_between(samples_[low], samples_[high]);
  const double by = std::max(excess(samples_[low], samples_[high]), dip(samples_[low], samples_[high]));
  if (by > 0) pieces_.push_back({low, high, by});
}

/// Does the polynomial miss the equations there by far more than elsewhere?
bool BetweenSamples::is_missed(double share) {
  if (usual_.size() == 0) usual_ = usual_correction();
  const Vector here = size_of_correction(share);
  return ((here - unusual * usual_).array() > tolerated * at_.options.tol).any();
}

/// Of each unknown the median of its corrections in the middle between two stages: a pulse is in few of them.
Vector BetweenSamples::usual_correction() {
  const Vector& nodes = integrator_.radau().nodes();
  Matrix all(integrator_.flow().size(), nodes.size());
  for (Eigen::Index k = 0; k < nodes.size(); ++k)
    all.col(k) = size_of_correction((nodes[k] + (k == 0 ? 0 : nodes[k - 1])) / 2);
  for (auto row : all.rowwise()) std::ranges::nth_element(row, row.begin() + row.size() / 2);
  return all.col(nodes.size() / 2);
}

/// What Newton's method would correct there, in the sizes of the unknowns; 0 where it has no value.
Vector BetweenSamples::size_of_correction(double share) {
  Radau& radau = integrator_.radau();
  radau.interpolate(share, y_);
  radau.interpolate_derivative(share, ydot_);
  integrator_.flow().gather(at_.scales.x, at_.scales.lambda, units_);
  if (!radau.correction_at(share, ydot_, y_, correction_)) return Vector::Zero(y_.size());
  return correction_.cwiseAbs().cwiseQuotient(units_ + y_.cwiseAbs());
}

}  // namespace perp
