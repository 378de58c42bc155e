// Steps on which it is known beforehand that PoleWatch finds nothing: called by the run loop.
#include <algorithm>

#include <perp/schemes/poles/pole_watch.hpp>

namespace perp {

bool PoleWatch::is_calm(const Mode& mode, const StraightStep& step) {
  return step.to_t > step.from_t &&
         std::ranges::all_of(formulas_of(mode), [&](const auto& formulas) { return formulas->is_calm(step); });
}

bool WatchedFormulas::is_calm_in_time(const StraightStep& step) const {
  const double end = step.from_t + pole_distance::beyond * (step.to_t - step.from_t);
  return std::ranges::all_of(searches_, [&](const Search& search) {
    return search.zero ? search.zero->before > end : search.until >= end;
  });
}

bool WatchedFormulas::follows(const StraightStep& step) {
  return std::ranges::all_of(followed_, [&](FollowedUnknowns& unknowns) { return unknowns.stays(step); });
}

/// ẋ, x or λ at an end of the step; multipliers are those of its start, as on the path of `pole`.
double FollowedUnknowns::input(const StraightStep& step, bool at_end, int number) const {
  if (number > 2 * n_) return step.from_lambda[number - 1 - 2 * n_];
  if (number > n_) return (at_end ? step.to_x : step.from_x)[number - 1 - n_];
  return (step.to_x[number - 1] - step.from_x[number - 1]) / (step.to_t - step.from_t);
}

bool FollowedUnknowns::lies_in_proof(const StraightStep& step) const {
  if (!known_ || !known_->over.t.contains(step.from_t) || !known_->over.t.contains(step.to_t)) return false;
  for (std::size_t k = 0; k < given_.size(); ++k)
    for (const bool at_end : {false, true})
      if (!known_->over.x[k].contains(input(step, at_end, given_[k]))) return false;
  for (std::size_t k = 0; k < unknowns_.size(); ++k)
    if (!known_->z[k].contains(input(step, false, unknowns_[k]))) return false;
  return true;
}

bool FollowedUnknowns::stays(const StraightStep& step) {
  const auto is_multiplier = [&](int number) { return number > 2 * n_; };
  const bool lacks_values = step.from_lambda.size() == 0 && std::ranges::any_of(unknowns_, is_multiplier);
  if (!lacks_values && !lies_in_proof(step)) return false;
  meeting_.reset();
  if (lacks_values) return true;
  last_.until = step.to_t;
  last_.end.t = Interval(step.to_t);
  last_.end.x.clear();
  for (const int number : given_) last_.end.x.emplace_back(input(step, true, number));
  return true;
}

}  // namespace perp
