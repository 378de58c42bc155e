#include <algorithm>
#include <cmath>
#include <optional>

#include <perp/analysis/hybrid/roots/block_roots.hpp>
#include <perp/core/interval/rational_tape.hpp>
#include <perp/analysis/hybrid/roots/real_roots.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {
namespace {

constexpr std::size_t most_unknowns = 4;
constexpr int most_degree = 16;          ///< of an equation of one unknown
constexpr int most_corrections = 30;
/// How far Newton's method may go from a root that it only polishes: of the way on which the unknown
/// changes a row by its terms.
constexpr double near_start = 0x1p-30;
constexpr double rounding = 0x1p-50;     ///< of the terms of an equation
constexpr double one_root = 0x1p-40;     ///< roots nearer than this are one

/// Of the rows by the unknowns: coefficient of the product of those in the bits.
template <class T>
using Multilinear = std::vector<std::vector<T>>;

/// Values at the corners {0, 1}^k become coefficients.
template <class T>
void to_coefficients(std::vector<T>& values) {
  for (std::size_t bit = 1; bit < values.size(); bit <<= 1)
    for (std::size_t s = 0; s < values.size(); ++s)
      if (s & bit) values[s] = values[s] - values[s ^ bit];
}

/// Row operations: zeros below the pivot (col, col).
void clear_below(std::size_t col, std::vector<std::vector<Rational>>& matrix) {
  for (std::size_t row = col + 1; row < matrix.size(); ++row) {
    if (matrix[row][col] == 0) continue;
    const Rational f = matrix[row][col] / matrix[col][col];
    for (std::size_t k = col; k < matrix.size(); ++k) matrix[row][k] -= f * matrix[col][k];
  }
}

Rational rational_determinant(std::vector<std::vector<Rational>> matrix) {
  Rational product = 1;
  for (std::size_t col = 0; col < matrix.size(); ++col) {
    std::size_t pivot = col;
    while (pivot < matrix.size() && matrix[pivot][col] == 0) ++pivot;
    if (pivot == matrix.size()) return 0;
    if (pivot != col) {
      std::swap(matrix[pivot], matrix[col]);
      product = -product;
    }
    product *= matrix[col][col];
    clear_below(col, matrix);
  }
  return product;
}

class MultilinearSystem {
 public:
  MultilinearSystem(Multilinear<Rational> coefficients, int unknowns)
      : c_(std::move(coefficients)), k_(unknowns) {}

  /// Roots of all unknowns. False: the determinant vanishes identically whichever unknown is left.
  bool solve(std::vector<std::vector<double>>& roots) const {
    for (int left = 0; left < k_; ++left) {
      const RationalPolynomial p = determinant(left);
      if (p.empty()) continue;
      bool is_whole = true;
      for (const Rational& value : real_roots(p)) is_whole = extend(left, value, roots) && is_whole;
      return is_whole;
    }
    return false;
  }

  /// Newton's method from a point near a root, which is known to `noise`: what rounding of the terms
  /// moves it by. False: there is none.
  bool polish(std::vector<double>& u, Vector& noise) const {
    for (int iteration = 0; iteration < most_corrections; ++iteration) {
      const Correction here = correction(u);
      noise = here.noise;
      if (!here.step.allFinite() || !noise.allFinite()) return false;
      if (iteration == 0 && !is_near(here.step, here.terms, here.slopes)) return false;
      if (is_last(here, u)) return true;
    }
    return false;
  }

 private:
  struct Correction {
    Vector step, noise;  // what rounding of the terms moves it by
    Vector terms;
    Matrix slopes;
  };
  /// Of Newton's method at u.
  [[nodiscard]] Correction correction(const std::vector<double>& u) const {
    Correction result;
    result.slopes.resize(k_, k_);
    result.terms.resize(k_);
    Vector rest(k_);
    for (int row = 0; row < k_; ++row) evaluate(row, u, rest[row], result.terms[row], result.slopes);
    const Matrix inverse = linear::Lu(result.slopes).solve(Matrix(Matrix::Identity(k_, k_)));
    result.step = inverse * rest;
    result.noise = rounding * (inverse.cwiseAbs() * result.terms);
    return result;
  }

  /// Makes the correction. Is it nothing but rounding?
  static bool is_last(const Correction& correction, std::vector<double>& u) {
    bool is_settled = true;
    for (Eigen::Index j = 0; j < correction.step.size(); ++j) {
      is_settled = is_settled && std::abs(correction.step[j]) <= rounding * std::abs(u[at(j)]) + correction.noise[j];
      u[at(j)] -= correction.step[j];
    }
    return is_settled;
  }

  static bool is_same(const std::vector<double>& u, const std::vector<double>& other,
                      const Vector& noise) {
    for (std::size_t j = 0; j < u.size(); ++j)
      if (!(std::abs(u[j] - other[j]) <=
            one_root * std::abs(u[j]) +
                noise[static_cast<Eigen::Index>(j)] * (one_root / rounding)))
        return false;
    return true;
  }

  static bool is_near(const Vector& step, const Vector& terms, const Matrix& slopes) {
    for (Eigen::Index j = 0; j < step.size(); ++j)
      if (!(std::abs(step[j]) <= near_start * reach(terms, slopes, j))) return false;
    return true;
  }

  static double reach(const Vector& terms, const Matrix& slopes, Eigen::Index j) {
    double longest = 0;
    for (Eigen::Index row = 0; row < terms.size(); ++row)
      if (slopes(row, j) != 0) longest = std::max(longest, terms[row] / std::abs(slopes(row, j)));
    return longest;
  }

  /// c times the unknowns in the bits of s, without this one.
  [[nodiscard]] double product(double c, std::size_t s, const std::vector<double>& u, int without = -1) const {
    for (int i = 0; i < k_; ++i)
      if (i != without && (s >> i & 1)) c *= u[at(i)];
    return c;
  }

  void evaluate(int row, const std::vector<double>& u, double& value, double& terms,
                Matrix& slopes) const {
    value = terms = 0;
    slopes.row(row).setZero();
    for (std::size_t s = 0; s < c_[at(row)].size(); ++s) {
      const double c = to_double(c_[at(row)][s]);
      if (c == 0) continue;
      const double whole = product(c, s, u);
      value += whole;
      terms += std::abs(whole);
      for (int j = 0; j < k_; ++j)
        if (s >> j & 1) slopes(row, j) += product(c, s, u, j);
    }
  }

  /// Coefficient of the product of the others in the bits, at a value of the one that is left.
  [[nodiscard]] Multilinear<Rational> at_value(int left, const Rational& value) const {
    Multilinear<Rational> result;
    for (const std::vector<Rational>& row : c_) {
      std::vector<Rational> here(row.size() / 2);
      for (std::size_t s = 0; s < here.size(); ++s) {
        const std::size_t low = s & ((std::size_t{1} << left) - 1);
        const std::size_t with = (s - low) << 1 | low;
        here[s] = row[with] + value * row[with | std::size_t{1} << left];
      }
      result.push_back(std::move(here));
    }
    return result;
  }

  [[nodiscard]] RationalPolynomial determinant(int left) const {
    int size = 1;
    for (int i = 2; i <= k_; ++i) size *= i;
    std::vector<Rational> values;
    for (int point = 0; point <= size; ++point)
      values.push_back(determinant_at(at_value(left, Rational(point)), size));
    return interpolate(values);
  }

  /// Unknown i of the others has degrees 0 .. i in the factors, 0 .. i + 1 in the products.
  [[nodiscard]] Rational determinant_at(const Multilinear<Rational>& c, int size) const {
    std::vector<std::vector<Rational>> matrix;
    for (int factor = 0; factor < size / k_; ++factor)
      for (const std::vector<Rational>& row : c) {
        std::vector<Rational> line(at(size));
        for (std::size_t s = 0; s < row.size(); ++s) {
          int rest = factor, column = 0, stride = 1;
          for (int i = 0; i + 1 < k_; ++i) {
            column += stride * (rest % (i + 1) + static_cast<int>(s >> i & 1));
            rest /= i + 1;
            stride *= i + 2;
          }
          line[at(column)] += row[s];
        }
        matrix.push_back(std::move(line));
      }
    return rational_determinant(std::move(matrix));
  }

  /// The other unknowns from all rows but one, the first that determines them. False: none does, and `parts` are
  /// what the last one says.
  bool solve_others(int left, const Rational& value, std::vector<std::vector<double>>& parts) const {
    if (k_ == 1) {
      parts.emplace_back();
      return true;
    }
    const Multilinear<Rational> c = at_value(left, value);
    for (int skipped = k_ - 1; skipped >= 0; --skipped) {
      Multilinear<Rational> rest = c;
      rest.erase(rest.begin() + skipped);
      parts.clear();
      if (MultilinearSystem(std::move(rest), k_ - 1).solve(parts)) return true;
    }
    return false;
  }

  /// The roots with this value of one unknown: all rows decide.
  bool extend(int left, const Rational& value, std::vector<std::vector<double>>& roots) const {
    std::vector<std::vector<double>> parts;
    const bool is_whole = solve_others(left, value, parts);
    bool found = false;
    for (std::vector<double>& u : parts) {
      u.insert(u.begin() + left, to_double(value));
      Vector noise;
      if (!polish(u, noise)) continue;
      found = true;
      const bool is_known = std::any_of(roots.begin(), roots.end(), [&](const auto& other) {
        return is_same(u, other, noise);
      });
      if (!is_known) roots.push_back(u);
    }
    return is_whole && found;
  }

  Multilinear<Rational> c_;
  int k_;
};

bool is_multilinear(const Tape& tape, const std::vector<int>& rows,
                    const std::vector<int>& unknowns) {
  for (const int row : rows)
    for (const int unknown : unknowns)
      if (const int degree = degree_in(tape, row, {unknown}); degree < 0 || degree > 1)
        return false;
  return true;
}

BlockRoots of_one(const Tape& tape, int row, int unknown, RationalTape& numbers) {
  const int degree = degree_in(tape, row, {unknown});
  if (degree < 1 || degree > most_degree) return {};
  std::vector<Rational> values;
  for (int k = 0; k <= degree; ++k) {
    const auto value = numbers.value(row, {unknown}, {Rational(static_cast<long>(k))});
    if (!value) return {};
    values.push_back(*value);
  }
  const RationalPolynomial p = interpolate(values);
  BlockRoots roots;
  for (const Rational& root : real_roots(p)) roots.list.push_back({to_double(root)});
  roots.is_complete = !p.empty();
  return roots;
}

/// The line of a derivative, -1: it is 0 by its form.
int slope_line(Tape& tape, int line, int input) {
  if (line < 0) return -1;
  const std::vector<int> output{line};
  const std::vector<Derivative> slopes = differentiate(tape, output, input, input + 1);
  return slopes.empty() ? -1 : slopes.front().line;
}

/// Of two rows, c_0 + c_1 u + c_2 v + c_3 u v each: derivatives at 0, since differences of values would count the errors
/// of the inputs twice.
Multilinear<RunningError> coefficients_of_two(Tape tape, const std::vector<int>& rows, const std::vector<int>& unknowns,
                                              std::vector<RunningError> inputs) {
  std::vector<std::vector<int>> lines;
  for (const int row : rows) {
    const int by_first = slope_line(tape, row, unknowns[0]);
    lines.push_back({row, by_first, slope_line(tape, row, unknowns[1]),
                     slope_line(tape, by_first, unknowns[1])});
  }
  for (const int unknown : unknowns) inputs[at(unknown)] = RunningError();
  std::vector<RunningError> values(at(tape.size()));
  tape.evaluate<RunningError>(inputs, values);
  Multilinear<RunningError> c(2, std::vector<RunningError>(4));
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t s = 0; s < 4; ++s)
      if (const int line = lines[row][s]; line >= 0) c[row][s] = values[at(line)];
  return c;
}

/// Can the two roots of two rows neither meet nor go to infinity within the errors?
bool are_two_decided(const Tape& tape, const std::vector<int>& rows, const std::vector<int>& unknowns,
                     const std::vector<RunningError>& inputs) {
  const Multilinear<RunningError> c = coefficients_of_two(tape, rows, unknowns, inputs);
  const auto minor = [&](std::size_t i, std::size_t k) { return c[0][i] * c[1][k] - c[0][k] * c[1][i]; };
  // (c_0 + c_1 u) + (c_2 + c_3 u) v: the determinant by u is A v² + B v + C.
  const RunningError A = minor(2, 3), B = minor(0, 3) + minor(2, 1), C = minor(0, 1);
  const bool is_linear = A.value == 0 && A.error == 0;
  if (is_linear) return decided_sign(B) != 0;
  return decided_sign(A) != 0 && decided_sign(B * B - RunningError(4) * A * C) != 0;
}

/// Has an input of the rows, other than the unknowns, an error?
bool have_errors(const Tape& tape, const std::vector<int>& rows, const std::vector<int>& unknowns,
                 const std::vector<RunningError>& inputs) {
  for (const int row : rows)
    for (const int line : lines_below(tape, row)) {
      const Instruction& here = tape[line];
      if (here.operation == Operation::input && inputs[at(here.a)].error > 0 &&
          std::find(unknowns.begin(), unknowns.end(), here.a) == unknowns.end())
        return true;
    }
  return false;
}

std::optional<std::vector<Rational>> coefficients(int row, const std::vector<int>& unknowns,
                                                  RationalTape& numbers) {
  std::vector<Rational> values;
  for (std::size_t s = 0; s < std::size_t{1} << unknowns.size(); ++s) {
    std::vector<Rational> corner;
    for (std::size_t j = 0; j < unknowns.size(); ++j) corner.emplace_back(static_cast<long>(s >> j & 1));
    std::optional<Rational> value = numbers.value(row, unknowns, corner);
    if (!value) return std::nullopt;
    values.push_back(*std::move(value));
  }
  to_coefficients(values);
  return values;
}

BlockRoots of_several(const Tape& tape, const std::vector<int>& rows,
                      const std::vector<int>& unknowns, RationalTape& numbers) {
  if (!is_multilinear(tape, rows, unknowns)) return {};
  Multilinear<Rational> c;
  for (const int row : rows) {
    std::optional<std::vector<Rational>> values = coefficients(row, unknowns, numbers);
    if (!values) return {};
    c.push_back(*std::move(values));
  }
  BlockRoots roots;
  roots.is_complete =
      MultilinearSystem(std::move(c), static_cast<int>(unknowns.size())).solve(roots.list);
  return roots;
}

}  // namespace

BlockRoots block_roots(const Tape& tape, const std::vector<int>& rows,
                       const std::vector<int>& unknowns,
                       const std::vector<RunningError>& inputs) {
  const std::size_t k = unknowns.size();
  if (k < 1 || k > most_unknowns || rows.size() != k) return {};
  RationalTape numbers(tape, inputs);
  BlockRoots roots = k == 1 ? of_one(tape, rows[0], unknowns[0], numbers)
                            : of_several(tape, rows, unknowns, numbers);
  const bool is_exact = numbers.is_exact && !have_errors(tape, rows, unknowns, inputs);
  if (!is_exact)
    roots.is_complete =
        roots.is_complete && k == 2 && are_two_decided(tape, rows, unknowns, inputs);
  return roots;
}

}  // namespace perp
