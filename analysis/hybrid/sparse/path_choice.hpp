#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <perp/analysis/hybrid/sparse/local_rates.hpp>
#include <perp/analysis/hybrid/sparse/mode_series.hpp>
#include <perp/core/base/types.hpp>
#include <perp/core/tape/running_error.hpp>

namespace perp {

/// A sub-problem that changes binaries within a step.
struct PathChange {
  std::vector<int> binaries{};  ///< increasing
  int constraint = -1;          ///< that becomes positive
  double share = 0;             ///< of the step, to where it does
  const char* decided_by = "";
  int continuations = 0;  ///< values of `binaries` and the others of their sub-problem that go on; 0: not counted
};

class PiecewisePath;

/// Which binaries of a sub-problem change where one of its constraints becomes positive within a
/// step: as few as any, so that its constraints are not positive there, and those that are 0 there
/// not at the end of the step on the line with the rates of the new values; of several the smallest
/// rate norm there, of those that bounds of all errors do not tell apart the first declared.
class PathChoice {
 public:
  PathChoice(const HybridModel& model, const HybridStructure& structure, LocalRates& rates);

  /// In the step: behind its start, to its end; its start.
  struct Place {
    double s, rest, t;
  };
  /// False: not decided by these means. `own`: the binaries of the sub-problem, increasing.
  bool choose(const SubProblem& sub, const std::vector<int>& own, const Place& place, PiecewisePath& path,
              PathChange& change);
  /// What later choices depend on.
  void transfer(Archive& archive);

 private:
  using Set = std::vector<int>;
  enum class Verdict { excluded, excluded_by_others, allowed, open };
  bool nearest(const SubProblem& sub, const Set& own, const Place& place, PiecewisePath& path,
               std::vector<Set>& sets);
  int count_allowed(const SubProblem& sub, const Set& own, const Place& place, PiecewisePath& path);
  Verdict judge(const SubProblem& sub, const Set& set, const Place& place, PiecewisePath& path);
  [[nodiscard]] bool others_exclude(const SubProblem& sub, const Set& set, const Place& place,
                                    PiecewisePath& path) const;
  Verdict look_ahead(const SubProblem& sub, const Set& set, const Place& place, PiecewisePath& path);
  bool by_rates(const std::vector<Set>& sets, const Place& place, const PiecewisePath& path,
                PathChange& change);
  std::vector<RunningError> norms_of(const std::vector<Set>& sets, const Place& place,
                                     const PiecewisePath& path);
  bool begin_series();
  RunningError norm_of_followers();
  void flip(const Set& set, std::vector<double>& point) const;
  bool put(const Set& set, std::vector<double>& point);
  void take_back(const Set& set, std::vector<double>& point);

  const HybridModel& model_;
  const HybridStructure& structure_;
  LocalRates& rates_;
  int n_, equations_;
  std::vector<int> blocks_;
  std::vector<double> kept_;  // unknowns before a trial
  std::unique_ptr<ModeSeries> series_;  // made where rates decide first
};

}  // namespace perp
