#pragma once

#include <optional>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/base/types.hpp>
#include <perp/core/law.hpp>
#include <perp/schemes/located/radau/chebyshev.hpp>

namespace perp {

/// A quantity that stays >= 0 as long as a mode lasts: the distance of w or λ to a finite end of
/// the branch of its law (of w where the branch fixes or slopes λ, of λ where it fixes w), the
/// condition of a reset, which fires where it falls below 0, or the distance of a variable to one of
/// its bounds.
struct Gap {
  int law = -1;    ///< -1: not of a law
  int reset = -1;  ///< -1: not of a reset
  bool of_lambda = false;
  double bound = 0;
  double sign = 1;  ///< gap = sign · (value − bound)
  int variable = -1;  ///< -1: not of a variable's bound
  int surface = -1;   ///< of BoundWatch
  bool rests = false;  ///< of a w that stays at the end without a multiplier that keeps it there

  [[nodiscard]] double at(double value) const { return sign * (value - bound); }
  void transfer(Archive& archive) { archive(law, reset, of_lambda, bound, sign, variable, surface, rests); }
};

/// The gaps of all laws in a mode, law after law.
std::vector<Gap> gaps_of(const std::vector<Law>& laws, const Mode& mode);

/// What happens to gaps within one step, from their values at the Chebyshev points of the step.
class GapWatch {
 public:
  /// For steps of a method with this number of stages.
  explicit GapWatch(int stages) : chebyshev_(2 * stages) {}

  [[nodiscard]] const Vector& points() const { return chebyshev_.points(); }

  /// A gap falls below 0.
  struct Fall {
    int gap = -1;
    double s = 1;      ///< share of the step
    double slope = 0;  ///< of the gap, per share of the step
    double from = 0;   ///< share of the step from which on it falls
    double lowest = 1;  ///< share of the step up to which it falls
  };
  /// The first fall of any gap. `values`: gaps × points. A fall counts where the gap then reaches
  /// −depth before it rises again (`noise` at the end of the step, where it may fall further).
  /// `inside`: the gap counts as >= 0 at the start whatever its rounding says; else from where it
  /// exceeds its `rise`.
  std::optional<Fall> first(const Matrix& values, const Vector& depth, const Vector& noise, const Vector& rise,
                            const std::vector<char>& inside);
  /// A gap turns back within its depth of 0, on whichever side of it: whether it passed it is not known.
  struct Dip {
    int gap = -1;
    double s = 1;  ///< share of the step
  };
  /// Those in the last `first`, gap after gap.
  [[nodiscard]] const std::vector<Dip>& undecided_dips() const { return dips_; }
  /// Is the gap's course through the step resolved: do its coefficients from `degree` on amount to less than a small
  /// share of its variation, and its last ones to less than how far from 0 its turns are? Else the
  /// step is too long to trust its zeros.
  bool is_resolved(const Vector& values, int degree, double noise);

 private:
  std::optional<Fall> fall(int gap, double depth, double noise, double rise, bool inside);
  double clearance_of_turns();

  Chebyshev chebyshev_;
  Vector coefficients_, derivative_;
  std::vector<double> turns_;
  std::vector<Dip> dips_;
};

}  // namespace perp
