// Runs of hybrid models side by side that share nothing but time.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include <perp/analysis/hybrid/run/hybrid_product.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp {
namespace {

/// Nodes that give a polynomial of a step: those of the highest order.
constexpr int most_nodes = ModeSeries::order + 1;

/// Chebyshev's points of [0, 1], both ends among them.
std::vector<double> chebyshev_points(int count) {
  std::vector<double> points;
  for (int k = 0; k < count; ++k)
    points.push_back(k == count - 1 ? 1 : (1 - std::cos(std::numbers::pi * k / (count - 1))) / 2);
  return points;
}

const std::vector<double>& points_of(Eigen::Index count) {
  static const std::vector<double> ends = chebyshev_points(2), many = chebyshev_points(most_nodes);
  return count == 2 ? ends : many;
}

/// NaN where a step does not know it.
Vector known(const Vector& values, Eigen::Index count) {
  return values.size() == count ? values : Vector::Constant(count, nan);
}

void put_at(const Vector& own, const std::vector<int>& places, Eigen::Index shift, Eigen::Index first,
            Vector& all) {
  for (std::size_t k = 0; k < places.size(); ++k)
    all[shift + places[k]] = own[first + static_cast<Eigen::Index>(k)];
}

}  // namespace

HybridProduct::HybridProduct(const Model& model, const HybridSchemes& schemes,
                             const IntegrateOptions& output, const IndependentSets& sets)
    : model_(model),
      output_(output),
      n_(model.hybrid->n()),
      q_(model.hybrid->q()),
      m_(q_ + static_cast<int>(model.hybrid->g.size())),
      told_(model.run.span.start),
      end_(model.run.span.end) {
  for (HybridPart& part : independent_parts(*model.hybrid, sets)) add(std::move(part), schemes);
}

void HybridProduct::add(HybridPart part, const HybridSchemes& schemes) {
  members_.push_back(std::make_unique<Member>());
  Member& member = *members_.back();
  member.part = std::move(part);
  member.model = member.part.model.head;
  member.model.run = model_.run;
  member.model.hybrid = std::make_shared<const HybridModel>(member.part.model);
  HybridSchemes own = schemes;
  own.located.names.clear();
  for (const Variable& variable : member.model.variables) own.located.names.push_back(variable.name);
  if (own.located.scale.size() > 0) own.located.scale.setZero(member.part.model.n());
  for (std::size_t k = 0; k < member.part.variables.size(); ++k) {
    if (own.located.scale.size() > 0)
      own.located.scale[static_cast<Eigen::Index>(k)] = schemes.located.scale[member.part.variables[k]];
    for (VariableBounds bounds : output_.bounds) {
      if (bounds.variable != member.part.variables[k]) continue;
      bounds.variable = static_cast<int>(k);
      member.output.bounds.push_back(std::move(bounds));
    }
  }
  watch(member);
  member.run = std::make_unique<HybridRun>(member.model, own, member.output);
}

/// Its rows and the courses of its steps come here.
void HybridProduct::watch(Member& member) const {
  member.output.times = output_.times;
  member.output.only_times = output_.only_times;
  member.output.keep = false;
  member.output.observer = [&member](const Step& step) {
    member.rows.push_back(step);
    return true;
  };
  const std::vector<double>& points = points_of(model_.run.scheme == "located" ? most_nodes : 2);
  const Eigen::Index n = member.part.model.n(),
                     m = member.part.model.q() + static_cast<Eigen::Index>(member.part.constraints.size());
  member.output.course = [&member, &points, n, m](const StepCourse& course) {
    Piece piece{course.start, course.end};
    piece.nodes.resize(n + 2 * m, static_cast<Eigen::Index>(points.size()));
    for (std::size_t k = 0; k < points.size(); ++k) {
      const Step here = course.at(points[k]);
      auto node = piece.nodes.col(static_cast<Eigen::Index>(k));
      node.head(n) = here.x;
      node.segment(n, m) = known(here.lambda, m);
      node.tail(m) = known(here.w, m);
      if (here.mode.size() == member.last.mode.size()) piece.mode = here.mode;
    }
    if (piece.mode.empty()) piece.mode = member.run->now().mode;
    member.pieces.push_back(std::move(piece));
  };
}

/// Lagrange's interpolation in its barycentric form.
Vector HybridProduct::Piece::at(double t) const {
  const std::vector<double>& points = points_of(nodes.cols());
  const double share = (t - start) / (end - start);
  Vector weights(nodes.cols());
  for (Eigen::Index k = 0; k < nodes.cols(); ++k) {
    const double distance = share - points[perp::at(k)];
    if (distance == 0) return nodes.col(k);
    const bool is_end = k == 0 || k == nodes.cols() - 1;
    weights[k] = (k % 2 == 0 ? 1.0 : -1.0) * (is_end ? 0.5 : 1) / distance;
  }
  Vector values = nodes * weights / weights.sum();
  for (Eigen::Index i = 0; i < values.size(); ++i)
    if ((nodes.row(i).array() == nodes(i, 0)).all()) values[i] = nodes(i, 0);  // to the bit, as binaries are
  return values;
}

/// At a time that it has reached, before its next row.
Step HybridProduct::Member::at(double t) const {
  Step step = last;
  step.t = t;
  const auto piece = std::find_if(pieces.begin(), pieces.end(), [t](const Piece& p) { return t <= p.end; });
  if (piece == pieces.end()) return step;
  const Vector values = piece->at(t);
  step.mode = piece->mode;
  step.x = values.head(step.x.size());
  step.lambda = values.segment(step.x.size(), step.lambda.size());
  step.w = values.tail(step.w.size());
  return step;
}

void HybridProduct::put(const Member& member, const Step& own, Step& all) const {
  const HybridPart& part = member.part;
  const int q = part.model.q();
  put_at(own.x, part.variables, 0, 0, all.x);
  const Eigen::Index m = q + static_cast<Eigen::Index>(part.constraints.size());
  for (const auto& [from, to] : {std::pair(&own.lambda, &all.lambda), std::pair(&own.w, &all.w)}) {
    const Vector values = known(*from, m);
    put_at(values, part.binaries, 0, 0, *to);
    put_at(values, part.constraints, q_, q, *to);
  }
  for (std::size_t i = 0; i < part.binaries.size(); ++i)
    all.mode[perp::at(part.binaries[i])] = own.mode[i];
}

Step HybridProduct::state_at(double t) const {
  Step all{t, Vector::Zero(n_), Vector::Zero(m_), Vector::Zero(m_), Mode(perp::at(m_), 0)};
  for (const auto& member : members_) put(*member, member->at(t), all);
  return all;
}

Trajectory HybridProduct::operator()() {
  for (const auto& member : members_) {
    member->run->start();
    member->last = member->run->now();
  }
  for (;;) {
    for (const auto& member : members_)
      if (!member->run->is_running()) end_ = std::min(end_, member->run->now().t);
    Member* next = earliest();
    emit(next == nullptr ? end_ : std::min(next->run->now().t, end_), next == nullptr);
    if (next == nullptr || is_stopped_) break;
    next->run->advance();
  }
  finish();
  return std::move(result_);
}

/// Of those that have not come to the end; null: all have.
HybridProduct::Member* HybridProduct::earliest() const {
  Member* first = nullptr;
  for (const auto& member : members_) {
    if (!member->run->is_running() || !(member->run->now().t <= end_)) continue;
    if (member->run->now().t == end_ && end_ < model_.run.span.end) continue;
    if (first == nullptr || member->run->now().t < first->run->now().t) first = member.get();
  }
  return first;
}

/// When the next row is that is not in the trajectory yet.
double HybridProduct::next_row() const {
  double t = inf;
  for (const auto& member : members_)
    if (!member->rows.empty()) t = std::min(t, member->rows.front().t);
  return t;
}

/// Rows and events before a time, and at it where no part may add any.
void HybridProduct::emit(double until, bool with_end) {
  const auto is_due = [&](double t) { return t < until || (with_end && t == until); };
  for (double t = next_row(); !is_stopped_ && is_due(t); t = next_row()) {
    tell_course(t);
    emit_events(t, true);
    emit_rows(t);
  }
  if (is_stopped_) return;
  emit_events(until, with_end);
  tell_course(until);
  for (const auto& member : members_)
    while (!member->pieces.empty() && member->pieces.front().end < until) member->pieces.pop_front();
}

/// All rows of one moment; a part that has fewer of them than others keeps its last one.
void HybridProduct::emit_rows(double t) {
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

void HybridProduct::record(const Step& step) {
  const bool is_first = result_.t.empty();
  last_ = step;
  if (output_.keep || is_first) result_.append(step);
  is_stopped_ = output_.observer && !output_.observer(step);
}

/// In the order of time, of one moment in that of the parts.
void HybridProduct::emit_events(double until, bool with_end) {
  std::vector<Event> events;
  for (const auto& member : members_) {
    const std::vector<Event>& own = member->run->result().events;
    for (; member->events < own.size(); ++member->events) {
      const Event& event = own[member->events];
      if (!(event.t < until) && !(with_end && event.t == until)) break;
      events.push_back(of_all(*member, event));
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.t < b.t; });
  for (Event& event : events) result_.events.push_back(std::move(event));
}

Event HybridProduct::of_all(const Member& member, Event event) const {
  if (event.law >= 0) {
    const int q = member.part.model.q();
    event.law = event.law < q ? member.part.binaries[perp::at(event.law)]
                              : q_ + member.part.constraints[perp::at(event.law - q)];
  }
  for (Vector* x : {&event.x_before, &event.x_after}) {
    if (x->size() == 0) continue;
    if (n_ > most_states_of_events) {
      *x = Vector();
      continue;
    }
    const Vector own = *x;
    *x = state_at(event.t).x;
    put_at(own, member.part.variables, 0, 0, *x);
  }
  return event;
}

/// The course of all from the time to which it was told, in pieces on which every part has one.
void HybridProduct::tell_course(double t) {
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
const HybridProduct::Member* HybridProduct::first_to_end() const {
  const Member* first = nullptr;
  for (const auto& member : members_) {
    const HybridRun& run = *member->run;
    if (run.is_running() || run.result().status == Status::solved) continue;
    if (first == nullptr || run.now().t < first->run->now().t) first = member.get();
  }
  return first;
}

void HybridProduct::finish() {
  const Member* first = first_to_end();
  take_counts();
  take_provenance();
  if (is_stopped_) {
    result_.status = Status::interrupted;
    result_.message = fmt::format("interrupted at t = {:.10g}", last_.t);
    log_end(result_.status, last_.t, last_.x, result_.message, result_.events);
    return;
  }
  result_.status = first != nullptr ? first->run->result().status : Status::solved;
  result_.message =
      first != nullptr
          ? first->run->result().message
          : fmt::format("reached t = {:.10g} in {} steps", end_, result_.counts["steps"]);
  if (!output_.keep && end_ > result_.t.back()) result_.append(state_at(end_));
}

void HybridProduct::take_counts() {
  for (const auto& member : members_)
    for (const auto& [name, count] : member->run->result().counts) result_.counts[name] += count;
  const auto is_change = [](const Event& event) {
    return event.law >= 0 && (event.kind == EventKind::mode_change ||
                              event.kind == EventKind::sliding_entry ||
                              event.kind == EventKind::sliding_exit);
  };
  if (result_.counts.contains("mode_changes"))  // parts may have gone further than all together
    result_.counts["mode_changes"] =
        std::count_if(result_.events.begin(), result_.events.end(), is_change);
}

/// Words of the parts one after the other, of their residuals the largest.
void HybridProduct::take_provenance() {
  double residual = -1;
  for (const auto& member : members_)
    for (const auto& [name, text] : member->run->result().provenance) {
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
