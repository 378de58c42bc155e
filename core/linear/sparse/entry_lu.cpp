// A door to KLU for matrices that are given in full or by their entries.
#include <klu.h>

#include <limits>
#include <type_traits>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/core/linear/sparse/entry_lu.hpp>

namespace perp::linear {
namespace {

constexpr double pivot_tolerance = 0.1;  ///< of the largest entry of its column

template <class Number>
using Full = std::conditional_t<std::is_same_v<Number, double>, Lu, ComplexLu>;

/// KLU's functions for a kind of numbers.
template <class Number>
struct Klu {
  static constexpr auto factor = klu_z_factor;
  static constexpr auto solve = klu_z_solve;
  static constexpr auto release = klu_z_free_numeric;
};
template <>
struct Klu<double> {
  static constexpr auto factor = klu_factor;
  static constexpr auto solve = klu_solve;
  static constexpr auto release = klu_free_numeric;
};

}  // namespace

template <class Number>
struct EntryLu<Number>::Factors {
  Full<Number> full{};
  bool is_sparse = false;
  Eigen::Index rows = 0;
  EntryPlaces places{}, found{};
  Square square{};  // of a matrix that is given by its entries and taken in full
  std::vector<Number> values{};
  klu_common common{};
  klu_symbolic* symbolic = nullptr;
  klu_numeric* numeric = nullptr;

  Factors() {
    klu_defaults(&common);
    common.scale = 0;  // rows are scaled by whoever knows their units
    common.tol = pivot_tolerance;
    common.halt_if_singular = 1;
  }
  Factors(const Factors&) = delete;
  Factors& operator=(const Factors&) = delete;
  ~Factors() {
    Klu<Number>::release(&numeric, &common);
    klu_free_symbolic(&symbolic, &common);
  }

  /// False: there are too many entries.
  bool find_entries(const Square& A) {
    const Eigen::Index most = A.size() / fewest;
    found.start.assign(1, 0);
    found.row.clear();
    values.clear();
    for (Eigen::Index j = 0; j < A.cols(); ++j) {
      for (Eigen::Index i = 0; i < A.rows(); ++i) {
        if (A(i, j) == Number(0)) continue;
        found.row.push_back(static_cast<int>(i));
        values.push_back(A(i, j));
      }
      if (std::ssize(values) > most) return false;
      found.start.push_back(static_cast<int>(values.size()));
    }
    return true;
  }

  /// The same of a matrix that is given by its entries, of which some may be 0.
  bool keep_entries(const EntryPlaces& given, const Column& given_values) {
    found.start.assign(1, 0);
    found.row.clear();
    values.clear();
    for (int j = 0; j < given.columns(); ++j) {
      for (int e = given.start[at(j)]; e < given.start[at(j + 1)]; ++e) {
        if (given_values[e] == Number(0)) continue;
        found.row.push_back(given.row[at(e)]);
        values.push_back(given_values[e]);
      }
      found.start.push_back(static_cast<int>(values.size()));
    }
    return std::ssize(values) <= rows * rows / fewest;
  }

  void fill_square(const EntryPlaces& given, const Column& given_values) {
    square.setZero(rows, rows);
    for (int j = 0; j < given.columns(); ++j)
      for (int e = given.start[at(j)]; e < given.start[at(j + 1)]; ++e) square(given.row[at(e)], j) = given_values[e];
  }

  void factorise() {
    if (symbolic == nullptr || !(found == places)) {
      Klu<Number>::release(&numeric, &common);
      klu_free_symbolic(&symbolic, &common);
      places = found;
      symbolic = klu_analyze(static_cast<int>(rows), places.start.data(), places.row.data(), &common);
    }
    Klu<Number>::release(&numeric, &common);
    if (symbolic == nullptr) return;
    numeric = Klu<Number>::factor(places.start.data(), places.row.data(), reinterpret_cast<double*>(values.data()), symbolic,
                                  &common);
  }
};

template <class Number>
EntryLu<Number>::EntryLu() : factors_(std::make_unique<Factors>()) {}
template <class Number>
EntryLu<Number>::EntryLu(EntryLu&&) noexcept = default;
template <class Number>
EntryLu<Number>& EntryLu<Number>::operator=(EntryLu&&) noexcept = default;
template <class Number>
EntryLu<Number>::~EntryLu() = default;

template <class Number>
void EntryLu<Number>::compute(const Square& A) {
  Factors& f = *factors_;
  f.rows = A.rows();
  f.is_sparse = f.rows > most_full && f.find_entries(A);
  if (f.is_sparse)
    f.factorise();
  else
    f.full.compute(A);
}

template <class Number>
void EntryLu<Number>::compute(const EntryPlaces& places, const Column& values) {
  Factors& f = *factors_;
  f.rows = places.columns();
  f.is_sparse = f.rows > most_full && f.keep_entries(places, values);
  if (f.is_sparse) return f.factorise();
  f.fill_square(places, values);
  f.full.compute(f.square);
}

template <class Number>
void EntryLu<Number>::solve(const Eigen::Ref<const Column>& right, Column& solution) const {
  Factors& f = *factors_;
  solution.resize(right.size());
  if (!f.is_sparse) return f.full.solve(right, solution);
  solution = right;
  if (f.numeric == nullptr || f.common.status != KLU_OK)
    solution.setConstant(std::numeric_limits<double>::quiet_NaN());
  else
    Klu<Number>::solve(f.symbolic, f.numeric, static_cast<int>(f.rows), 1, reinterpret_cast<double*>(solution.data()), &f.common);
}

template <class Number>
bool EntryLu<Number>::is_sparse() const {
  return factors_->is_sparse;
}

template class EntryLu<double>;
template class EntryLu<std::complex<double>>;

}  // namespace perp::linear
