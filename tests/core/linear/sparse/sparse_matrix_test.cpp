#include <doctest/doctest.h>
#include <cmath>
#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>

#include <perp/core/linear/sparse/sparse_matrix.hpp>

namespace perp::linear {
namespace {

Matrix random_entries(std::mt19937& random, int rows, int columns) {
  std::uniform_int_distribution<int> value(-3, 3);
  std::bernoulli_distribution is_zero(0.6);
  Matrix entries = Matrix::Zero(rows, columns);
  for (double& entry : entries.reshaped()) entry = is_zero(random) ? 0 : value(random);
  return entries;
}

}  // namespace

TEST_SUITE("core/linear/sparse/sparse_matrix") {
  TEST_CASE("entries, products, parts and the transposed matrix are those of the full one") {
    std::mt19937 random(41);
    for (int trial = 0; trial < 100; ++trial) {
      const int rows = trial % 7, columns = trial % 5;
      const Matrix full = random_entries(random, rows, columns);
      const SparseMatrix sparse(full);
      CHECK(sparse.rows() == rows);
      CHECK(sparse.columns() == columns);
      CHECK(sparse.dense() == full);
      CHECK(sparse.transposed().dense() == full.transpose());
      const Vector x = random_entries(random, columns, 1).col(0);
      CHECK(sparse.times(x) == full * x);  // whole numbers
      CHECK(sparse.sizes_times(x) == full.cwiseAbs() * x);
      for (int i = 0; i < rows; ++i) {
        const auto row = sparse.row(i);
        CHECK(std::is_sorted(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.column < b.column; }));
        CHECK(std::ranges::none_of(row, [](const auto& entry) { return entry.value == 0; }));
        for (int j = 0; j < columns; ++j) CHECK(sparse(i, j) == full(i, j));
      }
      std::vector<int> some_rows, some_columns;
      for (int i = 0; i < rows; ++i)
        if (random() % 2 == 0) some_rows.push_back(i);
      for (int j = 0; j < columns; ++j)
        if (random() % 2 == 0) some_columns.push_back(j);
      CHECK(sparse.part(some_rows, some_columns).dense() == Matrix(full(some_rows, some_columns)));
    }
  }

  TEST_CASE("two rows side by side have each column of either once") {
    std::mt19937 random(42);
    for (int trial = 0; trial < 50; ++trial) {
      const Matrix full = random_entries(random, 2, 6);
      const SparseMatrix sparse(full);
      int last = -1;
      Matrix found = Matrix::Zero(2, 6);
      for_each_of(sparse.row(0), sparse.row(1), [&](int column, double a, double b) {
        CHECK(column > last);
        last = column;
        found.col(column) << a, b;
      });
      CHECK(found == full);
    }
  }

  TEST_CASE("a full matrix gives what is not 0 of it, of any height: numbers at every place, the smallest, and what is none") {
    for (int rows = 1; rows < 40; ++rows) {
      CAPTURE(rows);
      Matrix full = Matrix::Zero(rows, 3);
      full(rows - 1, 0) = 0x1p-1074;
      full(rows / 2, 1) = -2;
      full(0, 2) = -0.0;  // is 0
      if (rows > 1) full(rows / 3, 2) = perp::nan;
      const linear::SparseMatrix sparse(full);
      int count = 0;
      for (int i = 0; i < rows; ++i)
        for (const auto& [column, value] : sparse.row(i)) {
          ++count;
          CHECK((value == full(i, column) || std::isnan(full(i, column))));
          CHECK(value != 0);
        }
      CHECK(count == (rows > 1 ? 3 : 2));
    }
  }

  TEST_CASE("a place beyond the matrix is refused, an entry that is no number is told") {
    CHECK_THROWS_AS(SparseMatrix(2, 3, {{2, 0, 1}}), std::out_of_range);
    CHECK_THROWS_AS(SparseMatrix(2, 3, {{0, 3, 1}}), std::out_of_range);
    CHECK_THROWS_AS(SparseMatrix(2, 3, {{-1, 0, 1}}), std::out_of_range);
    CHECK(SparseMatrix(2, 3, {{1, 2, 1}}).all_finite());
    CHECK_FALSE(SparseMatrix(2, 3, {{1, 2, std::numeric_limits<double>::infinity()}}).all_finite());
  }

  TEST_CASE("a copy keeps its entries where the matrix that it was made of is changed, and the other way round") {
    const SparseMatrix given(2, 3, {{1, 2, 5}, {0, 1, 4}, {1, 0, 3}});
    const Matrix full = given.dense();
    CHECK(SparseMatrix(given).row(0).data() == given.row(0).data());  // nothing is copied yet
    SparseMatrix value = given, cleared = given, anew = given;
    value.entries()[0].value = 7;
    CHECK(value.dense() == Matrix{{0, 7, 0}, {3, 0, 5}});
    cleared.clear_row(1);
    CHECK(cleared.dense() == Matrix{{0, 4, 0}, {0, 0, 0}});
    anew.begin_rows(2);
    const SparseMatrix begun = anew;
    anew.add(1, 6);
    anew.end_row();
    CHECK(anew.dense() == Matrix{{0, 6}});
    CHECK(begun.rows() == 0);
    CHECK(given.dense() == full);
  }

  TEST_CASE("places stay whatever their values are, rows are made one by one") {
    SparseMatrix places = SparseMatrix::with_places(2, 3, {{1, 2, 0}, {0, 1, 0}, {1, 0, 0}, {1, 2, 0}});
    CHECK(places.count() == 3);
    CHECK(places.dense() == Matrix::Zero(2, 3));
    places.entries()[static_cast<std::size_t>(places.place(1, 2))].value = 5;
    CHECK(places.dense() == Matrix{{0, 0, 0}, {0, 0, 5}});
    CHECK_THROWS_AS((void)places.place(0, 0), std::out_of_range);
    places.clear_row(1);
    CHECK(places.dense() == Matrix::Zero(2, 3));
    CHECK(places.count() == 3);

    SparseMatrix rows;
    for (int again = 0; again < 2; ++again) {
      rows.begin_rows(4);
      rows.add(1, 2);
      rows.add(3, 0);
      rows.end_row();
      rows.end_row();
      CHECK(rows.count() == 2);
      CHECK(rows.dense() == Matrix{{0, 2, 0, 0}, {0, 0, 0, 0}});
    }
  }
}

}  // namespace perp::linear
