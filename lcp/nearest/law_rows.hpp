#pragma once

#include <optional>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/lcp/nearest/norm_relaxation.hpp>
#include <perp/lcp/polyhedra/mode_polyhedron.hpp>

namespace perp {

/// The quantities of a problem's laws and of a norm in the unknowns t that its equations leave
/// free, for NormRelaxation: w and λ, a w + b λ of sloped branches, and the entries of the norm's
/// vector W (y - center) once more, so that they can be bounded.
class LawRows {
 public:
  /// `scaled`: the problem in scaled unknowns; `unit`: their units (u, λ) in the problem as given,
  /// in which W and center are. The arguments must outlive this.
  LawRows(const Mlcp& scaled, const AlgebraicProblem<long double>& algebraic, const Vector& unit,
          const Matrix& W, const Vector& center);

  /// False: the equations contradict each other, and nothing else may be called.
  [[nodiscard]] bool consistent() const { return space_.has_value(); }
  [[nodiscard]] const NormRows& rows() const { return rows_; }
  [[nodiscard]] int first_of_norm() const {
    return rows_.rows() - static_cast<int>(rows_.a.size());
  }

  /// Quantities of a law.
  [[nodiscard]] int w(int law) const { return places_[at(law)].w; }
  [[nodiscard]] int lambda(int law) const { return places_[at(law)].lambda; }

  /// Ranges of all quantities where no law is decided: the hulls of the branches.
  [[nodiscard]] std::vector<Range> root_ranges() const;
  /// Narrows the ranges to a branch of a law.
  void decide(std::vector<Range>& ranges, int law, int branch) const;
  /// No entry of the norm's vector is larger than the norm.
  void keep_within(std::vector<Range>& ranges, double radius) const;

  /// The point (u, λ) of the relaxation, in the units of the problem as given.
  [[nodiscard]] Vector unknowns(const NormRelaxation& relaxation) const;
  /// A point of the scaled problem in these units.
  [[nodiscard]] Vector in_units(const std::vector<long double>& y) const;

 private:
  /// Where the quantities of a law stand among those of the relaxation.
  struct Places {
    int w = -1, lambda = -1;
    std::vector<int> combination{};  ///< per branch: a w + b λ of a sloped one, else -1
  };

  void write_rows(const AlgebraicProblem<long double>& algebraic, const Matrix& W,
                  const Vector& center);
  void write_quantities(const std::vector<Vector>& rows);
  void write_law(const AlgebraicProblem<long double>& algebraic, int i, bool is_parameter,
                 std::vector<Vector>& rows);

  const Mlcp& problem_;
  Vector unit_;
  std::optional<AffineSpace<long double>> space_;  ///< of the equations
  NormRows rows_;
  std::vector<Places> places_;
};

}  // namespace perp
