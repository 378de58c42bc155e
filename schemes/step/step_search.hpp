#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/status.hpp>
#include <perp/schemes/newton/mode_newton.hpp>
#include <perp/schemes/step/implicit_step.hpp>

namespace perp {

/// A solution of one step in one mode.
struct ModeSolution {
  Mode mode;
  std::vector<Mode> also{};  ///< further modes with the same solution: it lies at ends of branches
  Vector d;                  ///< x⁺ − x
  Vector lambda, w;
  Vector d_error{}, lambda_error{};  ///< bounds of their distance from the exact solution
  double norm = 0;                   ///< ‖∂F/∂ẋ (x⁺ − x)‖, [RAB] eq. (31)
  double norm_error = 0;             ///< of the norm, from d_error
  double residual = 0;               ///< largest |F_i| / e_i
  bool weak = false;                 ///< on the bound of a branch as far as rounding lets see
  bool local = true;                 ///< see ModeNewton::is_local
  int orientation = 0;               ///< see ModeNewton::orientation
  bool isolated = true;              ///< no other x⁺ of this mode is near
  bool simple = true;                ///< false: the matrix does not determine x⁺, here at least
  bool lambda_determined = true;     ///< false: a continuum of λ belongs to this x⁺
  bool on_own_root = false;          ///< known to be what the present state becomes on the way
};

/// Every solution of a step that was found.
struct FoundSolutions {
  std::vector<ModeSolution> list{};  ///< distinct in (x⁺, λ), in the order they were found
  bool all_modes = true;             ///< every mode was tried
  std::string why{};  ///< how the search ended in the last mode that had no solution inside or
                      ///< outside of its branches
};

/// Are two computed points one, as far as their errors let see?
bool same_point(const Vector& a, const Vector& b, const Vector& a_error, const Vector& b_error);

/// Looks for the solutions of a step in all modes, or in the neighbourhood of one where they are
/// too many. Where multipliers are multiplied by unknowns a mode may have several solutions: it is
/// searched from several λ of its branches, and along the curve of one free λ for the points where
/// its law holds. Found solutions are checked; that there is no other one
/// is not proved.
class StepSearch {
 public:
  static constexpr long most_modes = 4096;  ///< that are all tried

  StepSearch(ImplicitStep& step, ModeNewton& newton);

  /// Only these branches of each law are tried from now on; empty: all of them.
  void allow(std::vector<std::vector<int>> branches);

  /// The solutions of the step set in `step`, from the modes nearest to `present` on (empty: in
  /// lexicographic order), starting Newton's method near (d, λ).
  /// `thorough`: modes in which λ enters nonlinearly are also scanned for further solutions.
  FoundSolutions all(const Mode& present, const Vector& d, const Vector& lambda,
                     bool thorough = true);

  /// Start Newton's method far away too, where it finds nothing in a mode from near the state?
  void look_far(bool far) { is_far_ = far; }
  /// Is it the search of a start, whose multipliers are guesses? Then Newton's method begins on the branches too.
  void look_for_start(bool is_start) { is_at_start_ = is_start; }

  /// What later searches depend on.
  void transfer(Archive& archive) { archive(thorough_, is_far_, leaving_, allowed_, modes_); }
  /// Are there more modes than are all tried?
  [[nodiscard]] bool has_too_many_modes() const { return modes_ > most_modes; }

  /// The arguments of laws where the step begins, and their rounding: which laws with memory leave their branch first is known
  /// from these. Empty: it is not.
  struct Arguments {
    Vector w, rounding;
  };
  void begin_at(Arguments before) { before_ = std::move(before); }

  /// Where the step in the present mode ends, beyond its ranges.
  struct PresentEnd {
    const Vector &lambda, &w;
  };

  /// The solutions nearest to the mode `present`, which is not searched where its end is given: of all branches of the laws
  /// that the solution in that mode violates; else of modes that violated laws lead to one after another; else of the modes
  /// with the fewest laws changed that have any. Laws with memory change where nothing else has a solution.
  FoundSolutions nearest(const Mode& present, const Vector& d, const Vector& lambda, const PresentEnd* end = nullptr);

  /// Each mode with its violation, as long as they are few: how far it is from having a solution.
  std::vector<std::pair<Mode, double>> violations(const Vector& d, const Vector& lambda);

  /// Index of the solution of least norm among those that change the fewest laws with memory; of
  /// equal ones the present mode, then the first. `solutions`: distinct x⁺, -1: a continuum.
  std::size_t choose(const FoundSolutions& found, const Mode& present, int& solutions,
                     int& ties) const;

  /// Bounds of the distance of the solution that the step is linearised at from the exact one,
  /// where the matrix tells; else the rounding of its numbers.
  void write_errors(ModeSolution& solution);

 private:
  [[nodiscard]] bool leads_far(bool decided, NewtonEnd end) const;
  [[nodiscard]] bool tells_all(NewtonEnd end, bool inside, bool is_first) const;
  NewtonEnd try_starts(const Mode& mode, const Vector& d, const std::vector<Vector>& points, FoundSolutions& found,
                       bool& decided);
  void try_on_branches(const Mode& mode, const Vector& d, const Vector& lambda, FoundSolutions& found);
  void search_mode(const Mode& mode, const Vector& d, const Vector& lambda, FoundSolutions& found);
  NewtonEnd try_from(const Mode& mode, FoundSolutions& found, bool& inside);
  bool follow(const Mode& mode, const Vector& lambda);
  void bisect_law(const Mode& mode, int law, double residual, Vector low, Vector high);
  void scan(const Mode& mode, FoundSolutions& found);
  void search_branches(const Mode& present, const std::vector<int>& laws, const Vector& d,
                       const Vector& lambda, FoundSolutions& found);
  void follow_violations(Mode mode, const Vector& d, const Vector& lambda, FoundSolutions& found);
  void search_by_changes(const Mode& present, const Vector& d, const Vector& lambda,
                         FoundSolutions& found);
  void search_single_changes(const Mode& present, const Vector& d, const Vector& lambda, FoundSolutions& found);
  [[nodiscard]] std::vector<int> violated_laws() const;
  void add(const Mode& mode, bool weak, FoundSolutions& found);
  // step_search_starts.cpp
  bool move_inside(int law, std::vector<double>& slopes);
  bool search_inside(const Mode& mode, const Vector& lambda, FoundSolutions& found);
  bool search_far(const Mode& mode, const Vector& lambda, FoundSolutions& found);
  [[nodiscard]] std::vector<Vector> starts(const Vector& lambda) const;
  [[nodiscard]] std::vector<Vector> grid(const Vector& lambda) const;
  [[nodiscard]] std::vector<Mode> modes_from(const Mode& present) const;
  [[nodiscard]] int memory_changes(const Mode& mode, const Mode& present) const;
  [[nodiscard]] int memory_changes(const ModeSolution& solution, const Mode& present) const;
  bool ends_in(const Mode& mode, const Vector& d, const Vector& lambda);
  void find_leaving(const Mode& present, const Vector& d, const Vector& lambda);
  void find_first_leaving(const Mode& present);
  [[nodiscard]] bool violates_constraint() const;
  bool is_founded(std::size_t law, const ModeSolution& solution, const Mode& mode, const Mode& present);
  void drop_unfounded(const Mode& present, FoundSolutions& found);
  bool is_next(const Mode& mode);

  ImplicitStep& step_;
  ModeNewton& newton_;
  bool thorough_ = true, is_far_ = false, is_at_start_ = false;
  std::vector<char> leaving_;  // laws with memory whose own argument leaves their branch, 2: before others; see `all`
  Arguments before_;
  bool converged_ = false;     // the last run of Newton's method
  std::set<Mode> searched_;    // by the present call of `nearest`
  bool knows_leaving_ = true;  // the step in the present mode was found
  Mode kept_;  // in that call: where laws with memory that do not leave their branch stay; empty:
               // nowhere
  std::vector<std::vector<int>> allowed_;  // branches of each law
  long modes_ = 1;                         // product of their numbers, capped
  Vector d_, lambda_, w_;
};

}  // namespace perp
