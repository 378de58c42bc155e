#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <perp/analysis/measures/reductions.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// The text of a measure, read: its reductions, and the formula of their results that is left.
class MeasureText {
 public:
  /// Throws ExpressionError with the place in `text`, InvalidInput.
  MeasureText(const Model& model, const std::string& text);

  /// Of the parameters, then of the reductions' results in their order.
  [[nodiscard]] const Expression& formula() const { return formula_; }
  [[nodiscard]] std::vector<std::unique_ptr<Reduction>> take_reductions() { return std::move(reductions_); }

 private:
  void take_calls();
  std::size_t reduction(std::size_t start, std::size_t open);

  const Model& model_;
  std::string text_;  // each reduction is replaced by a name, so that places stay
  std::string prefix_ = "_";
  std::vector<std::unique_ptr<Reduction>> reductions_;
  Expression formula_;
};

}  // namespace perp
