#pragma once

#include <map>
#include <vector>

#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/analysis/enclosure/parts/independent_systems.hpp>

namespace perp::enclosure {

/// Enclosures of systems that share nothing but parameters and time, as one of all of them: a point
/// has as many solutions as its parts' solutions make pairs. Rows of a time are those of every part
/// with those of every other one, and branches likewise; nothing is claimed from where the first of
/// them is lost. Where there would be more branches than `most`, the branches of parts with many of them become
/// one: its rows are the hulls of theirs, unique where all are, and its events possible.
class Product {
 public:
  Product(const Dcs& whole, int most) : whole_(whole), most_(most) {}

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
  static std::vector<int> branches_of(const Enclosure& found);
  void join_branches();
  void find_branches();
  void find_lost();
  /// The number in the whole of branches of all parts.
  [[nodiscard]] int number(const std::vector<int>& branches) const { return numbers_.at(branches); }
  void add_rows(double t);
  void add_events(std::size_t member);

  const Dcs& whole_;
  int most_;
  std::vector<Member> members_;
  std::map<std::vector<int>, int> numbers_;
  Enclosure result_;
};

}  // namespace perp::enclosure
