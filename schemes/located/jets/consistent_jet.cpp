#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/tape/bounded_tape.hpp>
#include <perp/schemes/located/jets/array/array_structure.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>
#include <perp/schemes/located/jets/decided_laws.hpp>
#include <perp/schemes/located/jets/jet_sensitivities.hpp>
#include <perp/schemes/located/jets/array/known_coefficients.hpp>
#include <perp/schemes/located/jets/array/mode_array.hpp>
#include <perp/schemes/located/jets/array/rank_around.hpp>
#include <perp/schemes/newton/definite_root.hpp>
#include <perp/schemes/newton/rank_newton.hpp>
#include <perp/schemes/located/radau/branch_forms.hpp>

namespace perp {
namespace {

// An exponential is left at a constant rate: from 5 V down a diode's curve in steps of 25 mV.
constexpr int most_jet_iterations = 1000;
constexpr int shorter_units = 3;
constexpr int bits_per_unit = 10;

/// A jet that something looks to be missing of.
bool is_doubtful(const Jet& jet) { return jet.consistent && !jet.determined; }

void check_size(const char* name, Eigen::Index wanted, const Vector& given) {
  if (given.size() != wanted)
    throw InvalidInput(fmt::format("{} must have {} entries but has {}", name, wanted, given.size()));
}

}  // namespace

struct ConsistentJets::Implementation {
  Implementation(const Dcs& given, int levels)
      : system(given), forms(system), structure(array_structure(system, levels)) {
    now = &known.try_emplace({}, system, levels).first->second;
  }

  /// The equations of a mode, see BranchForms.
  struct Equations {
    Equations(const Dcs& form, int levels) : array(form, levels) {}

    ModeArray array;
    std::vector<char> inert;
    std::unique_ptr<DerivativeArray> outer;  // with t and p, made when first asked for
  };

  void use(const Mode& mode);
  [[nodiscard]] ModeArray& equations() const { return now->array; }
  /// Those of the system itself.
  [[nodiscard]] ModeArray& first() { return known.begin()->second.array; }
  [[nodiscard]] bool inert_laws_stay(const Jet& jet) const;
  bool may_be_root(const Jet& jet);

  bool begin(const Mode& mode, double t, const Vector& x, const Vector& lambda, const Vector& rates);
  template <class Solve>
  Jet in_grown_units(Jet jet, const Solve& solve);
  bool prepare();
  Jet jet(bool solved);
  bool is_against_time(const Mode& mode, Jet& result);
  void check(const Mode& mode, const Vector& x, const Vector& lambda, const Vector& rates) const;
  std::vector<Known> arguments(double t, const Vector& x, const Vector& lambda, const Vector& error);

  Dcs system;
  BranchForms forms;
  BranchForms::Ends ends;  // empty: none is held
  std::map<BranchForms::Key, Equations> known;
  Equations* now = nullptr;  // one of known
  ArrayStructure structure;
  RankNewton newton{RankNewton::Open::stay, most_jet_iterations};
  double tolerance = 1e-8;
  bool uses_grown_units = false;
  std::unique_ptr<DefiniteRoot> roots;  // made when first asked for, as this:
  std::unique_ptr<BoundedTape> bounded_arguments;
  std::map<int, ConsistentJets> others;  // by their levels
};

ConsistentJets::ConsistentJets(const Dcs& system, int levels)
    : self_(std::make_unique<Implementation>(system, levels)) {}
ConsistentJets::~ConsistentJets() = default;
ConsistentJets::ConsistentJets(ConsistentJets&&) noexcept = default;
ConsistentJets& ConsistentJets::operator=(ConsistentJets&&) noexcept = default;

int ConsistentJets::n() const { return self_->system.n(); }
int ConsistentJets::m() const { return self_->system.m(); }
int ConsistentJets::levels() const { return self_->first().array().levels(); }
ConsistentJets& ConsistentJets::with_levels(int levels) {
  auto found = self_->others.find(levels);
  if (found == self_->others.end())
    found = self_->others.emplace(levels, ConsistentJets(self_->system, levels)).first;
  ConsistentJets& jets = found->second;
  jets.set_scales(scales());
  jets.set_tolerance(tolerance());
  jets.hold_ends(self_->ends);
  return jets;
}

const Laws& ConsistentJets::laws() const { return self_->system.laws; }
bool ConsistentJets::is_nonlinear_in_multipliers() const {
  return self_->structure.nonlinear_in_multipliers;
}
bool ConsistentJets::is_nonlinear_in_rates() const { return self_->structure.nonlinear_in_rates; }
bool ConsistentJets::is_linear() const { return self_->first().is_linear(); }
const std::vector<int>& ConsistentJets::groups() const { return self_->structure.groups; }
const std::vector<int>& ConsistentJets::parts() const { return self_->structure.parts; }
bool ConsistentJets::is_of_given(int law) const { return self_->structure.w_is_given[static_cast<std::size_t>(law)] != 0; }
const RateForm& ConsistentJets::rate_form(int law) const { return self_->structure.rates[static_cast<std::size_t>(law)]; }
const JetScales& ConsistentJets::scales() const { return self_->equations().scales(); }
void ConsistentJets::allow_work(long points) { self_->newton.allow(points); }
bool ConsistentJets::has_run_out() const { return self_->newton.has_run_out(); }
void ConsistentJets::set_tolerance(double tolerance) { self_->tolerance = tolerance; }
double ConsistentJets::tolerance() const { return self_->tolerance; }

void ConsistentJets::set_scales(const JetScales& scales) {
  if (!(scales.time > 0) || !std::isfinite(scales.time))
    throw InvalidInput(fmt::format("scales.time must be positive but is {:g}", scales.time));
  const auto check = [](const char* name, Eigen::Index wanted, const Vector& given) {
    if (given.size() == 0) return;
    check_size(name, wanted, given);
    if (!(given.array() > 0).all() || !given.allFinite())
      throw InvalidInput(fmt::format("the entries of {} must be positive", name));
  };
  check("scales.x", n(), scales.x);
  check("scales.lambda", m(), scales.lambda);
  for (auto& [key, equations] : self_->known) equations.array.set_scales(scales);
}

void ConsistentJets::hold_ends(std::vector<double> ends) {
  if (!ends.empty() && static_cast<int>(ends.size()) != m())
    throw InvalidInput(fmt::format("ends must have {} entries but has {}", m(), ends.size()));
  self_->ends = std::move(ends);
}

const std::vector<char>& ConsistentJets::rough_laws() const { return self_->forms.rough(); }
bool ConsistentJets::has_rough_laws() const { return self_->forms.any(); }
bool ConsistentJets::is_held(int law, const Mode& mode) {
  return self_->forms.is_held(law, mode, self_->ends);
}

/// Turns to the equations of a mode, which are made once.
void ConsistentJets::Implementation::use(const Mode& mode) {
  if (!forms.any()) return;
  const BranchForms::Key key = forms.key(mode, ends);
  const auto found = known.find(key);
  if (found != known.end()) {
    now = &found->second;
    return;
  }
  const BranchForms::Form& form = forms.of(mode, ends);
  now = &known.try_emplace(key, form.system, first().array().levels()).first->second;
  now->array.set_scales(first().scales());
  now->inert = form.inert;
}

/// Does the argument of each law without a multiplier stay on its branch?
bool ConsistentJets::Implementation::inert_laws_stay(const Jet& jet) const {
  for (std::size_t i = 0; i < now->inert.size(); ++i) {
    if (!now->inert[i]) continue;
    const auto law = static_cast<Eigen::Index>(i);
    const Branch& branch = system.laws[i].branches[static_cast<std::size_t>(jet.mode[i])];
    double power = 1;
    for (Eigen::Index k = 0; k < jet.w.cols(); ++k, power *= equations().scales().time) {
      const double off = jet.w(law, k) - (k == 0 ? branch.c / branch.a : 0);
      const double terms = std::max(jet.w_size(law, k) * power, jet.w_size(law, 0));
      if (std::abs(off) * power > tolerance * terms) return false;
    }
  }
  return true;
}

/// Do its constraints tell its algebraic variables, not rounding alone?
bool ConsistentJets::Implementation::may_be_root(const Jet& jet) {
  if (!structure.has_curved_constraints || forms.any()) return true;
  if (!roots) roots = std::make_unique<DefiniteRoot>(system);
  return roots->may_be(jet.mode, jet.t, jet.x.col(0), jet.lambda.col(0), equations().scales().time);
}

void ConsistentJets::Implementation::check(const Mode& mode, const Vector& x, const Vector& lambda,
                                           const Vector& rates) const {
  check_size("x", system.n(), x);
  check_size("lambda", system.m(), lambda);
  if (rates.size() > 0) check_size("rates", system.n(), rates);
  if (mode.size() != system.laws.size())
    throw InvalidInput(fmt::format("mode must have {} entries but has {}", system.m(), mode.size()));
  for (std::size_t i = 0; i < mode.size(); ++i)
    if (mode[i] < 0 || mode[i] >= static_cast<int>(system.laws[i].branches.size()))
      throw InvalidInput(fmt::format("mode[{}] must be a branch of law '{}' but is {}", i,
                                     system.laws[i].name, mode[i]));
}

/// Fixes a branch w where time alone moves it? No unknown makes that residual smaller, and Newton's method would
/// look for one that does. After `begin`; gives the jet then.
bool ConsistentJets::Implementation::is_against_time(const Mode& mode, Jet& result) {
  const DerivativeArray& array = equations().array();
  double largest = 0;
  for (std::size_t i = 0; i < mode.size(); ++i) {
    const Branch& branch = system.laws[i].branches[static_cast<std::size_t>(mode[i])];
    if (!structure.w_is_of_time[i] || !is_vertical(branch)) continue;
    for (int k = 0; k <= array.levels(); ++k) {
      const double c = k == 0 ? branch.c : 0;
      const int row = k * (array.n() + array.m()) + array.n() + static_cast<int>(i);
      const double off = std::abs(branch.a * array.values()[row] - c);
      if (off > 0) largest = std::max(largest, off / std::max(std::abs(c), off));
    }
  }
  if (largest <= tolerance) return false;
  result = jet(false);
  result.residual = largest;
  return true;
}

bool ConsistentJets::Implementation::begin(const Mode& mode, double t, const Vector& x, const Vector& lambda, const Vector& rates) {
  const bool begins = equations().begin(mode, t, x, lambda, rates);
  if (begins && uses_grown_units) equations().set_grown_units();
  return begins;
}

/// Solves for a jet once more where something is missing of it and the state has grown by orders of magnitude: in the units of
/// the model what is large hides the rates of other variables, and their rows count as empty.
template <class Solve>
Jet ConsistentJets::Implementation::in_grown_units(Jet jet, const Solve& solve) {
  if (uses_grown_units || (jet.consistent && jet.determined) || !equations().has_grown()) return jet;
  uses_grown_units = true;
  Jet other = solve();
  uses_grown_units = false;
  return other.consistent && other.determined ? other : jet;
}

bool ConsistentJets::Implementation::prepare() {
  if (equations().array().is_linear()) return true;
  return equations().hold_multipliers() && newton.run(equations());
}

/// The jet at the solution that Newton's method has found, or what it ended with.
Jet ConsistentJets::Implementation::jet(bool solved) {
  Jet result;
  equations().write(result);
  if (!solved) {
    result.x_known.assign(static_cast<std::size_t>(system.n()), 0);
    result.lambda_known.assign(static_cast<std::size_t>(system.m()), 0);
    result.w_known.assign(static_cast<std::size_t>(system.m()), 0);
    return result;
  }
  result.residual = std::max(equations().relative_residual(), equations().slow_residual());
  result.consistent = result.residual <= tolerance && inert_laws_stay(result) && may_be_root(result);
  read_known(equations(), newton.elimination(), result);
  return result;
}

void ConsistentJets::set_unit(double unit) {
  JetScales scales = self_->equations().scales();
  if (scales.fastest == unit) return;
  scales.fastest = unit;
  self_->equations().set_scales(scales);
}

/// A mode may have poles that are faster than the shortest time which the form of the equations
/// shows: what looks singular is looked at again in shorter units of time.
Jet ConsistentJets::solve(const Mode& mode, double t, const Vector& x, const Vector& lambda,
                          const Vector& rates) {
  self_->check(mode, x, lambda, rates);
  self_->use(mode);
  Jet jet = solve_once(mode, t, x, lambda, rates);
  const double unit = self_->equations().scales().fastest;
  for (int k = 1; k <= shorter_units && is_doubtful(jet); ++k) {
    set_unit(std::ldexp(unit, -k * bits_per_unit));
    Jet shorter = solve_once(mode, t, x, lambda, rates);
    if (shorter.consistent && shorter.determined) jet = std::move(shorter);
  }
  set_unit(unit);
  return self_->in_grown_units(std::move(jet), [&] { return solve_once(mode, t, x, lambda, rates); });
}

/// Given rates may solve the equations in the unit of the fastest pole while slower coefficients are missing: without
/// them Newton's method makes all.
Jet ConsistentJets::solve_once(const Mode& mode, double t, const Vector& x, const Vector& lambda,
                               const Vector& rates) {
  const bool begins = self_->begin(mode, t, x, lambda, rates);
  Jet refused;
  if (begins && self_->is_against_time(mode, refused)) return refused;
  if (begins && self_->newton.run(self_->equations())) {
    Jet found = self_->jet(true);
    return found.consistent || rates.size() == 0 ? found : solve_once(mode, t, x, lambda, {});
  }
  if (self_->equations().array().is_linear()) return self_->jet(false);
  return solve_from(mode, t, x, lambda, rates);
}

Jet ConsistentJets::solve_from(const Mode& mode, double t, const Vector& x, const Vector& lambda,
                               const Vector& rates) {
  self_->check(mode, x, lambda, rates);
  self_->use(mode);
  bool solved = self_->begin(mode, t, x, lambda, rates);
  Jet refused;
  if (solved && self_->is_against_time(mode, refused)) return refused;
  solved = solved && self_->prepare();
  if (!solved) self_->begin(mode, t, x, lambda, rates);
  solved = self_->equations().release_multipliers() && self_->newton.run(self_->equations());
  return self_->in_grown_units(self_->jet(solved), [&] { return solve_from(mode, t, x, lambda, rates); });
}

/// The arguments of all laws at (t, x, λ), with bounds of their rounding and of what errors of λ make of it.
std::vector<Known> ConsistentJets::Implementation::arguments(double t, const Vector& x, const Vector& lambda, const Vector& error) {
  if (!bounded_arguments)
    bounded_arguments = std::make_unique<BoundedTape>(system.tape, system.G, system.parameter_input(0), system.parameters);
  BoundedTape& tape = *bounded_arguments;
  Vector z = Vector::Zero(system.parameter_input(0)), z_error = z;
  z[Dcs::time_input()] = t;
  z.segment(system.variable_input(0), x.size()) = x;
  z.segment(system.multiplier_input(0), lambda.size()) = lambda;
  z_error.segment(system.multiplier_input(0), error.size()) = error;
  tape.run(z.data(), z_error.data());
  std::vector<Known> w;
  for (std::size_t i = 0; i < system.laws.size(); ++i) w.push_back({tape.output(i).value, tape.output(i).error});
  return w;
}

std::vector<int> ConsistentJets::decided_branches(double t, const Vector& x, double share, const std::vector<int>& fixed,
                                                  const std::vector<int>& ended) {
  const ArgumentsAt at_lambda = [&](const Mode& mode, const Vector& lambda, const Vector& error) {
    ModeArray& equations = self_->first();
    equations.begin(mode, t, x, lambda, {});
    // The array has what a branch fixes of λ, the tape has λ as it is.
    std::vector<Known> w = self_->arguments(t, x, lambda, error);
    for (int i = 0; i < m(); ++i) w[static_cast<std::size_t>(i)].error += share * equations.argument(i).size;
    return w;
  };
  return decided_laws(laws(), self_->structure, at_lambda, fixed, ended);
}

std::vector<int> ConsistentJets::given_branches(double t, const Vector& x) const {
  std::vector<int> decided(laws().size(), -1);
  const std::vector<Known> w = self_->arguments(t, x, Vector::Zero(m()), Vector::Zero(m()));
  for (std::size_t i = 0; i < decided.size(); ++i)
    if (self_->structure.w_is_given[i]) decided[i] = decided_branch(laws()[i], w[i].value, w[i].error);
  return decided;
}

namespace {

/// ∂(t, p)/∂q for q of this number; what is empty is 0. Throws InvalidInput.
Matrix outer_changes(Eigen::Index parameters, Eigen::Index columns, const Vector& dt_dq, const Matrix& dp_dq) {
  Matrix changes = Matrix::Zero(1 + parameters, columns);
  if (dt_dq.size() > 0) {
    check_size("dt_dq", columns, dt_dq);
    changes.row(0) = dt_dq.transpose();
  }
  if (dp_dq.size() == 0) return changes;
  if (dp_dq.rows() != parameters || dp_dq.cols() != columns)
    throw InvalidInput(fmt::format("dp_dq must be {}x{} but is {}x{}", parameters, columns, dp_dq.rows(), dp_dq.cols()));
  changes.bottomRows(parameters) = dp_dq;
  return changes;
}

}  // namespace

JetSensitivities ConsistentJets::sensitivities(const Jet& jet, const Matrix& dx_dq,
                                               const Vector& dt_dq, const Matrix& dp_dq) {
  const auto parameters = static_cast<Eigen::Index>(self_->system.parameters.size());
  if (dx_dq.rows() != n())
    throw InvalidInput(fmt::format("dx_dq must have {} rows but has {}", n(), dx_dq.rows()));
  const Matrix changes = outer_changes(parameters, dx_dq.cols(), dt_dq, dp_dq);
  if (!jet.consistent) throw InvalidInput("sensitivities need a jet that is consistent");
  self_->use(jet.mode);
  ModeArray& equations = self_->equations();
  const double unit = equations.scales().fastest;
  set_unit(jet.unit);
  equations.begin(jet);
  std::unique_ptr<DerivativeArray>& outer = self_->now->outer;
  if (!outer)
    outer = std::make_unique<DerivativeArray>(
        self_->forms.any() ? self_->forms.of(jet.mode, self_->ends).system : self_->system,
        levels(), true);
  outer->evaluate(jet.t, equations.scales().fastest, equations.x(), equations.lambda());
  JetSensitivities result = differentiate_jet(equations, *outer, jet, dx_dq, changes);
  set_unit(unit);
  return result;
}

bool ConsistentJets::tells_all(const Jet& jet) {
  if (jet.x.cols() != levels() + 2) return with_levels(static_cast<int>(jet.x.cols()) - 2).tells_all(jet);
  self_->use(jet.mode);
  return is_linear() || (!is_nonlinear_in_rates() && has_rank_around(self_->equations(), jet));
}

Matrix ConsistentJets::differential_projection(double t, const Vector& x, const Vector& lambda,
                                               const Vector& rates) {
  const Mode any(laws().size(), 0);
  self_->check(any, x, lambda, rates);
  self_->first().begin(any, t, x, lambda, rates);
  return self_->first().differential_projection();
}

}  // namespace perp
