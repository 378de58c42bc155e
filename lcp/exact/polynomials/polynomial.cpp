#include <perp/lcp/exact/polynomials/polynomial.hpp>

namespace perp {

void trim(Polynomial& a) {
  while (!a.empty() && a.back() == 0) a.pop_back();
}

void add(Polynomial& a, const Polynomial& b, std::size_t shift, const Rational& factor) {
  if (a.size() < b.size() + shift) a.resize(b.size() + shift);
  for (std::size_t k = 0; k < b.size(); ++k)
    if (b[k] != 0) a[k + shift] += factor * b[k];
  trim(a);
}

Polynomial divide(Polynomial& a, const Polynomial& b) {
  Polynomial quotient(a.size() < b.size() ? 0 : a.size() - b.size() + 1);
  while (a.size() >= b.size()) {
    const std::size_t shift = a.size() - b.size();
    quotient[shift] = a.back() / b.back();
    add(a, b, shift, -quotient[shift]);
  }
  return quotient;
}

}  // namespace perp
