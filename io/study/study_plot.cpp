#include <fmt/format.h>
#include <cmath>
#include <set>

#include <perp/analysis/convergence/fit.hpp>
#include <perp/io/study/study_plot.hpp>
#include <perp/io/study/study_text.hpp>

namespace perp::io {
namespace {

std::string title_of(const ConvergenceStudy& study) {
  std::set<std::string> files;
  for (const VariantStudy& variant : study.variants) files.insert(variant.model.file);
  const std::string& first = study.variants.front().model.name;
  if (files.size() == 1) return first;
  return fmt::format("{} and {} other model{}", first, files.size() - 1,
                     files.size() > 2 ? "s" : "");
}

std::string label_of(const ConvergenceStudy& study, const VariantStudy& variant, std::size_t kind) {
  const char* column = column_of(study.errors[kind]);
  if (study.variants.size() == 1) return column;
  return study.errors.size() == 1 ? variant.label : fmt::format("{}, {}", variant.label, column);
}

}  // namespace

OrderPlot plot_of(const ConvergenceStudy& study) {
  OrderPlot plot{
      title_of(study), study.errors.size() == 1 ? column_of(study.errors[0]) : "error", {}};
  const bool is_single = study.variants.size() == 1;
  for (std::size_t k = 0; k < study.variants.size(); ++k)
    for (std::size_t kind = 0; kind < study.errors.size(); ++kind) {
      const VariantStudy& variant = study.variants[k];
      const OrderFit line = fit_order(points_that_count(variant, kind));
      OrderPlot::Curve curve{label_of(study, variant, kind), is_single ? kind : k, kind};
      curve.has_order = line.has_order();
      curve.order = line.order;
      curve.factor = line.factor;
      for (const StudyRow& row : variant.rows)
        if (!std::isnan(row.errors[kind].value))
          curve.points.push_back(
              {row.run.h, row.errors[kind].value, row.errors[kind].refusal == Refusal::none});
      plot.curves.push_back(std::move(curve));
    }
  return plot;
}

}  // namespace perp::io
