#include <algorithm>
#include <cmath>

#include <perp/lcp/exact/elimination.hpp>

namespace perp {

namespace {

Matrix rounded(const std::vector<Elimination::Row>& rows, std::size_t columns) {
  Matrix result(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(columns));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < columns; ++j)
      result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          static_cast<double>(rows[i][j]);
  return result;
}

/// A lower and an upper bound of an unknown, which they leave out together.
Elimination::Row sum_without(const Elimination::Row& lower, const Elimination::Row& upper,
                             std::size_t gone) {
  Elimination::Row sum = lower;
  for (std::size_t j = 0; j < sum.size(); ++j)
    sum[j] = sum[j] / lower[gone] - upper[j] / upper[gone];
  return sum;
}

}  // namespace

bool Elimination::run(const Matrix& rows, int free) {
  std::vector<Row> exact(static_cast<std::size_t>(rows.rows()));
  for (Eigen::Index i = 0; i < rows.rows(); ++i)
    for (const double value : rows.row(i)) exact[static_cast<std::size_t>(i)].emplace_back(value);
  if (!run(std::move(exact), free)) return false;
  if (rows.rows() == 0) stages_.back() = Matrix(0, rows.cols() - free);
  return true;
}

bool Elimination::run(std::vector<Row> rows, int free) {
  free_ = free;
  const std::size_t columns = rows.empty() ? 0 : rows.front().size();
  projected_ = std::move(rows);
  stages_.assign(1, rounded(projected_, columns));
  origin_.resize(projected_.size());
  for (std::size_t i = 0; i < origin_.size(); ++i) origin_[i] = static_cast<int>(i);
  given_.assign(origin_.size(), 1);
  if (free > most_free) return false;
  for (int left = free - 1; left >= 0; --left) {
    const auto gone = static_cast<std::size_t>(left);
    if (!eliminate(gone)) return false;
    const std::size_t width = columns - (static_cast<std::size_t>(free) - gone);
    stages_.push_back(rounded(projected_, columns == 0 ? 0 : width));
  }
  return true;
}

bool Elimination::eliminate(std::size_t gone) {
  const std::vector<Row> before = std::move(projected_);
  std::vector<int> origin;
  std::vector<char> given;
  projected_.clear();
  const auto keep = [&](Row row, std::size_t from, bool is_given) {
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(gone));
    projected_.push_back(std::move(row));
    origin.push_back(origin_[from]);
    given.push_back(is_given ? 1 : 0);
  };
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i][gone] == 0) keep(before[i], i, given_[i] != 0);
    if (before[i][gone] <= 0) continue;
    for (const Row& upper : before)  // a lower bound meets every upper bound
      if (upper[gone] < 0) keep(sum_without(before[i], upper, gone), i, false);
  }
  if (static_cast<int>(projected_.size()) > most_rows) return false;
  origin_ = std::move(origin);
  given_ = std::move(given);
  return true;
}

void Elimination::choose(const double* theta, double* t) const {
  for (int j = 0; j < free_; ++j) {  // t_0 first: the stage where it alone is left
    const Matrix& rows = stages_[static_cast<std::size_t>(free_ - 1 - j)];
    double lower = -inf, upper = inf;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const double a = rows(i, j);
      if (a == 0) continue;
      double rest = rows(i, rows.cols() - 1);
      for (int l = 0; l < j; ++l) rest += rows(i, l) * t[l];
      for (Eigen::Index l = j + 1; l + 1 < rows.cols(); ++l) rest += rows(i, l) * theta[l - j - 1];
      (a > 0 ? lower : upper) = a > 0 ? std::max(lower, -rest / a) : std::min(upper, -rest / a);
    }
    t[j] = std::min(std::max(0.0, lower), upper);
  }
}

}  // namespace perp
