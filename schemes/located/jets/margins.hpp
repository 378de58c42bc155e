#pragma once

#include <limits>

#include <perp/schemes/located/jets/consistent_jet.hpp>

namespace perp {

/// When a Taylor coefficient of a margin is not zero: |c_k| τ^k > eps · size of its terms.
struct MarginOptions {
  double eps = 1e-11;
  double tau = 1e-3;  ///< in units of time
  /// From coefficient `near` on τ is `far_tau`, and what counts is larger than all that did not.
  int near = std::numeric_limits<int>::max();
  double far_tau = 1e-3;
  /// How fast each w moved into this moment where it ended the branch of its law, 0 for the others (m); empty: all are 0. What
  /// moves no farther than the moment hides, then or from now on, is at its end in every mode.
  Vector rates{};
};

/// What the margins of a jet say about the time just after t.
struct MarginVerdict {
  bool admissible = true;  ///< no margin becomes negative
  bool strict = true;      ///< every margin is or becomes positive
  double violation = 0;    ///< largest |c_k| τ^k / size among the coefficients that decide against
  std::vector<int> open{};  ///< laws of which a margin is neither positive nor becomes so
};

/// The lexicographic sign of every margin of every law: the distance of w (of λ on vertical
/// branches) to the finite ends of its branch. Coefficients that are not determined decide nothing.
/// `ignored`: for each law, is it left out? Empty: none is.
MarginVerdict judge_margins(const Jet& jet, const std::vector<Law>& laws, const JetScales& scales,
                            const MarginOptions& options, const std::vector<char>& ignored = {});

}  // namespace perp
