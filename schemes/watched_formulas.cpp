// The formulas in which PoleWatch looks for denominators: those of a Dcs, of b(t) and q(t) of an Lcs.
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/bounded_tape.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/schemes/watched_formulas.hpp>

namespace perp {
namespace {

constexpr double state_rounding = 8 * std::numeric_limits<double>::epsilon();  ///< of a state, of its size

/// Adds the lines whose zeros are those of `line`.
void add_factors_of(const Tape& tape, int line, std::vector<int>& factors) {
  const Instruction& what = tape[line];
  switch (what.operation) {
    case Operation::constant:
    case Operation::pi: return;
    case Operation::negate:
    case Operation::power:
    case Operation::abs: return add_factors_of(tape, what.a, factors);
    case Operation::divide: return add_factors_of(tape, what.a, factors);
    case Operation::multiply:
      add_factors_of(tape, what.a, factors);
      return add_factors_of(tape, what.b, factors);
    default:
      if (std::find(factors.begin(), factors.end(), line) == factors.end()) factors.push_back(line);
  }
}

/// The factors of all denominators; `tape` gets a cosine for each tangent.
std::vector<int> denominators_of(Tape& tape, const std::vector<int>& rows) {
  const std::vector<bool> needed = needed_lines(tape, rows);
  std::vector<int> factors;
  for (int k = 0, count = tape.size(); k < count; ++k) {
    if (!needed[static_cast<std::size_t>(k)]) continue;
    const Instruction what = tape[k];
    if (what.operation == Operation::divide)
      add_factors_of(tape, what.b, factors);
    else if (what.operation == Operation::power &&
             tape[what.b].operation == Operation::constant && tape[what.b].value < 0)
      add_factors_of(tape, what.a, factors);
    else if (what.operation == Operation::tan)
      add_factors_of(tape, tape.apply(Operation::cos, what.a), factors);
  }
  return factors;
}

/// Which lines depend on other inputs than t?
std::vector<bool> depends_on_state(const Tape& tape) {
  std::vector<bool> depends(static_cast<std::size_t>(tape.size()));
  for (int k = 0; k < tape.size(); ++k) {
    const Instruction& line = tape[k];
    const auto of = [&](int operand) {
      return operand >= 0 && depends[static_cast<std::size_t>(operand)];
    };
    depends[static_cast<std::size_t>(k)] = line.operation == Operation::input
                                               ? line.a != Dcs::time_input()
                                               : of(line.a) || of(line.b);
  }
  return depends;
}

double on_way(double a, double b, double s) { return (1 - s) * a + s * b; }

class FormulasOfSystem final : public WatchedFormulas {
 public:
  FormulasOfSystem(const Dcs& system, const Tape& tape, std::vector<int> factors)
      : evaluator_(system),
        denominators_(tape, factors, system.parameter_input(0), {}),
        z_(static_cast<std::size_t>(evaluator_.inputs()), 0.0),
        z_error_(z_.size(), 0.0) {
    const int states = evaluator_.inputs() - 1;
    const std::vector<bool> moves = depends_on_state(tape);
    std::erase_if(factors, [&](int line) { return moves[static_cast<std::size_t>(line)]; });
    const std::vector<double> any(static_cast<std::size_t>(states), 0.0);
    Tape of_time = bind_inputs(tape, 1, any, factors);
    denominators_of_time_ = {of_time, factors, 1, {}};
    set_time_zeros({std::move(of_time), std::move(factors)});
  }

  /// With the rounding that the states of a run carry.
  void denominators(const Step& a, const Step& b, double s,
                    std::vector<RunningError>& values) override {
    load(a, b, s);
    const int n = evaluator_.n();
    for (int j = 0; j < n; ++j)
      z_error_[static_cast<std::size_t>(1 + n + j)] =
          state_rounding * std::max(std::abs(a.x[j]), std::abs(b.x[j]));
    z_error_[0] = state_rounding / 8 * std::abs(b.t);
    denominators_.run(z_.data(), z_error_.data());
    write(denominators_, values);
  }

  void rows(const Step& a, const Step& b, double s, bool at_rest, Vector& values,
            Vector& errors) override {
    load(a, b, s);
    if (at_rest) std::fill_n(z_.begin() + 1, evaluator_.n(), 0.0);
    const Eigen::Index count = evaluator_.n() + evaluator_.m();
    values.resize(count);
    errors.resize(count);
    evaluator_.evaluate_bounded(z_.data(), nullptr, values.data(), errors.data());
  }

 protected:
  void denominators_of_time(double t, std::vector<RunningError>& values) override {
    denominators_of_time_.run(&t, nullptr);
    write(denominators_of_time_, values);
  }

 private:
  static void write(const BoundedTape& tape, std::vector<RunningError>& values) {
    values.resize(tape.outputs());
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = tape.output(k);
  }

  /// (t, ẋ, x, λ) at the share s of the way, with the multipliers of its end.
  void load(const Step& a, const Step& b, double s) {
    const int n = evaluator_.n();
    z_[0] = on_way(a.t, b.t, s);
    for (int j = 0; j < n; ++j) {
      z_[static_cast<std::size_t>(1 + j)] = (b.x[j] - a.x[j]) / (b.t - a.t);
      z_[static_cast<std::size_t>(1 + n + j)] = on_way(a.x[j], b.x[j], s);
    }
    std::copy(b.lambda.begin(), b.lambda.end(), z_.begin() + 1 + 2 * n);
  }

  DcsEvaluator evaluator_;
  BoundedTape denominators_, denominators_of_time_;
  std::vector<double> z_, z_error_;  // inputs of the tape
};

class FormulasOfSignal final : public WatchedFormulas {
 public:
  FormulasOfSignal(const Signal& signal, const Tape& tape, std::vector<int> factors)
      : signal_(signal), denominators_(tape, factors, 1, {}) {
    set_time_zeros({tape, std::move(factors)});
  }

  void denominators(const Step& a, const Step& b, double s,
                    std::vector<RunningError>& values) override {
    denominators_of_time(on_way(a.t, b.t, s), values);
  }

  void rows(const Step& a, const Step& b, double s, bool /*at_rest*/, Vector& values,
            Vector& errors) override {
    values = signal_(on_way(a.t, b.t, s));
    errors = state_rounding * values.cwiseAbs();
  }

 protected:
  void denominators_of_time(double t, std::vector<RunningError>& values) override {
    const double error = state_rounding / 8 * std::abs(t);
    denominators_.run(&t, &error);
    values.resize(denominators_.outputs());
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = denominators_.output(k);
  }

 private:
  Signal signal_;
  BoundedTape denominators_;
};

/// A signal of which only values are known.
class ReciprocalsOfSignal final : public WatchedFormulas {
 public:
  explicit ReciprocalsOfSignal(const Signal& signal) : signal_(signal) {}

  void denominators(const Step& a, const Step& b, double s,
                    std::vector<RunningError>& values) override {
    denominators_of_time(on_way(a.t, b.t, s), values);
  }

  void rows(const Step& a, const Step& b, double s, bool /*at_rest*/, Vector& values,
            Vector& errors) override {
    values = signal_(on_way(a.t, b.t, s));
    errors = state_rounding * values.cwiseAbs();
  }

 protected:
  void denominators_of_time(double t, std::vector<RunningError>& values) override {
    const Vector now = signal_(t);
    values.clear();
    for (const int entry : signal_.varying())
      values.emplace_back(1 / now[entry], state_rounding * std::abs(1 / now[entry]));
  }

 private:
  Signal signal_;
};

}  // namespace

void watch_system(const Dcs& system, std::vector<std::unique_ptr<WatchedFormulas>>& list) {
  std::vector<int> rows = system.F;
  rows.insert(rows.end(), system.G.begin(), system.G.end());
  Tape tape = bind_inputs(system.tape, system.parameter_input(0), system.parameters, rows);
  std::vector<int> factors = denominators_of(tape, rows);
  if (!factors.empty())
    list.push_back(std::make_unique<FormulasOfSystem>(system, tape, std::move(factors)));
}

void watch_signal(const Signal& signal, std::vector<std::unique_ptr<WatchedFormulas>>& list) {
  if (signal.is_constant()) return;
  if (signal.tape() == nullptr) {
    list.push_back(std::make_unique<ReciprocalsOfSignal>(signal));
    return;
  }
  Tape tape = *signal.tape();
  std::vector<int> factors = denominators_of(tape, signal.lines());
  if (!factors.empty())
    list.push_back(std::make_unique<FormulasOfSignal>(signal, tape, std::move(factors)));
}

}  // namespace perp
