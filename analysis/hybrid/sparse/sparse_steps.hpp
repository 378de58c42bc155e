#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/linear/sparse_lu.hpp>
#include <perp/core/tape/incremental_tape.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {

/// Steps of backward Euler of a hybrid model with many unknowns, whose binaries are 0 or 1:
///     0 = f(t⁺, (x⁺ − x)/h, x⁺, z)
/// by modified Newton's method with a sparse factorization that is kept as long as it serves. The step is
/// made with the previous z first; sub-problems of rows that are violated at its end change their binaries,
/// by the nearest values that these rows allow there, and the whole step is made again.
class SparseSteps {
 public:
  /// `system`: constraint_system(model).
  SparseSteps(const HybridModel& model, const HybridStructure& structure, const Dcs& system);

  /// Does no constraint hold a rate or an algebraic variable, and is each negative at (t, x)?
  bool is_strict_at(double t, const Vector& x, const std::vector<int>& z);

  /// The state that the next attempts start from.
  void from(double t, const Vector& x, const std::vector<int>& z);
  /// The step of length h to t_next. False: it is not solved, or no value near the previous one is kept.
  bool attempt(double t_next, double h);
  /// Goes on from its end.
  void accept();

  /// Of the last attempt.
  ///@{
  [[nodiscard]] double t() const { return t_end_; }
  [[nodiscard]] const Vector& x() const { return x_end_; }
  [[nodiscard]] const std::vector<int>& z() const { return z_end_; }
  [[nodiscard]] auto constraints() const { return Eigen::Map<const Vector>(rows_.data() + n_ + q_, g_count_); }
  [[nodiscard]] double residual() const { return residual_; }  ///< largest |F_i| in bounds of its rounding
  ///@}

  /// A sub-problem that has changed binaries in the last attempt.
  struct Change {
    std::vector<int> binaries;  ///< increasing
    int constraint = -1;        ///< that was violated
    double share = 0;           ///< of the step, to where it is 0 between its ends
    const char* decided_by = "";
  };
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }
  [[nodiscard]] long iterations() const { return iterations_; }
  [[nodiscard]] long factorisations() const;

 private:
  enum class Choice { made, open };
  struct Factor {
    linear::SparseLu lu;
    bool is_fresh = false;
  };
  bool prepare(double t, double h);
  double correction(const Factor& factor);
  void put(double t);
  void find_terms();
  bool solve(double t, double h);
  bool look_at_rows(double t, double h);
  bool renew(double h);
  bool change_called(double t, double h);
  bool find_violated();
  Choice choose(int block, double t, double h, Change& change);
  void flip(int i);
  std::vector<std::vector<int>> nearest_allowed(const SubProblem& sub, const std::vector<int>& own);
  Choice by_rates(const std::vector<std::vector<int>>& sets, double t, double h, Change& change);
  [[nodiscard]] double rate_norm(double h) const;

  const HybridModel& model_;
  const HybridStructure& structure_;
  DcsEvaluator evaluator_;
  int n_, q_;
  Eigen::Index g_count_;
  struct Term {
    std::size_t entry = 0, place = 0;
    bool by_rate = false;
  };
  std::vector<linear::Place> places_;
  std::vector<Term> terms_;
  bool is_affine_ = true;          // for each z
  std::vector<char> needs_more_;   // constraints that hold rates or algebraic variables
  std::map<double, Factor> factors_;  // by h
  std::unique_ptr<IncrementalTape> rows_at_end_;
  std::vector<int> row_lines_;
  bool has_rows_at_end_ = false;

  double t_ = 0, t_end_ = 0, residual_ = 0;
  Vector x_, x_end_, right_;
  std::vector<int> z_, z_end_;
  std::vector<double> inputs_, input_errors_, rows_, errors_, derivatives_, values_;
  Vector g_start_;
  bool has_start_ = false;
  std::vector<char> changed_;   // binaries, in this attempt
  std::vector<int> violated_;   // constraints
  std::vector<Change> changes_;
  long iterations_ = 0;
};

}  // namespace perp
