#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

#include <perp/tests/cli/program.hpp>
#include <perp/tests/paths.hpp>

using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::perp_program;

namespace {

struct Wrong {
  std::vector<std::string> arguments;
  std::string message;  ///< a part of it
};

const std::string crossing = "switching_dae_crossing";

const std::vector<Wrong>& wrong_inputs() {
  static const std::vector<Wrong> list{
      {{}, "a command is missing"},
      {{"rnu", crossing}, "unknown command 'rnu'; expected one of"},
      {{"--vresion"}, "did you mean '--version'?"},
      {{"help", "rum"}, "did you mean 'run'?"},
      {{"run"}, "MODEL is missing"},
      {{"run", crossing, "--stp", "B1=1"},
       "perp run: unknown option '--stp'; did you mean '--set'?"},
      {{"run", crossing, "-x"}, "unknown option '-x'"},
      {{"run", crossing, "--h"}, "--h needs a value"},
      {{"run", crossing, "--h", "0.1", "--h"}, "--h needs a value"},
      {{"run", crossing, "--h", "0.1", "--h", "0.2"}, "--h is given twice: 0.1 and 0.2"},
      {{"run", crossing, "-o", "a.csv", "--output", "b.csv"}, "is given twice: a.csv and b.csv"},
      {{"run", crossing, "--h", "0.1", "--set", "h=0.2"},
       "--h 0.1: run.h is given by '--set h=0.2' too"},
      {{"run", crossing, "--set", "B1=1", "--set", "B1=2"},
       "--set B1=2: parameters.B1 is given by '--set B1=1' too"},
      {{"run", crossing, "--set", "run.h=0.1", "--set", "h=0.1"}, "by '--set run.h=0.1' too"},
      {{"run", crossing, "--set", "x1=1", "--set", "x1(0)=2"},
       "variables.x1 is given by '--set x1=1' too"},
      {{"solutions", crossing, "--at", "x1=1", "--set", "x1=2"},
       "--at x1=1: variables.x1 is given by '--set x1=2' too"},
      {{"run", crossing, "--h", "1e-300"}, "h = 1e-300 is too small for the span"},
      {{"run", crossing, "--t", "0,1e300", "--h", "1"}, "h = 1 is too small for the span"},
      {{"run", crossing, "--t", "1e15,1000000000000001", "--h", "0.001"},
       "there t is known to 0.22 only, expected at least 0.89"},
      {{"run", crossing, "surplus"}, "'surplus' has no place"},
      {{"run", "switching_dae_crosing"}, "did you mean 'switching_dae_crossing'?"},
      {{"run", "no/such/file.toml"}, "there is no model 'no/such/file.toml'"},
      {{"run", "/"}, "is a directory"},
      {{"run", crossing, "--set", "B1"}, "--set B1: expected NAME=VALUE"},
      {{"run", crossing, "--set", "B3=1"}, "unknown key 'B3'"},
      {{"run", crossing, "--set", "B1=much"}, "--set B1=much"},
      {{"run", crossing, "--h", "0"}, "--h 0: run.h is 0; expected a number > 0"},
      {{"run", crossing, "--h", "-1"}, "--h -1: run.h is -1"},
      {{"run", crossing, "--h", "nan"}, "--h nan"},
      {{"run", crossing, "--t", "5,1"}, "--t 5,1"},
      {{"run", crossing, "--selector", "keep_mod"}, "did you mean 'keep_mode'?"},
      {{"run", crossing, "--scheme", "forward"}, "--scheme forward: unknown scheme"},
      {{"run", crossing, "--solver", "lemk"}, "did you mean 'lemke'?"},
      {{"run", crossing, "--theta", "0.2"}, "--theta 0.2"},
      {{"run", crossing, "--times", "0,2,1"}, "times must increase but 1 follows 2"},
      {{"run", crossing, "--times", "0,11"}, "11"},
      {{"run", crossing, "--times", "no_such_file"}, "there is no such file; expected times as in"},
      {{"run", crossing, "-o", "out.txt"}, "expected a name that ends in .csv or .h5"},
      {{"run", crossing, "-o", "no/folder/out.csv"}, "no/folder/out.csv cannot be written"},
      {{"run", crossing, "-o", "no/folder/out.h5"}, "no/folder/out.h5 cannot be written"},
      {{"run", crossing, "-o", "out.csv", "--events", "out.csv"}, "are the same file"},
      {{"run", crossing, "--events", "no/folder/e.csv"}, "cannot be written"},
      {{"run", crossing, "--plot", "out.gif"}, "expected .svg, .png, .pdf or .html"},
      {{"run", crossing, "--plot", "no/folder/out.svg"}, "there is no folder no/folder"},
      {{"run", crossing, "--plot-phase", "x1,x2"}, "need --plot FILE"},
      {{"run", crossing, "--plot", "a.svg", "--plot-phase", "x1"}, "expected two variables"},
      {{"run", crossing, "--plot", "a.svg", "--plot-phase", "x1,x3"}, "unknown column 'x3'"},
      {{"check", "nothing_like_it"}, "there is no model"},
      {{"solutions", crossing, "--at", "x9=1"}, "unknown variable 'x9'"},
      {{"solutions", crossing, "--at", "x1=one"}, "--at x1=one"},
      {{"solutions", crossing, "--at", "x1"}, "--at x1: expected NAME=VALUE"},
      {{"solutions", crossing, "--at", "x1=1,x2=1,x1=1"}, "x1 stands there twice"},
      {{"solutions", crossing, "--tree", "1.5"}, "--tree is '1.5'; expected a whole number"},
      {{"solutions", crossing, "--max-nodes", "0"}, "--max-nodes must be positive but is 0"},
      {{"converge", crossing, "--h", "0.1", "--jobs", "a b"},
       "--jobs is 'a b'; expected a whole number"},
      {{"solutions", crossing, "--t", "soon"}, "--t is 'soon'; expected a finite number"},
      {{"solutions", crossing, "--mode", "1,2"}, "expected 1 branches"},
      {{"solutions", crossing, "--mode", "mode 9"}, "unknown branch of law 1 'mode 9'"},
      {{"converge", crossing}, "--h is missing"},
      {{"converge", crossing, "--h", "0.1,zero"}, "--h is 'zero'"},
      {{"converge", crossing, "--h", "0.1,-0.1"}, "expected positive numbers"},
      {{"converge", crossing, "--h", "0.1,0.1"}, "stands there twice"},
      {{"converge", crossing, "--h", "1e-3:1"}, "expected FIRST:LAST:COUNT"},
      {{"converge", crossing, "--h", "1e-3:1:1"}, "expected a whole number from 2"},
      {{"converge", crossing, "--h", "0.1", "--reference", "no.csv"},
       "no.csv:1:1: cannot be opened"},
      {{"converge", crossing, "--h", "0.1", "--reference", "exact", "--set", "B1=-0.4"},
       "no exact solution"},
      {{"list"}, "KIND is missing"},
      {{"list", "model"}, "did you mean 'models'?"},
      {{"mlcp"}, "FILE is missing"},
      {{"mlcp", "no.json"}, "no.json:1:1: cannot be opened"},
      {{"mlcp", "."}, "is a directory"},
      {{"mlcp", "x.json", "--solver", "lemkee"}, "did you mean 'lemke'?"},
      {{"mlcp", "x.json", "--exact", "--double"}, "exclude each other"},
      {{"mlcp", "x.json", "--solver", "lemke", "--max-nodes", "5"},
       "--max-nodes has no effect with --solver lemke; the option that counts is: --output"},
  };
  return list;
}

}  // namespace

TEST_SUITE("cli/wrong_input") {
  TEST_CASE("wrong input ends with status 2, one line on standard error and nothing else") {
    const Folder folder;
    for (const Wrong& wrong : wrong_inputs()) {
      std::string command;
      for (const std::string& argument : wrong.arguments) command += argument + " ";
      CAPTURE(command);
      const Outcome outcome = perp_program(folder, wrong.arguments);
      CHECK(outcome.status == 2);
      CHECK(outcome.out == "");
      CHECK_MESSAGE(lines(outcome.err).size() == 1, outcome.err);
      CHECK_MESSAGE(outcome.err.find(wrong.message) != std::string::npos, outcome.err);
    }
  }

  TEST_CASE("an error in a model file begins with file, line and column") {
    const Folder folder;
    const std::string good = perp::test::read_text(perp::test::models_path("/switching_dae_crossing.toml"));
    const std::size_t key = good.find("\nh = ");
    REQUIRE(key != std::string::npos);
    std::string spoiled = good;
    spoiled.replace(key, 5, "\nhh = ");
    const std::string file = folder.write("spoiled.toml", spoiled);
    const auto line = 2 + std::count(good.begin(), good.begin() + static_cast<long>(key), '\n');
    for (const char* command : {"run", "check", "solutions"}) {
      const Outcome outcome = perp_program(folder, {command, file});
      CHECK(outcome.status == 2);
      CHECK(lines(outcome.err).size() == 1);
      CHECK_MESSAGE(
          outcome.err.rfind(file + ":" + std::to_string(line) + ":1: unknown key 'hh'", 0) == 0,
          outcome.err);
    }
  }

  TEST_CASE("a bad option leaves an existing file as it was") {
    const Folder folder;
    const std::string file = folder.write("out.csv", "precious\n");
    CHECK(perp_program(folder, {"run", crossing, "-o", "out.csv", "--h", "0"}).status == 2);
    CHECK(perp::test::read_text(file) == "precious\n");
  }

  TEST_CASE("steps that are refused leave an existing file as it was, and no new one") {
    const Folder folder;
    const std::vector<std::vector<std::string>> refused{{"--h", "1e-300"},
                                                        {"--t", "0,1e300", "--h", "0.1"}};
    for (const char* name : {"out.csv", "out.h5", "new.csv"})
      for (const char* scheme : {"backward_euler", "theta", "located"})
        for (const std::vector<std::string>& options : refused) {
          CAPTURE(name);
          CAPTURE(scheme);
          CAPTURE(options[0]);
          const bool is_new = name == std::string("new.csv");
          if (!is_new) folder.write(name, "precious\n");
          std::vector<std::string> arguments{"run", crossing, "-o", name, "--scheme", scheme};
          arguments.insert(arguments.end(), options.begin(), options.end());
          CHECK(perp_program(folder, arguments).status == 2);
          if (is_new)
            CHECK_FALSE(std::filesystem::exists(folder / name));
          else
            CHECK(perp::test::read_text(folder / name) == "precious\n");
        }
  }

  TEST_CASE("name(0) is the start of a variable, also of one with the name of an option") {
    const Folder folder;
    folder.write("level.toml",
                 "[variables]\nh = 1\n[model]\nequations = [\"der(h) = 0\"]\n[run]\nt = [0, 1]\n");
    const Outcome run =
        perp_program(folder, {"run", "level.toml", "--set", "h(0)=3", "--times", "1", "--quiet"});
    CHECK(run.status == 0);
    CHECK_MESSAGE(run.out.find("\n1,3,") != std::string::npos, run.out);
    const Outcome plain = perp_program(folder, {"run", "level.toml", "--set", "h=3"});
    CHECK(plain.status == 2);
    CHECK(plain.err.find("'h' is ambiguous; expected variables.h or run.h") != std::string::npos);
  }

  TEST_CASE("an equation without a value for any state is named at its place") {
    const Folder folder;
    for (const char* text : {"-x + 0/0", "1/0", "-x^2 + 1/0", "x/k", "2*(x - log(k))", "sqrt(-1)*x"}) {
      CAPTURE(text);
      std::string model = "[parameters]\nk = 0\n[variables]\nx = 1\ny = 1\n[model]\n";
      model += "equations = [\"der(y) = -y\",\n  \"der(x) = ";
      model += text;
      model += "\"]\n[run]\nt = [0, 1]\n";
      folder.write("model.toml", model);
      const Outcome run = perp_program(folder, {"run", "model.toml"});
      CHECK(run.status == 2);
      CHECK(run.out == "");
      CHECK_MESSAGE(run.err.find("model.toml:8:3: equation 2 has a finite value for no state") == 0,
                    run.err);
    }
    // Infinite parts of a finite value are none.
    folder.write("model.toml", "[variables]\nx = 1\n[model]\nequations = [\"der(x) = atan(1/0) - "
                               "x/(1/0)\"]\n[run]\nt = [0, 1]\n");
    CHECK(perp_program(folder, {"run", "model.toml"}).status == 0);
  }

  TEST_CASE("help and version go to standard output with status 0") {
    const Folder folder;
    const Outcome version = perp_program(folder, {"--version"});
    CHECK(version.status == 0);
    CHECK(version.out.rfind("perp ", 0) == 0);
    CHECK(perp_program(folder, {"--help"}).out.find("commands:") != std::string::npos);
    for (const char* command : {"run", "check", "solutions", "mlcp", "converge", "list"}) {
      CAPTURE(command);
      const Outcome help = perp_program(folder, {command, "--help"});
      CHECK(help.status == 0);
      CHECK(help.err == "");
      CHECK(help.out.find("examples:") != std::string::npos);
      CHECK(help.out.find("Usage: perp " + std::string(command)) != std::string::npos);
      CHECK(perp_program(folder, {"help", command}).out == help.out);
    }
  }
}
