// What sets are wider than they should be; called by the pieces of enclosures.
#include <algorithm>

#include <perp/analysis/enclosure/pieces/widths.hpp>

namespace perp::enclosure {
namespace {

constexpr double rounding_share = 0x1p-30;

}  // namespace

std::vector<int> computed_variables(const StateSpace& space, int count) {
  std::vector<int> list;
  for (int j = 0; j < count; ++j)
    if (std::find(space.variables.begin(), space.variables.end(), j) == space.variables.end())
      list.push_back(j);
  return list;
}

std::vector<ComputedWidth> computed_widths(ModeFlow& flow, const std::vector<int>& variables,
                                           const Interval& t, const Doubleton& set) {
  std::vector<ComputedWidth> list(variables.size());
  if (list.empty() || !flow.observe(t, set, TaylorStep::image_of(set)) || !flow.has_slopes())
    return list;
  for (std::size_t k = 0; k < list.size(); ++k) {
    Vector slopes(set.states());
    for (int i = 0; i < set.states(); ++i) {
      const Interval& slope = flow.observed_slope(variables[k], i);
      list[k].states.push_back(!slope.is_zero() && set.is_spread(i));
      slopes(i) = middle(slope);
    }
    if (!slopes.allFinite()) continue;
    list[k].size = magnitude(flow.observed(variables[k]));
    list[k].whole = width(flow.observed(variables[k]));
    list[k].linear = width(set.linear_image(slopes));
  }
  return list;
}

bool Widths::is_too_wide(const ComputedWidth& found, std::size_t row, std::size_t column) {
  widest_[column] = std::max(widest_[column], found.whole);
  // what no interval of the start acts on is as wide in every part
  if (!(found.whole > rounding_share * found.size) ||
      std::none_of(found.states.begin(), found.states.end(), [](bool acts) { return acts; }))
    return false;
  const double measure =
      reach_.empty() ? widest_[column] : std::max(widest_[column], reach_[row][column]);
  const double excess = (found.whole - found.linear) / measure;
  excess_ = std::max(excess_, excess);
  return excess > share_;
}

void Widths::note(const Doubleton& set, std::size_t row,
                  const std::vector<ComputedWidth>& computed) {
  const Box& box = set.box();
  const Box image = set.linear_image();
  widest_.resize(box.size() + computed.size(), 0);
  wide_.resize(box.size(), false);
  for (std::size_t i = 0; i < box.size(); ++i) {
    const ComputedWidth state{
        magnitude(box[i]), width(box[i]), width(image[i]), {set.is_spread(static_cast<int>(i))}};
    if (is_too_wide(state, row, i)) wide_[i] = true;
  }
  for (std::size_t k = 0; k < computed.size(); ++k) {
    if (!is_too_wide(computed[k], row, box.size() + k)) continue;
    for (std::size_t i = 0; i < box.size(); ++i) wide_[i] = wide_[i] || computed[k].states[i];
  }
}

int widest_start(const std::vector<double>& shares) {
  const auto most = std::max_element(shares.begin(), shares.end());
  return most != shares.end() && *most > 0 ? static_cast<int>(most - shares.begin()) : -1;
}

}  // namespace perp::enclosure
