#include <algorithm>
#include <cmath>

#include <perp/core/expression/kinks/formula_kinks.hpp>
#include <perp/core/linear/least_squares.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/schemes/located/transition/sensitivity.hpp>

namespace perp {
namespace {

/// Divides the rows of equations, with further ones, by the largest entries of the left side.
template <class... Further>
void scale_rows(Matrix& left, Further&... further) {
  for (Eigen::Index i = 0; i < left.rows(); ++i) {
    const double size = left.row(i).cwiseAbs().maxCoeff();
    if (size > 0) left.row(i) /= size, ((further.row(i) /= size), ...);
  }
}

/// Inverse of the largest entry of each column of both; 1 where it is empty.
Vector column_units(const Matrix& one, const Matrix& other) {
  Vector units = one.cwiseAbs().cwiseMax(other.cwiseAbs()).colwise().maxCoeff().transpose();
  for (double& unit : units) unit = unit > 0 ? 1 / unit : 1;
  return units;
}

/// f'(0) of fourth order, from places ±h and ±2h; 0 to the bit where these do not move f.
template <class F>
Vector derivative_at_0(const F& f, double h) {
  const Vector near = f(h) - f(-h), far = f(2 * h) - f(-2 * h);
  return (8 * near - far) / (12 * h);
}

}  // namespace

Sensitivities::Sensitivities(const Dcs& system, const SensitivityRequest& request, ModeFlow& flow,
                             ConsistentJets& jets)
    : system_(system), request_(request), flow_(flow), jets_(jets), columns_(request.columns()) {
  const int starts = static_cast<int>(request.starts.size());
  for (int k = 0; k < static_cast<int>(request.parameters.size()); ++k)
    column_of_parameter_.push_back(starts + k);
  if (active()) differentiate_resets();
}

void Sensitivities::differentiate_resets() {
  reset_tape_ = system_.tape;
  for (const Reset& reset : system_.resets) {
    reset_start_.push_back(static_cast<int>(reset_lines_.size()));
    reset_lines_.push_back(reset.condition);
    reset_lines_.insert(reset_lines_.end(), reset.values.begin(), reset.values.end());
  }
  const int inputs = system_.parameter_input(0) + static_cast<int>(system_.parameters.size());
  reset_derivatives_ = differentiate(reset_tape_, reset_lines_, 0, inputs);
}

bool Sensitivities::have_formulas_one_side() const {
  std::vector<int> lines = system_.F;
  lines.insert(lines.end(), system_.G.begin(), system_.G.end());
  for (const Reset& reset : system_.resets) {
    lines.push_back(reset.condition);
    lines.insert(lines.end(), reset.values.begin(), reset.values.end());
  }
  const FormulaKinks kinks(system_.tape, lines, system_.parameter_input(0), system_.parameters);
  if (!kinks.any()) return true;
  const bool is_combined = request_.directions.size() > 0;
  const Matrix dp = is_combined ? this->dp() * request_.directions : this->dp();
  for (Eigen::Index k = 0; k < dp.cols(); ++k) {
    const Vector direction = dp.col(k);
    if (!kinks.are_smooth_along({direction.data(), system_.parameters.size()})) return false;
  }
  return true;
}

/// Every line of the tape of the resets at (t, x, λ; p).
std::vector<double> Sensitivities::run_resets(double t, const Vector& x,
                                              const Vector& lambda) const {
  std::vector<double> z(static_cast<std::size_t>(system_.parameter_input(0)), 0.0), values;
  z[0] = t;
  for (int j = 0; j < system_.n(); ++j)
    z[static_cast<std::size_t>(system_.variable_input(j))] = x[j];
  for (int i = 0; i < system_.m(); ++i)
    z[static_cast<std::size_t>(system_.multiplier_input(i))] = lambda[i];
  z.insert(z.end(), system_.parameters.begin(), system_.parameters.end());
  values.resize(static_cast<std::size_t>(reset_tape_.size()));
  reset_tape_.evaluate(std::span<const double>(z), std::span(values));
  return values;
}

/// ∂p/∂q, all parameters of the system.
Matrix Sensitivities::dp() const {
  Matrix dp = Matrix::Zero(static_cast<Eigen::Index>(system_.parameters.size()), columns_);
  for (std::size_t k = 0; k < request_.parameters.size(); ++k)
    dp(request_.parameters[k], column_of_parameter_[k]) = 1;
  return dp;
}

void Sensitivities::begin(double t, const Vector& x, const Vector& lambda, const Vector& jump) {
  dx_ = Matrix::Zero(system_.n(), columns_);
  for (std::size_t k = 0; k < request_.starts.size(); ++k)
    dx_(request_.starts[k], static_cast<Eigen::Index>(k)) = 1;
  dt_ = Vector::Zero(columns_);
  moved_.resize(0, 0);
  project(t, x, lambda, jump);
  S_ = dx_;
}

bool Sensitivities::linearise(double t, const Vector& ydot, const Vector& y,
                              Linearised& result) const {
  Vector H;
  if (!flow_.linearize(t, ydot, y, H, result.H_ydot, result.H_y)) return false;
  flow_.by_time(result.H_t);
  flow_.by_parameters(result.H_p);
  return true;
}

bool Sensitivities::have_equations_derivatives(double t, const Vector& x, const Vector& lambda) const {
  Vector y(flow_.size());
  flow_.gather(x, lambda, y);
  Linearised at;
  return linearise(t, Vector::Zero(flow_.size()), y, at) && at.H_y.allFinite() && at.H_p.allFinite();
}

/// The impulses of the unknowns that have no derivative, with which x makes the jump:
///     H_ẏ Δ + H_z Σ = 0
Vector Sensitivities::impulses(const Linearised& at, const Vector& jump) const {
  Matrix columns = at.H_y;
  for (int k = 0; k < flow_.size(); ++k)
    if (flow_.is_differential(k)) columns.col(k).setZero();
  return linear::least_norm_solution(columns, -at.H_ydot.leftCols(system_.n()) * jump, linear::rounding_share);
}

/// What H_ẏ, H_p and H_t say of the move of dx with impulses: one linearised implicit Euler step of length h in the mode
/// from y⁻ to y,
///     (H_ẏ + h H_y) dy = H_ẏ dy⁻ − h H_p dp − h H_t dt,
/// for h → 0, with Δ = dx − dx⁻ and the impulses Σ = h dz of the unknowns z that have no derivative:
///     H_ẏ Δ + H_z Σ = 0            and, of combinations N of equations from which it drops, the order of h,
///     N H_x Δ = −N (H_x dx⁻ + H_p dp + H_t dt)
/// If the step is a jump with impulses, then h H_y tends to what these (`with`) add to H_y where x is meant, since ẏ and z
/// enter linearly; so do h H_p and h H_t. Nothing: no combination drops, and there is no jump.
std::optional<Matrix> Sensitivities::move_onto_constraints(const Linearised& at, const Linearised* with) const {
  Matrix left = at.H_ydot, slopes = at.H_y, right = Matrix::Zero(flow_.size(), columns_);
  for (int k = 0; k < flow_.size(); ++k)
    if (!flow_.is_differential(k)) left.col(k) = at.H_y.col(k), slopes.col(k).setZero();
  if (with != nullptr) {
    Matrix more = with->H_y - at.H_y;
    for (int k = 0; k < flow_.size(); ++k)
      if (!flow_.is_differential(k)) more.col(k).setZero();
    left += more;
    right = -forcing(more, with->H_p - at.H_p, with->H_t - at.H_t);
  }
  Matrix of_slopes = -forcing(slopes, at.H_p, at.H_t);
  const Vector units = column_units(left, slopes);
  left = left * units.asDiagonal();
  slopes = slopes * units.asDiagonal();
  scale_rows(left, right, slopes, of_slopes);
  const Matrix dropping = linear::FullLu(left.transpose()).kernel().transpose();
  if (dropping.rows() == 0 && with == nullptr) return std::nullopt;
  Matrix rows = dropping * slopes, values = dropping * of_slopes;
  scale_rows(rows, values);
  Matrix all(left.rows() + rows.rows(), left.cols()), of_all(all.rows(), columns_);
  all << left, rows;
  of_all << right, values;
  return units.asDiagonal() * linear::least_squares(all, of_all, linear::rounding_share);
}

/// H_x dx + H_p dp + H_t dt of the present dx.
Matrix Sensitivities::forcing(const Matrix& by_y, const Matrix& by_p, const Vector& by_t) const {
  Matrix result = by_y.leftCols(system_.n()) * dx_ + by_t * dt_.transpose();
  for (std::size_t k = 0; k < request_.parameters.size(); ++k)
    result.col(column_of_parameter_[k]) += by_p.col(static_cast<Eigen::Index>(k));
  return result;
}

/// The limit h → 0 of such a step.
void Sensitivities::project(double t, const Vector& x, const Vector& lambda, const Vector& jump) {
  Vector y(flow_.size()), ydot = Vector::Zero(flow_.size());
  flow_.gather(x, lambda, y);
  Linearised at, with;
  if (!linearise(t, ydot, y, at)) return;
  if (jump.size() > 0) {
    const Vector impulse = impulses(at, jump);
    ydot.head(system_.n()) = jump;
    if (!linearise(t, ydot, y + impulse, with)) return;
  }
  const std::optional<Matrix> move = move_onto_constraints(at, jump.size() > 0 ? &with : nullptr);
  if (!move) return;
  moved_ = dx_;
  for (int j = 0; j < system_.n(); ++j) {
    if (!flow_.is_differential(j)) continue;
    // What is left of a difference is 0 where it is the rounding of its terms.
    const Eigen::RowVectorXd sum = dx_.row(j) + move->row(j);
    dx_.row(j) = (sum.array().abs() <= linear::rounding_share * dx_.row(j).array().abs()).select(0, sum);
  }
}

Matrix Sensitivities::start_of_step() const {
  Matrix start = Matrix::Zero(flow_.size(), columns_);
  start.topRows(system_.n()) = S_;
  return start;
}

Radau::Variation Sensitivities::variation(const Vector& terms) const {
  return {start_of_step(), column_of_parameter_, terms};
}

bool Sensitivities::step(Radau& radau, Matrix& S) const {
  const Matrix start = start_of_step();
  Matrix end(flow_.size(), columns_);
  if (!radau.sensitivities(start, end, column_of_parameter_)) return false;
  S = end.topRows(system_.n());
  return true;
}

Sensitivities::Values Sensitivities::complete(const Jet& jet, const Matrix& S) const {
  JetSensitivities all = jets_.sensitivities(jet, S, {}, dp());
  return {std::move(all.x[0]), std::move(all.lambda[0])};
}

Sensitivities::GapRate Sensitivities::gap_rate(const Gap& gap, const Jet& jet,
                                               const Matrix& S) const {
  const Matrix p = dp();
  const JetSensitivities all = jets_.sensitivities(jet, S, {}, p);
  if (gap.law >= 0) {
    const auto& derivatives = gap.of_lambda ? all.lambda : all.w;
    const Matrix& series = gap.of_lambda ? jet.lambda : jet.w;
    return {gap.sign * derivatives[0].row(gap.law).transpose(), gap.sign * series(gap.law, 1)};
  }
  if (gap.variable >= 0)
    return {gap.sign * all.x[0].row(gap.variable).transpose(), gap.sign * jet.x(gap.variable, 1)};
  return reset_rate(gap, jet, all, p);
}

/// Of ψ(t, x, λ; p), the condition of a reset, with the derivatives of x and λ and of p by the columns.
Sensitivities::GapRate Sensitivities::reset_rate(const Gap& gap, const Jet& jet, const JetSensitivities& all,
                                                 const Matrix& p) const {
  const std::vector<double> values = run_resets(jet.t, jet.x.col(0), jet.lambda.col(0));
  GapRate rate{Vector::Zero(columns_), 0, Vector::Zero(columns_)};
  const auto add = [&rate](const Vector& term) { rate.by_q += term, rate.terms += term.cwiseAbs(); };
  const auto move = [&rate](double term) { rate.by_t += term, rate.moves += std::abs(term); };
  for (const Derivative& d : reset_derivatives_) {
    if (d.output != reset_start_[static_cast<std::size_t>(gap.reset)]) continue;
    const double value = gap.sign * values[static_cast<std::size_t>(d.line)];
    const int x = d.input - system_.variable_input(0), l = d.input - system_.multiplier_input(0),
              k = d.input - system_.parameter_input(0);
    if (d.input == Dcs::time_input()) {
      move(value);
    } else if (k >= 0) {
      add(value * p.row(k).transpose());
    } else if (l >= 0) {
      move(value * jet.lambda(l, 1));
      add(value * all.lambda[0].row(l).transpose());
    } else if (x >= 0) {
      move(value * jet.x(x, 1));
      add(value * all.x[0].row(x).transpose());
    }
  }
  return rate;
}

bool Sensitivities::is_on_condition(int reset, const Jet& jet, double apart) const {
  const std::vector<double> values = run_resets(jet.t, jet.x.col(0), jet.lambda.col(0));
  const int output = reset_start_[static_cast<std::size_t>(reset)];
  const double value = values[static_cast<std::size_t>(reset_lines_[static_cast<std::size_t>(output)])];
  const auto input = [&](int k) {
    if (k == Dcs::time_input()) return jet.t;
    if (k >= system_.parameter_input(0)) return system_.parameters[static_cast<std::size_t>(k - system_.parameter_input(0))];
    if (k >= system_.multiplier_input(0)) return jet.lambda(k - system_.multiplier_input(0), 0);
    return k < system_.variable_input(0) ? 0 : jet.x(k - system_.variable_input(0), 0);
  };
  double terms = 0;  // by which the rounding of its inputs moves it
  for (const Derivative& d : reset_derivatives_)
    if (d.output == output) terms += std::abs(values[static_cast<std::size_t>(d.line)] * input(d.input));
  double moves = 0;
  if (apart > 0) moves = apart * std::abs(gap_rate({.reset = reset}, jet, Matrix::Zero(system_.n(), columns_)).by_t);
  return std::abs(value) <= 16 * unit_roundoff * terms + moves;
}

std::vector<int> Sensitivities::touched_by(int reset) const {
  const Reset& what = system_.resets[static_cast<std::size_t>(reset)];
  std::vector<int> touched = what.variables;
  const int first = reset_start_[static_cast<std::size_t>(reset)], last = first + static_cast<int>(what.values.size());
  for (const Derivative& d : reset_derivatives_) {
    if (d.output < first || d.output > last || d.input >= system_.parameter_input(0)) continue;
    const int x = d.input - system_.variable_input(0), l = d.input - system_.multiplier_input(0);
    if (l >= 0 || x >= 0) touched.push_back(l >= 0 ? system_.n() + l : x);
  }
  return touched;
}

void Sensitivities::at_event(const Jet& jet, const Vector& dt) {
  dt_ = dt;
  moved_.resize(0, 0);
  dx_ = S_ + jet.x.col(1) * dt.transpose();
  if (resets_read_multipliers())
    dlambda_ = jets_.sensitivities(jet, S_, {}, dp()).lambda[0] + jet.lambda.col(1) * dt.transpose();
}

bool Sensitivities::resets_read_multipliers() const {
  return std::ranges::any_of(reset_derivatives_, [&](const Derivative& d) {
    return d.input >= system_.multiplier_input(0) && d.input < system_.parameter_input(0);
  });
}

void Sensitivities::reset(const std::vector<int>& resets, double t, const Vector& x,
                          const Vector& lambda) {
  const std::vector<double> values = run_resets(t, x, lambda);
  const Matrix before = dx_, p = dp();
  for (const int reset : resets) apply_reset(reset, values, before, p);
}

Vector Sensitivities::reset_values(const std::vector<int>& resets, double t, const Vector& x, const Vector& lambda) const {
  const std::vector<double> lines = run_resets(t, x, lambda);
  Vector after = x;
  for (const int reset : resets) {
    const Reset& what = system_.resets[static_cast<std::size_t>(reset)];
    for (std::size_t k = 0; k < what.variables.size(); ++k) after[what.variables[k]] = lines[static_cast<std::size_t>(what.values[k])];
  }
  return after;
}

/// The rows of dx* that a reset writes, from those before it.
void Sensitivities::apply_reset(int reset, const std::vector<double>& values, const Matrix& before,
                                const Matrix& p) {
  const Reset& what = system_.resets[static_cast<std::size_t>(reset)];
  for (const int j : what.variables) dx_.row(j).setZero();
  const int first = reset_start_[static_cast<std::size_t>(reset)] + 1;
  for (const Derivative& d : reset_derivatives_) {
    const int k = d.output - first;
    if (k < 0 || k >= static_cast<int>(what.values.size())) continue;
    const double value = values[static_cast<std::size_t>(d.line)];
    dx_.row(what.variables[static_cast<std::size_t>(k)]) += value * row_of_input(d.input, before, p);
  }
}

/// The derivative of an input of the tape of resets at the event; none has an effect through ẋ.
Eigen::RowVectorXd Sensitivities::row_of_input(int input, const Matrix& before, const Matrix& p) const {
  if (input == Dcs::time_input()) return dt_.transpose();
  if (input >= system_.parameter_input(0)) return p.row(input - system_.parameter_input(0));
  if (input >= system_.multiplier_input(0)) return dlambda_.row(input - system_.multiplier_input(0));
  if (input >= system_.variable_input(0)) return before.row(input - system_.variable_input(0));
  return Eigen::RowVectorXd::Zero(columns_);
}

/// The impact is differentiated by central differences of fourth order of its map at fixed
/// contacts: a linear solve for whatever M(t, q) and G(t, q) the model has.
void Sensitivities::impact(Impact& impact, const Impact::Result& result, double t, const Vector& x,
                           const std::vector<double>& restitution, const ModelScales& units) {
  const Vector sizes = x.cwiseAbs().cwiseMax(units.x);
  const Matrix before = dx_;
  for (int c = 0; c < columns_; ++c) {
    const Vector direction = before.col(c);
    // h moves no variable, nor time, by more than a thousandth of its size.
    const double speed = std::max(direction.cwiseQuotient(sizes).lpNorm<Eigen::Infinity>(),
                                  std::abs(dt_[c]) / units.time);
    if (speed > 0) dx_.col(c) = derivative_at_0([&](double s) { return impact.map(t + s * dt_[c], x + s * direction, result.laws); }, 1e-3 / speed);
    const int parameter = c - static_cast<int>(request_.starts.size());
    if (parameter < 0) continue;
    const auto p = static_cast<std::size_t>(request_.parameters[static_cast<std::size_t>(parameter)]);
    const double value = system_.parameters[p];
    const auto moved = [&](double s) {
      Dcs other = system_;
      other.parameters[p] = value + s;
      return Impact::of(other, restitution)->map(t, x, result.laws);
    };
    dx_.col(c) += derivative_at_0(moved, 1e-3 * (value == 0 ? 1 : std::abs(value)));
  }
}

void Sensitivities::leave(const Jet& jet) {
  S_ = dx_ - jet.x.col(1) * dt_.transpose();
  // Rates of algebraic variables may be undetermined; these rows follow from the others.
  for (int j = 0; j < system_.n(); ++j)
    if (!flow_.is_differential(j)) S_.row(j).setZero();
}

std::optional<bool> Sensitivities::has_rate_of(const Jet& jet, const Mode& mode, const Vector& least) const {
  const Jet other = jets_.solve(mode, jet.t, jet.x.col(0), jet.lambda.col(0), jet.x.col(1));
  if (!other.consistent || !other.determined) return std::nullopt;
  for (int j = 0; j < system_.n(); ++j) {
    const double one = jet.x(j, 1), two = other.x(j, 1);
    const double most = std::max({std::abs(one), std::abs(two), least[j] / same_derivative});
    if (flow_.is_differential(j) && !(std::abs(one - two) <= same_derivative * most)) return false;
  }
  return true;
}

}  // namespace perp
