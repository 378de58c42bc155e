// Algebraic variables between the samples of an attempted step: asked by the run before it takes one.
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/interval/line_range.hpp>
#include <perp/schemes/located/events/hidden_pulses.hpp>

namespace perp {

using enclosure::Interval;
using enclosure::range_of;

namespace {

constexpr int most_points = 64;    ///< points of a step beside its stages
constexpr double exceeding_share = 0.5;       ///< of the variation of a line over a step
constexpr double tolerated_defect = 10;   ///< times the tolerance of an unknown

/// The values of a line at two samples and all between.
Interval between(const std::vector<double>& low, const std::vector<double>& high, int line) {
  const auto [least, most] = std::minmax(low[at(line)], high[at(line)]);
  return {least, most};
}

}  // namespace

bool HiddenPulses::hide_something(double h, double end) {
  if (rows().empty()) return false;
  sample_stages(h);
  for (std::size_t k = 0; k + 1 < samples_.size() && samples_[k].share < end; ++k) add_piece(k, k + 1);
  for (int looks = 0; looks < most_points && !pieces_.empty(); ++looks) {
    const auto most = std::ranges::max_element(pieces_, {}, [this](const Piece& piece) {
      return std::pair(piece.felt, samples_[piece.high].share - samples_[piece.low].share);
    });
    const Piece piece = *most;
    pieces_.erase(most);
    if (shows(piece, h, end)) return true;
  }
  return false;
}

/// The start and the stages of the attempt of length h.
void HiddenPulses::sample_stages(double h) {
  samples_.clear(), pieces_.clear(), row_units_.clear();
  formulas_ = &integrator_.flow().formulas();
  integrator_.flow().gather(at_.scales.x, at_.scales.lambda, units_);
  least_ = at_.options.tol * at_.scales.x;
  lowest_.assign(at(formulas_->tape.size()), inf), highest_.assign(at(formulas_->tape.size()), -inf);
  integrator_.flow().gather(at_.now.x, at_.now.lambda, y_);
  add_sample(0, h, y_);
  for (int k = 0; k < integrator_.radau().stages(); ++k) {
    integrator_.radau().stage(k, y_);
    add_sample(integrator_.radau().nodes()[k], h, y_);
  }
  for (const Sample& sample : samples_) measure_rows(sample, h);
}

std::size_t HiddenPulses::add_sample(double share, double h, const Vector& y) {
  Sample sample{share, y};
  integrator_.radau().interpolate_derivative(share, sample.rates);
  Vector x = at_.now.x, lambda = at_.now.lambda;
  integrator_.flow().scatter(y, x, lambda);
  sample.inputs.push_back(at_.now.t + share * h);
  sample.inputs.insert(sample.inputs.end(), sample.rates.data(), sample.rates.data() + at_.system.n());
  for (const Vector* values : {&x, &lambda}) sample.inputs.insert(sample.inputs.end(), values->begin(), values->end());
  sample.inputs.insert(sample.inputs.end(), formulas_->parameters.begin(), formulas_->parameters.end());
  sample.lines.resize(at(formulas_->tape.size()));
  formulas_->tape.evaluate<double>(sample.inputs, sample.lines);
  for (const int k : rows().curved()) {
    lowest_[at(k)] = std::min(lowest_[at(k)], sample.lines[at(k)]);
    highest_[at(k)] = std::max(highest_[at(k)], sample.lines[at(k)]);
  }
  samples_.push_back(std::move(sample));
  return samples_.size() - 1;
}

/// The least units of the equations: what they change by where an unknown changes by its unit.
void HiddenPulses::measure_rows(const Sample& sample, double h) {
  row_units_.resize(rows().rows().size(), inf);
  if (!integrator_.flow().linearize(at_.now.t + sample.share * h, sample.rates, sample.y, H_, H_ydot_, H_y_)) return;
  for (std::size_t i = 0; i < row_units_.size(); ++i)
    row_units_[i] = std::min(row_units_[i], (H_y_.row(rows().rows()[i]).transpose().cwiseAbs().cwiseProduct(units_)).maxCoeff());
}

/// Between two samples, where something may be hidden.
void HiddenPulses::add_piece(std::size_t low, std::size_t high) {
  if (!put_between(samples_[low], samples_[high])) return pieces_.push_back({low, high, inf});
  ranges_.resize(at(formulas_->tape.size()));
  for (const int k : rows().lines()) ranges_[at(k)] = range_of(formulas_->tape[k], box_, ranges_);
  rows().narrow(ranges_);
  const double by = felt(samples_[low], samples_[high]);
  if (by > at_.options.tol) pieces_.push_back({low, high, by});
}

/// The inputs between two samples: the algebraic variables as the equations let them. False: that is not
/// found.
bool HiddenPulses::put_between(const Sample& low, const Sample& high) {
  box_.clear();
  for (std::size_t k = 0; k < low.inputs.size(); ++k) {
    const auto [least, most] = std::minmax(low.inputs[k], high.inputs[k]);
    box_.emplace_back(least, most);
  }
  put_tangents(low, high);
  return rows().widen(box_, least_);
}

/// Differential variables that turn between two samples bend one way there: they stay on one side of their tangents.
void HiddenPulses::put_tangents(const Sample& low, const Sample& high) {
  const double time = high.inputs[0] - low.inputs[0];
  for (int k = 0; k < at_.system.n(); ++k) {
    const double first = low.rates[k], last = high.rates[k];
    if (!integrator_.flow().is_differential(k) || !(first * last < 0)) continue;
    const std::size_t place = at(formulas_->variable_input(k));
    const double meeting = (high.inputs[place] - low.inputs[place] - last * time) / (first - last);
    const double bend = low.inputs[place] + first * std::clamp(meeting, 0.0, time);
    box_[place] = hull(box_[place], Interval(bend));
  }
}

/// By how much ranges of equations are wider for the lines that exceed their values at both samples than without, in
/// their units.
double HiddenPulses::felt(const Sample& low, const Sample& high) {
  with_ = without_ = ranges_;
  bool any = false;
  for (const int k : rows().curved()) {
    const double varies = exceeding_share * (highest_[at(k)] - lowest_[at(k)]);
    const Interval known = between(low.lines, high.lines, k) + enclosure::symmetric(varies);
    if (known.contains(ranges_[at(k)]) || !known.is_bounded()) continue;
    without_[at(k)] = known;
    any = true;
  }
  if (!any) return 0;
  evaluate_others(with_), evaluate_others(without_);
  double most = 0;
  for (std::size_t i = 0; i < row_units_.size(); ++i) {
    const std::size_t line = at(formulas_->F[at(rows().rows()[i])]);
    const double all = with_[line].hi - with_[line].lo, others = without_[line].hi - without_[line].lo;
    if (all - others > 0) most = std::max(most, (all - others) / row_units_[i]);
  }
  return most;
}

/// The lines of the equations that are not curved themselves, from those that are.
void HiddenPulses::evaluate_others(std::vector<Interval>& ranges) const {
  const std::vector<int>& curved = integrator_.algebraic_part().curved_rows().curved();
  for (const int k : integrator_.algebraic_part().curved_rows().lines())
    if (!std::ranges::binary_search(curved, k)) ranges[at(k)] = range_of(formulas_->tape[k], box_, ranges);
}

/// Does the point in the middle of a piece show something? Else its halves are pieces.
bool HiddenPulses::shows(const Piece& piece, double h, double end) {
  const double middle = (samples_[piece.low].share + samples_[piece.high].share) / 2;
  const AlgebraicPart::Solved solved = solve_at(middle, h, piece, y_);
  if (solved == AlgebraicPart::Solved::undetermined) return false;
  const bool is_found = solved == AlgebraicPart::Solved::yes;
  if (middle < end && (!is_found || is_off_course(middle, y_))) return true;
  if (!is_found) return false;
  const std::size_t sample = add_sample(middle, h, y_);
  add_piece(piece.low, sample);
  if (middle < end) add_piece(sample, piece.high);
  return false;
}

/// The unknowns at a point: algebraic ones by their equations, from the polynomial or the values at the ends of the piece.
AlgebraicPart::Solved HiddenPulses::solve_at(double share, double h, const Piece& piece, Vector& y) {
  Radau& radau = integrator_.radau();
  radau.interpolate_derivative(share, rates_);
  Vector polynomial;
  radau.interpolate(share, polynomial);
  y = polynomial;
  AlgebraicPart::Solved solved = integrator_.algebraic_part().solve(at_.now.t + share * h, rates_, y);
  for (const std::size_t end : {piece.low, piece.high}) {
    if (solved != AlgebraicPart::Solved::no) return solved;
    y = polynomial;
    for (int k = 0; k < y.size(); ++k)
      if (!integrator_.flow().is_differential(k)) y[k] = samples_[end].y[k];
    solved = integrator_.algebraic_part().solve(at_.now.t + share * h, rates_, y);
  }
  return solved;
}

/// Do the differential equations miss more than the tolerance there?
bool HiddenPulses::is_off_course(double share, const Vector& y) {
  if (!integrator_.radau().correction_by_point(share, rates_, y, correction_)) return true;
  for (int k = 0; k < at_.system.n(); ++k) {
    const double size = at_.scales.x[k] + std::abs(y[k]);
    if (integrator_.flow().is_differential(k) && std::abs(correction_[k]) > tolerated_defect * at_.options.tol * size) return true;
  }
  return false;
}

}  // namespace perp
