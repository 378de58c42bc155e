#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/lcp/exact/elimination.hpp>
#include <perp/lcp/mlcp.hpp>
#include <perp/lcp/parametric/refined_solution.hpp>

namespace perp {

class ExactMode;

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
  /// What rounding took from [M11 M12 Q1 q1], p×(p+m+k+1): the exact family has the sums of
  /// three doubles. Empty: nothing was rounded.
  std::array<Matrix, 2> rest{};

  [[nodiscard]] int k() const { return static_cast<int>(Q1.cols()); }
  /// Entry of [M11 M12 Q1 q1], column by column of (u, λ, θ, 1).
  [[nodiscard]] double entry(int row, int column) const;
  [[nodiscard]] DoubleDouble bounded_entry(int row, int column) const;
  [[nodiscard]] Rational exact_entry(int row, int column) const;
};

/// The problem of the family at θ; `problem` starts as a copy of the base, only q1 and q2 are
/// written.
void instantiate(const ParametricMlcp& family, const double* theta, Mlcp& problem);

/// An end of a branch as a bound of the quantity that moves along it: of λ where it is vertical, else
/// of w, which on a sloped branch may stand as a bound of λ.
struct BranchEnd {
  double bound;
  bool from_lambda;  ///< w = (c - b bound) / a
};
BranchEnd branch_end(const Branch& branch, bool upper);

/// The same end as a bound of λ or w; infinite: there is none.
struct BoundedEnd {
  DoubleDouble bound;
  double terms;  ///< whose share 2^-98, a few times, bounds the error
};
BoundedEnd bounded_end(const Branch& branch, bool upper);

class ModePoints;

/// One mode of a family, solved once for every θ: affine rows  r_i(θ) = c_i·θ + d_i.
///     margins(θ) ≥ 0  (where the mode is admissible),  u(θ), λ(θ), w(θ),  W u - Z θ
/// Coefficients are known to about 2^-98 of their terms, so that a row is rounded by its own evaluation
/// alone; it is evaluated in twice the precision where its terms cancel, and in rational numbers where
/// these do: every number is the exact one of the mode up to its last digits, which is why its equations
/// hold to n u Σ |a_ij x_j| row by row. The family must outlive its maps.
/// A mode whose matrix is singular has a continuum of solutions where its equations are consistent.
/// If they are so for every θ and determine u, as with redundant diodes, the mode is regular all
/// the same: its margins then say whether some λ exists, and λ is the particular one that
/// `Elimination` chooses. Else it is `singular`: there is no map, and solutions exist only where
/// `equalities(θ)` = 0. Which of these it is, is exact.
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

  /// What the margins of a mode say at θ, rounding of the evaluation and of θ bounded.
  enum class Verdict {
    positive,   ///< no margin is negative
    undecided,  ///< some are within what the rounding of θ makes of them, none is below it
    negative    ///< one is below its rounding
  };

  /// How the numbers of a regular mode are had.
  enum class Form {
    rows,   ///< as affine functions of θ
    points  ///< by a solution at each θ, for families of many θ of which few are asked for
  };

  ModeMap(const ParametricMlcp& family, Mode mode, Form form = Form::rows);
  ModeMap(ModeMap&&) noexcept;
  ModeMap& operator=(ModeMap&&) noexcept;
  ~ModeMap();

  /// Is it known by rows?
  [[nodiscard]] bool has_rows() const { return points_ == nullptr; }
  /// How often its points were asked for; the rest is that of the mode.
  void transfer(Archive& archive);
  /// Would rows have cost less by now?
  [[nodiscard]] bool is_met_often() const;
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const std::vector<Mode>& modes() const { return modes_; }
  [[nodiscard]] const std::vector<Margin>& margins() const { return margins_; }

  /// Is every margin ≥ 0 as it is computed? The fast test; reads nothing but the margin rows.
  [[nodiscard]] bool admissible(const double* theta) const {
    if (points_ != nullptr) [[unlikely]] return admissible_at_point(theta);
    return with_known_size([&](const auto size) { return has_margins(theta, size); });
  }
  [[nodiscard]] Verdict verdict(const double* theta) const;
  /// The same of one margin.
  [[nodiscard]] Verdict verdict(int margin, const double* theta) const;
  /// Is a margin above what the rounding of its evaluation and of θ may make of it?
  [[nodiscard]] bool is_clear(int margin, const double* theta) const;
  /// Sign of a margin at exactly this θ: by twice the precision, and where that does not tell 0 by
  /// rational arithmetic from the family's data.
  [[nodiscard]] int sign(int margin, const double* theta) const;

  [[nodiscard]] double margin(int i, const double* theta) const;
  /// Most negative margin relative to the size of its terms; ≥ 0 if admissible.
  [[nodiscard]] double worst_margin(const double* theta) const;

  void u(const double* theta, double* value) const;
  [[nodiscard]] double u(int j, const double* theta) const;
  /// Some of them: value[j] becomes u_j.
  void u(const std::vector<int>& which, const double* theta, double* value) const {
    if (points_ != nullptr) [[unlikely]] {
      for (const int j : which) value[j] = u(j, theta);
      return;
    }
    with_known_size([&](const auto size) {
      const double* rows = rows_.data() + u_row_ * (size + 1);
      for (const int j : which) value[j] = evaluate(rows + j * (size + 1), u_row_ + j, theta, size);
      return true;
    });
  }
  /// θ⁺_j = u_{which_j}(θ), again and again as long as the mode stays admissible and finite, at most `most` times: how often.
  /// `ring` holds four θ, that of step i at place i mod 4, and begins with that of step 0. None where there are no rows.
  long repeat(const std::vector<int>& which, long most, double* ring) const;
  /// What `repeat` evaluates, of a mode with rows: of k + 1 numbers each.
  struct Rows {
    int k = 0, margins = 0;             ///< k = 0: it does not
    const double* margin = nullptr;
    const double* u = nullptr;
    const double* most_cancelled = nullptr;  ///< of rows of u, beyond which `u` asks for more digits
    double finite_up_to = 0;            ///< of |θ_j|
  };
  [[nodiscard]] Rows rows_of(const std::vector<int>& which) const {
    if (points_ != nullptr || static_cast<int>(which.size()) != k_) return {};
    return {k_, margin_count_, rows_.data(), rows_.data() + u_row_ * stride_, most_cancelled_.data() + u_row_, finite_up_to_};
  }
  /// Is every row surely finite at θ, with all that its evaluation multiplies and adds?
  [[nodiscard]] bool is_finite(const double* theta) const {
    if (points_ != nullptr) return false;  // told by the point itself
    for (int j = 0; j < k_; ++j)
      if (!(std::abs(theta[j]) <= finite_up_to_)) return false;
    return true;
  }
  /// On the branches of the mode, ends included.
  void lambda(const double* theta, double* value) const;
  void w(const double* theta, double* value) const;
  /// Bounds of the rounding of λ_i and w_i, that of θ included.
  [[nodiscard]] double lambda_rounding(int law, const double* theta) const;
  [[nodiscard]] double w_rounding(int law, const double* theta) const;
  [[nodiscard]] double u_rounding(int j, const double* theta) const;
  /// ‖W u - Z θ‖² and a bound of its rounding.
  double squared_norm(const double* theta, double* error) const;

  /// For a singular mode: may its equations be consistent at θ, as far as rounding tells?
  [[nodiscard]] bool consistent(const double* theta) const;
  /// Largest |equality row| relative to the size of its terms.
  [[nodiscard]] double inconsistency(const double* theta) const;

  /// Same map and same margins, as far as twice the precision of doubles tells: the two modes
  /// describe the same solutions.
  [[nodiscard]] bool same_as(const ModeMap& other) const {
    return with_rows().has_same_rows(other.with_rows());
  }
  void merge(const ModeMap& other);

  /// Where the mode has solutions, as rows G θ + g ≥ 0: its margins, or the equality rows of a
  /// singular mode in both signs.
  void polyhedron(Matrix& G, Vector& g) const;
  /// Rows of u as affine functions, p×(k+1).
  [[nodiscard]] Matrix u_rows() const;
  /// Numbers kept.
  [[nodiscard]] std::size_t storage() const;

 private:
  template <class Size>
  [[nodiscard, gnu::always_inline]] bool has_margins(const double* theta, Size k) const {
    const double* row = rows_.data();
    for (int i = 0; i < margin_count_; ++i, row += k + 1)
      if (!(dot(row, theta, k) >= 0)) return false;
    return true;
  }
  /// Calls work(k) with a k that the compiler knows where it is small, so that loops over θ are unrolled.
  template <class Work>
  bool with_known_size(const Work& work) const {
    switch (k_) {
      case 1: return work(std::integral_constant<int, 1>{});
      case 2: return work(std::integral_constant<int, 2>{});
      case 3: return work(std::integral_constant<int, 3>{});
      default: return work(k_);
    }
  }
  /// work(0), ..., work(k - 1), in this order.
  template <class Size, class Work>
  [[gnu::always_inline]] static void for_each_entry(Size k, const Work& work) {
    if constexpr (std::is_same_v<Size, int>) {
      for (int j = 0; j < k; ++j) work(j);
    } else {
      const auto unrolled = [&]<int... J>(std::integer_sequence<int, J...>) { (work(J), ...); };
      unrolled(std::make_integer_sequence<int, Size::value>{});
    }
  }
  template <class Size>
  [[gnu::always_inline]] static double dot(const double* row, const double* theta, Size k) {
    double sum = row[k];
    for_each_entry(k, [&](int j) { sum += row[j] * theta[j]; });
    return sum;
  }
  double dot(const double* row, const double* theta) const { return dot(row, theta, k_); }
  double size(const double* row, const double* theta) const;
  [[nodiscard]] double rounding(int row, const double* theta) const;
  [[nodiscard]] double accurate(int row, const double* theta, double* error) const;
  [[nodiscard]] double precise(int row, const double* theta, double sum, double terms) const;
  void find_precision();
  void find_finite();
  [[nodiscard]] const ExactMode& exact() const;
  template <class Size>
  [[nodiscard, gnu::always_inline]] double evaluate(const double* row, int index,
                                                    const double* theta, Size k) const {
    double sum = row[k], terms = std::abs(sum);
    for_each_entry(k, [&](int j) {
      const double term = row[j] * theta[j];
      sum += term;
      terms += std::abs(term);
    });
    // where terms cancel, one ulp of theirs is too much for the rows of the equations; NaN: coefficients lack digits
    if (terms <= most_cancelled_[static_cast<std::size_t>(index)] * std::abs(sum)) [[likely]] return sum;
    return precise(index, theta, sum, terms);
  }
  void evaluate(int first, int count, const double* theta, double* value) const {
    with_known_size([&](const auto size) {
      const double* row = rows_.data() + first * (size + 1);
      for (int i = first; i < first + count; ++i, row += size + 1) *value++ = evaluate(row, i, theta, size);
      return true;
    });
  }
  [[nodiscard]] bool has_held_argument(const ParametricMlcp& family, int law) const;
  [[nodiscard]] bool contradicts(const ParametricMlcp& family, int law) const;
  bool know_by_points(const BoundedMatrix& K, const BoundedMatrix& R);
  void solve_for_rows(const ParametricMlcp& family, const BoundedMatrix& K, const BoundedMatrix& R);
  void solve_exactly(const ParametricMlcp& family);
  void set_rows(const ParametricMlcp& family, const BoundedMatrix& y, const BoundedMatrix& w);
  void add_margins(const ParametricMlcp& family, const BoundedMatrix& y, const BoundedMatrix& w);
  bool add_free_margins(const ExactMode& exact);
  void add_margin(const Margin& margin, int origin, const BoundedMatrix& row);
  void append(const BoundedMatrix& block);
  void add_free(const Matrix& directions, const double* theta, double* value) const;
  void put_on_branches(bool of_w, const double* theta, double* value) const;
  [[nodiscard]] bool is_determined() const { return kind_ == Kind::regular && free_ == 0; }
  [[nodiscard]] bool same_row(int mine, const ModeMap& other, int theirs) const;
  [[nodiscard]] bool has_same_rows(const ModeMap& other) const;
  [[nodiscard]] bool same_margin(int mine, const ModeMap& other, int theirs) const;

  // Of a mode that is known by points, see mode_map_points.cpp.
  const ModeMap& by_rows() const;
  [[nodiscard]] const ModeMap& with_rows() const { return points_ != nullptr ? by_rows() : *this; }
  [[nodiscard]] int place_by_rows(int margin) const;
  [[nodiscard]] bool admissible_at_point(const double* theta) const;
  [[nodiscard]] Verdict verdict_at_point(int margin, const double* theta) const;
  [[nodiscard]] double margin_at_point(int margin, const double* theta) const;
  [[nodiscard]] bool is_clear_at_point(int margin, const double* theta) const;
  [[nodiscard]] int sign_at_point(int margin, const double* theta) const;
  [[nodiscard]] int exact_sign(int margin, const double* theta) const;
  [[nodiscard]] double unknown_at_point(int j, const double* theta) const;
  void w_at_point(const double* theta, double* value) const;
  [[nodiscard]] double rounding_at_point(bool of_w, int row, const double* theta) const;

  static constexpr double most_cancelled = 8;

  std::unique_ptr<const ModePoints> points_;  ///< null: there are rows
  mutable std::unique_ptr<const ModeMap> by_rows_;
  const ParametricMlcp* family_;
  mutable std::shared_ptr<const ExactMode> exact_;  ///< made when a row is asked for exactly
  Kind kind_ = Kind::regular;
  std::vector<Mode> modes_;
  std::vector<Margin> margins_;
  std::vector<int> origin_;    // of each margin, among the ends that ExactMode lists
  std::vector<Branch> branches_;  // of the mode, law by law
  int k_ = 0, p_ = 0, m_ = 0, r_ = 0, stride_ = 1;
  int margin_count_ = 0, u_row_ = 0, lambda_row_ = 0, w_row_ = 0, norm_row_ = 0;
  std::vector<double> rows_;  // margins, u, λ, w, W u - Z θ; each row: k coefficients, constant
  std::vector<double> low_;   // what they lack, in the same layout
  std::vector<double> error_;       // bounds of what is still missing
  std::vector<double> precise_from_;  // of each row: the share of its terms from which twice the precision
                                      // gives all digits of a double
  std::vector<double> most_cancelled_;  // of each row: its terms in units of itself up to which doubles do; NaN: not without
                                        // a look at the errors of its coefficients
  std::vector<double> equalities_;  // of a singular mode, same layout
  double finite_up_to_ = 0;         // |θ_j| up to which no row overflows
  int free_ = 0;                    // dimension of what is free in λ
  Matrix lambda_free_, w_free_;     // m×free: its directions
  Elimination elimination_;
};

}  // namespace perp
