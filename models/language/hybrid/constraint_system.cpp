// Constraints beside the equations as laws, and the systems of single modes: runs of models whose
// binaries no law of their own stands for are made of these.
#include <functional>
#include <map>
#include <optional>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/rewriting/moved_inputs.hpp>
#include <perp/models/language/hybrid/constraint_system.hpp>

namespace perp {
namespace {

Law binary_law(const Binary& binary) {
  return {binary.name,
          {{0, 1, 0, {}, {0, 0}, binary.modes[0]},
           {0, 1, 1, {}, {1, 1}, binary.modes[1]},
           {1, 0, 0, {0, 0}, {0, 1}, "slides"}}};
}

/// The branch of a value; `watches`: a released binary may leave [0, 1].
Branch branch_of(const Law& law, int z, bool watches) {
  Branch branch = law.branches[at(z)];
  if (watches && z == released_binary) branch.lambda = {};
  return branch;
}

/// Numbers in place of the multipliers of the binaries; `released` in place of those that slide, empty: they stay.
std::map<int, double> binary_values(const HybridModel& model, const Dcs& system, const HybridMode& mode,
                                    std::optional<double> released) {
  std::map<int, double> values;
  for (int i = 0; i < model.q(); ++i) {
    const bool slides = mode.z[at(i)] == released_binary;
    if (!slides || released) values[system.multiplier_input(i)] = slides ? *released : mode.z[at(i)];
  }
  return values;
}

}  // namespace

Tape with_multipliers(const HybridModel& model, int count, std::vector<int>& rows) {
  const Tape tape = model.without_inputs(rows);
  const int first = model.parameter_input(0);
  return with_moved_inputs(
      tape, [&](int input) { return input < first ? input : input + count; }, rows);
}

Dcs constraint_system(const HybridModel& model) {
  Dcs system;
  std::vector<int> rows;
  system.tape = with_multipliers(model, static_cast<int>(model.g.size()), rows);
  const auto equations = static_cast<std::ptrdiff_t>(model.f.size());
  system.F.assign(rows.begin(), rows.begin() + equations);
  for (const Binary& binary : model.binaries) {
    system.laws.push_back(binary_law(binary));
    system.G.push_back(system.tape.constant(0));
  }
  for (const Constraint& row : model.constraints) system.laws.push_back(constraint(row.name));
  system.G.insert(system.G.end(), rows.begin() + equations, rows.end());
  system.parameters = model.parameter_values();
  return system;
}

Dcs mode_system(const HybridModel& model, const Dcs& system, const HybridMode& mode, bool watches) {
  const std::map<int, double> values = binary_values(model, system, mode, std::nullopt);
  Tape tape = system.tape;
  Dcs result;
  result.parameters = system.parameters;
  result.laws = system.laws;
  std::vector<int> lines;
  for (const int line : system.F) lines.push_back(with_values(tape, line, values));
  for (int i = 0; i < model.q(); ++i) {
    const int surface = mode.surfaces[at(i)];
    Law& law = result.laws.changed(at(i));
    law.branches = {branch_of(law, mode.z[at(i)], watches)};
    if (surface >= 0) {  // the face at z_i = 0, the other binaries of it as they are
      const std::map<int, double> on_face = binary_values(model, system, mode, 0.0);
      lines.push_back(with_values(tape, system.G[at(model.q() + surface)], on_face));
    } else {
      lines.push_back(system.G[at(i)]);
    }
  }
  for (std::size_t l = 0; l < model.g.size(); ++l) {
    const std::size_t law = at(model.q()) + l;
    lines.push_back(with_values(tape, system.G[law], values));
    if (watches || mode.is_idle[l]) result.laws.changed(law).branches.changed(0).w = {};
  }
  result.tape = with_moved_inputs(tape, std::identity(), lines);
  const auto n = static_cast<std::ptrdiff_t>(system.F.size());
  result.F.assign(lines.begin(), lines.begin() + n);
  result.G.assign(lines.begin() + n, lines.end());
  return result;
}

}  // namespace perp
