#include <algorithm>
#include <limits>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/memory.hpp>
#include <perp/lcp/solution_set.hpp>
#include <perp/schemes/continuation/lcs_family.hpp>
#include <perp/schemes/continuation/mode_changes.hpp>
#include <perp/schemes/located/radau/gaps.hpp>
#include <perp/schemes/step/solvability/step_poles.hpp>

namespace perp {
namespace {

constexpr std::size_t kept_lengths = 128;    ///< whose maps are kept
constexpr long enumeration_budget = 50'000;  ///< nodes
constexpr const char* no_longer_step = "a longer step has no solution";

}  // namespace

LcsFamily::LcsFamily(StepEquations& equations)
    : equations_(equations), stepped_(stepped(equations)) {
  parameter_.resize(static_cast<std::size_t>(equations.parameters()));
}

void LcsFamily::set_state(const Vector& x, double t, double /*h*/) {
  x_ = x;
  t_ = t;
}

ModeCache& LcsFamily::cache(double h) {
  equations_.parameter(x_, t_, t_ + h, parameter_.data());
  const auto known = caches_.find(h);
  if (known != caches_.end()) return *known->second;
  if (caches_.size() >= kept_lengths) caches_.clear();
  return *(caches_[h] = std::make_unique<ModeCache>(equations_.family(h)));
}

bool LcsFamily::solve(double h, StepPoint& point, Vector& noise) {
  ModeCache& maps = cache(h);
  const int index = maps.find(point.mode);
  if (index < 0) return false;
  const ModeMap& map = maps.map(index);
  const double* theta = parameter_.data();
  point.h = h;
  point.lambda.resize(equations_.m());
  point.w.resize(equations_.m());
  point.x.resize(equations_.n());
  map.u(theta, point.x.data());
  map.lambda(theta, point.lambda.data());
  map.w(theta, point.w.data());
  if (!point.x.allFinite() || !point.lambda.allFinite() || !point.w.allFinite()) return false;
  const std::vector<Gap> gaps = gaps_of(laws(), point.mode);
  noise.resize(static_cast<Eigen::Index>(gaps.size()));
  for (std::size_t g = 0; g < gaps.size(); ++g) {
    const double rounding = gaps[g].of_lambda ? map.lambda_rounding(gaps[g].law, theta)
                                              : map.w_rounding(gaps[g].law, theta);
    noise[static_cast<Eigen::Index>(g)] =
        rounding + std::numeric_limits<double>::epsilon() * std::abs(gaps[g].bound);
  }
  return true;
}

std::vector<std::complex<double>> LcsFamily::poles(const StepPoint& point) {
  const auto known = poles_.find(point.mode);
  if (known != poles_.end()) return known->second;
  return poles_[point.mode] = step_poles(stepped_, equations_.theta(), point.mode);
}

Status LcsFamily::solutions(double h, const StepPoint& from, std::vector<StepPoint>& list,
                            int& count) {
  ModeCache& maps = cache(h);
  const int present = from.mode.size() == laws().size() ? maps.find(from.mode) : -1;
  if (!maps.all_admissible(parameter_.data(), present, candidates_))
    return solutions_of_set(h, from, list, count);
  count = static_cast<int>(candidates_.size());
  for (const int index : candidates_) {
    StepPoint point = from;
    point.mode = least_change(laws(), from.mode, maps.map(index).modes());
    Vector noise;
    if (solve(h, point, noise)) list.push_back(std::move(point));
  }
  if (!list.empty()) return Status::solved;
  message_ = no_longer_step;
  return Status::no_solution;
}

Status LcsFamily::solutions_of_set(double h, const StepPoint& from, std::vector<StepPoint>& list,
                                   int& count) {
  const Mlcp problem = equations_.problem(x_, t_, t_ + h, h);
  EnumerateOptions limits;
  limits.max_nodes = enumeration_budget;
  SolutionSet set = enumerate(problem, limits);
  if (!set.complete) {
    message_ = "the solutions of the step could not be enumerated (" + set.certificate + ")";
    return Status::not_enumerated;
  }
  respect_memory(set, laws(), from.mode);
  count = static_cast<int>(std::min<long>(count_of_u(set), std::numeric_limits<int>::max()));
  const Nearest choice = perp::nearest(problem, set, equations_.norm(from.x, problem.p()),
                                       from.mode.empty() ? nullptr : &from.mode);
  if (choice.status != Status::solved) {
    message_ = choice.status == Status::no_solution ? no_longer_step : choice.message;
    return choice.status;
  }
  const Solution nearest = of_state(choice.minimisers.front(), equations_.n());
  list.push_back({h, nearest.mode, nearest.u, nearest.lambda, nearest.w});
  return Status::solved;
}

double LcsFamily::distance(const Vector& a, const Vector& b) {
  return equations_.given_E().times(a - b).norm();
}

}  // namespace perp
