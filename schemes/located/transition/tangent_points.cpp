#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/located/equilibria/equilibria.hpp>
#include <perp/schemes/located/equilibria/point_search.hpp>
#include <perp/schemes/located/jets/margins.hpp>
#include <perp/schemes/located/jets/array/mode_array.hpp>

namespace perp {
namespace {

constexpr double solved = 1e-10;  ///< largest residual, relative to the sizes of the terms
constexpr double same_tangent_point = 1e-7;    ///< relative difference of equal points
constexpr double at_multiplier_end = 1e-7;  ///< relative distance of a multiplier to the end of its range
constexpr double open_direction = 1e-8;  ///< entries of scaled null vectors below this are zero

/// The derivative array of a mode with x as a whole unknown, and two equations more: w of one law
/// is at an end of its branch, and its time derivative is zero.
class TangentEquations {
 public:
  TangentEquations(const Dcs& system, const JetScales& scales) : array_(system, 1) {
    array_.set_scales(scales);
  }

  /// Starts at a jet of one level.
  bool start(const Jet& jet, int law, double end) {
    law_ = law;
    end_ = end;
    return array_.begin(jet) && array_.free_variables() && assemble();
  }
  bool evaluate() { return array_.evaluate() && assemble(); }
  void move(double share, const Vector& step) { array_.move(share, step); }

  [[nodiscard]] const Vector& residual() const { return residual_; }
  [[nodiscard]] const Matrix& matrix() const { return matrix_; }
  [[nodiscard]] const Vector& sizes() const { return array_.sizes(); }
  [[nodiscard]] const Vector& row_sizes() const { return row_sizes_; }
  [[nodiscard]] bool is_linear() const { return array_.is_linear(); }
  [[nodiscard]] double relative_residual() const {
    return perp::relative_residual(residual_, row_sizes_);
  }
  [[nodiscard]] Vector x() const { return array_.x().col(0); }
  [[nodiscard]] Vector lambda() const { return array_.lambda().col(0); }

 private:
  bool assemble() {
    const DerivativeArray& full = array_.array();
    const int n = full.n(), all = n + full.m();
    const Eigen::Index given = array_.residual().size(), unknowns = array_.unknowns();
    const Matrix directions = array_.expand(Matrix::Identity(unknowns, unknowns));
    residual_.resize(given + 2);
    row_sizes_.resize(given + 2);
    matrix_.resize(given + 2, unknowns);
    residual_.head(given) = array_.residual();
    row_sizes_.head(given) = array_.row_sizes();
    matrix_.topRows(given) = array_.matrix().dense();
    const Matrix derivatives = full.derivatives().dense();
    for (int k = 0; k < 2; ++k) {
      const int row = k * all + n + law_;
      residual_[given + k] = full.values()[row] - (k == 0 ? end_ : 0);
      matrix_.row(given + k) = derivatives.row(row) * directions;
      row_sizes_[given + k] =
          matrix_.row(given + k).cwiseAbs().dot(array_.sizes()) + (k == 0 ? std::abs(end_) : 0);
    }
    return matrix_.allFinite() && residual_.allFinite();
  }

  ModeArray array_;
  int law_ = -1;
  double end_ = 0;
  Vector residual_, row_sizes_;
  Matrix matrix_;
};

/// The search of `find_tangent_points`.
class TangentSearch : PointSearch {
 public:
  TangentSearch(const Dcs& system, double t, const Vector& x, const EquilibriumOptions& options)
      : PointSearch(system, t, x, options),
        guesses_(system, 1),
        equations_(system, jets_.scales()) {
    guesses_.set_scales(jets_.scales());
  }

  /// Points where the flow of `mode` touches a surface w = end of a law that slides there.
  void search(const Mode& mode, int law, std::vector<TangentPoint>& found);

 private:
  void search(const Mode& mode, int law, int sliding, double end, std::vector<TangentPoint>& found);
  bool solve(const Mode& mode, int law, double end, const Vector& x, const Vector& lambda,
             TangentPoint& point);
  [[nodiscard]] bool is_at_multiplier_end(const TangentPoint& point, int sliding);
  bool describe_point(TangentPoint& point, int sliding, double end);

  ConsistentJets guesses_;  // of one level, the others are of two
  TangentEquations equations_;
};

bool TangentSearch::solve(const Mode& mode, int law, double end, const Vector& x,
                          const Vector& lambda, TangentPoint& point) {
  const Jet guess = guesses_.solve_from(mode, t_, x, lambda);
  if (!equations_.start(guess, law, end) || !newton_.run(equations_)) return false;
  if (equations_.relative_residual() > solved) return false;
  point.law = law;
  point.mode = mode;
  point.x = equations_.x();
  point.lambda = equations_.lambda();
  const RankElimination& elimination = newton_.elimination();
  if (elimination.rank() < elimination.columns()) {
    Matrix open;
    elimination.null_space(open);
    const Matrix moves =
        jets_.differential_projection(t_, point.x, point.lambda) * open.topRows(point.x.size());
    for (Eigen::Index j = 0; j < point.x.size(); ++j)
      if (moves.row(j).cwiseAbs().maxCoeff() > open_direction * scales().x[j]) point.isolated = false;
  }
  return true;
}

/// Is the multiplier of the sliding mode at the end of its range at this point?
bool TangentSearch::is_at_multiplier_end(const TangentPoint& point, int sliding) {
  const auto law = static_cast<std::size_t>(point.law);
  Mode inner = point.mode;
  inner[law] = sliding;
  const Jet slides = jets_.solve_from(inner, t_, point.x, point.lambda);
  const Range& lambda = laws_[law].branches[static_cast<std::size_t>(sliding)].lambda;
  const double value = slides.lambda(point.law, 0);
  const double width = at_multiplier_end * (lambda.upper - lambda.lower);
  return slides.consistent && slides.determined &&
         (std::abs(value - lambda.lower) <= width || std::abs(value - lambda.upper) <= width);
}

/// The curvature of the touch, and whether the sliding multiplier ends here. False where the flow
/// of the mode does not go along the surface at all (it rests), or another law forbids the mode.
bool TangentSearch::describe_point(TangentPoint& point, int sliding, double end) {
  const auto law = static_cast<std::size_t>(point.law);
  const Jet jet = jets_.solve(point.mode, t_, point.x, point.lambda);
  if (!jet.consistent || !jet.determined || jet.w_known[law] < 3) return false;
  std::vector<char> ignored(laws_.size(), 0);
  ignored[law] = 1;
  if (!judge_margins(jet, laws_, jets_.scales(), {}, ignored).admissible) return false;
  const Matrix P = jets_.differential_projection(t_, point.x, point.lambda);
  const Vector change = scales().time * (P * jet.x.col(1));  // in a unit of time, each in the unit of its own variable
  if ((change.cwiseAbs().array() <= same_tangent_point * scales().x.array()).all()) return false;  // an equilibrium
  point.x = jet.x.col(0);
  point.lambda = jet.lambda.col(0);
  const Range range = w_range(branch(point.mode, law));
  point.curvature = 2 * jet.w(point.law, 2) * (range.lower == end ? 1 : -1);
  point.at_end = is_at_multiplier_end(point, sliding);
  return true;
}

void TangentSearch::search(const Mode& mode, int law, std::vector<TangentPoint>& found) {
  const auto i = static_cast<std::size_t>(law);
  const Branch& side = branch(mode, i);
  if (is_vertical(side)) return;
  const Range range = w_range(side);
  for (int k = 0; k < static_cast<int>(laws_[i].branches.size()); ++k) {
    const Branch& inner = laws_[i].branches[static_cast<std::size_t>(k)];
    if (!is_sliding(laws_[i], k)) continue;
    const double end = inner.c / inner.a;
    if (end == range.lower || end == range.upper) search(mode, law, k, end, found);
  }
}

/// On the surface that it slides on in the branch `sliding`.
void TangentSearch::search(const Mode& mode, int law, int sliding, double end,
                           std::vector<TangentPoint>& found) {
  std::vector<TangentPoint> here;
  from_starts(mode, [&](const RestStarts::Start& start) {
    TangentPoint point;
    if (!solve(mode, law, end, start.x, start.lambda, point) ||
        !describe_point(point, sliding, end))
      return;
    const auto known = [&](const TangentPoint& other) {
      const Vector size = scales().x.cwiseMax(point.x.cwiseAbs());
      return (!point.isolated && !other.isolated) ||
             ((other.x - point.x).cwiseAbs().array() <= same_tangent_point * size.array()).all();
    };
    if (std::none_of(here.begin(), here.end(), known)) here.push_back(std::move(point));
  });
  sort(here);
  std::move(here.begin(), here.end(), std::back_inserter(found));
}

}  // namespace

std::vector<TangentPoint> find_tangent_points(const Dcs& system, double t, const Vector& x,
                                              const EquilibriumOptions& options) {
  if (x.size() != system.n())
    throw InvalidInput(fmt::format("x must have {} entries but has {}", system.n(), x.size()));
  std::vector<TangentPoint> found;
  TangentSearch search(system, t, x, options);
  Mode mode(system.laws.size(), 0);
  int looked = 0;
  do {
    for (int i = 0; i < static_cast<int>(mode.size()); ++i) search.search(mode, i, found);
  } while (next_mode(mode, system.laws) && ++looked < options.most_modes);
  return found;
}

}  // namespace perp
