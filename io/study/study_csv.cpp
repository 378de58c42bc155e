#include <fmt/format.h>
#include <cmath>

#include <perp/analysis/convergence/fit.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/provenance.hpp>
#include <perp/io/study/study_csv.hpp>
#include <perp/io/study/study_text.hpp>

namespace perp::io {
namespace {

/// A number, or an empty cell where there is none.
std::string cell(double value) {
  return std::isnan(value) ? std::string() : fmt::format("{}", value);
}

std::string table_of(const ConvergenceStudy& study) {
  std::string text = "variant,h,steps,t_end,status";
  for (const ErrorKind kind : study.errors)
    text += fmt::format(",error_{0},order_{0},refused_{0}", to_string(kind));
  text += "\n";
  for (const VariantStudy& variant : study.variants)
    for (std::size_t k = 0; k < variant.rows.size(); ++k) {
      const StudyRow& row = variant.rows[k];
      text += fmt::format("{},{},{},{},{}", quoted(variant.label), row.run.h, row.run.steps,
                          row.run.t, to_string(row.run.status));
      for (std::size_t kind = 0; kind < study.errors.size(); ++kind)
        text += fmt::format(",{},{},{}", cell(row.errors[kind].value),
                            cell(k > 0 ? order_between(variant.rows[k - 1], row, kind) : nan),
                            quoted(to_string(row.errors[kind].refusal)));
      text += "\n";
    }
  return text;
}

Json description_of(const ConvergenceStudy& study, const VariantStudy& variant,
                    const std::vector<std::string>& set) {
  Json json = provenance(variant.model, {}, set);
  for (const char* of_one_run : {"status", "message", "counts", "events", "program", "version"})
    json.erase(of_one_run);
  json["options"].erase("h");  // varied
  json["variant"] = variant.label;
  json["reference"] = variant.reference.text;
  for (std::size_t kind = 0; kind < study.errors.size(); ++kind) {
    const OrderFit line = fit_order(points_that_count(variant, kind));
    const char* name = to_string(study.errors[kind]);
    json["fits"][name] = {
        {"rows", line.rows}, {"order", to_json(line.order)}, {"factor", to_json(line.factor)}};
    json["own_errors_of_reference"][name] =
        to_json(variant.reference.own_errors[static_cast<std::size_t>(study.errors[kind])]);
  }
  return json;
}

}  // namespace

std::vector<std::string> write_csv(const std::string& file, const ConvergenceStudy& study,
                                   const std::vector<std::string>& set) {
  write_file(file, table_of(study));
  Json json{{"program", "perp"},
            {"version", PERP_VERSION},
            {"compared", study.names},
            {"whole_steps", study.whole_steps}};
  json["variants"] = Json::array();
  for (const VariantStudy& variant : study.variants)
    json["variants"].push_back(description_of(study, variant, set));
  const std::string beside = file + ".json";
  write_file(beside, json.dump(1) + "\n");
  return {file, beside};
}

}  // namespace perp::io
