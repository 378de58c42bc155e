#pragma once

#include <vector>

#include <perp/lcp/elimination.hpp>
#include <perp/lcp/mlcp.hpp>

namespace perp {

/// A family of problems with one set of matrices, whose q depends on a parameter θ ∈ R^k:
///     q1 = base.q1 + Q1 θ,   q2 = base.q2 + Q2 θ,   and the norm of a solution is ‖W u - Z θ‖.
/// The steps of a scheme with constant h are such a family: θ holds the differential variables of
/// the last step and whatever varies with time.
struct ParametricMlcp {
  Mlcp base;
  Matrix Q1;  ///< p×k
  Matrix Q2;  ///< m×k
  Matrix W;   ///< r×p
  Matrix Z;   ///< r×k

  [[nodiscard]] int k() const { return static_cast<int>(Q1.cols()); }
};

/// The problem of the family at θ; `problem` starts as a copy of the base, only q1 and q2 are
/// written.
void instantiate(const ParametricMlcp& family, const double* theta, Mlcp& problem);

/// One mode of a family, solved once for every θ: affine rows  r_i(θ) = c_i·θ + d_i.
///     margins(θ) ≥ 0  (where the mode is admissible),  u(θ), λ(θ), w(θ),  W u - Z θ
/// A mode whose matrix is singular has a continuum of solutions where its equations are consistent.
/// If they are so for every θ and determine u, as with redundant diodes, the mode is regular all
/// the same: its margins then say whether some λ exists, and λ is the particular one that
/// `Elimination` chooses. Else it is `singular`: there is no map, and solutions exist only where
/// `equalities(θ)` = 0.
class ModeMap {
 public:
  /// Which end of which branch a margin row watches.
  struct Margin {
    int law;
    bool of_lambda;  ///< a bound of λ, else of w
    bool upper;
    bool combined;  ///< made of several bounds by eliminating what is free in λ
  };

  enum class Kind {
    regular,
    singular,  ///< u is not determined, or only some θ are consistent
    never      ///< no θ makes the mode admissible
  };

  ModeMap(const ParametricMlcp& family, Mode mode);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const std::vector<Mode>& modes() const { return modes_; }
  [[nodiscard]] const std::vector<Margin>& margins() const { return margins_; }

  /// Is every margin ≥ 0 without tolerance? The fast test; reads nothing but the margin rows.
  [[nodiscard]] bool admissible(const double* theta) const {
    const double* row = rows_.data();
    for (int i = 0; i < margin_count_; ++i, row += stride_)
      if (dot(row, theta) < 0) return false;
    return true;
  }
  [[nodiscard]] double margin(int i, const double* theta) const {
    return dot(rows_.data() + i * stride_, theta);
  }
  /// Most negative margin relative to the size of its terms; ≥ 0 if admissible.
  [[nodiscard]] double worst_margin(const double* theta) const;

  void u(const double* theta, double* value) const { evaluate(u_row_, p_, theta, value); }
  void lambda(const double* theta, double* value) const;
  void w(const double* theta, double* value) const;
  /// Sizes of the terms of λ_i and w_i.
  [[nodiscard]] double lambda_size(int law, const double* theta) const {
    return size(rows_.data() + (lambda_row_ + law) * stride_, theta);
  }
  [[nodiscard]] double w_size(int law, const double* theta) const {
    return size(rows_.data() + (w_row_ + law) * stride_, theta);
  }
  [[nodiscard]] double squared_norm(const double* theta) const;

  /// For a singular mode: largest |equality row| relative to the size of its terms.
  [[nodiscard]] double inconsistency(const double* theta) const;

  /// Same map (up to rounding) and same margins: the two modes describe the same solutions.
  [[nodiscard]] bool same_as(const ModeMap& other) const;
  void merge(const ModeMap& other);

  /// Where the mode has solutions, as rows G θ + g ≥ 0 of norm 1: its margins, or the equality rows
  /// of a singular mode in both signs.
  void polyhedron(Matrix& G, Vector& g) const;
  /// Rows of u as affine functions, p×(k+1).
  [[nodiscard]] Matrix u_rows() const;
  /// Numbers kept.
  [[nodiscard]] std::size_t storage() const { return rows_.size() + equalities_.size(); }

 private:
  double dot(const double* row, const double* theta) const {
    double sum = row[k_];
    for (int j = 0; j < k_; ++j) sum += row[j] * theta[j];
    return sum;
  }
  double size(const double* row, const double* theta) const;
  void evaluate(int first, int count, const double* theta, double* value) const;
  struct Solved;
  void solve(const ParametricMlcp& family, const Solved& solved);
  void find_equalities(const Matrix& K, const Matrix& R);
  void add_margins(const ParametricMlcp& family, const Solved& solved);
  void append(const Matrix& block);

  Kind kind_ = Kind::regular;
  std::vector<Mode> modes_;
  std::vector<Margin> margins_;
  int k_ = 0, p_ = 0, m_ = 0, r_ = 0, stride_ = 1;
  int margin_count_ = 0, u_row_ = 0, lambda_row_ = 0, w_row_ = 0, norm_row_ = 0;
  std::vector<double> rows_;  // margins, u, λ, w, W u - Z θ; each row: k coefficients, constant
  std::vector<double> equalities_;  // of a singular mode, same layout
  int free_ = 0;                    // dimension of what is free in λ
  Matrix lambda_free_, w_free_;     // m×free: its directions
  Elimination elimination_;
};

}  // namespace perp
