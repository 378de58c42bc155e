#pragma once

#include <map>
#include <optional>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/linear/sparse/entry_lu.hpp>
#include <perp/core/tape/bounded_tape.hpp>
#include <perp/core/tape/machine_code.hpp>
#include <perp/schemes/located/radau/branch_forms.hpp>

namespace perp {

/// The smooth DAE of a Dcs in one mode:
///     0 = H(t, ẏ, y; p),   y = (x, λ of the laws whose branch leaves it open),   N unknowns
///     H = (F, a_i w_i + b_i λ_i - c_i of these laws)
/// A branch with a = 0 fixes λ_i = c/b: no unknown and no equation. H does not contain the
/// derivative of a multiplier. Where formulas have no derivatives at the end of a branch the functions
/// are those of the branch, see BranchForms. One object serves one thread; between two `set_mode`
/// nothing is allocated.
class ModeFlow {
 public:
  /// `parameters`: those (indices into Dcs::parameters) with respect to which derivatives will be
  /// asked for, q of them, in the order of the columns. Throws InvalidInput: the system is not
  /// valid, an index does not exist or appears twice.
  explicit ModeFlow(const Dcs& system, std::vector<int> parameters = {});
  ModeFlow(ModeFlow&&) = default;
  ModeFlow& operator=(ModeFlow&&) = default;

  /// `velocity_level[i]` (empty: none): the equation w_i = const of a vertical branch is replaced
  /// by
  ///     dw_i/dt = ∂G_i/∂t + ∂G_i/∂x ẋ = 0,
  /// which turns a contact of relative degree two from index 3 into index 2. Throws InvalidInput: a
  /// branch does not exist; the velocity level is asked for on a branch that is not vertical, or of
  /// a law whose w contains more than t and x. `ends`: see BranchForms.
  void set_mode(const Mode& mode, const std::vector<char>& velocity_level = {},
                const BranchForms::Ends& ends = {});

  /// The mode, as it was set.
  void transfer(Archive& archive);

  [[nodiscard]] int n() const { return system_.n(); }
  [[nodiscard]] int m() const { return system_.m(); }
  [[nodiscard]] int size() const { return n() + static_cast<int>(free_laws_.size()); }  ///< N
  [[nodiscard]] int parameter_count() const { return static_cast<int>(parameters_.size()); }
  [[nodiscard]] const Dcs& system() const { return system_; }
  [[nodiscard]] const Mode& mode() const { return mode_; }
  /// The equations in the form that they have in this mode, see BranchForms; that of the same mode is the same object.
  [[nodiscard]] const Dcs& formulas() const { return now_->system; }
  /// The laws whose λ is unknown, in increasing order: y_(n+k) is λ of free_laws()[k].
  [[nodiscard]] const std::vector<int>& free_laws() const { return free_laws_; }
  /// Does H contain ẏ_k, by its form, in this mode?
  [[nodiscard]] bool is_differential(int k) const {
    return differential_[static_cast<std::size_t>(k)] != 0;
  }

  /// Laws on a vertical branch whose multiplier no equation holds, see BranchForms. Empty: none.
  [[nodiscard]] const std::vector<char>& inert() const { return now_->inert; }

  /// y (N) of x (n) and λ (m), and back; `scatter` also sets the λ that the mode fixes.
  void gather(const Vector& x, const Vector& lambda, Vector& y) const;
  void scatter(const Vector& y, Vector& x, Vector& lambda) const;

  /// H (N) at (t, ẏ, y). False: a component is not finite.
  [[nodiscard]] bool evaluate(double t, const Vector& ydot, const Vector& y, Vector& H);
  /// H with ∂H/∂ẏ and ∂H/∂y (N×N). False: something is not finite.
  [[nodiscard]] bool linearize(double t, const Vector& ydot, const Vector& y, Vector& H,
                               Matrix& H_ydot, Matrix& H_y);
  /// Where ∂H/∂ẏ or ∂H/∂y have entries, by the form of the equations in this mode.
  [[nodiscard]] const linear::EntryPlaces& places() const { return places_; }
  /// The same as `linearize`, by the entries at these places.
  [[nodiscard]] bool linearize(double t, const Vector& ydot, const Vector& y, Vector& H, Vector& H_ydot, Vector& H_y);
  /// ∂H/∂t (N) at the point of the last `linearize`.
  void by_time(Vector& H_t) const;
  /// ∂H/∂p (N×q) at the point of the last `linearize`.
  void by_parameters(Matrix& H_p);

  /// w of all m laws. False: a component is not finite.
  [[nodiscard]] bool w(double t, const Vector& ydot, const Vector& y, Vector& w);
  /// The same with its derivatives: m×N, m×N, m, m×q. False: something is not finite.
  [[nodiscard]] bool linearize_w(double t, const Vector& ydot, const Vector& y, Vector& w,
                                 Matrix& w_ydot, Matrix& w_y, Vector& w_t, Matrix& w_p);

  /// H with bounds of its error, t, ẏ and y being known to within the given errors. Slower than
  /// `evaluate`. False: not finite.
  [[nodiscard]] bool evaluate_bounded(const RunningError& t, const std::vector<RunningError>& ydot,
                                      const std::vector<RunningError>& y,
                                      std::vector<RunningError>& H);
  /// w of all laws there, of the last `evaluate_bounded`.
  [[nodiscard]] std::vector<RunningError> bounded_w();

 private:
  /// A derivative that does not vanish by its form: rows are F, G, then dw/dt of velocity_laws_;
  /// columns are the inputs t, ẋ, x, λ, or the parameters.
  struct Entry {
    int row = 0;
    int column = 0;
  };
  /// Entry number `entry`, times `factor`, stands at (row, column) of a matrix of the mode.
  struct Term {
    std::size_t entry = 0;
    int row = 0;
    int column = 0;
    double factor = 1;
    int place = -1;  // among places_, of those that have one
  };
  /// An equation of a law in the mode: a (row of the functions) + b λ - c.
  struct LawRow {
    int function = 0;
    double a = 0, b = 0, c = 0;
  };

  /// The functions of a form of the equations, and their derivatives.
  struct Functions {
    Dcs system;
    std::vector<char> inert;
    std::vector<int> velocity_laws;   // whose dw/dt is compiled
    std::vector<int> velocity_lines;  // on the tape of the system
    MachineCode values, linear, by_parameters;
    std::optional<MachineCode> laws;     // G alone; this and the next one are made when first asked for
    std::optional<BoundedTape> bounded;
    std::vector<Entry> entries, parameter_entries;

    /// The lines of F, G and dw/dt.
    [[nodiscard]] std::vector<int> outputs() const {
      std::vector<int> lines = system.F;
      lines.insert(lines.end(), system.G.begin(), system.G.end());
      lines.insert(lines.end(), velocity_lines.begin(), velocity_lines.end());
      return lines;
    }
  };

  void use(const BranchForms::Key& key, const Mode& mode, const BranchForms::Ends& ends);
  void compile();
  void resize();
  void add_velocity(int law);
  void add_velocities(const Mode& mode, const std::vector<char>& velocity_level);
  void make_law_rows();
  void make_terms();
  void add_term(std::size_t entry, int row, double factor);
  void make_places();
  [[nodiscard]] std::vector<int> equation_of_functions() const;
  /// The law whose w has this derivative; negative: none.
  [[nodiscard]] int law_of(const Entry& entry) const {
    const int i = entry.row - n();
    return i < m() ? i : -1;
  }
  /// The unknown that an input x_j or λ_i is in this mode; -1: a λ that the mode fixes.
  [[nodiscard]] int unknown_of(int input) const {
    const int j = input - system_.variable_input(0);
    return j < n() ? j : place_[static_cast<std::size_t>(j - n())];
  }
  void w_by_parameters(Matrix& w_p);
  [[nodiscard]] BoundedTape& bounded();
  [[nodiscard]] MachineCode& laws();
  void fill(double t, const Vector& ydot, const Vector& y, std::vector<double>& z) const;
  bool equations(const Vector& y, const std::vector<double>& rows, Vector& H) const;

  Dcs system_;
  std::vector<int> parameters_;      // as asked for
  BranchForms forms_;
  std::map<BranchForms::Key, Functions> known_;
  Functions* now_ = nullptr;  // one of known_

  Mode mode_;
  std::vector<char> velocity_level_;
  BranchForms::Ends ends_;
  std::vector<int> free_laws_, place_;  // place_[i]: of λ_i in y, -1: fixed
  std::vector<double> fixed_;           // λ that the mode fixes, else 0
  std::vector<LawRow> law_rows_;
  std::vector<char> differential_;
  std::vector<Term> by_ydot_, by_y_, by_t_, by_p_;
  linear::EntryPlaces places_;
  std::vector<int> law_places_;  // of the multipliers in their own rows

  std::vector<double> z_, z_linear_, z_error_, rows_, derivatives_, w_derivatives_, parameter_derivatives_;
};

}  // namespace perp
