#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/analysis/hybrid/sparse/rise.hpp>
#include <perp/analysis/hybrid/sparse/series_flow.hpp>

namespace perp {
namespace {

constexpr int first_order = 6;         ///< of a step that an event soon ends
constexpr double tiny_tolerance = 0x1p-54;
constexpr double of_tolerance = 0.05;   ///< what a step may lose by the terms that are left out
constexpr double least_defect = 0x1p-44;  ///< of the sizes: rounding
constexpr double most_defect = 10;      ///< of the tolerance: of the rates at the end of a step
constexpr int most_shorter = 30;
constexpr int decisive_orders = 4;      ///< of the derivatives that tell the sign of a constraint
constexpr double rounding_of_step = 0x1p-48;  ///< of the size of a polynomial: its terms' rounding

/// The length of a step of this order, shortened by what is looked at.
struct StepLength {
  double h;
  int order;
  double power = std::pow(h, order - 1);

  /// Until the last two terms of Σ c_k s^k are below the tolerance, against its size and what it moves by.
  void fit(const double* c, double tol) {
    for (;;) {
      const double last = (std::abs(c[order - 1]) + std::abs(c[order]) * h) * power;
      if (last <= tol * (std::abs(c[0]) + std::abs(c[1]) * h) || last == 0 || h == 0) return;
      h *= 0.8;
      power = std::pow(h, order - 1);
    }
  }
};

}  // namespace

SeriesFlow::SeriesFlow(const HybridModel& model, ModeSeries& series, SeriesScales scales)
    : model_(model), series_(series), scales_(std::move(scales)) {
  scales_.tol = std::max(of_tolerance * scales_.tol, tiny_tolerance);
}

bool SeriesFlow::start(double t, const Vector& x, const std::vector<int>& z, bool is_exact) {
  known_to_ = is_exact ? 0 : scales_.share;
  series_.set_known(known_to_, scales_.sizes);
  t_ = t;
  z_ = z;
  x_ = x;
  h_ = 0;
  longest_ = inf;
  ends_ = false;
  if (!series_.begin(t, x, z, 0) || !series_.passes_gate()) return false;
  for (int j = 0; j < model_.n(); ++j) x_[j] = series_.variable(j)[0];
  return true;
}

double SeriesFlow::size_of(int j, double x) const {
  return std::max(std::abs(x), j < scales_.sizes.size() ? scales_.sizes[j] : 0.0);
}

/// The longest h, at most the rest, at which each of the last two terms of every state is below the tolerance.
double SeriesFlow::length_of_states() const {
  double most[2] = {0, 0};
  for (int j = 0; j < model_.n(); ++j) {
    if (!series_.is_state(j)) continue;
    const double* c = series_.variable(j);
    const double size = size_of(j, c[0]);
    for (const int k : {0, 1})
      if (const double last = std::abs(c[order_ - 1 + k]); last > 0)
        most[k] = std::max(most[k], last / std::max(size, std::abs(c[1]) * rest_));
  }
  double h = rest_;
  for (const int k : {0, 1})
    if (most[k] > 0) h = std::min(h, std::pow(scales_.tol / most[k], 1.0 / (order_ - 1 + k)));
  return h;
}

/// The longest h, at most the rest, whose last two terms are below the tolerance: those of a state against
/// its size, those of a constraint or algebraic variable against its size and what it moves by.
double SeriesFlow::length_by_tolerance() const {
  StepLength length{length_of_states(), order_};
  for (int j = 0; j < model_.n(); ++j)
    if (!series_.is_state(j)) length.fit(series_.variable(j), scales_.tol);
  for (int l = 0; l < static_cast<int>(model_.g.size()); ++l) length.fit(series_.constraint(l), scales_.tol);
  return length.h;
}

/// The first order at which constraint l is not 0 to rounding; its coefficients below count as 0.
int SeriesFlow::leading(int l, double size_in_step) {
  const double* c = series_.constraint(l);
  double unknown = rounding_of_step * size_in_step, power = 1;  // of g in the step
  for (int k = 0; k < decisive_orders; ++k, power *= h_) {
    const double error = series_.error(l, k);
    if (std::abs(c[k]) > error || !std::isfinite(error)) return k;
    unknown += error * power;
  }
  // It stays at 0 as far as is looked at; further terms count where they are more than what is not known.
  for (int k = decisive_orders; k <= order_; ++k, power *= h_)
    if (std::abs(c[k]) * power > unknown) return k;
  return order_ + 1;
}

/// Where the first constraint becomes positive. One that is 0 at the beginning is divided by the power of s
/// that its decisive derivative gives.
void SeriesFlow::find_end() {
  ends_ = false;
  const int constraints = static_cast<int>(model_.g.size());
  for (int l = 0; l < constraints && h_ > 0; ++l) {
    const double* c = series_.constraint(l);
    const double size = polynomial_size(c, order_, h_);
    if (c[0] <= -0.5 * size && c[0] < 0) continue;  // no rise, and not 0 by cancellation of these
    const int from = leading(l, size);
    if (from > order_) continue;
    const std::optional<double> s =
        c[from] > 0 ? std::optional(0.0) : first_rise(c + from, order_ - from, h_);
    if (!s) continue;
    h_ = *s;
    ends_ = true;
  }
}

/// Would a higher order make the step longer?
bool SeriesFlow::wants_order() const { return !ends_ && h_ < rest_ && order_ != ModeSeries::order; }

/// Orders are added until the tolerance does not end the step before a constraint or t_end does.
bool SeriesFlow::step(double t_end) {
  rest_ = t_end - t_;
  for (order_ = first_order;; order_ = std::min(2 * order_, ModeSeries::order)) {
    if (!series_.extend(order_)) return false;
    h_ = std::min({length_by_tolerance(), rest_, longest_});
    if (!(h_ > 0) || (t_ + h_ <= t_ && rest_ > 0)) return false;
    find_end();
    if (!wants_order()) break;
  }
  ++steps_;
  return true;
}

void SeriesFlow::at(double s, Vector& x, Vector& g) const {
  const int degree = s == 0 ? 0 : order_;
  for (int j = 0; j < model_.n(); ++j) x[j] = polynomial(series_.variable(j), degree, s);
  for (Eigen::Index l = 0; l < g.size(); ++l)
    g[l] = polynomial(series_.constraint(static_cast<int>(l)), degree, s);
}

Matrix SeriesFlow::polynomials() const {
  const int n = model_.n(), constraints = static_cast<int>(model_.g.size());
  Matrix c(n + constraints, order_ + 1);
  for (int row = 0; row < n + constraints; ++row) {
    const double* of_row = row < n ? series_.variable(row) : series_.constraint(row - n);
    for (int k = 0; k <= order_; ++k) c(row, k) = of_row[k];
  }
  return c;
}

/// Do the rates of the series at the end of the step differ from these slopes of its polynomials by no more than its
/// tolerance?
bool SeriesFlow::confirms_rates(const Vector& slopes) const {
  for (int j = 0; j < model_.n(); ++j) {
    if (!series_.is_state(j)) continue;
    const double size = size_of(j, x_end_[j]);
    const double moved = std::abs(series_.rate(j)) * h_;
    const double defect = std::abs(series_.rate(j) - slopes[j]) * h_;
    if (!(defect <= most_defect * std::max(scales_.tol, least_defect) * std::max(size, moved))) return false;
  }
  return true;
}

SeriesFlow::Arrival SeriesFlow::arrive() {
  const int n = model_.n();
  x_end_.resize(n);
  Vector slopes = Vector::Zero(n);
  for (int j = 0; j < n; ++j) {
    const double* c = series_.variable(j);
    x_end_[j] = polynomial(c, order_, h_);
    for (int k = order_; k >= 1; --k) slopes[j] = slopes[j] * h_ + k * c[k];
  }
  series_.set_known(scales_.share, scales_.sizes);
  if (series_.begin(t_ + h_, x_end_, z_, 0) && confirms_rates(slopes)) {
    longest_ = inf;
    return Arrival::good;
  }
  longest_ = h_ / 4;
  series_.set_known(known_to_, scales_.sizes);
  return t_ + longest_ > t_ && series_.begin(t_, x_, z_, 0) ? Arrival::rejected : Arrival::none;
}

bool SeriesFlow::advance() {
  t_ += h_;
  h_ = 0;
  known_to_ = scales_.share;
  for (int j = 0; j < model_.n(); ++j) x_[j] = series_.variable(j)[0];
  return series_.passes_gate();
}

}  // namespace perp
