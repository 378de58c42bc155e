#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>

#include <perp/core/linear/lu.hpp>
#include <perp/lcp/forms/standard_forms.hpp>
#include <perp/lcp/parametric/curve.hpp>

namespace perp {
namespace {

/// One law on its way into the form.
struct Entry {
  Curve curve;
  bool box = false;    ///< one unknown in a box [lower, upper]
  bool direct = true;  ///< λ is an affine function of ζ alone
  int auxiliary = -1;  ///< index of the free unknown that stands for λ
  CurveUnknowns place;
  double lower = 0;
  double upper = inf;
  CurvePoint base{};             ///< the point of ζ = 0, η = 0
  std::vector<CurvePoint> zeta;  ///< coefficients of ζ in (w, λ)
};

bool same(const CurvePoint& a, const CurvePoint& b) {
  return std::abs(a.w - b.w) <= 1e-14 && std::abs(a.lambda - b.lambda) <= 1e-14;
}

/// Is the other orientation better: λ growing along the inside of a box, else a horizontal start?
bool is_better_reversed(const Entry& entry) {
  const auto& d = entry.curve.directions;
  if (entry.box) return d[1].lambda < 0;
  return d.size() > 1 && d.front().lambda != 0 && d.back().lambda == 0;
}

/// A single line: ζ = λ is free, or λ is fixed.
void parametrise_line(Entry& entry) {
  const CurvePoint& d = entry.curve.directions[0];
  entry.base = entry.curve.corners[0];
  entry.place.count = d.lambda == 0 ? 0 : 1;
  if (entry.place.count == 0) return;
  const double slope = d.w / d.lambda;
  entry.base = {entry.base.w - slope * entry.base.lambda, 0};
  entry.zeta = {{slope, 1}};
  entry.lower = -inf;
}

/// Is the only ζ λ itself, but for a constant?
bool is_lambda_itself(const Entry& entry) {
  const CurvePoint& d = entry.zeta[0];
  return d.w == 0 && d.lambda == 1 && entry.place.count == 1;
}

/// A curve with corners: one ζ in a box, else one for each corner.
void parametrise_corners(Entry& entry) {
  const auto& d = entry.curve.directions;
  entry.base = entry.curve.corners[0];
  entry.place.count = entry.box ? 1 : static_cast<int>(d.size()) - 1;
  entry.zeta = {d[1]};
  for (std::size_t k = 2; !entry.box && k < d.size(); ++k)
    entry.zeta.push_back({d[k].w - d[k - 1].w, d[k].lambda - d[k - 1].lambda});
  if (entry.box) entry.upper = entry.curve.lengths[1];
  if (is_lambda_itself(entry)) {
    entry.lower = entry.base.lambda;
    entry.base.lambda = 0;
    if (entry.box) entry.upper = entry.curve.corners[1].lambda;
  }
  entry.direct = d[0].lambda == 0;
}

/// Decides how the curve is parametrised; see CurveUnknowns.
Entry parametrised(const Law& law) {
  Entry entry;
  entry.curve = curve_of(law);
  const auto& d = entry.curve.directions;
  entry.box = d.size() == 3 && same(d[0], d[2]);
  if (is_better_reversed(entry)) reverse(entry.curve);
  entry.place.order = entry.curve.order;
  if (d.size() == 1)
    parametrise_line(entry);
  else
    parametrise_corners(entry);
  return entry;
}

/// Is there no bound of ζ?
bool has_free_unknown(const Entry& entry) { return entry.place.count == 1 && entry.lower == -inf; }

/// The laws with the places of their unknowns: u, auxiliary unknowns, free ζ, then the bounded ones.
std::vector<Entry> numbered(const Mlcp& problem, int& free, int& n) {
  std::vector<Entry> entries;
  std::ranges::transform(problem.laws, std::back_inserter(entries), parametrised);
  n = problem.p();
  for (Entry& entry : entries)
    if (!entry.direct) entry.auxiliary = n++;
  for (Entry& entry : entries)
    if (has_free_unknown(entry)) entry.place.first = n++;
  free = n;
  for (Entry& entry : entries) {
    if (entry.place.count == 0 || has_free_unknown(entry)) continue;
    entry.place.first = n;
    n += entry.place.count;
  }
  return entries;
}

/// An affine function of y: value = row · y + constant.
struct Affine {
  Eigen::RowVectorXd row;
  double constant = 0;
};

/// base + Σ coefficient ζ for one coordinate of the law's curve.
Affine along(const Entry& entry, double CurvePoint::*coordinate, int n) {
  Affine value{Eigen::RowVectorXd::Zero(n), entry.base.*coordinate};
  for (int k = 0; k < entry.place.count; ++k)
    value.row[entry.place.first + k] = entry.zeta[static_cast<std::size_t>(k)].*coordinate;
  return value;
}

void set_row(BoxForm& form, int i, const Affine& value) {
  form.N.row(i) = value.row;
  form.r[i] = value.constant;
}

/// Rows of η_2 ... η_count, η_k = ζ_k − ζ_1 + η_1 + (way from corner 1 to corner k).
void fill_later_rows(BoxForm& form, const Entry& entry, const Affine& eta) {
  const int first = entry.place.first;
  double way = 0;
  for (int k = 1; k < entry.place.count; ++k) {
    way += entry.curve.lengths[static_cast<std::size_t>(k)];
    Affine later{eta.row, eta.constant + way};
    later.row[first] -= 1;
    later.row[first + k] += 1;
    set_row(form, first + k, later);
  }
}

/// Rows of the equality of an auxiliary unknown and of η_1 ... η_count of one law.
void fill_rows(BoxForm& form, const Entry& entry, const Affine& w, const Affine& lambda) {
  const int n = form.n();
  const auto minus = [](const Affine& a, const Affine& b) {
    return Affine{a.row - b.row, a.constant - b.constant};
  };
  const Affine off_w = minus(w, along(entry, &CurvePoint::w, n));  // = −η d_1
  const int first = entry.place.first;
  if (entry.place.count == 0) return;
  if (entry.curve.directions.size() == 1) return set_row(form, first, off_w);
  const CurvePoint start = entry.curve.directions[0];
  const Affine off_lambda = minus(lambda, along(entry, &CurvePoint::lambda, n));
  const bool by_w = std::abs(start.w) >= std::abs(start.lambda);
  Affine eta = by_w ? off_w : off_lambda;
  const double scale = by_w ? start.w : start.lambda;
  eta.row /= -scale;
  eta.constant /= -scale;
  set_row(form, first, eta);
  if (!entry.direct) {
    const Affine& other = by_w ? off_lambda : off_w;
    const double slope = by_w ? start.lambda : start.w;
    set_row(form, entry.auxiliary,
            {other.row + slope * eta.row, other.constant + slope * eta.constant});
  }
  fill_later_rows(form, entry, eta);
}

/// Has y_i a box with two finite ends?
bool is_boxed(const BoxForm& form, int i) { return form.lower[i] > -inf && form.upper[i] < inf; }

/// y = Y v + y0 with v ≥ 0 from a finite bound on, and the sign with which row i of F stands in the pairs.
struct FromBounds {
  Matrix Y;
  Vector y0, sign;
};

FromBounds from_bounds(const BoxForm& form, int size) {
  const int n = form.n();
  FromBounds result{Matrix::Zero(n, size), Vector::Zero(n), Vector::Ones(n)};
  for (int i = 0; i < n; ++i) {
    const bool from_above = i >= form.free && form.lower[i] == -inf;
    if (from_above) result.sign[i] = -1;
    if (i >= form.free) result.y0[i] = from_above ? form.upper[i] : form.lower[i];
    result.Y(i, i) = result.sign[i];
  }
  return result;
}

}  // namespace

std::string no_curve(const Law& law) { return curve_of(law).reason; }

std::string no_box_form(const Mlcp& problem) {
  for (std::size_t i = 0; i < problem.laws.size(); ++i) {
    const std::string reason = no_curve(problem.laws[i]);
    if (!reason.empty())
      return fmt::format("law {} ('{}') has no complementarity form: {}", i + 1,
                         problem.laws[i].name, reason);
  }
  return {};
}

BoxForm box_form(const Mlcp& problem) {
  const int p = problem.p();
  const int m = problem.m();
  BoxForm form;
  int n = 0;
  const std::vector<Entry> entries = numbered(problem, form.free, n);
  form.N = Matrix::Zero(n, n);
  form.r = Vector::Zero(n);
  form.lower = Vector::Constant(n, -inf);
  form.upper = Vector::Constant(n, inf);
  form.back = Matrix::Zero(p + m, n);
  form.back0 = Vector::Zero(p + m);
  form.back.topLeftCorner(p, p).setIdentity();
  for (int i = 0; i < m; ++i) {
    const Entry& entry = entries[static_cast<std::size_t>(i)];
    Affine lambda = along(entry, &CurvePoint::lambda, n);
    if (!entry.direct) lambda = {Eigen::RowVectorXd::Unit(n, entry.auxiliary), 0};
    form.back.row(p + i) = lambda.row;
    form.back0[p + i] = lambda.constant;
    form.laws.push_back(entry.place);
  }
  const auto lambda_rows = form.back.bottomRows(m);
  const auto lambda_constant = form.back0.tail(m);
  form.N.topRows(p) = problem.M12 * lambda_rows;
  form.N.topLeftCorner(p, p) += problem.M11;
  form.r.head(p) = problem.M12 * lambda_constant + problem.q1;
  Matrix W = problem.M22 * lambda_rows;  // w = W y + w0
  W.leftCols(p) += problem.M21;
  const Vector w0 = problem.M22 * lambda_constant + problem.q2;
  for (int i = 0; i < m; ++i) {
    const Entry& entry = entries[static_cast<std::size_t>(i)];
    for (int k = 0; k < entry.place.count; ++k) {
      form.lower[entry.place.first + k] = entry.lower;
      form.upper[entry.place.first + k] = entry.upper;
    }
    fill_rows(form, entry, {W.row(i), w0[i]}, {form.back.row(p + i), form.back0[p + i]});
  }
  return form;
}

bool eliminate_free(BoxForm& form) {
  const int f = form.free;
  const int b = form.n() - f;
  if (f == 0) return true;
  const Matrix A = form.N.topLeftCorner(f, f);
  const Vector rows = A.cwiseAbs().rowwise().maxCoeff();
  if (!(rows.minCoeff() > 0)) return false;
  const Matrix balanced = rows.cwiseInverse().asDiagonal() * A;
  const linear::FullLu lu(balanced);
  const Vector pivots = lu.pivots().cwiseAbs();
  if (!(pivots.minCoeff() > 1e-13 * pivots.maxCoeff())) return false;
  Matrix right(f, b + 1);
  right << form.N.topRightCorner(f, b), form.r.head(f);
  const Matrix G = -lu.solve(Matrix(rows.cwiseInverse().asDiagonal() * right));
  if (!G.allFinite()) return false;
  BoxForm reduced;
  reduced.N = form.N.bottomRightCorner(b, b) + form.N.bottomLeftCorner(b, f) * G.leftCols(b);
  reduced.r = form.r.tail(b) + form.N.bottomLeftCorner(b, f) * G.col(b);
  reduced.lower = form.lower.tail(b);
  reduced.upper = form.upper.tail(b);
  reduced.back = form.back.rightCols(b) + form.back.leftCols(f) * G.leftCols(b);
  reduced.back0 = form.back0 + form.back.leftCols(f) * G.col(b);
  form = std::move(reduced);
  return true;
}

BoxForm to_pairs(const BoxForm& form) {
  const int n = form.n();
  int size = n;
  for (int i = form.free; i < n; ++i)
    if (is_boxed(form, i)) ++size;
  const auto [Y, y0, sign] = from_bounds(form, size);
  BoxForm pairs;
  pairs.free = form.free;
  pairs.N = Matrix::Zero(size, size);
  pairs.r = Vector::Zero(size);
  pairs.N.topRows(n) = sign.asDiagonal() * (form.N * Y);
  pairs.r.head(n) = sign.asDiagonal() * (form.N * y0 + form.r);
  for (int i = form.free, next = n; i < n; ++i) {
    if (!is_boxed(form, i)) continue;
    pairs.N(i, next) = 1;
    pairs.N(next, i) = -1;
    pairs.r[next++] = form.upper[i] - form.lower[i];
  }
  pairs.lower = Vector::Zero(size);
  pairs.lower.head(form.free).setConstant(-inf);
  pairs.upper = Vector::Constant(size, inf);
  pairs.back = form.back * Y;
  pairs.back0 = form.back * y0 + form.back0;
  return pairs;
}

}  // namespace perp
