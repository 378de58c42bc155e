#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/expression/dependent_lines.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/schemes/mechanical/mechanical_system.hpp>

namespace perp {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
  throw InvalidInput("moreau_jean needs a mechanical system with unilateral contacts: " + reason);
}

/// λ = 0, w ≥ 0, or w ≤ 0 where the gap is −w.
bool is_open_contact(const Branch& branch) {
  return branch.a == 0 && branch.c == 0 && (branch.w == Range{0, inf} || branch.w == Range{-inf, 0});
}

/// w = 0, λ ≥ 0.
bool is_closed_contact(const Branch& branch) {
  return branch.b == 0 && branch.c == 0 && branch.lambda == Range{0, inf};
}

}  // namespace

bool is_contact(const Law& law) {
  return !law.memory && law.branches.size() == 2 && is_open_contact(law.branches[0]) &&
         is_closed_contact(law.branches[1]);
}

/// All first derivatives of F and G in (t, ẋ, x, λ), by row, on one tape.
struct MechanicalSystem::Jacobian {
  struct Part {
    int input, line;
  };
  Tape tape;
  std::vector<std::vector<Part>> F, G;
  std::vector<double> value;              // of each line at 0
  std::vector<char> varies;               // each line: depends on more than the parameters
  std::vector<char> varies_beside_t_q{};  // each line: depends on more than parameters, t and q

  explicit Jacobian(const Dcs& system) : tape(system.tape) {
    const int inputs = system.parameter_input(0);
    std::vector<int> outputs = system.F;
    outputs.insert(outputs.end(), system.G.begin(), system.G.end());
    F.resize(system.F.size());
    G.resize(system.G.size());
    for (const Derivative& entry : differentiate(tape, outputs, 0, inputs)) {
      const auto row = static_cast<std::size_t>(entry.output);
      (row < F.size() ? F[row] : G[row - F.size()]).push_back({entry.input, entry.line});
    }
    std::vector<double> at_zero(static_cast<std::size_t>(inputs), 0.0);
    at_zero.insert(at_zero.end(), system.parameters.begin(), system.parameters.end());
    value.resize(static_cast<std::size_t>(tape.size()));
    tape.evaluate<double>(at_zero, value);
    varies = dependence(system, [](int) { return true; });
  }

  /// Lines that depend on the inputs before the parameters that `matters` names.
  template <class Predicate>
  [[nodiscard]] std::vector<char> dependence(const Dcs& system, Predicate matters) const {
    return dependent_lines(tape, [&](int input) { return input < system.parameter_input(0) && matters(input); });
  }
};

std::string MechanicalSystem::name_of(int variable) const {
  const auto j = static_cast<std::size_t>(variable);
  return j < names_.size() ? names_[j] : fmt::format("variable {}", variable + 1);
}

MechanicalSystem::MechanicalSystem(Dcs system, std::vector<std::string> names)
    : system_(std::move(system)), names_(std::move(names)) {
  validate(system_);
  require_laws();
  make_gaps();
  Jacobian jacobian(system_);
  find_positions(jacobian);
  require_derivatives(jacobian);
  jacobian.varies_beside_t_q = jacobian.dependence(system_, [&](int input) {
    return input != Dcs::time_input() && !is_position(input - system_.variable_input(0));
  });
  require_outputs(jacobian);
  require_dynamics(jacobian);
  compile_contacts(jacobian);
  compile_dynamics(jacobian);
  inputs_.assign(static_cast<std::size_t>(system_.parameter_input(0)), 0.0);
  inputs_.insert(inputs_.end(), system_.parameters.begin(), system_.parameters.end());
}

void MechanicalSystem::require_laws() const {
  for (const Law& law : system_.laws)
    if (!is_contact(law))
      refuse(fmt::format("law '{}' is not of the form 0 <= g perp lambda >= 0", law.name));
  if (!system_.resets.empty())
    refuse(fmt::format("'{}' is a reset; restitution replaces it", system_.resets.front().name));
}

/// Where a contact is written with w ≤ 0, as w in normal_cone(0, inf) is, its gap −w takes the place of w.
void MechanicalSystem::make_gaps() {
  for (std::size_t i = 0; i < system_.laws.size(); ++i) {
    if (system_.laws[i].branches[0].w.lower == 0) continue;
    system_.laws.changed(i).branches.changed(0).w = {0, inf};
    system_.G[i] = system_.tape.apply(Operation::negate, system_.G[i]);
  }
}

bool MechanicalSystem::is_position(int j) const {
  return std::find(positions_.begin(), positions_.end(), j) != positions_.end();
}

/// Row r, where it is of that form.
std::optional<MechanicalSystem::KinematicRow> MechanicalSystem::kinematic_row(const Jacobian& jacobian, int r) const {
  const auto& parts = jacobian.F[static_cast<std::size_t>(r)];
  const auto line = static_cast<std::size_t>(system_.F[static_cast<std::size_t>(r)]);
  if (parts.size() != 2 || jacobian.value[line] != 0) return std::nullopt;
  const auto& [derivative, variable] = std::minmax(
      parts[0], parts[1], [](const auto& a, const auto& b) { return a.input < b.input; });
  const int j = derivative.input - system_.derivative_input(0), k = variable.input - system_.variable_input(0);
  if (!is_variable(j) || !is_variable(k) || j == k) return std::nullopt;
  const auto a = static_cast<std::size_t>(derivative.line);
  const auto b = static_cast<std::size_t>(variable.line);
  if (jacobian.varies[a] || jacobian.varies[b]) return std::nullopt;
  return KinematicRow{j, k, -jacobian.value[b] / jacobian.value[a]};
}

/// The first row of each variable that says what its derivative is.
MechanicalSystem::Kinematics MechanicalSystem::kinematics(const Jacobian& jacobian) const {
  const auto all = static_cast<std::size_t>(n());
  Kinematics result{std::vector<int>(all, -1), std::vector<int>(all, -1), std::vector<double>(all, 1),
                    std::vector<bool>(all),    std::vector<bool>(all),    std::vector<bool>(all)};
  for (int r = 0; r < n(); ++r) {
    const auto row = kinematic_row(jacobian, r);
    if (!row || !std::isnormal(row->factor)) continue;
    const auto j = static_cast<std::size_t>(row->j);
    if (result.velocity[j] >= 0) continue;
    result.velocity[j] = row->k;
    result.factor[j] = row->factor;
    result.row[j] = r;
    result.is_target[static_cast<std::size_t>(row->k)] = true;
  }
  return result;
}

/// It is one, and its derivative is a velocity.
void MechanicalSystem::Kinematics::place(std::size_t position) {
  is_position[position] = true;
  is_velocity[static_cast<std::size_t>(velocity[position])] = true;
}

/// Has it a derivative that is not placed yet, and is it that of none?
bool MechanicalSystem::Kinematics::begins_chain(std::size_t j) const {
  return velocity[j] >= 0 && !is_target[j] && !is_position[static_cast<std::size_t>(velocity[j])] && !is_velocity[j];
}

/// What a gap depends on is a position.
void MechanicalSystem::place_gaps(const Jacobian& jacobian, Kinematics& found) const {
  for (std::size_t i = 0; i < jacobian.G.size(); ++i)
    for (const auto& part : jacobian.G[i]) {
      const int j = part.input - system_.variable_input(0);
      if (!is_variable(j)) continue;
      if (found.velocity[static_cast<std::size_t>(j)] < 0)
        refuse(
            fmt::format("the gap of law '{}' depends on {}, whose derivative is not "
                        "one velocity; write der(q) = v as an equation of its own",
                        laws()[i].name, name_of(j)));
      found.place(static_cast<std::size_t>(j));
    }
}

// Positions that a contact depends on come first; then every start of a chain of such rows. A row
// that is left over, as in v̇₁ = v₂ of a gyroscope, is one of the velocities' rows.
void MechanicalSystem::find_positions(const Jacobian& jacobian) {
  Kinematics found = kinematics(jacobian);
  place_gaps(jacobian, found);
  for (std::size_t j = 0; j < found.velocity.size(); ++j)
    if (found.begins_chain(j)) found.place(j);
  for (int j = 0; j < n(); ++j) {
    if (!found.is_position[static_cast<std::size_t>(j)]) continue;
    if (found.is_velocity[static_cast<std::size_t>(j)])
      refuse(
          fmt::format("a gap depends on {}, which is a velocity; gaps depend on "
                      "positions and time only",
                      name_of(j)));
    positions_.push_back(j);
  }
  number(found);
}

/// Puts positions, velocities and their rows in the order of the variables and equations.
void MechanicalSystem::number(const Kinematics& found) {
  const int n = this->n();
  std::vector<bool> is_kinematic(static_cast<std::size_t>(n));
  for (const int j : positions_)
    is_kinematic[static_cast<std::size_t>(found.row[static_cast<std::size_t>(j)])] = true;
  for (int r = 0; r < n; ++r)
    if (!is_kinematic[static_cast<std::size_t>(r)]) rows_.push_back(r);
  velocity_index_.assign(static_cast<std::size_t>(n), -1);
  for (int j = 0; j < n; ++j) {
    if (found.is_position[static_cast<std::size_t>(j)]) continue;
    velocity_index_[static_cast<std::size_t>(j)] = static_cast<int>(velocities_.size());
    velocities_.push_back(j);
  }
  factor_of_.assign(static_cast<std::size_t>(n), 1);
  for (const int j : positions_) {
    const auto position = static_cast<std::size_t>(j);
    const auto k = static_cast<std::size_t>(found.velocity[position]);
    velocity_of_.push_back(velocity_index_[k]);
    velocity_factor_.push_back(found.factor[position]);
    velocity_index_[position] = velocity_index_[k];
    factor_of_[position] = found.factor[position];
  }
}

void MechanicalSystem::require_derivatives(const Jacobian& jacobian) const {
  for (const int j : velocities_) {
    const int input = system_.derivative_input(j);
    const bool differential = std::any_of(rows_.begin(), rows_.end(), [&](int r) {
      const auto& parts = jacobian.F[static_cast<std::size_t>(r)];
      return std::any_of(parts.begin(), parts.end(),
                         [&](const auto& part) { return part.input == input; });
    });
    if (!differential)
      refuse(fmt::format("{} is algebraic: no equation contains its derivative", name_of(j)));
  }
}

void MechanicalSystem::require_outputs(const Jacobian& jacobian) const {
  for (std::size_t i = 0; i < jacobian.G.size(); ++i)
    if (jacobian.varies_beside_t_q[static_cast<std::size_t>(system_.G[i])])
      refuse(fmt::format("the gap of law '{}' depends on more than positions and time",
                         laws()[i].name));
}

void MechanicalSystem::require_dynamics(const Jacobian& jacobian) const {
  for (const int r : rows_)
    for (const auto& part : jacobian.F[static_cast<std::size_t>(r)]) {
      const int j = part.input - system_.derivative_input(0);
      const bool acceleration = is_variable(j) && !is_position(j);
      const bool multiplier = part.input >= system_.multiplier_input(0);
      if ((acceleration || multiplier) &&
          jacobian.varies_beside_t_q[static_cast<std::size_t>(part.line)])
        refuse(
            fmt::format("the factor of {} in equation {} depends on more than positions and "
                        "time",
                        multiplier ? "a multiplier" : "a derivative of a velocity", r + 1));
    }
}

void MechanicalSystem::compile_contacts(const Jacobian& jacobian) {
  Program& program = contact_program_;
  program.tape = jacobian.tape;
  program.values = system_.G;
  const int x0 = system_.variable_input(0);
  for (int i = 0; i < m(); ++i)
    for (const auto& part : jacobian.G[static_cast<std::size_t>(i)]) {
      if (part.input == Dcs::time_input())
        program.first.push_back({i, 0, part.line});
      else
        program.second.push_back({i, part.input - x0, part.line});
    }
  for (std::size_t r = 0; r < rows_.size(); ++r)
    for (const auto& part : jacobian.F[static_cast<std::size_t>(rows_[r])])
      if (part.input >= system_.multiplier_input(0))
        program.third.push_back(
            {static_cast<int>(r), part.input - system_.multiplier_input(0), part.line});
  prune(program);
}

/// Where an entry belongs: that of v̇ to A, of q̇ and v to C, of q to K.
std::vector<MechanicalSystem::Entry>& MechanicalSystem::entries_of(Program& program, bool of_derivative,
                                                                   bool of_position) {
  if (of_derivative != of_position) return of_derivative ? program.first : program.third;
  return program.second;
}

void MechanicalSystem::compile_dynamics(const Jacobian& jacobian) {
  Program& program = dynamics_program_;
  program.tape = jacobian.tape;
  const std::vector<char> varies =
      jacobian.dependence(system_, [](int input) { return input != Dcs::time_input(); });
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const auto row = static_cast<std::size_t>(rows_[r]);
    program.values.push_back(system_.F[row]);
    for (const auto& [input, line] : jacobian.F[row]) {
      if (input == Dcs::time_input() || input >= system_.multiplier_input(0)) continue;
      is_affine_ = is_affine_ && !varies[static_cast<std::size_t>(line)];
      const bool derivative = input < system_.variable_input(0);
      const int j = input - (derivative ? system_.derivative_input(0) : system_.variable_input(0));
      entries_of(program, derivative, is_position(j))
          .push_back({static_cast<int>(r), velocity_index_[static_cast<std::size_t>(j)], line,
                      factor_of_[static_cast<std::size_t>(j)]});
    }
  }
  prune(program);
}

void MechanicalSystem::prune(Program& program) {
  std::vector<int> lines = program.values;
  for (const auto* entries : {&program.first, &program.second, &program.third})
    for (const Entry& entry : *entries) lines.push_back(entry.line);
  program.tape = bind_inputs(program.tape, {}, lines);
  auto next = lines.begin();
  for (int& line : program.values) line = *next++;
  for (auto* entries : {&program.first, &program.second, &program.third})
    for (Entry& entry : *entries) entry.line = *next++;
  program.result.resize(static_cast<std::size_t>(program.tape.size()));
}

void MechanicalSystem::run(Program& program) {
  program.tape.evaluate<double>(inputs_, program.result);
}

void MechanicalSystem::set_state(double t, const Vector& x) {
  inputs_[static_cast<std::size_t>(Dcs::time_input())] = t;
  for (int j = 0; j < n(); ++j) inputs_[static_cast<std::size_t>(system_.variable_input(j))] = x[j];
}

void MechanicalSystem::evaluate(double t, const Vector& x, Contacts& contacts) {
  set_state(t, x);
  Program& program = contact_program_;
  run(program);
  const auto value = [&](int line) { return program.result[static_cast<std::size_t>(line)]; };
  const auto nv = static_cast<Eigen::Index>(velocities_.size());
  contacts.g.resize(m());
  for (int i = 0; i < m(); ++i) contacts.g[i] = value(program.values[static_cast<std::size_t>(i)]);
  contacts.g_t.setZero(m());
  contacts.size.setZero(m());
  contacts.G.setZero(m(), nv);
  contacts.B.setZero(nv, m());
  for (const Entry& entry : program.first) contacts.g_t[entry.row] += value(entry.line);
  for (const Entry& entry : program.second) {
    const int k = velocity_index_[static_cast<std::size_t>(entry.column)];
    contacts.G(entry.row, k) +=
        factor_of_[static_cast<std::size_t>(entry.column)] * value(entry.line);
    contacts.size[entry.row] += std::abs(value(entry.line) * x[entry.column]);
  }
  for (const Entry& entry : program.third) contacts.B(entry.row, entry.column) -= value(entry.line);
}

void MechanicalSystem::evaluate(double t, const Vector& vdot, const Vector& x, Dynamics& dynamics) {
  set_state(t, x);
  for (std::size_t k = 0; k < velocities_.size(); ++k)
    inputs_[static_cast<std::size_t>(system_.derivative_input(velocities_[k]))] =
        vdot[static_cast<Eigen::Index>(k)];
  for (std::size_t j = 0; j < positions_.size(); ++j)
    inputs_[static_cast<std::size_t>(system_.derivative_input(positions_[j]))] =
        velocity_factor_[j] * x[velocities_[static_cast<std::size_t>(velocity_of_[j])]];
  Program& program = dynamics_program_;
  run(program);
  const auto nv = static_cast<Eigen::Index>(velocities_.size());
  dynamics.F.resize(nv);
  for (Eigen::Index r = 0; r < nv; ++r)
    dynamics.F[r] =
        program.result[static_cast<std::size_t>(program.values[static_cast<std::size_t>(r)])];
  const auto fill = [&](const std::vector<Entry>& entries, Matrix& M) {
    M.setZero(nv, nv);
    for (const Entry& entry : entries)
      M(entry.row, entry.column) +=
          entry.factor * program.result[static_cast<std::size_t>(entry.line)];
  };
  fill(program.first, dynamics.A);
  fill(program.second, dynamics.C);
  fill(program.third, dynamics.K);
}

}  // namespace perp
