#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include <perp/analysis/hybrid/values/value_program.hpp>
#include <perp/core/interval/interval.hpp>
#include <perp/core/tape/running_error.hpp>

namespace perp {

/// All values of some binaries, as a tree: what a level gives is computed once for all values of the later ones, so
/// that one more value costs little, and a part is left where a constraint is violated whatever these are. Constraints
/// are decided by bounds of all errors, by their values or, where these are not told from 0, their first derivatives.
class ValueTree {
 public:
  static constexpr int most_binaries = 62;

  struct Question {
    /// Inputs of the model's tape: t, the states and the binaries that keep their values.
    std::vector<RunningError> inputs;
    bool is_exact = false;         ///< states and t are the numbers that are given
    std::vector<int> previous{};   ///< of the program's binaries: 0 or 1; -1: none is known, then changes do not count
    std::vector<int> weights{};    ///< of a change of each
    bool counts_all = false;       ///< else only the nearest are looked for
    int most_distance = 0;         ///< of the nearest ones
    long most_nodes = 1L << 22;
    std::size_t most_kept = 64;  ///< 0: the number alone is asked for
    /// Where neither values nor first derivatives decide: 1 it continues, 0 it does not, -1 open. Bits: of binary k
    /// of the program bit k.
    std::function<int(std::uint64_t)> judge{};
    std::function<bool()> stop{};  ///< true ends the search
    /// Takes what is left, with the bits that have a value and the row.
    std::function<void(std::uint64_t values, std::uint64_t known, int constraint, bool by_slope)> left{};
  };
  struct Entry {
    std::uint64_t values = 0;   ///< of binary k bit k
    std::uint64_t changed = 0;  ///< the same of those that differ from the previous one, or 0
    int distance = 0;
    RunningError norm{};        ///< of the rates

    /// Does it change a binary that is declared before those that the other one alone changes?
    [[nodiscard]] bool is_declared_before(const Entry& other) const {
      const std::uint64_t differ = changed ^ other.changed;
      return (changed & differ & (~differ + 1)) != 0;
    }
  };
  struct Answer {
    bool is_whole = false;      ///< else the rest says nothing
    long nodes = 0;             ///< of the tree that were visited
    long count = 0;             ///< how many continue, where all were asked for
    std::vector<Entry> kept{};  ///< the nearest ones, those with slow rates first, where all were asked for
    long nearest = 0;           ///< how many of the least distance, where the nearest alone were asked for
    std::vector<Entry> least{}; ///< of these all whose rates are not told from the slowest
  };

  ValueTree(const ValueProgram& program, Question question);
  /// Binaries that may slide here, whatever the others are (of number k bit k): of the constraints that hold one, some
  /// may be 0 with its value 0 without being void, and some with its value 1. The others do not.
  std::uint64_t may_slide();
  Answer search();

 private:
  struct Step {
    Operation operation;
    bool is_choice;  // b is 0 or 1, and a number or what is subtracted from 1 is left or not
    int a, b, to;
  };
  struct Level {
    std::vector<Step> steps{};
    std::vector<int> rows{}, denominators{};  // complete with it
    int line = -1;                             // of its binary
    std::uint64_t bit = 0;
    int first_value = 0, weight = 0;
  };
  /// What a line may be over all values of binaries.
  struct Reach {
    enclosure::Interval values{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    bool ends_as_zero = false;  // where it is 0, factors of binaries are
    bool may_be_dead = true;    // may these be 0?

    Reach operator-() const;
    Reach operator+(const Reach& b) const;
    Reach operator*(const Reach& b) const;
    [[nodiscard]] bool is_positive() const { return values.lo > 0; }
    [[nodiscard]] bool may_be_surface() const { return !ends_as_zero && values.lo <= 0 && values.hi >= 0; }
    [[nodiscard]] bool is_satisfied() const { return values.hi < 0 || (values.hi <= 0 && ends_as_zero); }
  };
  Reach reach_of(int line);
  [[nodiscard]] Reach reach_of(const Instruction& line) const;
  static RunningError result_of(Operation operation, const RunningError& a, const RunningError& b) {
    switch (operation) {  // the frequent ones without the long way
      case Operation::add: return a + b;
      case Operation::subtract: return a - b;
      case Operation::multiply: return a * b;
      case Operation::negate: return -a;
      default: return apply_operation(operation, a, b);
    }
  }
  void put_binary(int d, Level& level) const;
  void put_static();
  void put_result(int line);
  void put_exactly(int line);
  [[nodiscard]] bool find_rows();
  void find_steps();
  [[nodiscard]] bool has_finite_unknowns();
  [[nodiscard]] std::vector<int> lines_for(const std::vector<int>& roots) const;
  void bound_lines(const std::vector<int>& lines, int level, int fixed = -1, double value = 0);
  [[nodiscard]] bool has_surface(std::uint64_t bit, int line, double value);
  void add_steps(const std::vector<int>& roots);
  [[nodiscard]] Step step_of(int line) const;
  void compute_more_at_once(int level);
  void run(const std::vector<Step>& steps);
  const RunningError& asked(int root);
  const RunningError& lazily(int line);
  [[nodiscard]] bool is_dead(int line);
  bool takes_node(int level);
  bool enter(int level, bool& is_open);
  bool may_go_on(int level);
  bool passes(int level, int r, int outlook, bool& is_free);
  void bound_later(std::vector<int> rows);
  [[nodiscard]] bool is_never_decided(int line) const;
  [[nodiscard]] int outlook(int r) const;
  [[nodiscard]] int outlook_of_slope(int r) const {
    const Reach& slope = reaches_[static_cast<std::size_t>(program_.rows()[static_cast<std::size_t>(r)].slope)];
    return slope.is_positive() ? 1 : (slope.is_satisfied() ? -1 : 0);
  }
  bool read_row(int level, int row, bool& is_open);
  bool read_pending(int level, std::size_t count, bool& is_open);
  bool read_slope(int level, int row, bool& is_open);
  [[nodiscard]] int slope_level(int r) const {
    return program_.level(program_.rows()[static_cast<std::size_t>(r)].slope);
  }
  [[nodiscard]] bool is_decided(int level) const;
  void visit(int level, int distance, bool is_open);
  void leaf(int distance, bool is_open);
  bool is_behind_kept(int level, int distance);
  [[nodiscard]] bool leaves(int level, int distance, bool is_open);
  void keep(const Entry& entry);
  void add_least(const Entry& entry);
  void thin_least();
  [[nodiscard]] static bool is_better(const Entry& a, const Entry& b);
  void note_left(int level, int row, bool by_slope);

  const ValueProgram& program_;
  Question question_;
  Answer answer_;
  std::vector<Level> levels_;  // from 0, which holds no binary
  std::vector<RunningError> values_;
  std::vector<char> is_eager_;
  std::vector<long> stamps_, nodes_of_level_;
  std::vector<int> pending_;  // rows whose derivatives decide
  std::uint64_t bits_ = 0, base_ = 0;
  std::vector<int> lines_of_rows_, lines_of_norm_;
  std::vector<Reach> reaches_;
  std::vector<char> is_surface_;  // of each row: is it 0 for all values of the binaries, as far as is known?
  int last_level_ = 0;  // with rows or denominators
  int last_bounded_ = 0;  // of the lines of rows that are bounded
  static constexpr int nowhere = std::numeric_limits<int>::max();
  int free_from_ = nowhere;  // from this level on all rows are satisfied
  long nodes_ = 0;
  std::vector<long> asked_;  // how often, of lines that are not computed at every node
  bool ended_ = false;
  int bound_ = 0;  // beyond this distance nothing is kept
  Entry slowest_{};
  std::size_t thin_at_ = 1024;
};

}  // namespace perp
