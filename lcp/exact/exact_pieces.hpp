#pragma once

#include <perp/lcp/polyhedra/maximal_pieces.hpp>
#include <perp/lcp/solution_set.hpp>

namespace perp {

/// The generators of a mode's solutions, of those that satisfy the `further` equations
/// rows · (y, 1) = 0, in canonical form: lines in echelon form, each list sorted. No vertex: no
/// solution, or (`overflow`) too many generators.
Generators<Rational> exact_generators(const AlgebraicProblem<Rational>& problem, const Mode& mode,
                                      bool& overflow,
                                      const std::vector<std::vector<Rational>>& further = {});

/// The inclusion-maximal pieces of the solutions of these modes. `overflow` is set where a mode has too
/// many generators.
std::vector<ModalPiece<Rational>> exact_pieces(const AlgebraicProblem<Rational>& problem,
                                               const std::vector<Mode>& modes, bool& overflow);

/// Every coordinate times a positive number, directions made primitive again.
void change_units(Generators<Rational>& generators, const std::vector<Rational>& unit);

/// The piece in doubles, each the nearest one.
Piece rounded(std::vector<Mode> modes, int dimension, const Generators<Rational>& generators);

/// Number of different u among the solutions of a block, -1 for a continuum: coordinates that differ
/// by more than their accuracy are different, others are compared as rational numbers.
long count_different_u(const Mlcp& problem, const std::vector<Piece>& pieces);

}  // namespace perp
