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

/// Are the diagonals positive, and is there d > 0 such that m_ii d_i > Σ_{k ≠ i} |m_ik| d_k, for every
/// matrix of the set? Then there is e > 0 with e_k m_kk > Σ_{i ≠ k} e_i |m_ik|, too. False where that
/// is not shown.
bool is_H_matrix(const IntervalMatrix& M);

/// Do laws with this M = −(σ_i C_i B_k), constant in time, keep two solutions together? With w = C x
/// + c(t), x' = … + B λ, graphs with σ_i Δw_i Δλ_i ≥ 0 and e the difference of two solutions:
/// * D M symmetric and positive definite: P B_k = −σ_k d_k C_kᵀ for some P > 0, and (eᵀ P e)' =
///   2 eᵀ P Δf − 2 Σ d_k σ_k Δw_k Δλ_k ≤ 2 L eᵀ P e;
/// * an H-matrix with positive diagonal, column by column: with τ_i the sign of Δw_i, or that of
///   σ_i Δλ_i where Δw_i = 0 and with it almost always Δw_i' = 0,  (Σ e_i |Δw_i|)' = Σ e_i τ_i
///   (Δq_i + Σ_k C_i B_k Δλ_k) ≤ L |e| − μ Σ |Δλ_k|,  μ > 0, while |e|' ≤ L |e| + |B| Σ |Δλ_k|:
///   Σ e_i |Δw_i| + μ |e|/|B| grows no faster than exponentially.
/// Either stays 0.
bool keeps_solutions_together(const IntervalMatrix& M);

}  // namespace perp::enclosure
