// Sets that follow a flow without being boxed; moved by the steps of enclosures.
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/analysis/enclosure/doubleton.hpp>

namespace perp::enclosure {
namespace {

/// Of the size of a state that is a point, in frames: no more than rounding. A frame vector that
/// others share with it then adds no more than that to it.
constexpr double share_in_frames = 0x1p-53;

std::vector<double> radii(const Box& box) {
  std::vector<double> list(box.size());
  std::transform(box.begin(), box.end(), list.begin(),
                 [](const Interval& x) { return magnitude(x - Interval(middle(x))); });
  const double most = *std::max_element(list.begin(), list.end());
  if (most == 0) std::fill(list.begin(), list.end(), 1.0);
  return list;
}

/// Measures of the parts of a set in those of the whole, half-way: a state that one coordinate alone
/// acts on would count for as much in each part, and in those of the whole for no more than where
/// it was widest, others with it.
std::vector<double> toward(std::vector<double> list, const std::vector<double>& whole) {
  for (std::size_t i = 0; i < whole.size(); ++i)
    if (whole[i] > list[i]) list[i] = std::sqrt(list[i] * whole[i]);
  return list;
}

}  // namespace

/// What lengths of the states are measured in, as powers of two: the widest that each of them was,
/// or this share of its size as long as it is a point.
std::vector<double> Doubleton::scales(double share_of_point) const {
  std::vector<double> list(widest_.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const double most = widest_[i] > 0 ? widest_[i] : share_of_point * largest_[i];
    list[i] = most > 0 && std::isfinite(most)
                  ? std::ldexp(1.0, std::clamp(std::ilogb(most), -300, 300))
                  : share_of_point;
  }
  return list;
}

void Doubleton::note_sizes(const Box& box) {
  widest_.resize(box.size(), 0);
  largest_.resize(box.size(), 0);
  for (std::size_t i = 0; i < box.size(); ++i) {
    widest_[i] = std::max(widest_[i], width(box[i]));
    largest_[i] = std::max(largest_[i], magnitude(box[i]));
  }
}

namespace {

/// (a M) r of a row a.
Interval product(const Box& a, const Matrix& M, const Box& r) {
  Interval sum;
  for (std::size_t j = 0; j < r.size(); ++j) {
    Interval entry;
    for (std::size_t i = 0; i < a.size(); ++i)
      add_product(entry, a[i],
                  Interval(M(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j))));
    add_product(sum, entry, r[j]);
  }
  return sum;
}

/// A frame of some states in their rows and columns of the whole one.
void embed(const Frame& part, const std::vector<Eigen::Index>& states, Frame& whole) {
  for (std::size_t a = 0; a < states.size(); ++a)
    for (std::size_t b = 0; b < states.size(); ++b) {
      const int i = static_cast<int>(a), j = static_cast<int>(b);
      const int row = static_cast<int>(states[a]), column = static_cast<int>(states[b]);
      whole.columns(row, column) = part.columns(i, j);
      whole.inverse(row, column) = part.inverse(i, j);
    }
}

}  // namespace

Doubleton::Doubleton(const Box& box, std::vector<bool> constant)
    : center_(middle(box)),
      r0_(box - points(center_)),
      r_(box.size()),
      box_(box),
      start_(r0_),
      constant_(std::move(constant)) {
  constant_.resize(box.size(), false);
  const auto n = static_cast<Eigen::Index>(box.size());
  c_ = q_ = image_ = most_ = acts_ = Matrix::Identity(n, n);
  moved_.resize(box.size(), false);
  note_sizes(box);
}

bool Doubleton::is_spread(int state) const {
  for (int j = 0; j < states(); ++j)
    if (acts_(state, j) != 0 && !start_[static_cast<std::size_t>(j)].is_zero()) return true;
  return false;
}

bool Doubleton::acts_on(const std::vector<bool>& wanted, Eigen::Index coordinate) const {
  for (Eigen::Index i = 0; i < acts_.rows(); ++i)
    if (wanted[static_cast<std::size_t>(i)] && acts_(i, coordinate) != 0) return true;
  return false;
}

/// Σ_i |∂x_i/∂x_j(0)| rad x_j(0), each state in its own measure; those that have stayed what they
/// were count where there are no others.
std::vector<double> Doubleton::smear(const std::vector<bool>& wanted,
                                     const std::vector<double>& whole) const {
  const std::vector<double> scales = toward(this->scales(1), whole);
  std::vector<double> all(start_.size(), 0), moved(start_.size(), 0);
  for (Eigen::Index i = 0; i < most_.rows(); ++i) {
    for (Eigen::Index j = 0; j < most_.cols(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double share = (std::abs(image_(i, j)) + most_(i, j)) * radius(start_[at]) /
                           scales[static_cast<std::size_t>(i)];
      all[at] += share;
      if (moved_[static_cast<std::size_t>(i)]) moved[at] += share;
    }
  }
  for (Eigen::Index j = 0; j < acts_.cols(); ++j)
    if (!acts_on(wanted, j)) all[static_cast<std::size_t>(j)] = moved[static_cast<std::size_t>(j)] = 0;
  return *std::max_element(moved.begin(), moved.end()) > 0 ? moved : all;
}

Interval Doubleton::spread(const Box& a) const { return product(a, c_, r0_) + product(a, q_, r_); }

Box Doubleton::image_box(const Box& F, const IntervalMatrix& J) const {
  return F + (J * IntervalMatrix(c_)) * r0_ + (J * IntervalMatrix(q_)) * r_;
}

// φ(x) ∈ F + J (C r_0 + Q r) = x' + C' r_0 + Q' r' for any points x', C' and any frame Q', with
//     r' = (Q'⁻¹ J Q) r + Q'⁻¹ (F − x' + (J C − C') r_0)
void Doubleton::move(const Box& F, const IntervalMatrix& J, const Box& other) {
  const IntervalMatrix JC = J * IntervalMatrix(c_);
  const Box direct = F + JC * r0_ + (J * IntervalMatrix(q_)) * r_;
  const Matrix next_c = middle(JC);
  // A state that only rests in this mode moves in others: its errors belong to the frame of those.
  std::vector<bool> constant = constant_;
  for (std::size_t i = 0; i < constant.size(); ++i)
    constant[i] = constant[i] && F[i] == Interval(center_[i]);
  center_ = middle(F);
  note_sizes(direct);
  const std::vector<double> scales = this->scales(share_in_frames);
  if (!has_frame_) {  // Q r = 0: the first frame has the units of the states
    q_ = Eigen::Map<const Vector>(scales.data(), q_.rows()).asDiagonal();
    has_frame_ = true;
  }
  const IntervalMatrix JQ = J * IntervalMatrix(q_);
  keep_constant_rows(J, constant);
  const Frame frame = next_frame(middle(JQ), constant, scales);
  const Box added = F - points(center_) + (JC - IntervalMatrix(next_c)) * r0_;
  r_ = (frame.inverse * JQ) * r_ + frame.inverse * added;
  c_ = next_c;
  q_ = frame.columns;
  const Box set = points(center_) + IntervalMatrix(c_) * r0_ + IntervalMatrix(q_) * r_;
  box_ = common(common(direct, set), other);
  image_ = middle(J) * image_;
  note_image();
  note_acting(J);
  reorganize(frame, constant, scales);
}

void Doubleton::note_image() {
  most_ = most_.cwiseMax(image_.cwiseAbs());
  for (Eigen::Index i = 0; i < image_.rows(); ++i)
    if (image_.row(i) != Vector::Unit(image_.cols(), i).transpose())
      moved_[static_cast<std::size_t>(i)] = true;
}

/// A row without derivatives is one that was bounded otherwise: what acted on it does so still.
void Doubleton::note_acting(const IntervalMatrix& J) {
  const Matrix before = acts_;
  for (int i = 0; i < states(); ++i) {
    Matrix row = Matrix::Zero(1, before.cols());
    for (int k = 0; k < states(); ++k)
      if (!J(i, k).is_zero()) row = row.cwiseMax(before.row(k));
    if (row.maxCoeff() > 0) acts_.row(i) = row;
  }
}

void Doubleton::bound(const std::vector<bool>& rows, const Box& box) {
  const Matrix image = image_;
  const Box linear = linear_image();
  Box F = points(center_);
  IntervalMatrix J{Matrix(Matrix::Identity(states(), states()))};
  for (int i = 0; i < states(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!rows[at]) continue;
    F[at] = box[at];
    J(i, i) = Interval(0);
  }
  move(F, J, box);
  for (int i = 0; i < states(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double whole = width(box_[at]), known = width(linear[at]);
    if (rows[at] && known > 0) image_.row(i) = std::min(1.0, whole / known) * image.row(i);
  }
}

void Doubleton::note_acting(int state, const std::vector<bool>& others) {
  for (int k = 0; k < states(); ++k)
    if (others[static_cast<std::size_t>(k)])
      acts_.row(state) = acts_.row(state).cwiseMax(acts_.row(k)).eval();
}

/// Is x_i what it was, and does the frame share none of its vector with others?
bool Doubleton::keeps_row(const IntervalMatrix& J, int i) const {
  for (int j = 0; j < states(); ++j) {
    const bool is_apart = i == j || (q_(i, j) == 0 && q_(j, i) == 0);
    if (!is_apart || !(J(i, j) == Interval(i == j ? 1 : 0))) return false;
  }
  return true;
}

/// States that stay what they are, as parameters do, and of which the frame holds nothing: r_i = 0
/// on a frame vector of their own.
void Doubleton::keep_constant_rows(const IntervalMatrix& J, std::vector<bool>& list) const {
  for (int i = 0; i < states(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    list[at] = list[at] && r_[at].is_zero() && keeps_row(J, i);
  }
}

/// An orthogonal frame of the states that move, and the old vectors of those that do not: the
/// errors of the former then hold no part of the latter.
Frame Doubleton::next_frame(const Matrix& directions, const std::vector<bool>& constant,
                            const std::vector<double>& scales) const {
  std::vector<Eigen::Index> moving;
  for (Eigen::Index i = 0; i < q_.rows(); ++i)
    if (!constant[static_cast<std::size_t>(i)]) moving.push_back(i);
  Frame whole{Matrix::Zero(q_.rows(), q_.cols()), IntervalMatrix(states(), states())};
  for (int i = 0; i < states(); ++i) {
    if (!constant[static_cast<std::size_t>(i)]) continue;
    whole.columns(i, i) = q_(i, i);
    whole.inverse(i, i) = Interval(1) / Interval(q_(i, i));
  }
  if (moving.empty()) return whole;
  std::vector<double> lengths, measures;
  const std::vector<double> all = radii(r_);
  for (const Eigen::Index i : moving) {
    lengths.push_back(all[static_cast<std::size_t>(i)]);
    measures.push_back(scales[static_cast<std::size_t>(i)]);
  }
  const Frame part = orthogonal_frame(directions(moving, moving), lengths, measures);
  embed(part, moving, whole);
  return whole;
}

/// States that no column of C or Q joins have sets of their own: the number of the set of each.
std::vector<int> Doubleton::blocks() const {
  std::vector<int> block(r_.size());
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<int>(i);
  for (int i = 0; i < states(); ++i)
    for (int j = 0; j < states(); ++j) {
      const int from = block[static_cast<std::size_t>(j)], to = block[static_cast<std::size_t>(i)];
      if (c_(i, j) != 0 || q_(i, j) != 0) std::replace(block.begin(), block.end(), from, to);
    }
  return block;
}

/// By state: has the second part of its block outgrown the first? What is a point but for rounding
/// does not count beside states that are sets: its own width is no measure of what it adds to them.
std::vector<bool> Doubleton::outgrown(std::vector<double> scales) const {
  constexpr double least_share = 0x1p-20;  // of the relative width of the widest state of the block
  const std::vector<int> block = blocks();
  std::vector<double> share(block.size(), 0);
  for (std::size_t i = 0; i < block.size(); ++i) {
    double& most = share[static_cast<std::size_t>(block[i])];
    if (largest_[i] > 0) most = std::max(most, widest_[i] / largest_[i]);
  }
  for (std::size_t i = 0; i < block.size(); ++i)
    scales[i] =
        std::max(scales[i], least_share * share[static_cast<std::size_t>(block[i])] * largest_[i]);
  const Box first = IntervalMatrix(c_) * r0_, second = IntervalMatrix(q_) * r_;
  std::vector<double> excess(block.size(), 0), most(block.size(), 0);
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (widest_[i] == 0) continue;
    const auto of = static_cast<std::size_t>(block[i]);
    most[of] = std::max(most[of], radius(first[i]) / scales[i]);
    excess[of] = std::max(excess[of], radius(second[i]) / scales[i]);
  }
  std::vector<bool> list(block.size());
  for (std::size_t i = 0; i < block.size(); ++i)
    list[i] = excess[static_cast<std::size_t>(block[i])] > most[static_cast<std::size_t>(block[i])];
  return list;
}

// Where the second part has outgrown the first, it takes the first in,  r_0' = r + Q⁻¹ C r_0, and a
// new one begins: its parallelepiped then follows the flow like the starting box did. What depends
// on constant states stays in their columns, and blocks do not take part in each other's turns.
void Doubleton::reorganize(const Frame& frame, const std::vector<bool>& constant,
                           const std::vector<double>& scales) {
  const std::vector<bool> turns = outgrown(scales);
  Matrix moving = Matrix::Zero(c_.rows(), c_.cols()), next = c_;
  Box rest = r0_;
  for (Eigen::Index i = 0; i < c_.cols(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!turns[at]) continue;
    if (constant[at] && c_.row(i) == Vector::Unit(c_.cols(), i).transpose()) continue;
    moving.col(i) = c_.col(i);
    next.col(i) = q_.col(i);
    rest[at] = Interval(0);
  }
  const Box taken = (frame.inverse * IntervalMatrix(moving)) * r0_;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (!turns[i]) continue;
    r0_[i] = rest[i] + r_[i] + taken[i];
    r_[i] = Interval(0);
  }
  c_ = next;
}

}  // namespace perp::enclosure
