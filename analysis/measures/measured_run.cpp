#include <perp/analysis/measures/measured_run.hpp>
#include <perp/analysis/run/schemes.hpp>

namespace perp {

MeasuredRun measured_run(const Model& model, const KeepOptions& options, const std::vector<std::string>& measures,
                         const std::string& after) {
  check_run(model);
  Measures watching(model, measures, after);
  MeasuredRun result{keep_run(model, options, [&](IntegrateOptions record) {
    watching.watch(record);
    return scheme(model.run.scheme).run(model, record);
  })};
  result.measures = watching.of(result.kept.run, result.kept.modes);
  return result;
}

}  // namespace perp
