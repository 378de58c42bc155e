// Runs side by side that share nothing but time: called for systems and hybrid models in independent parts.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <perp/core/base/index.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/run/run_end.hpp>
#include <perp/schemes/run/run_product.hpp>

namespace perp {
namespace {

/// Chebyshev's points of [0, 1], both ends among them.
std::vector<double> chebyshev_points(int count) {
  std::vector<double> points;
  for (int k = 0; k < count; ++k)
    points.push_back(k == count - 1 ? 1 : (1 - std::cos(std::numbers::pi * k / (count - 1))) / 2);
  return points;
}

/// NaN where a step does not know it.
Vector known(const Vector& values, Eigen::Index count) {
  return values.size() == count ? values : Vector::Constant(count, nan);
}

void put_at(const Vector& own, const std::vector<int>& places, Vector& all) {
  for (std::size_t k = 0; k < places.size(); ++k) all[places[k]] = own[static_cast<Eigen::Index>(k)];
}

/// Is it about a part that is of first order from a moment on?
bool is_of_first_order(const std::string& name) { return name.starts_with("first order"); }

}  // namespace

RunProduct::RunProduct(const IntegrateOptions& output, int n, int m, Span span, int nodes, Clock clock)
    : output_(output),
      n_(n),
      m_(m),
      span_(span),
      nodes_(chebyshev_points(nodes)),
      clock_(clock),
      told_(span.start),
      end_(span.end),
      told_of_steps_(needed(clock)) {}

/// Where a bound may end the run, all parts have to stand there.
RunProduct::Told RunProduct::needed(Clock clock) const {
  if (takes_rows() || output_.course || !output_.bounds.empty() || clock == Clock::own) return Told::courses;
  return n_ > most_states_of_events ? Told::nothing : Told::variables;
}

void RunProduct::add(Places places, Maker make) {
  members_.push_back(std::make_unique<Member>());
  Member& member = *members_.back();
  member.places = std::move(places);
  member.make = std::move(make);
  for (std::size_t k = 0; k < member.places.variables.size(); ++k)
    for (VariableBounds bounds : output_.bounds) {
      if (bounds.variable != member.places.variables[k]) continue;
      if (bounds.name.empty()) bounds.name = fmt::format("x{}", bounds.variable + 1);
      bounds.variable = static_cast<int>(k);
      member.output.bounds.push_back(std::move(bounds));
    }
  member.output.times = output_.times;
  member.output.only_times = output_.only_times;
  member.output.keep = false;
  // It is asked now and then, so that no part leaps to its end at once.
  if (output_.state.due) member.output.state.due = [] { return false; };
}

void RunProduct::make(Member& member) {
  if (told_of_steps_ == Told::courses) watch(member);
  member.trace = {};
  member.events = 0;
  member.run = member.make(member.output, told_of_steps_ == Told::variables ? &member.trace : nullptr);
}

/// Its rows and the courses of its steps come here.
void RunProduct::watch(Member& member) const {
  if (takes_rows())
    member.output.observer = [&member](const Step& step) {
      member.rows.push_back(step);
      return true;
    };
  const auto m = static_cast<Eigen::Index>(member.places.laws.size());
  member.output.course = [&member, &nodes = nodes_, m](const StepCourse& course) {
    Piece piece{course.start, course.end};
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const Step here = course.at(nodes[k]);
      const Eigen::Index n = here.x.size();  // it may have variables that are none of the whole
      if (k == 0) piece.nodes.resize(n + 2 * m, static_cast<Eigen::Index>(nodes.size()));
      auto node = piece.nodes.col(static_cast<Eigen::Index>(k));
      node.head(n) = here.x;
      node.segment(n, m) = known(here.lambda, m);
      node.tail(m) = known(here.w, m);
      if (here.mode.size() == member.last.mode.size()) piece.mode = here.mode;
    }
    if (piece.mode.empty()) piece.mode = member.run->state().mode;
    member.pieces.push_back(std::move(piece));
  };
}

void RunProduct::put(const Member& member, const Step& own, Step& all) {
  const Places& places = member.places;
  const auto m = static_cast<Eigen::Index>(places.laws.size());
  put_at(own.x, places.variables, all.x);
  put_at(known(own.lambda, m), places.laws, all.lambda);
  put_at(known(own.w, m), places.laws, all.w);
  for (std::size_t i = 0; i < own.mode.size(); ++i)
    all.mode[perp::at(places.laws[i])] = places.branch(i, own.mode[i]);
}

Step RunProduct::state_at(double t) const {
  Step all{t, Vector::Zero(n_), Vector::Zero(m_), Vector::Zero(m_), Mode(perp::at(m_), 0)};
  for (const auto& member : members_) put(*member, member->at(t, nodes_), all);
  return all;
}

Trajectory RunProduct::operator()() {
  goes_on_ = !output_.state.from.empty();
  go();
  // Where one ends before the others, these are asked for a state that they did not tell.
  if (told_of_steps_ != Told::courses && end_ < span_.end && result_.status != Status::interrupted) {
    told_of_steps_ = Told::courses;
    result_ = {};
    end_ = span_.end;
    go();
  }
  return std::move(result_);
}

void RunProduct::go() {
  std::exchange(goes_on_, false) ? resume() : start();
  if (is_refused_) return refuse();
  advance_all();
  if (!is_stopped_) emit(end_, true);
  finish();
}

/// All runs at their starts.
void RunProduct::start() {
  for (const auto& member : members_) {
    make(*member);
    member->run->start();
    member->last = member->run->state();
    end_with(*member);
    is_refused_ = is_refused_ || !member->run->has_started();
  }
  if (!is_refused_ && !takes_rows()) result_.append(state_at(span_.start));
}

/// Always the part that is behind the others; what is due before it is known, none of them adds to it.
void RunProduct::advance_all() {
  Waiting waiting;
  for (std::size_t k = 0; k < members_.size(); ++k) waiting.emplace(members_[k]->run->t(), k);
  for (double emitted = -inf; !is_stopped_ && !waiting.empty();) {
    const auto [t, k] = waiting.top();
    waiting.pop();
    StepwiseRun& run = *members_[k]->run;
    if (!run.is_running() || !(t < end_ || end_ == span_.end)) continue;
    if (t > emitted) emit(std::min(t, end_), false);
    emitted = t;
    if (is_stopped_) return;
    run.advance();
    end_with(*members_[k]);
    waiting.emplace(run.t(), k);
    keep_if_due();
  }
}

/// No row is one of a mode then.
void RunProduct::refuse() {
  Step start = state_at(span_.start);
  start.mode.clear();
  result_.append(start);
  emit_events(span_.start, true);
  finish();
}

/// The first that ends, ends all.
void RunProduct::end_with(const Member& member) {
  if (!member.run->is_running()) end_ = std::min(end_, member.run->t());
}

/// When the next row is that is not in the trajectory yet.
double RunProduct::next_row() const {
  double t = inf;
  for (const auto& member : members_)
    if (!member->rows.empty()) t = std::min(t, member->rows.front().t);
  return t;
}

/// Rows and events before a time, and at it where no part may add any.
void RunProduct::emit(double until, bool with_end) {
  const auto is_due = [&](double t) { return t < until || (with_end && t == until); };
  for (double t = next_row(); !is_stopped_ && is_due(t); t = next_row()) {
    tell_course(t);
    emit_events(t, true);
    emit_rows(t);
  }
  if (is_stopped_) return;
  emit_events(until, with_end);
  tell_course(until);
  for (const auto& member : members_) {
    member->trace.forget(until);
    while (!member->pieces.empty() && member->pieces.front().end < until) member->pieces.pop_front();
  }
}

/// All rows of one moment; a part that has fewer of them than others keeps its last one.
void RunProduct::emit_rows(double t) {
  Step all = state_at(t);
  for (bool has_more = true; has_more && !is_stopped_;) {
    for (const auto& member : members_) {
      if (member->rows.empty() || member->rows.front().t > t) continue;
      member->last = std::move(member->rows.front());
      member->rows.pop_front();
      put(*member, member->last, all);
    }
    record(all);
    has_more = std::any_of(members_.begin(), members_.end(), [t](const auto& member) {
      return !member->rows.empty() && member->rows.front().t <= t;
    });
  }
}

void RunProduct::record(const Step& step) {
  const bool is_first = result_.t.empty();
  last_ = step;
  if (output_.keep || is_first) result_.append(step);
  is_stopped_ = !output_.tell(step);
}

/// In the order of time, of one moment in that of the parts.
void RunProduct::emit_events(double until, bool with_end) {
  std::vector<Event> events;
  for (const auto& member : members_) {
    const std::vector<Event>& own = member->run->result().events;
    for (; member->events < own.size(); ++member->events) {
      const Event& event = own[member->events];
      if (!(event.t < until) && !(with_end && event.t == until)) break;
      events.push_back(of_all(*member, event));
    }
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.t < b.t; });
  for (Event& event : events)
    if (!is_told(event, result_.events)) result_.events.push_back(std::move(event));
}

Event RunProduct::of_all(const Member& member, Event event) const {
  if (event.law >= 0) {
    const std::size_t law = perp::at(event.law);
    event.from = member.places.branch(law, event.from);
    event.to = member.places.branch(law, event.to);
    event.law = member.places.laws[law];
  }
  for (Vector* x : {&event.x_before, &event.x_after}) {
    if (x->size() == 0) continue;
    if (n_ > most_states_of_events) {
      *x = Vector();
      continue;
    }
    const Vector own = *x;
    *x = state_at(event.t).x;
    put_at(own, member.places.variables, *x);
  }
  return event;
}

/// The course of all from the time to which it was told, in pieces on which every part has one.
void RunProduct::tell_course(double t) {
  while (output_.course && told_ < t) {
    double end = t;
    for (const auto& member : members_)
      for (const Piece& piece : member->pieces)
        if (piece.end > told_) {
          end = std::min(end, piece.end);
          break;
        }
    const double start = told_;
    output_.course({start, end, [&](double s) { return state_at(start + s * (end - start)); }});
    told_ = end;
  }
}

/// The part that ends first, before the others and not at the end of the span; null: none does.
const RunProduct::Member* RunProduct::first_to_end() const {
  const Member* first = nullptr;
  for (const auto& member : members_) {
    const StepwiseRun& run = *member->run;
    if (run.is_running() || run.result().status == Status::solved) continue;
    if (first == nullptr || run.t() < first->run->t()) first = member.get();
  }
  return first;
}

void RunProduct::finish() {
  const Member* first = first_to_end();
  take_counts();
  take_provenance();
  if (is_stopped_) {
    result_.status = Status::interrupted;
    result_.message = interrupted_text(last_.t);
    log_end(result_.status, last_.t, last_.x, result_.message, result_.events);
    return;
  }
  result_.status = first != nullptr ? first->run->result().status : Status::solved;
  result_.message =
      first != nullptr
          ? first->run->result().message
          : with_first_order(fmt::format("reached t = {:.10g} in {} steps", end_, result_.counts["steps"]), result_);
  if (output_.keep || !(end_ > result_.t.back())) return;
  // An interruption finds parts at different times; where nobody asked for rows, no state of all is known.
  for (const auto& member : members_)
    if (member->run->t() != end_ && told_of_steps_ != Told::courses) return;
  for (const auto& member : members_) member->last = member->run->state();
  Step end = state_at(end_);
  put_own_ends(end);
  result_.append(end);
}

void RunProduct::take_counts() {
  for (const auto& member : members_)
    for (const auto& [name, count] : member->run->result().counts) {
      long& all = result_.counts[name];
      all = clock_ == Clock::common && name == "steps" ? std::max(all, count) : all + count;
    }
}

/// Since when the first of them is of first order.
void RunProduct::take_first_order() {
  const std::map<std::string, std::string>* first = nullptr;
  double since = inf;
  for (const auto& member : members_) {
    const auto& own = member->run->result().provenance;
    const auto from = own.find("first order from");
    if (from == own.end() || !(std::stod(from->second) < std::min(since, end_))) continue;
    since = std::stod(from->second);
    first = &own;
  }
  if (first == nullptr) return;
  for (const auto& [name, text] : *first)
    if (is_of_first_order(name)) result_.provenance[name] = text;
}

/// A part that ends at the end has its own state there, not that of its last course.
void RunProduct::put_own_ends(Step& end) const {
  for (const auto& member : members_)
    if (member->last.t == end_) put(*member, member->last, end);
}

/// Words of the parts one after the other, of their residuals the largest.
void RunProduct::take_provenance() {
  take_first_order();
  double residual = -1;
  for (const auto& member : members_)
    for (const auto& [name, text] : member->run->result().provenance) {
      if (is_of_first_order(name)) continue;
      std::string& all = result_.provenance[name];
      if (name == "residual") {
        residual = std::max(residual, std::stod(text));
        all = fmt::format("{:.3g}", residual);
      } else if (name == "start" && !all.empty()) {
        all += "; " + text;
      } else {
        all = text;
      }
    }
  result_.provenance["sub-sets"] =
      fmt::format("{} that do not act on each other, each with its own steps", members_.size());
}

}  // namespace perp
