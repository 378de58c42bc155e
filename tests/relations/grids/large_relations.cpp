// Relations between runs of large models: rows and laws of every step, units, order, company, words, forms, solvers, time.
#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <perp/core/base/index.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/relations/grids/large_relations.hpp>

namespace perp::relations {
namespace {

enum class Exactness { bits, rounding };

/// Runs the other text and compares.
Judgement compared(LargeSubject& subject, const std::string& other, LargeSettings settings, const LargePlaces& by, Exactness exactness,
                   const std::string& folder = {}) {
  Judgement judgement;
  judgement.other = other;
  const LargeRun& here = subject.run(settings.splits);
  if (here.is_slow) return judgement;
  const LargeRun there = run_large(other, settings, folder);
  if (there.is_slow || (!here.refusal.empty() && !there.refusal.empty())) return judgement;
  judgement.same_bits = same_bits(here, there, by);
  judgement.what = judgement.same_bits && here.run.status == there.run.status ? "" : difference(subject.model(), here, there, by);
  judgement.verdict = judgement.what.empty() ? Verdict::same : Verdict::different;
  if (judgement.verdict == Verdict::same && exactness == Exactness::bits && !judgement.same_bits) {
    judgement.verdict = Verdict::different;
    judgement.what = "not the same to the bit";
  } else if (judgement.verdict == Verdict::different && subject.is_at_tie(settings.splits)) {
    judgement.verdict = Verdict::tie;
  }
  return judgement;
}

Judgement compared(LargeSubject& subject, const LargeModel& other, const LargePlaces& by, Exactness exactness) {
  return compared(subject, text(other, Form::equations), subject.settings(), by, exactness);
}

Judgement judge_rows(LargeSubject& subject, std::mt19937& /*random*/) {
  Judgement judgement;
  const LargeRun& run = subject.run(subject.settings().splits);
  if (run.is_slow || !run.refusal.empty()) {
    judgement.what = run.refusal;
    if (!run.refusal.empty()) judgement.verdict = Verdict::different;
    return judgement;
  }
  judgement.what = fault_of(subject.model(), run, subject.settings().splits);
  // Matrices that are M-matrices have a solution in every step.
  if (run.run.status != Status::solved && subject.draw().grid) judgement.what = run.run.message;
  judgement.verdict = judgement.what.empty() ? Verdict::same : Verdict::different;
  return judgement;
}

Judgement judge_families(LargeSubject& subject, std::mt19937& /*random*/) {
  if (!subject.draw().grid || subject.draw().grid->dimensions() > 2) return {};  // families have two indices
  return compared(subject, families_text(*subject.draw().grid), subject.settings(), same_places(subject.model().n()), Exactness::bits);
}

Judgement judge_entries(LargeSubject& subject, std::mt19937& /*random*/) {
  return compared(subject, text(subject.model(), Form::entries), subject.settings(), same_places(subject.model().n()), Exactness::bits);
}

Judgement judge_files(LargeSubject& subject, std::mt19937& /*random*/) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("perp_relations_{}", ::getpid());
  std::filesystem::create_directories(folder);
  const std::string other = text(subject.model(), Form::files, folder.string());
  Judgement judgement = compared(subject, other, subject.settings(), same_places(subject.model().n()), Exactness::bits, folder.string());
  std::filesystem::remove_all(folder);
  return judgement;
}

/// The same laws in other words. Words with more unknowns or laws have other limits of pieces: whole steps.
Judgement judge_words(LargeSubject& subject, std::mt19937& random) {
  constexpr Form words[] = {Form::box, Form::cone, Form::maximum, Form::minimum, Form::operators, Form::branches};
  constexpr int most_unknowns = 600;  // of max and min, whose steps no certificate makes unique: those of more take minutes
  const Form drawn = words[random() % std::size(words)];
  const bool is_long = (drawn == Form::maximum || drawn == Form::minimum) && subject.model().n() > most_unknowns;
  const Form form = is_long ? Form::box : drawn;
  LargeSettings settings = subject.settings();
  settings.splits = settings.splits && form == Form::box;
  return compared(subject, text(subject.model(), form), settings, same_places(subject.model().n()),
                  form == Form::box ? Exactness::bits : Exactness::rounding);
}

/// Factors 1 of everything.
LargeUnits no_units(const LargeModel& model) {
  const std::vector<double> n(at(model.n()), 1), m(at(model.m()), 1);
  return {n, n, m, m, 1};
}

Judgement in_other_units(LargeSubject& subject, const LargeUnits& units, Exactness exactness) {
  LargePlaces by = same_places(subject.model().n());
  by.factors = units.variables;
  by.time = units.time;
  return compared(subject, in_units(subject.model(), units), by, exactness);
}

void fill(std::vector<double>& list, double value) { std::ranges::fill(list, value); }

/// All variables in one unit, all equations in one, and so on: an M-matrix is one again.
LargeUnits common_units(const LargeModel& model, std::mt19937& random, double base, int most) {
  std::uniform_int_distribution<int> exponent(-most, most);
  LargeUnits units = no_units(model);
  for (std::vector<double>* list : {&units.variables, &units.equations, &units.arguments, &units.multipliers})
    fill(*list, std::pow(base, exponent(random)));
  units.time = std::pow(base, exponent(random));
  return units;
}

Judgement judge_common_units(LargeSubject& subject, std::mt19937& random) {
  return in_other_units(subject, common_units(subject.model(), random, 2, 20), Exactness::bits);
}

Judgement judge_decimal(LargeSubject& subject, std::mt19937& random) {
  return in_other_units(subject, common_units(subject.model(), random, 10, 6), Exactness::rounding);
}

/// A unit of each variable; that of its equation follows, so that symmetric matrices are symmetric again.
Judgement judge_node_units(LargeSubject& subject, std::mt19937& random) {
  LargeUnits units = no_units(subject.model());
  std::uniform_int_distribution<int> exponent(-6, 6);
  for (std::size_t j = 0; j < units.variables.size(); ++j) units.equations[j] = units.variables[j] = std::exp2(exponent(random));
  for (double& unit : units.multipliers) unit = std::exp2(exponent(random));
  return in_other_units(subject, units, Exactness::rounding);
}

Judgement judge_free_units(LargeSubject& subject, std::mt19937& random) {
  LargeUnits units = no_units(subject.model());
  std::uniform_int_distribution<int> exponent(-8, 8);
  for (std::vector<double>* list : {&units.variables, &units.equations, &units.arguments, &units.multipliers})
    for (double& unit : *list) unit = std::exp2(exponent(random));
  return in_other_units(subject, units, Exactness::rounding);
}

Judgement judge_mirrored(LargeSubject& subject, std::mt19937& /*random*/) {
  LargeUnits units = no_units(subject.model());
  fill(units.variables, -1);
  fill(units.equations, -1);
  return in_other_units(subject, units, Exactness::bits);
}

std::vector<int> shuffled(int size, std::mt19937& random) {
  std::vector<int> places(at(size));
  std::iota(places.begin(), places.end(), 0);
  std::shuffle(places.begin(), places.end(), random);
  return places;
}

Judgement judge_order(LargeSubject& subject, std::mt19937& random) {
  const LargeModel& model = subject.model();
  LargePlaces by = same_places(model.n());
  by.variables = shuffled(model.n(), random);
  return compared(subject, permuted(model, by.variables, shuffled(model.n(), random), shuffled(model.m(), random)), by,
                  Exactness::rounding);
}

Judgement judge_transposed(LargeSubject& subject, std::mt19937& random) {
  if (!subject.draw().grid || subject.draw().grid->dimensions() < 2) return {};
  const LargeModel& model = subject.model();
  std::array<int, 3> axes{1, 0, 2};
  if (subject.draw().grid->dimensions() == 3)
    do std::shuffle(axes.begin(), axes.end(), random);
    while (axes == std::array<int, 3>{0, 1, 2});
  LargePlaces by = same_places(model.n());
  by.variables = transposition(*subject.draw().grid, axes);
  return compared(subject, permuted(model, by.variables, by.variables, shuffled(model.m(), random)), by, Exactness::rounding);
}

/// Beside a swing without laws, whose steps are the same ones.
Judgement judge_company(LargeSubject& subject, std::mt19937& /*random*/) {
  const LargeModel swing{.start = {1, 0}, .b = {0, 0.25}, .s = {0, 0}, .E = {{0, 0, 1}, {1, 1, 1}}, .A = {{0, 1, 1}, {1, 0, -16}}};
  return compared(subject, joined(subject.model(), swing), same_places(subject.model().n()), Exactness::rounding);
}

Judgement judge_solvers(LargeSubject& subject, std::mt19937& /*random*/) {
  LargeSettings settings = subject.settings();
  settings.solver = "newton_min";
  return compared(subject, text(subject.model(), Form::equations), settings, same_places(subject.model().n()), Exactness::rounding);
}

/// On from the state at a whole step.
Judgement judge_time(LargeSubject& subject, std::mt19937& random) {
  const LargeModel& model = subject.model();
  const LargeRun& run = subject.run(subject.settings().splits);
  Judgement judgement;
  if (run.is_slow || !run.refusal.empty() || run.run.status != Status::solved) return judgement;
  const int at_step = 1 + static_cast<int>(random() % static_cast<unsigned>(model.steps - 1));
  Model rest = read_model_text(text(model, Form::equations), "large.toml");
  const double t = at_step * model.h;
  const Vector x = run.at(t, 1e-9 * model.h);
  rest.run.span.start = t;
  for (std::size_t j = 0; j < rest.variables.size(); ++j) rest.variables[j].start = x[static_cast<Eigen::Index>(j)];
  LargeRun there = run_large(rest, subject.settings());
  if (there.is_slow) return judgement;
  LargeRun here;
  here.run.status = run.run.status;
  for (std::size_t k = 0; k < run.run.size(); ++k) {
    if (run.run.t[k] < t - 1e-9 * model.h) continue;
    here.run.t.push_back(run.run.t[k]);
    here.run.x.push_back(run.run.x[k]);
  }
  judgement.what = difference(model, here, there, same_places(model.n()));
  judgement.verdict = judgement.what.empty() ? Verdict::same : Verdict::different;
  if (judgement.verdict == Verdict::different && subject.is_at_tie(subject.settings().splits)) judgement.verdict = Verdict::tie;
  return judgement;
}

}  // namespace

LargeSubject::LargeSubject(unsigned seed) : draw_(random_large(seed)) { settings_.splits = seed % 2 == 0; }

const LargeRun& LargeSubject::run(bool splits) {
  std::optional<LargeRun>& known = runs_[splits ? 1 : 0];
  if (!known) known = run_large(text(model(), Form::equations), {.splits = splits});
  return *known;
}

bool LargeSubject::is_at_tie(bool splits) {
  std::mt19937 random(model().seed);
  for (int k = 0; k < 2; ++k) {
    const LargeRun other = run_large(text(perturbed(model(), random, 1e-12), Form::equations), {.splits = splits});
    if (!difference(model(), run(splits), other, same_places(model().n())).empty()) return true;
  }
  return false;
}

const std::vector<LargeRelation>& large_relations() {
  static const std::vector<LargeRelation> table{
      {"rows", judge_rows},           {"families", judge_families},   {"entries", judge_entries},
      {"files", judge_files},         {"words", judge_words},         {"common_units", judge_common_units},
      {"decimal_units", judge_decimal}, {"node_units", judge_node_units}, {"free_units", judge_free_units},
      {"mirrored", judge_mirrored},   {"order", judge_order},         {"transposed", judge_transposed},
      {"company", judge_company},     {"solvers", judge_solvers},     {"time", judge_time},
  };
  return table;
}

Judgement judge(const LargeRelation& relation, LargeSubject& subject) {
  std::seed_seq seeds{subject.model().seed, static_cast<unsigned>(relation.name[0]), static_cast<unsigned>(relation.name[1])};
  std::mt19937 random(seeds);
  return relation.judge(subject, random);
}

}  // namespace perp::relations
