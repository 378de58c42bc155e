#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <perp/core/base/error.hpp>
#include <perp/core/linear/least_squares.hpp>
#include <perp/schemes/located/radau/radau_table.hpp>

namespace perp {
namespace {

// All in long double: 64 bits of mantissa leave 11 for what the few operations below lose.
using Real = long double;
using Complex = std::complex<Real>;
using Nodes = std::vector<Real>;

constexpr int most_root_iterations = 200;

struct Value {
  Real value, derivative;
};

/// P_degree and its derivative at x in (-1, 1), by the three-term recurrence.
Value legendre(int degree, Real x) {
  Real before = 1, now = x;
  if (degree == 0) return {1, 0};
  for (int k = 2; k <= degree; ++k) {
    const Real next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
    before = now;
    now = next;
  }
  return {now, degree * (before - x * now) / (1 - x * x)};
}

/// The roots in (-1, 1) of `function`, from `first_guess(i)`, i = 0..count-1, by Newton's method
/// with the roots already found divided out, which therefore are not found again.
template <class Function, class Guess>
Nodes roots(int count, Function function, Guess first_guess) {
  Nodes found;
  for (int i = 0; i < count; ++i) {
    Real x = first_guess(i);
    for (int iteration = 0; iteration < most_root_iterations; ++iteration) {
      const auto [value, derivative] = function(x);
      Real divided = 0;
      for (const Real root : found) divided += 1 / (x - root);
      const Real step = value / (derivative - value * divided);
      x -= step;
      if (std::abs(step) < 1e-19L) break;
    }
    found.push_back(x);
  }
  return found;
}

/// The nodes c: roots of P_s - P_{s-1}, moved to [0, 1].
Nodes radau_nodes(int s) {
  const auto difference = [s](Real x) {
    const Value high = legendre(s, x), low = legendre(s - 1, x);
    return Value{high.value - low.value, high.derivative - low.derivative};
  };
  const auto guess = [s](int i) {  // asymptotic for many stages
    return -std::cos(std::numbers::pi_v<Real> * (2 * i + 1) / (2 * s - 1));
  };
  Nodes c = roots(s - 1, difference, guess);
  for (Real& x : c) x = (1 + x) / 2;
  c.push_back(1);
  return c;
}

Nodes barycentric_weights(const Nodes& x) {
  Nodes w(x.size(), 1);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < x.size(); ++k)
      if (k != i) w[i] /= x[i] - x[k];
  return w;
}

/// (A⁻¹)_ij = ℓ_j'(c_i) with the Lagrange polynomials of the nodes 0, c_1..c_s.
RealMatrix derivative_matrix(const Nodes& c) {
  Nodes x{0};
  x.insert(x.end(), c.begin(), c.end());
  const Nodes w = barycentric_weights(x);
  const auto s = static_cast<Eigen::Index>(c.size());
  RealMatrix D = RealMatrix::Zero(s, s);
  for (std::size_t i = 1; i < x.size(); ++i)
    for (std::size_t j = 1; j < x.size(); ++j) {
      Real& entry = D(static_cast<Eigen::Index>(i - 1), static_cast<Eigen::Index>(j - 1));
      if (i != j) {
        entry = w[j] / w[i] / (x[i] - x[j]);
        continue;
      }
      for (std::size_t k = 0; k < x.size(); ++k)
        if (k != j) entry += 1 / (x[j] - x[k]);
    }
  return D;
}

/// A_ij = ∫_0^{c_i} ℓ_j with the Lagrange polynomials of c_1..c_s, by Gauss' rule, which is exact.
RealMatrix integral_matrix(const Nodes& c) {
  const int points = static_cast<int>(c.size()) / 2 + 1;
  const Nodes gauss = roots(
      points, [points](Real x) { return legendre(points, x); },
      [points](int k) {
        return -std::cos(std::numbers::pi_v<Real> * (4 * k + 3) / (4 * points + 2));
      });
  const Nodes w = barycentric_weights(c);
  const auto s = static_cast<Eigen::Index>(c.size());
  RealMatrix A = RealMatrix::Zero(s, s);
  for (Eigen::Index i = 0; i < s; ++i)
    for (const Real node : gauss) {
      const Real slope = legendre(points, node).derivative;
      const Real share = 1 / ((1 - node * node) * slope * slope);  // of an interval of length 1
      const Real ci = c[static_cast<std::size_t>(i)], x = ci * (1 + node) / 2;
      for (std::size_t j = 0; j < c.size(); ++j) {
        Real l = w[j];
        for (std::size_t k = 0; k < c.size(); ++k)
          if (k != j) l *= x - c[k];
        A(i, static_cast<Eigen::Index>(j)) += ci * share * l;
      }
    }
  return A;
}

/// Coefficients n_j of the nodal polynomial N(τ) = Π (τ - c_i).
Nodes nodal_polynomial(const Nodes& c) {
  Nodes n{1};
  for (const Real root : c) {
    n.insert(n.begin(), 0);
    for (std::size_t j = 0; j + 1 < n.size(); ++j) n[j] -= root * n[j + 1];
  }
  return n;
}

/// N^(k)(τ), k = 0..s.
Nodes derivatives(const Nodes& n, Real tau) {
  Nodes result(n.size(), 0), now = n;
  for (std::size_t k = 0; k < n.size(); ++k) {
    for (std::size_t j = now.size(); j-- > 0;) result[k] = result[k] * tau + now[j];
    for (std::size_t j = 1; j < now.size(); ++j) now[j - 1] = static_cast<Real>(j) * now[j];
    now.pop_back();
  }
  return result;
}

/// The eigenvalues μ of A⁻¹. A⁻¹ differentiates the polynomials u of degree s with u(0) = 0 at the
/// nodes, so an eigenvector is a u with u' - μ u = -N, that is u = Σ_k N^(k) / μ^(k+1), and
/// u(0) = 0 is the equation Σ_k N^(k)(0) μ^(s-k) = 0. All roots at once by Aberth's method,
/// the real one first.
std::vector<Complex> eigenvalues(const Nodes& at_zero) {
  const std::size_t s = at_zero.size() - 1;
  const Real size = std::pow(std::abs(at_zero[s] / at_zero[0]), 1 / static_cast<Real>(s));
  std::vector<Complex> mu(s);
  for (std::size_t i = 0; i < s; ++i)  // on a circle that has no symmetry to the real axis
    mu[i] = std::polar(
        size, 0.4L + 2 * std::numbers::pi_v<Real> * static_cast<Real>(i) / static_cast<Real>(s));
  for (int iteration = 0; iteration < most_root_iterations; ++iteration) {
    Real largest = 0;
    for (std::size_t i = 0; i < s; ++i) {
      Complex value = 0, slope = 0, repelled = 0;
      for (const Real coefficient : at_zero) {
        slope = slope * mu[i] + value;
        value = value * mu[i] + coefficient;
      }
      for (std::size_t k = 0; k < s; ++k)
        if (k != i) repelled += Complex(1) / (mu[i] - mu[k]);
      const Complex newton = value / slope, step = newton / (Complex(1) - newton * repelled);
      mu[i] -= step;
      largest = std::max(largest, std::abs(step) / std::abs(mu[i]));
    }
    if (largest < 1e-18L) break;
  }
  std::ranges::sort(mu, {}, [](const Complex& value) { return std::abs(value.imag()); });
  return mu;
}

/// The eigenvector of μ, largest entry 1.
std::vector<Complex> eigenvector(const Nodes& n, const Nodes& c, Complex mu) {
  std::vector<Complex> u;
  Complex largest = 0;
  for (const Real node : c) {
    const Nodes N = derivatives(n, node);
    Complex sum = 0;
    for (std::size_t k = N.size(); k-- > 0;) sum = (sum + N[k]) / mu;
    u.push_back(sum);
    if (std::abs(sum) > std::abs(largest)) largest = sum;
  }
  for (Complex& value : u) value /= largest;
  return u;
}

void diagonalise(const Nodes& c, RadauTable& table) {
  const Nodes n = nodal_polynomial(c);
  const std::vector<Complex> all = eigenvalues(derivatives(n, 0));
  const auto s = static_cast<Eigen::Index>(c.size());
  RealMatrix T(s, s);
  table.mu = static_cast<double>(all[0].real());
  const std::vector<Complex> v = eigenvector(n, c, all[0].real());
  for (Eigen::Index i = 0; i < s; ++i) T(i, 0) = v[static_cast<std::size_t>(i)].real();
  Eigen::Index column = 1;
  for (const Complex& mu : all) {
    if (mu == all[0] || mu.imag() < 0) continue;
    // A⁻¹ (p + i q) = (α + i β) (p + i q): on p w1 + q w2 it is the multiplication of w1 + i w2 by
    // α - i β
    const std::vector<Complex> u = eigenvector(n, c, mu);
    for (Eigen::Index i = 0; i < s; ++i) {
      T(i, column) = u[static_cast<std::size_t>(i)].real();
      T(i, column + 1) = u[static_cast<std::size_t>(i)].imag();
    }
    column += 2;
    table.pairs.emplace_back(static_cast<double>(mu.real()), static_cast<double>(-mu.imag()));
  }
  table.T = T.cast<double>();
  table.T_inverse = linear::least_squares(T, RealMatrix::Identity(s, s), 0).cast<double>();
}

Vector to_double(const Nodes& values) {
  Vector result(static_cast<Eigen::Index>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    result[static_cast<Eigen::Index>(i)] = static_cast<double>(values[i]);
  return result;
}

}  // namespace

void RadauTable::basis(double x, Eigen::Ref<Vector> l) const {
  for (Eigen::Index j = 0; j <= stages; ++j) {
    l[j] = weights[j];
    for (Eigen::Index k = 0; k <= stages; ++k)
      if (k != j) l[j] *= x - nodes[k];
  }
}

void RadauTable::basis_derivative(double x, Eigen::Ref<Vector> l) const {
  for (Eigen::Index j = 0; j <= stages; ++j) {
    double value = 1, slope = 0;
    for (Eigen::Index k = 0; k <= stages; ++k) {
      if (k == j) continue;
      slope = slope * (x - nodes[k]) + value;
      value *= x - nodes[k];
    }
    l[j] = weights[j] * slope;
  }
}

RadauTable radau_table(int stages) {
  if (stages < 1 || stages % 2 == 0)
    throw InvalidInput(fmt::format("the number of stages must be odd but is {}", stages));
  const Nodes c = radau_nodes(stages);
  Nodes with_start{0};
  with_start.insert(with_start.end(), c.begin(), c.end());
  RadauTable table;
  table.stages = stages;
  table.c = to_double(c);
  table.A = integral_matrix(c).cast<double>();
  table.A_inverse = derivative_matrix(c).cast<double>();
  table.nodes = to_double(with_start);
  table.weights = to_double(barycentric_weights(with_start));
  diagonalise(c, table);
  return table;
}

}  // namespace perp
