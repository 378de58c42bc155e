#pragma once

#include <string>
#include <vector>

#include <perp/analysis/run/columns.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp::io {

/// A trajectory as CSV: t, the variables, λ, outputs, sensitivities, the mode as text. Numbers are
/// the shortest text that reads back as the same double. The names of the columns are written with
/// the first row, or by `close`: a run that is refused before it has one leaves the file as it was.
class CsvWriter {
 public:
  /// `quantities`: names of the columns of dx_dq, e.g. p1: columns dx1_dp1, ..., dlambda1_dp1, ...
  CsvWriter(const std::string& file, const Model& model,
            const std::vector<std::string>& quantities = {}, Writing writing = Writing::rows);
  /// `outputs`: their values at this state.
  void row(const Step& step, const Vector& outputs);
  /// Rows of a model without outputs, in a file without sensitivities.
  void rows(const IntegrateOptions::StepsInMode& steps);
  void close();
  /// What was written so far, see OutputFile; before the first row the names of the columns are not.
  void transfer(Archive& archive) { archive(file_, header_); }

 private:
  void write_header();
  void append_sensitivities(const Step& step);
  void append_mode(const Mode& mode);

  OutputFile file_;
  std::string header_;  // empty once it is written
  ModeText mode_text_;
  std::string mode_field_;
  Mode mode_;
  std::size_t lambdas_;
  std::vector<Eigen::Index> written_;  // multipliers that are columns
  Eigen::Index quantities_;
};

/// The events as CSV: t,type,law,from,to,t_before,t_after,size,note. With `quantities` the columns dt_d<quantity> and condition
/// follow, then the states <variable>_before and <variable>_after, where the run has kept any.
void write_events(const std::string& file, const Model& model, const std::vector<Event>& events,
                  const std::vector<std::string>& quantities = {});

}  // namespace perp::io
