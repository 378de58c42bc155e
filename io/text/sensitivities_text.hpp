#pragma once

#include <string>

#include <perp/analysis/sensitivities.hpp>

namespace perp::io {

/// The last state with its derivatives, and the events with those of their times.
std::string sensitivities_text(const Model& model, const Trajectory& run,
                               const SensitivityQuantities& quantities, const Step& last);

}  // namespace perp::io
