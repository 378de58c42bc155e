#pragma once

#include <string>
#include <vector>

#include <perp/core/system/sparse_lcs.hpp>
#include <perp/lcp/libraries/petsc_library.hpp>
#include <perp/schemes/box/box_laws.hpp>

namespace perp {

/// A step of backward Euler as linear complementarity in a box, solved on all ranks of the program by PETSc:
///     F = E (y - x) - h (A y + B λ + b) = 0 in x⁺ = y, where laws bound it  -F ∈ N(y);  λ and w of the other laws beside them.
/// Each rank has the rows of its share; states, multipliers and what is decided are the same on all. Numbers are those of a system in
/// a mode, corrected with residuals of higher precision until each row is 0 within the rounding of its terms: whichever way it was
/// found, and on however many ranks, it is the same solution to some digits.
class BoxStep {
 public:
  /// Throws InvalidInput where the system has no such form, or PETSc is missing. `lcs` must outlive it.
  BoxStep(const SparseLcs& lcs, const std::string& options);
  BoxStep(const BoxStep&) = delete;
  BoxStep& operator=(const BoxStep&) = delete;
  ~BoxStep();

  /// The step from x to t_next, of length h.
  void set(double h, const Vector& x, double t_next);
  /// The solution in a mode, inside or outside of its branches. False: `message` says why there is none.
  bool solve(const Mode& mode);
  /// Goes on from the last solution to a mode that has one inside, by PETSc.
  bool search(Mode& mode);

  /// How far a law is from the end of its branch, in w or λ; negative: beyond it.
  struct Margin {
    int law;
    bool of_lambda, is_upper;
    double value;
    bool is_beyond;  ///< by more than its rounding
  };
  /// Of the last solution.
  [[nodiscard]] const Vector& x() const { return x_; }
  [[nodiscard]] const Vector& lambda() const { return lambda_; }
  [[nodiscard]] const Vector& w() const { return w_; }
  [[nodiscard]] const std::vector<Margin>& margins() const { return margins_; }
  [[nodiscard]] bool is_inside() const;
  /// Of x: what the rounding of its equations is of it.
  [[nodiscard]] Vector rounding() const;
  /// Largest part of an equation that is left, in bounds of the rounding of its terms.
  [[nodiscard]] double residual() const { return residual_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] long iterations() const { return iterations_; }
  [[nodiscard]] long systems() const { return systems_; }

  /// Is every row of the box strictly dominated by its diagonal, for steps up to this length, and each law a bound? Then the matrix
  /// is one of positive principal minors and every step has one solution (Cottle, Pang, Stone, theorem 3.3.7 and 3.3.15).
  [[nodiscard]] bool is_dominant(double h) const;
  [[nodiscard]] const std::vector<BoxLaw>& laws() const { return laws_; }

 private:
  void number_unknowns();
  void find_signs();
  void list_rows();
  void add_row(int unknown, std::vector<int>& row) const;
  void put_values();
  [[nodiscard]] int size() const { return static_cast<int>(unknowns_.size()); }
  [[nodiscard]] double sign_of(int unknown) const { return sign_[static_cast<std::size_t>(unknown)]; }
  /// A sum and the bound of its rounding.
  struct Sum {
    long double value = 0;
    double terms = 0;
    int count = 0;
    void add(long double term) {
      value += term;
      terms += static_cast<double>(term < 0 ? -term : term);
      ++count;
    }
    [[nodiscard]] double rounding() const;
  };
  [[nodiscard]] Sum equation(int j, bool with_bounded) const;
  [[nodiscard]] Sum argument(int i) const;
  [[nodiscard]] Sum row(int unknown) const;
  [[nodiscard]] double rounding_of(int unknown, const Sum& row) const;
  [[nodiscard]] double rounding_of_variable(int j) const;
  double find_residual(std::vector<double>& right) const;
  void hold(const Mode& mode);
  bool refine();
  void read_state();
  void find_outputs(const Mode& mode);
  void find_errors();
  void find_margins(const Mode& mode);
  void add_margins_of_multiplier(int i);
  void add_margin(int law, bool of_lambda, bool is_upper, double value, double rounding);
  [[nodiscard]] Mode mode_of(const std::vector<double>& y) const;
  void find_box();
  bool move_violated(Mode& mode) const;

  const SparseLcs& lcs_;
  const PerpPetsc& petsc_;
  std::vector<BoxLaw> laws_;
  std::vector<int> unknowns_;  // variables j, and n + i for the multiplier of law i
  std::vector<int> place_;     // of each of those, -1: none
  std::vector<int> law_of_;    // that bounds a variable, -1: none
  std::vector<double> sign_;   // of rows, so that bounds have the sign of PETSc
  int first_ = 0, behind_ = 0;
  std::vector<int> start_, columns_;
  void* system_ = nullptr;
  double h_ = nan, values_h_ = nan;
  Vector x_before_, b_, q_, x_, lambda_, w_;
  std::vector<double> y_, lower_, upper_, d_;
  std::vector<double> error_;  // of x and λ: what the rounding of their equations is of them
  std::vector<char> held_;
  std::vector<Margin> margins_;
  double residual_ = 0;
  std::string message_;
  long iterations_ = 0, systems_ = 0;
};

}  // namespace perp
