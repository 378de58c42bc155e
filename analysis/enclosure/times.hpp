#pragma once

#include <vector>

#include <perp/analysis/enclosure/enclose.hpp>

namespace perp::enclosure {

/// The times of the rows. Throws InvalidInput where they or the span are not in order.
std::vector<double> times_of_rows(const Span& span, const EncloseOptions& options);

/// Times on this grid have exact differences: they are whole multiples of it below 2^52.
double time_grid(const Span& span);

/// Throws InvalidInput unless the order is one that series are computed with.
void check_order(const EncloseOptions& options);

}  // namespace perp::enclosure
