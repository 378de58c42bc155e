#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include <perp/analysis/convergence/reference.hpp>
#include <perp/analysis/convergence/study.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/interrupt.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/cli/input/progress.hpp>
#include <perp/cli/input/threads.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/files/file_identity.hpp>
#include <perp/io/files/trajectory_file.hpp>
#include <perp/io/study/study_csv.hpp>
#include <perp/io/study/study_plot.hpp>
#include <perp/io/study/study_text.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/models/language/run_options.hpp>

namespace perp::cli {
namespace {

struct ConvergeArguments {
  ModelOptions model;
  std::vector<std::string> models;
  std::string steps, reference, reference_events, schemes, selectors, plot, output;
  std::string errors = "end";
  bool whole_steps = false;
  int jobs = 0;  ///< 0: as many as the machine has cores
};

/// The words of an option that varies what another one sets; that one where it is not given.
std::vector<std::string> words_of(const std::string& list, const char* option,
                                  const std::string& single, const char* single_option) {
  if (list.empty()) return {single};
  if (!single.empty())
    throw InvalidInput(
        fmt::format("{} and {} are both given; expected one", option, single_option));
  std::vector<std::string> words = split_list(list);
  for (const std::string& word : words) {
    if (word.empty()) throw InvalidInput(fmt::format("{} {}: a name is missing", option, list));
    if (std::count(words.begin(), words.end(), word) > 1)
      throw InvalidInput(fmt::format("{} {}: '{}' stands there twice", option, list, word));
  }
  return words;
}

/// The file's name without folder and ending where no other model has the same.
std::string label_of(const std::string& model, const std::vector<std::string>& models) {
  const auto stem = [](const std::string& name) {
    return std::filesystem::path(name).stem().string();
  };
  const auto same = std::count_if(models.begin(), models.end(), [&](const std::string& other) {
    return stem(other) == stem(model);
  });
  return same > 1 ? model : stem(model);
}

/// Of several schemes side by side each takes the flags that it reads; one that none of them reads
/// stays, and is an error.
void leave_to_readers(const std::vector<std::string>& schemes, const std::string& scheme,
                      ModelOptions& options) {
  for (auto& [key, value] : options.run) {
    const bool has_reader =
        std::any_of(schemes.begin(), schemes.end(),
                    [&key = key](const std::string& other) { return reads(other, key); });
    if (has_reader && !reads(scheme, key)) value.clear();
  }
}

/// What the variants of a study are made of.
struct VariantNames {
  std::vector<std::string> models, schemes, selectors;
};

/// In what a variant differs from the others.
std::string label_of(const VariantNames& all, const std::string& model, const std::string& scheme,
                     const std::string& selector) {
  std::vector<std::string> parts;
  if (all.models.size() > 1) parts.push_back(label_of(model, all.models));
  if (all.schemes.size() > 1) parts.push_back(scheme);
  if (all.selectors.size() > 1) parts.push_back(selector);
  return parts.empty() ? label_of(model, all.models) : fmt::format("{}", fmt::join(parts, ", "));
}

/// One of these, read from its file.
StudyRequest::Variant variant_of(const ConvergeArguments& arguments, const VariantNames& all, const std::string& model,
                                 const std::string& scheme, const std::string& selector) {
  ModelOptions options = arguments.model;
  options.model = model;
  options.run["scheme"] = scheme;
  options.run["selector"] = selector;
  if (all.schemes.size() > 1) leave_to_readers(all.schemes, scheme, options);
  const auto reader = std::make_shared<const ModelReader>(options);
  const auto read = [reader] { return (*reader)({}, {}, ""); };
  return {label_of(all, model, scheme, selector), read(), read};
}

/// Every model with every scheme and every selector.
std::vector<StudyRequest::Variant> variants_of(const ConvergeArguments& arguments) {
  const auto given = [&](const char* key) {
    const auto found = arguments.model.run.find(key);
    return found == arguments.model.run.end() ? std::string() : found->second;
  };
  const VariantNames all{
      arguments.models, words_of(arguments.schemes, "--schemes", given("scheme"), "--scheme"),
      words_of(arguments.selectors, "--selectors", given("selector"), "--selector")};
  std::vector<StudyRequest::Variant> variants;
  for (const std::string& model : arguments.models) {
    if (std::count(arguments.models.begin(), arguments.models.end(), model) > 1)
      throw InvalidInput(fmt::format("the model {} stands there twice", model));
    for (const std::string& scheme : all.schemes)
      for (const std::string& selector : all.selectors)
        variants.push_back(variant_of(arguments, all, model, scheme, selector));
  }
  return variants;
}

/// The kind that --reference names; what is no other word is a file. Throws InvalidInput for a word
/// that is none.
std::optional<ReferenceKind> reference_kind(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (text == "exact") return ReferenceKind::exact;
  if (text == "finest") return ReferenceKind::finest;
  if (text == "located") return ReferenceKind::located;
  const std::array<std::string, 3> known{"exact", "finest", "located"};
  std::error_code error;
  // What looks like a path is one; a word may be misspelt.
  if (text.find_first_of("./") == std::string::npos && !std::filesystem::exists(text, error))
    throw InvalidInput(fmt::format(
        "--reference {0}: there is no file {0}; expected exact, finest, located or a file{1}", text,
        suggestion(text, known)));
  return ReferenceKind::file;
}

/// A line on standard error for each run that takes long, until an interrupt.
RunWatch watch_on_terminal() {
  const auto progress = [](Span span) -> std::function<void(double t)> {
    const auto line = std::make_shared<Progress>(span, true);
    return [line](double t) { line->at(t); };
  };
  return {interrupted, progress};
}

/// Different kinds "end,trajectory,events". Throws InvalidInput.
std::vector<ErrorKind> parse_error_kinds(const std::string& text) {
  const std::vector<ErrorKind> all{ErrorKind::end, ErrorKind::trajectory, ErrorKind::events};
  std::vector<std::string> names;
  for (const ErrorKind kind : all) names.emplace_back(to_string(kind));
  std::vector<ErrorKind> kinds;
  for (const std::string& name : split_list(text)) {
    kinds.push_back(all[find_name(name, names, "--error")]);
    if (std::count(kinds.begin(), kinds.end(), kinds.back()) > 1)
      throw InvalidInput(fmt::format("--error {}: '{}' stands there twice", text, name));
  }
  return kinds;
}

/// All but the variants and what files hold.
StudyRequest request_of(const ConvergeArguments& arguments) {
  StudyRequest request;
  request.steps = parse_step_lengths(arguments.steps);
  request.errors = parse_error_kinds(arguments.errors);
  request.reference = reference_kind(arguments.reference);
  request.recorded = {arguments.reference, [&file = arguments.reference](const auto& names) {
                        return read_trajectory(file, names);
                      }};
  request.whole_steps = arguments.whole_steps;
  request.threads = threads_from(arguments.jobs, "--jobs");
  request.watch = watch_on_terminal();
  if (!arguments.reference_events.empty() && request.errors == std::vector{ErrorKind::end})
    throw InvalidInput("--reference-events needs --error events or trajectory");
  return request;
}

/// Throws InvalidInput where a file that is written is one that is read, or an unknown kind of
/// file; FileError where it cannot be written.
void check_files(const ConvergeArguments& arguments, const std::vector<StudyRequest::Variant>& variants, const std::optional<Picture>& picture) {
  FilesOfCommand files;
  for (ModelOptions model = arguments.model; const std::string& name : arguments.models) {
    model.model = name;
    model.declare(files);
  }
  for (const StudyRequest::Variant& variant : variants) declare_data(files, variant.model);
  for (const auto& [option, file] : {std::pair{"--reference", &arguments.reference},
                                     {"--reference-events", &arguments.reference_events}})
    if (!file->empty()) files.reads(*file, option), files.reads(*file + ".json", fmt::format("{} (beside it)", option));
  const std::string& output = arguments.output;
  if (!output.empty() && std::filesystem::path(output).extension() != ".csv")
    throw InvalidInput(
        fmt::format("-o {}: unknown kind of file; expected a name that ends in .csv", output));
  files.writes_with_json(output, "-o");
  if (picture) picture->declare(files, "--plot");
}

/// The files that were asked for.
void write(const ConvergeArguments& arguments, const ConvergenceStudy& study,
           const std::optional<Picture>& picture) {
  std::vector<std::string> files;
  if (!arguments.output.empty()) files = write_csv(arguments.output, study, arguments.model.assignment_texts());
  for (const std::string& file : files) fmt::print("written {}\n", file);
  if (!picture) return;
  draw_order(*picture, plot_of(study));
  fmt::print("written {}\n", picture->file());
}

int execute(const ConvergeArguments& arguments) {
  StudyRequest request = request_of(arguments);
  std::optional<Picture> picture;
  if (!arguments.plot.empty()) picture.emplace(arguments.plot);
  request.variants = variants_of(arguments);
  check_files(arguments, request.variants, picture);
  catch_interrupts();
  if (!arguments.reference_events.empty())
    request.reference_events = read_events(arguments.reference_events);
  try {
    const ConvergenceStudy study = convergence_study(request);
    fmt::print("{}", text_of(study));
    write(arguments, study, picture);
    if (study.all_solved(request.steps.size())) return exit_solved;
    fmt::print(stderr, "perp converge: {}\n",
               interrupted() ? "interrupted" : "not every run was solved, see the table");
  } catch (const NoReference& error) {
    fmt::print(stderr, "perp converge: {}\n", error.what());
  }
  return exit_no_answer;
}

Action configure_converge(CommandLine& line) {
  const auto arguments = std::make_shared<ConvergeArguments>();
  line.add_option("MODEL", arguments->models,
                 "model files, or names of the zoo (perp list models); several: forms of one "
                 "system, side by side")
      .required()
      .type_name("");
  arguments->model.add_set_to(line);
  line.add_option("--h", arguments->steps,
                 "step lengths: a list, or FIRST:LAST:COUNT on a logarithmic scale")
      .required()
      .type_name("H,H,...");
  line.add_option("--error", arguments->errors,
                 "what is measured: end (at T), trajectory (the largest at the grid points of a "
                 "run), events (their times)")
      .type_name("WHAT,...")
      .default_text("end");
  line.add_option("--reference", arguments->reference,
                 "exact, finest (a run with the smallest h / 16), located (the located scheme, tol "
                 "1e-12), or FILE.csv or FILE.h5 of perp run; default: exact if the model has it "
                 "and no event times are measured, else finest")
      .type_name("WHAT");
  line.add_option("--reference-events", arguments->reference_events,
                 "events of the reference: a file of perp run --events")
      .type_name("FILE");
  line.add_flag("--whole-steps", arguments->whole_steps,
               "steps of length h only: a run ends at the first t_N = t_0 + N h not before T");
  line.add_option("--schemes", arguments->schemes, "several schemes side by side")
      .type_name("NAME,...");
  line.add_option("--selectors", arguments->selectors, "several selectors side by side")
      .type_name("NAME,...");
  line.add_option("--jobs", arguments->jobs,
                 "runs at the same time; default: one for each core. The result is the same for "
                 "any number")
      .type_name("N");
  line.add_option("-o,--output", arguments->output, "write the table to FILE.csv")
      .type_name("FILE");
  line.add_option("--plot", arguments->plot, "draw errors over h: FILE.svg, .png or .pdf (with its scripts and data), or .html, a page to zoom in")
      .type_name("FILE");
  arguments->model.run_keys = {"cross_check", "policy",          "scheme", "selector",
                               "petsc", "solver",      "split_at_events", "theta",  "tol"};  // h is varied
  arguments->model.add_span_to(line);
  arguments->model.add_scheme_to(line);
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command converge;
const Command converge{
    "converge", "measures the order of convergence over a list of step lengths",
    "Every run ends exactly at T. No order is claimed where errors are at rounding level, not far\n"
    "above the error of the reference itself, or of a run that does not end at T.\n\n"
    "examples:\n"
    "  perp converge switching_dae_variant37 --h 1e-3:1e-1:9 --plot order.svg\n"
    "  perp converge model.toml --h 0.1,0.05,0.025 --reference located --error end,events\n"
    "  perp converge switching_dae_crossing switching_dae_crossing_lcp --h 0.1,0.07 --selectors "
    "keep_mode,minimal_norm",
    configure_converge};

}  // namespace perp::cli
