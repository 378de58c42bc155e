// What a mode's rows say at one θ.
#include <algorithm>
#include <ranges>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/exact_mode.hpp>
#include <perp/lcp/parametric/mode_map.hpp>

namespace perp {
namespace {

/// The upper 26 bits of a number, so that products of two halves are exact (Veltkamp).
double upper_half(double a) {
  const double shifted = 0x8000001p0 * a;
  return shifted - (shifted - a);
}

/// Σ_j (high_j + low_j) θ_j, with θ_k = 1, as if in doubled precision (Ogita, Rump and Oishi's Dot2;
/// the products after Dekker, since a call of fma costs more than all of it).
double compensated_dot(const double* high, const double* low, int k, const double* theta) {
  double sum = high[k], rest = low[k];
  for (int j = 0; j < k; ++j) {
    const double a = high[j], b = theta[j], product = a * b;
    const double a_upper = upper_half(a), a_lower = a - a_upper;
    const double b_upper = upper_half(b), b_lower = b - b_upper;
    const double lost = a_lower * b_lower -
                        (((product - a_upper * b_upper) - a_lower * b_upper) - a_upper * b_lower);
    const double next = sum + product, shift = next - sum;
    rest += ((sum - (next - shift)) + (product - shift)) + (lost + low[j] * b);
    sum = next;
  }
  return sum + rest;
}

/// The same sum without rounding.
Rational exact_sum(const double* high, const double* low, int k, const double* theta) {
  Rational sum(high[k]);
  if (low[k] != 0) sum += Rational(low[k]);
  for (int j = 0; j < k; ++j)
    for (const double part : {high[j], low[j]})
      if (part != 0 && theta[j] != 0) sum += Rational(part) * Rational(theta[j]);
  return sum;
}

}  // namespace

double ModeMap::size(const double* row, const double* theta) const {
  double sum = std::abs(row[k_]);
  for (int j = 0; j < k_; ++j) sum += std::abs(row[j] * theta[j]);
  return sum;
}

// k products and k sums, the rounding of θ (half an ulp of each entry) and of the coefficients.
double ModeMap::rounding(int row, const double* theta) const {
  const std::size_t first = at(row * stride_);
  return static_cast<double>(k_ + 4) * unit_roundoff * size(rows_.data() + first, theta) +
         2 * size(error_.data() + first, theta);
}

double ModeMap::accurate(int row, const double* theta, double* error) const {
  const std::size_t first = at(row * stride_);
  const double *high = rows_.data() + first, *low = low_.data() + first;
  const double each = static_cast<double>((k_ + 4) * (k_ + 4)) * double_double_rounding;
  *error = each * size(high, theta) + 2 * size(error_.data() + first, theta);
  return compensated_dot(high, low, k_, theta);
}

const ExactMode& ModeMap::exact() const {
  if (!exact_) exact_ = std::make_shared<const ExactMode>(*family_, modes_.front());
  return *exact_;
}

// Of u, λ or w: where twice the precision leaves its last digits open, from the exact row.
double ModeMap::precise(int row, const double* theta, double sum, double terms) const {
  const std::size_t first = at(row * stride_);
  if (terms <= most_cancelled * std::abs(sum) && 2 * size(error_.data() + first, theta) <= unit_roundoff * std::abs(sum))
    return sum;
  const double value =
      compensated_dot(rows_.data() + first, low_.data() + first, k_, theta);
  if (std::abs(value) >= precise_from_[at(row)] * terms) return value;
  double error = 0;
  if (std::abs(accurate(row, theta, &error)) * unit_roundoff >= error) return value;
  const double* missing = error_.data() + first;
  if (std::all_of(missing, missing + stride_, [](double part) { return part == 0; }))
    return to_double(exact_sum(rows_.data() + first, low_.data() + first, k_, theta));
  return to_double(row < w_row_ ? exact().unknown(row - u_row_, theta) : exact().argument(row - w_row_, theta));
}

double ModeMap::margin(int i, const double* theta) const {
  if (points_ != nullptr) return margin_at_point(i, theta);
  return dot(rows_.data() + i * stride_, theta);
}

void ModeMap::u(const double* theta, double* value) const {
  if (points_ == nullptr) return evaluate(u_row_, p_, theta, value);
  for (int j = 0; j < p_; ++j) value[j] = unknown_at_point(j, theta);
}

long ModeMap::repeat(const std::vector<int>& which, long most, double* ring) const {
  if (points_ != nullptr || static_cast<int>(which.size()) != k_) return 0;
  long made = 0;
  with_known_size([&](const auto size) {
    const double* of_u = rows_.data() + u_row_ * (size + 1);
    for (; made < most; ++made) {
      const double* theta = ring + (made & 3) * size;
      if (!is_finite(theta) || !has_margins(theta, size)) break;
      double* next = ring + ((made + 1) & 3) * size;
      for_each_entry(size, [&](int j) __attribute__((always_inline)) {
        const int variable = which[static_cast<std::size_t>(j)];
        next[j] = evaluate(of_u + variable * (size + 1), u_row_ + variable, theta, size);
      });
    }
    return true;
  });
  return made;
}

double ModeMap::u(int j, const double* theta) const {
  if (points_ != nullptr) return unknown_at_point(j, theta);
  return evaluate(rows_.data() + (u_row_ + j) * stride_, u_row_ + j, theta, k_);
}

double ModeMap::lambda_rounding(int law, const double* theta) const {
  return points_ != nullptr ? rounding_at_point(false, p_ + law, theta) : rounding(lambda_row_ + law, theta);
}

double ModeMap::w_rounding(int law, const double* theta) const {
  return points_ != nullptr ? rounding_at_point(true, law, theta) : rounding(w_row_ + law, theta);
}

double ModeMap::u_rounding(int j, const double* theta) const {
  return points_ != nullptr ? rounding_at_point(false, j, theta) : rounding(u_row_ + j, theta);
}

ModeMap::Verdict ModeMap::verdict(int margin, const double* theta) const {
  if (points_ != nullptr) return verdict_at_point(margin, theta);
  const double value = dot(rows_.data() + margin * stride_, theta);
  if (value >= 0) return Verdict::positive;
  if (value < -rounding(margin, theta)) return Verdict::negative;
  // The value at exactly this θ, beside what the rounding of θ makes of it: the constant has none.
  double error = 0;
  const double exact = accurate(margin, theta, &error);
  const double* row = rows_.data() + margin * stride_;
  const double each = static_cast<double>(k_ + 4) * unit_roundoff;
  return exact < -each * (size(row, theta) - std::abs(row[k_])) - error ? Verdict::negative : Verdict::undecided;
}

ModeMap::Verdict ModeMap::verdict(const double* theta) const {
  Verdict all = Verdict::positive;
  for (int i = 0; i < static_cast<int>(margins_.size()); ++i) {
    const Verdict one = verdict(i, theta);
    if (one == Verdict::negative) return one;
    if (one == Verdict::undecided) all = one;
  }
  return all;
}

bool ModeMap::is_clear(int margin, const double* theta) const {
  if (points_ != nullptr) return is_clear_at_point(margin, theta);
  return dot(rows_.data() + margin * stride_, theta) >= rounding(margin, theta);
}

int ModeMap::sign(int margin, const double* theta) const {
  if (points_ != nullptr) return sign_at_point(margin, theta);
  double error = 0;
  const double value = accurate(margin, theta, &error);
  if (std::abs(value) > error) return value > 0 ? 1 : -1;
  const int origin = origin_[at(margin)];
  if (origin < 0)  // made by elimination, which keeps it exactly
    return ExactMode::value(elimination_.exactly_projected()[at(margin)], theta).sign();
  return ExactMode::value(exact().ends()[at(origin)].value, theta).sign();
}

double ModeMap::worst_margin(const double* theta) const {
  if (points_ != nullptr) return by_rows().worst_margin(theta);
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

// Σ v_i² with the bound Σ (2 |v_i| + e_i) e_i of what the rounding e_i of its terms makes of it, and
// the rounding of the sum itself.
double ModeMap::squared_norm(const double* theta, double* error) const {
  if (points_ != nullptr) return by_rows().squared_norm(theta, error);
  double sum = 0, propagated = 0;
  for (int i = 0; i < r_; ++i) {
    const std::size_t first = at((norm_row_ + i) * stride_);
    const double *row = rows_.data() + first, *missing = error_.data() + first;
    double value = row[k_], terms = std::abs(row[k_]), lacking = missing[k_];
    for (int j = 0; j < k_; ++j) {
      const double term = row[j] * theta[j];
      value += term;
      terms += std::abs(term);
      lacking += std::abs(missing[j] * theta[j]);
    }
    const double rounding = static_cast<double>(k_ + 4) * unit_roundoff * terms + 2 * lacking;
    propagated += (2 * std::abs(value) + rounding) * rounding;
    sum += value * value;
  }
  *error = propagated + static_cast<double>(r_ + 2) * unit_roundoff * sum;
  return sum;
}

bool ModeMap::consistent(const double* theta) const {
  for (std::size_t first = 0; first < equalities_.size(); first += at(stride_)) {
    const double* row = equalities_.data() + first;
    if (std::abs(dot(row, theta)) > static_cast<double>(k_ + 4) * unit_roundoff * size(row, theta))
      return false;
  }
  return true;
}

double ModeMap::inconsistency(const double* theta) const {
  double worst = 0;
  for (std::size_t first = 0; first < equalities_.size(); first += at(stride_)) {
    const double* row = equalities_.data() + first;
    const double scale = size(row, theta);
    if (scale > 0) worst = std::max(worst, std::abs(dot(row, theta)) / scale);
  }
  return worst;
}

/// What the chosen point of a mode that is not determined adds.
void ModeMap::add_free(const Matrix& directions, const double* theta, double* value) const {
  if (free_ == 0) return;
  std::array<double, Elimination::most_free> t{};
  elimination_.choose(theta, t.data());
  for (int j = 0; j < free_; ++j)
    for (int i = 0; i < m_; ++i) value[i] += directions(i, j) * t[at(j)];
}

void ModeMap::lambda(const double* theta, double* value) const {
  if (points_ == nullptr) {
    evaluate(lambda_row_, m_, theta, value);
    add_free(lambda_free_, theta, value);
  } else {
    for (int i = 0; i < m_; ++i) value[i] = unknown_at_point(p_ + i, theta);
  }
  put_on_branches(false, theta, value);
}

void ModeMap::w(const double* theta, double* value) const {
  if (points_ == nullptr) {
    evaluate(w_row_, m_, theta, value);
    add_free(w_free_, theta, value);
  } else {
    w_at_point(theta, value);
  }
  put_on_branches(true, theta, value);
}

/// A value that rounding alone takes past the end of its branch is at that end.
void ModeMap::put_on_branches(bool of_w, const double* theta, double* value) const {
  for (int i = 0; i < m_; ++i) {
    const Range& range = of_w ? branches_[at(i)].w : branches_[at(i)].lambda;
    if (value[i] >= range.lower && value[i] <= range.upper) continue;
    const double end = value[i] < range.lower ? range.lower : range.upper;
    const double known_to = of_w ? w_rounding(i, theta) : lambda_rounding(i, theta);
    if (std::abs(value[i] - end) <= known_to) value[i] = end;
  }
}

/// Are two rows the same up to the bounds of their errors?
bool ModeMap::same_row(int mine, const ModeMap& other, int theirs) const {
  for (int j = 0; j <= k_; ++j) {
    const std::size_t a = at(mine * stride_ + j), b = at(theirs * stride_ + j);
    const double difference = (rows_[a] - other.rows_[b]) + (low_[a] - other.low_[b]);
    if (std::abs(difference) > 2 * (error_[a] + other.error_[b])) return false;
  }
  return true;
}

bool ModeMap::has_same_rows(const ModeMap& other) const {
  if (!is_determined() || !other.is_determined()) return false;
  if (margin_count_ != other.margin_count_) return false;
  for (int i = 0; i < p_ + m_; ++i)
    if (!same_row(u_row_ + i, other, other.u_row_ + i)) return false;
  const auto margins = std::views::iota(0, margin_count_);
  return std::ranges::all_of(margins, [&](int i) {
    return std::ranges::any_of(margins, [&](int j) { return same_margin(i, other, j); });
  });
}

/// Is a margin a positive multiple of another one: a_j b_r = b_j a_r, r an entry that is not 0?
bool ModeMap::same_margin(int mine, const ModeMap& other, int theirs) const {
  const std::size_t a = at(mine * stride_), b = at(theirs * stride_);
  std::size_t r = 0;
  while (rows_[a + r] == 0 && r < at(k_)) ++r;
  if (!(rows_[a + r] * other.rows_[b + r] > 0)) return false;
  const auto product = [](const ModeMap& first, std::size_t i, const ModeMap& second,
                          std::size_t j, double& error) {
    const double x = std::abs(first.rows_[i]), y = std::abs(second.rows_[j]);
    error += 2 * (x * second.error_[j] + y * first.error_[i]) + 8 * double_double_rounding * x * y;
    return DoubleDouble{first.rows_[i], first.low_[i]} *
           DoubleDouble{second.rows_[j], second.low_[j]};
  };
  for (std::size_t j = 0; j <= at(k_); ++j) {
    double error = 0;
    const DoubleDouble left = product(*this, a + j, other, b + r, error);
    const DoubleDouble right = product(other, b + j, *this, a + r, error);
    if (std::abs((left - right).high) > error) return false;
  }
  return true;
}

void ModeMap::merge(const ModeMap& other) {
  modes_.insert(modes_.end(), other.modes_.begin(), other.modes_.end());
}

void ModeMap::polyhedron(Matrix& G, Vector& g) const {
  if (points_ != nullptr) return by_rows().polyhedron(G, g);
  const int equalities = static_cast<int>(equalities_.size()) / stride_;
  G.resize(margin_count_ + 2 * equalities, k_);
  g.resize(G.rows());
  const auto copy = [&](const double* row, double sign, int to) {
    for (int j = 0; j < k_; ++j) G(to, j) = sign * row[j];
    g[to] = sign * row[k_];
  };
  for (int i = 0; i < margin_count_; ++i) copy(rows_.data() + i * stride_, 1, i);
  for (int i = 0; i < equalities; ++i) {
    copy(equalities_.data() + i * stride_, 1, margin_count_ + 2 * i);
    copy(equalities_.data() + i * stride_, -1, margin_count_ + 2 * i + 1);
  }
}

Matrix ModeMap::u_rows() const {
  if (points_ != nullptr) return by_rows().u_rows();
  Matrix rows(p_, stride_);
  for (int i = 0; i < p_; ++i)
    for (int j = 0; j < stride_; ++j)
      rows(i, j) = rows_[at((u_row_ + i) * stride_ + j)];
  return rows;
}

}  // namespace perp
