// Units of the unknowns of a step, in which Newton's matrices are scaled.
#include <algorithm>
#include <cmath>
#include <map>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/binary_scaling.hpp>
#include <perp/schemes/step/implicit_step.hpp>

namespace perp {
namespace {

/// The sizes of what stands in a system, row by row: columns are those of x, of λ and of 1.
class Sizes {
 public:
  Sizes(int n, int m) : n_(n), m_(m), rows_(at(2 * (n + m))) {}

  // Rows: those of F and G, values of x, values of λ.
  [[nodiscard]] int row_of_x(int j) const { return n_ + m_ + j; }
  [[nodiscard]] int row_of_lambda(int i) const { return row_of_x(n_ + i); }
  [[nodiscard]] int one() const { return n_ + m_; }

  /// The larger of what stands there and of this one; what is not finite is none.
  void add(int row, int column, double value) {
    if (!std::isfinite(value) || value == 0) return;
    double& entry = rows_[at(row)][column];
    entry = std::max(entry, std::abs(value));
  }
  void add_value(int row, int column, double value) {
    add(row, column, 1);
    add(row, one(), value);
  }
  [[nodiscard]] linear::SparseMatrix entries() const {
    std::vector<linear::SparseMatrix::Placed> placed;
    for (int i = 0; i < static_cast<int>(rows_.size()); ++i)
      for (const auto& [j, value] : rows_[at(i)]) placed.push_back({i, j, value});
    return {2 * (n_ + m_), n_ + m_ + 1, placed};
  }

 private:
  int n_, m_;
  std::vector<std::map<int, double>> rows_;
};

/// a w + b λ = c and the ends of the branches: w has the unit of the row of G.
void add_law(const Law& law, int law_row, int lambda, int lambda_row, Sizes& sizes) {
  for (const Branch& branch : law.branches) {
    if (branch.a != 0) sizes.add(law_row, sizes.one(), branch.c / branch.a);
    if (branch.a != 0 && branch.b != 0) sizes.add(law_row, lambda, branch.b / branch.a);
    if (branch.b != 0) sizes.add_value(lambda_row, lambda, branch.c / branch.b);
    for (const double end : {branch.w.lower, branch.w.upper}) sizes.add(law_row, sizes.one(), end);
    for (const double end : {branch.lambda.lower, branch.lambda.upper})
      sizes.add_value(lambda_row, lambda, end);
  }
}

/// Those of all laws; law i follows the n equations, as λ_i does the variables.
void add_laws(const std::vector<Law>& laws, int n, Sizes& sizes) {
  for (int i = 0; i < static_cast<int>(laws.size()); ++i)
    add_law(laws[at(i)], n + i, n + i, sizes.row_of_lambda(i), sizes);
}

/// x where algebraic variables, which are guesses, are 0. Adds the sizes of the others.
Vector known_part(const DcsEvaluator& evaluator, const Vector& x, Sizes& sizes) {
  Vector known = x;
  for (int j = 0; j < static_cast<int>(x.size()); ++j) {
    if (evaluator.is_differential(j))
      sizes.add_value(sizes.row_of_x(j), j, x[j]);
    else
      known[j] = 0;
  }
  return known;
}

/// The smaller one of two sizes; 0 and what is not finite is none.
double smaller_size(double a, double b) {
  const auto is_size = [](double value) { return value != 0 && std::isfinite(value); };
  if (!is_size(a) || !is_size(b)) return is_size(a) ? a : b;
  return std::min(std::abs(a), std::abs(b));
}

}  // namespace

/// The rows with ẋ = d/h and what time moves in a step. Of algebraic variables x is a guess, which may
/// be far away: a derivative is the smaller one of those there and where they are 0.
void ImplicitStep::choose_units(const Vector& x, double t, double h) {
  Sizes sizes(n(), m());
  const Vector known = known_part(evaluator_, x, sizes);
  const Vector still = Vector::Zero(n()), free = Vector::Zero(m());
  motion(t, still, x, free, still);
  const std::vector<double> at_guess = derivatives_;
  const Vector terms = row_terms(t, known, free);
  motion(t, still, known, free, still);
  for (int i = 0; i < n() + m(); ++i) sizes.add(i, sizes.one(), terms[i]);
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const Place& place = places_[k];
    const double slope = smaller_size(at_guess[k], derivatives_[k]);
    switch (place.kind) {
      case Kind::time: sizes.add(place.row, sizes.one(), slope * h); break;
      case Kind::derivative: sizes.add(place.row, place.index, slope / h); break;
      case Kind::variable: sizes.add(place.row, place.index, slope); break;
      case Kind::multiplier: sizes.add(place.row, n() + place.index, slope); break;
    }
  }
  add_laws(laws_, n(), sizes);
  const BinaryScaling scaling(sizes.entries());
  for (int k = 0; k < n() + m(); ++k)
    all_units_[at(k)] = scaling.column[at(k)] - scaling.column[at(sizes.one())];
  has_units_ = true;
  write_units();
}

/// Of the unknowns of the mode.
void ImplicitStep::write_units() {
  std::copy_n(all_units_.begin(), n(), units_.begin());
  for (std::size_t k = 0; k < free_laws_.size(); ++k)
    units_[at(n()) + k] = all_units_[at(n() + free_laws_[k])];
}

}  // namespace perp
