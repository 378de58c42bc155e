#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/cli/output/provenance.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp::cli {

/// A piece of the solutions of a step as people read it.
struct ListedSolution {
  Piece piece;        ///< coordinates (x⁺, λ)
  Solution nearest;   ///< its point of smallest ‖E (x⁺ - x)‖
  double norm = nan;  ///< and that norm
  bool chosen = false;
};

/// All solutions of one step from x at t.
struct StepSolutions {
  Mlcp problem;
  SolutionSet set;
  std::vector<ListedSolution> listed;  ///< nearest first; at most `limit` of them
  bool all_listed = true;
  std::string note{};  ///< how sure the list is, where it is not enumerated; else empty
};

/// Enumerates the step of the model's scheme of length h; `limit` bounds the list, not the search,
/// which `limits` does.
StepSolutions solutions_of_step(StepEquations& equations, const Vector& x, double t, double h,
                                long limit, const EnumerateOptions& limits = {});

/// The solutions of steps of a model: enumerated where it is affine, else searched mode by mode.
class StepLister {
 public:
  /// `limits` are those of an enumeration; the search of a model that is not affine has its own.
  explicit StepLister(const Model& model, const EnumerateOptions& limits = {});
  StepSolutions operator()(const Vector& x, double t, double h, long limit);

 private:
  const Model& model_;
  EnumerateOptions limits_;
  std::optional<StepEquations> equations_;  // of an affine model
};

/// Marks the piece that holds (x⁺, λ). False if none does.
bool mark_chosen(StepSolutions& solutions, const Vector& x, const Vector& lambda);

/// "none", "unique", "several (3)", "a continuum" of a set that is known whole; else "none found",
/// "one found", "3 found".
std::string describe_count(Multiplicity multiplicity, long count, bool complete);
/// Both classes of a step, with what proves them or how far the search got.
std::string describe_class(const StepSolutions& solutions);

/// A table of the solutions, the chosen one marked with '*'; `indent` begins every line.
std::string table_of(const StepSolutions& solutions, const Model& model,
                     const std::string& indent = {});

Json to_json(const StepSolutions& solutions, const Model& model);

}  // namespace perp::cli
