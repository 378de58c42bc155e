#pragma once

/// One include for users of the library.
#include <perp/core/base/error.hpp>
#include <perp/core/base/status.hpp>
#include <perp/core/base/types.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/law.hpp>
#include <perp/core/lcs.hpp>
#include <perp/core/recorder.hpp>
#include <perp/core/signal.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/mlcp.hpp>
#include <perp/lcp/solution_set.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/models/language/model.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/backward_euler.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/jumps/consistent_jumps.hpp>
#include <perp/schemes/jumps/merged_tree.hpp>
#include <perp/schemes/mechanical/moreau_jean.hpp>
#include <perp/schemes/step/step_solutions.hpp>
#include <perp/schemes/step/step_solvability.hpp>
