#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/parametric/certificate.hpp>
#include <perp/schemes/step/point/balanced_units.hpp>
#include <perp/schemes/step/point/energy_form.hpp>
#include <perp/schemes/step/point/explicit_variables.hpp>
#include <perp/schemes/step/point/integrated_variables.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>

namespace perp {
namespace {

using linear::SparseMatrix;

/// 1 where λ falls with w, -1 where it rises, law by law; nothing where a law does neither.
std::optional<std::vector<double>> signs_of(const std::vector<Law>& laws) {
  std::vector<double> signs;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (i > 0 && laws[i].branches == laws[i - 1].branches) {
      signs.push_back(signs.back());
      continue;
    }
    const Monotonicity runs = monotonicity(laws[i]);
    if (runs == Monotonicity::neither) return std::nullopt;
    signs.push_back(runs == Monotonicity::falling ? 1 : -1);
  }
  return signs;
}

/// A sum of products with p with a bound of its rounding.
struct RoundedSum {
  double value = 0, terms = 0;
  int count = 0;
  void add(double term) {
    value += term;
    terms += std::abs(term);
    ++count;
  }
  [[nodiscard]] double error() const { return (count + 8) * 2 * unit_roundoff * terms; }
};

/// A matrix P M in units of its unknowns, by terms that have no more than some roundings each.
class WeightedTerms {
 public:
  explicit WeightedTerms(int size) : size_(size), diagonal_(at(size)), pairs_(at(size)) {}

  void add(int i, int k, double term) {
    if (i == k)
      diagonal_[at(i)].add(term);
    else
      pairs_[at(std::min(i, k))][std::max(i, k)].add(term);
  }
  [[nodiscard]] const RoundedSum& diagonal(int i) const { return diagonal_[at(i)]; }

  /// 2 Σ_k≠i |(p_i M_ik f_i + p_k M_ki f_k) / 2| of each row, as sums that may only be too large.
  [[nodiscard]] std::vector<double> beside_diagonals() const {
    std::vector<double> sums(at(size_), 0.0);
    for (int i = 0; i < size_; ++i)
      for (const auto& [k, pair] : pairs_[at(i)]) {
        const double most = (std::abs(pair.value) + pair.error()) / 2;
        sums[at(i)] += most;
        sums[at(k)] += most;
      }
    for (double& sum : sums) sum *= 1 + 2 * size_ * unit_roundoff;
    return sums;
  }

  /// Does what stands beside the diagonal exceed it in a row, by more than rounding?
  [[nodiscard]] bool has_excess() const {
    constexpr double share = 0x1p-26;
    const std::vector<double> beside = beside_diagonals();
    for (int i = 0; i < size_; ++i)
      if (beside[at(i)] + diagonal(i).value > share * diagonal(i).terms) return true;
    return false;
  }

  /// Units in which it does not, where there are some; see `balanced_units`.
  [[nodiscard]] std::optional<std::vector<double>> balanced() const {
    std::vector<double> own;
    std::vector<SparseMatrix::Placed> beside;
    for (int i = 0; i < size_; ++i) {
      own.push_back(-diagonal(i).value);
      for (const auto& [k, pair] : pairs_[at(i)]) beside.push_back({i, k, pair.value / 2});
    }
    return balanced_units(own, beside);
  }

  /// Is there an entry beside the diagonal in one of these rows, by more than terms that cancel?
  template <class Rows>
  [[nodiscard]] bool has_pair_in(const Rows& is_counted) const {
    for (int i = 0; i < size_; ++i)
      for (const auto& [k, pair] : pairs_[at(i)])
        if ((is_counted(i) || is_counted(k)) && std::abs(pair.value) > pair.error()) return true;
    return false;
  }

 private:
  int size_;
  std::vector<RoundedSum> diagonal_;
  std::vector<std::map<int, RoundedSum>> pairs_;  // of both entries
};

/// Units in which diagonal entries are near 1, and near one another in a group: dominance of rows
/// is asked for in such units. Units of the unknowns change the entries by squares, that of the
/// weights all of a group alike: neither changes what is compared.
template <class Diagonal, class Group>
std::vector<double> units_of(int count, const Diagonal& diagonal, const Group& group) {
  std::map<int, int> first;
  std::vector<double> unit;
  for (int i = 0; i < count; ++i) {
    const double entry = diagonal(i);
    if (entry == 0) {
      unit.push_back(1);
      continue;
    }
    const int exponent = std::ilogb(entry),
              odd = first.try_emplace(group(i), exponent & 1).first->second;
    unit.push_back(std::ldexp(1.0, -((exponent - odd) >> 1)));
  }
  return unit;
}

/// Does every entry of a matrix keep its digits in the units of a comparison?
template <class Scaled>
bool all_keep_digits(const SparseMatrix& given, const Scaled& scaled) {
  for (int i = 0; i < given.rows(); ++i)
    for (const auto& [k, value] : given.row(i))
      if (!keeps_digits(value, scaled(i, k, value))) return false;
  return true;
}

/// Is the diagonal of row i of D + D' >= 0 and no less than the others of it together, by scaled entries? Exactly.
template <class Scaled>
bool is_row_dominant(const EnergyForm& form, int i, const Scaled& scaled) {
  const double own = scaled(i, i, form.D(i, i));
  if (own < 0) return false;
  Rational rest = 0;  // Σ_k≠i |D_ik + D_ki|
  linear::for_each_of(form.D.row(i), form.D_transposed.row(i), [&](int k, double there, double back) {
    const double first = scaled(i, k, there), second = scaled(k, i, back);
    if (k == i || first + second == 0) return;  // a sum of doubles is 0 where it rounds to 0
    const Rational pair = Rational(first) + Rational(second);
    rest += pair < 0 ? -pair : pair;
  });
  return !(rest != 0 && Rational(own) * 2 < rest);
}

/// Is S d D + (S d D)' diagonally dominant with a diagonal >= 0? Exactly.
bool is_dominant(const EnergyForm& form, const EnergyWeights& weights) {
  const SparseMatrix& D = form.D;
  const std::vector<double> unit = units_of(
      D.rows(), [&](int i) { return weights.of_law(i) * D(i, i); },
      [&](int i) { return weights.group_of_law(i); });
  const auto scaled = [&](int j, int k, double value) { return unit[at(j)] * unit[at(k)] * (weights.of_law(j) * value); };
  if (!all_keep_digits(D, scaled)) return false;
  for (int i = 0; i < D.rows(); ++i)
    if (!is_row_dominant(form, i, scaled)) return false;
  return true;
}

/// Up to which h is gain / h - loss - h growth > 0? 0: for none that was found.
double longest_of_row(double gain, double loss, double growth) {
  constexpr double below = 1 - 8 * unit_roundoff;
  if (!(gain >= 0) || !(loss < inf) || !(growth < inf)) return 0;
  if (gain == 0) return loss >= 0 ? 0 : growth > 0 ? -loss / growth * below : inf;
  if (growth <= 0) return loss > 0 ? gain / loss * below : inf;
  if (loss <= 0) return std::sqrt(gain / growth) * below;
  return std::min(gain / 2 / loss, std::sqrt(gain / 2 / growth)) * below;
}

/// At most the diagonal entry, and the others beside it.
double most_of_row(const RoundedSum& diagonal, double beside) {
  return diagonal.value + (diagonal.count > 1 ? diagonal.error() : 16 * unit_roundoff * std::abs(diagonal.value)) + beside;
}

/// P E, P θ A and P θ² Q by their terms, in units of the unknowns in which the diagonal is near 1, or in these times `balance`.
class WeightedForm {
 public:
  WeightedForm(const EnergyForm& form, const EnergyWeights& weights, double theta, const std::vector<double>& balance = {})
      : form_(form), p_(weights.of_rows()), E_(form.n()), A_(form.n()), Q_(form.n()) {
    unit_ = units_of(
        form.n(), [&](int i) { return p_[at(i)] * (has_rate(i) ? form.E(i, i) : form.A(i, i)); },
        [&](int i) { return has_rate(i) ? weights.group_of_row(i) : -1 - weights.group_of_row(i); });
    for (std::size_t i = 0; i < balance.size(); ++i) unit_[i] *= balance[i];
    add(form.E, 1, E_);
    add(form.A, theta, A_);
    for (const auto& [i, k, value] : form.Q) add(i, k, value, share(i, theta) * theta, Q_);
  }

  /// Has every term kept its digits?
  [[nodiscard]] bool is_known() const { return is_known_; }

  /// Do rows without a rate couple with others by more than terms that cancel? Their diagonal is that of A, whose unit
  /// against E is that of time: nothing tells in which units to compare them.
  [[nodiscard]] bool couples_rows_without_rate() const {
    const auto has_none = [this](int i) { return !has_rate(i); };
    return A_.has_pair_in(has_none) || Q_.has_pair_in(has_none);
  }

  /// Units in which couplings of Q, or of A where there is no Q, do not limit the length of steps, if these do.
  [[nodiscard]] std::optional<std::vector<double>> balance() const {
    const WeightedTerms& couplings = form_.Q.empty() ? A_ : Q_;
    return couplings.has_excess() ? couplings.balanced() : std::nullopt;
  }

  /// P E / h - P θ A - h P θ² Q has a positive symmetric part where every row of it is dominant.
  [[nodiscard]] double longest_step() const {
    const std::vector<double> beside_E = E_.beside_diagonals(), beside_A = A_.beside_diagonals(),
                              beside_Q = Q_.beside_diagonals();
    double longest = inf;
    for (int i = 0; i < form_.n(); ++i) {
      const double gain = E_.diagonal(i).value * (1 - 8 * unit_roundoff) - beside_E[at(i)];
      longest = std::min(longest, longest_of_row(gain, most_of_row(A_.diagonal(i), beside_A[at(i)]),
                                                 most_of_row(Q_.diagonal(i), beside_Q[at(i)])));
    }
    return longest;
  }

 private:
  [[nodiscard]] bool has_rate(int i) const { return form_.E(i, i) != 0; }

  void add(int i, int k, double value, double share, WeightedTerms& terms) {
    const double term = unit_[at(i)] * unit_[at(k)] * (p_[at(i)] * share * value);
    is_known_ = is_known_ && keeps_digits(value, term);
    terms.add(i, k, term);
  }
  void add(const SparseMatrix& entries, double theta, WeightedTerms& terms) {
    for (int i = 0; i < entries.rows(); ++i)
      for (const auto& [k, value] : entries.row(i)) add(i, k, value, share(i, theta), terms);
  }
  [[nodiscard]] double share(int row, double theta) const { return form_.is_algebraic[at(row)] != 0 ? 1 : theta; }

  const EnergyForm& form_;
  const std::vector<double>& p_;
  std::vector<double> unit_;
  WeightedTerms E_, A_, Q_;
  bool is_known_ = true;
};

bool rows_have_one_entry(const SparseMatrix& E) {
  for (int i = 0; i < E.rows(); ++i)
    if (E.row(i).size() != 1) return false;
  return true;
}

/// Does each row hold the rate of the variable beside it alone?
bool rows_have_own_rate(const SparseMatrix& E) {
  if (!rows_have_one_entry(E)) return false;
  for (int i = 0; i < E.rows(); ++i)
    if (E(i, i) == 0) return false;
  return true;
}

}  // namespace

void MonotoneSteps::Weighted::weigh(const std::vector<double>& signs) {
  weights.emplace(form, signs);
  if (!weights->exist() || !is_dominant(form, *weights)) weights.reset();
}

double MonotoneSteps::Weighted::longest(double theta) const {
  if (!weights) return 0;
  const WeightedForm weighted(form, *weights, theta);
  if (!weighted.is_known() || weighted.couples_rows_without_rate()) return 0;
  const double longest = weighted.longest_step();
  const std::optional<std::vector<double>> balance = weighted.balance();
  if (!balance) return longest;
  const WeightedForm balanced(form, *weights, theta, *balance);
  return balanced.is_known() ? std::max(longest, balanced.longest_step()) : longest;
}

double MonotoneSteps::Forms::longest(double theta, const std::vector<double>& signs) {
  const double longest = whole.longest(theta);
  if (longest == inf) return longest;
  return std::max(longest, without_integrals(signs).longest(theta));
}

const MonotoneSteps::Weighted& MonotoneSteps::Forms::without_integrals(const std::vector<double>& signs) {
  if (!reduced && make_form_without_integrals(whole.form, reduced.emplace().form)) reduced->weigh(signs);
  return *reduced;
}

MonotoneSteps::MonotoneSteps(const StepEquations& equations) : equations_(equations), signs_(signs_of(equations.laws())) {
  if (!signs_) return;
  make_energy_form(equations, given_.whole.form);
  given_.whole.weigh(*signs_);
}

double MonotoneSteps::longest(double theta) {
  if (!signs_) return 0;
  const double longest = given_.longest(theta, *signs_);
  if (theta != 1 || longest == inf) return longest;
  if (!without_explicit_) {
    Weighted& reduced = without_explicit_.emplace().whole;
    if (EnergyForm form; make_form_without_explicit(given_.whole.form, equations_.laws(), form)) {
      reduced.form = std::move(form);
      reduced.weigh(*signs_);
    }
  }
  return std::max(longest, without_explicit_->longest(theta, *signs_));
}

bool MonotoneSteps::is_continuous() {
  const SparseLcs& lcs = equations_.system();
  if (!signs_ || !equations_.algebraic_rows().empty() || !lcs.q.is_constant()) return false;
  const EnergyForm& form = given_.whole.form;
  if (!rows_have_own_rate(form.E) || !rows_have_one_entry(lcs.E)) return false;
  for (int i = 0; i < form.m(); ++i)
    if (form.C.row(i).size() != lcs.C.row(i).size()) return false;
  // A law of positions has no weight in the whole form.
  return given_.whole.weights || !given_.without_integrals(*signs_).form.has_positions;
}

double longest_monotone_step(const StepEquations& equations) { return MonotoneSteps(equations).longest(equations.theta()); }

double longest_monotone_step(const Dcs& system, double theta) {
  const std::optional<SparseLcs> affine = as_sparse_lcs(system);
  return affine ? longest_monotone_step(StepEquations(*affine, theta)) : 0;
}

}  // namespace perp
