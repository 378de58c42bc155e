// Derivatives of variables at rows of a run: measures, sections and pictures ask for them.
#include <perp/analysis/phase/row_rates.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>

namespace perp {

RowRates::RowRates(const Model& model)
    : system_(equations_of(model)),
      differential_(model.differential_variables()),
      known_(Vector::Zero(system_.n())),
      x0_(model.x0()),
      span_(model.run.span),
      derivative_(system_) {
  for (int j = 0; j < system_.n(); ++j)
    if (const Variable& variable = model.variables[static_cast<std::size_t>(j)]; variable.has_nominal) known_[j] = variable.nominal;
}

RowRates::~RowRates() = default;

Vector RowRates::operator()(const Step& state) {
  Vector rates = derivative_(state.t, state.x, state.lambda);
  const bool has_none = rates.array().isNaN().all();
  return has_none && static_cast<int>(state.mode.size()) == system_.m() && state.lambda.size() == system_.m()
             ? from_jet(state)
             : rates;
}

/// The leading coefficients of the solution in the mode that has the differential part of this state.
Vector RowRates::from_jet(const Step& state) {
  if (!jets_) {
    jets_ = std::make_unique<ConsistentJets>(system_);
    const ModelScales scales = model_scales(system_, x0_, span_, known_);
    jets_->set_scales({scales.time, scales.x, scales.lambda, scales.fastest});
  }
  const Jet jet = jets_->solve(state.mode, state.t, state.x, state.lambda);
  Vector rates = Vector::Constant(state.x.size(), nan);
  if (!jet.consistent || !jet.determined) return rates;
  for (const int j : differential_)
    if (jet.x_known[static_cast<std::size_t>(j)] > 1) rates[j] = jet.x(j, 1);
  return rates;
}

std::vector<double> rates_of_rows(const Model& model, const KeptRun& run) {
  RowRates rates(model);
  std::vector<double> values;
  for (std::size_t k = 0; k < run.rows(); ++k) {
    const Vector row = rates(run.row(k));
    values.insert(values.end(), row.begin(), row.end());
  }
  return values;
}

}  // namespace perp
