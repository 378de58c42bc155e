#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <perp/core/linear/sparse_lu.hpp>
#include <perp/core/linear/structure.hpp>
#include <perp/core/tape/bounded_tape.hpp>
#include <perp/core/tape/series_tape.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>

namespace perp {

/// Taylor series of a hybrid model with numbers for all binaries, whose equations give each ẋ and each
/// algebraic variable by blocks: at given states the blocks of the block lower triangular form of f in
/// (ẋ, y) one after the other, the first coefficients by Newton's method, the further ones from linear
/// equations. The cost of an order is that of the equations, whatever their number.
class ModeSeries {
 public:
  static constexpr int order = 20;  ///< the highest

  explicit ModeSeries(const HybridModel& model);
  ModeSeries(const ModeSeries&) = delete;  // its series refer to its tape
  ModeSeries& operator=(const ModeSeries&) = delete;

  /// Why the model has no such series whatever the binaries; empty: it may.
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }

  /// Coefficients 0..last at (t, x): states, and guesses of the algebraic variables. False: in this mode
  /// a block is singular, or Newton's method ends without a solution from this guess.
  bool begin(double t, const Vector& x, const std::vector<int>& z, int last);
  /// Further ones, up to `last`.
  bool extend(int last);

  /// Of x_j, g_l: coefficients as far as they are computed.
  ///@{
  [[nodiscard]] const double* variable(int j) const { return (*series_)[line_of_x_[index(j)]]; }
  [[nodiscard]] const double* constraint(int l) const { return (*series_)[line_of_g_[index(l)]]; }
  ///@}
  [[nodiscard]] double time() const { return (*series_)[line_of_t_][0]; }
  [[nodiscard]] bool is_state(int j) const { return is_state_[index(j)] != 0; }
  [[nodiscard]] double rate(int j) const { return variable(j)[1]; }
  /// How far the states that are given may be from the exact ones: `share` of their sizes and themselves; 0: they
  /// are exact.
  void set_known(double share, Vector sizes) {
    share_ = share;
    sizes_ = std::move(sizes);
    bounded_until_ = -1;
  }
  [[nodiscard]] bool knows_states_exactly() const { return share_ == 0; }
  /// Of state j with value x.
  [[nodiscard]] double state_error(int j, double x) const {
    return share_ * std::max(std::abs(x), j < sizes_.size() ? sizes_[j] : 0.0);
  }
  /// A bound of the error of coefficient k of g_l, k <= 3, and of ẋ_j; infinite: there is none.
  ///@{
  double error(int l, int k);
  double rate_error(int j);
  ///@}
  /// Does every equation hold within 8 bounds of its own rounding at the beginning?
  [[nodiscard]] bool passes_gate();

  /// What later series depend on, rates from which Newton's method begins and orders of pivots among it; bounds of
  /// errors are computed again.
  void transfer(Archive& archive);

 private:
  struct Block {
    std::vector<int> rows, unknowns;     // equations, variables
    std::vector<int> lines, moving;      // of its rows, not met before; those that are not steady
    std::vector<int> slopes;             // lines that its derivatives need besides
    std::vector<int> behind;             // of both those that depend on the unknowns
    std::vector<int> behind_moving;      // of `moving`, and that others than the row itself need
    std::vector<linear::Place> places;   // of derivatives, in the block
    std::vector<int> derivatives;        // their lines
    std::optional<linear::SparseLu> factor;
  };
  static std::size_t index(int j) { return static_cast<std::size_t>(j); }
  struct Incidence {
    linear::Pattern unknowns, derivatives;  // of each equation: its variables, lines of its derivatives
  };
  Incidence incidence();
  void find_blocks();
  void make_blocks(const Incidence& given, const linear::Matching& matching);
  void find_lines();
  [[nodiscard]] std::vector<int> uses() const;
  [[nodiscard]] std::vector<int> lines_behind(const Block& block) const;
  void add_lines(Block& block, std::vector<char>& is_known, const std::vector<int>& uses);
  [[nodiscard]] int line_of_unknown(int j) const {
    return is_state(j) ? line_of_rate_[index(j)] : line_of_x_[index(j)];
  }
  [[nodiscard]] bool read_right(const Block& block, bool& is_zero);
  double correct(Block& block);
  [[nodiscard]] bool bound_block(Block& block, int k);
  [[nodiscard]] Vector errors_of_unknowns(Block& block, int k);
  void bound_errors(int last);
  [[nodiscard]] double& coefficient(int unknown, int k);
  bool factorise(Block& block);
  bool solve_first(Block& block);
  void solve_next(Block& block, int k);
  bool pass(int k);

  const HybridModel& model_;
  std::string obstacle_;
  std::vector<int> rows_;  // of tape_, which is made after it
  Tape tape_;
  std::optional<SeriesTape> series_;
  BoundedTape bounded_;
  std::vector<char> is_state_;
  int line_of_t_ = -1;
  std::vector<int> line_of_x_, line_of_rate_, line_of_z_, line_of_g_;
  std::vector<Block> blocks_;
  std::vector<int> rest_, rest_moving_;  // lines of the constraints
  Vector right_;
  int known_ = -1;  // the last order
  int bounded_until_ = -1;  // the last one with bounds of errors
  double share_ = 0;
  Vector sizes_;
  std::vector<double> z_, z_error_;
};

}  // namespace perp
