#pragma once

#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace perp::relations {

/// Many unknowns by entries:
///     Σ E_ij u̇_j = Σ A_ij u_j + b_i + s_i cos(ω t) + Σ B_l λ_l,   w_l = c_l u_j(l) + q_l + p_l cos(ω t).
struct LargeModel {
  struct Entry {
    int row = 0, column = 0;
    double value = 0;
  };
  /// 0 <= w ⊥ λ >= 0, or λ in relay(w, -force, force) where force > 0.
  struct Law {
    int row = 0, column = 0;  ///< the equation with λ, and the variable of w
    double B = 1, c = 1, q = 0, p = 0, force = 0;
  };
  unsigned seed = 0;
  std::vector<double> start{}, b{}, s{};
  std::vector<Entry> E{}, A{};  ///< each place once
  std::vector<Law> laws{};
  double omega = 1, h = 1;
  int steps = 1;

  [[nodiscard]] int n() const { return static_cast<int>(start.size()); }
  [[nodiscard]] int m() const { return static_cast<int>(laws.size()); }
};

/// Numbers of the nodes of a grid by a formula that rounds nothing where its own are dyadic:
///     base + rough · mod(Σ by_a i_a, period) + bow · Π i_a (N_a + 1 - i_a).
struct GridField {
  double base = 0, rough = 0, bow = 0;
  std::array<int, 3> by{1, 1, 1};
  int period = 1;
};

/// Nodes of a regular grid between obstacles, by formulas; the last index is the fastest one.
///     rate u̇ = Σ_neighbours weight (u' - u) - own u + load + s cos(ω t) + r - f,  u = 0 around the grid,
///     0 <= u - lower ⊥ r >= 0 for first <= i_1 <= last,  0 <= upper - u ⊥ f >= 0.
struct GridModel {
  unsigned seed = 0;
  std::array<int, 3> size{1, 1, 1};
  GridField rate, own, load, start, lower, upper;
  std::array<GridField, 3> weight;  ///< between a node and the next one along an axis
  int first = 1, last = 1;
  bool has_upper = false;
  double s = 0, omega = 1, h = 1;
  int steps = 1;
  [[nodiscard]] int nodes() const { return size[0] * size[1] * size[2]; }
  [[nodiscard]] int dimensions() const { return (size[0] > 1) + (size[1] > 1) + (size[2] > 1); }
};

/// What a seed draws: a grid, or blocks in a row or a net that slide on a belt.
struct LargeDraw {
  std::optional<GridModel> grid;
  LargeModel model;
};

/// The draw of a seed: membranes of two and three dimensions, strings, blocks in rows and nets.
LargeDraw random_large(unsigned seed);

/// The same system by entries.
LargeModel by_entries(const GridModel& grid);

/// Old number = factor × new number; equations and arguments are multiplied by theirs.
struct LargeUnits {
  std::vector<double> variables, equations, arguments, multipliers;
  double time = 1;
};

LargeModel in_units(const LargeModel& model, const LargeUnits& units);
/// Variable j stands at variables[j], and so on.
LargeModel permuted(const LargeModel& model, const std::vector<int>& variables, const std::vector<int>& equations,
                    const std::vector<int>& laws);
/// Both side by side.
LargeModel joined(const LargeModel& first, const LargeModel& second);
/// Numbers other than 0 and ±1 of loads, bounds and starts changed by about this relative amount.
LargeModel perturbed(const LargeModel& model, std::mt19937& random, double amount);
/// Where the nodes of the grid stand when its axes change places: axis a of the new grid is axes[a] of the old one.
std::vector<int> transposition(const GridModel& grid, const std::array<int, 3>& axes);

}  // namespace perp::relations
