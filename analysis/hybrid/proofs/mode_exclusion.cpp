#include <algorithm>
#include <cmath>
#include <optional>

#include <perp/analysis/hybrid/proofs/affine_array.hpp>
#include <perp/analysis/hybrid/proofs/mode_exclusion.hpp>
#include <perp/analysis/hybrid/proofs/mode_series.hpp>
#include <perp/core/base/index.hpp>

namespace perp {
namespace {

using Number = RunningError;

/// Does the first coefficient that is not 0 within its error say that the row is positive? Ends where
/// one is not known.
template <class Coefficient>
bool becomes_positive(int orders, const Coefficient& coefficient) {
  for (int k = 0; k < orders; ++k) {
    const std::optional<Number> value = coefficient(k);
    if (!value || !std::isfinite(value->error)) return false;
    if (const int sign = decided_sign(*value); sign != 0) return sign > 0;
  }
  return false;
}

}  // namespace

ModeExclusion::ModeExclusion(const HybridModel& model, const HybridStructure& structure,
                             Faces& faces, ValueSearch& search)
    : model_(model), structure_(structure), faces_(faces), search_(search) {}

bool ModeExclusion::read_mode(const std::vector<int>& z, Mode& mode) {
  mode.tape = faces_.tape();
  std::map<int, double> values, on_face;
  for (int i = 0; i < model_.q(); ++i) {
    const bool slides = z[at(i)] == released_binary;
    if (slides) mode.released.push_back(i);
    if (!slides) values[model_.binary_input(i)] = z[at(i)];
    on_face[model_.binary_input(i)] = slides ? 0 : z[at(i)];
  }
  const std::vector<int>& rows = faces_.rows();
  const int equations = static_cast<int>(model_.f.size());
  for (int row = 0; row < equations; ++row)
    mode.equations.push_back(with_values(mode.tape, rows[at(row)], values));
  for (const int i : mode.released) {
    const int surface = search_.surface(z, i);
    if (surface < 0) return false;
    mode.equations.push_back(with_values(mode.tape, rows[at(equations + surface)], on_face));
  }
  read_constraints(z, values, mode);
  return true;
}

void ModeExclusion::read_constraints(const std::vector<int>& z,
                                     const std::map<int, double>& values, Mode& mode) {
  const int equations = static_cast<int>(model_.f.size());
  for (int l = 0; l < faces_.constraints(); ++l) {
    const bool slides = std::any_of(mode.released.begin(), mode.released.end(),
                                    [&](int i) { return faces_.holds(l, i); });
    if (slides ? search_.is_held(z, l) : faces_.is_void(l, z)) continue;
    mode.constraints.push_back(with_values(mode.tape, faces_.rows()[at(equations + l)], values));
  }
}

/// Where everything is affine with constant coefficients, whatever the index.
bool ModeExclusion::by_elimination(const Mode& mode, const std::vector<Number>& inputs) const {
  AffineArray array(model_, structure_, mode.tape, mode.equations, mode.constraints, inputs);
  if (!array.is_affine()) return false;
  if (array.has_contradiction()) return true;
  for (int l = 0; l < static_cast<int>(mode.constraints.size()); ++l)
    if (becomes_positive(orders, [&](int k) { return array.constraint(l, k); })) return true;
  for (const int i : mode.released)
    for (const int end : {0, 1})
      if (becomes_positive(orders, [&](int k) { return array.beyond_end(i, end, k); })) return true;
  return false;
}

bool ModeExclusion::by_blocks(Mode mode, const ModeCandidate& candidate,
                              const std::vector<Number>& inputs) const {
  BlockSeries series(model_, structure_, mode.tape, mode.equations, inputs);
  if (!series.solve(candidate.x, candidate.rates)) return false;
  return std::any_of(mode.constraints.begin(), mode.constraints.end(), [&](int line) {
    const std::optional<SeriesOfNumbers> g = series.value(line);
    return g && becomes_positive(orders, [&](int k) { return std::optional<Number>((*g)[k]); });
  });
}

bool ModeExclusion::shows(double t, const Vector& x, double share,
                          const ModeCandidate& candidate) {
  Mode mode;
  if (!read_mode(candidate.z, mode)) return false;
  const std::vector<Number>& inputs = search_.known_inputs(t, x, share);
  if (by_elimination(mode, inputs)) return true;
  return mode.released.empty() && by_blocks(mode, candidate, inputs);
}

}  // namespace perp
