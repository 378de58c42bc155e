#pragma once

#include <memory>
#include <string>
#include <vector>

#include <perp/analysis/phase/row_rates.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp::io {

/// A quantity of a run that a picture can show.
struct DrawnColumn {
  enum class Kind { variable, multiplier, argument, output, derivative };
  std::string name;
  std::string unit;
  Kind kind = Kind::variable;
  bool is_algebraic = false;  ///< it may jump wherever the mode changes
  bool is_logarithmic = false;  ///< its axis
};

/// All of them: variables, multipliers, arguments of the laws, outputs, each with the name of its column in files; and
/// derivatives of the variables that have one, der(x).
std::vector<DrawnColumn> drawn_columns(const Model& model);

/// Some of them, by their places in `drawn_columns`, at one state; NaN where the state does not have the number.
class ColumnValues {
 public:
  /// The model must outlive it.
  ColumnValues(const Model& model, std::vector<int> columns);
  Vector operator()(const Step& step);
  /// Which variable each of them is, -1: none.
  [[nodiscard]] std::vector<int> variables() const;
  [[nodiscard]] std::size_t size() const { return columns_.size(); }
  /// Is it a jump that a reset of the model made?
  [[nodiscard]] bool is_reset(const Event& event) const;

 private:
  Vector rates_at(const Step& step);

  const Model* model_;
  std::vector<int> columns_;
  int n_, m_, outputs_;
  bool has_outputs_ = false, has_rates_ = false;
  std::vector<int> differential_;    // of derivatives among the columns
  std::shared_ptr<RowRates> rates_;  // made for the first state, where any is
};

}  // namespace perp::io
