// Derivatives of the solution of a model: `perp sensitivities` asks for them.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/sensitivities.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>

namespace perp {
namespace {

bool have_same_bounds(const Model& one, const Model& other) {
  return std::ranges::equal(one.bounds(), other.bounds(), [](const VariableBounds& a, const VariableBounds& b) {
    return a.variable == b.variable && a.range.lower == b.range.lower && a.range.upper == b.range.upper;
  });
}

/// The span and the bounds are those of one value of a parameter, too.
void require_no_ends(const Model& model, const Model& other, const std::string& name) {
  const bool is_of_span = other.run.span.start != model.run.span.start || other.run.span.end != model.run.span.end;
  if (!is_of_span && have_same_bounds(model, other)) return;
  throw InvalidInput(fmt::format("--wrt {}: the parameter stands in {}, which {} not differentiated; write a number there, or a parameter of its own", name,
                                 is_of_span ? "the span of the run" : "the bounds of a variable", is_of_span ? "is" : "are"));
}

/// Law numbers and restitution are read once, as numbers: a parameter that moves them would be
/// differentiated wrongly.
void require_no_numbers(const Model& model, const Model& other, const std::string& name) {
  if (other.laws() == model.laws() && other.restitution == model.restitution) return;
  throw InvalidInput(fmt::format(
      "--wrt {}: the parameter stands in the numbers of a law or a restitution, which are "
      "not differentiated; write it into the equations, e.g. F*sign(v) instead of "
      "relay(v, -F, F), or a reset instead of a restitution",
      name));
}

/// The model with a value beside that of a parameter. Throws InvalidInput: there is none, as of a size.
Model read_beside(const std::string& name, double value, double beside, const std::function<Model(const std::string& name, double value)>& with) {
  try {
    return with(name, beside);
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("--wrt {}: the model has no value of {} beside {}, as that of a size or of another whole number, and no derivative by it; "
                                   "expected other quantities ({})",
                                   name, name, value, error.what()));
  }
}

bool have_same_formulas(const Dcs& one, const Dcs& other) {
  const auto are_same = [](const Reset& a, const Reset& b) { return a.condition == b.condition && a.variables == b.variables && a.values == b.values; };
  return one.tape == other.tape && one.F == other.F && one.G == other.G && std::ranges::equal(one.resets, other.resets, are_same);
}

/// Throws InvalidInput: what is read once, as a number or by a decision, moves with this parameter.
void require_only_in_equations(
    const Model& model, const std::string& name, double value,
    const std::function<Model(const std::string& name, double value)>& with) {
  // Far above the rounding of sums that decide, far below what a derivative tells of the next value.
  const double apart = 0x1p-26 * (value == 0 ? 1 : std::abs(value));
  for (const double beside : {value + apart, value - apart}) {
    const Model other = read_beside(name, value, beside, with);
    require_no_ends(model, other, name);
    require_no_numbers(model, other, name);
    if (model.equations && other.equations && have_same_formulas(*model.equations, *other.equations)) continue;
    throw InvalidInput(fmt::format("--wrt {}: the equations are others at {} = {} and beside it, as where it decides an if of indices, and derivatives may have two "
                                   "sides; expected another value, or other quantities",
                                   name, name, value));
  }
}

/// By how much parameters and starts move with one of them.
struct Motion {
  Vector parameters, starts;
};

Motion motion_with(const Model& model, std::size_t parameter) {
  Motion motion{Vector::Zero(static_cast<Eigen::Index>(model.parameters.size())),
                Vector::Zero(static_cast<Eigen::Index>(model.variables.size()))};
  motion.parameters[static_cast<Eigen::Index>(parameter)] = 1;
  // In the order of the file: what a formula holds stands above it.
  for (const Model::Dependence& dependence : model.dependences) {
    const double by = dependence.slope * motion.parameters[dependence.on];
    if (dependence.is_start)
      motion.starts[dependence.of] += by;
    else if (dependence.of != static_cast<int>(parameter))
      motion.parameters[dependence.of] += by;
  }
  return motion;
}

/// What moves with a parameter has one derivative by it.
void require_smooth(const Model& model, std::size_t parameter, const Motion& motion) {
  const std::vector<int> differential = model.differential_variables();
  const std::span<const double> moved(motion.parameters.data(), model.parameters.size());
  for (const Model::KinkedFormula& formula : model.kinked_formulas) {
    const bool is_guess = formula.is_start && std::ranges::find(differential, formula.of) == differential.end();
    const bool is_itself = !formula.is_start && formula.of == static_cast<int>(parameter);
    if (is_guess || is_itself || formula.is_smooth(moved)) continue;
    const auto& [name, value] = model.parameters[parameter];
    const auto of = static_cast<std::size_t>(formula.of);
    throw InvalidInput(fmt::format("--wrt {}: {}{} has a kink at {} = {}, where its derivative may have two sides; expected "
                                   "another value, or other quantities",
                                   name, formula.is_start ? "the start of " : "",
                                   formula.is_start ? model.variables[of].name : model.parameters[of].first, name, value));
  }
}

/// The place of a number in a list, to which it is added where it is missing.
std::size_t place_in(std::vector<int>& list, int number) {
  const auto known = std::ranges::find(list, number);
  if (known != list.end()) return static_cast<std::size_t>(known - list.begin());
  list.push_back(number);
  return list.size() - 1;
}

/// Quantities as combinations of the starts and parameters of a request.
class Combinations {
 public:
  explicit Combinations(const Model& model) : model_(model), differential_(model.differential_variables()) {}

  void add_start(int variable) { terms_.push_back({{true, place_in(request_.starts, variable), 1}}); }
  void add_parameter(std::size_t parameter) {
    const Motion motion = motion_with(model_, parameter);
    require_smooth(model_, parameter, motion);
    terms_.emplace_back();
    for (Eigen::Index k = 0; k < motion.parameters.size(); ++k)
      if (motion.parameters[k] != 0)
        terms_.back().push_back({false, place_in(request_.parameters, static_cast<int>(k)), motion.parameters[k]});
    for (const int j : differential_)
      if (motion.starts[j] != 0) terms_.back().push_back({true, place_in(request_.starts, j), motion.starts[j]});
  }

  void write(SensitivityQuantities& quantities) {
    const auto starts = static_cast<Eigen::Index>(request_.starts.size());
    const auto count = starts + static_cast<Eigen::Index>(request_.parameters.size());
    Matrix columns = Matrix::Zero(count, static_cast<Eigen::Index>(terms_.size()));
    for (std::size_t q = 0; q < terms_.size(); ++q)
      for (const Term& term : terms_[q])
        columns(static_cast<Eigen::Index>(term.place) + (term.is_start ? 0 : starts), static_cast<Eigen::Index>(q)) = term.factor;
    if (columns.rows() != columns.cols() || !columns.isIdentity(0)) quantities.combination = columns;
    request_.directions = quantities.combination;
    quantities.request = std::move(request_);
  }

 private:
  struct Term {
    bool is_start;
    std::size_t place;
    double factor;
  };
  const Model& model_;
  std::vector<int> differential_;
  SensitivityRequest request_;
  std::vector<std::vector<Term>> terms_;  // of each quantity
};

/// The names asked for, or all differential starts and all parameters.
std::vector<std::string> asked_names(const Model& model, const std::vector<std::string>& names,
                                     const std::vector<std::string>& variables) {
  if (!names.empty()) return names;
  std::vector<std::string> all;
  for (const int j : model.differential_variables()) all.push_back(variables[static_cast<std::size_t>(j)] + "(0)");
  for (const auto& [name, value] : model.parameters) all.push_back(name);
  return all;
}

void require_differential(const Model& model, const std::string& name, int variable) {
  const std::vector<int> differential = model.differential_variables();
  if (std::ranges::find(differential, variable) != differential.end()) return;
  throw InvalidInput(fmt::format("--wrt {}: the start of an algebraic variable is a guess, nothing depends on it", name));
}

}  // namespace

SensitivityQuantities sensitivity_quantities(
    const Model& model, const std::vector<std::string>& names,
    const std::function<Model(const std::string& name, double value)>& with) {
  SensitivityQuantities result;
  const std::vector<std::string> variables = variable_names(model);
  std::vector<std::string> known;
  for (const auto& [name, value] : model.parameters) known.push_back(name);
  const std::size_t parameters = known.size();
  for (const std::string& name : variables) known.push_back(name + "(0)");
  const std::vector<std::string> asked = asked_names(model, names, variables);
  Combinations combinations(model);
  int parameters_asked = 0;
  for (const std::string& name : asked) {
    const std::size_t index = find_name(name, known, "quantity");
    if (std::ranges::count(asked, name) > 1) throw InvalidInput(fmt::format("--wrt: '{}' is there twice", name));
    result.names.push_back(name);
    if (index >= parameters) {
      const auto variable = static_cast<int>(index - parameters);
      require_differential(model, name, variable);
      combinations.add_start(variable);
      result.columns.push_back(fmt::format("x0{}", variable + 1));
      continue;
    }
    if (!model.equations)
      throw InvalidInput(fmt::format(
          "--wrt {}: a model in the matrix form keeps no parameters; write it as equations", name));
    require_only_in_equations(model, name, model.parameters[index].second, with);
    combinations.add_parameter(index);
    result.columns.push_back(fmt::format("p{}", ++parameters_asked));
  }
  combinations.write(result);
  return result;
}

void check_sensitivities(const Model& model) { check_located(model); }

namespace {

/// The derivatives by the quantities that were asked for, of those by the columns of the request.
class Combined {
 public:
  explicit Combined(const Matrix& combination) : combination_(combination) {}

  void combine(Matrix& columns) const {
    if (columns.cols() == 0) return;
    Matrix sums = Matrix::Zero(columns.rows(), combination_.cols());
    // What is not known by one quantity is known by those that do not hold it.
    for (Eigen::Index q = 0; q < combination_.cols(); ++q)
      for (Eigen::Index k = 0; k < combination_.rows(); ++k)
        if (combination_(k, q) != 0) sums.col(q) += combination_(k, q) * columns.col(k);
    columns = std::move(sums);
  }
  void combine(Event& event) const {
    if (event.dt_dq.size() > 0) {
      Matrix row = event.dt_dq.transpose();
      combine(row);
      event.dt_dq = row.row(0).transpose();
    }
    for (Matrix& piece : event.pieces) combine(piece);
  }
  [[nodiscard]] Step combined(Step step) const {
    combine(step.dx_dq);
    combine(step.dlambda_dq);
    return step;
  }

 private:
  const Matrix& combination_;
};

Trajectory integrate_request(const Model& model, const SensitivityRequest& request, const IntegrateOptions& options) {
  if (model.hybrid != nullptr) return run_hybrid(model, options, request);
  Located located = located_options(model);
  located.sensitivities = request;
  return integrate(equations_of(model), model.x0(), model.run.span, located, options);
}

}  // namespace

Trajectory integrate_sensitivities(const Model& model, const SensitivityQuantities& quantities,
                                   const IntegrateOptions& options) {
  if (quantities.combination.size() == 0) return integrate_request(model, quantities.request, options);
  const Combined by(quantities.combination);
  IntegrateOptions ordered = options;
  if (options.observer) ordered.observer = [&](const Step& step) { return options.observer(by.combined(step)); };
  Trajectory run = integrate_request(model, quantities.request, ordered);
  for (auto* rows : {&run.dx_dq, &run.dlambda_dq})
    for (Matrix& derivatives : *rows) by.combine(derivatives);
  for (Event& event : run.events) by.combine(event);
  return run;
}

KeptRun keep_sensitivities(const Model& model, const SensitivityQuantities& quantities,
                           const KeepOptions& options) {
  check_sensitivities(model);
  const auto run = [&](const IntegrateOptions& record) {
    IntegrateOptions with_times = record;
    with_times.only_times = !options.times.empty();
    return integrate_sensitivities(model, quantities, with_times);
  };
  return keep_run(model, options, run, static_cast<int>(quantities.names.size()));
}

}  // namespace perp
