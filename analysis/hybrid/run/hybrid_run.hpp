#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/analysis/hybrid/mode_steps.hpp>
#include <perp/analysis/hybrid/run/crowded_changes.hpp>
#include <perp/analysis/hybrid/sparse/near_choice.hpp>
#include <perp/analysis/hybrid/sparse/series_flow.hpp>
#include <perp/analysis/hybrid/sparse/sparse_steps.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/events/time_switches.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/run/stepwise_run.hpp>
#include <perp/schemes/step_grid.hpp>
#include <perp/schemes/located/transition/solution_branches.hpp>

namespace perp {

/// Options of the schemes that may run it, as the model's [run] table has them.
struct HybridSchemes {
  Located located{};
  Theta steps{};
};

/// A run of a model whose binaries no laws of their own stand for (`Model::hybrid`): within a mode
/// the model's scheme on the equations of that mode, with the constraints that are not void
/// watched; at its end the rule nearest_mode takes the next one, in the same way for every scheme.
class HybridRun {
 public:
  /// `structure`: of the model, null where nobody knows it yet. Throws InvalidInput for options that the scheme cannot
  /// honour.
  HybridRun(const Model& model, HybridSchemes schemes, const IntegrateOptions& output,
            SensitivityRequest sensitivities = {}, std::shared_ptr<const HybridStructure> structure = nullptr);
  HybridRun(const HybridRun&) = delete;  // it refers to its own parts
  HybridRun& operator=(const HybridRun&) = delete;

  /// The whole run.
  Trajectory operator()();

  /// The same mode by mode: `start`, then `advance` while it runs, each up to the end of the present
  /// mode and into the next one, or further. Throw Interrupted where nothing is computed yet.
  ///@{
  void start();
  void advance();
  Trajectory take();  ///< once: what is still to be done, and the result
  [[nodiscard]] bool is_running() const { return result_.status == Status::never_run; }
  [[nodiscard]] const Step& now() const { return now_; }
  [[nodiscard]] const Trajectory& result() const { return result_; }
  ///@}

  /// How a solution goes on from the computed state (t, x) where the binaries are `previous` (0, 1,
  /// released_binary) before; of what continues the values of called binaries alone are looked for where that tells the
  /// choice. The run itself must not have been started.
  HybridContinuations continuations_from(double t, const Vector& x, const std::vector<int>& previous);

  /// From now on all continuations are looked for, and at the k-th moment where there are several
  /// number choices[k] of them is taken, 0 where there is none: the best by the rule.
  void follow(std::vector<std::size_t> choices);
  [[nodiscard]] const std::vector<SolutionBranch::Choice>& choices() const { return met_; }
  [[nodiscard]] bool choices_are_complete() const { return met_all_; }

  /// All that it depends on from now on, see IntegrateOptions::KeptState: after `start`.
  [[nodiscard]] std::string kept();

 private:
  // hybrid_run.cpp
  void begin();
  void find_scales();
  void end_interrupted();
  /// Does it run, before the end of the span?
  [[nodiscard]] bool is_under_way() const { return is_running() && now_.t < span_.end; }
  bool choose(bool at_start);
  void enter(const HybridContinuation& continuation);
  void take_choice(HybridContinuations& found);
  bool jump(const std::vector<int>& before, const HybridModeOptions& options);
  void log_start(const std::vector<int>& before, const HybridContinuations& found);
  [[nodiscard]] std::string excluded_text(const HybridContinuations& found) const;
  [[nodiscard]] std::string declared_start_text(const HybridContinuations& found) const;
  void end_here(const HybridContinuations& found);
  void record(Step step, bool is_first_of_mode);
  void tell_row(const Step& step, bool is_first);
  void finish(Status status, std::string message);
  HybridModes& modes();
  const HybridStructure& structure();
  /// The log of many changes does not hold as many states of many variables.
  [[nodiscard]] Vector state_of_event() const {
    return hybrid_.n() <= most_states_of_events ? now_.x : Vector();
  }
  [[nodiscard]] HybridModeOptions mode_options(bool at_start) const;
  HybridContinuations continuations(bool at_start);
  [[nodiscard]] std::vector<double> times_after(double t) const;
  [[nodiscard]] std::string mode_text() const;
  [[nodiscard]] std::string place() const;

  // hybrid_changes.cpp
  void log_change(const std::vector<int>& before, const HybridContinuations& found);
  [[nodiscard]] std::string other_changes(const std::vector<int>& before, int first) const;

  // hybrid_archive.cpp
  void resume();
  void transfer(Archive& archive);
  void transfer_methods(Archive& archive);
  void transfer_steps(Archive& archive);
  void keep_if_due();

  // hybrid_located.cpp
  void run_located();
  double length_of_moment();
  bool run_moment();
  void run_mode_by_radau();
  Trajectory part_by_radau(bool goes_on);
  void pass_end_of_mode(const Event& end);
  bool count_change();
  void take(const Trajectory& part);
  const Dcs& system_of_mode();

  // hybrid_series.cpp
  struct Series {
    Series(const HybridModel& model, const HybridStructure& structure, const NearChoice::Options& options, double tol)
        : series(model),
          near(model, structure, series, options),
          flow(model, series, {tol, options.share, options.sizes}) {}

    ModeSeries series;
    NearChoice near;
    SeriesFlow flow;
  };
  Series* series();
  void make_series();
  [[nodiscard]] bool is_plain() const;
  std::optional<HybridContinuations> near_choice(bool at_start);
  bool goes_by_series(SeriesFlow& flow);
  bool run_mode_by_series();
  bool starts_series(SeriesFlow& flow);
  [[nodiscard]] bool is_series_long() const;
  bool follow_series(SeriesFlow& flow);
  bool attempts_series_step(SeriesFlow& flow);
  SeriesFlow::Arrival take_series_step(SeriesFlow& flow, const std::vector<double>& times);
  void tell_course(const Matrix& polynomials, double end);
  void tell_course(const StepCourse& step);
  void tell_line(const Step& step);
  void record_all(std::vector<Step> states);
  [[nodiscard]] std::vector<Step> states_of_step(const std::vector<double>& times) const;
  [[nodiscard]] Step state_in_step(double s) const;
  void find_idle();

  // hybrid_sparse_steps.cpp
  SparseSteps* sparse_steps();
  void make_sparse_steps();
  bool take_sparse_steps();
  bool follow_sparse_steps(SparseSteps& steps);
  void take_sparse_step(SparseSteps& steps);
  [[nodiscard]] bool is_row(double t) const;
  [[nodiscard]] Step state_of(const SparseSteps& steps) const;
  void log_changes(const SparseSteps& steps);
  bool starts_strictly();
  void count_sparse_steps();

  // hybrid_sensitivities.cpp
  void begin_sensitivities();
  [[nodiscard]] SensitivityRequest request_of_mode() const;
  void compose_sensitivities(Step& step, bool is_first) const;
  [[nodiscard]] Matrix composed(const Matrix& of_mode) const;
  void end_sensitivities(const Event& end);
  void pass_sensitivities(bool is_same_mode);

  // hybrid_capturing.cpp
  void begin_capturing();
  void run_capturing();
  void run_mode_by_steps();
  struct Target {
    double t, h;
  };
  [[nodiscard]] Target next_target();
  std::optional<Target> solved_target(ModeSteps& steps);
  ModeSteps& steps_of_mode();
  ModeSteps& steps_in(const HybridMode& mode);
  void take_step(ModeSteps& steps);
  void touch(Target target);
  bool count_end_of_steps(bool has_moved);
  void pass_end_of_mode(ModeSteps& steps, Target target);

  const Model& model_;
  HybridSchemes schemes_;
  const HybridModel& hybrid_;
  const IntegrateOptions& output_;
  std::unique_ptr<HybridModes> modes_;  // made when it is first asked
  std::shared_ptr<const HybridStructure> structure_;  // see structure()
  const std::optional<Dcs> own_system_;               // where the model has none
  const Dcs& system_;
  Span span_;
  Step now_;  ///< its mode: the branches of the binaries, 0 of the constraints
  HybridMode mode_;
  Step last_;     ///< recorded, with its mode
  Vector sizes_;  ///< of the variables
  double time_ = 1;  ///< that of the model
  bool has_scales_ = false;  // both
  Vector rates_;  ///< ẋ where the mode began
  SensitivityRequest request_;
  std::string why_none_;  ///< there are no sensitivities any more; empty: there are, or none were asked for
  std::vector<int> states_;
  Matrix S_;       ///< ∂x/∂q where the mode began
  Matrix dx_end_;  ///< ∂x*/∂q of the state at its end, at the moment that moves with q
  Vector dt_end_;  ///< ∂t*/∂q
  double condition_ = 0;
  bool courses_by_rows_ = true;  // the courses of steps are lines from row to row
  bool follows_ = false, met_all_ = true;
  bool asks_called_alone_ = false;  // values of called binaries
  std::vector<std::size_t> wanted_;
  std::vector<SolutionBranch::Choice> met_;
  int changes_at_once_ = 0;
  double last_change_ = 0;
  CrowdedChanges crowded_{span_.start};
  double jumped_at_ = nan;  ///< the last jump of data
  double last_length_ = inf;  ///< of the mode before
  std::map<std::pair<std::vector<int>, std::vector<int>>, Dcs> systems_;  // by z and surfaces
  std::map<std::pair<std::vector<int>, std::vector<int>>, std::unique_ptr<ModeSteps>> steps_;
  TimeSwitches switches_;
  std::optional<TimeSwitches::Switch> jump_;  // the next one of data
  std::unique_ptr<Series> series_;  // of models with many unknowns
  bool is_without_series_ = false;  // none, or none in this mode
  bool has_short_series_ = false;   // of a stiff small model: none from then on
  std::unique_ptr<SparseSteps> sparse_;  // of models with many unknowns
  double dense_until_ = -inf;  // steps before are made as for small models
  double residual_ = 0;        // largest of the sparse steps
  std::optional<StepGrid> grid_;  // of the scheme, where it has one
  long taken_ = 0;
  /// Within which loop over the steps of a mode a run is kept that goes on from there.
  enum class Stage { between_modes, radau, series, sparse_steps, steps };
  Stage stage_ = Stage::between_modes;
  Step stage_start_;          // where the present one began,
  long taken_before_ = 0;     // behind how many steps,
  long in_mode_ = 0;          // and how many it has made by series
  std::string of_radau_;      // the state of its run
  Trajectory result_;
};

}  // namespace perp
