#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/capturing/roots/root_path.hpp>
#include <perp/schemes/continuation/mode_changes.hpp>

namespace perp {
namespace {

constexpr int first_length = -24;  ///< h·2^k of the first link in a mode
constexpr int shortest_length = -44;  ///< h·2^k of the shortest link
constexpr int most_links = 500;    ///< each about two iterations of Newton's method
constexpr double least_jump = 0x1p-20;  ///< share of a jump of multipliers in one link
constexpr int most_modes = 32;     ///< as changes of mode within one step
constexpr int end_bisections = 40;  ///< of the link that leaves its mode
constexpr double most_growth = 4;   ///< of a link after one that was found
constexpr double shortened = 0.5;   ///< of a link that was not

}  // namespace

std::optional<RootPath::Point> RootPath::follow(const Mode& mode, const Vector& lambda, double h) {
  h_ = h;
  links_ = 0;
  last_ = {0, mode, Vector::Zero(step_.n()), lambda, Vector::Zero(step_.m())};
  reach_ = Vector::Zero(step_.n());
  before_ = last_;
  entered_ = 0;
  orientation_ = 0;
  for (int k = 0; k < most_modes; ++k) {
    if (!passes_mode()) return std::nullopt;
    if (last_.length == h_) return last_;
    if (!enter_next_mode()) return std::nullopt;
    if (last_.length == h_) return last_;
  }
  return std::nullopt;
}

/// Goes on in the mode of the last point to the whole length, or to the end of the mode, where `leaving_` laws leave it.
/// False: the chain does not go on.
bool RootPath::passes_mode() {
  const double shortest = std::ldexp(h_, shortest_length);
  for (double length = std::ldexp(h_, first_length); last_.length < h_ && length >= shortest;) {
    if (++links_ > most_links) return false;
    Point next = last_;
    const Link found = link(std::min(last_.length + length, h_), next);
    if (found == Link::outside) return go_to_end_of_mode(std::move(next));
    if (found == Link::inside) keep(std::move(next));
    length *= found == Link::inside ? most_growth : shortened;
  }
  return last_.length == h_;
}

/// The next point becomes the last one.
void RootPath::keep(Point next) {
  reach_ = (next.d - last_.d).cwiseAbs();
  before_ = std::move(last_);
  last_ = std::move(next);
}

/// The solution at a length near the last one: where the last two lead, or from where the last one stays.
RootPath::Link RootPath::link(double length, Point& next) {
  set_length_(length);
  step_.set_mode(next.mode);
  const Link found = last_.length > before_.length ? link_from(length, true, next) : Link::none;
  return found == Link::none ? link_from(length, false, next) : found;
}

RootPath::Link RootPath::link_from(double length, bool goes_on, Point& next) {
  const double share = goes_on ? (length - last_.length) / (last_.length - before_.length) : 0;
  next.length = length;
  next.d = last_.d + share * (last_.d - before_.d);
  next.lambda = last_.lambda + share * (last_.lambda - before_.lambda);
  newton_.put_on_branches(next.d, next.lambda);
  if (newton_.run_near(next.d, next.lambda) != NewtonEnd::converged || !newton_.is_local()) return Link::none;
  const int orientation = newton_.orientation();
  if (orientation_ != 0 && orientation != 0 && orientation != orientation_) return Link::none;
  const Admission admission = newton_.admit(next.d, next.lambda, next.w);
  if (!newton_.leads_straight(last_.d, last_.lambda, next.d, next.lambda, rooted_, reach_)) return Link::none;
  if (orientation_ == 0) orientation_ = orientation;
  return admission == Admission::outside ? Link::outside : Link::inside;
}

/// The laws whose w or λ is outside of the branch of the point's mode.
std::vector<int> RootPath::laws_beyond(const Point& point) const {
  std::vector<int> list;
  const auto is_outside = [](const Range& range, double value) { return value < range.lower || value > range.upper; };
  for (int i = 0; i < step_.m(); ++i) {
    const Branch& branch = step_.laws()[at(i)].branches[at(point.mode[at(i)])];
    if (is_outside(branch.w, point.w[i]) || is_outside(branch.lambda, point.lambda[i])) list.push_back(i);
  }
  return list;
}

/// Between the last point and one beyond the end of its mode: the last one becomes the end, to rounding.
bool RootPath::go_to_end_of_mode(Point beyond) {
  leaving_ = laws_beyond(beyond);
  const bool ends_at_once = last_.length == entered_;
  for (int k = 0; k < end_bisections && !ends_at_once; ++k) {
    Point middle = last_;
    const Link found = link(last_.length + (beyond.length - last_.length) / 2, middle);
    if (found == Link::none) return false;
    if (found == Link::inside) {
      keep(std::move(middle));
      continue;
    }
    beyond = std::move(middle);
    leaving_ = laws_beyond(beyond);
  }
  return !leaving_.empty();
}

/// The first point in one of the modes that laws which leave their branch lead to. False: there is none.
bool RootPath::enter_next_mode() {
  const Point end = last_;
  const double length = std::min(h_, end.length + std::ldexp(h_, first_length));
  entered_ = end.length;
  for (const Mode& mode : neighbours(step_.laws(), end.mode, leaving_)) {
    last_ = before_ = end;
    last_.mode = mode;
    orientation_ = 0;
    Point next = last_;
    if (link(length, next) != Link::inside && (!passes_jump(end) || link(length, next = last_) != Link::inside)) continue;
    keep(std::move(next));
    before_ = last_;
    return true;
  }
  return false;
}

/// Where laws jump their multipliers pass the values between: the last point moves from the end of a mode to what the
/// other variables are for those of the next mode. False: no chain of solutions leads there.
bool RootPath::passes_jump(const Point& end) {
  set_length_(end.length);
  Vector target = end.lambda;
  Mode held = last_.mode;
  for (const int law : leaving_) {
    const std::vector<Branch>& branches = step_.laws()[at(law)].branches;
    const Branch& branch = branches[at(held[at(law)])];
    const auto open = std::ranges::find_if(branches, [](const Branch& other) { return other.a != 0; });
    if (branch.b == 0 || open == branches.end()) return false;
    target[law] = (branch.c - branch.a * end.w[law]) / branch.b;
    held[at(law)] = static_cast<int>(open - branches.begin());  // one that does not fix the multiplier
  }
  step_.hold_lambda(held);
  double share = 0;
  for (double length = 1; share < 1 && length >= least_jump;) {
    if (++links_ > most_links) return false;
    const double tried = std::min(share + length, 1.0);
    Point next = last_;
    next.lambda = end.lambda + tried * (target - end.lambda);
    const bool is_found = is_linked_by_jump(next);
    if (is_found) keep(std::move(next)), share = tried;
    length *= is_found ? most_growth : shortened;
  }
  orientation_ = 0;
  return share == 1;
}

/// Does the matrix lead from the last point to a solution for the multipliers of the next one, which they are held at?
bool RootPath::is_linked_by_jump(Point& next) {
  if (newton_.run_near(next.d, next.lambda) != NewtonEnd::converged || !newton_.is_local()) return false;
  const int orientation = newton_.orientation();
  if (orientation_ != 0 && orientation != orientation_) return false;
  if (!newton_.leads_straight(last_.d, next.lambda, next.d, next.lambda, rooted_, reach_)) return false;
  orientation_ = orientation;
  return true;
}

}  // namespace perp
