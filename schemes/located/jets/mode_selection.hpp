#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <perp/schemes/located/jets/consistent_jet.hpp>
#include <perp/schemes/located/jets/array/derivative_array.hpp>

namespace perp {

/// A mode in which the solution can go on, with the jet of that continuation.
struct Continuation {
  Mode mode;
  Jet jet;
  std::vector<Mode> also{};  ///< other modes with the same jet
  /// Every margin grows or is positive; otherwise one stays zero as far as the jet tells (grazing).
  bool strict = false;
  /// The equations of the ends that the jets hold: the solution rests there. They are taken where no mode
  /// leads away or keeps the end by a multiplier.
  bool at_end = false;
};

/// The modes from which a continuous solution starts.
struct Selection {
  std::vector<Continuation> admissible;  ///< in lexicographic order of the mode
  /// The others with their violation: the relative residual of an inconsistent mode, the scaled
  /// violation of a margin, inf where the jet is not determined or the equations have no solution,
  /// 0 where a law with memory would leave its branch without need. Where laws are decided in
  /// groups, the laws of other groups have some consistent branch here.
  std::vector<std::pair<Mode, double>> rejected;
  bool complete = true;  ///< false: the limits of `SelectionOptions` ended the search
  /// The equations of some rejected mode hold at the state and do not determine how it goes on, as those of a multiplier whose
  /// factor is 0 there: solutions in it are not excluded.
  bool leaves_open = false;
  std::vector<Mode> open{};  ///< these modes
  /// Asked for, and shown: no solution starts otherwise, by infinitely many changes of mode, see begin_in_one_mode, or as
  /// another one in one of these modes, see ConsistentJets::tells_all.
  bool begins_in_modes = false;
};

struct SelectionOptions {
  /// Coefficient k of a margin counts only if |c_k| τ^k > eps · size of its terms, τ = step · time
  /// scale of the jets.
  double eps = 1e-11;
  double step = 1e-3;
  int starts = 5;   ///< of λ across its range on vertical branches, where the system is nonlinear
  int most = 4096;  ///< jets solved at most
  /// Where a margin grazes, series of twice as many levels are asked for, and of twice as many again, up to
  /// these: they decide the modes that the levels of the jets leave open.
  int most_levels = DerivativeArray::most_levels;
  long most_points = 30'000;  ///< at which Newton's method evaluates the equations for all of these
  /// Are t and x given to the bit? Then of several continuations those count in which laws are on the branches that their
  /// arguments are in by any distance that is no rounding, see ConsistentJets::given_branches.
  bool is_given = false;
  /// Laws whose branch ends at this moment: they are undecided whatever the rounding of their
  /// argument says.
  std::vector<int> ended{};
  /// Laws that go on in their branch, whatever their margins are: nothing that happens at this moment reaches them.
  std::vector<int> going_on{};
  /// How fast their arguments moved there, see MarginOptions; empty: it is not known.
  Vector ended_rates{};
  /// A guess of ẋ, empty: 0. Where the equations are not affine in ẋ and no root is found from 0, it is looked
  /// for from rates of the size of the scales.
  Vector rates{};
  /// Modes that may be admissible, asked for where there are more combinations of branches than `most`: one that is
  /// ends a search that is not complete in either case.
  std::function<std::vector<Mode>()> likely{};
  bool asks_all = false;  ///< may solutions start by infinitely many changes of mode?
  /// false: the present branch of laws with memory is not known, and every branch counts
  bool memory = true;
};

/// All modes that differ from `mode` in the undecided laws only and from which a continuous
/// solution starts: their jet is consistent and determined, and the distance of (w, λ) to every
/// finite end of every law's branch is lexicographically not negative, coefficient after
/// coefficient. Laws with memory stay in their branch if some continuation does. Equal jets, as at
/// corners that lie on two branches, are one continuation (the first mode). Undecided laws that do
/// not influence each other are decided separately; a law whose argument decides it (see
/// ConsistentJets::decided_branches) is in that branch. x: its differential part is kept; λ: the
/// multipliers before, a guess.
Selection select(ConsistentJets& jets, double t, const Vector& x, const Vector& lambda,
                 const Mode& mode, const std::vector<int>& undecided,
                 const SelectionOptions& options = {});

}  // namespace perp
