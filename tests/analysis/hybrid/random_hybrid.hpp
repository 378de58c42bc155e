#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <perp/core/base/rational.hpp>

// Random hybrid models in explicit form, from which texts in implicit form are written.
namespace perp::test {

/// Σ c Π of signals: x (0..n-1), y (n..n+p-1), z (n+p..n+p+q-1).
struct Term {
  Rational factor;
  std::vector<int> signals;
};
using Polynomial = std::vector<Term>;

/// Two algebraic variables y_i, y_i+1 that are the two roots of one quadratic: (a, b) or (b, a).
struct RootPair {
  int first = -1;  ///< y, -1: none
};

/// g <= 0, and the binaries it was made for.
struct RandomRow {
  Polynomial g;
  std::vector<int> owners;
};

/// ẋ_j = rates[j](x, y, z);  y_i = algebraic[i](x, y_1..i-1, z), but for a pair of roots, whose two
/// polynomials are its values.
struct RandomHybrid {
  int n = 0, p = 0, q = 0;
  std::vector<Polynomial> rates, algebraic;
  RootPair roots;
  std::vector<RandomRow> rows;
  std::vector<Rational> x, y_before;
  std::vector<int> previous;
  std::array<int, 2> mixed{-1, -1};  ///< states whose equations are written as two combinations

  [[nodiscard]] int y(int i) const { return n + i; }
  [[nodiscard]] int z(int i) const { return n + p + i; }
};

inline Polynomial times(const Polynomial& a, const Polynomial& b) {
  Polynomial product;
  for (const Term& s : a)
    for (const Term& t : b) {
      Term term{s.factor * t.factor, s.signals};
      term.signals.insert(term.signals.end(), t.signals.begin(), t.signals.end());
      product.push_back(std::move(term));
    }
  return product;
}

inline Polynomial plus(Polynomial a, const Polynomial& b, const Rational& factor = 1) {
  for (const Term& term : b) a.push_back({factor * term.factor, term.signals});
  return a;
}

inline Polynomial constant(const Rational& value) { return {{value, {}}}; }
inline Polynomial signal(int index) { return {{1, {index}}}; }
/// a s + b
inline Polynomial affine(const Rational& a, int s, const Rational& b) {
  return {{a, {s}}, {b, {}}};
}

/// Draws models of 1 to 3 states, 0 to 3 algebraic variables and 0 to `most_binaries` binaries. All
/// numbers are small dyadic ones and the states lie on surfaces more often than not. Binaries that
/// may slide enter linearly.
class HybridGenerator {
 public:
  explicit HybridGenerator(unsigned seed) : random_(seed) {}

  RandomHybrid draw(int most_binaries) {
    RandomHybrid m;
    m.n = whole(1, 3);
    m.p = whole(0, 3);
    m.q = whole(0, 9) == 0 ? 0 : whole(1, most_binaries);
    if (m.p >= 2 && whole(0, 2) == 0) m.roots.first = whole(0, m.p - 2);
    for (int j = 0; j < m.n; ++j) m.x.emplace_back(whole(-1, 1));
    for (int i = 0; i < m.p; ++i) m.y_before.emplace_back(whole(-9, 9), 8 + i);
    for (int i = 0; i < m.q; ++i) m.previous.push_back(whole(0, 1));
    may_slide_.assign(static_cast<std::size_t>(m.q), 0);
    draw_rows(m);
    for (int i = 0; i < m.p; ++i) m.algebraic.push_back(function(m, i, true));
    for (int j = 0; j < m.n; ++j) m.rates.push_back(function(m, m.p, false));
    draw_downstream(m);
    if (m.n > 1 && whole(0, 3) == 0) m.mixed = {0, 1};
    if (whole(0, 4) == 0)
      m.rows.push_back({affine(sign(), whole(0, m.n - 1), whole(-2, 0)), {}});
    return m;
  }

  int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

 private:
  int sign() { return whole(0, 1) == 0 ? 1 : -1; }

  /// A function of x, the y before number `known`, and z. Binaries that may slide enter rates
  /// alone, linearly: algebraic variables are functions of the others.
  Polynomial function(const RandomHybrid& m, int known, bool is_algebraic) {
    Polynomial f = constant(Rational(whole(-4, 4), 2));
    for (int j = 0; j < m.n; ++j)
      if (whole(0, 1) == 0) f.push_back({Rational(whole(-2, 2), 2), {j}});
    for (int i = 0; i < m.q; ++i) {
      if (may_slide_[static_cast<std::size_t>(i)] != 0) {
        if (!is_algebraic) f.push_back({Rational(whole(-4, 4)), {m.z(i)}});
        continue;
      }
      if (whole(0, 1) == 0) continue;
      Term term{whole(-2, 2), {m.z(i)}};
      if (const int with = whole(0, 3); with == 0) term.signals.push_back(whole(0, m.n - 1));
      f.push_back(std::move(term));
    }
    for (int k = 0; k < known; ++k)
      if (whole(0, 2) == 0) f.push_back({sign(), {m.y(k)}});
    if (is_algebraic) return without_pair(m, known, f);
    return f;
  }

  /// The second root of a pair does not hold the first one.
  static Polynomial without_pair(const RandomHybrid& m, int i, Polynomial f) {
    if (m.roots.first >= 0 && i == m.roots.first + 1)
      std::erase_if(f, [&](const Term& term) {
        return std::find(term.signals.begin(), term.signals.end(), m.y(i - 1)) !=
               term.signals.end();
      });
    return f;
  }

  void draw_rows(RandomHybrid& m) {
    for (int i = 0; i < m.q;) {
      const int kind = whole(0, 9);
      if (kind <= 1 && i + 1 < m.q) {
        if (kind == 0)
          draw_tank(m, i);
        else
          draw_heaters(m, i);
        i += 2;
      } else {
        draw_single(m, i++);
      }
    }
  }

  /// (L - x)(1 - z1 + z2) <= 0, (x - H)(1 - z2 + z1) <= 0
  void draw_tank(RandomHybrid& m, int i) {
    const int s = whole(0, m.n - 1), low = whole(-1, 1), width = whole(0, 2);
    const Polynomial first{{1, {}}, {-1, {m.z(i)}}, {1, {m.z(i + 1)}}};
    const Polynomial second{{1, {}}, {-1, {m.z(i + 1)}}, {1, {m.z(i)}}};
    m.rows.push_back({times(affine(-1, s, low), first), {i, i + 1}});
    m.rows.push_back({times(affine(1, s, -(low + width)), second), {i, i + 1}});
    may_slide_[static_cast<std::size_t>(i)] = may_slide_[static_cast<std::size_t>(i + 1)] =
        width == 0 ? 1 : 0;
  }

  /// (L - x)(1 - z1)(1 - z2) <= 0, (x - H)(1 - (1 - z1)(1 - z2)) <= 0
  void draw_heaters(RandomHybrid& m, int i) {
    const int s = whole(0, m.n - 1), low = whole(-1, 1), width = whole(1, 2);
    const Polynomial off =
        times(plus(constant(1), signal(m.z(i)), -1), plus(constant(1), signal(m.z(i + 1)), -1));
    m.rows.push_back({times(affine(-1, s, low), off), {i, i + 1}});
    m.rows.push_back(
        {times(affine(1, s, -(low + width)), plus(constant(1), off, -1)), {i, i + 1}});
  }

  /// A relay, a band, a range that is void for one value; some hold for one value of another binary
  /// only.
  void draw_single(RandomHybrid& m, int i) {
    const int kind = whole(0, 4), s = whole(0, m.n - 1), up = sign(), low = whole(-1, 1);
    const Polynomial is_off = plus(constant(1), signal(m.z(i)), -1), is_on = signal(m.z(i));
    const Polynomial off = affine(-up, s, up * low);
    Polynomial on = affine(up, s, -up * low);
    const bool slides = kind <= 1;
    if (slides) on = times(constant(whole(1, 2)), on);
    if (kind == 2 || kind == 3) on = affine(up, s, -up * (low + up * whole(1, 2)));
    Polynomial g = times(off, is_off);
    if (kind < 4) g = plus(g, times(on, is_on));
    may_slide_[static_cast<std::size_t>(i)] = slides ? 1 : 0;
    if (i > 0 && may_slide_[static_cast<std::size_t>(i - 1)] == 0 && whole(0, 3) == 0)
      g = times(g, plus(constant(1), signal(m.z(i - 1)), -1));
    m.rows.push_back({g, {i}});
  }

  /// Some bands of a state become bands of an algebraic variable.
  void draw_downstream(RandomHybrid& m) {
    for (RandomRow& row : m.rows) {
      if (m.p == 0 || row.owners.size() != 1 || whole(0, 3) != 0) continue;
      if (may_slide_[static_cast<std::size_t>(row.owners[0])] != 0) continue;
      const int y = whole(0, m.p - 1), i = row.owners[0];
      if (algebraic_holds(m, y, m.z(i))) continue;
      const int low = whole(-2, 1);
      row.g = plus(times(affine(1, m.y(y), -(low + 1)), plus(constant(1), signal(m.z(i)), -1)),
                   times(affine(-1, m.y(y), low), signal(m.z(i))));
    }
  }

  static bool algebraic_holds(const RandomHybrid& m, int y, int index) {
    std::vector<int> open{y};
    if (m.roots.first >= 0 && (y == m.roots.first || y == m.roots.first + 1))
      open = {m.roots.first, m.roots.first + 1};
    while (!open.empty()) {
      const int k = open.back();
      open.pop_back();
      for (const Term& term : m.algebraic[static_cast<std::size_t>(k)])
        for (const int s : term.signals) {
          if (s == index) return true;
          if (s >= m.n && s < m.n + m.p && s - m.n < k) open.push_back(s - m.n);
          const bool is_root = m.roots.first >= 0 && (s - m.n == m.roots.first + 1);
          if (is_root && m.roots.first < k) open.push_back(m.roots.first);
        }
    }
    return false;
  }

  std::mt19937 random_;
  std::vector<char> may_slide_;
};

/// How a model is written: orders, positive factors of rows, units of the signals.
struct Writing {
  std::vector<int> equations{}, constraints{}, variables{};  ///< orders; empty: as they are
  std::vector<double> factors{};                             ///< of the constraints
  std::vector<double> units{};                               ///< of x and y
};

class HybridText {
 public:
  HybridText(const RandomHybrid& model, Writing writing) : m_(model), w_(std::move(writing)) {}

  [[nodiscard]] std::string text() const {
    std::string result = "[variables]\n";
    for (const int v : order(w_.variables, m_.n + m_.p)) {
      const Rational start = v < m_.n ? m_.x[static_cast<std::size_t>(v)]
                                      : m_.y_before[static_cast<std::size_t>(v - m_.n)];
      result += name(v) + " = { start = " + number(to_double(start) * unit(v)) +
                ", nominal = " + number(unit(v) == 1 ? 2 : 2 * unit(v)) + " }\n";
    }
    result += "[binaries]\n";
    for (int i = 0; i < m_.q; ++i)
      result += name(m_.z(i)) + " = " +
                std::to_string(m_.previous[static_cast<std::size_t>(i)]) + "\n";
    const std::vector<std::string> rows = equations();
    result += "[model]\nequations = [\n";
    for (const int k : order(w_.equations, m_.n + m_.p))
      result += "\"" + rows[static_cast<std::size_t>(k)] + "\",\n";
    result += "]\nconstraints = [\n";
    for (const int l : order(w_.constraints, static_cast<int>(m_.rows.size()))) {
      const auto at = static_cast<std::size_t>(l);
      const double factor = w_.factors.empty() ? 1 : w_.factors[at];
      result += "{ name = \"c" + std::to_string(l + 1) + "\", g = \"" + number(factor) + "*(" +
                sum(m_.rows[at].g) + ") <= 0\" },\n";
    }
    return result + "]\n[run]\nt = [0, 10]\n";
  }

 private:
  static std::vector<int> order(const std::vector<int>& given, int count) {
    std::vector<int> result = given;
    for (int k = 0; result.empty() && k < count; ++k) result.push_back(k);
    if (given.empty())
      while (static_cast<int>(result.size()) < count)
        result.push_back(static_cast<int>(result.size()));
    return result;
  }

  [[nodiscard]] double unit(int v) const {
    return w_.units.empty() ? 1 : w_.units[static_cast<std::size_t>(v)];
  }

  static std::string number(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.17g", value);
    return text.data();
  }

  [[nodiscard]] std::string name(int s) const {
    if (s < m_.n) return "x" + std::to_string(s + 1);
    if (s < m_.n + m_.p) return "y" + std::to_string(s - m_.n + 1);
    return "z" + std::to_string(s - m_.n - m_.p + 1);
  }

  /// The signal in the units of the polynomials.
  [[nodiscard]] std::string value(int s, bool is_rate = false) const {
    const std::string own = is_rate ? "der(" + name(s) + ")" : name(s);
    if (s >= m_.n + m_.p || unit(s) == 1) return own;
    return "(" + own + "/" + number(unit(s)) + ")";
  }

  [[nodiscard]] std::string sum(const Polynomial& f) const {
    std::string text = "0";
    for (const Term& term : f) {
      text += " + (" + number(to_double(term.factor)) + ")";
      for (const int s : term.signals) text += "*" + value(s);
    }
    return text;
  }

  [[nodiscard]] std::vector<std::string> equations() const {
    std::vector<std::string> rows;
    for (int j = 0; j < m_.n; ++j)
      rows.push_back(value(j, true) + " - (" + sum(m_.rates[static_cast<std::size_t>(j)]) + ")");
    if (m_.mixed[0] >= 0) {
      const auto a = static_cast<std::size_t>(m_.mixed[0]), b = static_cast<std::size_t>(m_.mixed[1]);
      const std::string first = rows[a], second = rows[b];
      rows[a] = first + " + 2*(" + second + ")";
      rows[b] = second + " - 0.5*(" + first + ")";
    }
    for (int i = 0; i < m_.p; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (i == m_.roots.first) {
        rows.push_back(value(m_.y(i)) + " + " + value(m_.y(i + 1)) + " - (" +
                       sum(plus(m_.algebraic[at], m_.algebraic[at + 1])) + ")");
        rows.push_back(value(m_.y(i)) + "*" + value(m_.y(i + 1)) + " - (" +
                       sum(m_.algebraic[at]) + ")*(" + sum(m_.algebraic[at + 1]) + ")");
        ++i;
      } else {
        rows.push_back(value(m_.y(i)) + " - (" + sum(m_.algebraic[at]) + ")");
      }
    }
    for (std::string& row : rows) row += " = 0";
    return rows;
  }

  const RandomHybrid& m_;
  Writing w_;
};

}  // namespace perp::test
