#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <perp/core/law.hpp>

namespace perp {

/// The next mode in lexicographic order; after the last one false, and the first again.
bool next_mode(Mode& mode, const std::vector<Law>& laws);

/// Is w fixed on this branch while λ moves (sliding, contact)? Then b = 0.
bool is_vertical(const Branch& branch);

/// The values of w on a branch; on a sloped one its bounds of λ count as bounds of w.
Range w_range(const Branch& branch);

/// Is this branch the inner, bounded, vertical one of its law: a sliding mode?
bool is_sliding(const Law& law, int branch);

/// Is λ finite wherever w is? Then it has no impulse.
bool is_bounded(const Law& law);

/// Distance of (w, λ) from the graph of the law, max norm over (w/w_scale, λ/lambda_scale)
/// of the smallest correction branch by branch; 0 on the graph.
double distance(const Law& law, double w, double lambda, double w_scale = 1,
                double lambda_scale = 1);

/// The branch nearest to (w, λ) in that sense; of equally near ones that nearest to the point of the box around the
/// graph next to (w, λ), then the first. `except` (-1: none) is left out unless the law has no other.
int nearest_branch(const Law& law, double w, double lambda, int except = -1, double w_scale = 1,
                   double lambda_scale = 1);

/// The only branch over w, if w is farther than `error`, and 1e-11 of it, from the ends of all branches. -1: none,
/// several, too near.
int decided_branch(const Law& law, double w, double error);

/// Laws of a mode that people are told one by one; of more their number in each branch.
constexpr std::size_t most_laws_told = 24;

/// describe(laws, mode) for people; of more than `most_laws_told` laws how many are in which branch, those of one family
/// together, e.g. "9952 x lambda=0, 48 x w=0" or "891 x v[..] > 0, 9 x sliding".
std::string describe_briefly(const std::vector<Law>& laws, const Mode& mode);

}  // namespace perp
