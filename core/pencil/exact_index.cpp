#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/base/rational.hpp>
#include <perp/core/pencil/exact_index.hpp>

namespace perp {
namespace {

using Row = std::vector<Rational>;

/// One equation  E v̇ = A v + f  of a DAE.
struct Equation {
  Row E, A;
};

void subtract(Row& row, const Rational& factor, const Row& other) {
  for (std::size_t j = 0; j < row.size(); ++j)
    if (other[j] != 0) row[j] -= factor * other[j];
}

/// The equations of a mode in the unknowns (x, λ).
std::vector<Equation> equations_of(const Lcs& lcs, const Mode& mode) {
  const int n = lcs.n(), m = lcs.m();
  std::vector<Equation> result;
  const auto row_of = [](const Matrix& left, const Matrix& right, int i, const Rational& factor) {
    Row row;
    for (const Matrix* part : {&left, &right})
      for (int j = 0; j < part->cols(); ++j) {
        const double entry = (*part)(i, j);
        row.push_back(entry == 0 ? Rational() : factor * Rational(entry));
      }
    return row;
  };
  for (int i = 0; i < n; ++i)
    result.push_back({row_of(lcs.E, Matrix::Zero(n, m), i, 1), row_of(lcs.A, lcs.B, i, 1)});
  for (int i = 0; i < m; ++i) {
    const Branch& branch = lcs.laws[at(i)].branches[at(mode[at(i)])];
    Row row = row_of(lcs.C, lcs.D, i, branch.a);
    row[at(n + i)] += Rational(branch.b);
    result.push_back({Row(at(n + m)), std::move(row)});
  }
  return result;
}

/// The laws that give their multipliers explicitly in this mode.
std::vector<std::size_t> explicit_laws(const Lcs& lcs, const Mode& mode) {
  std::vector<std::size_t> places;
  for (int i = 0; i < lcs.m(); ++i)
    if (lcs.laws[at(i)].branches[at(mode[at(i)])].b != 0) places.push_back(at(lcs.n() + i));
  return places;
}

/// Takes the unknown of a column out of all other equations by one of the `unused`, which is taken from these;
/// false if none has it.
bool eliminate(std::vector<Equation>& all, std::size_t column, std::vector<std::size_t>& unused) {
  const auto pivot = std::find_if(unused.begin(), unused.end(), [&](std::size_t i) { return all[i].A[column] != 0; });
  if (pivot == unused.end()) return false;
  const Row of_pivot = all[*pivot].A;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != *pivot && all[i].A[column] != 0) subtract(all[i].A, all[i].A[column] / of_pivot[column], of_pivot);
  unused.erase(pivot);
  return true;
}

/// Eliminates the multipliers of laws that give them explicitly (b ≠ 0) by the equations of these laws; leaves all
/// as it is where these do not determine them.
std::vector<Equation> with_explicit_laws_eliminated(std::vector<Equation> all, const Lcs& lcs, const Mode& mode) {
  const std::vector<std::size_t> places = explicit_laws(lcs, mode);
  if (places.empty()) return all;
  const std::vector<Equation> given = all;
  std::vector<std::size_t> unused = places;
  for (const std::size_t column : places)
    if (!eliminate(all, column, unused)) return given;
  // Their equations and columns stand in the same places.
  for (std::size_t k = places.size(); k-- > 0;) {
    const auto place = static_cast<std::ptrdiff_t>(places[k]);
    all.erase(all.begin() + place);
    for (Equation& equation : all)
      for (Row* row : {&equation.E, &equation.A}) row->erase(row->begin() + place);
  }
  return all;
}

/// Brings E to rows of echelon form and zero rows; returns the number of the former.
std::size_t reduce(std::vector<Equation>& equations) {
  std::size_t rank = 0;
  for (std::size_t column = 0; column < equations.size() && rank < equations.size(); ++column) {
    std::size_t pivot = rank;
    while (pivot < equations.size() && equations[pivot].E[column] == 0) ++pivot;
    if (pivot == equations.size()) continue;
    std::swap(equations[pivot], equations[rank]);
    for (std::size_t i = rank + 1; i < equations.size(); ++i) {
      if (equations[i].E[column] == 0) continue;
      const Rational factor = equations[i].E[column] / equations[rank].E[column];
      subtract(equations[i].E, factor, equations[rank].E);
      subtract(equations[i].A, factor, equations[rank].A);
    }
    ++rank;
  }
  return rank;
}

}  // namespace

std::optional<int> exact_index(const Lcs& given, const Mode& mode) {
  const Lcs lcs = validated(given);
  std::vector<Equation> equations = with_explicit_laws_eliminated(equations_of(lcs, mode), lcs, mode);
  for (int index = 0; index <= static_cast<int>(equations.size()); ++index) {
    const std::size_t rank = reduce(equations);
    if (rank == equations.size()) return index;
    // The equations 0 = A v + f are differentiated.
    for (std::size_t i = rank; i < equations.size(); ++i) {
      equations[i].E = std::move(equations[i].A);
      equations[i].A = Row(equations[i].E.size());
    }
  }
  return std::nullopt;
}

}  // namespace perp
