#pragma once

#include <functional>
#include <string>
#include <vector>

#include <perp/analysis/run/history.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp {

/// What is kept of a run, and who may end it.
struct KeepOptions {
  std::vector<double> times{};  ///< rows at these times only, which steps hit exactly; empty: every step
  long most_steps = 0;          ///< the run ends after as many, as interrupted; 0: no limit
  /// Called with every accepted step; false ends the run as interrupted.
  std::function<bool(const Step& step)> observer{};
  IntegrateOptions::KeptState state{};  ///< to keep the run with its rows so far, and to go on from there
};

/// A run with its rows in columns, one array for each quantity, row after row.
struct KeptRun {
  Trajectory run{};             ///< events, status, message, counts, provenance; its rows are below
  std::vector<ModeSpan> modes{};
  int n = 0, m = 0, outputs = 0;        ///< numbers of columns
  std::vector<double> t{};              ///< N
  std::vector<double> x{};              ///< N×n
  std::vector<double> lambda{};         ///< N×m; NaN where a row has none
  std::vector<double> w{};              ///< N×m, the same
  std::vector<double> output{};         ///< N×outputs
  std::vector<int> mode{};              ///< N×m branches; -1 where a row is in no mode
  std::vector<double> dx_dq{};          ///< N×n×q, where sensitivities are computed and a row has them, else NaN
  int quantities = 0;                   ///< q
  bool is_every_step = true;            ///< are the rows all accepted steps?

  /// All but `run`.
  void transfer(Archive& archive) {
    archive(modes, n, m, outputs, t, x, lambda, w, output, mode, dx_dq, quantities, is_every_step);
  }
  [[nodiscard]] std::size_t rows() const { return t.size(); }
  /// One row as it was.
  [[nodiscard]] Step row(std::size_t k) const;
};

/// Throws InvalidInput where a run of the model cannot be kept between two steps and gone on with, see KeptState:
/// of a scheme whose state is not kept. `what` names what asks for it.
void check_kept_state(const Model& model, const char* what);

/// The run of a model by its scheme, its rows kept. Every number of a row is finite: a run whose rows have others ends
/// there, not solved. Throws InvalidInput.
KeptRun keep_run(const Model& model, const KeepOptions& options = {});

/// The same of another way to integrate the model, with derivatives by so many quantities.
KeptRun keep_run(const Model& model, const KeepOptions& options,
                 const std::function<Trajectory(const IntegrateOptions& options)>& integrate, int quantities = 0);

/// A trajectory that kept its states, in columns.
KeptRun kept(const Model& model, Trajectory run);

}  // namespace perp
