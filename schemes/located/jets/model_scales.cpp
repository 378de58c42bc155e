#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/linear/rank_elimination.hpp>
#include <perp/core/linear/sparse_lu.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>
#include <perp/schemes/located/jets/nonlinear_units.hpp>

namespace perp {
namespace {

constexpr int passes = 6;            ///< of the reweighting of small entries
constexpr double small_bits = 8;     ///< an entry this many bits below its row counts half
constexpr double known_weight = 64;  ///< of a scale that is given
constexpr int most_dense = 400;      ///< unknowns that are solved for by a dense matrix
constexpr double too_large = 3;      ///< bits above a bound of a unit, which is one of the equations then
constexpr double bits_of_unit = 36;  ///< below its unit a start is a rounding: margins of laws are not told from 0 there
constexpr double next_to_nothing = 1e-6;  ///< weight of a start that may be one: its unit where nothing else tells it
constexpr double weak = 1e-3;        ///< weight of the span: where nothing else tells a time
constexpr double undetermined = 1e-11;  ///< of the weights of an unknown: nothing tells it
constexpr double held_weight = 1e-9;    ///< of an unknown at 0, where nothing else tells it
constexpr double null_entry = 1e-6;     ///< below: an unknown that a direction does not move
/// Exponents are multiples of 2^-grid: their rounding is gone, and units that are powers of two move
/// them by whole numbers.
constexpr int grid = 20;
constexpr double roundings_of_time = 16;  ///< in units of the last place, of a sum of steps and its use
/// Where exponents are rounded to whole numbers: not at a fraction that averages of logarithms have.
constexpr double rounded_up_from = 0.5137;

bool is_size(double value) { return value != 0 && std::isfinite(value); }

/// The smaller one of two sizes; what is 0 or not finite is none.
double smaller(double a, double b) {
  if (!is_size(a) || !is_size(b)) return is_size(a) ? a : b;
  return std::min(std::abs(a), std::abs(b));
}

double on_grid(double exponent) {
  return std::ldexp(std::round(std::ldexp(exponent, grid)), -grid);
}

/// 2^exponent; whole numbers added to the exponent multiply it without rounding.
double power(double exponent) {
  if (!std::isfinite(exponent)) return 1;
  const double bounded = std::clamp(on_grid(exponent), -1000.0, 1000.0), whole = std::floor(bounded);
  return std::ldexp(std::exp2(bounded - whole), static_cast<int>(whole));
}

/// Least squares for the exponents of the units. Unknowns: T | X | Λ | R | W.
class UnitEquations {
 public:
  UnitEquations(const Dcs& system, DcsEvaluator& evaluator, Span span)
      : system_(system), evaluator_(evaluator), n_(system.n()), m_(system.m()), span_(span) {}

  void add_rows(const Vector& x);
  void add_laws();
  void add_values(const Vector& x, const Vector& known);
  bool add_span(const Vector& exponents);
  [[nodiscard]] std::vector<int> tiny_starts(const Vector& exponents) const;
  void distrust(const std::vector<int>& starts);
  bool add_nonlinear_units(const Vector& exponents, const Vector& x, const Vector& known);
  [[nodiscard]] Vector solve() const;
  [[nodiscard]] Vector solve_sparse() const;
  /// log₂ of how many times larger than the derivatives in its row a term is at most.
  [[nodiscard]] double stiffness(const Vector& exponents) const;

  [[nodiscard]] bool is_large() const { return size() > most_dense; }
  [[nodiscard]] int x_unit(int j) const { return 1 + j; }
  [[nodiscard]] int lambda_unit(int i) const { return 1 + n_ + i; }
  [[nodiscard]] int w_unit(int i) const { return row_unit(n_ + i); }

 private:
  /// log₂|value| = Σ share · exponent
  struct Relation {
    std::vector<std::pair<int, double>> shares;
    double logarithm = 0;
    double weight = 1;
    bool is_entry = false;  ///< may be small beside the others of its row

    /// By how much the value is above what the units make of it.
    [[nodiscard]] double excess(const Vector& exponents) const {
      double left = logarithm;
      for (const auto& [unit, share] : shares) left -= share * exponents[unit];
      return left;
    }
  };

  /// Row k of (F, G).
  [[nodiscard]] int row_unit(int k) const { return 1 + n_ + m_ + k; }
  [[nodiscard]] int size() const { return 1 + 2 * (n_ + m_); }
  void add(std::vector<std::pair<int, double>> shares, double value, double weight = 1,
           bool is_entry = false) {
    if (!is_size(value)) return;
    relations_.push_back({std::move(shares), std::log2(std::abs(value)), weight, is_entry});
  }
  [[nodiscard]] std::vector<std::pair<int, double>> entry(int row, int column) const;
  static double weight_of(const Relation& relation, const Vector& exponents, bool reweight);
  using SparseNormal = std::map<std::pair<int, int>, double>;
  void fill(const Vector& exponents, bool reweight, SparseNormal& normal, Vector& right) const;
  void make_normal(const Vector& exponents, bool reweight, Matrix& normal, Vector& right) const;

  const Dcs& system_;
  DcsEvaluator& evaluator_;
  int n_, m_;
  Span span_;
  std::vector<Relation> relations_;
  std::vector<std::pair<int, std::size_t>> data_;  // variables with their start among the relations
};

/// The unit of an entry of the derivatives: that of its row over that of its column.
std::vector<std::pair<int, double>> UnitEquations::entry(int row, int column) const {
  if (column == Dcs::time_input()) return {{row_unit(row), 1}, {0, -1}};
  const int j = column - system_.derivative_input(0);
  if (j < n_) return {{row_unit(row), 1}, {x_unit(j), -1}, {0, 1}};
  if (j < 2 * n_) return {{row_unit(row), 1}, {x_unit(j - n_), -1}};
  return {{row_unit(row), 1}, {lambda_unit(j - 2 * n_), -1}};
}

/// Of algebraic variables x is a guess, which may be far away: an entry is the smaller one of those
/// at the guess and at 0, a constant term that at 0.
void UnitEquations::add_rows(const Vector& x) {
  std::vector<double> z(static_cast<std::size_t>(evaluator_.inputs()), 0.0);
  const auto all = static_cast<std::size_t>(n_ + m_);
  std::vector<double> rows(all), rows_at_0(all);
  std::vector<double> entries(evaluator_.entries().size()), entries_at_0 = entries;
  z[0] = span_.start;
  std::copy(x.begin(), x.end(), z.begin() + system_.variable_input(0));
  evaluator_.linearize(z.data(), rows.data(), entries.data());
  for (int j = 0; j < n_; ++j)
    if (!evaluator_.is_differential(j)) z[static_cast<std::size_t>(system_.variable_input(j))] = 0;
  evaluator_.linearize(z.data(), rows_at_0.data(), entries_at_0.data());
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const DcsEvaluator::Entry& place = evaluator_.entries()[k];
    add(entry(place.row, place.column), smaller(entries[k], entries_at_0[k]), 1, true);
  }
  for (std::size_t k = 0; k < all; ++k)
    add({{row_unit(static_cast<int>(k)), 1}}, std::isfinite(rows_at_0[k]) ? rows_at_0[k] : rows[k],
        1, true);
}

/// a w + b λ = c and the ends of the branches.
void UnitEquations::add_laws() {
  for (int i = 0; i < m_; ++i)
    for (const Branch& branch : system_.laws[static_cast<std::size_t>(i)].branches) {
      if (branch.b != 0) add({{lambda_unit(i), 1}, {w_unit(i), -1}}, branch.a / branch.b);
      if (branch.a != 0) add({{w_unit(i), 1}}, branch.c / branch.a);
      if (branch.b != 0) add({{lambda_unit(i), 1}}, branch.c / branch.b);
      for (const double end : {branch.w.lower, branch.w.upper}) add({{w_unit(i), 1}}, end);
      for (const double end : {branch.lambda.lower, branch.lambda.upper})
        add({{lambda_unit(i), 1}}, end);
    }
}

/// The start is data, a guess of an algebraic variable next to nothing.
void UnitEquations::add_values(const Vector& x, const Vector& known) {
  for (int j = 0; j < n_; ++j) {
    if (known[j] > 0)
      add({{x_unit(j), 1}}, known[j], known_weight);
    else
      add({{x_unit(j), 1}}, x[j], evaluator_.is_differential(j) ? 1 : weak);
    if (!(known[j] > 0) && is_size(x[j]) && evaluator_.is_differential(j)) data_.emplace_back(j, relations_.size() - 1);
  }
  add({{0, 1}}, span_.end - span_.start, weak);
}

/// Starts of variables of which a relation is far from its balance, all where the span is far from T: it may be the start
/// that does not fit.
std::vector<int> UnitEquations::tiny_starts(const Vector& exponents) const {
  std::vector<char> is_far(at(size()), 0);
  for (const Relation& relation : relations_) {
    const double excess = relation.excess(exponents);
    for (const auto& [unit, share] : relation.shares)
      if (excess < -small_bits) is_far[at(unit)] = 1;
  }
  const double span = span_.end - span_.start;
  const bool is_short = std::isfinite(span) && exponents[0] < std::log2(span) - small_bits;
  std::vector<int> tiny;
  for (const auto& [j, number] : data_)
    if (is_far[at(x_unit(j))] != 0 || is_short) tiny.push_back(j);
  return tiny;
}

void UnitEquations::distrust(const std::vector<int>& starts) {
  for (const auto& [j, number] : data_)
    if (std::find(starts.begin(), starts.end(), j) != starts.end()) relations_[number].weight = next_to_nothing;
}

/// T is beyond the span: derivatives tell nothing of the way there, and what they tell of the others with it is wrong.
bool UnitEquations::add_span(const Vector& exponents) {
  const double span = span_.end - span_.start;
  const bool is_beyond = std::isfinite(span) && exponents[0] > std::log2(span) + too_large;
  if (is_beyond) add({{0, 1}}, span, known_weight);
  return is_beyond;
}

/// Within X_j a row outgrows its unit: 1e-9 (exp(v/0.025) - 1) has the slope 4e-8 at v = 0, which would make 1 A as
/// much as 25 MV. False: none does.
bool UnitEquations::add_nonlinear_units(const Vector& exponents, const Vector& x, const Vector& known) {
  std::vector<double> z(static_cast<std::size_t>(evaluator_.inputs()), 0.0);
  z[0] = span_.start;
  std::copy(x.begin(), x.end(), z.begin() + system_.variable_input(0));
  Vector units(n_), row_units(n_ + m_);
  for (int j = 0; j < n_; ++j) units[j] = known[j] > 0 ? known[j] : power(exponents[x_unit(j)]);
  for (int k = 0; k < n_ + m_; ++k) row_units[k] = power(exponents[row_unit(k)]);
  const double span = span_.end > span_.start ? span_.end - span_.start : inf;
  const Vector most = nonlinear_units(system_, evaluator_, z, units, row_units, std::min(power(exponents[0]), span));
  const auto count = relations_.size();
  for (int j = 0; j < n_; ++j)
    if (!(known[j] > 0) && most[j] < units[j]) add({{x_unit(j), 1}}, most[j], known_weight);
  return relations_.size() > count;
}

/// Σ weight (log₂|value| − Σ share · exponent)² → min: an entry far below its row is weighted down,
/// as it is no term that balances the row.
double UnitEquations::weight_of(const Relation& relation, const Vector& exponents, bool reweight) {
  const double excess = relation.excess(exponents);
  double weight = relation.weight;
  if (reweight && relation.is_entry && excess < 0)
    weight /= 1 + excess * excess / (small_bits * small_bits);
  return weight;
}

void UnitEquations::make_normal(const Vector& exponents, bool reweight, Matrix& normal,
                                Vector& right) const {
  normal.setZero(size(), size());
  right.setZero(size());
  for (const Relation& relation : relations_) {
    const double weight = weight_of(relation, exponents, reweight);
    for (const auto& [unit, share] : relation.shares) {
      right[unit] += weight * share * relation.logarithm;
      for (const auto& [other, other_share] : relation.shares)
        normal(unit, other) += weight * share * other_share;
    }
  }
}

/// The first unknown that moves in each direction of the null space: with these given no other one
/// is open.
std::vector<int> leading_unknowns(Matrix basis) {
  std::vector<int> leading;
  Eigen::Index left = basis.cols();
  for (Eigen::Index row = 0; row < basis.rows() && left > 0; ++row) {
    Eigen::Index best = 0;
    if (basis.row(row).head(left).cwiseAbs().maxCoeff(&best) <= null_entry) continue;
    leading.push_back(static_cast<int>(row));
    basis.col(best).swap(basis.col(--left));
    for (Eigen::Index c = 0; c < left; ++c)
      basis.col(c) -= basis(row, c) / basis(row, left) * basis.col(left);
  }
  return leading;
}

/// What nothing tells is held at 0, one unknown of each connected part: the others move by whole
/// numbers with the units then.
Vector UnitEquations::solve() const {
  Vector exponents = Vector::Zero(size()), right;
  const Vector ones = Vector::Ones(size());
  RankElimination elimination;
  Matrix normal, basis;
  std::vector<int> held;
  for (int pass = 0; pass < passes; ++pass) {
    make_normal(exponents, pass > 0, normal, right);
    for (const int unit : held) normal(unit, unit) += 1;
    elimination.factorise(normal, ones, ones, undetermined);
    if (pass == 0 && elimination.rank() < size()) {
      elimination.null_space(basis);
      held = leading_unknowns(basis);
      for (const int unit : held) normal(unit, unit) += 1;
      elimination.factorise(normal, ones, ones, undetermined);
    }
    elimination.solve(right, exponents);
  }
  return exponents;
}

/// The entries of the normal matrix by (row, column), and its right side.
void UnitEquations::fill(const Vector& exponents, bool reweight, SparseNormal& normal,
                         Vector& right) const {
  for (auto& [place, value] : normal) value = place.first == place.second ? held_weight : 0;
  right.setZero(size());
  for (const Relation& relation : relations_) {
    const double weight = weight_of(relation, exponents, reweight);
    for (const auto& [unit, share] : relation.shares) {
      right[unit] += weight * share * relation.logarithm;
      for (const auto& [other, other_share] : relation.shares)
        normal[{unit, other}] += weight * share * other_share;
    }
  }
}

/// The same with a sparse matrix; what nothing tells is held near 0 by a weight far below all others.
Vector UnitEquations::solve_sparse() const {
  SparseNormal normal;
  Vector exponents = Vector::Zero(size()), right;
  for (int unit = 0; unit < size(); ++unit) normal[{unit, unit}] = held_weight;
  fill(exponents, false, normal, right);
  std::vector<linear::Place> places;
  for (const auto& [place, value] : normal) places.push_back({place.first, place.second});
  linear::SparseLu factors(size(), places);
  std::vector<double> values;
  for (int pass = 0; pass < passes; ++pass) {
    if (pass > 0) fill(exponents, true, normal, right);
    values.clear();
    for (const auto& [place, value] : normal) values.push_back(value);
    if (!factors.factorise(values)) break;
    factors.solve(right);
    exponents = right;
  }
  return exponents;
}

double UnitEquations::stiffness(const Vector& exponents) const {
  Vector rate = Vector::Constant(size(), -inf), other = rate;
  for (const Relation& relation : relations_) {
    if (!relation.is_entry) continue;
    const auto is_of_rate = [](const auto& share) { return share.first == 0 && share.second > 0; };  // of ẋ, not by t
    Vector& terms = std::ranges::any_of(relation.shares, is_of_rate) ? rate : other;
    double& largest = terms[relation.shares.front().first];
    largest = std::max(largest, relation.excess(exponents));
  }
  double most = 0;
  for (Eigen::Index row = 0; row < size(); ++row)
    if (std::isfinite(rate[row])) most = std::max(most, other[row] - rate[row]);
  return most;
}

/// The whole power of two that is nearest.
double power_of_two(double exponent) {
  return power(std::floor(on_grid(exponent) + 1 - rounded_up_from));
}

/// x with 0 for starts below the rounding of the unit that everything else tells: a ball on the floor at -1e-17 m is at 0
/// as it is at the end of a step, and 1e-17 m no length of the model.
Vector without_roundings(const Dcs& system, DcsEvaluator& evaluator, const Vector& x, Span span, const Vector& known,
                         const std::vector<int>& tiny) {
  Vector clean = x;
  for (const int j : tiny) clean[j] = 0;
  UnitEquations others(system, evaluator, span);
  others.add_rows(clean);
  others.add_laws();
  others.add_values(x, known);
  others.distrust(tiny);
  const Vector exponents = others.is_large() ? others.solve_sparse() : others.solve();
  for (const int j : tiny)
    if (std::log2(std::abs(x[j])) - exponents[others.x_unit(j)] >= -bits_of_unit) clean[j] = x[j];
  return clean;
}

/// Of the unknowns of the equations, in the span; the units of x that are known stay.
ModelScales scales_of(const UnitEquations& equations, const Vector& exponents, const Dcs& system, Span span,
                      const Vector& known) {
  ModelScales scales{1, 1, known, Vector(system.m()), Vector(system.m())};
  const double longest = span.end > span.start ? span.end - span.start : inf;
  scales.time = std::min(power(exponents[0]), longest);
  scales.fastest = std::min(power_of_two(exponents[0] - equations.stiffness(exponents)),
                            std::exp2(std::ilogb(scales.time)));
  for (int j = 0; j < system.n(); ++j)
    if (!(known[j] > 0)) scales.x[j] = power(exponents[equations.x_unit(j)]);
  for (int i = 0; i < system.m(); ++i) {
    scales.lambda[i] = power(exponents[equations.lambda_unit(i)]);
    scales.w[i] = power(exponents[equations.w_unit(i)]);
  }
  return scales;
}

}  // namespace

double one_moment(double share, double time, double t) {
  const double rounding = std::numeric_limits<double>::epsilon() * std::abs(t);
  return std::max(share * time, roundings_of_time * rounding);
}

ModelScales model_scales(const Dcs& system, const Vector& x, Span span, const Vector& known) {
  DcsEvaluator evaluator(system);
  return model_scales(system, evaluator, x, span, known);
}

ModelScales model_scales(const Dcs& system, DcsEvaluator& evaluator, const Vector& x, Span span,
                         const Vector& known) {
  UnitEquations equations(system, evaluator, span);
  equations.add_rows(x);
  equations.add_laws();
  equations.add_values(x, known);
  const auto solve = [&] { return equations.is_large() ? equations.solve_sparse() : equations.solve(); };
  Vector exponents = solve();
  if (const std::vector<int> tiny = equations.tiny_starts(exponents); !tiny.empty())
    if (const Vector clean = without_roundings(system, evaluator, x, span, known, tiny); clean != x)
      return model_scales(system, evaluator, clean, span, known);
  if (equations.add_span(exponents)) exponents = solve();
  if (equations.add_nonlinear_units(exponents, x, known)) exponents = solve();
  return scales_of(equations, exponents, system, span, known);
}

}  // namespace perp
