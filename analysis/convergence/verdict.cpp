// What the errors of a variant prove of its order.
#include <algorithm>
#include <cmath>

#include <perp/analysis/convergence/verdict.hpp>

namespace perp {
namespace {

constexpr double most_off = 1.5;  // factor by which an error may miss the fitted line

RefusedRows rows_with(const VariantStudy& variant, std::size_t kind, Refusal refusal, double end) {
  RefusedRows group{.refusal = refusal};
  for (const StudyRow& row : variant.rows) {
    if (row.errors[kind].refusal != refusal) continue;
    group.rows.push_back(&row);
    const double share = row.errors[kind].value / std::abs(row.run.t - end);
    group.low = std::min(group.low, share);
    group.high = std::max(group.high, share);
  }
  return group;
}

}  // namespace

OrderVerdict verdict_of(const ConvergenceStudy& study, const VariantStudy& variant,
                        std::size_t kind) {
  OrderVerdict verdict{.line = fit_order(points_that_count(variant, kind))};
  verdict.follows_line = !(verdict.line.off > most_off);
  const auto count = [&](Refusal refusal) {
    return rows_with(variant, kind, refusal, study.span.end).rows.size();
  };
  const std::size_t solved = variant.rows.size() - count(Refusal::not_solved);
  verdict.is_exact = solved > 0 && count(Refusal::rounding) == solved;
  for (const Refusal refusal : {Refusal::end_time, Refusal::rounding, Refusal::reference,
                                Refusal::events, Refusal::jumps, Refusal::no_events, Refusal::times}) {
    RefusedRows group = rows_with(variant, kind, refusal, study.span.end);
    if (!group.rows.empty()) verdict.refused.push_back(std::move(group));
  }
  for (const StudyRow& row : variant.rows) verdict.left_out += row.errors[kind].left_out;
  return verdict;
}

}  // namespace perp
