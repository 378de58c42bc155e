// Rows of every K-th step are rows of the whole run, to the bit; each run of a sweep is the run of its values alone.
#include <fmt/format.h>
#include <algorithm>
#include <cstring>

#include <perp/analysis/run/row_times.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/sweep/sweep.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/relations/relations.hpp>

namespace perp::relations {
namespace {

struct StateAt {
  double t = 0;
  Vector x;
};

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

bool same_bits(const Vector& a, const Vector& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0;
}

/// States that a run told, and how it ended. Of rows of every K-th step: steps between two of them that keep their mode are
/// told in one.
struct Rows {
  std::vector<StateAt> states{};
  Trajectory run{};
};

Rows rows_of(const Model& model, long every) {
  Rows told;
  RowTimes times(model.run.span, model.run.h, every);
  double t = model.run.span.start;
  IntegrateOptions options;
  options.keep = false;
  options.observer = {[&](const Step& step) {
                        t = step.t;
                        if (times.takes(t)) told.states.push_back({t, step.x});
                        return true;
                      },
                      {.most = [&] { return every == 1 ? 0 : times.steps_before_next(t); },
                       .take = [&](const IntegrateOptions::StepsInMode& steps) {
                         t = steps.t;
                         return true;
                       }}};
  told.run = perp::scheme(model.run.scheme).run(model, options);
  return told;
}

/// The rows of `all` that are those of every `every`-th step.
std::vector<StateAt> thinned(const std::vector<StateAt>& all, const Model& model, long every) {
  RowTimes times(model.run.span, model.run.h, every);
  std::vector<StateAt> some;
  for (const StateAt& state : all)
    if (times.takes(state.t)) some.push_back(state);
  return some;
}

/// Empty, or what is other than it should be.
std::string difference(const std::vector<StateAt>& found, const std::vector<StateAt>& expected) {
  for (std::size_t k = 0; k < std::min(found.size(), expected.size()); ++k)
    if (!same_bits(found[k].t, expected[k].t) || !same_bits(found[k].x, expected[k].x))
      return fmt::format("row {} at t = {:.17g} is another one at t = {:.17g}", k, expected[k].t, found[k].t);
  if (found.size() != expected.size()) return fmt::format("{} rows, {} of the whole run", found.size(), expected.size());
  return {};
}

std::string difference(const Trajectory& found, const Trajectory& expected) {
  if (found.status != expected.status || found.message != expected.message)
    return fmt::format("{} ({}), the whole run {} ({})", to_string(found.status), found.message, to_string(expected.status),
                       expected.message);
  const auto is_other = [](const Event& a, const Event& b) { return !same_bits(a.t, b.t) || a.law != b.law; };
  if (found.events.size() != expected.events.size() ||
      !std::equal(found.events.begin(), found.events.end(), expected.events.begin(),
                  [&](const Event& a, const Event& b) { return !is_other(a, b); }))
    return "other events than those of the whole run";
  return {};
}

/// Can its model be run again, by its scheme? It is given the scheme.
bool is_ready(Subject& subject, SchemeName scheme, Model& model) {
  const Outcome& here = subject.outcome(scheme);
  if (!here.refusal.empty() || here.is_slow) return false;
  model = subject.read();
  model.run.scheme = to_string(scheme);
  model.run.tol = RunSettings{}.tol;
  return true;
}

Judgement of(const std::string& difference, const std::string& other) {
  return {.verdict = difference.empty() ? Verdict::same : Verdict::different,
          .what = difference,
          .other = other,
          .same_bits = difference.empty()};
}

/// The run of one model alone: its states, and how it ended.
Rows single_run(const Model& model) {
  Rows told;
  IntegrateOptions options;
  options.keep = false;
  options.bounds = model.bounds();
  options.observer = [&](const Step& step) {
    told.states.push_back({step.t, step.x});
    return true;
  };
  told.run = perp::scheme(model.run.scheme).run(model, options);
  return told;
}

/// Empty, or what run k of the sweep has that the run alone has not.
std::string difference(const SweepRun& found, const Rows& alone) {
  const std::string place = fmt::format("run {}: ", found.point + 1);
  if (found.status != alone.run.status || found.message != alone.run.message)
    return place + fmt::format("{} ({}), alone {} ({})", to_string(found.status), found.message, to_string(alone.run.status),
                               alone.run.message);
  std::vector<StateAt> states;
  for (const SectionPoint& point : found.kept) states.push_back({point.t, point.x});
  const std::string what = states.empty() ? "" : difference(states, alone.states);
  if (!what.empty()) return place + what;
  return same_bits(found.t_end, alone.run.t.back()) ? "" : place + "ends at another time than alone";
}

}  // namespace

Judgement judge_every(Subject& subject, SchemeName scheme, std::mt19937& random) {
  Model model;
  if (!is_ready(subject, scheme, model)) return {};
  const long every = std::uniform_int_distribution<long>(2, 9)(random);
  const Rows whole = rows_of(model, 1), some = rows_of(model, every);
  const std::string differing = difference(some.states, thinned(whole.states, model, every));
  return of(differing.empty() ? difference(some.run, whole.run) : differing, fmt::format("rows of every {}-th step", every));
}

Judgement judge_sweep(Subject& subject, SchemeName scheme, std::mt19937& random) {
  Model model;
  if (!is_ready(subject, scheme, model)) return {};
  ReadOptions known;
  known.hybrid = true;
  const std::string source = text(subject.model());
  const auto settled = [&](Model other) {
    other.run.scheme = model.run.scheme;
    other.run.tol = model.run.tol;
    return other;
  };
  SweepRequest request;
  request.read = [&, parsed = ModelText(source, "random.toml", known)](const std::vector<Override>& set) {
    return settled(parsed.read(set));
  };
  const Variable& varied = model.variables[std::uniform_int_distribution<std::size_t>(0, model.variables.size() - 1)(random)];
  request.points.axes = {{varied.name, {varied.start, varied.start + 0.25, varied.start - 0.375}}};
  request.points.prepare(model);
  request.keeps = std::uniform_int_distribution<int>(0, 1)(random) == 1;
  std::vector<Rows> alone;
  try {
    for (long k = 0; k < request.points.size(); ++k)
      alone.push_back(single_run(settled(read_model_text(source, "random.toml", request.points.overrides(k), known))));
  } catch (const InvalidInput&) {
    return {};  // a start that the model refuses
  }
  for (const SweepRun& run : sweep(request).runs)
    if (const std::string what = difference(run, alone[static_cast<std::size_t>(run.point)]); !what.empty())
      return of(what, "a sweep over the start of " + varied.name);
  return of("", "");
}

}  // namespace perp::relations
