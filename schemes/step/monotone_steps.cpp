#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/lcp/parametric/certificate.hpp>
#include <perp/schemes/step/monotone_steps.hpp>

namespace perp {
namespace {

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

/// A diagonal P > 0 with P B = C' S exactly, kept as quotients. Rows of B without entries get
/// theirs from what couples them in A, so that terms cancel there.
class Weights {
 public:
  Weights(const Lcs& lcs, const std::vector<double>& signs)
      : lcs_(lcs), p_(at(lcs.n()), 0.0), group_(at(lcs.n()), 0) {
    for (int i = 0; i < lcs.n() && exist_; ++i) exist_ = take_from_laws(i, signs);
    if (!exist_) return;
    std::vector<int> waiting;
    for (int i = 0; i < lcs.n(); ++i)
      if (p_[at(i)] != 0) waiting.push_back(i);
    reach_from(std::move(waiting), 0);
    // What no law is coupled with may have any weight, if nothing compares it with others.
    for (int i = 0; i < lcs.n(); ++i) {
      if (p_[at(i)] != 0) continue;
      p_[at(i)] = 1;
      reach_from({i}, i + 1);
    }
    exist_ =
        std::ranges::all_of(p_, [](double p) { return p > 0 && p < inf; }) && !compares_units();
  }

  [[nodiscard]] bool exist() const { return exist_; }
  /// Good to a rounding.
  [[nodiscard]] const std::vector<double>& values() const { return p_; }

 private:
  /// p_i = S_j C_ji / B_ij, the same for every j to the last bit.
  bool take_from_laws(int i, const std::vector<double>& signs) {
    double over = 0, under = 0;
    for (int j = 0; j < lcs_.m(); ++j) {
      const double c = signs[at(j)] * lcs_.C(j, i), b = lcs_.B(i, j);
      if (c == 0 && b == 0) continue;
      if (!(c * b > 0)) return false;
      if (under == 0) {
        over = c;
        under = b;
        continue;
      }
      const DoubleDouble left = two_product(over, b), right = two_product(c, under);
      if (left.high != right.high || left.low != right.low) return false;
    }
    if (under != 0) p_[at(i)] = over / under;
    return true;
  }

  /// p_i A_ik + p_k A_ki = 0 where they can cancel, else p_i A_ik = p_k A_ki.
  void reach_from(std::vector<int> waiting, int group) {
    for (const int i : waiting) group_[at(i)] = group;
    for (std::size_t next = 0; next < waiting.size(); ++next)
      for (int k = 0, i = waiting[next]; k < lcs_.n(); ++k) {
        const double there = lcs_.A(i, k), back = lcs_.A(k, i);
        if (p_[at(k)] != 0 || there == 0 || back == 0) continue;
        p_[at(k)] = p_[at(i)] * std::abs(there / back);
        group_[at(k)] = group;
        waiting.push_back(k);
      }
  }

  /// Is there an entry between groups, whose weights have no common unit?
  [[nodiscard]] bool compares_units() const {
    for (int k = 0; k < lcs_.n(); ++k)
      for (int i = 0; i < lcs_.n(); ++i)
        if (group_[at(i)] != group_[at(k)] && (lcs_.A(i, k) != 0 || lcs_.E(i, k) != 0)) return true;
    return false;
  }

  const Lcs& lcs_;
  std::vector<double> p_;
  std::vector<int> group_;  // weights of one group have a common unit
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

/// Is S D + (S D)' diagonally dominant with a diagonal >= 0? Exactly.
bool is_dominant(const Matrix& D, const std::vector<double>& signs) {
  const int m = static_cast<int>(D.rows());
  for (int i = 0; i < m; ++i) {
    Rational rest = 0;
    bool has_rest = false;
    for (int k = 0; k < m; ++k) {
      const double there = signs[at(i)] * D(i, k), back = signs[at(k)] * D(k, i);
      if (k == i || there + back == 0) continue;  // a sum of doubles is 0 where it rounds to 0
      const Rational sum = Rational(there) + Rational(back);
      rest += sum < 0 ? -sum : sum;
      has_rest = true;
    }
    const double own = signs[at(i)] * D(i, i);
    if (own < 0 || (has_rest && Rational(own) * 2 < rest)) return false;
  }
  return true;
}

}  // namespace

double longest_monotone_step(const StepEquations& equations) {
  const Lcs& lcs = equations.lcs();
  const int n = lcs.n();
  const auto signs = signs_of(lcs.laws);
  if (!signs || !is_dominant(lcs.D, *signs)) return 0;
  const Weights weights(lcs, *signs);
  if (!weights.exist()) return 0;
  const std::vector<double>& p = weights.values();
  std::vector<double> share(at(n), equations.theta());  // of A in the rows of a step
  for (const int i : equations.algebraic_rows()) share[at(i)] = 1;
  const auto A = [&](int i, int k) { return p[at(i)] * share[at(i)] * lcs.A(i, k); };
  const auto E = [&](int i, int k) { return p[at(i)] * lcs.E(i, k); };
  // P E / h - P θ A has a positive symmetric part where every row of it is dominant.
  double longest = inf;
  for (int i = 0; i < n; ++i) {
    const double own = A(i, i), stored = E(i, i);
    const double loss = own + 8 * unit_roundoff * std::abs(own) + beside_diagonal(n, i, A);
    const double gain = stored * (1 - 8 * unit_roundoff) - beside_diagonal(n, i, E);
    if (gain < 0 || (gain == 0 && !(loss < 0))) return 0;
    if (loss > 0) longest = std::min(longest, gain / loss * (1 - 8 * unit_roundoff));
  }
  return longest;
}

}  // namespace perp
