#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/linear/disjoint_sets.hpp>
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
    throw InvalidInput(fmt::format("{} must have {} entries but has {}", name, size, vector.size()));
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

/// One equation  x_up - x_down = e  between the binary logarithms of two scales: those of the rows are
/// the nodes 0..n-1, those of the unknowns n..2n-1, and node 2n is the number 1, to which data tie.
struct Edge {
  int up;
  int down;
  double e;
  bool is_q = false;
};

std::vector<Edge> coupling_edges(const Mlcp& problem) {
  const int n = problem.p() + problem.m();
  std::vector<Edge> all;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if (const double value = entry(problem, i, j); value != 0)
        all.push_back({i, n + j, static_cast<double>(exponent(value))});
  for (int i = 0; i < problem.m(); ++i)
    for (const Branch& branch : problem.laws[at(i)].branches)
      if (branch.a != 0 && branch.b != 0)
        all.push_back({problem.p() + i, n + problem.p() + i,
                       static_cast<double>(exponent(branch.b) - exponent(branch.a))});
  return all;
}

/// The data: q of a row, and the largest constant of a law in w and in λ.
void add_data_edges(const Mlcp& problem, std::vector<Edge>& edges) {
  const int p = problem.p(), n = p + problem.m(), one = 2 * n;
  const auto tie = [&](int node, double value, bool is_q) {
    if (value != 0) edges.push_back({node, one, static_cast<double>(exponent(value)), is_q});
  };
  for (int i = 0; i < n; ++i) tie(i, constant(problem, i), true);
  for (int i = 0; i < problem.m(); ++i) {
    double w = 0, lambda = 0;
    const auto raise = [](double& largest, double value) {
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    };
    for (const Branch& branch : problem.laws[at(i)].branches) {
      raise(w, branch.w.lower);
      raise(w, branch.w.upper);
      raise(lambda, branch.lambda.lower);
      raise(lambda, branch.lambda.upper);
      if (branch.a != 0) raise(w, branch.c / branch.a);
      if (branch.b != 0) raise(lambda, branch.c / branch.b);
    }
    tie(p + i, w, false);
    tie(n + p + i, lambda, false);
  }
}

/// Connected components of the rows (0..n-1) and unknowns (n..2n-1).
std::vector<int> connected_components(const std::vector<Edge>& edges, int nodes) {
  linear::DisjointSets sets(nodes);
  for (const Edge& edge : edges) sets.join(edge.up, edge.down);
  std::vector<int> number(at(nodes), -1), component(at(nodes));
  int count = 0;
  for (int i = 0; i < nodes; ++i) {
    int& of_root = number[at(sets.root(i))];
    if (of_root < 0) of_root = count++;
    component[at(i)] = of_root;
  }
  return component;
}

/// Minimises Σ weight (x_up - x_down - e)², started at x: conjugate gradients on the normal equations
/// (the Laplacian of the graph) with diagonal preconditioning; half a bit is accurate enough.
void solve_weighted(const std::vector<Edge>& edges, const std::vector<double>& weight, Vector& x) {
  const Eigen::Index nodes = x.size();
  Vector degree = Vector::Zero(nodes), r = Vector::Zero(nodes), Ld(nodes);
  for (std::size_t k = 0; k < edges.size(); ++k) {
    const auto [up, down, e, is_q] = edges[k];
    degree[up] += weight[k];
    degree[down] += weight[k];
    const double pull = weight[k] * (e - (x[up] - x[down]));
    r[up] += pull;
    r[down] -= pull;
  }
  for (double& value : degree)
    if (value == 0) value = 1;
  Vector z = r.cwiseQuotient(degree), d = z;
  double rz = r.dot(z);
  for (Eigen::Index k = 0; k < 2 * nodes && z.cwiseAbs().maxCoeff() > 1e-6; ++k) {
    Ld.setZero();
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const double difference = weight[i] * (d[edges[i].up] - d[edges[i].down]);
      Ld[edges[i].up] += difference;
      Ld[edges[i].down] -= difference;
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
}

/// By how many bits an edge disagrees with the scales; of a q: > 0 where it is small beside 1.
double misfit(const Edge& edge, const Vector& x) { return x[edge.up] - x[edge.down] - edge.e; }

/// The scales that fit most edges: least squares, then Huber's weights, under which an edge that
/// disagrees with the others (a weak coupling, a q that happens to be almost zero) pulls with the force
/// of one bit only. With squares alone the weak couplings along a chain compound. A q that is large
/// beside 1 keeps its full weight: it is data, while a small one may be what rounding left of zero.
void fit_scales(const std::vector<Edge>& edges, Vector& x) {
  constexpr int reweightings = 8;
  std::vector<double> weight(edges.size(), 1.0);
  for (int pass = 0; pass <= reweightings; ++pass) {
    solve_weighted(edges, weight, x);
    bool changed = false;
    for (std::size_t k = 0; k < edges.size(); ++k) {
      const double bits = misfit(edges[k], x);
      const bool full = std::abs(bits) <= 1 || (edges[k].is_q && bits < 0);
      const double next = full ? 1.0 : 1 / std::abs(bits);
      changed = changed || std::abs(next - weight[k]) > 0.1 * weight[k];
      weight[k] = next;
    }
    if (!changed) break;
  }
  const double one = x[x.size() - 1];
  x.array() -= one;
}

/// Whole numbers that satisfy as many of the equations as a spanning tree holds, from the number 1
/// on: what the fit adds to them does not depend on units, which move them by whole numbers.
std::vector<int> spanning_exponents(const std::vector<Edge>& edges, int nodes) {
  std::vector<std::vector<std::pair<int, int>>> neighbours(at(nodes));
  for (const Edge& edge : edges) {
    const int e = static_cast<int>(edge.e);
    neighbours[at(edge.up)].emplace_back(edge.down, -e);
    neighbours[at(edge.down)].emplace_back(edge.up, e);
  }
  std::vector<int> x(at(nodes), 0), open;
  std::vector<bool> seen(at(nodes), false);
  for (int start = nodes - 1; start >= 0; --start) {
    if (!seen[at(start)]) open.push_back(start);
    seen[at(start)] = true;
    for (std::size_t next = 0; next < open.size(); ++next)
      for (const auto& [node, e] : neighbours[at(open[next])]) {
        if (seen[at(node)]) continue;
        seen[at(node)] = true;
        x[at(node)] = x[at(open[next])] + e;
        open.push_back(node);
      }
    open.clear();
  }
  return x;
}

/// A q with so many bits fewer than the scale of its row is rounding, and an entry with so many
/// fewer than the scales of its row and column says nothing about units.
constexpr double noise_bits = 40, negligible_bits = 50;

/// Do the scales leave some row with small entries only? Then its q alone made its scale, beside many
/// that rounding made.
bool tears_rows_apart(const std::vector<Edge>& edges, const Vector& x) {
  constexpr double torn = 20;
  std::vector<double> largest(at(x.size()), inf);
  for (const Edge& edge : edges)
    if (edge.down != x.size() - 1) {
      double& of_row = largest[at(edge.up)];
      of_row = std::min(of_row, misfit(edge, x));
    }
  return std::ranges::any_of(largest, [](double bits) { return bits > torn && bits < inf; });
}

/// Moves each component so that its largest q becomes 1.
void shift_components(const std::vector<Edge>& q_edges, const std::vector<int>& component, Vector& x) {
  Vector largest = Vector::Constant(x.size(), -inf);
  for (const Edge& edge : q_edges) {
    double& of_component = largest[component[at(edge.up)]];
    of_component = std::max(of_component, edge.e - x[edge.up]);
  }
  for (Eigen::Index node = 0; node + 1 < x.size(); ++node)
    if (const double bits = largest[component[at(node)]]; bits > -inf)
      x[node] += bits;
}

/// The exponents of the scales of rows and unknowns, and of the number 1.
std::vector<int> exponents_of_scales(const Mlcp& problem, std::vector<Edge> edges,
                                     const std::vector<int>& component) {
  const int n = problem.p() + problem.m();
  add_data_edges(problem, edges);
  std::vector<int> whole = spanning_exponents(edges, 2 * n + 1);
  for (Edge& edge : edges)
    edge.e -= whole[at(edge.up)] - whole[at(edge.down)];
  Vector x = Vector::Zero(2 * n + 1);
  fit_scales(edges, x);
  const auto is_noise = [&](const Edge& edge) {
    return misfit(edge, x) > (edge.is_q ? noise_bits : negligible_bits);
  };
  if (std::erase_if(edges, is_noise) > 0) fit_scales(edges, x);
  if (tears_rows_apart(edges, x)) {
    std::vector<Edge> q_edges;
    std::ranges::copy_if(edges, std::back_inserter(q_edges), &Edge::is_q);
    std::erase_if(edges, [](const Edge& edge) { return edge.is_q; });
    x.setZero();
    fit_scales(edges, x);
    shift_components(q_edges, component, x);
  }
  for (std::size_t node = 0; node < whole.size(); ++node)
    whole[node] += static_cast<int>(std::lround(x[static_cast<Eigen::Index>(node)]));
  return whole;
}

Range over(const Range& range, double scale) { return {range.lower / scale, range.upper / scale}; }

/// In other units. a w + b λ = c keeps its meaning when all three are divided by a power of two.
Branch scaled(const Branch& given, double w_scale, double lambda_scale) {
  const double a = given.a * w_scale, b = given.b * lambda_scale;
  const double by = std::ldexp(1.0, exponent(std::max(std::abs(a), std::abs(b))));
  return {a / by, b / by, given.c / by, over(given.w, w_scale), over(given.lambda, lambda_scale), given.name};
}

double row_scale(const Scaling& scaling, int i) {
  const auto p = static_cast<int>(scaling.row_scale.size());
  return i < p ? scaling.row_scale[i] : scaling.w_scale[i - p];
}

/// σ of each component: the size of the scaled data and of the scaled unknowns y = (u, λ).
Vector sizes_of_components(const Mlcp& problem, const Scaling& scaling, const Vector& y) {
  const auto n = static_cast<int>(y.size()), p = problem.p();
  Vector sigma = Vector::Zero(2 * n);
  for (int i = 0; i < n; ++i) {
    double& of_row = sigma[scaling.row_component[at(i)]];
    of_row = std::max(of_row, std::abs(constant(problem, i)) / row_scale(scaling, i));
    double& of_column = sigma[scaling.column_component[at(i)]];
    const double unit = i < p ? scaling.u_scale[i] : scaling.lambda_scale[i - p];
    of_column = std::max(of_column, std::abs(y[i]) / unit);
  }
  return sigma;
}

/// Adds M y to the values of the rows, and the sizes of its terms to theirs.
void add_terms(const Mlcp& problem, const Vector& y, Vector& value, Vector& s) {
  for (int j = 0; j < y.size(); ++j)
    for (int i = 0; i < y.size(); ++i) {
      const double term = entry(problem, i, j) * y[j];
      value[i] += term;
      s[i] += std::abs(term);
    }
}

/// The change of λ_i that moves some row by its s; |λ_i| where it acts on nothing.
double effective_change(const Mlcp& problem, const Vector& s, int i, double lambda) {
  double change = inf;
  for (int r = 0; r < s.size(); ++r)
    if (const double coefficient = entry(problem, r, problem.p() + i); coefficient != 0)
      change = std::min(change, s[r] / std::abs(coefficient));
  return change == inf ? std::abs(lambda) : change;
}

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
  const int p = problem.p(), m = problem.m(), n = p + m;
  const std::vector<Edge> edges = coupling_edges(problem);
  const std::vector<int> component = connected_components(edges, 2 * n);
  const std::vector<int> x = exponents_of_scales(problem, edges, component);
  const auto power = [&](int node) { return std::ldexp(1.0, std::clamp(x[at(node)], -500, 500)); };
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
    result.laws[at(i)].branches.change([&](std::vector<Branch>& branches) {
      for (Branch& branch : branches) branch = scaled(branch, scaling.w_scale[i], scaling.lambda_scale[i]);
    });
  return result;
}

double residual(const Mlcp& problem, const Vector& u, const Vector& lambda) {
  check_size("u", u, problem.p());
  check_size("lambda", lambda, problem.m());
  return residual(problem, equilibrate(problem), u, lambda);
}

double residual(const Mlcp& problem, const Scaling& scaling, const Vector& u, const Vector& lambda) {
  constexpr double leak = 0x1p-14;  // what rounding in one row may do to the others, over tolerance
  const int p = problem.p(), m = problem.m(), n = p + m;
  Vector y(n), value(n), s(n);
  y << u, lambda;
  value << problem.q1, problem.q2;
  if (!y.allFinite()) return inf;
  // rows and the size s of their terms
  const Vector sigma = sizes_of_components(problem, scaling, y);
  for (int i = 0; i < n; ++i)
    s[i] = std::abs(value[i]) + leak * row_scale(scaling, i) * sigma[scaling.row_component[at(i)]];
  add_terms(problem, y, value, s);
  if (!value.allFinite() || !s.allFinite()) return inf;

  constexpr double smallest = std::numeric_limits<double>::min();
  double largest = 0;
  for (int i = 0; i < p; ++i)
    if (value[i] != 0) largest = std::max(largest, std::abs(value[i]) / std::max(s[i], smallest));
  for (int i = 0; i < m; ++i) {
    const double lambda_size = effective_change(problem, s, i, lambda[i]);
    const double w_size = std::max(s[p + i], smallest);
    largest = std::max(largest, distance(problem.laws[at(i)], value[p + i], lambda[i], w_size,
                                         std::max(lambda_size, smallest)));
  }
  return largest;
}

}  // namespace perp
