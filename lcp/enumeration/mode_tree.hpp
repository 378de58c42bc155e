#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <perp/lcp/enumeration/multiplier_proof.hpp>
#include <perp/lcp/enumeration/relaxation.hpp>
#include <perp/lcp/mlcp.hpp>

namespace perp {

/// The tree of modes of an equilibrated problem, searched depth first.
///
/// A node has decided some of the laws. Its tableau expresses the quantities that still matter as
/// affine functions of the remaining parameters t (each t is one λ_k, or a u that the equations
/// leave free): w and λ of the undecided laws, and the one coordinate that moves along the branch
/// of a decided law. Deciding a branch is one equation in t; it eliminates the parameter with the
/// largest coefficient. A node is cut where an equation contradicts the rest, or where the interval
/// of a row over the ranges of all parameters misses the range that the row must have (that of its
/// branch, or the hull of all branches), or where multipliers of the rows show that no parameters
/// bring all rows into their ranges at once (see Relaxation). The tableau only says where to look:
/// a node is cut when it is proved empty from the data: by MultiplierProof or, where its bounds leave
/// that undecided, by NodeProof, in rational arithmetic at last. A mode that is cut has no solution; a mode that is left may
/// have none.
class ModeTree {
 public:
  explicit ModeTree(const Mlcp& equilibrated);

  /// Calls `leaf` with every mode that is not cut; `leaf` returns false to stop. Works on at most
  /// `budget` nodes, those counted that the time of a longer proof would do for; false if that was not enough, or if `leaf`
  /// stopped the search.
  bool search(long budget, const std::function<bool(const Mode&)>& leaf);

  [[nodiscard]] long nodes() const { return nodes_; }
  /// In `leaf`: takes from the budget what an elimination in rational numbers costs.
  void charge_rationals();
  /// Share of the tree that was searched or cut, each branch of a law counted alike; 1 at the end.
  [[nodiscard]] double explored() const { return explored_; }
  /// False: the equations seem to contradict each other, but do not; nothing was searched.
  [[nodiscard]] bool usable() const { return usable_; }

  /// In `leaf`: the only point of the mode's equations with bounds of its error; nothing if they
  /// leave more than one, as far as error bounds tell.
  [[nodiscard]] std::optional<std::vector<Bounded<double>>> leaf_point();

 private:
  static constexpr int redundant = -1;
  static constexpr int contradiction = -2;

  enum class Kind { lambda_fixed, w_fixed, sloped };

  /// One branch, ready for use: which equation it is and what is left to watch.
  struct Choice {
    Kind kind = Kind::sloped;
    double value = 0;     ///< of the fixed coordinate
    double w_factor = 0;  ///< sloped: w_factor w + lambda_factor λ = constant
    double lambda_factor = 0;
    double constant = 0;
    Range watched{};  ///< of w (lambda_fixed) or of λ (otherwise)
  };
  struct Choices {
    std::vector<Choice> all;
    Range w;       ///< hull over the branches
    Range lambda;  ///< hull over the branches
  };

  /// The tableau of one depth. Row r: `columns` coefficients, the constant, and the size of what
  /// has been added up in the row. The storage is kept from node to node.
  struct Level {
    int rows = 0;
    int columns = 0;
    int stride = 0;
    bool zero_inside = true;          ///< does every parameter's range contain 0?
    std::vector<double> data;         ///< rows × stride
    std::vector<int> quantity;        ///< of a row: i for w_i, m+i for λ_i
    std::vector<Range> range;         ///< that the row must have
    std::vector<int> owner;           ///< of a column: i for λ_i, j - p for a free u_j
    std::vector<Range> column_range;  ///< of the parameter

    double* row(int r) { return data.data() + static_cast<std::ptrdiff_t>(r) * stride; }
    [[nodiscard]] const double* row(int r) const {
      return data.data() + static_cast<std::ptrdiff_t>(r) * stride;
    }
    void resize(int new_rows, int new_columns);
    /// One row more, its entries still to be written.
    double* append(int of_quantity, const Range& of_row);
  };

  static Choices choices_of(const Law& law);
  bool build_root(const Mlcp& problem);
  void take_parameters(Level& root, const std::vector<int>& unknowns);
  bool is_empty(const Level& level, int undecided);
  bool descend(int depth, double share, const std::function<bool(const Mode&)>& leaf);
  [[nodiscard]] int next_law(const Level& level) const;
  [[nodiscard]] bool is_kept_off_zero(const Level& level, int r) const;
  [[nodiscard]] std::pair<int, int> ways_to_move(const Level& level, int r, double direction,
                                                 int limit) const;
  bool decide(const Level& from, Level& to, int law, int branch);
  void charge_elimination();
  bool proves(const EmptinessClaim& claim);
  bool proves_excluded(const Level& level, int r);
  void write_equation(const Level& from, int law, const Choice& choice);
  [[nodiscard]] int pivot_column(const Level& from, int law, const Choice& choice) const;
  void normalise_equation(int columns, int pivot);
  void take_columns(const Level& from, Level& to, int pivot, int law, const Choice& choice) const;
  void substitute(const double* row, double* result, int columns, int pivot) const;
  bool take_rows(const Level& from, Level& to, int pivot, int law, const Choice& choice);
  bool append_pivot_row(const Level& from, Level& to, int pivot, int law,
                        const Choice& choice) const;
  [[nodiscard]] EmptinessClaim claim_of_relaxation(const Level& level) const;
  [[nodiscard]] static bool excluded(const Level& level, int r);
  [[nodiscard]] static bool stays_below(const Level& level, int r, double sign, double bound);
  [[nodiscard]] int row_of(const Level& level, int quantity) const;
  [[nodiscard]] int column_of(const Level& level, int law) const;

  Mlcp problem_;
  int m_ = 0;
  bool consistent_ = true;
  bool usable_ = true;
  long nodes_ = 0;
  long charged_ = 0;  ///< nodes that the time of longer proofs would do for
  long budget_ = 0;
  double explored_ = 0;
  std::vector<Choices> laws_;
  std::vector<int> order_;  ///< laws, those with one branch first
  std::vector<bool> decided_;
  std::vector<Level> levels_;     ///< one per depth, 0..m
  std::vector<double> equation_;  ///< of the present decision: coefficients, constant, size
  Mode mode_;
  Relaxation relaxation_;
  std::vector<Decision> path_;  ///< to the present node
  std::vector<bool> free_;      ///< unknowns that are parameters of the root
  [[nodiscard]] NodeProof<Bounded<double>>& bounded();

  std::unique_ptr<NodeProof<Bounded<double>>> bounded_;
  std::unique_ptr<MultiplierProof> multipliers_;
  std::unique_ptr<NodeProof<Bounded<double>>> sparse_;  ///< made when the former leaves one
  std::unique_ptr<NodeProof<Rational>> exact_;  ///< made when the former leaves a claim undecided
};

}  // namespace perp
