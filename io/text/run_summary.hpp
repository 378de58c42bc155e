#pragma once

#include <string>
#include <vector>

#include <perp/analysis/measures/measures.hpp>
#include <perp/analysis/run/constraint_check.hpp>
#include <perp/analysis/run/history.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp::io {

/// What a run says to people.
struct RunSummary {
  const Model& model;
  const Trajectory& run;
  std::vector<ModeSpan> modes;
  const ConstraintCheck& constraints;
  Step last;
  std::vector<std::string> files;   ///< what was written
  std::vector<Measure> measures{};  ///< of the run
};

std::string text_of(const RunSummary& summary);

/// "name (file)".
std::string title(const Model& model);

/// "(x1, x2) = (1, 2)"; long vectors are cut.
std::string named_values(const std::vector<std::string>& names, const Vector& values);

/// The word of the status; of a run that went on by a scheme of first order with the time from
/// which.
std::string status_text(const Trajectory& run);

/// One line: when, what, of which law, from where to where.
std::string event_text(const Model& model, const Event& event);

}  // namespace perp::io
