#pragma once

#include <functional>
#include <vector>

#include <perp/analysis/hybrid/hybrid_continuation.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/models/language/hybrid/faces.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {

/// Values of all binaries that no row excludes by its value at (t, x); derivatives have not been
/// looked at.
struct ModeCandidate {
  std::vector<int> z;  ///< 0, 1, 2: released
  Vector x;            ///< the states, and algebraic variables as far as single equations give them
  Vector rates;        ///< likewise; 0 elsewhere
  int root = 0;        ///< how many roots of the same sub-problems are nearer to the given variables
};

/// What a search may take.
struct ValueLimits {
  long nodes = 1L << 20;  ///< values of sub-problems that are tried
  long candidates = 1L << 10;
  int most_outside = -1;         ///< binaries outside of `inside` that may change; -1: all
  int most_inside = -1;          ///< the same of those inside
  std::vector<char> inside{};    ///< of each binary, where changes count
  std::vector<int> previous{};   ///< of each binary: 0, 1, 2
  std::function<bool()> stop{};  ///< asked now and then; true ends the search
};

/// Goes through the values of binaries sub-problem by sub-problem in the order of the block lower
/// triangular form: equations of one unknown are solved on the way, and a value is left where a row
/// excludes it whatever the later ones are. What is decided is certain for states that are known up
/// to `share` of themselves: bounds of all errors are carried along.
class ValueSearch {
 public:
  ValueSearch(const HybridModel& model, const HybridStructure& structure, Faces& faces);

  /// How far states may be from the exact ones, beyond a share of themselves; empty: no farther.
  void set_errors(Vector x_error) { x_error_ = std::move(x_error); }

  /// The row of the constraint whose face at z_r = 0 is the surface on which binary r of `z`
  /// slides, -1: there is none. The other released binaries are taken at all their ends.
  int surface(const std::vector<int>& z, int binary);
  /// The faces of the released binaries' surfaces and what the constraint is with them: void or
  /// multiples.
  bool is_held(const std::vector<int>& z, int constraint);

  /// t and the states (inputs of the tape) with the errors that the search takes them to have.
  const std::vector<RunningError>& known_inputs(double t, const Vector& x, double share) {
    begin(t, x, share);
    return inputs_;
  }

  /// What rows say of one value of all binaries.
  struct Walk {
    ModeCandidate candidate{};
    std::vector<int> excluding{};   ///< rows that exclude it by their values
    std::vector<int> on_surface{};  ///< constraints that are not void and whose values are 0
  };
  /// Goes through the sub-problems with these values, whatever their rows say.
  Walk walk(double t, const Vector& x, double share, const std::vector<int>& z);

  /// May what was searched since the last `begin_roots` have further roots: solutions of sub-problems
  /// whose unknowns multiply each other?
  [[nodiscard]] bool may_have_other_roots() const { return may_have_other_roots_; }
  void begin_roots() { may_have_other_roots_ = false; }

  /// False where it ended early. `found` takes each candidate, `left` what is excluded.
  bool run(double t, const Vector& x, double share, const ValueLimits& limits,
           const std::function<void(const ModeCandidate&)>& found,
           const std::function<void(const Exclusion&)>& left);

 private:
  using Number = running_error::RunningError;
  struct Equation {
    int row = -1;
    int slope = -1;  ///< line of its derivative by the unknown
  };
  struct Block {
    std::vector<int> binaries;
    std::vector<int> open;           ///< unknowns of variables
    std::vector<Equation> single{};  ///< equations that are affine in the only open unknown
    /// Equations with several solutions, by their form, and the lines of their derivatives by the
    /// open unknowns, row by row (-1: 0).
    std::vector<int> many{}, many_slopes{};
  };
  struct Root {
    std::vector<Number> values;
    Number distance{};  ///< squared, from the algebraic variables before
    int rank = 0;       ///< how many are certainly nearer
  };

  void read_block(const SubProblem& block);
  [[nodiscard]] bool may_have_several_roots(int row, const std::vector<int>& inputs) const;
  void read_roots(const SubProblem& given, Block& block);
  void begin(double t, const Vector& x, double share);
  void note_row(int row, bool is_unsolvable, Walk& walk);
  [[nodiscard]] ModeCandidate candidate() const;
  void put_binaries(int block);
  void visit(int block);
  void count_up(int block);
  void assign(int block, std::size_t place);
  bool may_go_on(int block, int last);
  bool may_slide(int block, int binary);
  bool takes_node();
  bool enter(int block);
  int slope_line(int line, int input);
  void visit_roots(int block);
  std::vector<Root> roots_of(int block, bool& is_complete);
  Root bounded_root(int block, const std::vector<double>& values);
  void put_root(int block, const Root& root);
  void put_nearest_root(int block, std::vector<int>& excluding);
  int unsolvable_row(int block);
  bool check_rows(int block);
  int row_sign(int row);
  [[nodiscard]] bool is_known(int row) const;
  bool check_surfaces(int block);
  void exclude(int block, int row, const char* why);
  Number evaluate(int line);
  [[nodiscard]] int input_of(int unknown) const;
  [[nodiscard]] bool is_changed(int i) const;
  [[nodiscard]] bool exceeds_changes() const;
  [[nodiscard]] bool may_call(int constraint, int binary) const;
  [[nodiscard]] bool has_opposite(std::vector<int>& corner, int binary, const SparsePolynomial& s);
  [[nodiscard]] const SparsePolynomial* surface_at(std::vector<int>& corner, int binary, int& row);
  template <class Visit>
  bool at_corners(const std::vector<int>& z, int except, const Visit& visit);

  const HybridModel& model_;
  const HybridStructure& structure_;
  Faces& faces_;
  Tape tape_;
  std::vector<int> rows_;
  std::vector<Block> blocks_;
  std::vector<std::vector<int>> lines_;  // below each line that is evaluated
  std::vector<Number> inputs_, values_;

  std::vector<int> z_;
  Vector x_error_, x_given_;
  int root_ = 0;  // of ModeCandidate
  bool may_have_other_roots_ = false;
  const ValueLimits* limits_ = nullptr;
  const std::function<void(const ModeCandidate&)>* found_ = nullptr;
  const std::function<void(const Exclusion&)>* left_ = nullptr;
  long nodes_ = 0, candidates_ = 0;
  bool ended_ = false;
};

}  // namespace perp
