#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/branches.hpp>
#include <perp/lcp/parametric/curve.hpp>

namespace perp {
namespace {

/// One branch between its two ends along its direction; an end may be at infinity.
struct Segment {
  int branch = 0;
  CurvePoint direction;
  CurvePoint begin, end;
  bool has_begin = false, has_end = false;

  [[nodiscard]] bool is_bounded() const { return has_begin && has_end; }
};

double along(const Segment& segment, const CurvePoint& point) {
  return std::abs(segment.direction.w) >= std::abs(segment.direction.lambda)
             ? point.w * segment.direction.w
             : point.lambda * segment.direction.lambda;
}

/// Points of the branch's line with the given w or λ.
CurvePoint at_w(const Branch& branch, double w) {
  return {w, (branch.c - branch.a * w) / branch.b};
}
CurvePoint at_lambda(const Branch& branch, double lambda) {
  return {(branch.c - branch.b * lambda) / branch.a, lambda};
}

/// Makes a segment begin (or end) at a point, unless it does so farther inside.
void cut(Segment& segment, bool begins, const CurvePoint& point) {
  CurvePoint& present = begins ? segment.begin : segment.end;
  bool& exists = begins ? segment.has_begin : segment.has_end;
  const double gain = along(segment, point) - along(segment, present);
  if (!exists || (begins ? gain > 0 : gain < 0)) present = point;
  exists = true;
}

/// The same at the finite ends of the range of w or λ, which grows along the segment or falls.
template <class PointAt>
void cut_to_range(Segment& segment, const Range& range, bool grows, const PointAt& point_at) {
  if (range.lower > -inf) cut(segment, grows, point_at(range.lower));
  if (range.upper < inf) cut(segment, !grows, point_at(range.upper));
}

Segment segment_of(const Branch& branch, int index) {
  Segment segment;
  segment.branch = index;
  const double size = std::max(std::abs(branch.a), std::abs(branch.b));
  segment.direction = {branch.b / size, -branch.a / size};
  if (branch.b != 0)
    cut_to_range(segment, branch.w, segment.direction.w > 0,
                 [&](double w) { return at_w(branch, w); });
  if (branch.a != 0)
    cut_to_range(segment, branch.lambda, segment.direction.lambda > 0,
                 [&](double lambda) { return at_lambda(branch, lambda); });
  return segment;
}

void flip(Segment& segment) {
  std::swap(segment.begin, segment.end);
  std::swap(segment.has_begin, segment.has_end);
  segment.direction = {-segment.direction.w, -segment.direction.lambda};
}

constexpr double tol = 0x1p-48;  ///< what rounding leaves of points that are computed, of the law's numbers

/// Are two points the same, up to rounding of the law's own numbers?
struct Closeness {
  CurvePoint size;
  bool operator()(const CurvePoint& a, const CurvePoint& b) const {
    return std::abs(a.w - b.w) <= tol * size.w &&
           std::abs(a.lambda - b.lambda) <= tol * size.lambda;
  }
};

Closeness closeness(const Law& law, const std::vector<Segment>& segments) {
  Closeness close;
  const auto include = [&](const CurvePoint& point) {
    close.size.w = std::max(close.size.w, std::abs(point.w));
    close.size.lambda = std::max(close.size.lambda, std::abs(point.lambda));
  };
  for (const Segment& segment : segments) {
    if (segment.has_begin) include(segment.begin);
    if (segment.has_end) include(segment.end);
  }
  for (const Branch& branch : law.branches)
    include({branch.a == 0 ? 0 : branch.c / branch.a, branch.b == 0 ? 0 : branch.c / branch.b});
  return close;
}

/// The ends of a branch on which w or λ is constant are its own numbers, the others are computed.
bool is_point(const Segment& segment, const Closeness& close) {
  if (!segment.is_bounded()) return false;
  const bool is_exact = segment.direction.w == 0 || segment.direction.lambda == 0;
  return is_exact ? along(segment, segment.begin) == along(segment, segment.end) : close(segment.begin, segment.end);
}

/// Leaves out branches that are single points of another branch.
void drop_points(const Law& law, const Closeness& close, std::vector<Segment>& segments) {
  std::erase_if(segments, [&](const Segment& point) {
    if (!is_point(point, close)) return false;
    for (const Segment& other : segments) {
      if (other.branch == point.branch) continue;
      const Law single{"", {law.branches[static_cast<std::size_t>(other.branch)]}};
      const double w_size = std::max(close.size.w, 1e-300);
      const double lambda_size = std::max(close.size.lambda, 1e-300);
      if (distance(single, point.begin.w, point.begin.lambda, w_size, lambda_size) <= tol)
        return true;
    }
    return false;
  });
}

CurvePoint corner_of(const Segment& before, const Segment& after) {
  // A vertical or horizontal branch knows its own coordinate exactly.
  const CurvePoint& a = before.end;
  const CurvePoint& b = after.begin;
  const bool w_from_after = after.direction.w == 0 && before.direction.w != 0;
  const bool lambda_from_after = after.direction.lambda == 0 && before.direction.lambda != 0;
  return {w_from_after ? b.w : a.w, lambda_from_after ? b.lambda : a.lambda};
}

/// The segments that have an end at one point.
struct Meeting {
  int count = 0;
  std::size_t last = 0;
  bool turned = false;  ///< the last one has its end there, not its beginning
};

/// Of the segments from number `first` on.
Meeting meeting_at(const std::vector<Segment>& segments, std::size_t first, const CurvePoint& point,
                   const Closeness& close) {
  Meeting meeting;
  for (std::size_t j = first; j < segments.size(); ++j) {
    const bool at_begin = segments[j].has_begin && close(segments[j].begin, point);
    const bool at_end = segments[j].has_end && close(segments[j].end, point);
    if (!at_begin && !at_end) continue;
    ++meeting.count;
    meeting.last = j;
    meeting.turned = !at_begin;
  }
  return meeting;
}

/// Puts the segment that begins at the end of the k-th one behind it; returns why it cannot.
std::string link_next(std::vector<Segment>& segments, std::size_t k, const Closeness& close) {
  const CurvePoint end = segments[k].end;
  const Meeting next = meeting_at(segments, k + 1, end, close);
  if (next.count == 0)
    return fmt::format("its graph ends at w = {:g}, lambda = {:g}", end.w, end.lambda);
  if (next.count > 1)
    return fmt::format("more than two branches meet at w = {:g}, lambda = {:g}", end.w, end.lambda);
  if (next.turned) flip(segments[next.last]);
  std::swap(segments[k + 1], segments[next.last]);
  return "";
}

/// Puts the segments in order, head to tail; returns why it cannot.
std::string chain(std::vector<Segment>& segments, const Closeness& close) {
  const auto start = std::ranges::find_if_not(segments, &Segment::is_bounded);
  if (start == segments.end()) return "its graph is bounded";
  std::iter_swap(segments.begin(), start);
  if (segments[0].has_begin) flip(segments[0]);
  std::size_t last = 0;
  for (; segments[last].has_end; ++last)
    if (std::string reason = link_next(segments, last, close); !reason.empty()) return reason;
  return last + 1 < segments.size() ? "its graph consists of separate parts" : "";
}

/// In units of the direction.
double length_of(const Segment& segment) {
  return segment.is_bounded() ? along(segment, segment.end) - along(segment, segment.begin) : inf;
}

/// The point with w = 0 of a branch's line, or with λ = 0 where w is constant.
CurvePoint point_of_line(const Branch& branch) {
  return branch.b == 0 ? CurvePoint{branch.c / branch.a, 0} : at_w(branch, 0);
}

}  // namespace

Curve curve_of(const Law& law) {
  std::vector<Segment> segments;
  for (std::size_t k = 0; k < law.branches.size(); ++k)
    segments.push_back(segment_of(law.branches[k], static_cast<int>(k)));
  const Closeness close = closeness(law, segments);
  drop_points(law, close, segments);
  Curve curve;
  if (segments.empty()) curve.reason = "its graph is a single point";
  if (curve.reason.empty()) curve.reason = chain(segments, close);
  if (!curve.reason.empty()) return curve;
  for (std::size_t k = 0; k < segments.size(); ++k) {
    const Segment& segment = segments[k];
    curve.order.push_back(segment.branch);
    curve.directions.push_back(segment.direction);
    curve.lengths.push_back(length_of(segment));
    if (k > 0) curve.corners.push_back(corner_of(segments[k - 1], segment));
  }
  if (segments.size() == 1)
    curve.corners.push_back(
        point_of_line(law.branches[static_cast<std::size_t>(segments[0].branch)]));
  return curve;
}

void reverse(Curve& curve) {
  std::reverse(curve.order.begin(), curve.order.end());
  std::reverse(curve.directions.begin(), curve.directions.end());
  std::reverse(curve.corners.begin(), curve.corners.end());
  std::reverse(curve.lengths.begin(), curve.lengths.end());
  for (CurvePoint& direction : curve.directions) direction = {-direction.w, -direction.lambda};
}

}  // namespace perp
