#pragma once

#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/dcs.hpp>

namespace perp {

/// A number that is being written down: arithmetic on it becomes lines of a tape. It has no value, so
/// it cannot be compared, and nothing that depends on a state is decided by accident while a system
/// is recorded: use a law for that.
class Recorded {
 public:
  Recorded() = default;
  /// The result of this line.
  Recorded(Tape& tape, int line) : tape_(&tape), line_(line) {}
  /// A constant; it gets its line when it meets a recorded number.
  Recorded(double value) : value_(value) {}  // NOLINT: implicit, as in 0.5 * x

  /// A constant that is not a number: a row that nothing was written to.
  [[nodiscard]] bool is_nan() const { return tape_ == nullptr && value_ != value_; }
  /// The line on this tape; constants get one.
  [[nodiscard]] int line(Tape& tape) const { return tape_ ? line_ : tape.constant(value_); }

  /// Arithmetic and the functions of <cmath>: each makes a line of the tape.
  ///@{
  Recorded operator-() const {
    return tape_ ? Recorded(*tape_, tape_->apply(Operation::negate, line_)) : Recorded(-value_);
  }
  Recorded operator+() const { return *this; }
  Recorded& operator+=(const Recorded& y) { return *this = *this + y; }
  Recorded& operator-=(const Recorded& y) { return *this = *this - y; }
  Recorded& operator*=(const Recorded& y) { return *this = *this * y; }
  Recorded& operator/=(const Recorded& y) { return *this = *this / y; }

  friend Recorded operator+(const Recorded& x, const Recorded& y) {
    return apply(Operation::add, x, y);
  }
  friend Recorded operator-(const Recorded& x, const Recorded& y) {
    return apply(Operation::subtract, x, y);
  }
  friend Recorded operator*(const Recorded& x, const Recorded& y) {
    return apply(Operation::multiply, x, y);
  }
  friend Recorded operator/(const Recorded& x, const Recorded& y) {
    return apply(Operation::divide, x, y);
  }
  friend Recorded pow(const Recorded& x, const Recorded& y) {
    return apply(Operation::power, x, y);
  }
  friend Recorded atan2(const Recorded& y, const Recorded& x) {
    return apply(Operation::atan2, y, x);
  }
  friend Recorded sin(const Recorded& x) { return apply(Operation::sin, x); }
  friend Recorded cos(const Recorded& x) { return apply(Operation::cos, x); }
  friend Recorded tan(const Recorded& x) { return apply(Operation::tan, x); }
  friend Recorded asin(const Recorded& x) { return apply(Operation::asin, x); }
  friend Recorded acos(const Recorded& x) { return apply(Operation::acos, x); }
  friend Recorded atan(const Recorded& x) { return apply(Operation::atan, x); }
  friend Recorded sinh(const Recorded& x) { return apply(Operation::sinh, x); }
  friend Recorded cosh(const Recorded& x) { return apply(Operation::cosh, x); }
  friend Recorded tanh(const Recorded& x) { return apply(Operation::tanh, x); }
  friend Recorded exp(const Recorded& x) { return apply(Operation::exp, x); }
  friend Recorded log(const Recorded& x) { return apply(Operation::log, x); }
  friend Recorded log10(const Recorded& x) { return apply(Operation::log10, x); }
  friend Recorded sqrt(const Recorded& x) { return apply(Operation::sqrt, x); }
  ///@}

  // What depends on the sign of a state is a law, not a branch of the program.
  friend bool operator<(const Recorded&, const Recorded&) = delete;
  friend bool operator>(const Recorded&, const Recorded&) = delete;
  friend bool operator<=(const Recorded&, const Recorded&) = delete;
  friend bool operator>=(const Recorded&, const Recorded&) = delete;
  friend bool operator==(const Recorded&, const Recorded&) = delete;
  friend bool operator!=(const Recorded&, const Recorded&) = delete;

 private:
  static Recorded apply(Operation operation, const Recorded& x) {
    if (x.tape_ == nullptr) return apply_operation(operation, x.value_, x.value_);
    return {*x.tape_, x.tape_->apply(operation, x.line_)};
  }
  static Recorded apply(Operation operation, const Recorded& x, const Recorded& y) {
    Tape* tape = x.tape_ != nullptr ? x.tape_ : y.tape_;
    if (tape == nullptr) return apply_operation(operation, x.value_, y.value_);
    const int a = x.line(*tape);
    return {*tape, tape->apply(operation, a, y.line(*tape))};
  }

  Tape* tape_ = nullptr;
  int line_ = -1;
  double value_ = 0;
};

/// What a recorded struct reads or writes, by index from 0: a wrong index is InvalidInput, which
/// names it.
class RecordedList {
 public:
  /// "residual reads x", "3 variables": how a message begins and what there is.
  RecordedList(std::vector<Recorded> list, std::string use, std::string there_is)
      : list_(std::move(list)), use_(std::move(use)), there_is_(std::move(there_is)) {}

  /// Entry k, from 0. Throws InvalidInput where there is none.
  template <class Index>
  Recorded& operator[](Index k) {
    return list_[checked(static_cast<long>(k))];
  }
  /// Entry k, from 0. Throws InvalidInput where there is none.
  template <class Index>
  const Recorded& operator[](Index k) const {
    return list_[checked(static_cast<long>(k))];
  }
  /// Number of entries, and what a range needs.
  ///@{
  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] auto begin() const { return list_.begin(); }
  [[nodiscard]] auto end() const { return list_.end(); }
  [[nodiscard]] auto begin() { return list_.begin(); }
  [[nodiscard]] auto end() { return list_.end(); }
  ///@}

  /// Throws InvalidInput where an entry was not written.
  void check_written(const std::string& what) const;

  /// Takes constants that cancel out of the rows of F and G, as is done with those of a model file.
  static void cancel_constants(Dcs& system);

 private:
  [[nodiscard]] std::size_t checked(long k) const {
    if (k < 0 || k >= static_cast<long>(list_.size())) fail_index(k);
    return static_cast<std::size_t>(k);
  }
  [[noreturn]] void fail_index(long k) const;

  std::vector<Recorded> list_;
  std::string use_, there_is_;
};

/// The Dcs of a plain struct with the members
///     void residual(const auto& t, const auto& xdot, const auto& x, const auto& lambda, auto& r) const;
///     void output(const auto& t, const auto& x, const auto& lambda, auto& w) const;    // if m > 0
/// which are run once, on recorded numbers: r[0..n-1] = F, w[0..m-1] = G. The formulas become the same
/// lines as those of a model file, so that both give the same trajectories bit by bit. Throws
/// InvalidInput where a row is not written or an index is outside, and as `validate`.
template <class System>
Dcs make_dcs(const System& system, int n, std::vector<Law> laws = {}) {
  Dcs result;
  result.laws = std::move(laws);
  result.F.resize(static_cast<std::size_t>(n));
  result.G.resize(result.laws.size());
  Tape& tape = result.tape;
  const auto inputs = [&](int first, std::size_t count, const char* name, const char* noun) {
    std::vector<Recorded> list;
    for (std::size_t k = 0; k < count; ++k)
      list.emplace_back(tape, tape.input(first + static_cast<int>(k)));
    return RecordedList(std::move(list), std::string("the system reads ") + name, noun);
  };
  // Rows hold NaN until they are written.
  const auto rows = [](std::size_t count, const char* use, const char* noun) {
    return RecordedList(std::vector<Recorded>(count, Recorded(nan)), use, noun);
  };
  const auto t = inputs(Dcs::time_input(), 1, "t", "time");
  const auto xdot = inputs(result.derivative_input(0), result.F.size(), "xdot", "variable");
  const auto x = inputs(result.variable_input(0), result.F.size(), "x", "variable");
  const auto lambda = inputs(result.multiplier_input(0), result.G.size(), "lambda", "multiplier");
  RecordedList r = rows(result.F.size(), "residual writes r", "equation");
  RecordedList w = rows(result.G.size(), "output writes w", "law");
  system.residual(t[0], xdot, x, lambda, r);
  r.check_written("residual does not write r");
  if constexpr (requires { system.output(t[0], x, lambda, w); })
    system.output(t[0], x, lambda, w);
  else if (!result.laws.empty())
    throw InvalidInput("the system has laws but no member output(t, x, lambda, w)");
  w.check_written("output does not write w");
  for (std::size_t k = 0; k < r.size(); ++k) result.F[k] = r[k].line(tape);
  for (std::size_t k = 0; k < w.size(); ++k) result.G[k] = w[k].line(tape);
  RecordedList::cancel_constants(result);
  validate(result);
  return result;
}

}  // namespace perp
