#pragma once

#include <vector>

#include <perp/analysis/hybrid/sparse/mode_series.hpp>

namespace perp {

/// What Taylor steps need to know of a model besides its equations.
struct SeriesScales {
  double tol = 1e-10;    ///< of a step, relative to the sizes of the states
  double share = 0;  ///< of themselves and their sizes: how well computed states are known
  Vector sizes{};        ///< of the variables
};

/// The solution of a hybrid model in one mode by Taylor polynomials of order 6 to 20, whose length follows
/// their last coefficients, and where its first constraint becomes positive.
class SeriesFlow {
 public:
  SeriesFlow(const HybridModel& model, ModeSeries& series, SeriesScales scales);

  /// Starts at (t, x), or goes on there in another mode; `is_exact`: x are these numbers, else computed ones.
  /// False: no series there.
  bool start(double t, const Vector& x, const std::vector<int>& z, bool is_exact);
  /// One step, at most to t_end, and no further than where a constraint becomes positive. False: none that
  /// meets the tolerance.
  bool step(double t_end);

  [[nodiscard]] double t() const { return t_; }            ///< where the step began
  [[nodiscard]] double t_end() const { return t_ + h_; }   ///< where it ends
  [[nodiscard]] double length() const { return h_; }
  /// Did a constraint end the mode there?
  [[nodiscard]] bool ends() const { return ends_; }
  /// The variables and constraints at t + s, 0 <= s <= length().
  void at(double s, Vector& x, Vector& g) const;
  /// The polynomials themselves, which `arrive` overwrites: coefficients of s^0, s^1, ... in the columns, rows
  /// for the variables, then for the constraints.
  [[nodiscard]] Matrix polynomials() const;
  /// Are the rates of the polynomials at the end of the step those of the equations there? Else it begins again,
  /// and the next step is shorter.
  enum class Arrival { good, rejected, none };
  Arrival arrive();
  /// After a good arrival: series from there on, in the same mode. False: none.
  bool advance();
  [[nodiscard]] long steps() const { return steps_; }

  /// Between two steps; the series, which have a state of their own, are not among it.
  void transfer(Archive& archive) {
    archive(z_, t_, h_, rest_, longest_, known_to_, ends_, order_, steps_, x_, x_end_, rate_end_);
  }

 private:
  double size_of(int j, double x) const;  // of variable j with value x
  double length_of_states() const;
  double length_by_tolerance() const;
  bool confirms_rates(const Vector& slopes) const;
  bool wants_order() const;
  void find_end();
  int leading(int l, double size_in_step);

  const HybridModel& model_;
  ModeSeries& series_;
  SeriesScales scales_;
  std::vector<int> z_;
  double t_ = 0, h_ = 0, rest_ = 0;
  double longest_ = inf;  // of the next step
  double known_to_ = 0;   // of the states at its beginning
  bool ends_ = false;
  int order_ = 0;  // of the present step
  long steps_ = 0;
  Vector x_, x_end_, rate_end_;
};

}  // namespace perp
