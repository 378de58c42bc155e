// Binaries and constraints to laws: read_model calls it, so that every scheme and analysis serves
// such models.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/core/laws/gap.hpp>
#include <perp/core/state_derivative.hpp>
#include <perp/core/system/sparse_lcs.hpp>
#include <perp/models/language/hybrid/constraint_system.hpp>
#include <perp/models/language/hybrid/face_laws.hpp>
#include <perp/models/language/hybrid/faces.hpp>
#include <perp/models/language/hybrid/lower_binaries.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/reader/context.hpp>

namespace perp {
namespace {

class BinaryLowering {
 public:
  explicit BinaryLowering(const HybridModel& model) : model_(model), faces_(model) {
    constraints_.resize(at(model.q()));
    for (int l = 0; l < faces_.constraints(); ++l) {
      if (faces_.binaries_of(l).empty()) bounds_.push_back(l);
      for (const int i : faces_.binaries_of(l)) constraints_[at(i)].push_back(l);
    }
    Dcs& system = result_.system;
    system.tape = with_multipliers(model, static_cast<int>(bounds_.size()), rows_);
    system.parameters = model.parameter_values();
    const auto equations = static_cast<std::ptrdiff_t>(model.f.size());
    system.F.assign(rows_.begin(), rows_.begin() + equations);
  }

  LoweredBinaries run() {
    for (int l = 0; l < faces_.constraints() && result_.reason.empty(); ++l)
      if (const std::size_t count = faces_.binaries_of(l).size(); count > 1)
        refuse(l, -1,
               fmt::format("it holds {} binaries; a law stands for a constraint of one", count));
    for (int i = 0; i < model_.q() && result_.reason.empty(); ++i) lower(i);
    for (const int l : bounds_) {
      result_.system.laws.push_back(constraint(model_.constraints[at(l)].name));
      result_.system.G.push_back(rows_[model_.f.size() + at(l)]);
    }
    return std::move(result_);
  }

 private:
  void refuse(int constraint, int binary, const std::string& why) {
    result_.constraint = constraint;
    result_.binary = binary;
    result_.reason = why;
  }

  void lower(int binary) {
    const std::vector<int>& constraints = constraints_[at(binary)];
    if (constraints.empty()) return refuse(-1, binary, "no constraint holds it");
    if (constraints.size() > 1)
      return refuse(
          constraints[1], -1,
          fmt::format("another constraint holds '{}' too; a law stands for one constraint",
                      model_.binaries[at(binary)].name));
    add_law(binary, constraints[0]);
  }

  void add_law(int binary, int constraint) {
    using Kind = FaceRelation::Kind;
    const std::string& name = model_.binaries[at(binary)].name;
    const int off = face_line(constraint, binary, 0), on = face_line(constraint, binary, 1);
    const FaceRelation relation = relation_of_faces(
        model_, result_.system.tape, off, on, model_.parameter_input(0) + static_cast<int>(bounds_.size()));
    if (relation.kind == Kind::none)
      return refuse(constraint, -1, fmt::format(fmt::runtime(relation.reason), name));
    if (relation.kind == Kind::opposite) return add(binary, step(), off);
    if (!model_.binaries[at(binary)].start && relation.kind != Kind::gap)
      return refuse(-1, binary,
                    relation.kind == Kind::band ? "within its band both values continue"
                                                : "both values continue where its constraint holds");
    if (relation.kind == Kind::free_at_0) return add(binary, one_sided(0), on);
    if (relation.kind == Kind::free_at_1) return add(binary, one_sided(1), off);
    add_between(binary, relation, off);
  }

  /// A band or a gap, w = a / |c|: the ends are 0 and c / |c|, and stay functions of the parameters.
  void add_between(int binary, const FaceRelation& relation, int off) {
    Tape& tape = result_.system.tape;
    const bool is_band = relation.kind == FaceRelation::Kind::band;
    const int width = is_band ? tape.apply(Operation::negate, relation.c) : relation.c;
    add(binary, is_band ? hysteresis(-1, 0) : gap(0, 1), tape.apply(Operation::divide, off, width));
  }

  /// One value is always allowed, the other one while w <= 0.
  static Law one_sided(int free) {
    Law law{"binary", {{0, 1, 0, {}, {0, 0}, {}}, {0, 1, 1, {}, {1, 1}, {}}}, true};
    law.branches.changed(at(1 - free)).w = {-inf, 0};
    return law;
  }

  int face_line(int constraint, int binary, double value) {
    return with_values(result_.system.tape, rows_[model_.f.size() + at(constraint)],
                       {{model_.binary_input(binary), value}});
  }

  void add(int binary, Law law, int w) {
    const Binary& given = model_.binaries[at(binary)];
    law.name = given.name;
    law.branches.change([&](std::vector<Branch>& branches) {
      for (Branch& branch : branches)
        if (branch.lambda.lower == branch.lambda.upper)
          branch.name = given.modes[branch.lambda.lower == 0 ? 0 : 1];
      // A law with memory starts in the first branch that its argument allows.
      if (law.memory && given.start == 1) std::reverse(branches.begin(), branches.end());
    });
    result_.system.laws.push_back(std::move(law));
    result_.system.G.push_back(w);
  }

  const HybridModel& model_;
  Faces faces_;
  std::vector<int> rows_;
  std::vector<int> bounds_;  // constraints without binaries
  std::vector<std::vector<int>> constraints_;  // that hold each binary
  LoweredBinaries result_;
};

/// Values of lines where a run starts; NaN: they need what is not known there. `first`: the input
/// that holds the first variable; `known`: those variables whose start is no guess.
std::vector<double> values_at_start(const Model& model, const Tape& tape,
                                    const std::vector<int>& lines, std::vector<double> inputs,
                                    int first, const std::vector<int>& known) {
  inputs[0] = model.run.span.start;
  for (const int j : known) inputs[at(first + j)] = model.variables[at(j)].start;
  std::vector<double> values(at(tape.size())), result;
  tape.evaluate(std::span<const double>(inputs), std::span<double>(values));
  for (const int line : lines) result.push_back(values[at(line)]);
  return result;
}

/// The arguments of the laws.
std::vector<double> arguments_at_start(const Model& model, const Dcs& system, const std::vector<int>& known) {
  const int first = system.parameter_input(0);
  std::vector<double> inputs(at(first) + system.parameters.size(), nan);
  std::copy(system.parameters.begin(), system.parameters.end(), inputs.begin() + first);
  return values_at_start(model, system.tape, system.G, std::move(inputs), system.variable_input(0), known);
}

bool allows(const Branch& branch, double w) { return branch.w.lower <= w && w <= branch.w.upper; }

/// The branch that stands for a value of a binary.
const Branch& branch_of_value(const Law& law, int z) {
  return *std::find_if(law.branches.begin(), law.branches.end(), [&](const Branch& branch) {
    return branch.lambda.lower == z && branch.lambda.upper == z;
  });
}

}  // namespace

LoweredBinaries lower_binaries(const HybridModel& model) { return BinaryLowering(model).run(); }

bool keeps_binaries(const HybridModel& model, const std::string& scheme) {
  return scheme == "located" ? model.is_large() : scheme == "backward_euler" && model.takes_whole_steps();
}

std::string reason_for_binaries(const HybridModel& model) {
  if (model.takes_whole_steps() && keeps_binaries(model, model.head.run.scheme)) return "a large model";
  return lower_binaries(model).reason;
}

int binary_on_surface(const HybridModel& model, const LoweredBinaries& lowered) {
  std::vector<int> all(at(model.n()));
  std::iota(all.begin(), all.end(), 0);
  const std::vector<double> w = arguments_at_start(model.head, lowered.system, all);
  int found = -1;
  for (int i = 0; i < model.q(); ++i) {
    const bool is_on_surface = !lowered.system.laws[at(i)].memory && w[at(i)] == 0;
    if (is_on_surface && model.binaries[at(i)].start) return i;
    if (is_on_surface && found < 0) found = i;
  }
  return found;
}

std::optional<LoweredBinaries> laws_alone(const HybridPart& part, const std::string& scheme) {
  if (part.variables.empty() || part.binaries.empty() || keeps_binaries(part.model, scheme)) return std::nullopt;
  LoweredBinaries lowered = lower_binaries(part.model);
  if (!lowered.reason.empty() || binary_on_surface(part.model, lowered) >= 0) return std::nullopt;
  return lowered;
}

namespace reader {
namespace {

[[noreturn]] void fail_lowering(const Document& document, const HybridModel& hybrid,
                                const LoweredBinaries& lowered, int undecided) {
  constexpr const char* instead = "perp run, perp modes and perp check know such models";
  const Value& root = document.root();
  if (undecided >= 0) {
    const Binary& binary = hybrid.binaries[at(undecided)];
    document.fail(root.find("binaries")->value.find(binary.name)->value,
                  fmt::format("binary '{}' starts on the surface where it changes, and its law does not know its value "
                              "before; {}; here expected no start",
                              binary.name, instead));
  }
  if (lowered.binary >= 0) {
    const Binary& binary = hybrid.binaries[at(lowered.binary)];
    document.fail(
        *root.find("binaries")->value.find(binary.name),
        fmt::format("binary '{}' has no start: {}; expected 0 or 1", binary.name, lowered.reason));
  }
  const std::string message =
      fmt::format("constraint '{}' is no law of one binary, which this needs: {}; {}",
                  hybrid.constraints[at(lowered.constraint)].name, lowered.reason, instead);
  if (const Member* model = root.find("model"))
    document.fail(model->value.find("constraints")->value.items[at(lowered.constraint)], message);
  document.fail(*root.find("multilinear"), message);
}

}  // namespace

namespace {

/// The constraints, with the binaries as they are declared.
std::vector<double> constraints_at_start(const HybridModel& hybrid) {
  std::vector<int> rows;
  const Tape tape = hybrid.closed(rows);
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(hybrid.f.size()));
  std::vector<double> inputs(at(hybrid.parameter_input(0)), nan);
  for (int i = 0; i < hybrid.q(); ++i)
    if (hybrid.binaries[at(i)].start)
      inputs[at(hybrid.binary_input(i))] = *hybrid.binaries[at(i)].start;
  return values_at_start(hybrid.head, tape, rows, std::move(inputs), hybrid.variable_input(0), hybrid.states());
}

/// Which constraint holds each binary: of a model with laws in their place it is one.
std::vector<int> rows_of_binaries(const HybridModel& hybrid) {
  std::vector<int> rows(at(hybrid.q()), 0);
  for (int l = 0; l < static_cast<int>(hybrid.g.size()); ++l)
    for (const int k : lines_below(hybrid.tape, hybrid.g[at(l)])) {
      const Instruction& here = hybrid.tape[k];
      const int i = here.a - hybrid.binary_input(0);
      if (here.operation == Operation::input && i >= 0 && i < hybrid.q()) rows[at(i)] = l;
    }
  return rows;
}

/// Warns where a declared start violates its constraint; throws where the other value does so too.
void check_starts(const Document& document, const HybridModel& hybrid, const Dcs& system,
                  std::vector<std::string>& warnings) {
  const std::vector<double> w = arguments_at_start(hybrid.head, system, hybrid.states());
  const std::vector<double> g = constraints_at_start(hybrid);
  const std::vector<int> rows = rows_of_binaries(hybrid);
  for (int i = 0; i < hybrid.q(); ++i) {
    const Binary& binary = hybrid.binaries[at(i)];
    if (!binary.start || std::isnan(w[at(i)])) continue;  // signals not known before the start
    const Law& law = system.laws[at(i)];
    const auto is_allowed = [&](const Branch& branch) { return allows(branch, w[at(i)]); };
    if (is_allowed(branch_of_value(law, *binary.start))) continue;
    const int row = rows[at(i)];
    const std::string what = fmt::format("start of binary '{}' is {}, where {} ({}) is {:g}", binary.name,
                                         *binary.start, hybrid.constraints[at(row)].name,
                                         hybrid.constraints[at(row)].text, g[at(row)]);
    if (std::none_of(law.branches.begin(), law.branches.end(), is_allowed))
      document.fail(document.root().find("binaries")->value.find(binary.name)->value,
                    what + ", and the other value violates it too; expected another start");
    warnings.push_back(fmt::format("{}; it starts as {}", what, 1 - *binary.start));
  }
}

/// Of the parts of a model that laws stand for where they are run.
void check_starts_of_parts(const Document& document, const Model::HybridForm& form, std::vector<std::string>& warnings) {
  const HybridModel& hybrid = *form.of;
  const IndependentSets sets = independent_sets(hybrid, form.structure);
  if (sets.parts() < 2) return;
  for (const HybridPart& part : independent_parts(hybrid, sets))
    if (const std::optional<LoweredBinaries> laws = laws_alone(part, hybrid.head.run.scheme))
      check_starts(document, part.model, laws->system, warnings);
}

}  // namespace

namespace {

/// Is it a large model whose run is by the binaries, and no option asks for laws?
bool keeps_binaries(const Document& document, const HybridModel& hybrid, const ReadOptions& known) {
  const std::string& scheme = hybrid.head.run.scheme;
  if (!known.hybrid || !perp::keeps_binaries(hybrid, scheme)) return false;
  const Member* run = document.root().find("run");
  const Context context(document, known);
  const std::vector<std::string> of_laws =
      scheme == "located" ? std::vector<std::string>{"cross_check", "policy"}
                          : std::vector<std::string>{"selector", "solver", "split_at_events", "tol"};
  return std::none_of(of_laws.begin(), of_laws.end(), [&](const std::string& key) {
    return context.find(run == nullptr ? nullptr : &run->value, "run", key) != nullptr;
  });
}

void check_size(const Document& document, const HybridModel& hybrid) {
  constexpr int most_dense = 4096;
  if (hybrid.n() > most_dense)
    document.fail(*document.root().find("variables"),
                  fmt::format("the model has {} variables; expected at most {}: steps are made with dense "
                              "matrices here, sparse ones by perp run with backward_euler and located",
                              hybrid.n(), most_dense));
}

/// What a model is run by.
struct Lowering {
  LoweredBinaries laws{};
  bool keeps = false;       ///< binaries of a large model, without a look at laws
  bool is_lowered = false;  ///< it is run by the laws
};

/// Fails where laws are asked for and do not stand for the binaries.
Lowering lowering_of(const Document& document, const HybridModel& hybrid, const ReadOptions& known) {
  Lowering result{.keeps = keeps_binaries(document, hybrid, known)};
  if (!result.keeps) {
    check_size(document, hybrid);
    result.laws = lower_binaries(hybrid);
  }
  const bool has_laws = !result.keeps && result.laws.reason.empty();
  const int undecided = has_laws ? binary_on_surface(hybrid, result.laws) : -1;
  const bool is_declared = undecided >= 0 && hybrid.binaries[at(undecided)].start.has_value();
  result.is_lowered = has_laws && (undecided < 0 || (!known.hybrid && !is_declared));
  if (!result.is_lowered && !known.hybrid) fail_lowering(document, hybrid, result.laws, undecided);
  return result;
}

/// The formulas of the outputs by the inputs of the system, whose first multipliers are the binaries.
void set_outputs(const HybridModel& hybrid, const Dcs& system, Outputs& outputs) {
  outputs.multipliers = system.m();
  outputs.parameters = system.parameters;
  if (hybrid.outputs.empty()) return;
  HybridModel own = hybrid;
  own.f = hybrid.outputs;
  own.g.clear();
  outputs.tape = with_multipliers(own, system.m() - hybrid.q(), outputs.lines);
  if (holds_derivative(outputs.tape, outputs.lines, system)) outputs.derivative = StateDerivative(system);
}

/// The binaries are the first of the multipliers; the others have no names.
void name_multipliers(const HybridModel& hybrid, int count, Model& model) {
  for (const Binary& binary : hybrid.binaries) {
    model.binaries.push_back(static_cast<int>(model.multipliers.size()));
    model.multipliers.push_back(binary.name);
  }
  model.multipliers.resize(at(count));
}

}  // namespace

Model read_lowered(const Document& document, const ReadOptions& known) {
  HybridStructure structure;
  const auto with_binaries = std::make_shared<const HybridModel>(read_hybrid(document, known, &structure));
  const HybridModel& hybrid = *with_binaries;
  auto [lowered, keeps, is_lowered] = lowering_of(document, hybrid, known);
  Model model = hybrid.head;
  if (is_lowered) {
    model.lowered = with_binaries;
  } else {
    lowered.system = constraint_system(hybrid);
    model.hybrid = with_binaries;
    model.hybrid_form = std::make_shared<const Model::HybridForm>(with_binaries, std::move(structure));
  }
  const Dcs& system = lowered.system;
  name_multipliers(hybrid, system.m(), model);
  set_outputs(hybrid, system, model.outputs);
  model.restitution.clear();
  if (std::optional<Lcs> matrices = is_lowered ? as_full_lcs(system) : std::nullopt)
    model.system = *std::move(matrices);
  else
    model.system = system;
  model.equations = system;
  const std::vector<std::string> inputs = model.input_names();
  for (const int line : system.G)
    model.arguments.push_back(print_expression(system.tape, line, inputs));
  if (is_lowered)
    check_starts(document, hybrid, system, model.warnings);
  else if (!keeps)
    check_starts_of_parts(document, *model.hybrid_form, model.warnings);
  const Member* run = document.root().find("run");
  Context context(document, known);
  check_effects(context, run == nullptr ? nullptr : &run->value, model);
  return model;
}

}  // namespace reader
}  // namespace perp
