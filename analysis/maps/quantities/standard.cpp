// What maps show of the steps, jumps and runs of a model.
#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include <perp/analysis/counts.hpp>
#include <perp/analysis/jumps.hpp>
#include <perp/analysis/maps/quantity_table.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/solutions/listed_solutions.hpp>
#include <perp/schemes/located/jets/mode_selection.hpp>

namespace perp::quantity_files {
namespace {

constexpr long most_nodes = 200'000;  // of one point
const JumpOptions of_a_point{.max_nodes = most_nodes, .most_listed = 1};
constexpr const char* not_known = "not decided";

/// "none", "unique", "several (3)"; of a search that proves nothing "none found", "3 found".
std::string words_of(const Integer& count, bool proved) {
  if (!proved)
    return count == 0   ? "none found"
           : count == 1 ? "one found"
                        : fmt::format("{} found", short_count(count));
  return count == 0   ? "none"
         : count == 1 ? "unique"
                      : fmt::format("several ({})", short_count(count));
}

/// The x⁺ of a step of the model's scheme.
MapAnswer ask_solutions(const Model& model) {
  StepLister list(model, {.max_nodes = most_nodes});
  const ListedSolutions found = list(model.x0(), model.run.span.start, model.run.h, 0);
  if (found.note.empty() && !found.set.complete) return {{nan}, not_known, false};
  const long count = count_of_u(found.set);
  if (count < 0) return {{inf}, "a continuum", true};
  return {{static_cast<double>(count)}, words_of(count, found.set.complete), true};
}

/// The modes in which a solution starts continuously at the model's start, by Taylor series with
/// as many levels.
Selection continuations(const Dcs& system, const Model& model, int levels) {
  ConsistentJets jets(system, levels);
  std::vector<int> all(static_cast<std::size_t>(system.m()));
  std::iota(all.begin(), all.end(), 0);
  return select(jets, model.run.span.start, model.x0(), Vector::Zero(system.m()),
                Mode(all.size(), 0), all, {.memory = false});
}

/// Did the series of every mode either start a solution or contradict one?
bool is_decided(const Selection& found) {
  return found.complete && std::none_of(found.rejected.begin(), found.rejected.end(),
                                        [](const auto& item) { return item.second == inf; });
}

/// The same by the limits of short steps of an affine system, in rational arithmetic; -1 where they are not all known.
long exact_continuations(const Lcs& lcs, const Model& model) {
  const ConsistentJumps jumps = consistent_jumps(lcs, model.x0(), model.run.span.start, of_a_point);
  if (jumps.status == Status::not_enumerated) return -1;
  if (!jumps.starts_continuously()) return 0;
  return static_cast<long>(jumps.jumps.front().continuations.size());
}

/// The solutions that start continuously at x, by Taylor series. What the limits of short steps of an affine system
/// contradict (none starts, fewer do, or one does though no series was found) is not said; these alone tell of none.
MapAnswer ask_continuations(const Model& model) {
  const Lcs* lcs = model.system.affine();
  const long exact = lcs != nullptr ? exact_continuations(*lcs, model) : -1;
  if (exact == 0) return {{0}, words_of(0, true), true};
  const Dcs system = model.system.functions();
  for (const int levels : {2, 4}) {
    const Selection found = continuations(system, model, levels);
    const auto count = static_cast<long>(found.admissible.size());
    if (!is_decided(found) || (exact >= 0 && (count > exact || count == 0))) continue;
    return {{static_cast<double>(count)}, words_of(count, exact >= 0), true};
  }
  return {{nan}, not_known, false};
}

/// The jumps after which a continuous solution starts, and the least amplitude.
MapAnswer ask_jumps(const Model& model) {
  const ModelJumps of_model = jumps_of(model, model.x0(), model.run.span.start, of_a_point);
  const ConsistentJumps& found = of_model.jumps;
  if (found.status == Status::not_enumerated) return {{nan, nan}, not_known, false};
  const double least = found.jumps.empty() ? nan : found.jumps.front().amplitude;
  const bool continua = found.has_continuum();
  const Integer count = found.count();
  const std::string words = found.starts_continuously() ? "no jump needed"
                            : continua                  ? "infinitely many"
                                                        : words_of(count, of_model.is_proved);
  return {{continua ? inf : static_cast<double>(count), least}, words, true};
}

/// How a run of the model ends: time, number of jumps.
MapAnswer ask_outcome(const Model& model) {
  IntegrateOptions options;
  options.bounds = model.bounds();
  options.keep = false;
  const Trajectory run = scheme(model.run.scheme).run(model, options);
  const auto jumps = std::count_if(run.events.begin(), run.events.end(), [](const Event& event) {
    return event.kind == EventKind::jump;
  });
  const double end = run.t.empty() ? model.run.span.start : run.t.back();
  std::string words = run.status == Status::solved && !run.mode.empty()
                          ? describe(model.laws(), run.mode.back())
                          : to_string(run.status);
  if (jumps > 0) words += ", jumped";
  return {{end, static_cast<double>(jumps)}, words, true};
}

const MapQuantity quantities[] = {
    {"solutions",
     "the number of solutions x+ of one step",
     {"solutions"},
     ask_solutions,
     {"h", "scheme", "theta"}},
    {"ac",
     "the number of absolutely continuous solutions that start at the point",
     {"continuations"},
     ask_continuations,
     {"t"}},
    {"jumps",
     "the number of consistent jumps from the point, and the least amplitude",
     {"jumps", "amplitude"},
     ask_jumps,
     {"t"}},
    {"outcome", "how a run from the point ends", {"end", "jumps"}, ask_outcome},
};

}  // namespace

extern const MapQuantities standard;
const MapQuantities standard{quantities};

}  // namespace perp::quantity_files
