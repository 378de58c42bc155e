// Tables of data as functions of time. The readers of model files make them, tapes refer to them.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/tape/data_table.hpp>

namespace perp {
namespace {

std::string at_row(const std::string& name, std::size_t k) {
  return "table '" + name + "', row " + std::to_string(k + 1) + ": ";
}

/// Throws InvalidInput where row k is no point behind the one before it.
void check_row(const std::string& name, const std::vector<double>& times,
               const std::vector<double>& values, std::size_t k) {
  if (!std::isfinite(times[k]) || !std::isfinite(values[k]))
    throw InvalidInput(at_row(name, k) + "found a number that is not finite; expected numbers");
  if (k > 0 && !(times[k] > times[k - 1]))
    throw InvalidInput(at_row(name, k) + "the time does not increase; expected increasing times");
}

void check(const std::string& name, const std::vector<double>& times,
           const std::vector<double>& values) {
  if (times.size() != values.size())
    throw InvalidInput("table '" + name + "' has " + std::to_string(times.size()) + " times and " +
                       std::to_string(values.size()) + " values; expected as many");
  if (times.size() < 2)
    throw InvalidInput("table '" + name + "' has " + std::to_string(times.size()) +
                       (times.size() == 1 ? " row" : " rows") + "; expected two or more");
  for (std::size_t k = 0; k < times.size(); ++k) check_row(name, times, values, k);
}

}  // namespace

DataTable::DataTable(std::string name, std::vector<double> times, std::vector<double> values,
                     Between between)
    : name_(std::move(name)),
      times_(std::move(times)),
      values_(std::move(values)),
      between_(between) {
  check(name_, times_, values_);
  pieces_per_time_ = static_cast<double>(times_.size() - 1) / (end() - start());
  const auto slope = [&](std::size_t k) {
    return (values_[k + 1] - values_[k]) / (times_[k + 1] - times_[k]);
  };
  for (std::size_t k = 1; k < times_.size(); ++k) {
    const bool is_last = k + 1 == times_.size();
    if (between_ == Between::hold && values_[k] != values_[k - 1])
      jumps_.push_back(times_[k]);
    else if (between_ == Between::linear && !is_last && slope(k) != slope(k - 1))
      kinks_.push_back(times_[k]);
  }
}

int DataTable::piece(double t) const {
  const int last = static_cast<int>(times_.size()) - 2;
  if (!(t > start())) return 0;
  if (t >= end()) return last;
  const auto guess = static_cast<int>((t - start()) * pieces_per_time_);
  for (int k = std::max(guess - 1, 0); k <= std::min(guess + 1, last); ++k)
    if (const auto i = static_cast<std::size_t>(k); times_[i] <= t && t < times_[i + 1]) return k;
  return static_cast<int>(std::upper_bound(times_.begin(), times_.end(), t) - times_.begin()) - 1;
}

DataTable DataTable::slopes() const {
  std::vector<double> list(values_.size(), 0);
  if (between_ == Between::linear) {
    for (std::size_t k = 0; k + 1 < values_.size(); ++k)
      list[k] = (values_[k + 1] - values_[k]) / (times_[k + 1] - times_[k]);
    list.back() = list[list.size() - 2];
  }
  return {"slope of " + name_, times_, std::move(list), Between::hold};
}

namespace {

constexpr std::size_t most_tables = 1 << 16;

/// Tables by their numbers. Each entry is written once, before its number is known to anybody.
struct Tables {
  std::mutex mutex;
  std::unordered_multimap<std::uint64_t, std::size_t> known;  // by a hash of the data
  std::size_t count = 0;
  std::unique_ptr<std::atomic<const DataTable*>[]> entries =
      std::make_unique<std::atomic<const DataTable*>[]>(most_tables);

  ~Tables() {
    for (std::size_t k = 0; k < count; ++k) delete entries[k].load();
  }
};

Tables& tables() {
  static Tables all;
  return all;
}

std::uint64_t hash_of(const DataTable& table) {
  std::uint64_t hash = table.times().size();
  const auto mix = [&hash](double number) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(number)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
  };
  for (const double t : table.times()) mix(t);
  for (const double value : table.values()) mix(value);
  return hash;
}

}  // namespace

double DataTable::number_of(DataTable table) {
  Tables& all = tables();
  const std::uint64_t hash = hash_of(table);
  const std::scoped_lock lock(all.mutex);
  const auto [first, last] = all.known.equal_range(hash);
  for (auto place = first; place != last; ++place)
    if (*all.entries[place->second].load() == table) return static_cast<double>(place->second);
  if (all.count == most_tables)
    throw InvalidInput("more than " + std::to_string(most_tables) + " tables of data in one program");
  all.entries[all.count].store(new DataTable(std::move(table)), std::memory_order_release);
  all.known.emplace(hash, all.count);
  return static_cast<double>(all.count++);
}

const DataTable& DataTable::of(double number) {
  return *tables().entries[static_cast<std::size_t>(number)].load(std::memory_order_acquire);
}

void DataTable::refuse() {
  throw InvalidInput("tables of data are not known to this analysis; expected formulas of t");
}

double DataTable::value_of(double number, double t) {
  if (std::isnan(t)) return t;
  return of(number).value(t, t);
}

}  // namespace perp
