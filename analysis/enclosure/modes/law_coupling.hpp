#pragma once

#include <optional>
#include <vector>

#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/analysis/enclosure/modes/mode_flow.hpp>

namespace perp::enclosure {

/// Is a line one of numbers and of parameters that are the same all the time?
bool is_constant_line(const Dcs& system, const StateSpace& space, const ExactLines& lines,
                      int line);

/// How laws act on each other's arguments.
struct LawCoupling {
  IntervalMatrix matrix;
  bool is_symmetric;  ///< by its formulas: every member is, also where numbers are no doubles or parameters intervals
};

/// C B over a box, of laws that are open in the flow: w = C x + c(t), x' = … + B λ. None where C or
/// B is not constant, or has no value.
std::optional<LawCoupling> law_coupling(const ModeFlow& open_flow, const Dcs& system,
                                           const StateSpace& space, const OpenLaws& laws,
                                           const Interval& t, const Box& box);

/// ∂w/∂λ over a box, of laws that are all open in the flow. None where it is not constant, or has
/// no value.
std::optional<IntervalMatrix> direct_coupling(const ModeFlow& open_flow, const Dcs& system,
                                              const StateSpace& space, const OpenLaws& laws,
                                              const Interval& t, const Box& box);

/// Are all principal minors of every matrix of the set positive? False where that is not shown.
bool is_P_matrix(const IntervalMatrix& M);

/// Is there D = diag(d) > 0 such that D M is symmetric and positive definite, for every matrix of
/// the set? False where that is not shown.
bool has_symmetric_scaling(const IntervalMatrix& M);
/// Is every symmetric matrix of the set positive definite? False where that is not shown.
bool has_positive_pivots(IntervalMatrix S);

}  // namespace perp::enclosure
