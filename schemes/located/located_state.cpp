// Where an event-located run stands: made by the run, read by all its parts.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/located/located_state.hpp>

namespace perp {
namespace {

constexpr double smallest_share = 1e-14;  ///< of the time scale: no step is shorter
constexpr double together = 1e-11;  ///< of the step or the time scale: events in between are one

void check_method(const Located& options) {
  if (!(options.tol >= 1e-14 && options.tol <= 1e-2))
    throw InvalidInput(
        fmt::format("tol must be in [1e-14, 1e-2] for scheme located but is {}", options.tol));
  if (options.stages != 0 && options.stages != 3 && options.stages != 5 && options.stages != 7)
    throw InvalidInput(fmt::format("stages must be 3, 5 or 7 but is {}", options.stages));
}

void check_lengths(const Located& options) {
  for (const double step : {options.first_step, options.fixed_step, options.output_step})
    if (!(step >= 0) || !std::isfinite(step))
      throw InvalidInput(fmt::format("a step length must not be negative but is {}", step));
  if (!(options.max_step > 0))
    throw InvalidInput(fmt::format("max_step must be positive but is {}", options.max_step));
}

void check(const Dcs& system, const Located& options) {
  check_method(options);
  if (options.scale.size() != 0 && options.scale.size() != system.n())
    throw InvalidInput(
        fmt::format("scale must have {} entries but has {}", system.n(), options.scale.size()));
  if (options.scale.size() != 0 && !(options.scale.minCoeff() >= 0))
    throw InvalidInput("the scale of a variable must not be negative");
  check_lengths(options);
  if (!options.restitution.empty() && static_cast<int>(options.restitution.size()) != system.m())
    throw InvalidInput(fmt::format("restitution must have {} entries but has {}", system.m(),
                                   options.restitution.size()));
}

std::vector<int> laws_of(const Dcs& system) {
  std::vector<int> laws(system.laws.size());
  std::iota(laws.begin(), laws.end(), 0);
  return laws;
}

}  // namespace

int stages_for(const Located& options) {
  if (options.stages != 0) return options.stages;
  if (options.tol >= 1e-6) return 3;
  return options.tol >= 1e-10 ? 5 : 7;
}

LocatedState::LocatedState(const Dcs& dcs, const Located& scheme)
    : system((check(dcs, scheme), dcs)), options(scheme), stages(stages_for(scheme)), all_laws(laws_of(dcs)) {}

double LocatedState::shortest_step() const { return one_moment(smallest_share, scales.time, now.t); }

double LocatedState::same_moment(const Step& state) const {
  return one_moment(together, std::max(scales.time, state.t - moved_from.t), state.t);
}

std::vector<int> LocatedState::laws_hit() const {
  std::vector<int> hit;
  for (const Gap& zero : passage.gaps)
    if (zero.law >= 0 && std::find(hit.begin(), hit.end(), zero.law) == hit.end())
      hit.push_back(zero.law);
  std::sort(hit.begin(), hit.end());
  return hit;
}

std::vector<int> LocatedState::undecided_laws(const Step& before,
                                            const std::vector<int>& hit) const {
  std::vector<int> undecided = hit;
  for (int i = 0; i < system.m(); ++i) {
    const auto law = static_cast<std::size_t>(i);
    if (is_vertical(system.laws[law].branches[static_cast<std::size_t>(before.mode[law])]) &&
        std::find(hit.begin(), hit.end(), i) == hit.end())
      undecided.push_back(i);
  }
  std::sort(undecided.begin(), undecided.end());
  return undecided;
}

}  // namespace perp
