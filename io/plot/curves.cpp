#include <algorithm>
#include <cmath>
#include <set>

#include <perp/io/plot/curves.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp::io {
namespace {

constexpr double most_states = 20'000;      // of a run that is drawn as it is
constexpr double discontinuity_factor = 5;  // a step this much longer than its neighbours

/// What an algebraic variable does where the mode changes between states k and k+1.
struct Break {
  bool any = false;
  std::size_t right = 0;  ///< the state that holds the value after the change
};

/// A change is a discontinuity if it is much longer than those of the steps around it. The state at
/// the end of the step of the change may hold a mean of both sides; then the next one counts.
Break find_break(const std::vector<Samples::State>& states, std::size_t k, Eigen::Index j) {
  const auto change = [&](std::size_t from) {
    return from + 1 < states.size() ? std::abs(states[from + 1].x[j] - states[from].x[j]) : 0.0;
  };
  const double before = k > 0 ? change(k - 1) : 0;
  const double rounding = 1e-9 * (std::abs(states[k].x[j]) + std::abs(states[k + 1].x[j]));
  const bool has_mean = k + 2 < states.size() && states[k + 2].mode == states[k + 1].mode &&
                        change(k + 1) > discontinuity_factor * change(k + 2) + rounding;
  if (!has_mean)
    return {change(k) > discontinuity_factor * std::max(before, change(k + 1)) + rounding, k + 1};
  const double whole = std::abs(states[k + 2].x[j] - states[k].x[j]);
  return {whole > discontinuity_factor * std::max(before, change(k + 2)) + rounding, k + 2};
}

/// Walks through the states and inserts what happens between them.
class Builder {
 public:
  Builder(const std::vector<Samples::State>& states, const CurveColumns& columns, const std::vector<ModeSpan>& modes,
          const std::vector<Event>& events)
      : states_(states), columns_(columns), modes_(modes), algebraic_(columns.is_algebraic.begin(), columns.is_algebraic.end()) {
    for (const Event& event : events)
      if (event.x_before.size() > 0 && event.x_after.size() > 0)
        (is_jump(event) ? jumps_ : changes_).push_back(&event);
  }

  Curves operator()() {
    bool after_jump = false;
    pass_start();
    for (std::size_t k = 0; k < states_.size(); ++k) {
      add(states_[k].t, without_means(states_[k].x), states_[k].mode, after_jump);
      after_jump = false;
      if (k + 1 == states_.size()) break;
      while (next_jump_ < jumps_.size() && jumps_[next_jump_]->t < states_[k].t) ++next_jump_;
      if (is_moment(k)) {
        pass_moment(k);
        continue;
      }
      const std::size_t passed = next_jump_;
      after_jump = pass_jumps(k);
      if (next_jump_ == passed && states_[k].mode != states_[k + 1].mode) change_mode(k);
    }
    return std::move(result_);
  }

 private:
  static bool is_jump(const Event& event) {
    return event.kind == EventKind::jump || event.kind == EventKind::inconsistent_start;
  }

  /// A state without the means that are not drawn there.
  Vector without_means(Vector x) {
    for (const Eigen::Index j : means_) x[j] = nan;
    means_.clear();
    return x;
  }

  /// Are these the values of the first state, as far as they are known?
  [[nodiscard]] bool begins_at(const Vector& values) const {
    for (Eigen::Index j = 0; j < values.size(); ++j)
      if (!std::isnan(values[j]) && values[j] != states_.front().x[j]) return false;
    return true;
  }

  /// A run that begins on the constraints has the state behind the way there as its first: no impulse is in what follows.
  void pass_start() {
    if (states_.empty() || jumps_.empty()) return;
    const Event& start = *jumps_.front();
    if (start.kind != EventKind::inconsistent_start || start.t != states_.front().t) return;
    const Vector before = of_variables(start.x_before), after = of_variables(start.x_after);
    if (!begins_at(after)) return;
    for (std::size_t j = 0; j < algebraic_.size(); ++j)
      if (!algebraic_[j]) jumps(j, start.t, before[static_cast<Eigen::Index>(j)], after[static_cast<Eigen::Index>(j)]);
    ++next_jump_;
  }

  /// What the events at t know of the variables on both sides, for the columns that hold differential ones.
  void take_states(double t, Vector& left, Vector& right) const {
    const auto at = std::ranges::lower_bound(changes_, t, {}, &Event::t);
    if (at == changes_.end() || (*at)->t != t) return;
    auto last = at;
    while (std::next(last) != changes_.end() && (*std::next(last))->t == t) ++last;
    const Vector before = of_variables((*at)->x_before), after = of_variables((*last)->x_after);
    for (std::size_t j = 0; j < algebraic_.size(); ++j) {
      const auto index = static_cast<Eigen::Index>(j);
      if (algebraic_[j]) continue;
      left[index] = before[index];
      right[index] = after[index];
    }
  }

  /// The columns of a state x alone: NaN for all but variables.
  [[nodiscard]] Vector of_variables(const Vector& x) const {
    Vector values(static_cast<Eigen::Index>(columns_.variable.size()));
    for (std::size_t j = 0; j < columns_.variable.size(); ++j)
      values[static_cast<Eigen::Index>(j)] = columns_.variable[j] < 0 ? nan : x[columns_.variable[j]];
    return values;
  }

  void add(double t, Vector x, const Mode& mode, bool without_algebraic) {
    for (std::size_t j = 0; j < columns_.is_time.size(); ++j)
      if (columns_.is_time[j] != 0) x[static_cast<Eigen::Index>(j)] = t;
    if (without_algebraic)
      for (std::size_t j = 0; j < algebraic_.size(); ++j)
        if (algebraic_[j]) x[static_cast<Eigen::Index>(j)] = nan;
    result_.rows.push_back({t, std::move(x), mode});
  }

  /// The jumps within a step. Does the state at its end hold the impulse of one?
  bool pass_jumps(std::size_t k) {
    bool has_impulse = false;
    for (; next_jump_ < jumps_.size() && is_within(jumps_[next_jump_]->t, k); ++next_jump_) {
      has_impulse = !columns_.is_reset(*jumps_[next_jump_]);
      jump(*jumps_[next_jump_], k, !has_impulse);
    }
    return has_impulse;
  }

  /// Are states k and k + 1 the two sides of one moment?
  [[nodiscard]] bool is_moment(std::size_t k) const { return k + 1 < states_.size() && states_[k].t == states_[k + 1].t; }

  /// Is a jump at t between states k and k + 1? One at the second of these is where that has two sides.
  [[nodiscard]] bool is_within(double t, std::size_t k) const {
    return t < states_[k + 1].t || (t == states_[k + 1].t && !is_moment(k + 1));
  }

  /// Notes a jump of curve j. False: there is none but for rounding.
  bool jumps(std::size_t j, double t, double from, double to) {
    if (!(std::abs(to - from) > 1e-9 * (std::abs(to) + std::abs(from)))) return false;
    result_.jumps.push_back({static_cast<int>(j), t, from, to});
    return true;
  }

  /// Whatever differs between the two sides of a moment jumps, as its events say.
  void pass_moment(std::size_t k) {
    while (next_jump_ < jumps_.size() && jumps_[next_jump_]->t <= states_[k].t) ++next_jump_;
    Vector gap = states_[k].x;
    bool any = false;
    for (std::size_t j = 0; j < algebraic_.size(); ++j) {
      const auto index = static_cast<Eigen::Index>(j);
      if (!jumps(j, states_[k].t, states_[k].x[index], states_[k + 1].x[index])) continue;
      gap[index] = nan;
      any = true;
    }
    if (any) add(states_[k].t, std::move(gap), states_[k].mode, false);
  }

  /// A jump within a step. After a reset algebraic variables are those of the step's end, which after other jumps holds
  /// the impulse.
  void jump(const Event& event, std::size_t k, bool is_reset) {
    Vector left = of_variables(event.x_before), right = of_variables(event.x_after);
    for (std::size_t j = 0; j < algebraic_.size(); ++j) {
      const auto index = static_cast<Eigen::Index>(j);
      if (algebraic_[j]) {
        left[index] = states_[k].x[index];
        right[index] = is_reset ? states_[k + 1].x[index] : nan;
      }
      jumps(j, event.t, left[index], right[index]);
    }
    add(event.t, left, states_[k].mode, false);
    add(event.t, Vector::Constant(left.size(), nan), states_[k].mode, false);
    add(event.t, std::move(right), states_[k + 1].mode, false);
  }

  void change_mode(std::size_t k) {
    const double t = time_of_change(k);
    const double share = (t - states_[k].t) / (states_[k + 1].t - states_[k].t);
    Vector left = (1 - share) * states_[k].x + share * states_[k + 1].x;
    Vector right = left;
    take_states(t, left, right);
    Vector gap = left;
    bool any = false;
    for (std::size_t j = 0; j < algebraic_.size(); ++j) {
      const auto index = static_cast<Eigen::Index>(j);
      if (!algebraic_[j]) continue;
      const Break found = find_break(states_, k, index);
      if (!found.any) continue;
      left[index] = states_[k].x[index];
      right[index] = states_[found.right].x[index];
      if (found.right > k + 1) means_.push_back(index);
      gap[index] = nan;
      result_.jumps.push_back({static_cast<int>(j), t, left[index], right[index]});
      any = true;
    }
    add(t, left, states_[k].mode, false);
    if (any) add(t, gap, states_[k].mode, false);
    add(t, right, states_[k + 1].mode, false);
  }

  double time_of_change(std::size_t k) {
    while (next_mode_ < modes_.size() && modes_[next_mode_].found_at < states_[k + 1].t)
      ++next_mode_;
    if (next_mode_ == modes_.size()) return states_[k + 1].t;
    return std::clamp(modes_[next_mode_].start, states_[k].t, states_[k + 1].t);
  }

  const std::vector<Samples::State>& states_;
  const CurveColumns& columns_;
  const std::vector<ModeSpan>& modes_;
  std::vector<bool> algebraic_;
  std::vector<const Event*> jumps_, changes_;
  std::vector<Eigen::Index> means_;  // not drawn at the next state
  std::size_t next_jump_ = 0, next_mode_ = 0;
  Curves result_;
};

}  // namespace

Samples::Samples(const Model& model, std::vector<int> drawn, Span window, double expected_steps)
    : values_(model, std::move(drawn)),
      window_(window),
      share_(1),
      is_window_(window.start > model.run.span.start || window.end < model.run.span.end) {
  if (expected_steps <= most_states) return;
  const double shares =
      std::clamp(most_states / static_cast<double>(values_.size() + 1), 500.0, 10'000.0);
  share_ = static_cast<std::size_t>(std::ceil(expected_steps / shares));
}

void Samples::add(const Step& step) {
  if (is_closed_) return;
  const bool has_last = last_.x.size() > 0;
  for (const double end : {window_.start, window_.end})
    if (has_last && last_.t < end && step.t > end) keep(at_end(step, end));
  is_closed_ = step.t > window_.end;
  if (is_closed_) return;
  if (step.t >= window_.start) keep({step.t, values_(step), step.mode});
  if (is_window_) last_ = step;
}

void Samples::keep(State state) {
  if (!pending_.empty() && pending_.back().mode != state.mode) reduce();
  pending_.push_back(std::move(state));
  if (pending_.size() >= share_) reduce();
}

/// On the line from the last state to the next one.
Samples::State Samples::at_end(const Step& next, double t) {
  const double share = (t - last_.t) / (next.t - last_.t);
  return {t, (1 - share) * values_(last_) + share * values_(next), next.mode};
}

void Samples::transfer(Archive& archive) { archive(share_, pending_, kept_, is_closed_, last_); }

const std::vector<Samples::State>& Samples::finish() {
  reduce();
  return kept_;
}

void Samples::reduce() {
  if (pending_.empty()) return;
  // The first and last two stay: whether a change is a jump is judged by its neighbours.
  const std::size_t last = pending_.size() - 1;
  std::set<std::size_t> chosen{0, std::min<std::size_t>(1, last), last > 0 ? last - 1 : 0, last};
  if (share_ > 1)
    for (Eigen::Index j = 0; j < static_cast<Eigen::Index>(values_.size()); ++j) {
      const auto less = [j](const State& a, const State& b) { return a.x[j] < b.x[j]; };
      const auto [low, high] = std::minmax_element(pending_.begin(), pending_.end(), less);
      chosen.insert(static_cast<std::size_t>(low - pending_.begin()));
      chosen.insert(static_cast<std::size_t>(high - pending_.begin()));
    }
  for (const std::size_t k : chosen) kept_.push_back(std::move(pending_[k]));
  pending_.clear();
}

Curves curves(const std::vector<Samples::State>& states, const CurveColumns& columns, const std::vector<ModeSpan>& modes,
              const std::vector<Event>& events) {
  return Builder(states, columns, modes, events)();
}

Curves curves(const std::vector<Samples::State>& states, const std::vector<DrawnColumn>& drawn,
              const ColumnValues& values, const std::vector<ModeSpan>& modes, const std::vector<Event>& events) {
  CurveColumns columns{.variable = values.variables(), .is_reset = [&values](const Event& event) { return values.is_reset(event); }};
  for (const DrawnColumn& column : drawn) columns.is_algebraic.push_back(column.is_algebraic ? 1 : 0);
  return curves(states, columns, modes, events);
}

}  // namespace perp::io
