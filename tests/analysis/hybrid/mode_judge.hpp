#pragma once

#include <optional>
#include <set>
#include <vector>

#include <perp/tests/analysis/hybrid/random_hybrid.hpp>

// Which values of the binaries continue, from the definition: every value and every released set one
// by one, no sub-problems, Taylor series in rational numbers.
namespace perp::test {

constexpr int judged_orders = 4;  ///< 0 to 3
using Series = std::array<Rational, judged_orders + 1>;

struct JudgedContinuation {
  std::vector<Rational> z;
  std::vector<int> released;
  bool is_strict = true;
  std::vector<Rational> y, rates;
};

class ModeJudge {
 public:
  explicit ModeJudge(const RandomHybrid& model) : m_(model) {}

  /// All of them; `is_judged` becomes false where roots coincide or what slides is not determined.
  std::vector<JudgedContinuation> continuations(int most_released) {
    std::vector<JudgedContinuation> result;
    std::vector<int> z(static_cast<std::size_t>(m_.q), 0);
    for (;;) {
      if (std::count(z.begin(), z.end(), 2) <= most_released)
        for (const bool swapped : {false, true}) {
          if (swapped && m_.roots.first < 0) continue;
          if (auto found = judge(z, swapped)) result.push_back(*found);
        }
      std::size_t k = 0;
      while (k < z.size() && z[k] == 2) z[k++] = 0;
      if (k == z.size()) break;
      ++z[k];
    }
    return result;
  }

  bool is_judged = true;

 private:
  using Face = std::map<std::vector<int>, Rational>;  // coefficients by the signals

  [[nodiscard]] Face face(const Polynomial& g, const std::vector<int>& z) const {
    Face result;
    for (const Term& term : g) {
      std::vector<int> signals;
      Rational factor = term.factor;
      for (const int s : term.signals) {
        if (s < m_.z(0))
          signals.push_back(s);
        else
          factor *= Rational(z[static_cast<std::size_t>(s - m_.z(0))]);
      }
      std::sort(signals.begin(), signals.end());
      result[signals] += factor;
    }
    std::erase_if(result, [](const auto& entry) { return entry.second == 0; });
    return result;
  }

  /// κ with a = κ b, 0: none.
  static Rational multiple(const Face& a, const Face& b) {
    if (a.empty() || a.size() != b.size()) return 0;
    const Rational kappa = a.begin()->second / b.begin()->second;
    for (auto i = a.begin(), k = b.begin(); i != a.end(); ++i, ++k)
      if (i->first != k->first || !(i->second == kappa * k->second)) return 0;
    return kappa;
  }

  /// z with the released binaries, but one, at each combination of their ends.
  [[nodiscard]] static std::vector<std::vector<int>> corners(const std::vector<int>& z, int but) {
    std::vector<std::vector<int>> result{z};
    for (std::size_t i = 0; i < z.size(); ++i) {
      if (z[i] != 2 || static_cast<int>(i) == but) continue;
      std::vector<std::vector<int>> more;
      for (const std::vector<int>& corner : result)
        for (const int value : {0, 1}) {
          more.push_back(corner);
          more.back()[i] = value;
        }
      result = std::move(more);
    }
    return result;
  }

  std::optional<Face> surface_at(std::vector<int> corner, int r) const {
    const auto at = static_cast<std::size_t>(r);
    for (const RandomRow& low : m_.rows) {
      if (std::find(low.owners.begin(), low.owners.end(), r) == low.owners.end()) continue;
      corner[at] = 0;
      const Face s = face(low.g, corner);
      if (s.empty()) continue;
      for (const RandomRow& high : m_.rows) {
        if (std::find(high.owners.begin(), high.owners.end(), r) == high.owners.end()) continue;
        corner[at] = 1;
        if (multiple(face(high.g, corner), s) < Rational(0)) return s;
      }
    }
    return std::nullopt;
  }

  std::optional<Face> surface(const std::vector<int>& z, int r) const {
    std::optional<Face> first;
    for (const std::vector<int>& corner : corners(z, r)) {
      const std::optional<Face> here = surface_at(corner, r);
      if (!here) return std::nullopt;
      if (!first) first = here;
      if (!(multiple(*here, *first) > Rational(0))) return std::nullopt;
    }
    return first;
  }

  static Series product(const Series& a, const Series& b) {
    Series c;
    for (int i = 0; i <= judged_orders; ++i)
      for (int k = 0; i + k <= judged_orders; ++k)
        c[static_cast<std::size_t>(i + k)] +=
            a[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(k)];
    return c;
  }

  [[nodiscard]] Series value(const Polynomial& f, const std::vector<Series>& signals) const {
    Series sum;
    for (const Term& term : f) {
      Series one;
      one[0] = term.factor;
      for (const int s : term.signals) one = product(one, signals[static_cast<std::size_t>(s)]);
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += one[k];
    }
    return sum;
  }

  [[nodiscard]] static Series value(const Face& f, const std::vector<Series>& signals) {
    Series sum;
    for (const auto& [factors, c] : f) {
      Series one;
      one[0] = c;
      for (const int s : factors) one = product(one, signals[static_cast<std::size_t>(s)]);
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += one[k];
    }
    return sum;
  }

  /// x and y along the solution, the binaries as they are.
  void integrate(std::vector<Series>& signals, bool swapped) const {
    for (int k = 0; k < judged_orders; ++k) {
      read_algebraic(signals, swapped);
      for (int j = 0; j < m_.n; ++j)
        signals[static_cast<std::size_t>(j)][static_cast<std::size_t>(k + 1)] =
            value(m_.rates[static_cast<std::size_t>(j)], signals)[static_cast<std::size_t>(k)] /
            Rational(k + 1);
    }
    read_algebraic(signals, swapped);
  }

  void read_algebraic(std::vector<Series>& signals, bool swapped) const {
    for (int i = 0; i < m_.p; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto own = static_cast<std::size_t>(m_.y(i));
      if (i == m_.roots.first) {
        signals[own + (swapped ? 1 : 0)] = value(m_.algebraic[at], signals);
        signals[own + (swapped ? 0 : 1)] = value(m_.algebraic[at + 1], signals);
        ++i;
      } else {
        signals[own] = value(m_.algebraic[at], signals);
      }
    }
  }

  /// The released binaries, order by order: s(order k + 1) is affine in their coefficients k. False:
  /// they are not determined.
  bool slide(const std::vector<int>& released, const std::vector<Face>& surfaces,
             std::vector<Series>& signals, bool swapped) {
    const std::size_t count = released.size();
    for (int k = 0; k < judged_orders - 1; ++k) {
      const auto at_order = static_cast<std::size_t>(k);
      const auto residual = [&] {
        integrate(signals, swapped);
        std::vector<Rational> result;
        for (const Face& s : surfaces) result.push_back(value(s, signals)[at_order + 1]);
        return result;
      };
      const auto z_of = [&](std::size_t i) -> Rational& {
        return signals[static_cast<std::size_t>(m_.z(released[i]))][at_order];
      };
      for (std::size_t i = 0; i < count; ++i) z_of(i) = 0;
      const std::vector<Rational> rest = residual();
      std::vector<std::vector<Rational>> matrix(count, std::vector<Rational>(count + 1));
      for (std::size_t i = 0; i < count; ++i) {
        z_of(i) = 1;
        const std::vector<Rational> moved = residual();
        z_of(i) = 0;
        for (std::size_t row = 0; row < count; ++row) matrix[row][i] = moved[row] - rest[row];
      }
      for (std::size_t row = 0; row < count; ++row) matrix[row][count] = -rest[row];
      // A surface whose derivative holds no binary: a further one may determine them.
      for (const std::vector<Rational>& row : matrix)
        if (std::all_of(row.begin(), row.end(), [](const Rational& c) { return c == 0; }))
          is_judged = false;
      if (!eliminate(matrix)) return false;
      for (std::size_t i = 0; i < count; ++i) z_of(i) = matrix[i][count];
    }
    integrate(signals, swapped);
    return true;
  }

  /// Gauss and Jordan. False: singular.
  static bool eliminate(std::vector<std::vector<Rational>>& a) {
    for (std::size_t c = 0; c < a.size(); ++c) {
      std::size_t pivot = c;
      while (pivot < a.size() && a[pivot][c] == 0) ++pivot;
      if (pivot == a.size()) return false;
      std::swap(a[c], a[pivot]);
      const Rational scale = Rational(1) / a[c][c];
      for (Rational& entry : a[c]) entry *= scale;
      for (std::size_t row = 0; row < a.size(); ++row) {
        if (row == c || a[row][c] == 0) continue;
        const Rational factor = a[row][c];
        for (std::size_t k = c; k <= a.size(); ++k) a[row][k] -= factor * a[c][k];
      }
    }
    return true;
  }

  /// Of the first of orders 0 to 3 (or fewer) that is not 0.
  static int sign_of(const Series& g, int orders) {
    for (int k = 0; k < orders; ++k)
      if (const int sign = g[static_cast<std::size_t>(k)].sign(); sign != 0) return sign;
    return 0;
  }

  [[nodiscard]] bool is_held(const RandomRow& row, const std::vector<int>& z,
                             const std::vector<Face>& surfaces) const {
    for (const std::vector<int>& corner : corners(z, -1)) {
      const Face f = face(row.g, corner);
      if (!f.empty() && std::none_of(surfaces.begin(), surfaces.end(), [&](const Face& s) {
            return !(multiple(f, s) == 0);
          }))
        return false;
    }
    return true;
  }

  [[nodiscard]] bool holds(const RandomRow& row, const std::vector<int>& binaries) const {
    for (const Term& term : row.g)
      for (const int s : term.signals)
        if (std::find(binaries.begin(), binaries.end(), s - m_.z(0)) != binaries.end()) return true;
    return false;
  }

  std::optional<JudgedContinuation> judge(const std::vector<int>& z, bool swapped) {
    JudgedContinuation result;
    std::vector<Face> surfaces;
    std::vector<Series> signals(static_cast<std::size_t>(m_.n + m_.p + m_.q));
    for (int j = 0; j < m_.n; ++j)
      signals[static_cast<std::size_t>(j)][0] = m_.x[static_cast<std::size_t>(j)];
    for (int i = 0; i < m_.q; ++i) {
      const int value = z[static_cast<std::size_t>(i)];
      signals[static_cast<std::size_t>(m_.z(i))][0] = value == 2 ? 0 : value;
      if (value != 2) continue;
      result.released.push_back(i);
      const std::optional<Face> s = surface(z, i);
      if (!s) return std::nullopt;
      surfaces.push_back(*s);
    }
    if (!result.released.empty()) {
      for (const Face& s : surfaces)
        if (!(value(s, signals)[0] == 0)) return std::nullopt;
      if (!slide(result.released, surfaces, signals, swapped)) return std::nullopt;
    } else {
      integrate(signals, swapped);
    }
    if (m_.roots.first >= 0) {
      const auto own = static_cast<std::size_t>(m_.y(m_.roots.first));
      if (signals[own][0] == signals[own + 1][0]) is_judged = false;
    }
    if (!keeps(z, result.released, surfaces, signals, result)) return std::nullopt;
    for (int i = 0; i < m_.q; ++i)
      result.z.push_back(signals[static_cast<std::size_t>(m_.z(i))][0]);
    for (int i = 0; i < m_.p; ++i)
      result.y.push_back(signals[static_cast<std::size_t>(m_.y(i))][0]);
    for (int j = 0; j < m_.n; ++j)
      result.rates.push_back(signals[static_cast<std::size_t>(j)][1]);
    return result;
  }

  bool keeps(const std::vector<int>& z, const std::vector<int>& released,
             const std::vector<Face>& surfaces, const std::vector<Series>& signals,
             JudgedContinuation& result) const {
    const int orders = released.empty() ? judged_orders : judged_orders - 1;
    for (const RandomRow& row : m_.rows) {
      if (holds(row, released)) {
        if (is_held(row, z, surfaces)) continue;
      } else if (face(row.g, z).empty()) {
        continue;
      }
      const int sign = sign_of(value(row.g, signals), orders);
      if (sign > 0) return false;
      if (sign == 0) result.is_strict = false;
    }
    for (const int i : released) {
      Series low = signals[static_cast<std::size_t>(m_.z(i))], high = low;
      for (Rational& c : high) c = -c;
      high[0] += 1;
      for (const Series& end : {low, high}) {
        const int sign = sign_of(end, judged_orders - 1);
        if (sign < 0) return false;
        if (sign == 0) result.is_strict = false;
      }
    }
    return true;
  }

  const RandomHybrid& m_;
};

}  // namespace perp::test
