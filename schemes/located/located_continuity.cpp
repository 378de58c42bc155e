#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include <perp/core/linear/rank_elimination.hpp>
#include <perp/schemes/located/located_run.hpp>

namespace perp {
namespace {

constexpr double unresolved_share = 0.05;  ///< of the variation within a step
constexpr double same_root = 0x1p-4;         ///< of an unknown, by which a jet may correct it
constexpr double algebraic_rank = 1e-11;   ///< pivots of a scaled matrix below are zero
constexpr double nearly_singular = 1e-5;   ///< the same, of a matrix at which a run ends
constexpr double has_grown = 1e5;          ///< times its unit: a variable that may have a pole

}  // namespace

/// The error estimate is one of differential variables. The others go on from their present values
/// where the polynomial through their stages meets these at its start, up to a share of its
/// variation: Newton's method may have ended on another branch of a fold, or beyond a pole.
bool LocatedRun::algebraic_part_goes_on() {
  if (watched_.empty()) return true;
  flow_.gather(now_.x, now_.lambda, ydot_);
  Vector lowest = radau_.end(), highest = lowest;
  for (int i = 0; i + 1 < stages_; ++i) {
    radau_.stage(i, y_);
    lowest = lowest.cwiseMin(y_);
    highest = highest.cwiseMax(y_);
  }
  radau_.extrapolate_stages(y_);
  return std::all_of(watched_.begin(), watched_.end(), [&](Eigen::Index k) {
    const double size = std::max({units_of_mode_[k], std::abs(lowest[k]), std::abs(highest[k])});
    const double most =
        unresolved_share * (highest[k] - lowest[k]) + std::sqrt(options_.tol) * size;
    return std::abs(y_[k] - ydot_[k]) <= most;
  });
}

/// Newton's method for the jet may end on another branch too: where the rows without derivatives determine an
/// unknown, the end of the attempt is next to its root.
bool LocatedRun::is_root_of_attempt(const Jet& jet) {
  flow_.gather(jet.x.col(0), jet.lambda.col(0), y_);
  const Vector& end = radau_.end();
  return std::all_of(watched_.begin(), watched_.end(), [&](Eigen::Index k) {
    const double size = std::max({units_of_mode_[k], std::abs(y_[k]), std::abs(end[k])});
    return std::abs(y_[k] - end[k]) <= same_root * size;
  });
}

/// Factorises what the rows without derivatives hold of the unknowns without derivatives at
/// (t, ẋ, y_); its columns. Empty: there are none, or something is not finite.
std::vector<Eigen::Index> LocatedRun::factorise_algebraic_part(double t, const Vector& rates,
                                                               double tolerance,
                                                               RankElimination& elimination) {
  flow_.gather(scales_.x, scales_.lambda, units_of_mode_);
  ydot_ = Vector::Zero(flow_.size());
  ydot_.head(system_.n()) = rates;
  Vector H;
  Matrix H_ydot, H_y;
  std::vector<Eigen::Index> rows, columns;
  if (!flow_.linearize(t, ydot_, y_, H, H_ydot, H_y)) return columns;
  for (int k = 0; k < flow_.size(); ++k) {
    if (H_ydot.row(k).isZero(0)) rows.push_back(k);
    if (!flow_.is_differential(k)) columns.push_back(k);
  }
  const Vector all_sizes = units_of_mode_.cwiseMax(y_.cwiseAbs());
  const Vector sizes = all_sizes(columns);
  elimination.factorise(H_y(rows, columns), sizes, H_y(rows, Eigen::all).cwiseAbs() * all_sizes,
                        tolerance);
  return columns;
}

/// The unknowns of the mode at its start that the rows without derivatives determine. In a mode of
/// index 2 stage values of the others hold impulses of the size 1/h and tell nothing.
void LocatedRun::watch_algebraic_part(const Jet& jet) {
  watched_.clear();
  RankElimination elimination;
  const auto columns = factorise_algebraic_part(jet.t, jet.x.col(1), algebraic_rank, elimination);
  if (columns.empty()) return;
  Matrix open;
  elimination.null_space(open);
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (open.row(static_cast<Eigen::Index>(c)).isZero(0)) watched_.push_back(columns[c]);
}

std::string LocatedRun::name_of(Eigen::Index unknown) const {
  if (unknown < static_cast<Eigen::Index>(options_.names.size()))
    return options_.names[static_cast<std::size_t>(unknown)];
  if (unknown < system_.n()) return fmt::format("variable {}", unknown + 1);
  const int law = flow_.free_laws()[static_cast<std::size_t>(unknown - system_.n())];
  return fmt::format("the multiplier of law '{}'", system_.laws[static_cast<std::size_t>(law)].name);
}

/// Why no step is possible from now_, as far as the equations without derivatives tell: they get
/// singular here, or a variable has grown. Empty: they tell nothing.
std::string LocatedRun::end_of_algebraic_part() {
  flow_.gather(now_.x, now_.lambda, y_);
  RankElimination elimination;
  const auto columns =
      factorise_algebraic_part(now_.t, Vector::Zero(system_.n()), nearly_singular, elimination);
  if (columns.empty()) return {};
  for (const Eigen::Index k : columns)
    if (std::abs(y_[k]) >= has_grown * units_of_mode_[k])
      return fmt::format("; {} has grown to {:.3g}: a pole", name_of(k), y_[k]);
  if (elimination.rank() < elimination.columns()) {
    Matrix open;
    elimination.null_space(open);
    Eigen::Index most = 0;
    const auto c = static_cast<Eigen::Index>(columns.size());
    for (Eigen::Index k = 0; k < c; ++k)
      if (std::abs(open(k, 0)) / units_of_mode_[columns[static_cast<std::size_t>(k)]] >
          std::abs(open(most, 0)) / units_of_mode_[columns[static_cast<std::size_t>(most)]])
        most = k;
    return fmt::format("; the equations that determine {} get singular there: a fold",
                       name_of(columns[static_cast<std::size_t>(most)]));
  }
  return {};
}

/// The next attempt has this length; ends the run where that is too short.
void LocatedRun::shorten(double h, const std::string& why) {
  ++rejected_;
  h_ = h;
  if (h_ < shortest_step())
    finish(Status::not_solved, fmt::format("stopped at {}: {} however short the step{}", place(now_),
                                           why, end_of_algebraic_part()));
}

}  // namespace perp
