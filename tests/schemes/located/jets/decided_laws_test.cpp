#include <doctest/doctest.h>
#include <cmath>
#include <random>
#include <vector>

#include <perp/core/branches.hpp>
#include <perp/schemes/located/jets/decided_laws.hpp>

using namespace perp;

namespace {

/// w = q + D λ, D lower triangular: laws that read themselves and those before them.
struct Chain {
  std::vector<Law> laws;
  Vector q;
  Matrix D;

  [[nodiscard]] ArrayStructure structure() const {
    ArrayStructure result;
    for (Eigen::Index i = 0; i < q.size(); ++i) {
      ArgumentForm form{.own = D(i, i)};
      for (int j = 0; j < i; ++j)
        if (D(i, j) != 0) form.others.push_back(j);
      result.arguments.push_back(form);
    }
    return result;
  }
  [[nodiscard]] std::vector<int> decided(double share, const std::vector<int>& fixed = {}, const std::vector<int>& ended = {}) const {
    const ArgumentsAt arguments = [&](const Mode& /*mode*/, const Vector& lambda, const Vector& error) {
      std::vector<Known> w;
      for (Eigen::Index i = 0; i < q.size(); ++i) {
        const Vector others = D.row(i).head(i).cwiseAbs();
        w.push_back({q[i] + D.row(i).head(i).dot(lambda.head(i)),
                     share * (std::abs(q[i]) + others.dot(lambda.head(i).cwiseAbs())) + others.dot(error.head(i))});
      }
      return w;
    };
    return decided_laws(laws, structure(), arguments, fixed.empty() ? std::vector<int>(laws.size(), -1) : fixed, ended);
  }
};

Law law_of(unsigned number) {
  switch (number) {
    case 0: return sign();
    case 1: return step();
    case 2: return complementarity();
    case 3: return absolute();
    case 4: return saturation(-1, 2);
    default: return dead_zone(-1, 1);
  }
}

/// All modes of a chain whose equations have a solution within all ranges: each law from the multipliers before it.
void solve_chain(const Chain& chain, Eigen::Index i, Vector& lambda, Mode& mode, std::vector<Mode>& found) {
  if (i == chain.q.size()) return found.push_back(mode);
  const double w0 = chain.q[i] + chain.D.row(i).head(i).dot(lambda.head(i)), d = chain.D(i, i);
  const auto& branches = chain.laws[static_cast<std::size_t>(i)].branches;
  for (std::size_t k = 0; k < branches.size(); ++k) {
    const Branch& b = branches[k];
    const double slope = b.a * d + b.b;
    if (slope == 0) continue;
    lambda[i] = (b.c - b.a * w0) / slope;
    const double w = w0 + d * lambda[i];
    const bool in_w = b.b == 0 || (w >= b.w.lower && w <= b.w.upper);
    const bool in_lambda = b.a == 0 || (lambda[i] >= b.lambda.lower && lambda[i] <= b.lambda.upper);
    if (!in_w || !in_lambda) continue;
    mode[static_cast<std::size_t>(i)] = static_cast<int>(k);
    solve_chain(chain, i + 1, lambda, mode, found);
  }
}

}  // namespace

TEST_SUITE("schemes/located/jets/decided_laws") {
  TEST_CASE("what a law's argument decides holds in every mode that has a solution") {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> any(-2, 2);
    long decided = 0, all = 0;
    for (int k = 0; k < 2000; ++k) {
      Chain chain{{}, Vector(4), Matrix::Zero(4, 4)};
      for (int i = 0; i < 4; ++i) {
        chain.laws.push_back(law_of(random() % 6));
        chain.q[i] = any(random);
        for (int j = 0; j <= i; ++j)
          if (random() % 2 == 0) chain.D(i, j) = any(random);
      }
      std::vector<Mode> modes;
      Vector lambda = Vector::Zero(4);
      Mode mode(4, 0);
      solve_chain(chain, 0, lambda, mode, modes);
      const std::vector<int> told = chain.decided(1e-11);
      for (std::size_t i = 0; i < 4; ++i) {
        ++all;
        if (told[i] < 0) continue;
        ++decided;
        for (const Mode& one : modes) CHECK(one[i] == told[i]);
      }
    }
    CHECK(decided > all / 3);
  }

  TEST_CASE("on an end, or nearer to it than errors are, nothing is decided, nor what reads its multiplier") {
    Chain chain{{absolute(), step()}, Vector{{0, 1}}, Matrix{{0, 0}, {-1, 0}}};
    CHECK(chain.decided(1e-11) == std::vector<int>{-1, -1});
    chain.q[0] = 2;  // |w| = 2, 1 - 2 < 0
    CHECK(chain.decided(1e-11) == std::vector<int>{1, 0});
    chain.q[0] = 1 + 1e-12;  // 1 - |w| is no more than an error of w
    CHECK(chain.decided(1e-11) == std::vector<int>{1, -1});
  }

  TEST_CASE("a law that is ended, or stays on another branch, tells the others nothing") {
    const Chain chain{{absolute(), step()}, Vector{{2, 1}}, Matrix{{0, 0}, {-1, 0}}};
    CHECK(chain.decided(1e-11, {-1, -1}, {0}) == std::vector<int>{-1, -1});
    CHECK(chain.decided(1e-11, {0, -1}) == std::vector<int>{1, -1});
    CHECK(chain.decided(1e-11, {1, -1}) == std::vector<int>{1, 0});
  }

  TEST_CASE("a multiplier in its own argument is solved for: 0 <= s perp q + s >= 0") {
    Chain chain{{complementarity()}, Vector{{-3}}, Matrix{{1}}};
    CHECK(chain.decided(1e-11) == std::vector<int>{1});  // s = 3
    chain.q[0] = 3;
    CHECK(chain.decided(1e-11) == std::vector<int>{0});
    chain.q[0] = 0;
    CHECK(chain.decided(1e-11) == std::vector<int>{-1});
    chain.D(0, 0) = -1;  // s = 0 and s = 3 solve it
    chain.q[0] = 3;
    CHECK(chain.decided(1e-11) == std::vector<int>{-1});
  }
}
