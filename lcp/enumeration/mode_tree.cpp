#include <algorithm>
#include <cmath>
#include <numeric>

#include <perp/core/base/interruption.hpp>
#include <perp/lcp/enumeration/mode_tree.hpp>
#include <perp/lcp/polyhedra/mode_polyhedron.hpp>

namespace perp {
namespace {

// Bounds on rounding in a row, beside the size of all that was added up in it. A coefficient below
// `rounding` is 0; one below `doubtful` is not used as a pivot: the node is then left uncut and
// without that equation, and the leaf decides.
constexpr double tree_rounding = 0x1p-48;
constexpr double doubtful = 1e-11;

/// What a value may miss its range by: the problem is equilibrated, 1 the size of its entries.
double allowance(double largest_term, double size) {
  return solution_tolerance * std::max(1.0, largest_term) + 4 * tree_rounding * size;
}

bool unbounded(const Range& range) { return range.lower == -inf && range.upper == inf; }

bool contains_zero(const Range& range) { return range.lower <= 0 && range.upper >= 0; }

/// A row of the root: its coefficients, its constant and the largest size of their sums.
template <class Sums>
void write_row(double* row, int columns, const Sums& sum_of) {
  double size = 0;
  for (int k = 0; k <= columns; ++k) {
    const Sum<long double> sum = sum_of(k);
    row[k] = static_cast<double>(sum.rounded());
    size = std::max(size, static_cast<double>(sum.size));
  }
  row[columns + 1] = size;
}

struct Coefficient {
  int column = -1;  ///< none
  double size = 0;
};

/// The largest coefficient of an equation; no column where all are 0.
Coefficient largest_coefficient(const std::vector<double>& equation, int columns) {
  Coefficient largest;
  for (int j = 0; j < columns; ++j) {
    const double size = std::abs(equation[static_cast<std::size_t>(j)]);
    if (size > largest.size) largest = {j, size};
  }
  return largest;
}

}  // namespace

ModeTree::ModeTree(const Mlcp& equilibrated) : problem_(equilibrated), m_(equilibrated.m()) {
  for (const Law& law : equilibrated.laws) laws_.push_back(choices_of(law));
  order_.resize(static_cast<std::size_t>(m_));
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_partition(order_.begin(), order_.end(), [&](int law) {
    return laws_[static_cast<std::size_t>(law)].all.size() == 1;
  });
  decided_.assign(static_cast<std::size_t>(m_), false);
  mode_.assign(static_cast<std::size_t>(m_), 0);
  levels_.resize(static_cast<std::size_t>(m_ + 1));
  equation_.resize(static_cast<std::size_t>(equilibrated.p() + m_ + 2));
  consistent_ = build_root(equilibrated);
}

void ModeTree::Level::resize(int new_rows, int new_columns) {
  rows = new_rows;
  columns = new_columns;
  stride = (columns + 2 + 3) / 4 * 4;
  const auto count = static_cast<std::size_t>(rows);
  if (data.size() < count * static_cast<std::size_t>(stride))
    data.resize(count * static_cast<std::size_t>(stride));
  if (quantity.size() < count) {
    quantity.resize(count);
    range.resize(count);
  }
  if (owner.size() < static_cast<std::size_t>(columns)) {
    owner.resize(static_cast<std::size_t>(columns));
    column_range.resize(static_cast<std::size_t>(columns));
  }
}

double* ModeTree::Level::append(int of_quantity, const Range& of_row) {
  quantity[static_cast<std::size_t>(rows)] = of_quantity;
  range[static_cast<std::size_t>(rows)] = of_row;
  return row(rows++);
}

/// Solves the equations for as many u as possible; what stays free are the parameters of the root.
bool ModeTree::build_root(const Mlcp& problem) {
  using Real = long double;
  const int p = problem.p(), n = p + m_;
  const AlgebraicProblem<Real> rows(problem);
  const auto space = solve_equations<Real>({rows.rows.begin(), rows.rows.begin() + p}, n, p);
  if (!space) {
    const AlgebraicProblem<Rational> exact(problem);
    usable_ = !solve_equations<Rational>({exact.rows.begin(), exact.rows.begin() + p}, n, p);
    return false;
  }
  Level& root = levels_[0];
  const int columns = static_cast<int>(space->free.size());
  root.resize(2 * m_, columns);
  root.rows = 0;
  take_parameters(root, space->free);
  const auto point = [&](int k) -> const std::vector<Real>& {
    return k < columns ? space->directions[static_cast<std::size_t>(k)] : space->origin;
  };
  for (int i = 0; i < m_; ++i) {
    const Choices& law = laws_[static_cast<std::size_t>(i)];
    write_row(root.append(i, law.w), columns,
              [&](int k) { return output(rows, i, point(k), k < columns); });
    const auto unknown = static_cast<std::size_t>(p + i);
    if (free_[unknown]) continue;
    write_row(root.append(m_ + i, law.lambda), columns, [&](int k) {
      Sum<Real> sum;
      sum.add(point(k)[unknown], 1);
      return sum;
    });
  }
  root.zero_inside =
      std::all_of(root.column_range.begin(), root.column_range.begin() + columns, contains_zero);
  for (int r = 0; r < root.rows; ++r)
    if (proves_excluded(root, r)) return false;
  return true;
}

/// The parameters of the root: each of these unknowns, with the hull of its law's branches.
void ModeTree::take_parameters(Level& root, const std::vector<int>& unknowns) {
  const int p = problem_.p();
  free_.assign(static_cast<std::size_t>(p + m_), false);
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    free_[static_cast<std::size_t>(unknowns[k])] = true;
    const int law = unknowns[k] - p;
    root.owner[k] = law;
    root.column_range[k] = law >= 0 ? laws_[static_cast<std::size_t>(law)].lambda : Range{};
  }
}

bool ModeTree::search(long budget, const std::function<bool(const Mode&)>& leaf) {
  budget_ = budget;
  path_.clear();
  nodes_ = charged_ = 0;
  explored_ = 0;
  const bool finished = !consistent_ || descend(0, 1, leaf);
  if (finished) explored_ = 1;
  return finished;
}

/// The subtree of the present decisions, which is the given share of the whole.
bool ModeTree::descend(int depth, double share, const std::function<bool(const Mode&)>& leaf) {
  if (depth == m_) {
    explored_ += share;
    return leaf(mode_);
  }
  const int law = next_law(levels_[static_cast<std::size_t>(depth)]);
  Level& from = levels_[static_cast<std::size_t>(depth)];
  Level& to = levels_[static_cast<std::size_t>(depth + 1)];
  const std::vector<Choice>& choices = laws_[static_cast<std::size_t>(law)].all;
  decided_[static_cast<std::size_t>(law)] = true;
  const double part = share / static_cast<double>(choices.size());
  for (std::size_t branch = 0; branch < choices.size(); ++branch) {
    check_interruption();
    if (nodes_ + charged_ >= budget_) return false;
    ++nodes_;
    mode_[static_cast<std::size_t>(law)] = static_cast<int>(branch);
    if (!decide(from, to, law, static_cast<int>(branch)) || is_empty(to, m_ - depth - 1))
      explored_ += part;
    else if (!descend(depth + 1, part, leaf))
      return false;
    path_.resize(static_cast<std::size_t>(depth));
  }
  decided_[static_cast<std::size_t>(law)] = false;
  return true;
}

/// Writes the tableau of the child that takes this branch. False if the child is cut.
bool ModeTree::decide(const Level& from, Level& to, int law, int branch) {
  const Choice& choice =
      laws_[static_cast<std::size_t>(law)].all[static_cast<std::size_t>(branch)];
  write_equation(from, law, choice);
  int pivot = pivot_column(from, law, choice);
  if (pivot == contradiction && proves({.quantity = -1, .equation = {law, branch, -1}}))
    return false;
  pivot = std::max(pivot, redundant);
  int unknown = -1, columns = from.columns;
  if (pivot >= 0) {
    unknown = problem_.p() + from.owner[static_cast<std::size_t>(pivot)];
    normalise_equation(from.columns, pivot);
    --columns;
  }
  path_.push_back({law, branch, unknown});
  to.resize(from.rows + 1, columns);
  take_columns(from, to, pivot, law, choice);
  if (!take_rows(from, to, pivot, law, choice)) return false;
  if (pivot < 0 || !append_pivot_row(from, to, pivot, law, choice)) return true;
  return !proves_excluded(to, to.rows - 1);
}

/// The rows that the branch leaves, those of its law with what is left to watch. False if one of them
/// cuts the child.
bool ModeTree::take_rows(const Level& from, Level& to, int pivot, int law, const Choice& choice) {
  to.rows = 0;
  int kept = m_ + law, dropped = law;
  if (choice.kind == Kind::lambda_fixed) std::swap(kept, dropped);
  for (int r = 0; r < from.rows; ++r) {
    const int quantity = from.quantity[static_cast<std::size_t>(r)];
    if (quantity == dropped || (quantity == kept && unbounded(choice.watched))) continue;
    const Range& range =
        quantity == kept ? choice.watched : from.range[static_cast<std::size_t>(r)];
    substitute(from.row(r), to.append(quantity, range), from.columns, pivot);
    if (proves_excluded(to, to.rows - 1)) return false;
  }
  return true;
}

/// The equation of a branch in the present parameters.
void ModeTree::write_equation(const Level& from, int law, const Choice& choice) {
  const int columns = from.columns;
  std::fill_n(equation_.begin(), columns + 2, 0.0);
  const auto add = [&](double factor, int quantity) {
    const int r = row_of(from, quantity);
    double& size = equation_[static_cast<std::size_t>(columns + 1)];
    if (r >= 0) {
      const double* row = from.row(r);
      for (int j = 0; j <= columns; ++j) equation_[static_cast<std::size_t>(j)] += factor * row[j];
      size = std::max(size, std::abs(factor) * row[columns + 1]);
    } else {
      equation_[static_cast<std::size_t>(column_of(from, law))] += factor;
      size = std::max(size, std::abs(factor));
    }
  };
  double constant = choice.value;
  if (choice.kind == Kind::lambda_fixed) {
    add(1, m_ + law);
  } else if (choice.kind == Kind::w_fixed) {
    add(1, law);
  } else {
    add(choice.w_factor, law);
    add(choice.lambda_factor, m_ + law);
    constant = choice.constant;
  }
  equation_[static_cast<std::size_t>(columns)] -= constant;
  double& size = equation_[static_cast<std::size_t>(columns + 1)];
  size = std::max(size, std::abs(constant));
}

/// The parameter to eliminate: that of the largest coefficient, or the law's own λ if its
/// coefficient is not much smaller. Otherwise `redundant` (nothing to eliminate) or
/// `contradiction`.
int ModeTree::pivot_column(const Level& from, int law, const Choice& choice) const {
  const int own = column_of(from, law);
  if (own >= 0 && choice.kind == Kind::lambda_fixed) return own;
  const auto [pivot, largest] = largest_coefficient(equation_, from.columns);
  const double constant = std::abs(equation_[static_cast<std::size_t>(from.columns)]);
  const double size = equation_[static_cast<std::size_t>(from.columns + 1)];
  if (largest <= tree_rounding * size) return constant > allowance(0, size) ? contradiction : redundant;
  if (largest <= doubtful * size) return redundant;
  if (own >= 0 && std::abs(equation_[static_cast<std::size_t>(own)]) >= 0.1 * largest) return own;
  return pivot;
}

/// Divides by the pivot and moves it to the end; the last coefficient takes its place.
void ModeTree::normalise_equation(int columns, int pivot) {
  const auto last = static_cast<std::size_t>(columns - 1);
  std::swap(equation_[static_cast<std::size_t>(pivot)], equation_[last]);
  const double value = equation_[last];
  for (int j = 0; j <= columns; ++j) equation_[static_cast<std::size_t>(j)] /= value;
  equation_[static_cast<std::size_t>(columns + 1)] /= std::abs(value);
}

/// The child's parameters: the last one takes the place of the eliminated one.
void ModeTree::take_columns(const Level& from, Level& to, int pivot, int law,
                            const Choice& choice) const {
  to.zero_inside = true;
  for (int j = 0; j < to.columns; ++j) {
    const auto source = static_cast<std::size_t>(j == pivot ? from.columns - 1 : j);
    Range range = from.column_range[source];
    if (from.owner[source] == law) range = choice.watched;
    to.owner[static_cast<std::size_t>(j)] = from.owner[source];
    to.column_range[static_cast<std::size_t>(j)] = range;
    to.zero_inside = to.zero_inside && contains_zero(range);
  }
}

/// A row with the pivot's parameter replaced by what the equation says of it.
void ModeTree::substitute(const double* row, double* result, int columns, int pivot) const {
  if (pivot < 0) {
    std::copy_n(row, columns + 2, result);
    return;
  }
  const double* f = equation_.data();
  const double factor = row[pivot];
  const int last = columns - 1;
  if (factor == 0) {
    std::copy_n(row, last, result);
    if (pivot < last) result[pivot] = row[last];
    result[last] = row[columns];
    result[columns] = row[columns + 1];
    return;
  }
  for (int j = 0; j < last; ++j) result[j] = row[j] - factor * f[j];
  if (pivot < last) result[pivot] = row[last] - factor * f[pivot];
  result[last] = row[columns] - factor * f[columns];
  result[columns] = std::max(row[columns + 1], std::abs(factor) * f[columns + 1]);
}

/// The row of the eliminated λ_k where its range still has to be watched.
bool ModeTree::append_pivot_row(const Level& from, Level& to, int pivot, int law,
                                const Choice& choice) const {
  const int k = from.owner[static_cast<std::size_t>(pivot)];
  if (k < 0 || (k == law && choice.kind == Kind::lambda_fixed)) return false;
  const Range range =
      k == law ? choice.watched : from.column_range[static_cast<std::size_t>(pivot)];
  if (decided_[static_cast<std::size_t>(k)] && unbounded(range)) return false;
  double* row = to.append(m_ + k, range);
  const int last = from.columns - 1;
  for (int j = 0; j < last; ++j) row[j] = -equation_[static_cast<std::size_t>(j)];
  row[last] = -equation_[static_cast<std::size_t>(from.columns)];
  row[last + 1] = equation_[static_cast<std::size_t>(from.columns + 1)];
  return true;
}

/// Does the interval of the row over the ranges of the parameters miss the range it must have?
bool ModeTree::excluded(const Level& level, int r) {
  const double* row = level.row(r);
  const Range& range = level.range[static_cast<std::size_t>(r)];
  const double constant = row[level.columns], size = row[level.columns + 1];
  const double slack = allowance(std::abs(constant), size);
  const bool below = constant<range.lower - slack, above = constant> range.upper + slack;
  const auto is_beyond_reach = [&](bool misses, double sign, double bound) {
    return (misses || !level.zero_inside) && bound > -inf && stays_below(level, r, sign, bound);
  };
  return is_beyond_reach(below, 1, range.lower) || is_beyond_reach(above, -1, -range.upper);
}

/// Is sign·row ≥ bound impossible over the ranges of the parameters?
bool ModeTree::stays_below(const Level& level, int r, double sign, double bound) {
  const double* row = level.row(r);
  const double constant = row[level.columns], size = row[level.columns + 1];
  double largest = sign * constant, term = std::abs(constant);
  for (int j = 0; j < level.columns; ++j) {
    const double coefficient = sign * row[j];
    if (coefficient == 0) continue;
    const Range& of_column = level.column_range[static_cast<std::size_t>(j)];
    const double step = coefficient * (coefficient > 0 ? of_column.upper : of_column.lower);
    if (step == inf) return false;
    largest += step;
    term = std::max(term, std::abs(step));
  }
  return largest < bound - allowance(term, size);
}

int ModeTree::row_of(const Level& level, int quantity) const {
  for (int r = 0; r < level.rows; ++r)
    if (level.quantity[static_cast<std::size_t>(r)] == quantity) return r;
  return -1;
}

int ModeTree::column_of(const Level& level, int law) const {
  for (int j = 0; j < level.columns; ++j)
    if (level.owner[static_cast<std::size_t>(j)] == law) return j;
  return -1;
}

}  // namespace perp
