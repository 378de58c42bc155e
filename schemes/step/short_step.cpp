#include <algorithm>
#include <cmath>
#include <span>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/core/tape/series_tape.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/schemes/step/short_step.hpp>

namespace perp {
namespace {

constexpr double slope_step = 1e-5;     // of the time scale
constexpr double least_step = 0x1p-30;  // of |t|: differences of b need digits of t

/// Of two times, where the second one is one.
double shorter_time(double least, double time) { return time > 0 && time < least ? time : least; }

/// |E_ij E_kl / (A_il A_kj)|^(1/2), the shortest of all k and l that exchange with this entry, if it is below `least`.
double exchange_time(const Lcs& lcs, int i, int j, double least) {
  const int n = lcs.n();
  for (int k = 0; k < n; ++k)
    for (int l = 0; l < n; ++l)
      if (lcs.E(k, l) != 0 && lcs.A(i, l) != 0 && lcs.A(k, j) != 0)
        least = shorter_time(least, std::sqrt(std::abs(lcs.E(i, j) / lcs.A(i, l))) *
                                        std::sqrt(std::abs(lcs.E(k, l) / lcs.A(k, j))));
  return least;
}

/// The shortest time that the data hold: |E_ij / A_ij| of one variable in one equation, and
/// |E_ij E_kl / (A_il A_kj)|^(1/2) of two that exchange. 1 where nothing tells.
double time_scale(const Lcs& lcs) {
  double least = inf;
  const int n = lcs.n();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (lcs.E(i, j) == 0) continue;
      if (lcs.A(i, j) != 0) least = shorter_time(least, std::abs(lcs.E(i, j) / lcs.A(i, j)));
      least = exchange_time(lcs, i, j, least);
    }
  return least < inf ? least : 1;
}

/// What an entry of b or q is from t on, by the Taylor series of its expression.
ShortTerm series_term(const Tape& tape, int line, double t) {
  SeriesTape series(tape, 2, {0});
  std::vector<int> lines;
  for (const int k : lines_below(tape, line)) {
    const Operation operation = tape[k].operation;
    if (operation == Operation::input) {
      series[k][0] = t;
      series[k][1] = 1;
    } else if (operation != Operation::constant && operation != Operation::pi) {
      lines.push_back(k);
    }
  }
  for (const int k : {0, 1}) {
    series.compute(lines, k);
    series.bound_errors(lines, k);
  }
  const double* value = series[line];
  if (!std::isfinite(value[0]) || !std::isfinite(value[1]))
    return {.value_error = inf, .varies = true};
  const double* error = series.error(line);
  return {Rational(value[0]), Rational(value[1]), error[0], error[1], true};
}

/// By one-sided differences of second order; nothing bounds their errors.
ShortTerm difference_term(double now, double half, double whole, double step) {
  const double slope = (4 * (half - now) - (whole - now)) / step;
  if (!std::isfinite(now) || !std::isfinite(slope)) return {{}, {}, inf, inf, true, false};
  return {Rational(now), Rational(slope), inf, inf, true};
}

/// Has the formula of entry k of those that vary a Taylor series?
bool has_series(const Signal& signal, std::size_t k) {
  return signal.tape() != nullptr && SeriesTape::obstacle(*signal.tape(), std::span(&signal.lines()[k], 1)).empty();
}

/// Does a term of a series hold, with bounds of its errors?
bool is_bounded(const ShortTerm& term) {
  return term.varies && std::isfinite(term.value_error) && std::isfinite(term.slope_error);
}

std::vector<ShortTerm> terms(const Signal& signal, double t, double step) {
  std::vector<ShortTerm> result(at(signal.size()));
  const Vector now = signal(t);
  for (Eigen::Index i = 0; i < now.size(); ++i)
    if (std::isfinite(signal.constant()[i])) result[at(i)].value = Rational(signal.constant()[i]);
  if (signal.is_constant()) return result;
  const Vector half = signal(t + step / 2), whole = signal(t + step);
  for (std::size_t k = 0; k < signal.varying().size(); ++k) {
    const int i = signal.varying()[k];
    ShortTerm& term = result[at(i)];
    if (has_series(signal, k)) term = series_term(*signal.tape(), signal.lines()[k], t);
    if (!is_bounded(term)) term = difference_term(now[i], half[i], whole[i], step);
  }
  return result;
}

using Number = RationalFunction;

constexpr int of_h = 2;  // h = √h²

/// value + slope h
Number linear_term(const Rational& value, const Rational& slope) {
  return Number(value) + Number(of_h, slope);
}

/// Lets the multiplier of a new law stand in [-bound, bound]: its w is 0, whatever it is.
void add_range(AlgebraicProblem<Number>& problem, std::size_t row, const Number& factor,
               const Number& bound) {
  for (auto& entries : problem.rows) entries.insert(entries.end() - 1, Number(0));
  problem.rows[row][problem.rows[row].size() - 2] = factor;
  problem.rows.emplace_back(problem.rows[row].size(), Number(0));
  problem.laws.push_back({{1, 0, 0, {}, {-bound, bound}}});
  ++problem.m;
}

}  // namespace

std::vector<Number> ShortStep::change(const std::vector<Number>& y, bool direction) const {
  std::vector<Number> value;
  for (int k = 0; k < bounded; ++k) value.push_back(output(problem, m() + k, y, direction).value);
  return value;
}

ShortSteps::ShortSteps(const Lcs& lcs, const Vector& x, double t) : equations_(lcs, 1), x_(x) {
  const double step = std::max(slope_step * time_scale(equations_.lcs()), least_step * std::abs(t));
  b_ = terms(equations_.lcs().b, t, step);
  q_ = terms(equations_.lcs().q, t, step);
}

std::vector<Block> ShortSteps::blocks() const {
  // E and A by their sizes: a difference of theirs could vanish for one h.
  const Lcs& lcs = equations_.lcs();
  return independent_blocks({.M11 = lcs.E.cwiseAbs() + lcs.A.cwiseAbs(),
                             .M12 = lcs.B,
                             .q1 = Vector::Zero(lcs.n()),
                             .M21 = lcs.C,
                             .M22 = lcs.D,
                             .q2 = Vector::Zero(lcs.m()),
                             .laws = lcs.laws});
}

ShortStep ShortSteps::of(const Block& block) const {
  const Lcs& lcs = equations_.lcs();
  const int n = static_cast<int>(block.u.size()), m = static_cast<int>(block.lambda.size());
  const int bounded =
      static_cast<int>(std::count_if(block.equations.begin(), block.equations.end(),
                                     [&](int i) { return !lcs.E.row(i).isZero(0); }));
  const int count = m + bounded;
  const auto rows = static_cast<Eigen::Index>(block.equations.size());
  Mlcp base{.M11 = Matrix::Zero(rows, n),
            .M12 = Matrix::Zero(rows, count),
            .q1 = Vector::Zero(rows),
            .M21 = Matrix::Zero(count, n),
            .M22 = Matrix::Zero(count, count),
            .q2 = Vector::Zero(count),
            .laws = {}};
  for (const int i : block.lambda) base.laws.push_back(lcs.laws[at(i)]);
  for (int k = 0; k < bounded; ++k) base.laws.push_back({"bounded", {{0, 1, 0, {}, {}}}});
  ShortStep step{.block = block,
                 .E = equations_.given_E().dense()(Eigen::all, block.u),
                 .x = x_(block.u),
                 .bounded = bounded,
                 .problem = AlgebraicProblem<Number>(base)};
  const Number end(-1, 1);
  for (int k = m; k < count; ++k) step.problem.laws[at(k)][0].w = {-end, end};
  write_rows(step);
  return step;
}

/// -E_i x
Rational ShortSteps::before(int row) const {
  Rational sum;
  for (Eigen::Index j = 0; j < x_.size(); ++j)
    if (const double entry = equations_.lcs().E(row, j); entry != 0)
      sum -= Rational(entry) * Rational(x_[j]);
  return sum;
}

/// E x⁺ - h A x⁺ - h B λ - h b(t + h) - E x, A x⁺ + B λ + b(t + h) where E has no row; the outputs
/// C x⁺ + D λ + q(t + h) and E (x⁺ - x).
void ShortSteps::write_rows(ShortStep& step) const {
  const Lcs& lcs = equations_.lcs();
  const int n = step.n(), m = step.m();
  step.known = !equations_.rows_are_rounded();
  auto quantity = step.problem.rows.begin() + step.problem.p;
  const auto write = [&](std::vector<Number>& row, const auto& of_x, const auto& of_lambda) {
    for (int k = 0; k < n; ++k) row[at(k)] = of_x(step.block.u[at(k)]);
    for (int k = 0; k < m; ++k) row[at(n + k)] = of_lambda(step.block.lambda[at(k)]);
  };
  const auto note = [&](const ShortTerm& term) {
    step.rounded = step.rounded || term.varies;
    step.known = step.known && std::isfinite(term.value_error);
    step.finite = step.finite && term.finite;
  };
  for (const int i : step.block.lambda) {
    write(
        *quantity, [&](int j) { return lcs.C(i, j); }, [&](int j) { return lcs.D(i, j); });
    quantity++->back() = linear_term(q_[at(i)].value, q_[at(i)].slope);
    note(q_[at(i)]);
  }
  for (std::size_t e = 0; e < step.block.equations.size(); ++e) {
    const int i = step.block.equations[e];
    std::vector<Number>& row = step.problem.rows[e];
    const Number b = linear_term(b_[at(i)].value, b_[at(i)].slope);
    note(b_[at(i)]);
    if (lcs.E.row(i).isZero(0)) {
      write(
          row, [&](int j) { return lcs.A(i, j); }, [&](int j) { return lcs.B(i, j); });
      row.back() = b;
      continue;
    }
    const Number old = before(i);
    write(
        row, [&](int j) { return linear_term(Rational(lcs.E(i, j)), -Rational(lcs.A(i, j))); },
        [&](int j) { return Number(of_h, -Rational(lcs.B(i, j))); });
    row.back() = old - Number(of_h, 1) * b;
    write(
        *quantity, [&](int j) { return lcs.E(i, j); }, [](int /*j*/) { return 0; });
    quantity++->back() = old;
  }
}

ShortStep ShortSteps::relaxed(const Block& block) const {
  ShortStep step = of(block);
  const auto relax = [&](std::size_t row, const ShortTerm& term, const Number& factor) {
    if (term.value_error > 0) add_range(step.problem, row, factor, Number(term.value_error));
    // √h h is beyond all terms of higher order
    if (term.varies)
      add_range(step.problem, row, Number(of_h, 1) * factor,
                Number(term.slope_error) + Number(1, 1));
  };
  for (std::size_t e = 0; e < block.equations.size(); ++e) {
    const bool is_differential = !equations_.lcs().E.row(block.equations[e]).isZero(0);
    relax(e, b_[at(block.equations[e])], is_differential ? Number(of_h, -1) : Number(1));
  }
  for (std::size_t k = 0; k < block.lambda.size(); ++k)
    relax(block.equations.size() + k, q_[at(block.lambda[k])], Number(1));
  return step;
}

/// -E x stands in the constants of an equation and of its quantity E (x⁺ - x).
ShortStep ShortSteps::moved(ShortStep step, const std::vector<Rational>& change, const Vector& x) const {
  std::size_t k = 0;
  for (std::size_t e = 0; e < step.block.equations.size(); ++e) {
    if (equations_.lcs().E.row(step.block.equations[e]).isZero(0)) continue;
    step.problem.rows[e].back() -= Number(change[k]);
    step.problem.rows[at(step.problem.p + step.m()) + k].back() -= Number(change[k]);
    ++k;
  }
  step.x = x;
  return step;
}

}  // namespace perp
