#pragma once

#include <map>
#include <string>
#include <vector>

#include <perp/core/law.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// Names of the variables.
std::vector<std::string> variable_names(const Model& model);

/// Names of the columns of a trajectory.
struct Columns {
  std::vector<std::string> x;
  /// The model's own names of multipliers; lambda_<law> where the laws have different names that
  /// can stand in a column's name, else lambda1, lambda2, ...
  std::vector<std::string> lambda;
  std::vector<std::string> w;  ///< the same with w
  std::vector<std::string> outputs;
  std::string mode;  ///< of the mode as text: "mode", where no variable and no output has that name
};
Columns columns_of(const Model& model);
/// Units of the columns that have one, by name: of variables, multipliers, outputs.
std::map<std::string, std::string> column_units(const Model& model);

/// describe(laws, mode), computed again only when the mode changes.
class ModeText {
 public:
  explicit ModeText(const std::vector<Law>& laws) : laws_(laws) {}
  const std::string& operator()(const Mode& mode);

 private:
  const std::vector<Law>& laws_;
  Mode mode_;
  std::string text_;
};

/// The law of an event, with its number where others have the same name, and the branches that it
/// leads from and to, e.g. "w=0"; empty where it is not of one law.
struct BranchTexts {
  std::string law, from, to;
};
BranchTexts branch_texts(const std::vector<Law>& laws, const Event& event);

/// branch_texts for many events of the same laws.
class EventTexts {
 public:
  explicit EventTexts(const std::vector<Law>& laws);
  [[nodiscard]] BranchTexts operator()(const Event& event) const;

 private:
  const std::vector<Law>& laws_;
  std::vector<char> is_repeated_;  // of each law: do others have its name?
};

}  // namespace perp
