#pragma once

#include <vector>

#include <perp/core/linear/dense_lu.hpp>
#include <perp/schemes/located/located_state.hpp>
#include <perp/schemes/located/radau/mode_flow.hpp>
#include <perp/schemes/located/radau/radau.hpp>
#include <perp/schemes/located/roots/root_groups.hpp>

namespace perp {

/// Which root of the equations without derivatives an attempt leads to: a chain of roots from the
/// present state, each the only one near the one before. Nothing in it has a size: roots are told
/// apart however small the unknowns are beside their units.
///
/// Two points a, b of the chain with the matrices J_a, J_b of a group of equations g are linked
/// where, with M = (J_a + J_b)/2 and Δy = y_b - y_a,
///     E = |M⁻¹ (J - M)| has a spectral radius below 1/2, J at b, at (t_b, y_a) and half-way
///     between them, ‖Δy + M⁻¹ g(t_b, y_a)‖ ≤ ‖Δy‖/2, the largest entry in units of |Δy| + 2 E
///     |Δy|.
/// Both are not roots at one time unless they are the same: g(t_b, y_a) = 0 would say ‖Δy‖ ≤
/// ‖Δy‖/2.
class RootChain {
 public:
  /// Both must outlive this.
  RootChain(const LocatedState& at, ModeFlow& flow) : at_(at), flow_(flow) {}

  /// A mode begins, in which these rows determine these unknowns. Groups of more than 64 are left
  /// out: their matrices would cost more than the step.
  /// Of groups that may have several roots, or of all: the chain then is the way to the root.
  enum class Of : char { several_roots, all };
  void look_at(const std::vector<Eigen::Index>& rows, const std::vector<Eigen::Index>& unknowns, Of of = Of::several_roots);
  /// Have the equations no roots to be told apart?
  [[nodiscard]] bool empty() const { return groups_.empty(); }
  /// Of the unknowns of the mode (N): is it one of those whose roots are told apart?
  [[nodiscard]] std::vector<char> unknowns() const;

  /// Those of them (N) beside whose present values other roots may be as near as what the method leaves of them.
  [[nodiscard]] std::vector<char> unresolved();

  /// The chain through the stages of the attempt, which was solved. False: it leads to another root
  /// than they are.
  [[nodiscard]] bool follow(const Radau& radau);
  /// The next question makes the chain anew.
  void forget() { nodes_.clear(); }
  enum class Led : char { there, elsewhere, nowhere };
  /// Where the chain leads to at t: to y (N) with rates ẏ, to within a share of each unknown, to another root, or it ends
  /// before. An attempt from the present state has been solved, and t is in it.
  [[nodiscard]] Led leads_to(const Radau& radau, double t, const Vector& ydot, const Vector& y, double share);
  /// Puts the root that the chain leads to at t into y (N), which has the other unknowns. False:
  /// none is found.
  [[nodiscard]] bool put_root(const Radau& radau, double t, Vector& y);
  /// Where no step is possible: an unknown the roots of which may meet here; -1: none is known. As
  /// near to each other as the rounding of their equations: or how else?
  struct Doubt {
    Eigen::Index unknown = -1;
    bool is_rounding = false;
  };
  [[nodiscard]] Doubt doubt();

 private:
  /// A point with the matrices of the groups, one after the other, each row after row.
  struct Node {
    double t = 0;
    Vector y{}, ydot{};
    std::vector<double> matrices{};
  };
  using Chain = std::vector<Node>;

  [[nodiscard]] Node start(const Radau& radau);
  [[nodiscard]] bool begins_here();
  [[nodiscard]] const Node& before(double t) const;
  [[nodiscard]] bool linearise(Node& node);
  [[nodiscard]] bool correct(Node& node, const Node& from);
  [[nodiscard]] bool find(const Radau& radau, double t, const Node& from, Node& node);
  [[nodiscard]] bool go_to(const Radau& radau, double t, Chain& chain);
  [[nodiscard]] bool is_linked(const Node& a, const Node& b, double share);
  [[nodiscard]] bool is_linked(const RootGroup& group, const Node& a, const Node& b, double share);
  [[nodiscard]] bool invert_middle(int n, const double* J_a, const double* J_b);
  [[nodiscard]] bool is_near_middle(int n, const double* J, double radius);
  [[nodiscard]] bool find_rounding(const RootGroup& group, const Node& b);
  void use_tolerance(const RootGroup& group);
  [[nodiscard]] bool is_straight_around(const RootGroup& group, const Node& point);
  [[nodiscard]] bool is_missed_by_distance(const RootGroup& group) const;
  [[nodiscard]] bool is_known_no_better(const RootGroup& group, const Node& b);

  const LocatedState& at_;
  ModeFlow& flow_;
  std::vector<RootGroup> groups_;
  std::vector<DenseLu> lu_;  // one, of the largest group
  const RootGroup* blurred_ =
      nullptr;       // the roots of which the last link could not tell apart for their rounding
  Chain nodes_;      // from the present state
  double lost_ = 0;  // the chain leads to no time behind it
  Vector H_, H_ydot_, H_y_;
  Node mixed_, middle_point_;  // at the later time of a link: with the unknowns of the earlier
                               // point, and the mean of both
  std::vector<double> middle_, inverse_, spread_, work_, column_, distance_, missed_;
  std::size_t matrices_size_ = 0;
};

}  // namespace perp
