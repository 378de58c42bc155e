#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/base/rational.hpp>
#include <perp/schemes/step/point/integrated_variables.hpp>

namespace perp {
namespace {

using linear::SparseMatrix;
using Placed = SparseMatrix::Placed;

class IntegratedVariables {
 public:
  explicit IntegratedVariables(const EnergyForm& whole)
      : whole_(whole), columns_of_E_(whole.E.transposed()), columns_of_A_(whole.A.transposed()), is_integral_(at(whole.n()), 0),
        moved_(at(whole.m())) {
    add([](int) { return true; });
    keep_what_laws_need();
    add([&](int j) { return whole_.C_transposed.row(j).empty(); });
  }

  bool write(EnergyForm& form) const {
    std::vector<int> kept, place(at(whole_.n()), -1), laws(at(whole_.m()));
    for (int j = 0; j < whole_.n(); ++j) {
      if (is_integral_[at(j)] != 0) continue;
      place[at(j)] = static_cast<int>(kept.size());
      kept.push_back(j);
    }
    if (kept.size() == is_integral_.size()) return false;
    std::iota(laws.begin(), laws.end(), 0);
    form.E = whole_.E.part(kept, kept);
    form.A = whole_.A.part(kept, kept);
    form.B = whole_.B.part(kept, laws);
    form.D = whole_.D;
    write_C(place, form);
    for (const int i : kept) {
      form.is_algebraic.push_back(whole_.is_algebraic[at(i)]);
      for (const auto& [x, a] : whole_.A.row(i))
        if (is_integral_[at(x)] != 0 && !add_terms({i, x, a}, place, form.Q)) return false;
    }
    complete(form);
    return true;
  }

 private:
  using Row = std::map<int, Rational>;  // by variable

  [[nodiscard]] bool sees_integral(const SparseMatrix& couplings, int j) const {
    return std::ranges::any_of(couplings.row(j), [&](const auto& entry) { return is_integral_[at(entry.column)] != 0; });
  }

  /// Variables that are integrals of others, none of which is one of them.
  template <class Allowed>
  void add(const Allowed& is_allowed) {
    const auto holds_itself = [&](int j) {
      return std::ranges::any_of(whole_.A.row(j), [&](const auto& entry) { return entry.column == j; });
    };
    for (int j = 0; j < whole_.n(); ++j) {
      const bool is_beside = has_own_rate(whole_.E, columns_of_E_, j) && whole_.E.row(j)[0].column == j;
      if (is_beside && is_allowed(j) && whole_.B.row(j).empty() && !holds_itself(j) && !sees_integral(whole_.A, j) &&
          !sees_integral(columns_of_A_, j))
        is_integral_[at(j)] = 1;
    }
  }

  /// Where nothing stands for what a law reads its variables stay: those that read them, and those that D couples with these,
  /// are asked again.
  void keep_what_laws_need() {
    std::vector<int> next(at(whole_.m()));
    std::iota(next.begin(), next.end(), 0);
    while (!next.empty()) {
      const int j = next.back();
      next.pop_back();
      if (!sees_integral(whole_.C, j) || move(j)) continue;
      for (const auto& [x, value] : whole_.C.row(j)) {
        if (is_integral_[at(x)] == 0) continue;
        is_integral_[at(x)] = 0;
        for (const auto& [reader, entry] : whole_.C_transposed.row(x)) {
          next.push_back(reader);
          linear::for_each_of(whole_.D.row(reader), whole_.D_transposed.row(reader), [&](int k, double, double) { next.push_back(k); });
        }
      }
    }
  }

  /// C_x a of a law, if that may stand for it.
  bool move(int j) {
    Row& moved = moved_[at(j)];
    moved.clear();
    Row own;
    for (const auto& [x, c] : whole_.C.row(j)) {
      if (is_integral_[at(x)] == 0) {
        own.emplace(x, c);
        continue;
      }
      const Rational by_rate = Rational(c) / Rational(whole_.E.row(x)[0].value);
      for (const auto& [k, a] : whole_.A.row(x)) moved[k] += by_rate * Rational(a);
    }
    std::erase_if(moved, [](const auto& entry) { return entry.second == 0; });
    const bool is_exact = std::ranges::all_of(moved, [](const auto& entry) {
      const double value = to_double(entry.second);
      return keeps_digits(1, value) && Rational(value) == entry.second;
    });
    return is_exact && !moved.empty() && (own.empty() ? couples_alike(j) : is_multiple(own, moved) && couples_none(j));
  }
  /// own = ρ moved with ρ > 0?
  static bool is_multiple(const Row& own, const Row& moved) {
    if (own.size() != moved.size()) return false;
    const Rational ratio = own.begin()->second / moved.begin()->second;
    return ratio > 0 && std::ranges::equal(own, moved, [&](const auto& a, const auto& b) {
             return a.first == b.first && a.second == ratio * b.second;
           });
  }
  /// Does D couple a law with none but itself?
  [[nodiscard]] bool couples_none(int j) const { return couples_with(j, [](int) { return false; }); }
  /// With none but laws that integrals alone move?
  [[nodiscard]] bool couples_alike(int j) const {
    return couples_with(j, [&](int other) {
      const auto row = whole_.C.row(other);
      return !row.empty() && std::ranges::all_of(row, [&](const auto& entry) { return is_integral_[at(entry.column)] != 0; });
    });
  }
  template <class Allowed>
  [[nodiscard]] bool couples_with(int j, const Allowed& is_allowed) const {
    bool is_well = true;
    linear::for_each_of(whole_.D.row(j), whole_.D_transposed.row(j),
                        [&](int k, double, double) { is_well = is_well && (k == j || is_allowed(k)); });
    return is_well;
  }

  void write_C(const std::vector<int>& place, EnergyForm& form) const {
    form.C.begin_rows(form.E.rows());
    for (int j = 0; j < whole_.m(); ++j) {
      if (sees_integral(whole_.C, j)) {
        for (const auto& [k, value] : moved_[at(j)]) form.C.add(place[at(k)], to_double(value));
        form.has_positions = true;
      } else {
        for (const auto& [k, value] : whole_.C.row(j)) form.C.add(place[at(k)], value);
      }
      form.C.end_row();
    }
  }

  /// A_ix a for the variables that x is the integral of. False: one has not kept its digits.
  bool add_terms(const Placed& of_x, const std::vector<int>& place, std::vector<Placed>& Q) const {
    const double by_rate = of_x.value / whole_.E.row(of_x.column)[0].value;
    bool is_kept = keeps_digits(of_x.value, by_rate);
    for (const auto& [k, a] : whole_.A.row(of_x.column)) {
      Q.push_back({place[at(of_x.row)], place[at(k)], by_rate * a});
      is_kept = is_kept && keeps_digits(by_rate, Q.back().value);
    }
    return is_kept;
  }

  const EnergyForm& whole_;
  SparseMatrix columns_of_E_, columns_of_A_;
  std::vector<char> is_integral_;
  std::vector<Row> moved_;  // of laws that see integrals
};

}  // namespace

bool make_form_without_integrals(const EnergyForm& whole, EnergyForm& form) { return IntegratedVariables(whole).write(form); }

}  // namespace perp
