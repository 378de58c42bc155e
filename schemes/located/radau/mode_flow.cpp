#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <perp/core/base/error.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/schemes/located/radau/mode_flow.hpp>

namespace perp {
namespace {

/// The tape with only the listed parameters left as inputs, in increasing order after the others.
Tape with_parameters(const Dcs& system, const std::vector<int>& kept, std::vector<int>& outputs) {
  Tape tape = system.tape;
  int end = static_cast<int>(system.parameters.size());
  while (end > 0) {  // runs of parameters that are bound, from the last to the first
    int begin = end;
    while (begin > 0 && std::ranges::find(kept, begin - 1) == kept.end()) --begin;
    const std::span<const double> values(&system.parameters[0] + begin,
                                         static_cast<std::size_t>(end - begin));
    if (begin < end) tape = bind_inputs(tape, system.parameter_input(begin), values, outputs);
    end = begin - 1;
  }
  return bind_inputs(tape, 0, {}, outputs);  // only what the outputs need
}

bool is_finite(const std::vector<double>& values, std::size_t count) {
  double sum = 0;  // 0 · value is NaN where a value is not finite
  for (std::size_t k = 0; k < count; ++k) sum += 0 * values[k];
  return sum == 0;
}

}  // namespace

ModeFlow::ModeFlow(const Dcs& system, std::vector<int> parameters)
    : system_(system), parameters_(std::move(parameters)), forms_(system) {
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    const int p = parameters_[k];
    if (p < 0 || p >= static_cast<int>(system_.parameters.size()))
      throw InvalidInput(
          fmt::format("there is no parameter {}: the system has {}", p, system_.parameters.size()));
    if (std::find(parameters_.begin(), parameters_.begin() + static_cast<long>(k), p) !=
        parameters_.begin() + static_cast<long>(k))
      throw InvalidInput(fmt::format("parameter {} is asked for twice", p));
  }
  use({}, {}, {});
}

/// Turns to the functions of a form, which are made once. Without a mode: those of the system.
void ModeFlow::use(const BranchForms::Key& key, const Mode& mode, const BranchForms::Ends& ends) {
  const auto [found, is_new] = known_.try_emplace(key);
  now_ = &found->second;
  if (is_new) {
    now_->system = key.empty() ? system_ : forms_.of(mode, ends).system;
    if (!key.empty()) now_->inert = forms_.of(mode, ends).inert;
    compile();
  }
  resize();
}

/// Machine code for F, G, dw/dt of velocity_laws and their derivatives.
void ModeFlow::compile() {
  std::vector<int> outputs = now_->outputs();
  const auto rows = outputs.size();
  Tape tape = with_parameters(now_->system, parameters_, outputs);
  now_->values = MachineCode(tape, outputs, rows);
  now_->bounded.reset(), now_->laws.reset();

  const int inputs = now_->system.parameter_input(0), q = parameter_count();
  std::vector<int> lines = outputs;
  now_->entries.clear();
  for (const Derivative& d : differentiate(tape, outputs, 0, inputs)) {
    now_->entries.push_back({d.output, d.input});
    lines.push_back(d.line);
  }
  now_->linear = MachineCode(bind_inputs(tape, 0, {}, lines), lines, rows);

  std::vector<int> sorted = parameters_;
  std::ranges::sort(sorted);
  lines.clear();
  now_->parameter_entries.clear();
  for (const Derivative& d : differentiate(tape, outputs, inputs, inputs + q)) {
    const int parameter = sorted[static_cast<std::size_t>(d.input - inputs)];
    const auto column = std::ranges::find(parameters_, parameter) - parameters_.begin();
    now_->parameter_entries.push_back({d.output, static_cast<int>(column)});
    lines.push_back(d.line);
  }
  now_->by_parameters = MachineCode(bind_inputs(tape, 0, {}, lines), lines, 0);
}

/// The places for what the functions give.
void ModeFlow::resize() {
  const int inputs = system_.parameter_input(0), q = parameter_count();
  const std::size_t rows = static_cast<std::size_t>(n() + m()) + now_->velocity_lines.size();
  std::vector<int> sorted = parameters_;
  std::ranges::sort(sorted);
  z_.assign(static_cast<std::size_t>(inputs + q), 0);
  for (int k = 0; k < q; ++k)
    z_[static_cast<std::size_t>(inputs + k)] =
        system_.parameters[static_cast<std::size_t>(sorted[static_cast<std::size_t>(k)])];
  z_linear_ = z_;
  rows_.assign(rows, 0);
  derivatives_.assign(now_->entries.size(), 0);
  w_derivatives_.assign(now_->entries.size(), 0);
  parameter_derivatives_.assign(now_->parameter_entries.size(), 0);
}

void ModeFlow::gather(const Vector& x, const Vector& lambda, Vector& y) const {
  y.resize(size());
  y.head(n()) = x;
  for (std::size_t k = 0; k < free_laws_.size(); ++k)
    y[n() + static_cast<int>(k)] = lambda[free_laws_[k]];
}

void ModeFlow::scatter(const Vector& y, Vector& x, Vector& lambda) const {
  x = y.head(n());
  lambda.resize(m());
  for (int i = 0; i < m(); ++i) {
    const int place = place_[static_cast<std::size_t>(i)];
    lambda[i] = place < 0 ? fixed_[static_cast<std::size_t>(i)] : y[place];
  }
}

void ModeFlow::fill(double t, const Vector& ydot, const Vector& y, std::vector<double>& z) const {
  const auto columns = static_cast<std::size_t>(n());
  z[0] = t;
  std::copy_n(ydot.data(), columns, &z[1]);
  std::copy_n(y.data(), columns, &z[1] + columns);
  double* lambda = &z[1] + 2 * columns;
  for (std::size_t i = 0; i < place_.size(); ++i)
    lambda[i] = place_[i] < 0 ? fixed_[i] : y[place_[i]];
}

/// H from the functions. False: not finite.
bool ModeFlow::equations(const Vector& y, const std::vector<double>& rows, Vector& H) const {
  H.resize(size());
  std::copy_n(rows.begin(), n(), H.data());
  for (std::size_t k = 0; k < law_rows_.size(); ++k) {
    const LawRow& law = law_rows_[k];
    const int i = n() + static_cast<int>(k);
    H[i] = law.a * rows[static_cast<std::size_t>(law.function)] + law.b * y[i] - law.c;
  }
  return H.allFinite();
}

bool ModeFlow::evaluate(double t, const Vector& ydot, const Vector& y, Vector& H) {
  fill(t, ydot, y, z_);
  now_->values.run(z_.data(), z_.size(), rows_.data(), nullptr);
  return equations(y, rows_, H);
}

/// The functions with bounds of their errors, made when they are first asked for.
BoundedTape& ModeFlow::bounded() {
  if (!now_->bounded) {
    const std::vector<int> outputs = now_->outputs();
    now_->bounded.emplace(now_->system.tape, outputs, system_.parameter_input(0), system_.parameters);
  }
  return *now_->bounded;
}

bool ModeFlow::evaluate_bounded(const RunningError& t, const std::vector<RunningError>& ydot,
                                const std::vector<RunningError>& y, std::vector<RunningError>& H) {
  const auto columns = static_cast<std::size_t>(n());
  BoundedTape& functions = bounded();
  std::vector<RunningError> inputs(1 + 2 * columns + place_.size());
  inputs[0] = t;
  for (std::size_t j = 0; j < columns; ++j) inputs[1 + j] = ydot[j], inputs[1 + columns + j] = y[j];
  for (std::size_t i = 0; i < place_.size(); ++i)
    inputs[1 + 2 * columns + i] =
        place_[i] < 0 ? RunningError(fixed_[i]) : y[static_cast<std::size_t>(place_[i])];
  z_error_.resize(z_.size());
  for (std::size_t k = 0; k < inputs.size(); ++k)
    z_[k] = inputs[k].value, z_error_[k] = inputs[k].error;
  functions.run(z_.data(), z_error_.data());
  H.resize(static_cast<std::size_t>(size()));
  for (std::size_t r = 0; r < columns; ++r) H[r] = functions.output(r);
  for (std::size_t k = 0; k < law_rows_.size(); ++k) {
    const LawRow& law = law_rows_[k];
    const RunningError row = functions.output(static_cast<std::size_t>(law.function));
    H[columns + k] =
        RunningError(law.a) * row + RunningError(law.b) * y[columns + k] - RunningError(law.c);
  }
  return std::all_of(H.begin(), H.end(), [](const RunningError& row) {
    return std::isfinite(row.value) && std::isfinite(row.error);
  });
}

std::vector<RunningError> ModeFlow::bounded_w() {
  std::vector<RunningError> w;
  for (int i = 0; i < m(); ++i) w.push_back(bounded().output(static_cast<std::size_t>(n() + i)));
  return w;
}

bool ModeFlow::linearize(double t, const Vector& ydot, const Vector& y, Vector& H, Matrix& H_ydot,
                         Matrix& H_y) {
  fill(t, ydot, y, z_linear_);
  now_->linear.run(z_linear_.data(), z_linear_.size(), rows_.data(), derivatives_.data());
  H_ydot.setZero(size(), size());
  H_y.setZero(size(), size());
  for (const Term& term : by_ydot_)
    H_ydot(term.row, term.column) = term.factor * derivatives_[term.entry];
  for (const Term& term : by_y_)
    H_y(term.row, term.column) = term.factor * derivatives_[term.entry];
  for (std::size_t k = 0; k < law_rows_.size(); ++k)
    H_y(n() + static_cast<int>(k), n() + static_cast<int>(k)) += law_rows_[k].b;
  return equations(y, rows_, H) && H_ydot.allFinite() && H_y.allFinite();
}

bool ModeFlow::linearize(double t, const Vector& ydot, const Vector& y, Vector& H, Vector& H_ydot, Vector& H_y) {
  fill(t, ydot, y, z_linear_);
  now_->linear.run(z_linear_.data(), z_linear_.size(), rows_.data(), derivatives_.data());
  H_ydot.setZero(std::ssize(places_.row));
  H_y.setZero(std::ssize(places_.row));
  for (const Term& term : by_ydot_) H_ydot[term.place] = term.factor * derivatives_[term.entry];
  for (const Term& term : by_y_) H_y[term.place] = term.factor * derivatives_[term.entry];
  for (std::size_t k = 0; k < law_rows_.size(); ++k) H_y[law_places_[k]] += law_rows_[k].b;
  return equations(y, rows_, H) && H_ydot.allFinite() && H_y.allFinite();
}

void ModeFlow::by_time(Vector& H_t) const {
  H_t.setZero(size());
  for (const Term& term : by_t_) H_t[term.row] = term.factor * derivatives_[term.entry];
}

void ModeFlow::by_parameters(Matrix& H_p) {
  H_p.setZero(size(), parameter_count());
  if (by_p_.empty()) return;
  now_->by_parameters.run(z_linear_.data(), z_linear_.size(), nullptr,
                          parameter_derivatives_.data());
  for (const Term& term : by_p_)
    H_p(term.row, term.column) = term.factor * parameter_derivatives_[term.entry];
}

/// The functions G alone: most of the lines of a large system are those of F.
MachineCode& ModeFlow::laws() {
  if (!now_->laws) {
    std::vector<int> outputs = now_->system.G;
    const Tape tape = with_parameters(now_->system, parameters_, outputs);
    now_->laws.emplace(tape, outputs, outputs.size());
  }
  return *now_->laws;
}

bool ModeFlow::w(double t, const Vector& ydot, const Vector& y, Vector& w) {
  w.resize(m());
  if (m() == 0) return true;
  fill(t, ydot, y, z_);
  laws().run(z_.data(), z_.size(), w.data(), nullptr);
  return w.allFinite();
}

/// ∂w/∂p at z_; what is 0 by its form is not written.
void ModeFlow::w_by_parameters(Matrix& w_p) {
  if (!now_->parameter_entries.empty())
    now_->by_parameters.run(z_.data(), z_.size(), nullptr, parameter_derivatives_.data());
  for (std::size_t k = 0; k < now_->parameter_entries.size(); ++k)
    if (const int i = law_of(now_->parameter_entries[k]); i >= 0)
      w_p(i, now_->parameter_entries[k].column) = parameter_derivatives_[k];
}

bool ModeFlow::linearize_w(double t, const Vector& ydot, const Vector& y, Vector& w, Matrix& w_ydot,
                           Matrix& w_y, Vector& w_t, Matrix& w_p) {
  fill(t, ydot, y, z_);
  now_->linear.run(z_.data(), z_.size(), rows_.data(), w_derivatives_.data());
  w.resize(m());
  std::copy_n(rows_.begin() + n(), m(), w.data());
  w_ydot.setZero(m(), size());
  w_y.setZero(m(), size());
  w_t.setZero(m());
  w_p.setZero(m(), parameter_count());
  for (std::size_t k = 0; k < now_->entries.size(); ++k) {
    const int i = law_of(now_->entries[k]), input = now_->entries[k].column;
    if (i < 0) continue;
    if (input == Dcs::time_input())
      w_t[i] = w_derivatives_[k];
    else if (input < system_.variable_input(0))
      w_ydot(i, input - system_.derivative_input(0)) = w_derivatives_[k];
    else if (const int j = unknown_of(input); j >= 0)
      w_y(i, j) = w_derivatives_[k];
  }
  w_by_parameters(w_p);
  return w.allFinite() && is_finite(w_derivatives_, w_derivatives_.size()) && w_p.allFinite();
}

}  // namespace perp
