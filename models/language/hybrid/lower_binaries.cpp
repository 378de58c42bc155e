// Binaries and constraints to laws: read_model calls it, so that every scheme and analysis serves
// such models.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/models/language/hybrid/constraint_system.hpp>
#include <perp/models/language/hybrid/faces.hpp>
#include <perp/models/language/hybrid/lower_binaries.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/reader/context.hpp>

namespace perp {
namespace {

class BinaryLowering {
 public:
  explicit BinaryLowering(const HybridModel& model) : model_(model), faces_(model) {
    for (int l = 0; l < faces_.constraints(); ++l)
      if (faces_.binaries_of(l).empty()) bounds_.push_back(l);
    Dcs& system = result_.system;
    const Tape tape = model.without_inputs(rows_);
    system.tape = with_moved_inputs(tape, rows_, model.parameter_input(0),
                                    static_cast<int>(bounds_.size()));
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
    int constraint = -1;
    for (int l = 0; l < faces_.constraints(); ++l) {
      if (!faces_.holds(l, binary)) continue;
      if (constraint >= 0)
        return refuse(
            l, -1,
            fmt::format("another constraint holds '{}' too; a law stands for one constraint",
                        model_.binaries[at(binary)].name));
      constraint = l;
    }
    if (constraint < 0)
      return refuse(-1, binary, "no constraint holds it");
    std::vector<int> z(at(model_.q()), 0);
    const SparsePolynomial* off = faces_.face(constraint, z);
    z[at(binary)] = 1;
    const SparsePolynomial* on = faces_.face(constraint, z);
    if (off == nullptr || on == nullptr)
      return refuse(constraint, -1, "it is too large to be multiplied out");
    if (off->is_zero() || on->is_zero())
      return refuse(constraint, -1,
                    fmt::format("it vanishes for {} = {}; no law has such a range",
                                model_.binaries[at(binary)].name, off->is_zero() ? 0 : 1));
    add_law(binary, constraint, *off, *on);
  }

  void add_law(int binary, int constraint, const SparsePolynomial& off,
               const SparsePolynomial& on) {
    const int w = face_line(constraint, binary, 0);
    if (const std::optional<double> kappa = ratio(on, off); kappa && *kappa < 0)
      return add(binary, step(), w);
    const std::optional<double> width = constant_sum(off, 1, on);
    if (!width)
      return refuse(
          constraint, -1,
          fmt::format(
              "its forms for {0} = 0 and {0} = 1 neither are multiples with opposite signs nor sum "
              "up to a constant",
              model_.binaries[at(binary)].name));
    if (*width > 0)
      return refuse(constraint, -1,
                    fmt::format("neither value of {} satisfies it in a gap of width {:g}",
                                model_.binaries[at(binary)].name, *width));
    if (!model_.binaries[at(binary)].start)
      return refuse(-1, binary, "within its band both values continue");
    // w = a / |c|, c = a + b at the origin of all signals: a function of the parameters.
    Tape& tape = result_.system.tape;
    const int sum =
        tape.apply(Operation::add, at_origin(w), at_origin(face_line(constraint, binary, 1)));
    add(binary, hysteresis(-1, 0),
        tape.apply(Operation::divide, w, tape.apply(Operation::negate, sum)));
  }

  int face_line(int constraint, int binary, double value) {
    return with_values(result_.system.tape, rows_[model_.f.size() + at(constraint)],
                       {{model_.binary_input(binary), value}});
  }

  int at_origin(int line) {
    std::map<int, double> origin;
    for (int input = 0; input < model_.parameter_input(0); ++input) origin[input] = 0;
    return with_values(result_.system.tape, line, origin);
  }

  void add(int binary, Law law, int w) {
    const Binary& given = model_.binaries[at(binary)];
    law.name = given.name;
    for (Branch& branch : law.branches)
      if (branch.lambda.lower == branch.lambda.upper)
        branch.name = given.modes[branch.lambda.lower == 0 ? 0 : 1];
    // A law with memory starts in the first branch that its argument allows.
    if (law.memory && given.start == 1) std::reverse(law.branches.begin(), law.branches.end());
    result_.system.laws.push_back(std::move(law));
    result_.system.G.push_back(w);
  }

  const HybridModel& model_;
  Faces faces_;
  std::vector<int> rows_;
  std::vector<int> bounds_;  // constraints without binaries
  LoweredBinaries result_;
};

}  // namespace

LoweredBinaries lower_binaries(const HybridModel& model) { return BinaryLowering(model).run(); }

namespace reader {
namespace {

[[noreturn]] void fail_lowering(const Document& document, const HybridModel& hybrid,
                                const LoweredBinaries& lowered) {
  constexpr const char* instead = "perp run, perp modes and perp check know such models";
  const Value& root = document.root();
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

/// Throws where a declared start violates its constraint, or lies on the surface that both values
/// of a step share.
void check_starts(const Document& document, const HybridModel& hybrid, const Model& model,
                  const Dcs& system) {
  for (int i = 0; i < hybrid.q(); ++i) {
    const Binary& binary = hybrid.binaries[at(i)];
    if (!binary.start) continue;
    // Of the lowered system, whose laws are those of the constraints too; its multipliers are not known.
    const int parameters = static_cast<int>(system.parameters.size());
    std::vector<double> inputs(at(system.parameter_input(parameters)), nan);
    inputs[0] = model.run.span.start;
    for (int j = 0; j < system.n(); ++j)
      inputs[at(system.variable_input(j))] = model.variables[at(j)].start;
    for (int k = 0; k < parameters; ++k) inputs[at(system.parameter_input(k))] = system.parameters[at(k)];
    const auto allowed = [&](const Branch& branch, double w) {
      return branch.w.lower <= w && w <= branch.w.upper;
    };
    std::vector<double> values(at(system.tape.size()));
    system.tape.evaluate(std::span<const double>(inputs), std::span<double>(values));
    const double w = values[at(system.G[at(i)])];
    if (std::isnan(w)) continue;  // of signals that are not known before the start
    const Law& law = system.laws[at(i)];
    const auto declared =
        std::find_if(law.branches.begin(), law.branches.end(), [&](const Branch& branch) {
          return branch.lambda.lower == *binary.start && branch.lambda.upper == *binary.start;
        });
    const Value& place = document.root().find("binaries")->value.find(binary.name)->value;
    if (!allowed(*declared, w))
      document.fail(
          place,
          fmt::format("start of binary '{}' is {}, which violates its constraint at the start; "
                      "expected {}",
                      binary.name, *binary.start, 1 - *binary.start));
    if (!law.memory && w == 0)
      document.fail(
          place,
          fmt::format("binary '{}' starts on the surface where it changes, and a run does not know "
                      "its value before; expected no start",
                      binary.name));
  }
}

}  // namespace

namespace {

/// Binaries beside others with a start: what is not declared would leave the others undeclared.
void check_all_or_none(const Document& document, const HybridModel& hybrid) {
  const auto has_start = [](const Binary& binary) { return binary.start.has_value(); };
  const auto& binaries = hybrid.binaries;
  if (std::none_of(binaries.begin(), binaries.end(), has_start)) return;
  const auto open = std::find_if_not(binaries.begin(), binaries.end(), has_start);
  if (open != binaries.end())
    document.fail(*document.root().find("binaries")->value.find(open->name),
                  fmt::format("binary '{}' has no start and others have; expected a start of each "
                              "binary, or of none",
                              open->name));
}

}  // namespace

namespace {

/// Is it a large model whose run is by the binaries, and no option asks for laws?
bool keeps_binaries(const Document& document, const HybridModel& hybrid, const KnownNames& known) {
  const std::string& scheme = hybrid.head.run.scheme;
  const bool is_large = scheme == "located" ? hybrid.is_large() : hybrid.takes_whole_steps();
  if (!known.hybrid || !is_large || (scheme != "backward_euler" && scheme != "located")) return false;
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

}  // namespace

Model read_lowered(const Document& document, const std::string& text, const KnownNames& known) {
  const HybridModel hybrid = read_hybrid(document, text, known);
  LoweredBinaries lowered;
  const bool keeps = keeps_binaries(document, hybrid, known);
  if (!keeps) check_size(document, hybrid);
  if (!keeps) lowered = lower_binaries(hybrid);
  const bool is_lowered = !keeps && lowered.reason.empty();
  if (!is_lowered && !known.hybrid) fail_lowering(document, hybrid, lowered);
  Model model = hybrid.head;
  if (!is_lowered) {
    check_all_or_none(document, hybrid);
    lowered.system = constraint_system(hybrid);
    model.hybrid = std::make_shared<const HybridModel>(hybrid);
  }
  const Dcs& system = lowered.system;
  for (const Binary& binary : hybrid.binaries) {
    model.binaries.push_back(static_cast<int>(model.multipliers.size()));
    model.multipliers.push_back(binary.name);
  }
  model.multipliers.resize(at(system.m()));
  model.outputs = {{}, system.tape, {}, system.m(), system.parameters};
  model.restitution.clear();
  if (std::optional<Lcs> matrices = is_lowered ? as_lcs(system) : std::nullopt)
    model.system = *std::move(matrices);
  else
    model.system = system;
  model.equations = system;
  const std::vector<std::string> inputs = model.input_names();
  for (const int line : system.G)
    model.arguments.push_back(print_expression(system.tape, line, inputs));
  if (is_lowered) check_starts(document, hybrid, model, system);
  const Member* run = document.root().find("run");
  Context context(document, known);
  check_effects(context, run == nullptr ? nullptr : &run->value, model);
  return model;
}

}  // namespace reader
}  // namespace perp
