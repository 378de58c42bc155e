#pragma once

#include <memory>
#include <string>
#include <vector>

#include <perp/analysis/measures/reductions.hpp>
#include <perp/core/base/archive.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp {

/// A number that was measured on a run.
struct Measure {
  std::string name;
  std::string text;  ///< its formula
  MeasureResult result;
};

/// Numbers of a run: NAME=EXPRESSION of reductions (see `reduction_forms`), parameters and numbers, e.g.
/// eta=mean(pout)/mean(pin). Integrals and extremes are those of the courses of the steps: of the scheme's
/// order, events respected. Give `watch` the options of the run; it changes nothing of the run.
class Measures {
 public:
  /// `after`: a formula of the parameters, the time at which the window begins; empty: the run's start.
  /// Throws InvalidInput with the measure and the place. The model must outlive the measures.
  Measures(const Model& model, const std::vector<std::string>& definitions, const std::string& after = "");

  [[nodiscard]] bool empty() const { return measures_.empty(); }
  /// Adds itself to what the run tells, and to what is kept of it; nothing where there are no measures. Throws
  /// ArchiveError: the state to go on from is of a run without these.
  void watch(IntegrateOptions& options);
  /// Is one of them made of steps? Else the last moment that the run came to is enough, see `pass`.
  [[nodiscard]] bool needs_steps() const;
  /// The run came to this time.
  void pass(double t) { until_ = t; }
  /// The numbers, after the run.
  [[nodiscard]] std::vector<Measure> of(const Trajectory& run, const std::vector<ModeSpan>& modes);

 private:
  struct Item {
    std::string name, text;
    Expression formula;  // of the parameters, then of the reductions' results
    std::vector<std::unique_ptr<Reduction>> reductions;
  };
  [[nodiscard]] MeasureResult result_of(Item& item, const Trajectory& run, const std::vector<ModeSpan>& modes);
  [[nodiscard]] Item parse(const std::string& definition) const;
  void transfer(Archive& archive);
  void course(const StepCourse& step);
  void row(const Step& state);

  const Model& model_;
  std::vector<Item> measures_;
  double from_;
  double until_ = -inf;  // last row
};

}  // namespace perp
