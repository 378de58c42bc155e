// Enclosures hold the located run of a point, in other units, orders and company too.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/core/base/error.hpp>
#include <perp/tests/relations/models/generate.hpp>
#include <perp/tests/relations/models/transform.hpp>
#include <perp/tests/relations/relations.hpp>

namespace perp::relations {
namespace {

constexpr int rows = 8;
constexpr double accuracy = 1e-8;  ///< of the located run here, relative to the size of a variable

/// Another statement of a model: x_j of the model is factors[j] times variable places[j] there, t is
/// `time` times t there.
struct Statement {
  std::string text{};
  std::vector<int> places{};
  std::vector<double> factors{};
  double time = 1;
};

Statement as_it_is(const RandomModel& model) {
  Statement same{.text = text(model)};
  for (int j = 0; j < static_cast<int>(model.variables.size()); ++j) {
    same.places.push_back(j);
    same.factors.push_back(1);
  }
  return same;
}

Statement restated(const RandomModel& model, std::mt19937& random) {
  Statement other = as_it_is(model);
  switch (random() % 4) {
    case 0: {
      Units units = binary_units(model, random, 6);
      other.text = text(in_units(model, units));
      other.factors = units.variables;
      other.time = units.time;
      return other;
    }
    case 1: {
      const Order order = random_order(model, random);
      other.text = text(permuted(model, order));
      other.places = order.variables;
      return other;
    }
    case 2: other.text = text(joined(model, companion(static_cast<unsigned>(random())))); return other;
    default: return other;
  }
}

/// Times of an enclosure are doubles as decimal numbers too: the span ends at a multiple of 1/64.
RandomModel of_exact_times(RandomModel model) {
  model.start = 0;
  model.end = std::max(std::round(model.end * 64), 1.0) / 64;
  model.h = model.end / 128;
  return model;
}

/// What happens at t itself may be on either side of a row.
bool is_near_event(const Outcome& run, double t, double near) {
  return std::any_of(run.run.events.begin(), run.run.events.end(),
                     [&](const Event& event) { return std::abs(event.t - t) <= near; });
}

bool holds(const enclosure::EnclosureRow& row, const Statement& by, const Vector& x,
           const Vector& size) {
  for (std::size_t j = 0; j < by.places.size(); ++j) {
    const enclosure::Interval& bounds = row.box[static_cast<std::size_t>(by.places[j])];
    const double a = by.factors[j] * bounds.lo, b = by.factors[j] * bounds.hi;
    const auto at = static_cast<Eigen::Index>(j);
    const double slack = accuracy * size[at];
    if (x[at] < std::min(a, b) - slack || x[at] > std::max(a, b) + slack) return false;
  }
  return true;
}

/// The first row time that has rows, none of which holds the run; `judged` counts those that do.
std::string contradiction(const enclosure::Enclosure& result, const Statement& by,
                          const Outcome& run, const std::vector<double>& times, int& judged) {
  const Vector size = sizes(run);
  const double length = run.span.end - run.span.start;
  for (const double t : times) {
    const Vector x = run.at(t);
    if (x.size() == 0 || t > run.run.t.back() || is_near_event(run, t, 1e-6 * length)) continue;
    int count = 0;
    bool inside = false, unique = true;
    for (const enclosure::EnclosureRow& row : result.rows) {
      if (row.t * by.time != t) continue;
      ++count;
      inside = inside || holds(row, by, x, size);
      unique = unique && row.flag == enclosure::Flag::unique;
    }
    if (count == 0) continue;
    if (t > run.span.start) ++judged;
    if (!inside)
      return fmt::format("the located run is in none of {} rows at t = {:.9g}{}", count, t,
                         unique ? ", where it is unique" : "");
  }
  return {};
}

}  // namespace

Judgement judge_enclosures(Subject& subject, SchemeName scheme, std::mt19937& random) {
  Judgement judgement;
  if (scheme != SchemeName::located || subject.model().variables.empty()) return judgement;
  if (is_hybrid(subject.model())) return judgement;
  const RandomModel model = of_exact_times(subject.model());
  Subject here(model);
  const Statement by = restated(model, random);
  judgement.other = by.text;
  enclosure::ExactModel exact;
  enclosure::Enclosure result;
  std::vector<double> times;
  try {
    exact = enclosure::read_exact_model(by.text, "random.toml");
    enclosure::EncloseOptions options;
    options.pieces = 1;
    options.most_steps = 400;
    options.most_events = 40;
    for (int k = 0; k <= rows; ++k)
      times.push_back(model.start + (model.end - model.start) * k / rows);
    for (const double t : times) options.times.push_back(t / by.time);
    result = exact.enclose(options);
  } catch (const InvalidInput&) {
    return judgement;  // what an enclosure does not treat
  }
  const Outcome run = relations::run(here.read(), scheme, {.tol = 1e-12});
  if (run.is_slow || !run.refusal.empty()) return judgement;
  int judged = 0;
  judgement.what = contradiction(result, by, run, times, judged);
  if (judged == 0 && judgement.what.empty()) return judgement;
  judgement.verdict = Verdict::same;
  if (judgement.what.empty()) return judgement;
  judgement.verdict = here.is_at_tie(scheme, {1e-6, 1e-6}) ? Verdict::tie : Verdict::different;
  return judgement;
}

}  // namespace perp::relations
