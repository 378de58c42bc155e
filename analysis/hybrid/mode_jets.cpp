#include <algorithm>
#include <cmath>

#include <perp/analysis/hybrid/mode_jets.hpp>
#include <perp/core/base/index.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>

namespace perp {
namespace {

constexpr int levels = 4;  ///< of the derivative array: order 3 of modes of index 2
constexpr int last_order = 3;
constexpr double clear = 0x1p-20;     ///< of the sizes of its terms: beyond it a sign needs no bound
constexpr double rounding = 0x1p-40;  ///< of these sizes: what is not told from 0 where nothing bounds it

/// λ = 0 | λ = 1 | w = 0, the surface on which it slides.
Law binary_law(const std::string& name) {
  return {name, {{0, 1, 0, {}, {0, 0}, {}}, {0, 1, 1, {}, {1, 1}, {}}, {1, 0, 0, {0, 0}, {}, {}}}};
}

/// λ = 0, which nothing holds: its w is a constraint.
Law watch(const std::string& name) { return {name, {{0, 1, 0, {}, {0, 0}, {}}}}; }

/// The model with binaries as multipliers, and constraints as the arguments of further ones that
/// nothing holds.
Dcs system_of(const HybridModel& model, const Faces& faces, const std::vector<int>& surfaces) {
  Dcs system;
  system.tape = faces.tape();
  const auto equations = static_cast<std::ptrdiff_t>(model.f.size());
  const std::vector<int>& rows = faces.rows();
  system.F.assign(rows.begin(), rows.begin() + equations);
  for (int i = 0; i < model.q(); ++i) {
    const int constraint = surfaces[at(i)];
    system.G.push_back(constraint < 0
                           ? system.tape.constant(0)
                           : with_values(system.tape, rows[model.f.size() + at(constraint)],
                                         {{model.binary_input(i), 0}}));
    system.laws.push_back(binary_law(model.binaries[at(i)].name));
  }
  for (std::size_t l = 0; l < model.g.size(); ++l) {
    system.G.push_back(rows[model.f.size() + l]);
    system.laws.push_back(watch(model.constraints[l].name));
  }
  return system;
}

Vector nominals(const HybridModel& model) {
  Vector known(model.n());
  for (int j = 0; j < model.n(); ++j) {
    const Variable& variable = model.head.variables[at(j)];
    known[j] = variable.has_nominal ? variable.nominal : 0;
  }
  return known;
}

constexpr std::size_t most_points = 64;  ///< of one state, whose scales are kept

double factorial(int k) { return k < 2 ? 1 : k * factorial(k - 1); }

/// Is one of the first coefficients of w no number? A constraint without a value holds nowhere.
bool lacks_value(const Jet& jet, int law, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k)
    if (std::isnan(jet.w(law, static_cast<Eigen::Index>(k)))) return true;
  return false;
}

}  // namespace

HybridJets::HybridJets(const HybridModel& model, const HybridStructure& structure, Faces& faces,
                   ValueSearch& search, ModeBounds& bounds)
    : model_(model), structure_(structure), faces_(faces), search_(search), bounds_(bounds) {}

HybridJets::Surfaces::Surfaces(Dcs given)
    : system(std::move(given)), jets(system, levels), evaluator(system) {}

void HybridJets::begin(Vector sizes) {
  sizes_ = std::move(sizes);
  for (auto& [key, surfaces] : surfaces_) surfaces->scales.clear();
}

/// Of one state: candidates differ in their algebraic variables alone.
const JetScales& HybridJets::scales_at(Surfaces& surfaces, double t, const Vector& x) const {
  auto& known = surfaces.scales;
  for (const auto& [point, scales] : known)
    if (point == x) return scales;
  if (known.size() == most_points) known.clear();
  const Span span{t, t + (model_.head.run.span.end - model_.head.run.span.start)};
  const ModelScales scales = model_scales(surfaces.system, surfaces.evaluator, x, span,
                                          sizes_.size() > 0 ? sizes_ : nominals(model_));
  known.emplace_back(x, JetScales{scales.time, scales.x, scales.lambda, scales.fastest});
  return known.back().second;
}

ConsistentJets& HybridJets::jets_for(const std::vector<int>& surfaces, double t, const Vector& x) {
  auto place = surfaces_.find(surfaces);
  if (place == surfaces_.end())
    place =
        surfaces_.emplace(surfaces, std::make_unique<Surfaces>(system_of(model_, faces_, surfaces)))
            .first;
  place->second->jets.set_scales(scales_at(*place->second, t, x));
  return place->second->jets;
}

/// A mode in which the equations move a state has no solution from there, only after a jump.
bool HybridJets::keeps_states(const Vector& given, const Jet& jet, const ConsistentJets& jets) const {
  for (int j = 0; j < model_.n(); ++j) {
    if (!structure_.is_state[at(j)]) continue;
    const double size = std::max(std::abs(given[j]), jets.scales().x[j]);
    if (!(std::abs(jet.x(j, 0) - given[j]) <= jets.tolerance() * size)) return false;
  }
  return true;
}

/// 0: not told from 0.
int HybridJets::constraint_sign(const Jet& jet, int l, int k, double time, double share) {
  const int law = model_.q() + l;
  const double value = jet.w(law, k);
  const double size = std::max(jet.w_size(law, k), jet.w_size(law, 0) / std::pow(time, k));
  const int sign = value > 0 ? 1 : -1;
  if (std::abs(value) > clear * size) return sign;
  if (const std::optional<int> bounded = bounds_.constraint(l, k)) return *bounded;
  return std::abs(value) > (share + rounding) * size ? sign : 0;
}

/// Is the state on the surfaces of the released binaries, as far as it is known?
bool HybridJets::looks_at_surfaces(const ModeCandidate& candidate, const Jet& jet, double share) {
  if (const std::optional<bool> contradicts = bounds_.contradicts()) return !*contradicts;
  for (int i = 0; i < model_.q(); ++i)
    if (candidate.z[at(i)] == released_binary &&
        !(std::abs(jet.w(i, 0)) <= (share + rounding) * jet.w_size(i, 0)))
      return false;
  return true;
}

/// dᵏg_l/dtᵏ up to the first that is told from 0; its sign, 0: none is.
int HybridJets::read_derivatives(const Jet& jet, int l, double time, double share, ConstraintJet& row) {
  const int law = model_.q() + l;
  int decided = 0;
  for (int k = 0; k <= last_order && k < jet.w_known[at(law)] && decided == 0; ++k) {
    decided = constraint_sign(jet, l, k, time, share);
    row.derivatives.push_back(decided == 0 ? 0 : factorial(k) * jet.w(law, k));
  }
  return decided;
}

/// What constraint l is by the form of its terms in a mode with these released binaries.
ConstraintJet HybridJets::form_of(int l, const std::vector<int>& z, const std::vector<int>& released) {
  ConstraintJet row;
  const bool slides =
      std::any_of(released.begin(), released.end(), [&](int i) { return faces_.holds(l, i); });
  row.is_held = slides && search_.is_held(z, l);
  row.is_void = !slides && faces_.is_void(l, z);
  return row;
}

void HybridJets::read_constraints(const ModeCandidate& candidate, const Jet& jet, double time,
                                double share, Verdict& verdict) {
  const int equations = static_cast<int>(model_.f.size());
  for (int l = 0; l < faces_.constraints(); ++l) {
    ConstraintJet row = form_of(l, candidate.z, verdict.continuation.released);
    if (!row.is_held && !row.is_void) {
      const int decided = read_derivatives(jet, l, time, share, row);
      if (lacks_value(jet, model_.q() + l, row.derivatives.size())) verdict.has_jet = false;
      if (decided > 0) verdict.violated.push_back(equations + l);
      if (decided == 0) verdict.continuation.is_strict = false;
    }
    verdict.continuation.constraints.push_back(std::move(row));
  }
}

/// Of the distance of coefficient k of z_i from an end of [0, 1], inwards; 0: not told from 0.
int HybridJets::released_sign(int i, int end, int k, double distance, double share) {
  const int sign = distance > 0 ? 1 : -1;
  if (std::abs(distance) > clear) return sign;
  if (const std::optional<int> beyond = bounds_.beyond_end(i, end, k)) return -*beyond;
  return std::abs(distance) > share + rounding ? sign : 0;
}

/// Of the first coefficient of z_i whose distance from an end is told from 0, inwards; 0: none is.
int HybridJets::first_sign(const Jet& jet, int i, int end, double time, double share) {
  int sign = 0;
  double power = 1;
  for (int k = 0; k < jet.lambda_known[at(i)] && k <= last_order && sign == 0; ++k, power *= time) {
    const double distance = (end == 0 ? 1 : -1) * (jet.lambda(i, k) - (k == 0 ? end : 0)) * power;
    sign = released_sign(i, end, k, distance, share);
  }
  return sign;
}

/// (z, ż, ..) lexicographically in [0, 1].
void HybridJets::read_released(const ModeCandidate& candidate, const Jet& jet,
                             const ConsistentJets& jets, double share, Verdict& verdict) {
  const int rows = static_cast<int>(model_.f.size()) + faces_.constraints();
  for (int i = 0; i < model_.q(); ++i) {
    if (candidate.z[at(i)] != released_binary) continue;
    for (const int end : {0, 1}) {
      const int sign = first_sign(jet, i, end, jets.scales().time, share);
      if (sign < 0) verdict.violated.push_back(rows + i);
      if (sign == 0) verdict.continuation.is_strict = false;
    }
  }
}

/// The released binaries among z, and the surfaces on which they slide, -1 of the others. False: one has none.
bool HybridJets::find_surfaces(const std::vector<int>& z, std::vector<int>& released, std::vector<int>& surfaces) {
  surfaces.assign(at(model_.q()), -1);
  for (int i = 0; i < model_.q(); ++i) {
    if (z[at(i)] != released_binary) continue;
    released.push_back(i);
    surfaces[at(i)] = search_.surface(z, i);
    if (surfaces[at(i)] < 0) return false;
  }
  return true;
}

/// The series of the equations in the mode of a candidate.
Jet HybridJets::jet_of(ConsistentJets& jets, double t, const ModeCandidate& candidate) const {
  const int q = model_.q();
  Mode mode(at(q + faces_.constraints()), 0);
  Vector lambda = Vector::Zero(q + faces_.constraints());
  for (int i = 0; i < q; ++i) {
    mode[at(i)] = candidate.z[at(i)];
    lambda[i] = candidate.z[at(i)] == released_binary ? 0.5 : candidate.z[at(i)];
  }
  return jets.solve(mode, t, candidate.x, lambda, candidate.rates);
}

/// Binaries, variables and rates of a series, and Σ (ẋ_j / nominal_j)².
void HybridJets::read_start(const Jet& jet, HybridContinuation& result) const {
  for (int i = 0; i < model_.q(); ++i) result.z.push_back(jet.lambda(i, 0));
  result.x = jet.x.col(0);
  result.rates = Vector::Constant(model_.n(), nan);
  for (int j = 0; j < model_.n(); ++j) {
    if (!structure_.is_state[at(j)]) continue;
    result.rates[j] = jet.x(j, 1);
    const double rate = jet.x(j, 1) / model_.head.variables[at(j)].nominal;
    result.rate_norm += rate * rate;
  }
}

HybridJets::Verdict HybridJets::judge(double t, const ModeCandidate& candidate, double share) {
  Verdict verdict;
  HybridContinuation& result = verdict.continuation;
  std::vector<int> surfaces;
  if (!find_surfaces(candidate.z, result.released, surfaces)) return verdict;
  ConsistentJets& jets = jets_for(surfaces, t, candidate.x);
  const Jet jet = jet_of(jets, t, candidate);
  if (!jet.consistent || !jet.determined || !keeps_states(candidate.x, jet, jets)) return verdict;
  bounds_.look_at(t, candidate.x, share, candidate);
  if (!result.released.empty() && !looks_at_surfaces(candidate, jet, share)) return verdict;
  verdict.has_jet = true;
  result.surfaces = surfaces;
  result.root = candidate.root;
  read_start(jet, result);
  read_constraints(candidate, jet, jets.scales().time, share, verdict);
  read_released(candidate, jet, jets, share, verdict);
  return verdict;
}

}  // namespace perp
