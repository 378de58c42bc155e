#pragma once

/// What most programs need: systems, laws, schemes, trajectories, model files. Questions about a step, jumps and trees
/// have headers of their own (docs/api).
#include <perp/core/base/error.hpp>
#include <perp/core/base/status.hpp>
#include <perp/core/base/types.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/law.hpp>
#include <perp/core/lcs.hpp>
#include <perp/core/recorder.hpp>
#include <perp/core/signal.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/backward_euler.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/located/located.hpp>
#include <perp/schemes/mechanical/moreau_jean.hpp>
#include <perp/schemes/step/step_solutions.hpp>
