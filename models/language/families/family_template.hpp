#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <perp/models/language/families/family_text.hpp>

namespace perp {

/// A text of a family that is read once for all values of its indices: what stays, and where indices, elements x[i-1] and
/// an `if` that indices decide stand. It gives what `expand_indices` gives, which reads the text for each of them.
class FamilyTemplate {
 public:
  /// `like`: the indices, with any values. Nothing where the text holds more than this, as sums over an index, or is wrong.
  static std::optional<FamilyTemplate> of(std::string_view text, const Indices& like, const Families& families);

  /// The text with these values of the same indices; nothing where an element is outside of its family.
  [[nodiscard]] std::optional<std::string> at(const Indices& indices) const;

 private:
  /// constant + sum of factors times indices, these in the order of their names.
  struct Linear {
    long constant = 0;
    std::vector<std::pair<std::size_t, long>> terms{};
    [[nodiscard]] long at(const std::vector<long>& values) const;
  };
  /// left = right, <, >, <= or >=
  struct Relation {
    Linear left, right;
    std::string_view symbol;  ///< one of those that are listed, not of a text
    [[nodiscard]] bool holds(const std::vector<long>& values) const;
  };
  struct Piece;
  using Pieces = std::vector<Piece>;
  struct Piece {
    enum class Kind { text, index, element, choice } kind = Kind::text;
    std::string text{};            ///< as it stays; of an element its family with the bracket
    std::vector<Linear> indices{};  ///< one, or those of an element
    std::vector<long> sizes{};     ///< of its family; 0: any
    Relation relation{};           ///< of a choice
    std::vector<Pieces> branches{};  ///< of a choice: where it holds, else
  };
  class Reader;

  static bool append(const Pieces& pieces, const std::vector<long>& values, std::string& text);
  static bool append_element(const Piece& piece, const std::vector<long>& values, std::string& text);

  Pieces pieces_;
};

}  // namespace perp
