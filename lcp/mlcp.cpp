#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/error.hpp>
#include <perp/lcp/mlcp.hpp>

namespace perp {
namespace {

void check_matrix(const char* name, const Matrix& matrix, int rows, int columns) {
  if (matrix.rows() != rows || matrix.cols() != columns)
    throw InvalidInput(fmt::format("{} must be {}x{} but is {}x{}", name, rows, columns,
                                   matrix.rows(), matrix.cols()));
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i)
      if (!std::isfinite(matrix(i, j)))
        throw InvalidInput(
            fmt::format("{}({}, {}) must be finite but is {}", name, i + 1, j + 1, matrix(i, j)));
}

void check_size(const char* name, const Vector& vector, int size) {
  if (vector.size() != size)
    throw InvalidInput(
        fmt::format("{} must have {} entries but has {}", name, size, vector.size()));
}

void check_vector(const char* name, const Vector& vector, int size) {
  check_size(name, vector, size);
  for (int i = 0; i < size; ++i)
    if (!std::isfinite(vector[i]))
      throw InvalidInput(fmt::format("{}({}) must be finite but is {}", name, i + 1, vector[i]));
}

/// Entry (i, j) of [M11 M12; M21 M22].
double entry(const Mlcp& problem, int i, int j) {
  const int p = problem.p();
  if (i < p) return j < p ? problem.M11(i, j) : problem.M12(i, j - p);
  return j < p ? problem.M21(i - p, j) : problem.M22(i - p, j - p);
}

double constant(const Mlcp& problem, int i) {
  return i < problem.p() ? problem.q1[i] : problem.q2[i - problem.p()];
}

int exponent(double value) { return std::ilogb(value); }

// Scaling ---------------------------------------------------------------------------------------

/// One equation  R_i - C_j = e  for the logarithms of the row scale R and the unknown's scale C.
struct Edge {
  int row;
  int column;
  double e;
};

/// Entries too small beside both their row and their column say nothing about units.
constexpr int negligible_exponent = -50;

std::vector<Edge> scaling_equations(const Mlcp& problem) {
  const int n = problem.p() + problem.m();
  std::vector<int> row_max(static_cast<std::size_t>(n), std::numeric_limits<int>::min() / 2);
  std::vector<int> column_max = row_max;
  std::vector<Edge> all;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const double value = entry(problem, i, j);
      if (value == 0) continue;
      const int e = exponent(value);
      row_max[static_cast<std::size_t>(i)] = std::max(row_max[static_cast<std::size_t>(i)], e);
      column_max[static_cast<std::size_t>(j)] =
          std::max(column_max[static_cast<std::size_t>(j)], e);
      all.push_back({i, j, static_cast<double>(e)});
    }
  std::erase_if(all, [&](const Edge& edge) {
    return edge.e < row_max[static_cast<std::size_t>(edge.row)] + negligible_exponent &&
           edge.e < column_max[static_cast<std::size_t>(edge.column)] + negligible_exponent;
  });
  for (int i = 0; i < problem.m(); ++i)
    for (const Branch& branch : problem.laws[static_cast<std::size_t>(i)].branches)
      if (branch.a != 0 && branch.b != 0)
        all.push_back({problem.p() + i, problem.p() + i,
                       static_cast<double>(exponent(branch.b) - exponent(branch.a))});
  return all;
}

/// Connected components of the rows (0..n-1) and unknowns (n..2n-1).
std::vector<int> connected_components(const std::vector<Edge>& edges, int nodes, int n) {
  std::vector<int> parent(static_cast<std::size_t>(nodes));
  for (int i = 0; i < nodes; ++i) parent[static_cast<std::size_t>(i)] = i;
  const auto root = [&](int i) {
    while (parent[static_cast<std::size_t>(i)] != i)
      i = parent[static_cast<std::size_t>(i)] =
          parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(i)])];
    return i;
  };
  for (const Edge& edge : edges)
    parent[static_cast<std::size_t>(root(edge.row))] = root(n + edge.column);
  std::vector<int> number(static_cast<std::size_t>(nodes), -1);
  std::vector<int> component(static_cast<std::size_t>(nodes));
  int count = 0;
  for (int i = 0; i < nodes; ++i) {
    int& of_root = number[static_cast<std::size_t>(root(i))];
    if (of_root < 0) of_root = count++;
    component[static_cast<std::size_t>(i)] = of_root;
  }
  return component;
}

/// Least squares solution of the scaling equations, nodes (R, C), by conjugate gradients on the
/// normal equations (the Laplacian of the graph) with diagonal preconditioning; half a bit is
/// accurate enough.
Vector solve_scaling_equations(const std::vector<Edge>& edges, int nodes, int n) {
  Vector degree = Vector::Zero(nodes), rhs = Vector::Zero(nodes), x = Vector::Zero(nodes);
  for (const Edge& edge : edges) {
    degree[edge.row] += 1;
    degree[n + edge.column] += 1;
    rhs[edge.row] += edge.e;
    rhs[n + edge.column] -= edge.e;
  }
  degree = degree.cwiseMax(1.0);
  Vector r = rhs, z = r.cwiseQuotient(degree), d = z, Ld(nodes);
  double rz = r.dot(z);
  for (int iteration = 0; iteration < 2 * nodes && r.cwiseQuotient(degree).norm() > 1e-6;
       ++iteration) {
    Ld.setZero();
    for (const Edge& edge : edges) {
      const double difference = d[edge.row] - d[n + edge.column];
      Ld[edge.row] += difference;
      Ld[n + edge.column] -= difference;
    }
    const double curvature = d.dot(Ld);
    if (curvature <= 0) break;
    const double alpha = rz / curvature;
    x += alpha * d;
    r -= alpha * Ld;
    z = r.cwiseQuotient(degree);
    const double rz_next = r.dot(z);
    d = z + (rz_next / rz) * d;
    rz = rz_next;
  }
  return x;
}

/// Per component the exponent of the largest q, else that of the smallest nonzero constant of a
/// law.
Vector component_exponents(const Mlcp& problem, const std::vector<int>& component, int count,
                           const Vector& x) {
  const int p = problem.p(), n = p + problem.m();
  Vector data = Vector::Constant(count, -inf), bounds = Vector::Constant(count, inf);
  for (int i = 0; i < n; ++i)
    if (const double q = constant(problem, i); q != 0) {
      double& largest = data[component[static_cast<std::size_t>(i)]];
      largest = std::max(largest, exponent(q) - x[i]);
    }
  const auto bound = [&](double value, int node) {
    if (value == 0 || !std::isfinite(value)) return;
    double& smallest = bounds[component[static_cast<std::size_t>(node)]];
    smallest = std::min(smallest, exponent(value) - x[node]);
  };
  for (int i = 0; i < problem.m(); ++i)
    for (const Branch& branch : problem.laws[static_cast<std::size_t>(i)].branches) {
      for (const double value : {branch.lambda.lower, branch.lambda.upper}) bound(value, n + p + i);
      for (const double value : {branch.w.lower, branch.w.upper}) bound(value, p + i);
    }
  for (int c = 0; c < count; ++c)
    if (!std::isfinite(data[c])) data[c] = std::isfinite(bounds[c]) ? bounds[c] : 0;
  return data;
}

double spread(const Vector& exponents) {
  return exponents.size() == 0 ? 0 : exponents.maxCoeff() - exponents.minCoeff();
}

/// log₂ of the largest over the smallest nonzero coefficient.
double coefficient_spread(const Mlcp& problem) {
  double low = inf, high = -inf;
  for (const Matrix* M : {&problem.M11, &problem.M12, &problem.M21, &problem.M22})
    for (const double value : M->reshaped())
      if (value != 0) {
        low = std::min(low, std::log2(std::abs(value)));
        high = std::max(high, std::log2(std::abs(value)));
      }
  return high > low ? high - low : 0;
}

Range over(const Range& range, double scale) { return {range.lower / scale, range.upper / scale}; }

}  // namespace

void validate(const Mlcp& problem) {
  const int p = problem.p(), m = problem.m();
  check_vector("q1", problem.q1, p);
  check_vector("q2", problem.q2, m);
  check_matrix("M11", problem.M11, p, p);
  check_matrix("M12", problem.M12, p, m);
  check_matrix("M21", problem.M21, m, p);
  check_matrix("M22", problem.M22, m, m);
  for (const Law& law : problem.laws) validate(law);
}

Vector output(const Mlcp& problem, const Vector& u, const Vector& lambda) {
  return problem.M21 * u + problem.M22 * lambda + problem.q2;
}

Scaling equilibrate(const Mlcp& problem) {
  const int p = problem.p(), m = problem.m(), n = p + m, nodes = 2 * n;
  const std::vector<Edge> edges = scaling_equations(problem);
  const std::vector<int> component = connected_components(edges, nodes, n);
  const int count = nodes == 0 ? 0 : 1 + *std::max_element(component.begin(), component.end());
  Vector x = solve_scaling_equations(edges, nodes, n);
  // Along a chain of weak couplings least squares compounds them; scales that spread further than the
  // squared spread of the coefficients themselves do harm, and such coefficients need none.
  if (spread(x.tail(n)) > 2 * coefficient_spread(problem) + 8) x.setZero();
  const Vector data = component_exponents(problem, component, count, x);
  const auto power = [&](int node) {
    const double e = x[node] + data[component[static_cast<std::size_t>(node)]];
    return std::ldexp(1.0, static_cast<int>(std::lround(std::clamp(e, -500.0, 500.0))));
  };
  Scaling scaling{.u_scale = Vector(p),
                  .row_scale = Vector(p),
                  .lambda_scale = Vector(m),
                  .w_scale = Vector(m),
                  .row_component = {component.begin(), component.begin() + n},
                  .column_component = {component.begin() + n, component.end()}};
  for (int i = 0; i < p; ++i) {
    scaling.row_scale[i] = power(i);
    scaling.u_scale[i] = power(n + i);
  }
  for (int i = 0; i < m; ++i) {
    scaling.w_scale[i] = power(p + i);
    scaling.lambda_scale[i] = power(n + p + i);
  }
  return scaling;
}

Mlcp scaled(const Mlcp& problem, const Scaling& scaling) {
  const auto rows = scaling.row_scale.cwiseInverse(), w = scaling.w_scale.cwiseInverse();
  Mlcp result{
      .M11 = rows.asDiagonal() * problem.M11 * scaling.u_scale.asDiagonal(),
      .M12 = rows.asDiagonal() * problem.M12 * scaling.lambda_scale.asDiagonal(),
      .q1 = rows.cwiseProduct(problem.q1),
      .M21 = w.asDiagonal() * problem.M21 * scaling.u_scale.asDiagonal(),
      .M22 = w.asDiagonal() * problem.M22 * scaling.lambda_scale.asDiagonal(),
      .q2 = w.cwiseProduct(problem.q2),
      .laws = problem.laws,
  };
  for (int i = 0; i < problem.m(); ++i)
    for (Branch& branch : result.laws[static_cast<std::size_t>(i)].branches) {
      // a w + b λ = c keeps its meaning when all three are divided by a power of two.
      const double a = branch.a * scaling.w_scale[i], b = branch.b * scaling.lambda_scale[i];
      const double size = std::ldexp(1.0, exponent(std::max(std::abs(a), std::abs(b))));
      branch.a = a / size;
      branch.b = b / size;
      branch.c /= size;
      branch.w = over(branch.w, scaling.w_scale[i]);
      branch.lambda = over(branch.lambda, scaling.lambda_scale[i]);
    }
  return result;
}

double residual(const Mlcp& problem, const Vector& u, const Vector& lambda) {
  check_size("u", u, problem.p());
  check_size("lambda", lambda, problem.m());
  return residual(problem, equilibrate(problem), u, lambda);
}

double residual(const Mlcp& problem, const Scaling& scaling, const Vector& u,
                const Vector& lambda) {
  constexpr double leak = 0x1p-14;  // what rounding in one row may do to the others, over tolerance
  const int p = problem.p(), m = problem.m(), n = p + m;
  const auto row_scale = [&](int i) {
    return i < p ? scaling.row_scale[i] : scaling.w_scale[i - p];
  };
  Vector y(n), q(n), value(n), s(n);
  y << u, lambda;
  q << problem.q1, problem.q2;
  if (!y.allFinite()) return inf;

  // σ per component: the size of the scaled data and unknowns
  Vector sigma = Vector::Zero(2 * n);
  for (int i = 0; i < n; ++i) {
    double& of_row = sigma[scaling.row_component[static_cast<std::size_t>(i)]];
    of_row = std::max(of_row, std::abs(q[i]) / row_scale(i));
    double& of_column = sigma[scaling.column_component[static_cast<std::size_t>(i)]];
    const double unit = i < p ? scaling.u_scale[i] : scaling.lambda_scale[i - p];
    of_column = std::max(of_column, std::abs(y[i]) / unit);
  }

  // rows and the size s of their terms
  value = q;
  for (int i = 0; i < n; ++i)
    s[i] = std::abs(q[i]) +
           leak * row_scale(i) * sigma[scaling.row_component[static_cast<std::size_t>(i)]];
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const double term = entry(problem, i, j) * y[j];
      value[i] += term;
      s[i] += std::abs(term);
    }
  if (!value.allFinite() || !s.allFinite()) return inf;

  constexpr double smallest = std::numeric_limits<double>::min();
  double largest = 0;
  for (int i = 0; i < p; ++i)
    if (value[i] != 0) largest = std::max(largest, std::abs(value[i]) / std::max(s[i], smallest));
  for (int i = 0; i < m; ++i) {
    double lambda_size = inf;  // the change of λ_i that moves some row by its s
    for (int r = 0; r < n; ++r)
      if (const double coefficient = entry(problem, r, p + i); coefficient != 0)
        lambda_size = std::min(lambda_size, s[r] / std::abs(coefficient));
    if (lambda_size == inf) lambda_size = std::abs(lambda[i]);  // λ_i acts on nothing
    largest = std::max(largest,
                       distance(problem.laws[static_cast<std::size_t>(i)], value[p + i], lambda[i],
                                std::max(s[p + i], smallest), std::max(lambda_size, smallest)));
  }
  return largest;
}

}  // namespace perp
