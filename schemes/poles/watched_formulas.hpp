#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/signal.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/schemes/events/time_zeros.hpp>
#include <perp/schemes/poles/calm_box.hpp>
#include <perp/schemes/poles/explicit_form.hpp>
#include <perp/schemes/poles/followed_unknowns.hpp>
#include <perp/schemes/poles/solution_path.hpp>

namespace perp {

/// Rows of a system and the divisors in their formulas, on a path; behind the divisors the lines whose
/// zeros are the cuts of angles.
class WatchedFormulas {
 public:
  virtual ~WatchedFormulas() = default;

  /// The divisors at the share s of the path, where x has its rounding or its tolerance.
  virtual void divisors(const SolutionPath& path, double s, bool tolerant,
                        std::vector<RunningError>& values) = 0;
  /// The rows there, with bounds of their errors; not finite: there is no value. `at_rest`: with ẋ = 0
  /// where it is not solved for.
  virtual void rows(const SolutionPath& path, double s, bool at_rest, Vector& values, Vector& errors) = 0;

  /// Is it known that nothing is found on the way of this step? False: it has to be looked for.
  virtual bool is_calm(const StraightStep& step) {
    (void)step;
    return false;
  }

  virtual bool look_ahead(const StraightStep& step) {
    (void)step;
    return false;
  }
  /// The sides within which that is known for steps of length h, as it stands. False: there are none.
  virtual bool add_sides(double h, std::vector<CalmBox::Side>& sides) const {
    (void)h, (void)sides;
    return false;
  }

  /// Is this one a cut? `of_time`: among the functions of time.
  [[nodiscard]] bool is_cut(std::size_t k, bool of_time) const {
    return k >= (of_time ? first_cut_of_time_ : first_cut_);
  }
  /// Those divisors that are functions of time alone.
  TimeZeros& time_zeros() { return time_zeros_; }
  /// What is known of each: no zero up to `until`, then this one, if there is one.
  struct Search {
    double until = -inf;
    std::optional<TimeZeros::Zero> zero{};
  };
  std::vector<Search>& searches() { return searches_; }
  /// Unknowns that no formula gives, but may have poles.
  std::vector<FollowedUnknowns>& followed() { return followed_; }
  /// What was found so far.
  void transfer(Archive& archive) {
    archive(searches_);
    for (FollowedUnknowns& unknowns : followed_) archive(unknowns);
  }
  /// Is function k of time not told from 0 somewhere in between?
  bool is_zero_between(std::size_t k, double low, double high);

 protected:
  /// Has each function of time been looked at up to the end of the step, and is its next zero behind it?
  [[nodiscard]] bool is_calm_in_time(const StraightStep& step) const;
  void add_sides_of_time(double h, std::vector<CalmBox::Side>& sides) const;
  bool add_sides_of_followed(std::vector<CalmBox::Side>& sides) const;
  /// Are the unknowns that no formula gives known all along the step? They are followed to its end then.
  bool follows(const StraightStep& step);
  /// At a time that is known to within an error.
  virtual void divisors_of_time(double t, double error, std::vector<RunningError>& values) = 0;
  void set_first_cuts(std::size_t first, std::size_t first_of_time) {
    first_cut_ = first;
    first_cut_of_time_ = first_of_time;
  }
  void follow(FollowedUnknowns unknowns) { followed_.push_back(std::move(unknowns)); }
  void set_time_zeros(TimeZeros zeros) {
    time_zeros_ = std::move(zeros);
    searches_.resize(time_zeros_.count());
  }

 private:
  std::size_t first_cut_ = SIZE_MAX, first_cut_of_time_ = SIZE_MAX;
  TimeZeros time_zeros_;
  std::vector<Search> searches_;
  std::vector<FollowedUnknowns> followed_;
};

using FormulaList = std::vector<std::unique_ptr<WatchedFormulas>>;

/// Adds the formulas of a mode, if they have divisors.
void watch_mode(const ExplicitForms& forms, const Mode& mode, FormulaList& list);
/// Adds those of a signal; of one that is a function without formulas the reciprocals.
void watch_signal(const Signal& signal, FormulaList& list);

}  // namespace perp
