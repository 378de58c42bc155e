// Rows and tubes while members pass an event, each at its own time; called by the pieces of
// enclosures.
#include <algorithm>
#include <utility>

#include <perp/analysis/enclosure/pieces/piece.hpp>

namespace perp::enclosure {
namespace {

/// At a time within a window that was prepared at t.
TaylorStep::Image image_at(TaylorStep& window, const Doubleton& set, double t, double time) {
  const Interval tau = Interval(time) - Interval(t);
  TaylorStep::Image image{window.centre_at(tau), window.flow_jacobian(tau), window.box_at(tau)};
  window.complete(Interval(time), image.F, image.J, image.states);
  image.states = common(image.states, set.image_box(image.F, image.J));
  return image;
}

/// The part of x that is at least `end` (`way` > 0), or at most; x where there is none.
Interval with_end(const Interval& x, const Interval& end, int way) {
  if (way == 0 || !end.is_bounded()) return x;
  const double lo = way > 0 ? std::max(x.lo, end.lo) : x.lo;
  const double hi = way > 0 ? x.hi : std::min(x.hi, end.hi);
  return lo <= hi ? Interval(lo, hi) : x;
}

/// The part of a box in which Σ_k a_k r_k ≥ least may be,
///     a_k r_k ≥ least − Σ_{l ≠ k} a_l r_l.   False: there is none.
bool cut(const Box& a, double least, Box& r) {
  for (std::size_t k = 0; k < r.size(); ++k) {
    const int way = certain_sign(a[k]);
    if (way == 0) continue;
    Interval others;
    for (std::size_t l = 0; l < r.size(); ++l)
      if (l != k) others += a[l] * r[l];
    const Interval end = (Interval(least) - Interval(others.hi)) / a[k];
    if (!end.is_bounded()) continue;
    const Interval rest = way > 0 ? Interval(std::max(r[k].lo, end.lo), r[k].hi)
                                  : Interval(r[k].lo, std::min(r[k].hi, end.hi));
    if (!(rest.lo <= rest.hi)) return false;
    r[k] = rest;
  }
  return true;
}

/// Where members x̂ + d, d = C r_0 + Q r, may be at F + J d with m(c) + g (F − c) + g J d ≥ 0.
Box part_of_image(const Doubleton& set, const TaylorStep::Image& image, const Interval& m,
                  const Box& g, const Box& c, const Box& states) {
  const Doubleton::Parts parts = set.parts();
  const int n = set.states();
  IntervalMatrix JC = image.J * IntervalMatrix(parts.C), JQ = image.J * IntervalMatrix(parts.Q);
  Box a(static_cast<std::size_t>(2 * n)), r = parts.r0, part = states;
  r.insert(r.end(), parts.r.begin(), parts.r.end());
  Interval most = m;
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    most += g[at] * (image.F[at] - c[at]);
    for (int j = 0; j < n; ++j) {
      a[static_cast<std::size_t>(j)] += g[at] * JC(i, j);
      a[static_cast<std::size_t>(n + j)] += g[at] * JQ(i, j);
    }
  }
  if (!cut(a, -most.hi, r)) return part;
  const auto half = r.begin() + n;
  const Box moved = image.F + JC * Box(r.begin(), half) + JQ * Box(half, r.end());
  for (std::size_t i = 0; i < part.size(); ++i)
    part[i] = intersection(part[i], moved[i]).value_or(part[i]);
  return part;
}

/// m + Σ_{j ≠ i} g_j (x_j − c_j)
Interval value_without(std::size_t i, Interval m, const Box& g, const Box& x, const Box& c) {
  for (std::size_t j = 0; j < x.size(); ++j)
    if (j != i) m += g[j] * (x[j] - c[j]);
  return m;
}

}  // namespace

/// The tube of the step in this mode to `end`. False: a variable has no value.
bool Piece::add_tube(Branch& branch, ModeFlow& flow, double end, bool may_switch) {
  const double from = std::max(branch.t, branch.tube_from);
  if (!task_.options.tube || !(end > from)) return true;
  EnclosureRow row;
  if (!make_row(flow, Interval(from, end), flow.step.between(from, end), row)) return false;
  const TubeRow piece{from, end, branch.number, branch.flag, row.box};
  (may_switch ? branch.waiting_tube : result_.enclosure.tube).push_back(piece);
  branch.tube_from = end;
  return true;
}

/// Members in a mode are where its gap m is not negative. With c in the middle and g = ∇m over all
/// of them,
///     m(c) + g (F − c) + g J (x − x̂) ≥ 0,   and of one state
///     g_i (x_i − c_i) = m − S,   S = m(c) + Σ_{j ≠ i} g_j (x_j − c_j),   that is ≥ −S.
Box Piece::on_side(ModeFlow& flow, const Monitor& monitor, const Interval& t, const Doubleton& set,
                   const TaylorStep::Image& image, const Box& states) {
  const Box c = points(middle(image.F.empty() ? states : image.F));
  const Interval side(monitor.side);
  if (!flow.expand(t, c, 1, false)) return states;
  const Interval m = side * flow.jet().output(monitor.gap, 0);
  Box g, box = states;
  if (!flow.expand(t, hull(states, c), 1, true)) return states;
  for (int i = 0; i < static_cast<int>(box.size()); ++i)
    g.push_back(side * flow.jet().output_derivative(monitor.gap, i, 0));
  if (!image.F.empty()) box = part_of_image(set, image, m, g, c, states);
  for (std::size_t i = 0; i < box.size(); ++i) {
    const Interval S = value_without(i, m, g, box, c);
    box[i] = with_end(box[i], c[i] - S / g[i], certain_sign(g[i]));
  }
  return box;
}

/// By all gaps that have been 0 lately.
Box Piece::on_all_sides(const Branch& branch, ModeFlow& to, double t,
                        const TaylorStep::Image& image) {
  Box part = image.states;
  for (const Monitor& monitor : branch.monitors)
    if (monitor.trend != Trend::positive)
      part = on_side(to, monitor, Interval(t), branch.set, image, part);
  return part;
}

/// Of members that have had their event, at waiting rows: from the surface, each since its own
/// time, and from the common time, where the whole set is known.
std::map<double, TaylorStep::Image> Piece::late_states(const Branch& branch, ModeFlow& to,
                                                       const Interval& time) {
  std::map<double, TaylorStep::Image> states;
  const Interval t(branch.t);
  double radius = 0;
  for (const EnclosureRow& row : branch.waiting) {
    if (row.t < time.lo) continue;
    states[row.t].states = to.window.box_at(Interval(row.t) - time);
    radius = std::max(radius, magnitude(Interval(row.t) - t));
  }
  const Box center = points(branch.set.center());
  const bool is_known =
      radius > 0 && to.window.prepare_window(t, branch.set.box(), t, center, radius);
  for (auto& [row, late] : states) {
    if (row != branch.t && !is_known) continue;
    TaylorStep::Image image = row == branch.t ? TaylorStep::image_of(branch.set)
                                              : image_at(to.window, branch.set, branch.t, row);
    image.states = common(late.states, image.states);
    late = std::move(image);
  }
  return states;
}

/// Of members that have not had their event, at rows and times behind the common one: while the
/// window is still that of the old mode, which a reset may enter again.
bool Piece::note_early_states(Branch& branch, ModeFlow& from, const Monitor& reached,
                              const Interval& time) {
  for (; branch.row < task_.times.size() && task_.times[branch.row] <= time.hi; ++branch.row) {
    EnclosureRow row;
    row.branch = branch.number;
    row.flag = branch.flag;
    row.how = branch.how;
    const double t = task_.times[branch.row];
    const TaylorStep::Image image = image_at(from.window, branch.set, branch.t, t);
    const Box part = on_side(from, reached, Interval(t), branch.set, image, image.states);
    if (!make_row(from, Interval(t), branch.set, image, row, &part)) return false;
    branch.waiting.push_back(row);
  }
  if (task_.options.tube && time.hi > branch.tube_from) {
    EnclosureRow row;
    const Interval times(branch.tube_from, time.hi);
    if (!make_row(from, times, from.window.box_at(times - Interval(branch.t)), row)) return false;
    branch.waiting_tube.push_back({branch.tube_from, time.hi, branch.number, branch.flag, row.box});
    branch.tube_from = time.hi;
  }
  return true;
}

/// At times at which some members have had their event and others have not, a row holds both; at
/// times at which all have, up to the common time, what the old mode would be is left out.
bool Piece::join_rows(Branch& branch, ModeFlow& to, const Interval& time) {
  std::map<double, TaylorStep::Image> late = late_states(branch, to, time);
  for (EnclosureRow& row : branch.waiting) {
    row.branch = branch.number;
    if (row.t < time.lo) continue;
    EnclosureRow later{.branch = branch.number, .flag = branch.flag, .how = row.how};
    const TaylorStep::Image& image = late[row.t];
    const bool is_part = row.t <= time.hi;
    const Box part = is_part ? on_all_sides(branch, to, row.t, image) : Box();
    if (!make_row(to, Interval(row.t), branch.set, image, later, is_part ? &part : nullptr))
      return false;
    if (row.t > time.hi) {
      row = later;
      continue;
    }
    row.box = hull(row.box, later.box);
    row.multipliers = hull(row.multipliers, later.multipliers);
    row.modes.push_back(to.system.mode);
    row.flag = branch.flag;
  }
  return true;
}

/// The same of boxes that hold for intervals of time.
bool Piece::join_tube(Branch& branch, ModeFlow& to, const Interval& time) {
  if (!task_.options.tube) return true;
  const Interval since(time.lo, std::max(time.hi, branch.tube_from));
  EnclosureRow later;
  if (!make_row(to, since, to.window.box_at(since - time), later)) return false;
  for (TubeRow& row : branch.waiting_tube) {
    row.branch = branch.number;
    if (row.to >= time.lo) row.box = hull(row.box, later.box);
  }
  return true;
}

}  // namespace perp::enclosure
