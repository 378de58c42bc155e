#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <compare>
#include <random>
#include <string>
#include <vector>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/core/base/rational.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>

// A judge of its own: every value of the binaries for itself, in rational numbers. For fixed z the models are affine,
//     y = (x_0 + β z) / (2 + z_a),   ẋ = A x + B z + c + d y,   g = Π (factors of binaries) (α x + β + ε y),
// so that derivatives of all orders are products with one matrix.
namespace {

using perp::Rational;
using perp::Vector;
using Point = std::vector<Rational>;

struct Row {
  std::vector<std::pair<int, bool>> factors{};  // z_i, or 1 − z_i
  bool is_negated = false;                     // 1 − their product
  std::vector<int> alpha{};                    // of x, in halves
  int beta = 0, epsilon = 0;                   // in quarters, in halves
};

struct RandomModel {
  int n = 0, q = 0, a = 0;
  std::vector<std::vector<int>> A{}, B{};  // in quarters
  std::vector<int> c{}, d{}, b{}, x{}, previous{};
  std::vector<Row> rows{};

  [[nodiscard]] std::string text() const;
  [[nodiscard]] Rational y(const Point& at, unsigned z, bool is_affine) const;
  [[nodiscard]] Point rate(const Point& at, unsigned z, bool is_affine) const;
  [[nodiscard]] bool continues(unsigned z, Rational& norm) const;
};

bool bit(unsigned z, int i) { return (z >> i & 1) != 0; }

RandomModel random_model(std::mt19937& random) {
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  RandomModel m{.n = draw(1, 3), .q = draw(7, 9)};
  m.a = draw(0, m.q - 1);
  for (int j = 0; j < m.n; ++j) {
    m.A.emplace_back();
    m.B.emplace_back();
    for (int k = 0; k < m.n; ++k) m.A.back().push_back(draw(-2, 2));
    for (int i = 0; i < m.q; ++i) m.B.back().push_back(draw(-3, 3));
    m.c.push_back(draw(-2, 2));
    m.d.push_back(draw(-1, 1));
    m.x.push_back(draw(-4, 4));
  }
  for (int i = 0; i < m.q; ++i) {
    m.b.push_back(draw(-1, 1));
    m.previous.push_back(draw(0, 1));
  }
  for (int l = 0; l < m.q; ++l) {
    Row row{.alpha = std::vector<int>(static_cast<std::size_t>(m.n), 0)};
    row.factors.emplace_back(l, draw(0, 1) == 1);
    row.factors.emplace_back((l + 1) % m.q, draw(0, 1) == 1);
    if (draw(0, 3) == 0) row.factors.emplace_back((l + 3) % m.q, draw(0, 1) == 1);
    row.is_negated = draw(0, 3) == 0;
    row.alpha[static_cast<std::size_t>(draw(0, m.n - 1))] = draw(0, 1) == 0 ? 1 : -1;
    row.epsilon = draw(0, 3) == 0 ? 1 : 0;
    row.beta = draw(-9, 4);
    if (draw(0, 2) == 0) {  // on its surface
      row.epsilon = 0;
      row.beta = 0;
      for (int j = 0; j < m.n; ++j) row.beta -= row.alpha[static_cast<std::size_t>(j)] * m.x[static_cast<std::size_t>(j)];
    }
    m.rows.push_back(row);
  }
  return m;
}

std::string RandomModel::text() const {
  std::string variables, binaries, equations, constraints, y = "x0";
  for (int i = 0; i < q; ++i) {
    binaries += fmt::format("z{} = {}\n", i, previous[i]);
    y += fmt::format(" + ({})*z{}", b[i], i);
  }
  for (int j = 0; j < n; ++j) {
    variables += fmt::format("x{} = {}\n", j, x[j] / 2.0);
    equations += fmt::format("\"der(x{}) = {} + ({})*y", j, c[j] / 4.0, d[j] / 4.0);
    for (int k = 0; k < n; ++k) equations += fmt::format(" + ({})*x{}", A[j][k] / 4.0, k);
    for (int i = 0; i < q; ++i) equations += fmt::format(" + ({})*z{}", B[j][i] / 4.0, i);
    equations += "\",\n";
  }
  for (const Row& row : rows) {
    std::string product = "1", affine = fmt::format("{} + ({})*y", row.beta / 4.0, row.epsilon / 2.0);
    for (const auto& [i, is_one] : row.factors) product += is_one ? fmt::format("*z{}", i) : fmt::format("*(1 - z{})", i);
    for (int j = 0; j < n; ++j) affine += fmt::format(" + ({})*x{}", row.alpha[j] / 2.0, j);
    constraints += fmt::format("\"({})*({}) <= 0\",\n", affine, row.is_negated ? "1 - " + product : product);
  }
  return fmt::format(
      "[variables]\n{}y = 0\n[binaries]\n{}[model]\nequations = [{}\"y*(2 + z{}) = {}\"]\nconstraints = [{}]\n[run]\nt = [0, 1]\n",
      variables, binaries, equations, a, y, constraints);
}

Rational RandomModel::y(const Point& at, unsigned z, bool is_affine) const {
  Rational sum = at[0];
  for (int i = 0; i < q && is_affine; ++i)
    if (bit(z, i)) sum = sum + Rational(b[i]);
  return sum / Rational(bit(z, a) ? 3 : 2);
}

/// Also of differences, without what is constant.
Point RandomModel::rate(const Point& at, unsigned z, bool is_affine) const {
  Point result;
  for (int j = 0; j < n; ++j) {
    Rational sum = Rational(d[j]) * y(at, z, is_affine) + Rational(is_affine ? c[j] : 0);
    for (int k = 0; k < n; ++k) sum = sum + Rational(A[j][k]) * at[k];
    for (int i = 0; i < q && is_affine; ++i)
      if (bit(z, i)) sum = sum + Rational(B[j][i]);
    result.push_back(sum / Rational(4));
  }
  return result;
}

bool RandomModel::continues(unsigned z, Rational& norm) const {
  std::vector<Point> derivatives(1);
  for (const int value : x) derivatives[0].push_back(Rational(value) / Rational(2));
  for (int k = 0; k < 3; ++k) derivatives.push_back(rate(derivatives.back(), z, k == 0));
  norm = Rational(0);
  for (const Rational& r : derivatives[1]) norm = norm + r * r;
  return std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
    const bool product = std::all_of(row.factors.begin(), row.factors.end(), [&](const auto& f) { return bit(z, f.first) == f.second; });
    if (product == row.is_negated) return true;  // void
    for (std::size_t k = 0; k < derivatives.size(); ++k) {
      Rational g = Rational(row.epsilon) / Rational(2) * y(derivatives[k], z, k == 0);
      if (k == 0) g = g + Rational(row.beta) / Rational(4);
      for (int j = 0; j < n; ++j) g = g + Rational(row.alpha[j]) / Rational(2) * derivatives[k][j];
      if (g.sign() != 0) return g.sign() < 0;
    }
    return true;
  });
}

/// What the rule compares.
struct Key {
  int outside = 0, inside = 0;
  Rational norm{};
  unsigned z = 0, changed = 0;

  friend bool operator<(const Key& p, const Key& r) {
    if (p.outside != r.outside) return p.outside < r.outside;
    if (p.inside != r.inside) return p.inside < r.inside;
    if (!(p.norm == r.norm)) return p.norm < r.norm;
    const unsigned differ = p.changed ^ r.changed;
    return (p.changed & differ & (~differ + 1)) != 0;
  }
};

unsigned bits_of(const std::vector<double>& z) {
  unsigned bits = 0;
  for (std::size_t i = 0; i < z.size(); ++i) bits |= (z[i] == 1 ? 1U : 0U) << i;
  return bits;
}

std::vector<Key> judged(const RandomModel& m, const std::vector<int>& called, bool knows_previous = true) {
  std::vector<Key> keys;
  unsigned before = 0;
  for (int i = 0; i < m.q && knows_previous; ++i) before |= static_cast<unsigned>(m.previous[i]) << i;
  for (unsigned z = 0; z < 1U << m.q; ++z) {
    Key key{.z = z, .changed = z ^ before};
    if (!m.continues(z, key.norm)) continue;
    for (int i = 0; i < m.q && knows_previous; ++i)
      if (bit(key.changed, i)) ++(std::find(called.begin(), called.end(), i) != called.end() ? key.inside : key.outside);
    keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<int> binaries_of(const perp::HybridModes& modes, const std::vector<int>& called) {
  std::vector<int> binaries;
  for (const int block : called)
    for (const int unknown : modes.structure().blocks[static_cast<std::size_t>(block)].unknowns)
      if (unknown >= modes.model().n()) binaries.push_back(unknown - modes.model().n());
  return binaries;
}

}  // namespace

TEST_SUITE("analysis/hybrid/values/value_tree") {
  TEST_CASE("of all values of many binaries as many continue, and the same are the nearest, as where each is judged for itself") {
    std::mt19937 random(20261127);
    int counted = 0, many = 0, chosen = 0;
    for (int trial = 0; trial < 60; ++trial) {
      const RandomModel m = random_model(random);
      const std::string text = m.text();
      CAPTURE(text);
      perp::HybridModes modes(*perp::read_hybrid_model_text(text, "m.toml"));
      Vector x = Vector::Zero(m.n + 1);
      for (int j = 0; j < m.n; ++j) x[j] = m.x[j] / 2.0;
      const std::vector<double> previous(m.previous.begin(), m.previous.end());
      // At events states are known up to a share: what is 0 is decided by derivatives, and nothing else is near 0.
      for (const double share : {0.0, perp::share_of_computed}) {
        const perp::HybridContinuations found = modes.continuations(0, x, previous, {.share = share});
        if (!found.count) continue;
        ++counted;
        const std::vector<Key> wanted = judged(m, binaries_of(modes, found.called));
        CHECK(*found.count == static_cast<long>(wanted.size()));
        CHECK(found.is_complete == (wanted.size() == found.list.size()));
        REQUIRE(found.list.size() == wanted.size());  // at most 512
        many += wanted.size() > 64 ? 1 : 0;
        CHECK((found.status == perp::Status::no_solution) == wanted.empty());
        for (std::size_t k = 0; k < wanted.size(); ++k) {
          CHECK(found.list[k].outside == wanted[k].outside);
          CHECK(found.list[k].inside == wanted[k].inside);
          CHECK(found.list[k].rate_norm == doctest::Approx(static_cast<double>(wanted[k].norm)).epsilon(1e-12));
        }
        if (wanted.empty()) continue;
        CHECK(bits_of(found.list[static_cast<std::size_t>(*found.chosen)].z) == wanted.front().z);
        // Asked for the nearest alone it takes the same.
        const perp::HybridContinuations near = modes.continuations(0, x, previous, {.share = share, .nearest_alone = true});
        REQUIRE(near.chosen);
        CHECK(bits_of(near.list[static_cast<std::size_t>(*near.chosen)].z) == wanted.front().z);
        ++chosen;
        // Where no value before is known changes do not count.
        const perp::HybridContinuations free = modes.continuations(0, x, {}, {.share = share});
        if (!free.count) continue;
        const std::vector<Key> by_rate = judged(m, {}, false);
        CHECK(free.count == found.count);
        CHECK(bits_of(free.list[static_cast<std::size_t>(*free.chosen)].z) == by_rate.front().z);
        for (std::size_t k = 0; k < by_rate.size(); ++k)
          CHECK(free.list[k].rate_norm == doctest::Approx(static_cast<double>(by_rate[k].norm)).epsilon(1e-12));
      }
    }
    MESSAGE(counted << " counted, " << many << " with many, " << chosen << " chosen");
    CHECK(counted > 40);
    CHECK(many > 10);
  }

  TEST_CASE("where no value of twelve binaries continues the rows that exclude them all are said") {
    // Below 19 one of the heaters has to be on, above 18 none.
    std::string binaries, off = "1", heat, pairs;
    for (int i = 0; i < 12; ++i) {
      binaries += fmt::format("z{} = 0\n", i);
      off += fmt::format("*(1 - z{})", i);
      heat += fmt::format(" + {}*z{}", i + 1, i);
      if (i > 0) pairs += fmt::format(", \"(0 - x)*z{}*z{} <= 0\"", i - 1, i);
    }
    perp::HybridModes modes(*perp::read_hybrid_model_text(
        fmt::format("[variables]\nx = 18.5\n[binaries]\n{0}[model]\nequations = [\"der(x) = 5 - x{1}\"]\n"
                    "constraints = [\"(19 - x)*{2} <= 0\", \"(x - 18)*(1 - {2}) <= 0\"{3}]\n[run]\nt = [0, 1]\n",
                    binaries, heat, off, pairs),
        "dead_end.toml"));
    const perp::HybridContinuations found = modes.continuations(0, Vector::Constant(1, 18.5), std::vector<double>(12, 0));
    CHECK(found.status == perp::Status::no_solution);
    CHECK(found.count == 0);
    CHECK(found.excluded_count >= 2);
    for (const perp::Exclusion& left : found.excluded) {
      CHECK(left.is_shown);
      const bool is_off = std::all_of(left.z.begin(), left.z.end(), [](int z) { return z == 0; });
      CHECK(left.rows == std::vector<int>{is_off ? 1 : 2});
    }
  }

  TEST_CASE("of twenty binaries that nothing excludes all million values are counted, and those that change least are listed") {
    std::string binaries, off = "1", heat, pairs;
    for (int i = 0; i < 20; ++i) {
      binaries += fmt::format("z{} = 0\n", i);
      off += fmt::format("*(1 - z{})", i);
      heat += fmt::format(" + {}*z{}", 4 + i, i);
      if (i > 0) pairs += fmt::format(", \"(0 - x)*z{}*z{} <= 0\"", i - 1, i);
    }
    perp::HybridModes modes(*perp::read_hybrid_model_text(
        fmt::format("[variables]\nx = 19\n[binaries]\n{0}[model]\nequations = [\"der(x) = -0.1*(x - 5){1}\"]\n"
                    "constraints = [\"(19 - x)*{2} <= 0\", \"(x - 21)*(1 - {2}) <= 0\"{3}]\n[run]\nt = [0, 1]\n",
                    binaries, heat, off, pairs),
        "heaters.toml"));
    const std::vector<double> previous(20, 0);
    const perp::HybridContinuations found = modes.continuations(0, Vector::Constant(1, 19), previous);
    CHECK(found.count == (1L << 20) - 1);  // all but the one without a heater, which becomes too cold
    CHECK(found.excluded_count == 1);
    REQUIRE(found.list.size() == 64);
    CHECK_FALSE(found.is_complete);
    for (std::size_t k = 0; k < 64; ++k) CHECK(found.list[k].inside == (k < 20 ? 1 : 2));
    CHECK(found.decided_by == "smallest rate norm");
    CHECK(found.list[0].z[0] == 1);
  }
}
