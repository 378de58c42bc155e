#include <algorithm>
#include <cmath>

#include <perp/lcp/elimination.hpp>

namespace perp {

bool Elimination::run(const Matrix& rows, int free) {
  free_ = free;
  stages_.assign(1, rows);
  origin_.resize(static_cast<std::size_t>(rows.rows()));
  for (std::size_t i = 0; i < origin_.size(); ++i) origin_[i] = static_cast<int>(i);
  given_.assign(origin_.size(), 1);
  if (free > most_free) return false;
  for (int left = free - 1; left >= 0; --left) {
    const Matrix& before = stages_.back();
    std::vector<Eigen::RowVectorXd> next;
    std::vector<int> origin;
    std::vector<char> given;
    const auto keep = [&](const Eigen::RowVectorXd& row, Eigen::Index from, bool is_given) {
      Eigen::RowVectorXd rest(row.size() - 1);
      rest << row.head(left), row.tail(row.size() - left - 1);
      next.push_back(rest);
      origin.push_back(origin_[static_cast<std::size_t>(from)]);
      given.push_back(is_given ? 1 : 0);
    };
    for (Eigen::Index i = 0; i < before.rows(); ++i) {
      const double a = before(i, left);
      if (a == 0) keep(before.row(i), i, given_[static_cast<std::size_t>(i)] != 0);
      if (a <= 0) continue;
      for (Eigen::Index j = 0; j < before.rows(); ++j)  // a lower bound meets every upper bound
        if (before(j, left) < 0)
          keep(before.row(i) / a - before.row(j) / before(j, left), i, false);
    }
    if (static_cast<int>(next.size()) > most_rows) return false;
    Matrix stage(static_cast<Eigen::Index>(next.size()), before.cols() - 1);
    for (std::size_t i = 0; i < next.size(); ++i) stage.row(static_cast<Eigen::Index>(i)) = next[i];
    stages_.push_back(std::move(stage));
    origin_ = std::move(origin);
    given_ = std::move(given);
  }
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
