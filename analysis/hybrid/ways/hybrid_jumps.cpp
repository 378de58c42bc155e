#include <algorithm>

#include <perp/analysis/hybrid/ways/hybrid_jumps.hpp>
#include <perp/core/base/index.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>
#include <perp/schemes/located/transition/jumps.hpp>

namespace perp {
namespace {

constexpr int most_binaries = 10;  ///< 2^q modes are looked at

/// Those of one value of the binaries.
void jumps_in(HybridModes& modes, const Dcs& system, double t, const Vector& x,
              const std::vector<int>& z, const HybridModeOptions& options, HybridJumps& result) {
  const HybridModel& model = modes.model();
  const HybridMode mode{z, std::vector<int>(z.size(), -1), std::vector<char>(model.g.size(), 0)};
  const Dcs equations = mode_system(model, system, mode, true);
  ConsistentJets jets(equations);
  const double length = model.head.run.span.end - model.head.run.span.start;
  const Vector known = options.sizes.size() > 0 ? options.sizes : Vector::Zero(model.n()).eval();
  const ModelScales scales = model_scales(equations, x, {t, t + length}, known);
  jets.set_scales({scales.time, scales.x, scales.lambda, scales.fastest});
  Vector lambda = Vector::Zero(equations.m());
  std::vector<double> previous;
  for (std::size_t i = 0; i < z.size(); ++i) {
    lambda[static_cast<Eigen::Index>(i)] = z[i];
    previous.push_back(z[i]);
  }
  HybridModeOptions alone = options;
  alone.nearest_alone = true;
  alone.share = share_of_computed;
  for (const Jump& jump : find_jumps(equations, jets, t, x, lambda).found) {
    HybridContinuations after = modes.continuations(t, jump.x, previous, alone);
    if (!after.chosen) continue;
    HybridContinuation& c = after.list[at(*after.chosen)];
    if (c.z == previous) result.found.push_back({std::move(c), jump.size});
  }
}

}  // namespace

HybridJumps hybrid_jumps(HybridModes& modes, const Dcs& system, double t, const Vector& x,
                         const HybridModeOptions& options) {
  HybridJumps result;
  const int q = modes.model().q();
  result.is_complete = q <= most_binaries;
  for (int bits = 0; result.is_complete && bits < 1 << q; ++bits) {
    if (options.stop && options.stop()) {
      result.is_complete = false;
      break;
    }
    std::vector<int> z;
    for (int i = 0; i < q; ++i) z.push_back(bits >> i & 1);
    jumps_in(modes, system, t, x, z, options, result);
  }
  std::stable_sort(result.found.begin(), result.found.end(),
                   [](const HybridJump& a, const HybridJump& b) { return a.size < b.size; });
  return result;
}

}  // namespace perp
