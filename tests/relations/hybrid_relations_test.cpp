#include <doctest/doctest.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <cctype>
#include <string_view>
#include <string>
#include <vector>

#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/multilinear/multilinear_form.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/analysis/hybrid/random_hybrid.hpp>
#include <perp/tests/from_environment.hpp>
#include <perp/tests/thinned.hpp>
#include <perp/tests/inline_matrix.hpp>
#include <perp/tests/relations/outcome.hpp>

// Runs of random models with binaries and constraints that must not differ: units, company, order, matrices, schemes.
// PERP_HYBRID_RELATIONS=N: as many models, PERP_HYBRID_SEED=S: from this seed.
namespace {

using namespace perp;
using test::from_environment;
using test::HybridGenerator;
using test::HybridText;
using test::RandomHybrid;
using test::Writing;

constexpr double end_time = 1.5;

/// A run in words and numbers: moments of the binaries, and states at the end by names.
struct Course {
  std::string refusal{};
  Status status = Status::never_run;
  bool has_choice = false;  ///< of several continuations or solutions one was taken
  bool has_laws = false;    ///< laws stand for its binaries
  struct Change {
    double t;
    std::string what;  ///< kind, binary, branches
  };
  std::vector<Change> changes{};
  std::vector<std::string> names{};
  std::vector<double> values{};
};

Course course_of(const std::string& text, const std::string& name) {
  Course course;
  try {
    ReadOptions known;
    known.hybrid = true;
    Model model = read_model_text(
        text, "m.toml", {{"run.scheme", name}, {"run.t", "[0, " + std::to_string(end_time) + "]"}}, known);
    model.run.h = 0x1p-9;
    course.has_laws = model.hybrid == nullptr;
    IntegrateOptions options;
    options.only_times = true;
    long rows = 0;
    options.observer = [&](const Step&) { return ++rows < 20000; };
    const Trajectory run = scheme(name).run(model, options);
    course.status = run.status;
    for (const char* count : {"several_solutions", "ties"})
      course.has_choice = course.has_choice || run.counts.contains(count);
    for (const Event& event : run.events) course.has_choice = course.has_choice || relations::was_chosen(event);
    for (const Event& event : run.events)
      if (event.law >= 0 && event.law < static_cast<int>(model.multipliers.size()) && event.from != event.to)
        course.changes.push_back({event.t, model.multipliers[static_cast<std::size_t>(event.law)] + " " +
                                               std::to_string(event.from) + std::to_string(event.to)});
    for (std::size_t j = 0; j < model.variables.size(); ++j) {
      course.names.push_back(model.variables[j].name);
      course.values.push_back(run.x.empty() ? 0 : run.x.back()[static_cast<Eigen::Index>(j)]);
    }
  } catch (const InvalidInput& error) {
    course.refusal = error.what();
  }
  return course;
}

/// The first difference in words; `factor(name)`: value there = factor × value here; changes of binaries whose names
/// `other` does not know stand beside it.
std::string difference(const Course& a, const Course& b, double tolerance,
                       const std::function<double(const std::string&)>& factor,
                       const std::string& suffix = "") {
  if (!a.refusal.empty() || !b.refusal.empty())
    return a.refusal.empty() == b.refusal.empty() ? "" : "refused: " + a.refusal + b.refusal;
  // That nothing continues is shown of exact numbers, and not of those that a factor has rounded.
  const auto ends = [](Status status) { return status == Status::no_solution || status == Status::not_solved; };
  const bool same_end = a.status == b.status || (tolerance > 0 && ends(a.status) && ends(b.status));
  if (!same_end) return std::string("status ") + to_string(a.status) + ", " + to_string(b.status);
  std::vector<Course::Change> there;
  for (const Course::Change& change : b.changes)
    if (const std::size_t space = change.what.find(' '); change.what.substr(0, space).ends_with(suffix))
      there.push_back({change.t, change.what.substr(0, space - suffix.size()) + change.what.substr(space)});
  const auto by_binary = [](const Course::Change& x, const Course::Change& y) {
    return x.what != y.what ? x.what < y.what : x.t < y.t;  // those of one moment in any order
  };
  std::vector<Course::Change> here = a.changes;
  std::sort(here.begin(), here.end(), by_binary);
  std::sort(there.begin(), there.end(), by_binary);
  if (here.size() != there.size())
    return std::to_string(here.size()) + " changes, " + std::to_string(there.size());
  for (std::size_t k = 0; k < here.size(); ++k) {
    if (here[k].what != there[k].what) return "change " + std::to_string(k) + ": " + here[k].what + ", " + there[k].what;
    if (!(std::abs(here[k].t - there[k].t) <= tolerance * end_time)) return "moment of change " + std::to_string(k);
  }
  for (std::size_t j = 0; j < a.names.size(); ++j) {
    const auto place = std::find(b.names.begin(), b.names.end(), a.names[j] + suffix);
    if (place == b.names.end()) return a.names[j] + " is missing";
    const double wanted = factor(a.names[j]) * a.values[j];
    const double found = b.values[static_cast<std::size_t>(place - b.names.begin())];
    double size = std::abs(factor(a.names[j]));
    for (const double value : a.values) size = std::max(size, std::abs(value * factor(a.names[j])));
    if (!(std::abs(wanted - found) <= tolerance * size)) return a.names[j] + " at the end";
  }
  return {};
}

double one(const std::string& /*name*/) { return 1; }

struct Tally {
  int judged = 0, different = 0, ties = 0, choices = 0;
  std::string list{};
};

/// A difference counts unless one of several solutions was taken (here: both roots of an equation, which may pass each
/// other, and norms whose last digits decide), or the model's own run changes as much when its states start 1e-12 beside.
void judge(const std::string& what, bool is_exact, bool has_roots, const std::string& text, const std::string& scheme_name, unsigned seed,
           Tally& tally) {
  ++tally.judged;
  if (what.empty()) return;
  if (!is_exact && (has_roots || course_of(text, scheme_name).has_choice)) {
    ++tally.choices;
    return;
  }
  std::string beside = text;
  std::size_t place = 0;
  for (bool up = true; (place = beside.find("{ start = ", place)) != std::string::npos; up = !up) {
    place += 10;
    const std::size_t comma = beside.find(',', place);
    std::array<char, 40> number{};
    std::snprintf(number.data(), number.size(), "%.17g", std::stod(beside.substr(place)) + (up ? 3e-12 : -2e-12));
    beside.replace(place, comma - place, number.data());
  }
  if (!difference(course_of(text, scheme_name), course_of(beside, scheme_name), 1e-8, one).empty()) {
    ++tally.ties;
    return;
  }
  ++tally.different;
  tally.list += "seed " + std::to_string(seed) + ": " + what + "\n" + (tally.different < 4 ? text : "");
}

void check(const std::string& relation, const std::string& scheme_name, int allowed,
           const std::function<std::string(const RandomHybrid&, const std::string&, HybridGenerator&)>& differs) {
  const unsigned first = from_environment("PERP_HYBRID_SEED", 1U);
  const unsigned count = from_environment("PERP_HYBRID_RELATIONS", test::is_sanitized ? 6U : 30U);
  Tally tally;
  for (unsigned seed = first; seed < first + count; ++seed) {
    HybridGenerator random(seed);
    const RandomHybrid model = random.draw(4);
    const std::string text = HybridText(model, {}).text();
    if (!course_of(text, scheme_name).refusal.empty()) continue;
    judge(differs(model, text, random), relation == "units", model.roots.first >= 0, text, scheme_name, seed, tally);
  }
  MESSAGE(relation, ", ", scheme_name, ": ", tally.judged, " judged, ", tally.different, " different, ", tally.ties, " ties, ", tally.choices, " choices");
  INFO(tally.list);
  CHECK(tally.different <= allowed);
  CHECK(tally.judged >= static_cast<int>(count) / 2);
  // Most pairs decide; of a handful the share says nothing.
  if (tally.judged >= 20) CHECK(tally.ties + tally.choices <= tally.judged / 4);
}

Writing in_units(const RandomHybrid& m, HybridGenerator& random, bool binary) {
  Writing writing;
  const auto unit = [&] {
    return binary ? std::ldexp(1.0, random.whole(-30, 30)) : std::pow(10.0, random.whole(-9, 9));
  };
  for (int j = 0; j < m.n + m.p; ++j) writing.units.push_back(unit());
  for (std::size_t l = 0; l < m.rows.size(); ++l) writing.factors.push_back(unit());
  return writing;
}

std::string units(const RandomHybrid& m, const std::string& text, HybridGenerator& random, bool binary,
                  const std::string& scheme_name) {
  const Writing writing = in_units(m, random, binary);
  const auto factor = [&](const std::string& name) {
    const int j = std::stoi(name.substr(1)) - 1 + (name[0] == 'y' ? m.n : 0);
    return writing.units[static_cast<std::size_t>(j)];
  };
  return difference(course_of(text, scheme_name), course_of(HybridText(m, writing).text(), scheme_name),
                    binary ? 0 : 1e-8, factor);
}

/// Every name of a model with a suffix.
std::string with_suffix(const std::string& text, const std::string& suffix) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::string result;
  for (auto at = text.begin(); at != text.end();) {
    const auto end = std::find_if_not(at, text.end(), is_word);
    result.append(at, end);
    const bool is_name = end - at > 1 && std::string_view("xyzc").find(*at) != std::string_view::npos &&
                         std::all_of(at + 1, end, is_digit);
    if (is_name) result += suffix;
    at = std::find_if(end, text.end(), is_word);
    result.append(end, at);
  }
  return result;
}

/// The part of a text between two headings.
std::string part(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from) + from.size();
  return text.substr(begin, text.find(to, begin) - begin);
}

std::string beside(const std::string& a, const std::string& b) {
  std::string all;
  const std::array<std::string, 6> heads{"[variables]\n", "[binaries]\n", "[model]\nequations = [\n",
                                         "]\nconstraints = [\n", "]\n[run]\n", ""};
  for (std::size_t k = 0; k + 2 < heads.size(); ++k) all += heads[k] + part(a, heads[k], heads[k + 1]) + part(b, heads[k], heads[k + 1]);
  return all + "]\n[run]\nt = [0, 10]\n";
}

std::string as_matrices(const RandomHybrid& m, const std::string& text) {
  const MultilinearForm form = multilinear_form(*read_hybrid_model_text(text, "m.toml"));
  const auto names = [](char letter, int count) {
    std::string list;
    for (int j = 1; j <= count; ++j) list += std::string(j > 1 ? ", \"" : "\"") + letter + std::to_string(j) + "\"";
    return "[" + list + "]";
  };
  return text.substr(0, text.find("[model]")) + "[multilinear]\nsignals = { states = " + names('x', m.n) +
         ", inputs = [], algebraic = " + names('y', m.p) + ", binaries = " + names('z', m.q) + " }\nS = " +
         test::inline_matrix(form.S()) + "Phi_f = " + test::inline_matrix(form.phi_f()) + "Phi_g = " + test::inline_matrix(form.phi_g()) +
         "[run]\nt = [0, 10]\n";
}

const std::vector<std::string> schemes_of_runs{"located", "backward_euler"};

}  // namespace

TEST_SUITE_BEGIN("relations/hybrid");

TEST_CASE("hybrid runs do not depend on units by powers of two, to the bit") {
  for (const std::string& name : schemes_of_runs)
    check("units", name, 0, [&](const RandomHybrid& m, const std::string& text, HybridGenerator& random) {
      return units(m, text, random, true, name);
    });
}

TEST_CASE("hybrid runs do not depend on units of 1e-9 to 1e9") {
  for (const std::string& name : schemes_of_runs)
    check("decimal units", name, 0, [&](const RandomHybrid& m, const std::string& text, HybridGenerator& random) {
      return units(m, text, random, false, name);
    });
}

TEST_CASE("hybrid runs do not depend on the order of variables, equations and constraints") {
  for (const std::string& name : schemes_of_runs)
    check("order", name, 0, [&](const RandomHybrid& m, const std::string& text, HybridGenerator& random) {
      Writing writing;
      for (std::vector<int>* list : {&writing.variables, &writing.equations})
        for (int j = 0; j < m.n + m.p; ++j) list->insert(list->begin() + random.whole(0, j), j);
      for (int l = 0; l < static_cast<int>(m.rows.size()); ++l)
        writing.constraints.insert(writing.constraints.begin() + random.whole(0, l), l);
      return difference(course_of(text, name), course_of(HybridText(m, writing).text(), name), 1e-8, one);
    });
}

TEST_CASE("hybrid runs do not depend on what stands beside them, to the bit where no laws stand for binaries") {
  for (const std::string& name : schemes_of_runs)
    check("company", name, 0, [&](const RandomHybrid& m, const std::string& text, HybridGenerator& random) {
      HybridGenerator of_other(static_cast<unsigned>(random.whole(0, 1 << 30)));
      const std::string other = HybridText(of_other.draw(2), {}).text();
      const Course alone = course_of(text, name), second = course_of(other, name);
      // One that ends, or starts with another mode than declared, ends the other, too.
      if (alone.status != Status::solved || second.status != Status::solved || m.q == 0) return std::string();
      const Course both = course_of(beside(with_suffix(text, "a"), with_suffix(other, "b")), name);
      if (alone.has_laws != both.has_laws) return std::string();  // their branches have other numbers
      const double of_laws = name == "located" ? 1e-8 : 0.02;  // steps of laws end at events of either
      return difference(alone, both, alone.has_laws ? of_laws : 0, one, "a");
    });
}

TEST_CASE("hybrid models as S and Phi have the same runs") {
  for (const std::string& name : schemes_of_runs)
    check("matrices", name, 0, [&](const RandomHybrid& m, const std::string& text, HybridGenerator& /*random*/) {
      const HybridModel read = *read_hybrid_model_text(text, "m.toml");
      for (int row = 0; row < static_cast<int>(read.f.size() + read.g.size()); ++row)
        if (!outside_class(read, row).empty()) return std::string();
      return difference(course_of(text, name), course_of(as_matrices(m, text), name), 1e-8, one);
    });
}

TEST_CASE("hybrid runs of both schemes have the same changes where these are apart") {
  const auto differs = [&](const RandomHybrid& /*m*/, const std::string& text, HybridGenerator& /*random*/) {
    const Course exact = course_of(text, "located");
    for (std::size_t k = 1; k < exact.changes.size(); ++k)
      if (exact.changes[k].t - exact.changes[k - 1].t < 0.05) return std::string();
    return difference(exact, course_of(text, "backward_euler"), 0.05, one);
  };
  check("schemes", "located", 0, differs);
}

TEST_SUITE_END();
