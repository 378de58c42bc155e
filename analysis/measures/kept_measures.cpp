#include <optional>

#include <perp/analysis/hybrid/run/change_notes.hpp>
#include <perp/analysis/measures/kept_measures.hpp>
#include <perp/analysis/measures/until.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>

namespace perp {

KeptMeasures keep_measured_run(const Model& model, const KeepOptions& options, const std::vector<std::string>& measures,
                               const std::string& after, const std::string& until) {
  check_run(model);
  if (options.state.due || !options.state.from.empty()) check_kept_state(model, "checkpoint");
  Measures watching(model, measures, after);
  std::optional<UntilEvent> end;
  if (!until.empty()) end.emplace(model, until);
  KeptMeasures result{keep_run(model, options, [&](IntegrateOptions record) {
    watching.watch(record);
    return with_change_notes(model, end ? end->run(record, [] { return true; })
                                        : scheme(model.run.scheme).run(model, record));
  })};
  if (end) result.happened = end->happened();
  result.measures = watching.of(result.kept.run, result.kept.modes);
  return result;
}

}  // namespace perp
