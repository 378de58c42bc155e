#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/sweep/sweep.hpp>

namespace perp {

/// The models of the points of a sweep. Threads may share one.
class SweptModels {
 public:
  /// Finds the first point whose numbers are those of a model. Throws InvalidInput, as of the very first one, where there is
  /// none.
  explicit SweptModels(const SweepRequest& request);

  /// The model of that first point.
  [[nodiscard]] Model first() const { return request_.read(request_.points.overrides(first_)); }
  /// That of a point; nothing where its numbers are those of no model, as `refusal` says then. Throws InvalidInput where states
  /// are kept or handed on and it has other variables than the first one: they stand in the same columns, and are handed on in
  /// the same order.
  [[nodiscard]] std::optional<Model> at(long point, std::string& refusal) const;

 private:
  const SweepRequest& request_;
  long first_ = 0;
  std::vector<std::string> variables_{};  // of the first one
};

}  // namespace perp
