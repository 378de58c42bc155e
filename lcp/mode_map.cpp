#include <algorithm>
#include <array>
#include <cmath>
#include <Eigen/LU>

#include <perp/lcp/mode_equations.hpp>
#include <perp/lcp/mode_map.hpp>

namespace perp {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double singular_pivot = 1e-13;  ///< relative to the largest, after equilibration
constexpr double rounding = 1e-13;        ///< sums below this share of their terms are zero
constexpr double same_row = 1e-11;        ///< relative difference of rows that are called equal

const Branch& branch_of(const ParametricMlcp& family, const Mode& mode, int law) {
  return family.base.laws[static_cast<std::size_t>(law)]
      .branches[static_cast<std::size_t>(mode[static_cast<std::size_t>(law)])];
}

/// Nearest power of two of the largest entry; 1 for zero.
double power_of_two(double largest) {
  return largest > 0 ? std::exp2(std::round(std::log2(largest))) : 1.0;
}

/// The linear system of a mode, K (u, λ) = R (θ, 1), equilibrated by powers of two:
///     M11 u + M12 λ = -q1,    a (M21 u + M22 λ + q2) + b λ = c   row by row of the laws
struct ModeSystem {
  Matrix K;       // (p+m)×(p+m), scaled rows and columns
  Matrix R;       // (p+m)×(k+1), scaled rows
  Vector column;  // scale of the unknowns

  ModeSystem(const ParametricMlcp& family, const Mode& mode) {
    const Mlcp& base = family.base;
    const int p = base.p(), m = base.m(), k = family.k();
    K = mode_matrix(base, mode);
    R = Matrix::Zero(p + m, k + 1);
    R.topLeftCorner(p, k) = -family.Q1;
    R.col(k) = mode_constant(base, mode);
    for (int i = 0; i < m; ++i)
      R.row(p + i).head(k) = -branch_of(family, mode, i).a * family.Q2.row(i);
    column = Vector::Ones(p + m);
    for (int sweep = 0; sweep < 3; ++sweep) {
      for (int i = 0; i < p + m; ++i) {
        const double scale = power_of_two(K.row(i).cwiseAbs().maxCoeff());
        K.row(i) /= scale;
        R.row(i) /= scale;
      }
      for (int j = 0; j < p + m; ++j) {
        const double scale = power_of_two(K.col(j).cwiseAbs().maxCoeff());
        K.col(j) /= scale;
        column[j] /= scale;
      }
    }
  }
};

/// Sets to zero what is rounding of a sum whose terms are `size`.
void snap(Matrix& value, const Matrix& size, double share) {
  for (Eigen::Index j = 0; j < value.cols(); ++j)
    for (Eigen::Index i = 0; i < value.rows(); ++i)
      if (std::abs(value(i, j)) <= share * size(i, j)) value(i, j) = 0;
}

Matrix normalised(Matrix rows) {
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const double norm = rows.row(i).norm();
    if (norm > 0) rows.row(i) /= norm;
  }
  return rows;
}

}  // namespace

/// A mode's unknowns as affine functions of θ, the sizes of their terms, and what is free besides.
struct ModeMap::Solved {
  Matrix Y, size, null;      // (p+m) or m rows: values, sizes, null directions
  Matrix w, w_size, w_null;  // m rows
};

void instantiate(const ParametricMlcp& family, const double* theta, Mlcp& problem) {
  const Eigen::Map<const Vector> parameter(theta, family.k());
  problem.q1 = family.base.q1;
  problem.q1.noalias() += family.Q1 * parameter;
  problem.q2 = family.base.q2;
  problem.q2.noalias() += family.Q2 * parameter;
}

ModeMap::ModeMap(const ParametricMlcp& family, Mode mode)
    : modes_{std::move(mode)},
      k_(family.k()),
      p_(family.base.p()),
      m_(family.base.m()),
      r_(static_cast<int>(family.W.rows())),
      stride_(k_ + 1) {
  if (p_ + m_ == 0) return;
  const ModeSystem system(family, modes_.front());
  Eigen::FullPivLU<Matrix> lu(system.K);
  lu.setThreshold(singular_pivot);
  Solved solved;
  if (lu.isInvertible()) {
    // After one step of refinement the rounding errors of Y are small entry by entry against
    // |K⁻¹| (|K| |Y| + |R|): what is zero in exact arithmetic can be told from what is small.
    solved.Y = lu.solve(system.R);
    solved.Y += lu.solve(system.R - system.K * solved.Y);
    solved.size =
        lu.inverse().cwiseAbs() * (system.K.cwiseAbs() * solved.Y.cwiseAbs() + system.R.cwiseAbs());
    snap(solved.Y, solved.size, 16 * eps);
    solved.null = Matrix::Zero(p_ + m_, 0);
  } else {
    find_equalities(system.K, system.R);
    solved.null = lu.kernel();
    const double largest = solved.null.cwiseAbs().maxCoeff();
    snap(solved.null, Matrix::Constant(p_ + m_, solved.null.cols(), largest), rounding);
    const bool always_consistent = std::all_of(equalities_.begin(), equalities_.end(),
                                               [](double value) { return value == 0; });
    if (!always_consistent || !solved.null.topRows(p_).isZero(0)) return;
    solved.Y = lu.solve(system.R);
    solved.size = Matrix::Constant(p_ + m_, k_ + 1, solved.Y.cwiseAbs().maxCoeff());
    snap(solved.Y, solved.size, 16 * eps);
  }
  solved.Y = system.column.asDiagonal() * solved.Y;
  solved.size = system.column.asDiagonal() * solved.size;
  solved.null = system.column.asDiagonal() * solved.null;
  solve(family, solved);
}

/// The consistency conditions of a singular mode: the left null vectors annihilate the right-hand
/// side.
void ModeMap::find_equalities(const Matrix& K, const Matrix& R) {
  kind_ = Kind::singular;
  Eigen::FullPivLU<Matrix> transposed(K.transpose());
  transposed.setThreshold(singular_pivot);
  const Matrix null = transposed.kernel();
  Matrix rows = null.transpose() * R;
  snap(rows, null.cwiseAbs().transpose() * R.cwiseAbs(), rounding);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const bool constant = k_ == 0 || rows.row(i).head(k_).isZero(0);
    if (constant && rows(i, k_) != 0) kind_ = Kind::never;
    for (int j = 0; j <= k_; ++j) equalities_.push_back(rows(i, j));
  }
}

void ModeMap::solve(const ParametricMlcp& family, const Solved& solved) {
  const Mlcp& base = family.base;
  kind_ = Kind::regular;
  equalities_.clear();
  const Matrix u = solved.Y.topRows(p_);
  Solved laws{
      solved.Y.bottomRows(m_), solved.size.bottomRows(m_), solved.null.bottomRows(m_), {}, {}, {}};
  Matrix q2(m_, k_ + 1);
  q2 << family.Q2, base.q2;
  free_ = static_cast<int>(laws.null.cols());
  for (int i = 0; i < m_; ++i) {
    const Branch& branch = branch_of(family, modes_.front(), i);
    if (branch.a != 0) continue;
    laws.Y.row(i).setZero();
    laws.Y(i, k_) = branch.c / branch.b;
    laws.null.row(i).setZero();
  }
  laws.w = base.M21 * u + base.M22 * laws.Y + q2;
  laws.w_size = base.M21.cwiseAbs() * solved.size.topRows(p_) + base.M22.cwiseAbs() * laws.size +
                q2.cwiseAbs();
  snap(laws.w, laws.w_size, rounding);
  laws.w_null = base.M22 * laws.null;
  snap(laws.w_null, base.M22.cwiseAbs() * laws.null.cwiseAbs(), rounding);
  for (int i = 0; i < m_; ++i) {
    const Branch& branch = branch_of(family, modes_.front(), i);
    if (branch.b != 0) continue;
    laws.w.row(i).setZero();
    laws.w(i, k_) = branch.c / branch.a;
    laws.w_null.row(i).setZero();
  }
  add_margins(family, laws);
  if (kind_ != Kind::regular) return;
  margin_count_ = static_cast<int>(margins_.size());
  u_row_ = margin_count_;
  lambda_row_ = u_row_ + p_;
  w_row_ = lambda_row_ + m_;
  norm_row_ = w_row_ + m_;
  append(u);
  append(laws.Y);
  append(laws.w);
  Matrix distance = family.W * u;
  distance.leftCols(k_) -= family.Z;
  append(distance);
  lambda_free_ = laws.null;
  w_free_ = laws.w_null;
}

void ModeMap::add_margins(const ParametricMlcp& family, const Solved& laws) {
  std::vector<Margin> given;
  std::vector<double> sizes;
  Matrix rows(0, free_ + k_ + 1);
  const auto add = [&](const Matrix& free, const Matrix& value, double size, double bound,
                       Margin margin) {
    if (!std::isfinite(bound)) return;
    const double sign = margin.upper ? -1 : 1;
    rows.conservativeResize(rows.rows() + 1, Eigen::NoChange);
    rows.bottomRows(1) << sign * free.row(margin.law), sign * value.row(margin.law);
    rows(rows.rows() - 1, free_ + k_) -= sign * bound;
    given.push_back(margin);
    sizes.push_back(std::max(size, std::abs(bound)));
  };
  for (int i = 0; i < m_; ++i) {
    const Branch& branch = branch_of(family, modes_.front(), i);
    const bool vertical = branch.b == 0;
    const Range range = vertical ? branch.lambda : w_range(branch);
    const Matrix& free = vertical ? laws.null : laws.w_null;
    const Matrix& value = vertical ? laws.Y : laws.w;
    const double size = (vertical ? laws.size : laws.w_size).row(i).maxCoeff();
    add(free, value, size, range.lower, {i, vertical, false, false});
    add(free, value, size, range.upper, {i, vertical, true, false});
  }
  if (!elimination_.run(rows, free_)) {
    kind_ = Kind::singular;
    return;
  }
  const Matrix& projected = elimination_.projected();
  for (int i = 0; i < static_cast<int>(projected.rows()); ++i) {
    const auto from = static_cast<std::size_t>(elimination_.origin()[static_cast<std::size_t>(i)]);
    if (projected.row(i).head(k_).isZero(0)) {  // the same for every θ: always or never admissible
      if (projected(i, k_) < -solution_tolerance * sizes[from]) kind_ = Kind::never;
      continue;
    }
    margins_.push_back(given[from]);
    margins_.back().combined = !elimination_.is_given(i);
    append(projected.row(i));
  }
}

void ModeMap::append(const Matrix& block) {
  for (Eigen::Index i = 0; i < block.rows(); ++i)
    for (Eigen::Index j = 0; j < block.cols(); ++j) rows_.push_back(block(i, j));
}

void ModeMap::evaluate(int first, int count, const double* theta, double* value) const {
  const double* row = rows_.data() + first * stride_;
  for (int i = 0; i < count; ++i, row += stride_) value[i] = dot(row, theta);
}

double ModeMap::size(const double* row, const double* theta) const {
  double sum = std::abs(row[k_]);
  for (int j = 0; j < k_; ++j) sum += std::abs(row[j] * theta[j]);
  return sum;
}

double ModeMap::worst_margin(const double* theta) const {
  double worst = inf;
  for (int i = 0; i < margin_count_; ++i) {
    const double* row = rows_.data() + i * stride_;
    const double value = dot(row, theta);
    const double scale = size(row, theta);
    if (std::isnan(value)) return -inf;
    worst = std::min(worst, scale > 0 ? value / scale : 0.0);
  }
  return worst;
}

double ModeMap::squared_norm(const double* theta) const {
  double sum = 0;
  const double* row = rows_.data() + norm_row_ * stride_;
  for (int i = 0; i < r_; ++i, row += stride_) {
    const double value = dot(row, theta);
    sum += value * value;
  }
  return sum;
}

double ModeMap::inconsistency(const double* theta) const {
  double worst = 0;
  for (std::size_t first = 0; first < equalities_.size();
       first += static_cast<std::size_t>(stride_)) {
    const double* row = equalities_.data() + first;
    const double scale = size(row, theta);
    if (scale > 0) worst = std::max(worst, std::abs(dot(row, theta)) / scale);
  }
  return worst;
}

void ModeMap::lambda(const double* theta, double* value) const {
  evaluate(lambda_row_, m_, theta, value);
  if (free_ == 0) return;
  std::array<double, Elimination::most_free> t{};
  elimination_.choose(theta, t.data());
  for (int j = 0; j < free_; ++j)
    for (int i = 0; i < m_; ++i) value[i] += lambda_free_(i, j) * t[static_cast<std::size_t>(j)];
}

void ModeMap::w(const double* theta, double* value) const {
  evaluate(w_row_, m_, theta, value);
  if (free_ == 0) return;
  std::array<double, Elimination::most_free> t{};
  elimination_.choose(theta, t.data());
  for (int j = 0; j < free_; ++j)
    for (int i = 0; i < m_; ++i) value[i] += w_free_(i, j) * t[static_cast<std::size_t>(j)];
}

bool ModeMap::same_as(const ModeMap& other) const {
  if (free_ != 0 || other.free_ != 0) return false;
  if (kind_ != Kind::regular || other.kind_ != Kind::regular) return false;
  if (margin_count_ != other.margin_count_) return false;
  const double* mine = rows_.data() + u_row_ * stride_;
  const double* theirs = other.rows_.data() + other.u_row_ * stride_;
  for (int i = 0; i < (p_ + m_) * stride_; ++i)
    if (std::abs(mine[i] - theirs[i]) > same_row * (std::abs(mine[i]) + std::abs(theirs[i])))
      return false;
  Matrix G, H;
  Vector g, h;
  polyhedron(G, g);
  other.polyhedron(H, h);
  for (int i = 0; i < margin_count_; ++i) {
    bool found = false;
    for (int j = 0; j < margin_count_ && !found; ++j)
      found = (G.row(i) - H.row(j)).norm() + std::abs(g[i] - h[j]) < same_row;
    if (!found) return false;
  }
  return true;
}

void ModeMap::merge(const ModeMap& other) {
  modes_.insert(modes_.end(), other.modes_.begin(), other.modes_.end());
}

void ModeMap::polyhedron(Matrix& G, Vector& g) const {
  const auto copy = [&](const std::vector<double>& from, int count, double sign, Matrix& rows) {
    const Eigen::Index first = rows.rows();
    rows.conservativeResize(first + count, stride_);
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < stride_; ++j)
        rows(first + i, j) = sign * from[static_cast<std::size_t>(i * stride_ + j)];
  };
  Matrix rows(0, stride_);
  copy(rows_, margin_count_, 1, rows);
  const int equalities = static_cast<int>(equalities_.size()) / stride_;
  copy(equalities_, equalities, 1, rows);
  copy(equalities_, equalities, -1, rows);
  rows = normalised(std::move(rows));
  G = rows.leftCols(k_);
  g = rows.col(k_);
}

Matrix ModeMap::u_rows() const {
  Matrix rows(p_, stride_);
  for (int i = 0; i < p_; ++i)
    for (int j = 0; j < stride_; ++j)
      rows(i, j) = rows_[static_cast<std::size_t>((u_row_ + i) * stride_ + j)];
  return rows;
}

}  // namespace perp
