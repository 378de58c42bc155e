#pragma once

#include <string>

#include <perp/analysis/convergence/study.hpp>

namespace perp::io {

/// Lines on one kind of error of one variant: the fitted order or that there is none, and why
/// errors count for no order, with the step lengths concerned. `which` names the kind where there
/// are several, "" else.
std::string verdict(const ConvergenceStudy& study, const VariantStudy& variant, std::size_t kind,
                    const std::string& which);

}  // namespace perp::io
