#pragma once

#include <string>
#include <vector>

#include <perp/core/dcs.hpp>

namespace perp {

/// One solution of one step of a Dcs.
struct StepSolution {
  Vector x;                  ///< n: x⁺
  Vector lambda;             ///< m
  Vector w;                  ///< m
  Vector x_error{};          ///< bounds of the distance of x from the exact solution
  Mode mode;                 ///< the first of the modes it belongs to
  std::vector<Mode> also{};  ///< the others: it lies at ends of their branches
  double norm = 0;           ///< ‖∂F/∂ẋ (x⁺ − x)‖, [RAB] eq. (31)
  double residual = 0;       ///< largest |F_i| over the bound of its rounding error
  bool weak = false;         ///< on the bound of a branch as far as rounding lets see
  bool isolated = true;      ///< false: shown to be one of a continuum of x⁺ of the same mode
  bool simple = true;  ///< false: one of a continuum or a multiple root, the matrix is singular
  bool lambda_determined = true;  ///< false: a continuum of λ belongs to this x⁺
};

/// Every solution of one step that was found, by mode in lexicographic order.
struct StepSolutions {
  std::vector<StepSolution> list{};  ///< by mode
  bool all_modes = true;             ///< every mode was searched
  std::string note{};  ///< what the search cannot answer for; empty: each mode was decided

  /// Number of x⁺ that are apart beyond their errors, -1 where one belongs to a continuum.
  [[nodiscard]] long count_different_x() const;
};

/// The solutions of the backward Euler step of length h from x at t. λ are searched from several
/// values of every branch where they are multiplied by unknowns; that there is no further solution
/// is not proved. Throws InvalidInput.
StepSolutions solutions(const Dcs& system, const Vector& x, double t, double h);

}  // namespace perp
