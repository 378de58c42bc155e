#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <perp/lcp/nearest/law_rows.hpp>

namespace perp {
namespace {

using Real = long double;

constexpr double row_rounding = 0x1p-50;  // of the elimination, beside the largest entry of a row

/// Ranges of w and λ on a branch.
std::pair<Range, Range> ranges_of(const Branch& branch) {
  if (branch.a == 0) return {branch.w, {branch.c / branch.b, branch.c / branch.b}};
  if (branch.b == 0) return {{branch.c / branch.a, branch.c / branch.a}, branch.lambda};
  return {branch.w, branch.lambda};
}

/// One quantity: its coefficients and its constant, without what is rounding of the elimination.
template <class Coefficient>
int append(std::vector<Vector>& rows, int C, const Coefficient& coefficient) {
  Vector row(C + 1);
  for (int k = 0; k <= C; ++k) row[k] = static_cast<double>(coefficient(k));
  const double dust = row_rounding * row.lpNorm<Eigen::Infinity>();
  row = (row.array().abs() <= dust).select(0.0, row);
  rows.push_back(row);
  return static_cast<int>(rows.size()) - 1;
}

}  // namespace

LawRows::LawRows(const Mlcp& scaled, const AlgebraicProblem<Real>& algebraic, const Vector& unit,
                 const Matrix& W, const Vector& center)
    : problem_(scaled), unit_(unit) {
  const int p = scaled.p(), n = p + scaled.m();
  space_ = solve_equations<Real>({algebraic.rows.begin(), algebraic.rows.begin() + p}, n, p);
  if (space_) write_rows(algebraic, W, center);
}

void LawRows::write_rows(const AlgebraicProblem<Real>& algebraic, const Matrix& W,
                         const Vector& center) {
  const int p = problem_.p(), m = problem_.m(), C = static_cast<int>(space_->free.size());
  std::vector<int> parameter(at(p + m), -1);
  for (int k = 0; k < C; ++k) parameter[at(space_->free[at(k)])] = k;
  std::vector<Vector> rows;
  places_.resize(at(m));
  for (int i = 0; i < m; ++i) write_law(algebraic, i, parameter[at(p + i)] >= 0, rows);
  Matrix directions(p + m, C);
  for (int k = 0; k < C; ++k) directions.col(k) = in_units(space_->directions[at(k)]);
  rows_.A = W * directions;
  rows_.a = W * (in_units(space_->origin) - center);
  for (Eigen::Index r = 0; r < rows_.a.size(); ++r)
    append(rows, C, [&](int k) { return k < C ? rows_.A(r, k) : rows_.a[r]; });
  const int R = static_cast<int>(rows.size());
  for (int i = 0; i < m; ++i)
    if (places_[at(i)].lambda < 0) places_[at(i)].lambda = R + parameter[at(p + i)];
  write_quantities(rows);
}

/// G t + g, row by row.
void LawRows::write_quantities(const std::vector<Vector>& rows) {
  const int R = static_cast<int>(rows.size()), C = static_cast<int>(space_->free.size());
  rows_.G.resize(R, C);
  rows_.g.resize(R);
  rows_.size.resize(R);
  for (int r = 0; r < R; ++r) {
    rows_.G.row(r) = rows[at(r)].head(C).transpose();
    rows_.g[r] = rows[at(r)][C];
    rows_.size[r] = C > 0 ? rows_.G.row(r).lpNorm<Eigen::Infinity>() : 0;
  }
}

/// w, λ where it is no parameter itself, and a w + b λ of each sloped branch.
void LawRows::write_law(const AlgebraicProblem<Real>& algebraic, int i, bool is_parameter,
                        std::vector<Vector>& rows) {
  const int C = static_cast<int>(space_->free.size());
  const auto point = [&](int k) -> const std::vector<Real>& {
    return k < C ? space_->directions[at(k)] : space_->origin;
  };
  const auto w = [&](int k) { return output(algebraic, i, point(k), k < C).rounded(); };
  const auto lambda = [&](int k) { return point(k)[at(problem_.p() + i)]; };
  Places& place = places_[at(i)];
  place.w = append(rows, C, w);
  if (!is_parameter) place.lambda = append(rows, C, lambda);
  for (const Branch& branch : problem_.laws[at(i)].branches) {
    const bool sloped = branch.a != 0 && branch.b != 0;
    const auto combined = [&](int k) { return branch.a * w(k) + branch.b * lambda(k); };
    place.combination.push_back(sloped ? append(rows, C, combined) : -1);
  }
}

Vector LawRows::in_units(const std::vector<Real>& y) const {
  Vector result(unit_.size());
  for (Eigen::Index j = 0; j < unit_.size(); ++j)
    result[j] = static_cast<double>(y[static_cast<std::size_t>(j)]) * unit_[j];
  return result;
}

std::vector<Range> LawRows::root_ranges() const {
  std::vector<Range> ranges(at(rows_.rows() + rows_.parameters()));
  for (int i = 0; i < problem_.m(); ++i) {
    Range w{inf, -inf}, lambda{inf, -inf};
    for (const Branch& branch : problem_.laws[at(i)].branches) {
      const auto [of_w, of_lambda] = ranges_of(branch);
      w = {std::min(w.lower, of_w.lower), std::max(w.upper, of_w.upper)};
      lambda = {std::min(lambda.lower, of_lambda.lower), std::max(lambda.upper, of_lambda.upper)};
    }
    ranges[at(places_[at(i)].w)] = w;
    ranges[at(places_[at(i)].lambda)] = lambda;
  }
  return ranges;
}

void LawRows::decide(std::vector<Range>& ranges, int law, int branch) const {
  const Branch& chosen = problem_.laws[at(law)].branches[at(branch)];
  const Places& place = places_[at(law)];
  std::tie(ranges[at(place.w)], ranges[at(place.lambda)]) = ranges_of(chosen);
  if (const int sum = place.combination[at(branch)]; sum >= 0)
    ranges[at(sum)] = {chosen.c, chosen.c};
}

void LawRows::keep_within(std::vector<Range>& ranges, double radius) const {
  for (int r = first_of_norm(); r < rows_.rows(); ++r) ranges[at(r)] = {-radius, radius};
}

Vector LawRows::unknowns(const NormRelaxation& relaxation) const {
  std::vector<Real> y = space_->origin;
  for (int k = 0; k < rows_.parameters(); ++k)
    for (std::size_t j = 0; j < y.size(); ++j)
      y[j] += space_->directions[at(k)][j] * relaxation.value(rows_.rows() + k);
  return in_units(y);
}

}  // namespace perp
