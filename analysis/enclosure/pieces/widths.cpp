// What sets are wider than they should be; called by the pieces of enclosures.
#include <algorithm>

#include <perp/analysis/enclosure/pieces/widths.hpp>

namespace perp::enclosure {
namespace {

constexpr double rounding_share = 0x1p-30;

}  // namespace

void Widths::note(const Doubleton& set, std::size_t row) {
  const Box& box = set.box();
  const Box image = set.linear_image();
  widest_.resize(box.size(), 0);
  wide_.resize(box.size(), false);
  for (std::size_t i = 0; i < box.size(); ++i) {
    const double whole = width(box[i]);
    widest_[i] = std::max(widest_[i], whole);
    // what no interval of the start acts on is as wide in every part
    if (!(whole > rounding_share * magnitude(box[i])) || !set.is_spread(static_cast<int>(i)))
      continue;
    const double measure = reach_.empty() ? widest_[i] : std::max(widest_[i], reach_[row][i]);
    const double excess = (whole - width(image[i])) / measure;
    excess_ = std::max(excess_, excess);
    if (excess > share_) wide_[i] = true;
  }
}

int widest_start(const std::vector<double>& shares) {
  const auto most = std::max_element(shares.begin(), shares.end());
  return most != shares.end() && *most > 0 ? static_cast<int>(most - shares.begin()) : -1;
}

}  // namespace perp::enclosure
