#pragma once

#include <complex>
#include <memory>
#include <vector>

#include <perp/core/base/types.hpp>

namespace perp::linear {

/// The places of entries by columns, in each with increasing rows.
struct EntryPlaces {
  std::vector<int> start{0};  ///< of each column among the entries, and their number
  std::vector<int> row{};     ///< of each entry

  [[nodiscard]] int columns() const { return static_cast<int>(start.size()) - 1; }
  friend bool operator==(const EntryPlaces&, const EntryPlaces&) = default;
};

/// P A = L U of a square matrix, real or complex: as `Lu` has it, and by its entries that are not 0 (KLU) where it is large and
/// few are. The order of the entries is found once for the same places.
template <class Number>
class EntryLu {
 public:
  using Square = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic>;
  using Column = Eigen::Matrix<Number, Eigen::Dynamic, 1>;

  static constexpr Eigen::Index most_full = 64;  ///< rows of a matrix that is taken in full
  static constexpr Eigen::Index fewest = 8;      ///< entries there are for one that is not 0, of a matrix taken by these

  EntryLu();
  EntryLu(EntryLu&&) noexcept;
  EntryLu& operator=(EntryLu&&) noexcept;
  ~EntryLu();

  void compute(const Square& A);
  /// The same of a matrix that has these values at these places and 0 elsewhere.
  void compute(const EntryPlaces& places, const Column& values);
  /// solution = A⁻¹ right; of a matrix without pivots it is not finite.
  void solve(const Eigen::Ref<const Column>& right, Column& solution) const;
  /// Is the last matrix taken by its entries?
  [[nodiscard]] bool is_sparse() const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

extern template class EntryLu<double>;
extern template class EntryLu<std::complex<double>>;

}  // namespace perp::linear
