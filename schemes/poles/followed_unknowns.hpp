#pragma once

#include <optional>
#include <span>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/interval/series/implicit_function.hpp>
#include <perp/schemes/poles/calm_box.hpp>
#include <perp/schemes/poles/explicit_form.hpp>
#include <perp/schemes/poles/growth.hpp>
#include <perp/schemes/poles/solution_path.hpp>

namespace perp {

constexpr int largest_followed_group = 32;

/// Unknowns z that no formula gives, h(t, x, z) = 0 with as many equations, on the path of a step. Newton's
/// operator proves piece by piece that they are one continuous function of t and x there; where no
/// piece is short enough and z grows, it has a pole; where det ∂h/∂z changes its sign, another root meets it.
class FollowedUnknowns {
 public:
  /// `inputs`: of the tape, t | ẋ | x | λ with n variables.
  FollowedUnknowns(const Tape& tape, const ExplicitForm::Implicit& group, int n, int inputs);

  /// May z have a pole at all? Not if ∂h/∂z is a number, nor if it stays away from 0 for all t, x and z.
  [[nodiscard]] static bool may_have_pole(const Tape& tape, const ExplicitForm::Implicit& group, int inputs);

  /// The share of the path at which z has a pole, the first from its start on, or, where z is not known
  /// there, from its end back. None too where z is known at no end.
  std::optional<double> pole(const SolutionPath& path);
  /// The share of the path at which, as seen by the last `pole` that found none, z meets another root of h: there
  /// det ∂h/∂z is 0 and has both signs around it, so that by the theorem on the degree other roots begin.
  [[nodiscard]] std::optional<double> meeting() const { return meeting_; }
  /// Does the last proof hold for the whole way of a step? Then they are followed to its end as `pole` does, which finds
  /// none. False: nothing was done.
  bool stays(const StraightStep& step);
  /// The sides within which it does for steps whose ends lie there. False: there are none.
  bool add_sides(std::vector<CalmBox::Side>& sides) const;
  /// How far they were followed.
  void transfer(Archive& archive) {
    if (enclosure::KnownRoot* root = flow_.implicit.known.get()) archive(root->t, root->x, root->z);  // the same as that of function_
    archive(known_, at_start_, growth_, ahead_, meeting_, last_.orientation, last_.until, last_.end, seen_);
  }
  /// Is z at the end of a path without a pole another root than the one that was followed?
  [[nodiscard]] bool leaves(const SolutionPath& path) const;

 private:
  using Interval = enclosure::Interval;
  struct Point {
    Interval t{};
    std::vector<Interval> x{};  ///< what h depends on besides t
    void transfer(Archive& archive) { archive(t, x); }
  };
  struct Known {  ///< z(t, x), continuous over all of these points
    Point over{};
    std::vector<Interval> z{};
    void transfer(Archive& archive) { archive(over, z); }
  };
  struct Place {  ///< where following came to
    double s = 0;
    std::vector<double> z{};
  };

  [[nodiscard]] Point point(const SolutionPath& path, double s) const;
  [[nodiscard]] double input(const StraightStep& step, bool at_end, int number) const;
  [[nodiscard]] bool is_proved_during(const StraightStep& step) const;
  [[nodiscard]] bool lies_in_proof(const StraightStep& step) const;
  [[nodiscard]] Point between(const SolutionPath& path, double from, double to) const;
  [[nodiscard]] std::vector<double> guess(const SolutionPath& path, bool at_end) const;
  [[nodiscard]] double input(const SolutionPath& path, double s, int number) const;
  [[nodiscard]] bool covers(const Point& box) const;
  bool go_on(const Point& here);
  bool start(const SolutionPath& path, bool at_end);
  [[nodiscard]] bool is_same_root(const Point& here, const std::vector<double>& z, const std::vector<double>& root) const;
  [[nodiscard]] bool is_known(const Point& box, const std::vector<double>& z) const;
  bool extend(const SolutionPath& path);
  bool hops(const Point& end, double length, const std::vector<Place>& places, std::vector<Interval>& z);
  bool passes(const SolutionPath& path, double from, double to, double length, const std::vector<Place>& places,
              std::vector<Interval>& z);
  enum class End { of_path, not_simple, of_work };  ///< of following
  End follow(const SolutionPath& path, bool backward, std::vector<Place>& places);
  [[nodiscard]] bool lacks_values(const SolutionPath& path) const;
  [[nodiscard]] bool was_seen(double t) const;
  [[nodiscard]] std::optional<double> seen_pole(const SolutionPath& path) const;
  std::optional<double> pole_from(const SolutionPath& path, bool backward);
  std::optional<double> pole_at_end(const SolutionPath& path, bool backward, const std::vector<Place>& places,
                                    bool is_lost, bool leads_there);
  [[nodiscard]] static bool grows(const std::vector<Place>& places);
  // meeting_roots.cpp
  [[nodiscard]] int orientation(const Point& at, const std::vector<double>& z) const;
  [[nodiscard]] bool vanishes(const Point& at, const std::vector<double>& z) const;
  [[nodiscard]] bool keeps_orientation(const Point& at, const std::vector<double>& a, const std::vector<double>& b) const;
  [[nodiscard]] bool turns_along(std::size_t k, const Point& at, const std::vector<double>& z) const;
  [[nodiscard]] bool is_fold(const Point& at, const std::vector<double>& z) const;
  [[nodiscard]] int orientation_at(const SolutionPath& path, bool at_end);
  [[nodiscard]] bool meets(const SolutionPath& path, bool backward, int before);
  bool meets_at_once(const SolutionPath& path, double s, const std::vector<double>& z);
  std::optional<double> no_pole(const SolutionPath& path, bool backward, const std::vector<Place>& places, double s);
  std::optional<double> follow_from(const SolutionPath& path, bool backward, int before);
  void leave(const SolutionPath& path, int orientation);
  [[nodiscard]] bool is_left_at(const SolutionPath& path) const;
  // partner_roots.cpp
  std::optional<std::vector<double>> partner(const Point& at, const std::vector<double>& z);
  std::vector<double> distances(const SolutionPath& path, bool backward, std::span<const Place> places, bool from_end);
  bool is_joined(const SolutionPath& path, bool backward, const std::vector<Place>& places);
  [[nodiscard]] bool leads_to_pole(const SolutionPath& path, bool backward, const std::vector<Place>& places);

  int n_;
  std::vector<int> unknowns_, given_;  // inputs
  enclosure::Flow flow_;
  enclosure::ImplicitFunction function_;
  std::optional<Known> known_;
  std::vector<Interval> at_start_;  // z where following begins
  Growth growth_;                   // over time
  double ahead_ = 1;                // lengths of a path that are proved at once
  std::optional<double> meeting_;   // see meeting()
  struct {
    int orientation = 0;  // sign of det ∂h/∂z of the root that was followed last,
    double until = nan;   // up to here
    Point end{};
  } last_;
  struct {
    double t = nan, since = nan, until = nan;
  } seen_;  // the last pole, and from right before it to the end of the path on which it was seen
};

}  // namespace perp
