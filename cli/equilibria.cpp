#include <fmt/format.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <optional>

#include <perp/cli/command.hpp>
#include <perp/cli/input/state_options.hpp>
#include <perp/cli/output/provenance.hpp>
#include <perp/cli/output/summary.hpp>
#include <perp/cli/output/text_table.hpp>
#include <perp/core/base/error.hpp>
#include <perp/schemes/located/equilibria/equilibria.hpp>

namespace perp::cli {
namespace {

struct EquilibriaArguments {
  ModelOptions model;
  StateOptions state;
  EquilibriumOptions options;
  std::optional<double> reach;    ///< none: as the library
  std::optional<unsigned> seed;  ///< the same
  bool tangents = false, json = false;
};

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

std::string kind_text(const Equilibrium& e) {
  const std::string text =
      e.kind == EquilibriumKind::pseudo ? "pseudo-equilibrium" : to_string(e.kind);
  if (e.isolated) return text;
  return text + (e.kind == EquilibriumKind::outside
                     ? ", one of a continuum, of which others may be real"
                     : ", one of a continuum");
}

std::string stability_text(const Equilibrium& e) {
  if (e.kind == EquilibriumKind::outside) return to_string(e.stability);
  if (e.continuations.size() == 1) return to_string(e.stability);
  return fmt::format("{}; {} solutions start here", to_string(e.stability), e.continuations.size());
}

void print_equilibria(const Model& model, const Equilibria& all, double t) {
  const std::vector<std::string> names = variable_names(model);
  for (std::size_t k = 0; k < all.found.size(); ++k) {
    const Equilibrium& e = all.found[k];
    fmt::print("{:<3} {}\n", k + 1, kind_text(e));
    if (!model.laws().empty()) {
      fmt::print("    mode         {}\n", describe(model.laws(), e.mode));
      for (const Mode& mode : e.also)
        fmt::print("    and mode     {}\n", describe(model.laws(), mode));
    }
    for (std::size_t j = 0; j < names.size(); ++j)
      fmt::print("    {:<12} {:.12g}\n", names[j],
                 shown(e.x[static_cast<Eigen::Index>(j)], model.variables[j].nominal));
    for (std::size_t i = 0; i < model.laws().size(); ++i)
      fmt::print("    {:<12} lambda = {:.12g}, w = {:.6g}\n", model.laws()[i].name,
                 shown(e.lambda[static_cast<Eigen::Index>(i)], 1),
                 shown(e.w[static_cast<Eigen::Index>(i)], 1));
    fmt::print("    eigenvalues  {}\n    flow         {}\n", eigenvalue_text(e.eigenvalues),
               stability_text(e));
    if (e.continuations.size() > 1)
      for (const Equilibrium::Start& start : e.continuations) {
        std::string text;
        for (const double lambda : start.lambda)
          text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", shown(lambda, 1));
        fmt::print("    solution     {}: lambda = {}\n", describe(model.laws(), start.mode), text);
      }
    if (!e.constant)
      fmt::print("    note         the equations change with time: at rest at t = {:.10g} only\n",
                 t);
  }
}

void print_tangents(const Model& model, const std::vector<TangentPoint>& points) {
  fmt::print("tangent points {}\n", points.size());
  if (points.empty()) return;
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
          short_number(shown(point.x[static_cast<Eigen::Index>(j)], model.variables[j].nominal)));
    row.push_back(fmt::format("{}, d2w/dt2 = {:.6g}{}",
                              point.curvature > 0 ? "visible" : "invisible",
                              std::abs(point.curvature), point.isolated ? "" : "; one of a curve"));
    row.emplace_back(point.at_end ? "ends here" : "does not reach here");
    table.add(row);
  }
  fmt::print("{}", table.text("  "));
}

Json json_of(const Model& model, const Equilibrium& e) {
  Json eigenvalues = Json::array();
  for (const std::complex<double>& value : e.eigenvalues)
    eigenvalues.push_back({to_json(value.real()), to_json(value.imag())});
  Json modes = Json::array({describe(model.laws(), e.mode)});
  for (const Mode& mode : e.also) modes.push_back(describe(model.laws(), mode));
  Json starts = Json::array();
  for (const Equilibrium::Start& start : e.continuations)
    starts.push_back({{"mode", describe(model.laws(), start.mode)},
                      {"lambda", to_json(start.lambda)},
                      {"xdot", to_json(start.xdot)}});
  return {{"kind", to_string(e.kind)},
          {"modes", modes},
          {"x", to_json(e.x)},
          {"lambda", to_json(e.lambda)},
          {"w", to_json(e.w)},
          {"eigenvalues", eigenvalues},
          {"stability", to_string(e.stability)},
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

Json json_of(const Model& model, const EquilibriaArguments& arguments, const Equilibria& all,
             const std::vector<TangentPoint>& tangents, double t) {
  Json json{{"version", PERP_VERSION},
            {"model", {{"name", model.name}, {"file", model.file}, {"hash", model.hash}}},
            {"t", t},
            {"variables", variable_names(model)},
            {"starts", arguments.options.starts},
            {"seed", arguments.options.seed},
            {"all_modes", all.complete},
            {"equilibria", Json::array()}};
  for (const Equilibrium& e : all.found) json["equilibria"].push_back(json_of(model, e));
  if (!arguments.tangents) return json;
  json["tangent_points"] = Json::array();
  for (const TangentPoint& point : tangents)
    json["tangent_points"].push_back(json_of(model, point));
  return json;
}

/// Throws InvalidInput for options of the other starts where there is only the first.
void read_other_starts(EquilibriaArguments& arguments) {
  for (const auto& [option, is_given] : {std::pair{"--reach", arguments.reach.has_value()},
                                         {"--seed", arguments.seed.has_value()}})
    if (is_given && arguments.options.starts == 1)
      throw InvalidInput(fmt::format(
          "{} is of the starts after the first: it has no effect with --starts 1", option));
  if (arguments.reach && !std::isfinite(*arguments.reach))
    throw InvalidInput(fmt::format("--reach is {}; expected a finite number", *arguments.reach));
  arguments.options.reach = arguments.reach.value_or(arguments.options.reach);
  arguments.options.seed = arguments.seed.value_or(arguments.options.seed);
}

int execute(EquilibriaArguments arguments) {
  read_other_starts(arguments);
  const Model model = arguments.state.read(arguments.model);
  const Dcs system = model.equations ? *model.equations : as_dcs(model.lcs());
  const double t = arguments.state.t(model);
  arguments.options.scale.resize(static_cast<Eigen::Index>(model.variables.size()));
  for (std::size_t j = 0; j < model.variables.size(); ++j)
    arguments.options.scale[static_cast<Eigen::Index>(j)] = model.variables[j].nominal;
  const Equilibria all = find_equilibria(system, t, model.x0(), arguments.options);
  std::vector<TangentPoint> tangents;
  if (arguments.tangents) tangents = find_tangent_points(system, t, model.x0(), arguments.options);
  if (arguments.json) {
    fmt::print("{}\n", json_of(model, arguments, all, tangents, t).dump(1));
  } else {
    fmt::print("model       {}\nequilibria  {}, from {} starts in each mode\n", title(model),
               all.found.size(), arguments.options.starts);
    print_equilibria(model, all, t);
    if (arguments.tangents) print_tangents(model, tangents);
  }
  if (!all.complete)
    fmt::print(stderr, "perp equilibria: only the first {} modes were looked at\n",
               arguments.options.most_modes);
  const bool none = all.found.empty() && tangents.empty();
  if (none) fmt::print(stderr, "perp equilibria: none was found\n");
  return none ? exit_no_answer : exit_solved;
}

Action configure_equilibria(CLI::App& app) {
  const auto arguments = std::make_shared<EquilibriaArguments>();
  EquilibriumOptions& options = arguments->options;
  arguments->model.run_keys = {"t"};
  arguments->model.add_to(app);
  arguments->state.add_to(app, "the first start", "the time at which the equations are looked at");
  app.add_option("--starts", options.starts, "starts in each mode; 1: only the first")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--reach", arguments->reach,
                 "how far the other starts lie from the first, in units of |x| + nominal")
      ->type_name("NUMBER")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", arguments->seed, "of the other starts")->type_name("NUMBER");
  app.add_flag("--tangents", arguments->tangents,
               "also the points where a flow touches a surface with sliding");
  app.add_flag("--json", arguments->json, "write JSON");
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command equilibria;
const Command equilibria{
    "equilibria", "points at rest in each mode, with the eigenvalues of its (sliding) flow",
    "A pseudo-equilibrium rests while a law slides; a boundary one is at the end of a branch; a\n"
    "virtual one solves the equations of a mode beyond the ends of its branches.\n\n"
    "examples:\n"
    "  perp equilibria soft_drink_paired\n"
    "  perp equilibria filippov_dae --tangents\n"
    "  perp equilibria model.toml --at x1=2,x2=0.5 --starts 1 --json",
    configure_equilibria};

}  // namespace perp::cli
