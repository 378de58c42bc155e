#pragma once

#include <string>

#include <perp/analysis/convergence/study.hpp>

namespace perp::io {

/// The study as text: what was compared with what; for each variant one line for each step length,
/// its orders, and a sentence for every group of errors that count for no order; at last how far
/// the variants are apart.
std::string text_of(const ConvergenceStudy& study);

/// "error at T", "largest error", "event times".
const char* column_of(ErrorKind kind);

}  // namespace perp::io
