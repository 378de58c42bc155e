// The energy of differences of two solutions of a step: asked for by the certificate of monotone steps.
#include <algorithm>
#include <cmath>
#include <span>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/structure.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/schemes/step/point/energy_form.hpp>

namespace perp {
namespace {

using linear::SparseMatrix;
using Placed = SparseMatrix::Placed;

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

/// The power of two nearest to a quotient, its exponent.
int nearest_power(double over, double under) {
  constexpr double half = 0.70710678118654752;
  int exponent = 0;
  return std::frexp(std::abs(over / under), &exponent) < half ? exponent - 1 : exponent;
}

bool are_positive(const std::vector<double>& list) {
  return std::ranges::all_of(list, [](double value) { return value > 0 && std::isnormal(value); });
}

/// The variable beside which each row stands: that of its rate, where both have no other; else in order.
std::vector<int> variables_of_rows(const SparseMatrix& E) {
  const int n = E.rows();
  const SparseMatrix columns = E.transposed();
  std::vector<int> variable(at(n), -1);
  std::vector<char> is_taken(at(n), 0);
  const auto take = [&](int row, int column) {
    variable[at(row)] = column;
    is_taken[at(column)] = 1;
  };
  for (int i = 0; i < n; ++i)
    if (has_own_rate(E, columns, i)) take(i, E.row(i)[0].column);
  for (int i = 0; i < n; ++i)
    if (variable[at(i)] < 0 && is_taken[at(i)] == 0) take(i, i);
  int next = 0;
  for (int i = 0; i < n; ++i) {
    if (variable[at(i)] >= 0) continue;
    next = static_cast<int>(std::find(is_taken.begin() + next, is_taken.end(), 0) - is_taken.begin());
    take(i, next);
  }
  return variable;
}

/// The strongly connected components of variables with their rows, at `place`, then laws: differences of two solutions are 0
/// in one where they are in those that it depends on. λ may be open where x is not, so that what reads a multiplier is in
/// the component of its law.
std::vector<int> components_of(const SparseLcs& lcs, const std::vector<int>& place) {
  const int n = lcs.n();
  linear::Pattern reads(at(n + lcs.m()));
  const auto add = [&](const SparseMatrix& entries, bool is_of_laws, bool is_mutual) {
    for (int i = 0; i < entries.rows(); ++i)
      for (const auto& [column, value] : entries.row(i)) {
        const int row = is_of_laws ? n + i : place[at(i)], read = is_mutual ? n + column : column;
        reads[at(row)].push_back(read);
        if (is_mutual) reads[at(read)].push_back(row);
      }
  };
  add(lcs.E, false, false);
  add(lcs.A, false, false);
  add(lcs.C, true, false);
  add(lcs.B, false, true);
  add(lcs.D, true, true);
  for (std::vector<int>& list : reads) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return linear::strong_components(reads).of_node;
}

/// Does each row stay where it is, with all of its entries, none of which is 0?
bool is_within(const SparseMatrix& M, std::span<const int> place, std::span<const int> of_row, std::span<const int> of_column) {
  for (int i = 0; i < M.rows(); ++i) {
    if (!place.empty() && place[at(i)] != i) return false;
    for (const auto& [column, value] : M.row(i))
      if (value == 0 || of_row[at(i)] != of_column[at(column)]) return false;
  }
  return true;
}

/// Row i becomes row place[i], stays without places, and has no entries in columns of other components. A matrix that is so
/// already is shared.
SparseMatrix within(const SparseMatrix& M, std::span<const int> place, std::span<const int> of_row, std::span<const int> of_column) {
  if (is_within(M, place, of_row, of_column)) return M;
  std::vector<Placed> entries;
  entries.reserve(at(M.count()));
  for (int i = 0; i < M.rows(); ++i) {
    const int row = place.empty() ? i : place[at(i)];
    for (const auto& [column, value] : M.row(i))
      if (of_row[at(row)] == of_column[at(column)]) entries.push_back({row, column, value});
  }
  return {M.rows(), M.columns(), entries};
}

/// Sums of what stands at one place.
SparseMatrix summed(int size, std::vector<Placed> terms) {
  std::sort(terms.begin(), terms.end(), [](const Placed& a, const Placed& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  std::vector<Placed> sums;
  for (const Placed& term : terms)
    if (!sums.empty() && sums.back().row == term.row && sums.back().column == term.column)
      sums.back().value += term.value;
    else
      sums.push_back(term);
  return {size, size, sums};
}

}  // namespace

bool has_own_rate(const SparseMatrix& E, const SparseMatrix& columns, int row) {
  return E.row(row).size() == 1 && columns.row(E.row(row)[0].column).size() == 1;
}

void complete(EnergyForm& form) {
  form.Q_sums = summed(form.n(), form.Q);
  form.B_transposed = form.B.transposed();
  form.C_transposed = form.C.transposed();
  form.D_transposed = form.D.transposed();
}

bool keeps_digits(double given, double product) { return given == 0 || std::isnormal(product); }

void make_energy_form(const StepEquations& equations, EnergyForm& form) {
  const SparseLcs& lcs = equations.system();
  const std::vector<int> place = variables_of_rows(lcs.E), component = components_of(lcs, place);
  const std::span<const int> of_variables(component.data(), at(lcs.n())), of_laws(component.data() + lcs.n(), at(lcs.m()));
  form.E = within(lcs.E, place, of_variables, of_variables);
  form.A = within(lcs.A, place, of_variables, of_variables);
  form.B = within(lcs.B, place, of_variables, of_laws);
  form.C = within(lcs.C, {}, of_laws, of_variables);
  form.D = lcs.D;
  form.is_algebraic.assign(at(lcs.n()), 0);
  for (const int i : equations.algebraic_rows()) form.is_algebraic[at(place[at(i)])] = 1;
  complete(form);
}

EnergyWeights::EnergyWeights(const EnergyForm& form, std::vector<double> signs)
    : form_(form), signs_(std::move(signs)), p_(at(form.n()), 0.0), d_(at(form.m()), 0.0), group_(at(form.n() + form.m()), -1),
      connected_(form.n() + form.m()), scale_(at(form.n() + form.m()), 0.0) {
  for (int j = 0; j < form.m(); ++j) is_alone_.push_back(is_alone(j));
  connect();
  begin_all();
  exist_ = exist_ && are_positive(p_) && are_positive(d_) && !compares_groups();
}

/// What nothing couples with the rest may have any weight, if nothing compares it with that.
void EnergyWeights::begin_all() {
  for (int j = 0; j < form_.m() && exist_; ++j)
    if (d_[at(j)] == 0 && is_alone_[at(j)] == 0) begin(n() + j);
  for (int i = 0; i < n() && exist_; ++i)
    if (p_[at(i)] == 0) begin(i);
}

double EnergyWeights::of_law(int j) const { return signs_[at(j)] * d_[at(j)]; }
int EnergyWeights::group_of_row(int i) const { return group_[at(i)]; }
int EnergyWeights::group_of_law(int j) const { return group_[at(n() + j)]; }
bool EnergyWeights::is_known(int row) const { return p_[at(row)] != 0; }

bool EnergyWeights::is_alone(int j) const {
  const auto of_C = form_.C.row(j), of_B = form_.B_transposed.row(j);
  bool has_others = false;
  linear::for_each_of(form_.D.row(j), form_.D_transposed.row(j), [&](int k, double, double) { has_others = has_others || k != j; });
  return !has_others && of_C.size() == 1 && of_B.size() == 1 && of_C[0].column == of_B[0].column;
}

/// Rows and laws that B and C connect. Where D reads a law of them, or one of them, their scale is 1.
void EnergyWeights::connect() {
  const auto join = [&](const SparseMatrix& of_rows) {
    for (int i = 0; i < n(); ++i)
      for (const auto& [j, value] : of_rows.row(i))
        if (is_alone_[at(j)] == 0) connected_.join(i, n() + j);
  };
  join(form_.B);
  join(form_.C_transposed);
  for (int j = 0; j < form_.m(); ++j)
    if (is_alone_[at(j)] == 0 && !(form_.D.row(j).empty() && form_.D_transposed.row(j).empty())) scale_of(n() + j) = 1;
}

double& EnergyWeights::scale_of(int node) { return scale_[at(connected_.root(node))]; }

/// What a node is coupled with by A, Q or D.
void EnergyWeights::reach_loosely(int node, std::vector<int>& met) {
  if (node >= n()) {
    reach_by_D(node - n(), met);
  } else {
    reach_by(form_.A, node, met);
    reach_by(form_.Q_sums, node, met);
  }
}

void EnergyWeights::begin(int node) {
  (node < n() ? p_[at(node)] : d_[at(node - n())]) = 1;
  scale_of(node) = 1;
  const int group = node;
  group_[at(node)] = group;
  std::vector<int> exact{node}, loose;
  std::size_t named = 0;
  for (std::size_t k = 0, l = 0; exist_ && (k < exact.size() || l < loose.size());) {
    if (k < exact.size()) {  // B and C first: they leave nothing open
      const int next = exact[k++];
      loose.push_back(next);
      exist_ = next >= n() ? reach_rows(next - n(), exact) : reach_laws(next, exact);
    } else {
      reach_loosely(loose[l++], exact);
    }
    for (; named < exact.size(); ++named) group_[at(exact[named])] = group;
  }
}

/// p_i = σ d_j S_j C_ji / B_ij for the rows of a law.
bool EnergyWeights::reach_rows(int j, std::vector<int>& met) {
  bool is_possible = true;
  linear::for_each_of(form_.C.row(j), form_.B_transposed.row(j), [&](int i, double C, double b) {
    const double c = of_law(j) * C;
    is_possible = is_possible && have_one_sign(c, b) && keeps_digits(c, c);
    if (!is_possible || is_known(i)) return;  // compared with this law by `reach_laws`
    p_[at(i)] = scale_of(i) * (c / b);
    met.push_back(i);
  });
  return is_possible;
}

/// The law of a row that its others are compared with, one of known weight before others; -1: none but laws alone act on it.
/// Nothing: a quotient S_j C_ji / B_ij is not positive.
std::optional<int> EnergyWeights::compared_law(int i) const {
  int first = -1;
  bool is_possible = true;
  linear::for_each_of(form_.C_transposed.row(i), form_.B.row(i), [&](int j, double C, double b) {
    is_possible = is_possible && have_one_sign(signs_[at(j)] * C, b);
    if (is_alone_[at(j)] == 0 && (first < 0 || (d_[at(first)] == 0 && d_[at(j)] != 0))) first = j;
  });
  return is_possible ? std::optional(first) : std::nullopt;
}

/// The laws of a row have the same quotient S_j C_ji / B_ij, but for powers of two and laws alone.
bool EnergyWeights::reach_laws(int i, std::vector<int>& met) {
  const std::optional<int> compared = compared_law(i);
  if (!compared) return false;
  const int first = *compared;
  bool is_possible = true;
  linear::for_each_of(form_.C_transposed.row(i), form_.B.row(i), [&](int j, double C, double b) {
    const double c = signs_[at(j)] * C;
    if (d_[at(j)] == 0) {
      const double scale = is_alone_[at(j)] != 0 ? 1 : scale_of(i);
      d_[at(j)] = std::ldexp(1.0, nearest_power(p_[at(i)] / scale, c / b));
      met.push_back(n() + j);
    }
    if (is_alone_[at(j)] != 0) return;
    // d_f c_f b = d_j c b_f
    is_possible = is_possible && Product(of_law(first), form_.C(first, i), b) == Product(d_[at(j)], c, form_.B(i, first));
  });
  return is_possible;
}

/// p_i A_ik + p_k A_ki = 0 where they can cancel, else p_i A_ik = p_k A_ki; to a power of two
/// where D says more. Of Q alike.
void EnergyWeights::reach_by(const SparseMatrix& couplings, int i, std::vector<int>& met) {
  for (const auto& [k, there] : couplings.row(i)) {
    const double back = couplings(k, i);
    if (is_known(k) || back == 0) continue;
    const double weight = p_[at(i)] * std::abs(there / back);
    const auto laws = form_.B.row(k);
    const auto first = std::ranges::find_if(laws, [&](const auto& entry) { return is_alone_[at(entry.column)] == 0; });
    if (const int law = first == laws.end() ? -1 : first->column; law >= 0 && d_[at(law)] == 0) {
      const double quotient = form_.C(law, k) / first->value;
      d_[at(law)] = std::ldexp(1.0, nearest_power(weight, quotient));
      met.push_back(n() + law);
      const double as_power = d_[at(law)] * std::abs(quotient);
      double& scale = scale_of(k);
      if (scale == 0) scale = weight / as_power;
      p_[at(k)] = scale * as_power;
    } else {
      p_[at(k)] = weight;
    }
    met.push_back(k);
  }
}

/// d_j D_jl and d_l D_lj are of one size.
void EnergyWeights::reach_by_D(int j, std::vector<int>& met) {
  for (const auto& [l, there] : form_.D.row(j)) {
    const double back = form_.D(l, j);
    if (d_[at(l)] != 0 || back == 0) continue;
    d_[at(l)] = std::ldexp(d_[at(j)], nearest_power(there, back));
    met.push_back(n() + l);
  }
}

/// Is there an entry between groups, whose weights have no common unit?
bool EnergyWeights::compares_groups() const {
  const auto compares = [&](const SparseMatrix& entries, int first) {
    for (int i = 0; i < entries.rows(); ++i)
      for (const auto& [k, value] : entries.row(i))
        if (group_[at(first + i)] != group_[at(first + k)]) return true;
    return false;
  };
  return compares(form_.A, 0) || compares(form_.E, 0) || compares(form_.Q_sums, 0) || compares(form_.D, n());
}

}  // namespace perp
