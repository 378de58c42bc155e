#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/tape/cone_tape.hpp>
#include <perp/schemes/located/jets/nonlinear_units.hpp>

namespace perp {
namespace {

constexpr double outgrown = 8;        ///< times the unit of a row, or its linear part
constexpr int most_halvings = 2000;   ///< from the largest double to the least
constexpr int most_distances = 128;   ///< halvings of a unit that are looked at one by one
constexpr double most_lines = 1e7;    ///< evaluated for that
constexpr std::size_t few_entries = 64;  ///< of the derivatives: all rows are evaluated together
constexpr double far = 1024;          ///< times the way within T: a unit beyond is none

/// The rows of a system around a point, along one variable at a time: of many rows those alone that hold it.
class RowsAround {
 public:
  RowsAround(const Dcs& system, DcsEvaluator& evaluator, const std::vector<double>& z, const Vector& row_units)
      : evaluator_(evaluator), z_(z), row_units_(row_units), rows_(at(row_units.size())) {
    start_ = rows_;
    slopes_.resize(evaluator.entries().size());
    evaluator_.linearize(z_.data(), start_.data(), slopes_.data());
    if (evaluator.entries().size() > few_entries) make_cones(system);
    by_input_.resize(at(evaluator.inputs()));
    for (const DcsEvaluator::Variable& entry : evaluator.variable_entries())
      by_input_[at(evaluator.entries()[entry.entry].column)].push_back(&entry);
  }

  /// Does a row of which the derivative by this input is no number outgrow its unit, this far away?
  bool outgrows(int input, double distance) {
    return is_outgrown_at(input, distance) || is_outgrown_at(input, -distance);
  }
  /// Is some derivative by this input no number?
  [[nodiscard]] bool is_nonlinear(int input) const {
    return std::ranges::any_of(by_input_[at(input)], [&](const DcsEvaluator::Variable* entry) {
      return std::ranges::find(entry->inputs, input) != entry->inputs.end();
    });
  }

 private:
  void make_cones(const Dcs& system) {
    std::vector<int> lines = system.F;
    lines.insert(lines.end(), system.G.begin(), system.G.end());
    Tape tape = bind_inputs(system.tape, evaluator_.inputs(), system.parameters, lines);
    cones_.emplace(std::move(tape), std::move(lines));
  }
  bool is_outgrown_at(int input, double step) {
    double& moved = z_[at(input)];
    const double before = moved;
    moved += step;
    if (!cones_) evaluator_.evaluate(z_.data(), rows_.data());
    const bool is_outgrown = std::ranges::any_of(by_input_[at(input)], [&](const DcsEvaluator::Variable* entry) {
      const int row = evaluator_.entries()[entry->entry].row;
      const double value = cones_ ? cones_->value(row, z_) : rows_[at(row)];
      const double linear = std::abs(slopes_[entry->entry] * step);
      return std::abs(value - start_[at(row)]) > outgrown * std::max(row_units_[row], linear);
    });
    moved = before;
    return is_outgrown;
  }

  DcsEvaluator& evaluator_;
  std::vector<double> z_;
  const Vector& row_units_;
  std::vector<double> rows_, start_, slopes_;
  std::optional<ConeTape> cones_;  // none: there are few rows
  std::vector<std::vector<const DcsEvaluator::Variable*>> by_input_;
};

/// The most halvings of a unit at whose end a row outgrows its own; -1: none. Where functions turn, as sin and pulses do,
/// a row that is outgrown nearby need not be so far away.
int halvings_to_outgrow(RowsAround& rows, int input, double unit, int looked_at) {
  int last = -1;
  for (int halvings = 0; halvings < looked_at; ++halvings)
    if (rows.outgrows(input, std::ldexp(unit, -halvings))) last = halvings;
  if (last + 1 < looked_at) return last;
  int few = last, many = most_halvings;
  while (many - few > 1) {
    const int halvings = few + (many - few) / 2;
    (rows.outgrows(input, std::ldexp(unit, -halvings)) ? few : many) = halvings;
  }
  return few;
}

/// Is it a derivative by one of the n rates?
bool is_by_rate(const DcsEvaluator::Entry& entry, int n) { return entry.column >= 1 && entry.column <= n; }

/// |x_j| + T |ẋ_j| of variables whose rates single rows give at the point; infinite where nothing moves or is given.
Vector reach(DcsEvaluator& evaluator, const std::vector<double>& z, double time) {
  const int n = evaluator.n();
  std::vector<double> rows(static_cast<std::size_t>(n + evaluator.m())), slopes(evaluator.entries().size());
  evaluator.linearize(z.data(), rows.data(), slopes.data());
  std::vector<int> rates(rows.size(), 0);
  for (const DcsEvaluator::Entry& at : evaluator.entries()) rates[static_cast<std::size_t>(at.row)] += is_by_rate(at, n);
  Vector result = Vector::Constant(n, inf);
  for (std::size_t k = 0; k < slopes.size(); ++k) {
    const DcsEvaluator::Entry& at = evaluator.entries()[k];
    const auto row = static_cast<std::size_t>(at.row);
    if (at.row >= n || !is_by_rate(at, n) || rates[row] != 1) continue;
    const double way = std::abs(rows[row] / slopes[k]) * time;
    if (way > 0 && std::isfinite(way)) result[at.column - 1] = std::abs(z[static_cast<std::size_t>(at.column + n)]) + way;
  }
  return result;
}

}  // namespace

Vector nonlinear_units(const Dcs& system, DcsEvaluator& evaluator, const std::vector<double>& z, const Vector& units,
                       const Vector& row_units, double time) {
  Vector result = units;
  RowsAround rows(system, evaluator, z, row_units);
  const Vector ways = reach(evaluator, z, time);
  const double lines = 2.0 * static_cast<double>(evaluator.entries().size()) * evaluator.n();
  const int looked_at = static_cast<int>(std::clamp(most_lines / lines, 1.0, 1.0 * most_distances));
  for (int j = 0; j < evaluator.n(); ++j) {
    const int input = 1 + evaluator.n() + j;
    if (!rows.is_nonlinear(input)) continue;
    const int halvings = halvings_to_outgrow(rows, input, units[j], looked_at);
    if (const double unit = std::ldexp(units[j], -(halvings + 1)); halvings >= 0 && unit > 0) result[j] = unit;
    if (result[j] > far * ways[j]) result[j] = ways[j];
  }
  return result;
}

}  // namespace perp
