// Questions about one state of a model, or one problem: their answers are the JSON that the program writes.
#include <perp/analysis/equilibria.hpp>
#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/analysis/jumps.hpp>
#include <perp/analysis/mlcp.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/first_step.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/solutions/step_answer.hpp>
#include <perp/analysis/solutions/trees.hpp>
#include <perp/analysis/well_posedness.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/hybrid/modes_text.hpp>
#include <perp/io/hybrid/structure_text.hpp>
#include <perp/io/mlcp_json.hpp>
#include <perp/io/solutions/merged_tree_text.hpp>
#include <perp/io/solutions/solutions_text.hpp>
#include <perp/io/solutions/step_text.hpp>
#include <perp/io/solutions/tree_text.hpp>
#include <perp/io/text/check_text.hpp>
#include <perp/io/text/equilibria_text.hpp>
#include <perp/io/text/jumps_text.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/well_posedness_text.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/hybrid/lower_binaries.hpp>
#include <perp/python/bindings.hpp>

namespace perp::python {
namespace {

using Names = std::vector<std::string>;
using Answer = std::tuple<std::string, std::string>;  ///< JSON, and text for people

constexpr long most_lines = 1000;  // of a tree
constexpr long most_listed = 50;   // solutions of a first step

double time_of(const Model& model, const std::optional<double>& t) { return t.value_or(model.run.span.start); }

Answer solutions_of(const ReadModel& model, const std::optional<double>& t, const Names& mode,
                    const std::optional<long>& max_nodes) {
  StepQuestion question{.t = time_of(*model, t)};
  if (!mode.empty()) question.present = PresentMode{mode_of(mode, model->laws(), "mode"), "mode"};
  if (max_nodes && !is_affine(*model))
    throw InvalidInput("max_nodes bounds an enumeration; the steps of this model are not affine and are searched mode "
                       "by mode: leave it out");
  if (max_nodes) question.limits.max_nodes = *max_nodes;
  return Computation().run([&]() -> Answer {
    const StepAnswer answer = answer_step(*model, model->x0(), question);
    io::Json json = io::to_json(*model, answer, question.t);
    json["describe"] = io::describe_class(answer.solutions);
    json["choice_is_listed"] = answer.choice_is_listed;
    json["choice_message"] = answer.choice.message;
    std::string text = io::step_text(*model, answer, question.t);
    if (answer.has_none()) text += io::violations_text(*model, answer);
    return {json.dump(), std::move(text)};
  });
}

Answer tree_of(const ReadModel& model, const std::optional<double>& t, int steps, long max_nodes) {
  return Computation().run([&]() -> Answer {
    const MergedTree tree = merged_tree_of(*model, model->x0(), time_of(*model, t), steps, max_nodes);
    return {io::to_json(*model, tree).dump(),
            "tree   " + io::describe_counts(tree, steps) + "\n" + io::merged_tree_text(*model, tree, most_lines)};
  });
}

/// The tree of discrete solutions of a run, as text.
std::string run_tree(const ReadModel& model) {
  return Computation().run([&] { return io::tree_text(*model, solution_tree_of(*model)); });
}

Answer jumps_from(const ReadModel& model, const std::optional<double>& t, const Names& mode,
                  const std::optional<long>& max_nodes) {
  JumpOptions options;
  if (max_nodes) options.max_nodes = *max_nodes;
  if (!mode.empty()) options.present = mode_of(mode, model->laws(), "mode");
  return Computation().run([&]() -> Answer {
    const double time = time_of(*model, t);
    const Vector x = model->x0();
    const ModelJumps found = jumps_of(*model, x, time, options);
    io::Json json = io::jumps_to_json(*model, found, x, time);
    json["message"] = found.jumps.message;
    json["proof"] = found.proof;
    json["proved"] = found.is_proved;
    return {json.dump(), io::jumps_text(*model, found, x, time)};
  });
}

Answer equilibria_from(const ReadModel& model, const std::optional<double>& t, int starts, double reach, unsigned seed,
                       bool tangents, bool virtuals) {
  EquilibriumOptions options;
  options.starts = starts;
  options.reach = reach;
  options.seed = seed;
  return Computation().run([&]() -> Answer {
    ModelEquilibria found = equilibria_of(*model, time_of(*model, t), options, tangents);
    if (!virtuals) found = without_virtual(std::move(found));
    return {io::to_json(*model, found).dump(), io::equilibria_text(*model, found)};
  });
}

/// Of a model with binaries; `previous` has NaN where nothing is known.
Answer modes_from(Source& source, const Overrides& overrides, const std::optional<double>& t,
                  const std::vector<std::pair<std::string, double>>& previous) {
  const ModelText text = source.parsed({{"t"}, true, false});
  std::optional<HybridModel> model =
      in_words_of(overrides, [&] { return text.read_hybrid(items_of(overrides)); });
  if (!model)
    throw InvalidInput(source.name() + ": the model has neither binaries nor constraints; perp.jumps and "
                                       "perp.solutions know the modes of laws");
  const std::vector<double> values = previous_values(*model, previous, "previous");
  return Computation().run([&]() -> Answer {
    const Vector x = model->head.x0();
    const double time = time_of(model->head, t);
    HybridModes modes(*std::move(model));
    const HybridContinuations found = modes.continuations(time, x, values, {.stop = interruption_requested});
    check_interruption();
    return {io::modes_to_json(modes, found).dump(), io::modes_table(modes, found)};
  });
}

io::Json modes_to_json(const Model& model, const ModelModes& modes) {
  io::Json list = io::Json::array();
  for (const ModeWellPosedness& mode : modes.list) {
    io::Json product = io::Json::array();
    for (const auto& row : mode.product.rowwise()) product.push_back(io::to_json(Vector(row)));
    list.push_back({{"mode", describe(model.laws(), mode.mode)},
                    {"branches", mode.mode},
                    {"fault", mode.fault},
                    {"regular", mode.index.has_value()},
                    {"index", mode.index ? io::Json(*mode.index) : io::Json(nullptr)},
                    {"C_i B", product},
                    {"singular_step", mode.has_singular_step()},
                    {"reciprocal_condition", io::to_json(mode.reciprocal_condition)}});
  }
  return list;
}

/// The first step as the scheme makes it, and all its solutions.
void add_first_step(const Model& model, io::Json& json, std::string& text) {
  const Trajectory run = first_step(model);
  text += io::scheme_start_text(model, run);
  json["status"] = to_string(run.status);
  json["message"] = run.message;
  if (!starts(model, run)) return;
  const ListedSolutions solutions = solutions_of_first_step(model, run, most_listed);
  text += "first step   " + io::describe_class(solutions) + "; selector " + model.run.selector + "\n";
  if (!solutions.listed.empty()) text += io::table_of(solutions, model, "  ");
  if (run.status != Status::solved) text += "  " + run.message + "\n";
  json["first_step"] = io::to_json(solutions, model);
}

Answer check_model(const Model& model, std::string text) {
  const ModelModes modes = well_posedness(model);
  const ModelSteps steps = solvability_of_steps(model);
  const std::string one_step = io::steps_text(model, steps);
  text += io::variables_text(model) + io::system_text(model) + io::laws_text(model) + io::modes_text(model, modes) + one_step;
  text += is_affine(model) ? io::start_text(model, consistency_of_start(model))
                           : "start        " + io::named_values(variable_names(model), model.x0()) + "\n";
  io::Json json{{"count", modes.count},
                {"is_linearised", modes.is_linearised},
                {"modes", modes_to_json(model, modes)},
                {"one_step", one_step},
                {"unique_step", steps.is_affine && !model.laws().empty() && steps.found.at_h.is_unique()}};
  add_first_step(model, json, text);
  return {json.dump(), std::move(text)};
}

/// Of a model whose binaries no laws of their own stand for, their structure and start.
Answer check(Source& source, const Overrides& overrides) {
  std::string text;
  const std::optional<HybridModel> hybrid =
      in_words_of(overrides, [&] { return source.parsed({}).read_hybrid(items_of(overrides)); });
  if (hybrid) {
    text = io::structure_text(*hybrid);
    const std::string reason = reason_for_binaries(*hybrid);
    if (!reason.empty())
      return Computation().run([&] {
        text += io::start_modes_text(*hybrid, shown_start_modes(*hybrid, interruption_requested));
        return Answer{io::Json{{"binaries", reason}}.dump(), text};
      });
  }
  const ReadModel model = source.read({}, overrides);
  return Computation().run([&] { return check_model(*model, std::move(text)); });
}

/// The problem is that of a file of `perp mlcp`.
std::string mlcp(const std::string& problem, const std::string& name, const std::string& method,
                 const std::optional<long>& max_nodes, const std::string& arithmetic) {
  const io::MlcpFile file = io::read_mlcp_text(problem, name);
  const VertexArithmetic vertices = arithmetic == "exact"    ? VertexArithmetic::rational
                                    : arithmetic == "double" ? VertexArithmetic::floating
                                                             : VertexArithmetic::by_size;
  return Computation().run([&] {
    if (method == "nearest") {
      NearestSearchOptions options;
      if (max_nodes) options.max_nodes = *max_nodes;
      return io::to_json(file, find_nearest(file.problem, file.norm ? *file.norm : euclidean_norm(file.problem), options))
          .dump();
    }
    if (!method.empty()) return io::to_json(file, method, solve(solver(method), file.problem)).dump();
    EnumerateOptions limits;
    if (max_nodes) limits.max_nodes = *max_nodes;
    return io::to_json(file, all_solutions(file.problem, limits, vertices, file.norm ? &file.weighted_norm : nullptr))
        .dump();
  });
}

}  // namespace

void bind_analyses(py::module_& module) {
  const EquilibriumOptions equilibria;
  module.def("solutions", &solutions_of);
  module.def("tree", &tree_of);
  module.def("run_tree", &run_tree);
  module.def("jumps", &jumps_from);
  module.def("equilibria", &equilibria_from);
  module.attr("equilibria_defaults") = py::make_tuple(equilibria.starts, equilibria.reach, equilibria.seed);
  module.def("modes", &modes_from);
  module.def("check", &check);
  module.def("mlcp", &mlcp);
}

}  // namespace perp::python
