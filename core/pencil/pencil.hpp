#pragma once

#include <optional>

#include <perp/core/base/types.hpp>
#include <perp/core/law.hpp>
#include <perp/core/lcs.hpp>

namespace perp {

/// Differentiation index of the linear DAE  E v̇ = A v + f(t): how often its algebraic equations
/// must be differentiated until v̇ follows. Empty if the pencil s E - A is singular (its determinant
/// vanishes for every s: no solution or no unique one). Both n×n. Found by shuffling (Luenberger):
/// rows of E that depend on the others are turned to 0 by an orthogonal transformation, their rows
/// of A differentiated; ranks are decided on scaled rows and columns with the relative tolerance
/// `tol`. Throws InvalidInput if the shapes differ.
std::optional<int> index_of(const Matrix& E, const Matrix& A, double tol = 1e-10);

/// The smooth DAE of an Lcs in one mode:  E v̇ = A v + f(t).
struct ModeDae {
  Matrix E;
  Matrix A;
};

/// Unknowns v = (x, those λ that the mode leaves open). The branches a_i w_i + b_i λ_i = c_i add
/// one algebraic equation each; multipliers that they give as explicit functions of the others (λ_i
/// constant, or λ_i = (c_i - a_i w_i) / b_i) are eliminated, so that a mode whose multipliers are
/// known functions of the state has the index of its differential equation. Throws InvalidInput.
ModeDae mode_dae(const Lcs& lcs, const Mode& mode);

/// 1/condition of a square matrix after its rows and columns were scaled to about 1; 0 if singular.
double scaled_reciprocal_condition(const Matrix& matrix);

}  // namespace perp
