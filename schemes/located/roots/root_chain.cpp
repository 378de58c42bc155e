// Which of several roots an attempt of a step leads to: asked for each attempt, and for the states
// in it. A chain that ends, where roots meet or a matrix is singular to rounding, tells nothing
// from there on.
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/schemes/located/roots/root_chain.hpp>
#include <perp/schemes/step/step_gate.hpp>

namespace perp {
namespace {

constexpr double straight =
    0.5;  ///< the largest for which no two roots at one time are linked, see RootChain
constexpr double turning = 0x1p-3;    ///< of a matrix within the last step of a run, a short one,
                                      ///< that is about to get singular
constexpr int largest_group = 64;     ///< of unknowns
constexpr int most_links = 500;       ///< of a chain, each at most by a factor 3 of an unknown
constexpr int most_corrections = 10;  ///< of Newton's method from one point of a chain to the next
constexpr double settled =
    0x1p-26;  ///< the last correction, of an unknown or its way: the next is rounding

/// Has a matrix E ≥ 0 a spectral radius below this one? I - E/radius is an M-matrix then: its
/// pivots are positive.
bool is_radius_below(double radius, int n, std::vector<double>& E) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) E[at(i * n + j)] = (i == j ? 1 : 0) - E[at(i * n + j)] / radius;
  for (int k = 0; k < n; ++k) {
    const double pivot = E[at(k * n + k)];
    if (!(pivot > 0)) return false;
    for (int i = k + 1; i < n; ++i) {
      const double factor = E[at(i * n + k)] / pivot;
      for (int j = k; j < n; ++j) E[at(i * n + j)] -= factor * E[at(k * n + j)];
    }
  }
  return true;
}

}  // namespace

void RootChain::look_at(const std::vector<Eigen::Index>& rows,
                        const std::vector<Eigen::Index>& unknowns, Of of) {
  nodes_.clear(), lu_.clear();
  blurred_ = nullptr;
  groups_ = root_groups(flow_, rows, unknowns);
  if (of == Of::several_roots) std::erase_if(groups_, [&](const RootGroup& group) { return has_one_root(flow_, group); });
  std::erase_if(groups_, [](const RootGroup& group) { return group.size() > largest_group; });
  if (groups_.empty()) return;
  matrices_size_ = 0;
  for (RootGroup& group : groups_) {
    group.first = matrices_size_;
    matrices_size_ += at(group.size() * group.size());
  }
  const int largest = std::ranges::max_element(groups_, {}, &RootGroup::size)->size();
  lu_.emplace_back(largest);
  for (std::vector<double>* matrix : {&middle_, &inverse_, &spread_, &work_})
    matrix->resize(at(largest * largest));
  column_.resize(at(largest)), distance_.resize(at(largest));
}

std::vector<char> RootChain::unknowns() const {
  std::vector<char> found(at(flow_.size()), 0);
  for (const RootGroup& group : groups_)
    for (const Eigen::Index k : group.unknowns) found[at(k)] = 1;
  return found;
}

RootChain::Doubt RootChain::doubt() {
  if (blurred_ != nullptr) return {.unknown = blurred_->unknowns.front(), .is_rounding = true};
  Node before{.t = at_.moved_from.t, .ydot = Vector::Zero(flow_.size())},
      now{.t = at_.now.t, .ydot = before.ydot};
  flow_.gather(at_.moved_from.x, at_.moved_from.lambda, before.y);
  flow_.gather(at_.now.x, at_.now.lambda, now.y);
  if (empty() || !linearise(before) || !linearise(now)) return {};
  for (const RootGroup& group : groups_) {
    const double *J = &now.matrices[group.first], *J_before = &before.matrices[group.first];
    if (!invert_middle(group.size(), J, J) || !is_near_middle(group.size(), J_before, turning))
      return {.unknown = group.unknowns.front()};
  }
  return {};
}

/// H_ and the matrices of the groups at a point. False: something is not finite.
bool RootChain::linearise(Node& node) {
  if (!flow_.linearize(node.t, node.ydot, node.y, H_, H_ydot_, H_y_)) return false;
  node.matrices.assign(matrices_size_, 0);
  for (const RootGroup& group : groups_)
    for (const auto& [entry, place] : group.entries)
      node.matrices[group.first + at(place)] = H_y_[entry];
  return true;
}

RootChain::Node RootChain::start(const Radau& radau) {
  Node node{.t = at_.now.t};
  flow_.gather(at_.now.x, at_.now.lambda, node.y);
  radau.interpolate_derivative(0, node.ydot);
  return node;
}

bool RootChain::follow(const Radau& radau) {
  nodes_.clear();
  blurred_ = nullptr;
  if (empty()) return true;
  nodes_.push_back(start(radau));
  lost_ = linearise(nodes_.back()) ? inf : at_.now.t;
  Node stage;
  for (int i = 0; i < radau.stages() && lost_ == inf; ++i) {
    stage.t = at_.now.t + radau.nodes()[i] * radau.h();
    radau.stage(i, stage.y);
    radau.interpolate_derivative(radau.nodes()[i], stage.ydot);
    if (linearise(stage) && is_linked(nodes_.back(), stage, 0))
      nodes_.push_back(stage);
    else if (!go_to(radau, stage.t, nodes_))
      lost_ = nodes_.back().t;
    else if (!linearise(stage) || !is_linked(nodes_.back(), stage, 0))
      return false;
  }
  return true;
}

/// Is the first point of the chain the present state?
bool RootChain::begins_here() {
  if (nodes_.empty() || nodes_.front().t != at_.now.t) return false;
  flow_.gather(at_.now.x, at_.now.lambda, mixed_.y);
  return mixed_.y == nodes_.front().y;
}

/// The last point of the chain that is not behind t.
const RootChain::Node& RootChain::before(double t) const {
  const auto behind = std::ranges::upper_bound(nodes_, t, {}, &Node::t);
  return behind == nodes_.begin() ? nodes_.front() : *std::prev(behind);
}

RootChain::Led RootChain::leads_to(const Radau& radau, double t, const Vector& ydot, const Vector& y,
                                   double share) {
  if (empty()) return Led::there;
  if (!begins_here() && !follow(radau)) return Led::elsewhere;
  Node point{.t = t, .y = y, .ydot = ydot};
  if (t > lost_ || !linearise(point)) return Led::nowhere;
  if (is_linked(before(t), point, share)) return Led::there;
  Chain chain{before(t)};
  if (!go_to(radau, t, chain)) return Led::nowhere;
  return is_linked(chain.back(), point, share) ? Led::there : Led::elsewhere;
}

bool RootChain::put_root(const Radau& radau, double t, Vector& y) {
  if (empty()) return true;
  if (!begins_here() && !follow(radau)) return false;
  Chain chain{before(t)};
  if (t > lost_ || !go_to(radau, t, chain)) return false;
  for (const RootGroup& group : groups_) y(group.unknowns) = chain.back().y(group.unknowns);
  return true;
}

/// Newton's method for the groups at a point. False: it does not converge.
bool RootChain::correct(Node& node, const Node& from) {
  for (int k = 0; k < most_corrections; ++k) {
    if (!linearise(node)) return false;
    bool is_settled = true;
    for (const RootGroup& group : groups_) {
      if (!lu_.front().factorise(&node.matrices[group.first], group.size())) return false;
      for (int r = 0; r < group.size(); ++r) column_[at(r)] = H_[group.rows[at(r)]];
      lu_.front().solve(column_.data());
      for (int c = 0; c < group.size(); ++c) {
        double& y = node.y[group.unknowns[at(c)]];
        y -= column_[at(c)];
        const double size = std::max(std::abs(y), std::abs(y - from.y[group.unknowns[at(c)]]));
        is_settled = is_settled && std::abs(column_[at(c)]) <= settled * size;
      }
    }
    if (!node.y.allFinite()) return false;
    if (is_settled) return true;
  }
  return false;
}

/// The root at t that Newton's method leads to from another point.
bool RootChain::find(const Radau& radau, double t, const Node& from, Node& node) {
  const double s = (t - at_.now.t) / radau.h();
  node.t = t;
  radau.interpolate(s, node.y);
  radau.interpolate_derivative(s, node.ydot);
  for (const RootGroup& group : groups_) node.y(group.unknowns) = from.y(group.unknowns);
  return correct(node, from);
}

/// Goes on with the chain to t by points as far apart as they are linked. False: they would be
/// nearer than times are.
bool RootChain::go_to(const Radau& radau, double t, Chain& chain) {
  double length = t - chain.back().t;
  Node next;
  for (int links = 0; links < most_links; ++links) {
    const double to = length < t - chain.back().t ? chain.back().t + length : t;
    if (find(radau, to, chain.back(), next) && is_linked(chain.back(), next, 0)) {
      chain.push_back(next);
      if (to == t) return true;
      length *= 2;
    } else {
      length /= 2;
      if (!(chain.back().t + length > chain.back().t)) return false;
    }
  }
  return false;
}

bool RootChain::is_linked(const Node& a, const Node& b, double share) {
  mixed_.t = middle_point_.t = b.t;
  mixed_.ydot = middle_point_.ydot = b.ydot;
  mixed_.y = middle_point_.y = b.y;
  for (const RootGroup& group : groups_) {
    mixed_.y(group.unknowns) = a.y(group.unknowns);
    middle_point_.y(group.unknowns) = a.y(group.unknowns) / 2 + b.y(group.unknowns) / 2;
  }
  if (!linearise(middle_point_) || !linearise(mixed_)) return false;
  return std::ranges::all_of(groups_,
                             [&](const RootGroup& group) { return is_linked(group, a, b, share); });
}

/// M⁻¹. False: M is singular.
bool RootChain::invert_middle(int n, const double* J_a, const double* J_b) {
  for (int k = 0; k < n * n; ++k) middle_[at(k)] = J_a[k] / 2 + J_b[k] / 2;
  if (!lu_.front().factorise(middle_.data(), n)) return false;
  for (int j = 0; j < n; ++j) {
    std::fill(column_.begin(), column_.end(), 0);
    column_[at(j)] = 1;
    lu_.front().solve(column_.data());
    for (int i = 0; i < n; ++i) inverse_[at(i * n + j)] = column_[at(i)];
  }
  return true;
}

/// |M⁻¹ (J - M)| of a matrix J, in `spread_`. Is its spectral radius below this one?
bool RootChain::is_near_middle(int n, const double* J, double radius) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k)
        sum += inverse_[at(i * n + k)] * (J[k * n + j] - middle_[at(k * n + j)]);
      spread_[at(i * n + j)] = std::abs(sum);
    }
  std::copy_n(spread_.begin(), n * n, work_.begin());
  return is_radius_below(radius, n, work_);
}

/// What the rounding of the equations makes of each unknown of a group at the point mixed_. False:
/// there is no bound.
bool RootChain::find_rounding(const RootGroup& group, const Node& b) {
  std::vector<RunningError> ydot(at(flow_.size())), y = ydot, rows;
  for (int k = 0; k < flow_.size(); ++k) {
    ydot[at(k)] = RunningError(b.ydot[k]);
    y[at(k)] = RunningError(mixed_.y[k], 2 * half_ulp(mixed_.y[k]));
  }
  if (!flow_.evaluate_bounded(RunningError(b.t, 2 * half_ulp(b.t)), ydot, y, rows)) return false;
  const int n = group.size();
  std::fill(distance_.begin(), distance_.end(), 0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      distance_[at(i)] +=
          most_rounding * std::abs(inverse_[at(i * n + j)]) * rows[at(group.rows[at(j)])].error;
  return true;
}

/// Is what a link misses in each unknown of a group at most distance_?
bool RootChain::is_missed_by_distance(const RootGroup& group) const {
  for (int i = 0; i < group.size(); ++i)
    if (!(missed_[at(i)] <= distance_[at(i)])) return false;
  return true;
}

/// Is the matrix of a group hardly another one than the middle where all its unknowns are less or greater by distance_?
bool RootChain::is_straight_around(const RootGroup& group, const Node& point) {
  for (const int side : {-1, 1}) {
    Node beside = point;
    for (int i = 0; i < group.size(); ++i) beside.y[group.unknowns[at(i)]] += side * distance_[at(i)];
    if (!linearise(beside) || !is_near_middle(group.size(), &beside.matrices[group.first], straight)) return false;
  }
  return true;
}

/// What the method leaves of the unknowns of a group; multipliers have no such size.
void RootChain::use_tolerance(const RootGroup& group) {
  for (int i = 0; i < group.size(); ++i) {
    const Eigen::Index k = group.unknowns[at(i)];
    distance_[at(i)] = k < flow_.n() ? at_.options.tol * at_.scales.x[k] : 0;
  }
}

std::vector<char> RootChain::unresolved() {
  std::vector<char> found(at(flow_.size()), 0);
  if (empty()) return found;
  Node now{.t = at_.now.t, .ydot = Vector::Zero(flow_.size())};
  flow_.gather(at_.now.x, at_.now.lambda, now.y);
  if (!linearise(now)) return unknowns();
  for (const RootGroup& group : groups_) {
    use_tolerance(group);
    const double* J = &now.matrices[group.first];
    if (invert_middle(group.size(), J, J) && is_straight_around(group, now)) continue;
    for (const Eigen::Index k : group.unknowns) found[at(k)] = 1;
  }
  return found;
}

/// Is what a link misses less than what the method leaves of the unknowns, or than the rounding of their equations, and no
/// other root as near?
bool RootChain::is_known_no_better(const RootGroup& group, const Node& b) {
  blurred_ = nullptr;
  const Node point{.t = b.t, .y = mixed_.y, .ydot = b.ydot};
  use_tolerance(group);
  if (is_missed_by_distance(group) && is_straight_around(group, point)) return true;
  if (!find_rounding(group, b) || !is_missed_by_distance(group)) return false;
  if (is_straight_around(group, point)) return true;
  blurred_ = &group;
  return false;
}

/// Of one group; H_ and mixed_ are those at b with the unknowns of a.
bool RootChain::is_linked(const RootGroup& group, const Node& a, const Node& b, double share) {
  const int n = group.size();
  if (!invert_middle(n, &a.matrices[group.first], &b.matrices[group.first])) return false;
  for (const Node* point : std::initializer_list<const Node*>{&mixed_, &middle_point_, &b})
    if (!is_near_middle(n, &point->matrices[group.first], straight)) return false;
  // |Δy| + 2 E |Δy|: the unknowns' units for this link, and Δy + M⁻¹ g(t_b, y_a).
  double way = 0, missed = 0;
  missed_.assign(at(n), 0);
  for (int i = 0; i < n; ++i) {
    const Eigen::Index k = group.unknowns[at(i)];
    double rest = b.y[k] - a.y[k], unit = std::abs(rest);
    for (int j = 0; j < n; ++j) {
      const Eigen::Index other = group.unknowns[at(j)];
      rest += inverse_[at(i * n + j)] * H_[group.rows[at(j)]];
      unit += 2 * spread_[at(i * n + j)] * std::abs(b.y[other] - a.y[other]);
    }
    if (unit > 0) way = std::max(way, std::abs(b.y[k] - a.y[k]) / unit);
    missed_[at(i)] = std::max(std::abs(rest) - share * std::abs(b.y[k]), 0.0);
    if (missed_[at(i)] > 0) missed = std::max(missed, missed_[at(i)] / unit);
  }
  return missed <= straight * way || is_known_no_better(group, b);
}

}  // namespace perp
