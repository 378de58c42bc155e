// perp_relations [--seed S] [--count N] [--minutes M] [--relation NAME,...] [--keep DIR] [--kind laws|binaries|large]
// perp_relations --zoo | --models DIR [--seed S] [--count N] [--relation NAME,...]
// Random models, those of the zoo or the files of a folder through the relations; a table at the
// end. Called by scripts/relations.
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/relations/grids/large_relations.hpp>
#include <perp/tests/relations/models/generate.hpp>
#include <perp/tests/relations/relations.hpp>
#include <perp/tests/relations/shrink.hpp>

namespace {

using namespace perp::relations;

struct Arguments {
  unsigned seed = 1;
  long count = 0;      // 0: no limit
  double minutes = 1;
  std::string relations{}, keep{}, scheme{}, models{}, kind{};
  bool show = false, ties = false, zoo = false;
};

constexpr double most_steps = 4000;  // of a model that was read

struct Row {
  std::map<Verdict, long> counts;
  long bits = 0;
};

/// Decisions about signs that rounding left open, over the runs of one scheme.
struct Decisions {
  std::map<std::string, long> counts;
  long runs = 0, runs_with_weak = 0;

  void add(const perp::Counts& of_run) {
    ++runs;
    for (const auto& [name, count] : of_run)  // of a run that goes on in another scheme too
      for (const char* kind : {"resolved_exactly", "refined_signs", "weak"})
        if (name.ends_with(kind)) counts[kind] += count;
    runs_with_weak += of_run.contains("weak") || of_run.contains("captured_weak") ? 1 : 0;
  }
};

struct Report {
  std::map<std::string, Row> table;
  std::map<std::string, Decisions> decisions;
};

bool contains(const std::string& list, const std::string& name) {
  return list.empty() || ("," + list + ",").find("," + name + ",") != std::string::npos;
}

/// Shrinks a model that fails and writes both sides with what is wrong.
void keep(const Arguments& arguments, const Relation& relation, SchemeName scheme,
          const RandomModel& model) {
  const auto fails = [&](const RandomModel& candidate) {
    try {
      Subject subject(candidate);
      return judge(relation, subject, scheme).verdict == Verdict::different;
    } catch (const std::exception&) {
      return false;
    }
  };
  const RandomModel small = shrunk(model, fails);
  Subject subject(small);
  const Judgement judgement = judge(relation, subject, scheme);
  const std::string name = fmt::format("{}/{}_{}_{}{}", arguments.keep, relation.name, to_string(scheme),
                                       is_hybrid(model) ? "binaries_" : "", model.seed);
  std::filesystem::create_directories(arguments.keep);
  const std::string comment =
      fmt::format("# seed {}, relation {}, scheme {}\n# {}\n", model.seed, relation.name,
                  to_string(scheme), judgement.what);
  std::ofstream(name + ".toml") << comment << text(small);
  std::ofstream(name + "_other.toml") << comment << judgement.other;
  Subject whole(model);
  std::ofstream(name + "_whole.toml") << text(model);
  std::ofstream(name + "_whole_other.toml") << judge(relation, whole, scheme).other;
}

/// A subject under every relation of a list and both schemes; differences go to standard output,
/// and `failing` is told of them.
template <class Failing>
void judge_all(const Arguments& arguments, const std::string& name, Subject& subject,
               const std::vector<Relation>& relations, Report& report, const Failing& failing) {
  for (const Relation& relation : relations) {
    if (!contains(arguments.relations, relation.name)) continue;
    for (const SchemeName scheme : {SchemeName::backward_euler, SchemeName::located}) {
      if (!contains(arguments.scheme, to_string(scheme))) continue;
      const Judgement judgement = judge(relation, subject, scheme);
      Row& row = report.table[fmt::format("{:14} {}", relation.name, to_string(scheme))];
      ++row.counts[judgement.verdict];
      row.bits += judgement.same_bits ? 1 : 0;
      const bool is_shown = judgement.verdict == Verdict::different ||
                            (arguments.ties && judgement.verdict != Verdict::same &&
                             judgement.verdict != Verdict::unusable);
      if (!is_shown) continue;
      fmt::print("{} {} {} {}: {}\n", name, relation.name, to_string(scheme),
                 to_string(judgement.verdict), judgement.what);
      std::fflush(stdout);
      failing(relation, scheme);
    }
  }
  for (const SchemeName scheme : {SchemeName::backward_euler, SchemeName::located})
    if (contains(arguments.scheme, to_string(scheme)))
      report.decisions[to_string(scheme)].add(subject.outcome(scheme).run.counts);
}

/// Relations write models of laws, not those whose binaries no law stands for.
bool has_laws(const std::string& file) {
  perp::ReadOptions known;
  known.hybrid = true;
  return perp::read_model(file, {}, known).hybrid == nullptr;
}

/// Files of the models of the zoo, or of a folder.
std::vector<std::string> files(const Arguments& arguments) {
  std::vector<std::string> result;
  if (arguments.zoo)
    for (const std::string& name : perp::zoo())
      if (const std::string file = perp::find_model(name); has_laws(file)) result.push_back(file);
  if (!arguments.models.empty())
    for (const auto& entry : std::filesystem::directory_iterator(arguments.models))
      if (entry.path().extension() == ".toml") result.push_back(entry.path().string());
  std::sort(result.begin(), result.end());
  return result;
}

/// A model that was read, its first steps, by as many draws as asked for.
void judge_file(const Arguments& arguments, const std::string& file, Report& report) {
  perp::Model model = perp::read_model(file);
  if (model.run.h == 0) model.run.h = (model.run.span.end - model.run.span.start) / 1000;
  model.run.span.end = std::min(model.run.span.end, model.run.span.start + most_steps * model.run.h);
  for (unsigned draw = 0; draw < std::max(arguments.count, 1L); ++draw) {
    Subject subject(model, arguments.seed + draw);
    judge_all(arguments, fmt::format("{} {}", std::filesystem::path(file).stem().string(), draw),
              subject, relations_of_read_models(), report, [](const Relation&, SchemeName) {});
  }
}

void judge_model(const Arguments& arguments, const std::string& name, RandomModel model, Report& report) {
  Subject subject(std::move(model));
  if (arguments.show) fmt::print("{}\n", text(subject.model()));
  judge_all(arguments, name, subject, relations(), report, [&](const Relation& relation, SchemeName scheme) {
    if (!arguments.keep.empty()) keep(arguments, relation, scheme, subject.model());
  });
}

/// A model of many unknowns; where one fails its text and the other one are kept.
void judge_large(const Arguments& arguments, unsigned seed, Report& report) {
  LargeSubject subject(seed);
  if (arguments.show) fmt::print("{}\n", text(subject.model(), Form::equations));
  for (const LargeRelation& relation : large_relations()) {
    if (!contains(arguments.relations, relation.name)) continue;
    const Judgement judgement = judge(relation, subject);
    Row& row = report.table[fmt::format("large {}", relation.name)];
    ++row.counts[judgement.verdict];
    row.bits += judgement.same_bits ? 1 : 0;
    if (judgement.verdict != Verdict::different && !(arguments.ties && judgement.verdict == Verdict::tie)) continue;
    fmt::print("large, seed {} {} {}: {}\n", seed, relation.name, to_string(judgement.verdict), judgement.what);
    std::fflush(stdout);
    if (arguments.keep.empty()) continue;
    std::filesystem::create_directories(arguments.keep);
    const std::string name = fmt::format("{}/{}_large_{}", arguments.keep, relation.name, seed);
    std::ofstream(name + ".toml") << "# " << judgement.what << '\n' << text(subject.model(), Form::equations);
    std::ofstream(name + "_other.toml") << judgement.other;
  }
}

constexpr unsigned large_each = 16;  // they take as long as as many others

/// The models of a seed: one of laws, one of binaries, sometimes one of many unknowns.
void judge_models(const Arguments& arguments, unsigned seed, Report& report) {
  if (contains(arguments.kind, "laws")) judge_model(arguments, fmt::format("seed {}", seed), random_model(seed), report);
  if (contains(arguments.kind, "binaries"))
    judge_model(arguments, fmt::format("binaries, seed {}", seed), random_hybrid_model(seed), report);
  if (arguments.kind == "large" || (contains(arguments.kind, "large") && seed % large_each == 0)) judge_large(arguments, seed, report);
}

void print(const Report& report) {
  const auto& table = report.table;
  fmt::print("{:30} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "relation", "same", "(bits)",
             "different", "tie", "choice", "unusable");
  for (const auto& [name, row] : table) {
    const auto count = [&row = row](Verdict verdict) {
      const auto found = row.counts.find(verdict);
      return found == row.counts.end() ? 0 : found->second;
    };
    fmt::print("{:30} {:8} {:8} {:8} {:8} {:8} {:8}\n", name, count(Verdict::same), row.bits,
               count(Verdict::different), count(Verdict::tie), count(Verdict::choice),
               count(Verdict::unusable));
  }
}

void print(const std::map<std::string, Decisions>& decisions) {
  fmt::print("{:30} {:>8} {:>18} {:>12} {:>8} {:>16}\n", "decisions that rounding left", "runs",
             "resolved exactly", "in 113 bits", "weak", "runs with weak");
  for (const auto& [scheme, all] : decisions) {
    const auto count = [&all = all](const char* name) {
      const auto found = all.counts.find(name);
      return found == all.counts.end() ? 0 : found->second;
    };
    fmt::print("{:30} {:8} {:18} {:12} {:8} {:16}\n", scheme, all.runs, count("resolved_exactly"),
               count("refined_signs"), count("weak"), all.runs_with_weak);
  }
}

Arguments parsed(int argc, char** argv) {
  Arguments arguments;
  const std::map<std::string, std::function<void(const std::string&)>> options{
      {"--seed", [&](const std::string& v) { arguments.seed = static_cast<unsigned>(std::stoul(v)); }},
      {"--count", [&](const std::string& v) { arguments.count = std::stol(v); }},
      {"--minutes", [&](const std::string& v) { arguments.minutes = std::stod(v); }},
      {"--relation", [&](const std::string& v) { arguments.relations = v; }},
      {"--scheme", [&](const std::string& v) { arguments.scheme = v; }},
      {"--keep", [&](const std::string& v) { arguments.keep = v; }},
      {"--kind", [&](const std::string& v) { arguments.kind = v; }},
      {"--models", [&](const std::string& v) { arguments.models = v; }},
  };
  for (int k = 1; k < argc; ++k) {
    const std::string name = argv[k];
    if (name == "--show") {
      arguments.show = true;
    } else if (name == "--zoo") {
      arguments.zoo = true;
    } else if (name == "--ties") {
      arguments.ties = true;
    } else if (options.contains(name) && k + 1 < argc) {
      options.at(name)(argv[++k]);
    } else {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) try {
  const Arguments arguments = parsed(argc, argv);
  Report report;
  const auto start = std::chrono::steady_clock::now();
  long models = 0;
  const std::vector<std::string> of_files = files(arguments);
  for (const std::string& file : of_files) judge_file(arguments, file, report);
  for (unsigned seed = arguments.seed; of_files.empty(); ++seed, ++models) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (arguments.count > 0 ? models >= arguments.count : spent.count() > 60 * arguments.minutes)
      break;
    judge_models(arguments, seed, report);
  }
  fmt::print("{} models from seed {}\n", models, arguments.seed);
  print(report);
  print(report.decisions);
  for (const auto& [name, row] : report.table)
    if (row.counts.contains(Verdict::different)) return 1;
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "perp_relations: {}\n", error.what());
  return 2;
}
