#pragma once

#include <vector>

#include <perp/core/interval/interval.hpp>
#include <perp/schemes/located/events/event_locator.hpp>

namespace perp {

/// What the stages of an attempted step do not show: a pulse of a force while everything rests, a condition that holds for
/// a moment, an oscillation that is faster than they are dense. The error estimate knows nothing of it.
///
/// The formulas of the mode are evaluated in interval arithmetic between neighbouring stages, their variables between
/// the values there. A formula whose range exceeds what it is at two of them by half of what it varies over all may
/// hide something: the point in the middle tells, or the halves are looked at, where the excess is largest first. A
/// sine whose argument passes more than half a turn between two stages hides something where it matters. A search of
/// limited length: what it finds is certain, what it does not find need not be absent.
class BetweenSamples {
 public:
  /// All must outlive this.
  BetweenSamples(const LocatedState& at, ModeIntegrator& integrator, EventLocator& locator)
      : at_(at), integrator_(integrator), locator_(locator) {}

  /// Is there a point of the attempt of length h, before its share `end`, at which its polynomial misses the equations
  /// by far more than elsewhere, or a gap is below 0; or an oscillation that is not resolved? After
  /// EventLocator::first_fall, which found no gap that falls before `end`.
  [[nodiscard]] bool hide_something(double h, double end);

 private:
  /// A point of the attempt: the inputs of the formulas, and the lines.
  struct Sample {
    double share = 0;
    std::vector<double> inputs, lines;
    bool is_before_falls = true;  ///< of all gaps
  };
  /// Between two samples: how much lines may exceed their values there, in half of their variations.
  struct Piece {
    std::size_t low = 0, high = 0;
    double excess = 0;
  };
  /// A line that need not be monotone in its operands, and its least and largest value at the samples.
  struct Line {
    std::size_t line = 0;
    double lowest = 0, highest = 0;
  };

  void look_at_formulas();
  void sample_stages(double h);
  [[nodiscard]] bool stages_show(double end);
  [[nodiscard]] bool points_between_show(double h, double end);
  std::size_t add_sample(double share, double h);
  void evaluate_between(const Sample& low, const Sample& high);
  void evaluate(const std::vector<int>& lines, std::vector<enclosure::Interval>& ranges) const;
  [[nodiscard]] double excess(const Sample& low, const Sample& high) const;
  [[nodiscard]] int line_of(const Gap& gap) const;
  [[nodiscard]] double dip(const Sample& low, const Sample& high) const;
  [[nodiscard]] bool oscillates(const Line& line) const;
  [[nodiscard]] bool is_aliased(const Sample& low);
  [[nodiscard]] bool matters(const std::vector<enclosure::Interval>& without);
  void widen(const Sample& sample);
  void add_piece(std::size_t low, std::size_t high);
  [[nodiscard]] bool shows_new_values(const Sample& middle, const Sample& low, const Sample& high) const;
  [[nodiscard]] bool is_missed(double share);
  [[nodiscard]] bool is_found(const Sample& middle, const Sample& low, const Sample& high);
  [[nodiscard]] Vector usual_correction();
  [[nodiscard]] Vector size_of_correction(double share);

  const LocatedState& at_;
  ModeIntegrator& integrator_;
  EventLocator& locator_;
  const Dcs* formulas_ = nullptr;  // of the mode: those that are watched
  std::vector<int> looked_at_;  // the lines whose ranges are looked at between all samples, with what they are made of
  std::vector<int> needed_;     // of all equations: looked at where a sine is not resolved
  std::vector<char> may_dip_;
  std::vector<Line> watched_;
  std::vector<Sample> samples_;
  std::vector<Piece> pieces_;
  std::vector<enclosure::Interval> box_, ranges_, without_;
  Vector usual_;  // corrections between the stages; empty: not asked for yet
  Vector y_, ydot_, correction_, units_;
};

}  // namespace perp
