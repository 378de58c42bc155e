#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/interrupt.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/cli/input/reference.hpp>
#include <perp/cli/input/schemes.hpp>
#include <perp/cli/output/progress.hpp>
#include <perp/cli/output/text_table.hpp>
#include <perp/cli/plot/order_plot.hpp>
#include <perp/core/error.hpp>

namespace perp::cli {
namespace {

constexpr double finest_factor = 16;  // the reference run's h is the smallest h over this

struct ConvergeArguments {
  ModelOptions model;
  std::string steps, reference, plot;
};

struct Reference {
  Vector x;  ///< NaN where unknown
  std::string text;
};

struct Row {
  double h = 0;
  long steps = 0;
  double error = nan;
  double rounding = 0;  ///< errors up to here may be nothing but rounding
  Status status = Status::never_run;
  std::string message;

  [[nodiscard]] bool counts() const { return status == Status::solved && error > rounding; }
};

Trajectory run_to_end(Model model, double h) {
  model.run.h = h;
  Progress progress(model.run.span, true);
  IntegrateOptions options;
  options.keep = false;
  options.observer = [&progress](const Step& step) {
    progress.at(step.t);
    return !interrupted();
  };
  return scheme(model.run.scheme).run(model, options);
}

Reference reference_of(const ConvergeArguments& arguments, const Model& model,
                       const std::vector<double>& steps) {
  const double end = model.run.span.end;
  std::string kind = arguments.reference;
  if (kind.empty()) kind = model.exact.empty() ? "finest" : "exact";
  if (kind == "exact") {
    const Vector x = model.exact_at(end);
    if (x.size() == 0)
      throw InvalidInput(
          fmt::format("--reference exact: the model has no exact solution at t = {:g}{}", end,
                      model.exact.empty() ? " (an override of its values drops it)" : ""));
    return {x, fmt::format("exact solution of the model at T = {:g}", end)};
  }
  if (kind == "finest") {
    const double h = steps.back() / finest_factor;
    const Trajectory run = run_to_end(model, h);
    if (run.status != Status::solved)
      throw InvalidInput(fmt::format("the reference run with h = {:g} ended with {}: {}", h,
                                     to_string(run.status), run.message));
    return {run.x.back(),
            fmt::format("run with h = {:g}, the smallest h / {:g}", h, finest_factor)};
  }
  return {csv_row_at(kind, end, variable_names(model)), fmt::format("{} at T = {:g}", kind, end)};
}

/// Indices of the differential variables that the reference knows.
std::vector<int> compared(const Model& model, const Reference& reference) {
  std::vector<int> variables;
  for (const int j : model.differential_variables())
    if (std::isfinite(reference.x[j])) variables.push_back(j);
  if (variables.empty())
    throw InvalidInput("the reference knows none of the differential variables");
  return variables;
}

Row measure(const Model& model, double h, const Reference& reference,
            const std::vector<int>& variables) {
  const Trajectory run = run_to_end(model, h);
  Row row{h, 0, nan, 0, run.status, run.message};
  const auto steps = run.counts.find("steps");
  if (steps != run.counts.end()) row.steps = steps->second;
  if (run.status != Status::solved) return row;
  if (run.t.back() != model.run.span.end) {
    row.status = Status::not_solved;
    row.message = "the run did not end at T";
    return row;
  }
  row.error = 0;
  double scale = 0;
  for (const int j : variables) {
    row.error = std::max(row.error, std::abs(run.x.back()[j] - reference.x[j]));
    scale = std::max(scale, std::abs(reference.x[j]));
  }
  // Every step may add a rounding error of the size of the state.
  row.rounding = std::numeric_limits<double>::epsilon() * std::max(scale, 1e-300) *
                 (32 + static_cast<double>(row.steps));
  return row;
}

/// Least squares of log(error) over log(h).
struct Fit {
  double order = nan, factor = nan;
  int rows = 0;
};

Fit fit(const std::vector<Row>& rows) {
  Fit result;
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const Row& row : rows) {
    if (!row.counts()) continue;
    const double x = std::log(row.h);
    const double y = std::log(row.error);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
    ++result.rows;
  }
  const double n = result.rows;
  const double denominator = n * sxx - sx * sx;
  if (result.rows < 2 || denominator <= 0) return result;
  result.order = (n * sxy - sx * sy) / denominator;
  result.factor = std::exp((sy - result.order * sx) / n);
  return result;
}

void print_table(const std::vector<Row>& rows) {
  TextTable table({"h", "steps", "error", "order", ""});
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Row& row = rows[k];
    std::string order = "-";
    if (k > 0 && row.counts() && rows[k - 1].counts())
      order = fmt::format(
          "{:.3f}", std::log(rows[k - 1].error / row.error) / std::log(rows[k - 1].h / row.h));
    std::string note;
    if (row.status != Status::solved)
      note = fmt::format("{}: {}", to_string(row.status), row.message);
    else if (!row.counts())
      note = "at rounding level";
    table.add({fmt::format("{:.6g}", row.h), fmt::format("{}", row.steps),
               std::isnan(row.error) ? "-" : fmt::format("{:.6e}", row.error), order, note});
  }
  fmt::print("{}", table.text());
}

void print_fit(const std::vector<Row>& rows, const Fit& line) {
  const auto solved = std::count_if(rows.begin(), rows.end(),
                                    [](const Row& row) { return row.status == Status::solved; });
  if (line.rows >= 2)
    fmt::print(
        "fitted order {:.3f} over {} rows{}\n", line.order, line.rows,
        line.rows < solved ? "; the others are at rounding level and count for no order" : "");
  else if (line.rows == 0 && solved > 0)
    fmt::print("no order: exact at the grid points, every error is at rounding level\n");
  else
    fmt::print("no order: {} of {} errors can be compared\n", line.rows, rows.size());
}

OrderPlot picture_of(const Model& model, const std::vector<Row>& rows, const Fit& line,
                     const std::string& error) {
  OrderPlot plot{model.name, error, {}, line.rows >= 2, line.order, line.factor};
  for (const Row& row : rows)
    if (row.status == Status::solved) plot.points.push_back({row.h, row.error, row.counts()});
  if (plot.points.empty()) throw InvalidInput("there is no picture: no run was solved");
  return plot;
}

int execute(const ConvergeArguments& arguments) {
  const Model model = read(arguments.model);
  const std::vector<double> steps = parse_step_lengths(arguments.steps);
  std::optional<Picture> picture;
  if (!arguments.plot.empty()) picture.emplace(arguments.plot);
  catch_interrupts();
  const Reference reference = reference_of(arguments, model, steps);
  const std::vector<int> variables = compared(model, reference);
  std::string names;
  for (const int j : variables)
    names += (names.empty() ? "" : ", ") + model.variables[static_cast<std::size_t>(j)].name;
  const std::string error = fmt::format("error max|x - reference| at T = {:g}", model.run.span.end);

  std::vector<Row> rows;
  for (const double h : steps) {
    if (interrupted()) break;
    rows.push_back(measure(model, h, reference, variables));
  }
  fmt::print("model      {}\n", title(model));
  fmt::print("scheme     {}{}, selector {}\n", model.run.scheme,
             model.run.scheme == "theta" ? fmt::format(" ({:g})", model.run.theta) : "",
             model.run.selector);
  fmt::print("reference  {}\n", reference.text);
  fmt::print("error      largest |difference| of the differential variables {} at T = {:g}\n\n",
             names, model.run.span.end);
  print_table(rows);
  const Fit line = fit(rows);
  fmt::print("\n");
  print_fit(rows, line);
  if (picture) {
    draw_order(*picture, picture_of(model, rows, line, error));
    fmt::print("written {}\n", picture->file());
  }
  const bool all_solved = rows.size() == steps.size() &&
                          std::all_of(rows.begin(), rows.end(),
                                      [](const Row& row) { return row.status == Status::solved; });
  if (all_solved) return exit_solved;
  fmt::print(stderr, "perp converge: {}\n",
             interrupted() ? "interrupted" : "not every run was solved, see the table");
  return exit_no_answer;
}

Action configure(CLI::App& app) {
  const auto arguments = std::make_shared<ConvergeArguments>();
  arguments->model.add_to(app);
  app.add_option("--h", arguments->steps,
                 "step lengths: a list, or FIRST:LAST:COUNT on a logarithmic scale")
      ->required()
      ->type_name("H,H,...");
  app.add_option("--reference", arguments->reference,
                 "exact, finest (a run with the smallest h / 16) or FILE.csv; default: exact if "
                 "the model has it, else finest")
      ->type_name("WHAT");
  app.add_option("--plot", arguments->plot, "draw errors over h: FILE.svg, .png or .pdf")
      ->type_name("FILE");
  arguments->model.add_span_to(app);
  arguments->model.add_scheme_to(app);
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command converge;
const Command converge{
    "converge", "measures the order of convergence over a list of step lengths",
    "Every run ends exactly at T. Errors at the level of rounding count for no order.\n\n"
    "examples:\n"
    "  perp converge switching_dae_variant37 --h 1e-3:1e-1:9 --plot order.svg\n"
    "  perp converge model.toml --h 0.1,0.05,0.025 --reference finest",
    configure};

}  // namespace perp::cli
