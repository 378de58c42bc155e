#pragma once

#include <map>
#include <utility>
#include <vector>

#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/analysis/enclosure/modes/mode_system.hpp>

namespace perp::enclosure {

/// How good a quantity is as the divisor of an equation.
enum class Divisor { none, of_states, number };

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
        lines_(tape_) {}

  ModeSystem run();
  [[nodiscard]] int argument(int law);
  [[nodiscard]] Flow flow() const;
  [[nodiscard]] bool is_of_states(int law);
  int solution(int input);
  int gap_line(const Gap& gap);
  void finish(ModeSystem& made);
  /// Did it meet more products than it was told the roots of?
  [[nodiscard]] bool is_undecided() const { return is_undecided_; }

 private:
  struct Equation {
    int line = -1;
    int equation = -1, law = -1;  ///< where it comes from
    bool is_open = true;
  };
  struct Choice {
    int equation = -1, input = -1, coefficient = -1;
    Divisor divisor = Divisor::none;
    double size = 0;
  };

  void collect();
  [[nodiscard]] bool is_unknown(int input) const;
  [[nodiscard]] bool is_state(int input) const;
  [[nodiscard]] std::vector<int> unknowns_of(int line) const;
  [[nodiscard]] bool holds_open(int line) const;
  [[nodiscard]] Divisor rate(int line, double& size) const;
  void consider(int equation, int input, Choice& best);
  void solve(const Choice& choice);
  void constrain(const Choice& choice);
  int total_derivative(int line);
  void replace(const std::map<int, int>& lines);
  bool advance(ModeSystem& made);
  bool split_product();
  void add_gaps(ModeSystem& made);

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
  std::vector<ModeConstraint> constraints_;
};

}  // namespace perp::enclosure
