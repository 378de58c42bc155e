#pragma once

#include <memory>
#include <string>
#include <vector>

#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>
#include <perp/models/language/run_options.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/located/transition/solution_branches.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// Throws InvalidInput with the nearest known name.
const SchemeEntry& scheme(const std::string& name);

/// Options of backward Euler as they stand in the model's [run] table.
BackwardEuler backward_euler_options(const Model& model);
/// The same of the θ-method; backward Euler is θ = 1.
Theta step_options(const Model& model);
/// The same of the located scheme, with the nominal values of the variables.
Located located_options(const Model& model);
/// Throws InvalidInput where they are wrong, or the model's equations cannot be differentiated.
void check_located(const Model& model);

/// Do the equations hold constant matrices?
bool is_affine(const Model& model);
/// The equations of any model; those of the matrix form as equations.
Dcs equations_of(const Model& model);

/// The run with changes of binaries as changes of mode, whatever law stands for them; where it ends, the
/// constraint that is nearest to its bound in the sizes of its terms is named.
Trajectory with_binaries(const Model& model, Trajectory run);
/// A run of a model that needs `Model::hybrid`, sensitivities by the scheme located alone.
Trajectory run_hybrid(const Model& model, const IntegrateOptions& options,
                      const SensitivityRequest& sensitivities = {});
/// The solutions of such a run, see hybrid_branches.
SolutionBranches run_hybrid_branches(const Model& model, const IntegrateOptions& options);

/// Throws InvalidInput with `what` asks where the model's laws do not say which modes continue
/// (`Model::hybrid`).
void require_laws(const Model& model, const std::string& what);
/// Throws InvalidInput where the model's scheme cannot run with its options: before a file is touched.
void check_run(const Model& model);

/// The stepper of a capturing scheme for the model. Throws InvalidInput for other schemes.
std::unique_ptr<Scheme> capturing_scheme(const Model& model);

}  // namespace perp
