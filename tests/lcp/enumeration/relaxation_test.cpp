#include <doctest/doctest.h>
#include <random>
#include <vector>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/enumeration/relaxation.hpp>
#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/polyhedra/polyhedron.hpp>

using namespace perp;

namespace {

/// Rows with ranges in parameters with ranges, small integer data.
struct Rows {
  int columns = 0;
  std::vector<double> data;  // rows × (columns + 2)
  std::vector<Range> range, column_range;

  [[nodiscard]] RowSystem view() const {
    return {static_cast<int>(range.size()),
            columns,
            columns + 2,
            data.data(),
            range.data(),
            column_range.data()};
  }
  void add(const std::vector<double>& row, Range of_row) {
    double size = 0;
    for (const double entry : row) size = std::max(size, std::abs(entry));
    data.insert(data.end(), row.begin(), row.end());
    data.push_back(size);
    range.push_back(of_row);
  }
};

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  int integer(int lower, int upper) {
    return std::uniform_int_distribution<int>(lower, upper)(engine_);
  }
  Range range() {
    const double lower = integer(-2, 1), upper = lower + integer(0, 2);
    switch (integer(0, 4)) {
      case 0: return {0, inf};
      case 1: return {-inf, upper};
      case 2: return {lower, upper};
      case 3: return {};
      default: return {lower, inf};
    }
  }
  Rows rows(int count, int columns) {
    Rows result;
    result.columns = columns;
    for (int j = 0; j < columns; ++j) result.column_range.push_back(range());
    for (int r = 0; r < count; ++r) {
      std::vector<double> row;
      for (int j = 0; j <= columns; ++j) row.push_back(integer(0, 3) == 0 ? 0 : integer(-3, 3));
      result.add(row, range());
    }
    return result;
  }

 private:
  std::mt19937 engine_;
};

/// Exactly, by the generators of the polyhedron in rational arithmetic.
bool is_empty_exactly(const Rows& rows) {
  const RowSystem system = rows.view();
  DoubleDescription<Rational> cone(rows.columns + 1, 100'000);
  const auto at = [](int j) { return static_cast<std::size_t>(j); };
  const auto insert = [&](const std::vector<Rational>& row, const Range& range) {
    std::vector<Rational> low = row, high = row;
    for (Rational& entry : high) entry = -entry;
    if (range.lower > -inf) low.back() -= Rational(range.lower);
    if (range.upper < inf) high.back() += Rational(range.upper);
    REQUIRE((range.lower == -inf || cone.insert(low)));
    REQUIRE((range.upper == inf || cone.insert(high)));
  };
  std::vector<Rational> row(at(rows.columns + 1), Rational(0));
  row.back() = 1;
  REQUIRE(cone.insert(row));
  row.back() = 0;
  for (int j = 0; j < rows.columns; ++j) {
    std::fill(row.begin(), row.end(), Rational(0));
    row[at(j)] = 1;
    insert(row, rows.column_range[at(j)]);
  }
  for (int r = 0; r < system.rows; ++r) {
    for (int j = 0; j <= rows.columns; ++j) row[at(j)] = Rational(system.row(r)[j]);
    insert(row, rows.range[at(r)]);
  }
  return dehomogenise(cone).vertices.empty();
}

}  // namespace

TEST_SUITE("lcp/relaxation") {
  TEST_CASE("random small systems: proved empty where they are, and only there") {
    Relaxation relaxation;
    int empty = 0, nonempty = 0, missed = 0;
    for (unsigned seed = 0; seed < 3000; ++seed) {
      CAPTURE(seed);
      Draw draw(seed);
      const Rows rows = draw.rows(draw.integer(1, 6), draw.integer(1, 4));
      const bool is_empty = is_empty_exactly(rows), proved = relaxation.is_empty(rows.view());
      if (proved) CHECK(is_empty);
      missed += is_empty && !proved;
      ++(is_empty ? empty : nonempty);
      if (is_empty || proved) continue;
      for (int r = 0; r < rows.view().rows; ++r) {  // the point that was found is one
        double value = rows.view().row(r)[rows.columns];
        for (int j = 0; j < rows.columns; ++j)
          value += rows.view().row(r)[j] * relaxation.parameter(j);
        const Range& range = rows.range[static_cast<std::size_t>(r)];
        CHECK(value >= range.lower - 1e-8 * (1 + std::abs(value)));
        CHECK(value <= range.upper + 1e-8 * (1 + std::abs(value)));
        CHECK(value == doctest::Approx(relaxation.row_value(r)).epsilon(1e-10));
      }
    }
    CHECK(empty > 500);
    CHECK(nonempty > 500);
    CHECK(missed == 0);
  }

  TEST_CASE("rows that hold by less than the tolerance of a solution are not refuted") {
    for (const double gap : {0.0, 1e-16, 1e-13, 5e-11}) {
      Rows rows;
      rows.columns = 2;
      rows.column_range = {{0, inf}, {0, inf}};
      rows.add({1, 1, -1}, {0, inf});         // t₁ + t₂ ≥ 1
      rows.add({-1, -1, 1 - gap}, {0, inf});  // t₁ + t₂ ≤ 1 - gap
      CHECK_FALSE(Relaxation().is_empty(rows.view()));
    }
    Rows rows;
    rows.columns = 2;
    rows.column_range = {{0, inf}, {0, inf}};
    rows.add({1, 1, -1}, {0, inf});
    rows.add({-1, -1, 1 - 1e-8}, {0, inf});
    CHECK(Relaxation().is_empty(rows.view()));
  }

  TEST_CASE("a proof does not hold beside rows that carry much rounding") {
    Rows rows;
    rows.columns = 1;
    rows.column_range = {{0, inf}};
    rows.add({1, -1}, {0, inf});
    rows.add({-1, 1 - 1e-6}, {0, inf});
    CHECK(Relaxation().is_empty(rows.view()));
    rows.data[2] = rows.data[5] = 1e9;  // what was added up in the rows: 1e9 of it is lost digits
    CHECK_FALSE(Relaxation().is_empty(rows.view()));
  }

  TEST_CASE("no rows, no columns") {
    Rows rows;
    rows.columns = 0;
    CHECK_FALSE(Relaxation().is_empty(rows.view()));
    rows.add({1}, {0, inf});
    CHECK_FALSE(Relaxation().is_empty(rows.view()));
    rows.add({-1}, {0, inf});
    CHECK(Relaxation().is_empty(rows.view()));
  }
}
