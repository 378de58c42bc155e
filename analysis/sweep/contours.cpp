#include <algorithm>
#include <cmath>
#include <optional>

#include <perp/analysis/sweep/contours.hpp>

namespace perp {
namespace {

/// A corner of a cell.
struct Corner {
  double x, y, value;
};

/// Where the side from a to b takes the level, linear in between.
std::optional<std::array<double, 2>> passage(const Corner& a, const Corner& b, double level) {
  if ((a.value >= level) == (b.value >= level)) return {};
  const double share = (level - a.value) / (b.value - a.value);
  return std::array{a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
}

/// Of one cell, its corners in turn: one piece, or two where opposite corners are on one side, which the mean of all decides.
void add_cell(const std::array<Corner, 4>& corners, double level, std::vector<std::array<double, 4>>& pieces) {
  std::vector<std::array<double, 2>> points;
  for (std::size_t k = 0; k < 4; ++k)
    if (const auto point = passage(corners[k], corners[(k + 1) % 4], level)) points.push_back(*point);
  const auto join = [&](std::size_t a, std::size_t b) { pieces.push_back({points[a][0], points[a][1], points[b][0], points[b][1]}); };
  if (points.size() == 2) join(0, 1);
  if (points.size() != 4) return;
  double mean = 0;
  for (const Corner& corner : corners) mean += corner.value / 4;
  // Sides 0 and 3 meet in corner 0: it is cut off where the middle is on the other side.
  const bool cuts_first = (corners[0].value >= level) != (mean >= level);
  cuts_first ? (join(0, 3), join(1, 2)) : (join(0, 1), join(2, 3));
}

/// The first of 1, 2, 5, 10, 20, .. from here on.
double round_number_from(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}

}  // namespace

ContourLevels contour_levels(double low, double high) {
  ContourLevels levels;
  if (!(high > low) || !std::isfinite(high - low)) return levels;
  levels.step = round_number_from((high - low) / 8);
  // At most 8 steps lie between them. Where they differ by rounding alone, neighbouring multiples are one double.
  const double first = std::ceil(low / levels.step);
  for (int k = 0; k <= 9; ++k) {
    const double level = (first + k) * levels.step;
    if (level > (levels.values.empty() ? low : levels.values.back()) && level < high) levels.values.push_back(level);
  }
  return levels;
}

std::vector<std::array<double, 4>> contour(const std::vector<double>& x, const std::vector<double>& y,
                                           const std::vector<double>& values, double level) {
  std::vector<std::array<double, 4>> pieces;
  const auto corner = [&](std::size_t i, std::size_t k) { return Corner{x[i], y[k], values[i * y.size() + k]}; };
  for (std::size_t i = 0; i + 1 < x.size(); ++i)
    for (std::size_t k = 0; k + 1 < y.size(); ++k) {
      const std::array corners{corner(i, k), corner(i + 1, k), corner(i + 1, k + 1), corner(i, k + 1)};
      if (std::ranges::all_of(corners, [](const Corner& at) { return std::isfinite(at.value); })) add_cell(corners, level, pieces);
    }
  return pieces;
}

}  // namespace perp
