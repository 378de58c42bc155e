#pragma once

#include <map>
#include <utility>
#include <vector>

#include <perp/analysis/enclosure/enclose.hpp>

namespace perp::enclosure {

/// The row holds also what the other one does, of the same time: hulls, the modes of both, `unique` where
/// both are.
void widen(EnclosureRow& row, const EnclosureRow& other);

/// What is known of all members of a set at the times of rows, whatever their branch is.
class RowBounds {
 public:
  RowBounds() = default;
  explicit RowBounds(const std::vector<EnclosureRow>& rows) {
    for (const EnclosureRow& row : rows) add(row);
  }
  /// One of the rows of a time, which together hold all members.
  void add(const EnclosureRow& row);
  /// Of a row of the same set, or of a part of it, what lies within these bounds: the solutions do.
  /// Where they say that each member has one solution, the row says so, too.
  void narrow(EnclosureRow& row) const;

 private:
  std::map<double, EnclosureRow> rows_;
};

/// Rows, one for each time and branch.
class RowUnion {
 public:
  void add(const EnclosureRow& row);
  /// In the order of t and branch; none are left.
  std::vector<EnclosureRow> take();

 private:
  std::map<std::pair<double, int>, EnclosureRow> rows_;
};

}  // namespace perp::enclosure
