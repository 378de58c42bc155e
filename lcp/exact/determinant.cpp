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
    for (std::size_t i = k + 1; i < rows.size(); ++i) {
      if (rows[i][k] == 0) continue;
      const Rational factor = rows[i][k] / rows[k][k];
      for (std::size_t j = k + 1; j < rows.size(); ++j)
        if (rows[k][j] != 0) rows[i][j] -= factor * rows[k][j];
    }
  }
  return result;
}

}  // namespace perp
