#include <fmt/format.h>
#include <set>

#include <perp/tests/relations/models/random_model.hpp>
#include <perp/tests/relations/models/wording.hpp>

namespace perp::relations {
namespace {

std::string affine(const std::string& unknown, double scale, double offset) {
  std::string result = scale == 1 ? unknown : fmt::format("{}*{}", number_text(scale), unknown);
  if (offset != 0) result += fmt::format(" + {}", number_text(offset));
  return result;
}

std::string factor_text(const RandomModel& model, const Factor& factor) {
  std::string unknown = "t";
  if (factor.kind == Factor::Kind::variable)
    unknown = variable_text(model, factor.index);
  if (factor.kind == Factor::Kind::law) unknown = multiplier_text(model, factor.index);
  if (factor.kind == Factor::Kind::input) unknown = model.inputs[static_cast<std::size_t>(factor.index)].name;
  const std::string inner = affine(unknown, factor.scale, factor.offset);
  switch (factor.function) {
    case Function::none: return inner == unknown ? inner : fmt::format("({})", inner);
    case Function::sin: return fmt::format("sin({})", inner);
    case Function::cos: return fmt::format("cos({})", inner);
    case Function::exp: return fmt::format("exp({})", inner);
    case Function::tanh: return fmt::format("tanh({})", inner);
    case Function::square_wave: return fmt::format("sign(sin({}))", inner);
  }
  return inner;
}

/// `is_stated`: a nominal value of 1 is stated too, which says more than none.
std::string of_one(const RandomVariable& variable, bool is_stated) {
  return variable.nominal == 1 && !is_stated
             ? fmt::format("{} = {}\n", variable.name, number_text(variable.start))
             : fmt::format("{} = {{ start = {}, nominal = {} }}\n", variable.name,
                           number_text(variable.start), number_text(variable.nominal));
}

/// A formula of i for these numbers, i = 1, 2, ...
std::string by_index(const std::vector<double>& numbers) {
  std::string result = number_text(numbers.back());
  for (std::size_t k = numbers.size() - 1; k > 0; --k)
    result = fmt::format("if(i < {}, {}, {})", k + 1, number_text(numbers[k - 1]), result);
  return result;
}

/// The head of the file, and the tables before [model].
std::string head(const RandomModel& model) {
  std::string result = fmt::format("name = \"random model, seed {}\"\n[variables]\n", model.seed);
  if (model.as_families) {
    std::vector<double> starts, nominals;
    for (const RandomVariable& variable : model.variables) {
      starts.push_back(variable.start);
      nominals.push_back(variable.nominal);
    }
    result += fmt::format("x = {{ size = {}, start = \"{}\", nominal = \"{}\" }}\n", starts.size(),
                          by_index(starts), by_index(nominals));
  } else {
    for (const RandomVariable& variable : model.variables) result += of_one(variable, is_hybrid(model));
  }
  return result + inputs_text(model) + binaries_text(model);
}

std::string run_table(const RandomModel& model) {
  if (is_hybrid(model))
    return fmt::format("[run]\nt = [{}, {}]\nh = {}\n", number_text(model.start), number_text(model.end),
                       number_text(model.h));
  return fmt::format("[run]\nt = [{}, {}]\nh = {}\nselector = \"{}\"\n", number_text(model.start),
                     number_text(model.end), number_text(model.h), model.selector);
}

std::string list_of_laws(const RandomModel& model) {
  std::string listed, restitution;
  for (int i = 0; i < static_cast<int>(model.laws.size()); ++i) {
    const RandomLaw& law = model.laws[static_cast<std::size_t>(i)];
    if (is_hybrid(model) || !is_listed(law.kind, law.wording)) continue;
    listed += fmt::format("  \"{}\",\n", law_text(model, i));
    if (law.restitution >= 0)
      restitution += fmt::format("{}{} = {}", restitution.empty() ? "" : ", ", law.name,
                                 number_text(law.restitution));
  }
  std::string result;
  if (!listed.empty()) result += fmt::format("laws = [\n{}]\n", listed);
  if (!restitution.empty()) result += fmt::format("restitution = {{ {} }}\n", restitution);
  return result;
}

std::string list_of_resets(const RandomModel& model) {
  std::string result;
  for (const RandomReset& reset : model.resets) {
    std::string set;
    for (std::size_t k = 0; k < reset.variables.size(); ++k)
      set += fmt::format("{}{} = \"{}\"", k == 0 ? "" : ", ",
                         variable_text(model, reset.variables[k]),
                         sum_text(model, reset.values[k]));
    result += fmt::format("  {{ condition = \"{}\", direction = {}, set = {{ {} }} }},\n",
                          sum_text(model, reset.condition), reset.direction, set);
  }
  return result.empty() ? result : fmt::format("when = [\n{}]\n", result);
}

}  // namespace

std::string number_text(double value) {
  // The shortest decimal that reads back as this double; the reader's numbers have a sign in front.
  return fmt::format("{}", value);
}

std::string sum_text(const RandomModel& model, const Sum& sum) {
  std::string result;
  for (const Term& term : sum) {
    const bool is_negative = term.c < 0;
    if (!result.empty())
      result += is_negative ? " - " : " + ";
    else if (is_negative)
      result += "-";
    std::string product;
    const double size = is_negative ? -term.c : term.c;
    if (size != 1 || term.factors.empty()) product = number_text(size);
    for (const Factor& factor : term.factors)
      product += (product.empty() ? "" : "*") + factor_text(model, factor);
    result += product;
  }
  return result.empty() ? "0" : result;
}

std::string text(const RandomModel& model) {
  std::string result = head(model) + "[model]\n" + list_of_laws(model) + "equations = [\n";
  for (const RandomEquation& equation : model.equations) {
    std::string left = "0";
    if (equation.derivative >= 0) {
      const std::string name = variable_text(model, equation.derivative);
      left = equation.factor == 1
                 ? fmt::format("der({})", name)
                 : fmt::format("{}*der({})", number_text(equation.factor), name);
    }
    result += fmt::format("  \"{} = {}\",\n", left, sum_text(model, equation.right));
  }
  return result + "]\n" + constraints_text(model) + list_of_resets(model) + run_table(model);
}

namespace {

/// Sums as rows of matrices: what multiplies each variable and each law, and the rest.
struct Row {
  std::vector<double> x, lambda;
  Sum rest;
};

bool is_affine(const Sum& sum) {
  for (const Term& term : sum) {
    int unknowns = 0;
    for (const Factor& factor : term.factors) {
      if (factor.kind == Factor::Kind::time) continue;
      if (factor.function != Function::none || factor.offset != 0 || factor.scale != 1 ||
          term.factors.size() > 1)
        return false;
      ++unknowns;
    }
    if (unknowns > 1) return false;
    for (const Factor& factor : term.factors)
      if (factor.function == Function::square_wave) return false;
  }
  return true;
}

Row row_of(const RandomModel& model, const Sum& sum) {
  Row row{std::vector<double>(model.variables.size()), std::vector<double>(model.laws.size()), {}};
  for (const Term& term : sum) {
    if (term.factors.size() == 1 && term.factors[0].kind == Factor::Kind::variable)
      row.x[static_cast<std::size_t>(term.factors[0].index)] += term.c;
    else if (term.factors.size() == 1 && term.factors[0].kind == Factor::Kind::law)
      row.lambda[static_cast<std::size_t>(term.factors[0].index)] += term.c;
    else
      row.rest.push_back(term);
  }
  return row;
}

std::string list(const std::vector<double>& values) {
  std::string result;
  for (const double value : values)
    result += fmt::format("{}{}", result.empty() ? "" : ", ", number_text(value));
  return fmt::format("[{}]", result);
}

struct Rows {
  std::string x, lambda, rest;
  void add(const RandomModel& model, const Row& row) {
    const char* comma = x.empty() ? "" : ", ";
    x += comma + list(row.x);
    lambda += comma + list(row.lambda);
    rest += fmt::format("{}\"{}\"", comma, sum_text(model, row.rest));
  }
};

}  // namespace

bool has_matrices(const RandomModel& model) {
  bool result = model.resets.empty() && model.inputs.empty() && !is_hybrid(model) && !model.as_families;
  for (const RandomEquation& equation : model.equations)
    result = result && is_affine(equation.right);
  for (const RandomLaw& law : model.laws)
    result = result && is_affine(law.argument) && law.restitution < 0;
  return result;
}

std::string matrix_text(const RandomModel& model) {
  Rows equations, arguments;
  std::string E, laws;
  for (const RandomEquation& equation : model.equations) {
    std::vector<double> row(model.variables.size());
    if (equation.derivative >= 0)
      row[static_cast<std::size_t>(equation.derivative)] = equation.factor;
    E += (E.empty() ? "" : ", ") + list(row);
    equations.add(model, row_of(model, equation.right));
  }
  for (const RandomLaw& law : model.laws) {
    arguments.add(model, row_of(model, law.argument));
    laws += (laws.empty() ? "" : ", ") + branches_text(law);
  }
  std::string result = head(model) + "[system]\n" + fmt::format("E = [{}]\nA = [{}]\nb = [{}]\n", E,
                                                               equations.x, equations.rest);
  if (!model.laws.empty())
    result += fmt::format("B = [{}]\nC = [{}]\nD = [{}]\nq = [{}]\nlaws = [{}]\n", equations.lambda,
                          arguments.x, arguments.lambda, arguments.rest, laws);
  return result + run_table(model);
}

}  // namespace perp::relations
