#include <cstddef>
#include <utility>

#include <perp/lcp/exact/determinant.hpp>

namespace perp {

Rational determinant(std::vector<std::vector<Rational>> rows) {
  Rational result(1);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::size_t pivot = k;
    while (pivot < rows.size() && rows[pivot][k] == 0) ++pivot;
    if (pivot == rows.size()) return {};
    if (pivot != k) {
      std::swap(rows[pivot], rows[k]);
      result = -std::move(result);
    }
    result *= rows[k][k];
    clear_below(rows, k);
  }
  return result;
}

}  // namespace perp
