#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/lcp/parametric/certificate.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>

namespace perp {
namespace {

/// Is b / c positive? Products may underflow.
bool have_one_sign(double c, double b) { return (c > 0 && b > 0) || (c < 0 && b < 0); }

/// A product of three doubles without any error, whatever their units: its mantissas are in
/// [1/2, 1), so that none of the products in between is too small for its rounding to be told.
struct Product {
  DoubleDouble mantissa;  // high in [1/2, 1)
  int exponent = 0;

  /// `power`: of two, but for its sign.
  Product(double power, double a, double b) {
    const auto part = [this](double value) {
      int own = 0;
      const double rest = std::frexp(value, &own);
      exponent += own;
      return rest;
    };
    mantissa = two_product(part(power) * part(a), part(b));
    int own = 0;
    std::frexp(mantissa.high, &own);
    exponent += own;
    mantissa = {std::ldexp(mantissa.high, -own), std::ldexp(mantissa.low, -own)};
  }
  bool operator==(const Product& other) const {
    return mantissa.high == other.mantissa.high && mantissa.low == other.mantissa.low &&
           exponent == other.exponent;
  }
};

/// Has a product of this number with others kept its digits?
bool keeps_digits(double given, double product) { return given == 0 || std::isnormal(product); }

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

/// The power of two nearest to a quotient, its exponent.
int nearest_power(double over, double under) {
  constexpr double half = 0.70710678118654752;
  int exponent = 0;
  return std::frexp(std::abs(over / under), &exponent) < half ? exponent - 1 : exponent;
}

/// A diagonal P > 0 and powers of two d with P B = C' S diag(d) exactly. What couples two rows in
/// A, or two laws in D, sets their weights so that terms cancel there, as far as B and C leave them
/// open: a change of units by powers of two changes nothing but weights.
class Weights {
 public:
  Weights(const Lcs& lcs, std::vector<double> signs)
      : lcs_(lcs),
        signs_(std::move(signs)),
        p_(at(lcs.n()), 0.0),
        d_(at(lcs.m()), 0.0),
        group_(at(lcs.n() + lcs.m()), -1) {
    // What nothing couples with the rest may have any weight, if nothing compares it with that.
    for (int j = 0; j < lcs.m() && exist_; ++j)
      if (d_[at(j)] == 0) begin(n() + j);
    for (int i = 0; i < n() && exist_; ++i)
      if (p_[at(i)] == 0) begin(i);
    exist_ = exist_ && are_positive(p_) && are_positive(d_) && !compares_groups();
  }

  [[nodiscard]] bool exist() const { return exist_; }
  /// Of the rows, good to a rounding.
  [[nodiscard]] const std::vector<double>& of_rows() const { return p_; }
  /// Of the laws, with their signs.
  [[nodiscard]] double of_law(int j) const { return signs_[at(j)] * d_[at(j)]; }
  /// Weights of one group have a common unit.
  [[nodiscard]] int group_of_row(int i) const { return group_[at(i)]; }
  [[nodiscard]] int group_of_law(int j) const { return group_[at(n() + j)]; }

 private:
  [[nodiscard]] int n() const { return lcs_.n(); }
  static bool are_positive(const std::vector<double>& list) {
    return std::ranges::all_of(list,
                               [](double value) { return value > 0 && std::isnormal(value); });
  }

  void begin(int node) {
    (node < n() ? p_[at(node)] : d_[at(node - n())]) = 1;
    const int group = node;
    group_[at(node)] = group;
    std::vector<int> exact{node}, loose;
    std::size_t named = 0;
    for (std::size_t k = 0, l = 0; exist_ && (k < exact.size() || l < loose.size());) {
      if (k < exact.size()) {  // B and C first: they leave nothing open
        const int next = exact[k++];
        loose.push_back(next);
        if (next >= n())
          exist_ = reach_rows(next - n(), exact);
        else
          exist_ = reach_laws(next, exact);
      } else {
        const int next = loose[l++];
        if (next >= n())
          reach_by_D(next - n(), exact);
        else
          reach_by_A(next, exact);
      }
      for (; named < exact.size(); ++named) group_[at(exact[named])] = group;
    }
  }

  /// p_i = d_j S_j C_ji / B_ij for the rows of a law.
  bool reach_rows(int j, std::vector<int>& met) {
    for (int i = 0; i < n(); ++i) {
      const double c = of_law(j) * lcs_.C(j, i), b = lcs_.B(i, j);
      if (c == 0 && b == 0) continue;
      if (!have_one_sign(c, b) || !keeps_digits(c, c)) return false;
      if (p_[at(i)] != 0) continue;  // compared with this law by `reach_laws`
      p_[at(i)] = c / b;
      met.push_back(i);
    }
    return true;
  }

  /// The law of a row that its others are compared with, one of known weight before others; -1: no
  /// law acts on it. Nothing: a quotient S_j C_ji / B_ij is not positive.
  [[nodiscard]] std::optional<int> compared_law(int i) const {
    int first = -1;
    for (int j = 0; j < lcs_.m(); ++j) {
      const double c = signs_[at(j)] * lcs_.C(j, i), b = lcs_.B(i, j);
      if (c == 0 && b == 0) continue;
      if (!have_one_sign(c, b)) return std::nullopt;
      if (first < 0 || (d_[at(first)] == 0 && d_[at(j)] != 0)) first = j;
    }
    return first;
  }

  /// The laws of a row have the same quotient S_j C_ji / B_ij, but for powers of two.
  bool reach_laws(int i, std::vector<int>& met) {
    const std::optional<int> compared = compared_law(i);
    if (!compared) return false;
    const int first = *compared;
    for (int j = 0; j < lcs_.m() && first >= 0; ++j) {
      const double c = signs_[at(j)] * lcs_.C(j, i), b = lcs_.B(i, j);
      if (c == 0) continue;
      if (d_[at(j)] == 0) {
        d_[at(j)] = std::ldexp(1.0, nearest_power(p_[at(i)], c / b));
        met.push_back(n() + j);
      }
      // d_f c_f b = d_j c b_f
      if (Product(of_law(first), lcs_.C(first, i), b) != Product(d_[at(j)], c, lcs_.B(i, first)))
        return false;
    }
    return true;
  }

  /// p_i A_ik + p_k A_ki = 0 where they can cancel, else p_i A_ik = p_k A_ki; to a power of two
  /// where a law says more.
  void reach_by_A(int i, std::vector<int>& met) {
    for (int k = 0; k < n(); ++k) {
      const double there = lcs_.A(i, k), back = lcs_.A(k, i);
      if (p_[at(k)] != 0 || there == 0 || back == 0) continue;
      const double weight = p_[at(i)] * std::abs(there / back);
      int law = 0;
      while (law < lcs_.m() && lcs_.B(k, law) == 0) ++law;
      if (law < lcs_.m() && d_[at(law)] == 0) {
        d_[at(law)] = std::ldexp(1.0, nearest_power(weight, lcs_.C(law, k) / lcs_.B(k, law)));
        met.push_back(n() + law);
        p_[at(k)] = d_[at(law)] * std::abs(lcs_.C(law, k) / lcs_.B(k, law));
      } else {
        p_[at(k)] = weight;
      }
      met.push_back(k);
    }
  }

  /// d_j D_jl and d_l D_lj are of one size.
  void reach_by_D(int j, std::vector<int>& met) {
    for (int l = 0; l < lcs_.m(); ++l) {
      const double there = lcs_.D(j, l), back = lcs_.D(l, j);
      if (d_[at(l)] != 0 || there == 0 || back == 0) continue;
      d_[at(l)] = std::ldexp(d_[at(j)], nearest_power(there, back));
      met.push_back(n() + l);
    }
  }

  /// Is there an entry between groups, whose weights have no common unit?
  [[nodiscard]] bool compares_groups() const {
    const auto differ = [&](int a, int b) { return group_[at(a)] != group_[at(b)]; };
    for (int k = 0; k < n(); ++k)
      for (int i = 0; i < n(); ++i)
        if (differ(i, k) && (lcs_.A(i, k) != 0 || lcs_.E(i, k) != 0)) return true;
    for (int j = 0; j < lcs_.m(); ++j)
      for (int l = 0; l < lcs_.m(); ++l)
        if (differ(n() + j, n() + l) && lcs_.D(j, l) != 0) return true;
    return false;
  }

  const Lcs& lcs_;
  std::vector<double> signs_, p_, d_;  // 0: not known yet
  std::vector<int> group_;             // weights of one group have a common unit; laws behind rows
  bool exist_ = true;
};

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

/// 2 Σ_k≠i |(p_i M_ik f_i + p_k M_ki f_k) / 2| beside the diagonal, as a sum that may only be too
/// large.
template <class Entry>
double beside_diagonal(int n, int i, const Entry& entry) {
  double sum = 0;
  for (int k = 0; k < n; ++k) {
    if (k == i) continue;
    RoundedSum pair;
    pair.add(entry(i, k));
    pair.add(entry(k, i));
    sum += (std::abs(pair.value) + pair.error()) / 2;
  }
  return sum * (1 + 2 * n * unit_roundoff);
}

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
template <class Entry>
bool all_keep_digits(const Matrix& given, const Entry& entry) {
  for (int i = 0; i < given.rows(); ++i)
    for (int k = 0; k < given.cols(); ++k)
      if (!keeps_digits(given(i, k), entry(i, k))) return false;
  return true;
}

/// Σ_k≠i |M_ik + M_ki|, exactly.
template <class Entry>
Rational beside_diagonal_exactly(int n, int i, const Entry& entry) {
  Rational sum = 0;
  for (int k = 0; k < n; ++k) {
    // a sum of doubles is 0 where it rounds to 0
    if (k == i || entry(i, k) + entry(k, i) == 0) continue;
    const Rational pair = Rational(entry(i, k)) + Rational(entry(k, i));
    sum += pair < 0 ? -pair : pair;
  }
  return sum;
}

/// Is S d D + (S d D)' diagonally dominant with a diagonal >= 0? Exactly.
bool is_dominant(const Matrix& D, const Weights& weights) {
  const int m = static_cast<int>(D.rows());
  const std::vector<double> unit = units_of(
      m, [&](int i) { return weights.of_law(i) * D(i, i); },
      [&](int i) { return weights.group_of_law(i); });
  const auto entry = [&](int j, int k) {
    return unit[at(j)] * unit[at(k)] * (weights.of_law(j) * D(j, k));
  };
  if (!all_keep_digits(D, entry)) return false;
  for (int i = 0; i < m; ++i) {
    if (entry(i, i) < 0) return false;
    const Rational rest = beside_diagonal_exactly(m, i, entry);
    if (rest != 0 && Rational(entry(i, i)) * 2 < rest) return false;
  }
  return true;
}

/// Up to which h is this row of E/h - A, of entries like these, diagonally dominant with its
/// column? 0: for none that was found.
template <class EntryE, class EntryA>
double longest_of_row(int n, int i, const EntryE& E, const EntryA& A) {
  const double own = A(i, i);
  const double loss = own + 8 * unit_roundoff * std::abs(own) + beside_diagonal(n, i, A);
  const double gain = E(i, i) * (1 - 8 * unit_roundoff) - beside_diagonal(n, i, E);
  if (gain < 0 || !(loss < inf) || (gain == 0 && loss >= 0)) return 0;
  return loss > 0 ? gain / loss * (1 - 8 * unit_roundoff) : inf;
}

/// θ, or 1 in algebraic rows: what of A is in the rows of a step.
std::vector<double> shares_of_A(const StepEquations& equations) {
  std::vector<double> share(at(equations.n()), equations.theta());
  for (const int i : equations.algebraic_rows()) share[at(i)] = 1;
  return share;
}

/// Do the rows without a rate couple with others by more than terms that cancel? Their diagonal is
/// that of A, whose unit against E is that of time: nothing tells in which units to compare them.
template <class Entry>
bool couples_rows_without_rate(const Lcs& lcs, const Entry& A) {
  for (int i = 0; i < lcs.n(); ++i)
    for (int k = 0; k < lcs.n() && lcs.E(i, i) == 0; ++k) {
      if (k == i) continue;
      RoundedSum pair;
      pair.add(A(i, k));
      pair.add(A(k, i));
      if (std::abs(pair.value) > pair.error()) return true;
    }
  return false;
}

}  // namespace

double longest_monotone_step(const StepEquations& equations) {
  const Lcs& lcs = equations.lcs();
  const int n = lcs.n();
  const auto signs = signs_of(lcs.laws);
  if (!signs) return 0;
  const Weights weights(lcs, *signs);
  if (!weights.exist() || !is_dominant(lcs.D, weights)) return 0;
  const std::vector<double>& p = weights.of_rows();
  const std::vector<double> share = shares_of_A(equations);
  const std::vector<double> unit = units_of(
      n, [&](int i) { return p[at(i)] * (lcs.E(i, i) != 0 ? lcs.E(i, i) : lcs.A(i, i)); },
      [&](int i) {
        return lcs.E(i, i) != 0 ? weights.group_of_row(i) : -1 - weights.group_of_row(i);
      });
  const auto A = [&](int i, int k) {
    return unit[at(i)] * unit[at(k)] * (p[at(i)] * share[at(i)] * lcs.A(i, k));
  };
  const auto E = [&](int i, int k) { return unit[at(i)] * unit[at(k)] * (p[at(i)] * lcs.E(i, k)); };
  if (!all_keep_digits(lcs.A, A) || !all_keep_digits(lcs.E, E)) return 0;
  if (couples_rows_without_rate(lcs, A)) return 0;
  // P E / h - P θ A has a positive symmetric part where every row of it is dominant.
  double longest = inf;
  for (int i = 0; i < n; ++i) longest = std::min(longest, longest_of_row(n, i, E, A));
  return longest;
}

}  // namespace perp
