#pragma once

#include <span>
#include <vector>

#include <perp/core/interval/interval.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp::enclosure {

/// What an input of a tape is along a solution.
struct SeriesInput {
  enum class Kind { unused, time, state, constant };
  Kind kind = Kind::unused;
  int state = -1;    ///< number of the state
  Interval value{};  ///< of a constant
};

/// A state that the others and time give, x_state = e(t, x): the value of a line.
struct DependentState {
  int state = -1;
  int line = -1;
};

/// x' = f(t, x): lines of a tape, one for each state, and what its inputs are.
struct Flow {
  Tape tape{};
  std::vector<int> rates{};
  std::vector<SeriesInput> inputs{};  ///< by the number of the input
  std::vector<int> outputs{};         ///< lines that are observed along the solutions
  /// Along the solutions that are meant; no line uses these states.
  std::vector<DependentState> dependents{};

  [[nodiscard]] int states() const { return static_cast<int>(rates.size()); }
};

/// Taylor coefficients of the solutions of x' = f(t, x) through all points of a box, and their
/// first derivatives by the starting point,
///     x(t + τ) = Σ_k x_k τ^k,    ∂x_k/∂x_0,
/// as intervals: each contains the coefficient of every solution that starts in the box. Order by
/// order over all lines by the recurrences of the functions, K (K + 1)/2 operations per product. A
/// coefficient is none where a function has no value over the box, or where a choice (abs, min,
/// max, sign) is not the same everywhere in it: the solution then need not be smooth.
class IntervalSeries {
 public:
  explicit IntervalSeries(const Flow& flow);

  /// Coefficients 0 to `order`; with derivatives where they are asked for. False: some quantity has
  /// no value, not even one that is multiplied by 0, and what was computed proves nothing.
  [[nodiscard]] bool compute(const Interval& t, std::span<const Interval> x, int order,
                             bool derivatives);

  [[nodiscard]] int states() const { return static_cast<int>(state_nodes_.size()); }
  [[nodiscard]] const Interval& coefficient(int state, int k) const {
    return jet(state_nodes_[static_cast<std::size_t>(state)], k)[0];
  }
  [[nodiscard]] const Interval& derivative(int state, int by, int k) const {
    return jet(state_nodes_[static_cast<std::size_t>(state)], k)[1 + by];
  }
  /// The same of the outputs of the flow, for k below `order`.
  ///@{
  [[nodiscard]] int outputs() const { return static_cast<int>(output_nodes_.size()); }
  [[nodiscard]] const Interval& output(int i, int k) const {
    return jet(output_nodes_[static_cast<std::size_t>(i)], k)[0];
  }
  [[nodiscard]] const Interval& output_derivative(int i, int by, int k) const {
    return jet(output_nodes_[static_cast<std::size_t>(i)], k)[1 + by];
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

  [[nodiscard]] const Interval* jet(int node, int k) const {
    return values_.data() + (static_cast<std::size_t>(node) * static_cast<std::size_t>(orders_) +
                             static_cast<std::size_t>(k)) *
                                static_cast<std::size_t>(stride_);
  }
  [[nodiscard]] Interval* jet(int node, int k) {
    return const_cast<Interval*>(static_cast<const IntervalSeries*>(this)->jet(node, k));
  }

  void set_states(int k);
  void evaluate(int node, int k);
  [[nodiscard]] bool is_complete(int node, int k) const;
  void evaluate_first(int node);
  void recur(int node, int k);
  void choose(int node, int k);
  void apply_chain(int node, int a, const Interval& value, const Interval& slope);
  void clear(Interval* sum) const;
  void add_to(Interval* sum, const Interval* u, double weight) const;
  void add_product(Interval* sum, const Interval* u, const Interval* v, double weight) const;
  void divide_by(Interval* sum, const Interval* divisor, double weight) const;
  void convolve(int node, int k, int a, int b, int first, int last, double weight);
  void convolve_weighted(int node, int k, int a, int b, int last, double weight);
  void convolve_square(int node, int k, int a);
  void integrate(int node, int k, int a, int slope, double sign);

  std::vector<Node> nodes_;
  std::vector<int> state_nodes_, rate_nodes_, output_nodes_;
  std::vector<Interval> values_;  // node, order, value and derivatives
  Interval t_{};
  std::vector<Interval> x_;
  int orders_ = 0, stride_ = 1;
};

}  // namespace perp::enclosure
