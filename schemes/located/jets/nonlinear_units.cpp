#include <algorithm>
#include <cmath>
#include <vector>

#include <perp/schemes/located/jets/nonlinear_units.hpp>

namespace perp {
namespace {

constexpr double outgrown = 8;        ///< times the unit of a row, or its linear part
constexpr int most_halvings = 2000;   ///< from the largest double to the least

/// The rows of a system around a point, along one variable at a time.
class RowsAround {
 public:
  RowsAround(DcsEvaluator& evaluator, const std::vector<double>& z, const Vector& row_units)
      : evaluator_(evaluator), z_(z), row_units_(row_units), rows_(static_cast<std::size_t>(row_units.size())) {
    start_ = rows_;
    slopes_.resize(evaluator.entries().size());
    evaluator_.linearize(z_.data(), start_.data(), slopes_.data());
  }

  /// Does a row of which the derivative by this input is no number outgrow its unit, this far away?
  bool outgrows(int input, double distance) {
    return is_outgrown_at(input, distance) || is_outgrown_at(input, -distance);
  }
  /// Is some derivative by this input no number?
  [[nodiscard]] bool is_nonlinear(int input) const {
    return std::ranges::any_of(evaluator_.variable_entries(), [&](const DcsEvaluator::Variable& entry) {
      return evaluator_.entries()[entry.entry].column == input && std::ranges::find(entry.inputs, input) != entry.inputs.end();
    });
  }

 private:
  bool is_outgrown_at(int input, double step) {
    double& moved = z_[static_cast<std::size_t>(input)];
    const double before = moved;
    moved += step;
    evaluator_.evaluate(z_.data(), rows_.data());
    moved = before;
    return std::ranges::any_of(evaluator_.variable_entries(), [&](const DcsEvaluator::Variable& entry) {
      const DcsEvaluator::Entry& at = evaluator_.entries()[entry.entry];
      if (at.column != input) return false;
      const auto row = static_cast<std::size_t>(at.row);
      const double linear = std::abs(slopes_[entry.entry] * step);
      return std::abs(rows_[row] - start_[row]) > outgrown * std::max(row_units_[at.row], linear);
    });
  }

  DcsEvaluator& evaluator_;
  std::vector<double> z_;
  const Vector& row_units_;
  std::vector<double> rows_, start_, slopes_;
};

}  // namespace

Vector nonlinear_units(DcsEvaluator& evaluator, const std::vector<double>& z, const Vector& units,
                       const Vector& row_units) {
  Vector result = units;
  RowsAround rows(evaluator, z, row_units);
  for (int j = 0; j < evaluator.n(); ++j) {
    const int input = 1 + evaluator.n() + j;
    if (!rows.is_nonlinear(input) || !rows.outgrows(input, units[j])) continue;
    // The fewest halvings behind which no row outgrows its unit, by bisection.
    int few = 0, many = most_halvings;
    while (many - few > 1) {
      const int halvings = few + (many - few) / 2;
      (rows.outgrows(input, std::ldexp(units[j], -halvings)) ? few : many) = halvings;
    }
    if (const double unit = std::ldexp(units[j], -many); unit > 0) result[j] = unit;
  }
  return result;
}

}  // namespace perp
