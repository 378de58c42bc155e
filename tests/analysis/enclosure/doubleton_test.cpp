#include <doctest/doctest.h>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <random>
#include <vector>

#include <perp/analysis/enclosure/doubleton.hpp>

using namespace perp;
using enclosure::Box;
using enclosure::Doubleton;
using enclosure::Interval;
using enclosure::IntervalMatrix;
using BigRational = boost::multiprecision::cpp_rational;

namespace {

bool holds(const Interval& a, const BigRational& x) {
  return BigRational(a.lo) <= x && x <= BigRational(a.hi);
}

/// Inverse of a matrix of doubles in rational arithmetic, by Gauss and Jordan.
std::vector<std::vector<BigRational>> exact_inverse(const Matrix& a) {
  const auto n = static_cast<std::size_t>(a.rows());
  std::vector<std::vector<BigRational>> m(n, std::vector<BigRational>(2 * n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      m[i][j] = BigRational(a(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
    m[i][n + i] = 1;
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    while (m[pivot][k] == 0) ++pivot;
    std::swap(m[pivot], m[k]);
    const BigRational p = m[k][k];
    for (BigRational& x : m[k]) x /= p;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const BigRational factor = m[i][k];
      for (std::size_t j = 0; j < 2 * n; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  for (auto& row : m) row.erase(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(n));
  return m;
}

class Numbers {
 public:
  double in(double a, double b) { return std::uniform_real_distribution<double>(a, b)(random_); }
  double in(const Interval& a) {
    return kind_() % 3 == 0 ? a.lo
                            : (kind_() % 2 == 0 ? a.hi : std::clamp(in(a.lo, a.hi), a.lo, a.hi));
  }
  Interval around(double size, double radius) {
    const double x = in(-size, size);
    return {x - radius, x + radius};
  }

 private:
  unsigned kind_() { return static_cast<unsigned>(random_()); }
  std::mt19937_64 random_{11};
};

/// Six random wide maps of n states: state i acts on state j where they are of one of the `blocks`, i mod blocks. The
/// exact images of a member lie in the set and in the box that it was given.
template <class IsPoint>
void check_members(Numbers& random, int n, int blocks, const IsPoint& is_point) {
  const double radius = std::pow(10, random.in(-16, -0.5));
  Box start;
  std::vector<BigRational> x;
  for (int i = 0; i < n; ++i) {
    start.push_back(is_point(i) ? Interval(random.in(-2, 2)) : random.around(2, 0.1));
    x.emplace_back(random.in(start.back()));
  }
  Doubleton set(start);
  for (int step = 0; step < 6; ++step) {
    Box F;
    IntervalMatrix J(n, n);
    std::vector<BigRational> next;
    for (int i = 0; i < n; ++i) {
      F.push_back(random.around(2, radius));
      BigRational value(random.in(F.back()));
      for (int j = i % blocks; j < n; j += blocks) {
        J(i, j) = random.around(1.2, radius);
        value += BigRational(random.in(J(i, j))) *
                 (x[static_cast<std::size_t>(j)] - BigRational(set.center()[static_cast<std::size_t>(j)]));
      }
      next.push_back(value);
    }
    const Box image = set.image_box(F, J);
    set.move(F, J, image);
    x = next;
    bool inside = true;
    for (std::size_t i = 0; i < x.size(); ++i)
      inside = inside && holds(set.box()[i], x[i]) && holds(image[i], x[i]);
    CAPTURE(step);
    CHECK(inside);
  }
}

}  // namespace

TEST_SUITE("analysis/enclosure/doubleton") {
  TEST_CASE("frames enclose their exact inverse, of singular directions too") {
    Numbers random;
    for (int trial = 0; trial < 200; ++trial) {
      const int n = 1 + trial % 5;
      Matrix directions(n, n);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          directions(i, j) = random.in(-1, 1) * std::pow(10, random.in(-3, 3));
      if (trial % 4 == 1 && n > 1) directions.col(1) = directions.col(0);
      if (trial % 4 == 2) directions.col(0).setZero();
      std::vector<double> lengths, scales;
      for (int i = 0; i < n; ++i) {
        lengths.push_back(random.in(0, 1));
        scales.push_back(std::ldexp(1, static_cast<int>(random.in(-40, 40))));
      }
      const enclosure::Frame frame = enclosure::orthogonal_frame(directions, lengths, scales);
      const auto inverse = exact_inverse(frame.columns);
      bool inside = true;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          inside =
              inside && holds(frame.inverse(i, j),
                              inverse[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
          CHECK(enclosure::width(frame.inverse(i, j)) * scales[static_cast<std::size_t>(j)] <
                1e-13);
        }
      }
      CHECK(inside);
    }
  }

  TEST_CASE("members follow their set through wide maps, exactly") {
    Numbers random;
    for (int trial = 0; trial < 150; ++trial)
      check_members(random, 2 + trial % 2, 1, [trial](int) { return trial % 3 == 0; });
  }

  TEST_CASE("a set that is organized anew keeps both of its parts") {
    Doubleton set({Interval(-0.125, 0.125), Interval(-0.125, 0.125)});
    const IntervalMatrix identity(Matrix(Matrix::Identity(2, 2)));
    double reached = 0.125;  // by members at the ends, from the centre 0
    for (const double further : {0.5, 0.0, 4.0, 0.0, 32.0, 0.0}) {
      const Box F(2, enclosure::symmetric(further));
      set.move(F, identity, set.image_box(F, identity));
      reached += further;
      CHECK(set.box()[0].contains(Interval(-reached, reached)));
      CHECK(set.box()[1].contains(Interval(-reached, reached)));
      CHECK(enclosure::width(set.box()[0]) < 2.0001 * reached);
    }
  }

  TEST_CASE("a set beside a point that others do not act on is organized by itself") {
    // a wide box that turns, alone and beside a state whose rounding is all that it has
    const std::vector<Interval> box{Interval(1, 1.5), Interval(-0.25, 0.25)};
    Doubleton alone(box), beside({box[0], box[1], Interval(1e6)});
    for (int k = 0; k < 50; ++k) {
      IntervalMatrix J(2, 2), K(3, 3);
      J(0, 0) = J(1, 1) = K(0, 0) = K(1, 1) = Interval(0.6);
      J(0, 1) = K(0, 1) = Interval(-0.8);
      J(1, 0) = K(1, 0) = Interval(0.8);
      K(2, 2) = Interval(1);
      const Box F = J * enclosure::points(alone.center());
      alone.move(F, J, alone.image_box(F, J));
      Box G = K * enclosure::points(beside.center());
      G[2] += enclosure::symmetric(1e-10);
      beside.move(G, K, beside.image_box(G, K));
    }
    for (std::size_t i = 0; i < 2; ++i)
      CHECK(enclosure::width(beside.box()[i]) < (1 + 1e-12) * enclosure::width(alone.box()[i]));
    CHECK(beside.box()[2].contains(Interval(1e6 - 50e-10, 1e6 + 50e-10)));
  }

  TEST_CASE("points beside a state that has rounding take no more than rounding from its frame") {
    for (const double unit : {1.0, 0x1p-40}) {
      Doubleton set({Interval(0.9 * unit), Interval(0.8), Interval(0.7), Interval(0.5)});
      IntervalMatrix J{Matrix(Matrix::Identity(4, 4))};
      J(1, 0) = Interval(0.4 / unit);
      J(2, 1) = Interval(0.3);
      J(3, 0) = Interval(0.2 / unit);
      J(3, 1) = J(3, 2) = Interval(-0.3);
      for (int k = 0; k < 4; ++k) {
        Box F = enclosure::points(set.center());
        F[2] += enclosure::symmetric(0x1p-52);
        F[3] += enclosure::symmetric(0x1p-54);
        set.move(F, J, set.image_box(F, J));
        const Doubleton::Parts parts = set.parts();
        const Box all = IntervalMatrix(parts.C) * parts.r0 + IntervalMatrix(parts.Q) * parts.r;
        CHECK(enclosure::width(all[0]) < 1e-12 * unit);
        for (std::size_t i = 1; i < 4; ++i) CHECK(enclosure::width(all[i]) < 1e-12);
      }
    }
  }

  TEST_CASE("members follow their set through wide maps of blocks, exactly") {
    Numbers random;
    for (int trial = 0; trial < 60; ++trial)
      check_members(random, 4, 2, [trial](int i) { return i % 2 == trial % 2; });
  }

  TEST_CASE("turning a set does not widen it") {
    Doubleton set({Interval(1, 1.5), Interval(-0.25, 0.25)});
    const double c = 0.6, s = 0.8;  // to within rounding a rotation
    for (int k = 0; k < 200; ++k) {
      IntervalMatrix J(2, 2);
      J(0, 0) = J(1, 1) = Interval(c);
      J(0, 1) = Interval(-s);
      J(1, 0) = Interval(s);
      const Box F = J * enclosure::points(set.center());
      set.move(F, J, set.image_box(F, J));
    }
    CHECK(enclosure::width(set.box()[0]) < 0.7072);
    CHECK(enclosure::width(set.box()[1]) < 0.7072);
  }
}
