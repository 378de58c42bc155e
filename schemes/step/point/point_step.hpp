#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/lcp/parametric/mode_map.hpp>
#include <perp/schemes/step/point/point_factors.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {

/// Steps of an affine system that are asked for once: the equations of a mode are factored and
/// solved at one parameter, by the bands of their entries or sparse, without the maps that pay where a step
/// length is kept. Numbers have bounds; what these leave open is said to be so, and is decided
/// elsewhere. Rows and unknowns are scaled by powers of two, so that units change no bit.
class PointStep {
 public:
  /// `h`: a length in whose steps the entries are scaled. `equations` must outlive it.
  PointStep(const StepEquations& equations, double h);

  /// False: a scaled entry is not a normal number, or the factors would be too large; nothing can be asked.
  [[nodiscard]] bool is_usable() const { return is_usable_; }
  /// Numbers of the factors by the places of the entries, which are counted before one is computed.
  [[nodiscard]] double numbers() const { return numbers_; }
  /// Of which so many are kept at most.
  static constexpr double most_numbers = 5e7;
  /// Number of unknowns, and of numbers in a row of their factors: a step costs their product.
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int width() const { return std::max(1, lu_.width()); }
  /// The equations become those of steps of this length from here: see `StepEquations::parameter`.
  void set(double h, const double* parameter);
  [[nodiscard]] double length() const { return h_; }  ///< the last one

  enum class Verdict {
    inside,    ///< no margin of the mode is negative beyond the rounding of its terms
    outside,   ///< some are
    undecided,  ///< the mode may be singular, or its solution is not known well enough
    never       ///< one of its equations reads no unknown and does not hold
  };
  /// The solution in this mode. A multiplier that no equation of it reads, of a law whose argument is 0 in it, is as near
  /// to 0 as the branches of laws that read it allow.
  Verdict solve(const Mode& mode);

  /// An end of a branch with the distance from it. Where two ends hold a multiplier that no equation of the mode reads,
  /// the room that they leave it: `share` of the distance from the one and `share_with` of that from the other.
  struct Margin {
    ModeMap::Margin end;
    double value = 0;
    bool is_beyond = false;  ///< negative beyond the rounding of its terms, see `ModeMap::Verdict`
    double share = 1;
    ModeMap::Margin with{};
    double share_with = 0;  ///< 0: of one end alone
    void transfer(Archive& archive) {
      archive(end.law, end.of_lambda, end.upper, end.combined, value, is_beyond, share);
      archive(with.law, with.of_lambda, with.upper, with.combined, share_with);
    }
  };
  /// Of the last solution, unless it was undecided; λ and w on the branches of the mode.
  [[nodiscard]] const Vector& x() const { return x_; }
  [[nodiscard]] const Vector& lambda() const { return lambda_; }
  [[nodiscard]] const Vector& w() const { return w_; }
  [[nodiscard]] const std::vector<Margin>& margins() const { return margins_; }
  /// The same in a list; `for_good`: they are no more here then.
  void give_margins(std::vector<Margin>& list, bool for_good) {
    if (for_good)
      list.swap(margins_);
    else
      list = margins_;
  }
  /// Is some margin 0 but for its rounding, so that other modes have the solution too?
  [[nodiscard]] bool is_at_end() const;
  /// Do the equations of the mode determine all of its multipliers?
  [[nodiscard]] bool is_determined() const { return free_.empty(); }
  /// Is each margin of a solution inside more than its rounding, or 0 exactly?
  [[nodiscard]] bool is_certain() const;
  /// Bounds of the rounding of x, that of the parameter included.
  [[nodiscard]] const Vector& rounding() const { return rounding_; }
  /// Units of a law in which its entries are near 1: powers of two.
  [[nodiscard]] double w_unit(int law) const {
    return 1 / row_scale_[static_cast<std::size_t>(n_ + law)];
  }
  [[nodiscard]] double lambda_unit(int law) const {
    return column_scale_[static_cast<std::size_t>(n_ + law)];
  }
  [[nodiscard]] long factorisations() const { return factorisations_; }
  /// The length and the factors of the last mode, on reading made anew, and how many were.
  void transfer(Archive& archive);

 private:
  /// The lengths that an entry is multiplied by.
  enum Length : int { none, implicit_share, explicit_share, whole, lengths };
  /// given + length by_length, to twice the precision.
  struct Entry {
    int column;
    Length length;
    double given, by_length;
    double high = 0, low = 0;
  };
  struct Rows {
    std::vector<int> end;
    std::vector<Entry> entries;
    void add(int column, double given, double by_length, Length length);
    void close_row() { end.push_back(static_cast<int>(entries.size())); }
    void settle() { entries.shrink_to_fit(); }
    void multiply(const double* length);
    [[nodiscard]] int begin(int row) const { return row == 0 ? 0 : end[static_cast<std::size_t>(row - 1)]; }
    [[nodiscard]] std::span<const Entry> of_row(int row) const {
      const int first = begin(row);
      return {entries.data() + first, static_cast<std::size_t>(end[static_cast<std::size_t>(row)] - first)};
    }
    template <class Work>
    void for_each(int row, const Work& work) const {
      for (const Entry& entry : of_row(row)) work(entry);
    }
  };
  /// An entry of the equations of the present mode.
  struct Coefficient {
    int column;
    DoubleDouble value;
  };
  /// a ŵ + b λ̂ = c in scaled units; a = 0: λ̂ = c. And where it ends.
  struct ScaledBranch {
    double a, b, c;
    struct End {
      ModeMap::Margin margin;  // of no law in the list of a kind
      BoundedEnd bound;
      [[nodiscard]] End of(int law) const {
        End own = *this;
        own.margin.law = law;
        return own;
      }
    };
    std::vector<End> ends;
  };

  [[nodiscard]] linear::SparseMatrix entries_without_laws(double h) const;
  void scale(double h);
  double scaled(double given, double by);
  void list_equation(int row);
  [[nodiscard]] int column_of_b(int row) const;
  void list_right_side(int row, const std::vector<int>& place);
  void list_output(int law);
  void list_branches();
  std::vector<ScaledBranch> scaled_branches(int law);
  void find_order(double h);
  [[nodiscard]] std::optional<linear::BoundedLu> sparse_factors(const linear::BandedOrder& order) const;
  [[nodiscard]] linear::BandedOrder order_of_rows(double h) const;
  [[nodiscard]] linear::RowPattern places_of_entries() const;
  void set_length(double h);
  void find_right_side(const double* parameter);
  void find_right_side_of(int row, const double* parameter);
  [[nodiscard]] const ScaledBranch& branch(int law) const {
    return *present_[static_cast<std::size_t>(law)];
  }
  Verdict solve_by_factors(const Mode& mode);
  bool factorise(const Mode& mode);
  bool find_factors();
  void list_alone();
  void put_alone();
  [[nodiscard]] bool is_held_at_0(int unknown) const;
  bool is_regular();
  void list_coefficients();
  [[nodiscard]] std::span<const Coefficient> coefficients(int row) const {
    const int first = row == 0 ? 0 : end_of_row_[static_cast<std::size_t>(row - 1)];
    return {coefficients_.data() + first, static_cast<std::size_t>(end_of_row_[static_cast<std::size_t>(row)] - first)};
  }
  void solve_in_place(std::vector<double>& right);
  bool bound_in_place(std::vector<double>& right);
  void find_residual();
  void find_rough_residual();
  bool bound_errors(bool is_first);
  bool bound_both();
  bool refine();
  void keep_exact();
  void add_rest();
  bool is_known(bool is_first);
  bool drop_unknown();
  [[nodiscard]] bool keeps_equations() const;
  bool refine_roughly();
  bool find_unknowns();
  [[nodiscard]] bool is_known_roughly() const;
  void find_spread();
  template <bool is_refined>
  void find_argument(int law, const Branch& branch);
  void find_outputs(const Mode& mode);
  Verdict judge();
  [[nodiscard]] DoubleDouble distance_of(const ScaledBranch::End& end) const;
  [[nodiscard]] double error_of(const ScaledBranch::End& end) const;
  [[nodiscard]] double spread_of(const ScaledBranch::End& end) const;
  void find_row(const ScaledBranch::End& end);
  [[nodiscard]] double terms_of_row() const;
  Verdict judge_ends(int law);
  Verdict judge_margin(Margin& margin, double error, double spread, const std::function<void()>& find_row);
  [[nodiscard]] double doubt_of(const ModeMap::Margin& end) const;
  [[nodiscard]] double doubt_of(const Margin& margin) const;
  // point_step_free.cpp
  /// How a free multiplier moves from an end of a branch.
  struct Side {
    ScaledBranch::End end;
    double slope;  ///< of the distance
    DoubleDouble distance;  ///< where the multiplier is 0
    [[nodiscard]] double end_of_multiplier() const { return -distance.high / slope; }
  };
  bool find_free();
  [[nodiscard]] bool contradicts(int law) const;
  [[nodiscard]] Verdict judge_singular() const;
  bool list_readers(int free);
  [[nodiscard]] bool is_in_no_equation(int law) const;
  [[nodiscard]] bool has_no_argument(int law) const;
  [[nodiscard]] bool reads_free(int law) const { return !free_.empty() && free_of_[static_cast<std::size_t>(law)] >= 0; }
  [[nodiscard]] double factor_of(int law, int free) const;
  [[nodiscard]] std::vector<Side> sides_of(int free) const;
  static bool hold_from_both_sides(int free, const Side& below, const Side& above);
  Verdict judge_free(int free, const std::vector<Side>& sides);
  Verdict judge_pair(const Side& below, const Side& above);
  static const Side* holding(const std::vector<Side>& sides);
  void choose_free(int free, const std::vector<Side>& sides);
  [[nodiscard]] bool is_finite() const;
  void put_on_branches(const Mode& mode);

  const StepEquations& equations_;
  int n_, m_, size_, parameters_;
  double numbers_ = 0;
  bool is_usable_ = true, is_precise_;
  std::vector<double> row_scale_, column_scale_;  // powers of two
  Rows rows_, right_;       // K without its branches; parameters, last column: constant
  std::vector<int> varying_;           // rows of right_ that hold more than a constant;
  bool has_constant_rows_ = false;     // the others are right for the present length
  std::vector<int> place_, row_place_;  // of each unknown and of each row within the factors' order
  PointFactors lu_;
  double h_ = nan;
  Mode factored_;  // the mode that lu_ holds at h_
  bool is_factored_ = false;
  bool keeps_diagonal_ = false;  // see `is_regular` and `solve`
  bool is_refined_ = false;  // is the last solution one of twice the precision?
  std::vector<std::vector<ScaledBranch>> branches_;  // of each kind: laws with the same branches in the same units
  std::vector<int> kind_;                            // of each law
  std::vector<const ScaledBranch*> present_;
  std::vector<Coefficient> coefficients_;  // of the equations of the present mode, row by row
  std::vector<int> end_of_row_;            // behind those of each
  struct Alone {
    int law, unknown;
  };
  std::vector<Alone> alone_;  // see `list_alone`
  std::vector<char> is_exact_;  // unknowns of the last solution that are known exactly
  std::vector<int> free_, free_of_;      // multipliers that no equation of the mode reads; of each law that one, -1: none
  std::vector<ScaledBranch> held_;       // their branches with the multiplier at 0
  std::vector<double> r_, r_low_, r_terms_, r_error_;  // right side without branches, by row
  std::vector<double> y_, y_low_, residual_, bound_, error_, spread_, work_;
  Vector x_, lambda_, w_, rounding_;
  std::vector<double> w_error_, w_spread_, w_low_, row_, parameter_;
  std::vector<Margin> margins_;
  long factorisations_ = 0;
};

}  // namespace perp
