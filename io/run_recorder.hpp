#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/measures/measures.hpp>
#include <perp/analysis/run/history.hpp>
#include <perp/analysis/run/row_times.hpp>
#include <perp/analysis/run/row_values.hpp>
#include <perp/analysis/solutions/listed_solutions.hpp>
#include <perp/io/csv.hpp>
#include <perp/io/hdf5.hpp>
#include <perp/io/plot/curves.hpp>
#include <perp/io/plot/field/field_samples.hpp>
#include <perp/io/row_spool.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/models/language/model.hpp>

namespace perp::io {

/// Where a run's states go.
struct Destinations {
  std::string data{};           ///< .csv, .h5 or "-" for CSV on standard output; empty: nowhere
  std::vector<double> times{};  ///< rows at these times only; empty: every step
  long every = 0;               ///< rows of every so many steps of length h only, of the first and the last state; 0: as above
  bool is_compressed = false;   ///< .h5 with its numbers packed
  std::vector<int> plotted{};   ///< columns that pictures need (see `drawn_columns`); empty: none
  ArrayColumns plotted_array{};  ///< that a picture needs; without elements: none
  Span plot_window{-inf, inf};  ///< where they need them
  /// What else is kept where the run may go on from a checkpoint: the rows of HDF5 in this file; empty: nothing.
  std::string spool{};
  /// Takes a text for every step that has not exactly one solution; empty: these are not listed.
  std::function<void(const std::string& text)> listing{};
};

/// Takes the states of a run as they are computed and passes them on; nothing grows with the run
/// but the list of its modes and a bounded number of states for pictures.
class RunRecorder {
 public:
  /// Opens what is to be written. Throws InvalidInput, FileError.
  RunRecorder(const Model& model, const Destinations& destinations);

  /// False where the run is to stop.
  bool step(const Step& step);

  /// So many of the next steps may be told in one, if they keep their mode.
  [[nodiscard]] long most_together() const;
  /// Are such steps rows of files?
  [[nodiscard]] bool takes_states() const { return rows_.is_every_state() && (csv_ || hdf5_); }
  /// Takes them.
  void steps(const IntegrateOptions::StepsInMode& steps);

  /// A number of a row was not finite, or a state is none of the system's: why `step` stopped the run; else empty.
  [[nodiscard]] const std::string& fault() const { return constraints_.fault().empty() ? values_.fault() : constraints_.fault(); }

  /// After the run: writes the rest of the data and its provenance. Returns the files written.
  std::vector<std::string> close(const Trajectory& run, const std::vector<std::string>& set,
                                 const std::vector<Measure>& measures = {});

  /// What it has taken so far, the file of the states included; what was listed is listed again. Throws ArchiveError.
  void transfer(Archive& archive);

  [[nodiscard]] const ModeHistory& history() const { return history_; }
  [[nodiscard]] const ConstraintCheck& constraints() const { return constraints_; }
  [[nodiscard]] Samples& samples() { return samples_; }
  [[nodiscard]] FieldSamples& field() { return field_; }
  [[nodiscard]] long listed_steps() const { return listed_steps_; }

 private:
  bool write_row(const Step& step);
  void list_solutions(const Step& now);
  void list(const std::string& text);

  const Model& model_;
  Destinations destinations_;
  std::unique_ptr<CsvWriter> csv_;
  std::unique_ptr<Hdf5Writer> hdf5_;
  std::optional<RowSpool> spool_;  // beside it
  RowValues values_;
  ModeHistory history_;
  ConstraintCheck constraints_;
  Samples samples_;
  FieldSamples field_;
  std::optional<StepLister> lister_;
  Step previous_;
  RowTimes rows_;
  double t_ = 0, t_row_ = 0;  // of the last state and of the last row
  long steps_ = 0, listed_steps_ = 0;
  std::string listed_;  // where the run may go on
};

}  // namespace perp::io
