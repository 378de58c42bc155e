#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <perp/schemes/newton/mode_newton.hpp>

namespace perp {

/// Follows a solution of a step as its length grows from 0, where it is the present state, through the modes that it passes:
/// a chain of solutions, each from the one before, as near as Newton's method contracts and its matrix hardly changes.
/// Where several roots of the equations solve a step, it tells which of them the present one becomes.
class RootPath {
 public:
  struct Point {
    double length = 0;
    Mode mode;
    Vector d, lambda, w;
  };

  /// `set_length` makes the step one of that length; `rooted` are the variables whose other roots the chain must not come
  /// to. All must outlive this.
  RootPath(ImplicitStep& step, ModeNewton& newton, std::function<void(double)> set_length, std::vector<int> rooted)
      : step_(step), newton_(newton), set_length_(std::move(set_length)), rooted_(std::move(rooted)) {}

  /// Where the path from the present state, with λ, in this mode arrives at length h. Nothing: it ends before, jumps, or no
  /// such chain was found.
  std::optional<Point> follow(const Mode& mode, const Vector& lambda, double h);

 private:
  /// What a link of the chain leads to: no solution near, one in its mode, or one beyond the ranges of its branches.
  enum class Link { none, inside, outside };

  Link link(double length, Point& next);
  Link link_from(double length, bool goes_on, Point& next);
  void keep(Point next);
  bool passes_mode();
  bool go_to_end_of_mode(Point beyond);
  bool enter_next_mode();
  bool passes_jump(const Point& end);
  bool is_linked_by_jump(Point& next);
  [[nodiscard]] std::vector<int> laws_beyond(const Point& point) const;

  ImplicitStep& step_;
  ModeNewton& newton_;
  std::function<void(double)> set_length_;
  double h_ = 0, entered_ = 0;  // length of the whole step, and that at which the mode began
  int links_ = 0, orientation_ = 0;
  Point last_, before_;         // of the chain in this mode
  std::vector<int> leaving_;    // laws whose branch ends at the last one
  std::vector<int> rooted_;
  Vector reach_;                // how far variables went in the last link: one may turn back in the next
};

}  // namespace perp
