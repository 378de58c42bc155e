// Tells poles from folds by the course of unknowns towards where they are no longer simple roots: asked by
// FollowedUnknowns.
#include <algorithm>
#include <cmath>

#include <perp/schemes/poles/growth.hpp>

namespace perp {
namespace {

constexpr double least_growth = 0x1p10;  ///< up to the last place
constexpr double near_share = 0x1p-2, far_share = 0x1p-6;  ///< of the last size
/// Ratio of the distances at which z has these shares: 2^(4/order) to (2^(6/order) − 1)/(2^(2/order) − 1), as the
/// singularity is up to as far behind the last place as this behind the one with twice its distance.
constexpr double least_ratio = 4, most_ratio = 50;
constexpr double told_apart = 1.05;  ///< sizes of entries

}  // namespace

void Growth::add(double place, const std::vector<double>& z) {
  courses_.resize(z.size());
  for (std::size_t k = 0; k < z.size(); ++k) {
    std::vector<Entry>& course = courses_[k];
    const double size = std::abs(z[k]);
    while (!course.empty() && (course.back().place >= place || course.back().size >= size)) course.pop_back();
    const auto count = course.size();
    if (count >= 2 && course[count - 1].size < told_apart * course[count - 2].size) course.pop_back();
    course.push_back({place, size});
  }
  last_ = place;
}

bool Growth::leads_to_pole(bool of_any_order) const {
  return std::ranges::any_of(courses_, [&](const std::vector<Entry>& course) {
    return !course.empty() && course.back().place == last_ && leads_to_pole(course, of_any_order);
  });
}

bool Growth::leads_to_pole(const std::vector<Entry>& course, bool of_any_order) {
  const Entry& last = course.back();
  const bool is_number = last.size > 0 && std::isfinite(last.size);  // 0 has not grown, and ∞ tells no shares
  if (!is_number || !(last.size >= least_growth * course.front().size)) return false;
  const auto first_above = [&](double share) {
    return std::ranges::find_if(course, [&](const Entry& entry) { return entry.size > share * last.size; });
  };
  // The way from each share on lies between those from the entries on its both sides.
  const auto near = first_above(near_share), far = first_above(far_share);
  const double from_near = last.place - std::prev(near)->place, from_far = last.place - far->place;
  if (!(from_far >= least_ratio * from_near)) return false;
  return of_any_order || last.place - std::prev(far)->place <= most_ratio * (last.place - near->place);
}

}  // namespace perp
