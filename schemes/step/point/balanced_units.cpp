#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/sparse_lu.hpp>
#include <perp/schemes/step/point/balanced_units.hpp>

namespace perp {
namespace {

// Of the diagonal: what makes the matrix of springs that hang on nothing regular. u grows to its inverse, of which doubles leave
// more than three digits, and the sums beside exceed the diagonal by this share at most.
constexpr double lift = 0x1p-40;

struct Equations {
  std::vector<linear::Place> places{};
  std::vector<double> values{};
  void add(int row, int column, double value) {
    places.push_back({row, column});
    values.push_back(value);
  }
};

}  // namespace

std::optional<std::vector<double>> balanced_units(const std::vector<double>& diagonal,
                                                  const std::vector<linear::SparseMatrix::Placed>& beside) {
  const auto n = static_cast<int>(diagonal.size());
  std::vector<char> is_coupled(diagonal.size(), 0);
  Equations equations;
  // In units of its diagonal each row is free of the unit of the matrix.
  for (const auto& [i, k, value] : beside) {
    if (value == 0) continue;
    for (const int row : {i, k}) {
      if (!(diagonal[at(row)] > 0)) return std::nullopt;
      is_coupled[at(row)] = 1;
      equations.add(row, i + k - row, -std::abs(value) / diagonal[at(row)]);
    }
  }
  for (int i = 0; i < n; ++i) equations.add(i, i, is_coupled[at(i)] != 0 ? 1 + lift : 1);

  linear::SparseLu factors(n, equations.places);
  if (!factors.factorise(equations.values)) return std::nullopt;
  Vector u = Vector::Ones(n);
  factors.solve(u);
  if (!std::all_of(u.begin(), u.end(), [](double unit) { return unit > 0 && std::isnormal(unit); })) return std::nullopt;
  return std::vector<double>(u.begin(), u.end());
}

}  // namespace perp
