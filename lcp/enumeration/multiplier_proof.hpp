#pragma once

#include <vector>

#include <perp/lcp/enumeration/node_proof.hpp>

namespace perp {

/// Proofs of the same claims by multipliers that are doubles: with any y
///     Σ_i y_i w_i - Σ_j (yᵀM)_j λ_j = yᵀq
/// in every solution, and a node is empty where the largest value of the left side on the branches that
/// the node leaves to the laws is below yᵀq. Where the multipliers come from needs no proof: one
/// factorization finds those that eliminate the unknowns a claim tells, shifted so that the coefficient of
/// an unbounded λ does not stand on the wrong side of 0 by rounding. yᵀM and yᵀq are evaluated
/// with bounds, whose growth no elimination has a part in.
class MultiplierProof {
 public:
  using Forms = NodeProof<Bounded<double>>;

  /// `forms` express w and λ in the parameters that the equations of the problem leave.
  explicit MultiplierProof(Forms& forms);

  /// Is it proved that the node at the end of this path is empty, by what is claimed of it?
  bool proves(const std::vector<Decision>& path, const EmptinessClaim& claim);

 private:
  using Number = Bounded<double>;

  /// a w + b λ of a law, which eliminates an unknown or is claimed to miss its range.
  struct Functional {
    int law;
    double a, b;
  };

  void find_columns(const Forms& forms);
  void append_rows(Forms& forms);
  void append_row(const std::vector<Number>& form);
  void add_rounding();
  void read(const std::vector<Decision>& path, const EmptinessClaim& claim);
  [[nodiscard]] bool leave_out_fixed_lambdas();
  [[nodiscard]] bool find_multipliers();
  void add(const Functional& functional, double factor, double* y) const;
  void write_coefficients(const Functional& functional, double* to, int stride) const;
  [[nodiscard]] bool solve(int size);
  [[nodiscard]] int open_end(int column) const;
  void combine(const double* y);
  [[nodiscard]] bool separates(const double* y);
  [[nodiscard]] bool leaves(int law, int branch) const;
  [[nodiscard]] std::optional<Number> largest(int law, const double* y) const;

  const AlgebraicProblem<Number>& problem_;
  std::vector<std::vector<LawRanges<Number>>> ranges_;  ///< of law and branch
  std::vector<int> column_;                 ///< of an unknown; -1: the equations eliminate it
  std::vector<int> unknown_;                ///< of a column
  std::vector<int> row_;                    ///< of w_i, then of λ_i where it has no column: -1
  std::vector<double> entry_, bound_;       ///< rows × (columns, constant); of rounding and data, per |y|
  int rows_ = 0, width_ = 0;
  Mode mode_;                               ///< -1: not decided
  std::vector<Functional> eliminating_;
  Functional claimed_{};
  std::vector<int> eliminated_;             ///< columns
  std::vector<double> shift_of_column_;     ///< per Σ|y|
  std::vector<double> matrix_;              ///< of `solve`, with its right sides
  std::vector<double> base_, shift_, y_;    ///< multipliers of the rows
  std::vector<double> sum_, error_;         ///< yᵀ(entry), with its bound
};

}  // namespace perp
