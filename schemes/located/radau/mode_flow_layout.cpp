// What follows from the mode of a ModeFlow: its equations, its unknowns and where their derivatives stand.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <perp/core/base/error.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/schemes/located/radau/mode_flow.hpp>

namespace perp {
namespace {

/// Is the law's equation that of dw/dt? `velocity_level`: of each law; empty: of none.
bool is_at_velocity_level(const std::vector<char>& velocity_level, std::size_t law) {
  return !velocity_level.empty() && velocity_level[law] != 0;
}

/// Throws InvalidInput where a mode does not fit to the laws.
void check_mode(const std::vector<Law>& all, const Mode& mode, const std::vector<char>& velocity_level) {
  const std::size_t laws = all.size();
  if (mode.size() != laws)
    throw InvalidInput(
        fmt::format("the mode has {} branches, the system {} laws", mode.size(), laws));
  if (!velocity_level.empty() && velocity_level.size() != laws)
    throw InvalidInput(fmt::format("velocity_level has {} entries, the system {} laws",
                                   velocity_level.size(), laws));
  for (std::size_t i = 0; i < laws; ++i)
    if (mode[i] < 0 || mode[i] >= static_cast<int>(all[i].branches.size()))
      throw InvalidInput(fmt::format("law {} has no branch {}", i, mode[i]));
}

/// Of entries (column, row), which are sorted.
linear::EntryPlaces places_of(const std::vector<std::pair<int, int>>& all, int columns) {
  linear::EntryPlaces places;
  auto next = all.begin();
  for (int column = 0; column < columns; ++column) {
    for (; next != all.end() && next->first == column; ++next) places.row.push_back(next->second);
    places.start.push_back(static_cast<int>(places.row.size()));
  }
  return places;
}

}  // namespace

/// Writes dw/dt = ∂G/∂t + Σ_j ∂G/∂x_j ẋ_j of a law to the tape.
void ModeFlow::add_velocity(int law) {
  Tape& tape = now_->system.tape;
  const int output = now_->system.G[static_cast<std::size_t>(law)];
  int sum = -1;
  for (const Derivative& d :
       differentiate(tape, std::span(&output, 1), 0, now_->system.parameter_input(0))) {
    const int j = d.input - now_->system.variable_input(0);
    if (d.input != Dcs::time_input() && (j < 0 || j >= n()))
      throw InvalidInput(fmt::format(
          "law {}: the derivative of w is wanted, but w contains more than t and x", law));
    const int term =
        d.input == Dcs::time_input()
            ? d.line
            : tape.apply(Operation::multiply, d.line, tape.input(now_->system.derivative_input(j)));
    sum = sum < 0 ? term : tape.apply(Operation::add, sum, term);
  }
  now_->velocity_laws.push_back(law);
  now_->velocity_lines.push_back(sum < 0 ? tape.constant(0) : sum);
}

/// Compiles dw/dt of the laws at velocity level where that has not been done.
void ModeFlow::add_velocities(const Mode& mode, const std::vector<char>& velocity_level) {
  bool more = false;
  for (std::size_t i = 0; i < mode.size(); ++i) {
    if (!is_at_velocity_level(velocity_level, i)) continue;
    if (system_.laws[i].branches[static_cast<std::size_t>(mode[i])].b != 0)
      throw InvalidInput(
          fmt::format("law {}: its branch does not fix w, which the velocity level "
                      "needs",
                      i));
    auto& compiled = now_->velocity_laws;
    if (std::ranges::find(compiled, static_cast<int>(i)) != compiled.end()) continue;
    add_velocity(static_cast<int>(i));
    more = true;
  }
  if (!more) return;
  compile();
  resize();
}

void ModeFlow::set_mode(const Mode& mode, const std::vector<char>& velocity_level,
                        const BranchForms::Ends& ends) {
  check_mode(system_.laws, mode, velocity_level);
  if (forms_.any()) use(forms_.key(mode, ends), mode, ends);
  add_velocities(mode, velocity_level);
  mode_ = mode, velocity_level_ = velocity_level, ends_ = ends;
  make_law_rows();
  make_terms();
}

/// The unknowns and the equations of the laws, and the multipliers that the mode fixes.
void ModeFlow::make_law_rows() {
  free_laws_.clear(), law_rows_.clear();
  place_.assign(mode_.size(), -1);
  fixed_.assign(mode_.size(), 0);
  for (std::size_t i = 0; i < mode_.size(); ++i) {
    const Branch& branch = now_->system.laws[i].branches[static_cast<std::size_t>(mode_[i])];
    if (branch.a == 0) {
      fixed_[i] = branch.c / branch.b;
      continue;
    }
    place_[i] = size();
    free_laws_.push_back(static_cast<int>(i));
    LawRow row{n() + static_cast<int>(i), branch.a, branch.b, branch.c};
    if (is_at_velocity_level(velocity_level_, i)) {
      const auto& compiled = now_->velocity_laws;
      const auto k = std::ranges::find(compiled, static_cast<int>(i)) - compiled.begin();
      row.function = n() + m() + static_cast<int>(k);
      row.c = 0;
    }
    law_rows_.push_back(row);
  }
}

/// The equation that each of the functions stands in; -1: none.
std::vector<int> ModeFlow::equation_of_functions() const {
  std::vector<int> equation(rows_.size(), -1);
  for (int i = 0; i < n(); ++i) equation[static_cast<std::size_t>(i)] = i;
  for (std::size_t k = 0; k < law_rows_.size(); ++k)
    equation[static_cast<std::size_t>(law_rows_[k].function)] = n() + static_cast<int>(k);
  return equation;
}

/// Where the derivatives of the functions stand in the matrices of the mode.
void ModeFlow::make_terms() {
  differential_.assign(static_cast<std::size_t>(size()), 0);
  const std::vector<int> equation = equation_of_functions();
  const auto factor = [&](int row) {
    return row < n() ? 1.0 : law_rows_[static_cast<std::size_t>(row - n())].a;
  };
  for (auto* terms : {&by_ydot_, &by_y_, &by_t_, &by_p_}) terms->clear();
  for (std::size_t k = 0; k < now_->entries.size(); ++k) {
    const int row = equation[static_cast<std::size_t>(now_->entries[k].row)];
    if (row >= 0) add_term(k, row, factor(row));
  }
  for (std::size_t k = 0; k < now_->parameter_entries.size(); ++k) {
    const int row = equation[static_cast<std::size_t>(now_->parameter_entries[k].row)];
    if (row >= 0) by_p_.push_back({k, row, now_->parameter_entries[k].column, factor(row), -1});
  }
  make_places();
}

/// Puts a derivative of the functions into a row of the matrix of its input.
void ModeFlow::add_term(std::size_t entry, int row, double factor) {
  const int input = now_->entries[entry].column;
  if (input == Dcs::time_input()) {
    by_t_.push_back({entry, row, 0, factor, -1});
  } else if (input < system_.variable_input(0)) {
    const int j = input - system_.derivative_input(0);
    by_ydot_.push_back({entry, row, j, factor, -1});
    differential_[static_cast<std::size_t>(j)] = 1;
  } else if (const int j = unknown_of(input); j >= 0) {
    by_y_.push_back({entry, row, j, factor, -1});
  }
}

/// By columns, in each by rows; those of H_ẏ and H_y are one list.
void ModeFlow::make_places() {
  std::vector<std::pair<int, int>> all;  // column, row
  for (const auto* terms : {&by_ydot_, &by_y_})
    for (const Term& term : *terms) all.emplace_back(term.column, term.row);
  for (int k = n(); k < size(); ++k) all.emplace_back(k, k);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  places_ = places_of(all, size());
  const auto place = [&](int row, int column) {
    return static_cast<int>(std::ranges::lower_bound(all, std::pair(column, row)) - all.begin());
  };
  for (auto* terms : {&by_ydot_, &by_y_})
    for (Term& term : *terms) term.place = place(term.row, term.column);
  law_places_.clear();
  for (int k = n(); k < size(); ++k) law_places_.push_back(place(k, k));
}

}  // namespace perp
