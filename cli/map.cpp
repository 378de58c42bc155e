#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include <perp/analysis/run/columns.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/state_options.hpp>
#include <perp/cli/input/threads.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/files/file_identity.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/maps/map_csv.hpp>
#include <perp/io/maps/map_hdf5.hpp>
#include <perp/io/maps/map_provenance.hpp>
#include <perp/io/maps/map_text.hpp>
#include <perp/io/plot/map_plot.hpp>

namespace perp::cli {
namespace {

constexpr double most_values = 1e6;  // on one axis

struct MapArguments {
  ModelOptions model;
  std::vector<std::string> vary, at;
  std::string what = "solutions", output, plot;
  int threads = 0;  ///< 0: as many as the machine has cores
};

/// NAME=FIRST:LAST:COUNT of --vary. Throws InvalidInput.
MapAxis parse_axis(const std::string& text) {
  const Override assignment = parse_assignment(text, "--vary");
  const auto parts = split_points(assignment.value);
  if (!parts)
    throw InvalidInput(
        fmt::format("--vary {}: expected NAME=FIRST:LAST:COUNT, as in B1=-2:2:161", text));
  const std::string what = "--vary " + assignment.key;
  MapAxis axis{.name = assignment.key,
               .first = parse_number((*parts)[0], what),
               .last = parse_number((*parts)[1], what)};
  const double count = parse_number((*parts)[2], what);
  if (!is_count(count, most_values))
    throw InvalidInput(
        fmt::format("--vary {}: the count is {}; expected a whole number from 2 to "
                    "{:.0f}",
                    text, count, most_values));
  axis.count = static_cast<int>(count);
  if (axis.first == axis.last)
    throw InvalidInput(fmt::format("--vary {}: expected two different ends", text));
  if (!std::isfinite(axis.first * count) || !std::isfinite(axis.last * count))
    throw InvalidInput(fmt::format("--vary {}: the ends are too large", text));
  return axis;
}

/// Throws InvalidInput where an option gives a value to what is varied.
void check_set_values(const ModelOptions& model, const std::vector<MapAxis>& axes) {
  for (const MapAxis& axis : axes) {
    const auto excluded = [&](const std::string& option) {
      throw InvalidInput(
          fmt::format("{}: {} is varied by --vary; expected it in one of them", option, axis.name));
    };
    for (const auto& [item, written] : model.assignments())
      if (same_key(item.key, axis.name)) excluded(written);
    const auto h = model.run.find("h");
    if (axis.name == "run.h" && h != model.run.end() && !h->second.empty())
      excluded("--h " + h->second);
  }
}

/// What --vary varies. Throws InvalidInput.
std::vector<MapAxis> axes_of(const MapArguments& arguments, const Model& model) {
  if (arguments.vary.empty())
    throw InvalidInput("--vary is missing; expected NAME=FIRST:LAST:COUNT, as in B1=-2:2:161");
  std::vector<MapAxis> axes;
  for (const std::string& text : arguments.vary) axes.push_back(parse_axis(text));
  check_axes(axes, model);
  check_set_values(arguments.model, axes);
  return axes;
}

/// The states of --at. Throws InvalidInput where a variable is unknown or varied too.
std::vector<std::vector<Override>> states_of(const MapArguments& arguments, const Model& model,
                                             const std::vector<MapAxis>& axes) {
  std::vector<std::vector<Override>> states;
  for (const std::string& text : arguments.at) {
    states.push_back(parse_state(text, variable_names(model)));
    for (const Override& item : states.back())
      for (const MapAxis& axis : axes)
        if (axis.name == item.key)
          throw InvalidInput(fmt::format(
              "--at {}: {} is varied by --vary; expected it in one of them", text, item.key));
  }
  if (states.empty()) states.emplace_back();
  return states;
}

enum class Format { none, csv, hdf5 };

/// By the extension. Throws InvalidInput.
Format format_of(const std::string& file) {
  if (file.empty()) return Format::none;
  return is_hdf5(file) ? Format::hdf5 : Format::csv;
}

/// The file of the map and the picture, as far as they are asked for: the names of what is written.
std::vector<std::string> write(const MapArguments& arguments, const std::string& output, const MapRequest& request,
                               const Model& model, const ParameterMap& map, const std::optional<Picture>& picture) {
  std::vector<std::string> files;
  const Format format = format_of(output);
  if (format == Format::hdf5) {
    write_hdf5(output, map, model, map_provenance(request, model, map, arguments.model.assignment_texts()));
    files.push_back(output);
  } else if (format == Format::csv) {
    files = write_csv(output, map, map_provenance(request, model, map, arguments.model.assignment_texts()));
  }
  if (picture) {
    draw_map(*picture, map, model.name, request.quantity->meaning);
    files.push_back(picture->file());
  }
  return files;
}

int execute(const MapArguments& arguments) {
  MapRequest request{.quantity = &map_quantity(arguments.what)};
  ModelOptions options = arguments.model;
  options.run_keys = request.quantity->run_keys;
  const ModelReader reader(options);
  const Model model = reader({}, {}, "");
  request.read = [&reader](const auto& set, const auto& start) {
    return reader(set, start, "--at");
  };
  request.axes = axes_of(arguments, model);
  request.states = states_of(arguments, model, request.axes);
  request.threads = threads_from(arguments.threads, "--threads");
  std::optional<Picture> picture;
  if (!arguments.plot.empty()) {
    check_drawable(request.axes);
    picture.emplace(arguments.plot);
  }
  const std::string output =
      arguments.output.empty() && !picture.has_value() ? "-" : arguments.output;
  (void)format_of(output);  // is the extension known?
  FilesOfCommand files_of_map;
  arguments.model.declare(files_of_map, model);
  files_of_map.writes_with_json(output, "-o");
  if (picture) picture->declare(files_of_map, "--plot");
  const ParameterMap map = parameter_map(request);
  const std::vector<std::string> files = write(arguments, output, request, model, map, picture);
  std::FILE* stream = output == "-" ? stderr : stdout;
  fmt::print(stream, "{}", map_text(model, request, map));
  for (const std::string& file : files) fmt::print(stream, "written  {}\n", file);
  if (map.not_proved == 0) return exit_solved;
  fmt::print(stderr, "perp map: {} of {} points are not decided\n", map.not_proved, map.points());
  return exit_no_answer;
}

Action configure_map(CommandLine& line) {
  const auto arguments = std::make_shared<MapArguments>();
  arguments->model.add_to(line);
  line.add_option(
         "--vary", arguments->vary,
         "a parameter, a variable (its start) or run.h, evenly spaced; repeatable, the last "
         "one varies fastest")
      .type_name("NAME=FIRST:LAST:COUNT")
      .one_at_a_time();
  std::string meanings;
  for (const MapQuantity& item : map_quantities())
    meanings += fmt::format("{}{}: {}", meanings.empty() ? "" : "; ", item.name, item.meaning);
  line.add_option("--what", arguments->what, meanings).type_name("NAME").default_text("solutions");
  line.add_option("--at", arguments->at,
                 "the state; variables that are not named have the model's start. Repeatable: "
                 "a region is then the answers at all of them")
      .type_name("NAME=VALUE,...")
      .one_at_a_time();
  arguments->model.add_span_to(line);
  arguments->model.add_run_to(line, {"h"});
  arguments->model.add_scheme_to(line);
  line.add_option("-o,--output", arguments->output,
                 "write the map to FILE.csv (with FILE.csv.json) or FILE.h5; - is standard output, "
                 "the default without --plot")
      .type_name("FILE");
  line.add_option("--plot", arguments->plot,
                 "draw the regions: FILE.svg, .png or .pdf (with its scripts for gnuplot and matplotlib and its data beside it), or .html, "
                 "a page to zoom in")
      .type_name("FILE");
  line.add_option("--threads", arguments->threads,
                 "threads; default: one for each core. The result is the same for any number")
      .type_name("N");
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command map;
const Command map{
    "map", "maps solutions, continuations, jumps or outcomes over parameters and states",
    "Exit status 3: some points are not decided.\n\n"
    "examples:\n"
    "  perp map switching_dae_jump --vary B1=-2:2:161 --vary B2=-2:2:161 --what ac --at x1=0,x2=-1 "
    "--plot ac.svg\n"
    "  perp map switching_dae_jump --vary x1=-2:2:81 --vary x2=-2:3:101 --what solutions --h 0.5",
    configure_map};

}  // namespace perp::cli
