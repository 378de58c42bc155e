#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <perp/core/branches.hpp>
#include <perp/tests/relations/compare.hpp>

namespace perp::relations {
namespace {

constexpr int samples = 16;

std::string word(const Event& event) {
  return fmt::format("{} of law {} at t = {:.12g}", to_string(event.kind), event.law, event.t);
}

/// Is (w, λ) on the branch, as far as quantities of these sizes tell?
bool is_on(const Branch& branch, double w, double lambda, double size_w, double size_lambda) {
  const double near_w = 1e-9 * size_w, near_lambda = 1e-9 * size_lambda;
  return w >= branch.w.lower - near_w && w <= branch.w.upper + near_w &&
         lambda >= branch.lambda.lower - near_lambda &&
         lambda <= branch.lambda.upper + near_lambda &&
         std::abs(branch.a * w + branch.b * lambda - branch.c) <=
             std::abs(branch.a) * near_w + std::abs(branch.b) * near_lambda;
}

/// The laws that an event leaves where two of their branches meet: rounding tells which of these is
/// named from then on. Where steps had multipliers that the equations leave open, as those of laws that
/// slide on one surface, also the laws that an event leaves on a branch with w fixed: only sums of their
/// multipliers have values, and which of them are at an end of their range has no answer.
std::vector<int> laws_at_corners(const Outcome& outcome) {
  const Trajectory& run = outcome.run;
  const bool has_open_multipliers = run.counts.contains("undetermined_multipliers");
  std::vector<int> laws;
  for (const Event& event : run.events) {
    if (event.law < 0 || event.kind == EventKind::jump) continue;
    double size_w = 0, size_lambda = 0;
    for (std::size_t k = 0; k < run.size(); ++k) {
      size_w = std::max(size_w, std::abs(run.w[k][event.law]));
      size_lambda = std::max(size_lambda, std::abs(run.lambda[k][event.law]));
    }
    std::size_t row = 0;  // after the event
    while (row + 1 < run.size() && run.t[row] <= std::max(event.t, event.t_after)) ++row;
    const auto& branches = outcome.laws[static_cast<std::size_t>(event.law)].branches;
    const auto near = [&](const Branch& branch) {
      return is_on(branch, run.w[row][event.law], run.lambda[row][event.law], size_w, size_lambda);
    };
    const bool is_redundant =
        has_open_multipliers &&
        std::any_of(branches.begin(), branches.end(),
                    [&](const Branch& branch) { return is_vertical(branch) && near(branch); });
    if (is_redundant || std::count_if(branches.begin(), branches.end(), near) > 1)
      laws.push_back(event.law);
  }
  return laws;
}

}  // namespace

bool is_shared(const Law& law) {
  int depth = 0;
  for (const char c : law.name) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) return true;  // between forms, not between the arguments of one
  }
  return false;
}

namespace {

/// Events of both runs, paired within the tolerance of moments; laws up to a renaming.
class Pairing {
 public:
  Pairing(const Correspondence& by, double near) : by_(by), near_(near) {}

  std::string difference(const Outcome& here, const Outcome& there) {
    here_ = &here.run.events;
    laws_ = &here.laws;
    const std::vector<Event>& list = there.run.events;
    std::vector<bool> used(list.size(), false);
    const std::vector<int> open = laws_at_corners(here), open_there = laws_at_corners(there);
    const auto is_open = [](const std::vector<int>& laws, const Event& event) {
      return event.kind != EventKind::jump &&
             std::find(laws.begin(), laws.end(), event.law) != laws.end();
    };
    // Open events take what others leave: an event at a corner may be open on one side alone.
    for (const bool among_open : {false, true})
      for (const Event& event : here.run.events) {
        if (is_open(open, event) != among_open || is_start_of_one_side(event, here)) continue;
        std::optional<std::size_t> found = partner(event, list, used);
        if (!found) found = any_change_at(event, list, used, [&](const Event& other) { return among_open || is_open(open_there, other); });
        if (found) used[*found] = true;
        if (!found && !among_open && !accumulates(event, here.run.events) &&
            !is_part(event, event.t, list, true))
          return "no event there like " + word(event);
      }
    for (std::size_t k = 0; k < list.size() && by_.all_events; ++k)
      if (!used[k] && !accumulates(list[k], list) && !is_open(open_there, list[k]) && !is_start_of_one_side(list[k], there) &&
          !is_part(list[k], moment_here(list[k]), here.run.events, false))
        return "a further event there: " + word(list[k]);
    return {};
  }

 private:
  /// A start of binaries that one of the statements does not tell by an event.
  [[nodiscard]] bool is_start_of_one_side(const Event& event, const Outcome& side) const {
    return !by_.same_start_events && event.law < 0 && event.kind == EventKind::mode_change && event.t == side.span.start;
  }
  [[nodiscard]] double moment_here(const Event& other) const {
    return by_.time_factor * other.t + by_.time_shift;
  }
  /// A law may be several in other words: one change over two kinks, as by a reset, is then a change of
  /// each at that moment. Does the other side, there or here, have a change of a law at t?
  [[nodiscard]] bool is_part(const Event& event, double t, const std::vector<Event>& others,
                             bool there) const {
    const auto is_change = [](const Event& e) { return e.law >= 0 && e.kind != EventKind::jump; };
    return !by_.same_laws && is_change(event) &&
           std::any_of(others.begin(), others.end(), [&](const Event& other) {
             return is_change(other) && std::abs((there ? moment_here(other) : other.t) - t) <= near_;
           });
  }
  /// A change of a law whose multiplier the equations leave open may lead to another branch there, by another kind of event.
  template <class Serves>
  [[nodiscard]] std::optional<std::size_t> any_change_at(const Event& event, const std::vector<Event>& list,
                                                         const std::vector<bool>& used, const Serves& serves) const {
    for (std::size_t k = 0; k < list.size(); ++k)
      if (!used[k] && list[k].law >= 0 && list[k].kind != EventKind::jump && is_at(event, list[k]) && serves(list[k])) return k;
    return std::nullopt;
  }
  /// Is it one of the infinitely many events before an accumulation, nearer to it than moments are
  /// told apart? How many of them are listed says nothing.
  [[nodiscard]] bool accumulates(const Event& event, const std::vector<Event>& list) const {
    return event.kind == EventKind::jump &&
           std::any_of(list.begin(), list.end(), [&](const Event& other) {
             return other.kind == EventKind::accumulation && other.t >= event.t &&
                    other.t - event.t <= near_;
           });
  }
  std::optional<std::size_t> partner(const Event& event, const std::vector<Event>& list,
                                     const std::vector<bool>& used) {
    // Of laws that change alike at one moment the one that does so at every other moment too.
    for (const bool always : {true, false})
      for (std::size_t k = 0; k < list.size(); ++k) {
        const Event& other = list[k];
        if (used[k] || !is_at(event, other) || !alike(event, other)) continue;
        if (always && by_.same_laws && event.law >= 0 && !has_same_changes(event.law, other.law, list))
          continue;
        if (event.law >= 0 && by_.same_laws) rename(event.law, other.law);
        return k;
      }
    return {};
  }
  [[nodiscard]] bool is_at(const Event& event, const Event& other) const {
    return std::abs(moment_here(other) - event.t) <= near_;
  }
  /// Have the law here and the other law there as many events, alike in kind and moment?
  [[nodiscard]] bool has_same_changes(int law, int other_law, const std::vector<Event>& there) const {
    const auto count = [](const std::vector<Event>& events, int which) {
      return std::count_if(events.begin(), events.end(),
                           [&](const Event& event) { return event.law == which; });
    };
    if (count(*here_, law) != count(there, other_law)) return false;
    return std::all_of(here_->begin(), here_->end(), [&](const Event& event) {
      return event.law != law || std::any_of(there.begin(), there.end(), [&](const Event& other) {
               return other.law == other_law && other.kind == event.kind &&
                      has_same_branches(event, other) && is_at(event, other);
             });
    });
  }
  [[nodiscard]] bool alike(const Event& event, const Event& other) const {
    if (!by_.same_laws) return true;
    if (event.kind != other.kind || !has_same_branches(event, other)) return false;
    const auto law = static_cast<std::size_t>(event.law);
    if (event.law < 0) return other.law < 0;
    return law >= renamed_.size() || renamed_[law] < 0 || renamed_[law] == other.law;
  }
  /// Forms whose arguments are multiples of each other share a law, whose branches follow the argument of the
  /// one that is stated first.
  [[nodiscard]] bool has_same_branches(const Event& event, const Event& other) const {
    if (event.from == other.from && event.to == other.to) return true;
    if (event.law < 0 || !is_shared((*laws_)[static_cast<std::size_t>(event.law)])) return false;
    const int last = static_cast<int>((*laws_)[static_cast<std::size_t>(event.law)].branches.size()) - 1;
    return event.from == last - other.from && event.to == last - other.to;
  }
  void rename(int law, int other) {
    renamed_.resize(std::max(renamed_.size(), static_cast<std::size_t>(law) + 1), -1);
    renamed_[static_cast<std::size_t>(law)] = other;
  }

  const Correspondence& by_;
  double near_;
  const std::vector<Event>* here_ = nullptr;
  const std::vector<Law>* laws_ = nullptr;
  std::vector<int> renamed_;
};

/// A jump at t makes states there depend on which side of it a row stands.
bool is_near_event(const Outcome& outcome, double t, double near) {
  return std::any_of(outcome.run.events.begin(), outcome.run.events.end(),
                     [&](const Event& event) { return std::abs(event.t - t) <= near; });
}

std::string state_difference(const Vector& here, const Vector& there, const Vector& size,
                             const Correspondence& by, double tolerance, double t) {
  for (std::size_t j = 0; j < by.variables.size(); ++j) {
    const auto row = static_cast<Eigen::Index>(j);
    if (by.variables[j] < 0) continue;
    const double other = by.value(j, there);
    if (!(std::abs(here[row] - other) <= tolerance * size[row]))
      return fmt::format("variable {} at t = {:.12g}: {:.17g} here, {:.17g} there", j, t, here[row],
                         other);
  }
  return {};
}

/// The size of each variable in which distances are measured.
Vector scales(const Outcome& outcome) {
  return sizes(outcome, outcome.scheme == SchemeName::located ? 1 : 1e-6);
}

std::string trajectory_difference(const Outcome& here, const Outcome& there,
                                  const Correspondence& by, const Closeness& closeness) {
  const Vector size = scales(here);
  const double length = here.span.end - here.span.start;
  for (int k = 0; k <= samples; ++k) {
    const double t = here.span.start + length * k / samples;
    const Vector x = here.at(t);
    const Vector y = there.at((t - by.time_shift) / by.time_factor);
    // Both runs have rows at these times, up to where they end.
    if (x.size() == 0 || y.size() == 0 || is_near_event(here, t, 10 * closeness.moment * length))
      continue;
    std::string text = state_difference(x, y, size, by, closeness.state, t);
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace

Closeness closeness_of(SchemeName scheme) {
  return scheme == SchemeName::located ? Closeness{1e-6, 1e-6} : Closeness{1e-9, 1e-6};
}

Correspondence identity(int variables) {
  Correspondence by;
  by.variables.resize(static_cast<std::size_t>(variables));
  std::iota(by.variables.begin(), by.variables.end(), 0);
  by.factors.assign(static_cast<std::size_t>(variables), 1);
  return by;
}

Vector sizes(const Outcome& outcome) {
  Vector size;
  for (const Vector& x : outcome.run.x)
    size = size.size() == 0 ? Vector(x.cwiseAbs()) : Vector(size.cwiseMax(x.cwiseAbs()));
  return size;
}

Vector sizes(const Outcome& outcome, double share) { return sizes(outcome).cwiseMax(share * outcome.nominal); }

std::string difference(const Outcome& here, const Outcome& there, const Correspondence& by,
                       const Closeness& closeness) {
  if (here.refusal.empty() != there.refusal.empty())
    return here.refusal.empty() ? "refused there: " + there.refusal
                                : "refused here: " + here.refusal;
  if (!here.refusal.empty()) return {};
  for (const Outcome* side : {&here, &there})
    if (!side->fault.empty()) return side->fault;
  if (here.run.status != there.run.status)
    return fmt::format("{} here ({}), {} there ({})", to_string(here.run.status), here.run.message,
                       to_string(there.run.status), there.run.message);
  if (here.run.size() == 0 || there.run.size() == 0) return {};
  const double length = here.span.end - here.span.start;
  const double end = by.time_factor * there.run.t.back() + by.time_shift;
  if (!(std::abs(here.run.t.back() - end) <= 10 * closeness.moment * length))
    return fmt::format("ends at {:.12g} here, at {:.12g} there", here.run.t.back(), end);
  std::string text = Pairing(by, closeness.moment * length).difference(here, there);
  return text.empty() ? trajectory_difference(here, there, by, closeness) : text;
}

bool same_bits(const Outcome& here, const Outcome& there, const Correspondence& by) {
  if (here.run.size() != there.run.size()) return false;
  for (std::size_t k = 0; k < here.run.size(); ++k) {
    if (here.run.t[k] != by.time_factor * there.run.t[k]) return false;
    for (std::size_t j = 0; j < by.variables.size(); ++j)
      if (here.run.x[k][static_cast<Eigen::Index>(j)] != by.value(j, there.run.x[k])) return false;
  }
  if (here.run.events.size() != there.run.events.size()) return false;
  for (std::size_t k = 0; k < here.run.events.size(); ++k)
    if (here.run.events[k].t != by.time_factor * there.run.events[k].t) return false;
  return true;
}

}  // namespace perp::relations
