#include <algorithm>
#include <cmath>

#include <perp/schemes/located/jets/jet_sensitivities.hpp>

namespace perp {
namespace {

constexpr double rank_tolerance = 1e-11;  ///< pivots of a scaled matrix below this are zero

/// Coefficient k of every row in units of time^-k, NaN where it is not determined.
Matrix block(const Matrix& all, Eigen::Index first, Eigen::Index rows, int k, double time,
             const std::vector<int>& known) {
  Matrix result = all.middleRows(first, rows) / std::pow(time, k);
  for (Eigen::Index i = 0; i < rows; ++i)
    if (known[static_cast<std::size_t>(i)] <= k) result.row(i).setConstant(nan);
  return result;
}

/// Largest entry of the rows relative to the sizes of their terms, column by column.
double relative(const Matrix& rows, const Matrix& sizes) {
  double largest = 0;
  for (Eigen::Index j = 0; j < rows.cols(); ++j)
    for (Eigen::Index i = 0; i < rows.rows(); ++i)
      if (rows(i, j) != 0)
        largest = std::max(largest, std::abs(rows(i, j)) / sizes.col(j).maxCoeff());
  return largest;
}

}  // namespace

JetSensitivities differentiate_jet(const ModeArray& equations, const DerivativeArray& outer,
                                   const Jet& jet, const Matrix& dx_dq, const Matrix& changes) {
  const DerivativeArray& array = equations.array();
  const int n = array.n(), m = array.m(), levels = array.levels();
  const Matrix full = outer.derivatives().dense(), matrix = equations.matrix().dense();
  Matrix moves = Matrix::Zero(array.columns(), dx_dq.cols());
  moves.topRows(n) = equations.differential_projection() * dx_dq;
  Matrix given = full * moves + outer.outer_derivatives() * changes;
  const Matrix no_lambda = Matrix::Zero(m * (levels + 1), dx_dq.cols());
  Matrix right, terms;
  equations.combine(given, no_lambda, right);

  RankElimination elimination;
  elimination.factorise(equations.matrix(), equations.sizes(), equations.row_sizes(),
                        rank_tolerance);
  Matrix unknowns(equations.unknowns(), dx_dq.cols());
  Vector step;
  for (Eigen::Index q = 0; q < dx_dq.cols(); ++q) {
    elimination.solve(right.col(q), step);
    unknowns.col(q) = -step;
  }
  JetSensitivities result;
  terms = matrix.cwiseAbs() * unknowns.cwiseAbs() + right.cwiseAbs();
  result.residual = relative(right + matrix * unknowns, terms);
  const Matrix change = equations.expand(unknowns);
  moves += change;
  given += full * change;
  const double time = equations.scales().fastest;
  for (int k = 0; k <= levels + 1; ++k)
    result.x.push_back(block(moves, array.x_column(k, 0), n, k, time, jet.x_known));
  for (int k = 0; k <= levels; ++k) {
    result.lambda.push_back(block(moves, array.lambda_column(k, 0), m, k, time, jet.lambda_known));
    result.w.push_back(block(given, k * (n + m) + n, m, k, time, jet.w_known));
  }
  return result;
}

}  // namespace perp
