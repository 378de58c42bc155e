// Points of rest as text and as JSON.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/analysis/run/columns.hpp>
#include <perp/core/base/index.hpp>
#include <perp/io/text/equilibria_text.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/text_table.hpp>

namespace perp::io {
namespace {

/// "-0.5 ± 1.66i, -3": a pair of complex eigenvalues once.
std::string eigenvalue_text(const std::vector<std::complex<double>>& values) {
  std::string text;
  for (const std::complex<double>& value : values) {
    if (value.imag() < 0) continue;
    text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", value.real());
    if (value.imag() > 0) text += fmt::format(" ± {:.6g}i", value.imag());
  }
  return text.empty() ? "none" : text;
}

/// What is rounding beside `size` is 0 to people.
double shown(double value, double size) { return std::abs(value) <= 1e-14 * size ? 0 : value; }

/// What is no larger than its error is 0 to people.
double known(double value, double error) { return std::abs(value) <= error ? 0 : value; }

/// The largest multiplier of each law in the solutions that start from a point.
Vector largest_multipliers(const Equilibrium& e) {
  Vector largest = e.lambda.cwiseAbs();
  for (const Equilibrium::Start& start : e.continuations) largest = largest.cwiseMax(start.lambda.cwiseAbs());
  return largest;
}

std::string kind_text(const Equilibrium& e) {
  const std::string text =
      e.kind == EquilibriumKind::pseudo ? "pseudo-equilibrium" : to_string(e.kind);
  if (e.isolated) return text;
  return text + (e.kind == EquilibriumKind::outside
                     ? ", one of a continuum, of which others may be real"
                     : ", one of a continuum");
}

/// " at a boundary; in its modes alone repelling, attracting"
std::string modes_text(const Equilibrium& e) {
  if (e.kind != EquilibriumKind::boundary) return {};
  std::string text = fmt::format(" at a boundary; in its {} alone {}", e.also.empty() ? "mode" : "modes", to_string(e.stability));
  for (const Stability stability : e.in_also) text += fmt::format(", {}", to_string(stability));
  return text;
}

/// "saddle: attracting along the surface; 3 solutions start here, 2 in another mode"
std::string stability_text(const Equilibrium& e) {
  std::string text = to_string(e.overall) + modes_text(e);
  const bool has_surface = e.kind == EquilibriumKind::pseudo && (e.overall != e.stability || e.continuations.size() > 1);
  if (has_surface) text += fmt::format(": {} along the surface", to_string(e.stability));
  if (e.kind == EquilibriumKind::outside || e.continuations.size() == 1) return text;
  const auto others = std::count_if(e.continuations.begin(), e.continuations.end(), [&](const Equilibrium::Start& start) {
    return start.mode != e.mode && std::count(e.also.begin(), e.also.end(), start.mode) == 0;
  });
  return text + fmt::format("; {} solutions start here{}", e.continuations.size(),
                            others > 0 ? fmt::format(", {} in another mode", others) : "");
}

/// The sides of its surfaces, and the solutions that start from it where they are several.
std::string beside_text(const Model& model, const Equilibrium& e) {
  std::string text;
  for (const Equilibrium::Side& side : e.sides)
    text += fmt::format("    side         {}: solutions {}\n", describe(model.laws(), side.mode),
                        side.leaves ? "leave" : "arrive");
  if (e.continuations.size() < 2) return text;
  const Vector sizes = largest_multipliers(e);
  for (const Equilibrium::Start& start : e.continuations) {
    std::string values;
    for (Eigen::Index i = 0; i < start.lambda.size(); ++i)
      values += fmt::format("{}{:.6g}", values.empty() ? "" : ", ", shown(start.lambda[i], sizes[i]));
    text += fmt::format("    solution     {}: lambda = {}\n", describe(model.laws(), start.mode), values);
  }
  return text;
}

std::string points_text(const Model& model, const Equilibria& all, double t) {
  std::string text;
  const std::vector<std::string> names = variable_names(model);
  for (std::size_t k = 0; k < all.found.size(); ++k) {
    const Equilibrium& e = all.found[k];
    text += fmt::format("{:<3} {}\n", k + 1, kind_text(e));
    if (!model.laws().empty()) {
      text += fmt::format("    mode         {}\n", describe(model.laws(), e.mode));
      for (const Mode& mode : e.also)
        text += fmt::format("    and mode     {}\n", describe(model.laws(), mode));
    }
    for (Eigen::Index j = 0; j < e.x.size(); ++j)
      text += fmt::format("    {:<12} {:.12g}\n", names[at(j)], known(e.x[j], e.x_error[j]));
    for (Eigen::Index i = 0; i < e.w.size(); ++i)
      text += fmt::format("    {:<12} lambda = {:.12g}, w = {:.6g}\n", model.laws()[at(i)].name,
                          known(e.lambda[i], e.lambda_error[i]), known(e.w[i], e.w_error[i]));
    text += fmt::format("    eigenvalues  {}\n    flow         {}\n",
                        eigenvalue_text(e.eigenvalues), stability_text(e));
    text += beside_text(model, e);
    if (!e.constant)
      text += fmt::format(
          "    note         the equations change with time: at rest at t = {:.10g} only\n", t);
  }
  return text;
}

std::string tangents_text(const Model& model, const std::vector<TangentPoint>& points, const Vector& scale) {
  std::string text = fmt::format("tangent points {}\n", points.size());
  if (points.empty()) return text;
  std::vector<std::string> header{"law", "flow of"};
  for (const std::string& name : variable_names(model)) header.push_back(name);
  header.insert(header.end(), {"touch", "sliding"});
  TextTable table(header);
  for (const TangentPoint& point : points) {
    const auto law = static_cast<std::size_t>(point.law);
    const Branch& side = model.laws()[law].branches[static_cast<std::size_t>(point.mode[law])];
    std::vector<std::string> row{model.laws()[law].name, describe(side)};
    for (std::size_t j = 0; j < model.variables.size(); ++j)
      row.push_back(
          short_number(shown(point.x[static_cast<Eigen::Index>(j)], scale[static_cast<Eigen::Index>(j)])));
    row.push_back(fmt::format("{}, d2w/dt2 = {:.6g}{}",
                              point.curvature > 0 ? "visible" : "invisible",
                              std::abs(point.curvature), point.isolated ? "" : "; one of a curve"));
    row.emplace_back(point.at_end ? "ends here" : "does not reach here");
    table.add(row);
  }
  return text + table.text("  ");
}

Json json_of(const Model& model, const Equilibrium& e) {
  Json eigenvalues = Json::array();
  for (const std::complex<double>& value : e.eigenvalues)
    eigenvalues.push_back({to_json(value.real()), to_json(value.imag())});
  Json modes = Json::array({describe(model.laws(), e.mode)});
  for (const Mode& mode : e.also) modes.push_back(describe(model.laws(), mode));
  Json in_modes = Json::array({to_string(e.stability)});
  for (const Stability stability : e.in_also) in_modes.push_back(to_string(stability));
  Json starts = Json::array();
  for (const Equilibrium::Start& start : e.continuations)
    starts.push_back({{"mode", describe(model.laws(), start.mode)},
                      {"lambda", to_json(start.lambda)},
                      {"xdot", to_json(start.xdot)}});
  Json sides = Json::array();
  for (const Equilibrium::Side& side : e.sides)
    sides.push_back({{"mode", describe(model.laws(), side.mode)}, {"flow", side.leaves ? "leaves" : "arrives"}});
  return {{"kind", to_string(e.kind)},
          {"modes", modes},
          {"x", to_json(e.x)},
          {"lambda", to_json(e.lambda)},
          {"w", to_json(e.w)},
          {"eigenvalues", eigenvalues},
          {"stability", to_string(e.stability)},
          {"stability in modes", in_modes},
          {"overall", to_string(e.overall)},
          {"sides", sides},
          {"isolated", e.isolated},
          {"constant", e.constant},
          {"continuations", starts},
          {"residual", to_json(e.residual)}};
}

Json json_of(const Model& model, const TangentPoint& point) {
  return {{"law", model.laws()[static_cast<std::size_t>(point.law)].name},
          {"mode", describe(model.laws(), point.mode)},
          {"x", to_json(point.x)},
          {"lambda", to_json(point.lambda)},
          {"curvature", to_json(point.curvature)},
          {"visible", point.curvature > 0},
          {"isolated", point.isolated},
          {"sliding_ends", point.at_end}};
}

}  // namespace

std::string equilibria_text(const Model& model, const ModelEquilibria& found) {
  std::string text = fmt::format("model       {}\nequilibria  {}, from {} starts in each mode{}\n",
                                 title(model), found.points.found.size(), found.options.starts,
                                 found.virtual_points > 0 ? fmt::format("; {} virtual ones are left out", found.virtual_points) : "");
  text += points_text(model, found.points, found.t);
  if (found.tangents) text += tangents_text(model, *found.tangents, found.options.scale);
  return text;
}

Json to_json(const Model& model, const ModelEquilibria& found) {
  Json json{{"version", PERP_VERSION},
            {"model", {{"name", model.name}, {"file", model.file}, {"hash", model.hash}}},
            {"t", found.t},
            {"variables", variable_names(model)},
            {"starts", found.options.starts},
            {"seed", found.options.seed},
            {"all_modes", found.points.complete},
            {"virtual_left_out", found.virtual_points},
            {"equilibria", Json::array()}};
  for (const Equilibrium& e : found.points.found) json["equilibria"].push_back(json_of(model, e));
  if (!found.tangents) return json;
  json["tangent_points"] = Json::array();
  for (const TangentPoint& point : *found.tangents)
    json["tangent_points"].push_back(json_of(model, point));
  return json;
}

}  // namespace perp::io
