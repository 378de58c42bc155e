#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/analysis/enclosure/modes/mode_system.hpp>

namespace perp::enclosure {

/// How good a quantity is as the divisor of an equation.
enum class Divisor { none, of_states, constant };

/// Solves the equations of a mode.
class ModeSolver {
 public:
  ModeSolver(const Dcs& system, const StateSpace& space, const Mode& mode,
             const std::vector<double>& near, const OpenLaws& open, std::vector<int> roots = {})
      : system_(system),
        space_(space),
        mode_(mode),
        near_(near),
        open_(open),
        roots_(std::move(roots)),
        tape_(system.tape),
        lines_(tape_, nonzero_inputs(system, space)) {}

  ModeSystem run();
  [[nodiscard]] int argument(int law);
  [[nodiscard]] Flow flow() const;
  [[nodiscard]] std::optional<std::vector<int>> argument_reads(int law);
  int solution(int input);
  int gap_line(const Gap& gap);
  void finish(ModeSystem& made);
  /// Did it meet more products than it was told the roots of?
  [[nodiscard]] bool is_undecided() const { return is_undecided_; }

 private:
  struct Equation {
    int line = -1;
    std::vector<int> held{};      ///< inputs of its line in the model; none: it is derived
    int equation = -1, law = -1;  ///< where it comes from
    bool is_open = true;
  };
  struct Choice {
    int equation = -1, input = -1, coefficient = -1;
    Divisor divisor = Divisor::none;
    double size = 0, sway = 0;
    bool is_bent = false;
    int others = 0;       ///< unknowns of the equation, this one too (of a surface its states)
    bool is_own = false;  ///< the model's equation holds the unknown
    bool is_rate = false;
    bool is_number = false;
  };

  void collect();
  [[nodiscard]] bool is_unknown(int input) const;
  [[nodiscard]] bool is_state(int input) const;
  [[nodiscard]] bool is_rate(int input) const;
  [[nodiscard]] std::vector<int> unknowns_of(int line) const;
  [[nodiscard]] bool holds_open(int line) const;
  [[nodiscard]] Divisor rate(int line, double& size) const;
  [[nodiscard]] double near(int line) const;
  [[nodiscard]] double sway(const Equation& surface, int state);
  void consider(int equation, int input, int others, Choice& best);
  void consider_all(int equation, const std::vector<int>& inputs, Choice& best);
  bool is_bent(int equation, int input);
  void solve(const Choice& choice);
  void constrain(const Choice& choice);
  int total_derivative(int line);
  void replace(const std::map<int, int>& lines);
  bool advance(ModeSystem& made);
  bool take_constraint(int equation, ModeSystem& made);
  bool split_product();
  int root_of_factor(int line, int input, int factor);
  /// What is left, as implicit unknowns.
  ///@{
  bool make_implicit();
  [[nodiscard]] std::vector<int> smallest_block();
  [[nodiscard]] int pivot_row(const std::vector<std::vector<int>>& rows, std::size_t k) const;
  bool find_rates();
  void back_substitute(const std::vector<std::vector<int>>& rows);
  [[nodiscard]] std::vector<int> sources_of_implicit();
  [[nodiscard]] int source_of(int implicit_equation) const;
  [[nodiscard]] bool is_implicit(int input) const {
    return std::find(implicit_.begin(), implicit_.end(), input) != implicit_.end();
  }
  ///@}
  /// Algebraic variables y that stand in y + c only, with one constant c each: y + c are the unknowns.
  ///@{
  void shift_unknowns();
  void shift_back();
  [[nodiscard]] int shift_in(const Instruction& line, int y);
  [[nodiscard]] bool is_fixed(int line) const;
  void note_shift(const Instruction& line, int y, std::map<int, int>& shifts);
  [[nodiscard]] bool is_algebraic(int input) const;
  ///@}
  [[nodiscard]] bool is_given(int input) const;
  bool hold(int equation);
  void add_gaps(ModeSystem& made);
  /// Of the flows of `finish`.
  ///@{
  std::vector<int> outputs(const std::vector<Gap>& gaps);
  std::vector<int> observed();
  ///@}

  const Dcs& system_;
  const StateSpace& space_;
  const Mode& mode_;
  const std::vector<double>& near_;
  const OpenLaws& open_;
  std::vector<int> roots_;  // of products: 0: the unknown is 0, 1: its factor is
  std::size_t products_ = 0;
  bool is_undecided_ = false;
  std::vector<int> nonzero_;  // lines
  Tape tape_;
  ExactLines lines_;
  std::vector<bool> is_differential_;
  std::vector<Equation> equations_;
  std::map<int, int> solved_;  // input of an unknown, or of a dependent state: its line
  std::map<int, int> shifts_;  // input of an unknown that stands for y + c: the line of c
  std::map<int, int> solved_by_;  // its equation of the system; −1: of a law, or derived
  std::vector<ModeConstraint> constraints_;
  std::vector<int> invariants_;  // lines
  std::vector<int> implicit_, implicit_equations_;  // inputs, lines
  std::vector<int> implicit_rates_;                 // lines
};

}  // namespace perp::enclosure
