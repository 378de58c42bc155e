#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <perp/lcp/parametric/mode_cache.hpp>
#include <perp/schemes/continuation/step_path.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {

/// The steps of the θ-method for an Lcs: each mode is solved once per length and kept.
class LcsFamily final : public StepFamily {
 public:
  /// `equations` must outlive this.
  explicit LcsFamily(StepEquations& equations);

  void set_state(const Vector& x, double t, double h) override;
  [[nodiscard]] const Laws& laws() const override { return equations_.laws(); }
  bool solve(double h, StepPoint& point, Vector& noise) override;
  std::vector<std::complex<double>> poles(const StepPoint& point) override;
  Status solutions(double h, const StepPoint& from, std::vector<StepPoint>& list,
                   int& count) override;
  [[nodiscard]] double distance(const Vector& a, const Vector& b) override;
  [[nodiscard]] const std::string& message() const override { return message_; }

 private:
  ModeCache& cache(double h);
  Status solutions_of_set(double h, const StepPoint& from, std::vector<StepPoint>& list, int& count);

  StepEquations& equations_;
  Lcs stepped_;
  Vector x_;
  double t_ = 0;
  std::vector<double> parameter_;
  std::map<double, std::unique_ptr<ModeCache>> caches_;
  std::map<Mode, std::vector<std::complex<double>>> poles_;
  std::vector<int> candidates_;
  std::string message_;
};

}  // namespace perp
