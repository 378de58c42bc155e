#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/lcs.hpp>
#include <perp/core/trajectory.hpp>

namespace perp {

class WatchedFormulas;

/// The denominators in the formulas of a system: the factors of divisors, the bases of negative
/// powers, the cosine of a tangent. Where one passes or touches 0 within a step, the rows of (F, G)
/// grow without bound on both sides of a pole, and do not where the numerator vanishes too or a
/// factor that is 0 takes the formula out. A row that grows no faster than 1/|s|^(3/4) has a finite
/// integral: no pole.
class PoleWatch {
 public:
  explicit PoleWatch(const Dcs& system);
  /// Of b(t) and q(t). Where these are functions without formulas, of their reciprocals.
  explicit PoleWatch(const Lcs& lcs);
  ~PoleWatch();

  /// Is there nothing to watch?
  [[nodiscard]] bool empty() const { return formulas_.empty(); }

  struct Pole {
    double t = 0;
    std::string text;  ///< the sentence about it; empty: it may be none
  };
  /// The first pole on the straight way from a to b, the ends of one step, or right behind b.
  std::optional<Pole> pass(const Step& a, const Step& b);
  /// The first zero of a denominator on that way, pole or not, without a sentence: where a step has
  /// failed, the state behind it may hide the growth of the rows.
  std::optional<Pole> zero_on_way(const Step& a, const Step& b);
  /// The poles of functions of time alone, which the state may jump beside.
  std::optional<Pole> pass_in_time(const Step& a, const Step& b);

 private:
  double first_on_way(const Step& a, const Step& b, bool poles_only);

  std::vector<std::unique_ptr<WatchedFormulas>> formulas_;
};

}  // namespace perp
