#include <fmt/format.h>
#include <algorithm>
#include <set>

#include <perp/models/language/structure.hpp>

namespace perp {
namespace {

/// The columns that a line depends on, by a walk that visits every line once.
class Unknowns {
 public:
  explicit Unknowns(const EquationModel& model)
      : model_(model), seen_(static_cast<std::size_t>(model.tape.size()), -1) {}

  std::vector<int> of(std::vector<int> open) {
    ++walk_;
    std::set<int> columns;
    const int last = model_.n() + static_cast<int>(model_.laws.size());
    while (!open.empty()) {
      const int line = open.back();
      open.pop_back();
      if (line < 0 || seen_[static_cast<std::size_t>(line)] == walk_) continue;
      seen_[static_cast<std::size_t>(line)] = walk_;
      const Instruction& here = model_.tape[line];
      if (const Form* form = model_.forms.find(model_.tape, line)) {
        open.insert(open.end(), form->operands.begin(), form->operands.end());
      } else if (here.operation == Operation::input) {
        if (here.a < last) columns.insert(here.a);
      } else {
        open.push_back(here.a);
        open.push_back(here.b);
      }
    }
    return {columns.begin(), columns.end()};
  }

 private:
  const EquationModel& model_;
  std::vector<int> seen_;
  int walk_ = -1;
};

std::vector<std::vector<int>> incidence(const EquationModel& model) {
  Unknowns unknowns(model);
  std::vector<std::vector<int>> rows;
  for (const Equation& equation : model.equations)
    rows.push_back(unknowns.of({equation.left, equation.right}));
  for (std::size_t i = 0; i < model.laws.size(); ++i) {
    rows.push_back(unknowns.of({model.laws[i].argument}));
    std::vector<int>& columns = rows.back();
    const int multiplier = model.n() + static_cast<int>(i);
    if (!std::binary_search(columns.begin(), columns.end(), multiplier))
      columns.insert(std::upper_bound(columns.begin(), columns.end(), multiplier), multiplier);
  }
  return rows;
}

}  // namespace

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most_named = 8;
  const std::size_t shown = std::min(most_named, names.size());
  std::string text;
  for (std::size_t k = 0; k < shown; ++k) text += (k > 0 ? ", " : "") + names[k];
  return shown < names.size() ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

Structure structure_of(const EquationModel& model) {
  Structure structure{incidence(model), {}};
  structure.matching = linear::maximum_matching(
      structure.columns_of_row, model.n() + static_cast<int>(model.laws.size()));
  return structure;
}

std::vector<int> overdetermined_rows(const Structure& structure) {
  std::set<int> rows;
  std::vector<int> open;
  for (std::size_t row = 0; row < structure.columns_of_row.size(); ++row)
    if (structure.matching.column_of_row[row] < 0) open.push_back(static_cast<int>(row));
  while (!open.empty()) {
    const int row = open.back();
    open.pop_back();
    if (!rows.insert(row).second) continue;
    for (const int column : structure.columns_of_row[static_cast<std::size_t>(row)])
      open.push_back(structure.matching.row_of_column[static_cast<std::size_t>(column)]);
  }
  return {rows.begin(), rows.end()};
}

std::vector<int> columns_of(const Structure& structure, const std::vector<int>& rows) {
  std::set<int> columns;
  for (const int row : rows) {
    const std::vector<int>& of_row = structure.columns_of_row[static_cast<std::size_t>(row)];
    columns.insert(of_row.begin(), of_row.end());
  }
  return {columns.begin(), columns.end()};
}

}  // namespace perp
