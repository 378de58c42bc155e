#pragma once

#include <string>

#include <perp/cli/convergence/study.hpp>

namespace perp::cli {

/// The study as text: what was compared with what; for each variant one line for each step length,
/// its orders, and a sentence for every group of errors that count for no order; at last how far
/// the variants are apart.
std::string text_of(const Study& study);

/// "error at T", "largest error", "event times".
const char* column_of(ErrorKind kind);

/// The order between two successive rows, NaN unless both count.
double order_between(const Row& coarse, const Row& fine, std::size_t kind);

}  // namespace perp::cli
