#pragma once

#include <optional>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/tape/bounded_tape.hpp>
#include <perp/core/tape/tape_code.hpp>
#include <perp/core/tape/wide_tape.hpp>

namespace perp {

/// The functions of a Dcs with their first derivatives, parameters bound: what every scheme
/// evaluates. One evaluator serves one thread; what gives bounds is made when it is first asked for, and long tapes
/// allocate once, nothing else is allocated after construction.
class DcsEvaluator {
 public:
  /// Where a derivative stands: rows are F_1..n, then G_1..m; columns are the inputs t, ẋ, x, λ.
  struct Entry {
    int row = 0;
    int column = 0;
  };

  /// Throws InvalidInput (see `validate`).
  explicit DcsEvaluator(const Dcs& system);

  [[nodiscard]] int n() const { return n_; }
  [[nodiscard]] int m() const { return m_; }
  /// 1 + 2n + m.
  [[nodiscard]] int inputs() const { return 1 + 2 * n_ + m_; }

  /// F and G at z = (t, ẋ, x, λ) into `rows` (n + m numbers).
  void evaluate(const double* z, double* rows);
  /// The same, and the derivatives into `derivatives` (one for each of `entries()`).
  void linearize(const double* z, double* rows, double* derivatives);
  /// The same as `evaluate` and bounds of the rounding errors, z being known to within z_error
  /// (nullptr: exact): each row is exact up to `errors`, infinite where there is no bound.
  void evaluate_bounded(const double* z, const double* z_error, double* rows, double* errors);
  /// F and G in 113 bits with bounds of their errors; `in_pairs`: in sums of two doubles, where `has_wide_pairs`.
  void evaluate_wide(std::span<const WideNumber> z, bool in_pairs, WideNumber* rows);
  [[nodiscard]] bool has_wide_pairs() const { return wide_rows().has_pairs(); }
  /// The entries that do not vanish by their form, ordered by row and column.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// A derivative that is no number.
  struct Variable {
    std::size_t entry = 0;
    std::vector<int> inputs{};  ///< that it depends on, by its form
  };
  [[nodiscard]] const std::vector<Variable>& variable_entries() const { return variable_; }
  /// The tape of `linearize`, its rows then its derivatives; null where its lines are run in lanes.
  [[nodiscard]] const MachineCode* linear_code() const { return linear_.code(); }
  /// The tape of `evaluate_bounded`.
  [[nodiscard]] const BoundedTape& bounded_tape() const { return bounded_rows(); }
  /// Does any F or G contain ẋ_j, by its form?
  [[nodiscard]] bool is_differential(int j) const {
    return differential_[static_cast<std::size_t>(j)] != 0;
  }

  /// Condition k of the resets at z.
  double condition(std::size_t reset, const double* z);
  RunningError condition_bounded(std::size_t reset, const double* z, const double* z_error);
  /// The new values of reset k at z, one for each of its variables.
  void reset_values(std::size_t reset, const double* z, double* values);

 private:
  /// Lines of a tape that some outputs need.
  struct Program {
    Tape tape;
    std::vector<int> outputs;
    std::vector<double> values;
    void run(const double* z, int inputs, double* result, std::size_t from, std::size_t to);
  };

  int n_ = 0, m_ = 0;
  [[nodiscard]] BoundedTape& bounded_rows() const;
  [[nodiscard]] WideTape& wide_rows() const;

  TapeCode values_, linear_;
  Tape tape_;  // as it was given
  std::vector<int> rows_;  // F and G there
  std::vector<double> parameters_;
  mutable std::optional<BoundedTape> bounded_rows_;  // made of these when they are asked for
  mutable std::optional<WideTape> wide_rows_;
  std::vector<BoundedTape> bounded_conditions_;  // of the resets
  Program resets_;
  std::vector<Entry> entries_;
  std::vector<Variable> variable_;
  std::vector<char> differential_;
  std::vector<std::size_t> reset_start_;  // of each reset among the outputs of resets_
};

}  // namespace perp
