// How the multipliers of laws act on the rates of their arguments; asked where laws may jump.
#include <algorithm>

#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/analysis/enclosure/modes/law_coupling.hpp>

namespace perp::enclosure {
namespace {

/// All pivots of elimination are positive for every symmetric member: it is positive definite.
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

/// d_i by d_i M_ik = d_k M_ki from law to law; false where that is no exact number.
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
      for (int k = 0; k < n; ++k) {
        if (k == i || (M(i, k).is_zero() && M(k, i).is_zero())) continue;
        Interval& other = d[static_cast<std::size_t>(k)];
        if (other.is_zero()) {
          other = d[static_cast<std::size_t>(i)] * M(i, k) / M(k, i);
          if (!other.is_point() || !(other.lo > 0)) return false;
          waiting.push_back(k);
        }
      }
    }
  }
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

std::optional<IntervalMatrix> law_coupling(const ModeFlow& open_flow, const Dcs& system,
                                           const StateSpace& space, const OpenLaws& laws,
                                           const Interval& t, const Box& box) {
  Flow flow = open_flow.system.flow;
  const std::size_t first = open_flow.system.gaps.size(), count = laws.laws.size();
  const std::vector<int> arguments(flow.outputs.begin() + static_cast<std::ptrdiff_t>(first),
                                   flow.outputs.begin() + static_cast<std::ptrdiff_t>(first + count));
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
  flow.dependents.clear();
  flow.rates.assign(flow.rates.size(), lines.number(0));
  IntervalSeries series(flow);
  if (!series.compute(t, box, 1, false)) return std::nullopt;
  IntervalMatrix CB(static_cast<int>(count), static_cast<int>(count));
  for (int i = 0; i < CB.rows(); ++i)
    for (int k = 0; k < CB.columns(); ++k) CB(i, k) = series.output(i * CB.columns() + k, 0);
  return CB;
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

}  // namespace perp::enclosure
