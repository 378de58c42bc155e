// Formulas to normalised columns: S and Phi of a model that is written as equations.
#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <optional>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>
#include <perp/models/language/multilinear/multilinear_form.hpp>

namespace perp {
namespace {

constexpr std::size_t most_columns = 1UL << 20U;

/// a + b v
struct AffineFactor {
  double a = 0, b = 0;
  friend auto operator<=>(const AffineFactor&, const AffineFactor&) = default;
};

/// A product of one factor for each signal that it holds.
using Product = std::map<int, AffineFactor>;
/// Σ c_k Π: a number is the coefficient of the product without factors.
using Sum = std::map<Product, double>;

/// Adds c times a product: numbers that factors have in common stand in c, and a product that
/// vanishes is left out.
void add_term(Sum& sum, const Product& product, double c) {
  if (c == 0) return;
  double& coefficient = sum[product];
  coefficient += c;
  if (coefficient == 0) sum.erase(product);
}

/// a + b v of one signal as a term; a number where there is none.
Sum one_factor(int signal, const AffineFactor& total) {
  if (signal < 0 || total.b == 0) return total.a == 0 ? Sum{} : Sum{{{}, total.a}};
  // The larger number of a + b v stands before the product.
  const double scale = std::abs(total.a) > std::abs(total.b) ? total.a : total.b;
  return {{{{signal, {total.a / scale, total.b / scale}}}, scale}};
}

/// Sums of a number and of terms that hold the same one signal alone are one factor: 1 - z. Else
/// they stay a sum.
Sum joined(const Sum& sum) {
  int signal = -1;
  AffineFactor total;
  for (const auto& [product, c] : sum) {
    if (product.size() > 1) return sum;
    if (product.empty()) {
      total.a += c;
      continue;
    }
    if (signal >= 0 && product.begin()->first != signal) return sum;
    signal = product.begin()->first;
    total.a += c * product.begin()->second.a;
    total.b += c * product.begin()->second.b;
  }
  return one_factor(signal, total);
}

/// Has it no term but the product without factors?
bool is_number(const Sum& sum) {
  return sum.empty() || (sum.size() == 1 && sum.begin()->first.empty());
}

/// Of a sum that is one.
double number_of(const Sum& sum) { return sum.empty() ? 0 : sum.begin()->second; }

/// -a
Sum negated(const Sum& sum) {
  Sum result;
  for (const auto& [terms, c] : sum) result[terms] = -c;
  return result;
}

/// a / number
Sum divided(const Sum& sum, double number) {
  Sum result;
  for (const auto& [terms, c] : sum) result[terms] = c / number;
  return result;
}

/// a + b or a - b
Sum sum_of(const Sum& a, const Sum& b, bool is_difference) {
  Sum result = a;
  for (const auto& [terms, c] : b) add_term(result, terms, is_difference ? -c : c);
  return joined(result);
}

/// The factors of a product as entries of a new column of S: a + b v = σ (1 − |S| + S v) with S = b/σ,
/// σ = sign(a)(|a| + |b|), and σ = b for a = 0. The product of the σ.
double add_column(SparseEntries& S, const Product& product) {
  double scale = 1;
  for (const auto& [signal, factor] : product) {
    const double size = std::abs(factor.a) + std::abs(factor.b);
    const double sigma = factor.a == 0 ? factor.b : (factor.a < 0 ? -size : size);
    S.entries.push_back({signal, S.columns, factor.b / sigma});
    scale *= sigma;
  }
  ++S.columns;
  return scale;
}

class Columns {
 public:
  explicit Columns(const HybridModel& model) : model_(model) {
    rows_ = model.f;
    rows_.insert(rows_.end(), model.g.begin(), model.g.end());
    parameters_ = model.parameter_values();
    order_signals();
  }

  MultilinearForm form() {
    std::vector<Sum> rows;
    for (int row = 0; row < static_cast<int>(rows_.size()); ++row) {
      if (const std::string why = outside_class(model_, row); !why.empty())
        throw InvalidInput(fmt::format("{} is not multilinear: {}", model_.row_name(row), why));
      rows.push_back(read(row));
    }
    return matrices(rows);
  }

 private:
  void order_signals();
  Sum read(int row);
  Sum operation(const Instruction& line, const Sum& a, const Sum& b) const;
  [[nodiscard]] Sum operation_with_number(const Instruction& line, const Sum& a, const Sum& b) const;
  [[nodiscard]] Sum product(const Sum& a, const Sum& b) const;
  [[nodiscard]] std::optional<double> multiply_into(Product& left, const Product& right) const;
  [[nodiscard]] MultilinearForm matrices(const std::vector<Sum>& rows) const;

  const HybridModel& model_;
  std::vector<int> rows_;
  std::vector<double> parameters_;
  std::map<int, int> signal_of_input_;
  int signals_ = 0, first_binary_ = 0;
};

void Columns::order_signals() {
  const std::vector<int> states = model_.states();
  for (const int j : states) signal_of_input_[HybridModel::derivative_input(j)] = signals_++;
  for (const int j : states) signal_of_input_[model_.variable_input(j)] = signals_++;
  for (int k = 0; k < static_cast<int>(model_.inputs.size()); ++k)
    signal_of_input_[model_.known_input(k)] = signals_++;
  for (int j = 0; j < model_.n(); ++j)
    if (!std::binary_search(states.begin(), states.end(), j))
      signal_of_input_[model_.variable_input(j)] = signals_++;
  first_binary_ = signals_;
  for (int i = 0; i < model_.q(); ++i) signal_of_input_[model_.binary_input(i)] = signals_++;
}

/// (a + b z)(c + d z) = ac + (ad + bc + bd) z, because z² = z. Empty where the product has another
/// signal twice.
std::optional<double> Columns::multiply_into(Product& left, const Product& right) const {
  double scale = 1;
  for (const auto& [signal, factor] : right) {
    const auto [place, is_new] = left.try_emplace(signal, factor);
    if (is_new) continue;
    if (signal < first_binary_) return std::nullopt;
    const AffineFactor other = place->second;
    const double a = other.a * factor.a;
    const double b = other.a * factor.b + other.b * factor.a + other.b * factor.b;
    left.erase(place);
    if (a == 0 && b == 0) return 0;
    const double unit = std::abs(a) > std::abs(b) ? a : b;
    if (b != 0) left[signal] = {a / unit, b / unit};
    scale *= unit;
  }
  return scale;
}

Sum Columns::product(const Sum& a, const Sum& b) const {
  if (a.size() * b.size() > most_columns)
    throw InvalidInput(
        fmt::format("products are multiplied out to more than {} columns", most_columns));
  Sum result;
  for (const auto& [left, c] : a)
    for (const auto& [right, d] : b) {
      Product both = left;
      const std::optional<double> scale = multiply_into(both, right);
      if (!scale) throw InvalidInput("a product holds a signal twice");
      add_term(result, both, c * d * *scale);
    }
  return result;
}

/// A function of numbers, or a sum by a number, or a power of it: of the class, so that it is natural.
Sum Columns::operation_with_number(const Instruction& line, const Sum& a, const Sum& b) const {
  Sum result;
  const Sum& second = line.b < 0 ? a : b;
  if (is_number(a) && is_number(second)) {
    add_term(result, {}, apply_operation(line.operation, number_of(a), number_of(second)));
    return result;
  }
  if (line.operation == Operation::divide && is_number(b)) return divided(a, number_of(b));
  result[{}] = 1;
  for (int k = 0; k < static_cast<int>(number_of(b)); ++k) result = product(result, a);
  return result;
}

Sum Columns::operation(const Instruction& line, const Sum& a, const Sum& b) const {
  switch (line.operation) {
    case Operation::negate: return negated(a);
    case Operation::add: return sum_of(a, b, false);
    case Operation::subtract: return sum_of(a, b, true);
    case Operation::multiply: return product(a, b);
    default: return operation_with_number(line, a, b);
  }
}

Sum Columns::read(int row) {
  std::map<int, Sum> values;
  for (const int k : lines_below(model_.tape, rows_[at(row)])) {
    const Instruction& here = model_.tape[k];
    Sum& value = values[k];
    if (here.operation == Operation::constant) {
      add_term(value, {}, here.value);
    } else if (here.operation == Operation::input) {
      const auto signal = signal_of_input_.find(here.a);
      if (signal != signal_of_input_.end())
        value[{{signal->second, {0, 1}}}] = 1;
      else if (here.a >= model_.parameter_input(0))
        add_term(value, {}, parameters_[at(here.a - model_.parameter_input(0))]);
      else
        throw InvalidInput(fmt::format(
            "{} holds t, which is no signal; expected an input whose formula is t",
            model_.row_name(row)));
    } else {
      static const Sum none;
      value = operation(here, here.a < 0 ? none : values.at(here.a),
                        here.b < 0 ? none : values.at(here.b));
    }
  }
  return values.at(rows_[at(row)]);
}

/// Products that rows have in common are one column.
MultilinearForm Columns::matrices(const std::vector<Sum>& rows) const {
  std::map<Product, int> column_of;
  SparseEntries S{signals_, 0, {}};
  SparseEntries f{static_cast<int>(model_.f.size()), 0, {}},
      g{static_cast<int>(model_.g.size()), 0, {}};
  std::vector<double> scales;
  for (int row = 0; row < static_cast<int>(rows.size()); ++row)
    for (const auto& [terms, c] : rows[at(row)]) {
      const auto [place, is_new] = column_of.try_emplace(terms, S.columns);
      if (is_new) scales.push_back(add_column(S, terms));
      SparseEntries& phi = row < f.rows ? f : g;
      phi.entries.push_back(
          {row < f.rows ? row : row - f.rows, place->second, c * scales[at(place->second)]});
    }
  f.columns = g.columns = S.columns;
  return {S, f, g};
}

}  // namespace

std::vector<std::string> multilinear_signals(const HybridModel& model) {
  std::vector<std::string> names;
  const std::vector<int> states = model.states();
  const auto& variables = model.head.variables;
  for (const int j : states) names.push_back("der(" + variables[at(j)].name + ")");
  for (const int j : states) names.push_back(variables[at(j)].name);
  for (const KnownInput& input : model.inputs) names.push_back(input.name);
  for (int j = 0; j < model.n(); ++j)
    if (!std::binary_search(states.begin(), states.end(), j))
      names.push_back(variables[at(j)].name);
  for (const Binary& binary : model.binaries) names.push_back(binary.name);
  return names;
}

Vector signals_at(const HybridModel& model, const std::vector<std::pair<std::string, double>>& given) {
  const std::vector<std::string> names = multilinear_signals(model);
  Vector v = Vector::Zero(static_cast<Eigen::Index>(names.size()));
  for (const auto& [name, value] : given) v[static_cast<Eigen::Index>(find_name(name, names, "signal"))] = value;
  return v;
}

MultilinearForm multilinear_form(const HybridModel& model) { return Columns(model).form(); }

}  // namespace perp
