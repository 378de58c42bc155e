#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/linear/structure.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>

namespace perp {

/// A diagonal block of the block lower triangular form: its rows determine its unknowns once those
/// of the blocks that it needs are known. Rows and unknowns are numbered as in HybridStructure.
struct SubProblem {
  std::vector<int> rows;
  std::vector<int> unknowns;
  std::vector<int> needs;      ///< blocks whose unknowns stand in its rows, increasing
  std::vector<int> ancestors;  ///< those, what they need, and so on, increasing

  friend bool operator==(const SubProblem&, const SubProblem&) = default;
};

/// Which rows hold which unknowns at given (t, x, u). Rows: the equations, then the constraints.
/// Unknowns: of variable j number j, which is ẋ_j for a state and x_j for an algebraic variable; of
/// binary i number n + i.
struct HybridStructure {
  linear::Pattern unknowns_of_row;  ///< increasing
  linear::Pattern states_of_row;    ///< variables that are states and occur as x, increasing
  std::vector<char> is_state;       ///< of each variable
  linear::Matching matching;        ///< a largest one
  std::vector<SubProblem> blocks;   ///< each needs earlier ones only
  std::vector<int> block_of_row;
  std::vector<int> block_of_unknown;  ///< -1: no row determines it
  std::vector<int>
      set_of_block;  ///< number of its sub-set: blocks that share no unknown with others
  int sets = 0;
};

HybridStructure structure_of(const HybridModel& model);

/// The structure of a model, which nobody changes: with that model, so that it is taken for no other.
struct Model::HybridForm {
  HybridForm(std::shared_ptr<const HybridModel> model, HybridStructure found)
      : of(std::move(model)), structure(std::move(found)) {}
  std::shared_ptr<const HybridModel> of;
  HybridStructure structure;
};

/// Of the binaries of a model: known from its reading, or found now.
std::shared_ptr<const HybridStructure> structure_of_binaries(const Model& model);

/// "der(x1)", "y1", "z1".
std::string unknown_name(const HybridModel& model, const HybridStructure& structure, int unknown);

/// Why the equations and constraints cannot determine the unknowns, by their form, with the names
/// of the rows and unknowns; empty where they can. Constraints beyond the number of binaries are
/// allowed.
std::string structural_defect(const HybridModel& model, const HybridStructure& structure);

/// The degree of a line in the inputs `of`, together; -1: it is no polynomial in them.
int degree_in(const Tape& tape, int line, const std::vector<int>& of);

/// Why row `row` is not multilinear: "x1 occurs with power 2"; empty where it is. Binaries may have
/// any power: z² = z.
std::string outside_class(const HybridModel& model, int row);

}  // namespace perp
