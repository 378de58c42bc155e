#include <algorithm>
#include <cmath>
#include <vector>

#include <perp/core/linear/least_squares.hpp>
#include <perp/lcp/nearest/least_norm.hpp>

namespace perp {
namespace {

using Real = long double;

constexpr Real slope_tolerance = 1e-15L;
constexpr Real rank_tolerance = 1e-13L;
constexpr int iteration_limit = 10'000;

/// X with A X nearest to B, column by column; 0 for what A does not see.
RealMatrix least_squares(const RealMatrix& A, const RealMatrix& B) {
  return linear::least_squares(A, B, rank_tolerance);
}

/// The search over weights x ≥ 0 of the images b_j = W (v_j - center) and W r_j, Σ x over vertices
/// = 1.
class ActiveSet {
 public:
  ActiveSet(RealMatrix images, Eigen::Index vertex_count)
      : images_(std::move(images)), vertex_count_(vertex_count) {
    Eigen::Index nearest = 0;
    images_.leftCols(vertex_count_).colwise().squaredNorm().minCoeff(&nearest);
    active_.push_back(nearest);
    weight_.setZero(images_.cols());
    weight_[nearest] = 1;
  }

  bool run() {
    for (int iteration = 0; iteration < iteration_limit; ++iteration) {
      const Eigen::Index entering = steepest();
      if (entering < 0) return true;
      const RealVector before = weight_;
      const Real norm = image().norm();
      active_.push_back(entering);
      shrink();
      if (!(image().norm() < norm)) {  // rounding is reached: the slope was none
        weight_ = before;
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] const RealVector& weight() const { return weight_; }

 private:
  [[nodiscard]] bool is_vertex(Eigen::Index j) const { return j < vertex_count_; }
  [[nodiscard]] RealVector image() const { return images_ * weight_; }

  /// The generator along which the norm decreases most, -1 if along none.
  [[nodiscard]] Eigen::Index steepest() const {
    const RealVector p = image();
    const Real size = p.norm();
    Eigen::Index best = -1;
    Real least = -slope_tolerance * size;
    for (Eigen::Index j = 0; j < images_.cols(); ++j) {
      if (std::find(active_.begin(), active_.end(), j) != active_.end()) continue;
      RealVector direction = images_.col(j);
      if (is_vertex(j)) direction -= p;
      const Real length = direction.norm();
      if (length == 0) continue;
      if (const Real slope = direction.dot(p) / length; slope < least) {
        least = slope;
        best = j;
      }
    }
    return best;
  }

  /// Weights of the affine minimiser over the active generators.
  [[nodiscard]] RealVector affine_minimiser() const {
    const Eigen::Index origin =
        *std::find_if(active_.begin(), active_.end(), [&](Eigen::Index j) { return is_vertex(j); });
    std::vector<Eigen::Index> others;
    for (const Eigen::Index j : active_)
      if (j != origin) others.push_back(j);
    RealVector x = RealVector::Zero(images_.cols());
    x[origin] = 1;
    if (others.empty()) return x;
    RealMatrix directions(images_.rows(), static_cast<Eigen::Index>(others.size()));
    RealVector length(directions.cols());
    for (Eigen::Index k = 0; k < directions.cols(); ++k) {
      const Eigen::Index j = others[static_cast<std::size_t>(k)];
      directions.col(k) = images_.col(j);
      if (is_vertex(j)) directions.col(k) -= images_.col(origin);
      length[k] = directions.col(k).norm();
      if (length[k] == 0) length[k] = 1;
      directions.col(k) /= length[k];
    }
    const RealVector z = least_squares(directions, -images_.col(origin)).cwiseQuotient(length);
    for (Eigen::Index k = 0; k < z.size(); ++k) {
      const Eigen::Index j = others[static_cast<std::size_t>(k)];
      x[j] = z[k];
      if (is_vertex(j)) x[origin] -= z[k];
    }
    return x;
  }

  /// Goes to the affine minimiser, and on the way drops the generators whose weight becomes 0.
  void shrink() {
    for (std::size_t rounds = active_.size(); rounds-- > 0;) {
      const RealVector target = affine_minimiser();
      Real step = 1;
      Eigen::Index leaving = -1;
      for (const Eigen::Index j : active_)
        if (target[j] < 0) {
          const Real length = weight_[j] / (weight_[j] - target[j]);
          if (length < step) {
            step = length;
            leaving = j;
          }
        }
      weight_ += step * (target - weight_);
      if (leaving < 0) {
        weight_ = target;
        return;
      }
      weight_[leaving] = 0;
      std::erase(active_, leaving);
    }
  }

  RealMatrix images_;
  Eigen::Index vertex_count_;
  std::vector<Eigen::Index> active_;
  RealVector weight_;
};

}  // namespace

LeastNorm least_norm(const RealMatrix& vertices, const RealMatrix& rays, const RealMatrix& lines,
                     const RealMatrix& W, const RealVector& center) {
  const Eigen::Index count = vertices.cols();
  RealMatrix generators(vertices.rows(), count + rays.cols());
  generators << vertices, rays;
  RealMatrix images(W.rows(), generators.cols());
  images << W * (vertices.colwise() - center), W * rays;
  const RealMatrix line_images = W * lines;
  // along lines the norm is minimised by projection
  if (lines.cols() > 0) images -= line_images * least_squares(line_images, images);
  ActiveSet search(images, count);
  LeastNorm result;
  result.converged = search.run();
  result.y = generators * search.weight();
  if (lines.cols() > 0) result.y -= lines * least_squares(line_images, W * (result.y - center));
  result.norm = (W * (result.y - center)).norm();
  return result;
}

}  // namespace perp
