#pragma once

#include <span>
#include <vector>

#include <perp/core/system/system.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp {

/// One run of several that are made together.
struct EnsembleRun {
  System system{};
  Vector x0{};
  Span span{};
  BackwardEuler scheme{};
  const IntegrateOptions* options = nullptr;
};

/// The runs, each with the bits of `integrate`, in their order. Those of equal equations, whatever their parameters, make
/// the steps that keep their mode side by side where nobody is told of these, and so do those of affine systems. Throws InvalidInput.
std::vector<Trajectory> integrate(std::span<const EnsembleRun> runs);

}  // namespace perp
