#pragma once

#include <string>

#include <perp/analysis/mlcp.hpp>
#include <perp/io/files/mlcp_file.hpp>
#include <perp/io/json.hpp>
#include <perp/lcp/solver.hpp>

namespace perp::io {

/// All solutions of the problem of a file: class, pieces, points of minimal norm.
Json to_json(const MlcpFile& file, const MlcpAnswer& answer);

/// What one solver found.
Json to_json(const MlcpFile& file, const std::string& solver, const SolveResult& result);

/// The solution of minimal norm, with what was proved of the others.
Json to_json(const MlcpFile& file, const ProvedNearest& found);

}  // namespace perp::io
