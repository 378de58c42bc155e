#pragma once

#include <memory>
#include <vector>

#include <perp/analysis/run/kept_run.hpp>
#include <perp/core/state_derivative.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>

namespace perp {

/// ẋ at the states of a run, as the equations have it there: 0 = F(t, ẋ, x, λ), and where these rows determine
/// combinations of derivatives alone (two capacitors in a loop), together with the derivatives of the constraints of
/// the state's mode.
class RowRates {
 public:
  explicit RowRates(const Model& model);
  ~RowRates();

  /// ẋ (n); NaN for algebraic variables and where it is not determined: without multipliers, or by equations of a
  /// higher index at a state of backward Euler that is not consistent.
  Vector operator()(const Step& state);

 private:
  Vector from_jet(const Step& state);

  Dcs system_;
  std::vector<int> differential_;
  Vector known_, x0_;
  Span span_;
  StateDerivative derivative_;
  std::unique_ptr<ConsistentJets> jets_;  // made where they are needed
};

/// The same of every row of a run, N×n, row after row.
std::vector<double> rates_of_rows(const Model& model, const KeptRun& run);

}  // namespace perp
