// What functions of time that are known by their bounds add to a solution; called by inclusion
// phases.
#include <vector>

#include <perp/analysis/enclosure/inclusion/deviation.hpp>

namespace perp::enclosure {
namespace {

constexpr int terms = 8;   ///< p
constexpr int slices = 8;  ///< of a step, for the signs of K

/// Σ_k c_k τ^k
Interval value(const std::vector<Interval>& c, const Interval& tau) {
  Interval sum = c.back();
  for (int k = static_cast<int>(c.size()) - 2; k >= 0; --k)
    sum = sum * tau + c[static_cast<std::size_t>(k)];
  return sum;
}

/// ∫ K v over the slice from a to b.
Interval integral(const std::vector<Interval>& c, const Interval& a, const Interval& b,
                  const Interval& v) {
  const Interval K = value(c, hull(a, b));
  if (!(K.lo >= 0 || K.hi <= 0)) return (b - a) * K * v;
  Interval sum, of_a = a, of_b = b;
  for (std::size_t k = 0; k < c.size(); ++k) {
    sum += c[k] * (of_b - of_a) / Interval(static_cast<double>(k + 1));
    of_a *= a;
    of_b *= b;
  }
  return sum * v;
}

/// Adds ∫ K v over a step, slice by slice.
void add_integral(Interval& sum, const std::vector<Interval>& c, const Interval& h,
                  const Interval& v) {
  for (int k = 0; k < slices; ++k)
    sum += integral(c, h * Interval(k) / Interval(slices), h * Interval(k + 1) / Interval(slices), v);
}

IntervalMatrix divided(IntervalMatrix a, double by) {
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < a.columns(); ++j) a(i, j) = a(i, j) / Interval(by);
  return a;
}

}  // namespace

Box deviation(const IntervalMatrix& A, const IntervalMatrix& B, const Box& v, const Box& D,
              const Interval& h) {
  std::vector<IntervalMatrix> powers{B};  // A^k B / k!
  for (int k = 1; k < terms; ++k) powers.push_back(divided(A * powers.back(), k));
  Box e(D.size());
  for (std::size_t i = 0; i < e.size(); ++i) e[i] = h * D[i];
  for (int k = 1; k <= terms; ++k) {  // h^(k+1)/(k+1)! A^k D
    e = A * e;
    for (Interval& value : e) value = h * value / Interval(k + 1);
  }
  std::vector<Interval> entry(terms);
  for (int i = 0; i < A.rows(); ++i)
    for (int a = 0; a < B.columns(); ++a) {
      for (int k = 0; k < terms; ++k)
        entry[static_cast<std::size_t>(k)] = powers[static_cast<std::size_t>(k)](i, a);
      add_integral(e[static_cast<std::size_t>(i)], entry, h, v[static_cast<std::size_t>(a)]);
    }
  return e;
}

}  // namespace perp::enclosure
