// The formulas in which PoleWatch looks for divisors: those of a mode of a Dcs, of b(t) and q(t) of an
// Lcs.
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/expression/dependent_lines.hpp>
#include <perp/core/tape/bounded_tape.hpp>
#include <perp/schemes/poles/watched_formulas.hpp>

namespace perp {
namespace {

constexpr int points_of_touch = 16;  ///< at which a divisor that touches 0 is looked at

using Values = std::vector<RunningError>;

/// Which lines depend on other inputs than t?
std::vector<char> depends_on_state(const Tape& tape) {
  return dependent_lines(tape, [](int input) { return input != Dcs::time_input(); });
}

void write(const BoundedTape& tape, Values& values) {
  values.resize(tape.outputs());
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = tape.output(k);
}

class FormulasOfMode final : public WatchedFormulas {
 public:
  FormulasOfMode(int n, int m, const ExplicitForm& form, std::vector<int> factors, std::size_t cuts)
      : n_(n),
        z_(static_cast<std::size_t>(1 + 2 * n + m), 0.0),
        z_error_(z_.size(), 0.0),
        calm_(form.tape, factors, n),
        divisors_(form.tape, factors, inputs(), {}),
        rows_(form.tape, form.rows, inputs(), {}) {
    const std::vector<char> moves = depends_on_state(form.tape);
    const auto is_moved = [&](int line) { return moves[static_cast<std::size_t>(line)] != 0; };
    const auto first_cut = factors.end() - static_cast<std::ptrdiff_t>(cuts);
    set_first_cuts(factors.size() - cuts,
                   static_cast<std::size_t>(first_cut - factors.begin() -
                                            std::count_if(factors.begin(), first_cut, is_moved)));
    std::erase_if(factors, is_moved);
    const std::vector<double> any(z_.size() - 1, 0.0);
    Tape of_time = bind_inputs(form.tape, 1, any, factors);
    divisors_of_time_ = {of_time, factors, 1, {}};
    set_time_zeros({std::move(of_time), std::move(factors)});
    for (const ExplicitForm::Implicit& group : form.implicit)
      if (FollowedUnknowns::may_have_pole(form.tape, group, inputs()))
        follow({form.tape, group, n, inputs()});
  }

  bool is_calm(const StraightStep& step) override {
    return calm_.holds(step) && is_calm_in_time(step) && follows(step);
  }

  bool look_ahead(const StraightStep& step) override { return calm_.reaches(step); }

  bool add_sides(double h, std::vector<CalmBox::Side>& sides) const override {
    if (!calm_.is_there()) return false;
    sides.insert(sides.end(), calm_.sides().begin(), calm_.sides().end());
    add_sides_of_time(h, sides);
    return add_sides_of_followed(sides);
  }

  void divisors(const SolutionPath& path, double s, bool tolerant, Values& values) override {
    load(path, s);
    const Vector errors = tolerant && path.tolerance.size() > 0
                              ? path.tolerance
                              : state_rounding * path.a.x.cwiseAbs().cwiseMax(path.b.x.cwiseAbs());
    std::copy_n(errors.data(), n_, z_error_.begin() + 1 + n_);
    z_error_[0] = state_rounding / 8 * std::abs(path.b.t);
    divisors_.run(z_.data(), z_error_.data());
    write(divisors_, values);
  }

  void rows(const SolutionPath& path, double s, bool at_rest, Vector& values, Vector& errors) override {
    load(path, s);
    if (at_rest) std::fill_n(z_.begin() + 1, n_, 0.0);
    rows_.run(z_.data(), nullptr);
    values.resize(static_cast<Eigen::Index>(rows_.outputs()));
    errors.resize(values.size());
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      const RunningError& row = rows_.output(static_cast<std::size_t>(i));
      values[i] = row.value;
      errors[i] = row.error;
    }
  }

 protected:
  void divisors_of_time(double t, double error, Values& values) override {
    divisors_of_time_.run(&t, &error);
    write(divisors_of_time_, values);
  }

 private:
  [[nodiscard]] int inputs() const { return static_cast<int>(z_.size()); }

  /// (t, ẋ, x, λ) at the share s of the path, with the multipliers of its end.
  void load(const SolutionPath& path, double s) {
    z_[0] = path.time(s);
    const Vector x = path.state(s), rate = path.rate();
    std::copy_n(rate.data(), n_, z_.begin() + 1);
    std::copy_n(x.data(), n_, z_.begin() + 1 + n_);
    std::copy(path.b.lambda.begin(), path.b.lambda.end(), z_.begin() + 1 + 2 * n_);
  }

  int n_;
  std::vector<double> z_, z_error_;  // inputs of the tape
  CalmBox calm_;
  BoundedTape divisors_, divisors_of_time_, rows_;
};

/// A function of time.
class FormulasOfSignal : public WatchedFormulas {
 public:
  explicit FormulasOfSignal(const Signal& signal) : signal_(signal) {}

  void divisors(const SolutionPath& path, double s, bool /*tolerant*/, Values& values) override {
    const double t = path.time(s);
    divisors_of_time(t, state_rounding / 8 * std::abs(t), values);
  }

  void rows(const SolutionPath& path, double s, bool /*at_rest*/, Vector& values, Vector& errors) override {
    values = signal_(path.time(s));
    errors = state_rounding * values.cwiseAbs();
  }

 protected:
  Signal signal_;
};

class DivisorsOfSignal final : public FormulasOfSignal {
 public:
  DivisorsOfSignal(const Signal& signal, const Tape& tape, std::vector<int> factors, std::size_t cuts)
      : FormulasOfSignal(signal), divisors_(tape, factors, 1, {}) {
    set_first_cuts(factors.size() - cuts, factors.size() - cuts);
    set_time_zeros({tape, std::move(factors)});
  }

 protected:
  void divisors_of_time(double t, double error, Values& values) override {
    divisors_.run(&t, &error);
    write(divisors_, values);
  }

 private:
  BoundedTape divisors_;
};

/// Of a signal of which only values are known.
class ReciprocalsOfSignal final : public FormulasOfSignal {
 public:
  using FormulasOfSignal::FormulasOfSignal;

 protected:
  void divisors_of_time(double t, double /*error*/, Values& values) override {
    now_.resize(signal_.size());
    signal_.evaluate(t, now_);
    values.clear();
    for (const int entry : signal_.varying())
      values.emplace_back(1 / now_[entry], state_rounding * std::abs(1 / now_[entry]));
  }

 private:
  Vector now_;
};

}  // namespace

bool WatchedFormulas::is_zero_between(std::size_t k, double low, double high) {
  Values values;
  const double error = std::max((high - low) / points_of_touch, half_ulp(high));
  for (int i = 0; i <= points_of_touch; ++i) {
    divisors_of_time(low + (high - low) * i / points_of_touch, error, values);
    if (decided_sign(values[k]) == 0) return true;
  }
  return false;
}

void watch_mode(const ExplicitForms& forms, const Mode& mode, FormulaList& list) {
  ExplicitForm form = forms.form(mode);
  std::vector<int> factors = divisors_of(form.tape, form.rows);
  const std::vector<int> cuts = cuts_of(form.tape, form.rows);
  factors.insert(factors.end(), cuts.begin(), cuts.end());
  const bool is_divided = !factors.empty();
  auto formulas = std::make_unique<FormulasOfMode>(forms.n(), forms.m(), form, std::move(factors), cuts.size());
  if (is_divided || !formulas->followed().empty()) list.push_back(std::move(formulas));
}

void watch_signal(const Signal& signal, FormulaList& list) {
  if (signal.is_constant()) return;
  if (signal.tape() == nullptr) {
    list.push_back(std::make_unique<ReciprocalsOfSignal>(signal));
    return;
  }
  Tape tape = *signal.tape();
  std::vector<int> factors = divisors_of(tape, signal.lines());
  const std::vector<int> cuts = cuts_of(tape, signal.lines());
  factors.insert(factors.end(), cuts.begin(), cuts.end());
  if (!factors.empty())
    list.push_back(
        std::make_unique<DivisorsOfSignal>(signal, tape, std::move(factors), cuts.size()));
}

}  // namespace perp
