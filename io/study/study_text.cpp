#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/analysis/convergence/differences.hpp>
#include <perp/analysis/convergence/fit.hpp>
#include <perp/io/study/study_text.hpp>
#include <perp/io/study/study_verdict.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/text_table.hpp>

namespace perp::io {
namespace {

std::string scheme_of(const Model& model) {
  return fmt::format("{}{}, selector {}", model.run.scheme,
                     model.run.scheme == "theta" ? fmt::format(" ({:g})", model.run.theta) : "",
                     model.run.selector);
}

std::string header_of(const ConvergenceStudy& study) {
  std::string text;
  std::string names = fmt::format("{}", fmt::join(study.names, ", "));
  for (const ErrorKind kind : study.errors) {
    text += text.empty() ? "error      " : "           ";
    switch (kind) {
      case ErrorKind::end:
        text +=
            fmt::format("at T: largest |difference| of the differential variables {} at T = {:g}",
                        names, study.span.end);
        break;
      case ErrorKind::trajectory:
        text += fmt::format("largest: of the differential variables {} at the grid points of a run",
                            names);
        break;
      case ErrorKind::events:
        text += "event times: largest |difference|, matched by law, kind and order";
        break;
    }
    text += "\n";
  }
  if (!study.left_out.empty())
    text += fmt::format("           not compared, as not known everywhere: {}\n",
                        fmt::join(study.left_out, ", "));
  return text;
}

/// Of one variant: model, scheme, reference with what it is worth.
std::string description_of(const ConvergenceStudy& study, const VariantStudy& variant) {
  std::string text;
  if (study.variants.size() > 1) text += fmt::format("variant    {}\n", variant.label);
  text += fmt::format("model      {}\nscheme     {}\nreference  {}", title(variant.model),
                      scheme_of(variant.model), variant.reference.text);
  std::string own;
  for (const ErrorKind kind : study.errors) {
    const double error = variant.reference.own_errors[static_cast<std::size_t>(kind)];
    if (error > 0)
      own += fmt::format("{}{} about {:.1e}", own.empty() ? "" : ", ", column_of(kind), error);
  }
  return text + (own.empty() ? "" : fmt::format("; its own {}", own)) + "\n";
}

std::string note_of(const ConvergenceStudy& study, const StudyRow& row) {
  if (row.run.status != Status::solved)
    return fmt::format("{}: {}", to_string(row.run.status), row.run.message);
  std::string note;
  for (std::size_t kind = 0; kind < study.errors.size(); ++kind) {
    const Refusal refusal = row.errors[kind].refusal;
    if (refusal == Refusal::none) continue;
    note += note.empty() ? "" : "; ";
    if (study.errors.size() > 1) note += fmt::format("{}: ", column_of(study.errors[kind]));
    note += to_string(refusal);
  }
  return note;
}

/// Row k of the table of a variant: orders are those between it and the row before.
std::vector<std::string> row_of(const ConvergenceStudy& study, const VariantStudy& variant, std::size_t k) {
  const StudyRow& row = variant.rows[k];
  std::vector<std::string> fields{fmt::format("{:.6g}", row.run.h),
                                  fmt::format("{}", row.run.steps)};
  if (study.whole_steps)
    fields.push_back(row.run.status == Status::solved
                         ? fmt::format("{:.6g}", row.run.t - study.span.end)
                         : "-");
  for (std::size_t kind = 0; kind < study.errors.size(); ++kind) {
    const double error = row.errors[kind].value;
    const double order = k > 0 ? order_between(variant.rows[k - 1], row, kind) : nan;
    fields.push_back(std::isnan(error) ? "-" : fmt::format("{:.6e}", error));
    fields.push_back(std::isnan(order) ? "-" : fmt::format("{:.3f}", order));
  }
  fields.push_back(note_of(study, row));
  return fields;
}

std::string table_of(const ConvergenceStudy& study, const VariantStudy& variant) {
  std::vector<std::string> header{"h", "steps"};
  if (study.whole_steps) header.emplace_back("t_N - T");
  for (const ErrorKind kind : study.errors) {
    header.emplace_back(column_of(kind));
    header.emplace_back("order");
  }
  header.emplace_back("");
  TextTable table(header);
  for (std::size_t k = 0; k < variant.rows.size(); ++k) table.add(row_of(study, variant, k));
  return table.text();
}

/// The fitted orders of all variants, one below the other.
std::string orders_of(const ConvergenceStudy& study) {
  std::vector<std::string> header{"fitted orders"};
  for (const ErrorKind kind : study.errors) header.emplace_back(column_of(kind));
  TextTable table(header);
  for (const VariantStudy& variant : study.variants) {
    std::vector<std::string> fields{variant.label};
    for (std::size_t kind = 0; kind < study.errors.size(); ++kind) {
      const OrderFit line = fit_order(points_that_count(variant, kind));
      fields.push_back(line.has_order() ? fmt::format("{:.3f}", line.order) : "-");
    }
    table.add(std::move(fields));
  }
  return table.text();
}

/// What a difference says beside its figures.
const char* word_of(const StudyDifference& difference) {
  if (std::isnan(difference.largest)) return "not both are solved";
  if (difference.largest == 0) return "identical";
  return difference.largest <= difference.rounding ? "equal up to rounding" : "";
}

std::string differences_of(const ConvergenceStudy& study, std::size_t k) {
  const std::vector<StudyDifference> list = differences(study, k);
  std::string text =
      fmt::format("{} and {}: ", study.variants.front().label, study.variants[k].label);
  const auto all = [&](const auto& property) {
    return !list.empty() && std::all_of(list.begin(), list.end(), property);
  };
  if (all([](const StudyDifference& d) { return d.largest == 0; }))
    return text + "identical at every grid point of every h\n";
  if (all([](const StudyDifference& d) { return d.largest <= d.rounding; }))
    return text + "equal up to rounding at every grid point of every h\n";
  text += fmt::format("largest difference of {} at a grid point\n", fmt::join(study.names, ", "));
  TextTable table({"h", "difference", "at t", ""});
  for (const StudyDifference& d : list) {
    const bool is_known = !std::isnan(d.largest);
    table.add({fmt::format("{:.6g}", d.h), is_known ? fmt::format("{:.6e}", d.largest) : "-",
               is_known && d.largest > 0 ? fmt::format("{:.6g}", d.t) : "-", word_of(d)});
  }
  return text + table.text("  ");
}

}  // namespace

const char* column_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::end: return "error at T";
    case ErrorKind::trajectory: return "largest error";
    case ErrorKind::events: return "event times";
  }
  return "unknown";
}

std::string text_of(const ConvergenceStudy& study) {
  std::string text;
  for (const VariantStudy& variant : study.variants) {
    text += (text.empty() ? "" : "\n") + description_of(study, variant);
    if (&variant == &study.variants.front()) text += header_of(study);
    text += "\n" + table_of(study, variant) + "\n";
    for (std::size_t kind = 0; kind < study.errors.size(); ++kind)
      text += verdict(study, variant, kind,
                      study.errors.size() > 1 ? column_of(study.errors[kind]) : "");
  }
  if (study.variants.size() > 1) text += "\n" + orders_of(study) + "\n";
  for (std::size_t k = 1; k < study.variants.size(); ++k) text += differences_of(study, k);
  return text;
}

}  // namespace perp::io
