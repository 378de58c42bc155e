// Lines of a tape become nodes with a recurrence each.
#include <cmath>
#include <map>
#include <utility>

#include <perp/core/interval/series/implicit_function.hpp>
#include <perp/core/interval/series/interval_series_builder.hpp>

namespace perp::enclosure {

int IntervalSeries::Builder::node(const Node& node) {
  nodes_.push_back(node);
  return static_cast<int>(nodes_.size()) - 1;
}

int IntervalSeries::Builder::constant(const Interval& value) {
  return node({.kind = Kind::constant, .value = value});
}

int IntervalSeries::Builder::binary(Kind kind, int a, int b) {
  return node({.kind = kind, .a = a, .b = b});
}

/// Two functions that are each other's slopes up to a sign, or a function and its slope: made once.
int IntervalSeries::Builder::pair(Kind kind, Operation first, int a, double sign) {
  const auto [place, is_new] = pairs_.try_emplace({first, a}, -1);
  if (is_new) {
    place->second = node({.kind = kind, .function = first, .a = a, .sign = sign});
    node({.kind = Kind::partner});
  }
  return place->second;
}

/// y with y' = a'/w.
int IntervalSeries::Builder::integral(Operation function, int a, int w, double sign) {
  return node({.kind = Kind::integral, .function = function, .a = a, .b = w, .sign = sign});
}

/// x^n for a whole n ≥ 1 by squares and products.
int IntervalSeries::Builder::natural_power(int x, int n) {
  if (n == 1) return x;
  const int half = natural_power(x, n / 2);
  const int even = node({.kind = Kind::square, .a = half});
  return n % 2 == 0 ? even : binary(Kind::multiply, even, x);
}

/// x^r by products, quotients and roots; −1: by a function.
int IntervalSeries::Builder::simple_power(int x, double r) {
  if (r == 0) return constant(Interval(1));
  if (r == 0.5) return node({.kind = Kind::root, .a = x});
  if (r != std::floor(r) || !(std::abs(r) <= 64)) return -1;
  const int positive = natural_power(x, static_cast<int>(std::abs(r)));
  return r > 0 ? positive : binary(Kind::divide, constant(Interval(1)), positive);
}

int IntervalSeries::Builder::power(int x, int y) {
  const Node exponent = nodes_[static_cast<std::size_t>(y)];
  if (exponent.kind == Kind::constant && exponent.value.is_point())
    if (const int simple = simple_power(x, exponent.value.lo); simple >= 0) return simple;
  if (exponent.kind == Kind::constant) return node({.kind = Kind::power, .a = x, .b = y});
  const int log = integral(Operation::log, x, x, 1);
  return node({.kind = Kind::exponential, .a = binary(Kind::multiply, y, log)});
}

int IntervalSeries::Builder::arc(Operation function, int a) {
  const int one = constant(Interval(1));
  if (function == Operation::atan)
    return integral(function, a, binary(Kind::add, one, node({.kind = Kind::square, .a = a})), 1);
  const int product =
      binary(Kind::multiply, binary(Kind::subtract, one, a), binary(Kind::add, one, a));
  return integral(function, a, node({.kind = Kind::root, .a = product}),
                  function == Operation::acos ? -1 : 1);
}

/// Where the weight a is 0, 1/2, else b: also where it may be 0, since a f(b) is what a f(1/2) would be then, where f(b)
/// has a value.
int IntervalSeries::Builder::guard(int a, int b) {
  const Node& weight = nodes_[static_cast<std::size_t>(a)];
  const bool is_zero = weight.kind == Kind::constant && weight.value.has_value() && weight.value.is_zero();
  return is_zero ? constant(Interval(Instruction::unweighted)) : b;
}

int IntervalSeries::Builder::rare(Operation operation, int a, int b) {
  if (operation == Operation::guard) return guard(a, b);
  if (operation == Operation::table) DataTable::refuse();
  return node({.kind = Kind::sign, .a = a});
}

int IntervalSeries::Builder::function(Operation operation, int a, int b) {
  switch (operation) {
    case Operation::negate: return node({.kind = Kind::negate, .a = a});
    case Operation::add: return binary(Kind::add, a, b);
    case Operation::subtract: return binary(Kind::subtract, a, b);
    case Operation::multiply:
      return a == b ? node({.kind = Kind::square, .a = a}) : binary(Kind::multiply, a, b);
    case Operation::divide: return binary(Kind::divide, a, b);
    case Operation::power: return power(a, b);
    case Operation::sin: return pair(Kind::pair, Operation::sin, a, -1);
    case Operation::cos: return pair(Kind::pair, Operation::sin, a, -1) + 1;
    case Operation::sinh: return pair(Kind::pair, Operation::sinh, a, 1);
    case Operation::cosh: return pair(Kind::pair, Operation::sinh, a, 1) + 1;
    case Operation::tan: return pair(Kind::tangent, Operation::tan, a, 1);
    case Operation::tanh: return pair(Kind::tangent, Operation::tanh, a, -1);
    case Operation::asin:
    case Operation::acos:
    case Operation::atan: return arc(operation, a);
    case Operation::exp: return node({.kind = Kind::exponential, .a = a});
    case Operation::log: return integral(operation, a, a, 1);
    case Operation::log10:
      return integral(operation, a, binary(Kind::multiply, constant(log(Interval(10))), a), 1);
    case Operation::sqrt: return node({.kind = Kind::root, .a = a});
    case Operation::atan2:
      return node({.kind = Kind::angle,
                   .a = a,
                   .b = b,
                   .c = binary(Kind::add, node({.kind = Kind::square, .a = a}),
                               node({.kind = Kind::square, .a = b}))});
    case Operation::abs: return node({.kind = Kind::absolute, .function = operation, .a = a});
    case Operation::min: return node({.kind = Kind::smaller, .function = operation, .a = a, .b = b});
    case Operation::max: return node({.kind = Kind::larger, .function = operation, .a = a, .b = b});
    default: return rare(operation, a, b);
  }
}

int IntervalSeries::Builder::input(const SeriesInput& input) {
  switch (input.kind) {
    case SeriesInput::Kind::time: return node({.kind = Kind::time});
    case SeriesInput::Kind::state: return state(input.state);
    case SeriesInput::Kind::implicit: return implicit(input.state);
    case SeriesInput::Kind::constant: return constant(input.value);
    default: return constant(Interval::none());
  }
}

int IntervalSeries::Builder::line(const Instruction& line) {
  switch (line.operation) {
    case Operation::constant: return constant(Interval(line.value));
    case Operation::pi: return constant(ScalarTraits<Interval>::pi());
    case Operation::input: return input(flow_.inputs[static_cast<std::size_t>(line.a)]);
    default:
      return function(line.operation, lines_[static_cast<std::size_t>(line.a)],
                      line.b < 0 ? -1 : lines_[static_cast<std::size_t>(line.b)]);
  }
}

void IntervalSeries::Builder::run() {
  for (int j = 0; j < flow_.states() + flow_.implicit.count(); ++j)
    node({.kind = Kind::state});  // states are the first nodes, then what is implicit
  std::vector<int> roots = flow_.rates;
  for (const auto& lines : {flow_.outputs, flow_.implicit.equations, flow_.implicit.rates})
    roots.insert(roots.end(), lines.begin(), lines.end());
  const std::vector<bool> needed = needed_lines(flow_.tape, roots);
  for (int k = 0; k < flow_.tape.size(); ++k)
    lines_.push_back(needed[static_cast<std::size_t>(k)] ? line(flow_.tape[k]) : -1);
}

/// The dependences of every node on the states: those of its operands, of a state also those of its
/// rate, which may stand behind it, of an implicit unknown those of its equations.
void IntervalSeries::Strands::find_dependences() {
  const auto count = static_cast<int>(series_.nodes_.size()), n = series_.states();
  depends_.assign(static_cast<std::size_t>(count), std::vector<bool>(static_cast<std::size_t>(n)));
  for (int j = 0; j < n; ++j)
    depends_[static_cast<std::size_t>(series_.state_nodes_[static_cast<std::size_t>(j)])]
            [static_cast<std::size_t>(j)] = true;
  do {
    is_changed_ = false;
    for (int j = 0; j < n + series_.implicit_count(); ++j)
      include(j, series_.rate_nodes_[static_cast<std::size_t>(j)]);
    for (int i = 0; i < series_.implicit_count(); ++i)
      for (const int equation : series_.equation_nodes_) include(n + i, equation);
    for (int node = 0; node < count; ++node) include_operands(node);
  } while (is_changed_);
}

void IntervalSeries::Strands::include_operands(int node) {
  const Node& here = series_.nodes_[static_cast<std::size_t>(node)];
  if (here.kind == Kind::sign) return;  // constant wherever it has a series
  for (const int operand : {here.a, here.b, here.c}) include(node, operand);
  if (here.kind == Kind::partner) include(node, node - 1);
}

/// The node depends on what the other one depends on.
void IntervalSeries::Strands::include(int node, int other) {
  if (other < 0) return;
  for (std::size_t j = 0; j < static_cast<std::size_t>(series_.states()); ++j) {
    if (!depends_[static_cast<std::size_t>(other)][j]) continue;
    is_changed_ = is_changed_ || !depends_[static_cast<std::size_t>(node)][j];
    depends_[static_cast<std::size_t>(node)][j] = true;
  }
}

/// Is it a state whose rate is the number 0?
bool IntervalSeries::Strands::rests(int node) const {
  if (node >= series_.states()) return false;
  const Node& rate = series_.nodes_[static_cast<std::size_t>(series_.rate_nodes_[static_cast<std::size_t>(node)])];
  return rate.kind == Kind::constant && rate.value.is_zero();
}

/// Operands stand before their nodes.
void IntervalSeries::Strands::find_constants() {
  std::vector<bool>& varies = series_.varies_;
  for (const Node& here : series_.nodes_) {
    bool is_varying = here.kind == Kind::time || (here.kind == Kind::state && !rests(static_cast<int>(varies.size()))) ||
                      (here.kind == Kind::partner && varies.back());
    for (const int operand : {here.a, here.b, here.c})
      is_varying = is_varying || (operand >= 0 && varies[static_cast<std::size_t>(operand)]);
    varies.push_back(is_varying);
  }
}

/// Nodes of which recurrences use k times coefficient k.
std::vector<bool> IntervalSeries::Strands::weighted_nodes() const {
  std::vector<bool> weighted(series_.nodes_.size());
  const auto mark = [&](int node) { weighted[static_cast<std::size_t>(node)] = true; };
  for (int node = 0; node < static_cast<int>(weighted.size()); ++node) {
    const Node& here = series_.nodes_[static_cast<std::size_t>(node)];
    switch (here.kind) {
      case Kind::exponential:
      case Kind::pair:
      case Kind::tangent: mark(here.a); break;
      case Kind::integral: mark(node); break;
      case Kind::power:
        mark(here.a);
        mark(node);
        break;
      case Kind::angle:
        mark(here.a);
        mark(here.b);
        mark(node);
        break;
      default: break;
    }
  }
  return weighted;
}

void IntervalSeries::Strands::run() {
  find_dependences();
  find_constants();
  const auto count = static_cast<int>(series_.nodes_.size()), n = series_.states();
  std::vector<Strand>& strands = series_.strands_;
  for (int node = 0; node < count; ++node) {
    series_.first_strands_.push_back(static_cast<int>(strands.size()));
    strands.push_back({});
    for (int j = 0; j < n; ++j) {
      const bool depends = depends_[static_cast<std::size_t>(node)][static_cast<std::size_t>(j)];
      series_.derivative_strands_.push_back(depends ? static_cast<int>(strands.size()) : -1);
      if (depends) strands.push_back({.direction = j});
    }
  }
  series_.first_strands_.push_back(static_cast<int>(strands.size()));
  const std::vector<bool> weighted = weighted_nodes();
  for (int node = 0; node < count; ++node) {
    if (!weighted[static_cast<std::size_t>(node)]) continue;
    for (int s = series_.first_strand(node); s < series_.first_strand(node + 1); ++s) {
      strands[static_cast<std::size_t>(s)].weighted = static_cast<int>(strands.size());
      strands.push_back({});
    }
  }
}

IntervalSeries::IntervalSeries(const Flow& flow) {
  Builder builder(flow, nodes_);
  builder.run();
  for (int j = 0; j < flow.states(); ++j) {
    state_nodes_.push_back(j);
    rate_nodes_.push_back(builder.node_of(flow.rates[static_cast<std::size_t>(j)]));
  }
  for (const int line : flow.implicit.rates) rate_nodes_.push_back(builder.node_of(line));
  for (const int line : flow.implicit.equations) equation_nodes_.push_back(builder.node_of(line));
  for (const int line : flow.outputs) output_nodes_.push_back(builder.node_of(line));
  if (!flow.implicit.empty()) implicit_ = std::make_shared<ImplicitFunction>(flow);
  Strands(*this).run();
}

}  // namespace perp::enclosure
