#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/linear/rank_elimination.hpp>
#include <perp/schemes/located/jets/array/mode_array.hpp>
#include <perp/schemes/newton/rank_newton.hpp>
#include <perp/schemes/located/transition/jumps.hpp>

namespace perp {
namespace {

constexpr int most_jump_iterations = 60;
constexpr double jump_rank = 1e-11;  ///< pivots of a scaled matrix below this are zero
constexpr double settled = 1e-13;         ///< relative correction that ends the iteration
constexpr double near_jump_rounding = 1e-10;   ///< corrections that stay below this are rounding
constexpr double known_jump = 1e-8;  ///< entries of scaled null vectors below this are zero
constexpr double outside = 1e-9;          ///< relative violation of a range that is none
constexpr double no_jump = 1e-9;          ///< relative size of a jump that is none

/// How far a value leaves a range, relative to its size.
double violation(const Range& range, double value, double size) {
  const double by = std::max({range.lower - value, value - range.upper, 0.0});
  return by == 0 ? 0 : by / std::max(size, std::abs(value));
}

/// Impulses that a value with this range may have.
Range cone(const Range& range) {
  return {std::isfinite(range.lower) ? 0 : -inf, std::isfinite(range.upper) ? 0 : inf};
}

/// The equations of a jump in one mode: those of the mode's derivative array for x⁺ and what
/// belongs to it, and the balance of impulses. Unknowns: those of the array, then Σ_z, then Σ_λ.
class JumpEquations {
 public:
  JumpEquations(const Dcs& system, ConsistentJets& jets)
      : laws_(system.laws), n_(system.n()), m_(system.m()), array_(system, jets.levels()) {
    array_.set_scales(jets.scales());
  }

  /// Solves from x⁻. False: not converged, or out of the domain.
  bool solve(const Mode& mode, double t, const Vector& x, const Vector& lambda);

  [[nodiscard]] double relative_residual() const {
    return perp::relative_residual(residual_, row_sizes_);
  }
  /// Is the differential part of x⁺ the only one?
  [[nodiscard]] bool is_isolated();
  /// What is against the solution, which must be found for that: the relative residual where it is above `tolerance`,
  /// else the largest violation of a range; infinite where it is not the only one.
  [[nodiscard]] double objection(double tolerance);
  /// Largest violation of the ranges of w⁺ and of the cones of impulses.
  [[nodiscard]] double range_violation() const;

  [[nodiscard]] Vector x() const { return array_.x().col(0); }
  [[nodiscard]] Vector lambda() const { return array_.lambda().col(0); }
  [[nodiscard]] double w(int i) const { return array_.array().values()[n_ + i]; }
  /// Of the terms of w.
  [[nodiscard]] double w_size(int i) const {
    double terms = 0;
    for (const auto& [column, value] : array_.array().derivatives().row(n_ + i))
      if (column < n_) terms += std::abs(value) * sizes_[column];
    return terms;
  }
  [[nodiscard]] Vector variable_impulse() const { return Z_ * impulses_.head(Z_.cols()); }
  [[nodiscard]] Vector multiplier_impulse() const;
  /// The laws with an impulse: of λ, if it moves more than `no_jump` of a variable, or of w, if it is not the rounding of its terms.
  [[nodiscard]] std::vector<int> carriers() const;
  [[nodiscard]] double size() const {
    return (array_.array().rate_derivatives().dense().topRows(n_) * (x() - x_before_)).norm();
  }

 private:
  void begin(const Mode& mode, double t, const Vector& x, const Vector& lambda);
  bool assemble();
  [[nodiscard]] Vector impulse_units() const;
  [[nodiscard]] const Branch& branch(int i) const {
    const auto law = static_cast<std::size_t>(i);
    return laws_[law].branches[static_cast<std::size_t>(mode_[law])];
  }
  /// May w have an impulse on this branch?
  [[nodiscard]] static bool is_open(const Branch& branch) {
    return branch.a == 0 && !(std::isfinite(branch.w.lower) && std::isfinite(branch.w.upper));
  }

  const std::vector<Law>& laws_;
  int n_, m_;
  ModeArray array_;
  Mode mode_;
  Vector x_before_;
  Matrix Z_;                 // directions of the algebraic variables
  std::vector<int> loaded_;  // laws whose multiplier may have an impulse
  Vector impulses_;
  Matrix matrix_, columns_;  // of all rows; ∂(F, G) by the impulses
  Vector residual_, row_sizes_, sizes_, step_;
  RankElimination elimination_;
};

/// An impulse is a value for a time.
Vector JumpEquations::impulse_units() const {
  const JetScales& scales = array_.scales();
  Vector units(Z_.cols() + static_cast<Eigen::Index>(loaded_.size()));
  for (Eigen::Index c = 0; c < Z_.cols(); ++c)
    units[c] = 1 / Z_.col(c).cwiseAbs().cwiseQuotient(scales.x).maxCoeff();
  for (std::size_t k = 0; k < loaded_.size(); ++k)
    units[Z_.cols() + static_cast<Eigen::Index>(k)] = scales.lambda[loaded_[k]];
  return scales.time * units;
}

bool JumpEquations::assemble() {
  if (!array_.evaluate()) return false;
  const DerivativeArray& full = array_.array();
  const Matrix rates = full.rate_derivatives().dense(), derivatives = full.derivatives().dense();
  columns_.resize(n_ + m_, impulses_.size());
  columns_.leftCols(Z_.cols()) = derivatives.topLeftCorner(n_ + m_, n_) * Z_;
  for (std::size_t k = 0; k < loaded_.size(); ++k)
    columns_.col(Z_.cols() + static_cast<Eigen::Index>(k)) =
        derivatives.col(full.lambda_column(0, loaded_[k])).head(n_ + m_);
  const Vector change = x() - x_before_;
  const Vector balance = rates * change + columns_ * impulses_;
  const Vector impulse_sizes = impulses_.cwiseAbs().cwiseMax(impulse_units());
  const Vector x_sizes = array_.scales().x.cwiseMax(x().cwiseAbs());
  std::vector<int> rows;
  for (int i = 0; i < n_ + m_; ++i)
    if (i < n_ || !is_open(branch(i - n_))) rows.push_back(i);
  const Eigen::Index given = array_.residual().size(), unknowns = array_.unknowns();
  const auto all = given + static_cast<Eigen::Index>(rows.size());
  matrix_ = Matrix::Zero(all, unknowns + impulses_.size());
  residual_.resize(all);
  row_sizes_.resize(all);
  matrix_.topLeftCorner(given, unknowns) = array_.matrix().dense();
  residual_.head(given) = array_.residual();
  row_sizes_.head(given) = array_.row_sizes();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto to = given + static_cast<Eigen::Index>(r);
    matrix_.row(to).head(n_) = rates.row(rows[r]);
    matrix_.row(to).tail(impulses_.size()) = columns_.row(rows[r]);
    residual_[to] = balance[rows[r]];
    row_sizes_[to] = rates.row(rows[r]).cwiseAbs().dot(x_sizes) +
                     columns_.row(rows[r]).cwiseAbs().dot(impulse_sizes);
  }
  sizes_.resize(unknowns + impulses_.size());
  sizes_ << array_.sizes(), impulse_sizes;
  return matrix_.allFinite() && residual_.allFinite();
}

/// The unknowns of the mode, from x⁻ and without impulses.
void JumpEquations::begin(const Mode& mode, double t, const Vector& x, const Vector& lambda) {
  mode_ = mode;
  x_before_ = x;
  array_.begin(mode, t, x, lambda, Vector());
  Z_ = array_.algebraic_directions().dense();
  array_.free_variables();
  loaded_.clear();
  for (int i = 0; i < m_; ++i) {
    const Range range = cone(branch(i).lambda);
    if (is_vertical(branch(i)) && range.lower < range.upper) loaded_.push_back(i);
  }
  impulses_ = Vector::Zero(Z_.cols() + static_cast<Eigen::Index>(loaded_.size()));
}

/// Newton's method without the derivatives of ∂(F, G)/∂ẋ and of the columns of the impulses.
bool JumpEquations::solve(const Mode& mode, double t, const Vector& x, const Vector& lambda) {
  begin(mode, t, x, lambda);
  double last = inf;
  for (int iteration = 0; iteration < most_jump_iterations; ++iteration) {
    if (!assemble()) return false;
    elimination_.factorise(matrix_, sizes_, row_sizes_, jump_rank);
    elimination_.solve(residual_, step_);
    const double size = (step_.cwiseAbs().array() / sizes_.array()).maxCoeff();
    if (!(size < inf)) return false;
    if (size <= settled || (size <= near_jump_rounding && size > last / 2)) return true;
    array_.move(-1, step_.head(array_.unknowns()));
    impulses_ -= step_.tail(impulses_.size());
    last = size;
  }
  return false;
}

bool JumpEquations::is_isolated() {
  if (elimination_.rank() == elimination_.columns()) return true;
  Matrix basis;
  elimination_.null_space(basis);
  const Matrix rates = array_.array().rate_derivatives().dense();
  const Matrix moves = rates * basis.topRows(n_);
  const Vector sizes = rates.cwiseAbs() * sizes_.head(n_);
  for (Eigen::Index i = 0; i < moves.rows(); ++i)
    if (moves.row(i).cwiseAbs().maxCoeff() > known_jump * sizes[i]) return false;
  return true;
}

double JumpEquations::objection(double tolerance) {
  if (!is_isolated()) return inf;
  const double residual = relative_residual();
  return residual <= tolerance ? range_violation() : residual;
}

Vector JumpEquations::multiplier_impulse() const {
  Vector all = Vector::Zero(m_);
  for (std::size_t k = 0; k < loaded_.size(); ++k)
    all[loaded_[k]] = impulses_[Z_.cols() + static_cast<Eigen::Index>(k)];
  return all;
}

std::vector<int> JumpEquations::carriers() const {
  const Matrix rates = array_.array().rate_derivatives().dense();
  const Vector change = x() - x_before_, x_sizes = array_.scales().x.cwiseMax(x().cwiseAbs());
  std::vector<int> found;
  // Σ_λ in ∂F/∂ẋ Δ + ∂F/∂z Σ_z + ∂F/∂λ Σ_λ = 0
  const Vector terms = rates.cwiseAbs() * x_sizes + columns_.cwiseAbs() * impulses_.cwiseAbs();
  for (std::size_t k = 0; k < loaded_.size(); ++k) {
    const Eigen::Index c = Z_.cols() + static_cast<Eigen::Index>(k);
    const Vector moves = (columns_.col(c) * impulses_[c]).cwiseAbs() - no_jump * terms;
    if ((moves.head(n_).array() > 0).any()) found.push_back(loaded_[k]);
  }
  // ∫ w = ∂G/∂ẋ Δ + ∂G/∂z Σ_z + ∂G/∂λ Σ_λ
  const Vector w_impulse = (rates * change + columns_ * impulses_).tail(m_);
  const Vector w_terms = (rates.cwiseAbs() * change.cwiseAbs() + columns_.cwiseAbs() * impulses_.cwiseAbs()).tail(m_);
  for (int i = 0; i < m_; ++i)
    if (is_open(branch(i)) && std::abs(w_impulse[i]) > no_jump * w_terms[i]) found.push_back(i);
  std::ranges::sort(found);
  return found;
}

double JumpEquations::range_violation() const {
  double worst = 0;
  const Vector multipliers = multiplier_impulse();
  const Matrix rates = array_.array().rate_derivatives().dense();
  const Vector w_impulse = (rates * (x() - x_before_) + columns_ * impulses_).tail(m_);
  const double T = array_.scales().time;
  for (int i = 0; i < m_; ++i) {
    const Branch& b = branch(i);
    const double terms = w_size(i);
    if (is_vertical(b))
      worst = std::max(worst, violation(cone(b.lambda), multipliers[i], T * array_.scales().lambda[i]));
    else
      worst = std::max(worst, violation(w_range(b), w(i), terms));
    if (is_open(b)) worst = std::max(worst, violation(cone(b.w), w_impulse[i], T * terms));
  }
  return worst;
}

/// Laws that have another branch at this w: their branch after the jump is open.
std::vector<int> open_laws(const std::vector<Law>& laws, const JumpEquations& equations) {
  std::vector<int> open;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const double w = equations.w(static_cast<int>(i));
    const auto holds = [&](const Branch& branch) {
      return violation(w_range(branch), w, equations.w_size(static_cast<int>(i))) <= outside;
    };
    if (std::count_if(laws[i].branches.begin(), laws[i].branches.end(), holds) > 1)
      open.push_back(static_cast<int>(i));
  }
  return open;
}

/// Keeps one of equal jumps, orders them by size and marks the smallest.
void order(std::vector<Jump>& jumps, const Vector& scales, const Matrix& projection) {
  std::stable_sort(jumps.begin(), jumps.end(),
                   [](const Jump& a, const Jump& b) { return a.size < b.size * (1 - outside); });
  std::vector<Jump> kept;
  for (Jump& jump : jumps) {
    const bool known = std::any_of(kept.begin(), kept.end(), [&](const Jump& other) {
      const Vector size = scales.cwiseMax(jump.x.cwiseAbs());
      return ((projection * (other.x - jump.x)).cwiseAbs().array() <= outside * size.array()).all();
    });
    if (!known) kept.push_back(std::move(jump));
  }
  jumps = std::move(kept);
  for (Jump& jump : jumps) jump.minimal = jump.size <= jumps.front().size * (1 + outside);
}

}  // namespace

Jumps find_jumps(const Dcs& system, ConsistentJets& jets, double t, const Vector& x,
                 const Vector& lambda, const SelectionOptions& options) {
  SelectionOptions any_branch = options;
  any_branch.memory = false;
  const Matrix projection = jets.differential_projection(t, x, lambda);
  JumpEquations equations(system, jets);
  Jumps result;
  // Each variable in its own unit.
  const Vector sizes = jets.scales().x.cwiseMax(x.cwiseAbs());
  const auto stays = [&](const Vector& to) {
    return ((projection * (to - x)).cwiseAbs().array() <= no_jump * sizes.array()).all();
  };
  Mode mode(system.laws.size(), 0);
  int tried = 0;
  do {
    if (++tried > options.most) {
      result.complete = false;
      break;
    }
    const double against = equations.solve(mode, t, x, lambda) ? equations.objection(jets.tolerance()) : inf;
    if (against > std::max(outside, jets.tolerance()) || stays(equations.x())) {
      result.rejected.emplace_back(mode, against);
      continue;
    }
    Selection after = select(jets, t, equations.x(), equations.lambda(), mode,
                             open_laws(system.laws, equations), any_branch);
    if (after.admissible.empty()) {
      result.rejected.emplace_back(mode, inf);
      continue;
    }
    result.found.push_back({mode, equations.x(), equations.lambda(), equations.variable_impulse(),
                            equations.multiplier_impulse(), equations.size(), false,
                            std::move(after.admissible), equations.carriers()});
  } while (next_mode(mode, system.laws));
  order(result.found, jets.scales().x, projection);
  return result;
}

}  // namespace perp
