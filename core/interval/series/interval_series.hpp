#pragma once

#include <memory>
#include <span>
#include <vector>

#include <perp/core/interval/interval.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp::enclosure {

class ImplicitFunction;
class IntervalSum;

/// What an input of a tape is along a solution.
struct SeriesInput {
  enum class Kind { unused, time, state, implicit, constant };
  Kind kind = Kind::unused;
  int state = -1;    ///< number of the state, or of the implicit unknown
  Interval value{};  ///< of a constant
};

/// A state that the others and time give, x_state = e(t, x): the value of a line.
struct DependentState {
  int state = -1;
  int line = -1;
};

/// z holds the root that is meant of h(t, x, z) = 0, for every t and x of the box.
struct KnownRoot {
  Interval t{};
  std::vector<Interval> x{}, z{};
};

/// Unknowns z that equations h(t, x, z) = 0 give with time and states: the continuous function near a
/// root that is known at some t and x.
struct ImplicitUnknowns {
  std::vector<int> inputs{};     ///< of the tape, by unknown
  std::vector<int> equations{};  ///< h, as many lines
  std::vector<int> rates{};      ///< dz/dt along the solutions, lines
  std::shared_ptr<KnownRoot> known{};  ///< the same for all series of one mode

  [[nodiscard]] bool empty() const { return inputs.empty(); }
  [[nodiscard]] int count() const { return static_cast<int>(inputs.size()); }
};

/// x' = f(t, x): lines of a tape, one for each state, and what its inputs are.
struct Flow {
  Tape tape{};
  std::vector<int> rates{};
  std::vector<SeriesInput> inputs{};  ///< by the number of the input
  std::vector<int> outputs{};         ///< lines that are observed along the solutions
  /// Along the solutions that are meant; no line uses these states.
  std::vector<DependentState> dependents{};
  /// Lines that are 0 along the solutions that are meant.
  std::vector<int> invariants{};
  ImplicitUnknowns implicit{};

  [[nodiscard]] int states() const { return static_cast<int>(rates.size()); }
};

/// Taylor coefficients of the solutions of x' = f(t, x) through all points of a box, and their
/// first derivatives by the starting point,
///     x(t + τ) = Σ_k x_k τ^k,    ∂x_k/∂x_0,
/// as intervals: each contains the coefficient of every solution that starts in the box. Order by
/// order over all lines by the recurrences of the functions, K (K + 1)/2 operations per product. A
/// coefficient is none where a function has no value over the box, or where a choice (abs, min,
/// max, sign) is not the same everywhere in it: the solution then need not be smooth. Of constants
/// it is smooth all the same; derivatives of abs, min and max contain all quotients of differences then.
class IntervalSeries {
 public:
  explicit IntervalSeries(const Flow& flow);

  /// Coefficients 0 to `order`; with derivatives where they are asked for. False: some quantity has
  /// no value or no bound, not even one that is multiplied by 0, and what was computed proves
  /// nothing.
  [[nodiscard]] bool compute(const Interval& t, std::span<const Interval> x, int order,
                             bool derivatives);
  /// Coefficients 0 alone, of the first `count` outputs and of what they are made of.
  [[nodiscard]] bool compute_values(const Interval& t, std::span<const Interval> x, int count);

  [[nodiscard]] int states() const { return static_cast<int>(state_nodes_.size()); }
  [[nodiscard]] const Interval& coefficient(int state, int k) const {
    return at(first_strand(state_nodes_[static_cast<std::size_t>(state)]), k);
  }
  /// The same of implicit unknowns.
  ///@{
  [[nodiscard]] int implicit_count() const { return static_cast<int>(equation_nodes_.size()); }
  [[nodiscard]] const Interval& implicit_coefficient(int unknown, int k) const {
    return at(first_strand(states() + unknown), k);
  }
  ///@}
  [[nodiscard]] const Interval& derivative(int state, int by, int k) const {
    return derivative_of(state_nodes_[static_cast<std::size_t>(state)], by, k);
  }
  /// The same of the outputs of the flow, for k below `order`.
  ///@{
  [[nodiscard]] int outputs() const { return static_cast<int>(output_nodes_.size()); }
  [[nodiscard]] const Interval& output(int i, int k) const {
    return at(first_strand(output_nodes_[static_cast<std::size_t>(i)]), k);
  }
  [[nodiscard]] const Interval& output_derivative(int i, int by, int k) const {
    return derivative_of(output_nodes_[static_cast<std::size_t>(i)], by, k);
  }
  ///@}

  /// One more than the order of the last coefficient that is not exactly 0: those behind are.
  ///@{
  [[nodiscard]] int length(int state) const {
    return length_of(first_strand(state_nodes_[static_cast<std::size_t>(state)]));
  }
  [[nodiscard]] int derivative_length(int state, int by) const {
    return length_of(strand(state_nodes_[static_cast<std::size_t>(state)], by));
  }
  [[nodiscard]] int output_length(int i) const {
    return length_of(first_strand(output_nodes_[static_cast<std::size_t>(i)]));
  }
  [[nodiscard]] int output_derivative_length(int i, int by) const {
    return length_of(strand(output_nodes_[static_cast<std::size_t>(i)], by));
  }
  ///@}

 private:
  enum class Kind {
    constant,
    time,
    state,
    negate,
    add,
    subtract,
    multiply,
    square,
    divide,
    exponential,
    pair,
    tangent,
    partner,
    integral,
    root,
    power,
    angle,
    absolute,
    smaller,
    larger,
    sign
  };
  /// One quantity with a recurrence. Operands a, b, c are nodes.
  struct Node {
    Kind kind = Kind::constant;
    Operation function =
        Operation::constant;  ///< that gives coefficient 0, where there are several
    int a = -1, b = -1, c = -1;
    double sign = 1;
    Interval value{};
  };

  class Builder;

  /// Coefficients of all orders of a quantity or of one of its derivatives: of those by states that
  /// it depends on, by its form.
  struct Strand {
    int direction = -1;  ///< the state by which it is a derivative; −1: the quantity itself
    int weighted = -1;   ///< the strand of k times its coefficients, where they are needed
    int length = 0;      ///< one more than the order of the last coefficient that is not 0
    bool is_long = false;    ///< some coefficient is not `is_short`
  };

  class Strands;

  [[nodiscard]] int first_strand(int node) const {
    return first_strands_[static_cast<std::size_t>(node)];
  }
  /// −1: there is none.
  [[nodiscard]] int strand(int node, int direction) const {
    if (node < 0) return -1;
    if (direction < 0) return first_strand(node);
    return derivative_strands_[static_cast<std::size_t>(node) * state_nodes_.size() +
                               static_cast<std::size_t>(direction)];
  }
  [[nodiscard]] int weighted(int strand) const {
    return strand < 0 ? -1 : strands_[static_cast<std::size_t>(strand)].weighted;
  }
  [[nodiscard]] const Interval& at(int strand, int k) const {
    return values_[static_cast<std::size_t>(strand) * static_cast<std::size_t>(orders_) +
                   static_cast<std::size_t>(k)];
  }
  [[nodiscard]] const Interval& derivative_of(int node, int by, int k) const {
    static const Interval zero;
    const int found = strand(node, by);
    return found < 0 ? zero : at(found, k);
  }
  [[nodiscard]] int length_of(int strand) const {
    return strand < 0 ? 0 : strands_[static_cast<std::size_t>(strand)].length;
  }
  void set(int strand, int k, const Interval& value);
  void store(int strand, int k, const Interval& value);
  [[nodiscard]] bool is_zero(int strand, int k) const {
    return strand < 0 || k >= strands_[static_cast<std::size_t>(strand)].length;
  }

  /// One behind the strands of a node that are computed.
  [[nodiscard]] int last_strand(int node) const {
    return with_derivatives_ ? first_strand(node + 1) : first_strand(node) + 1;
  }
  [[nodiscard]] int direction(int strand) const {
    return strands_[static_cast<std::size_t>(strand)].direction;
  }
  [[nodiscard]] bool begin(const Interval& t, std::span<const Interval> x, int order, bool derivatives);
  void clear();
  void set_states(int k);
  void set_implicit(int unknown, int k);
  void evaluate(int node, int k);
  void evaluate_first(int node);
  void choose(int node, int k);
  void choose_of_constants(int node, int k);
  void copy(int node, int k, int from, bool negated);
  void apply_chain(int node, int a, const Interval& value, const Interval& slope);
  void apply_angle(int node);
  void apply_pair(int node);
  void apply_tangent(int node);
  [[nodiscard]] Interval recur(int node, int direction, int k) const;
  [[nodiscard]] Interval recur_partner(int node, int direction, int k) const;
  [[nodiscard]] Interval sum_of(int a, int b, int k, double sign) const;
  [[nodiscard]] Interval product(int a, int b, int direction, int k) const;
  [[nodiscard]] Interval squared(int a, int direction, int k) const;
  [[nodiscard]] Interval quotient(int node, int direction, int k) const;
  [[nodiscard]] Interval integral(int node, int direction, int k) const;
  [[nodiscard]] Interval integrated(int a, int slope, int direction, int k, double sign) const;
  [[nodiscard]] Interval root(int node, int direction, int k) const;
  [[nodiscard]] Interval power(int node, int direction, int k) const;
  [[nodiscard]] Interval angle(int node, int direction, int k) const;
  void convolve(IntervalSum& sum, int a, int b, int k, int first, int last) const;
  void convolve_square(IntervalSum& sum, int a, int direction, int k, int first) const;

  std::vector<Node> nodes_;
  std::vector<int> state_nodes_, rate_nodes_, output_nodes_;
  std::vector<int> equation_nodes_;  // of implicit unknowns, whose nodes follow those of the states
  std::shared_ptr<ImplicitFunction> implicit_;
  std::vector<int> derivative_strands_;  // node, state: −1 where the node does not depend on it
  std::vector<int> first_strands_;       // of a node: the quantity; its derivatives follow
  std::vector<Strand> strands_;
  std::vector<bool> varies_;      // nodes that are not made of constants alone
  std::vector<Interval> values_;  // strand, order
  Interval t_{};
  std::vector<Interval> x_;
  int orders_ = 0;
  bool with_derivatives_ = false, is_complete_ = true;
};

}  // namespace perp::enclosure
