#pragma once

#include <vector>

#include <perp/schemes/located/jets/mode_selection.hpp>

namespace perp {

/// Does every solution from (t, x) begin in one mode, so that none leaves by infinitely many changes of mode, which no Taylor
/// series tells of? A sufficient condition, for laws whose branch the state does not decide (`open`), the others being as in
/// `mode`, part by part of the equations:
/// - laws without jumps are Lipschitz terms;
/// - of a single law that jumps every mode at the surface w = w0 has no jet there, or leaves it or comes to it with a first
///   derivative that is not 0; one of its sides may touch it with a second one;
/// - or one of its sides comes to the surface, whatever the other does (Filippov, theorem 2 of §10);
/// - or w' holds no multiplier, and both sides have second derivatives that are not 0: v²/2 + |w''| |w| grows no faster than
///   exponentially where these point to the surface, and w moves one way at once where one of them does not;
/// - or w' is a function of t and the multiplier alone: its first coefficient that is not 0 counts as the first derivative;
/// - of several laws that jump each w' has one sign on either side of its surface, whatever the others are: it is passed,
///   kept, or left for good.
/// `options`: which coefficients of w are told from 0.
bool begin_in_one_mode(ConsistentJets& jets, double t, const Vector& x, const Vector& lambda, const Mode& mode,
                       const std::vector<int>& open, const SelectionOptions& options);

}  // namespace perp
