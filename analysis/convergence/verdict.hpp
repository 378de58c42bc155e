#pragma once

#include <vector>

#include <perp/analysis/convergence/fit.hpp>
#include <perp/analysis/convergence/study.hpp>

namespace perp {

/// The rows of a variant whose error of a kind counts for no order, for one reason.
struct RefusedRows {
  Refusal refusal = Refusal::none;       ///< the reason
  std::vector<const StudyRow*> rows{};  ///< of the variant
  double low = inf;  ///< of runs that end at t_N ≠ T: the least |error| / |t_N − T|
  double high = 0;   ///< and the largest
};

/// What a variant tells of an order for one kind of error.
struct OrderVerdict {
  OrderFit line{};           ///< log(error) over log(h)
  bool is_exact = false;     ///< every error of the runs that were solved is rounding
  bool follows_line = true;  ///< no error misses the fitted line by more than a factor of 1.5
  std::vector<RefusedRows> refused{};  ///< for every reason but that a run was not solved
  int left_out = 0;                    ///< states between a jump of a run and that of the reference
};
/// The fitted order of a variant, and what counts for none; `kind` is an index into study.errors.
OrderVerdict verdict_of(const ConvergenceStudy& study, const VariantStudy& variant,
                        std::size_t kind);

}  // namespace perp
