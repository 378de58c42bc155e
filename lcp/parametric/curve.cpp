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

Segment segment_of(const Branch& branch, int index) {
  Segment segment;
  segment.branch = index;
  const double size = std::max(std::abs(branch.a), std::abs(branch.b));
  segment.direction = {branch.b / size, -branch.a / size};
  const auto cut = [&](bool from_below, const CurvePoint& point) {
    const bool begins = from_below;
    CurvePoint& present = begins ? segment.begin : segment.end;
    bool& exists = begins ? segment.has_begin : segment.has_end;
    const double gain = along(segment, point) - along(segment, present);
    if (!exists || (begins ? gain > 0 : gain < 0)) present = point;
    exists = true;
  };
  if (branch.b != 0) {
    const bool grows = segment.direction.w > 0;
    if (branch.w.lower > -inf) cut(grows, at_w(branch, branch.w.lower));
    if (branch.w.upper < inf) cut(!grows, at_w(branch, branch.w.upper));
  }
  if (branch.a != 0) {
    const bool grows = segment.direction.lambda > 0;
    if (branch.lambda.lower > -inf) cut(grows, at_lambda(branch, branch.lambda.lower));
    if (branch.lambda.upper < inf) cut(!grows, at_lambda(branch, branch.lambda.upper));
  }
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
  if (!segment.has_begin || !segment.has_end) return false;
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

/// Puts the segments in order, head to tail; returns why it cannot.
std::string chain(std::vector<Segment>& segments, const Closeness& close) {
  const auto start = std::find_if(segments.begin(), segments.end(), [](const Segment& segment) {
    return !segment.has_begin || !segment.has_end;
  });
  if (start == segments.end()) return "its graph is bounded";
  std::iter_swap(segments.begin(), start);
  if (segments[0].has_begin) flip(segments[0]);
  for (std::size_t k = 0; segments[k].has_end; ++k) {
    const CurvePoint end = segments[k].end;
    std::size_t next = 0;
    int found = 0;
    bool turned = false;
    for (std::size_t j = k + 1; j < segments.size(); ++j) {
      const bool at_begin = segments[j].has_begin && close(segments[j].begin, end);
      const bool at_end = segments[j].has_end && close(segments[j].end, end);
      if (!at_begin && !at_end) continue;
      ++found;
      next = j;
      turned = !at_begin;
    }
    if (found == 0)
      return fmt::format("its graph ends at w = {:g}, lambda = {:g}", end.w, end.lambda);
    if (found > 1)
      return fmt::format("more than two branches meet at w = {:g}, lambda = {:g}", end.w,
                         end.lambda);
    if (turned) flip(segments[next]);
    std::swap(segments[k + 1], segments[next]);
    if (!segments[k + 1].has_end && k + 2 < segments.size())
      return "its graph consists of separate parts";
  }
  return segments.size() > 1 && !segments[0].has_end ? "its graph consists of separate parts" : "";
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
    const bool finite = segment.has_begin && segment.has_end;
    curve.lengths.push_back(finite ? along(segment, segment.end) - along(segment, segment.begin)
                                   : inf);
    if (k > 0) curve.corners.push_back(corner_of(segments[k - 1], segment));
  }
  if (segments.size() == 1) {
    const Branch& branch = law.branches[static_cast<std::size_t>(segments[0].branch)];
    curve.corners.push_back(branch.b == 0 ? CurvePoint{branch.c / branch.a, 0} : at_w(branch, 0));
  }
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
