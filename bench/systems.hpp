#pragma once

#include <string>

#include <perp/core/lcs.hpp>
#include <perp/lcp/solution_set.hpp>

namespace perp::bench {

/// A system with what a run of it needs, and a state that it must reach.
struct Problem {
  std::string name;
  Lcs lcs;
  Vector x0;
  double h = 0;
  double theta = 1;
  long steps = 0;      ///< of a whole run
  Vector end;          ///< differential variables after them
  double tolerance{};  ///< of `end`, absolute
};

/// [RAB] eq. (36), h = 1e-5, T = 10: B = (-0.5, 1) from (-5, 4), ends in (13/3, 16/3).
Problem crossing();
/// [RAB] eq. (36), h = 1e-5, T = 10: B = (-1, 0.5) from (0, 0), ends in (8/3, 11/3).
Problem repulsive();

/// Circuits with ideal diodes, [ABB]: RLC with one diode, bridge, bridge with capacitor filter.
Problem rlcd();
Problem bridge();
Problem bridge_capacitor();

/// Diode-RC ladder with n nodes, a diode to ground at each, and a slow source at its left end and
/// currents s_i that let about half of the diodes conduct:
///     v̇_i = v_{i-1} - 2 v_i + v_{i+1} + s_i + λ_i,   v_0 = 20 sin(2πt/40),   v_{n+1} = 0,   0 ≤
///     v_i ⊥ λ_i ≥ 0
/// `end` is empty: see `LadderReference`.
Problem ladder(int n);

/// v_0(t) and s_i of the ladder.
double ladder_source(double t);
double ladder_bias(int i, int n);

/// Backward Euler for the ladder by tridiagonal solves with a primal-dual active set: the reference
/// that results are checked against.
class LadderReference {
 public:
  LadderReference(int n, double h);
  void step(double t_next);
  /// One tridiagonal factorisation and solution with the present active set: the floor of a step.
  void solve(double t_next);
  [[nodiscard]] const Vector& v() const { return v_; }

 private:
  double h_;
  Vector v_, next_, lambda_, diagonal_, rhs_, bias_;
  std::vector<char> blocked_;
};

/// k independent copies of the system.
Lcs copies(const Lcs& lcs, int k);

// Linear complementarity problems w = M λ + q of m pairs with known numbers of solutions; seeded.
Mlcp random_p(int m);      ///< M positive definite, not symmetric: one solution
Mlcp random_multi(int m);  ///< 16 solutions: four pairs with two each, weakly coupled to the rest
/// k = m/3 index-2 steps of [RAB] with two solutions each; in the one-way chain copy i pushes copy
/// i+1, in the two-sided one also copy i-1.
Mlcp index2_copies(int m);
Mlcp index2_chain(int m);
Mlcp index2_two_sided(int m);
/// ‖E (x⁺ - x)‖ of these steps.
Norm index2_norm(int m);

/// Number of solutions of a problem without u and with complementarity laws: one factorisation for
/// each of the 2^m modes, solutions with w_i = λ_i = 0 not occurring.
long brute_force_count(const Mlcp& problem);

}  // namespace perp::bench
