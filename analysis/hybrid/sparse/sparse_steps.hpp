#pragma once

#include <map>
#include <optional>
#include <vector>

#include <perp/analysis/hybrid/sparse/local_correction.hpp>
#include <perp/analysis/hybrid/sparse/piecewise_path.hpp>
#include <perp/analysis/hybrid/step_rows.hpp>
#include <perp/core/base/number_set.hpp>
#include <perp/core/linear/sparse_lu.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {

/// Steps of backward Euler of a hybrid model with many unknowns, whose binaries are 0 or 1:
///     0 = f(t⁺, (x⁺ − x)/h, x⁺, z)
/// by modified Newton's method with a sparse factorization that is kept as long as it serves. The
/// step is made with the previous z first; where constraints are positive at its end, binaries
/// change on the path through it (PiecewisePath) and the whole step is made again from the start that this
/// path shifts, until the moments of the changes stay where they are. Where the equations of each z are
/// affine with one matrix, these repetitions compute again only what the shifts and changes reach.
class SparseSteps {
 public:
  /// `system`: constraint_system(model).
  SparseSteps(const HybridModel& model, const HybridStructure& structure, const Dcs& system);

  /// Does no constraint hold a rate or an algebraic variable, and is each negative at (t, x)?
  bool is_strict_at(double t, const Vector& x, const std::vector<int>& z);

  /// The state that the next attempts start from, with the values of the constraints there.
  void from(double t, const Vector& x, const std::vector<int>& z, const Vector& constraints);
  /// The step of length h to t_next. False: it is not solved, or no value near the previous one is
  /// kept.
  bool attempt(double t_next, double h);
  /// Has it met a binary that slides? Shorter steps would, too.
  [[nodiscard]] bool slides() const { return path_.slides(); }
  /// Goes on from its end.
  void accept();

  /// Of the state that the next attempt starts from.
  ///@{
  [[nodiscard]] double start_t() const { return t_; }
  [[nodiscard]] const Vector& start_x() const { return x_; }
  [[nodiscard]] const Vector& start_constraints() const { return g_start_; }
  ///@}

  /// Of the last attempt.
  ///@{
  [[nodiscard]] double t() const { return t_end_; }
  [[nodiscard]] const std::vector<int>& z() const { return z_end_; }
  [[nodiscard]] auto constraints() const {
    return Eigen::Map<const Vector>(rows_.data() + n_, g_count_);
  }
  [[nodiscard]] double residual() const {
    return residual_;
  }  ///< largest |F_i| in bounds of its rounding
  ///@}

  /// Of the last attempt, in the order of their moments.
  [[nodiscard]] const std::vector<PathChange>& changes() const { return path_.changes(); }
  [[nodiscard]] long iterations() const { return iterations_; }
  [[nodiscard]] long factorisations() const;

  /// What the next attempts depend on: between two steps.
  void transfer(Archive& archive);

 private:
  struct Factor {
    linear::SparseLu lu;
    bool is_fresh = false;
    std::vector<double> values{};  // of its matrix
  };
  bool prepare(double t, double h);
  double correction(const Factor& factor);
  [[nodiscard]] bool wants_renewal(const Factor& factor, double share, double before) const;
  [[nodiscard]] bool is_near(double share, double before) const;
  void put(double t, double h);
  void put_states(double h);
  enum class Until { near, zero };
  bool solve(double t, double h, Until until);
  bool arrives(double h, Until until);
  bool ends(double h, Until until, bool is_small, int corrections);
  bool arrives_by_rows(double h);
  bool solve_rows_alone();
  void find_own_entries();
  bool confirm(double t, double h);
  bool follow_shift(double t, double h);
  void replace_rows();
  bool solve_locally(double h);
  void find_differences();
  void mark_constraints();
  void renew_constraints();
  PiecewisePath::End end_of_path();
  bool follow_path();
  bool repeat_path(double t, double h);
  bool repeat(double t, double h);
  void put_state(int j, double h);
  bool is_clearly_zero();
  bool is_zero_at_end();
  void look_at_rows(double h);
  bool renew(double h);
  bool find_violated();
  bool settle(double t, double h);

  const HybridModel& model_;
  const HybridStructure& structure_;
  StepRows all_rows_;
  int n_;
  Eigen::Index g_count_;
  std::vector<char> needs_more_;  // constraints that hold rates or algebraic variables
  NumberSet old_;    // constraints whose values are those of an end before,
  NumberSet moved_;  // since these unknowns have others
  double contraction_ = 1;  // of the moments of changes from one path to the next, seen last
  PiecewisePath path_;
  std::map<double, Factor> factors_;  // by h
  std::optional<LocalCorrection> local_;  // where the equations are affine
  double local_h_ = 0;                    // whose matrix it has
  /// Numbers in a list of the last repetition or of the one before.
  class ByEither {
   public:
    void begin() {
      last_.clear();
      sorted_.clear();
    }
    /// Increasing, those of this repetition and of the last one.
    const std::vector<int>& with(const std::vector<int>& now);

   private:
    std::vector<int> last_, sorted_, before_, all_;
  };
  ByEither moved_by_either_, flipped_by_either_;
  std::vector<int> shifted_, flipped_;  // what differs from the repetition before, increasing
  std::vector<double> starts_;
  NumberSet changed_;           // inputs that are new since the last path,
  bool knows_changed_ = false;  // unless all of them are

  double t_ = 0, t_end_ = 0, residual_ = 0;
  Vector x_, x_end_, right_;
  Vector begin_;  // of the step in the last values: x and the shift of the path
  std::vector<int> own_entry_;  // of each equation: the place of the unknown that is matched to it, -1: none; made late
  std::vector<int> z_, z_end_;
  std::vector<double> inputs_, input_errors_, rows_, errors_, values_;
  Vector g_start_;
  bool is_violated_ = false, has_errors_ = false;
  long iterations_ = 0;
};

}  // namespace perp
