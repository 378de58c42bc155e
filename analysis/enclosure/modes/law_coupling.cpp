// How the multipliers of laws act on the rates of their arguments; asked where laws may jump.
#include <algorithm>
#include <utility>

#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/analysis/enclosure/modes/law_coupling.hpp>

namespace perp::enclosure {
namespace {

/// d_k by d_i M_ik = d_k M_ki of the laws k that law i acts on or that act on it, where it is not known;
/// false where that is no exact number.
bool scale_neighbours(const IntervalMatrix& M, int i, std::vector<Interval>& d,
                      std::vector<int>& waiting) {
  for (int k = 0; k < M.rows(); ++k) {
    Interval& other = d[static_cast<std::size_t>(k)];
    if (k == i || (M(i, k).is_zero() && M(k, i).is_zero()) || !other.is_zero()) continue;
    other = d[static_cast<std::size_t>(i)] * M(i, k) / M(k, i);
    if (!other.is_point() || !(other.lo > 0)) return false;
    waiting.push_back(k);
  }
  return true;
}

/// The same from law to law, with 1 at the first one of each part that is connected.
bool find_scaling(const IntervalMatrix& M, std::vector<Interval>& d) {
  const int n = M.rows();
  d.assign(static_cast<std::size_t>(n), Interval(0));
  std::vector<int> waiting;
  for (int start = 0; start < n; ++start) {
    if (!d[static_cast<std::size_t>(start)].is_zero()) continue;
    d[static_cast<std::size_t>(start)] = Interval(1);
    waiting.push_back(start);
    while (!waiting.empty()) {
      const int i = waiting.back();
      waiting.pop_back();
      if (!scale_neighbours(M, i, d, waiting)) return false;
    }
  }
  return true;
}

/// The outputs of a flow as a square matrix.
std::optional<IntervalMatrix> evaluate(Flow flow, int zero, int count, const Interval& t,
                                       const Box& box) {
  flow.dependents.clear();
  flow.rates.assign(flow.rates.size(), zero);
  IntervalSeries series(flow);
  if (!series.compute(t, box, 1, false)) return std::nullopt;
  IntervalMatrix values(count, count);
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < count; ++k) values(i, k) = series.output(i * count + k, 0);
  return values;
}

/// The lines of the arguments of open laws, which stand behind the gaps in the outputs of the flow.
std::vector<int> arguments_of(const ModeFlow& open_flow, const OpenLaws& laws) {
  const std::vector<int>& outputs = open_flow.system.flow.outputs;
  const auto first = outputs.begin() + static_cast<std::ptrdiff_t>(open_flow.system.gaps.size());
  return {first, first + static_cast<std::ptrdiff_t>(laws.laws.size())};
}

/// Is the matrix of these lines, row after row, symmetric? Equal formulas are one line.
bool are_symmetric(const std::vector<int>& lines, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (lines[i * count + k] != lines[k * count + i]) return false;
  return true;
}

}  // namespace

bool is_constant_line(const Dcs& system, const StateSpace& space, const ExactLines& lines,
                      int line) {
  const std::vector<int> inputs = lines.inputs_of(line);
  return std::all_of(inputs.begin(), inputs.end(), [&](int input) {
    const int k = input - system.parameter_input(0);
    return k >= 0 && std::find(space.disturbances.begin(), space.disturbances.end(), k) ==
                         space.disturbances.end();
  });
}

std::optional<LawCoupling> law_coupling(const ModeFlow& open_flow, const Dcs& system,
                                        const StateSpace& space, const OpenLaws& laws,
                                        const Interval& t, const Box& box) {
  if (!open_flow.system.is_explicit()) return std::nullopt;
  Flow flow = open_flow.system.flow;
  const std::vector<int> arguments = arguments_of(open_flow, laws);
  const std::size_t count = arguments.size();
  ExactLines lines(flow.tape);
  flow.outputs.clear();
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < count; ++k) {
      int sum = lines.number(0);
      for (std::size_t s = 0; s < space.variables.size(); ++s) {
        const int C = lines.derivative(arguments[i], system.variable_input(space.variables[s]));
        const int B = lines.derivative(flow.rates[s], system.multiplier_input(laws.laws[k]));
        if (!is_constant_line(system, space, lines, C) || !is_constant_line(system, space, lines, B))
          return std::nullopt;
        sum = lines.add(sum, lines.multiply(C, B));
      }
      flow.outputs.push_back(sum);
    }
  const bool is_symmetric = are_symmetric(flow.outputs, count);
  std::optional<IntervalMatrix> matrix = evaluate(std::move(flow), lines.number(0), static_cast<int>(count), t, box);
  if (!matrix) return std::nullopt;
  return LawCoupling{*std::move(matrix), is_symmetric};
}

std::optional<IntervalMatrix> direct_coupling(const ModeFlow& open_flow, const Dcs& system,
                                              const StateSpace& space, const OpenLaws& laws,
                                              const Interval& t, const Box& box) {
  if (!open_flow.system.is_explicit()) return std::nullopt;
  Flow flow = open_flow.system.flow;
  const std::vector<int> arguments = arguments_of(open_flow, laws);
  ExactLines lines(flow.tape);
  flow.outputs.clear();
  for (const int w : arguments)
    for (const int law : laws.laws) {
      flow.outputs.push_back(lines.derivative(w, system.multiplier_input(law)));
      if (!is_constant_line(system, space, lines, flow.outputs.back())) return std::nullopt;
    }
  return evaluate(std::move(flow), lines.number(0), static_cast<int>(arguments.size()), t, box);
}

namespace {

IntervalMatrix without_first(const IntervalMatrix& M) {
  const int n = M.rows();
  IntervalMatrix rest(n - 1, n - 1);
  for (int i = 1; i < n; ++i)
    for (int k = 1; k < n; ++k) rest(i - 1, k - 1) = M(i, k);
  return rest;
}

/// M_ik − M_i1 M_1k / M_11
IntervalMatrix complement_of_first(const IntervalMatrix& M) {
  IntervalMatrix complement = without_first(M);
  for (int i = 1; i < M.rows(); ++i)
    for (int k = 1; k < M.rows(); ++k)
      if (!M(i, 0).is_zero() && !M(0, k).is_zero())
        complement(i - 1, k - 1) -= M(i, 0) * M(0, k) / M(0, 0);
  return complement;
}

}  // namespace

// M is a P-matrix if and only if m_11 > 0 and the rest of it and its Schur complement are: their
// principal minors are those without and with the first row, the latter divided by m_11.
bool is_P_matrix(const IntervalMatrix& M) {
  constexpr int most = 12;  // 2^n of them
  const int n = M.rows();
  if (n == 0) return true;
  if (n > most || !(M(0, 0).lo > 0)) return false;
  return n == 1 || (is_P_matrix(without_first(M)) && is_P_matrix(complement_of_first(M)));
}

// All pivots of elimination are positive for every member: a symmetric one is positive definite.
bool has_positive_pivots(IntervalMatrix S) {
  const int n = S.rows();
  for (int k = 0; k < n; ++k) {
    if (!(S(k, k).lo > 0)) return false;
    for (int i = k + 1; i < n; ++i) {
      if (S(i, k).is_zero()) continue;
      const Interval factor = S(i, k) / S(k, k);
      for (int j = k + 1; j < n; ++j) S(i, j) -= factor * S(k, j);
    }
  }
  return true;
}

// Where no law acts on another one D = I does, whatever the diagonal is exactly.
bool has_symmetric_scaling(const IntervalMatrix& M) {
  std::vector<Interval> d;
  if (!find_scaling(M, d)) return false;
  const int n = M.rows();
  IntervalMatrix S(n, n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) S(i, k) = d[static_cast<std::size_t>(i)] * M(i, k);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < i; ++k)
      if (!S(i, k).is_point() || !(S(i, k) == S(k, i))) return false;
  return has_positive_pivots(S);
}

// That is so where elimination of <M>, of the least |m_ii| and the least −|m_ik|, has positive pivots.
bool is_H_matrix(const IntervalMatrix& M) {
  IntervalMatrix least(M.rows(), M.columns());
  for (int i = 0; i < M.rows(); ++i) {
    for (int k = 0; k < M.columns(); ++k)
      if (!M(i, k).is_zero()) least(i, k) = Interval(-magnitude(M(i, k)));
    least(i, i) = Interval(M(i, i).lo);
  }
  return has_positive_pivots(least);
}

bool keeps_solutions_together(const IntervalMatrix& M) {
  return has_symmetric_scaling(M) || is_H_matrix(M);
}

}  // namespace perp::enclosure
