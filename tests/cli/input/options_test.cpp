#include <doctest/doctest.h>
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/models/language/run_options.hpp>
#include <perp/tests/cli/program.hpp>

namespace {

using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::perp_program;

/// A model that every scheme runs: a ball on a spring above a table.
std::string model_text(const std::string& run) {
  return "[variables]\nx = 1\nv = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = -x + f\"]\n"
         "laws = [\"0 <= f perp x + 2 >= 0\"]\n[run]\nt = [0, 0.125]\n" +
         run;
}

const int first_run_line = 9;

/// A value of each option that every reader of it accepts.
const std::map<std::string, std::string> values{
    {"cross_check", "true"},  {"h", "0.01"},     {"petsc", "-ksp_rtol 1e-9"}, {"policy", "stay"},
    {"selector", "minimal_norm"}, {"solver", "lemke"}, {"split_at_events", "false"},
    {"theta", "0.75"},        {"tol", "1e-8"}};

std::string toml_value(const std::string& key) {
  const bool is_word = key == "petsc" || key == "policy" || key == "selector" || key == "solver";
  return is_word ? "\"" + values.at(key) + "\"" : values.at(key);
}

}  // namespace

TEST_SUITE("cli/options") {
  TEST_CASE("each scheme reads its options and refuses all others, wherever they are given") {
    for (const perp::SchemeEntry* entry : perp::scheme_entries())
      for (const perp::RunOption& option : perp::run_options()) {
        const std::string key = option.key;
        const perp::SchemeEntry& scheme = *entry;
        if (key == "scheme") continue;
        CAPTURE(scheme.name);
        CAPTURE(key);
        const bool is_read = perp::reads(scheme.name, key);
        const Folder folder;
        std::string scheme_line = "scheme = \"" + std::string(scheme.name) + "\"\n";
        const bool is_conditional =
            is_read &&
            !perp::has_effect(perp::read_model_text(model_text(scheme_line), "bare.toml"), key);
        if (is_conditional) {  // without effect, as long as no solver is called
          folder.write("bare.toml", model_text(scheme_line));
          const Outcome refused = perp_program(
              folder, {"run", "bare.toml", "--set", "run." + key + "=" + values.at(key)});
          CHECK(refused.status == 2);
          CHECK(refused.err.find("'" + key + "' has no effect") != std::string::npos);
          if (key == "policy" || key == "petsc") continue;  // only models of binaries give it one; only solver petsc
          scheme_line += "selector = \"first\"\n";
        }
        folder.write("bare.toml", model_text(scheme_line));
        folder.write("keyed.toml",
                     model_text(scheme_line + key + " = " + toml_value(key) + "\n"));
        const Outcome in_file = perp_program(folder, {"run", "keyed.toml", "-o", "o.csv"});
        const Outcome set = perp_program(
            folder, {"run", "bare.toml", "-o", "o.csv", "--set", "run." + key + "=" + values.at(key)});
        std::vector<std::string> with_flag{"run", "bare.toml", "-o", "o.csv"};
        const bool has_flag = key != "split_at_events";
        if (has_flag) with_flag.push_back("--" + (key == "cross_check" ? "cross-check" : key));
        if (has_flag && key != "cross_check") with_flag.push_back(values.at(key));
        const Outcome flag = has_flag ? perp_program(folder, with_flag) : set;
        for (const Outcome* outcome : {&in_file, &set, &flag}) {
          CHECK_MESSAGE(outcome->status == (is_read ? 0 : 2), outcome->err);
          if (is_read) continue;
          CHECK(lines(outcome->err).size() == 1);
          // The list of those that count stands there.
          for (const std::string& other : scheme.keys())
            CHECK(outcome->err.find(other) != std::string::npos);
        }
        if (is_read) continue;
        CHECK(in_file.err.rfind("keyed.toml:" + std::to_string(first_run_line + 1) + ":1: ", 0) == 0);
        if (has_flag) CHECK(flag.err.find(with_flag[4]) != std::string::npos);
      }
  }

  TEST_CASE("an option that is accepted changes the states or what is said of them") {
    struct Case {
      std::vector<std::string> run, option;
      const char* by;  // what changes
    };
    const std::vector<Case> cases{
        {{"relay_oscillator", "--t", "0,1"}, {"--h", "0.1"}, "states"},
        {{"relay_oscillator", "--t", "0,1"}, {"--set", "split_at_events=false"}, "states"},
        {{"relay_oscillator", "--t", "0,1", "--scheme", "theta"}, {"--theta", "0.75"}, "states"},
        {{"switching_dae_half", "--selector", "first"}, {"--tol", "1e-30"}, "states"},
        {{"switching_dae_jump_lcp", "--selector", "first"}, {"--solver", "mode_search"}, "summary"},
        {{"switching_dae_jump"}, {"--selector", "first"}, "summary"},
        {{"stick_slip", "--scheme", "located", "--t", "0,10"}, {"--tol", "1e-4"}, "states"},
        {{"stick_slip", "--scheme", "located", "--t", "0,10"}, {"--cross-check"}, "summary"},
        {{"bouncing_ball_contact", "--scheme", "moreau_jean", "--t", "0,1", "--h", "0.01"},
         {"--theta", "1"},
         "states"},
    };
    for (const Case& item : cases) {
      const Folder folder;
      const auto run = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"run"};
        arguments.insert(arguments.end(), item.run.begin(), item.run.end());
        arguments.insert(arguments.end(), more.begin(), more.end());
        arguments.insert(arguments.end(), {"-o", "o.csv"});
        const Outcome outcome = perp_program(folder, arguments);
        std::string said;
        for (const std::string& line : lines(outcome.out))
          if (line.rfind("scheme", 0) != 0) said += line + "\n";
        return std::pair{perp::test::read_text(folder / "o.csv"), said};
      };
      CAPTURE(item.option);
      const auto without = run({}), with = run(item.option);
      if (item.by == std::string("states"))
        CHECK(without.first != with.first);
      else
        CHECK(without.second != with.second);
    }
  }

  TEST_CASE("what a file has for its own scheme is left aside under another one, and named") {
    const Folder folder;
    folder.write("m.toml", model_text("scheme = \"theta\"\ntheta = 0.75\nselector = \"first\"\n"));
    const Outcome run =
        perp_program(folder, {"run", "m.toml", "--scheme", "located", "-o", "o.csv"});
    CHECK(run.status == 0);
    CHECK(run.out.find("left aside  selector, theta") != std::string::npos);
    CHECK(perp_program(folder, {"run", "m.toml", "--scheme", "located", "--theta", "0.5"}).status == 2);
    // A file that names the scheme which does not read the key is wrong.
    folder.write("w.toml", model_text("scheme = \"located\"\ntheta = 0.75\n"));
    CHECK(perp_program(folder, {"run", "w.toml"}).status == 2);
  }

  TEST_CASE("a solver and a restitution that have no effect are refused at their place") {
    const Folder folder;
    folder.write("n.toml",
                 "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -x^3\"]\n"
                 "[run]\nt = [0, 0.125]\nsolver = \"lemke\"\n");
    const Outcome newton = perp_program(folder, {"run", "n.toml"});
    CHECK(newton.status == 2);
    CHECK(newton.err.rfind("n.toml:7:1: the equations are not affine", 0) == 0);
    folder.write("s.toml", model_text("solver = \"lemke\"\n"));
    const Outcome tabled = perp_program(folder, {"run", "s.toml"});
    CHECK(tabled.status == 2);
    CHECK(tabled.err.find("'solver' has no effect") != std::string::npos);
    CHECK(perp_program(folder, {"run", "s.toml", "--selector", "first"}).status == 0);
    const std::string ball =
        "[variables]\nq = 1\nv = 0\n[model]\nequations = [\"der(q) = v\", \"der(v) = -9.81 + f\"]\n"
        "laws = [\"0 <= f perp q >= 0\"]\nrestitution = { f = 0.5 }\n[run]\nt = [0, 0.125]\n";
    folder.write("b.toml", ball);
    const Outcome euler = perp_program(folder, {"run", "b.toml"});
    CHECK(euler.status == 2);
    CHECK(euler.err.rfind("b.toml:7:17: scheme backward_euler has no impacts", 0) == 0);
    CHECK(perp_program(folder, {"run", "b.toml", "--scheme", "located"}).status == 0);
    CHECK(perp_program(folder, {"run", "b.toml", "--scheme", "moreau_jean"}).status == 0);
    folder.write("plastic.toml", std::string(ball).replace(ball.find("0.5"), 3, "0.0"));
    CHECK(perp_program(folder, {"run", "plastic.toml"}).status == 0);
    CHECK(perp_program(folder, {"run", "plastic.toml", "--scheme", "theta"}).status == 2);
  }

  TEST_CASE("a command refuses overrides on which its answer does not depend") {
    const Folder folder;
    folder.write("m.toml", model_text(""));
    const std::vector<std::vector<std::string>> commands{
        {"jumps", "m.toml", "--set", "run.h=0.1"},
        {"jumps", "m.toml", "--set", "scheme=located"},
        {"equilibria", "m.toml", "--set", "tol=1e-3"},
        {"equilibria", "m.toml", "--starts", "1", "--seed", "3"},
        {"equilibria", "m.toml", "--starts", "1", "--reach", "3"},
        {"solutions", "m.toml", "--set", "run.split_at_events=false"},
        {"solutions", "m.toml", "--policy", "stay"},
        {"run", "m.toml", "--tol", "1e-3"},
        {"solutions", "m.toml", "--tree", "2", "--tol", "1e-3"},
        {"map", "m.toml", "--vary", "x=0:1:2", "--what", "solutions", "--tol", "1e-3"},
        {"solutions", "m.toml", "--tree", "2", "--selector", "first"},
        {"map", "m.toml", "--vary", "x=0:1:2", "--what", "ac", "--h", "0.1"},
        {"map", "m.toml", "--vary", "x=0:1:2", "--what", "solutions", "--selector", "first"},
        {"converge", "m.toml", "--h", "0.1,0.05", "--set", "run.h=0.1"},
        {"sensitivities", "m.toml", "--set", "run.selector=first"},
        {"sensitivities", "m.toml", "--set", "run.scheme=theta"},
        {"sensitivities", "m.toml", "--policy", "all"},
    };
    for (const auto& command : commands) {
      const Outcome outcome = perp_program(folder, command);
      CAPTURE(command);
      CHECK(outcome.status == 2);
      CHECK_MESSAGE(lines(outcome.err).size() == 1, outcome.err);
      CHECK(outcome.out == "");
    }
  }

  TEST_CASE("every command refuses every key of [run] on which it does not depend, by flag and --set") {
    struct Case {
      std::vector<std::string> command;
      std::vector<std::string> flags;  // those that it takes
      std::vector<std::string> keys;   // of [run] that it takes in --set
    };
    const std::vector<Case> cases{
        {{"check", "m.toml"}, {"h", "selector"}, {"h", "selector", "split_at_events"}},
        {{"run", "m.toml", "-o", "o.csv"}, {"h", "selector"}, {"h", "selector", "split_at_events"}},
        {{"converge", "m.toml", "--h", "0.0625,0.03125"}, {"h", "selector"},
         {"selector", "split_at_events"}},
        {{"solutions", "m.toml"}, {"h", "selector"}, {"h", "selector"}},
        {{"solutions", "m.toml", "--tree", "2"}, {"h"}, {"h"}},
        {{"jumps", "m.toml"}, {}, {}},
        {{"equilibria", "m.toml"}, {}, {}},
        {{"multilinear", "m.toml"}, {}, {}},
        {{"modes", "m.toml"}, {}, {}},
        {{"sensitivities", "m.toml", "-o", "o.csv"}, {"cross_check", "h", "policy", "tol"},
         {"cross_check", "h", "policy", "tol"}},
        {{"enclose", "m.toml", "-o", "o.csv"}, {"tol"}, {"h"}},
        {{"list", "schemes"}, {}, {}},
        {{"mlcp", perp::test::data_path("/mlcp/p_degenerate_00.json")}, {"solver"}, {}},
        {{"map", "m.toml", "--vary", "x=0:1:2", "--what", "solutions"}, {"h"}, {"h"}},
        {{"map", "m.toml", "--vary", "x=0:1:2", "--what", "ac"}, {}, {}},
        {{"sweep", "m.toml", "--vary", "x=0:1:2", "--measure", "e=end(x)"},
         {"h", "selector"},
         {"h", "selector", "split_at_events"}},
    };
    const Folder folder;
    // Every command stands above, every option of a scheme among the values.
    const std::string help = perp_program(folder, {"--help"}).out;
    const std::size_t first = help.find("commands:\n") + 10, last = help.find("\n\n", first);
    for (const std::string& line : lines(help.substr(first, last - first))) {
      const std::string command = line.substr(2, line.find(' ', 2) - 2);
      CAPTURE(command);
      CHECK(std::any_of(cases.begin(), cases.end(),
                        [&](const Case& item) { return item.command[0] == command; }));
    }
    for (const perp::RunOption& option : perp::run_options())
      if (option.key != std::string("scheme")) REQUIRE(values.count(option.key) == 1);
    folder.write("m.toml", model_text(""));
    const auto has = [](const std::vector<std::string>& list, const std::string& key) {
      return std::find(list.begin(), list.end(), key) != list.end();
    };
    for (const Case& item : cases)
      for (const auto& [key, value] : values) {
        std::string flag = "--" + key;
        std::replace(flag.begin(), flag.end(), '_', '-');
        std::vector<std::string> set = item.command, with_flag = item.command;
        set.insert(set.end(), {"--set", "run." + key + "=" + value});
        with_flag.push_back(flag);
        if (key != "cross_check") with_flag.push_back(value);
        for (const auto& [words, is_taken] :
             {std::pair{set, has(item.keys, key)}, {with_flag, has(item.flags, key)}}) {
          if (is_taken) continue;
          const Outcome outcome = perp_program(folder, words);
          const auto& shown_words = words;
          CAPTURE(shown_words);
          CHECK_MESSAGE(outcome.status == 2, outcome.err);
          CHECK_MESSAGE(lines(outcome.err).size() == 1, outcome.err);
          CHECK(outcome.out == "");
        }
      }
  }

  TEST_CASE("the provenance of a run names the options of its scheme and no others") {
    const Folder folder;
    folder.write("m.toml", model_text("scheme = \"located\"\n"));
    REQUIRE(perp_program(folder, {"run", "m.toml", "-o", "o.csv"}).status == 0);
    const std::string made = perp::test::read_text(folder / "o.csv.json");
    CHECK(made.find("\"policy\"") != std::string::npos);
    CHECK(made.find("\"theta\"") == std::string::npos);
    CHECK(made.find("\"selector\"") == std::string::npos);
  }
}
