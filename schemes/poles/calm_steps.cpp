// Steps on which it is known beforehand that PoleWatch finds nothing: called by the run loop.
#include <algorithm>

#include <perp/schemes/poles/pole_watch.hpp>

namespace perp {

bool PoleWatch::is_calm(const Mode& mode, const StraightStep& step) {
  return step.to_t > step.from_t &&
         std::ranges::all_of(formulas_of(mode), [&](const auto& formulas) { return formulas->is_calm(step); });
}

// Of functions of time alone no state is asked for.
bool PoleWatch::is_calm_in_time(double from, double to) {
  if (forms_) return false;
  SolutionPath path{};
  path.a.t = from, path.b.t = to;
  return !pass(path) && !singular_end(path);
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

bool PoleWatch::look_ahead(const Mode& mode, const StraightStep& step) {
  return step.to_t > step.from_t &&
         std::ranges::all_of(formulas_of(mode), [&](const auto& formulas) { return formulas->look_ahead(step); });
}

bool PoleWatch::add_sides(const Mode& mode, double h, std::vector<CalmBox::Side>& sides) {
  return std::ranges::all_of(formulas_of(mode), [&](const auto& formulas) { return formulas->add_sides(h, sides); });
}

/// A step ends by more than what is looked at behind it before the first time that was not looked at, or is a zero.
void WatchedFormulas::add_sides_of_time(double h, std::vector<CalmBox::Side>& sides) const {
  constexpr double behind = 0x1p-8;  // of the step
  for (const Search& search : searches_)
    sides.push_back({Dcs::time_input(), -inf, (search.zero ? search.zero->before : search.until) - behind * h});
}

bool WatchedFormulas::add_sides_of_followed(std::vector<CalmBox::Side>& sides) const {
  return std::ranges::all_of(followed_, [&](const FollowedUnknowns& unknowns) { return unknowns.add_sides(sides); });
}

/// ẋ, x or λ at an end of the step; multipliers are those of its start, as on the path of `pole`.
double FollowedUnknowns::input(const StraightStep& step, bool at_end, int number) const {
  if (number > 2 * n_) return step.from_lambda[number - 1 - 2 * n_];
  if (number > n_) return (at_end ? step.to_x : step.from_x)[number - 1 - n_];
  return (step.to_x[number - 1] - step.from_x[number - 1]) / (step.to_t - step.from_t);
}

/// Is there a proof over the times of the step?
bool FollowedUnknowns::is_proved_during(const StraightStep& step) const {
  return known_ && known_->over.t.contains(step.from_t) && known_->over.t.contains(step.to_t);
}

bool FollowedUnknowns::lies_in_proof(const StraightStep& step) const {
  if (!is_proved_during(step)) return false;
  for (std::size_t k = 0; k < given_.size(); ++k)
    for (const bool at_end : {false, true})
      if (!known_->over.x[k].contains(input(step, at_end, given_[k]))) return false;
  for (std::size_t k = 0; k < unknowns_.size(); ++k)
    if (!known_->z[k].contains(input(step, false, unknowns_[k]))) return false;
  return true;
}

bool FollowedUnknowns::add_sides(std::vector<CalmBox::Side>& sides) const {
  if (!known_) return false;
  const auto add = [&](int number, const Interval& held) {
    sides.push_back({number, held.lo, held.hi});
    return number == Dcs::time_input() || number > n_;  // a rate is no input of the box
  };
  bool has_all = add(Dcs::time_input(), known_->over.t);
  for (std::size_t k = 0; k < given_.size(); ++k) has_all = add(given_[k], known_->over.x[k]) && has_all;
  for (std::size_t k = 0; k < unknowns_.size(); ++k) has_all = add(unknowns_[k], known_->z[k]) && has_all;
  return has_all;
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
