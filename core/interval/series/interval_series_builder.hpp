#pragma once

#include <map>
#include <utility>
#include <vector>

#include <perp/core/interval/series/interval_series.hpp>

namespace perp::enclosure {

/// Makes the nodes of a series from the lines that its rates need.
class IntervalSeries::Builder {
 public:
  Builder(const Flow& flow, std::vector<Node>& nodes) : flow_(flow), nodes_(nodes) {}
  void run();
  [[nodiscard]] int node_of(int line) const { return lines_[static_cast<std::size_t>(line)]; }

 private:
  int node(const Node& node);
  int constant(const Interval& value);
  int binary(Kind kind, int a, int b);
  int pair(Kind kind, Operation first, int a, double sign);
  int integral(Operation function, int a, int w, double sign);
  int natural_power(int x, int n);
  int simple_power(int x, double r);
  int power(int x, int y);
  int arc(Operation function, int a);
  int guard(int a, int b);
  int rare(Operation operation, int a, int b);
  int function(Operation operation, int a, int b);
  int input(const SeriesInput& input);
  int line(const Instruction& line);
  static int state(int j) { return j; }
  [[nodiscard]] int implicit(int i) const { return flow_.states() + i; }

  const Flow& flow_;
  std::vector<Node>& nodes_;
  std::vector<int> lines_;
  std::map<std::pair<Operation, int>, int> pairs_;
};

/// Makes the places of the coefficients: a quantity has derivatives by the states that it depends on.
class IntervalSeries::Strands {
 public:
  explicit Strands(IntervalSeries& series) : series_(series) {}
  void run();

 private:
  void find_dependences();
  void include(int node, int other);
  void include_operands(int node);
  [[nodiscard]] bool rests(int node) const;
  void find_constants();
  [[nodiscard]] std::vector<bool> weighted_nodes() const;

  IntervalSeries& series_;
  std::vector<std::vector<bool>> depends_;  // node, state
  bool is_changed_ = false;
};

}  // namespace perp::enclosure
