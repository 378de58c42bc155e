#pragma once

#include <vector>

#include <perp/core/interval/interval.hpp>
#include <perp/schemes/located/mode_integrator.hpp>

namespace perp {

/// What the stages of an attempted step do not show of algebraic variables of curved rows: between two stages at which a
/// diode blocks it may conduct, and the error estimate, which is one of differential variables at stages, knows nothing
/// of it.
///
/// Between two samples the differential variables are taken to go with the polynomial, the algebraic ones as the equations
/// let them: see CurvedRows. A line that is not affine in them and may exceed its values at both samples by half of what it
/// varies over all, where an equation feels that, may hide something: the point in the middle tells, or the halves are looked at, where most
/// is felt first. There the algebraic variables are solved for, and what the differential equations then miss is held
/// against the tolerance, as the error estimate does at the start. A search of limited length: what it finds is
/// certain, what it does not find need not be absent.
class HiddenPulses {
 public:
  /// All must outlive this.
  HiddenPulses(const LocatedState& at, ModeIntegrator& integrator) : at_(at), integrator_(integrator) {}

  /// Is there a point of the attempt of length h, before its share `end`, at which the differential equations miss more than
  /// the tolerance, or algebraic variables are not found?
  [[nodiscard]] bool hide_something(double h, double end);

 private:
  /// A point of the attempt: unknowns and rates, inputs of the formulas, and their lines.
  struct Sample {
    double share = 0;
    Vector y{}, rates{};
    std::vector<double> inputs{}, lines{};
  };
  /// Between two samples: how much of what it may hide an equation feels; infinite: that is not known.
  struct Piece {
    std::size_t low = 0, high = 0;
    double felt = 0;
  };

  void sample_stages(double h);
  std::size_t add_sample(double share, double h, const Vector& y);
  void measure_rows(const Sample& sample, double h);
  void add_piece(std::size_t low, std::size_t high);
  [[nodiscard]] bool put_between(const Sample& low, const Sample& high);
  void put_tangents(const Sample& low, const Sample& high);
  [[nodiscard]] double felt(const Sample& low, const Sample& high);
  void evaluate_others(std::vector<enclosure::Interval>& ranges) const;
  [[nodiscard]] bool shows(const Piece& piece, double h, double end);
  [[nodiscard]] AlgebraicPart::Solved solve_at(double share, double h, const Piece& piece, Vector& y);
  [[nodiscard]] bool is_off_course(double share, const Vector& y);
  [[nodiscard]] CurvedRows& rows() { return integrator_.algebraic_part().curved_rows(); }

  const LocatedState& at_;
  ModeIntegrator& integrator_;
  const Dcs* formulas_ = nullptr;  // of the mode
  std::vector<Sample> samples_;
  std::vector<Piece> pieces_;
  std::vector<double> lowest_, highest_;  // of lines, over all samples
  std::vector<double> row_units_;         // of the curved rows' equations: of the residual, for a change of unknowns by their units
  std::vector<enclosure::Interval> box_, ranges_, with_, without_;
  Vector units_, least_, y_, rates_, H_, correction_;
  Matrix H_ydot_, H_y_;
};

}  // namespace perp
