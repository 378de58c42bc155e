// Steps while branches of laws are not known; called by the pieces of enclosures.
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/analysis/enclosure/inclusion/deviation.hpp>
#include <perp/analysis/enclosure/inclusion/inclusion.hpp>

namespace perp::enclosure {
namespace {

constexpr int trials = 80;      ///< lengths of a step
constexpr int inflations = 12;  ///< of a tube
constexpr int refinements = 3;  ///< of E
constexpr double growth = 1.25;
constexpr const char* no_step = "no step could be proved while the next mode is open";
constexpr double patience = 0x1p-6;  ///< of a length, before a law is opened instead

const Law& law_of(const OpenFlows* flows, int law) {
  return flows->flows().system().laws[static_cast<std::size_t>(law)];
}

/// A little wider than x on both sides.
Interval inflated(const Interval& x) {
  const Interval more = symmetric(width(x) / 64 + 0x1p-50 * magnitude(x) + 0x1p-1000);
  return x + more;
}

Box inflated(Box box) {
  for (Interval& x : box) x = inflated(x);
  return box;
}

bool have_values(const Box& box) {
  return std::ranges::all_of(box, [](const Interval& x) { return x.has_value(); });
}

/// Does the w of open law number a hold the λ of one of them?
bool holds_any(const OpenFlow& flow, int a, int laws) {
  for (int b = 0; b < laws; ++b)
    if (flow.holds(a, b)) return true;
  return false;
}

/// Columns first, first + 1, .. of (∂f/∂x, ∂f/∂v).
IntervalMatrix slopes_of(const OpenFlow& flow, int states, int first, int columns) {
  IntervalMatrix slopes(states, columns);
  for (int i = 0; i < states; ++i)
    for (int j = 0; j < columns; ++j) slopes(i, j) = flow.slope(i, first + j);
  return slopes;
}

const char* reset_reason(bool is_disturbed) {
  return is_disturbed ? "a reset may happen under a disturbance"
                      : "a reset may happen while the next mode is open";
}

/// The branch on which all members are, not at its end; none: they may be on several.
std::optional<int> known_branch(const Law& law, const OpenLaw& open) {
  const auto at = [&](int k) -> const Branch& { return law.branches[static_cast<std::size_t>(k)]; };
  const LawGraph graph = graph_over(law, open.w);
  if (graph.branches.size() == 1) {
    const Branch& branch = at(graph.branches.front());
    const bool is_inner = branch.w.lower < open.w.lo && open.w.hi < branch.w.upper;
    return branch.b != 0 && is_inner ? std::optional(graph.branches.front()) : std::nullopt;
  }
  if (!open.pressed || !open.w.is_point()) return std::nullopt;
  const Branch& vertical = at(*open.pressed);
  return open.w == Interval(vertical.c) / Interval(vertical.a) ? open.pressed : std::nullopt;
}

/// The end of a branch that is next to w, where there is one.
std::optional<double> nearest_corner(const Law& law, const Interval& w) {
  std::optional<double> best;
  const auto distance = [&w](double corner) {
    return std::max({w.lo - corner, corner - w.hi, 0.0});
  };
  const auto consider = [&](double corner) {
    if (std::isfinite(corner) && (!best || distance(corner) < distance(*best))) best = corner;
  };
  for (const Branch& branch : law.branches) {
    if (branch.b == 0) {
      consider(branch.c / branch.a);
    } else {
      consider(branch.w.lower);
      consider(branch.w.upper);
    }
  }
  return best;
}

}  // namespace

Inclusion::Inclusion(OpenFlows& flows, double t, const Doubleton& set, const Mode& mode,
                     double grid, double length)
    : flows_(&flows), t_(t), grid_(grid), length_(length), set_(set), mode_(mode) {}

Box Inclusion::lambda_now() const {
  Box lambda;
  for (const OpenLaw& open : laws_)
    lambda.push_back(graph_over(law_of(flows_, open.law), open.w).lambda);
  add_disturbances(lambda);
  return lambda;
}

void Inclusion::add_disturbances(Box& given) const {
  const StateSpace& space = flows_->flows().space();
  for (const int k : space.disturbances) given.push_back(space.values[static_cast<std::size_t>(k)]);
}

OpenFlow* Inclusion::flow() { return flows_->get(mode_, references(), Interval(t_), set_.box()); }

/// w of the law that was added, and of those that hold the λ of others: from the inner ones to the
/// outer ones, which is as many rounds as there are laws at most.
bool Inclusion::find_arguments(OpenFlow& flow, int added) {
  const int count = static_cast<int>(laws_.size());
  for (int round = 0; round < (flow.is_nested() ? count : 1); ++round) {
    Box lambda = lambda_now();
    std::ranges::replace_if(lambda, [](const Interval& x) { return !x.has_value(); }, Interval(0));
    if (!flow.expand(Interval(t_), set_.box(), lambda, 1, false)) return false;
    for (int a = 0; a < count; ++a)
      if (a == added || holds_any(flow, a, count))
        laws_[static_cast<std::size_t>(a)].w = flow.argument(a);
  }
  return true;
}

bool Inclusion::open(int law) {
  if (!is_settled()) {
    reason_ = "another branch may end while members come into a mode";
    return false;
  }
  OpenLaw added{.law = law, .since = t_};
  added.met.insert(mode_[static_cast<std::size_t>(law)]);
  const auto place =
      std::find_if(laws_.begin(), laws_.end(), [law](const OpenLaw& o) { return o.law > law; });
  const auto at = static_cast<int>(place - laws_.begin());
  laws_.insert(place, added);
  OpenLaw& here = laws_[static_cast<std::size_t>(at)];
  OpenFlow* equations = flow();
  if (equations == nullptr || !find_arguments(*equations, at)) {
    reason_ = equations != nullptr ? "its equations have no value everywhere in the set"
                                   : "the equations of an open law are not solved";
    return false;
  }
  here.first = here.w;
  const Law& data = law_of(flows_, law);
  const auto corner = nearest_corner(data, here.w);
  const Interval reference =
      graph_over(data, corner ? hull(here.w, Interval(*corner)) : here.w).lambda;
  if (!reference.has_value()) {
    reason_ = "an open law allows multipliers without bounds";
    return false;
  }
  here.reference = middle(reference);
  return true;
}

/// A part of the time in which w comes to the nearest corner and past it; all that is left where no
/// law is open.
double Inclusion::first_length(OpenFlow& flow, double end) {
  if (laws_.empty()) return end - t_;
  double length = directed::infinity;
  if (!flow.expand(Interval(t_), set_.box(), lambda_now(), 2, false)) return 4 * grid_;
  for (std::size_t a = 0; a < laws_.size(); ++a) {
    const OpenLaw& open = laws_[a];
    const auto corner = nearest_corner(law_of(flows_, open.law), open.w);
    const Interval way = corner ? hull(open.w, Interval(*corner)) : open.w;
    const double speed = magnitude(flow.argument_rate(static_cast<int>(a)));
    if (speed > 0) length = std::min(length, width(way) / (8 * speed));
  }
  return std::isfinite(length) ? std::max(length, 4 * grid_) : 4 * grid_;
}

Inclusion::Step Inclusion::step(double end) {
  closed_.clear();
  OpenFlow* equations = flow();
  if (equations == nullptr) {
    reason_ = "the equations of an open law are not solved";
    return Step::failed;
  }
  if (!(length_ > 0)) length_ = first_length(*equations, end);
  const double wanted = length_;
  for (double length = wanted; length >= grid_; length /= 2) {
    to_ = length < end - t_ ? t_ + grid_ * std::floor(length / grid_) : end;
    const Proof proof = prove(*equations, to_);
    if (proof == Proof::made) {
      move(*equations);
      length_ = growth * (length < wanted ? length : wanted);
      return Step::made;
    }
    if (proof == Proof::needs_law && length <= std::max(patience * wanted, 2 * grid_))
      return Step::blocked;
  }
  return Step::failed;
}

/// K = X + [0, h] f(Z, Λ) of the tube that was expanded; inside: it is in Z.
Box Inclusion::picard_image(const OpenFlow& flow, const Interval& times, const Box& Z,
                            bool& inside) const {
  const Box& start = set_.box();
  Box K(start.size());
  for (std::size_t i = 0; i < K.size(); ++i) {
    K[i] = start[i] + times * flow.rate(static_cast<int>(i));
    inside = inside && is_inside(K[i], Z[i]);
  }
  return K;
}

/// What the laws allow over w(Z), with Λ; inside: no more than Λ. None: one of them has no bounds.
std::optional<Box> Inclusion::widened(const OpenFlow& flow, const Box& Lambda, bool& inside) {
  Box wider = Lambda;
  for (std::size_t a = 0; a < laws_.size(); ++a) {
    laws_[a].graph = graph_over(law_of(flows_, laws_[a].law), flow.argument(static_cast<int>(a)));
    const Interval lambda = allowed(laws_[a]);
    if (!lambda.has_value()) return std::nullopt;
    inside = inside && Lambda[a].contains(lambda);
    wider[a] = hull(Lambda[a], lambda);
  }
  return wider;
}

Box Inclusion::lambda_of_tube() const {
  Box lambda;
  for (const OpenLaw& open : laws_) lambda.push_back(allowed(open));
  add_disturbances(lambda);
  return lambda;
}

/// Z ⊃ X + [0, h] f(Z, Λ), Λ ⊃ what the laws allow over w(Z): solutions stay in the right side.
bool Inclusion::find_tube(OpenFlow& flow, const Interval& times) {
  const Interval all = Interval(t_) + times;
  Box Z = set_.box(), Lambda = lambda_now();
  for (int trial = 0; trial < inflations; ++trial) {
    Z = inflated(std::move(Z));
    if (!have_values(Lambda) || !is_bounded(Z)) return false;
    if (!flow.expand(all, Z, Lambda, 2, false)) return false;
    bool inside = true;
    const Box K = picard_image(flow, times, Z, inside);
    const std::optional<Box> wider = widened(flow, Lambda, inside);
    if (!wider) return false;
    if (inside) {
      tube_ = K;
      lambda_ = lambda_of_tube();
      return true;
    }
    Z = hull(set_.box(), K);
    Lambda = *wider;
  }
  return false;
}

/// The law whose branch may end in the tube; −1: none, −2: a reset may happen, −3: a gap that was 0
/// may not rise.
int Inclusion::ending_law(OpenFlow& flow) {
  const auto is_function = [](const OpenLaw& open) { return open.graph.is_function; };
  if (flow.swinging_law() >= 0 && !std::ranges::all_of(laws_, is_function)) return flow.swinging_law();
  for (int k = 0; k < static_cast<int>(flow.system.gaps.size()); ++k) {
    const Gap& gap = flow.system.gaps[static_cast<std::size_t>(k)];
    const int sign = certain_sign(flow.gap(k));
    if (sign <= 0 && is_rising(gap)) {
      if (certain_sign(flow.gap_rate(k)) <= 0) return -3;
      continue;
    }
    if (gap.reset >= 0 ? sign == 0 : sign <= 0) return gap.reset >= 0 ? -2 : gap.law;
  }
  return -1;
}

void Inclusion::note_reached(const OpenFlow& flow) {
  for (std::size_t a = 0; a < laws_.size(); ++a)
    laws_[a].reached = flow.argument(static_cast<int>(a));
}

Inclusion::Proof Inclusion::prove(OpenFlow& flow, double to) {
  lambda_.clear();
  reason_ = no_step;
  const Interval times = hull(Interval(0), Interval(to) - Interval(t_));
  if (!find_tube(flow, times)) return Proof::too_long;
  if (!flow.expand(Interval(t_) + times, tube_, lambda_, 2, false)) return Proof::too_long;
  needed_ = ending_law(flow);
  if (needed_ == -2) reason_ = reset_reason(laws_.empty());
  if (needed_ != -1) return needed_ >= 0 ? Proof::needs_law : Proof::too_long;
  note_reached(flow);
  note_rates(flow);
  if (!flow.centre.prepare(set_, t_, to, grid_)) return Proof::too_long;
  to_ = flow.centre.end();
  times_ = hull(Interval(0), Interval(to_) - Interval(t_));
  narrow_tube(flow);
  return find_deviation(flow) ? Proof::made : Proof::too_long;
}

/// e(h) of the class comment.
bool Inclusion::find_deviation(OpenFlow& flow) {
  const int n = set_.states(), m = static_cast<int>(lambda_.size());
  const Interval all = Interval(t_) + times_, h = Interval(to_) - Interval(t_);
  const Box reference = flow.centre.between(t_, to_);
  Box E(static_cast<std::size_t>(n)), both = tube_, given = lambda_, D(E);
  if (!flow.expand(all, reference, flow.reference, 1, false)) return false;
  for (std::size_t i = 0; i < E.size(); ++i) {
    E[i] = times_ * (rates_[i] - flow.rate(static_cast<int>(i)));
    both[i] = hull(both[i], reference[i]);
  }
  for (std::size_t a = 0; a < given.size(); ++a) given[a] = hull(given[a], flow.reference[a]);
  if (!flow.expand(all, both, given, 1, true)) return false;
  const IntervalMatrix A = slopes_of(flow, n, 0, n), B = slopes_of(flow, n, n, m);
  note_acting(flow, A, B);
  const Box v = lambda_ - flow.reference, gained = B * v;
  for (int round = 0; round < refinements; ++round) {
    D = gained + A * E;
    for (std::size_t i = 0; i < E.size(); ++i) E[i] = common({E[i]}, {times_ * D[i]})[0];
  }
  // of members that come in within the step only for a part of it
  added_ = is_settled() ? deviation(A, B, v, D, h) : E;
  return is_bounded(added_);
}

/// To the end of the step. A state that is bounded by w much closer than by its row is a row of its
/// own from there on.
void Inclusion::move(OpenFlow& flow) {
  const Interval h = Interval(to_) - Interval(t_);
  judge_step(flow);
  Box change, within = tube_;
  for (std::size_t i = 0; i < within.size(); ++i) {
    change.push_back(h * rates_[i]);
    within[i] = common({within[i]}, {set_.box()[i] + change[i]})[0];
  }
  bound_arguments(flow);
  flow.centre.move(set_, to_, added_, change, within);
  for (int i = 0; i < set_.states(); ++i) set_.note_acting(i, acting_[static_cast<std::size_t>(i)]);
  Box box = set_.box();
  for (std::size_t a = 0; a < laws_.size(); ++a) contract(flow, Interval(to_), a, laws_[a].w, box);
  const Box rows =
      set_.image_box(points(set_.center()),
                     IntervalMatrix(Matrix(Matrix::Identity(set_.states(), set_.states()))));
  std::vector<bool> closer;
  for (std::size_t i = 0; i < box.size(); ++i) closer.push_back(2 * width(box[i]) < width(rows[i]));
  set_.bound(closer, box);
  span_ = Interval(t_, to_);
  t_ = to_;
  if (t_ >= settled_) settle(flow);
}

void Inclusion::close() {
  for (auto open = laws_.begin(); open != laws_.end();) {
    const std::optional<int> known = known_branch(law_of(flows_, open->law), *open);
    if (!known) {
      ++open;
      continue;
    }
    mode_[static_cast<std::size_t>(open->law)] = *known;
    closed_.push_back(*open);
    open = laws_.erase(open);
  }
}

std::vector<Mode> Inclusion::modes() const {
  constexpr std::size_t most = 64;
  std::vector<Mode> list{mode_};
  for (const OpenLaw& open : laws_) {
    std::vector<Mode> longer;
    for (const Mode& mode : list)
      for (const int branch : graph_over(law_of(flows_, open.law), open.w).branches) {
        longer.push_back(mode);
        longer.back()[static_cast<std::size_t>(open.law)] = branch;
      }
    if (longer.size() > most) return {};
    list = std::move(longer);
  }
  return list;
}

bool Inclusion::observe(Box& values) {
  OpenFlow* equations = flow();
  return equations != nullptr && equations->observe(Interval(t_), set_.box(), lambda_now(), values);
}

bool Inclusion::observe_tube(Box& values) {
  OpenFlow* equations = flow();
  return equations != nullptr && equations->observe(span_, tube_, lambda_, values);
}

}  // namespace perp::enclosure
