#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {

/// A piece of the solutions of a step as people read it.
struct ListedSolution {
  Piece piece;        ///< coordinates (x⁺, λ)
  Solution nearest;   ///< its point of smallest ‖E (x⁺ - x)‖
  double norm = nan;  ///< and that norm
  bool chosen = false;  ///< the selector takes it: see mark_chosen
};

/// All solutions of one step from x at t.
struct ListedSolutions {
  Mlcp problem;                        ///< of the step
  SolutionSet set;                     ///< block by block, with its certificate
  std::vector<ListedSolution> listed;  ///< nearest first; at most `limit` of them
  bool all_listed = true;              ///< false: there are more than `limit`
  bool has_one_x = false;  ///< x⁺ is the one found: a certificate of the step excludes others, however many modes were searched
  Nearest nearest{};  ///< of all solutions of an enumerated step, in ‖E (x⁺ - x)‖
  std::string note{};  ///< how sure the list is, where it is not enumerated; else empty
};

/// Enumerates the step of the model's scheme of length h; `limit` bounds the list, not the search,
/// which `limits` does.
ListedSolutions solutions_of_step(StepEquations& equations, const Vector& x, double t, double h,
                                  long limit, const EnumerateOptions& limits = {});

/// The solutions of steps of a model: enumerated where it is affine, else searched mode by mode.
class StepLister {
 public:
  /// `limits` are those of an enumeration; the search of a model that is not affine has its own.
  explicit StepLister(const Model& model, const EnumerateOptions& limits = {});
  /// The solutions of the step of length h from x at t, at most `limit` of them listed.
  ListedSolutions operator()(const Vector& x, double t, double h, long limit);

 private:
  EnumerateOptions limits_;
  std::optional<StepEquations> equations_;  // of an affine model
  Dcs functions_;                           // of another
};

/// Marks the piece that holds (x⁺, λ). False if none does.
bool mark_chosen(ListedSolutions& solutions, const Vector& x, const Vector& lambda);

}  // namespace perp
