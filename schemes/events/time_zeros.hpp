#pragma once

#include <optional>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/interval/interval.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/core/tape/tape.hpp>
#include <perp/core/tape/taylor.hpp>

namespace perp {

/// The zeros of functions of time, lines of a tape whose only input is t. Found by steps within which
/// the Taylor series of a line has no zero; what its terms do not tell, a pulse far ahead, is looked for by interval
/// arithmetic.
class TimeZeros {
 public:
  static constexpr int order = 8;  ///< of the series

  TimeZeros() = default;
  TimeZeros(Tape tape, std::vector<int> lines);

  struct Zero {
    double before = 0;     ///< the last time with the old sign
    double after = 0;      ///< the first one with the new sign, some units in the last place later
    bool touches = false;  ///< no change of sign is seen: the steps got to 1e-12 of the interval

    void transfer(Archive& archive) { archive(before, after, touches); }
  };
  /// The first change of sign of any line in (t, end). One that crosses zero twice within 1e-12 of
  /// the interval, or touches it, is passed.
  [[nodiscard]] std::optional<Zero> next(double t, double end);
  /// Has a line other signs at these times, some units in the last place apart?
  [[nodiscard]] bool changes_between(double before, double after);
  /// The first zero of line k of the list; `with_touches`: also where the sign stays.
  [[nodiscard]] std::optional<Zero> next(std::size_t k, double t, double end, bool with_touches);
  /// The last time before this zero, but after `since`, at which the lines that change their sign there are
  /// farther from 0 than their rounding, a few units in the last place of t before it. zero.before, where
  /// they are not within 2^-20 of the way.
  [[nodiscard]] double decided_before(const Zero& zero, double since);
  [[nodiscard]] std::size_t count() const { return lines_.size(); }

 private:
  using Series = Taylor<double, order>;

  void expand(double t);
  [[nodiscard]] enclosure::Interval range(std::size_t k, double low, double high);
  [[nodiscard]] std::optional<double> other_sign(std::size_t k, double t, double length, int sign);
  [[nodiscard]] double length_with_sign(std::size_t k, double t, double length, int sign);
  [[nodiscard]] double end_of_pieces(double t, double end) const;
  [[nodiscard]] double value(std::size_t k, double t);
  [[nodiscard]] int decided_sign_at(std::size_t k, double t, double bounds);
  [[nodiscard]] int sign_at(std::size_t k, double t, double value);
  [[nodiscard]] Zero between(std::size_t k, double low, double high, bool positive);
  [[nodiscard]] std::optional<Zero> between_before(double end, std::size_t k, double low, double high, bool positive);

  Tape tape_;
  std::vector<int> lines_;
  std::vector<const DataTable*> tables_;  // series hold within one piece of each
  std::vector<Series> series_;
  std::vector<double> values_;
  std::vector<RunningError> bounded_;
  std::vector<enclosure::Interval> ranges_;
};

}  // namespace perp
