#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/base/rational.hpp>
#include <perp/core/linear/structure.hpp>
#include <perp/schemes/step/point/explicit_variables.hpp>

namespace perp {
namespace {

using linear::SparseMatrix;

/// The rows of (A B; C D), of which some are changed, with exact entries.
class ExactRows {
 public:
  using Row = std::map<int, Rational>;  // by variable, then n + multiplier

  explicit ExactRows(const EnergyForm& form) : form_(form) {}

  [[nodiscard]] long count() const { return count_; }  ///< entries of changed rows
  Row& operator[](int k) {
    const auto [place, is_new] = changed_.try_emplace(k);
    Row& row = place->second;
    if (is_new) {
      for (const auto& [column, value] : variables_of(k))
        if (value != 0) row.emplace(column, value);
      for (const auto& [column, value] : multipliers_of(k))
        if (value != 0) row.emplace(form_.n() + column, value);
      count_ += static_cast<long>(row.size());
    }
    return row;
  }
  /// Row k without variable y, by the row that gives y.
  void eliminate(int y, const Row& giving, int k) {
    Row& row = (*this)[k];
    if (!row.contains(y)) return;  // an entry 0
    count_ -= static_cast<long>(row.size());
    const Rational factor = row.at(y) / giving.at(y);
    for (const auto& [column, value] : giving) {
      Rational& entry = row[column];
      entry -= factor * value;
      if (entry == 0) row.erase(column);
    }
    count_ += static_cast<long>(row.size());
  }

  /// Puts row k, its variables numbered by `place`, which increases. False: an exact entry is no double.
  bool put(int k, const std::vector<int>& place, SparseMatrix& of_variables, SparseMatrix& of_multipliers) const {
    bool is_kept = true;
    if (const auto changed = changed_.find(k); changed != changed_.end()) {
      for (const auto& [column, value] : changed->second) {
        const bool is_of_variables = column < form_.n();
        (is_of_variables ? of_variables : of_multipliers)
            .add(is_of_variables ? place[at(column)] : column - form_.n(), to_double(value));
        is_kept = is_kept && is_known(value, k < form_.n() && is_of_variables);
      }
    } else {
      for (const auto& [column, value] : variables_of(k))
        if (value != 0) of_variables.add(place[at(column)], value);
      for (const auto& [column, value] : multipliers_of(k)) of_multipliers.add(column, value);
    }
    of_variables.end_row();
    of_multipliers.end_row();
    return is_kept;
  }

 private:
  using Entries = std::span<const SparseMatrix::Entry>;
  [[nodiscard]] Entries variables_of(int k) const { return k < form_.n() ? form_.A.row(k) : form_.C.row(k - form_.n()); }
  [[nodiscard]] Entries multipliers_of(int k) const { return k < form_.n() ? form_.B.row(k) : form_.D.row(k - form_.n()); }

  /// Only A may be rounded.
  static bool is_known(const Rational& value, bool is_of_A) {
    const double entry = to_double(value);
    return keeps_digits(1, entry) && (is_of_A || Rational(entry) == value);
  }

  const EnergyForm& form_;
  std::map<int, Row> changed_;
  long count_ = 0;
};

/// Unknowns that equations tell: the only one that is still open in an equation is told by it.
class ToldUnknowns {
 public:
  explicit ToldUnknowns(int count) : is_told_(at(count), 0), holds_(at(count)), readers_(at(count)) {}
  void link(int equation, int unknown) {
    holds_[at(equation)].push_back(unknown);
    readers_[at(unknown)].push_back(equation);
  }
  /// For each unknown.
  const std::vector<char>& find() {
    std::vector<std::size_t> open;
    std::vector<int> next;
    for (std::size_t i = 0; i < holds_.size(); ++i) {
      open.push_back(holds_[i].size());
      if (open.back() == 1) next.push_back(static_cast<int>(i));
    }
    while (!next.empty()) {
      const std::vector<int>& held = holds_[at(next.back())];
      next.pop_back();
      const auto told = std::ranges::find_if(held, [&](int unknown) { return is_told_[at(unknown)] == 0; });
      if (told == held.end()) continue;
      is_told_[at(*told)] = 1;
      for (const int k : readers_[at(*told)])
        if (--open[at(k)] == 1) next.push_back(k);
    }
    return is_told_;
  }

 private:
  std::vector<char> is_told_;
  linear::Pattern holds_, readers_;  // unknowns of equations, equations of unknowns
};

/// Of a monotone law, whose branches are in the order of w: has every w one λ?
bool is_function(const Law& law) {
  const auto lambda = [](const Branch& branch, double w) {
    return (Rational(branch.c) - Rational(branch.a) * Rational(w)) / Rational(branch.b);
  };
  for (std::size_t k = 0; k < law.branches.size(); ++k) {
    const Branch& branch = law.branches[k];
    if (branch.b == 0) return false;
    if (k == 0) continue;
    const Branch& before = law.branches[k - 1];
    const double w = branch.w.lower;
    if (w != before.w.upper || !std::isfinite(w) || lambda(before, w) != lambda(branch, w)) return false;
  }
  return true;
}

class ExplicitVariables {
 public:
  explicit ExplicitVariables(const EnergyForm& whole)
      : whole_(whole), columns_of_A_(whole.A.transposed()), rows_(whole), given_by_(at(whole.n()), -1), gives_(at(whole.n()), -1) {
    const SparseMatrix columns_of_E = whole.E.transposed();
    for (int j = 0; j < n(); ++j) is_algebraic_.push_back(columns_of_E.row(j).empty());
  }

  /// Eliminates what is explicit, as long as the entries stay few. False: nothing is.
  bool eliminate() {
    // Rows without a rate that hold one algebraic variable that is not eliminated yet
    for (int i = 0; i < n(); ++i) {
      open_.push_back(has_rate(i) ? 0 : algebraic_in(i));
      if (open_.back() == 1) next_.push_back(i);
    }
    const long most = 4L * (whole_.A.count() + whole_.B.count() + whole_.C.count() + whole_.D.count());  // sparse no more beyond
    bool has_some = false;
    while (!next_.empty() && rows_.count() <= most) {
      const int i = next_.back();
      next_.pop_back();
      if (open_[at(i)] != 1) continue;
      eliminate(i, open_variable(i));
      has_some = true;
    }
    return has_some;
  }

  /// Is Δy = 0 where the other Δx are? Equations tell Δy and Δλ, and laws that are functions of what does not read λ.
  [[nodiscard]] bool are_told(const std::vector<Law>& laws) const {
    ToldUnknowns unknowns(n() + whole_.m());  // variables, then multipliers; as many equations and laws
    for (int i = 0; i < n(); ++i) link(i, whole_.A.row(i), whole_.B.row(i), unknowns);
    for (int j = 0; j < whole_.m(); ++j) {
      if (whole_.D(j, j) != 0 || !is_function(laws[at(j)])) continue;
      link(n() + j, whole_.C.row(j), whole_.D.row(j), unknowns);
      unknowns.link(n() + j, n() + j);
    }
    const std::vector<char>& is_told = unknowns.find();
    for (int y = 0; y < n(); ++y)
      if (is_eliminated(y) && is_told[at(y)] == 0) return false;
    return true;
  }

  bool write(EnergyForm& form) {
    const std::vector<int> variables = kept_variables(), rows = rows_beside(variables);
    std::vector<int> place(at(n()), -1);
    for (std::size_t k = 0; k < variables.size(); ++k) place[at(variables[k])] = static_cast<int>(k);
    const int size = static_cast<int>(variables.size());
    std::vector<SparseMatrix::Placed> of_E;
    form.A.begin_rows(size);
    form.B.begin_rows(whole_.m());
    form.C.begin_rows(size);
    form.D.begin_rows(whole_.m());
    bool is_kept = true;
    for (int k = 0; k < size; ++k) {
      const int row = rows[at(k)];
      for (const auto& [column, value] : whole_.E.row(row)) of_E.push_back({k, place[at(column)], value});
      form.is_algebraic.push_back(whole_.is_algebraic[at(row)]);
      is_kept = is_kept && rows_.put(row, place, form.A, form.B);
    }
    form.E = SparseMatrix(size, size, of_E);
    for (int j = 0; j < whole_.m(); ++j) is_kept = is_kept && rows_.put(n() + j, place, form.C, form.D);
    return is_kept;
  }

 private:
  [[nodiscard]] int n() const { return whole_.n(); }
  [[nodiscard]] bool has_rate(int i) const { return !whole_.E.row(i).empty(); }
  /// y, which row i gives.
  void eliminate(int i, int y) {
    given_by_[at(y)] = i;
    gives_[at(i)] = y;
    for (const auto& [k, value] : columns_of_A_.row(y)) {
      if (k == i || value == 0) continue;
      rows_.eliminate(y, rows_[i], k);
      if (!has_rate(k) && --open_[at(k)] == 1) next_.push_back(k);
    }
    for (const auto& [law, value] : whole_.C_transposed.row(y)) rows_.eliminate(y, rows_[i], n() + law);
  }
  void link(int equation, std::span<const SparseMatrix::Entry> variables, std::span<const SparseMatrix::Entry> multipliers,
            ToldUnknowns& unknowns) const {
    for (const auto& [y, value] : variables)
      if (value != 0 && is_eliminated(y)) unknowns.link(equation, y);
    for (const auto& [j, value] : multipliers)
      if (value != 0) unknowns.link(equation, n() + j);
  }
  [[nodiscard]] bool is_eliminated(int y) const { return given_by_[at(y)] >= 0; }
  [[nodiscard]] bool holds_open(const SparseMatrix::Entry& entry) const {
    return entry.value != 0 && is_algebraic_[at(entry.column)] != 0 && !is_eliminated(entry.column);
  }
  [[nodiscard]] int algebraic_in(int i) const {
    return static_cast<int>(std::ranges::count_if(whole_.A.row(i), [&](const auto& entry) { return holds_open(entry); }));
  }
  [[nodiscard]] int open_variable(int i) const {
    return std::ranges::find_if(whole_.A.row(i), [&](const auto& entry) { return holds_open(entry); })->column;
  }

  [[nodiscard]] std::vector<int> kept_variables() const {
    std::vector<int> kept;
    for (int j = 0; j < n(); ++j)
      if (!is_eliminated(j)) kept.push_back(j);
    return kept;
  }
  /// Each variable keeps the row beside it; where that has gone, any of those without a rate whose variable has gone.
  [[nodiscard]] std::vector<int> rows_beside(const std::vector<int>& variables) const {
    std::vector<int> rows;
    int spare = 0;
    for (const int j : variables) {
      if (gives_[at(j)] < 0) {
        rows.push_back(j);
        continue;
      }
      while (gives_[at(spare)] >= 0 || !is_eliminated(spare)) ++spare;
      rows.push_back(spare++);
    }
    return rows;
  }

  const EnergyForm& whole_;
  SparseMatrix columns_of_A_;
  ExactRows rows_;
  std::vector<char> is_algebraic_;
  std::vector<int> open_, next_;       // algebraic variables in rows without a rate; rows that hold one
  std::vector<int> given_by_, gives_;  // of each variable its row, of each row its variable; -1: none
};

}  // namespace

bool make_form_without_explicit(const EnergyForm& whole, const std::vector<Law>& laws, EnergyForm& form) {
  ExplicitVariables variables(whole);
  if (!variables.eliminate() || !variables.are_told(laws) || !variables.write(form)) return false;
  complete(form);
  return true;
}

}  // namespace perp
