#include <algorithm>
#include <cmath>
#include <type_traits>

#include <perp/schemes/located/transition/accumulation.hpp>

namespace perp {
namespace {

constexpr std::size_t longest_period = 8;  // events of a cycle
constexpr double largest_ratio = 0.98;     // of successive cycles
constexpr double ratio_tolerance = 1e-2;   // by which two ratios may differ
constexpr double crowding = 0.6;           // of a thousand events beside that at half their count

/// Cycles of lengths D, r D, r² D, ... end after D r/(1 − r) more. Empty: no constant ratio r < 1.
std::optional<double> time_left(double d1, double d2, double d3) {
  if (!(d1 > 0 && d2 > 0 && d3 > 0)) return std::nullopt;
  const double ratio = d3 / d2;
  if (ratio > largest_ratio || std::abs(ratio - d2 / d1) > ratio_tolerance * ratio)
    return std::nullopt;
  return d3 * ratio / (1 - ratio);
}

}  // namespace

void AccumulationWatch::add(double t, const Vector& x, int signature, std::vector<int> laws,
                            Matrix dx, Vector dt) {
  if (count_++ % 1000 == 0) thousands_.push_back(t);
  events_.push_back({t, x, signature, std::move(laws), std::move(dx), std::move(dt)});
  if (events_.size() > 3 * longest_period + 1) events_.erase(events_.begin());
}

bool AccumulationWatch::is_crowding(double shortest) const {
  if (count_ % 1000 != 1 || thousands_.size() < 9) return false;
  const auto length = [this](std::size_t k) { return thousands_[k] - thousands_[k - 1]; };
  const std::size_t last = thousands_.size() - 1;
  return length(last) < shortest && length(last) < crowding * length(last / 2) &&
         length(last / 2) < crowding * length(last / 4);
}

std::optional<AccumulationWatch::Limit> AccumulationWatch::limit(double shortest) const {
  for (std::size_t period = 1; period <= longest_period; ++period)
    if (std::optional<Limit> found = limit(period, shortest)) return found;
  return std::nullopt;
}

bool AccumulationWatch::repeats(std::size_t period) const {
  if (events_.size() < 3 * period + 1) return false;
  for (std::size_t k = 0; k < 2 * period; ++k)
    if (event(k).signature != event(k + period).signature) return false;
  return true;
}

std::optional<AccumulationWatch::Limit> AccumulationWatch::limit(std::size_t period,
                                                                 double shortest) const {
  if (!repeats(period)) return std::nullopt;
  const double d3 = event(0).t - event(period).t;
  const std::optional<double> rest =
      time_left(event(2 * period).t - event(3 * period).t, event(period).t - event(2 * period).t, d3);
  if (!rest || *rest > shortest) return std::nullopt;
  const double share = *rest / d3;
  const auto continued = [&](const auto& now, const auto& before) {
    return now.size() > 0 && before.size() == now.size()
               ? std::decay_t<decltype(now)>(now + share * (now - before))
               : now;
  };
  Limit limit{event(0).t + *rest,
              event(0).x + share * (event(0).x - event(period).x),
              {},
              continued(event(0).dx, event(period).dx),
              continued(event(0).dt, event(period).dt)};
  bool has_resets = false;
  for (std::size_t k = 0; k < period; ++k) {
    has_resets = has_resets || event(k).laws.empty();
    limit.laws.insert(limit.laws.end(), event(k).laws.begin(), event(k).laws.end());
  }
  std::sort(limit.laws.begin(), limit.laws.end());
  limit.laws.erase(std::unique(limit.laws.begin(), limit.laws.end()), limit.laws.end());
  // What resets write has no limit, whatever laws change with them.
  if (has_resets) limit.laws.clear();
  return limit;
}

}  // namespace perp
