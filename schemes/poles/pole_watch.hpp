#pragma once

#include <map>
#include <optional>
#include <string>

#include <perp/core/dcs.hpp>
#include <perp/core/system/sparse_lcs.hpp>
#include <perp/schemes/poles/watched_formulas.hpp>

namespace perp {

/// The divisors in the formulas of a system: the factors of those that are written, the bases of
/// negative powers, the cosine of a tangent, and the determinants of the equations of a mode, by which
/// rates, algebraic variables and multipliers are solved for. Where one passes or touches 0 within a
/// step, what the mode determines grows without bound on both sides of a pole, and does not where the
/// numerator vanishes too or a factor that is 0 takes the formula out. What grows no faster than
/// 1/|s|^(3/4) has a finite integral: no pole. An angle atan2(y, x) jumps where it passes its cut; where
/// what the mode determines jumps with it, no law tells how the solution goes on. Unknowns that no formula
/// gives are followed along the path.
class PoleWatch {
 public:
  explicit PoleWatch(const Dcs& system);
  /// Of b(t) and q(t). Where these are functions without formulas, of their reciprocals.
  explicit PoleWatch(const SparseLcs& lcs);

  /// Is there nothing to watch in any mode?
  [[nodiscard]] bool empty() const { return !forms_ && formulas_.empty(); }
  /// Is there something to watch in this one?
  bool watches(const Mode& mode) { return !formulas_of(mode).empty(); }

  /// Is it known that neither `pass` nor `singular_end` finds anything on this step, in the mode of both its states?
  bool is_calm(const Mode& mode, const StraightStep& step);

  /// Do functions of time alone stand in formulas, and does nothing show from one time to another?
  bool is_calm_in_time(double from, double to);

  /// The same behind this step: as much ahead of it as may be is proved anew.
  bool look_ahead(const Mode& mode, const StraightStep& step);
  /// The sides of the inputs within which the ends of steps of length h have to lie so that this is known; `follows` after
  /// the last of them, by `is_calm`. False: there are none.
  bool add_sides(const Mode& mode, double h, std::vector<CalmBox::Side>& sides);

  struct Pole {
    double t = 0;
    std::string text;  ///< the sentence about it

    void transfer(Archive& archive) { archive(t, text); }
  };
  /// The first pole, or cut of an angle, on the path of one step, or right behind its end.
  std::optional<Pole> pass(const SolutionPath& path);
  /// The same of a path of steps that failed before `end`: it may have left its course behind a
  /// pole, and never got to one of time at its end.
  std::optional<Pole> pass_path(const Step& from, const std::vector<Step>& path, double end);
  /// The singularity next to the end of a step x⁺ = x + h f(x⁺), whatever its order: the step takes f
  /// there for its mean. The same pole, or one that steps pass which end elsewhere.
  std::optional<Pole> singular_end(const SolutionPath& path);
  /// The pole that was seen right ahead of `before`, if the state `after` a jump from there is beyond it: the
  /// divisor has fallen so far since that the jump is the pole.
  std::optional<Pole> jump_over(const Step& before, const Vector& after);
  /// Is the end of a path, on which no pole was found, on another branch of unknowns that no formula gives?
  bool leaves_branch(const SolutionPath& path);
  /// All that it has seen so far.
  void transfer(Archive& archive);
  /// The poles of functions of time alone, which the state may jump beside.
  std::optional<Pole> pass_in_time(const SolutionPath& path);

 private:
  FormulaList& formulas_of(const Mode& mode);
  struct Singularity {
    double s = inf;       // as a share of the path; infinite: there is none
    enum class Kind { pole, cut, meeting } kind = Kind::pole;  // cut: of an angle; meeting: of two roots
  };
  static Singularity::Kind kind_of(const WatchedFormulas& formulas, std::size_t k, bool of_time);
  static std::optional<Pole> at(const Singularity& found, const SolutionPath& path);
  static void keep_first(const Singularity& found, Singularity& first) {
    if (found.s < first.s) first = found;
  }
  static std::optional<Pole> singular_pole(WatchedFormulas& formulas, const SolutionPath& end, double s);
  Singularity first_on_path(const SolutionPath& path);
  bool is_seen_pole(WatchedFormulas& formulas, std::size_t k, bool of_time, const SolutionPath& path, double s);
  std::optional<double> pole_of_time(WatchedFormulas& formulas, std::size_t k, const SolutionPath& path);

  std::optional<ExplicitForms> forms_;
  std::map<Mode, FormulaList> of_modes_;
  std::pair<const Mode, FormulaList>* latest_ = nullptr;  // that was asked for last
  FormulaList formulas_;  // of every mode
  struct Seen {           // the last pole, and where the path ended on which it was seen
    const WatchedFormulas* formulas = nullptr;
    std::size_t k = 0;
    bool of_time = false;
    double until = -inf;
    double size = 0;  // of the divisor where that path began

    [[nodiscard]] bool holds(const WatchedFormulas& watched, std::size_t line, bool is_of_time, double t) const {
      return formulas == &watched && k == line && of_time == is_of_time && t <= until;
    }
  } seen_;
};

}  // namespace perp
