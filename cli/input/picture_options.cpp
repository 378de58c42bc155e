#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <perp/analysis/run/columns.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/picture_options.hpp>
#include <perp/cli/input/state_options.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/files/trajectory_file.hpp>
#include <perp/io/plot/phase/phase_drawing.hpp>

namespace perp::cli {

using namespace io;

namespace {

constexpr std::size_t most_drawn = 40;  // variables in one picture, unless the user names them
constexpr int most_multipliers = 4;     // the same, of as many as a panel holds

/// The columns by their names; each of `names` once in `drawn`.
std::vector<int> places_in(std::vector<int>& drawn, const std::vector<std::string>& names,
                           const std::vector<std::string>& known) {
  std::vector<int> places;
  for (const std::string& name : names) {
    const int column = static_cast<int>(find_name(name, known, "column"));
    const auto found = std::find(drawn.begin(), drawn.end(), column);
    places.push_back(static_cast<int>(found - drawn.begin()));
    if (found == drawn.end()) drawn.push_back(column);
  }
  return places;
}

/// All variables, or the first of very many; and the multipliers of few laws.
void draw_variables(const Model& model, RunPictures& pictures) {
  const std::size_t count = model.variables.size();
  pictures.drawn.resize(std::min(count, most_drawn));
  std::iota(pictures.drawn.begin(), pictures.drawn.end(), 0);
  if (count > most_drawn)
    fmt::print(stderr,
               "perp run: the picture shows the first {} of {} variables; choose others with "
               "--plot-variables, or draw an array over its indices with --plot-field\n",
               most_drawn, count);
  const Laws& laws = model.laws();
  const auto is_drawn = [](const Law& law) { return !is_constraint(law); };
  if (std::count_if(laws.begin(), laws.end(), is_drawn) > most_multipliers) return;
  for (std::size_t i = 0; i < laws.size(); ++i)
    if (is_drawn(laws[i])) pictures.drawn.push_back(static_cast<int>(count + i));
}

/// "vC; iL,iD": the columns of each panel.
void draw_panels(const std::string& text, const std::vector<std::string>& known, RunPictures& pictures) {
  std::size_t from = 0;
  while (from <= text.size()) {
    const std::size_t end = std::min(text.find(';', from), text.size());
    if (trimmed(text.substr(from, end - from)).empty())
      throw InvalidInput(fmt::format("--plot-panels \"{}\": panel {} is empty; expected columns, as in \"x1; x2,x3\"", text,
                                     pictures.panels.size() + 1));
    pictures.panels.push_back(places_in(pictures.drawn, split_list(text.substr(from, end - from)), known));
    from = end + 1;
  }
}

/// T0,T. Throws InvalidInput.
Span window_of(const std::string& text, const Span& span) {
  std::vector<double> ends;
  for (const std::string& end : split_list(text)) ends.push_back(parse_number(end, "--plot-window " + text));
  if (ends.size() != 2 || !(ends[0] < ends[1]))
    throw InvalidInput(fmt::format("--plot-window {}: expected two times that increase, as in 0.1,0.2", text));
  if (!(ends[0] < span.end && ends[1] > span.start))
    throw InvalidInput(fmt::format("--plot-window {}: the run's span [{}, {}] is outside of it", text, span.start, span.end));
  return {ends[0], ends[1]};
}

/// Throws InvalidInput where options do not fit each other.
void check(const PictureOptions& options) {
  const std::string of_all = options.phase + options.field + options.variables + options.panels + options.window + options.logarithmic;
  const std::string of_phase = options.starts + options.layers;
  if (options.plot.empty() && !(of_all.empty() && options.others.empty()))
    throw InvalidInput("--plot-phase, --plot-field, --plot-variables, --plot-panels, --plot-window, --plot-log and --plot-with need --plot FILE");
  if (options.phase.empty() && !of_phase.empty())
    throw InvalidInput("--plot-starts and --plot-layers are of the phase picture: add --plot-phase X,Y");
  if (!options.variables.empty() && !options.panels.empty())
    throw InvalidInput("--plot-variables and --plot-panels both say what is drawn; expected one of them");
}

/// t, or columns.
void set_logarithmic(const std::string& text, const std::vector<std::string>& known, RunPictures& pictures) {
  std::vector<std::string> names{"t"};
  names.insert(names.end(), known.begin(), known.end());
  for (const std::string& name : split_list(text)) {
    const int place = static_cast<int>(find_name(name, names, "column"));
    if (place == 0)
      pictures.is_time_logarithmic = true;
    else if (const std::vector<int> sampled = pictures.sampled(); std::ranges::find(sampled, place - 1) != sampled.end())
      pictures.logarithmic.push_back(place - 1);
    else
      throw InvalidInput(fmt::format("--plot-log {}: {} is not drawn", text, name));
  }
}

/// "x1=0,x2=1; x1=2": the model from each of these starts.
void set_starts(const std::string& text, const Model& model, RunPictures& pictures) {
  const std::vector<std::string> names = variable_names(model);
  std::size_t from = 0;
  while (from <= text.size()) {
    const std::size_t end = std::min(text.find(';', from), text.size());
    Model other = model;
    for (const Override& item : parse_state(text.substr(from, end - from), names, "--plot-starts"))
      other.variables[find_name(item.key, names, "variable")].start = parse_number(item.value, "--plot-starts: " + item.key);
    pictures.layers.starts.push_back(std::move(other));
    from = end + 1;
  }
}

void set_layers(const std::string& text, RunPictures& pictures) {
  static const std::vector<std::string> known{"arrows", "surfaces", "equilibria", "virtual"};
  PhaseLayers& layers = pictures.layers;
  const std::array shown{&layers.arrows, &layers.surfaces, &layers.equilibria, &layers.virtual_equilibria};
  for (const std::string& name : split_list(text)) *shown.at(find_name(name, known, "layer")) = true;
}

/// Files for comparison that cannot be read are told before the run.
void set_others(const std::vector<std::string>& files, RunPictures& pictures) {
  for (const std::string& file : files) read_trajectory(file, {});
  pictures.others = files;
}

/// X,Y
void draw_phase(const std::string& text, const std::vector<std::string>& known, RunPictures& pictures) {
  const auto pair = split_list(text);
  if (pair.size() != 2) throw InvalidInput(fmt::format("--plot-phase {}: expected two variables, as in x1,x2", text));
  pictures.horizontal = static_cast<int>(find_name(pair[0], known, "column"));
  pictures.vertical = static_cast<int>(find_name(pair[1], known, "column"));
  pictures.phase.emplace(pictures.over_time->sibling("phase"));
}

/// An array
void draw_array(const std::string& name, const Model& model, RunPictures& pictures) {
  pictures.array = array_columns(model, name);
  pictures.field.emplace(pictures.over_time->sibling("field"));
}

/// What is drawn over time.
void choose_columns(const PictureOptions& options, const Model& model, const std::vector<std::string>& names, RunPictures& pictures) {
  if (!options.panels.empty())
    draw_panels(options.panels, names, pictures);
  else if (!options.variables.empty())
    places_in(pictures.drawn, split_list(options.variables), names);
  else
    draw_variables(model, pictures);
}

}  // namespace

RunPictures pictures_of(const PictureOptions& options, const Model& model) {
  check(options);
  RunPictures pictures;
  if (options.plot.empty()) return pictures;
  pictures.over_time.emplace(options.plot);
  std::vector<std::string> names;
  for (const DrawnColumn& column : drawn_columns(model)) names.push_back(column.name);
  if (!options.window.empty()) pictures.window = window_of(options.window, model.run.span);
  choose_columns(options, model, names, pictures);
  if (!options.phase.empty()) draw_phase(options.phase, names, pictures);
  if (!options.field.empty()) draw_array(options.field, model, pictures);
  if (!options.logarithmic.empty()) set_logarithmic(options.logarithmic, names, pictures);
  if (!options.starts.empty()) set_starts(options.starts, model, pictures);
  if (!options.layers.empty()) set_layers(options.layers, pictures);
  if (pictures.phase) check_layers(model, pictures.layers, pictures.horizontal, pictures.vertical);
  set_others(options.others, pictures);
  return pictures;
}

void PictureOptions::add_to(CommandLine& line) {
  line.add_option("--plot", plot,
                 "draw the variables over time: FILE.svg, .png or .pdf (with its scripts for gnuplot "
                 "and matplotlib and its data beside it), or .html, a page to zoom in")
      .type_name("FILE");
  line.add_option("--plot-phase", phase,
                 "draw a phase picture too, to FILE_phase of --plot FILE")
      .type_name("X,Y");
  line.add_option("--plot-field", field,
                 "draw an array in colours too, to FILE_field of --plot FILE: over time and its index, or over two\nindices at six times")
      .type_name("X");
  line.add_option("--plot-variables", variables,
                 "columns to draw: variables, multipliers, arguments of laws, outputs; default: all variables,\nand up to four multipliers in a panel of their own")
      .type_name("X,Y,...");
  line.add_option("--plot-panels", panels, "the same, panel by panel: \"vC; iL,iD\"").type_name("X;Y,Z;...");
  line.add_option("--plot-window", window, "draw this time only").type_name("T0,T");
  line.add_option("--plot-log", logarithmic, "logarithmic axes: of columns, or t").type_name("X,...");
  line.add_option("--plot-with", others, "draw a recorded run too, FILE.csv or FILE.h5; repeatable")
      .one_at_a_time()
      .type_name("FILE");
  line.add_option("--plot-starts", starts, "the phase picture shows runs from these starts too: \"x1=0,x2=1; x1=2\"")
      .type_name("X=VALUE,...;...");
  line.add_option("--plot-layers", layers, "the phase picture shows these too: arrows (of the flow), surfaces (on\nwhich laws switch), equilibria, virtual (equilibria of a mode outside of it)")
      .type_name("LAYER,...");
}

}  // namespace perp::cli
