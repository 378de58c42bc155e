#pragma once

#include <string>
#include <vector>

#include <perp/analysis/convergence/study.hpp>

namespace perp::io {

/// Writes the table as FILE.csv:
///     variant,h,steps,t_end,status, and for each kind of error error_KIND,order_KIND,refused_KIND
/// (order: from the row before; refused: why the error counts for no order), and beside it
/// FILE.csv.json: what was compared with what, and the fitted orders. `set`: overrides of the
/// model. Returns the files. Throws FileError.
std::vector<std::string> write_csv(const std::string& file, const ConvergenceStudy& study,
                                   const std::vector<std::string>& set);

}  // namespace perp::io
