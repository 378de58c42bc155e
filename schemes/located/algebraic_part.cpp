// Algebraic variables and multipliers of a mode: asked by the run after each attempt, and where no step is possible.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/schemes/located/algebraic_part.hpp>

namespace perp {
namespace {

constexpr double unresolved_share = 0.05;  ///< of the variation within a step
constexpr int most_corrections = 64;        ///< of Newton's method at a point
constexpr double same_root = 0x1p-4;       ///< of an unknown, by which a jet may correct it
constexpr double algebraic_rank = 1e-11;   ///< pivots of a scaled matrix below are zero
constexpr double nearly_singular = 1e-5;   ///< the same, of a matrix at which a run ends
constexpr double has_grown = 1e5;          ///< times its unit: a variable that may have a pole

}  // namespace

bool AlgebraicPart::goes_on(const Radau& radau) {
  if (watched_.empty()) return true;
  flow_.gather(at_.now.x, at_.now.lambda, start_);
  Vector lowest = radau.end(), highest = lowest;
  for (int i = 0; i + 1 < at_.stages; ++i) {
    radau.stage(i, y_);
    lowest = lowest.cwiseMin(y_);
    highest = highest.cwiseMax(y_);
  }
  radau.extrapolate_stages(y_);
  return std::all_of(watched_.begin(), watched_.end(), [&](Eigen::Index k) {
    const double size = std::max({units_[k], std::abs(lowest[k]), std::abs(highest[k])});
    const double most =
        unresolved_share * (highest[k] - lowest[k]) + std::sqrt(at_.options.tol) * size;
    return std::abs(y_[k] - start_[k]) <= most;
  });
}

bool AlgebraicPart::correct(Radau& radau, double s, Asked asked, Vector& y) {
  if (s == 0) {
    flow_.gather(at_.now.x, at_.now.lambda, y_);
    replace_in(y, y_);
    return true;
  }
  radau.interpolate_derivative(s, rates_);
  const bool is_known = correct_once(radau, s, y);
  if (!put_root(radau, s, y)) return false;
  const bool is_told = asked == Asked::to_tell;
  // A sample is as good as the polynomial that the others are of.
  return (is_known && !is_told) || settle(radau, at_.now.t + s * radau.h(), is_told ? at_.options.tol : radau.rtol(), y);
}

/// Those whose roots are told apart become the root that the chain leads to. False: they are another one.
bool AlgebraicPart::put_root(Radau& radau, double s, Vector& y) {
  if (roots_.empty()) return true;
  const double t = at_.now.t + s * radau.h();
  const RootChain::Led led = roots_.leads_to(radau, t, rates_, y, at_.options.tol);
  if (led == RootChain::Led::there) return true;
  // Those that are linear in the others follow the root.
  y_ = y;
  if (!roots_.put_root(radau, t, y_)) return led != RootChain::Led::elsewhere;
  y = y_;
  if (!radau.correction_at(s, rates_, y, correction_)) return true;
  replace_in(y, y + correction_);
  const std::vector<char> is_root = roots_.unknowns();
  for (int k = 0; k < flow_.size(); ++k)
    if (is_root[at(k)] != 0) y[k] = y_[k];
  return true;
}

/// At the rates of that point, where another correction would be less than half of the first. Is it at most the tolerance?
bool AlgebraicPart::correct_once(Radau& radau, double s, Vector& y) {
  if (!radau.correction_at(s, rates_, y, correction_)) return false;
  const double size = size_of(correction_);
  if (size <= at_.options.tol) return true;
  y_ = y;
  replace_in(y_, y + correction_);
  if (!radau.correction_at(s, rates_, y_, correction_)) return false;
  const double next = size_of(correction_);
  if (next <= size / 2) y = y_;
  return next <= at_.options.tol;
}

/// At the rates of that point. False: no solution is found, and y stays.
bool AlgebraicPart::settle(const Radau& radau, double t, double tolerance, Vector& y) {
  if (watched_.empty() || rows_of_watched_.size() != watched_.size()) return true;
  if (holds(tolerance, t, y)) return true;
  for (const auto solve : {&AlgebraicPart::solve_near, &AlgebraicPart::solve_along}) {
    solved_ = y;
    if (!(this->*solve)(radau, t, solved_) || !holds(tolerance, t, solved_)) continue;
    y = solved_;
    return true;
  }
  return false;
}

/// Do the equations of what is watched hold at (t, y)?
///     |H_i| ≤ tolerance Σ_j |∂H_i/∂y_j| max(|y_j|, unit_j)
bool AlgebraicPart::holds(double tolerance, double t, const Vector& y) {
  if (!flow_.linearize(t, rates_, y, H_, H_ydot_, H_y_)) return false;
  const linear::EntryPlaces& places = flow_.places();
  sizes_.setZero(flow_.size());
  for (int column = 0; column < places.columns(); ++column) {
    const double size = std::max(std::abs(y[column]), units_[column]);
    for (int e = places.start[at(column)]; e < places.start[at(column) + 1]; ++e)
      sizes_[places.row[at(e)]] += std::abs(H_y_[e]) * size;
  }
  return std::ranges::all_of(rows_of_watched_,
                             [&](Eigen::Index i) { return std::abs(H_[i]) <= tolerance * sizes_[i]; });
}

/// By Newton's method from y.
bool AlgebraicPart::solve_near(const Radau& radau, double t, Vector& y) {
  if (solve(t, rates_, y) != Solved::yes) return false;
  return roots_.empty() || roots_.leads_to(radau, t, rates_, y, at_.options.tol) != RootChain::Led::elsewhere;
}

/// Along the chain of roots from the present state; those that are linear in the others follow.
bool AlgebraicPart::solve_along(const Radau& radau, double t, Vector& y) {
  if (path_length_ == 0) path_.look_at(rows_of_watched_, watched_, RootChain::Of::all);
  // Of another attempt it may have ended earlier.
  if (path_length_ != radau.h()) path_.forget();
  path_length_ = radau.h();
  return !path_.empty() && path_.put_root(radau, t, y) && solve(t, rates_, y) == Solved::yes;
}

/// Only the algebraic unknowns.
void AlgebraicPart::replace_in(Vector& y, const Vector& by) const {
  for (int k = 0; k < flow_.size(); ++k)
    if (!flow_.is_differential(k)) y[k] = by[k];
}

/// The largest of them, in units of the mode's unknowns.
double AlgebraicPart::size_of(const Vector& y) const {
  double largest = 0;
  for (int k = 0; k < flow_.size(); ++k)
    if (!flow_.is_differential(k)) largest = std::max(largest, std::abs(y[k]) / units_[k]);
  return largest;
}

// Where the rows without derivatives determine an unknown, the end of the attempt is next to its root.
bool AlgebraicPart::is_root_of(const Radau& radau, const Vector& y, const Jet& jet) {
  flow_.gather(jet.x.col(0), jet.lambda.col(0), y_);
  const bool is_near = std::all_of(watched_.begin(), watched_.end(), [&](Eigen::Index k) {
    const double size = std::max({units_[k], std::abs(y_[k]), std::abs(y[k])});
    return std::abs(y_[k] - y[k]) <= same_root * size;
  });
  if (!is_near || roots_.empty()) return is_near;
  radau.interpolate_derivative((jet.t - at_.now.t) / radau.h(), rates_);
  return roots_.leads_to(radau, jet.t, rates_, y_, at_.options.tol) != RootChain::Led::elsewhere;
}

RootChain::Led AlgebraicPart::root_of_end(const Radau& radau) {
  if (roots_.empty()) return RootChain::Led::there;
  radau.interpolate_derivative(1, rates_);
  return roots_.leads_to(radau, at_.now.t + radau.h(), rates_, radau.end(), 0);
}

/// Factorises what the rows without derivatives hold of the unknowns without derivatives at
/// (t, ẋ, y_); its columns. Empty: there are none, or something is not finite.
std::vector<Eigen::Index> AlgebraicPart::factorise(double t, const Vector& rates,
                                                               double tolerance,
                                                               RankElimination& elimination) {
  flow_.gather(at_.scales.x, at_.scales.lambda, units_);
  start_ = Vector::Zero(flow_.size());
  start_.head(at_.system.n()) = rates;
  Vector H;
  Matrix H_ydot, H_y;
  std::vector<Eigen::Index> rows, columns;
  if (!flow_.linearize(t, start_, y_, H, H_ydot, H_y)) return columns;
  for (int k = 0; k < flow_.size(); ++k) {
    if (H_ydot.row(k).isZero(0)) rows.push_back(k);
    if (!flow_.is_differential(k)) columns.push_back(k);
  }
  const Vector all_sizes = units_.cwiseMax(y_.cwiseAbs());
  const Vector sizes = all_sizes(columns);
  elimination.factorise(H_y(rows, columns), sizes, H_y(rows, Eigen::all).cwiseAbs() * all_sizes,
                        tolerance);
  return columns;
}

void AlgebraicPart::watch(double t, const Vector& rates) {
  watched_.clear();
  find_watched(t, rates);
  find_rows(t, rates);
  look_at_rows();
}

/// The rows without derivatives that contain watched unknowns, by their form.
void AlgebraicPart::find_rows(double t, const Vector& rates) {
  rows_of_watched_.clear();
  if (watched_.empty()) return;
  Vector H, ydot = Vector::Zero(flow_.size());
  ydot.head(at_.system.n()) = rates;
  Matrix H_ydot, H_y;
  if (!flow_.linearize(t, ydot, y_, H, H_ydot, H_y)) return;
  std::vector<char> contain(at(flow_.size()), 0);
  const linear::EntryPlaces& places = flow_.places();
  for (const Eigen::Index column : watched_)
    for (int e = places.start[at(column)]; e < places.start[at(column) + 1]; ++e) contain[at(places.row[at(e)])] = 1;
  for (int k = 0; k < flow_.size(); ++k)
    if (contain[at(k)] && H_ydot.row(k).isZero(0)) rows_of_watched_.push_back(k);
}

/// Those that are not affine, where they are as many as the unknowns.
void AlgebraicPart::look_at_rows() {
  const bool is_square = rows_of_watched_.size() == watched_.size();
  rows_.look_at(flow_, is_square ? watched_ : std::vector<Eigen::Index>{});
  roots_.look_at(rows_of_watched_, watched_);
  path_length_ = 0;
}

/// The unknowns that the rows without derivatives determine.
void AlgebraicPart::find_watched(double t, const Vector& rates) {
  flow_.gather(at_.now.x, at_.now.lambda, y_);
  RankElimination elimination;
  const auto columns = factorise(t, rates, algebraic_rank, elimination);
  if (columns.empty()) return;
  Matrix open;
  elimination.null_space(open);
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (open.row(static_cast<Eigen::Index>(c)).isZero(0)) watched_.push_back(columns[c]);
}

AlgebraicPart::Solved AlgebraicPart::solve(double t, const Vector& rates, Vector& y) {
  for (int k = 0; k < most_corrections; ++k) {
    const Solved step = newton_step(t, rates, y, correction_);
    if (step != Solved::yes) return step;
    y(watched_) += correction_;
    const auto sizes = (units_ + y.cwiseAbs())(watched_).array();
    if ((correction_.array().abs() <= at_.options.tol * sizes).all()) return Solved::yes;
  }
  return Solved::no;
}

/// -(∂H/∂y)⁻¹ H of the rows without derivatives, as many as unknowns that they determine.
AlgebraicPart::Solved AlgebraicPart::newton_step(double t, const Vector& rates, const Vector& y, Vector& step) {
  Vector H;
  Matrix H_ydot, H_y;
  if (!flow_.linearize(t, rates, y, H, H_ydot, H_y)) return Solved::no;
  const Vector units = (units_ + y.cwiseAbs())(watched_);
  Matrix block = H_y(rows_of_watched_, watched_) * units.asDiagonal();
  const Vector scale = block.cwiseAbs().rowwise().maxCoeff().cwiseInverse();
  block = scale.asDiagonal() * block;
  const Vector right = scale.cwiseProduct(H(rows_of_watched_));
  const linear::Lu lu(block);
  const Vector pivots = lu.factors().diagonal().cwiseAbs();
  if (!(pivots.minCoeff() > algebraic_rank)) return Solved::undetermined;
  step = -units.cwiseProduct(lu.solve(right));
  return step.allFinite() ? Solved::yes : Solved::no;
}

std::string AlgebraicPart::name_of(Eigen::Index unknown) const {
  if (unknown < static_cast<Eigen::Index>(at_.options.names.size()))
    return at_.options.names[static_cast<std::size_t>(unknown)];
  if (unknown < at_.system.n()) return fmt::format("variable {}", unknown + 1);
  const int law = flow_.free_laws()[static_cast<std::size_t>(unknown - at_.system.n())];
  return fmt::format("the multiplier of law '{}'", at_.system.laws[static_cast<std::size_t>(law)].name);
}

std::string AlgebraicPart::why_it_ends() {
  flow_.gather(at_.now.x, at_.now.lambda, y_);
  RankElimination elimination;
  const auto columns =
      factorise(at_.now.t, Vector::Zero(at_.system.n()), nearly_singular, elimination);
  if (columns.empty()) return {};
  for (const Eigen::Index k : columns)
    if (std::abs(y_[k]) >= has_grown * units_[k])
      return fmt::format("; {} has grown to {:.3g}, as at a pole", name_of(k), y_[k]);
  constexpr auto nearly = "; the equations that determine {} are nearly singular there, as at a fold";
  if (elimination.rank() < elimination.columns()) {
    Matrix open;
    elimination.null_space(open);
    Eigen::Index most = 0;
    const auto c = static_cast<Eigen::Index>(columns.size());
    for (Eigen::Index k = 0; k < c; ++k)
      if (std::abs(open(k, 0)) / units_[columns[static_cast<std::size_t>(k)]] >
          std::abs(open(most, 0)) / units_[columns[static_cast<std::size_t>(most)]])
        most = k;
    return fmt::format(nearly, name_of(columns[static_cast<std::size_t>(most)]));
  }
  const RootChain::Doubt doubt = roots_.doubt();
  if (doubt.unknown < 0) return {};
  if (!doubt.is_rounding) return fmt::format(nearly, name_of(doubt.unknown));
  return fmt::format("; roots of the equations that determine {} are as near to each other there as their rounding",
                     name_of(doubt.unknown));
}

}  // namespace perp
