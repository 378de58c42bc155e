#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/core/bounded_tape.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/lcs.hpp>
#include <perp/core/trajectory.hpp>

namespace perp {

/// The denominators in the formulas of a Dcs: the factors of divisors, the bases of negative powers,
/// the cosine of a tangent. Where one changes its sign within a step, the rows of (F, G) grow without
/// bound on both sides of a pole, and do not where the numerator vanishes too or a factor that is 0
/// takes the formula out.
class PoleWatch {
 public:
  explicit PoleWatch(const Dcs& system);
  /// Of b(t) and q(t), whose formulas are not known: entries that change their sign and grow there.
  explicit PoleWatch(const Lcs& lcs);

  /// Is there nothing to watch?
  [[nodiscard]] bool empty() const { return denominators_.outputs() == 0 && signals_.empty(); }
  /// The sentence about the first pole on the straight way from a to b, the ends of one step.
  std::optional<std::string> pass(const Step& a, const Step& b);

 private:
  void load(const Step& a, const Step& b, double s);
  double denominator(std::size_t k, const Step& a, const Step& b, double s);
  struct Rows {
    Vector values, errors;
  };
  Rows rows_at(const Step& a, const Step& b, double s);
  bool is_pole(std::size_t k, const Step& a, const Step& b, double& low, double& high);

  bool is_pole(const Signal& signal, int entry, const Step& a, const Step& b, double& low,
               double& high);

  std::optional<DcsEvaluator> evaluator_;
  std::vector<Signal> signals_;
  BoundedTape denominators_;
  std::vector<double> z_;  // inputs of the tape
};

}  // namespace perp
