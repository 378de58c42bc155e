#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/analysis/hybrid/sparse/near_choice.hpp>

namespace perp {

/// The choice among values of the binaries by series, as runs make it, for a search that looks at what slides as well.
class NearSearch {
 public:
  NearSearch(const HybridModel& model, const HybridStructure& structure);

  /// The value that is taken from `previous` (0, 1, of sliding ones another). Empty: open.
  std::optional<HybridContinuations> nearest(double t, const Vector& x, const std::vector<int>& previous,
                                             const HybridModeOptions& options);
  /// See NearChoice::of_value.
  std::optional<NearChoice::OfValue> of_value(double t, const Vector& x, const std::vector<int>& z,
                                              const HybridModeOptions& options);
  /// See NearChoice::all_values; `previous` may be empty.
  std::optional<HybridContinuations> all(double t, const Vector& x, std::vector<int> previous,
                                         const std::vector<char>& inside, const HybridModeOptions& options);

  static std::vector<int> values_of(const HybridContinuation& c);

 private:
  void put(const HybridModeOptions& options);

  int binaries_;
  ModeSeries series_;
  NearChoice choice_;
};

}  // namespace perp
