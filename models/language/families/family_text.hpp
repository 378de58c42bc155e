#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <perp/core/base/error.hpp>

namespace perp {

/// A text with indices is wrong; `offset` in bytes of the text.
class FamilyError : public InvalidInput {
 public:
  FamilyError(const std::string& message, std::size_t offset)
      : InvalidInput(message), offset_(offset) {}
  [[nodiscard]] std::size_t offset() const { return offset_; }

 private:
  std::size_t offset_;
};

/// What texts with indices may use: the sizes of the families by name, and values of parameters.
struct Families {
  std::map<std::string, std::vector<long>, std::less<>> sizes{};
  /// Those that laws declare, with the number of their indices: an element is what a law names so.
  std::map<std::string, std::size_t, std::less<>> multipliers{};
  /// The value of a parameter; NaN: there is none of that name.
  std::function<double(std::string_view name)> parameter{};
};

using Indices = std::map<std::string, long, std::less<>>;

/// One element of a family of texts.
struct ExpandedText {
  std::string text;
  std::string instance{};  ///< "i = 3, j = 1"; empty: not of a family
};

/// "for i in 2:N-1, j in 1:i: TEXT" as one text for each value of the indices, in their order; a
/// text without `for` is one. In it x[i-1] becomes x[2], indices numbers, sum(j in 1:N: ..) and
/// prod(..) what they stand for, mod(a, b) of whole numbers and if(..) whose condition holds an
/// index are decided. Throws FamilyError.
std::vector<ExpandedText> expand_family(std::string_view text, const Families& families);

/// The family whose elements "for i in 1:N: u[i] in sign(x[i])" or "..: 0 <= a perp u[i] >= 0" declares, unless
/// it has a size, with the number of its indices; 0 where there is none.
std::pair<std::string, std::size_t> declared_family(std::string_view law, const Families& families);

/// The same of one text with values of its indices.
std::string expand_indices(std::string_view text, const Indices& indices, const Families& families);

/// A whole number: + - * / ^ mod, brackets, indices, parameters. Throws FamilyError.
long whole_number(std::string_view text, const Indices& indices, const Families& families);

/// The same for any number.
double number_of(std::string_view text, const Indices& indices, const Families& families);

}  // namespace perp
