#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include <perp/cli/input/arguments.hpp>
#include <perp/cli/maps/parameter_map.hpp>
#include <perp/core/base/error.hpp>

namespace perp::cli {
namespace {

constexpr std::size_t points_at_once = 32;  // a thread takes so many points

/// The answers of all states at the points of the grid, computed by several threads.
class Computation {
 public:
  Computation(const MapRequest& request, ParameterMap& map)
      : request_(request),
        read_(request.model),
        map_(map),
        regions_(map.points()),
        proved_(map.points(), 1) {}

  void run() {
    std::vector<std::thread> threads;
    for (int k = 1; k < request_.threads; ++k) threads.emplace_back([this] { work(); });
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
    number_regions();
  }

 private:
  void work() {
    for (;;) {
      const std::size_t first = next_.fetch_add(points_at_once);
      if (first >= map_.points()) return;
      const std::size_t last = std::min(first + points_at_once, map_.points());
      for (std::size_t point = first; point < last; ++point) {
        if (point > failed_at_.load()) return;
        try {
          answer(point);
        } catch (...) {
          fail(point, std::current_exception());
          return;
        }
      }
    }
  }

  void answer(std::size_t point) {
    const std::vector<Override> set = assignments(point);
    double* number = map_.numbers.data() + point * map_.columns.size();
    std::string& region = regions_[point];
    for (const std::vector<Override>& state : request_.states) {
      const Answer answer = request_.quantity->ask(read_(set, state, "--at"));
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

  /// The first point of the grid that fails is the one that is reported, whichever thread met it.
  void fail(std::size_t point, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (point >= failed_at_.load()) return;
    failed_at_ = point;
    try {
      std::rethrow_exception(failure);
    } catch (const InvalidInput& error) {
      failure_ = std::make_exception_ptr(
          InvalidInput(fmt::format("at {}: {}", place(point), error.what())));
    } catch (...) {
      failure_ = failure;
    }
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
  const ModelReader read_;
  ParameterMap& map_;
  std::vector<std::string> regions_;  // of each point
  std::vector<char> proved_;          // of each point
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> failed_at_{SIZE_MAX};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

int ParameterMap::index(std::size_t point, std::size_t axis) const {
  for (std::size_t k = axes.size() - 1; k > axis; --k)
    point /= static_cast<std::size_t>(axes[k].count);
  return static_cast<int>(point % static_cast<std::size_t>(axes[axis].count));
}

ParameterMap compute(const MapRequest& request) {
  ParameterMap map;
  map.axes = request.axes;
  for (std::size_t k = 1; k <= request.states.size(); ++k)
    for (const char* column : request.quantity->columns)
      map.columns.push_back(request.states.size() == 1 ? column : fmt::format("{}_{}", column, k));
  std::size_t points = 1;
  for (const Axis& axis : map.axes) points *= static_cast<std::size_t>(axis.count);
  map.region.resize(points);
  map.numbers.resize(points * map.columns.size());
  Computation(request, map).run();
  return map;
}

}  // namespace perp::cli
