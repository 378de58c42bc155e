#pragma once

#include <map>
#include <vector>

#include <perp/analysis/hybrid/value_search.hpp>

namespace perp {

/// Shows that a value of the binaries does not continue: by necessary conditions, in which every
/// number has a bound of its error or is rational. The derivatives of a constraint, or of a binary
/// that slides, that are 0 within their errors are taken as 0: the state is then on that surface as
/// far as it is known.
class ModeExclusion {
 public:
  ModeExclusion(const HybridModel& model, const HybridStructure& structure, Faces& faces,
                ValueSearch& search);

  /// Is it shown that no solution starts at (t, x) in this mode?
  bool shows(double t, const Vector& x, double share, const ModeCandidate& candidate);

 private:
  static constexpr int orders = 4;  ///< 0 to 3
  using Number = RunningError;

  struct Mode {
    Tape tape{};
    std::vector<int> equations{};    ///< lines: those of the model, then surfaces = 0
    std::vector<int> constraints{};  ///< lines of what is neither void nor held
    std::vector<int> released{};
  };
  bool read_mode(const std::vector<int>& z, Mode& mode);
  void read_constraints(const std::vector<int>& z, const std::map<int, double>& values, Mode& mode);
  bool by_elimination(const Mode& mode, const std::vector<Number>& inputs) const;
  bool by_blocks(Mode mode, const ModeCandidate& candidate,
                 const std::vector<Number>& inputs) const;

  const HybridModel& model_;
  const HybridStructure& structure_;
  Faces& faces_;
  ValueSearch& search_;
};

}  // namespace perp
