#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/core/linear/spectra.hpp>
#include <perp/core/pencil/pencil.hpp>
#include <perp/core/pencil/reciprocal_power.hpp>
#include <perp/core/tape/cancellation.hpp>

namespace perp {
namespace {

constexpr int scaling_sweeps = 8;

/// Scales the rows and columns of `deciding` by powers of two so that their largest entries are
/// near 1, and those of `other` along; rows and columns where `deciding` is 0 by those of `other`.
void balance(Matrix& deciding, Matrix& other) {
  const auto factor = [](const auto& entries, const auto& else_these) {
    const double size = entries.cwiseAbs().maxCoeff();
    return reciprocal_power(size > 0 ? size : else_these.cwiseAbs().maxCoeff());
  };
  for (int sweep = 0; sweep < scaling_sweeps; ++sweep) {
    for (Eigen::Index i = 0; i < deciding.rows(); ++i) {
      const double scale = factor(deciding.row(i), other.row(i));
      deciding.row(i) *= scale;
      other.row(i) *= scale;
    }
    for (Eigen::Index j = 0; j < deciding.cols(); ++j) {
      const double scale = factor(deciding.col(j), other.col(j));
      deciding.col(j) *= scale;
      other.col(j) *= scale;
    }
  }
}

/// One shuffle: rows of L that depend on the others are turned to 0 (those that are 0 already are
/// not mixed with the rest, which would only add rounding errors to them), then their equations
/// 0 = R v are differentiated. False if L is regular.
bool shuffle(Matrix& L, Matrix& R, double tol) {
  const Eigen::Index n = L.rows();
  std::vector<int> full;
  std::vector<int> empty;
  for (int i = 0; i < static_cast<int>(n); ++i) (L.row(i).isZero(0) ? empty : full).push_back(i);
  const Matrix given_R = R;
  const Matrix top = L(full, Eigen::all);
  Eigen::Index rank = 0;
  if (!full.empty()) {
    const linear::Svd svd = linear::svd(top);
    rank = svd.rank(tol);
    if (rank == n) return false;
    const Matrix UT = svd.U.transpose();
    const auto rows = static_cast<Eigen::Index>(full.size());
    const Matrix top_R = given_R(full, Eigen::all);
    // Each entry on its own: a column that balancing finds small is scaled up, rounding with it.
    const Matrix turned = without_cancelled(UT, top_R, tol);
    L.topRows(rank) = (UT * top).topRows(rank);
    R.topRows(rank) = turned.topRows(rank);
    L.middleRows(rank, rows - rank) = turned.bottomRows(rows - rank);
  }
  const auto rows = static_cast<Eigen::Index>(full.size());
  for (std::size_t k = 0; k < empty.size(); ++k)
    L.row(rows + static_cast<Eigen::Index>(k)) = given_R.row(empty[k]);
  R.bottomRows(n - rank).setZero();
  return true;
}

/// The branches of a mode, a ∘ w + b ∘ λ = … with a² + b² = 1.
struct ModeBranches {
  Vector a, b;
  std::vector<int> explicit_laws, open_laws;  ///< those that give λ by the others, and the others
};

/// Throws InvalidInput.
ModeBranches branches_of(const std::vector<Law>& laws, const Mode& mode) {
  const auto m = static_cast<int>(laws.size());
  if (static_cast<int>(mode.size()) != m)
    throw InvalidInput(fmt::format("mode must have {} entries but has {}", m, mode.size()));
  ModeBranches result{Vector(m), Vector(m), {}, {}};
  for (int i = 0; i < m; ++i) {
    const Law& law = laws[static_cast<std::size_t>(i)];
    const int k = mode[static_cast<std::size_t>(i)];
    if (k < 0 || k >= static_cast<int>(law.branches.size()))
      throw InvalidInput(fmt::format("mode: law {} has no branch {}", i + 1, k));
    const Branch& branch = law.branches[static_cast<std::size_t>(k)];
    const double size = std::hypot(branch.a, branch.b);
    result.a[i] = branch.a / size;
    result.b[i] = branch.b / size;
    (result.b[i] != 0 ? result.explicit_laws : result.open_laws).push_back(i);
  }
  return result;
}

}  // namespace

std::optional<int> index_of(const Matrix& E, const Matrix& A, double tol) {
  if (E.rows() != E.cols() || A.rows() != A.cols() || E.rows() != A.rows())
    throw InvalidInput(fmt::format("E and A must be square and of one size but are {}x{} and {}x{}",
                                   E.rows(), E.cols(), A.rows(), A.cols()));
  const Eigen::Index n = E.rows();
  if (n == 0) return 0;
  Matrix L = E;
  Matrix R = A;
  // The index is at most n; every shuffle is one differentiation.
  for (int index = 0; index <= n; ++index) {
    balance(L, R);
    if (!shuffle(L, R, tol)) return index;
  }
  return std::nullopt;
}

ModeDae mode_dae(const Lcs& given, const Mode& mode) {
  const Lcs lcs = validated(given);
  const int n = lcs.n();
  const int m = lcs.m();
  const auto [a, b, explicit_laws, open_laws] = branches_of(lcs.laws, mode);
  // a ∘ (C x + D λ) + b ∘ λ = … : for the explicit laws, K λ_S = -(a ∘ C)_S x - (a ∘ D)_SV λ_V.
  const Matrix row_x = a.asDiagonal() * lcs.C;
  const Matrix row_lambda = a.asDiagonal() * lcs.D + Matrix(b.asDiagonal());
  const auto S = Eigen::Map<const Eigen::VectorXi>(explicit_laws.data(),
                                                   static_cast<Eigen::Index>(explicit_laws.size()));
  const auto V = Eigen::Map<const Eigen::VectorXi>(open_laws.data(),
                                                   static_cast<Eigen::Index>(open_laws.size()));
  const Matrix K = row_lambda(S, S);
  if (S.size() > 0 && scaled_reciprocal_condition(K) < 1e-12) {
    ModeDae whole{Matrix::Zero(n + m, n + m), Matrix(n + m, n + m)};
    whole.E.topLeftCorner(n, n) = lcs.E;
    whole.A << lcs.A, lcs.B, row_x, row_lambda;
    return whole;
  }
  const auto open = static_cast<int>(V.size());
  ModeDae dae{Matrix::Zero(n + open, n + open), Matrix(n + open, n + open)};
  dae.E.topLeftCorner(n, n) = lcs.E;
  dae.A << lcs.A, lcs.B(Eigen::all, V), row_x(V, Eigen::all), row_lambda(V, V);
  if (S.size() > 0) {
    const linear::FullLu lu(K);
    Matrix of_x(S.size(), n + open);
    of_x << row_x(S, Eigen::all), row_lambda(S, V);
    const Matrix eliminated = -lu.solve(of_x);
    dae.A.topRows(n) += lcs.B(Eigen::all, S) * eliminated;
    dae.A.bottomRows(open) += row_lambda(V, S) * eliminated;
  }
  return dae;
}

double scaled_reciprocal_condition(const Matrix& matrix) {
  if (matrix.rows() != matrix.cols())
    throw InvalidInput(
        fmt::format("the matrix must be square but is {}x{}", matrix.rows(), matrix.cols()));
  if (matrix.size() == 0) return 1;
  Matrix scaled = matrix;
  Matrix unused = Matrix::Zero(matrix.rows(), matrix.cols());
  balance(scaled, unused);
  const Vector values = linear::singular_values(scaled);
  return values[0] > 0 ? values[values.size() - 1] / values[0] : 0;
}

}  // namespace perp
