#pragma once

#include <map>
#include <vector>

#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/analysis/enclosure/parts/independent_systems.hpp>

namespace perp::enclosure {

/// Enclosures of systems that share nothing but parameters and time, as one of all of them: a point
/// has as many solutions as its parts' solutions make pairs. Rows of a time are those of every part
/// with those of every other one, and branches likewise; nothing is claimed from where the first of
/// them is lost.
class Product {
 public:
  explicit Product(const Dcs& whole) : whole_(whole) {}

  void add(const SystemPart& part, Enclosure found) {
    members_.push_back({part, std::move(found), {}});
  }
  /// Once.
  Enclosure finish();

 private:
  struct Member {
    SystemPart part;
    Enclosure found;
    std::vector<int> branches;  ///< that have rows or events, increasing
  };
  void find_branches();
  void find_lost();
  /// The number in the whole of branches of all parts.
  [[nodiscard]] int number(const std::vector<int>& branches) const { return numbers_.at(branches); }
  void add_rows(double t);
  void add_events(std::size_t member);

  const Dcs& whole_;
  std::vector<Member> members_;
  std::map<std::vector<int>, int> numbers_;
  Enclosure result_;
};

}  // namespace perp::enclosure
