#pragma once

#include <vector>

#include <perp/lcp/forms/standard_forms.hpp>

namespace perp {

/// Where an unknown of a box form stands in a complementary basis.
enum class Place : char { at_lower, at_upper, inside };

/// How a run of Lemke's method ended.
enum class PivotResult {
  done,            ///< t = 0: the basis solves the problem
  ray,             ///< no variable blocks: the path goes to infinity
  back_at_start,   ///< the path returned to t = 1 (starts from an arbitrary basis only)
  singular_start,  ///< the start basis is singular
  limit            ///< too many pivots
};

/// Lemke's method on F = N y + r, -F_i ∈ N_[l_i,u_i](y_i), with bounds handled in the ratio test:
/// each bounded pair (y_i, F_i) takes one row and one column whatever its box. From a complementary
/// start basis with values β the path
///     x_B = β + g t,   t from large to 0
/// is followed by complementary pivots; ties are broken lexicographically, so that no basis
/// repeats. Started with every y at a bound and g pointing into the ranges of F, a problem whose
/// boxes are all finite (and without free unknowns) is always solved: for large t the start is the
/// only solution, and a ray with bounded y would be that start again.
class Pivoting {
 public:
  explicit Pivoting(const BoxForm& form);

  /// Complementary start basis: free unknowns are inside, those `inside` besides are basic.
  /// False if singular.
  bool start(const std::vector<Place>& places);

  /// Start with every bounded unknown at a bound as given (inside counts as at_lower), then with
  /// as few of them moved inside as the free unknowns need: free unknowns are pivoted against
  /// equality rows, and where that block is singular together with one pair (y_k, F_k).
  /// Free unknowns that no row determines stay at 0 if their row is empty. False if that fails.
  bool start_at_bounds(std::vector<Place> places);

  /// Follows the path; `weights` (n, positive) are the sizes of g. Counts its pivots.
  PivotResult follow(const Vector& weights, long& pivots, long max_pivots);

  [[nodiscard]] Vector y() const;
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }

 private:
  static constexpr double tiny_pivot = 1e-11;  ///< beside the largest entry of its own row or column

  struct Blocking {
    int row = -1;  ///< -1: none, -2: the entering variable's own other bound
    double step = inf;
    bool at_upper = false;
  };

  struct Entry {
    int row = -1;
    int column = -1;
  };

  /// A pair (y_k, F_k) between an equality row and the column of a free unknown.
  struct Coupling {
    Entry outer;    ///< the equality row, the column of the free unknown
    int pair = -1;  ///< k; -1: none
  };

  /// What moves along the path.
  struct Motion {
    int entering = -1;
    int sign = 1;
  };

  [[nodiscard]] Range range(int id) const;
  [[nodiscard]] double value_of_nonbasic(int id) const;
  [[nodiscard]] Vector column(int id) const;
  [[nodiscard]] double own_step(int entering) const;
  /// Can the basic variable of this row block: has it a range, and is the row not redundant?
  [[nodiscard]] bool can_block(int row) const;
  [[nodiscard]] bool is_t_at_zero(const Blocking& block) const;
  [[nodiscard]] bool is_sooner(const Blocking& candidate, const Blocking& best,
                               const Vector& rate) const;
  [[nodiscard]] Blocking blocking(const Vector& rate, double own_step) const;
  [[nodiscard]] bool smaller(int row, double rate, int other, double other_rate) const;
  bool rebuild();
  /// Sweeps rounding out, unless that was just done. False: nothing changes by that.
  bool refresh(bool& fresh);
  void exchange(int row, int nonbasic_index);
  [[nodiscard]] double size_of_row(int row) const;
  [[nodiscard]] int open_row(int equality) const;
  [[nodiscard]] Entry largest_free_entry() const;
  [[nodiscard]] Entry entry_of_pair(int k) const;
  [[nodiscard]] Coupling strongest_coupling() const;
  bool pivot_with_pair();
  [[nodiscard]] bool is_empty(int row) const;
  bool pivot_free_in();
  bool start_from_equations();
  [[nodiscard]] bool leaves_two_sided_range(int row) const;
  [[nodiscard]] Vector direction(const Vector& weights);
  bool first_pivot(const Vector& g, Motion& motion);
  void leave(int id, bool at_upper, Motion& motion);
  int enter(const Motion& motion, const Blocking& block, double step);
  PivotResult end_of_path(bool at_upper);

  const BoxForm& form_;
  int n_;
  int t_;  // id of t: y_i is i, F_i is n + i, t is 2n
  double t_upper_ = inf;
  std::vector<Place> places_;  // of every y_i
  std::vector<int> basic_;     // n: id in each row
  std::vector<int> nonbasic_;  // n + 1: id in each column, t first or wherever it moved
  std::vector<int> where_;     // 2n+1: row if basic, -1 - column if nonbasic
  std::vector<int> slack_;     // n: basic ids at the start, whose perturbations break ties
  std::vector<char> idle_;     // n: redundant equality rows, they never block
  Vector t_column_;            // n: column of t in the original equations
  Matrix tableau_;             // n×(n+1): x_B = β + tableau (x_N - value)
  Vector beta_;                // n: values of the basic variables
};

}  // namespace perp
