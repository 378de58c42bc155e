#include <doctest/doctest.h>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include <perp/core/linear/sparse/entry_lu.hpp>

namespace {

using perp::linear::EntryLu;

/// A matrix with a dominant diagonal of some rows that are exchanged and `beside` entries in each row besides.
template <class Number>
typename EntryLu<Number>::Square random_matrix(std::mt19937& random, int n, int beside) {
  std::uniform_real_distribution<double> entry(-1, 1);
  std::uniform_int_distribution<int> column(0, n - 1);
  const auto number = [&] {
    if constexpr (std::is_same_v<Number, double>)
      return entry(random);
    else
      return Number(entry(random), entry(random));
  };
  typename EntryLu<Number>::Square A = EntryLu<Number>::Square::Zero(n, n);
  const int shift = column(random);
  for (int i = 0; i < n; ++i) {
    A(i, (i + shift) % n) = 4.0 + number();
    for (int k = 0; k < beside; ++k) A(i, column(random)) += number();
  }
  return A;
}

template <class Number>
void check_solutions(bool is_sparse, int n, int beside) {
  std::mt19937 random(static_cast<unsigned>(n + beside));
  EntryLu<Number> lu;
  for (int run = 0; run < 20; ++run) {
    const auto A = random_matrix<Number>(random, n, beside);
    lu.compute(A);
    CHECK(lu.is_sparse() == is_sparse);
    const typename EntryLu<Number>::Column x = A.row(0).transpose();
    typename EntryLu<Number>::Column found;
    lu.solve(A * x, found);
    CHECK((found - x).norm() <= 1e-10 * x.norm());
  }
}

TEST_CASE("matrices are taken by their entries where they are large and have few, and are solved either way") {
  check_solutions<double>(false, 20, 2);
  check_solutions<double>(true, 100, 2);
  check_solutions<double>(false, 100, 60);
  check_solutions<std::complex<double>>(false, 20, 2);
  check_solutions<std::complex<double>>(true, 100, 2);
}

TEST_CASE("a large matrix without an inverse has no finite solution") {
  EntryLu<double> lu;
  perp::Matrix A = perp::Matrix::Identity(80, 80);
  A(17, 17) = 0;
  lu.compute(A);
  perp::Vector x;
  lu.solve(perp::Vector::Ones(80), x);
  CHECK_FALSE(x.allFinite());
  A(17, 17) = 2;
  lu.compute(A);
  lu.solve(perp::Vector::Ones(80), x);
  CHECK(x[17] == 0.5);
}

template <class Number>
void check_by_places(int n, int beside) {
  std::mt19937 random(static_cast<unsigned>(n + beside));
  const auto A = random_matrix<Number>(random, n, beside);
  perp::linear::EntryPlaces places;
  std::vector<Number> list;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      if (A(i, j) == Number(0) && (i + j) % 7 != 0) continue;  // some zeros are entries too
      places.row.push_back(i);
      list.push_back(A(i, j));
    }
    places.start.push_back(static_cast<int>(list.size()));
  }
  const typename EntryLu<Number>::Column values = Eigen::Map<const typename EntryLu<Number>::Column>(list.data(), std::ssize(list));
  const typename EntryLu<Number>::Column right = A.row(0).transpose();
  typename EntryLu<Number>::Column of_full, of_places;
  EntryLu<Number> full, by_places;
  full.compute(A);
  by_places.compute(places, values);
  CHECK(by_places.is_sparse() == full.is_sparse());
  full.solve(right, of_full);
  by_places.solve(right, of_places);
  CHECK(of_places == of_full);
}

TEST_CASE("a matrix that is given by its entries is solved as the same one in full, to the bit") {
  check_by_places<double>(20, 2);
  check_by_places<double>(100, 2);
  check_by_places<double>(100, 60);
  check_by_places<std::complex<double>>(20, 2);
  check_by_places<std::complex<double>>(100, 2);
}

}  // namespace
