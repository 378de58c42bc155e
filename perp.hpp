#pragma once

/// One include for users of the library.
#include <perp/core/dcs.hpp>
#include <perp/core/error.hpp>
#include <perp/core/law.hpp>
#include <perp/core/lcs.hpp>
#include <perp/core/recorder.hpp>
#include <perp/core/signal.hpp>
#include <perp/core/status.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/core/types.hpp>
#include <perp/lcp/enumerate.hpp>
#include <perp/lcp/mlcp.hpp>
#include <perp/lcp/solution_set.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/models/model.hpp>
#include <perp/models/read_model.hpp>
#include <perp/schemes/backward_euler.hpp>
#include <perp/schemes/consistent_jumps.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/merged_tree.hpp>
#include <perp/schemes/moreau_jean.hpp>
#include <perp/schemes/step_solutions.hpp>
#include <perp/schemes/step_solvability.hpp>
