#include <perp/lcp/enumeration/mode_tree.hpp>

// The proofs by which nodes of the tree of modes are cut.

namespace perp {
namespace {

/// Undecided laws below which a node is not tried by its linear programme.
constexpr int fewest_for_proof = 3;

// What the longer proofs cost, in nodes: a node substitutes one unknown in its rows, an elimination from the start each of n in
// n rows; a rational number takes some ten times as long as two doubles.
constexpr long unknowns_of_a_node = 16;  // whose elimination takes as long as a node
constexpr int times_of_rationals = 8;

}  // namespace

NodeProof<Bounded<double>>& ModeTree::bounded() {
  if (!bounded_) bounded_ = std::make_unique<NodeProof<Bounded<double>>>(problem_, free_);
  return *bounded_;
}

void ModeTree::charge_elimination() {
  const long unknowns = problem_.p() + m_;
  charged_ += unknowns * unknowns * unknowns / (unknowns_of_a_node * unknowns_of_a_node * unknowns_of_a_node);
}

void ModeTree::charge_rationals() {
  for (int k = 0; k < times_of_rationals; ++k) charge_elimination();
}

/// Bounds first, of multipliers and of a sparse elimination; rational numbers where these do not decide. The latter two take
/// their time from the budget.
bool ModeTree::proves(const EmptinessClaim& claim) {
  if (!multipliers_) multipliers_ = std::make_unique<MultiplierProof>(bounded());
  if (multipliers_->proves(path_, claim)) return true;
  charge_elimination();
  if (!sparse_)
    sparse_ = std::make_unique<NodeProof<Bounded<double>>>(
        problem_, free_, NodeProof<Bounded<double>>::Order::sparse);
  sparse_->go_to(path_);
  if (sparse_->proves(claim)) return true;
  charge_rationals();
  if (!exact_) exact_ = std::make_unique<NodeProof<Rational>>(problem_, free_);
  exact_->go_to(path_);
  return exact_->proves(claim);
}

bool ModeTree::proves_excluded(const Level& level, int r) {
  return excluded(level, r) &&
         proves({.quantity = level.quantity[static_cast<std::size_t>(r)], .equation = {}});
}

std::optional<std::vector<Bounded<double>>> ModeTree::leaf_point() {
  bounded().go_to(path_);
  return bounded_->point();
}

/// Is it proved that no parameters bring all rows into their ranges? Near the leaves the tree is
/// cheaper than the proof.
bool ModeTree::is_empty(const Level& level, int undecided) {
  if (undecided < fewest_for_proof) return false;
  return relaxation_.is_empty({level.rows, level.columns, level.stride, level.data.data(),
                               level.range.data(), level.column_range.data()}) &&
         proves(claim_of_relaxation(level));
}

/// The row that the relaxation cannot bring into its range, in the quantities of its last basis.
EmptinessClaim ModeTree::claim_of_relaxation(const Level& level) const {
  const auto is_row = [&](int id) { return id < level.rows; };
  const auto owner = [&](int id) { return level.owner[static_cast<std::size_t>(id - level.rows)]; };
  const auto quantity = [&](int id) {
    return is_row(id) ? level.quantity[static_cast<std::size_t>(id)] : m_ + owner(id);
  };
  EmptinessClaim claim;
  claim.quantity = quantity(relaxation_.conflict());
  for (const int id : relaxation_.basic())
    if (!is_row(id)) claim.replaced.push_back(problem_.p() + owner(id));
  for (const int id : relaxation_.nonbasic())
    if (is_row(id)) claim.active.push_back(quantity(id));
  return claim;
}

}  // namespace perp
