#pragma once

#include <string>
#include <vector>

#include <perp/core/status.hpp>
#include <perp/schemes/implicit_step.hpp>
#include <perp/schemes/mode_newton.hpp>

namespace perp {

/// A solution of one step in one mode.
struct ModeSolution {
  Mode mode;
  std::vector<Mode> also{};  ///< further modes with the same solution: it lies at ends of branches
  Vector d;                  ///< x⁺ − x
  Vector lambda, w;
  Vector d_size, lambda_size;      ///< of the terms they are computed from
  double norm = 0;                 ///< ‖∂F/∂ẋ (x⁺ − x)‖, [RAB] eq. (31)
  double residual = 0;             ///< relative
  bool isolated = true;            ///< no other x⁺ of this mode is near
  bool lambda_determined = true;   ///< false: a continuum of λ belongs to this x⁺
};

/// Every solution of a step that was found.
struct FoundSolutions {
  std::vector<ModeSolution> list{};  ///< distinct in (x⁺, λ), in the order they were found
  bool all_modes = true;             ///< every mode was tried
  bool decided = true;  ///< every mode tried ended in a solution, outside of its branches, or in a
                        ///< contradiction
  std::string why{};    ///< how the search in the last undecided mode ended
};

/// Looks for the solutions of a step in all modes, or in the neighbourhood of one where they are
/// too many. Where multipliers are multiplied by unknowns a mode may have several solutions: it is
/// searched from several λ of its branches, and along the curve of one free λ for the points where
/// its law holds. Found solutions are checked; that there is no other one
/// is not proved.
class StepSearch {
 public:
  static constexpr long most_modes = 4096;  ///< that are all tried

  StepSearch(ImplicitStep& step, ModeNewton& newton);

  /// The solutions of the step set in `step`, from the modes nearest to `present` on (empty: in
  /// lexicographic order), starting Newton's method near (d, λ). `tol`: see
  /// ModeNewton::violation.
  /// `thorough`: modes in which λ enters nonlinearly are also scanned for further solutions.
  FoundSolutions all(const Mode& present, const Vector& d, const Vector& lambda, double tol,
                     bool thorough = true);

  /// Each mode with its violation, as long as they are few: how far it is from having a solution.
  std::vector<std::pair<Mode, double>> violations(const Vector& d, const Vector& lambda,
                                                  double tol);

  /// Index of the solution of least norm among those that change the fewest laws with memory; of
  /// equal ones the present mode, then the first. `solutions`: distinct x⁺, -1: a continuum.
  std::size_t choose(const FoundSolutions& found, const Mode& present, int& solutions,
                     int& ties) const;

  /// The solution that goes on where `chosen` begins: of those whose norms are of the same order,
  /// all continuous then, the one whose algebraic variables change least. A multiplier that enters
  /// nonlinearly may have a second root, in which only they jump.
  [[nodiscard]] std::size_t most_continuous(const FoundSolutions& found, const Mode& present,
                                            std::size_t chosen) const;

 private:
  void search_mode(const Mode& mode, const Vector& d, const Vector& lambda, double tol,
                   FoundSolutions& found);
  NewtonEnd try_from(const Mode& mode, double tol, FoundSolutions& found, bool& inside);
  bool follow(const Mode& mode, const Vector& lambda);
  void scan(const Mode& mode, double tol, FoundSolutions& found);
  void search_neighbours(const Mode& present, const Vector& d, const Vector& lambda, double tol,
                         FoundSolutions& found);
  void add(const Mode& mode, FoundSolutions& found);
  [[nodiscard]] std::vector<Vector> starts(const Vector& lambda) const;
  [[nodiscard]] std::vector<Vector> grid(const Vector& lambda) const;
  [[nodiscard]] std::vector<Mode> modes_from(const Mode& present) const;
  [[nodiscard]] int memory_changes(const ModeSolution& solution, const Mode& present) const;

  ImplicitStep& step_;
  ModeNewton& newton_;
  bool thorough_ = true;
  long modes_ = 1;  // product of the numbers of branches, capped
  Vector d_, lambda_, w_;
};

}  // namespace perp
