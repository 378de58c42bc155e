#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include <perp/core/branches.hpp>
#include <perp/lcp/memory.hpp>
#include <perp/schemes/continuation/mode_changes.hpp>
#include <perp/schemes/continuation/pole_limit.hpp>
#include <perp/schemes/continuation/step_path.hpp>
#include <perp/schemes/located/radau/gaps.hpp>

namespace perp {
namespace {

constexpr int stages = 4;           ///< of the watch: degree 8, nine points
constexpr int resolved_degree = 6;  ///< coefficients from here on are the remainder
constexpr int most_breaks = 64;
constexpr int most_polishes = 8;
constexpr double shortest_segment = 1e-9;  ///< of the step: a path lost there has ended
constexpr double simultaneous = 1e-9;      ///< relative gap of laws that change together
constexpr double unnoticed = 1e-6;         ///< share of multipliers that is no jump of theirs
constexpr double unmoved = 1e-10;          ///< share of ‖E x‖ that is no motion
constexpr double as_near = 1e-8;           ///< relative difference of jumps that are of one size
constexpr double pole = 1e4;  ///< growth of ‖E (x⁺ − x)‖ that tells a pole from a fold

/// A first moment after a break, as a share of the length over which the mode turns: what lasts
/// shorter is not seen.
constexpr double moment = 0x1p-20;
constexpr double lengthening = 0x1p6;   ///< ratio of the moments tried
constexpr double least_moment = 1e-10;  ///< share of the length that is past

bool vanishes(double sooner, double later, double rounding) {
  return later <= rounding || sooner <= later / 2;
}

class Follower {
 public:
  Follower(StepFamily& family, const StepPoint& start, double h)
      : family_(family),
        start_(start),
        h_(h),
        point_(start),
        limit_(family, h),
        watch_(stages),
        origin_(Vector::Zero(start.x.size())) {
    point_.h = 0;
    // The value at the open end 0, from the other points by Lagrange's formula.
    const Vector& s = watch_.points();
    extrapolation_ = Vector::Zero(s.size());
    for (Eigen::Index k = 1; k < s.size(); ++k) {
      extrapolation_[k] = 1;
      for (Eigen::Index j = 1; j < s.size(); ++j)
        if (j != k) extrapolation_[k] *= s[j] / (s[j] - s[k]);
    }
  }

  StepPath run() {
    while (result_.status == Status::never_run) {
      if (result_.breaks.size() > most_breaks) {
        end(Status::not_solved,
            fmt::format("more than {} changes of mode within one step of {:g}, the last at {:g}",
                        most_breaks, h_, point_.h));
        break;
      }
      go_through_mode();
      if (result_.status == Status::never_run && !pivot()) go_beyond();
    }
    result_.end = point_;
    result_.norm = family_.distance(point_.x, start_.x);
    return std::move(result_);
  }

 private:
  void end(Status status, std::string message = {}) {
    result_.status = status;
    result_.message = std::move(message);
  }

  /// Values of the gaps of a point's mode.
  void gaps(const StepPoint& point, Vector& values) const {
    values.resize(static_cast<Eigen::Index>(gaps_.size()));
    for (std::size_t g = 0; g < gaps_.size(); ++g)
      values[static_cast<Eigen::Index>(g)] =
          gaps_[g].at((gaps_[g].of_lambda ? point.lambda : point.w)[gaps_[g].law]);
  }

  /// A first moment after point.h: this share of the length over which its mode turns.
  double moment_after(const StepPoint& point, double share = moment) {
    if (point.mode.size() != family_.laws().size()) return std::min(h_, point.h + share * h_);
    const double turns = limit_.end_of_segment(point, point.h, h_) - point.h;
    return std::min(h_, point.h + std::max(share * turns, least_moment * point.h));
  }

  /// Does point.mode have an admissible solution for a step of length h near `point`, which becomes
  /// it? If only a gap is negative, its law is kept in `fallen_`.
  bool admits(double h, StepPoint& point) {
    gaps_ = gaps_of(family_.laws(), point.mode);
    fallen_.clear();
    if (!family_.solve(h, point, noise_)) return false;
    gaps(point, values_);
    for (std::size_t g = 0; g < gaps_.size(); ++g) {
      const auto i = static_cast<Eigen::Index>(g);
      if (values_[i] < -noise_[i]) fallen_.push_back(gaps_[g].law);
    }
    return fallen_.empty();
  }

  /// The same a first moment later, a longer one if the equations of a short one are too ill
  /// conditioned to be solved (for a mode of index 3 their condition grows with 1/h²).
  bool begins(StepPoint& point) {
    for (double share = moment; share < 1; share *= lengthening) {
      StepPoint later = point;
      const bool admissible = admits(moment_after(point, share), later);
      if (!admissible && fallen_.empty()) continue;
      if (admissible) point = std::move(later);
      return admissible;
    }
    return false;
  }

  /// Moves `point_` along its mode as far as that lasts, at most to the full step, which then is
  /// solved. Else `fallen_` holds the laws whose branch ended, if any.
  void go_through_mode() {
    if (point_.mode.size() != family_.laws().size()) return;  // not known
    StepPoint begin = point_;
    if (!begins(begin)) return;
    if (begin.h == h_) {
      point_ = std::move(begin);
      return end(Status::solved);
    }
    go_through_segments(begin);
  }

  /// How a segment of the mode ends.
  enum class Segment { passed, too_long, end_of_mode };

  /// Solves from `low` to `high`, from the point `last` on, which moves there. Where that is too long `high` becomes the
  /// end of a shorter one; where the mode ends `point_` stands there.
  Segment pass_segment(double low, double& high, StepPoint& last) {
    const double middle = low + (high - low) / 2;
    const double solved_to = sample(low, high, last);
    if (solved_to < high) {
      high = std::min(solved_to, middle);
      return Segment::too_long;
    }
    if (is_resolved()) {
      const std::vector<char> inside(gaps_.size(), 1);
      const auto fall = watch_.first(samples_.topRows(count()), noise_, noise_, noise_, inside);
      if (!fall) return Segment::passed;
      if (stop_at(*fall, low, high, last)) return Segment::end_of_mode;
    }
    high = middle;
    return Segment::too_long;
  }

  /// The same from the first moment `begin` in the mode on, in segments that keep away from poles.
  void go_through_segments(const StepPoint& begin) {
    double low = point_.h, high = h_;
    while (true) {
      StepPoint last = low > 0 ? point_ : begin;
      high = limit_.end_of_segment(last, low, high);
      if (high - low < shortest_segment * h_) return lose();
      const Segment segment = pass_segment(low, high, last);
      if (segment == Segment::end_of_mode) return;
      if (segment == Segment::too_long) continue;
      point_ = std::move(last);
      if (high >= h_) return end(Status::solved);
      const double length = high - low;
      low = high;
      high = std::min(h_, low + 2 * length);
    }
  }

  [[nodiscard]] Eigen::Index count() const { return static_cast<Eigen::Index>(gaps_.size()); }

  /// Solves at the points of [low, high] one after the other (`noise_`: at the last of them);
  /// `point` ends at the last that was solved, whose length is returned. Rows of `samples_`: the
  /// gaps, then ‖E (x⁺ − x)‖.
  double sample(double low, double high, StepPoint& point) {
    const Vector& s = watch_.points();
    samples_.resize(count() + 1, s.size());
    depth_ = Vector::Zero(count() + 1);
    double solved_to = low;
    for (Eigen::Index k = low > 0 ? 0 : 1; k < s.size(); ++k) {
      const double length = k + 1 == s.size() ? high : low + s[k] * (high - low);
      StepPoint next = point;
      if (!family_.solve(length, next, noise_)) return solved_to;
      point = std::move(next);
      solved_to = length;
      gaps(point, values_);
      samples_.col(k) << values_, family_.distance(point.x, start_.x);
      depth_.head(count()) = depth_.head(count()).cwiseMax(noise_);
      depth_[count()] = std::max(depth_[count()], unmoved * family_.distance(point.x, origin_));
    }
    const Eigen::Index inner = s.size() - 1;
    if (low == 0) samples_.col(0) = samples_.rightCols(inner) * extrapolation_.tail(inner);
    return solved_to;
  }

  bool is_resolved() {
    for (Eigen::Index i = 0; i < samples_.rows(); ++i)
      if (!watch_.is_resolved(samples_.row(i).transpose(), resolved_degree, depth_[i]))
        return false;
    return true;
  }

  /// Is the gap 0 at the point solved last, to rounding and beside its values at the samples?
  [[nodiscard]] bool is_at_end(Eigen::Index gap) const {
    const double size = std::abs(gaps_[static_cast<std::size_t>(gap)].bound) + samples_.row(gap).cwiseAbs().maxCoeff();
    return std::abs(values_[gap]) <= std::max(noise_[gap], simultaneous * size);
  }

  /// Moves `near` towards the length at which the gap that falls first is 0, by Newton's method with the slope that the
  /// samples have there. False: a step on the way has no solution.
  bool approach_end(const GapWatch::Fall& fall, double low, double high, StepPoint& near) {
    double slope = fall.slope / (high - low);
    double length = low + fall.s * (high - low), miss = inf;
    for (int k = 0; k < most_polishes; ++k) {
      if (!family_.solve(length, near, noise_)) return false;
      gaps(near, values_);
      const double before = miss;
      miss = values_[fall.gap];
      if (std::abs(miss) <= noise_[fall.gap] || slope == 0) break;
      const double next = std::clamp(length - miss / slope, low, high);
      if (next == length || std::abs(miss) > std::abs(before)) break;
      length = next;
    }
    return true;
  }

  /// Solves for the length at which the gap that falls first is 0, and stands there. False: it has
  /// no zero where the samples say, so they do not resolve it.
  bool stop_at(const GapWatch::Fall& fall, double low, double high, StepPoint near) {
    if (!approach_end(fall, low, high, near) || !is_at_end(fall.gap)) return false;
    point_ = std::move(near);
    fallen_ = {gaps_[static_cast<std::size_t>(fall.gap)].law};
    for (Eigen::Index g = 0; g < count(); ++g) {
      const int law = gaps_[static_cast<std::size_t>(g)].law;
      if (is_at_end(g) && std::find(fallen_.begin(), fallen_.end(), law) == fallen_.end()) fallen_.push_back(law);
    }
    return true;
  }

  /// The equations of the mode have no solution beyond `point_`: a fold of a nonlinear equation, or
  /// a pole.
  void lose() {
    StepPoint half = point_;
    const bool grew =
        point_.h > 0 && family_.solve(point_.h / 2, half, noise_) &&
        family_.distance(point_.x, start_.x) > pole * family_.distance(half.x, start_.x);
    if (grew || limit_.diverges(point_))
      end(Status::not_solved,
          fmt::format("the solution of the step runs to infinity as its length grows to {:.6g}: a "
                      "step of {:g} is too long",
                      point_.h, h_));
  }

  /// Is `next`, a solution a moment after `point_`, one that begins there: does ‖E (x⁺ − x)‖ vanish
  /// towards it? `sooner` becomes its solution after a quarter of that moment.
  bool is_continuous(const StepPoint& next, StepPoint& sooner) {
    sooner = next;
    return family_.solve(point_.h + (next.h - point_.h) / 4, sooner, noise_) &&
           vanishes(family_.distance(sooner.x, point_.x), family_.distance(next.x, point_.x),
                    1e-12 * point_.x.norm());
  }

  /// Does the mode of `next` continue (x⁺, λ⁺) of `point_`? From h = 0 on only the differential
  /// variables are continuous. `next` becomes its solution a moment later.
  bool continues(StepPoint& next) {
    if (!begins(next)) return false;
    StepPoint sooner;
    if (!is_continuous(next, sooner)) return false;
    if (point_.h <= moment * h_) return true;
    const double noise = noise_.size() > 0 ? noise_.maxCoeff() : 0;
    return vanishes((sooner.x - point_.x).norm(), (next.x - point_.x).norm(),
                    unnoticed * point_.x.norm()) &&
           vanishes((sooner.lambda - point_.lambda).norm(), (next.lambda - point_.lambda).norm(),
                    unnoticed * point_.lambda.norm() + 16 * noise);
  }

  /// Goes on in the neighbouring mode that continues the path; of several the slowest.
  bool pivot() {
    if (point_.mode.empty() || fallen_.empty()) return false;
    std::optional<StepPoint> best;
    double least = inf;
    for (const Mode& mode : neighbours(family_.laws(), point_.mode, std::vector<int>(fallen_))) {
      StepPoint next = point_;
      next.mode = mode;
      if (!continues(next)) continue;
      const double moved = family_.distance(next.x, point_.x);
      if (moved >= least) continue;
      least = moved;
      best = std::move(next);
    }
    if (!best) return false;
    enter(*best, 0);
    return true;
  }

  struct Choice {
    StepPoint& point;
    bool jumps;  ///< E x is not continuous there
  };

  /// Of solutions a moment later the one that goes on: laws with memory keep their branch where
  /// they can; then where E x is continuous in some, one of these, else one of the nearest; of them
  /// the one whose algebraic variables and multipliers change least.
  Choice choose(std::vector<StepPoint>& list) {
    const auto change = [&](const StepPoint& next) {
      return std::hypot((next.x - point_.x).norm(), (next.lambda - point_.lambda).norm());
    };
    using Rank = std::tuple<int, bool, double>;
    std::vector<Rank> ranks;
    for (const StepPoint& next : list) {
      StepPoint sooner;
      const bool jumps = !is_continuous(next, sooner);
      ranks.emplace_back(memory_changes(family_.laws(), next.mode, point_.mode), jumps,
                         jumps ? family_.distance(next.x, point_.x) : 0);
    }
    auto [memory, jumps, distance] = *std::min_element(ranks.begin(), ranks.end());
    const Rank tied{memory, jumps, (1 + as_near) * distance};
    std::size_t best = list.size();
    for (std::size_t k = 0; k < list.size(); ++k)
      if (ranks[k] <= tied && (best == list.size() || change(list[k]) < change(list[best])))
        best = k;
    return {list[best], std::get<bool>(ranks[best])};
  }

  /// The path folds back, or its next mode is no neighbour: to a solution of a step that is a
  /// moment longer.
  void go_beyond() {
    const double later = moment_after(point_);
    std::vector<StepPoint> list;
    int solutions = 0;
    const Status status = family_.solutions(later, point_, list, solutions);
    if (status != Status::solved)
      return end(status, fmt::format("the path of solutions ends at a step of {:.10g}: {}",
                                     point_.h, family_.message()));
    const auto [found, jumps] = choose(list);
    if (point_.h - stuck_at_ <= 4 * moment * h_ && found.mode == point_.mode)
      return end(Status::not_enumerated,
                 fmt::format("the solutions in mode [{}] are not determined for a step of {:.10g}",
                             describe_briefly(family_.laws(), point_.mode), later));
    stuck_at_ = point_.h;
    if (result_.solutions >= 0)
      result_.solutions = solutions < 0 ? -1 : std::max(result_.solutions, solutions);
    const bool starts = point_.h == 0;
    enter(found, jumps ? family_.distance(found.x, point_.x) : 0);
    // What ended the path, a jump of b or q in time for instance, is left behind.
    if (!starts) point_.h = later;
  }

  void enter(StepPoint& next, double jump) {
    StepPath::Break change{point_.h, next.mode, {}, jump};
    for (std::size_t i = 0; i < next.mode.size(); ++i)
      if (i >= point_.mode.size() || next.mode[i] != point_.mode[i])
        change.laws.push_back(static_cast<int>(i));
    result_.breaks.push_back(std::move(change));
    const double at = point_.h;
    point_ = std::move(next);
    point_.h = at;
  }

  StepFamily& family_;
  const StepPoint& start_;
  double h_;
  StepPoint point_;
  PoleLimit limit_;
  GapWatch watch_;
  Vector origin_, extrapolation_;
  std::vector<Gap> gaps_;
  std::vector<int> fallen_;
  double stuck_at_ = nan;  // length at which the last mode was entered by `go_beyond`
  Matrix samples_;
  Vector depth_, noise_, values_;
  StepPath result_;
};

}  // namespace

StepPath follow(StepFamily& family, const StepPoint& start, double h) {
  return Follower(family, start, h).run();
}

}  // namespace perp
