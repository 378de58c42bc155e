#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/dcs.hpp>

namespace perp {

/// Is the graph of the law 0 ≤ w ⊥ λ ≥ 0 or 0 ≤ −w ⊥ λ ≥ 0, λ = 0 first, whatever its branches are called?
bool is_contact(const Law& law);

/// A Dcs seen as a mechanical system with unilateral contacts:
///     q̇_j = s_j v_k(j)                             each position has its velocity, s_j ≠ 0 its unit
///     M(t, q) v̇ = f(t, q, v) + G(t, q)ᵀ λ          rows in any order, each up to a factor
///     0 ≤ g(t, q) ⊥ λ ≥ 0                          ẇ = G v + g_t
/// A differential variable that is no position counts as a velocity, so first-order equations (a
/// motor's current, a controller) may stand beside the mechanical ones.
class MechanicalSystem {
 public:
  /// The contacts at (t, q).
  struct Contacts {
    Vector g, g_t;  ///< m
    Matrix G;       ///< m×nv, derivative of g along the velocities
    Matrix B;       ///< nv×m, −∂F/∂λ: G transposed, up to the factors of the rows
    Vector size;    ///< m: Σ |∂g_i/∂q_j q_j|, the size of the terms of g
  };

  /// The rows of the velocities at (t, v̇, q, v) with q̇ = s v and λ = 0.
  struct Dynamics {
    Vector F;  ///< nv
    Matrix A;  ///< nv×nv, ∂F/∂v̇: M up to the factors of the rows
    Matrix C;  ///< nv×nv, ∂F/∂v + ∂F/∂q̇ s
    Matrix K;  ///< nv×nv, ∂F/∂q s, each position's column added to that of its velocity
  };

  /// Finds the parts by the structure of the equations. Throws InvalidInput with the reason if the
  /// system is not of this form. Equations and laws are counted from 1 in messages, variables too
  /// that have no names.
  explicit MechanicalSystem(Dcs system, std::vector<std::string> names = {});

  [[nodiscard]] int n() const { return system_.n(); }
  [[nodiscard]] int m() const { return system_.m(); }
  [[nodiscard]] const Laws& laws() const { return system_.laws; }
  [[nodiscard]] const std::vector<int>& positions() const { return positions_; }
  [[nodiscard]] const std::vector<int>& velocities() const { return velocities_; }
  /// For each position the index of its velocity in `velocities()`.
  [[nodiscard]] const std::vector<int>& velocity_of() const { return velocity_of_; }
  /// For each position s_j.
  [[nodiscard]] const std::vector<double>& velocity_factor() const { return velocity_factor_; }
  /// M, f and the forces enter such that F is affine in (v̇, q, v) at given t.
  [[nodiscard]] bool is_affine() const { return is_affine_; }

  /// Both read the variables from x, ordered as in the Dcs; they allocate on first use only.
  void evaluate(double t, const Vector& x, Contacts& contacts);
  void evaluate(double t, const Vector& vdot, const Vector& x, Dynamics& dynamics);

  /// Numerical part of the recognition: up to positive units of λ_i and factors of the rows, M is
  /// symmetric and positive definite and each multiplier acts along the gradient of its own g. The
  /// reason if they do not at (t, x).
  [[nodiscard]] std::optional<std::string> objection(double t, const Vector& x);

 private:
  struct Entry {
    int row, column, line;
    double factor = 1;
  };
  /// A tape that computes some lines of the Dcs and some of their derivatives, nothing else.
  struct Program {
    Tape tape;
    std::vector<int> values;
    std::vector<Entry> first, second, third;
    std::vector<double> result;
  };
  struct Jacobian;
  /// For each variable: the variable that is its derivative and the row that says so, or -1.
  struct Kinematics {
    std::vector<int> velocity, row;
    std::vector<double> factor;   // of the velocity in the derivative
    std::vector<bool> is_target;  // is it the derivative of another one?
    std::vector<bool> is_position, is_velocity;

    void place(std::size_t position);
    [[nodiscard]] bool begins_chain(std::size_t j) const;
  };
  /// A row a (ẋ_j − s x_k) = 0, j ≠ k.
  struct KinematicRow {
    int j, k;
    double factor;  // s
  };

  void require_laws() const;
  void make_gaps();
  [[nodiscard]] bool is_variable(int j) const { return 0 <= j && j < n(); }
  [[nodiscard]] bool is_position(int j) const;
  [[nodiscard]] std::optional<KinematicRow> kinematic_row(const Jacobian& jacobian, int r) const;
  [[nodiscard]] Kinematics kinematics(const Jacobian& jacobian) const;
  void place_gaps(const Jacobian& jacobian, Kinematics& found) const;
  void find_positions(const Jacobian& jacobian);
  void number(const Kinematics& found);
  void require_derivatives(const Jacobian& jacobian) const;
  void require_outputs(const Jacobian& jacobian) const;
  void require_dynamics(const Jacobian& jacobian) const;
  void compile_contacts(const Jacobian& jacobian);
  static std::vector<Entry>& entries_of(Program& program, bool of_derivative, bool of_position);
  void compile_dynamics(const Jacobian& jacobian);
  static void prune(Program& program);
  void run(Program& program);
  void set_state(double t, const Vector& x);

  [[nodiscard]] std::string name_of(int variable) const;

  Dcs system_;
  std::vector<std::string> names_;
  std::vector<int> positions_, velocities_, velocity_of_;
  std::vector<double> velocity_factor_;
  std::vector<int> rows_;            // of the velocities
  std::vector<int> velocity_index_;  // of each variable, its own or that of its derivative; -1
  std::vector<double> factor_of_;    // of each variable: s_j of a position, else 1
  bool is_affine_ = true;
  Program contact_program_, dynamics_program_;
  std::vector<double> inputs_;
};

}  // namespace perp
