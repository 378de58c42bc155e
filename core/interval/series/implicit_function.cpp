// Unknowns of implicit equations over boxes by Newton's operator; called by the series of enclosures.
#include <algorithm>
#include <cmath>

#include <perp/core/expression/differentiate.hpp>
#include <perp/core/interval/series/implicit_function.hpp>

namespace perp::enclosure {
namespace {

constexpr int inflations = 12;   ///< of a neighbourhood, until it holds its image
constexpr int contractions = 40;  ///< of a root, as long as they help
constexpr int most_steps = 60;   ///< of Newton's method in doubles
constexpr double converged = 0x1p-44;
constexpr double least_share_of_step = 0x1p-10;  ///< by which it is tried
/// Units in the last place by which a neighbourhood is larger than what it has to hold.
constexpr double rounding = 0x1p-48;

std::size_t place(int i, int j, int columns) { return static_cast<std::size_t>(i * columns + j); }

/// The row on or below the diagonal with the largest entry of column k.
template <class T, class Size>
int pivot_row(const std::vector<T>& a, int k, int n, int columns, const Size& size) {
  int pivot = k;
  for (int i = k + 1; i < n; ++i)
    if (size(a[place(i, k, columns)]) > size(a[place(pivot, k, columns)])) pivot = i;
  return pivot;
}

/// Row i −= its entry of column k times row k.
template <class T>
void reduce(std::vector<T>& a, int i, int k, int columns) {
  const T factor = a[place(i, k, columns)];
  if (factor == T(0)) return;
  for (int j = k; j < columns; ++j)
    if (!(a[place(k, j, columns)] == T(0)))
      a[place(i, j, columns)] = a[place(i, j, columns)] - factor * a[place(k, j, columns)];
}

/// Gauss and Jordan on A (n × n), right-hand sides beside it, row by row; the matrix becomes I. False: a
/// pivot may be 0.
template <class T, class Size>
bool eliminate(std::vector<T>& a, int n, int columns, const Size& size) {
  for (int k = 0; k < n; ++k) {
    const int pivot = pivot_row(a, k, n, columns, size);
    if (!(size(a[place(pivot, k, columns)]) > 0)) return false;
    for (int j = 0; j < columns && pivot != k; ++j)
      std::swap(a[place(k, j, columns)], a[place(pivot, j, columns)]);
    for (int j = columns - 1; j >= k; --j)
      a[place(k, j, columns)] = a[place(k, j, columns)] / a[place(k, k, columns)];
    for (int i = 0; i < n; ++i)
      if (i != k) reduce(a, i, k, columns);
  }
  return true;
}

Interval inflated(const Interval& a) {
  const double m = middle(a);
  const double r = 1.25 * radius(a) + rounding * std::abs(m);
  return Interval(m) + symmetric(r);
}

bool lies_in(const std::vector<Interval>& inner, const std::vector<Interval>& outer) {
  for (std::size_t i = 0; i < inner.size(); ++i)
    if (!outer[i].contains(inner[i])) return false;
  return true;
}

std::vector<Interval> middles(std::span<const Interval> x) {
  std::vector<Interval> m;
  for (const Interval& value : x) m.emplace_back(middle(value));
  return m;
}

}  // namespace

ImplicitFunction::ImplicitFunction(const Flow& flow)
    : states_(flow.states()),
      count_(flow.implicit.count()),
      known_(flow.implicit.known),
      still_(still(flow)),
      series_(still_),
      values_(static_cast<std::size_t>(count_)),
      slopes_(static_cast<std::size_t>(count_ * states_)) {}

/// h and its derivatives as outputs; time, states and unknowns are states at rest.
Flow ImplicitFunction::still(const Flow& flow) {
  Flow still;
  still.tape = flow.tape;
  still.inputs = flow.inputs;
  still.outputs = flow.implicit.equations;
  std::vector<int> columns(flow.inputs.size(), -1);
  for (std::size_t k = 0; k < flow.inputs.size(); ++k) {
    using Kind = SeriesInput::Kind;
    const SeriesInput& input = flow.inputs[k];
    if (input.kind == Kind::time) columns[k] = 0;
    if (input.kind == Kind::state) columns[k] = 1 + input.state;
    if (input.kind == Kind::implicit) columns[k] = 1 + states_ + input.state;
    if (columns[k] >= 0) still.inputs[k] = {Kind::state, columns[k], {}};
  }
  const int width = 1 + states_ + count_;
  places_.assign(static_cast<std::size_t>(count_ * width), -1);
  for (const Derivative& derivative :
       perp::differentiate(still.tape, flow.implicit.equations, 0,
                           static_cast<int>(flow.inputs.size()))) {
    const int column = columns[static_cast<std::size_t>(derivative.input)];
    if (column < 0) continue;
    places_[place(derivative.output, column, width)] = static_cast<int>(still.outputs.size());
    still.outputs.push_back(derivative.line);
  }
  still.rates.assign(static_cast<std::size_t>(width), still.tape.constant(0));
  return still;
}

bool ImplicitFunction::evaluate(const Interval& t, std::span<const Interval> x,
                                std::span<const Interval> z, bool rows_alone) {
  std::vector<Interval> all{t};
  all.insert(all.end(), x.begin(), x.end());
  all.insert(all.end(), z.begin(), z.end());
  return series_.compute_values(Interval(0), all, rows_alone ? count_ : series_.outputs());
}

Interval ImplicitFunction::derivative(int equation, int column) const {
  const int output = places_[place(equation, column, 1 + states_ + count_)];
  return output < 0 ? Interval(0) : series_.output(output, 0);
}

/// The inverse of the middle of J, of the box that was evaluated last.
bool ImplicitFunction::precondition(std::vector<double>& inverse) const {
  const int n = count_, columns = 2 * n;
  std::vector<double> a(static_cast<std::size_t>(n * columns), 0.0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a[place(i, j, columns)] = middle(derivative(i, 1 + states_ + j));
    a[place(i, n + i, columns)] = 1;
  }
  if (!eliminate(a, n, columns, [](double x) { return std::isfinite(x) ? std::abs(x) : 0.0; }))
    return false;
  inverse.assign(static_cast<std::size_t>(n * n), 0.0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) inverse[place(i, j, n)] = a[place(i, n + j, columns)];
  return std::all_of(inverse.begin(), inverse.end(), [](double x) { return std::isfinite(x); });
}

/// P (J | `right`), of the box that was evaluated last.
std::vector<Interval> ImplicitFunction::multiplied(const std::vector<double>& P, const std::vector<Interval>& right,
                                                   int width) const {
  const int n = count_, columns = n + width;
  std::vector<Interval> a(static_cast<std::size_t>(n * columns));
  const auto entry = [&](int k, int j) {
    return j < n ? derivative(k, 1 + states_ + j) : right[place(k, j - n, width)];
  };
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < columns; ++j)
        if (const Interval& value = entry(k, j); !value.is_zero())
          a[place(i, j, columns)] += Interval(P[place(i, k, n)]) * value;
  return a;
}

/// J⁻¹ `right` with as many columns, of the box that was evaluated last. The equations are multiplied by
/// an approximate inverse first, which changes no root.
bool ImplicitFunction::solve(const std::vector<Interval>& right, int width,
                             std::vector<Interval>& result) const {
  const int n = count_, columns = n + width;
  std::vector<double> P;
  if (!precondition(P)) return false;
  std::vector<Interval> a = multiplied(P, right, width);
  if (!eliminate(a, n, columns, [](const Interval& p) { return mignitude(p); })) return false;
  result.clear();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < width; ++j) result.push_back(a[place(i, n + j, columns)]);
  return std::all_of(result.begin(), result.end(), [](const Interval& r) { return r.is_bounded(); });
}

/// Adds ∂h/∂(t, x) ((t, x) − m), of the box that was evaluated last.
void ImplicitFunction::add_moves(const Interval& later, std::span<const Interval> x, std::span<const Interval> m,
                                 std::vector<Interval>& h) const {
  for (int i = 0; i < count_; ++i)
    for (int j = 0; j <= states_; ++j) {
      const Interval slope = derivative(i, j);
      const auto at = static_cast<std::size_t>(j - 1);
      if (!slope.is_zero()) h[static_cast<std::size_t>(i)] += slope * (j == 0 ? later : x[at] - m[at]);
    }
}

/// N(z)
bool ImplicitFunction::apply(const Interval& t, std::span<const Interval> x,
                             const std::vector<Interval>& z, std::vector<Interval>& result) {
  const std::vector<Interval> m = middles(x), centre = middles(z);
  const Interval time(middle(t));
  const bool is_point = t == time && std::ranges::equal(x, m) && z == centre;  // derivatives are looked at there, too
  if (!evaluate(time, m, centre, !is_point)) return false;
  std::vector<Interval> h;
  for (int i = 0; i < count_; ++i) h.push_back(series_.output(i, 0));
  if (!is_point && !evaluate(t, x, z)) return false;
  add_moves(t - time, x, m, h);
  if (!solve(h, 1, result)) return false;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = centre[i] - result[i];
  return true;
}

std::optional<std::vector<Interval>> ImplicitFunction::around(const Interval& t,
                                                             std::span<const Interval> x,
                                                             std::vector<Interval> z) {
  const std::vector<Interval> held = z;
  std::vector<Interval> image;
  std::vector<std::vector<Interval>> tried;
  for (Interval& value : z) value = inflated(value);
  for (int trial = 0; trial < inflations; ++trial) {
    if (std::ranges::find(tried, z) != tried.end()) return std::nullopt;  // rounding leads around
    if (!apply(t, x, z, image)) return std::nullopt;
    if (lies_in(image, z)) return image;
    tried.push_back(z);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = inflated(hull(held[i], image[i]));
  }
  return std::nullopt;
}

bool ImplicitFunction::compute(const Interval& t, std::span<const Interval> x) {
  const KnownRoot& known = *known_;
  if (known.z.empty() || known.x.size() != x.size()) return false;
  std::vector<Interval> both;
  for (std::size_t j = 0; j < x.size(); ++j) both.push_back(hull(x[j], known.x[j]));
  values_ = known.z;
  if (!known.t.contains(t) || both != known.x) {
    const auto found = around(hull(t, known.t), both, known.z);
    if (!found) return false;
    values_ = *found;
  }
  return contract(t, x) && find_slopes(t, x);
}

/// As far as Newton's operator narrows the root.
bool ImplicitFunction::contract(const Interval& t, std::span<const Interval> x) {
  std::vector<Interval> image;
  double narrowed = 0;
  for (int round = 0; round < contractions && narrowed < 0.9; ++round) {
    if (!apply(t, x, values_, image)) return false;
    narrowed = 1;
    for (std::size_t i = 0; i < image.size(); ++i) {
      const auto held = intersection(image[i], values_[i]);
      if (!held) return false;
      if (width(values_[i]) > 0) narrowed = std::min(narrowed, width(*held) / width(values_[i]));
      values_[i] = *held;
    }
  }
  return true;
}

/// J ∂z/∂x = −∂h/∂x over the box.
bool ImplicitFunction::find_slopes(const Interval& t, std::span<const Interval> x) {
  if (!evaluate(t, x, values_)) return false;
  std::vector<Interval> right;
  for (int i = 0; i < count_; ++i)
    for (int j = 0; j < states_; ++j) right.push_back(-derivative(i, 1 + j));
  return solve(right, states_, slopes_);
}

namespace {

using Numbers = std::vector<double>;

/// The largest share of the unknowns, or of their change, that a step is.
double length(const Numbers& step, const Numbers& z, const Numbers& first) {
  double most = 0;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const double size = std::max(std::abs(z[i]), std::abs(first[i]));
    if (size > 0) most = std::max(most, std::abs(step[i]) / size);
  }
  return most;
}

Numbers moved(Numbers z, double share, const Numbers& step) {
  for (std::size_t i = 0; i < z.size(); ++i) z[i] += share * step[i];
  return z;
}

}  // namespace

std::vector<Interval> ImplicitFunction::approach(const Interval& t, std::span<const Interval> x,
                                                 std::vector<double> z) {
  const std::vector<Interval> m = middles(x);
  if (approached_.to.empty() || !(approached_.t == t && approached_.x == m && approached_.z == z))
    approached_ = {t, m, z, root_from(t, m, z)};
  return {approached_.to.begin(), approached_.to.end()};
}

/// Newton's step in doubles from a place; none: there is none.
std::optional<ImplicitFunction::NewtonStep> ImplicitFunction::step_from(const Interval& t, const std::vector<Interval>& m,
                                                                       const std::vector<double>& from) {
  std::vector<Interval> image;
  if (!apply(Interval(middle(t)), m, {from.begin(), from.end()}, image)) return std::nullopt;
  NewtonStep step{{}, true};
  for (std::size_t i = 0; i < from.size(); ++i) {
    step.numbers.push_back(middle(image[i]) - from[i]);
    step.is_rounding = step.is_rounding && image[i].contains(from[i]);
  }
  return step;
}

/// Are these steps all there, and none told from 0 by rounding?
bool ImplicitFunction::are_rounding(const std::array<std::optional<NewtonStep>, 2>& steps) {
  return std::ranges::all_of(steps, [](const auto& step) { return step && step->is_rounding; });
}

/// Steps are halved until the next one would be shorter.
std::vector<double> ImplicitFunction::root_from(const Interval& t, const std::vector<Interval>& m,
                                                std::vector<double> z) {
  std::optional<NewtonStep> step = step_from(t, m, z);
  for (int round = 0; round < most_steps && step && length(step->numbers, z, step->numbers) > converged; ++round) {
    double share = 1;
    std::optional<NewtonStep> next;
    const auto is_shorter = [&](const Numbers& from) {
      next = step_from(t, m, from);
      return next && length(next->numbers, z, step->numbers) < length(step->numbers, z, step->numbers);
    };
    while (share > least_share_of_step && !is_shorter(moved(z, share, step->numbers))) share /= 2;
    if (share <= least_share_of_step && are_rounding({step, next})) break;  // that is all that is left
    z = moved(z, share, step->numbers);
    step = next;
  }
  return z;
}

/// The first `count` lines, one by one, since unknowns may be without bounds here.
std::vector<Interval> ImplicitFunction::first_lines(int count, const Interval& t, std::span<const Interval> x,
                                                    std::span<const Interval> z) const {
  std::vector<Interval> states{t}, lines;
  states.insert(states.end(), x.begin(), x.end());
  states.insert(states.end(), z.begin(), z.end());
  const auto operand = [&](int line) {
    return line < 0 ? Interval(0) : lines[static_cast<std::size_t>(line)];
  };
  lines.reserve(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    const Instruction& here = still_.tape[k];
    if (here.operation != Operation::input) {
      const bool is_number = here.operation == Operation::constant;
      lines.push_back(is_number ? Interval(here.value)
                                : apply_operation(here.operation, operand(here.a), operand(here.b)));
      continue;
    }
    const SeriesInput& input = still_.inputs[static_cast<std::size_t>(here.a)];
    if (input.kind == SeriesInput::Kind::state)
      lines.push_back(states[static_cast<std::size_t>(input.state)]);
    else
      lines.push_back(input.kind == SeriesInput::Kind::constant ? input.value : Interval::none());
  }
  return lines;
}

std::vector<Interval> ImplicitFunction::rows(const Interval& t, std::span<const Interval> x,
                                             std::span<const Interval> z) const {
  const int last = *std::max_element(still_.outputs.begin(), still_.outputs.begin() + count_);
  const std::vector<Interval> lines = first_lines(last + 1, t, x, z);
  std::vector<Interval> h;
  for (int i = 0; i < count_; ++i)
    h.push_back(lines[static_cast<std::size_t>(still_.outputs[static_cast<std::size_t>(i)])]);
  return h;
}

std::vector<Interval> ImplicitFunction::jacobian(const Interval& t, std::span<const Interval> x,
                                                 std::span<const Interval> z) const {
  const std::vector<Interval> lines = first_lines(still_.tape.size(), t, x, z);
  const auto value = [&](int output) {
    return lines[static_cast<std::size_t>(still_.outputs[static_cast<std::size_t>(output)])];
  };
  std::vector<Interval> J;
  for (int i = 0; i < count_; ++i)
    for (int j = 0; j < count_; ++j) {
      const int output = places_[place(i, 1 + states_ + j, 1 + states_ + count_)];
      J.push_back(output < 0 ? Interval(0) : value(output));
      if (!value(i).has_value()) J.back() = Interval::none();
    }
  return J;
}

}  // namespace perp::enclosure
