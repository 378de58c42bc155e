#include <fmt/format.h>
#include <algorithm>
#include <map>

#include <perp/analysis/maps/parameter_map.hpp>
#include <perp/analysis/parallel.hpp>
#include <perp/core/base/error.hpp>

namespace perp {
namespace {

constexpr std::size_t points_at_once = 32;  // a thread takes so many points

/// The answers of all states at the points of the grid, computed by several threads.
class MapComputation {
 public:
  MapComputation(const MapRequest& request, ParameterMap& map)
      : request_(request), map_(map), regions_(map.points()), proved_(map.points(), 1) {}

  void run() {
    const std::size_t shares = (map_.points() + points_at_once - 1) / points_at_once;
    in_parallel(request_.threads, shares, [this](std::size_t share, int /*thread*/) {
      const std::size_t first = share * points_at_once;
      const std::size_t last = std::min(first + points_at_once, map_.points());
      for (std::size_t point = first; point < last; ++point) answer_or_name(point);
    });
    number_regions();
  }

 private:
  /// What is wrong at a point is said with its place.
  void answer_or_name(std::size_t point) {
    try {
      answer(point);
    } catch (const InvalidInput& error) {
      throw InvalidInput(fmt::format("at {}: {}", place(point), error.what()));
    }
  }

  void answer(std::size_t point) {
    const std::vector<Override> set = assignments(point);
    double* number = map_.numbers.data() + point * map_.columns.size();
    std::string& region = regions_[point];
    for (const std::vector<Override>& state : request_.states) {
      const MapAnswer answer = request_.quantity->ask(request_.read(set, state));
      number = std::copy(answer.numbers.begin(), answer.numbers.end(), number);
      region += (region.empty() ? "" : " | ") + answer.region;
      if (!answer.is_proved) proved_[point] = 0;
    }
  }

  /// The varied values of a point.
  [[nodiscard]] std::vector<Override> assignments(std::size_t point) const {
    std::vector<Override> list;
    for (std::size_t k = 0; k < map_.axes.size(); ++k)
      list.push_back(
          {map_.axes[k].name, fmt::format("{}", map_.axes[k].value(map_.index(point, k)))});
    return list;
  }

  /// "B1 = 0.5, B2 = 1"
  [[nodiscard]] std::string place(std::size_t point) const {
    std::string text;
    for (const Override& item : assignments(point))
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", item.key, item.value);
    return text;
  }

  void number_regions() {
    std::map<std::string, int> known;
    for (std::size_t point = 0; point < map_.points(); ++point) {
      const auto [found, is_new] =
          known.emplace(std::move(regions_[point]), static_cast<int>(map_.regions.size()));
      if (is_new) map_.regions.push_back(found->first);
      map_.region[point] = found->second;
      if (proved_[point] == 0) ++map_.not_proved;
    }
  }

  const MapRequest& request_;
  ParameterMap& map_;
  std::vector<std::string> regions_;  // of each point
  std::vector<char> proved_;          // of each point
};

}  // namespace

int ParameterMap::index(std::size_t point, std::size_t axis) const {
  for (std::size_t k = axes.size() - 1; k > axis; --k)
    point /= static_cast<std::size_t>(axes[k].count);
  return static_cast<int>(point % static_cast<std::size_t>(axes[axis].count));
}

ParameterMap parameter_map(const MapRequest& request) {
  ParameterMap map;
  map.axes = request.axes;
  for (std::size_t k = 1; k <= request.states.size(); ++k)
    for (const char* column : request.quantity->columns)
      map.columns.push_back(request.states.size() == 1 ? column : fmt::format("{}_{}", column, k));
  std::size_t points = 1;
  for (const MapAxis& axis : map.axes) points *= static_cast<std::size_t>(axis.count);
  map.region.resize(points);
  map.numbers.resize(points * map.columns.size());
  MapComputation(request, map).run();
  return map;
}

}  // namespace perp
