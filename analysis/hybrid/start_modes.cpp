// How a hybrid model starts, and the index of the modes there: perp check asks.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <span>

#include <perp/analysis/hybrid/sparse/near_choice.hpp>
#include <perp/analysis/hybrid/start_modes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/linearize.hpp>
#include <perp/core/pencil/pencil.hpp>

namespace perp {
namespace {

HybridMode mode_of(const HybridModel& model, const HybridContinuation& c) {
  HybridMode mode;
  for (int i = 0; i < model.q(); ++i)
    mode.z.push_back(std::binary_search(c.released.begin(), c.released.end(), i)
                         ? released_binary
                         : static_cast<int>(std::lround(c.z[at(i)])));
  mode.surfaces = c.surfaces;
  mode.is_idle.assign(model.g.size(), 1);
  return mode;
}

/// Of E dv' = A dv with the derivatives of the mode's equations at the start.
void find_index(const HybridModel& model, const Dcs& system, StartMode& start) {
  const HybridContinuation& c = start.continuation;
  const Dcs dcs = mode_system(model, system, mode_of(model, c), true);
  ModeState state{c.rates, c.x, Vector::Zero(dcs.m())};
  for (Eigen::Index j = 0; j < state.xdot.size(); ++j)
    if (std::isnan(state.xdot[j])) state.xdot[j] = 0;  // of algebraic variables
  for (int i = 0; i < model.q(); ++i) state.lambda[i] = c.z[at(i)];
  try {
    const ModeDae dae = mode_dae(linearized(dcs, model.head.run.span.start, state),
                                 Mode(at(dcs.m()), 0));
    start.index = index_of(dae.E, dae.A);
  } catch (const InvalidInput& error) {
    start.fault = error.what();
  }
}

}  // namespace

StartModes start_modes(HybridModes& modes, int most, const HybridModeOptions& options) {
  const HybridModel& model = modes.model();
  std::vector<double> previous;
  for (const Binary& binary : model.binaries)
    previous.push_back(binary.start ? *binary.start : nan);
  StartModes result;
  result.found =
      modes.continuations(model.head.run.span.start, model.head.x0(), previous, options);
  const Dcs system = constraint_system(model);
  for (const HybridContinuation& c : result.found.list) {
    if (static_cast<int>(result.modes.size()) == most) break;
    result.modes.push_back({c, {}, {}});
    find_index(model, system, result.modes.back());
  }
  return result;
}

namespace {

/// Of a model with many unknowns: what the rule takes near declared values, by series, without dense matrices. Empty:
/// open.
std::optional<StartModes> near_start(const HybridModel& model) {
  std::vector<int> declared;
  for (const Binary& binary : model.binaries)
    if (binary.start) declared.push_back(*binary.start);
  if (static_cast<int>(declared.size()) < model.q()) return std::nullopt;
  ModeSeries series(model);
  if (!series.obstacle().empty()) return std::nullopt;
  const HybridStructure structure = structure_of(model);
  NearChoice near(model, structure, series, {});
  std::optional<HybridContinuations> found = near(model.head.run.span.start, model.head.x0(), declared, true);
  if (!found) return std::nullopt;
  // A series begins where ∂f/∂(ẋ, y) is regular: of index 1 with algebraic variables, else of index 0.
  StartModes result;
  result.modes.push_back({found->list.front(), static_cast<int>(model.states().size()) < model.n() ? 1 : 0, {}});
  result.found = *std::move(found);
  return result;
}

}  // namespace

StartModes shown_start_modes(const HybridModel& model, const std::function<bool()>& stop) {
  constexpr int most_modes = 16, most_binaries = 12;
  if (model.takes_whole_steps())
    if (std::optional<StartModes> start = near_start(model)) return *std::move(start);
  HybridModes modes(model);
  HybridModeOptions options;
  options.nearest_alone = model.q() > most_binaries;
  options.stop = stop;
  return start_modes(modes, most_modes, options);
}

namespace {

/// A row that excludes the declared values where the others are free, -1: none is known.
int excluding_row(const HybridModel& model, const HybridContinuations& found) {
  for (const Exclusion& exclusion : found.excluded) {
    bool is_declared = !exclusion.rows.empty();
    for (int i = 0; i < model.q() && is_declared; ++i) {
      const std::optional<int>& start = model.binaries[at(i)].start;
      is_declared = !start || exclusion.z[at(i)] == any_binary || exclusion.z[at(i)] == *start;
    }
    if (is_declared) return exclusion.rows.front();
  }
  return -1;
}

/// At the declared start; NaN: the row holds algebraic variables, whose starts are guesses, or what is not declared.
double value_at_start(const HybridModel& model, int row) {
  std::vector<int> lines;
  const Tape tape = model.closed(lines);
  std::vector<double> inputs(at(model.parameter_input(0)), nan), values(at(tape.size()));
  inputs[0] = model.head.run.span.start;
  for (const int j : model.states()) inputs[at(model.variable_input(j))] = model.head.variables[at(j)].start;
  for (int i = 0; i < model.q(); ++i)
    if (const auto& start = model.binaries[at(i)].start) inputs[at(model.binary_input(i))] = *start;
  tape.evaluate(std::span<const double>(inputs), std::span<double>(values));
  return values[at(lines[at(row)])];
}

}  // namespace

std::string violated_start(const HybridModel& model, const HybridContinuations& found) {
  const int equations = static_cast<int>(model.f.size()), rows = equations + static_cast<int>(model.g.size());
  const auto is_row = [&](int row) { return row < rows; };
  const auto first = std::find_if(found.violated.begin(), found.violated.end(), is_row);
  const int row = first != found.violated.end() ? *first : excluding_row(model, found);
  if (row < 0 || row >= rows) return "a row";
  if (row < equations) return "equation " + model.row_name(row);
  const Constraint& constraint = model.constraints[at(row - equations)];
  const double g = value_at_start(model, row);
  const std::string text = fmt::format("{}: {}", constraint.name, constraint.text);
  if (std::isnan(g)) return text;
  return g > 0 ? fmt::format("{}, which it exceeds by {:g}", text, g)
               : text + ", just after the start";
}

std::string values_text(const std::vector<int>& z) {
  std::string text;
  for (const int value : z)
    text += value == any_binary ? '*' : value == released_binary ? 's' : static_cast<char>('0' + value);
  return text;
}

std::string row_word(const HybridModel& model, int row) {
  const int rows = static_cast<int>(model.f.size() + model.g.size());
  return row < rows ? model.row_name(row) : model.binaries[at(row - rows)].name;
}

}  // namespace perp
