#pragma once

#include <map>
#include <vector>

#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/analysis/enclosure/parts/independent_systems.hpp>

namespace perp::enclosure {

/// Enclosures of systems that share nothing but parameters and time, as one of all of them: a point
/// has as many solutions as its parts' solutions make pairs. Rows of a time are those of every part
/// with those of every other one, and branches likewise; nothing is claimed from where the first of
/// them is lost. Where there would be more branches than `most`, the branches of parts with many of
/// them become one: its rows are the hulls of theirs, unique where all are, and its events
/// possible.
///
/// Of a paving likewise: pieces are those of every part with those of every other one, where they
/// agree on the parameters that both hold; where there would be more than `options.pieces`, parts
/// with many of them count as one piece.
class Product {
 public:
  /// `start` and `parameters`: the whole set's.
  Product(const Dcs& whole, const Box& start, const Box& parameters, const EncloseOptions& options)
      : whole_(whole), start_(start), parameters_(parameters), options_(options) {}

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
  [[nodiscard]] const Member* first_lost() const;
  void find_lost();
  /// The number in the whole of branches of all parts.
  [[nodiscard]] int number(const std::vector<int>& branches) const { return numbers_.at(branches); }
  /// Those of the whole, of rows of each part.
  [[nodiscard]] std::vector<EnclosureRow> rows_of(
      const std::vector<const std::vector<EnclosureRow>*>& parts) const;
  void add_events(std::size_t member);
  void join_pieces();
  void add_pieces();
  [[nodiscard]] EnclosurePiece whole_piece() const;

  const Dcs& whole_;
  const Box& start_;
  const Box& parameters_;
  const EncloseOptions& options_;
  std::vector<Member> members_;
  std::map<std::vector<int>, int> numbers_;
  Enclosure result_;
};

}  // namespace perp::enclosure
