#include <algorithm>
#include <numeric>
#include <random>

#include <perp/core/base/interruption.hpp>
#include <perp/core/expression/dependent_lines.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/linear/disjoint_sets.hpp>
#include <perp/core/linear/rank_elimination.hpp>
#include <perp/schemes/located/jets/array/array_structure.hpp>

namespace perp {
namespace {

/// One derivative of a row of (F, G).
struct Entry {
  int row = 0;
  int input = 0;
  bool constant = false;
  bool on_multipliers = false;  ///< depends on some λ
  bool on_rates = false;        ///< depends on some ẋ
  double value = 0;             ///< of a constant, else 0
};

std::vector<Entry> entries_of(const Dcs& system) {
  std::vector<int> lines = system.F;
  lines.insert(lines.end(), system.G.begin(), system.G.end());
  const int inputs = system.parameter_input(0);
  Tape tape = bind_inputs(system.tape, inputs, system.parameters, lines);
  const auto derivatives = differentiate(tape, lines, 1, inputs);
  const std::vector<char> any = dependent_lines(tape, 0, inputs);
  const std::vector<char> multipliers = dependent_lines(tape, system.multiplier_input(0), inputs);
  const std::vector<char> rates = dependent_lines(tape, system.derivative_input(0), system.variable_input(0));
  std::vector<Entry> entries;
  for (const Derivative& d : derivatives) {
    const auto line = static_cast<std::size_t>(d.line);
    const double value = tape[d.line].operation == Operation::constant ? tape[d.line].value : 0;
    entries.push_back({d.output, d.input, any[line] == 0, multipliers[line] != 0, rates[line] != 0, value});
  }
  return entries;
}

/// Is it a derivative by a variable that has a given value?
bool is_by_given(const Entry& entry, int n, const std::vector<char>& given) {
  const int j = entry.input - 1 - n;
  return j >= 0 && j < n && given[static_cast<std::size_t>(j)];
}

/// Is an entry a derivative by a rate that depends on rates?
auto is_of_rates(int n) {
  return [n](const Entry& entry) { return entry.input <= n && entry.on_rates; };
}

/// Is any equation of F without rates not linear with constant coefficients?
bool has_curved_constraints(int n, const std::vector<Entry>& entries) {
  std::vector<char> has_rates(static_cast<std::size_t>(n), 0);
  for (const Entry& entry : entries)
    if (entry.row < n && entry.input <= n) has_rates[static_cast<std::size_t>(entry.row)] = 1;
  return std::ranges::any_of(entries, [&](const Entry& entry) {
    return entry.row < n && has_rates[static_cast<std::size_t>(entry.row)] == 0 && !entry.constant;
  });
}

/// Which variables have a given value at t, whatever the mode: those whose rates the equations
/// hold, if these rates are independent of each other (entries that vary count as numbers without
/// any relation); otherwise none can be told by form.
std::vector<char> given_variables(const Dcs& system, const std::vector<Entry>& entries) {
  std::vector<char> given(static_cast<std::size_t>(system.n()), 0);
  Matrix rates = Matrix::Zero(system.n() + system.m(), system.n());
  std::mt19937 random(1);
  for (const Entry& entry : entries) {
    if (entry.input > system.n()) continue;
    given[static_cast<std::size_t>(entry.input - 1)] = 1;
    const double any = 1 + static_cast<double>(random()) / static_cast<double>(random.max());
    rates(entry.row, entry.input - 1) = entry.value != 0 ? entry.value : any;
  }
  RankElimination elimination;
  const Vector row_sizes = rates.cwiseAbs().rowwise().sum();
  elimination.factorise(rates, Vector::Ones(system.n()), row_sizes, 1e-11);
  const auto count = std::count(given.begin(), given.end(), 1);
  if (elimination.rank() < count) std::fill(given.begin(), given.end(), 0);
  return given;
}

/// Of each value the number of different ones that come before it first.
std::vector<int> numbered(const std::vector<int>& values) {
  std::vector<int> numbers, seen;
  for (const int value : values) {
    const auto known = std::find(seen.begin(), seen.end(), value);
    numbers.push_back(static_cast<int>(known - seen.begin()));
    if (known == seen.end()) seen.push_back(value);
  }
  return numbers;
}

/// The parts of variables, then laws, that rows connect.
std::vector<int> parts_of(const Dcs& system, const std::vector<Entry>& entries) {
  const int n = system.n(), m = system.m(), first_row = n + m;
  linear::DisjointSets parts(2 * (n + m));  // variables, laws, rows
  for (const Entry& entry : entries) {
    const int unknown = entry.input <= n ? entry.input - 1 : entry.input - 1 - n;
    parts.join(unknown, first_row + entry.row);
  }
  for (int i = 0; i < m; ++i) parts.join(n + i, first_row + n + i);
  std::vector<int> roots;
  for (int k = 0; k < n + m; ++k) roots.push_back(parts.root(k));
  return numbered(roots);
}

/// The pattern of the array: which unknowns each row holds. Unknowns and rows are taken out that
/// cannot carry the influence of one law to another.
class Pattern {
 public:
  Pattern(const Dcs& system, const std::vector<Entry>& entries, const std::vector<char>& given,
          int levels)
      : n_(system.n()), m_(system.m()), levels_(levels) {
    rows_.resize(static_cast<std::size_t>((n_ + m_) * (levels + 1)));
    columns_.resize(static_cast<std::size_t>((n_ + m_) * (levels + 2)));
    for (const Entry& entry : entries)
      for (int k = 0; k <= levels; ++k)
        for (int j = entry.constant ? k : 0; j <= k; ++j) {
          const bool known = j == 0 && is_by_given(entry, n_, given);
          if (!known) put(k * (n_ + m_) + entry.row, column(entry.input, j));
        }
    reduce();
  }

  /// Laws that are connected by what is left.
  [[nodiscard]] std::vector<int> groups() const {
    std::vector<int> parent(rows_.size() + columns_.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](int k) {
      while (parent[static_cast<std::size_t>(k)] != k) k = parent[static_cast<std::size_t>(k)];
      return k;
    };
    const auto join = [&](int a, int b) { parent[static_cast<std::size_t>(root(a))] = root(b); };
    const auto first_column = static_cast<int>(rows_.size());
    for (int r = 0; r < first_column; ++r)
      for (const int c : rows_[static_cast<std::size_t>(r)]) join(r, first_column + c);
    for (int i = 0; i < m_; ++i)
      for (int k = 0; k <= levels_; ++k) {
        join(law_row(k, i), law_row(0, i));
        if (!columns_[static_cast<std::size_t>(multiplier(k, i))].empty())
          join(first_column + multiplier(k, i), law_row(0, i));
      }
    std::vector<int> roots;
    for (int i = 0; i < m_; ++i) roots.push_back(root(law_row(0, i)));
    return numbered(roots);
  }

 private:
  [[nodiscard]] int multiplier(int k, int i) const { return k * (n_ + m_) + n_ + i; }
  [[nodiscard]] int law_row(int k, int i) const { return k * (n_ + m_) + n_ + i; }
  [[nodiscard]] int column(int input, int j) const {
    if (input <= n_) return (j + 1) * (n_ + m_) + input - 1;
    if (input <= 2 * n_) return j * (n_ + m_) + input - 1 - n_;
    return multiplier(j, input - 1 - 2 * n_);
  }

  void put(int row, int column) {
    auto& list = rows_[static_cast<std::size_t>(row)];
    if (std::find(list.begin(), list.end(), column) != list.end()) return;
    list.push_back(column);
    columns_[static_cast<std::size_t>(column)].push_back(row);
  }
  void remove_row(int row) {
    for (const int c : rows_[static_cast<std::size_t>(row)])
      std::erase(columns_[static_cast<std::size_t>(c)], row);
    rows_[static_cast<std::size_t>(row)].clear();
  }
  void remove_column(int column) {
    for (const int r : columns_[static_cast<std::size_t>(column)])
      std::erase(rows_[static_cast<std::size_t>(r)], column);
    columns_[static_cast<std::size_t>(column)].clear();
  }

  /// A row of F with one unknown gives it as data, whatever the laws do; a variable in one row only
  /// is what that row is for, and binds nothing else.
  void reduce() {
    for (bool changed = true; changed;) {
      check_interruption();
      changed = false;
      for (int r = 0; r < static_cast<int>(rows_.size()); ++r) {
        if (r % (n_ + m_) >= n_) continue;
        const auto& row = rows_[static_cast<std::size_t>(r)];
        if (row.size() == 1) {
          remove_column(row.front());
          changed = true;
          continue;
        }
        const bool defines = std::any_of(row.begin(), row.end(), [&](int c) {
          return c % (n_ + m_) < n_ && columns_[static_cast<std::size_t>(c)].size() == 1;
        });
        if (defines) remove_row(r);
        changed = changed || defines;
      }
    }
  }

  int n_, m_, levels_;
  std::vector<std::vector<int>> rows_;     // unknowns of each
  std::vector<std::vector<int>> columns_;  // rows of each; x_[k] and λ_[k] of level k side by side
};

/// Adds what an entry of its row says.
void read_argument(const Entry& entry, int n, const std::vector<char>& given, ArgumentForm& argument) {
  const int law = entry.row - n, multiplier = entry.input - 1 - 2 * n;
  if (multiplier < 0)
    argument.is_of_given = argument.is_of_given && is_by_given(entry, n, given);
  else if (multiplier != law)
    argument.others.push_back(multiplier);
  else if (entry.constant)
    argument.own = entry.value;
  else
    argument.is_of_given = false;
}

/// Adds what a row of F says, which must hold one rate alone.
void read_rate(const std::vector<Entry>& entries, int row, int n, const std::vector<char>& given, RateForm& rate) {
  int rates = 0;
  for (const Entry& entry : entries) {
    if (entry.row != row || entry.input < 1) continue;
    if (entry.input > 2 * n)
      rate.reads_multipliers = true;
    else if (entry.input > n)
      rate.reads_states = true, rate.is_known = rate.is_known && is_by_given(entry, n, given);
    else
      ++rates;
  }
  rate.is_known = rate.is_known && rates == 1;
}

/// Of a law with constant derivatives by variables that have a given value.
RateForm rate_form(const std::vector<Entry>& entries, int law, int n, const std::vector<char>& given) {
  RateForm rate{true};
  std::vector<int> inputs;  // the rates of what it reads
  for (const Entry& w : entries) {
    if (w.row != n + law) continue;
    rate.is_known = rate.is_known && w.constant && is_by_given(w, n, given);
    inputs.push_back(w.input - n);
  }
  if (!rate.is_known) return rate;
  for (const Entry& entry : entries)
    if (entry.row < n && std::ranges::find(inputs, entry.input) != inputs.end()) read_rate(entries, entry.row, n, given, rate);
  return rate;
}

}  // namespace

ArrayStructure array_structure(const Dcs& system, int levels) {
  const std::vector<Entry> entries = entries_of(system);
  const int n = system.n();
  const std::vector<char> given = given_variables(system, entries);
  ArrayStructure structure;
  structure.nonlinear_in_multipliers = std::ranges::any_of(
      entries, [&](const Entry& entry) { return entry.on_multipliers && !is_by_given(entry, n, given); });
  structure.has_curved_constraints = has_curved_constraints(n, entries);
  structure.nonlinear_in_rates = std::ranges::any_of(entries, is_of_rates(n));
  structure.arguments.resize(system.laws.size());
  structure.w_is_of_time.assign(system.laws.size(), 1);
  for (const Entry& entry : entries) {
    if (entry.row < n) continue;
    structure.w_is_of_time[static_cast<std::size_t>(entry.row - n)] = 0;
    read_argument(entry, n, given, structure.arguments[static_cast<std::size_t>(entry.row - n)]);
  }
  for (const ArgumentForm& argument : structure.arguments)
    structure.w_is_given.push_back(argument.is_of_given && argument.own == 0 && argument.others.empty());
  for (int i = 0; i < system.m(); ++i) structure.rates.push_back(rate_form(entries, i, n, given));
  structure.parts = parts_of(system, entries);
  structure.groups = Pattern(system, entries, given, levels).groups();
  return structure;
}

}  // namespace perp
