// A mode that is known by its solution at one θ after the other.
#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/exact_mode.hpp>
#include <perp/lcp/parametric/mode_map.hpp>
#include <perp/lcp/parametric/mode_points.hpp>

namespace perp {

ModeMap::ModeMap(ModeMap&&) noexcept = default;
ModeMap& ModeMap::operator=(ModeMap&&) noexcept = default;
ModeMap::~ModeMap() = default;

/// False: the mode is singular, or so near to it that doubles do not tell.
bool ModeMap::know_by_points(const BoundedMatrix& K, const BoundedMatrix& R) {
  std::optional<BoundedInverse> inverse = BoundedInverse::of(K);
  if (!inverse) return false;
  points_ = std::make_unique<const ModePoints>(*family_, branches_, std::move(*inverse), R);
  margins_ = points_->ends();
  return true;
}

/// Rows of k + 1 coefficients cost about as much as k + 1 points.
void ModeMap::transfer(Archive& archive) {
  long count = points_ != nullptr ? points_->count() : 0;
  archive(count);
  if (points_ != nullptr) points_->set_count(count);
}

bool ModeMap::is_met_often() const { return points_ != nullptr && points_->count() > k_ + 1; }

std::size_t ModeMap::storage() const {
  const std::size_t own = 3 * rows_.size() + equalities_.size();
  return own + (points_ != nullptr ? points_->storage() : 0) + (by_rows_ != nullptr ? by_rows_->storage() : 0);
}

/// The same mode by rows, for what a point does not tell.
const ModeMap& ModeMap::by_rows() const {
  if (by_rows_ == nullptr) by_rows_ = std::make_unique<const ModeMap>(*family_, modes_.front());
  return *by_rows_;
}

/// The place of a margin among those of the rows, -1: it is the same for every θ.
int ModeMap::place_by_rows(int margin) const {
  const Margin& mine = margins_[at(margin)];
  const std::vector<Margin>& theirs = by_rows().margins();
  const auto found = std::find_if(theirs.begin(), theirs.end(), [&](const Margin& other) {
    return other.law == mine.law && other.of_lambda == mine.of_lambda && other.upper == mine.upper;
  });
  return found == theirs.end() ? -1 : static_cast<int>(found - theirs.begin());
}

bool ModeMap::admissible_at_point(const double* theta) const {
  const ModePoints::Point* point = points_->at(theta);
  return point == nullptr ? by_rows().admissible(theta) : (point->margins.value.high.array() >= 0).all();
}

double ModeMap::margin_at_point(int margin, const double* theta) const {
  if (const ModePoints::Point* point = points_->at(theta)) return point->margins.value.high(margin, 0);
  const int place = place_by_rows(margin);
  return place < 0 ? 0 : by_rows().margin(place, theta);
}

// The bound of a margin's terms is one from above: where it does not decide, the terms themselves do.
ModeMap::Verdict ModeMap::verdict_at_point(int margin, const double* theta) const {
  if (const ModePoints::Point* point = points_->at(theta)) {
    const double value = point->margins.value.high(margin, 0), each = static_cast<double>(k_ + 4) * unit_roundoff;
    const double error = 2 * point->margins.value.error(margin, 0);
    if (value >= 0) return Verdict::positive;
    if (value < -each * point->margins.terms[margin] - error) return Verdict::negative;
    return value >= -each * points_->margin_terms(margin, theta) - error ? Verdict::undecided : Verdict::negative;
  }
  const int place = place_by_rows(margin);
  if (place >= 0) return by_rows().verdict(place, theta);
  return exact_sign(margin, theta) < 0 ? Verdict::negative : Verdict::positive;
}

bool ModeMap::is_clear_at_point(int margin, const double* theta) const {
  if (const ModePoints::Point* point = points_->at(theta)) {
    const double each = static_cast<double>(k_ + 4) * unit_roundoff;
    return point->margins.value.high(margin, 0) >= each * point->margins.terms[margin] + 2 * point->margins.value.error(margin, 0);
  }
  const int place = place_by_rows(margin);
  return place >= 0 && by_rows().is_clear(place, theta);
}

int ModeMap::sign_at_point(int margin, const double* theta) const {
  if (const ModePoints::Point* point = points_->at(theta)) {
    const double value = point->margins.value.high(margin, 0);
    if (std::abs(value) > point->margins.value.error(margin, 0)) return value > 0 ? 1 : -1;
  }
  return exact_sign(margin, theta);
}

/// Rational arithmetic lists the ends in the same order.
int ModeMap::exact_sign(int margin, const double* theta) const {
  return ExactMode::value(exact().ends()[at(margin)].value, theta).sign();
}

/// Of (u, λ).
double ModeMap::unknown_at_point(int j, const double* theta) const {
  if (const ModePoints::Point* point = points_->at(theta)) return point->y.value.high(j, 0);
  if (j < p_) return by_rows().u(j, theta);
  std::vector<double> lambda(at(m_));
  by_rows().lambda(theta, lambda.data());
  return lambda[at(j - p_)];
}

void ModeMap::w_at_point(const double* theta, double* value) const {
  const ModePoints::Point* point = points_->at(theta);
  if (point == nullptr) return by_rows().w(theta, value);
  Eigen::Map<Vector>(value, m_) = point->w.value.high.col(0);
}

double ModeMap::rounding_at_point(bool of_w, int row, const double* theta) const {
  const ModePoints::Point* point = points_->at(theta);
  if (point == nullptr)
    return of_w ? by_rows().w_rounding(row, theta)
                : (row < p_ ? by_rows().u_rounding(row, theta) : by_rows().lambda_rounding(row - p_, theta));
  const ModePoints::Values& values = of_w ? point->w : point->y;
  return static_cast<double>(k_ + 4) * unit_roundoff * values.terms[row] + 2 * values.value.error(row, 0);
}

}  // namespace perp
